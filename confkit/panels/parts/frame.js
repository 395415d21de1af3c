function made(kind, name, text) {
  const element = document.createElement(kind);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

function render({ model, el }) {
  el.classList.add("confkit-frame");
  const title = made("div", "confkit-title");
  title.setAttribute("role", "heading");
  title.setAttribute("aria-level", "3");
  const service = made("span", "confkit-service");
  const note = made("span", "confkit-note");
  const head = made("div", "confkit-head");
  head.append(title, service, note);

  const work = made("div", "confkit-work");
  const what = made("span", "confkit-what");
  const bar = made("progress");
  const cancel = made("button", "confkit-button", "Cancel");
  cancel.type = "button";
  work.append(what, bar, cancel);

  // Live regions, there before what they say, and not atomic: only what is new is read out.
  const live = (role, name) => {
    const region = made("div", name);
    region.setAttribute("role", role);
    region.setAttribute("aria-atomic", "false");
    return region;
  };
  const waits = live("status", "confkit-waits");
  const [alerts, told] = [live("alert", "confkit-messages"), live("status", "confkit-messages")];

  const asks = made("div", "confkit-question");
  asks.setAttribute("role", "alertdialog");
  const question = made("span");
  const yes = made("button", "confkit-button confkit-danger");
  const no = made("button", "confkit-button", "Cancel");
  yes.type = no.type = "button";
  asks.append(question, yes, no);
  el.append(head, work, waits, alerts, told, asks);

  const send = (kind) => () => model.send({ kind, question: model.get("question") });
  cancel.addEventListener("click", send("cancel"));
  yes.addEventListener("click", send("yes"));
  no.addEventListener("click", send("no"));
  asks.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); send("no")(); }
  });

  title.tabIndex = -1; // takes the focus of the last message that is dismissed
  const lines = new Map(); // of each kind of message what is shown
  function line({ kind, text, tone }) {
    const shown = made("div", "confkit-status confkit-message");
    if (tone) shown.classList.add(`confkit-${tone}`);
    const words = made("span", "confkit-words", text);
    words.id = `confkit-${Math.random().toString(36).slice(2)}`;
    const button = made("button", "confkit-button confkit-dismiss", "×");
    button.type = "button";
    button.title = "Dismiss";
    button.setAttribute("aria-label", "Dismiss");
    button.setAttribute("aria-describedby", words.id);
    button.addEventListener("click", () => model.send({ kind: "dismiss", message: kind, text }));
    shown.append(words, button);
    return shown;
  }
  function drawMessages() {
    const messages = model.get("messages");
    const buttons = [...el.querySelectorAll(".confkit-dismiss")];
    const focused = buttons.indexOf(document.activeElement);
    for (const [kind, { message, shown }] of lines) {
      const same = (one) => one.kind === kind && one.text === message.text && one.tone === message.tone;
      if (messages.some(same)) continue; // what stays is left alone, so that it is not read out again
      shown.remove();
      lines.delete(kind);
    }
    for (const message of messages) {
      if (lines.has(message.kind)) continue;
      const shown = line(message);
      lines.set(message.kind, { message, shown });
      (message.tone === "bad" ? alerts : told).append(shown);
    }
    if (focused < 0 || buttons[focused].isConnected) return;
    const left = [...buttons.slice(focused), ...buttons.slice(0, focused).reverse()];
    (left.find((button) => button.isConnected) || title).focus();
  }

  let before = null; // what had the focus when a question came up
  function draw() {
    title.textContent = model.get("title");
    service.textContent = model.get("service");
    service.hidden = !model.get("service");
    service.classList.toggle("confkit-sandbox", model.get("sandbox"));
    note.textContent = model.get("note");
    note.hidden = !model.get("note");
    const [busy, total, done] = [model.get("busy"), model.get("total"), model.get("done")];
    work.hidden = !busy && !model.get("waiting");
    what.textContent = total ? `${busy}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : busy || "Reading";
    bar.setAttribute("aria-label", busy || "progress");
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    if (waits.textContent !== model.get("waiting")) waits.textContent = model.get("waiting");
    drawMessages();
    const asked = model.get("question");
    if (asked && asks.hidden) before = document.activeElement;
    const shown = !asks.hidden;
    question.textContent = asked;
    asks.setAttribute("aria-label", asked || "question");
    yes.textContent = model.get("yes");
    yes.classList.toggle("confkit-danger", model.get("grave"));
    asks.hidden = !asked;
    if (asked && !shown) no.focus({ preventScroll: false });
    if (!asked && shown && before && before.isConnected) before.focus();
  }

  // Several traits change together: one drawing for all of them.
  let due = false;
  const later = () => {
    if (due) return;
    due = true;
    queueMicrotask(() => { due = false; draw(); });
  };
  model.on("change", later);
  asks.hidden = true;
  draw();

  // Keys that are pressed in a panel are for the panel, not for the notebook's shortcuts: these look
  // at the element that has the focus before they look at what is around it.
  const ours = (event) => {
    event.target.dataset.lmSuppressShortcuts = "true";
  };
  const own = setTimeout(() => {
    const around = el.closest(".confkit-panel");
    if (!around) return;
    around.dataset.lmSuppressShortcuts = "true";
    around.addEventListener("focusin", ours);
  }, 0);

  // The clock of automatic refresh runs here: nothing is read for a panel that nobody sees.
  let near = false; // scrolled into sight
  let seen = false;
  function look() {
    const before = seen;
    seen = near && document.visibilityState === "visible";
    if (before && !seen && model.get("every") > 0) model.send({ kind: "hidden" });
  }
  const watch = new IntersectionObserver((entries) => {
    near = entries[entries.length - 1].isIntersecting;
    look();
  });
  document.addEventListener("visibilitychange", look);
  const panel = () => el.closest(".confkit-panel") || el;
  setTimeout(() => watch.observe(panel()), 0);
  let timer = null;
  function wind() {
    clearInterval(timer);
    const every = model.get("every");
    if (every > 0) {
      timer = setInterval(() => {
        if (seen) model.send({ kind: "tick" });
      }, 1000 * every);
    }
  }
  model.on("change:every", wind);
  wind();
  return () => {
    clearTimeout(own);
    clearInterval(timer);
    watch.disconnect();
    document.removeEventListener("visibilitychange", look);
    model.off("change", later);
    model.off("change:every", wind);
  };
}
export default { render };
