// What the browser halves of our widgets share; it stands in front of each of them.
function made(kind, name = "", text = "") {
  const element = document.createElement(kind);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

function button(name, text, clicked) {
  const element = made("button", `confkit-button ${name}`, text);
  element.type = "button";
  element.addEventListener("click", clicked);
  return element;
}

// What Python shows, once it is there, and a function that draws it: now, and after it has changed,
// once for all that changes together. It comes as messages, so that no front end saves it.
function showing(model) {
  const now = {};
  let [draw, due] = [() => {}, false];
  const drawing = (drawn) => { draw = drawn; draw(); };
  return new Promise((resolve) => {
    model.on("msg:custom", ({ kind, values, whole }) => {
      if (kind !== "shown") return;
      Object.assign(now, values);
      if (whole) resolve([now, drawing]);
      if (due) return;
      due = true;
      queueMicrotask(() => { due = false; draw(); });
    });
    model.send({ kind: "ready" });
  });
}

// Copies the text of an element, and says so on the button for a while.
async function copy(element, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(element.textContent);
    button.textContent = "Copied";
  } catch {
    // Pages of plain http have no clipboard: the text is selected, and Ctrl+C copies it.
    getSelection().selectAllChildren(element);
    button.textContent = "Selected: Ctrl+C";
  }
  setTimeout(() => { button.textContent = before; }, 2000);
}
