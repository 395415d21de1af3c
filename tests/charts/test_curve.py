"""The curve of one room: steps where it was read, gaps where not, the cap as a dashed line."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import StepPatch

from confkit.charts import occupancy_curve
from confkit.charts.curve import readable, track
from confkit.charts.figure import BLUE, ORANGE
from confkit.occupancy.times import time_zone

from .looking import hovers, legible, samples, words


def curve(rows, room_id="101", tz="UTC", **settings):
    return occupancy_curve(rows, room_id, tz=tz, **settings)


def values(chart, colour):
    """How high the steps of a colour are, in pixels."""
    steps = [step for step in chart.findobj(StepPatch) if to_hex(step.get_edgecolor()) == colour]
    return [round(208 - high, 1) for step in steps for high in step.get_data()[0] if high == high]


def test_samples_are_steps():
    """A value holds until the next sample, a failed one is a gap and no zero; those that are alike
    are one step. What the room was called, when and how full is said of each."""
    chart = curve(samples((2, 5), (2, 5), None, (4, 5), (5, 5), (4, 8), (1, 0)))
    assert hovers(chart) == [
        "101, Mon 2 Mar 2026, 08:00 to 08:02: 2 of 5",
        "101, Mon 2 Mar 2026, 08:02 to 08:03: not read",
        "101, Mon 2 Mar 2026, 08:03 to 08:04: 4 of 5, nearly full",
        "101, Mon 2 Mar 2026, 08:04 to 08:05: 5 of 5, full, at the cap for 1 min",
        "101, Mon 2 Mar 2026, 08:05 to 08:06: 4 of 8",
        "101, Mon 2 Mar 2026, 08:06 to 08:07: 1, no cap",
    ]
    two, four, again, one = values(chart, BLUE)
    assert (two / one, four / one, again) == (pytest.approx(2, 0.01), pytest.approx(4, 0.01), four)
    assert values(chart, ORANGE) == [pytest.approx(5 * one, 0.01)]
    assert {"users", "full", "08:02", "not read"} <= set(words(chart))


@pytest.mark.parametrize(
    ("every", "dropped", "gaps"),
    [
        ([60] * 9, [4, 5, 6], ["08:04 to 08:07"]),
        ([15] * 20 + [5] * 20, [], []),
        ([5] * 20 + [15] * 20, [], []),
        ([60] * 20 + [5] * 20, [30, 31], ["08:20 to 08:21"]),
        ([60], [], []),
        ([], [], []),
    ],
    ids=["three missing", "shorter interval", "longer interval", "a gap after that", "two", "one"],
)
def test_missing_sweeps_are_a_gap_that_is_not_bridged(every, dropped, gaps):
    """The value before is not carried on; an interval that was changed is no gap."""
    times = pd.Timestamp("2026-03-02T08:00Z") + pd.to_timedelta(np.cumsum([0, *every]), unit="s")
    rows = samples(*[(n % 5, 9) for n in range(len(times))]).assign(time=times)
    unread = [text for text in hovers(curve(rows.drop(index=dropped))) if "not read" in text]
    assert [text.split(", ")[2].removesuffix(": not read") for text in unread] == gaps


@pytest.mark.parametrize(
    ("rows", "finding", "caps"),
    [
        (samples((2, None), (3, None)), "peak 3 users, no cap", []),
        (samples((2, 0), (1, 0)), "peak 2 users, no cap", []),
        (samples((1, None)).assign(ret=700), "peak 1 user, cap not read", []),
        (samples((2, 500), (4, 500)), "peak 4 of 500 users", []),  # it would press them flat
        (samples((1, 2), room_id="102"), "no samples", []),
        (samples(None, None, None), "never read", []),
        (samples((0, None), (0, 500)), "empty in all samples", []),
        (samples((2, 3)).astype({"room_id": int}), "peak 2 of 3 users", ["3"]),
        (samples((2, 3)).astype(str), "peak 2 of 3 users", ["3"]),
        (samples((9, 3)), "peak 9 of 3 users, at the cap for 1 min", ["3"]),
        (samples(*[(4, 5)] * 9, *[(4, 6)] * 9), "peak 4 of 5 users", ["5", "6"]),
        (samples(*[(4, 5)] * 99, (4, 6)), "peak 4 of 5 users", ["5", "6"]),
        (samples((4, 5), *[(4, 6)] * 99), "peak 4 of 5 users", ["6"]),
        (
            samples(*[(3, None)] * 78, *[(3, 5)] * 17, *[(4, 6)] * 5),
            "peak 4 of 6 users",
            ["6"],
        ),
        (samples(*[(4, n) for n in range(5, 9)] * 9), "peak 4 of 5 users", ["8"]),
        (samples((9e4, 2e5), (2e4, 2e5)), "peak 90,000 of 200,000 users", ["200,000"]),
    ],
)
def test_the_cap_is_written_at_its_line_and_what_is_unknown_is_said(rows, finding, caps):
    """A cap that is none, 0, unread or far above has no line, and the title says which; of one that
    changes each is written where there is space, and the last. Nothing sampled, nothing read and
    nobody there are three different findings."""
    chart = curve(rows, 101)
    legible(chart)
    assert words(chart)[0] == chart.summary().splitlines()[0] == f"101: {finding}"
    lines = [word.partition("attendee_max ")[2] for word in words(chart)[1:]]
    assert list(filter(None, lines)) == caps


def test_title_and_summary_say_what_when_and_where():
    """The topic, the service, the room's ID, the span and its zone, the peak, what was not read."""
    rows = samples(*[(2, 5)] * 30, None, *[(5, 5)] * 29, start="2026-03-02T23:30")
    rows.attrs["service"] = "SANDBOX"
    chart = curve(rows, 101, topic="Board room")
    assert chart.summary().splitlines() == [
        "Board room: peak 5 of 5 users, at the cap for 29 min",
        "SANDBOX",
        "room 101",
        "2 Mar 2026 to 3 Mar 2026 (UTC)",
        "peak on Tue 3 Mar 2026, 00:01",
        "not read for 1 min",
    ]
    assert words(chart)[1] == " · ".join(chart.summary().splitlines()[1:])


@pytest.mark.parametrize("width", [None, 480])
@pytest.mark.parametrize("count", [0, 1, 12, 1500, 14 * 1440, 40_000])
def test_a_curve_is_legible_however_many_samples(count, width):
    """No text lies on another or leaves the picture, and no line has more steps than it shows."""
    steps = [
        None if place % 97 == 5 else (place % 23, 20 + 5 * (place > count / 2))
        for place in range(count)
    ]
    chart = curve(samples(*steps, start="2026-03-25"), topic="W" * 60, width=width)
    legible(chart)
    assert f"width: {width or 720}px" in chart.html()
    assert all(len(step.get_data()[0]) <= 300 for step in chart.findobj(StepPatch))


@pytest.mark.parametrize(
    ("days", "each", "count", "tick"),
    [
        (0.25, "5 minutes", 72, "03:00"),
        (2, "15 minutes", 192, "Tue 3 Mar"),
        (7, "hour", 168, "Tue 3 Mar"),
        (28, "day", 28, "Mon 9 Mar"),
        (400, "week", 58, "Jul"),
    ],
)
def test_many_samples_are_taken_together_and_their_peaks_are_kept(days, each, count, tick):
    """Of weeks of minutes each step is a day's peak; one minute at the cap is still marked."""
    steps = [(1 + n % 2, 9) for n in range(int(days * 1440))]
    steps[123] = (9, 9)
    chart = curve(samples(*steps, start="2026-03-02"))
    assert {f"peak of each {each}", "full at times", "attendee_max 9", tick} <= set(words(chart))
    [text] = [text for text in hovers(chart) if "full" in text]
    assert text.endswith("peak 9 of 9, full, at the cap for 1 min")
    assert len(hovers(chart)) == count
    assert words(chart)[0] == "101: peak 9 of 9 users, at the cap for 1 min"


def test_samples_need_no_order_and_doubles_count_once():
    """Rows of other rooms are left alone; of two samples of one time the last counts."""
    rows = samples((1, 5), (2, 5), (3, 5))
    other = samples((9, 9), room_id="102")
    double = pd.concat([rows, rows.assign(users=rows["users"] + 1), other])
    steps = track(double.iloc[[5, 0, 1, 6, 2, 3, 4]], "101", time_zone("UTC")[0])
    assert steps["users"].tolist()[:-1] == [2, 3, 3]


@pytest.mark.parametrize(("start", "hours"), [("2026-03-28T23:00", 23), ("2026-10-24T22:00", 25)])
def test_a_day_of_a_changed_clock_is_one_day(start, hours):
    """The day is that of the clock on the wall, and nothing of it is lost."""
    steps = [(n % 5, 9) for n in range((hours + 24 * 13) * 60)]
    rows = samples(*steps, start=start)
    steps, each = readable(track(rows, "101", time_zone("Europe/Berlin")[0]))
    assert (each, len(steps)) == ("day", 15)
    assert {time.hour for time in steps.index} == {0}
    assert (steps.index[1] - steps.index[0]).total_seconds() == hours * 3600
