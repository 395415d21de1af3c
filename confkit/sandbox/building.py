"""A building with people in it: its rooms, and who is where in each week; no service, no clock.

What it assumes stands in `building.toml`. Only PCG64's uniform numbers are drawn, whose sequence
numpy keeps from release to release: the same building has the same weeks, in whatever order they
are asked for.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MINUTE, HOUR, DAY = 60, 3600, 86_400
WEEK = 7 * DAY
MONDAY = 4 * DAY  # 1970-01-05, where week 0 begins

_ASSUMED = tomllib.loads(Path(__file__).with_name("building.toml").read_text("utf-8"))
_WEEK, _MEETINGS, _ROOMS, _NAMES = (
    _ASSUMED[part] for part in ("week", "meetings", "rooms", "names")
)
_LIKELY = np.outer(_WEEK["days"], _WEEK["hours"]).ravel()  # of a meeting, by hour of the week


class Meetings(NamedTuple):
    """Meetings of a week, an entry each, at most one an hour and room.

    `slot` numbers the week's hours, room by room; `begin` is in minutes past the hour, `minutes`
    is the length, `size` the people who mean to come."""

    slot: Ints
    begin: Ints
    minutes: Ints
    size: Ints


class Stays(NamedTuple):
    """People in rooms, an entry each: `join` and `leave` are epoch seconds, `number` is who it is.

    At `join` one is in the room, at `leave` no longer."""

    room: Ints
    number: Ints
    join: Ints
    leave: Ints


@dataclass(frozen=True)
class Building:
    """Rooms, an entry each, and the meetings that come again; a cap of 0 is none.

    `used` says how much a room is used and `largest` how many people meet there; `full` rooms are
    at their cap in each meeting. `camera_room` is the one that nobody uses but a camera; None in a
    building too small for one."""

    key: bytes
    tz: str
    caps: Ints
    used: Floats
    largest: Ints
    full: Flags
    camera_room: int | None
    series: Meetings


def building(rooms: int, seed: int | str, tz: str = "UTC") -> Building:
    """The building with so many rooms; from four on, one is always full and one never used."""
    key = hashlib.sha256(f"{seed}/{rooms}".encode()).digest()
    chance = source(key, 0)
    order = np.argsort(chance.random(rooms), kind="stable")
    counts = [
        max(round(_ROOMS[kind] * rooms), int(rooms >= 4 and kind in ("full", "unused")))
        for kind in ("full", "unused", "large", "uncapped")
    ]
    full, unused, large, uncapped = (
        np.isin(np.arange(rooms), of_kind) for of_kind in np.split(order, np.cumsum(counts))[:4]
    )
    used = between(chance, rooms, _ROOMS["used"]) * ~unused
    largest = np.rint(drawn(chance, rooms, _ROOMS["people"]) * between(chance, rooms, (0.75, 1.25)))
    caps = np.ceil(largest * _ROOMS["spare"] / 5) * 5
    caps[large] = np.maximum(drawn(chance, rooms, _ROOMS["large_caps"]), caps)[large]
    caps[full] = drawn(chance, rooms, _ROOMS["full_caps"])[full]
    caps[uncapped] = 0
    camera_room = int(np.flatnonzero(unused)[-1]) if counts[1] > 1 else None
    series = _meetings(chance, used, largest, _WEEK["series"])
    return Building(key, tz, caps.astype(int), used, largest.astype(int), full, camera_room, series)


def week(house: Building, number: int) -> Stays:
    """Who is where in the week of this number, by local time; week 0 is that of 1970-01-05."""
    chance = source(house.key, 1 + number % 2**32)
    held = chance.random(len(house.series.slot)) < _WEEK["held"]
    single = _meetings(chance, house.used, house.largest, _WEEK["single"])
    both = [
        np.concatenate([again[held], once])
        for again, once in zip(house.series, single, strict=True)
    ]
    _, first = np.unique(both[0], return_index=True)  # the series' has the room, in order of time
    slot, begin, minutes, size = (column[first] for column in both)
    hours = len(_WEEK["hours"])
    room, day, hour = slot // len(_LIKELY), slot // hours % 7, slot % hours
    local = MONDAY + number * WEEK + day * DAY + (_WEEK["first_hour"] + hour) * HOUR
    start = _utc(local + begin * MINUTE, house.tz)

    varies = _MEETINGS["varies"]
    size = np.rint(size * between(chance, len(size), (1 - varies, 1 + varies))).astype(int)
    size = np.where(house.full[room], house.caps[room], np.maximum(size, 1))
    # Who is there when the next meeting of the room begins to come has left.
    follows = np.append(room[1:] == room[:-1], False) if len(room) else np.zeros(0, bool)
    until = np.where(follows, np.roll(start, -1), np.iinfo(np.int64).max)

    of = np.repeat(np.arange(len(room)), size)
    seat = np.arange(len(of)) - np.repeat(np.cumsum(size) - size, size)
    comes, leaves = _MEETINGS["comes"], _MEETINGS["leaves"]
    join = start[of] + np.floor(between(chance, len(of), comes) * MINUTE).astype(int)
    leave = (start + minutes * MINUTE)[of]
    leave = leave + np.floor(between(chance, len(of), leaves) * MINUTE).astype(int)
    leave = np.minimum(leave, (until + int(comes[0] * MINUTE))[of])
    stays = Stays(room[of], 37 * slot[of] + seat, join, leave)
    there = leave > join  # all but where a change of clocks put two meetings onto one moment
    return Stays(*(column[there] for column in stays))


def week_of(house: Building, moment: float) -> int:
    """The number of the week in which these epoch seconds lie, by local time."""
    local = pd.Timestamp(moment, unit="s", tz=house.tz).tz_localize(None)
    return int((local.timestamp() - MONDAY) // WEEK)


def topics() -> Iterator[str]:
    """Topics of rooms, without end and none twice; neighbours are of different teams."""
    teams, forms = _NAMES["teams"], _NAMES["forms"]
    for turn in count(1):
        for step in range(len(forms)):
            for place, team in enumerate(teams):
                form = forms[(place + step) % len(forms)]
                yield f"{team} {form}" if turn == 1 else f"{team} {form} {turn}"


def person(number: int) -> str:
    """The name of the one who has this number; neighbours have names of their own."""
    given, family = _NAMES["given"], _NAMES["family"]
    return f"{given[number % len(given)]} {family[number % len(family)]}"


def source(key: bytes, number: int) -> np.random.Generator:
    """Uniform numbers that repeat for the same key and number."""
    return np.random.Generator(np.random.PCG64([*key, number]))


def between(chance: np.random.Generator, size: int, bounds: tuple[float, float]) -> Floats:
    """Uniform numbers between the two bounds."""
    low, high = bounds
    return low + (high - low) * chance.random(size)


def drawn(chance: np.random.Generator, size: int, shares: list[tuple[int, float]]) -> Ints:
    """Values, each as often as the share beside it says."""
    values, often = zip(*shares, strict=True)
    bounds = np.cumsum(often)
    place = np.searchsorted(bounds, chance.random(size) * bounds[-1], side="right")
    found: Ints = np.array(values, dtype=np.int64)[place]
    return found


def _meetings(
    chance: np.random.Generator, used: Floats, largest: Floats | Ints, likely: float
) -> Meetings:
    """Meetings of a week, drawn for each hour of each room."""
    likelihood = (likely * used[:, None] * _LIKELY).ravel()
    slot = np.flatnonzero(chance.random(len(likelihood)) < likelihood)
    begin = drawn(chance, len(slot), _MEETINGS["begin"])
    minutes = drawn(chance, len(slot), _MEETINGS["minutes"])
    people = largest[slot // len(_LIKELY)] * chance.random(len(slot))
    return Meetings(slot, begin, minutes, np.ceil(people).astype(int))


def _utc(local: Ints, tz: str) -> Ints:
    """Epoch seconds of wall-clock times; those that a change of clocks skips move on."""
    wall = pd.DatetimeIndex(local.astype("datetime64[s]"))
    never = np.zeros(len(local), dtype=bool)
    moments = wall.tz_localize(tz, ambiguous=never, nonexistent="shift_forward")
    return moments.tz_convert(None).as_unit("s").asi8
