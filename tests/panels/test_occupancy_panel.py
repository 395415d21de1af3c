"""The panel of occupancy, without a browser: what a click does is a public method, too."""

import re
import threading
from collections.abc import Callable, Iterator
from html import unescape

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import OccupancyPanel
from confkit.panels.parts import Bar
from confkit.panels.parts.table import PAGE
from tests.occupancy.made import record, steady
from tests.panels.pressing import LONG, USERS, press

UNKNOWN = "0000000001"
# By topic: the cap, and the people.
ROOMS = {"empty": (9, 0), "used": (9, 2), "near": (5, 4), "full": (3, 3), "open": (None, 1)}


@pytest.fixture
def rooms(client, sandbox) -> dict[str, str]:
    """An empty room, one in use, one nearly at its cap, one at it, and one without a cap."""
    ids = {}
    for topic, (cap, people) in ROOMS.items():
        ids[topic] = ck.create_room(client, topic, "ops", attendee_max=cap)
        for number in range(people):
            sandbox.join(ids[topic], f"{topic} {number}")
    return ids


@pytest.fixture
def panel_of(client) -> Iterator[Callable[..., OccupancyPanel]]:
    """Makes panels, once they are read, and closes them with the test."""
    made = []

    def make(*arguments, **options):
        made.append(OccupancyPanel(client, *arguments, **options))
        assert made[-1].value is not None
        return made[-1]

    yield make
    for panel in made:
        panel.wait()
        panel.close()


def bars(panel: OccupancyPanel) -> dict[str, Bar]:
    """The bars on the page by the room's name, from the top."""
    return {row[0]: Bar(**row[1]) for _, row in panel.table.rows}


def test_the_value_is_the_occupancy_of_a_sweep(panel_of, client, sandbox, rooms):
    """Also of a finished one, which is shown with no request, and not read again by itself; further
    columns of its table are among it. Whoever works on the value works on a copy."""
    swept = ck.sweep(client, pd.DataFrame({"room_id": rooms.values(), "floor": range(5)}))
    expected, before = ck.occupancy_frame(swept), sandbox.count()
    panel = panel_of(swept)
    assert panel.value.columns.tolist() == [*expected.columns[:8], "read_at", "floor"]
    pd.testing.assert_frame_equal(panel.value.drop(columns="read_at"), expected)
    assert (panel.value["read_at"] == swept.time).all()
    assert (panel.frame.every, sandbox.count()) == (0, before)
    panel.value["users"] = 0
    pd.testing.assert_frame_equal(panel.refresh_page().drop(columns="read_at"), expected)
    sandbox.join(rooms["empty"], "Ada")
    assert panel.refresh()["users"].tolist() == [1, 2, 4, 3, 1]


def test_the_fullest_room_is_on_top_and_filters_are_the_counts_of_states(panel_of, rooms):
    """Bars, the most utilised first. Above them stands how many rooms are in each state, of which
    one that is pressed leaves its own, and pressed again all, as a search does; the value holds all
    rooms whatever is shown. A room that could not be read is no empty one, and is named once."""
    panel = panel_of([*rooms.values(), UNKNOWN])
    assert list(bars(panel).items()) == [
        ("full", Bar("3 of 3, full", 1.0, "full")),
        ("near", Bar("4 of 5, nearly full", 0.8, "near")),
        ("used", Bar("2 of 9", 2 / 9, "in use")),
        ("empty", Bar("0 of 9, empty", 0.0, "empty")),
        ("open", Bar("1, no cap", None, "no cap")),
        (UNKNOWN, Bar("not read", None, "unread")),
    ]
    assert re.fullmatch(r"6 rooms · 1 not read .* · read at .* · 10 users", panel.table.told)
    assert panel.value["users"].isna().tolist() == [False] * 5 + [True]
    assert f"room '{UNKNOWN}'" in panel.frame.text
    full, near, over, *_, unread = buttons = panel.counts.children
    assert [one.description for one in buttons] == (
        ["1 full", "1 nearly full", "0 over", "1 in use", "1 empty", "1 no cap", "1 not read"]
    )
    for button, left in ((full, ["full"]), (near, ["near"])):
        button.value = True
        assert list(bars(panel)) == left
    assert not full.value
    near.value = False
    assert len(bars(panel)) == 6
    panel.filter("used")
    assert (list(bars(panel)), panel.table.told[:14]) == (["used"], "1 of 6 rooms ·")
    panel.filter(state="in use")
    assert list(bars(panel)) == ["used"]
    panel.filter(state="unread")
    assert (list(bars(panel)), unread.value, len(panel.value)) == ([UNKNOWN], True, 6)
    with pytest.raises(ck.ConfigError, match="Give one of over, full, near"):
        panel.filter(state="half full")
    panel.select(UNKNOWN)
    assert f"{UNKNOWN}: no sample could be read" in panel.curve.view.html
    panel.model.drop(UNKNOWN)
    panel.filter()
    assert [one.layout.display for one in (over, unread)] == [None, "none"]


def test_automatic_refresh_reads_what_is_on_the_screen(panel_of, client, sandbox):
    """Of more rooms than a page holds only its rows are read again. A page that is turned to is
    read at once, while automatic refresh is on; how often is chosen, also otherwise than offered.
    """
    panel = panel_of([ck.create_room(client, f"room {n}", "ops") for n in range(PAGE + 9)])
    assert panel.frame.every == 15
    before = sandbox.count(USERS)
    panel.refresh_page()
    assert sandbox.count(USERS) == before + PAGE
    for every, label, read in ((60, "every 60 s", 9), (2.5, "every 2.5 s", PAGE), (0, "off", 0)):
        panel.refresh_every(every)
        assert (panel.often.label, panel.frame.every) == (label, every)
        panel.wait()
        before = sandbox.count(USERS)
        panel.table.turn(int(read == 9))
        panel.wait()
        assert sandbox.count(USERS) == before + read


def test_a_pace_that_is_none_is_refused_before_anything_is_sent(client, sandbox):
    """A panel that cannot refresh so often is not made, and no reading begins."""
    running = set(threading.enumerate())
    for every in (-1, 0.1, 1e9, float("nan"), "5"):
        with pytest.raises(ck.ConfigError, match="Give seconds"):
            OccupancyPanel(client, [UNKNOWN], every=every)
    assert sandbox.count() == 0
    assert set(threading.enumerate()) <= running


def test_a_capacity_report_needs_no_service(client, sandbox, tmp_path):
    """The report of the folder at a risk of 10 % is returned, and shown with its reasons. Rooms of
    a service that is not there say why they were not read."""
    ck.save_occupancy(steady([1, 3, 3], room="1047", attendee_max=3), tmp_path)
    sandbox.close()
    panel = OccupancyPanel(client, ["1047"], folder=tmp_path)
    assert panel.value["users"].isna().all()
    assert panel.value["error"].str.contains("this sandbox is closed").all()
    with pytest.raises(ck.ConfigError):
        panel.refresh_page()
    report = panel.capacity()
    pd.testing.assert_frame_equal(report, ck.capacity_report(tmp_path, risk=0.1))
    [[key, row]] = panel.recorded.report.rows
    assert (key, row[0], "at its cap" in row[-1]) == ("1047", "1047", True)
    panel.close()


def test_rooms_that_were_full_come_first_in_the_capacity_table(client, rooms, tmp_path):
    """There is no suggestion for them, and they are what the report is looked at for."""
    samples = [
        steady([1, 2] * 35, room="a", attendee_max=500, every="1D"),
        steady([2, 3] * 35, room="b", attendee_max=3, every="1D"),
        steady([1, 2] * 35, room="c", attendee_max=9, every="1D"),
    ]
    ck.save_occupancy(pd.concat(samples), tmp_path)
    panel = OccupancyPanel(client, [*rooms.values()], every=0, folder=tmp_path)
    report = panel.capacity().set_index("room_id")
    assert report["suggested"].isna()["b"]
    assert [key for key, _ in panel.recorded.report.rows] == ["b", "a", "c"]
    panel.close()


def test_a_picked_room_shows_its_curve(panel_of, rooms, tmp_path):
    """The curve is of what the folder has of the room and what the panel has read since; it says
    in its alternative text and in words what it shows."""
    record(tmp_path, steady([1, 3, 2], room=rooms["full"], attendee_max=3))
    panel = panel_of(rooms.values(), folder=tmp_path)
    panel.select(rooms["full"])
    assert panel.curve.layout.display is None
    assert 'aria-label="full: peak 3 of 3 users' in panel.curve.view.html
    assert "samples: 4," in panel.curve.words.html
    assert panel.samples(rooms["full"])["users"].tolist() == [1, 3, 2, 3]
    record(tmp_path, steady([2], start="2026-06-01T01:00Z", room=rooms["full"]))
    panel.select(rooms["full"])  # which reads the folder again
    assert "samples: 5," in panel.curve.words.html
    with panel.working("something else"):
        for name in ("used", "near"):  # by clicks, of which the last counts
            panel.table.choose(rooms[name])
        assert panel.wait(LONG)
        assert "near: peak 4 of 5" in panel.curve.view.html
    press(panel, "Close")
    assert panel.curve.layout.display == "none"


def test_a_folder_says_what_it_holds_and_how_to_record_into_it(panel_of, client, rooms, tmp_path):
    """How many rooms there are and how old the last sample is; the lines for a terminal and for a
    notebook; of a folder that is not there yet the same lines. One that is none of this service is
    told, also in place of the curve, and the panel goes on reading."""
    folder, full = tmp_path / "my samples", rooms["full"]
    panel = panel_of(rooms.values(), every=0)
    panel.select(full)

    def shows(typed) -> str:
        panel.recorded.entry.value = str(typed)
        assert panel.wait(LONG)
        return unescape(panel.recorded.state.html)

    told = shows(f"{folder}/")
    for line in ("Nothing is recorded there yet", "ck.Recorder(", f"record '{folder}/' --rooms"):
        assert line in told
    shows("")
    assert panel.recorded.state.layout.display == "none"
    ck.Recorder(folder).record(client, list(rooms.values()), every=60, sweeps=1)
    assert "It holds samples of 5 rooms, the last " in shows(folder)
    ck.save_occupancy(steady([1, 2], room="1"), tmp_path / "old")
    assert "samples of 1 room, none in the last day" in shows(tmp_path / "old")
    assert panel.recorded.state.layout.display is None

    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "notes.txt").touch()
    other = steady([1, 2], room=full)
    other.attrs["service"] = "prod"
    ck.save_occupancy(other, tmp_path / "other")
    for typed, why in (
        (tmp_path / "other", "holds a recording of prod"),
        (tmp_path / "strange", "is no recording: it holds notes.txt"),
        ("~nobody-is-called-so", "can be no folder"),
        (300 * "x", "can be no folder"),
    ):
        assert (why in shows(typed)) == (typed != tmp_path / "other")
        with pytest.raises(ck.ConfigError, match=why):
            panel.samples(full)
        panel.select(full)
        assert why in panel.curve.view.html
    assert panel.refresh()["users"].tolist() == [0, 2, 4, 3, 1]
    with pytest.raises(ck.ConfigError, match="can be no folder"):
        panel.capacity()
