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


def test_every_room_has_its_row_by_how_full_it_is():
    """A bar as long as its users are of its cap, and what that is called: by users per cap, then
    those without a cap, the unread last; of equally full ones the larger first, and Room 2 before
    Room 10. Each state has a colour, a pattern or a word of its own. The summary is the same, with
    each room's ID."""
    given = [
        ("Odd", -1, 10),
        ("None", 99, None),
        ("Lost", None, 5),
        ("Zero", 4, 0),
        ("Less", 3, -1),
        ("Near", 8, 10),
        ("Over", 4000, 4),
        ("Room 10", 1, 1),
        ("Room 2", 1, 1),
        ("Hall", 50, 50),
        ("Free", 7, 10),
        ("Empty", 0, 25),
        (None, 7, None),
    ]
    axes = only(chart := occupancy_chart(frame(*given)))
    assert list(rows(axes).items()) == [
        ("Over", ("4,000 of 4", "over by 3,996")),
        ("Hall", ("50 of 50", "full")),
        ("Room 2", ("1 of 1", "full")),
        ("Room 10", ("1 of 1", "full")),
        ("Near", ("8 of 10", "nearly full")),
        ("Free", ("7 of 10", "in use")),
        ("Empty", ("0 of 25", "empty")),
        ("None", ("99", "no cap")),
        ("room-12", ("7", "no cap")),
        ("Zero", ("4", "no cap")),
        ("Less", ("3", "no cap")),
        ("Lost", ("", "could not be read")),
        ("Odd", ("", "could not be read")),
    ]
    full = {"Hall": [1, 1], "Room 2": [1, 1], "Room 10": [1, 1], "Over": [1, 1000]}
    below = {"Near": [1, 0.8], "Free": [1, 0.7], "Empty": [1, 0], "Lost": [-1], "Odd": [-1]}
    assert bars(axes) == full | below | {name: [] for name in ("None", "room-12", "Zero", "Less")}
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_xlim()[1] < 1.5  # a bar is cut off, so that it does not press others flat
    found = axes.patches[3:12:2]  # on their tracks, from Hall to Free
    assert len({bar.get_facecolor() for bar in found}) == 3
    assert len({bar.get_hatch() for bar in found}) == 3
    title = "4 of 13 rooms full (1 over the cap), 1 nearly, 2 could not be read"
    assert head(chart)[0] == title
    assert chart.summary().splitlines() == [
        title,
        "over: 1",
        "full: 3",
        "nearly full: 1",
        "in use: 1",
        "empty: 1",
        "no cap: 4",
        "not read: 2",
        "  Over (room-6): 4,000 of 4, over by 3,996",
        "  Hall (room-9): 50 of 50, full",
        "  Room 2 (room-8): 1 of 1, full",
        "  Room 10 (room-7): 1 of 1, full",
        "  Near (room-5): 8 of 10, nearly full",
        "  Free (room-10): 7 of 10, in use",
        "  Empty (room-11): 0 of 25, empty",
        "  None (room-1): 99, no cap",
        "  room-12: 7, no cap",
        "  Zero (room-3): 4, no cap",
        "  Less (room-4): 3, no cap",
        "  Lost (room-2): could not be read",
        "  Odd (room-0): could not be read",
    ]
    assert occupancy_chart(frame()).summary() == "No rooms"


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


@pytest.mark.parametrize("count", [0, 1, 20, 21, 800])
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


def test_rooms_that_could_not_be_read_are_named_among_many_too():
    """Where the 20 fullest leave no place for the unread, the last line names them."""
    given = [(f"Room {number}", 1, 2) for number in range(40)]
    given += [(f"Lost {number}", None, 2) for number in range(10)]
    chart = occupancy_chart(frame(*reversed(given)))
    last = chart.texts[-1].get_text()
    assert last.startswith("Could not be read: Lost 0, Lost 1, Lost 2")
    assert last.endswith("Lost 7 and 2 more")
    assert chart.summary().endswith(last)


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
