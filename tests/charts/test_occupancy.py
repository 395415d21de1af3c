"""The occupancy chart: every room that was asked for, and none that was not read as empty."""

from datetime import UTC, datetime

import pandas as pd
import pytest

from confkit.charts import occupancy_chart

from .looking import drawn, frame, head, legible, rows, shown


def bars(axes):
    """Length and row of each bar of users, by the state's word; the track behind is no bar."""
    return {
        group.get_label(): [
            (round(bar.get_width(), 2), round(bar.get_y() + bar.get_height() / 2)) for bar in group
        ]
        for group in axes.containers
        if group.get_label() in ("over", "full", "nearly full", "in use", "empty")
    }


def only(figure):
    (axes,) = drawn(figure).axes
    return axes


@pytest.mark.parametrize("count", [1, 12, 30])
def test_each_of_some_rooms_has_its_bar(count):
    """Up to thirty rooms: a bar each, as long as its users are of its cap."""
    given = [(f"Room {number}", number % 30, 30) for number in range(count)]
    axes = only(occupancy_chart(frame(*given)))
    lengths = [length for group in bars(axes).values() for length, _ in group]
    assert sorted(lengths) == sorted(round(row[1] / 30, 2) for row in given)
    assert rows(axes) == [f"Room {number}" for number in reversed(range(count))]


def test_of_many_rooms_the_fullest_have_bars_and_all_are_counted():
    """Of 800 rooms the 20 fullest are bars; the columns above add up to 800, state by state."""
    given = [(f"Room {number}", number % 12, 10) for number in range(780)]
    given += [("Open", 4, None)] * 9 + [("Lost", None, 10)] * 11
    upper, lower = drawn(occupancy_chart(frame(*given))).axes
    assert len(rows(lower)) == 20
    assert bars(lower) == {"over": [(1.1, place) for place in range(20)]}
    heights = dict(
        zip(
            [tick.get_text() for tick in upper.get_xticklabels()],
            [int(text.get_text()) for text in upper.texts],
            strict=True,
        )
    )
    assert heights == {
        "empty": 65,
        "under 20 %": 65,
        "20 to 39 %": 130,
        "40 to 59 %": 130,
        "60 to 79 %": 130,
        "80 to 99 %": 130,
        "full": 65,
        "over": 65,
        "no cap": 9,
        "not read": 11,
    }
    assert [round(bar.get_height()) for bar in upper.patches] == list(heights.values())


@pytest.mark.parametrize("count", [0, 1, 12, 30, 31, 800, 5000])
def test_a_chart_is_legible_and_bounded_however_many_rooms(count):
    """No text lies on another or leaves the picture, which is never higher than 1,400 pixels."""
    given = [
        (
            f"Weekly sync of everybody in building {number}",
            number % 40 if number % 7 else None,
            30 if number % 5 else None,
        )
        for number in range(count)
    ]
    chart = occupancy_chart(frame(*given), service="SANDBOX", time="2026-11-21T14:47Z", tz="UTC")
    legible(chart)
    assert chart.get_size_inches()[1] * 110 < 1400
    assert chart.get_size_inches()[0] * 110 == 880


def test_a_room_that_could_not_be_read_has_no_bar():
    """Missing users are named as such, counted in the title, and never drawn as empty."""
    given = [("Lost", None, 25), ("Empty", 0, 25), ("Busy", 20, 25)]
    chart = occupancy_chart(frame(*given))
    axes = only(chart)
    assert rows(axes) == ["Busy", "Empty", "Lost"]
    assert bars(axes) == {"nearly full": [(0.8, 0)], "empty": [(0.0, 1)]}
    assert {"20 of 25", "0 of 25", "empty", "could not be read"} <= set(shown(axes))
    assert [patch.get_y() + 0.31 for patch in axes.patches if not patch.get_fill()] == [2]
    assert head(chart)[0] == "0 of 3 rooms full, 1 nearly, 1 could not be read"


def test_rooms_that_could_not_be_read_are_named_among_many_too():
    """Where the 20 fullest leave no place for the unread, the last line names them."""
    given = [(f"Room {number}", 1, 2) for number in range(40)]
    given += [(f"Lost {number}", None, 2) for number in range(10)]
    texts = [text.get_text() for text in occupancy_chart(frame(*given)).texts]
    assert texts[-1].startswith("Could not be read: Lost 0, Lost 1, Lost 2")
    assert texts[-1].endswith("Lost 7 and 2 more")


def test_a_frame_of_nothing_but_failures_is_drawn():
    """When no room could be read the chart says so for each and has no bar."""
    chart = occupancy_chart(frame(("a", None, 5), ("b", None, None)))
    axes = only(chart)
    assert bars(axes) == {}
    assert shown(axes).count("could not be read") == 2
    assert head(chart)[0] == "0 of 2 rooms full, 0 nearly, 2 could not be read"


@pytest.mark.parametrize("cap", [None, 0])
def test_a_room_without_a_cap_has_no_utilisation(cap):
    """A missing cap or one of 0 is no cap: neither bar nor track, but its users as a number."""
    chart = occupancy_chart(frame(("Open", 40, cap)))
    axes = only(chart)
    assert [len(group) for group in axes.containers] == [0]
    assert {"40", "no cap"} <= set(shown(axes))
    assert head(chart)[0] == "0 of 1 room full, 0 nearly"


@pytest.mark.parametrize(
    ("users", "cap", "title", "word"),
    [
        (7, 10, "0 of 1 room full, 0 nearly", ""),
        (8, 10, "0 of 1 room full, 1 nearly", "nearly full"),
        (9, 10, "0 of 1 room full, 1 nearly", "nearly full"),
        (10, 10, "1 of 1 room full, 0 nearly", "full"),
        (12, 10, "1 of 1 room full (1 over the cap), 0 nearly", "over by 2"),
        (0, 1, "0 of 1 room full, 0 nearly", "empty"),
    ],
)
def test_full_is_the_cap_and_nearly_is_from_four_fifths(users, cap, title, word):
    """A room is full at its cap, over beyond it, nearly full from 80 percent on, and says so."""
    chart = occupancy_chart(frame(("a", users, cap)))
    texts = shown(only(chart))
    assert head(chart)[0] == title
    assert f"{users} of {cap}" in texts
    assert [text for text in texts if text in ("full", "nearly full", "empty", "over by 2")] == [
        word
    ] * bool(word)


def test_a_bar_far_over_its_cap_is_cut_off_and_its_number_is_not():
    """4,000 in a room for 4 does not press the other bars flat."""
    axes = only(occupancy_chart(frame(("a", 4000, 4), ("b", 1, 2))))
    assert axes.get_xlim()[1] < 1.5
    assert {"4,000 of 4", "over by 3,996"} <= set(shown(axes))


def test_states_differ_in_colour_in_pattern_and_in_words():
    """Who cannot tell the colours apart tells full, nearly and free by pattern and text."""
    axes = only(occupancy_chart(frame(("a", 10, 10), ("b", 8, 10), ("c", 1, 10))))
    looks = {
        group.get_label(): group[0] for group in axes.containers if group.get_label() != "free"
    }
    assert len({bar.get_facecolor() for bar in looks.values()}) == 3
    assert len({bar.get_hatch() for bar in looks.values()}) == 3
    assert set(looks) == {"full", "nearly full", "in use"}


def test_the_fullest_room_is_on_top():
    """Rooms are sorted by users per cap; those without a cap come next, the unread last."""
    given = [("none", 99, None), ("lost", None, 5), ("half", 5, 10), ("over", 3, 2), ("full", 9, 9)]
    axes = only(occupancy_chart(frame(*given)))
    assert rows(axes) == ["over", "full", "half", "none", "lost"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_rooms_that_are_equally_full_are_in_a_natural_order():
    """Room 2 stands before Room 10, and the larger of two full rooms before the smaller."""
    given = [("Room 10", 1, 1), ("Room 2", 1, 1), ("Hall", 50, 50)]
    assert rows(only(occupancy_chart(frame(*given)))) == ["Hall", "Room 2", "Room 10"]


def test_a_room_without_a_topic_is_named_by_its_number():
    """Where the topic is missing, in one row or as a column, the room's ID stands there."""
    given = frame((None, 1, 2), ("Named", 2, 2))
    assert rows(only(occupancy_chart(given))) == ["Named", "room-0"]
    assert rows(only(occupancy_chart(given.drop(columns="topic")))) == ["room-1", "room-0"]


def test_service_time_and_zone_stand_below_the_finding():
    """Nobody takes one service for another, or yesterday's picture for today's."""
    chart = occupancy_chart(
        frame(("a", 1, 2)), service="SANDBOX", time="2026-11-21T14:47:03+00:00", tz="Asia/Kathmandu"
    )
    assert head(chart)[1] == "SANDBOX · Sat 21 Nov 2026, 20:32 (Asia/Kathmandu)"


def test_service_and_time_come_from_the_frame():
    """What a sweep's frame says of itself is used, unless the call says something else."""
    given = frame(("a", 1, 2))
    given.attrs = {"service": "prod", "time": "2026-01-02T03:04:05+00:00"}
    assert head(occupancy_chart(given, tz="UTC"))[1] == "prod · Fri 2 Jan 2026, 03:04 (UTC)"
    later = datetime(2026, 1, 2, 4, tzinfo=UTC)
    assert head(occupancy_chart(given, time=later, service="other", tz="Etc/UTC"))[1] == (
        "other · Fri 2 Jan 2026, 04:00 (UTC)"
    )


def test_a_time_that_is_none_is_refused():
    """What is no time is reported with an example of one."""
    with pytest.raises(ValueError, match="time is 'noon'; give a time such as '2026"):
        occupancy_chart(frame(("a", 1, 2)), time="noon")


def test_negative_numbers_are_no_numbers():
    """A room with fewer users than none was not read; a negative cap is none."""
    assert occupancy_chart(frame(("a", -1, 2), ("b", 1, -1))).summary().splitlines()[-2:] == [
        "  b (room-1): 1, no cap",
        "  a (room-0): could not be read",
    ]


def test_the_local_zone_is_named(monkeypatch):
    """Without a zone the time is the machine's own, whose zone stands beside it."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    chart = occupancy_chart(frame(("a", 1, 2)), time="2026-07-01T12:00:00+00:00")
    assert head(chart)[1] == "Wed 1 Jul 2026, 14:00 (Europe/Berlin)"


def test_plain_numbers_and_texts_will_do():
    """A frame from a CSV, of floats for missing numbers or all of texts, gives the same chart."""
    csv = pd.DataFrame({"room_id": [1, 2], "users": [3.0, None], "attendee_max": [None, 4.0]})
    texts = pd.DataFrame({"room_id": ["1", "2"], "users": ["3", ""], "attendee_max": ["", "4"]})
    for given in (csv, texts):
        axes = only(occupancy_chart(given))
        assert rows(axes) == ["1", "2"]
        assert {"3", "no cap", "could not be read"} <= set(shown(axes))


def test_the_summary_of_few_rooms_names_each():
    """As plain text: the finding, the states, and each room in the chart's order, with its ID."""
    given = frame(("Lost", None, 25), ("Hall", 0, 25), ("Busy", 26, 25), (None, 7, None))
    assert occupancy_chart(given).summary() == "\n".join(
        [
            "1 of 4 rooms full (1 over the cap), 0 nearly, 1 could not be read",
            "over: 1",
            "empty: 1",
            "no cap: 1",
            "not read: 1",
            "  Busy (room-2): 26 of 25, over by 1",
            "  Hall (room-1): 0 of 25, empty",
            "  room-3: 7, no cap",
            "  Lost (room-0): could not be read",
        ]
    )


def test_the_summary_does_not_depend_on_the_rows_order_or_on_time():
    """The same rooms give the same text, however they are sorted and whenever they were read."""
    given = frame(*[(f"Room {number}", number % 5, 5) for number in range(60)])
    other = given.sample(frac=1, random_state=4)
    other.attrs = {"time": "2026-01-02T03:04:05+00:00", "service": "x"}
    assert occupancy_chart(given).summary() == occupancy_chart(other).summary()
    assert len(occupancy_chart(given).summary().splitlines()) < 30


def test_the_summary_of_no_rooms_says_so():
    """An empty frame is an answer too."""
    assert occupancy_chart(frame()).summary() == "No rooms"


def test_a_cap_that_was_not_read_is_not_none():
    """A room whose fields could not be read but whose users could is reported as such, and not as
    one without a cap; an endless number of users is no number."""
    given = pd.DataFrame(
        {
            "room_id": ["1", "2", "3"],
            "topic": [None, "Open", "Odd"],
            "users": [2, 3, float("inf")],
            "attendee_max": [None, None, 5],
            "error": ["get room (A3) answered 700", None, None],
        }
    )
    lines = occupancy_chart(given).summary().splitlines()
    assert "no cap: 1" in lines
    assert "not read: 2" in lines
    assert "  1: 2, attendee_max not read" in lines
