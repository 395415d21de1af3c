"""The charts with a row for each room: none unread as empty, none advised on too little."""

import pandas as pd
import pytest

from confkit.charts import capacity_chart, occupancy_chart
from confkit.charts.figure import AMBER, BLUE, INK, NEUTRAL, ORANGE
from confkit.charts.rooms import room_state

from .looking import assert_legible, boxes, frame, hovers, report, words

ROOMS = (
    *(("Odd", -1, 10), ("None", 99, None), ("Lost", None, 5), ("Zero", 4, 0), ("Near", 8, 10)),
    *(("Over", 4000, 4), ("Room 10", 1, 1), ("Room 2", 1, 1), ("Hall", 50, 50), ("Free", 5, 10)),
    *(("Empty", 0, 25), (None, 7, None)),
)
CAPS = (
    ("Keep", 10, 10, 9, 0.0, "peak 9, cap 10"),
    ("Lower", 50, 20, 20, 0.0, "peak 20, cap 50"),
    ("Raise", 10, 14, 8, 0.0, "peak 8, times 1.75"),
    ("Reached", 25, 25, 25, 135.0, "at its cap"),
    ("Briefly", 4, None, 4, 0.5, "at its cap"),
    ("Open", None, 12, 12, 0.0, "peak 12, no cap"),
    ("Few", 8, None, 6, 0.0, "4 weeks recorded; a suggestion needs 8"),
    ("Unused", 8, None, 0, 0.0, "never used"),
    ("Lost", 8, None, None, None, "could not be read"),
)


def rows(chart):
    """What each row says."""
    lines = chart.summary().splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]


@pytest.mark.parametrize(
    ("users", "attendee_max", "read", "expected"),
    [
        (3, 5, True, ("in use", 0.6, "3 of 5")),
        (4, 5, True, ("nearly full", 0.8, "4 of 5, nearly full")),
        (5, 5, True, ("full", 1, "5 of 5, full")),
        (3.0, float("nan"), True, ("no cap", None, "3, no cap")),
        (0, 0, True, ("no cap", None, "0, no cap")),
        (3, -1, True, ("no cap", None, "3, no cap")),
        (pd.NA, 5, True, ("not read", None, "not read")),
        (float("inf"), 5, True, ("not read", None, "not read")),
        (3, None, False, ("not read", None, "3, cap not read")),
        (3, 5, False, ("not read", None, "not read")),
    ],
)
def test_a_room_is_described_by_its_users_and_its_cap(users, attendee_max, read, expected):
    """Nothing unknown is a zero; a cap that was not read is not none."""
    assert room_state(users, attendee_max, read) == expected


def test_every_room_has_its_row_by_how_full_it_is():
    """The larger of equally full ones first, and Room 2 before Room 10; the unread last."""
    chart = occupancy_chart(frame(*ROOMS))
    assert chart.summary().splitlines() == [
        "4 of 12 rooms full, 1 nearly full, 2 not read",
        "full 4, nearly full 1, in use 1, empty 1, no cap 3, not read 2",
        "  Over (room-5): 4,000 of 4, over by 3,996",
        "  Hall (room-8): 50 of 50, full",
        "  Room 2 (room-7): 1 of 1, full",
        "  Room 10 (room-6): 1 of 1, full",
        "  Near (room-4): 8 of 10, nearly full",
        "  Free (room-9): 5 of 10",
        "  Empty (room-10): 0 of 25",
        "  None (room-1): 99, no cap",
        "  room-11: 7, no cap",
        "  Zero (room-3): 4, no cap",
        "  Lost (room-2): not read",
        "  Odd (room-0): not read",
    ]
    assert hovers(chart) == rows(chart)
    assert {"Near", "8 of 10, nearly full", "share of attendee_max in use"} <= set(words(chart))


def test_a_bar_is_as_long_as_its_share():
    """Far above the cap it is cut off; without a share there is no bar."""
    chart = occupancy_chart(frame(*ROOMS))
    full = boxes(chart, ORANGE)[1][1]
    lengths = {
        colour: [round(width / full, 2) for _, width in boxes(chart, colour)]
        for colour in (ORANGE, AMBER, BLUE, NEUTRAL)
    }
    bars = {ORANGE: [1.25, 1, 1, 1], AMBER: [0.8], BLUE: [0.5], NEUTRAL: [1] * 7 + [0]}
    assert lengths == bars
    chart = capacity_chart(report(("Hall", 100, 20, 40, 0.0, "")))
    [(left, width)] = boxes(chart, BLUE)
    assert [x - left for x, width_px in boxes(chart, INK) if width_px == 3] == [
        pytest.approx(width / 2 - 1)
    ]


@pytest.mark.parametrize(
    ("rooms", "finding"),
    [
        ([], "No rooms"),
        ([("a", 1, 6)], "1 room: 1 in use"),
        ([("a", 5, 6), ("b", 0, 6), ("c", 1, None)], "3 rooms: 1 nearly full, 1 empty, 1 no cap"),
        ([("a", 6, 6), ("b", 0, 6)], "1 of 2 rooms full"),
        ([("a", None, 6), ("b", None, None)], "2 rooms: 2 not read"),
    ],
)
def test_a_finding_leaves_out_what_there_is_none_of(rooms, finding):
    chart = occupancy_chart(frame(*rooms))
    assert words(chart)[0] == chart.summary().splitlines()[0] == finding


def test_of_many_rooms_the_fullest_have_rows_and_all_are_counted():
    """Those that were not read are named, up to eight."""
    rooms = [(f"Room {number}", number % 12, 10) for number in range(4980)]
    rooms += [(f"Lost {number}", None, 10) for number in range(20)]
    chart = occupancy_chart(frame(*rooms))
    assert len(rows(chart)) == 20
    assert words(chart)[0] == "830 of 5,000 rooms full, 830 nearly full, 20 not read"
    assert {"The 20 fullest", "830 full", "830 nearly full", "2,905 in use"} <= set(words(chart))
    assert {"415 empty", "20 not read"} <= set(words(chart))
    assert hovers(chart)[0] == "830 of 5,000 rooms: full"
    unread = ", ".join(f"Lost {number}" for number in range(8))
    assert chart.summary().splitlines()[-1] == f"not read: {unread} and 12 more" == words(chart)[1]


@pytest.mark.parametrize("count", [1, 20, 800])
def test_a_chart_is_legible_and_bounded_however_many_rooms(count):
    users, caps = [], []
    for place in range(count):
        topic = f"{CAPS[place % 9][0]} for the whole of the sales department {place}"
        users.append((topic, place % 40 if place % 7 else None, 30 if place % 5 else None))
        caps.append((topic, *CAPS[place % 9][1:]))
    attrs = {"service": "SANDBOX " * 30, "risk": 0.1, "ahead": "4 weeks"}
    for chart in (occupancy_chart(frame(*users, **attrs)), capacity_chart(report(*caps, **attrs))):
        assert_legible(chart)
        assert chart.get_size_inches()[0] * 96 == 720
        assert chart.get_size_inches()[1] * 96 < 900


@pytest.mark.parametrize(
    "topic",
    [
        *("@" * 40, "i" * 99, "MMMM WWWW" * 9, "x" * 10_000),
        *("会" * 50, "Проектирование общественных зданий"),
    ],
)
def test_a_long_topic_is_cut_at_its_end_and_leaves_space_for_bars(topic):
    rooms = frame((topic, 9, 9), (None, 9, 9), (topic, 9, 9))
    rooms.loc[1:, "room_id"] = topic
    chart = occupancy_chart(rooms)
    assert_legible(chart)
    assert min(width for _, width in boxes(chart, ORANGE)) > 300
    assert f"{topic} (room-0): 9 of 9, full" in hovers(chart)


def test_names_are_short_and_never_two_alike():
    alike = "Quarterly review of the advisory board, part "
    topics = [alike + "one", alike + "two", "Same", "Same", "会" * 50, "  ", None]
    chart = occupancy_chart(frame(*[(topic, 1, 2) for topic in topics]))
    assert [word for word in words(chart) if "·" in word or "…" in word or "room-" in word] == [
        "Quarterly review of the advi… · room-0",
        "Quarterly review of the advi… · room-1",
        "Same · room-2",
        "Same · room-3",
        "room-5",
        "room-6",
        "会" * 16 + "…",
    ]


def test_what_was_read_when_and_where_stands_below_the_finding(monkeypatch):
    """Without a zone it is the local one."""
    rooms = frame(("a", 1, 2), service="prod", time="2026-07-01T12:00:00+00:00")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    assert words(occupancy_chart(rooms))[1] == "prod · Wed 1 Jul 2026, 14:00 (Europe/Berlin)"
    chart = occupancy_chart(rooms, tz="Asia/Kathmandu")
    assert words(chart)[1] == "prod · Wed 1 Jul 2026, 17:45 (Asia/Kathmandu)"
    edges = {"since": "2026-03-01T00:00:00+01:00", "until": "2026-03-31T23:59:00+02:00"}
    attrs = {"service": "prod", "timezone": "Europe/Berlin", "totals": edges}
    risk = "≤ 10 % risk of exceeding such a cap in the next 4 weeks"
    chart = capacity_chart(report(CAPS[0], risk=0.1, ahead="4 weeks", **attrs))
    under = f"prod · 1 Mar 2026 to 31 Mar 2026 (Europe/Berlin) · {risk}"
    assert (words(chart)[1], chart.summary().splitlines()[-1]) == (under, risk)


PLAIN = ["1: 3, no cap", "2: not read"]


@pytest.mark.parametrize(
    ("users", "attendee_max", "error", "lines"),
    [
        ([3.0, None], [None, 4.0], [None, None], PLAIN),
        (["3", ""], ["", "4"], ["", ""], PLAIN),
        ([3, None], [None, None], ["700", "504"], ["1: 3, cap not read", "2: not read"]),
    ],
)
def test_plain_numbers_and_texts_will_do(users, attendee_max, error, lines):
    """As a CSV gives them. Of a report three columns are enough."""
    columns = {"room_id": [1, 2], "users": users, "attendee_max": attendee_max, "error": error}
    assert rows(occupancy_chart(pd.DataFrame(columns))) == lines
    least = pd.DataFrame({"room_id": [1, 2], "attendee_max": [5.0, None], "suggested": [3, 400]})
    assert rows(capacity_chart(least)) == ["1: 5 → 3, lower by 2", "2: no cap → 400, set a cap"]


def test_what_was_not_asked_or_not_used_is_named():
    """Caps of a sweep without the rooms' fields, and a room in which only devices were."""
    chart = occupancy_chart(frame((None, 3, None), (None, 0, None)))
    assert rows(chart) == ["room-0: 3, cap not read", "room-1: 0, cap not read"]
    chart = capacity_chart(report(("Filmed", 8, None, 3, 0.0, "never used; only devices there")))
    assert rows(chart) == ["Filmed (room-0): 8, never used: only devices there"]


def test_rooms_that_need_a_decision_are_on_top():
    chart = capacity_chart(report(*CAPS))
    assert chart.summary().splitlines() == [
        "Capacity of 9 rooms: 2 reached the cap, 1 to raise, 1 to lower, 1 without a cap, "
        "1 to keep, 1 never used, 1 not read, too little data to advise on 1",
        "reached the cap 2, to raise 1, to lower 1, without a cap 1, to keep 1, too little data 1, "
        "never used 1, not read 1",
        "  Reached (room-3): 25, full for 2 h 15 min: at its cap",
        "  Briefly (room-4): 4, full for 1 min: at its cap",
        "  Lower (room-1): 50 → 20, lower by 30: peak 20, cap 50",
        "  Raise (room-2): 10 → 14, raise by 4: peak 8, times 1.75",
        "  Open (room-5): no cap → 12, set a cap: peak 12, no cap",
        "  Keep (room-0): 10, keep: peak 9, cap 10",
        "  Few (room-6): 8, too little data: 4 weeks recorded; a suggestion needs 8",
        "  Unused (room-7): 8, never used",
        "  Lost (room-8): 8, not read: could not be read",
        "suggested: each room's peak, without a margin",
    ]
    assert hovers(chart) == rows(chart)
