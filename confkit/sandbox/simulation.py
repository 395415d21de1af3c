"""A building with people in it, and its rooms in a sandbox: its past as samples, and people who
come and go.

The assumptions are made up to look like office days; nothing was measured. The same seed gives the
same weeks, in any order: only uniform random numbers are drawn, whose sequence numpy keeps stable
between releases.
"""

import hashlib
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
from .state import Ids, Service

MOST_ROOMS, MOST_SAMPLES = 20_000, 100_000_000  # some 5 seconds, some 8 GB
PACE = 60  # seconds of the sandbox's clock per second of a live simulation
TICK = 0.1  # seconds
TIMED_OUT = 504

MINUTE, HOUR, DAY = 60, 3600, 86_400
WEEK = 7 * DAY
MONDAY = 4 * DAY  # 1970-01-05, where week 0 begins

FIRST_HOUR = 7
# The likelihood of a meeting in each hour from then on, and a factor for each day from Monday on;
# both are multiplied, and by how much the room is used.
HOURS = [0.06, 0.2, 0.5, 0.5, 0.35, 0.17, 0.42, 0.42, 0.35, 0.25, 0.13, 0.06, 0.03, 0.02]
LIKELY = np.outer([0.8, 1.05, 1.05, 1.1, 0.95, 0.04, 0.04], HOURS).ravel()  # by hour of the week
# Minutes past the hour at which a meeting begins and ends, with its share. It ends within the hour,
# so meetings of a room never overlap; people come and leave some minutes before or after.
MEETINGS = {(0, 55): 0.65, (0, 25): 0.15, (30, 55): 0.2}
COMES, LEAVES = (-2, 6), (-6, 2)

# Shares of rooms: always full (the cap is too small for every meeting), never used (a camera is in
# one of them), with a cap that is far too large, without a cap; the rest are normal.
KINDS = {"full": 0.05, "unused": 0.05, "large": 0.25, "uncapped": 0.12}
PEOPLE = {4: 0.25, 7: 0.35, 12: 0.25, 25: 0.12, 80: 0.03}  # in a room's largest meeting
LARGE_CAPS = {100: 0.3, 150: 0.2, 200: 0.2, 300: 0.2, 500: 0.1}
FULL_CAPS = {4: 0.2, 5: 0.2, 6: 0.2, 8: 0.2, 9: 0.2}

TEAMS = ["Payments", "Platform", "Customer support", "Sales North", "Finance", "Équipe produit"]
TEAMS += ["Vertrieb Süd", "東京オフィス", "Клиентский отдел", "Security", "Training"]
FORMS = ["weekly", "stand-up", "planning", "project room", "review", "all hands", "workshop"]
GIVEN = ["Ada", "Noor", "Mateo", "Ingrid", "Kofi", "Mei", "Luca", "Zofia", "Amir", "Chloé", "Hana"]
FAMILY = ["Adeyemi", "Berg", "Castillo", "Dubois", "Eriksen", "Fischer", "García", "Haddad", "Ito"]
FAMILY += ["Jansen", "Kaya", "Lindholm", "Moreau", "Nowak", "Okafor", "Petrov", "Ó Briain"]


class Building:
    """Rooms, and who is in them; from four rooms on, one is always full and one never used.

    `caps` are those of the rooms, 0 for no cap; `used` is how much a room is used, `largest` the
    size of its largest meeting. `camera_room` is the index of a room used only by a camera; None in
    a building too small for it."""

    def __init__(self, rooms: int, seed: int | str, tz: str = "UTC") -> None:
        self._key = hashlib.sha256(f"{seed}/{rooms}".encode()).digest()
        self.tz = tz
        rng = self.numbers(0)
        counts = [round(share * rooms) for share in KINDS.values()]
        counts[:2] = [max(number, int(rooms >= 4)) for number in counts[:2]]
        kinds = np.repeat([*KINDS, "usual"], [*counts, rooms - sum(counts)])
        kinds = kinds[np.argsort(rng.random(rooms), kind="stable")]
        self.full, unused, large, uncapped = (kinds == kind for kind in KINDS)
        self.used = (0.4 + 1.2 * rng.random(rooms)) * ~unused
        usual = _draw(rng, rooms, PEOPLE) * (0.75 + 0.5 * rng.random(rooms))
        self.largest = np.rint(usual).astype(int)
        self.caps = (np.ceil(self.largest * 1.2 / 5) * 5).astype(int)
        self.caps[large] = np.maximum(_draw(rng, rooms, LARGE_CAPS), self.caps)[large]
        self.caps[self.full] = _draw(rng, rooms, FULL_CAPS)[self.full]
        self.caps[uncapped] = 0
        self.camera_room = int(np.flatnonzero(unused)[-1]) if counts[1] > 1 else None

    def week(self, number: int) -> pd.DataFrame:
        """Return who is where in the week of this number, by local time; week 0 is that of
        1970-01-05.

        A row for each person and meeting: `room`, `number` (of the person), `comes` (inclusive) and
        `goes` (exclusive) in epoch seconds."""
        rng = self.numbers(1 + number % 2**32)
        likelihood = np.outer(self.used, LIKELY).ravel()
        slot = np.flatnonzero(rng.random(len(likelihood)) < likelihood)
        room, hour_of_week = np.divmod(slot, len(LIKELY))
        day, hour = np.divmod(hour_of_week, len(HOURS))
        local = MONDAY + number * WEEK + day * DAY + (FIRST_HOUR + hour) * HOUR
        shares = dict(enumerate(MEETINGS.values()))
        begins, ends = np.array([*MEETINGS])[_draw(rng, len(slot), shares)].T
        size = np.ceil(self.largest[room] * rng.random(len(slot))).astype(int)
        size = np.where(self.full[room], self.caps[room], size)
        meeting = np.repeat(np.arange(len(slot)), size)  # the meeting of each person
        seat = np.arange(len(meeting)) - (np.cumsum(size) - size)[meeting]
        # In epoch seconds; times that a clock change skips are shifted.
        never = np.zeros(len(slot), dtype=bool)
        start = (
            pd.DatetimeIndex(local.astype("datetime64[s]"))
            .tz_localize(self.tz, ambiguous=never, nonexistent="shift_forward")
            .as_unit("s")
            .asi8[meeting]
        )
        moments = {}
        for name, minutes, (low, high) in (("comes", begins, COMES), ("goes", ends, LEAVES)):
            offset = np.rint((low + (high - low) * rng.random(len(meeting))) * MINUTE)
            moments[name] = start + minutes[meeting] * MINUTE + offset.astype(np.int64)
        return pd.DataFrame({"room": room[meeting], "number": 37 * slot[meeting] + seat, **moments})

    def week_of(self, moment: float) -> int:
        """Return the number of the week of these epoch seconds, by local time."""
        local = pd.Timestamp(moment, unit="s", tz=self.tz).tz_localize(None)
        return int((local.timestamp() - MONDAY) // WEEK)

    def numbers(self, source: int) -> np.random.Generator:
        """Return a generator that is reproducible for the same building and source."""
        return np.random.Generator(np.random.PCG64([*self._key, source]))


def topic(place: int) -> str:
    """Return the unique topic of a room; neighbours belong to different teams."""
    turn, place = divmod(place, len(TEAMS) * len(FORMS))
    name = f"{TEAMS[place % len(TEAMS)]} {FORMS[place % len(FORMS)]}"  # 11 and 7 share no factor
    return f"{name} {turn + 1}" if turn else name


def person(number: int) -> str:
    """Return the name of the person with this number; neighbours have different names."""
    return f"{GIVEN[number % len(GIVEN)]} {FAMILY[number % len(FAMILY)]}"


def _draw(rng: np.random.Generator, size: int, shares: dict[int, float]) -> NDArray[np.int64]:
    bounds = np.cumsum([*shares.values()])
    places = np.searchsorted(bounds, rng.random(size) * bounds[-1], side="right")
    values: NDArray[np.int64] = np.array([*shares], dtype=np.int64)[places]
    return values


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
