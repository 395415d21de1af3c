"""The plan of a simulated building, against the published figures and its own rules."""

import numpy as np
import pandas as pd
import pytest

from confkit.sandbox import habits, names
from confkit.sandbox.building import building
from confkit.sandbox.meetings import DAY, MONDAY, Meetings, _stays, week, week_of

FIRST = 2829  # the week of 2024-03-25


@pytest.fixture(scope="module")
def house():
    return building(1000, 3)


@pytest.fixture(scope="module")
def weeks(house):
    return [week(house, FIRST + number) for number in range(4)]


@pytest.fixture(scope="module")
def month(weeks):
    """The meetings of four weeks."""
    return Meetings(
        *(np.concatenate(part) for part in zip(*(w.meetings for w in weeks), strict=True))
    )


def share(flags):
    return float(np.mean(flags))


def test_meetings_are_of_the_published_sizes(month):
    """40 % have two to four people, 85 % fewer than seven, 6 % more than ten, about."""
    size = month.size
    assert share((size >= 2) & (size <= 4)) == pytest.approx(0.40, abs=0.03)
    assert share(size < 7) == pytest.approx(0.85, abs=0.03)
    assert share(size > 10) == pytest.approx(0.06, abs=0.01)
    assert size.min() == 1
    assert size.max() > 40


def test_meetings_are_held_when_people_work(month):
    """Half of them begin from 9 to 11 and from 13 to 15; Monday has fewest, Thursday most; the
    weekend is quiet, and nothing begins at night."""
    hour = month.start % DAY / 3600
    assert share(((hour >= 9) & (hour < 11)) | ((hour >= 13) & (hour < 15))) == pytest.approx(
        0.5, abs=0.03
    )
    assert hour.min() >= 7
    assert hour.max() < 21
    days = np.bincount((month.start - MONDAY) // DAY % 7) / len(month.start)
    assert days[0] == pytest.approx(0.16, abs=0.01)
    assert days[3] == pytest.approx(0.22, abs=0.01)
    assert np.argmin(days[:5]) == 0
    assert 0 < days[5:].sum() < 0.02


def test_a_week_ends_at_home(weeks):
    """Nobody is in a room when one week turns into the next."""
    for number, one in enumerate(weeks):
        begin = MONDAY + (FIRST + number) * 7 * DAY
        assert begin < one.stays.join.min() < one.stays.leave.max() < begin + 7 * DAY


def test_meetings_begin_on_the_hour_and_the_half(month):
    """Most begin on the hour, then on the half; the rest at five minutes."""
    minute = month.start // 60 % 60
    assert 0.5 < share(minute == 0) < 0.7
    assert 0.2 < share(minute == 30) < 0.4
    assert not (minute % 5).any()


def test_meetings_last_as_long_as_published(month, house):
    """53 minutes on average, and a room is in use for two to three hours of a working day."""
    assert month.length.mean() / 60 == pytest.approx(53, abs=4)
    assert 2 <= month.length.sum() / 3600 / len(house.caps) / 20 <= 3


def test_meetings_come_again(weeks):
    """Most weekly meetings of one week are there at the same time of the next one."""

    def places(one):
        return set(zip(one.meetings.room, one.meetings.start % (7 * DAY), strict=True))

    again = places(weeks[0]) & places(weeks[1])
    assert len(again) > 0.4 * len(places(weeks[0]))
    assert again != places(weeks[0])  # some are not held, others come once


def test_a_room_has_one_meeting_at_a_time(month):
    """No meeting begins before the one before it in its room is due to end."""
    order = np.lexsort((month.start, month.room))
    room, start, length = month.room[order], month.start[order], month.length[order]
    same = room[1:] == room[:-1]
    assert (start[1:] >= start[:-1] + length[:-1])[same].all()


@pytest.mark.parametrize(("size", "late"), [(1, 0.0), (2, 0.17), (4, 0.29), (9, 0.51)])
def test_people_come_late_as_published(size, late):
    """17 % of two are late, 29 % of three to six, 51 % of more, by 222 seconds on average."""
    count = 20_000
    held = Meetings(
        np.arange(count), np.zeros(count, int), np.full(count, 3600), np.full(count, size)
    )
    stays = _stays(held, np.random.Generator(np.random.PCG64(1)))
    assert len(stays.room) == count * size
    assert share(stays.join > 0) == pytest.approx(late, abs=0.015)
    if late:
        assert stays.join[stays.join > 0].mean() == pytest.approx(222, rel=0.05)
    assert stays.join.min() >= -300
    ends = stays.leave.reshape(count, size).max(axis=1)
    assert share(ends > 3660) == pytest.approx(habits.RUN_OVER, abs=0.06)
    assert (stays.leave > stays.join).all()


def test_no_room_holds_more_than_its_cap(house, weeks):
    """At no moment are more people in a room than its cap; full rooms reach it and turn away."""
    stays = weeks[0].stays
    assert weeks[0].turned_away > 100
    peak = np.zeros(len(house.caps), int)
    for room in range(len(house.caps)):
        join, leave = stays.join[stays.room == room], stays.leave[stays.room == room]
        moments = np.concatenate([leave, join])
        steps = np.repeat([-1, 1], len(join))[np.argsort(moments, kind="stable")]
        peak[room] = np.cumsum(steps).max(initial=0)
    capped = house.caps > 0
    assert (peak <= house.caps)[capped].all()
    assert (peak == house.caps)[house.full].all()
    assert share((peak == house.caps)[capped & ~house.full]) < 0.1
    assert (peak[house.unused] == 0).all()
    assert share(peak[~house.unused] > 0) > 0.98


def test_the_kinds_of_rooms(house):
    """A few are always full, a few never used, some have no cap, some one that is far too large."""
    assert (house.full.sum(), house.unused.sum(), (house.caps == 0).sum()) == (30, 50, 120)
    assert share(house.caps > 3 * house.largest) == pytest.approx(0.25, abs=0.05)
    assert house.unused[house.camera_room]
    small = building(4, 1)
    assert (small.full.sum(), small.unused.sum(), small.camera_room) == (1, 1, None)
    assert len(week(building(1, 1), FIRST).stays.room) > 0


def test_a_plan_repeats(house, weeks):
    """A week is the same however often and in whatever order it is asked for; seeds and weeks
    differ."""
    again = week(building(1000, 3), FIRST + 2)
    for kept, made in zip(
        (*weeks[2].stays, *weeks[2].meetings), (*again.stays, *again.meetings), strict=True
    ):
        assert np.array_equal(kept, made)
    assert len(week(building(1000, 4), FIRST + 2).stays.room) != len(again.stays.room)
    assert len(weeks[3].stays.room) != len(again.stays.room)


def test_working_hours_are_local():
    """In another time zone the meetings are at the same wall-clock times, summer or winter."""
    here, there = building(50, 1), building(50, 1, "America/New_York")
    for number in (2820, FIRST):  # standard time and daylight saving time
        wall = pd.DatetimeIndex(week(here, number).meetings.start.astype("M8[s]"))
        local = pd.DatetimeIndex(week(there, number).meetings.start.astype("M8[s]"), tz="UTC")
        assert (local.tz_convert("America/New_York").tz_localize(None) == wall).all()
    sunday_evening = pd.Timestamp("2024-03-25 03:00Z").timestamp()
    assert week_of(here, sunday_evening) == FIRST == week_of(there, sunday_evening) + 1


def test_topics_and_names():
    """A thousand topics differ and fit the service; a room's people have names of their own."""
    source = names.topics()
    topics = [next(source) for _ in range(1000)]
    assert len(set(topics)) == 1000
    assert max(len(topic.encode()) for topic in topics) < 60
    assert any(not topic.isascii() for topic in topics)
    assert len({names.person(7, 600 + seat) for seat in range(120)}) == 120
