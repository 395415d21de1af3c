function render({ model, el }) {
  el.classList.add("confkit-view");
  const label = model.get("label");
  if (label) {
    el.setAttribute("role", "region");
    el.setAttribute("aria-label", label);
  }
  let shown = null;
  const heard = (message) => {
    if (message.kind !== "html" || message.html === shown) return;
    shown = message.html;
    el.innerHTML = shown;
    for (const text of el.querySelectorAll(".confkit-copied")) {
      const copier = button("confkit-copy", "Copy", () => copy(text, copier));
      text.before(copier);
    }
  };
  model.on("msg:custom", heard);
  model.send({ kind: "ready" });
  return () => model.off("msg:custom", heard);
}
export default { render };
