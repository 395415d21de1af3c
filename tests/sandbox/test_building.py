"""A building with people in it, against the rules that it states."""

import numpy as np
import pandas as pd
import pytest

from confkit.sandbox.building import DAY, MONDAY, WEEK, Building

FIRST = 2829  # the week of 2024-03-25


@pytest.fixture(scope="module")
def house():
    return Building(1000, 3)


@pytest.fixture(scope="module")
def stays(house):
    return house.week(FIRST)


def test_people_meet_in_working_hours(house, stays):
    """They come about the hour and the half, on five days more than on two; at night, and when one
    week turns into the next, nobody is there. Most of them come again in the next week."""
    begin = MONDAY + FIRST * WEEK
    day, second = np.divmod(stays.comes - begin, DAY)
    assert 0 < np.mean(day >= 5) < 0.03
    assert second.between(7 * 3600 - 180, 21 * 3600).all()
    assert np.mean((second // 60 + 3) % 30 < 10) > 0.7
    assert (stays.goes > stays.comes).all()
    assert (stays.goes - begin).max() < WEEK - 3600
    again = stays.merge(house.week(FIRST + 1), on=["room", "number"])
    assert 0.5 < len(again) / len(stays) < 0.8


def test_no_room_holds_more_than_its_cap(house, stays):
    """At no moment are more people in a room than its cap, and always full rooms reach it."""
    both = stays.assign(at=stays.goes, step=-1), stays.assign(at=stays.comes, step=1)
    moves = pd.concat(both, ignore_index=True)
    people = moves.sort_values("at", kind="stable").groupby("room").step.cumsum()
    peak = people.groupby(moves.room).max().reindex(range(1000), fill_value=0).to_numpy()
    full, capped = house.kinds == "full", house.caps > 0
    assert (peak <= house.caps)[capped].all()
    assert (peak == house.caps)[full].all()
    assert np.mean((peak == house.caps)[capped & ~full]) < 0.1
    assert ((peak > 0) == (house.used > 0)).all()
    assert 5 <= np.median(peak) <= 10


def test_the_kinds_of_rooms(house):
    """A few are always full, a few never used, some have no cap, some one that is far too large;
    each kind of which a story needs one is there from four rooms on."""
    assert [(house.kinds == kind).sum() for kind in ("full", "unused", "uncapped")] == [30, 50, 120]
    assert (house.caps[house.kinds == "uncapped"] == 0).all()
    assert np.mean(house.caps > 3 * house.largest) == pytest.approx(0.25, abs=0.05)
    assert house.kinds[house.camera_room] == "unused"
    small = Building(4, 1)
    assert {"full", "unused"} < set(small.kinds)
    assert small.camera_room is None
    assert len(Building(1, 1).week(FIRST)) > 0


def test_working_hours_are_local():
    """In another time zone people come at the same times of the clock, summer or winter."""
    here, there = Building(50, 1), Building(50, 1, "America/New_York")
    for number in (2820, FIRST):  # standard time and daylight saving time
        wall = pd.to_datetime(here.week(number).comes, unit="s")
        local = pd.to_datetime(there.week(number).comes, unit="s", utc=True)
        assert (local.dt.tz_convert("America/New_York").dt.tz_localize(None) == wall).all()
    sunday_evening = pd.Timestamp("2024-03-25 03:00Z").timestamp()
    assert here.week_of(sunday_evening) == FIRST == there.week_of(sunday_evening) + 1
