// Typed text goes to the kernel as a message; it is no trait.
function render({ model, el }) {
  el.classList.add("confkit-password");
  const label = document.createElement("label");
  const name = document.createElement("span");
  const input = document.createElement("input");
  input.type = model.get("visible") ? "text" : "password";
  input.autocomplete = model.get("visible") ? "off" : "new-password";
  input.placeholder = model.get("placeholder");
  input.spellcheck = false;
  name.textContent = model.get("label");
  label.append(name, input);
  el.append(label);
  input.addEventListener("input", () => model.send({ typed: input.value }));
  function show({ text, held }) {
    if (input === document.activeElement && text === input.value) return;
    input.value = text;
    input.placeholder = held ? "(set)" : model.get("placeholder");
  }
  model.on("msg:custom", show);
  model.send({});
  return () => model.off("msg:custom", show);
}

export default { render };
