"""The capacity chart: today's caps against suggested ones, what needs a decision on top."""

import pandas as pd
import pytest

from confkit.charts import capacity_chart

from .looking import drawn, head, legible, only, rows

TYPES = {
    **dict.fromkeys(("room_id", "topic"), "string"),
    **dict.fromkeys(("attendee_max", "suggested", "peak"), "Int64"),
    "minutes_full": "Float64",
    "reason": "string",
}
SOME = (
    ("Keep", 10, 10, 10, 0.0, "peak 10, cap 10"),
    ("Lower", 50, 20, 20, 0.0, "peak 20, cap 50"),
    ("Raise", 10, 14, 14, 30.0, "at its cap"),
    ("Reached", 25, 25, 25, 135.0, "at its cap for 135 minutes"),
    ("Open", None, 12, 12, 0.0, "peak 12, no cap"),
    ("Unused", 8, None, 0, 0.0, "never used"),
    ("Lost", 8, None, None, None, "could not be read"),
)
TOTALS = {
    "since": "2026-03-01T00:00:00+01:00",
    "until": "2026-03-31T23:59:00+02:00",
    "people_peak": 132,
    "people_peak_at": "2026-03-03T10:05:00+01:00",
}


def report(*given, **attrs):
    """A report with a row for each room, such as SOME."""
    table = [(f"room-{place}", *row) for place, row in enumerate(given)]
    made = pd.DataFrame(table, columns=[*TYPES]).astype(TYPES)
    made.attrs = attrs
    return made


def marks(axes, place):
    """Where the marks of a row are, by their shape."""
    return {
        line.get_marker(): size
        for line in axes.lines
        for size, at in line.get_xydata()
        if at == place
    }


def test_rooms_that_need_a_decision_are_on_top():
    """Raises first, then rooms that reached their cap, then the others; with numbers and words. A
    ring is today's cap; a mark of another shape stands where it should go."""
    axes = only(chart := capacity_chart(report(*SOME)))
    assert rows(axes) == {
        "Raise": ("10 → 14", "raise by 4"),
        "Reached": ("25", "full for 2 h 15 min"),
        "Lower": ("50 → 20", "lower by 30"),
        "Open": ("none → 12", "set a cap"),
        "Keep": ("10", "keep"),
        "Unused": ("8", "never used"),
        "Lost": ("8", "not read"),
    }
    assert [marks(axes, place) for place in range(4)] == [
        {"o": 10, ">": 14},
        {"o": 25, "s": 25},
        {"o": 50, "<": 20},
        {"D": 12},
    ]
    assert marks(axes, 5) == {"o": 8}
    assert chart.summary().splitlines() == [
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
        "  Lower (room-1): 50 to 20, lower by 30: peak 20, cap 50",
        "  Open (room-4): none to 12, set a cap: peak 12, no cap",
        "  Keep (room-0): 10, keep: peak 10, cap 10",
        "  Unused (room-5): 8: never used",
        "  Lost (room-6): 8, not read: could not be read",
    ]
    assert capacity_chart(report()).summary() == "No rooms"


def test_a_peak_above_the_suggestion_is_drawn():
    """Where the suggestion is another number than the peak, the peak has a mark of its own."""
    axes = only(chart := capacity_chart(report(("Hall", 100, 20, 40, 0.0, "peak 20 lately"))))
    assert marks(axes, 0) == {"|": 40, "o": 100, "<": 20}
    assert head(chart)[1] == (
        "caps together 100 today, 20 as suggested · each room's peak; nothing is promised"
    )


def test_what_rests_on_a_risk_says_so():
    """A room that was read and has no suggestion reached its cap, or says why in words."""
    full, few = ("Full", 8, None, 8, 5.0, "at its cap"), ("Few", 8, None, 6, 0.0, "only 3 pairs")
    chart = capacity_chart(report(SOME[0], full, few, risk=0.1, ahead="4 weeks"))
    assert head(chart)[0] == "Caps of 3 rooms: 1 reached, 1 to keep, 1 without a suggestion"
    assert head(chart)[1].endswith(
        "at most 10 % of such caps are expected to be exceeded in the next 4 weeks"
    )
    assert chart.summary().splitlines()[-3:] == [
        "  Full (room-1): 8: at its cap",
        "  Keep (room-0): 10, keep: peak 10, cap 10",
        "  Few (room-2): 8, no suggestion: only 3 pairs",
    ]


@pytest.mark.parametrize("count", [0, 1, 20, 21, 800])
def test_a_chart_is_legible_and_bounded_however_many_rooms(count):
    """No text lies on another or leaves the picture, which is never higher than 1,400 pixels; all
    rooms are counted, and the first have a row."""
    given = []
    for place in range(count):
        topic, *rest = SOME[place % len(SOME)]
        given.append((f"{topic} for the whole of the sales department {place}", *rest))
    attrs = {"service": "SANDBOX", "timezone": "Europe/Berlin", "totals": TOTALS}
    legible(chart := capacity_chart(report(*given, **attrs)))
    assert chart.get_size_inches()[1] * 110 < 1400
    assert head(chart)[1].startswith("SANDBOX · 1 Mar 2026 to 31 Mar 2026 (Europe/Berlin)")
    last = "In all rooms at once: at least 132 people, Tue 3 Mar 2026, 10:05."
    assert last in [text.get_text() for text in chart.texts]
    if count > 20:
        upper, lower = chart.axes
        assert len(rows(lower)) == 20
        assert sum(int(text.get_text().replace(",", "")) for text in upper.texts) == count


def test_a_part_of_a_report_does_not_tell_of_all_rooms():
    """Of a building's rows nobody has added up who was there at once: nothing is said of it."""
    given = report(*SOME, totals={"rooms": len(SOME), **TOTALS})
    assert capacity_chart(given).texts[-1].get_text().startswith("In all rooms at once")
    part = capacity_chart(given[given["attendee_max"] > 10])
    assert not [text for text in part.texts if "In all rooms" in text.get_text()]


def test_a_report_of_the_least_columns_will_do():
    """Room, cap and suggestion are enough, of any type of number; small caps stand beside large
    ones on a scale of multiples. A room that was full under a smaller cap is not simply lowered:
    its demand is not known."""
    given = pd.DataFrame({"room_id": [1, 2], "attendee_max": [5.0, None], "suggested": [3, 400]})
    chart = drawn(capacity_chart(given))
    assert head(chart)[0] == "Caps of 2 rooms: 1 to lower, 1 to set"
    assert chart.axes[0].get_xscale() == "log"
    chart = capacity_chart(report(("Grown", 25, 10, 10, 60.0, "")))
    assert head(chart)[0] == "Caps of 1 room: 1 reached"
