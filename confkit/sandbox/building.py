"""The plan of a simulated building: its rooms, their caps, and the series that meet in them."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import habits
from .chance import Flags, Floats, Ints, clock, one_of, sizes, source


class Series(NamedTuple):
    """Meetings that come again, an entry each; `every` is in days, `week` which week of several."""

    room: Ints
    every: Ints
    week: Ints
    weekday: Ints
    minute: Ints
    length: Ints
    size: Ints


@dataclass(frozen=True)
class Building:
    """Rooms, an entry each, and their series; a cap of 0 is none, `largest` the meeting to expect.

    `full` rooms are at their cap whenever they are in use, `unused` ones stay empty."""

    key: bytes
    tz: str
    caps: Ints
    busy: Floats
    largest: Ints
    full: Flags
    unused: Flags
    series: Series

    @property
    def camera_room(self) -> int | None:
        """The room that nobody uses but a camera; None in a building too small for one."""
        rooms = np.flatnonzero(self.unused)
        return int(rooms[-1]) if len(rooms) > 1 else None


def building(rooms: int, seed: int | str, tz: str = "UTC") -> Building:
    """The building with so many rooms."""
    key = hashlib.sha256(f"{seed}/{rooms}".encode()).digest()
    chance = source(key, 0)
    order = np.argsort(chance.random(rooms), kind="stable")
    full, unused, large, without = _kinds(order)
    low, high = habits.BUSY
    busy = np.where(full, high, low + (high - low) * chance.random(rooms)) * ~unused
    parts = [_series(chance, busy, kind) for kind in habits.SERIES]
    series = Series(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    largest = np.full(rooms, 6)
    np.maximum.at(largest, series.room, series.size)
    caps = np.ceil(largest * 1.2 / 5).astype(np.int64) * 5
    choice = np.array(habits.LARGE_CAPS)[
        (chance.random(rooms) * len(habits.LARGE_CAPS)).astype(int)
    ]
    caps[large] = np.maximum(choice, caps)[large]
    caps[without] = 0
    smallest, widest = habits.FULL_CAPS
    small = smallest + (chance.random(rooms) * (widest - smallest + 1)).astype(np.int64)
    caps[full] = small[full]
    return Building(key, tz, caps, busy, largest, full, unused, series)


def _kinds(order: Ints) -> list[Flags]:
    """Which rooms are always full, never used, far too large, without a cap; a room is of one kind.

    From four rooms on there is at least one of the first two."""
    rooms, begin, kinds = len(order), 0, []
    for share, least in (
        (habits.ALWAYS_FULL, rooms >= 4),
        (habits.NEVER_USED, rooms >= 4),
        (habits.FAR_TOO_LARGE, 0),
        (habits.WITHOUT_CAP, 0),
    ):
        end = begin + max(round(share * rooms), int(least))
        kind = np.zeros(rooms, dtype=bool)
        kind[order[begin:end]] = True
        kinds.append(kind)
        begin = end
    return kinds


def _series(
    chance: np.random.Generator, busy: Floats, kind: tuple[int, int, float, int, int]
) -> Series:
    every, slots, likely, low, high = kind
    there = chance.random((len(busy), slots)) < likely * busy[:, None]
    room = np.flatnonzero(there) // slots
    count = len(room)
    lengths = habits.DAILY_LENGTHS if every == habits.DAILY else habits.LENGTHS
    return Series(
        room,
        np.full(count, every),
        (chance.random(count) * 4).astype(np.int64),
        one_of(chance.random(count), habits.WEEKDAYS),
        clock(chance, count),
        np.array(list(lengths))[one_of(chance.random(count), lengths.values())],
        sizes(chance, count, low, high),
    )
