"""Rooms as they are at one moment: what an occupancy chart tells, before anything is drawn."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .looks import STATES
from .names import called, clean, listed, names, natural
from .panels import MOST, TOP

if TYPE_CHECKING:
    import pandas as pd


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
        """One of `looks.STATES`."""
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
        if self.users is not None and self.cap is not None and self.users > self.cap:
            return f"over by {self.users - self.cap:,}"
        if self.users is not None and not self.capped:
            return "attendee_max not read"
        return "could not be read" if self.users is None else STATES[self.state].word


def rooms(frame: "pd.DataFrame") -> list[RoomNow]:
    """The frame's rooms: by utilisation, then those without a cap, then those not read."""
    needed(frame, "the frame", "room_id", "users", "attendee_max")
    topics = frame["topic"] if "topic" in frame.columns else [None] * len(frame)
    errors = frame["error"] if "error" in frame.columns else [None] * len(frame)
    found = [
        # A room that was read has a topic: without one, and with an error, its cap is not known.
        RoomNow(name, clean(room_id), number(users), number(cap) or None,
                capped=bool(clean(cap) or clean(topic) or not clean(error)))
        for name, room_id, users, cap, topic, error in zip(
            names(frame["room_id"], topics), frame["room_id"], frame["users"],
            frame["attendee_max"], topics, errors, strict=True,
        )
    ]  # fmt: skip
    return sorted(found, key=place)


def finding(found: list[RoomNow]) -> str:
    """The rooms in one line."""
    if not found:
        return "No rooms"
    count = Counter(room.state for room in found)
    full, over = count["full"] + count["over"], count["over"]
    parts = [f"{full:,} of {len(found):,} room{'s' * (len(found) != 1)} full"]
    if over:
        parts[0] += f" ({over:,} over the cap)"
    parts.append(f"{count['near']:,} nearly")
    if count["unread"]:
        parts.append(f"{count['unread']:,} could not be read")
    return ", ".join(parts)


def summary(found: list[RoomNow]) -> str:
    """The finding, how many rooms are in which state, and the rooms that the chart names."""
    lines = [finding(found)]
    count = Counter(room.state for room in found)
    lines += [f"{look.word}: {count[state]:,}" for state, look in STATES.items() if count[state]]
    named = found if len(found) <= MOST else found[:TOP]
    if len(named) < len(found):
        lines.append(f"the {TOP} fullest:")
    for room in named:
        told = ", ".join(filter(None, (room.numbers, room.word)))
        lines.append(f"  {called(room.name, room.room_id)}: {told}")
    if len(named) < len(found) and (lost := unread(found[TOP:])):
        lines.append(lost)
    return "\n".join(lines)


def unread(found: list[RoomNow]) -> str:
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


def place(room: RoomNow) -> tuple[Any, ...]:
    """What `rooms` sorts by."""
    share = room.share
    if share is None:
        share = -2.0 if room.users is None else -1.0
    return -share, -(room.users or 0), natural(room.name), room.room_id
