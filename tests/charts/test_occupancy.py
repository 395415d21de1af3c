"""The occupancy chart: every room that was asked for, and none that was not read as empty."""

from datetime import UTC, datetime

import pandas as pd
import pytest

from confkit.charts import occupancy_chart

from .looking import drawn, frame, head, legible, only, rows, shown


def bars(axes):
    """By room's name the widths of what is drawn in its row: the track, and the bar on it. The
    outline of a room that was not read is -1."""
    names = list(rows(axes))
    found = {name: [] for name in names}
    for patch in axes.patches:
        width = round(patch.get_width(), 2) if patch.get_fill() else -1
        found[names[round(patch.get_y() + 0.31)]].append(width)
    return found


@pytest.mark.parametrize("count", [1, 20])
def test_each_of_some_rooms_has_its_bar(count):
    """Up to twenty rooms: a bar each, as long as its users are of its cap, the fullest on top."""
    given = [(f"Room {number}", number, 30) for number in range(count)]
    assert bars(only(occupancy_chart(frame(*given)))) == {
        f"Room {number}": [1, round(number / 30, 2)] for number in reversed(range(count))
    }


def test_of_many_rooms_the_fullest_have_bars_and_all_are_counted():
    """Of 800 rooms the 20 fullest are bars; the columns above add up to 800, group by group."""
    given = [(f"Room {number}", number % 12, 10) for number in range(780)]
    given += [("Open", 4, None)] * 9 + [("Lost", None, 10)] * 11
    upper, lower = drawn(occupancy_chart(frame(*given))).axes
    assert list(bars(lower).values()) == [[1, 1.1]] * 20
    numbers = [int(text.get_text()) for text in upper.texts]
    assert dict(
        zip([tick.get_text() for tick in upper.get_xticklabels()], numbers, strict=True)
    ) == {
        "empty": 65,
        "0 to 19 %": 65,
        "20 to 39 %": 130,
        "40 to 59 %": 130,
        "60 to 79 %": 130,
        "80 to 99 %": 130,
        "full": 65,
        "over": 65,
        "no cap": 9,
        "not read": 11,
    }
    assert [round(bar.get_height()) for bar in upper.patches] == numbers


@pytest.mark.parametrize("count", [0, 1, 12, 20, 21, 5000])
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
    chart = occupancy_chart(frame(("Lost", None, 25), ("Empty", 0, 25), ("Busy", 20, 25)))
    assert bars(only(chart)) == {"Busy": [1, 0.8], "Empty": [1, 0], "Lost": [-1]}
    assert rows(only(chart)) == {
        "Busy": ("20 of 25", "nearly full"),
        "Empty": ("0 of 25", "empty"),
        "Lost": ("", "could not be read"),
    }
    assert head(chart)[0] == "0 of 3 rooms full, 1 nearly, 1 could not be read"


def test_rooms_that_could_not_be_read_are_named_among_many_too():
    """Where the 20 fullest leave no place for the unread, the last line names them."""
    given = [(f"Room {number}", 1, 2) for number in range(40)]
    given += [(f"Lost {number}", None, 2) for number in range(10)]
    chart = occupancy_chart(frame(*given))
    last = chart.texts[-1].get_text()
    assert last.startswith("Could not be read: Lost 0, Lost 1, Lost 2")
    assert last.endswith("Lost 7 and 2 more")
    assert chart.summary().endswith(last)


@pytest.mark.parametrize(
    ("users", "cap", "title", "row", "bar"),
    [
        (7, 10, "0 of 1 room full, 0 nearly", ("7 of 10", "in use"), [1, 0.7]),
        (8, 10, "0 of 1 room full, 1 nearly", ("8 of 10", "nearly full"), [1, 0.8]),
        (10, 10, "1 of 1 room full, 0 nearly", ("10 of 10", "full"), [1, 1]),
        (
            4000,
            4,
            "1 of 1 room full (1 over the cap), 0 nearly",
            ("4,000 of 4", "over by 3,996"),
            [1, 1000],
        ),
        (0, 1, "0 of 1 room full, 0 nearly", ("0 of 1", "empty"), [1, 0]),
        (
            None,
            1,
            "0 of 1 room full, 0 nearly, 1 could not be read",
            ("", "could not be read"),
            [-1],
        ),
        (-1, 1, "0 of 1 room full, 0 nearly, 1 could not be read", ("", "could not be read"), [-1]),
        # a missing cap, one of 0 and less are no cap: neither bar nor track
        (40, None, "0 of 1 room full, 0 nearly", ("40", "no cap"), []),
        (40, 0, "0 of 1 room full, 0 nearly", ("40", "no cap"), []),
        (40, -1, "0 of 1 room full, 0 nearly", ("40", "no cap"), []),
    ],
)
def test_what_a_room_is_called_by_its_users_and_its_cap(users, cap, title, row, bar):
    """Full at its cap, over beyond it, nearly full from 80 percent on; it says so, and its bar may
    be cut off, so that it does not press others flat."""
    chart = occupancy_chart(frame(("a", users, cap)))
    axes = only(chart)
    assert head(chart)[0] == title
    assert rows(axes) == {"a": row}
    assert bars(axes) == {"a": bar}
    assert axes.get_xlim()[1] < 1.5


def test_states_differ_in_colour_in_pattern_and_in_words():
    """Who cannot tell the colours apart tells full, nearly and free by pattern and text."""
    axes = only(occupancy_chart(frame(("a", 10, 10), ("b", 8, 10), ("c", 1, 10))))
    looks = axes.patches[1::2]
    assert len({bar.get_facecolor() for bar in looks}) == 3
    assert len({bar.get_hatch() for bar in looks}) == 3
    assert {word for _, word in rows(axes).values()} == {"full", "nearly full", "in use"}


def test_the_fullest_room_is_on_top():
    """Rooms are sorted by users per cap; those without a cap come next, the unread last; of equally
    full ones the larger first, and Room 2 before Room 10."""
    given = [("none", 99, None), ("lost", None, 5), ("half", 5, 10), ("over", 3, 2)]
    given += [("Room 10", 1, 1), ("Room 2", 1, 1), ("Hall", 50, 50)]
    axes = only(occupancy_chart(frame(*given)))
    assert list(rows(axes)) == ["over", "Hall", "Room 2", "Room 10", "half", "none", "lost"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_service_time_and_zone_stand_below_the_finding(monkeypatch):
    """Nobody takes one service for another, or yesterday's picture for today's: they come with the
    call, or else with the frame; without a zone the time is the machine's own."""
    given = frame(("a", 1, 2))
    given.attrs = {"service": "prod", "time": "2026-07-01T12:00:00+00:00"}
    monkeypatch.setenv("TZ", "Europe/Berlin")
    assert head(occupancy_chart(given))[1] == "prod · Wed 1 Jul 2026, 14:00 (Europe/Berlin)"
    time = datetime(2026, 11, 21, 14, 47, 3, tzinfo=UTC)
    chart = occupancy_chart(given, time=time, service="other", tz="Asia/Kathmandu")
    assert head(chart)[1] == "other · Sat 21 Nov 2026, 20:32 (Asia/Kathmandu)"
    with pytest.raises(ValueError, match="time is 'noon'; give a time such as '2026"):
        occupancy_chart(given, time="noon")


def test_plain_numbers_and_texts_will_do():
    """A frame from a CSV, of floats for missing numbers or all of texts, gives the same chart."""
    csv = pd.DataFrame({"room_id": [1, 2], "users": [3.0, None], "attendee_max": [None, 4.0]})
    texts = pd.DataFrame({"room_id": ["1", "2"], "users": ["3", ""], "attendee_max": ["", "4"]})
    for given in (csv, texts):
        assert rows(only(occupancy_chart(given))) == {
            "1": ("3", "no cap"),
            "2": ("", "could not be read"),
        }


def test_the_summary_of_few_rooms_names_each():
    """As plain text: the finding, the states, and each room in the chart's order, with its ID."""
    given = frame(("Lost", None, 25), ("Hall", 0, 25), ("Busy", 26, 25), (None, 7, None))
    assert occupancy_chart(given).summary().splitlines() == [
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
    assert occupancy_chart(frame()).summary() == "No rooms"


def test_the_summary_does_not_depend_on_the_rows_order_or_on_time():
    """The same rooms give the same text, however they are sorted and whenever they were read."""
    given = frame(*[(f"Room {number}", number % 5, 5) for number in range(60)])
    other = given.sample(frac=1, random_state=4)
    other.attrs = {"time": "2026-01-02T03:04:05+00:00", "service": "x"}
    assert occupancy_chart(given).summary() == occupancy_chart(other).summary()
    assert len(occupancy_chart(given).summary().splitlines()) < 30


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
    chart = occupancy_chart(given)
    assert {"no cap: 1", "not read: 2"} <= set(chart.summary().splitlines())
    assert rows(only(chart))["1"] == ("2", "attendee_max not read")
    assert "Odd (3): could not be read" in chart.summary()
    assert "could not be read" in " ".join(shown(chart))
