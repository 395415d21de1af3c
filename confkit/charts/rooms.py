"""Rooms in the order in which they matter: what charts of rooms show, before anything is drawn.

`RoomNow` is a room with its users of one moment, `RoomCap` one with its cap of today and the
suggested one. Both have a state with a look, the group that they are counted in, numbers and a
word.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ..text import counted
from .looks import KINDS, STATES, Look
from .texts import called, clean, lasting, names, natural

if TYPE_CHECKING:
    from collections.abc import Iterator

TOP = 20  # so many rooms have a row each


@dataclass(frozen=True)
class RoomNow:
    """A room's users, None when they could not be read, and its cap, None when it has none;
    `capped` is False when it is not known whether it has one."""

    name: str
    room_id: str
    users: int | None
    cap: int | None
    capped: bool = True

    @property
    def state(self) -> str:
        """One of STATES."""
        if self.users is None or not self.capped:
            return "unread"
        if self.cap is None:
            return "no cap"
        if self.users >= self.cap:
            return "over" if self.users > self.cap else "full"
        if 5 * self.users >= 4 * self.cap:
            return "near"
        return "free" if self.users else "empty"

    @property
    def share(self) -> float | None:
        """Users per cap, None where one of them is."""
        return None if self.users is None or self.cap is None else self.users / self.cap

    @property
    def group(self) -> str:
        """Its state; rooms below their cap by the fifth of it that is in use."""
        if self.users and self.cap and self.state in ("free", "near"):
            fifth = 20 * (5 * self.users // self.cap)
            return f"{fifth} to {fifth + 19} %"
        return STATES[self.state].word

    @property
    def numbers(self) -> str:
        """Such as "20 of 25"; "20" without a cap; nothing for a room that was not read."""
        if self.users is None:
            return ""
        return f"{self.users:,}" if self.cap is None else f"{self.users:,} of {self.cap:,}"

    @property
    def word(self) -> str:
        """Its state in words."""
        if self.users is None:
            return "could not be read"
        if self.cap is not None and self.users > self.cap:
            return f"over by {self.users - self.cap:,}"
        return STATES[self.state].word if self.capped else "attendee_max not read"

    @property
    def text(self) -> str:
        """What a summary says of it."""
        return ", ".join(filter(None, (self.numbers, self.word)))


class RoomCap(NamedTuple):
    """A room's cap of today, the suggested one and the most users it had, None where unknown; by
    its `place` rooms are sorted.

    `refused` are the user-minutes for which the suggested cap would have been too low.
    """

    place: tuple[Any, ...]
    name: str
    room_id: str
    cap: int | None
    suggested: int | None
    peak: int | None
    refused: int | None
    state: str  # one of KINDS
    group: str  # that in words
    numbers: str  # such as "100 → 40"
    word: str  # what to do: "raise by 10"; or why that is not known
    text: str  # what a summary says of it, with the reason


Room = RoomNow | RoomCap


def rooms(frame: pd.DataFrame) -> list[RoomNow]:
    """The frame's rooms by utilisation, then those without a cap, then those not read."""
    needed(frame, "the frame", "room_id", "users", "attendee_max")
    found = [
        # A room that was read has a topic: without one, and with an error, its cap is not known.
        RoomNow(name, room_id, users, cap or None, cap is not None or bool(topic or not error))
        for name, room_id, users, cap, topic, error in _rows(
            frame, ("users", "attendee_max"), ("topic", "error")
        )
    ]

    def place(room: RoomNow) -> tuple[Any, ...]:
        share = -2.0 if room.users is None else -1.0 if room.share is None else room.share
        return -share, -(room.users or 0), natural(room.name), room.room_id

    return sorted(found, key=place)


def caps(report: pd.DataFrame) -> list[RoomCap]:
    """The report's rooms: those to raise first, then those that reached their cap, and so on; the
    largest step on top."""
    needed(report, "the report", "room_id", "attendee_max", "suggested")
    numbers = ("attendee_max", "suggested", "peak", "refused_minutes", "minutes_in_use")
    rows = _rows(report, (*numbers, "minutes_full"), ("reason",))
    return sorted(_cap("windows" in report.columns, *row) for row in rows)


def _cap(
    risked: bool,
    name: str,
    room_id: str,
    cap: int | None,
    new: int | None,
    peak: int | None,
    refused: int | None,
    used: int | None,
    full: int | None,
    reason: str,
) -> RoomCap:
    """The room of this row of a report; `risked`: the suggestion is one with a stated risk, or
    none. While a room is `full` nobody knows who else wanted to come in."""
    step, today = (new - cap if cap and new else 0), (f"{cap:,}" if cap else "none")
    if new:
        lower = "reached" if full else "lower" if step else "keep"
        state = "raise" if step > 0 else lower if cap else "set"
    elif 0 in (peak, used):
        state = "unused"
    else:
        state = "open" if risked and peak is not None else "unread"
    size = (state == "reached" and full) or abs(step) or new or 0
    place = (list(KINDS).index(state), -size, natural(name), room_id)
    words = {
        "raise": f"raise by {step:,}",
        "reached": f"full for {lasting(full or 0)}",
        "lower": f"lower by {-step:,}",
        "set": "set a cap",
    }
    group = KINDS[state].word
    word = words.get(state, group)
    repeats = reason and (state == "reached" or reason.startswith(word))
    lost = f"{refused:,} user-minutes refused" if refused else ""
    changed = new if new != (cap or None) else None
    told = [f"{today} to {changed:,}" if changed else today, "" if repeats else word, lost]
    text = ", ".join(filter(None, told)) + (f": {reason}" if reason else "")
    numbers = f"{today} → {changed:,}" if changed else today
    return RoomCap(place, name, room_id, cap, new, peak, refused, state, group, numbers, word, text)


def fullness(found: Sequence[RoomNow]) -> str:
    """How full the rooms are, in one line."""
    if not found:
        return "No rooms"
    count = Counter(room.state for room in found)
    over, unread = count["over"], count["unread"]
    told = f"{count['full'] + over:,} of {counted(len(found), 'room')} full"
    told += f" ({over:,} over the cap)" if over else ""
    return f"{told}, {count['near']:,} nearly" + (f", {unread:,} could not be read" * bool(unread))


def decisions(found: Sequence[RoomCap]) -> str:
    """What to do about the caps, in one line."""
    if not found:
        return "No rooms"
    count = Counter(room.state for room in found)
    parts = [f"{count[kind]:,} {look.counted}" for kind, look in KINDS.items() if count[kind]]
    return f"Caps of {counted(len(found), 'room')}: {', '.join(parts)}"


def seats(found: Sequence[RoomCap]) -> str:
    """The caps added up, of the rooms that have both."""
    both = [(room.cap, room.suggested) for room in found if room.cap and room.suggested]
    old, new = (sum(pair[side] for pair in both) for side in (0, 1))
    return f"caps together {old:,} today, {new:,} as suggested" if both else ""


def summary(found: Sequence[Room], looks: Mapping[str, Look], heading: str, *told: str) -> str:
    """These lines, how many rooms are in which state, and, under the heading where there are more,
    the first of them."""
    count, shown = Counter(room.state for room in found), found[:TOP]
    lines = [*filter(None, told)]
    lines += [f"{look.word}: {count[state]:,}" for state, look in looks.items() if count[state]]
    lines += [heading] * (len(shown) < len(found))
    lines += [f"  {called(room.name, room.room_id)}: {room.text}" for room in shown]
    return "\n".join(lines)


def needed(frame: pd.DataFrame, what: str, *columns: str) -> None:
    """Raises ValueError unless the frame has the columns."""
    there = list(map(str, getattr(frame, "columns", ())))
    if missing := [name for name in columns if name not in there]:
        raise ValueError(
            f"{what} has no column {', '.join(missing)}; its columns are {', '.join(there)}. Give "
            "what occupancy_frame(sweep), load_occupancy(folder) or capacity_report(folder) gives"
        )


def _rows(
    frame: pd.DataFrame, numbers: Sequence[str], texts: Sequence[str]
) -> "Iterator[tuple[Any, ...]]":
    """Each row's name and ID, what is in the columns of numbers, whole ones or None, and in those
    of texts. A number that is missing, empty, negative or infinite is None."""
    frame = frame.reindex(columns=[*dict.fromkeys(("room_id", "topic", *numbers, *texts))])

    def whole(column: "pd.Series[Any]") -> list[int | None]:
        found = pd.to_numeric(column.replace("", None)).astype("float64")
        return [int(number) if 0 <= number < 1e15 else None for number in found]

    ids = [clean(room_id) for room_id in frame["room_id"]]
    columns: list[list[Any]] = [whole(frame[name]) for name in numbers]
    columns += [[clean(text) for text in frame[name]] for name in texts]
    yield from zip(names(ids, frame["topic"]), ids, *columns, strict=True)
