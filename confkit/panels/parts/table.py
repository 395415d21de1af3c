"""A table of any length, of which the browser gets one page: sorted and cut here, in Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ...errors import ConfigError
from .widget import Content, Widget, browser, shown

PAGE = 50  # rows


class Mark(NamedTuple):
    """A cell as a badge; `tone` is "good", "note", "warn", "bad" or "quiet"."""

    text: str
    tone: str


class Bar(NamedTuple):
    """A cell as a bar of this `share` (1 is full) with a text beside it; None: not known.

    `tone` is a state of occupancy: "in use", "near", "full", "over", "empty", "no cap", "unread".
    """

    text: str
    share: float | None
    tone: str


Cell = str | Mark | Bar | None  # None: missing, which is never a zero or an empty text
Row = Mapping[str, Any]


class Column(NamedTuple):
    """A column: `name` in the frame, by which it sorts, its heading, and how its cells are made of
    a row (as the value's text, if left out). Narrow tables leave `wide` ones out; beside a cell
    to `copy` stands a button for that."""

    name: str
    label: str
    cell: Callable[[Row], Cell] | None = None
    right: bool = False
    wide: bool = False
    copy: bool = False

    def sent(self, row: Row) -> Any:
        """The cell of this row, for the browser."""
        if self.cell is not None:
            cell = self.cell(row)
            return cell._asdict() if isinstance(cell, Mark | Bar) else cell
        value = row[self.name]
        return None if value is None else f"{value:,}" if isinstance(value, int) else str(value)


class Table(Widget):
    """Rows of a frame, a page at a time; `chosen` is the key of the row that was picked, or "".

    `show` gives it a frame, whose column `key` names its rows. People sort, turn pages, choose rows
    and columns in the browser, code by `sort`, `turn`, `choose` and `pick_columns`; `on_choice` is
    called with the key, and `on_page` after rows came into view that were not. `ordered` has the
    rows of all pages, in the order in which they are shown.
    """

    _esm = browser("table")
    label = shown("")
    columns = shown(())
    rows = shown(())
    sorted = shown(("", False))
    page = shown(0)
    pages = shown(1)
    told = shown("")
    empty = shown("")
    chosen = shown("")
    picked = shown(())  # columns; none: the usual ones

    def __init__(
        self,
        label: str,
        key: str,
        columns: Sequence[Column],
        *,
        what: str = "rows",
        empty: str = "Nothing to show.",
        sort: tuple[str, bool] = ("", False),
        on_choice: Callable[[str], object] = lambda _: None,
        on_page: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(label=label, empty=empty, sorted=sort)
        self._key, self._columns, self._what = key, columns, what
        self._on_choice, self._on_page = on_choice, on_page
        self.ordered = self._frame = pd.DataFrame({key: []})
        self.hears(
            sort=self._sort_by,
            page=self._turn_to,
            columns=lambda one: self.pick_columns(one.get("names")),
            choose=lambda one: self.choose(str(one.get("key", ""))),
        )

    @property
    def visible(self) -> list[str]:
        """The keys of the rows on the page that is shown."""
        return [key for key, _ in self.rows]

    def reveal(self, key: str) -> None:
        """Show the page on which a row is, and mark it; nothing where there is none."""
        found = (self.ordered[self._key] == key).to_numpy(bool).nonzero()[0]
        if len(found):
            if (page := int(found[0]) // PAGE) != self.page:
                self.turn(page)
            self.chosen = key

    def show(self, frame: pd.DataFrame, told: str | None = None) -> None:
        """Show this frame, sorted as before; the same page, as far as there is one."""
        with self._sending:
            self._frame = frame
            self._arrange(
                self.page,
                columns=[
                    [one.name, one.label, one.right, one.wide, one.copy] for one in self._there()
                ],
                told=f"{len(frame):,} {self._what}" if told is None else told,
                chosen=self.chosen if (frame[self._key].astype(str) == self.chosen).any() else "",
            )

    def sort(self, column: str, down: bool | None = None) -> None:
        """Sort by a column: as asked, or texts upwards and numbers downwards, and the other way
        where it is sorted so already. ConfigError: there is no such column."""
        with self._sending:
            frame = self._frame
            if column not in frame.columns:
                there = ", ".join(map(str, frame.columns))
                raise ConfigError(f"no column {column!r}", f"There are {there}.")
            if down is None:
                number = frame[column].dtype.kind in "iuf"
                down = not self.sorted[1] if self.sorted[0] == column else number
            self._arrange(0, sorted=(column, down))
        self._on_page()

    def turn(self, page: int) -> None:
        """Show another page, the first being 0."""
        with self._sending:
            self._turn(page)
        self._on_page()

    def pick_columns(self, names: Any) -> None:
        """Show these columns alone, however narrow the table is; with none the usual ones."""
        self.picked = [one for one in self._names() if isinstance(names, list) and one in names]

    def choose(self, key: str) -> None:
        """Pick the row of this key, or none with an empty one."""
        self.chosen = key
        self._on_choice(key)

    def _sort_by(self, content: Content) -> None:
        if content.get("column") in self._names():
            self.sort(content["column"])

    def _turn_to(self, content: Content) -> None:
        if isinstance(content.get("to"), int):
            self.turn(content["to"])

    def _there(self) -> list[Column]:
        return [one for one in self._columns if one.name in self._frame.columns]

    def _names(self) -> list[str]:
        return [one.name for one in self._there()]

    def _arrange(self, page: int, **values: Any) -> None:
        """Put the rows in their order, and show this page of them."""
        frame, (column, down) = self._frame, values.get("sorted", self.sorted)
        if column in frame.columns:
            how: Any = {"ascending": not down, "kind": "stable"}
            try:
                frame = frame.sort_values(column, **how)
            except TypeError:  # numbers and texts in one column
                frame = frame.sort_values(column, key=lambda one: one.astype("string"), **how)
        self.ordered = frame
        self._turn(page, **values)

    def _turn(self, page: int, **values: Any) -> None:
        pages = max(1, math.ceil(len(self.ordered) / PAGE))
        page = min(max(page, 0), pages - 1)
        part = self.ordered.iloc[page * PAGE : (page + 1) * PAGE]
        records: Any = part.astype(object).where(part.notna(), None).to_dict("records")
        rows = [
            [str(record[self._key]), [one.sent(record) for one in self._there()]]
            for record in records
        ]
        self.put(**values, page=page, pages=pages, rows=rows)
