"""Rooms in the order in which they matter: what charts of rooms show, before anything is drawn.

`RoomNow` is a room with its users of one moment, `RoomCap` one with its cap of today and the
suggested one. Both have a state with a look, numbers, a word, and a place in the order.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..text import counted
from .looks import KINDS, STATES, Look
from .texts import called, clean, lasting, listed, names, natural

if TYPE_CHECKING:
    import pandas as pd

MOST = 30  # so many rooms have a row each; of more the first TOP have
TOP = 20


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

    @property
    def place(self) -> tuple[Any, ...]:
        """By utilisation, then those without a cap, then those not read."""
        share = -2.0 if self.users is None else -1.0 if self.share is None else self.share
        return -share, -(self.users or 0), natural(self.name), self.room_id


@dataclass(frozen=True)
class RoomCap:
    """A room's cap of today, the suggested one and the most users it had; None where unknown.

    `used` is for how many minutes people were in it, and `full` for how many it was at its cap: who
    else wanted to come in is not known. `refused` are the user-minutes for which the suggested cap
    would have been too low. `risked`: the suggestion is one with a stated risk, or none.
    """

    name: str
    room_id: str
    cap: int | None
    suggested: int | None
    peak: int | None
    used: int | None
    full: int
    refused: int
    reason: str
    risked: bool = False

    @property
    def state(self) -> str:
        """One of KINDS."""
        if self.suggested is None:
            if self.peak == 0 or self.used == 0:
                return "unused"
            return "open" if self.risked and self.peak is not None else "unread"
        if self.cap is None:
            return "set"
        if self.step > 0:
            return "raise"
        return "reached" if self.full else "lower" if self.step else "keep"

    @property
    def step(self) -> int:
        """By how much the cap changes; 0 where one of both is not known."""
        return 0 if self.cap is None or self.suggested is None else self.suggested - self.cap

    @property
    def numbers(self) -> str:
        """Such as "100 → 40"."""
        old, new = (
            "none" if value is None else f"{value:,}" for value in (self.cap, self.suggested)
        )
        return old if self.suggested is None or old == new else f"{old} → {new}"

    @property
    def word(self) -> str:
        """What to do: "raise by 10"; or why that is not known."""
        if self.state in ("raise", "lower"):
            return f"{self.state} by {abs(self.step):,}"
        if self.state == "reached":
            return f"full for {lasting(self.full)}"
        return "set a cap" if self.state == "set" else KINDS[self.state].word

    @property
    def text(self) -> str:
        """What a summary says of it, with the reason."""
        repeats = self.reason and (self.state == "reached" or self.reason.startswith(self.word))
        refused = f"{self.refused:,} user-minutes refused" if self.refused else ""
        told = (self.numbers.replace(" → ", " to "), "" if repeats else self.word, refused)
        return ", ".join(filter(None, told)) + (f": {self.reason}" if self.reason else "")

    @property
    def place(self) -> tuple[Any, ...]:
        """Those to raise first, then those to lower, and so on; the largest step on top."""
        size = self.full if self.state == "reached" else abs(self.step) or self.suggested or 0
        return list(KINDS).index(self.state), -size, natural(self.name), self.room_id


def rooms(frame: "pd.DataFrame") -> list[RoomNow]:
    """The frame's rooms, the fullest first."""
    needed(frame, "the frame", "room_id", "users", "attendee_max")
    found = [
        # A room that was read has a topic: without one, and with an error, its cap is not known.
        RoomNow(
            name,
            room_id,
            number(users),
            number(cap) or None,
            capped=bool(clean(cap) or clean(topic) or not clean(error)),
        )
        for name, room_id, users, cap, topic, error in _rows(
            frame, "users", "attendee_max", "topic", "error"
        )
    ]
    return sorted(found, key=lambda room: room.place)


def caps(report: "pd.DataFrame") -> list[RoomCap]:
    """The report's rooms, those that need a decision first."""
    needed(report, "the report", "room_id", "attendee_max", "suggested")
    columns = ["attendee_max", "suggested", "peak", "minutes_in_use", "minutes_full"]
    columns += ["refused_minutes", "reason"]
    risked = "windows" in report.columns
    found = [
        RoomCap(
            name,
            room_id,
            number(cap) or None,
            number(suggested) or None,
            number(peak),
            number(used),
            number(full) or 0,
            number(refused) or 0,
            clean(reason),
            risked,
        )
        for name, room_id, cap, suggested, peak, used, full, refused, reason in _rows(
            report, *columns
        )
    ]
    return sorted(found, key=lambda room: room.place)


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
    told = {
        **{kind: f"to {kind}" for kind in KINDS},
        "reached": "reached",
        "open": "without a promise",
        "unused": "never used",
        "unread": "not read",
    }
    parts = [f"{count[kind]:,} {told[kind]}" for kind in KINDS if count[kind]]
    return f"Caps of {counted(len(found), 'room')}: {', '.join(parts)}"


def seats(found: Sequence[RoomCap]) -> str:
    """The caps added up, of the rooms that have both."""
    both = [(room.cap, room.suggested) for room in found if room.cap and room.suggested]
    old, new = (sum(pair[side] for pair in both) for side in (0, 1))
    return f"caps together {old:,} today, {new:,} as suggested" if both else ""


def first(found: Sequence[RoomNow | RoomCap]) -> int:
    """How many of the rooms have a row each."""
    return len(found) if len(found) <= MOST else TOP


def summary(
    found: Sequence[RoomNow | RoomCap], looks: Mapping[str, Look], heading: str, *told: str
) -> str:
    """These lines, how many rooms are in which state, and, under the heading where there are more,
    the first of them."""
    count, shown = Counter(room.state for room in found), found[: first(found)]
    lines = [*filter(None, told)]
    lines += [f"{look.word}: {count[state]:,}" for state, look in looks.items() if count[state]]
    lines += [heading] * (len(shown) < len(found))
    lines += [f"  {called(room.name, room.room_id)}: {room.text}" for room in shown]
    return "\n".join(lines)


def unread(found: Iterable[RoomNow]) -> str:
    """Names those that could not be read, as far as that fits."""
    lost = [room.name for room in found if room.state == "unread"]
    return f"Could not be read: {listed(lost, 8)}" if lost else ""


def needed(frame: "pd.DataFrame", what: str, *columns: str) -> None:
    """Raises ValueError unless the frame has the columns, TypeError when it is none."""
    if not hasattr(frame, "columns"):
        makers = "occupancy_frame(sweep), load_occupancy(folder) and capacity_report(folder)"
        raise TypeError(f"{what} is of type {type(frame).__name__}; charts take what {makers} give")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{what} has no column {', '.join(missing)}; "
            f"its columns are {', '.join(map(str, frame.columns))}"
        )


def number(value: Any) -> int | None:
    """A whole number; None for a missing, an empty, a negative or an infinite value."""
    text = clean(value).strip()
    return int(float(text)) if text and 0 <= float(text) < math.inf else None


def _rows(frame: "pd.DataFrame", *columns: str) -> Iterable[Any]:
    """A row each: its name and its ID, and what is in these columns, None where there is none."""
    ids = frame["room_id"]
    topics, *others = (frame.get(name, [None] * len(ids)) for name in ("topic", *columns))
    return zip(names(ids, topics), map(clean, ids), *others, strict=True)
