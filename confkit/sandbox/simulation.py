"""A building in a sandbox: its rooms, its past as samples, and the people who come and go."""

import asyncio
import logging
import math
from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from ..errors import ConfigError, ConfkitError
from .building import Building, Ints, person, topics
from .service.identity import Ids
from .service.room import Person
from .service.state import RoomJoinRefused, Service

MOST_ROWS = 100_000_000  # about 8 GB
NO_ANSWER, TIMED_OUT, B3_FAILED = -1, 504, 310

log = logging.getLogger("confkit.sandbox")


class Simulation:
    """A building, the moment at which it stands, and its rooms in the sandbox; ConfigError where
    an argument makes no sense, which the error names.

    `house` is the building, `room_ids` are the numbers of its rooms once they are furnished."""

    def __init__(
        self,
        service: Service,
        ids: Ids,
        rooms: int,
        days: float,
        every: float,
        until: Any,
        speed: float,
        seed: int | str | None,
        tz: str,
        failures: float,
        cameras: bool,
    ) -> None:
        for name, value, meant, least, most in (
            ("rooms", rooms, "a whole number of rooms, 1 or more", 1, math.inf),
            ("days", days, "a number of days, 0 or more", 0, math.inf),
            ("every", every, "the seconds from sample to sample, 1 or more", 1, 1e9),
            ("failures", failures, "the share of calls that fail, from 0 to 1", 0, 1),
            ("speed", speed, "simulated minutes a second, above 0", math.ulp(0), math.inf),
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
                f"That is more than {MOST_ROWS:,} samples: "
                "raise every, or ask for fewer rooms or days."
            )
        self._until = service.now() if until is None else _moment(until, tz)  # epoch seconds
        self.house = Building(rooms, ids.nonce() if seed is None else seed, tz)
        self._week = self.house.week_of(self._until)
        self._stays = self.house.week(self._week)
        count, step = int(days * 86_400 // every), round(every * 1000)
        # Of the samples, in epoch milliseconds.
        self._times = round(self._until * 1000) - step * np.arange(
            count - 1, -1, -1, dtype=np.int64
        )
        self._service, self._ids = service, ids
        self._failures, self._cameras, self._speed = failures, cameras, speed
        self._users: dict[int, str] = {}  # who is in the rooms, by their place in the week
        self.room_ids: list[str] = []

    def furnish(self) -> None:
        """Make the rooms, and let in who is in a meeting; nothing of it where not all can enter."""
        service, stays, up = self._service, self._stays, self._service.mcu.up
        there = stays[(stays.comes <= self._until) & (self._until < stays.goes)]
        if len(there) and (not up or service.licence.expired):
            raise ConfkitError(
                "Nobody can join now: start_mcu(), or licence(expired=False), first."
            )
        if service.seats() < len(there):
            raise ConfkitError(
                f"The licence has not enough seats for the {len(there)} people who are in the "
                "rooms at that time: licence(seats=...) gives more."
            )
        room_ids, users = self.room_ids, self._users
        for topic, cap in zip(topics(), self.house.caps.tolist(), strict=False):
            while service.room(room_id := service.ids.room_id()):
                pass  # somebody's room_extend_id
            room_ids.append(room_id)
            row = {"topic": topic, "owner_id": "facilities", "room_mode": 1, "mcu": up}
            service.add_room(room_id, attendee_max=cap or None, **row)
        for place, room, number in there[["room", "number"]].itertuples():
            users[place] = self._ids.user_id()
            service.enter(Person(room_ids[room], users[place], person(number), False))

    @property
    def camera_room(self) -> str | None:
        """The number of the room with a camera in it that nobody uses."""
        place = self.house.camera_room
        return None if place is None else self.room_ids[place]

    def samples(self) -> pd.DataFrame:
        """Return the samples, in the order of time and, at each time, of the rooms."""
        rooms, count, caps = len(self.room_ids), len(self._times), self.house.caps
        people, devices = self._people().ravel(), self._devices().ravel()
        # A call that failed has left values missing, and its result code in `ret`: of A6 for a
        # room, half of them without an answer; of B3, which is asked once for all rooms of a time.
        chance, code = self.house.source(2**33), np.zeros((count, rooms), dtype=np.int64)
        code[chance.random(count) < self._failures] = B3_FAILED
        failed = chance.random((count, rooms))
        code[failed < self._failures] = TIMED_OUT
        code[failed < self._failures / 2] = NO_ANSWER
        ret = code.ravel()
        no_users = (ret == NO_ANSWER) | (ret == TIMED_OUT)
        apart = ret != 0  # people and devices are not told apart
        times = np.repeat(self._times, rooms).astype("datetime64[ms]")
        numbers = pd.array(self.room_ids, dtype="string")
        # As many rows as this are long columns: each is made once, and copied nowhere.
        columns = {
            "time": pd.DatetimeIndex(times, tz="UTC"),
            "room_id": numbers.take(np.tile(np.arange(rooms), count)),
            "users": pd.arrays.IntegerArray(people + devices, no_users),
            "people": pd.arrays.IntegerArray(people, apart.copy()),
            "devices": pd.arrays.IntegerArray(devices, apart),
            "attendee_max": pd.arrays.IntegerArray(np.tile(caps, count), np.tile(caps == 0, count)),
            "ret": pd.arrays.IntegerArray(ret, ret == NO_ANSWER),
        }
        frame = pd.DataFrame(columns, copy=False)
        frame.attrs["service"] = "SANDBOX"
        return frame

    async def come_and_go(self) -> None:
        """Go on from the last sample, at `speed` simulated minutes a second, without end.

        Who is refused goes away; who was removed or whose room is gone has left already."""
        service, clock = self._service, asyncio.get_running_loop().time
        began, users, stays, number = clock(), self._users, self._stays, self._week
        try:
            while True:
                for moment, leaves, place in events(stays, self._until):
                    wait = (moment - self._until) / (60 * self._speed) - (clock() - began)
                    await asyncio.sleep(max(0, wait))  # requests have their turn even at wait 0
                    room_id = self.room_ids[stays.room[place]]
                    if not leaves:
                        name, user_id = person(stays.number[place]), self._ids.user_id()
                        with suppress(RoomJoinRefused):
                            users[place] = service.join(room_id, name, None, user_id)
                    elif place in users:
                        service.leave(room_id, users.pop(place))
                number += 1
                # Nobody stays beyond the end of a week.
                stays, users = await asyncio.to_thread(self.house.week, number), {}
        except Exception as error:  # noqa: BLE001  # nobody waits for this to end
            log.error("the simulation of %d rooms ended: %s", len(self.room_ids), error)

    def _people(self) -> Ints:
        """Return the people of each time and room: who has come by then, less who has left."""
        change = np.zeros((len(self._times) + 1, len(self.house.caps)), dtype=np.int64)
        first = self._times.min(initial=round(self._until * 1000)) / 1000
        for number in range(self.house.week_of(first), self._week + 1):
            stays = self.house.week(number)
            for moments, sign in ((stays.comes, 1), (stays.goes, -1)):
                # From the first sample on that is not before the moment.
                step = np.searchsorted(self._times, moments * 1000)
                np.add.at(change, (step, stays.room), sign)
        return np.cumsum(change, axis=0, out=change)[:-1]

    def _devices(self) -> Ints:
        """Return the devices of each time and room. Without `cameras` the only one was taken out in
        the night before `until`, for in the sandbox no camera stands there either."""
        devices = np.zeros((len(self._times), len(self.house.caps)), dtype=np.int64)
        if self.house.camera_room is not None:
            midnight = pd.Timestamp(self._until, unit="s", tz=self.house.tz).normalize()
            there = self._cameras | (self._times < midnight.timestamp() * 1000)
            devices[:, self.house.camera_room] = there
        return devices


def events(stays: pd.DataFrame, after: float) -> list[tuple[int, bool, int]]:
    """Return moment, whether somebody leaves, and who, after this moment and in the order of time;
    at one moment places are free before they are taken."""
    moments = np.concatenate([stays.goes, stays.comes])
    order = np.argsort(moments, kind="stable")
    order = order[moments[order] > after]
    leaves, place = order < len(stays), order % max(len(stays), 1)
    return list(zip(moments[order].tolist(), leaves.tolist(), place.tolist(), strict=True))


def _moment(until: Any, tz: str) -> float:
    """Return epoch seconds of a number of them, a datetime or a text; wall-clock times are those of
    tz."""
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
