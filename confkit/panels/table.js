// A scrolling table. The kernel sends the rows around the visible ones.
const ROW = 28; // px: the height of a row in style.css
const AHEAD = 40; // rows requested above the visible ones

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function render({ model, el }) {
  const id = `confkit-table-${Math.random().toString(36).slice(2)}`;
  const search = make("input", { type: "search", placeholder: "Search" });
  const chips = make("span", { class: "confkit-chips" });
  const count = make("span", { class: "confkit-count", role: "status" });
  const tools = make("div", { class: "confkit-tools" }, search, chips, count);
  const columns = make("colgroup");
  const head = make("thead");
  const table = make("table", { role: "grid", tabindex: 0 }, columns, head, make("tbody"));
  const nothing = make("div", { class: "confkit-empty" });
  const scroller = make("div", { class: "confkit-scroller" }, table, nothing);
  el.classList.add("confkit-table");
  el.append(tools, scroller);

  let page = { first: 0, total: 0, rows: [], search: "", count: "", filters: [] };
  let requestedAt = 0; // when the pending page was requested
  let requestAgain = false; // once the pending page has arrived
  let pendingPick = null; // index of the row to pick once its page has arrived

  const save = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const visible = () => Math.max(1, Math.floor((scroller.clientHeight - ROW) / ROW));

  function drawTools() {
    search.hidden = !model.get("searchable");
    if (search !== document.activeElement) search.value = model.get("search");
    const filter = model.get("filter");
    const usable = page.filters.filter(([name, rows]) => rows || name === filter);
    const focused = chips.contains(document.activeElement) && document.activeElement.dataset.name;
    chips.replaceChildren(...usable.map(([name, rows]) => {
      const pressed = name === filter;
      const attributes = { type: "button", class: "confkit-chip", "aria-pressed": pressed };
      const chip = make("button", attributes, `${rows.toLocaleString("en")} ${name}`);
      chip.dataset.name = name;
      chip.onclick = () => save("filter", pressed ? "" : name);
      return chip;
    }));
    if (filter || model.get("search")) {
      const clear = make("button", { type: "button", class: "confkit-clear" }, "Clear");
      clear.onclick = () => {
        search.value = "";
        model.set("search", "");
        save("filter", "");
        table.focus({ preventScroll: true });
      };
      chips.append(clear);
    }
    chips.querySelector(`[data-name="${focused}"]`)?.focus({ preventScroll: true });
    count.textContent = page.count;
    tools.hidden = search.hidden && !usable.length;
    nothing.textContent = page.total ? "" : page.search || filter ? "No match." : model.get("empty");
  }

  function drawHead() {
    const [name, falls] = model.get("order");
    const heads = model.get("columns");
    table.setAttribute("aria-label", model.get("label"));
    search.setAttribute("aria-label", `Search: ${model.get("label")}`);
    columns.replaceChildren(...heads.map((c) => make("col", { style: `width: ${c.width}em` })));
    table.style.minWidth = `${heads.reduce((sum, c) => sum + c.width, 0)}em`; // below, it scrolls
    head.replaceChildren(make("tr", {}, ...heads.map((column) => {
      const sorted = column.name !== name ? "none" : falls ? "descending" : "ascending";
      const attributes = { type: "button", title: `Sort by ${column.label}` };
      const button = make("button", attributes, column.label);
      button.onclick = () => {
        save("order", [column.name, sorted === "ascending"]);
        head.querySelector(`[title="${attributes.title}"]`)?.focus({ preventScroll: true });
      };
      const cell = make("th", { scope: "col", "aria-sort": sorted }, button);
      cell.classList.toggle("confkit-right", column.right);
      return cell;
    })));
  }

  function space(rows) {
    const style = `height: ${Math.max(0, rows) * ROW}px`;
    return make("tr", { role: "presentation", class: "confkit-space", style });
  }

  function drawCell([text, bar], index) {
    const cell = make("td", { title: text, role: "gridcell" }, text);
    cell.classList.toggle("confkit-right", model.get("columns")[index].right);
    if (bar !== null) {
      cell.classList.add("confkit-bar");
      cell.classList.toggle("confkit-full", bar >= 1);
      cell.style.setProperty("--share", `${Math.min(bar, 1) * 100}%`);
    }
    return cell;
  }

  function drawRow({ number, faded, cells }, index) {
    const place = page.first + index;
    const row = make("tr", { id: `${id}-${place}`, "aria-rowindex": place + 2 });
    row.append(...cells.map(drawCell));
    row.classList.toggle("confkit-faded", faded);
    row.setAttribute("aria-selected", number === model.get("_pick"));
    row.onclick = () => {
      table.focus({ preventScroll: true }); // a notebook may have taken it
      pick(place);
    };
    return row;
  }

  function draw() {
    const after = page.total - page.first - page.rows.length;
    table.tBodies[0].replaceChildren(space(page.first), ...page.rows.map(drawRow), space(after));
    table.setAttribute("aria-rowcount", page.total + 1);
    drawTools();
    drawPick();
    if (pendingPick !== null && page.rows[pendingPick - page.first]) pick(pendingPick);
    requestVisible();
  }

  function position() {
    const index = page.rows.findIndex((row) => row.number === model.get("_pick"));
    return index < 0 ? -1 : page.first + index;
  }

  function drawPick() {
    const place = position();
    for (const row of table.tBodies[0].rows) {
      if (row.id) row.setAttribute("aria-selected", row.id === `${id}-${place}`);
    }
    if (place < 0) table.removeAttribute("aria-activedescendant");
    else table.setAttribute("aria-activedescendant", `${id}-${place}`);
  }

  function request(first) {
    requestAgain = Date.now() - requestedAt < 2000;
    if (requestAgain) return;
    requestedAt = Date.now();
    Promise.resolve(model.send({ view: id, first })).catch(() => {});
  }

  function requestVisible() { // unless the visible rows are here
    const top = Math.floor(scroller.scrollTop / ROW);
    const bottom = Math.min(top + visible() + 1, page.total);
    const here = page.first <= top && bottom <= page.first + page.rows.length;
    const first = Math.max(0, top - AHEAD);
    if (!here && first !== page.first) request(first);
  }

  function listen(message) {
    if ("picked" in message) { // the details have been updated
      el.closest(".confkit-split")?.classList.remove("confkit-picking");
      return;
    }
    const searched = message.search !== page.search;
    const fromTop = searched || page.first === 0;
    if (message.changed && !fromTop) request(page.first);
    if (message.changed ? !fromTop : message.view !== id) return;
    if (searched) scroller.scrollTop = 0;
    page = message;
    if (!message.changed) requestedAt = 0;
    draw();
    if (requestAgain) request(page.first);
  }

  function pick(place) {
    if (el.closest(".confkit-lost")) return; // there is no kernel to send the details
    place = Math.max(0, Math.min(place, page.total - 1));
    const top = place * ROW; // scroll the table, never the page
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    const lowest = top - (visible() - 1) * ROW;
    if (lowest > scroller.scrollTop) scroller.scrollTop = lowest;
    const row = page.rows[place - page.first];
    pendingPick = row ? null : place;
    if (!row) requestVisible();
    else if (row.number !== model.get("_pick")) {
      // The details are outdated until the kernel responds.
      el.closest(".confkit-split > :first-child")?.parentElement.classList.add("confkit-picking");
      save("_pick", row.number);
    }
  }

  table.addEventListener("keydown", (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: visible(), PageUp: -visible(),
      Home: -page.total, End: page.total };
    if (!(event.key in moves) || event.target !== table) return;
    event.preventDefault();
    event.stopPropagation();
    const from = pendingPick ?? position();
    pick(from < 0 ? 0 : from + moves[event.key]);
  });
  // Notebook 7 takes keys first, unless the focused element itself opts out.
  el.addEventListener("focusin", ({ target }) => {
    target.setAttribute("data-lm-suppress-shortcuts", "true");
  });
  search.addEventListener("input", () => save("search", search.value));
  scroller.addEventListener("scroll", requestVisible);
  const events = { "change:order change:columns": drawHead, "change:_pick": drawPick,
    "change:filter change:search change:empty": drawTools, "msg:custom": listen };
  for (const [names, listener] of Object.entries(events)) model.on(names, listener);
  drawHead();
  drawTools();
  request(0);
  return () => {
    for (const [names, listener] of Object.entries(events)) model.off(names, listener);
  };
}

export default { render };
