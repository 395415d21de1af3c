"""A building with people in it: its rooms, and who is where in each week; no service, no clock.

What it assumes stands in `building.toml`. Only PCG64's uniform numbers are drawn, whose sequence
numpy keeps from release to release: the same building has the same weeks, in whatever order they
are asked for.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MINUTE, HOUR, DAY = 60, 3600, 86_400
WEEK = 7 * DAY
MONDAY = 4 * DAY  # 1970-01-05, where week 0 begins

_ASSUMED = tomllib.loads(Path(__file__).with_name("building.toml").read_text("utf-8"))
_WEEK, _MEETINGS, _ROOMS, _NAMES = (
    _ASSUMED[part] for part in ("week", "meetings", "rooms", "names")
)
_LIKELY = np.outer(_WEEK["days"], _WEEK["hours"]).ravel()  # of a meeting, by hour of the week


class Building:
    """Rooms, and who is in them; from four rooms on, one is always full and one never used.

    `caps` are those of the rooms, 0 is none; `kinds` are "full" (at their cap in each meeting),
    "unused", "large", "uncapped" and "usual"; `used` says how much a room is used and `largest` how
    many people meet there. `camera_room` is the one that nobody uses but a camera, None in a
    building too small for one."""

    def __init__(self, rooms: int, seed: int | str, tz: str = "UTC") -> None:
        self._key = hashlib.sha256(f"{seed}/{rooms}".encode()).digest()
        self.tz = tz
        chance = self.source(0)
        kinds = ("full", "unused", "large", "uncapped")
        counts = [
            max(round(_ROOMS[kind] * rooms), int(rooms >= 4 and kind in ("full", "unused")))
            for kind in kinds
        ]
        self.kinds = np.full(rooms, "uncapped")
        self.kinds[np.argsort(chance.random(rooms), kind="stable")] = np.repeat(
            [*kinds, "usual"], [*counts, rooms - sum(counts)]
        )
        full, unused, large, uncapped = (self.kinds == kind for kind in kinds)
        self.used = between(chance, rooms, _ROOMS["used"]) * ~unused
        largest = drawn(chance, rooms, _ROOMS["people"]) * between(chance, rooms, (0.75, 1.25))
        self.largest = np.rint(largest).astype(int)
        caps = (np.ceil(self.largest * _ROOMS["spare"] / 5) * 5).astype(int)
        caps[large] = np.maximum(drawn(chance, rooms, _ROOMS["large_caps"]), caps)[large]
        caps[full] = drawn(chance, rooms, _ROOMS["full_caps"])[full]
        caps[uncapped] = 0
        self.caps = caps
        self.camera_room = int(np.flatnonzero(unused)[-1]) if counts[1] > 1 else None
        self._series = self._meetings(chance, _WEEK["series"])

    def week(self, number: int) -> pd.DataFrame:
        """Return who is where in the week of this number, by local time; week 0 is that of
        1970-01-05.

        A row a person and meeting: `room`, `number` (who it is), `comes` and `goes` in epoch
        seconds. At `comes` one is in the room, at `goes` no longer."""
        chance = self.source(1 + number % 2**32)
        held = chance.random(len(self._series)) < _WEEK["held"]
        met = pd.concat([self._series[held], self._meetings(chance, _WEEK["single"])])
        # Of two at once the series' has the room.
        met = met.drop_duplicates("slot").sort_values("slot", ignore_index=True)
        day, hour = np.divmod(met.slot, len(_WEEK["hours"]))
        local = number * WEEK + day % 7 * DAY + (_WEEK["first_hour"] + hour) * HOUR
        room, varies = met.slot // len(_LIKELY), _MEETINGS["varies"]
        start = pd.Series(_utc(MONDAY + local + met.begin * MINUTE, self.tz), dtype=np.int64)
        follows = start.groupby(room).shift(-1, fill_value=np.iinfo(np.int64).max)
        size = np.rint(met.people * between(chance, len(met), (1 - varies, 1 + varies)))
        size = np.where(self.kinds[room] == "full", self.caps[room], np.maximum(size, 1))

        met = met.assign(room=room, start=start, end=start + met.minutes * MINUTE, next=follows)
        people = met.loc[met.index.repeat(size.astype(int))]
        first, last = (
            np.floor(between(chance, len(people), _MEETINGS[when]) * MINUTE).astype(int)
            for when in ("comes", "leaves")
        )
        # Who is there when the room's next meeting begins to come has left.
        goes = np.minimum(people.end + last, people.next + int(_MEETINGS["comes"][0] * MINUTE))
        seat = people.groupby(level=0).cumcount()
        columns = {"room": people.room, "number": 37 * people.slot + seat}
        stays = pd.DataFrame({**columns, "comes": people.start + first, "goes": goes})
        # All but where a change of clocks put two meetings onto one moment.
        return stays[stays.goes > stays.comes].reset_index(drop=True)

    def week_of(self, moment: float) -> int:
        """Return the number of the week in which these epoch seconds lie, by local time."""
        local = pd.Timestamp(moment, unit="s", tz=self.tz).tz_localize(None)
        return int((local.timestamp() - MONDAY) // WEEK)

    def source(self, number: int) -> np.random.Generator:
        """Return uniform numbers that repeat for the same building and number."""
        return np.random.Generator(np.random.PCG64([*self._key, number]))

    def _meetings(self, chance: np.random.Generator, likely: float) -> pd.DataFrame:
        """Draw the meetings of a week, at most one for each hour of each room.

        `slot` numbers the week's hours, room by room; `begin` is in minutes past the hour,
        `minutes` is the length, `people` are those who mean to come."""
        likelihood = (likely * self.used[:, None] * _LIKELY).ravel()
        slot = np.flatnonzero(chance.random(len(likelihood)) < likelihood)
        begin, minutes = (
            drawn(chance, len(slot), _MEETINGS[name]) for name in ("begin", "minutes")
        )
        people = np.ceil(self.largest[slot // len(_LIKELY)] * chance.random(len(slot)))
        return pd.DataFrame({"slot": slot, "begin": begin, "minutes": minutes, "people": people})


def topics() -> Iterator[str]:
    """Yield topics of rooms, without end and none twice; neighbours are of different teams."""
    teams, forms = _NAMES["teams"], _NAMES["forms"]
    for turn in count(1):
        for step in range(len(forms)):
            for place, team in enumerate(teams):
                form = forms[(place + step) % len(forms)]
                yield f"{team} {form}" if turn == 1 else f"{team} {form} {turn}"


def person(number: int) -> str:
    """Return the name of the one who has this number; neighbours have names of their own."""
    given, family = _NAMES["given"], _NAMES["family"]
    return f"{given[number % len(given)]} {family[number % len(family)]}"


def between(chance: np.random.Generator, size: int, bounds: tuple[float, float]) -> Floats:
    """Draw uniform numbers between the two bounds."""
    low, high = bounds
    return low + (high - low) * chance.random(size)


def drawn(chance: np.random.Generator, size: int, shares: list[tuple[int, float]]) -> Ints:
    """Draw values, each as often as the share beside it says."""
    values, often = zip(*shares, strict=True)
    bounds = np.cumsum(often)
    place = np.searchsorted(bounds, chance.random(size) * bounds[-1], side="right")
    found: Ints = np.array(values, dtype=np.int64)[place]
    return found


def _utc(local: "pd.Series[int]", tz: str) -> Ints:
    """Return epoch seconds of wall-clock times; those that a change of clocks skips move on."""
    wall = pd.DatetimeIndex(local.to_numpy().astype("datetime64[s]"))
    never = np.zeros(len(local), dtype=bool)
    moments = wall.tz_localize(tz, ambiguous=never, nonexistent="shift_forward")
    return moments.tz_convert(None).as_unit("s").asi8
