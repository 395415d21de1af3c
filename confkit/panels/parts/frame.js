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

  const status = made("div", "confkit-status");
  status.setAttribute("role", "status");
  const alert = made("div", "confkit-status confkit-bad");
  alert.setAttribute("role", "alert");

  const asks = made("div", "confkit-question");
  asks.setAttribute("role", "alertdialog");
  const question = made("span");
  const yes = made("button", "confkit-button confkit-danger");
  const no = made("button", "confkit-button", "Cancel");
  yes.type = no.type = "button";
  asks.append(question, yes, no);
  el.append(head, work, status, alert, asks);

  const send = (kind) => () => model.send({ kind, question: model.get("question") });
  cancel.addEventListener("click", send("cancel"));
  yes.addEventListener("click", send("yes"));
  no.addEventListener("click", send("no"));
  asks.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); send("no")(); }
  });

  let before = null; // what had the focus when a question came up
  function draw() {
    title.textContent = model.get("title");
    service.textContent = model.get("service");
    service.hidden = !model.get("service");
    service.classList.toggle("confkit-sandbox", model.get("sandbox"));
    note.textContent = model.get("note");
    note.hidden = !model.get("note");
    const [busy, total, done] = [model.get("busy"), model.get("total"), model.get("done")];
    work.hidden = !busy;
    what.textContent = total ? `${busy}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : busy;
    bar.setAttribute("aria-label", busy || "progress");
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    const bad = model.get("tone") === "bad";
    const text = busy ? "" : model.get("text");
    if (status.textContent !== (bad ? "" : text)) status.textContent = bad ? "" : text;
    if (alert.textContent !== (bad ? text : "")) alert.textContent = bad ? text : "";
    status.classList.toggle("confkit-good", model.get("tone") === "good");
    const asked = model.get("question");
    if (asked && asks.hidden) before = document.activeElement;
    const shown = !asks.hidden;
    question.textContent = asked;
    asks.setAttribute("aria-label", asked || "question");
    yes.textContent = model.get("yes");
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

  // Keys that are pressed in a panel are for the panel, not for the notebook's shortcuts.
  const own = setTimeout(() => {
    const panel = el.closest(".confkit-panel");
    if (panel) panel.dataset.lmSuppressShortcuts = "true";
  }, 0);

  // The clock of automatic refresh runs here: nothing is read for a panel that nobody sees.
  let seen = false;
  const watch = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
  });
  const panel = () => el.closest(".confkit-panel") || el;
  setTimeout(() => watch.observe(panel()), 0);
  let timer = null;
  function wind() {
    clearInterval(timer);
    const every = model.get("every");
    if (every > 0) {
      timer = setInterval(() => {
        if (seen && document.visibilityState === "visible") model.send({ kind: "tick" });
      }, 1000 * every);
    }
  }
  model.on("change:every", wind);
  wind();
  return () => {
    clearTimeout(own);
    clearInterval(timer);
    watch.disconnect();
    model.off("change", later);
    model.off("change:every", wind);
  };
}
export default { render };
