"""The state of a room, as shown by charts and panels, and the columns that charts read."""

from collections.abc import Iterator, Sequence
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
    if share < NEARLY_FULL:
        return RoomState("in use" if count else "empty", share, text)
    state = "full" if count >= cap else "nearly full"
    note = f"over by {_format(count - cap)}" if count > cap else state
    return RoomState(state, share, f"{text}, {note}")


def number(value: Any) -> float | None:
    """Return the number; None if it is missing, negative or infinite."""
    return float(value) if pd.notna(value) and 0 <= value < 1e15 else None


def _format(value: float) -> str:
    """Return the number as text; a mean has one decimal."""
    return f"{value:,.1f}".removesuffix(".0")


def clean(text: Any) -> str:
    """Return the text on one line, without unprintable characters; "" for a missing value."""
    return "" if pd.isna(text) else one_line(str(text)).strip()


def values(
    frame: pd.DataFrame, texts: Sequence[str], numbers: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row in these columns: texts on one line, "" for a missing one, then
    numbers, None for a missing one. A column may be missing, too."""
    table = frame.reindex(columns=[*texts, *numbers]).replace("", None)
    for row in table.astype(dict.fromkeys(numbers, "Float64")).itertuples(index=False, name=None):
        yield *map(clean, row[: len(texts)]), *map(number, row[len(texts) :])
