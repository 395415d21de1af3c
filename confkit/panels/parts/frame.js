function saved({ name, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function render({ model, el }) {
  el.classList.add("confkit-frame");
  const [now, drawing] = await showing(model);
  const panel = () => el.closest(".confkit-panel") || el;
  model.on("msg:custom", (message) => { if (message.kind === "save") saved(message); });
  const send = (kind) => () => model.send({ kind, question: now.question });

  const title = made("div", "confkit-title");
  title.setAttribute("role", "heading");
  title.setAttribute("aria-level", "3");
  title.tabIndex = -1; // takes the focus of the last message that is dismissed
  const [service, note] = [made("span", "confkit-service"), made("span", "confkit-note")];
  const head = made("div", "confkit-head");
  head.append(title, service, note);

  const work = made("div", "confkit-work");
  const [what, bar] = [made("span", "confkit-what"), made("progress")];
  work.append(what, bar, button("", "Cancel", send("cancel")));

  // Live regions, there before what they say, and not atomic: only what is new is read out.
  const live = (role, name) => {
    const region = made("div", name);
    region.setAttribute("role", role);
    region.setAttribute("aria-atomic", "false");
    return region;
  };
  const waits = live("status", "confkit-waits");
  function place(name) {
    const here = made("div", name);
    here.append(live("alert", "confkit-messages"), live("status", "confkit-messages"));
    return here;
  }
  const top = place("confkit-top");

  const asks = made("div", "confkit-question");
  asks.setAttribute("role", "alertdialog");
  asks.hidden = true;
  const question = made("span");
  const yes = button("", "", send("yes"));
  const no = button("", "Cancel", send("no"));
  asks.append(question, yes, no);
  asks.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); send("no")(); }
  });
  top.append(asks);
  el.append(head, work, waits, top);

  // What comes of a click stands in the row of its button, where that is seen; the rest in the head.
  const places = new WeakMap(); // of each row
  function within(row) {
    if (!places.has(row)) places.set(row, place("confkit-here"));
    const here = places.get(row);
    if (here.parentElement !== row) row.append(here);
    return here;
  }
  function beside(name) {
    const clicked = name && panel().querySelector(`.${CSS.escape(name)}`);
    const row = clicked && clicked.offsetParent && clicked.closest(".confkit-row");
    return row ? within(row) : top;
  }
  const clicked = (event) => {
    const row = event.target.closest(".confkit-row");
    if (row && event.target.closest("button")) within(row); // live before it says something
  };

  const lines = new Map(); // of each kind of message what is shown
  function line({ kind, text, tone }) {
    const shown = made("div", `confkit-status confkit-message ${tone && `confkit-${tone}`}`);
    const words = made("span", "confkit-words", text);
    words.id = `confkit-${Math.random().toString(36).slice(2)}`;
    const dismiss = button("confkit-dismiss", "×", () => model.send({ kind: "dismiss", message: kind, text }));
    dismiss.title = "Dismiss";
    dismiss.setAttribute("aria-label", "Dismiss");
    dismiss.setAttribute("aria-describedby", words.id);
    shown.append(words, dismiss);
    return shown;
  }
  function settle() {
    for (const { message, shown } of lines.values()) {
      const region = beside(message.place).children[message.tone === "bad" ? 0 : 1];
      if (shown.parentElement !== region) region.append(shown);
    }
    const here = beside(now.place);
    if (asks.parentElement !== here && !asks.contains(document.activeElement)) here.append(asks);
  }
  function drawMessages() {
    const messages = now.messages;
    const buttons = [...panel().querySelectorAll(".confkit-dismiss")];
    const focused = buttons.indexOf(document.activeElement);
    for (const [kind, { message, shown }] of lines) {
      // What stays is left alone, so that it is not read out again.
      if (messages.some((one) => Object.keys(one).every((key) => one[key] === message[key]))) continue;
      shown.remove();
      lines.delete(kind);
    }
    for (const message of messages) {
      if (!lines.has(message.kind)) lines.set(message.kind, { message, shown: line(message) });
    }
    settle();
    if (focused < 0 || buttons[focused].isConnected) return;
    const left = [...buttons.slice(focused), ...buttons.slice(0, focused).reverse()];
    (left.find((button) => button.isConnected) || title).focus();
  }

  let before = null; // what had the focus when a question came up
  const draw = () => {
    title.textContent = now.title;
    service.textContent = now.service;
    service.hidden = !now.service;
    service.classList.toggle("confkit-sandbox", now.sandbox);
    note.textContent = now.note;
    note.hidden = !now.note;
    const [busy, total, done] = [now.busy, now.total, now.done];
    work.hidden = !busy && !now.waiting;
    what.textContent = total ? `${busy}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : busy || "Reading";
    bar.setAttribute("aria-label", busy || "progress");
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    if (waits.textContent !== now.waiting) waits.textContent = now.waiting;
    drawMessages();
    const [asked, shown] = [now.question, !asks.hidden];
    if (asked && !shown) before = document.activeElement;
    question.textContent = asked;
    asks.setAttribute("aria-label", asked || "question");
    yes.textContent = now.yes;
    yes.classList.toggle("confkit-danger", now.grave);
    asks.hidden = !asked;
    if (asked && !shown) no.focus();
    if (!asked && shown && before && before.isConnected) before.focus();
    if (now.every !== wound) wind();
  };

  // Keys that are pressed in a panel are for the panel, not for the notebook's shortcuts: these look
  // at the element that has the focus before they look at what is around it.
  const ours = (event) => { event.target.dataset.lmSuppressShortcuts = "true"; };

  // The clock of automatic refresh runs here: nothing is read for a panel that nobody sees.
  let near = false; // scrolled into sight
  let seen = false;
  function look() {
    const before = seen;
    seen = near && document.visibilityState === "visible";
    if (before && !seen && now.every > 0) model.send({ kind: "hidden" });
  }
  const watch = new IntersectionObserver((entries) => {
    near = entries[entries.length - 1].isIntersecting;
    look();
  });
  document.addEventListener("visibilitychange", look);
  const moved = new MutationObserver(settle); // a row with a message may be hidden, or go
  const begin = setTimeout(() => {
    panel().dataset.lmSuppressShortcuts = "true";
    panel().addEventListener("focusin", ours);
    panel().addEventListener("click", clicked, true);
    watch.observe(panel());
    moved.observe(panel(), { subtree: true, childList: true, attributeFilter: ["style", "class"] });
    settle();
  }, 0);
  let [timer, wound] = [null, 0];
  function wind() {
    clearInterval(timer);
    wound = now.every;
    if (wound > 0) timer = setInterval(() => { if (seen) model.send({ kind: "tick" }); }, 1000 * wound);
  }
  drawing(draw);
  return () => {
    clearTimeout(begin);
    clearInterval(timer);
    watch.disconnect();
    moved.disconnect();
    document.removeEventListener("visibilitychange", look);
  };
}
export default { render };
