"""Who is where in each week of a simulated building.

Pure: the same building has the same weeks, in whatever order they are asked for.
"""

from heapq import heappush, heapreplace
from typing import NamedTuple

import numpy as np
import pandas as pd

from . import habits
from .building import Building
from .chance import Flags, Ints, clock, exponential, one_of, sizes, source

MINUTE, DAY = 60, 86_400
WEEK = 7 * DAY
MONDAY = 4 * DAY  # 1970-01-05, where week 0 begins


class Meetings(NamedTuple):
    """Meetings, an entry each: room, start in epoch seconds, length in seconds, people due."""

    room: Ints
    start: Ints
    length: Ints
    size: Ints


class Stays(NamedTuple):
    """People in rooms, an entry each: `join` and `leave` are epoch seconds, `seat` is who of the
    room it is. At `join` one is in the room, at `leave` no longer."""

    room: Ints
    seat: Ints
    join: Ints
    leave: Ints


class Week(NamedTuple):
    """One week: the meetings that are held, who is let in, and how many the caps turned away."""

    meetings: Meetings
    stays: Stays
    turned_away: int


def week(house: Building, number: int) -> Week:
    """What goes on in the week of this number, by local time; week 0 is that of 1970-01-05."""
    chance = source(house.key, 1 + number % 2**32)
    held = _held(_due(house, number, chance))
    stays = _stays(held, chance)
    order = np.lexsort((stays.join, stays.room))
    stays = Stays(*(column[order] for column in stays))
    admitted = _admitted(stays, house.caps)
    return Week(held, Stays(*(column[admitted] for column in stays)), int((~admitted).sum()))


def week_of(house: Building, moment: float) -> int:
    """The number of the week in which these epoch seconds lie, by local time."""
    local = pd.Timestamp(moment, unit="s", tz=house.tz).tz_localize(None)
    return int((local.timestamp() - MONDAY) // WEEK)


def _due(house: Building, number: int, chance: np.random.Generator) -> Meetings:
    """Every meeting of the week that somebody means to hold."""
    series = house.series
    weeks = np.maximum(series.every // habits.WEEKLY, 1)
    due = np.flatnonzero((number + series.week) % weeks == 0)
    days = np.where(series.every[due] == habits.DAILY, len(habits.WEEKDAYS), 1)
    due = np.repeat(due, days)
    step = np.arange(len(due)) - np.repeat(np.cumsum(days) - days, days)
    weekday = np.where(series.every[due] == habits.DAILY, step, series.weekday[due])
    takes_place = chance.random(len(due)) >= habits.NOT_HELD
    due, weekday = due[takes_place], weekday[takes_place]

    slots, likely = habits.SINGLE
    room = np.flatnonzero(chance.random((len(house.caps), slots)) < likely * house.busy[:, None])
    room //= slots
    count = len(room)
    shares = (
        *((1 - 2 * habits.WEEKEND) * share for share in habits.WEEKDAYS),
        *([habits.WEEKEND * sum(habits.WEEKDAYS)] * 2),
    )
    day = one_of(chance.random(count), shares)
    minute = clock(chance, count)
    ad_hoc = chance.random(count) < habits.AD_HOC
    any_five = minute // 60 * 60 + (chance.random(count) * 12).astype(np.int64) * 5
    minute = np.where(ad_hoc, any_five, minute)
    length = np.array(list(habits.LENGTHS))[one_of(chance.random(count), habits.LENGTHS.values())]
    size = np.minimum(sizes(chance, count, 1, 120), house.largest[room])

    room = np.concatenate([series.room[due], room])
    size = _crowded(house, room, np.concatenate([series.size[due], size]), chance)
    start = (
        MONDAY + number * WEEK
        + np.concatenate([weekday, day]) * DAY
        + np.concatenate([series.minute[due], minute]) * MINUTE
    )  # fmt: skip
    length = np.concatenate([series.length[due], length]) * MINUTE
    return Meetings(room, _utc(start, house.tz), length, size)


def _crowded(house: Building, room: Ints, size: Ints, chance: np.random.Generator) -> Ints:
    """The sizes, made such that rooms that are always full are too small for each meeting."""
    low, high = habits.FULL_SIZES
    over = np.ceil(house.caps[room] * (low + (high - low) * chance.random(len(room))))
    size = np.where(house.full[room], over.astype(np.int64), size)
    varied = np.rint(size * (1 + habits.VARIES * (2 * chance.random(len(size)) - 1)))
    return np.where(size < 4, size, varied.astype(np.int64))


def _held(due: Meetings) -> Meetings:
    """Those that find their room free: one that begins before another has ended is left out."""
    order = np.lexsort((due.length, due.start, due.room))
    due = Meetings(*(column[order] for column in due))
    if not len(due.room):
        return due
    # Rooms are set so far apart that one running maximum serves them all.
    apart = due.room * (2 * WEEK) - due.start.min()
    begin, end = due.start + apart, due.start + due.length + apart
    free = np.ones(len(begin), dtype=bool)
    free[1:] = begin[1:] >= np.maximum.accumulate(end)[:-1]
    return Meetings(*(column[free] for column in due))


def _stays(held: Meetings, chance: np.random.Generator) -> Stays:
    count = len(held.room)
    over = habits.RUN_OVER_SECONDS * exponential(chance, count)
    over = MINUTE + np.minimum(over, 15 * MINUTE)
    before = -habits.ENDS_BEFORE * chance.random(count)
    ends = held.start + held.length
    ends = ends + np.where(chance.random(count) < habits.RUN_OVER, over, before)

    of = np.repeat(np.arange(count), held.size)
    people = len(of)
    seat = np.arange(people) - np.repeat(np.cumsum(held.size) - held.size, held.size)
    seat += held.start[of] % DAY // MINUTE  # a series has the same people, the next meeting others
    size, start, length = held.size[of], held.start[of], held.length[of]
    most, shares = (np.array(column) for column in zip(*habits.LATE, strict=True))
    late = (chance.random(people) < shares[np.searchsorted(most, size)]) & (size > 1)
    lateness = np.minimum(habits.LATE_SECONDS * exponential(chance, people), length / 2)
    earliness = np.minimum(habits.EARLY_SECONDS * exponential(chance, people), 5 * MINUTE)
    join = start + np.where(late, lateness, -earliness)
    leaves_early = chance.random(people) < habits.LEAVE_EARLY
    middle = start + length * (0.5 + 0.5 * chance.random(people))
    leave = np.where(leaves_early, middle, ends[of] + MINUTE * chance.random(people))
    join, leave = (np.floor(moment).astype(np.int64) for moment in (join, leave))
    return Stays(held.room[of], seat, join, np.maximum(leave, join + 10))


def _admitted(stays: Stays, caps: Ints) -> Flags:
    """Who finds a place: whoever comes to a full room goes away. `stays` are by room and join."""
    admitted = np.ones(len(stays.room), dtype=bool)
    rooms, first = np.unique(stays.room, return_index=True)
    for room, begin, end in zip(rooms, first, [*first[1:], len(admitted)], strict=True):
        cap = int(caps[room])
        if not cap or end - begin <= cap:
            continue
        inside: list[int] = []  # a heap of the moments at which those inside leave
        joins, leaves = stays.join[begin:end].tolist(), stays.leave[begin:end].tolist()
        for place, (join, leave) in enumerate(zip(joins, leaves, strict=True)):
            if len(inside) < cap:
                heappush(inside, leave)
            elif inside[0] <= join:
                heapreplace(inside, leave)
            else:
                admitted[begin + place] = False
    return admitted


def _utc(local: Ints, tz: str) -> Ints:
    """Epoch seconds of wall-clock times; those that a change of clocks skips move on."""
    wall = pd.DatetimeIndex(local.astype("datetime64[s]"))
    never = np.zeros(len(local), dtype=bool)
    moments = wall.tz_localize(tz, ambiguous=never, nonexistent="shift_forward")
    return moments.tz_convert(None).as_unit("s").asi8
