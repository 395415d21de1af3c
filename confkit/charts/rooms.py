"""The state of a room, as shown by charts and panels, and the columns that charts read."""

from typing import Any, NamedTuple

import pandas as pd

from ..text import one_line

NEARLY_FULL = 0.8  # of the cap, and above


class RoomState(NamedTuple):
    """How full a room is."""

    state: str  # "full", "nearly full", "in use", "empty", "no cap" or "not read"
    share: float | None  # of attendee_max, above 1 if that is exceeded; None if unknown
    text: str  # such as "3 of 5", "5 of 5, full", "3, no cap" or "not read"


def room_state(users: Any, attendee_max: Any) -> RoomState:
    """Return the state of a room.

    A number that is missing, negative or infinite is unknown. An unknown cap, or 0, means no cap:
    users are read only after the cap.
    """
    count, cap = number(users), number(attendee_max)
    if count is None:
        return RoomState("not read", None, "not read")
    if not cap:
        return RoomState("no cap", None, f"{_format(count)}, no cap")
    share, text = count / cap, f"{_format(count)} of {_format(cap)}"
    if count > cap:
        return RoomState("full", share, f"{text}, over by {_format(count - cap)}")
    if count == cap:
        return RoomState("full", share, f"{text}, full")
    if share >= NEARLY_FULL:
        return RoomState("nearly full", share, f"{text}, nearly full")
    return RoomState("in use" if count else "empty", share, text)


def number(value: Any) -> float | None:
    """Return the number; None if it is missing, negative or infinite."""
    return float(value) if pd.notna(value) and 0 <= value < 1e15 else None


def _format(value: float) -> str:
    """Return the number as text; a mean has one decimal."""
    return f"{value:,.1f}".removesuffix(".0")


def clean(text: Any) -> str:
    """Return the text on one line, without unprintable characters; "" for a missing value."""
    return "" if pd.isna(text) else one_line(str(text)).strip()


def numbers(frame: pd.DataFrame, *names: str) -> list[list[float | None]]:
    """Return the columns' numbers; None for a missing value or column."""
    table = frame.reindex(columns=names).replace("", None)
    table = table.apply(pd.to_numeric).astype("float64")
    return [[number(value) for value in table[name]] for name in names]


def texts(frame: pd.DataFrame, *names: str) -> list[list[str]]:
    """Return the columns' texts, each on one line; "" for a missing value or column."""
    table = frame.reindex(columns=names)
    return [[clean(text) for text in table[name]] for name in names]
