async function render({ model, el }) {
  el.classList.add("confkit-view");
  model.on("msg:custom", (message) => {
    if (message.kind === "reveal") el.closest(".confkit-room")?.scrollIntoView({ block: "nearest" });
  });
  const [now, drawing] = await showing(model);
  if (now.label) {
    el.setAttribute("role", "region");
    el.setAttribute("aria-label", now.label);
  }
  let shown = null;
  drawing(() => {
    if (now.html === shown) return;
    el.innerHTML = shown = now.html;
  });
}
export default { render };
