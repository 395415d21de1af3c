function filled(td, cell, copies) {
  if (cell === null) {
    td.append(made("span", "confkit-missing", "–"));
    td.title = "not known";
    return td;
  }
  td.title = cell.text || cell;
  if (typeof cell === "string") {
    const text = made("span", "", cell);
    td.append(text);
    if (copies && cell) {
      const copier = button("confkit-copy-id", "copy", (event) => {
        event.stopPropagation();
        copy(text, copier);
      });
      copier.tabIndex = -1;
      copier.setAttribute("aria-label", `Copy ${cell}`);
      td.append(copier);
    }
  } else if ("share" in cell) {
    const bar = made("span", "confkit-bar confkit-tone-" + cell.tone.replace(" ", "-"));
    const track = made("span", "confkit-track");
    track.setAttribute("aria-hidden", "true");
    const fill = made("span", "confkit-fill");
    fill.style.width = `${100 * Math.min(1, Math.max(0, cell.share || 0))}%`;
    track.append(fill);
    bar.append(track, made("span", "confkit-bar-text", cell.text));
    td.append(bar);
  } else {
    td.append(made("span", "confkit-badge confkit-tone-" + cell.tone, cell.text));
  }
  return td;
}

async function render({ model, el }) {
  el.classList.add("confkit-table");
  const [now, drawing] = await showing(model);
  const frame = made("div", "confkit-table-frame");
  const table = made("table");
  table.setAttribute("role", "grid");
  const [foot, empty] = [made("div", "confkit-table-foot"), made("div", "confkit-empty")];
  const menu = made("details", "confkit-menu");
  frame.append(table);
  el.append(frame, empty, foot);
  let focus = null; // the key of the row that keys move from

  // The columns that are shown, with their places; one that was chosen is shown however narrow it is.
  function shown() {
    const chosen = now.picked;
    const all = now.columns.map((column, place) => [column, place]);
    return chosen.length ? all.filter(([[name]]) => chosen.includes(name)) : all;
  }

  function classes([, , right, wide]) {
    const leaves = wide && !now.picked.length;
    return `${right ? "confkit-right" : ""} ${leaves ? "confkit-wide" : ""}`.trim();
  }

  function head() {
    const row = made("tr");
    const [sorted, down] = now.sorted;
    for (const [column] of shown()) {
      const [name, label] = column;
      const th = made("th", classes(column));
      th.scope = "col";
      const state = name !== sorted ? "none" : down ? "descending" : "ascending";
      th.setAttribute("aria-sort", state);
      const sorter = made("button", "", label);
      sorter.type = "button";
      const mark = made("span", "confkit-sort", { none: "", ascending: " ▲", descending: " ▼" }[state]);
      mark.setAttribute("aria-hidden", "true");
      sorter.append(mark);
      sorter.dataset.column = name;
      sorter.addEventListener("click", () => model.send({ kind: "sort", column: name }));
      th.append(sorter);
      row.append(th);
    }
    const thead = made("thead");
    thead.append(row);
    return thead;
  }

  function body() {
    const tbody = made("tbody");
    const [rows, columns, chosen] = [now.rows, shown(), now.chosen];
    const keys = rows.map(([key]) => key);
    const entry = [focus, chosen, keys[0]].find((key) => keys.includes(key));
    for (const [key, cells] of rows) {
      const tr = made("tr");
      tr.dataset.key = key;
      tr.tabIndex = key === entry ? 0 : -1;
      tr.setAttribute("aria-selected", String(key === chosen));
      tr.append(...columns.map(([column, place]) => filled(made("td", classes(column)), cells[place], column[4])));
      tr.addEventListener("click", () => choose(key));
      tr.addEventListener("keydown", moved);
      tr.addEventListener("focus", () => { focus = key; });
      tbody.append(tr);
    }
    return tbody;
  }

  // What is too wide gives way: first the bars, then the columns that may leave, from the right; then
  // long texts are cut, and at last the words beside the bars stand below them.
  function fit() {
    width = frame.clientWidth;
    const over = () => table.offsetWidth > width;
    table.classList.remove("confkit-tight", "confkit-cut", "confkit-broken");
    for (const cell of table.querySelectorAll("[hidden]")) cell.hidden = false;
    if (over()) table.classList.add("confkit-tight");
    for (const th of [...table.querySelectorAll("th.confkit-wide")].reverse()) {
      if (over()) for (const row of table.rows) row.cells[th.cellIndex].hidden = true;
    }
    if (over()) table.classList.add("confkit-cut");
    if (over()) table.classList.add("confkit-broken");
  }
  let width = 0;
  const resized = new ResizeObserver(() => {
    if (frame.clientWidth !== width) requestAnimationFrame(fit);
  });
  resized.observe(frame);

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
      turn(now.page + (event.key === "PageDown" ? 1 : -1));
    } else if (event.key === "c" && !event.ctrlKey && !event.metaKey) {
      tr.querySelector(".confkit-copy-id")?.click();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function turn(to) {
    if (to >= 0 && to < now.pages) model.send({ kind: "page", to });
  }

  function turner(text, label, to) {
    const element = button("", text, () => turn(to));
    element.setAttribute("aria-label", label);
    element.title = label;
    element.disabled = to < 0 || to >= now.pages;
    element.dataset.column = label;
    return element;
  }

  // Which columns are shown now is asked when the menu opens: narrow tables leave some out.
  menu.append(made("summary", "", "Columns"));
  menu.addEventListener("toggle", () => {
    const seen = new Set([...table.querySelectorAll("th")].filter((th) => th.offsetParent)
      .map((th) => th.firstElementChild.dataset.column));
    const boxes = now.columns.map(([name, label]) => {
      const box = made("input");
      Object.assign(box, { type: "checkbox", value: name, checked: seen.has(name) });
      const words = made("label");
      words.append(box, label);
      return words;
    });
    menu.replaceChildren(menu.firstElementChild, ...boxes);
  });
  menu.addEventListener("change", () => {
    const names = [...menu.querySelectorAll("input:checked")].map((box) => box.value);
    model.send({ kind: "columns", names });
  });

  function draw() {
    const active = table.contains(document.activeElement) || foot.contains(document.activeElement);
    const { key, column } = active ? document.activeElement.dataset : {};
    table.setAttribute("aria-label", now.label);
    table.replaceChildren(head(), body());
    fit();
    const rows = now.rows.length;
    empty.textContent = rows ? "" : now.empty;
    empty.hidden = rows > 0;
    const [page, pages] = [now.page, now.pages];
    const parts = [made("span", "confkit-told", now.told)];
    if (pages > 1) {
      parts.push(
        turner("«", "first page", page > 0 ? 0 : -1),
        turner("‹", "previous page", page - 1),
        made("span", "", `page ${page + 1} of ${pages.toLocaleString("en")}`),
        turner("›", "next page", page + 1),
        turner("»", "last page", page < pages - 1 ? pages - 1 : pages),
      );
    }
    while (foot.firstChild && foot.firstChild !== menu) foot.firstChild.remove();
    foot.prepend(...parts); // the menu stays as it is, open or not
    if (menu.parentElement !== foot) foot.append(menu);
    menu.hidden = now.columns.length < 4;
    // What had the focus was replaced; the same row, heading or button gets it again.
    let again = null;
    if (key !== undefined) {
      again = table.querySelector(`tr[data-key="${CSS.escape(key)}"]`) || table.querySelector("tbody tr");
    } else if (column !== undefined) {
      again = el.querySelector(`[data-column="${CSS.escape(column)}"]`);
    }
    if (again) again.focus({ preventScroll: true });
  }
  drawing(draw);
  return () => resized.disconnect();
}
export default { render };
