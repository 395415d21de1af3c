function saved({ name, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function render({ model, el }) {
  el.classList.add("confkit-view");
  const label = model.get("label");
  if (label) {
    el.setAttribute("role", "region");
    el.setAttribute("aria-label", label);
  }
  let shown = null;
  const heard = (message) => {
    if (message.kind === "save") saved(message);
    if (message.kind === "reveal") el.closest(".confkit-room")?.scrollIntoView({ block: "nearest" });
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
