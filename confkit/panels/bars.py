"""Rooms as bars, and what they come to in words; as the charts tell it."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..charts.looks import STATES
from ..charts.rooms import RoomNow, rooms
from ..charts.texts import clean, listed
from ..occupancy.zones import zone
from .parts import Bar, Column
from .room_list import READ_AT, UNREAD, age, clock, rooms_told, since

if TYPE_CHECKING:
    from .readings import Reading

NAMED = 8  # rooms of one failure
_FAILURES = 5  # that are told in full
_TONES = {
    "over": "bad", "full": "bad", "near": "warn", "free": "note", "empty": "quiet",
    "no cap": "quiet", "unread": "quiet",
}  # fmt: skip
_ALWAYS = ("full", "near", "over", "free", "empty", "unread")
_FEW = 1_000  # rooms that are put into their places one by one


@dataclass(frozen=True)
class Bars:
    """The rooms of a reading's `frame` as the charts have them, the fullest first (`found`), named
    after these `topics`."""

    frame: pd.DataFrame
    topics: pd.Series
    found: list[RoomNow]


def columns() -> list[Column]:
    """The columns of the table that `bar_rows` fills."""
    return [
        Column("name", "Room", lambda row: row["now"].name),
        Column("fullness", "Occupancy", lambda row: bar(row["now"], row["old"])),
        Column("people", "People", right=True),
        Column("devices", "Devices", right=True),
        Column("room_id", "ID", wide=True),
        Column("time", "Read at", lambda row: row["read"], right=True, wide=True),
    ]


def bars(frame: pd.DataFrame, before: Bars | None = None) -> Bars:
    """The bars of a reading; of those before, what has not changed stays as it is.

    A name depends on all topics, and making names is what takes long of many rooms: they are made
    anew where a topic is. A room that can no longer be read keeps its name.
    """
    if before is None or not frame["room_id"].equals(before.frame["room_id"]):
        return Bars(frame, frame["topic"], rooms(frame))
    topics = frame["topic"].where(frame["topic"].notna(), before.topics)
    changed = _changed(frame, before.frame, "users", "attendee_max", "error", "topic")
    if not topics.equals(before.topics) or changed.sum() > _FEW:
        return Bars(frame, frame["topic"], rooms(frame))
    anew = {room.room_id: room for room in rooms(frame[changed])}
    found = [room for room in before.found if room.room_id not in anew]
    for old in before.found:
        if (room := anew.get(old.room_id)) is not None:
            insort(found, replace(room, name=old.name), key=lambda one: one.place)
    return Bars(frame, topics, found)


def bar_rows(
    reading: Reading, found: Sequence[RoomNow], aging: bool = False, tz: tzinfo | None = None
) -> pd.DataFrame:
    """A row a room for the table, with times in the zone `tz`; where it is shown again and again
    (`aging`), what could not be read since says how old it is, otherwise when it was read."""
    places = {room.room_id: at for at, room in enumerate(found)}
    order = [places[clean(room_id)] for room_id in reading.frame["room_id"]]
    now = [found[at] for at in order]
    told = clock(reading.times, tz)
    read = {time: told(time) for time in reading.times.dropna().unique()}
    return reading.frame[["room_id", "people", "devices"]].assign(
        fullness=[-at for at in order], now=pd.Series(now, dtype=object), time=reading.times,
        name=[room.name for room in now],
        read=reading.times.map(read), old=_old(reading.frame, told, aging),
    )  # fmt: skip


def _old(frame: pd.DataFrame, told: Callable[[pd.Timestamp], str], aging: bool) -> pd.Series:
    """For each row how old it is, where the last try has not read it; else an empty text."""
    old = frame[READ_AT].where(frame[UNREAD]).dropna()
    return old.map(lambda time: since(time, told, aging)).reindex(frame.index, fill_value="")


def bar(room: RoomNow, old: str = "") -> Bar:
    """A room's bar: its users of its cap, its state in words, and how `old` they are."""
    word = "" if room.state == "free" else room.word
    return Bar(", ".join(filter(None, (room.numbers, word, old))), room.share, room.state)


def totals(reading: Reading, found: Sequence[RoomNow]) -> str:
    """How many rooms are in which state, and how many users there are, as HTML; rooms that could
    not be read again are in none, and counted by what was last known of them."""
    frame = reading.frame
    kept = set(frame["room_id"][frame[UNREAD] & frame["users"].notna()].map(clean))
    count = Counter(room.state for room in found if room.room_id not in kept)
    last = Counter(room.state for room in found if room.room_id in kept)
    parts = [f"<span><b>{len(found):,}</b> room{'s' * (len(found) != 1)}</span>"]
    # Where no room was read again, "0 full" would say something about them.
    none = bool(kept) and count["unread"] == count.total()
    count["unread"] += len(kept)
    parts += _badges(count, ("unread",) if none else _ALWAYS)
    if last:
        parts += ["<span>last known:</span>", *_badges(last, ())]
    parts += [_sum(frame[name], name) for name in ("users", "people", "devices")]
    if kept:
        parts.append('<span class="confkit-quiet">last known values among them</span>')
    elif frame["users"].isna().any():
        parts.append('<span class="confkit-quiet">in the rooms that could be read</span>')
    return f'<div class="confkit-totals">{"".join(parts)}</div>'


def _badges(count: Mapping[str, int], always: Sequence[str]) -> list[str]:
    """A badge for each state in which there are rooms, and for these ones always."""
    states = [state for state in STATES if count.get(state) or state in always]
    return [
        f'<span class="confkit-badge confkit-tone-{_TONES[state]}">'
        f"<b>{count.get(state, 0):,}</b> {STATES[state].word}</span>"
        for state in sorted(states, key=[*_ALWAYS, "no cap"].index)
    ]


def as_of(reading: Reading, aging: bool = False, tz: tzinfo | None = None) -> str:
    """From when the rows are, in a sentence that names the zone `tz`; `aging` says how old the
    oldest is by now."""
    times = reading.times.dropna()
    if times.empty:
        return ""
    here, name = zone(tz)
    told = clock(times, here)
    newest, oldest = times.max(), times.min()
    by_now = f"; the oldest row is {age(oldest)} old" if aging else ""
    if newest == oldest:
        return f"As of {told(newest)} ({name}){by_now}."
    again = int((times == newest).sum())
    others = len(times) - again
    return (
        f"{rooms_told(again)} as of {told(newest)}, the other {others:,} as of "
        f"{told(oldest)} or later ({name}){by_now}; Refresh reads all."
    )


def failures(frame: pd.DataFrame) -> str:
    """Which rooms could not be read, why, and what to do, as HTML; nothing where all were."""
    lost = frame[frame["error"].notna()]
    if lost.empty:
        return ""
    found = []
    groups = lost.groupby("error", sort=False)["room_id"].apply(list)
    for error, ids in sorted(groups.items(), key=lambda group: -len(group[1]))[:_FAILURES]:
        named = f"{rooms_told(len(ids))} ({listed(map(clean, ids), NAMED)})"
        found.append(f"<li><b>{escape(named)}</b>: {escape(str(error))}</li>")
    more = len(groups) - _FAILURES
    if more > 0:
        found.append(f"<li>and {more:,} more reasons: value[['room_id', 'error']]</li>")
    return (
        '<div class="confkit-failures"><span class="confkit-badge confkit-tone-bad"><b>'
        f"Not read, or not in full: {len(lost):,} of {rooms_told(len(frame))}</b></span>"
        f"<ul>{''.join(found)}</ul></div>"
    )


def _changed(frame: pd.DataFrame, before: pd.DataFrame, *names: str) -> pd.Series:
    changed = pd.Series(False, frame.index)
    for name in names:
        now, then = frame[name], before[name]
        changed |= (now != then).fillna(False).astype(bool) | (now.isna() != then.isna())
    return changed


def _sum(counts: pd.Series, what: str) -> str:
    known: Any = counts.dropna()
    if known.empty and len(counts):
        return f"<span>{what} not known</span>"
    return f"<span><b>{int(known.sum()):,}</b> {what}</span>"
