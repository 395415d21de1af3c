"""The curve of one room: steps where it was read, gaps where not, the cap as a dashed line."""

import numpy as np
import pandas as pd
import pytest

from confkit.charts import occupancy_curve
from confkit.charts.curve import readable, track
from confkit.occupancy.zones import zone

from .looking import head, legible, only, samples, shown


def curve(given, room_id="101", tz="UTC", **settings):
    return occupancy_curve(given, room_id, tz=tz, **settings)


def steps(figure, label):
    """The steps of this label as (minute of begin, of end, value), and their patch; those of which
    nothing is known are left out."""
    axes = only(figure)
    (found,) = [patch for patch in axes.patches if patch.get_label() == label]
    values, edges, _ = found.get_data()
    minutes = np.round((edges - axes.get_xlim()[0]) * 1440).astype(int)
    table = zip(minutes[:-1], minutes[1:], values, strict=True)
    return [step for step in table if not np.isnan(step[2])], found


def test_samples_are_steps():
    """A value holds until the next sample, also where a sample failed, which is a gap and no zero;
    the cap is dashed, steps where it changes, and holds across the gap. Where external devices are
    in the room people have an area of their own below the users."""
    figure = curve(samples((2, 0, 5), None, (3, 1, 5), (4, 0, 8)))
    assert steps(figure, "users")[0] == [(0, 1, 2), (2, 3, 4), (3, 4, 4)]
    assert steps(figure, "people")[0] == [(0, 1, 2), (2, 3, 3), (3, 4, 4)]
    assert steps(figure, "not read")[0] == [(1, 2, 1)]
    found, line = steps(figure, "attendee_max")
    assert found == [(0, 1, 5), (1, 2, 5), (2, 3, 5), (3, 4, 8)]
    assert line.get_linestyle() not in ("solid", "-")
    assert {"users", "people", "not read", "attendee_max"} <= set(shown(figure))
    assert {"people", "not read"}.isdisjoint(shown(curve(samples((2, 0, 5), (3, 0, 5)))))


def test_missing_sweeps_are_a_gap_that_is_not_bridged():
    """Where sweeps are missing the value before is not carried on, nor a line drawn across."""
    figure = curve(samples(*[(2, 0, 5)] * 10).drop(index=[4, 5, 6]))
    begins = [begin for begin, *_ in steps(figure, "users")[0]]
    assert begins == [0, 1, 2, 3, 7, 8, 9]
    assert steps(figure, "not read")[0] == [(4, 7, 1)]


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (samples((2, 0, None), (3, 0, None)), "101: peak 3 users, no cap"),
        (samples((2, 0, 0), (3, 0, 0)), "101: peak 3 users, no cap"),
        (samples((3, 0, None)).assign(ret=700), "101: peak 3 users, attendee_max not read"),
        (samples((2, 0, 500), (4, 0, 500)), "101: peak 4 of 500 users"),  # it would press them flat
        (samples((1, 0, 2), room_id="102"), "101: no samples"),
        (samples(None, None, None), "101: no sample could be read"),
        (samples((0, 0, None), (0, 0, 500)), "101: empty whenever it was read"),
    ],
)
def test_what_is_unknown_or_cannot_be_drawn_is_told(given, title):
    """A cap that is none, 0, unread or far above has no line, and the title says which; nothing
    sampled, nothing read and nobody there are three different findings."""
    figure = curve(given, 101)
    assert head(figure)[0] == figure.summary().splitlines()[0] == title
    assert {"attendee_max", "at the cap"}.isdisjoint(shown(figure))
    assert "users" not in shown(figure) or only(figure).get_ylim()[1] < 10


def test_where_it_was_full_is_marked_by_more_than_colour():
    """Users at or over the cap are marked with a triangle and a pattern, and named."""
    figure = curve(samples((2, 0, 5), (4, 1, 5), (6, 0, 5), (2, 0, 5), (5, 0, 5)))
    axes = only(figure)
    (marks,) = [found for found in axes.collections if found.get_label() == "at the cap"]
    assert list(marks.get_offsets()[:, 1]) == [5, 5]
    assert any(found.get_hatch() == "xx" for found in axes.patches)
    assert head(figure)[0] == "101: peak 6 of 5 users, at the cap for 3 min"


def test_title_and_line_below_say_what_when_and_where():
    """The topic, the peak, the service, the room's ID, the span and its zone; the summary adds what
    was read, and the days on which the room was fullest."""
    given = samples(*[(2, 0, 5)] * 30, None, *[(5, 0, 5)] * 29, start="2026-03-02T23:30")
    given.attrs["service"] = "SANDBOX"
    figure = curve(given, 101, topic="Board room")
    assert head(figure) == [
        "Board room: peak 5 of 5 users, at the cap for 29 min",
        "SANDBOX · room 101 · 2 Mar 2026 to 3 Mar 2026 (UTC) · peak on Tue 3 Mar 2026, 00:01",
    ]
    assert figure.summary().splitlines() == [
        "Board room: peak 5 of 5 users, at the cap for 29 min",
        "from Mon 2 Mar 2026, 23:30 to Tue 3 Mar 2026, 00:30 (UTC)",
        "samples: 60, of which could not be read: 1",
        "not known for 1 min",
        "while a room is at its cap, how many wanted to come in is not known",
        "the fullest days:",
        "  3 Mar 2026: peak 5, at the cap for 29 min",
        "  2 Mar 2026: peak 2",
    ]


@pytest.mark.parametrize("count", [0, 1, 1501, 40_000])
def test_a_curve_is_legible_however_many_samples(count):
    """No text lies on another or leaves the picture, and no line has more steps than it shows."""
    given = [
        None if place % 97 == 5 else (place % 23, place % 2, 20 + 5 * (place > count / 2))
        for place in range(count)
    ]
    figure = curve(samples(*given), topic="設計レビュー " * 20)
    legible(figure)
    assert all(
        len(patch.get_data().values) <= 1500 for axes in figure.axes for patch in axes.patches
    )


def test_many_samples_are_taken_together_and_their_peaks_are_kept():
    """Of a month of minutes each step is an hour's peak; one minute at the cap is still marked."""
    given = [(1, 0, 9)] * 40_000
    given[12_345] = (9, 0, 9)
    figure = curve(samples(*given))
    found = [value for *_, value in steps(figure, "users, peak of each hour")[0]]
    assert (max(found), len(found)) == (9, 667)
    (marks,) = [one for one in only(figure).collections if one.get_label() == "at the cap"]
    assert list(marks.get_offsets()[:, 1]) == [9]
    assert head(figure)[0] == "101: peak 9 of 9 users, at the cap for 1 min"


def test_samples_need_no_order_and_doubles_count_once():
    """Rows in any order give the same steps, and those of other rooms are left alone; of two of one
    time the last counts."""
    given = samples((1, 0, 5), (2, 0, 5), (3, 0, 5))
    other = samples((9, 0, 9), room_id="102")
    double = pd.concat([given, given.assign(users=given["users"] + 1), other])
    double = double.iloc[[5, 0, 1, 6, 2, 3, 4]]
    assert [value for *_, value in steps(curve(double), "users")[0]] == [2, 3, 3]


@pytest.mark.parametrize(("start", "hours"), [("2026-03-28T23:00", 23), ("2026-10-24T22:00", 25)])
def test_a_day_of_a_changed_clock_is_one_day(start, hours):
    """On both days on which clocks change the day is that of the clock on the wall, and nothing of
    it is lost."""
    minutes = hours * 60
    given = samples(*[(3, 0, 9)] * minutes, *[(5, 0, 9)] * 1440, start=start)
    figure = occupancy_curve(given, "101", tz="Europe/Berlin")
    days = figure.summary().splitlines()[-2:]
    assert [line.partition(": ")[2] for line in days] == ["peak 5", "peak 3"]
    found = steps(figure, "users, peak of each 5 minutes")[0]
    assert (found[0][0], found[-1][1]) == (0, minutes + 1440)
    assert len(found) == (minutes + 1440) / 5


@pytest.mark.parametrize("tz", ["America/Sao_Paulo", "Asia/Kathmandu"])
def test_days_are_those_of_the_clock_on_the_wall(tz):
    """Of years a step begins at local midnight, or where the clock skips it an hour later, and none
    loses its peak."""
    hours = 900 * 24
    given = samples(*[(3, 0, 9)] * hours, start="2016-03-02T03:00", every=3600)
    found, each = readable(track(given, "101", zone(tz)[0]))
    assert each == "day"
    begins = found.index[1:-1]
    assert set(begins.hour) <= {0, 1}
    assert (begins.hour == 1).sum() <= 3
    assert len(set(begins.date)) == len(begins)
    assert set(found["users"][:-1]) == {3}
