"""Rooms with today's cap and the suggested one: what a capacity chart tells."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .looks import BLUE, FAINT, ORANGE, SKY, TRACK, VERMILION, Look
from .names import called, clean, names, natural
from .panels import MOST, TOP
from .rooms import needed, number
from .times import lasting

if TYPE_CHECKING:
    import pandas as pd

# What is to be done, in the order in which it is of interest.
KINDS = {
    "raise": Look(VERMILION, "xx", "raise"),
    "reached": Look(ORANGE, "//", "reached its cap"),
    "lower": Look(BLUE, "", "lower"),
    "set": Look(SKY, "..", "no cap today"),
    "keep": Look(FAINT, "", "keep"),
    "unused": Look(TRACK, "", "never used"),
    "unread": Look("#ffffff", "....", "not read"),
}


@dataclass(frozen=True)
class RoomCap:
    """A room's cap of today, the suggested one and the most users it had; None where unknown.

    `full` minutes it was at its cap: who else wanted to come in is not known. `refused` are the
    user-minutes for which the suggested cap would have been too low.
    """

    name: str
    room_id: str
    cap: int | None
    suggested: int | None
    peak: int | None
    full: int
    refused: int
    reason: str

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if self.suggested is None:
            unused = self.peak is not None and (not self.reason or "never used" in self.reason)
            return "unused" if unused else "unread"
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
        if self.kind in ("raise", "lower"):
            return f"{self.kind} by {abs(self.step):,}"
        return f"full for {lasting(self.full)}" if self.kind == "reached" else self.state

    @property
    def state(self) -> str:
        """Its kind in words."""
        return "set a cap" if self.kind == "set" else KINDS[self.kind].word


def caps(report: "pd.DataFrame") -> list[RoomCap]:
    """The report's rooms: those to raise first, then those to lower, the largest step on top."""
    needed(report, "the report", "room_id", "attendee_max", "suggested")
    lost = [None] * len(report)
    topics, peaks, full, refused, reasons = (
        report[name] if name in report.columns else lost
        for name in ("topic", "peak", "minutes_full", "refused_minutes", "reason")
    )
    found = [
        RoomCap(
            name, clean(row[0]), number(row[1]) or None, number(row[2]) or None, number(row[3]),
            number(row[4]) or 0, number(row[5]) or 0, clean(row[6]),
        )
        for name, *row in zip(
            names(report["room_id"], topics), report["room_id"], report["attendee_max"],
            report["suggested"], peaks, full, refused, reasons, strict=True,
        )
    ]  # fmt: skip
    order = list(KINDS)

    def place(room: RoomCap) -> tuple[Any, ...]:
        size = room.full if room.kind == "reached" else abs(room.step) or room.suggested or 0
        return order.index(room.kind), -size, natural(room.name), room.room_id

    return sorted(found, key=place)


def finding(found: list[RoomCap]) -> str:
    """The report in one line."""
    if not found:
        return "No rooms"
    count = Counter(room.kind for room in found)
    told = {
        "raise": "to raise", "reached": "reached", "lower": "to lower", "set": "to set",
        "keep": "to keep", "unused": "never used", "unread": "not read",
    }  # fmt: skip
    parts = [f"{count[kind]:,} {text}" for kind, text in told.items() if count[kind]]
    return f"Caps of {len(found):,} room{'s' * (len(found) != 1)}: {', '.join(parts)}"


def seats(found: list[RoomCap]) -> str:
    """The caps added up, of the rooms that have both."""
    both = [(room.cap, room.suggested) for room in found if room.cap and room.suggested]
    old, new = (sum(pair[side] or 0 for pair in both) for side in (0, 1))
    return f"caps together {old:,} today, {new:,} as suggested" if both else ""


def _repeats(room: RoomCap) -> bool:
    """Whether the reason says what the word would say before it."""
    return bool(room.reason) and (room.kind == "reached" or room.reason.startswith(room.word))


def summary(found: list[RoomCap]) -> str:
    """The finding, how many rooms are of which kind, and those that the chart names, with why."""
    lines = list(filter(None, [finding(found), seats(found)]))
    count = Counter(room.kind for room in found)
    lines += [f"{look.word}: {count[kind]:,}" for kind, look in KINDS.items() if count[kind]]
    shown = found if len(found) <= MOST else found[:TOP]
    if len(shown) < len(found):
        lines.append(f"the first {TOP}:")
    for room in shown:
        told = [room.numbers.replace(" → ", " to "), "" if _repeats(room) else room.word]
        if room.refused:
            told.append(f"{room.refused:,} user-minutes refused")
        why = f": {room.reason}" if room.reason else ""
        lines.append(f"  {called(room.name, room.room_id)}: {', '.join(filter(None, told))}{why}")
    return "\n".join(lines)
