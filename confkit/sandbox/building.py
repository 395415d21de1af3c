"""A building with people in it: its rooms, and who is where in each week; no service, no clock.

The assumptions are made up to look like office days; nothing was measured. The same seed gives the
same weeks, in any order: only uniform random numbers are drawn, whose sequence numpy keeps stable
between releases.
"""

import hashlib

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
