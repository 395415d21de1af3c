"""The charts with a row for each room: none unread as empty, none advised on too little."""

import pandas as pd
import pytest

from confkit.charts import capacity_chart, occupancy_chart

from .looking import hovers, rooms, words

ROOMS = [
    *[("Odd", -1, 10), ("None", 99, None), ("Lost", None, 5), ("Near", 9.6, 10), ("Zero", 4, 0)],
    *[("Over", 4000, 4), ("Room 10", 1, 1), ("Room 2", 1, 1), ("Free", 5, 10), (None, 0, 25)],
]
CAPS = [
    ("Keep", 10, 10, 9, 0.0, "peak 9, cap 10"),
    ("Lower", 50, 20, 20, 0.0, "peak 20, cap 50"),
    ("Raise", 10, 14, 8, 0.0, "peak 8, times 1.75"),
    ("Reached", 25, 25, 25, 135.0, "at its cap"),
    ("Open", None, 12, 12, 0.0, "peak 12, no cap"),
    ("Few", 8, None, 6, 0.0, "4 weeks recorded; a suggestion needs 8"),
    ("Unused", 8, None, 0, 0.0, "never used; of devices alone"),
    ("Lost", 8, None, None, None, "could not be read"),
    ("One sample", 3, 3, 3, None, "at its cap"),
]


def occupancy(*rows, **attrs):
    return occupancy_chart(rooms("users attendee_max", *rows, **attrs))


def capacity(*rows, **attrs):
    return capacity_chart(rooms("attendee_max suggested peak minutes_full reason", *rows, **attrs))


def test_every_room_has_its_row_by_how_full_it_is():
    """Room 2 before Room 10; the unread last."""
    chart = occupancy(*ROOMS)
    assert chart.summary().splitlines() == [
        "10 rooms: 3 full, 1 nearly full, 1 in use, 1 empty, 2 no cap, 2 not read",
        "  Over (room-5): 4,000 of 4, over by 3,996",
        "  Room 2 (room-7): 1 of 1, full",
        "  Room 10 (room-6): 1 of 1, full",
        "  Near (room-3): 9.6 of 10, nearly full",
        "  Free (room-8): 5 of 10",
        "  room-9: 0 of 25",
        "  None (room-1): 99, no cap",
        "  Zero (room-4): 4, no cap",
        "  Lost (room-2): not read",
        "  Odd (room-0): not read",
    ]
    assert hovers(chart) == [line.strip() for line in chart.summary().splitlines()[1:]]
    assert {"Near", "9.6 of 10, nearly full", "share of attendee_max in use"} <= set(words(chart))


def test_rooms_that_need_a_decision_are_on_top():
    span = {"since": "2026-03-02T08:00:00+01:00", "until": "2026-04-01T08:00:00+02:00"}
    chart = capacity(*CAPS, risk=0.1, ahead="4 weeks", timezone="Europe/Berlin", **span)
    assert words(chart)[2].startswith("2 Mar 2026 to 1 Apr 2026 (Europe/Berlin)")
    assert chart.summary().splitlines() == [
        "9 rooms: 2 reached the cap, 1 to raise, 1 to lower, 1 without a cap, 1 to keep, "
        "1 with too little data, 1 never used, 1 not read",
        "  Reached (room-3): 25, full for 2 h 15 min: at its cap",
        "  One sample (room-8): 3, full at times: at its cap",
        "  Lower (room-1): 50 → 20, lower by 30: peak 20, cap 50",
        "  Raise (room-2): 10 → 14, raise by 4: peak 8, times 1.75",
        "  Open (room-4): no cap → 12, set a cap: peak 12, no cap",
        "  Keep (room-0): 10, keep: peak 9, cap 10",
        "  Few (room-5): 8, with too little data: 4 weeks recorded; a suggestion needs 8",
        "  Unused (room-6): 8, never used: of devices alone",
        "  Lost (room-7): 8, not read: could not be read",
        "≤ 10 % risk of exceeding such a cap in the next 4 weeks",
    ]


def test_of_many_rooms_the_fullest_have_rows_and_all_are_counted():
    many = [(f"Room {number}", number % 12, 10) for number in range(4980)]
    chart = occupancy(*many, *[(f"Lost {number}", None, 10) for number in range(20)])
    assert words(chart)[1].startswith("the 20 fullest are shown")
    assert chart.summary().startswith("5,000 rooms: 830 full, 830 nearly full, 2,905 in use, ")
    unread = ", ".join(f"Lost {number}" for number in range(8))
    assert chart.summary().splitlines()[-1] == f"not read: {unread} and 12 more"


@pytest.mark.parametrize("count", [0, 800])
def test_a_chart_is_bounded_however_many_rooms(count):
    names = [f"{place} is for the whole of sales {'会@'[place % 2] * 40}" for place in range(count)]
    seen = [(name, place % 40, 30) for place, name in enumerate(names)]
    caps = [(name, *CAPS[place % 8][1:]) for place, name in enumerate(names)]
    for chart in (occupancy(*seen, service="SANDBOX " * 30), capacity(*caps, risk=0.1)):
        assert chart.get_size_inches()[0] * 96 == 720
        assert chart.get_size_inches()[1] * 96 < 900


def test_names_are_short_and_never_two_alike():
    alike = "Quarterly review of the advisory board, part "
    chart = occupancy(*[(topic, 1, 2) for topic in (alike + "one", alike + "two", "会" * 50, None)])
    assert [word for word in words(chart) if "…" in word or "room-" in word] == [
        "Quarterly review of the advi… · room-0",
        "Quarterly review of the advi… · room-1",
        "room-3",
        "会" * 16 + "…",
    ]


def test_what_a_csv_leaves_empty_is_no_zero_and_a_room_has_one_row():
    frame = pd.DataFrame({"room_id": [1, 2], "users": ["3", ""], "attendee_max": ["", "4"]})
    assert hovers(occupancy_chart(frame)) == ["1: 3, no cap", "2: not read"]
    with pytest.raises(ValueError, match="those of one time"):
        occupancy_chart(pd.concat([frame, frame]))
