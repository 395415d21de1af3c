"""The panel of occupancy, without a browser: what a click does is a public method, too."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC
from pathlib import Path

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import OccupancyPanel
from confkit.panels.live import clock
from confkit.panels.parts import Bar
from confkit.panels.parts.table import PAGE
from tests.conftest import need
from tests.occupancy.made import record, steady
from tests.panels.pressing import LONG

FILES = Path("/proc/self/fd")
GET, USERS = "/rtc/room/get", "/rtc/room/get_room_info"
UNKNOWN = "0000000001"


@pytest.fixture
def rooms(client, sandbox) -> dict[str, str]:
    """A room at its cap, one nearly so, one in use, an empty one, and one without a cap."""
    ids = {}
    for topic, cap, people in (
        ("empty", 9, 0),
        ("used", 9, 2),
        ("near", 5, 4),
        ("full", 3, 3),
        ("open", None, 1),
    ):
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


def cells(panel: OccupancyPanel) -> dict[str, dict[str, object]]:
    """The rows on the page: their cells by column, by the room's name."""
    names = [name for name, *_ in panel.table.columns]
    return {row[0]: dict(zip(names, row, strict=True)) for _, row in panel.table.rows}


def open_fonts() -> int:
    """How many files of fonts this process holds open."""
    found = 0
    for one in FILES.iterdir():
        with suppress(OSError):  # closed meanwhile
            found += str(one.readlink()).endswith((".ttf", ".otf", ".ttc"))
    return found


def test_the_value_is_the_occupancy_of_a_sweep(panel_of, client, rooms):
    """The panel's value is what the two functions give, further columns of the table among it;
    whoever works on it works on a copy."""
    table = pd.DataFrame({"room_id": rooms.values(), "floor": range(5)})
    panel = panel_of(table)
    expected = ck.occupancy_frame(ck.sweep(client, table))
    assert panel.value.columns.tolist() == [*expected.columns[:8], "read_at", "floor"]
    pd.testing.assert_frame_equal(panel.value.drop(columns="read_at"), expected)
    assert panel.value.attrs["service"] == client.name
    del panel.value["topic"]
    panel.value["users"] = 0
    pd.testing.assert_frame_equal(panel.refresh_page().drop(columns="read_at"), expected)


def test_the_fullest_room_is_on_top_and_rooms_are_counted_by_state(panel_of, rooms):
    """Bars, the most utilised first; those near and at their cap say so, one without a cap says
    that. Above them stand the rooms of each state, and all users."""
    panel = panel_of(rooms.values())
    shown = {name: Bar(**row["fullness"]) for name, row in cells(panel).items()}
    assert list(shown) == ["full", "near", "used", "empty", "open"]
    assert shown["full"] == Bar("3 of 3, full", 1.0, "full")
    assert shown["near"] == Bar("4 of 5, nearly full", 0.8, "near")
    assert shown["used"] == Bar("2 of 9", 2 / 9, "free")
    assert shown["open"] == Bar("1, no cap", None, "no cap")
    for part in ("5 rooms", "10 users", "10 people", "0 devices"):
        assert f">{part}<" in panel.totals.html
    pressed = [one.description for one in panel.counts.children if one.layout.display != "none"]
    assert pressed == ["1 full", "1 nearly full", "0 over", "1 in use", "1 empty", "1 no cap"]


def test_a_count_that_is_pressed_and_a_search_leave_the_rooms_that_fit(panel_of, rooms):
    """Pressed again, or from code, it leaves all; the value holds all rooms whatever is shown. A
    room that could not be read is no empty one, and is named once."""
    panel = panel_of([*rooms.values(), UNKNOWN])
    row = cells(panel)[UNKNOWN]
    assert (Bar(**row["fullness"]), row["people"]) == (Bar("not read", None, "unread"), None)
    assert panel.value["users"].isna().tolist() == [False] * 5 + [True]
    assert f"room '{UNKNOWN}'" in panel.frame.text
    assert "room not found. Compare the number" in panel.frame.text
    full, near, *_, unread = panel.counts.children
    assert unread.description == "1 not read"
    full.value = True
    assert list(cells(panel)) == ["full"]
    near.value = True
    assert (list(cells(panel)), full.value) == (["near"], False)
    near.value = False
    assert len(cells(panel)) == 6
    panel.filter("used")
    assert list(cells(panel)) == ["used"]
    assert panel.table.told.startswith("1 of 6 rooms")
    panel.filter(state="unread")
    assert (list(cells(panel)), unread.value, len(panel.value)) == ([UNKNOWN], True, 6)
    with pytest.raises(ck.ConfigError, match="Give one of over, full, near"):
        panel.filter(state="half full")
    panel.select(UNKNOWN)
    assert f"{UNKNOWN}: no sample could be read" in panel.curve.view.html


def test_a_sweep_is_shown_as_it_is(panel_of, client, sandbox, rooms):
    """A finished sweep is shown with no request, and nothing is read again by itself; a refresh
    reads its rooms."""
    swept = ck.sweep(client, list(rooms.values()))
    before = sandbox.count()
    panel = panel_of(swept)
    value = panel.value.drop(columns="read_at")
    pd.testing.assert_frame_equal(value, ck.occupancy_frame(swept))
    assert (panel.value["read_at"] == swept.time).all()
    assert panel.frame.every == 0
    assert sandbox.count() == before
    sandbox.join(rooms["empty"], "Ada")
    assert panel.refresh()["users"].tolist() == [1, 2, 4, 3, 1]


def test_without_ids_the_rooms_that_are_known(panel_of, client):
    """Of none the panel says so, and its value is empty; new ones come with a refresh."""
    panel = panel_of()
    assert len(panel.value) == 0
    assert "Give room_ids, create one" in panel.table.empty
    new = ck.create_room(client, "new", "ops")
    assert panel.refresh()["room_id"].tolist() == [new]
    assert panel.value["source"].tolist() == ["created"]


def test_automatic_refresh_reads_what_is_on_the_screen(panel_of, client, sandbox):
    """Of more rooms than a page holds only its rows are read again. A page that is turned to is
    read at once, while automatic refresh is on."""
    ids = [ck.create_room(client, f"room {n}", "ops", attendee_max=2) for n in range(PAGE + 9)]
    panel = panel_of(ids)
    assert panel.frame.every == 15
    unseen = next(one for one in ids if one not in panel.table.visible)
    for room_id in (panel.table.visible[0], unseen):
        sandbox.join(room_id, "Ada")
    before = sandbox.count(GET), sandbox.count(USERS)
    assert panel.refresh_page()["users"].sum() == 1
    assert (sandbox.count(GET), sandbox.count(USERS)) == (before[0] + PAGE, before[1] + PAGE)
    assert panel.value["read_at"].nunique() == 2
    panel.table.turn(1)
    panel.wait()
    assert panel.value["users"].sum() == 2
    panel.refresh_every(0)
    panel.wait()
    before = sandbox.count()
    panel.table.turn(1)
    panel.wait()
    assert sandbox.count() == before


def test_how_often_is_chosen(panel_of, rooms):
    """Automatic refresh is off, or comes after so many seconds; others than those offered too."""
    panel = panel_of(rooms.values(), every=0)
    assert panel.frame.every == 0
    panel.often.value = 60.0
    assert panel.frame.every == 60
    panel.refresh_every(2.5)
    assert (panel.often.label, panel.frame.every) == ("every 2.5 s", 2.5)


@pytest.mark.parametrize("every", [-1, 0.1, 1e9, float("inf"), float("nan"), "5"])
def test_a_pace_that_is_none_is_refused_before_anything_is_sent(panel_of, rooms, sandbox, every):
    """A panel that cannot refresh so often is not made, and no reading begins."""
    running, before = set(threading.enumerate()), sandbox.count()
    with pytest.raises(ck.ConfigError, match="Give seconds"):
        panel_of(rooms.values(), every=every)
    with pytest.raises(ck.ParameterError, match="place 2"):
        panel_of(["1", 2.5])
    assert sandbox.count() == before
    assert set(threading.enumerate()) <= running


def test_a_service_that_is_not_there_at_first(sandbox, tmp_path):
    """Its rooms are there, each with why it was not read; where none are known the value is the
    error, no empty frame. The panel says why; a capacity report needs no service."""
    ck.save_occupancy(steady([1, 3, 3], room="1047", attendee_max=3), tmp_path)
    names = ("base_url", "outgoing_url", "access_key", "secret_key", "dialect")
    with ck.connect(**{name: getattr(sandbox, name) for name in names}) as stranger:
        sandbox.close()
        panel = OccupancyPanel(stranger, ["1047"], folder=tmp_path)
        assert panel.value["users"].isna().all()
        assert panel.value["error"].str.contains("refused").all()
        assert "refused" in panel.frame.text
        assert "1 not read in full" in panel.table.told
        with pytest.raises(ck.TransportError):
            panel.refresh_page()
        assert panel.capacity()["room_id"].tolist() == ["1047"]
        assert panel.recorded.report.rows[0][1][0] == "1047"
        panel.close()
        panel = OccupancyPanel(stranger)
        with pytest.raises(ck.TransportError):
            _ = panel.value
        panel.close()


def test_a_picked_room_shows_its_curve(panel_of, rooms, tmp_path):
    """The curve is of what the folder has of the room and what the panel has read since; it says
    in its alternative text and in words what it shows. No synchronised trait holds it."""
    past = steady([1, 3, 2], room=rooms["full"], attendee_max=3)
    record(tmp_path, past)
    panel = panel_of(rooms.values(), folder=tmp_path)
    panel.select(rooms["full"])
    assert panel.curve.layout.display is None
    assert 'aria-label="full: peak 3 of 3 users' in panel.curve.view.html
    assert "<svg" not in str([one.get_state() for one in (panel, panel.curve, panel.curve.view)])
    assert "samples: 4," in panel.curve.words.html
    assert panel.samples(rooms["full"])["users"].tolist() == [1, 3, 2, 3]
    record(tmp_path, steady([2], start="2026-06-01T01:00Z", room=rooms["full"]))
    panel.refresh_page()
    assert "samples: 4," in panel.curve.words.html  # the reading came too close to the first
    panel.select(rooms["full"])  # which reads the folder again
    assert "samples: 5," in panel.curve.words.html
    panel.select("")
    assert panel.curve.layout.display == "none"
    with pytest.raises(ck.ConfigError, match="is not among those of the panel"):
        panel.select(UNKNOWN)


def test_a_click_on_a_row_picks_it(panel_of, rooms):
    """What a click picks is drawn, also while other work is under way; the last click counts."""
    panel = panel_of(rooms.values())
    with panel.working("something else"):
        panel.table.choose(rooms["used"])
        panel.table.choose(rooms["near"])
        assert panel.wait(LONG)
        assert "near: peak 4 of 5" in panel.curve.view.html


def test_curves_open_their_fonts_once(panel_of, rooms):
    """However many threads have a curve drawn, the panel opens no more files of fonts than for the
    first one, and no thread that draws is left when it is closed."""
    need("a list of the files that a process holds", FILES.is_dir(), "use Linux")
    panel, over = panel_of(rooms.values()), threading.Event()
    panel.wait()

    def drawn(room_id: str) -> threading.Thread:
        def draw() -> None:
            panel.select(room_id)
            done.set()
            over.wait(60)  # a thread that has ended would lend its number to the next one

        done = threading.Event()
        thread = threading.Thread(target=draw)
        thread.start()
        assert done.wait(60)
        return thread

    threads, counts = [], []
    for room_id in [rooms["full"], rooms["near"], rooms["used"], rooms["open"]]:
        threads.append(drawn(room_id))
        counts.append(open_fonts())
    over.set()
    for thread in threads:
        thread.join()
    assert counts[0] == counts[-1] > 0
    panel.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("confkit panel draws")]


def test_a_folder_says_what_it_holds_and_how_to_record_into_it(panel_of, client, rooms, tmp_path):
    """How many rooms there are and how old the last sample is; the lines for a terminal and for a
    notebook; of a folder that is not there yet the same lines."""
    folder = tmp_path / "my samples"
    panel = panel_of(rooms.values(), every=0, folder=folder)
    panel.wait()
    assert "Nothing is recorded there yet" in panel.recorded.state.html
    assert f"confkit record &#x27;{folder}&#x27; --rooms rooms.csv" in panel.recorded.state.html
    assert "ck.Recorder(" in panel.recorded.state.html
    ck.Recorder(folder).record(client, list(rooms.values()), every=60, sweeps=1)
    ck.save_occupancy(steady([1, 2], room="1"), tmp_path / "old")
    for typed, told in (
        (f"{folder}/", "It holds samples of 5 rooms, the last "),
        (tmp_path / "old", "samples of 1 room, none in the last day"),
    ):
        panel.recorded.entry.value = str(typed)
        panel.wait()
        assert told in panel.recorded.state.html
    panel.recorded.entry.value = ""
    panel.wait()
    assert panel.recorded.state.layout.display == "none"


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("~nobody-is-called-so", "can be no folder"),
        (300 * "x", "can be no folder"),
        ("strange", "is no recording: it holds notes.txt"),
        ("other", "holds a recording of prod"),
    ],
)
def test_a_folder_that_is_none_of_this_service_is_told(panel_of, rooms, tmp_path, folder, told):
    """In place of the curve, without any warning; the panel goes on reading."""
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "notes.txt").touch()
    other = steady([1, 2], room=rooms["full"])
    other.attrs["service"] = "prod"
    ck.save_occupancy(other, tmp_path / "other")
    folder = tmp_path / folder if (tmp_path / folder[:9]).is_dir() else folder
    panel = panel_of(rooms.values(), every=0, folder=folder)
    panel.wait()
    panel.select(rooms["full"])
    assert told in panel.curve.view.html
    assert panel.refresh()["users"].tolist() == [0, 2, 4, 3, 1]
    with pytest.raises(ck.ConfigError, match=told):
        panel.samples(rooms["full"])
    if told != "holds a recording of prod":
        assert told in panel.recorded.state.html
        with pytest.raises(ck.ConfigError, match=told):
            panel.capacity()
        assert panel.recorded.report.layout.display == "none"


def test_the_capacity_report_of_the_folder(panel_of, rooms, tmp_path):
    """The report of the folder at a risk of 10 % is returned, and shown with its reasons."""
    ck.save_occupancy(steady([1, 3, 3], room=rooms["full"], attendee_max=3), tmp_path)
    panel = panel_of(rooms.values(), folder=tmp_path)
    report = panel.capacity()
    pd.testing.assert_frame_equal(report, ck.capacity_report(tmp_path, risk=0.1))
    [[key, row]] = panel.recorded.report.rows
    assert (key, row[0], "at its cap" in row[-1]) == (rooms["full"], "full", True)


def test_a_read_only_client_can_watch(sandbox, rooms):
    """Nothing here changes the service, so all of it works with read_only."""
    with sandbox.connect(read_only=True) as client:
        panel = OccupancyPanel(client, rooms.values())
        assert len(panel.value) == 5
        panel.wait()
        panel.close()


def test_times_of_another_day_are_told_with_it():
    """The time of day is enough for the newest day; what is older says of which day it is."""
    old, new = (pd.Timestamp(f"2026-03-{day}Z") for day in ("11T23:59:58", "12T00:00:01"))
    assert clock(new, UTC, new) == "00:00:01"
    assert clock(old, UTC, new) == "Wed 11 Mar 2026, 23:59"
