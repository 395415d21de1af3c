"""The capacity chart: today's caps against suggested ones, what needs a decision on top."""

import pandas as pd
import pytest

from confkit.charts import capacity_chart

from .looking import drawn, head, legible, rows, shown

TYPES = {
    **dict.fromkeys(("room_id", "topic"), "string"),
    **dict.fromkeys(("attendee_max", "suggested", "peak"), "Int64"),
    **dict.fromkeys(("minutes_full", "refused_minutes"), "Float64"),
    "reason": "string",
}


def report(*given, **attrs):
    """A report with a row for each (topic, cap, suggested, peak), and what further columns hold."""
    table = [
        (f"room-{place}", *row[:4], *(row[4:] or (0.0, 0.0, ""))) for place, row in enumerate(given)
    ]
    made = pd.DataFrame(table, columns=[*TYPES]).astype(TYPES)
    made.attrs = attrs
    return made


SOME = (
    ("Keep", 10, 10, 10, 0.0, 0.0, "10 users at the most of 10"),
    ("Lower", 50, 20, 20, 0.0, 0.0, "20 users at the most of 50"),
    ("Raise", 10, 14, 14, 30.0, 0.0, "at its cap"),
    ("Reached", 25, 25, 25, 135.0, 0.0, "at its cap for 135 minutes"),
    ("Open", None, 12, 12, 0.0, 0.0, "12 users at the most, without a cap"),
    ("Unused", 8, None, 0, 0.0, None, "never used"),
    ("Lost", 8, None, None, None, None, "could not be read"),
)


def marks(axes, place):
    """Where the marks of a row are, by their shape."""
    return {
        line.get_marker(): size
        for line in axes.lines
        for size, at in line.get_xydata()
        if at == place
    }


def test_rooms_that_need_a_decision_are_on_top():
    """Raises first, then rooms that reached their cap, then the others; with numbers and words."""
    (axes,) = drawn(chart := capacity_chart(report(*SOME))).axes
    assert rows(axes) == ["Raise", "Reached", "Lower", "Open", "Keep", "Unused", "Lost"]
    words = {
        "10 → 14",
        "raise by 4",
        "25",
        "full for 2 h 15 min",
        "50 → 20",
        "lower by 30",
        "none → 12",
        "set a cap",
        "keep",
        "never used",
        "not read",
    }
    assert words <= set(shown(axes))
    assert head(chart)[0] == (
        "Caps of 7 rooms: 1 to raise, 1 reached, 1 to lower, 1 to set, 1 to keep, 1 never used, "
        "1 not read"
    )


def test_today_and_the_suggestion_are_marks_of_their_own_shape():
    """A ring is today's cap; the arrow points to where it should go."""
    (axes,) = drawn(capacity_chart(report(*SOME))).axes
    assert marks(axes, 0) == {"o": 10, ">": 14}
    assert marks(axes, 1) == {"o": 25, "s": 25}
    assert marks(axes, 2) == {"o": 50, "<": 20}
    assert marks(axes, 3) == {"D": 12}
    assert marks(axes, 5) == {"o": 8}


def test_a_room_that_reached_its_cap_is_not_simply_lowered():
    """Full under a smaller cap of then, its demand is not known: it stands among the reached."""
    chart = capacity_chart(report(("Grown", 25, 10, 10, 60.0, 0.0, "")))
    assert head(chart)[0] == "Caps of 1 room: 1 reached"


def test_a_peak_above_the_suggestion_is_drawn():
    """With a quantile the peak is another number: it has a mark, and what was refused is
    reported."""
    given = report(("Hall", 100, 20, 40, 0.0, 300.0, "20 or fewer"), quantile=0.99)
    (axes,) = drawn(chart := capacity_chart(given)).axes
    assert marks(axes, 0) == {"|": 40, "o": 100, "<": 20}
    assert head(chart)[1] == (
        "caps together 100 today, 20 as suggested · 99 % of use fits, 300 user-minutes do not; "
        "nothing is promised"
    )
    assert "300 user-minutes refused" in chart.summary()


@pytest.mark.parametrize("count", [0, 1, 12, 30, 31, 800, 2000])
def test_a_chart_is_legible_and_bounded_however_many_rooms(count):
    """No text lies on another or leaves the picture, which is never higher than 1,400 pixels."""
    given = []
    for place in range(count):
        topic, *rest = SOME[place % len(SOME)]
        given.append((f"{topic} for the whole of the sales department {place}", *rest))
    totals = {
        "since": "2026-03-01T00:00:00+01:00",
        "until": "2026-03-31T23:59:00+02:00",
        "people_peak": 132,
        "people_peak_at": "2026-03-03T10:05:00+01:00",
    }
    chart = capacity_chart(
        report(*given, service="SANDBOX", timezone="Europe/Berlin", totals=totals)
    )
    legible(chart)
    assert chart.get_size_inches()[1] * 110 < 1400
    assert head(chart)[1].startswith("SANDBOX · 1 Mar 2026 to 31 Mar 2026 (Europe/Berlin)")
    assert chart.texts[-1].get_text() == (
        "In all rooms at once: at least 132 people, Tue 3 Mar 2026, 10:05."
    )


def test_a_part_of_a_report_does_not_tell_of_all_rooms():
    """Of a building's rows nobody has added up who was there at once: nothing is said of it."""
    totals = {"people_peak": 132, "people_peak_at": "2026-03-03T10:05:00+01:00"}
    given = report(*SOME, totals={"rooms": len(SOME), **totals})
    assert capacity_chart(given).texts[-1].get_text().startswith("In all rooms at once")
    part = capacity_chart(given[given["attendee_max"] > 10])
    assert not [text for text in part.texts if "In all rooms" in text.get_text()]


def test_of_many_rooms_all_are_counted():
    """Of 700 rooms 20 have a row, and the columns above add up to 700."""
    upper, lower = drawn(capacity_chart(report(*SOME * 100))).axes
    assert len(rows(lower)) == 20
    assert [int(text.get_text()) for text in upper.texts] == [100] * 7


def test_small_rooms_can_be_read_beside_large_ones():
    """Caps from 4 to 1,000 are on a scale of multiples, and the picture says so."""
    (axes,) = drawn(capacity_chart(report(("a", 1000, 4, 4), ("b", 8, 5, 5)))).axes
    assert axes.get_xscale() == "log"
    assert "users, logarithmic scale" in shown(axes)
    (axes,) = drawn(capacity_chart(report(("a", 10, 4, 4)))).axes
    assert axes.get_xscale() == "linear"
    assert axes.get_xlim()[0] == 0


def test_a_report_of_the_least_columns_will_do():
    """Room, cap and suggestion are enough, of any type of number."""
    given = pd.DataFrame({"room_id": [1, 2], "attendee_max": [5.0, None], "suggested": [3, 4]})
    assert head(drawn(capacity_chart(given)))[0] == "Caps of 2 rooms: 1 to lower, 1 to set"


def test_the_summary_tells_the_same_as_text():
    """The finding, the caps added up, the counts, and each room with the reason."""
    assert capacity_chart(report(*SOME)).summary() == "\n".join(
        [
            "Caps of 7 rooms: 1 to raise, 1 reached, 1 to lower, 1 to set, 1 to keep, "
            "1 never used, 1 not read",
            "caps together 95 today, 69 as suggested",
            "raise: 1",
            "reached its cap: 1",
            "lower: 1",
            "no cap today: 1",
            "keep: 1",
            "never used: 1",
            "not read: 1",
            "  Raise (room-2): 10 to 14, raise by 4: at its cap",
            "  Reached (room-3): 25: at its cap for 135 minutes",
            "  Lower (room-1): 50 to 20, lower by 30: 20 users at the most of 50",
            "  Open (room-4): none to 12, set a cap: 12 users at the most, without a cap",
            "  Keep (room-0): 10, keep: 10 users at the most of 10",
            "  Unused (room-5): 8: never used",
            "  Lost (room-6): 8, not read: could not be read",
        ]
    )
    assert capacity_chart(report()).summary() == "No rooms"
