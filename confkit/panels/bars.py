"""Rooms as bars, and what they come to in words; as the charts tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import tzinfo
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..charts.looks import STATES
from ..charts.names import clean, listed
from ..charts.rooms import RoomNow, rooms
from ..charts.times import moment, zone
from .parts import Bar, Column

if TYPE_CHECKING:
    from .readings import Reading

NAMED = 8  # rooms of one failure
_FAILURES = 5  # that are told in full
_TONES = {
    "over": "bad", "full": "bad", "near": "warn", "free": "note", "empty": "quiet",
    "no cap": "quiet", "unread": "quiet",
}  # fmt: skip
_ALWAYS = ("full", "near", "over", "free", "empty", "unread")


def columns() -> list[Column]:
    """The columns of the table that `bar_rows` fills."""
    return [
        Column("name", "Room", lambda row: row["now"].name),
        Column("fullness", "Occupancy", lambda row: bar(row["now"])),
        Column("people", "People", right=True),
        Column("devices", "Devices", right=True),
        Column("room_id", "ID", wide=True),
        Column("time", "Read at", lambda row: row["read"], right=True, wide=True),
    ]


def bar_rows(reading: Reading) -> tuple[pd.DataFrame, list[RoomNow]]:
    """A row a room for the table, and the rooms as the charts have them, the fullest first."""
    found = rooms(reading.frame)
    places = {room.room_id: place for place, room in enumerate(found)}
    order = [places[clean(room_id)] for room_id in reading.frame["room_id"]]
    now = [found[place] for place in order]
    told = clock(reading.times)
    read = {time: told(time) for time in reading.times.dropna().unique()}
    table = reading.frame[["room_id", "people", "devices"]].assign(
        fullness=[-place for place in order], now=pd.Series(now, dtype=object), time=reading.times,
        name=[room.name for room in now],
        read=reading.times.map(read),
    )  # fmt: skip
    return table, found


def bar(room: RoomNow) -> Bar:
    """A room's bar: its users of its cap, and its state in words."""
    word = "" if room.state == "free" else room.word
    return Bar(", ".join(filter(None, (room.numbers, word))), room.share, room.state)


def totals(reading: Reading, found: Sequence[RoomNow]) -> str:
    """How many rooms are in which state, and how many users there are, as HTML."""
    count = Counter(room.state for room in found)
    states = [state for state in STATES if count[state] or state in _ALWAYS]
    parts = [f"<span><b>{len(found):,}</b> room{'s' * (len(found) != 1)}</span>"] + [
        f'<span class="confkit-badge confkit-tone-{_TONES[state]}">'
        f"<b>{count[state]:,}</b> {STATES[state].word}</span>"
        for state in sorted(states, key=[*_ALWAYS, "no cap"].index)
    ]
    parts += [_sum(reading.frame[name], name) for name in ("users", "people", "devices")]
    if reading.frame["users"].isna().any():
        parts.append('<span class="confkit-quiet">in the rooms that could be read</span>')
    return f'<div class="confkit-totals">{"".join(parts)}</div>'


def as_of(reading: Reading, tz: tzinfo | None = None) -> str:
    """From when the rows are, in a sentence."""
    times = reading.times.dropna()
    if times.empty:
        return ""
    here, name = zone(tz)
    told = clock(times, here)
    newest, oldest = times.max(), times.min()
    if newest == oldest:
        return f"As of {told(newest)} ({name})."
    again = int((times == newest).sum())
    others = len(times) - again
    return (
        f"{_rooms(again)} as of {told(newest)}, the other {others:,} as of "
        f"{told(oldest)} or later ({name}); Refresh reads all."
    )


def failures(frame: pd.DataFrame) -> str:
    """Which rooms could not be read, why, and what to do, as HTML; nothing where all were."""
    lost = frame[frame["error"].notna()]
    if lost.empty:
        return ""
    found = []
    groups = lost.groupby("error", sort=False)["room_id"].apply(list)
    for error, ids in sorted(groups.items(), key=lambda group: -len(group[1]))[:_FAILURES]:
        named = f"{_rooms(len(ids))} ({listed(map(clean, ids), NAMED)})"
        found.append(f"<li><b>{escape(named)}</b>: {escape(str(error))}</li>")
    more = len(groups) - _FAILURES
    if more > 0:
        found.append(f"<li>and {more:,} more reasons: value[['room_id', 'error']]</li>")
    return (
        '<div class="confkit-failures"><span class="confkit-badge confkit-tone-bad"><b>'
        f"Not read, or not in full: {len(lost):,} of {_rooms(len(frame))}</b></span>"
        f"<ul>{''.join(found)}</ul></div>"
    )


def clock(times: pd.Series, tz: tzinfo | None = None) -> Callable[[pd.Timestamp], str]:
    """How these times are told: the time of day, with the day where it is not the last one's."""
    here, _ = zone(tz)
    last = times.max()
    today = None if pd.isna(last) else last.tz_convert(here).date()

    def told(time: pd.Timestamp) -> str:
        local = time.tz_convert(here)
        return f"{local:%H:%M:%S}" if local.date() == today else moment(local)

    return told


def _sum(counts: pd.Series, what: str) -> str:
    known: Any = counts.dropna()
    if known.empty and len(counts):
        return f"<span>{what} not known</span>"
    return f"<span><b>{int(known.sum()):,}</b> {what}</span>"


def _rooms(count: int) -> str:
    return f"{count:,} room{'s' * (count != 1)}"
