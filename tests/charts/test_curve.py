"""The curve of one room: steps where it was read, gaps where not, the cap as a dashed line."""

import numpy as np
import pandas as pd
import pytest

from confkit.charts import occupancy_curve

from .looking import hovers, samples, words


def curve(rows, tz="UTC", **settings):
    return occupancy_curve(rows, 101, tz=tz, **settings)


def test_samples_are_steps():
    """A value holds until the next sample, and a failed one is a gap and no zero."""
    chart = curve(samples((2, 5), (2, 5), None, (4, 5), (5, 5), (4, 8), (1, 0)))
    assert hovers(chart) == [
        "101, Mon 2 Mar 2026, 08:00 to 08:02: 2 of 5",
        "101, Mon 2 Mar 2026, 08:02 to 08:03: not read",
        "101, Mon 2 Mar 2026, 08:03 to 08:04: 4 of 5, nearly full",
        "101, Mon 2 Mar 2026, 08:04 to 08:05: 5 of 5, full, at the cap for 1 min",
        "101, Mon 2 Mar 2026, 08:05 to 08:06: 4 of 8",
        "101, Mon 2 Mar 2026, 08:06 to 08:07: 1, no cap",
    ]
    assert {"full", "not read", "08:02"} <= set(words(chart))
    assert chart.html().count('opacity="0.15"') == 2  # the gap, and its legend


@pytest.mark.parametrize(
    ("every", "dropped", "gaps"),
    [
        ([60] * 9, [4, 5, 6], ["08:04 to 08:07"]),
        ([15] * 20 + [5] * 20, [], []),  # an interval that was changed is no gap
        ([7200] * 120, [], []),  # nor is a long one, where peaks are shown
        ([5, 55] * 10, [], []),  # nor are two recorders
    ],
)
def test_missing_sweeps_are_a_gap_that_is_not_bridged(every, dropped, gaps):
    times = pd.Timestamp("2026-03-02T08:00Z") + pd.to_timedelta(np.cumsum([0, *every]), unit="s")
    rows = samples(*[(n % 5, 9) for n in range(len(times))]).assign(time=times)
    unread = [text for text in hovers(curve(rows.drop(index=dropped))) if "not read" in text]
    assert [text.split(", ")[2].removesuffix(": not read") for text in unread] == gaps


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        (samples((1, None)).assign(ret=304), "peak 1 user, no cap"),  # of the devices alone
        (samples((1, 2), room_id="102"), "no samples"),
        (samples(None, None, None), "never read"),
        (samples((0, None), (0, 500)), "empty in all samples"),
    ],
)
def test_the_finding_is_written(rows, finding):
    """Nothing sampled, nothing read and nobody there are three findings."""
    chart = curve(rows)
    assert words(chart)[0] == chart.summary().splitlines()[0] == f"101: {finding}"


def test_times_as_text_are_refused():
    with pytest.raises(ValueError, match="utc=True"):
        curve(samples((2, 3)).astype({"time": str}))


def test_many_samples_are_shown_by_their_peaks():
    steps = [(1 + n % 2, 9) for n in range(2880)]
    steps[123] = (9, 9)
    chart = curve(samples(*steps, start="2026-03-02"), topic="W" * 60, width=480)
    expected = {"peak of each 15 minutes", "full at times", "attendee_max 9", "Tue 3 Mar"}
    assert expected <= set(words(chart))
    [text] = [text for text in hovers(chart) if "full" in text]
    assert text.endswith("peak 9 of 9, full, at the cap for 1 min")
    assert len(hovers(chart)) == 192
    curve(samples(*steps, start="2027-09-05T13:00"), "America/Santiago")  # no midnight


def test_samples_need_no_order_and_duplicates_count_once():
    """Of two samples of one time the last counts; other rooms do not."""
    rows = samples((1, 5), (2, 5), (3, 5))
    double = pd.concat([rows[::-1], rows.assign(users=4), samples((9, 9), room_id="102")])
    assert [text.rpartition(": ")[2] for text in hovers(curve(double))] == ["4 of 5, nearly full"]
