"""The blocks of which panels and notebooks are made."""

import re
import threading
from functools import partial

import pandas as pd
import pytest

import confkit as ck
from confkit.errors import Cancelled, api_error, codes
from confkit.panels import Column, Job, PasswordField, Question, Refresh, Table, status
from confkit.panels.job import message
from tests.panels import pressing as ui

WITH_LOGIN, MASKED = "rtsp://user:hunter2@h/x", "rtsp://user:***@h/x"
LOOKING = {"looking": True}  # what a page that shows a Status reports


def test_one_action_at_a_time_while_the_buttons_are_off():
    """Its message stands at its own button, until the next action begins."""
    job, go, runs = Job(), threading.Event(), []
    read = job.row({"Read": lambda: (runs.append(1), go.wait(ui.LONG))})
    fail = job.row({"Fail": lambda: 1 / 0})
    assert "ZeroDivisionError: division by zero" in ui.press(fail, "Fail")
    ui.named(read, "Read").click()
    ui.until(lambda: runs)
    assert (ui.text_of(read), ui.text_of(fail)) == ("Working …", "")
    assert ui.named(fail, "Fail").disabled
    ui.named(read, "Read").click()
    go.set()
    assert job.wait(ui.LONG)
    assert runs == [1]


def test_cancel_ends_what_only_reads():
    """It does so at once, and neither it nor a late press cancels the next action."""
    job, go = Job(), threading.Event()
    reads = {"Read": lambda: job.wait_for(lambda: go.wait(ui.LONG))}
    box = job.row({**reads, "Again": lambda: str(job.cancelled.is_set())})
    ui.named(box, "Read").click()
    ui.until(lambda: len(ui.feedback(box, "Read").children) == 2)
    late = ui.named(box, "Cancel")
    assert ui.press(box, "Cancel") == "Cancelled."
    late.click()
    assert ui.press(box, "Again") == "False"
    go.set()


def test_what_comes_late_is_not_of_the_row_that_was_picked_since():
    """A question is not asked then, and an error says so."""
    job, go = Job(), threading.Event()
    actions = {"Ask": lambda: Question("Do it?", lambda: None), "Fail": lambda: 1 / 0}
    box = job.row({text: lambda act=act: go.wait() and act() for text, act in actions.items()})
    for text, answer in (("Ask", "$"), ("Fail", "Previous action: Unexpected error")):
        go.clear()
        ui.named(box, text).click()
        job.clear()
        go.set()
        assert job.wait(ui.LONG)
        assert re.match(answer, ui.text_of(box))


def test_a_question_is_asked_before_it_is_done():
    """What it names has to be typed; a double press of yes does it once."""
    job, done = Job(), []
    ask = Question(f"{WITH_LOGIN}?", lambda: done.append(1) or "Done.", "Do", typed="7")
    box = job.row({"Ask": lambda: ask})
    assert ui.press(box, "Ask") == f"{MASKED}?"
    assert ui.press(box, "Keep") == ""
    ui.press(box, "Ask")
    yes = ui.named(box, "Do")
    for text, disabled in (("", True), ("8", True), (" 7 ", False)):
        ui.feedback(box, "Ask").children[1].value = text
        assert yes.disabled == disabled
    assert ui.confirm(box) == "Done."
    yes.click()
    assert job.wait(ui.LONG)
    assert done == [1]


def test_an_error_is_in_the_words_of_a_panel():
    """Each result code has a next step, and none in terms of functions."""
    assert message(KeyError(WITH_LOGIN)).endswith(f"please report it: KeyError: '{MASKED}'")
    assert "Press Diagnose to find out why." in message(api_error(426, "B", "B1", "import"))
    for code in codes():
        words = message(api_error(code.ret, code.interface or "A", "A3", "call"))
        assert ". " in words
        assert not re.search(r"ck\.|\(client|_id\b|\.\.", words)


TOPICS = pd.array(["Room 10", "room 2", None, "Büro"], "string")
USERS = pd.array([3, None, 0, 12], "Int64")
FRAME = pd.DataFrame({"topic": TOPICS, "users": USERS}, index=["7", "8", "9", "10"])


@pytest.fixture
def table():
    columns = [Column("topic", "Topic"), Column("users", "Users")]
    made = Table("Rooms", columns, noun="room", filters={"used": lambda f: f["users"] > 0})
    made.show(FRAME)
    return made


@pytest.mark.parametrize(
    ("search", "state", "order", "left"),
    [
        ("room", "used", "", "7"),
        ("", "", "topic", "10 8 7 9"),
    ],
)
def test_rows_are_searched_filtered_and_sorted(table, search, state, order, left):
    """Texts sort as people read them; a filter counts all rows."""
    messages = ui.recorded(table)
    table.search, table.filter, table.order = search, state, [order, False]
    assert list(table.visible.index) == left.split()
    assert messages[-1]["filters"] == [["used", 2]]
    assert messages[-1]["count"] == ("1 of 4 rooms" if search else "4 rooms")


def test_a_pick_stays_while_its_row_is_there(table):
    """Its index, which may be a camera's address, is never sent, nor is a login in a cell."""
    messages = ui.recorded(table)
    other = FRAME.rename(index={"8": WITH_LOGIN}).replace("Büro", WITH_LOGIN)
    table.show(other)
    ui.receive(table, {"view": "v", "first": 0})
    assert messages[-1]["rows"][3]["cells"][0] == [MASKED, None]
    number = messages[-1]["rows"][1]["number"]
    table.set_state({"_pick": number})
    assert (table.picked, messages[-1]) == (WITH_LOGIN, {"picked": number})
    table.show(other.iloc[::-1])
    assert table.picked == WITH_LOGIN
    assert "hunter2" not in f"{ui.saved(table)} {messages}"
    table.show(FRAME)
    assert table.picked is None
    table.set_state({"_pick": number})  # from a page that still shows it
    assert table.picked is None


@pytest.mark.parametrize(
    ("text", "visible", "sent"),
    [("rtsp://h/1", True, 2), ("rtsp://h/1", False, 0), (WITH_LOGIN, True, 0)],
)
def test_the_text_of_a_password_field_is_in_no_state(text, visible, sent):
    """What code sets is sent, to each page, only where it can be read and holds no login."""
    field = PasswordField("Address", visible=visible)
    messages = ui.recorded(field)
    ui.receive(field, {"typed": text})
    assert field.text == text
    field.set(text)
    ui.receive(field, {})
    assert (str(messages).count(text), text in ui.saved(field)) == (sent, False)


def test_rooms_that_fail_keep_what_was_known_of_them(open_panel, sandbox, client, ids):
    """With the time of it, and why; a room that is gone, or was never read, has none."""
    kept, gone, new = (ids[topic] for topic in ("used", "near", "full"))
    refresh = open_panel(Refresh, [kept, gone])
    before = refresh.frame
    ck.delete_room(client, gone)
    sandbox.fault("A6", ret=504)
    refresh.add([new])
    assert refresh.read() == "3 rooms could not be read."
    frame = refresh.frame
    assert (refresh.outage, list(frame.index)) == ("", [kept, gone, new])
    assert frame["users"].tolist() == [1, pd.NA, pd.NA]
    assert "504" in frame.loc[kept, "error"]
    assert frame.loc[kept, "read_at"] == before.loc[kept, "read_at"]


def test_a_cancelled_reading_changes_nothing(open_panel, sandbox, ids):
    """It hides no outage, adds no rooms, and does not wait for another reading that hangs."""
    refresh = open_panel(Refresh, [ids["used"]])
    before, cancelled, go = refresh.frame, threading.Event(), threading.Event()
    cancelled.set()

    def cancel():
        for read in (refresh.read, partial(refresh.add, [ids["full"]])):
            with pytest.raises(Cancelled):
                read(cancelled=cancelled)

    sandbox.fault("A3", drop=True)
    with pytest.raises(ck.TransportError):
        refresh.read()
    sandbox.clear_faults()
    cancel()
    assert "closed the connection" in refresh.outage
    assert (refresh.frame is before, refresh.room_ids) == (True, [ids["used"]])
    hanging = threading.Thread(target=refresh.read)
    refresh.on_change(lambda: threading.current_thread() is hanging and go.wait(ui.LONG))
    ui.begin(sandbox, "A6", hanging.start)
    cancel()
    assert hanging.is_alive()
    go.set()
    hanging.join(ui.LONG)


@pytest.fixture
def refresh(monkeypatch, open_panel, ids):
    """Two rooms, read as soon as a page that shows them is there."""
    monkeypatch.setattr(status, "BEAT", 0.02)
    return open_panel(Refresh, [ids["full"], ids["used"]], every=0.05)


def in_background(refresh, act):
    """Do something in each reading that the block begins by itself."""
    test = threading.current_thread()
    refresh.on_change(lambda: threading.current_thread() is test or act())


def test_it_reads_while_a_page_shows_it_and_never_twice_at_a_time(refresh, sandbox, monkeypatch):
    go, beats = threading.Event(), ui.recorded(refresh.status)
    in_background(refresh, lambda: go.wait(ui.LONG))

    def nothing_is_read():
        before, count = sandbox.count(), len(beats)
        ui.until(lambda: len(beats) > count + 5)
        return sandbox.count() == before

    ui.begin(sandbox, "A3", lambda: ui.receive(refresh.status, LOOKING))
    ui.until(nothing_is_read)
    ui.begin(sandbox, "A3", go.set)
    monkeypatch.setattr(status, "WATCHED", 0)
    nothing_is_read()  # until the beats know
    ui.settled()
    assert all(nothing_is_read() for _ in range(5))


def test_whatever_fails_in_the_background_is_the_outage(refresh):
    """The next reading that succeeds ends it."""
    faults, beats = [1], ui.recorded(refresh.status)
    in_background(refresh, lambda: faults and 1 / 0)
    ui.receive(refresh.status, LOOKING)
    ui.until(lambda: beats and beats[-1]["outage"])
    assert "ZeroDivisionError" in refresh.outage
    faults.clear()
    ui.until(lambda: not refresh.outage)
