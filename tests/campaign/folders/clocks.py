"""Clocks that step, and days of 23 and 25 hours."""

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pandas as pd

from confkit.charts.week import week
from confkit.errors import ConfkitError
from confkit.occupancy.capacity import capacity_report
from confkit.occupancy.compaction import compact, save_occupancy
from confkit.occupancy.loading import load_occupancy
from confkit.occupancy.recorder import Recorder
from confkit.rooms import create_room, get_room
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece

_ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
_STEPS = (-60, -3600, -86400, -1, -0.001, 60, 3600, 86400, 400 * 86400, -400 * 86400)
_EDGES = (
    datetime(2026, 3, 29, 0, 58, tzinfo=UTC), datetime(2026, 10, 25, 0, 58, tzinfo=UTC),
    datetime(2028, 2, 28, 23, 58, tzinfo=UTC), datetime(2026, 12, 31, 23, 58, tzinfo=UTC),
)  # fmt: skip
_TURNS = 20  # sweeps of one recording


class Clock:
    """Ticks that never step, and a clock that does, at chance moments."""

    def __init__(self, chance: Random) -> None:
        self.passed, self.off = 0.0, 0.0
        self._chance, self._start = chance, chance.choice(_EDGES).timestamp()

    def clock(self) -> float:
        return self._start + self.passed + self.off

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        if self._chance.random() < 0.01:
            self.off += self._chance.choice(_STEPS)


def clocks(piece: Piece) -> Counts:
    """Records through such clocks, and looks at days around the changes in several zones."""
    counts: dict[str, float] = {"sweeps": 0}
    chance = piece.chance()
    for number in range(math.ceil(piece.size / _TURNS)):
        before = dict(counts)
        _recorded(piece, number, chance, counts)
        _day(piece, number, chance, counts)
        more = {name: count - before.get(name, 0) for name, count in counts.items()}
        if any(count for name, count in more.items() if name != "sweeps"):
            piece.broke(f"recorded-{number}, day-{number}: {more}")
    return counts


def _recorded(piece: Piece, number: int, chance: Random, counts: dict[str, float]) -> None:
    clock = Clock(chance)
    folder = piece.folder / f"recorded-{number}"
    at: list[float] = []
    with Sandbox(seed=1, clock=clock.clock) as sandbox, sandbox.connect() as client:
        rooms = [create_room(client, "T", "o")]
        recorder = Recorder(folder, clock=clock.clock, ticks=lambda: clock.passed,
                            sleep=clock.sleep)  # fmt: skip
        done = recorder.record(client, rooms, every=60, sweeps=_TURNS,
                               told=lambda _: at.append(clock.passed))  # fmt: skip
        try:
            get_room(client, rooms[0])
        except ConfkitError:
            _count(counts, "unanswered calls")
    counts["sweeps"] += done.sweeps
    _count(counts, "unanswered calls", done.failures)
    _count(counts, "sweeps off time", sum(abs(s - 60 * n) > 0.01 for n, s in enumerate(at)))
    for _ in range(2):
        frame = load_occupancy(folder)
        _count(counts, "lost samples", max(0, done.rows - len(frame)))
        _count(counts, "doubled samples", int(frame.duplicated(["time", "room_id"]).sum()))
        compact(folder, date(2100, 1, 1))


def _day(piece: Piece, number: int, chance: Random, counts: dict[str, float]) -> None:
    """A local day, and a person in one of its hours only, in every function that knows zones."""
    name = chance.choice(_ZONES)
    here = ZoneInfo(name)
    day = chance.choice([date(2026, 3, 29), date(2026, 10, 25), date(2026, 3, 8), date(2026, 11, 1),
                         date(2028, 2, 29), date(2026, 12, 31), date(2026, 4, 5)])  # fmt: skip
    begin, end = (
        datetime.combine(one, datetime.min.time(), here).astimezone(UTC)
        for one in (day, day + timedelta(days=1))
    )
    times = [begin + timedelta(minutes=30 * n) for n in range(-48, (end - begin) // _HALF + 48)]
    busy = chance.choice([time for time in times if begin <= time < end]).astimezone(here).hour
    inside = [time.astimezone(here).hour == busy and begin <= time < end for time in times]
    folder = piece.folder / f"day-{number}"
    save_occupancy(pd.DataFrame({
        "time": times, "room_id": "r", "users": [int(one) for one in inside],
        "people": [int(one) for one in inside], "devices": 0, "attendee_max": 5, "ret": 0,
    }), folder)  # fmt: skip
    with _local(name):
        frame = load_occupancy(folder, since=f"{day}T00:00", until=f"{day + timedelta(days=1)}")
    hours = [time.astimezone(here).hour for time in times if begin <= time < end]
    found = list(frame["time"].dt.tz_convert(here).dt.hour)
    _count(counts, "hours off", int(found != hours))
    people = week(frame, here).people[day.weekday()]
    for hour in range(24):
        expected = float(hour == busy) if hour in hours else math.nan
        told = float(people[hour])
        right = told == expected or (math.isnan(told) and math.isnan(expected))
        _count(counts, "hours off", int(not right))
    report = capacity_report(folder, name).iloc[0]
    _count(counts, "hours off", int(report["busiest_hour"] != busy))
    _count(counts, "hours off", int(report["minutes_in_use"] != 30 * sum(inside)))


_HALF = timedelta(minutes=30)


@contextmanager
def _local(zone: str) -> Iterator[None]:
    """While this zone is the local one."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


def _count(counts: dict[str, float], name: str, number: float = 1) -> None:
    counts[name] = counts.get(name, 0) + number
