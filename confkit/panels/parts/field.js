async function render({ model, el }) {
  el.classList.add("confkit-field");
  const [now, drawing] = await showing(model);
  const kind = now.kind;
  const label = made("label");
  const words = made("span");
  const input = made("input");
  input.type = kind;
  input.autocomplete = "off";
  input.spellcheck = false;
  label.append(words, input);
  el.append(label);

  if (kind === "file") {
    input.accept = now.hint;
    input.addEventListener("change", async () => {
      const file = input.files[0];
      if (!file) return;
      model.send({ kind: "file", name: file.name }, undefined, [await file.arrayBuffer()]);
    });
  } else {
    // At each change, so that a click which follows finds the text in the kernel.
    input.addEventListener("input", () => model.send({ kind: "typed", text: input.value }));
  }
  input.addEventListener("keydown", (event) => event.stopPropagation());
  model.on("msg:custom", (message) => {
    if (message.kind === "clear") input.value = "";
    if (message.kind === "fill") input.value = message.text;
  });
  model.send({ kind: "filled" });
  drawing(() => {
    words.textContent = now.label;
    if (kind !== "file") input.placeholder = now.held ? `(${now.held})` : now.hint;
  });
}
export default { render };
