"""A building in a sandbox: its rooms, its past as samples, and the people who come and go."""

import asyncio
import logging
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from ..errors import ConfigError, ConfkitError
from .building import Building, Ints, Stays, building, person, source, topics, week, week_of
from .service.identity import Ids
from .service.state import RoomJoinRefused, Service
from .service.store import Person

MOST_ROWS = 100_000_000  # about 8 GB
NO_ANSWER, TIMED_OUT, B3_FAILED = -1, 504, 310

log = logging.getLogger("confkit.sandbox")


@dataclass(frozen=True)
class Plan:
    """What `simulate` was asked for; times are in epoch milliseconds.

    The last of `count` samples is at `until`, the others lie `every` apart before it. `now` is the
    week of `until`, as its people stay, of number `week`."""

    house: Building
    until: int
    every: int
    count: int
    failures: float
    cameras: bool
    week: int
    now: Stays


def plan(
    rooms: int,
    days: float,
    every: float,
    until: Any,
    seed: int | str,
    tz: str,
    failures: float,
    cameras: bool,
    now: float,
) -> Plan:
    """The plan, or a ConfigError that names the argument that makes no sense; without `until` it
    ends `now`, in epoch seconds."""
    for name, value, meant, least, most in (
        ("rooms", rooms, "a whole number of rooms, 1 or more", 1, math.inf),
        ("days", days, "a number of days, 0 or more", 0, math.inf),
        ("every", every, "the seconds from sample to sample, 1 or more", 1, 1e9),
        ("failures", failures, "the share of calls that fail, from 0 to 1", 0, 1),
    ):
        kind = int if name == "rooms" else int | float
        if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
            raise ConfigError(f"{name} is {value!r}", f"It is {meant}.")
    try:
        ZoneInfo(tz)
    except (TypeError, ValueError, OSError, LookupError):
        raise ConfigError(
            f"tz is {tz!r}, which is no known time zone", "Give a name such as 'Europe/Berlin'."
        ) from None
    if days * 86_400 / every * rooms > MOST_ROWS:
        raise ConfigError(
            f"That is more than {MOST_ROWS:,} samples: raise every, or ask for fewer rooms or days."
        )
    end = now if until is None else _moment(until, tz)
    house = building(rooms, seed, tz)
    number = week_of(house, end)
    return Plan(
        house,
        round(end * 1000),
        round(every * 1000),
        int(days * 86_400 // every),
        failures,
        cameras,
        number,
        week(house, number),
    )


def furnish(service: Service, planned: Plan, ids: Ids) -> tuple[list[str], dict[int, str]]:
    """The numbers of the new rooms, and the ids of the people who are in them, by their place
    among `planned.now`; all of it is kept at once."""
    stays, moment, up = planned.now, planned.until / 1000, service.mcu.up
    inside = np.flatnonzero((stays.join <= moment) & (moment < stays.leave)).tolist()
    if inside and (not up or service.licence.expired):
        raise ConfkitError("Nobody can join now: start_mcu(), or licence(expired=False), first.")
    if service.store.taken() + len(inside) > service.licence.seats:
        raise ConfkitError(
            f"The licence has not enough seats for the {len(inside)} people who are in the rooms "
            "at that time: licence(seats=...) gives more."
        )
    older = set(service.store.room_ids())  # a seed begins anew, a file does not
    rooms: dict[str, dict[str, Any]] = {}
    for topic, cap in zip(topics(), planned.house.caps.tolist(), strict=False):
        while (room_id := service.ids.room_id()) in older or room_id in rooms:
            pass
        rooms[room_id] = {
            "room_id": room_id,
            "topic": topic,
            "owner_id": "facilities",
            "room_mode": 1,
            "attendee_max": cap or None,
            "mcu": up,
        }
    new = list(rooms)
    users = {place: ids.user_id() for place in inside}
    people = [
        (new[stays.room[place]], Person(user_id, person(int(stays.number[place])), False))
        for place, user_id in users.items()
    ]
    service.store.add(rooms.values(), people)
    return new, users


def samples(planned: Plan, room_ids: list[str]) -> pd.DataFrame:
    """The samples up to `until`, in the order of time and, at each time, of the rooms."""
    rooms, count, caps = len(room_ids), planned.count, planned.house.caps
    times = planned.until - planned.every * np.arange(count - 1, -1, -1, dtype=np.int64)
    people = _counted(planned, times).ravel()
    devices = _devices(planned, times).ravel()
    # A call that failed has left values missing, and its result code in `ret`.
    code = _failures(planned, rooms)
    no_users = (code == NO_ANSWER) | (code == TIMED_OUT)
    apart = code != 0  # people and devices are not told apart
    # As many rows as this are long columns: each is made once, and copied nowhere.
    frame = pd.DataFrame(
        {
            "time": pd.DatetimeIndex(np.repeat(times, rooms).astype("datetime64[ms]"), tz="UTC"),
            "room_id": pd.array(room_ids, dtype="string").take(np.tile(np.arange(rooms), count)),
            "users": pd.arrays.IntegerArray(people + devices, no_users),
            "people": pd.arrays.IntegerArray(people, apart.copy()),
            "devices": pd.arrays.IntegerArray(devices, apart),
            "attendee_max": pd.arrays.IntegerArray(np.tile(caps, count), np.tile(caps == 0, count)),
            "ret": pd.arrays.IntegerArray(code, code == NO_ANSWER),
        },
        copy=False,
    )
    frame.attrs["service"] = "SANDBOX"
    return frame


async def come_and_go(
    service: Service,
    planned: Plan,
    room_ids: list[str],
    users: dict[int, str],
    speed: float,
    ids: Ids,
) -> None:
    """Goes on from the plan's `until`, at `speed` simulated minutes a second, without end.

    `users` are those who are in the rooms, by their place among the week's stays. Who is refused
    goes away; who was removed or whose room is gone has left already."""
    clock = asyncio.get_running_loop().time
    began, until = clock(), planned.until / 1000
    number, stays = planned.week, planned.now
    try:
        while True:
            for moment, leaves, place in events(stays, until):
                wait = (moment - until) / (60 * speed) - (clock() - began)
                await asyncio.sleep(max(0, wait))  # requests have their turn even at wait 0
                room_id, name = room_ids[stays.room[place]], person(int(stays.number[place]))
                if not leaves:
                    with suppress(RoomJoinRefused):
                        users[place] = service.join(room_id, name, None, ids.user_id())
                elif place in users:
                    service.store.remove_person(room_id, users.pop(place))
            number += 1
            # Nobody stays beyond the end of a week.
            stays, users = await asyncio.to_thread(week, planned.house, number), {}
    except Exception as error:  # noqa: BLE001  # nobody waits for this to end
        log.error("the simulation of %d rooms ended: %s", len(room_ids), error)


def events(stays: Stays, after: float) -> Iterator[tuple[int, bool, int]]:
    """Moment, whether somebody leaves, and who, after this moment and in the order of time; at one
    moment places are free before they are taken."""
    moments = np.concatenate([stays.leave, stays.join])
    order = np.argsort(moments, kind="stable")
    order = order[moments[order] > after]
    count = len(stays.leave)
    leaves, place = order < count, order % max(count, 1)
    return zip(moments[order].tolist(), leaves.tolist(), place.tolist(), strict=True)


def _counted(planned: Plan, times: Ints) -> Ints:
    """The people of each time and room: who has come by then, less who has left."""
    rooms, count = len(planned.house.caps), len(times)
    change = np.zeros((count + 1, rooms), dtype=np.int64)
    if count:
        first, last = (week_of(planned.house, moment / 1000) for moment in times[[0, -1]].tolist())
        for number in range(first, last + 1):
            stays = week(planned.house, number)
            for moments, sign in ((stays.join, 1), (stays.leave, -1)):
                # From the first sample on that is not before the moment.
                step = np.searchsorted(times, moments * 1000)
                np.add.at(change, (step, stays.room), sign)
    return np.cumsum(change, axis=0, out=change)[:count]


def _devices(planned: Plan, times: Ints) -> Ints:
    """The devices of each time and room. Without `cameras` the only one was taken out in the night
    before `until`, for in the sandbox no camera stands there either."""
    devices = np.zeros((len(times), len(planned.house.caps)), dtype=np.int64)
    if planned.house.camera_room is not None:
        midnight = pd.Timestamp(planned.until, unit="ms", tz=planned.house.tz).normalize()
        there = planned.cameras | (times < midnight.timestamp() * 1000)
        devices[:, planned.house.camera_room] = there
    return devices


def _failures(planned: Plan, rooms: int) -> Ints:
    """The result code of each sample: of A6 for a room, half of them without an answer; of B3,
    which is asked once for all rooms of a time."""
    code = np.zeros((planned.count, rooms), dtype=np.int64)
    if planned.failures:
        chance = source(planned.house.key, 2**33)
        code[chance.random(planned.count) < planned.failures] = B3_FAILED
        failed = chance.random((planned.count, rooms))
        code[failed < planned.failures] = TIMED_OUT
        code[failed < planned.failures / 2] = NO_ANSWER
    return code.ravel()


def _moment(until: Any, tz: str) -> float:
    """Epoch seconds of a number of them, a datetime or a text; wall-clock times are those of tz."""
    try:
        if isinstance(until, int | float) and not isinstance(until, bool):
            return pd.Timestamp(until, unit="s").timestamp()
        if not isinstance(until, str | datetime):
            raise TypeError
        moment = pd.Timestamp(until)
        return (moment if moment.tzinfo else moment.tz_localize(tz)).timestamp()
    except (ValueError, TypeError, OverflowError):
        raise ConfigError(
            f"until is {until!r}",
            "It is a datetime, a text such as '2024-03-01 17:00', or epoch seconds.",
        ) from None
