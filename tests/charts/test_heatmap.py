"""The heatmap of a week: means of people at once, by local hour, and hatched where not known."""

import numpy as np
import pandas as pd
import pytest

from confkit.charts import occupancy_heatmap
from confkit.charts.heatmap import written
from confkit.charts.looks import WHITE

from .looking import drawn, head, legible, only, samples


def cells(given, tz="UTC", rooms=None):
    """The number that is drawn for each weekday and hour, nan where none is."""
    axes = only(occupancy_heatmap(given, tz=tz, rooms=rooms))
    assert axes.patch.get_hatch()  # what has no cell shows the hatching behind
    (mesh,) = [found for found in axes.collections if found.get_array() is not None]
    found = mesh.get_array().reshape(7, 24).filled(np.nan)
    assert len(axes.texts) == (~np.isnan(found)).sum()
    return found


@pytest.fixture(scope="module")
def month():
    """Two weeks from Monday, 2 March: ten people in each of three rooms at work, else nobody."""
    times = pd.date_range("2026-03-02", "2026-03-15 23:59", freq="30min", tz="UTC")
    there = [(10 if 8 <= t.hour < 18 and t.day_of_week < 5 else 0, 1, 20) for t in times]
    one = samples(*there, start="2026-03-02", every=1800)
    return pd.concat([one.assign(room_id=room) for room in "012"], ignore_index=True)


def test_a_cell_is_the_mean_of_all_rooms_together(month):
    """Ten people in each of three rooms are thirty at once; devices are no people. One room or
    several may be chosen, by ID or number."""
    found = cells(month)
    assert (found[:5, 8:18] == 30).all()
    assert found.sum() == 5 * 10 * 30
    for rooms, people in (("1", 10), (1, 10), (["0", "2"], 20)):
        assert cells(month, rooms=rooms)[0, 8] == people


def test_hours_are_local_and_the_zone_is_named():
    """The same samples seen in Kathmandu are five and three quarter hours later."""
    given = samples((7, 0, 9), start="2026-03-02T20:00")
    assert cells(given, "Asia/Kathmandu")[1, 1] == 7
    assert head(occupancy_heatmap(given, tz="Asia/Kathmandu")) == [
        "Busiest: Tuesday 01:00, 7 people on average",
        "1 room · Tue 3 Mar 2026, 01:45 to 01:45 (Asia/Kathmandu)",
    ]


@pytest.mark.parametrize("start", ["2026-03-23", "2026-10-19"])
def test_an_hour_that_the_clock_skips_or_repeats_is_a_mean_too(start):
    """In the week of a changed clock every hour that was sampled has the mean of its samples."""
    found = cells(samples(*[(4, 0, 9)] * 7 * 48, start=start, every=1800), "Europe/Berlin")
    known = found[~np.isnan(found)]
    assert set(known) == {4.0}
    assert len(known) >= 167


def test_a_failed_sample_takes_nobody_away():
    """Where one of two rooms failed at times, it counts with its mean of that hour, not as zero. A
    room sampled in the second of two weeks counts half in the mean of both."""
    one = samples((10, 0, 20), None, (10, 0, 20), None)
    other = samples(*[(10, 0, 20)] * 4, room_id="102")
    assert cells(pd.concat([one, other]))[0, 8] == 20
    first, second = (samples((10, 0, 20), start=f"2026-03-{day:02}T08:00") for day in (2, 9))
    new = samples((6, 0, 20), start="2026-03-09T08:00", room_id="102")
    assert cells(pd.concat([first, second, new]))[0, 8] == 13


def test_an_hour_that_was_mostly_not_read_is_not_known(month):
    """With more failures than samples there is no number, and the cell is hatched, unlike a 0; the
    summary has a line for each weekday."""
    given = pd.concat(
        [
            samples((5, 0, 9), None, None, start="2026-03-02T08:00"),
            samples((0, 0, 9), start="2026-03-02T09:00"),
            samples((3, 0, 9), None, start="2026-03-02T10:00"),
        ]
    )
    found = cells(given)
    assert list(found[0, 9:11]) == [0, 3]
    assert np.isnan(found).sum() == 7 * 24 - 2
    assert occupancy_heatmap(given, tz="UTC").summary().splitlines() == [
        "Busiest: Monday 10:00, 3 people on average",
        "people at once in 1 room, by hour in UTC",
        "Monday: 10:00 3; not known: 00:00 to 09:00, 11:00 to 24:00",
        *(f"{day}: not known" for day in ("Tuesday", "Wednesday", "Thursday", "Friday")),
        *(f"{day}: not known" for day in ("Saturday", "Sunday")),
    ]
    assert "Sunday: nobody" in occupancy_heatmap(month, tz="UTC").summary()


def test_the_busiest_hour_is_bold_and_named(month):
    """The finding is the title; dark cells have white numbers."""
    given = pd.concat([month, samples((9, 0, 20), start="2026-03-04T11:00", room_id="new")])
    figure = drawn(occupancy_heatmap(given, tz="UTC", service="SANDBOX"))
    assert head(figure) == [
        "Busiest: Wednesday 11:00, 32 people on average",
        "SANDBOX · 4 rooms · 2 Mar 2026 to 15 Mar 2026 (UTC)",
    ]
    texts = figure.axes[0].texts
    (bold,) = [text for text in texts if text.get_fontweight() == "bold"]
    assert bold.get_position() == (11, 2)
    assert {text.get_color() for text in texts if text.get_text() == "30"} == {WHITE}


def test_a_heatmap_is_legible(month):
    """With nothing, an hour or weeks no text lies on another or leaves the picture."""
    for given in (samples(), samples((3, 0, 9)), month):
        zone = "America/Argentina/ComodRivadavia"
        legible(occupancy_heatmap(given, tz=zone, service="SANDBOX"))


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (samples(), "No samples"),
        (samples(None, None), "No hour could be read"),
        (samples((0, 1, 9)), "Nobody was there"),
        (samples((1, 0, 9)), "Busiest: Monday 08:00, 1 person on average"),
    ],
)
def test_a_finding_of_little_or_nothing(given, title):
    """Nothing sampled, nothing read and nobody there are three different findings."""
    assert head(drawn(occupancy_heatmap(given, tz="UTC")))[0] == title
    assert occupancy_heatmap(given, tz="UTC").summary().splitlines()[0] == title


def test_a_mean_is_written_with_as_many_digits_as_are_of_use():
    """A number fits into its cell, and somebody is never written as nobody."""
    means = [0, 0.04, 0.06, 7.0, 9.94, 9.96, 999.4, 999.6, 1240, 9994, 25_300]
    said = "0 <.1 0.1 7 9.9 10 999 1.0k 1.2k 10.0k 25k"
    assert " ".join(map(written, means)) == said
