"""`Table`: a frame of any length; the browser holds only the rows around the visible ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anywidget
import pandas as pd
import traitlets

from ..secret import redact
from ..text import counted, one_line
from .status import HERE, STYLE

PAGE = 120  # rows that are sent at a time

Filter = Callable[[pd.DataFrame], "pd.Series[bool]"]


@dataclass(frozen=True)
class Column:
    """A column of a Table.

    `name` is the frame's column, by which it sorts, and `label` its heading; `text(row)` is what a
    cell shows (default: the value); `bar(row)`, a share from 0 to 1 or None, is drawn behind the
    text, full from 1 on. `width` is the minimum in em: a table distributes the space left over.
    """

    name: str
    label: str
    width: float = 8
    text: Callable[[Any], str] | None = None
    bar: Callable[[Any], float | None] | None = None
    right: bool = False

    def cell(self, row: Any) -> list[Any]:
        """Return the text and the bar of this column's cell in a row."""
        value = getattr(row, self.name)
        if self.text:
            text = self.text(row)
        elif pd.isna(value):
            text = ""
        else:
            text = f"{value:,}" if isinstance(value, int) else str(value)
        share = self.bar(row) if self.bar else None
        return [redact(one_line(text)), None if pd.isna(share) else float(share)]


class Table(anywidget.AnyWidget):
    """Rows of a frame to search, filter, sort and pick.

    `show(frame)` replaces the frame; its index identifies the rows. `picked` is the index of the
    picked row, or None; `visible` is the frame as searched, filtered and sorted. `search` and
    `filter` (one of `filters`, buttons with the number of their rows) can also be set from code;
    `order` is a column and whether it descends. `noun` counts the rows; `faded(row)` marks stale
    ones.
    """

    _esm = HERE / "table.js"
    _css = STYLE
    label = traitlets.Unicode().tag(sync=True)
    columns: traitlets.List[Any] = traitlets.List().tag(sync=True)
    order = traitlets.List(["", False]).tag(sync=True)
    search = traitlets.Unicode().tag(sync=True)
    searchable = traitlets.Bool(True).tag(sync=True)
    filter = traitlets.Unicode().tag(sync=True)
    empty = traitlets.Unicode().tag(sync=True)
    picked = traitlets.Any(None)
    # The number of the picked row's index, as that may be an address with a login.
    _pick = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        label: str,
        columns: Sequence[Column],
        order: tuple[str, bool] = ("", False),
        *,
        noun: str = "row",
        empty: str = "Nothing to show.",
        searchable: bool = True,
        filters: Mapping[str, Filter] | None = None,
        faded: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        self._columns, self._noun, self._faded = columns, noun, faded
        self._filters = dict(filters or {})
        self._lock = threading.RLock()  # the browser's messages come in another thread
        self._numbers: dict[Hashable, int] = {}
        self._indices: list[Hashable] = []
        self._texts: pd.Series[str] = pd.Series(dtype="string")
        self.frame = self.visible = pd.DataFrame()
        parts = ("name", "label", "width", "right")  # of a column, for the browser
        heads = [{part: getattr(column, part) for part in parts} for column in columns]
        super().__init__(
            label=label, columns=heads, order=list(order), searchable=searchable, empty=empty
        )
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        return f"Table({self.label!r})"

    def show(self, frame: pd.DataFrame) -> None:
        """Show another frame; the pick is kept if its row still exists."""
        with self._lock:
            self.frame = frame = frame.rename_axis(None)  # which may be the name of a column
            self._texts = self._searchable(frame)
            if self.picked is not None and self.picked not in frame.index:
                self.picked = None
            self._arrange()

    @traitlets.observe("search", "order", "filter")
    def _arrange(self, _: object = None) -> None:
        with self._lock:
            frame = self.frame
            if len(frame):
                matches = pd.Series(True, index=frame.index)
                for word in self.search.casefold().split():
                    matches &= self._texts.str.contains(word, regex=False)
                if self.filter in self._filters:
                    matches &= self._filters[self.filter](frame).fillna(False)
                name, descending = str(self.order[0]), bool(self.order[1])
                frame = frame[matches]
                if name in frame.columns:
                    frame = frame.sort_values(
                        name, ascending=not descending, kind="stable", key=_sort_key
                    )
            self.visible = frame
            self.send({"changed": True, **self._page(0)})  # a view scrolled further asks again

    def _page(self, first: int) -> dict[str, Any]:
        """Return a page of rows, from `first` on, for a view."""
        total, unfiltered = len(self.visible), len(self.frame)
        first = max(0, min(first, total - 1))
        rows = [
            {
                "number": self._number(row.Index),
                "faded": bool(self._faded(row)),
                "cells": [column.cell(row) for column in self._columns],
            }
            for row in self.visible.iloc[first : first + PAGE].itertuples()
        ]
        count = counted(unfiltered, self._noun)
        return {
            "first": first,
            "total": total,
            "rows": rows,
            "search": self.search,
            "count": count if total == unfiltered else f"{total:,} of {count}",
            "filters": [
                [name, int(mask(self.frame).sum()) if unfiltered else 0]
                for name, mask in self._filters.items()
            ],
        }

    def _receive(self, _: object, content: object, __: object) -> None:
        match content:
            case {"view": str(view), "first": int(first)}:
                with self._lock:
                    self.send({"view": view, **self._page(first)})

    @traitlets.observe("_pick")
    def _take_pick(self, _: object) -> None:
        with self._lock:
            known = 0 <= self._pick < len(self._indices)
            index = self._indices[self._pick] if known else None
            try:
                self.picked = index if index in self.frame.index else None
            finally:
                self.send({"picked": self._pick})  # the details of the previous row are gone

    @traitlets.observe("picked")
    def _show_pick(self, _: object) -> None:
        self._pick = -1 if self.picked is None else self._number(self.picked)

    def _number(self, index: Hashable) -> int:
        if index not in self._numbers:
            self._numbers[index] = len(self._indices)
            self._indices.append(index)
        return self._numbers[index]

    def _searchable(self, frame: pd.DataFrame) -> pd.Series[str]:
        """Return the visible texts of each row, in lower case."""
        texts = pd.Series("", index=frame.index, dtype="string")
        for column in self._columns:
            if column.name in frame and not pd.api.types.is_numeric_dtype(frame[column.name]):
                texts = texts + " " + frame[column.name].astype("string").fillna("")
        return texts.str.casefold()


def _sort_key(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return keys for a natural sort: case-insensitive, "Room 2" before "Room 10"."""
    if not isinstance(values.dtype, pd.StringDtype):
        return values
    return values.str.casefold().str.replace(r"\d+", lambda digits: digits[0].zfill(20), regex=True)
