"""The heatmap of a week: means of people at once, by local hour, and a ? where not known."""

import numpy as np
import pandas as pd
import pytest

from confkit.charts import occupancy_heatmap
from confkit.charts.heatmap import mean_week
from confkit.occupancy.times import time_zone

from .looking import hovers, samples, words


def cells(rows, tz="UTC"):
    """The mean of each weekday and hour, NaN where it is not known."""
    return mean_week(rows, time_zone(tz)[0])


def test_a_cell_is_the_mean_of_all_rooms_together():
    """Ten people in each of three rooms are thirty at once; an empty hour has no number."""
    times = pd.date_range("2026-03-02", "2026-03-15 23:59", freq="30min", tz="UTC")
    there = [(10 if 8 <= t.hour < 18 and t.day_of_week < 5 else 0, 20) for t in times]
    room = samples(*there, start="2026-03-02", every=1800)
    rows = pd.concat([room.assign(room_id=room_id) for room_id in "012"], ignore_index=True)
    week = cells(rows)
    assert (week[:5, 8:18] == 30).all()
    assert week.sum() == 5 * 10 * 30
    chart = occupancy_heatmap(rows.assign(users=99), tz="UTC")  # devices are no people
    assert [word for word in words(chart) if word in ("30", "0", "0.0", "?")] == ["30"] * 50
    assert hovers(chart)[18] == "Monday 18:00 to 19:00: nobody"
    assert chart.html().count("<rect") == 2 * 7 * 24  # a box and a tooltip for each hour


def test_hours_are_local_and_the_zone_is_named():
    chart = occupancy_heatmap(samples((7, 9), start="2026-03-02T20:00"), tz="Asia/Kathmandu")
    assert words(chart)[:2] == [
        "Busiest: Tuesday 01:00, 7.0 people on average",
        "1 room · Tue 3 Mar 2026, 01:45 to 01:45 (Asia/Kathmandu) · ?: not known",
    ]


@pytest.mark.parametrize("start", ["2026-03-23", "2026-10-19"])
def test_an_hour_that_the_clock_skips_or_repeats_is_a_mean_too(start):
    week = cells(samples(*[(4, 9)] * 7 * 48, start=start, every=1800), "Europe/Berlin")
    assert set(week[~np.isnan(week)]) == {4.0}
    assert np.isnan(week).sum() <= 1


TEN = (10, 20)


@pytest.mark.parametrize(
    ("rows", "mean"),
    [
        ([samples(TEN, None, TEN, None), samples(*[TEN] * 4, room_id="102")], 20),
        ([samples(None, None), samples(*[TEN] * 4, room_id="102")], 10),
        ([samples((5, 9), None, None)], np.nan),
        ([samples(TEN), *(samples(None, TEN, every=86_400, room_id=n) for n in "ab")], np.nan),
        # A second recorder that is two seconds later.
        ([samples(TEN), samples(TEN, room_id="102", start="2026-03-02T08:00:02")], 20),
        # Rooms of two weeks, which are never added up, and count alike.
        ([samples(TEN, TEN), samples((4, 9), room_id="102", start="2026-03-09T08:00")], 7),
    ],
)
def test_a_failed_sample_counts_with_the_mean_of_its_room(rows, mean):
    """Never as zero; an hour that was mostly not read is not known."""
    week = cells(pd.concat(rows))
    assert np.array_equal(week[0, 8], mean, equal_nan=True)
    marks = words(occupancy_heatmap(pd.concat(rows), tz="UTC")).count("?")
    assert marks == np.isnan(week).sum() >= 7 * 24 - 1


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        (samples(), "No samples"),
        (samples(None, None), "Never read"),
        (samples((12_345, 9)), "Busiest: Monday 08:00, 12k people on average"),
    ],
)
def test_the_finding_of_a_week(rows, finding):
    chart = occupancy_heatmap(rows, tz="UTC")
    assert words(chart)[0] == chart.summary().splitlines()[0] == finding
