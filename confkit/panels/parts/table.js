function made(kind, name, text) {
  const element = document.createElement(kind);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function filled(td, cell) {
  if (cell === null) {
    td.append(made("span", "confkit-missing", "–"));
    td.title = "not known";
  } else if (typeof cell === "string") {
    td.textContent = cell;
    td.title = cell;
  } else if ("share" in cell) {
    const bar = made("span", "confkit-bar confkit-tone-" + cell.tone.replace(" ", "-"));
    const track = made("span", "confkit-track");
    track.setAttribute("aria-hidden", "true");
    const fill = made("span", "confkit-fill");
    fill.style.width = `${100 * Math.min(1, Math.max(0, cell.share || 0))}%`;
    track.append(fill);
    bar.append(track, made("span", "confkit-bar-text", cell.text));
    td.append(bar);
    td.title = cell.text;
  } else {
    td.append(made("span", "confkit-badge confkit-tone-" + cell.tone, cell.text));
  }
  return td;
}

function render({ model, el }) {
  el.classList.add("confkit-table");
  const frame = made("div", "confkit-table-frame");
  const table = made("table");
  table.setAttribute("role", "grid");
  const foot = made("div", "confkit-table-foot");
  const empty = made("div", "confkit-empty");
  frame.append(table);
  el.append(frame, empty, foot);
  let focus = null; // the key of the row that keys move from

  function classes([, , right, wide]) {
    return `${right ? "confkit-right" : ""} ${wide ? "confkit-wide" : ""}`.trim();
  }

  function head() {
    const row = made("tr");
    const [sorted, down] = model.get("sorted");
    for (const column of model.get("columns")) {
      const [name, label] = column;
      const th = made("th", classes(column));
      th.scope = "col";
      const state = name !== sorted ? "none" : down ? "descending" : "ascending";
      th.setAttribute("aria-sort", state);
      const button = made("button", "", label);
      button.type = "button";
      const mark = made("span", "confkit-sort", { none: "", ascending: " ▲", descending: " ▼" }[state]);
      mark.setAttribute("aria-hidden", "true");
      button.append(mark);
      button.dataset.column = name;
      button.addEventListener("click", () => model.send({ kind: "sort", column: name }));
      th.append(button);
      row.append(th);
    }
    const thead = made("thead");
    thead.append(row);
    return thead;
  }

  function body() {
    const tbody = made("tbody");
    const columns = model.get("columns");
    const rows = model.get("rows");
    const chosen = model.get("chosen");
    const keys = rows.map(([key]) => key);
    const entry = [focus, chosen, keys[0]].find((key) => keys.includes(key));
    for (const [key, cells] of rows) {
      const tr = made("tr");
      tr.dataset.key = key;
      tr.tabIndex = key === entry ? 0 : -1;
      tr.setAttribute("aria-selected", String(key === chosen));
      cells.forEach((cell, place) => tr.append(filled(made("td", classes(columns[place])), cell)));
      tr.addEventListener("click", () => choose(key));
      tr.addEventListener("keydown", moved);
      tr.addEventListener("focus", () => { focus = key; });
      tbody.append(tr);
    }
    return tbody;
  }

  function choose(key) {
    model.send({ kind: "choose", key });
  }

  function moved(event) {
    const tr = event.currentTarget;
    const body = tr.parentElement;
    const other = {
      ArrowDown: tr.nextElementSibling, ArrowUp: tr.previousElementSibling,
      Home: body.firstElementChild, End: body.lastElementChild,
    };
    if (event.key in other) {
      if (other[event.key]) {
        tr.tabIndex = -1;
        other[event.key].tabIndex = 0;
        other[event.key].focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      choose(tr.dataset.key);
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      turn(model.get("page") + (event.key === "PageDown" ? 1 : -1));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function turn(to) {
    if (to >= 0 && to < model.get("pages")) model.send({ kind: "page", to });
  }

  function turner(text, label, to) {
    const button = made("button", "confkit-button", text);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.title = label;
    button.disabled = to < 0 || to >= model.get("pages");
    button.dataset.column = label;
    button.addEventListener("click", () => turn(to));
    return button;
  }

  function draw() {
    const active = el.contains(document.activeElement) ? document.activeElement : null;
    const [key, name] = active ? [active.dataset.key, active.dataset.column] : [];
    table.setAttribute("aria-label", model.get("label"));
    table.replaceChildren(head(), body());
    const rows = model.get("rows").length;
    empty.textContent = rows ? "" : model.get("empty");
    empty.hidden = rows > 0;
    const [page, pages] = [model.get("page"), model.get("pages")];
    const told = made("span", "confkit-told", model.get("told"));
    foot.replaceChildren(told);
    if (pages > 1) {
      foot.append(
        turner("«", "first page", page > 0 ? 0 : -1),
        turner("‹", "previous page", page - 1),
        made("span", "", `page ${page + 1} of ${pages.toLocaleString("en")}`),
        turner("›", "next page", page + 1),
        turner("»", "last page", page < pages - 1 ? pages - 1 : pages),
      );
    }
    // What had the focus was replaced; the same row, heading or button gets it again.
    let again = null;
    if (key !== undefined) {
      again = table.querySelector(`tr[data-key="${CSS.escape(key)}"]`) || table.querySelector("tbody tr");
    } else if (name !== undefined) {
      again = el.querySelector(`[data-column="${CSS.escape(name)}"]`);
    }
    if (again) again.focus({ preventScroll: true });
  }

  // Several traits change together: one drawing for all of them.
  let due = false;
  const later = () => {
    if (due) return;
    due = true;
    queueMicrotask(() => { due = false; draw(); });
  };
  model.on("change", later);
  draw();
  return () => model.off("change", later);
}
export default { render };
