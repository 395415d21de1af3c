"""A building with people in it, against the rules that it states."""

import numpy as np
import pandas as pd
import pytest

from confkit.sandbox.building import DAY, MONDAY, WEEK, building, person, topics, week, week_of

FIRST = 2829  # the week of 2024-03-25


@pytest.fixture(scope="module")
def house():
    return building(1000, 3)


@pytest.fixture(scope="module")
def weeks(house):
    return [week(house, FIRST + number) for number in range(3)]


def course(stays, room):
    """The moments at which somebody comes or goes, and how many are there from then on."""
    join, leave = stays.join[stays.room == room], stays.leave[stays.room == room]
    moments = np.concatenate([leave, join])
    order = np.argsort(moments, kind="stable")
    return moments[order], np.cumsum(np.repeat([-1, 1], len(join))[order])


def test_people_meet_in_working_hours(weeks):
    """They come about the hour and the half, on five days more than on two, and most in the
    morning and after lunch; at night, and when one week turns into the next, nobody is there."""
    for number, stays in enumerate(weeks):
        begin = MONDAY + (FIRST + number) * WEEK
        assert (stays.leave > stays.join).all()
        day, second = np.divmod(stays.join - begin, DAY)
        assert 0 <= day.min() < day.max() <= 6
        assert 0 < np.mean(day >= 5) < 0.03
        hours = np.bincount((second + 180) // 3600, minlength=24)  # a little before the hour counts
        assert hours[:7].sum() == hours[21:].sum() == 0
        assert hours[[9, 10, 13, 14]].sum() > 1.5 * hours[[8, 11, 12, 15]].sum()
        minute = second // 60 % 60
        assert np.mean((minute <= 6) | (minute >= 57)) > 0.5  # on the hour
        assert np.mean(abs(minute - 30) <= 6) > 0.2
        assert (stays.leave - begin).max() < 5 * DAY + 2 * DAY - 3600


def test_a_room_is_in_use_for_some_hours_a_day(weeks):
    """From two to three hours of a working day on average, by few people mostly."""
    seconds, peaks = [], []
    for room in range(200):
        moments, people = course(weeks[0], room)
        seconds.append((np.diff(moments) * (people[:-1] > 0)).sum())
        peaks.append(people.max(initial=0))
    assert 2 < np.mean(seconds) / 3600 / 5 < 3
    assert 5 <= np.median(peaks) <= 10
    assert max(peaks) > 30


def test_meetings_come_again(weeks):
    """Most people are there in the next week too; some meetings are not held, others come once."""
    first, second = (set(zip(one.room, one.number, strict=True)) for one in weeks[:2])
    assert 0.5 < len(first & second) / len(first) < 0.8


def test_no_room_holds_more_than_its_cap(house, weeks):
    """At no moment are more people in a room than its cap, and always full rooms reach it."""
    peak = np.array([course(weeks[0], room)[1].max(initial=0) for room in range(1000)])
    capped = house.caps > 0
    assert (peak <= house.caps)[capped].all()
    assert (peak == house.caps)[house.full].all()
    assert np.mean((peak == house.caps)[capped & ~house.full]) < 0.1
    assert ((peak > 0) == (house.used > 0)).all()


def test_the_kinds_of_rooms(house):
    """A few are always full, a few never used, some have no cap, some one that is far too large;
    each kind of which a story needs one is there from four rooms on."""
    unused = house.used == 0
    assert (house.full.sum(), unused.sum(), (house.caps == 0).sum()) == (30, 50, 120)
    assert np.mean(house.caps > 3 * house.largest) == pytest.approx(0.25, abs=0.05)
    assert unused[house.camera_room]
    small = building(4, 1)
    assert (small.full.sum(), (small.used == 0).sum(), small.camera_room) == (1, 1, None)
    assert len(week(building(1, 1), FIRST).room) > 0


def test_a_building_repeats(weeks):
    """A week is the same in whatever order it is asked for; seeds and weeks differ."""
    again = week(building(1000, 3), FIRST + 2)
    assert all(np.array_equal(*both) for both in zip(weeks[2], again, strict=True))
    assert len(week(building(1000, 4), FIRST + 2).room) != len(again.room) != len(weeks[1].room)


def test_working_hours_are_local():
    """In another time zone people come at the same times of the clock, summer or winter."""
    here, there = building(50, 1), building(50, 1, "America/New_York")
    for number in (2820, FIRST):  # standard time and daylight saving time
        wall = pd.DatetimeIndex(week(here, number).join.astype("M8[s]"))
        local = pd.DatetimeIndex(week(there, number).join.astype("M8[s]"), tz="UTC")
        assert (local.tz_convert("America/New_York").tz_localize(None) == wall).all()
    sunday_evening = pd.Timestamp("2024-03-25 03:00Z").timestamp()
    assert week_of(here, sunday_evening) == FIRST == week_of(there, sunday_evening) + 1


def test_topics_and_names():
    """A thousand topics differ and fit the service; a room's people have names of their own."""
    source = topics()
    found = [next(source) for _ in range(1000)]
    assert len(set(found)) == 1000
    assert max(len(topic.encode()) for topic in found) < 60
    assert any(not topic.isascii() for topic in found)
    assert len({person(7000 + seat) for seat in range(120)}) == 120
