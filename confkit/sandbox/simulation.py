"""A building in a sandbox: its rooms, its past as samples, and people who come and go."""

import threading
from datetime import UTC, datetime
from numbers import Real
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import ConfigError
from ..operations import A2
from .building import DAY, MINUTE, Building, person, topic
from .state import Ids, Service

MOST_ROOMS, MOST_SAMPLES = 20_000, 100_000_000  # some 5 seconds, some 8 GB
PACE = MINUTE  # seconds of the sandbox's clock per second of a live simulation
TICK = 0.1  # seconds
TIMED_OUT = 504


class Simulation:
    """The rooms of a building in a sandbox whose lock is held; people are in the meetings of the
    time `until` (epoch seconds)."""

    def __init__(self, service: Service, ids: Ids, building: Building, until: float) -> None:
        self._service, self._ids, self._until, self._building = service, ids, until, building
        self.room_ids: list[str] = []
        # The room and user ID of each person present, by week and row.
        self._inside: dict[tuple[int, int], tuple[str, str]] = {}
        self._week: int | None = None
        for place, cap in enumerate(building.caps.tolist()):
            fields: dict[str, Any] = dict.fromkeys((*A2.required, *A2.optional))
            fields |= {"topic": topic(place), "owner_id": "facilities", "room_mode": 1}
            room = service.add_room({**fields, "attendee_max": cap or None})
            self.room_ids.append(room.room_id)
        self._move_people(until)

    def run(self, ended: threading.Event) -> None:
        """Let people come and go by the sandbox's clock, until the event is set."""
        while not ended.wait(TICK):
            with self._service.lock:
                self._move_people(self._service.now())

    def _move_people(self, now: float) -> None:
        """Let people leave ended meetings and join those that have begun; a refused person does not
        try again."""
        week, inside, rooms = self._building.week_of(now), self._inside, self._service.rooms
        if week != self._week:
            self._week, self._stays = week, self._building.week(week)
        stays = self._stays[(self._stays.comes <= now) & (now < self._stays.goes)]
        present = {(week, row): (room, number) for row, room, number, *_ in stays.itertuples()}
        for key in inside.keys() - present.keys():
            room_id, user_id = inside.pop(key)
            if room_id in rooms:  # they may have been removed, too
                rooms[room_id].people.pop(user_id, None)
        for key, (room, number) in present.items():
            if key not in inside:
                room_id, user_id = inside[key] = self.room_ids[room], self._ids.user_id()
                if not self._service.obstacle(rooms.get(room_id)):
                    rooms[room_id].people[user_id] = person(number)

    def samples(self, days: float, every: float, failures: float, cameras: bool) -> pd.DataFrame:
        """Return the samples, ordered by time, then room."""
        count, rooms, caps = int(days * DAY // every), len(self.room_ids), self._building.caps
        # In epoch milliseconds.
        times = round(self._until * 1000) - round(every * 1000) * np.arange(count)[::-1]
        people, devices = self._count(times, cameras)
        failed = self._building.numbers(2**33).random(count * rooms) < failures
        integers = pd.arrays.IntegerArray
        # The columns are long: each is created once, and never copied.
        columns = {
            "time": pd.DatetimeIndex(np.repeat(times, rooms).astype("datetime64[ms]"), tz="UTC"),
            "room_id": pd.array(self.room_ids, "string").take(np.tile(np.arange(rooms), count)),
            "users": integers(people + devices, failed),
            "people": integers(people, failed.copy()),
            "devices": integers(devices, failed.copy()),
            "attendee_max": integers(np.tile(caps, count), np.tile(caps == 0, count)),
            "ret": integers(np.where(failed, TIMED_OUT, 0), np.zeros_like(failed)),
        }
        frame = pd.DataFrame(columns, copy=False)
        frame.attrs["service"] = "SANDBOX"
        return frame

    def _count(
        self, times: NDArray[np.int64], cameras: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the people and the devices for each time and room. Without `cameras` the only
        device was removed in the night before `until`, as the sandbox has no camera then."""
        building = self._building
        change = np.zeros((len(times) + 1, len(building.caps)), dtype=np.int64)
        first = times.min(initial=round(self._until * 1000)) / 1000
        for number in range(building.week_of(first), building.week_of(self._until) + 1):
            stays = building.week(number)
            for moments, sign in ((stays.comes, 1), (stays.goes, -1)):
                # From the first sample on that is not before the moment.
                np.add.at(change, (np.searchsorted(times, moments * 1000), stays.room), sign)
        people = np.cumsum(change, axis=0, out=change)[:-1]
        devices = np.zeros_like(people)
        if building.camera_room is not None:
            midnight = pd.Timestamp(self._until, unit="s", tz=building.tz).normalize().timestamp()
            devices[:, building.camera_room] = cameras | (times < midnight * 1000)
        return people.ravel(), devices.ravel()


def check_size(rooms: int, days: float, every: float) -> None:
    """Refuse a building that would take minutes or fill the memory; ConfigError."""
    fits = 1 <= rooms <= MOST_ROOMS and every >= 1
    if not fits or not 0 <= days * DAY / every * rooms <= MOST_SAMPLES:
        raise ConfigError(
            f"{rooms} rooms for {days} days, every {every} s, cannot be simulated",
            f"Use 1 to {MOST_ROOMS:,} rooms, and at most {MOST_SAMPLES:,} samples.",
        )


def parse_moment(until: Any, tz: str) -> float:
    """Return the epoch seconds of a number, datetime or text; without a time zone it is in `tz`."""
    try:
        if isinstance(until, Real):
            until = datetime.fromtimestamp(float(until), UTC)
        moment = datetime.fromisoformat(until) if isinstance(until, str) else until
        zone = ZoneInfo(tz)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError):
        raise ConfigError(
            f"until is {until!r}, tz {tz!r}",
            "Use a datetime, a text such as '2024-03-01 17:00', or epoch seconds; and a time zone "
            "such as 'Europe/Berlin'.",
        ) from None
