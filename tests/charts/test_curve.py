"""The curve of one room: steps where it was read, gaps where not, the cap as a dashed line."""

import numpy as np
import pandas as pd
import pytest

from confkit.charts import occupancy_curve
from confkit.charts.curve import readable, track
from confkit.occupancy.zones import zone

from .looking import drawn, head, legible, samples, shown


def curve(given, room_id="101", **settings):
    return drawn(occupancy_curve(given, room_id, tz="UTC", **settings))


def line(figure, label):
    """The points of a line as (minutes since its start, value), None where it is broken."""
    (axes,) = figure.axes
    (found,) = [line for line in axes.lines if line.get_label() == label]
    times, values = (np.asarray(data, dtype=float) for data in found.get_data())
    return [
        (round((time - times[0]) * 1440), None if np.isnan(value) else value)
        for time, value in zip(times, values, strict=True)
    ]


def gaps(figure):
    """From which minute to which the picture says that nothing was read."""
    (axes,) = figure.axes
    start = axes.get_xlim()[0]
    return [
        (
            round((path.vertices[:, 0].min() - start) * 1440),
            round((path.vertices[:, 0].max() - start) * 1440),
        )
        for found in axes.collections
        if found.get_label() == "not read"
        for path in found.get_paths()
    ]


def test_samples_are_steps():
    """A value holds until the next sample; nothing is drawn slanting between two."""
    assert line(curve(samples((2, 0, 5), (4, 0, 5))), "users") == [
        (0, 2),
        (1, 2),
        (1, 2),
        (1, 4),
        (2, 4),
        (2, 4),
    ]


def test_a_failed_sample_is_a_gap_and_no_zero():
    """Where a sample failed the line is broken and the place is marked as not read."""
    figure = curve(samples((2, 0, 5), None, (4, 0, 5)))
    assert [value for _, value in line(figure, "users")] == [2, 2, 2, None, None, None, 4, 4, 4]
    assert gaps(figure) == [(1, 2)]
    assert "not read" in shown(figure)


def test_missing_sweeps_are_a_gap_that_is_not_bridged():
    """Where sweeps are missing the value before is not carried on, nor a line drawn across."""
    given = samples(*[(2, 0, 5)] * 10).drop(index=[4, 5, 6])
    figure = curve(given)
    assert (4, None) in line(figure, "users")
    assert gaps(figure) == [(4, 7)]


def test_nothing_is_marked_where_all_was_read():
    """Without a gap the picture has no mark for one."""
    assert gaps(curve(samples((2, 0, 5), (3, 0, 5)))) == []


def test_the_cap_is_dashed_and_steps_where_it_changes():
    """The cap of each time is drawn, across a failed sample too; its value stands beside it."""
    figure = curve(samples((4, 0, 5), None, (4, 0, 8)))
    assert line(figure, "attendee_max") == [
        (0, 5),
        (1, 5),
        (1, 5),
        (1, 5),
        (2, 5),
        (2, 5),
        (2, 8),
        (3, 8),
        (3, 8),
    ]
    (cap,) = [line for line in figure.axes[0].lines if line.get_label() == "attendee_max"]
    assert cap.is_dashed()
    assert "cap 8" in shown(figure)


@pytest.mark.parametrize("cap", [None, 0])
def test_without_a_cap_there_is_no_line_for_one(cap):
    """A missing cap or one of 0 is none: no line, and the room was never full."""
    figure = curve(samples((2, 0, cap), (3, 0, cap)))
    assert "attendee_max" not in shown(figure)
    assert "at the cap" not in shown(figure)
    assert head(figure)[0] == "101: peak 3 users, no cap"


def test_a_cap_far_above_is_told_and_does_not_press_the_curve_flat():
    """A cap of 500 over four users stands as a text."""
    figure = curve(samples((2, 0, 500), (4, 0, 500)))
    assert figure.axes[0].get_ylim()[1] < 10
    assert "cap 500 ↑" in shown(figure)


def test_where_it_was_full_is_marked_by_more_than_colour():
    """Users at or over the cap are marked with a triangle and a pattern, and named."""
    figure = curve(samples((2, 0, 5), (4, 1, 5), (6, 0, 5), (2, 0, 5), (5, 0, 5)))
    (axes,) = figure.axes
    (marks,) = [line for line in axes.lines if line.get_label() == "at the cap"]
    assert list(marks.get_ydata()) == [5, 5]
    assert marks.get_marker() != "None"
    assert any(found.get_hatch() == "xx" for found in axes.collections)
    assert head(figure)[0] == "101: peak 6 of 5 users, at the cap for 3 min"


def test_devices_are_told_from_people():
    """Where devices are in the room, people and devices are areas of their own."""
    assert {"people", "external devices"} <= set(shown(curve(samples((2, 1, 5), (3, 1, 5)))))
    assert "people" not in shown(curve(samples((2, 0, 5), (3, 0, 5))))


def test_title_and_line_below_say_what_when_and_where():
    """The topic, the peak, the service, the room's ID, the span and its zone."""
    given = samples((2, 0, 5), (4, 0, 5))
    given.attrs["service"] = "SANDBOX"
    figure = occupancy_curve(given, 101, topic="Board room", tz="Europe/Berlin")
    assert head(figure) == [
        "Board room: peak 4 of 5 users",
        "SANDBOX · room 101 · Mon 2 Mar 2026, 09:00 to 09:02 (Europe/Berlin)",
    ]


@pytest.mark.parametrize("count", [0, 1, 50, 1501, 40_000])
def test_a_curve_is_legible_however_many_samples(count):
    """No text lies on another or leaves the picture, and no line has more points than it shows."""
    given = [
        None if place % 97 == 5 else (place % 23, place % 2, 20 + 5 * (place > count / 2))
        for place in range(count)
    ]
    figure = occupancy_curve(samples(*given), "101", topic="設計レビュー " * 20, tz="UTC")
    legible(figure)
    assert all(len(line.get_xdata()) <= 3 * 1500 for axes in figure.axes for line in axes.lines)


def test_many_samples_are_taken_together_and_their_peaks_are_kept():
    """Of a month of minutes each step is an hour's peak; one minute at the cap is still marked."""
    given = [(1, 0, 9)] * 40_000
    given[12_345] = (9, 0, 9)
    figure = curve(samples(*given))
    assert "users, peak of each hour" in shown(figure)
    (axes,) = figure.axes
    (marks,) = [line for line in axes.lines if line.get_label() == "at the cap"]
    assert list(marks.get_ydata()) == [9]
    assert head(figure)[0] == "101: peak 9 of 9 users, at the cap for 1 min"


def test_no_samples_are_said_in_words():
    """A room of which the samples hold nothing gets a picture that says so."""
    figure = curve(samples((1, 0, 2)), room_id="102")
    assert head(figure)[0] == "102: no samples"
    assert "The samples hold no row of this room." in shown(figure)


def test_a_room_that_was_never_read_has_no_line():
    """Nothing but failures: the whole span is marked, and the title says it."""
    figure = curve(samples(None, None, None))
    assert head(figure)[0] == "101: no sample could be read"
    assert gaps(figure) == [(0, 3)]


def test_only_the_room_asked_for_is_drawn():
    """Other rooms' samples of the same sweeps are left alone; the ID may be a number."""
    both = pd.concat([samples((2, 0, 5)), samples((9, 0, 9), room_id="102")])
    assert head(curve(both, room_id=101))[0] == "101: peak 2 of 5 users"


def test_samples_need_no_order_and_doubles_count_once():
    """Rows in any order give the same steps; of two of one time the last counts."""
    given = samples((1, 0, 5), (2, 0, 5), (3, 0, 5))
    double = pd.concat([given, given.assign(users=given["users"] + 1)]).iloc[[5, 0, 1, 2, 3, 4]]
    found = track(double, "101", zone("UTC")[0]).steps
    assert list(found.users) == [2, 3, 3]
    assert found.index.is_monotonic_increasing


@pytest.mark.parametrize(("start", "hours"), [("2026-03-28T23:00", 23), ("2026-10-24T22:00", 25)])
def test_a_day_of_a_changed_clock_is_one_day(start, hours):
    """On both days on which clocks change, steps of a day begin at local midnight."""
    here, _ = zone("Europe/Berlin")
    minutes = hours * 60
    given = samples(*[(3, 0, 9)] * minutes, *[(5, 0, 9)] * 1440, start=start)
    figure = occupancy_curve(given, "101", tz="Europe/Berlin")
    assert [line.partition(": ")[2] for line in figure.summary().splitlines()[-2:]] == [
        "peak 5",
        "peak 3",
    ]
    found = readable(track(given, "101", here))
    assert found.each == "5 minutes"
    assert (found.steps["end"].iloc[:-1] == found.steps.index[1:]).all()
    assert found.steps["end"].iloc[-1] - found.steps.index[0] == pd.Timedelta(minutes + 1440, "min")


@pytest.mark.parametrize("tz", ["Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu"])
def test_days_are_those_of_the_clock_on_the_wall(tz):
    """Of years a step begins at local midnight, or where the clock skips it an hour later."""
    hours = 900 * 24
    given = samples(*[(3, 0, 9)] * hours, start="2016-03-02T03:00", every=3600)
    found = readable(track(given, "101", zone(tz)[0]))
    assert found.each == "day"
    later = found.steps.index[1:]
    assert ((later.hour == 0) | (later.hour == 1)).all()
    assert (later.hour == 1).sum() <= 3
    assert len(set(later.date)) == len(later)
    assert found.steps["full"].sum() == pd.Timedelta(0)


def test_a_year_of_minutes_is_a_step_a_day():
    """Half a million samples come to 365 steps, none of which loses its peak."""
    count = 365 * 1440
    given = pd.DataFrame(
        {
            "time": pd.date_range("2026-01-01", periods=count, freq="min", tz="UTC"),
            "room_id": pd.array(["101"] * count, dtype="string"),
            "users": pd.array(np.arange(count) // 1440, dtype="Int64"),
        }
    )
    found = readable(track(given, "101", zone("UTC")[0]))
    assert found.each == "day"
    assert list(found.steps["users"]) == list(range(365))
    assert set(found.steps["end"] - found.steps.index) == {pd.Timedelta(days=1)}


def test_the_summary_tells_the_same_as_text():
    """The finding, what was read, and the days on which the room was fullest."""
    given = samples(*[(2, 0, 5)] * 30, None, *[(5, 0, 5)] * 29, start="2026-03-02T23:30")
    figure = occupancy_curve(given, "101", topic="Board room", tz="UTC")
    assert figure.summary() == "\n".join(
        [
            "Board room: peak 5 of 5 users, at the cap for 29 min",
            "from Mon 2 Mar 2026, 23:30 to Tue 3 Mar 2026, 00:30 (UTC)",
            "samples: 60, of which could not be read: 1",
            "not known for 1 min",
            "while a room is at its cap, how many wanted to come in is not known",
            "the fullest days:",
            "  3 Mar 2026: peak 5, at the cap for 29 min",
            "  2 Mar 2026: peak 2",
        ]
    )
    assert occupancy_curve(given, "7").summary() == "7: no samples"


def test_a_zone_that_is_none_is_refused():
    """A time zone that does not exist is reported with one that does."""
    with pytest.raises(ValueError, match="Europe/Berlin"):
        occupancy_curve(samples((1, 0, 2)), "101", tz="Mars/Olympus")


def test_a_room_that_was_always_empty_is_said_to_be_so():
    """Nobody and no device in any sample: no peak is named."""
    assert head(curve(samples((0, 0, 5), (0, 0, 5))))[0] == "101: empty whenever it was read"
