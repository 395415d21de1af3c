"""Rooms in the order in which they matter, a row each, before anything is drawn: how full they are
now, or which cap they should have."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from .looks import KINDS, STATES
from .texts import clean, lasting, names, natural

Size = int | None


class Row(NamedTuple):
    """A room's row in a chart; rows are sorted by their `place`.

    `sizes` are its users and its cap; or its cap, the suggested one, and the most users that it
    had. None where unknown.
    """

    place: tuple[Any, ...]
    name: str
    room_id: str
    state: str  # one of STATES, or of KINDS
    group: str  # in which it is counted
    numbers: str  # such as "20 of 25" or "100 → 40"
    word: str  # such as "full" or "raise by 10"
    text: str  # what a summary says of it
    sizes: tuple[Size, ...]


def row_now(name: str, room_id: str, users: Size, cap: Size, capped: bool = True) -> Row:
    """A room with so many users, None when they could not be read, and a cap, None or 0 when there
    is none; `capped` is False when it is not known whether there is one."""
    cap, state, order = cap or None, "unread", -2.0
    numbers, word, group = "", "could not be read", STATES["unread"].word
    if users is not None and cap is None:
        state, order, numbers = "no cap" if capped else "unread", -1.0, f"{users:,}"
        group = STATES[state].word
        word = group if capped else "attendee_max not read"
    elif users is not None and cap is not None:
        order, numbers = users / cap, f"{users:,} of {cap:,}"
        state = "near" if 5 * users >= 4 * cap else "in use" if users else "empty"
        if users >= cap:
            state = "over" if users > cap else "full"
        word = group = STATES[state].word
        if state == "over":
            word = f"over by {users - cap:,}"
        elif state in ("in use", "near"):
            fifth = 20 * (5 * users // cap)
            group = f"{fifth} to {fifth + 19} %"
    place = (-order, -(users or 0), natural(name), room_id)
    text = ", ".join(filter(None, (numbers, word)))
    return Row(place, name, room_id, state, group, numbers, word, text, (users, cap))


def rooms(frame: pd.DataFrame) -> list[Row]:
    """The frame's rooms by utilisation, then those without a cap, then those not read."""
    needed(frame, "the frame", "room_id", "users", "attendee_max")
    return sorted(
        # A room that was read has a topic: without one, and with an error, its cap is not known.
        row_now(name, room_id, users, cap, cap is not None or bool(topic or not error))
        for name, room_id, users, cap, topic, error in _read(
            frame, ("users", "attendee_max"), ("topic", "error")
        )
    )


def caps(report: pd.DataFrame) -> list[Row]:
    """The report's rooms: those to raise first, then those that reached their cap, and so on; the
    largest step on top."""
    needed(report, "the report", "room_id", "attendee_max", "suggested")
    numbers = ("attendee_max", "suggested", "peak", "minutes_in_use", "minutes_full")
    return sorted(_cap(*row) for row in _read(report, numbers, ("reason",)))


def _cap(
    name: str,
    room_id: str,
    cap: Size,
    new: Size,
    peak: Size,
    used: Size,
    full: Size,
    reason: str,
) -> Row:
    """A room with this cap and the `new` one, by its peak, and its minutes in use and at its cap:
    while it is `full` nobody knows who else wanted to come in."""
    step, today = (new - cap if cap and new else 0), (f"{cap:,}" if cap else "none")
    if new:
        lower = "reached" if full else "lower" if step else "keep"
        state = "raise" if step > 0 else lower if cap else "set"
    elif 0 in (peak, used):
        state = "unused"
    elif full:
        state = "reached"
    else:
        state = "unread" if peak is None else "open"
    size = (state == "reached" and full) or abs(step) or new or 0
    place = ([*KINDS].index(state), -size, natural(name), room_id)
    group = KINDS[state].word
    words = {
        "raise": f"raise by {step:,}",
        "reached": f"full for {lasting(full or 0)}",
        "lower": f"lower by {-step:,}",
        "set": "set a cap",
    }
    word = words.get(state, group)
    repeats = reason and (state == "reached" or reason.startswith(word))
    numbers = text = today
    if new != (cap or None) and new:
        numbers, text = f"{today} → {new:,}", f"{today} to {new:,}"
    text = ", ".join(filter(None, (text, "" if repeats else word)))
    text += f": {reason}" if reason else ""
    return Row(place, name, room_id, state, group, numbers, word, text, (cap, new, peak))


def needed(frame: pd.DataFrame, what: str, *columns: str) -> None:
    """Raises ValueError unless the frame has the columns."""
    there = list(map(str, getattr(frame, "columns", ())))
    if missing := [name for name in columns if name not in there]:
        raise ValueError(
            f"{what} has no column {', '.join(missing)}; its columns are {', '.join(there)}. Give "
            "what occupancy_frame(sweep), load_occupancy(folder) or capacity_report(folder) gives"
        )


def _read(
    frame: pd.DataFrame, numbers: tuple[str, ...], texts: tuple[str, ...]
) -> Iterator[tuple[Any, ...]]:
    """Each row's name and ID, what is in the columns of numbers, whole ones or None, and in those
    of texts. A number that is missing, empty, negative or infinite is None."""
    frame = frame.reindex(columns=[*dict.fromkeys(("room_id", "topic", *numbers, *texts))])

    def whole(column: "pd.Series[Any]") -> list[Size]:
        found = pd.to_numeric(column.replace("", None)).astype("float64")
        return [int(number) if 0 <= number < 1e15 else None for number in found]

    ids = [clean(room_id) for room_id in frame["room_id"]]
    columns: list[list[Any]] = [whole(frame[name]) for name in numbers]
    columns += [[clean(text) for text in frame[name]] for name in texts]
    return zip(names(ids, frame["topic"]), ids, *columns, strict=True)
