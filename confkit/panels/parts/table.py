"""A table of any length, of which the browser gets one page: sorted and cut here, in Python."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets

from ...errors import ConfigError
from .widget import Widget, browser

if TYPE_CHECKING:
    import pandas as pd

PAGE = 50  # rows


class Mark(NamedTuple):
    """A cell as a badge; `tone` is "good", "note", "warn", "bad" or "quiet"."""

    text: str
    tone: str


class Bar(NamedTuple):
    """A cell as a bar of this `share` (1 is full) with a text beside it; None: not known.

    `tone` is a state of occupancy: "free", "near", "full", "over", "empty", "no cap", "unread".
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


class Table(Widget):
    """Rows of a frame, a page at a time; `chosen` is the key of the row that was picked, or "".

    `show` gives it a frame, whose column `key` names its rows. People sort, turn pages, choose rows
    and columns in the browser, code by `sort`, `turn`, `choose` and `pick_columns`; `on_choice` is
    called with the key, and `on_page` after rows came into view that were not.
    """

    _esm = browser("table")
    label = traitlets.Unicode("").tag(shown=True)
    columns: traitlets.List[Any] = traitlets.List().tag(shown=True)
    rows: traitlets.List[Any] = traitlets.List().tag(shown=True)
    sorted: traitlets.List[Any] = traitlets.List(["", False]).tag(shown=True)
    page = traitlets.Int(0).tag(shown=True)
    pages = traitlets.Int(1).tag(shown=True)
    told = traitlets.Unicode("").tag(shown=True)
    empty = traitlets.Unicode("").tag(shown=True)
    chosen = traitlets.Unicode("").tag(shown=True)
    picked: traitlets.List[str] = traitlets.List().tag(shown=True)  # columns; none: the usual ones

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
        super().__init__(label=label, empty=empty, sorted=list(sort))
        self._key, self._columns, self._what = key, list(columns), what
        self._on_choice, self._on_page = on_choice, on_page
        self._frame: pd.DataFrame | None = None
        self._ordered: pd.DataFrame | None = None
        self._lock = threading.RLock()  # a panel's thread shows while a message sorts
        self._heard["sort"] = lambda content, _: self._sort_by(content.get("column"))
        self._heard["page"] = lambda content, _: self._turn_to(content.get("to"))
        self._heard["columns"] = lambda content, _: self.pick_columns(content.get("names"))
        self._heard["choose"] = lambda content, _: self.choose(str(content.get("key", "")))

    @property
    def visible(self) -> list[str]:
        """The keys of the rows on the page that is shown."""
        return [key for key, _ in self.rows]

    @property
    def ordered(self) -> pd.DataFrame:
        """The rows of all pages, in the order in which they are shown."""
        if self._ordered is None:
            raise ValueError("nothing is shown yet; show() comes first")
        return self._ordered

    def reveal(self, key: str) -> None:
        """Shows the page on which a row is, and marks it; nothing where there is none."""
        found = (self.ordered[self._key] == key).to_numpy(bool).nonzero()[0]
        if len(found):
            if (page := int(found[0]) // PAGE) != self.page:
                self.turn(page)
            self.chosen = key

    def show(self, frame: pd.DataFrame, told: str | None = None) -> None:
        """Shows this frame, sorted as before; the same page, as far as there is one."""
        with self._lock, self.together():
            self._frame = frame
            self.columns = [
                [one.name, one.label, one.right, one.wide, one.copy]
                for one in self._columns
                if one.name in frame.columns
            ]
            self.told = f"{len(frame):,} {self._what}" if told is None else told
            self._order()
            self._turn(self.page)
            if self.chosen and not (frame[self._key].astype(str) == self.chosen).any():
                self.chosen = ""

    def sort(self, column: str, down: bool | None = None) -> None:
        """Sorts by a column: as asked, or texts upwards and numbers downwards, and the other way
        where it is sorted so already. ConfigError: there is no such column."""
        with self._lock, self.together():
            frame = self._frame
            there = [] if frame is None else [str(name) for name in frame.columns]
            if frame is None or column not in there:
                raise ConfigError(
                    f"no column {column!r}", f"There are {', '.join(there) or 'none yet'}."
                )
            if down is None:
                number = frame[column].dtype.kind in "iuf"
                down = not self.sorted[1] if self.sorted[0] == column else number
            self.sorted = [column, down]
            self._order()
            self._turn(0)
        self._on_page()

    def turn(self, page: int) -> None:
        """Shows another page, the first being 0."""
        with self._lock, self.together():
            self._turn(page)
        self._on_page()

    def pick_columns(self, names: Any) -> None:
        """Shows these columns alone, however narrow the table is; with none the usual ones."""
        known = [name for name, *_ in self.columns]
        self.picked = [name for name in known if isinstance(names, list) and name in names]

    def choose(self, key: str) -> None:
        """Picks the row of this key, or none with an empty one."""
        self.chosen = key
        self._on_choice(key)

    def _sort_by(self, column: Any) -> None:
        if any(column == name for name, *_ in self.columns):
            self.sort(column)

    def _turn_to(self, page: Any) -> None:
        if isinstance(page, int):
            self.turn(page)

    def _order(self) -> None:
        frame, (column, down) = self._frame, self.sorted
        if frame is not None and column in frame.columns:
            how: Any = {"ascending": not down, "kind": "stable"}
            try:
                frame = frame.sort_values(column, **how)
            except TypeError:  # numbers and texts in one column
                frame = frame.sort_values(column, key=lambda one: one.astype("string"), **how)
        self._ordered = frame

    def _turn(self, page: int) -> None:
        frame = self._ordered
        if frame is None:
            return
        self.pages = max(1, math.ceil(len(frame) / PAGE))
        self.page = min(max(page, 0), self.pages - 1)
        part = frame.iloc[self.page * PAGE : (self.page + 1) * PAGE]
        records = part.astype(object).where(part.notna(), None).to_dict("records")
        there = [one for one in self._columns if one.name in frame.columns]
        self.rows = [
            [str(record[self._key]), [_sent(_cell(one, record)) for one in there]]
            for record in records
        ]


def _cell(column: Column, record: Any) -> Cell:
    if column.cell is not None:
        return column.cell(record)
    value = record[column.name]
    return None if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _sent(cell: Cell) -> Any:
    return cell._asdict() if isinstance(cell, Mark | Bar) else cell
