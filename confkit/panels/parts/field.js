function render({ model, el }) {
  el.classList.add("confkit-field");
  const kind = model.get("kind");
  const label = made("label");
  const words = made("span");
  const input = made(kind === "area" ? "textarea" : "input");
  if (kind === "area") input.rows = 4;
  else input.type = kind;
  input.autocomplete = "off";
  input.spellcheck = false;
  label.append(words, input);
  el.append(label);

  if (kind === "file") {
    input.accept = model.get("hint");
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
  const heard = (message) => {
    if (message.kind === "clear") input.value = "";
    if (message.kind === "fill") input.value = message.text;
  };
  model.on("msg:custom", heard);
  model.send({ kind: "ready" });
  const end = drawing(model, () => {
    words.textContent = model.get("label");
    input.disabled = model.get("disabled");
    if (kind !== "file") input.placeholder = model.get("held") ? `(${model.get("held")})` : model.get("hint");
  });
  return () => { end(); model.off("msg:custom", heard); };
}
export default { render };
