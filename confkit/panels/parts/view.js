function render({ model, el }) {
  el.classList.add("confkit-view");
  const label = model.get("label");
  if (label) {
    el.setAttribute("role", "region");
    el.setAttribute("aria-label", label);
  }
  const heard = (message) => {
    if (message.kind === "html" && el.innerHTML !== message.html) el.innerHTML = message.html;
  };
  model.on("msg:custom", heard);
  model.send({ kind: "ready" });
  return () => model.off("msg:custom", heard);
}
export default { render };
