"""The blocks of which panels and notebooks are made."""

import re
import threading
import time

import ipywidgets
import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfkitError, api_error, codes
from confkit.panels import Column, Job, PasswordField, Question, Refresh, Table, status
from confkit.panels.job import message
from tests.panels import pressing as ui

WITH_LOGIN = "rtsp://user:hunter2@192.0.2.7/x"
LOOKING = {"looking": True}  # what a page that shows a Status reports


# Job


def test_one_action_at_a_time_while_the_buttons_are_off():
    """A second press does nothing; what comes of an action stands until the next one begins."""
    job, go, runs = Job(), threading.Event(), []
    actions = {
        "Read": lambda: (runs.append(1), go.wait(ui.LONG)),  # what is no text is not shown
        "Fail": lambda: 1 / 0,
    }
    box = ipywidgets.VBox([job.row({text: action}) for text, action in actions.items()])
    assert "ZeroDivisionError: division by zero" in ui.press(box, "Fail")
    assert 'role="alert"' in ui.html_of(ui.beside(box, "Fail"))
    ui.named(box, "Read").click()
    ui.until(lambda: runs)
    assert ui.text_of(box) == ui.text_of(ui.beside(box, "Read")) == "Working …"
    assert [ui.named(box, text).disabled for text in actions] == [False, True]
    for text in actions:
        ui.named(box, text).click()
    go.set()
    assert job.wait(ui.LONG)
    assert (runs, ui.text_of(box)) == ([1], "")


def test_progress_is_a_bar_that_is_drawn_a_few_times():
    """A sweep of 100,000 rooms does not send 100,000 messages."""
    job, values = Job(), []

    def work():
        for done in range(100_001):
            job.progress(done, 100_000)
            values.append(ui.beside(box, "Work").children[0].value)

    box = job.row({"Work": work})
    ui.press(box, "Work")
    assert (values[-1], len(set(values)) < 100) == (100_000, True)


def test_cancel_ends_what_only_reads():
    """It does so at once, and neither it nor a late press cancels the next action."""
    job, go = Job(), threading.Event()
    actions = {"Read": lambda: job.wait_for(lambda: go.wait(ui.LONG))}
    box = job.row({**actions, "Again": lambda: str(job.cancelled.is_set())})
    late = []

    def has_begun():
        late[:] = ui.beside(box, "Read").children[1:]  # Cancel
        return late

    assert ui.cancel(box, "Read", has_begun) == "Cancelled."
    late[0].click()
    assert ui.press(box, "Again") == "False"
    go.set()
    ui.settled()


@pytest.mark.parametrize("typed", ["", "1614903140"])
def test_a_question_is_asked_before_it_is_done(typed):
    """A number has to be typed where one is named; a double press of yes does it once."""
    job, done = Job(), []
    question = Question(
        f"Delete {WITH_LOGIN}?", lambda: done.append(1) or "Deleted.", "Delete", typed
    )
    box = job.row({"Ask": lambda: question})
    asked = "Delete rtsp://user:***@192.0.2.7/x?"
    for text, answer in (("Ask", asked), ("Keep", ""), ("Ask", asked)):
        assert ui.press(box, text) == answer
    yes = ui.named(box, "Delete")
    assert yes.disabled == bool(typed)
    if typed:
        entry = ui.beside(box, "Ask").children[1]
        for text, disabled in (("1614903141", True), (f" {typed} ", False)):
            entry.value = text
            assert yes.disabled == disabled
    assert not done
    assert ui.confirm(box) == "Deleted."
    yes.click()
    assert job.wait(ui.LONG)
    assert done == [1]


ERRORS = [
    (ck.ConfigError("no key", "Give secret_key= to ck.connect()."), "No key. Refresh and try"),
    (ck.ConfigError("Pick a room first."), "Pick a room first."),
    (ValueError("not this"), "not this"),
    (ValueError(), "Unexpected error, please report it: ValueError"),
    (KeyError(WITH_LOGIN), "Unexpected error, please report it: KeyError"),
    (ConfkitError("x", "Look. See ck.get_room(client, '7')."), "X. Look. Refresh and try again"),
    (ConfkitError("x", "See ck.sweep(). Call the operator."), "X. Call the operator."),
    (ConfkitError("x\x1b[2J", "token=hunter2 is wrong."), "X [2J. token=*** is wrong."),
    (api_error(404, "A", "A3", "get room"), "Check the room number (leading zeros?)"),
    (api_error(423, "B", "B1", "import"), "Choose another user ID, or remove the device"),
    (api_error(426, "B", "B1", "import"), "Press Diagnose to find out why."),
    *((api_error(code.ret, code.interface or "A", "A3", "call"), "") for code in codes()),
]


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_an_error_is_in_the_words_of_a_panel(error, text):
    """It holds no function and no secret, and always what to do next."""
    words = message(error)
    assert text in words
    assert not re.search(r"ck\.|\(client|_id\b|\.\.|hunter2", words)
    assert ". " in words or not getattr(error, "advice", "")


# Table


ROOMS = pd.DataFrame(
    {
        "topic": pd.array(["Room 10", "room 2", None, "Büro"], "string"),
        "users": pd.array([3, None, 0, 12], "Int64"),
    },
    index=["7", "8", "9", "10"],
)


@pytest.fixture
def table():
    columns = [Column("topic", "Topic"), Column("users", "Users", 5, right=True)]
    filters = {"empty": lambda frame: frame["users"] == 0, "used": lambda f: f["users"] > 0}
    made = Table("Rooms", columns, noun="room", filters=filters)
    made.show(ROOMS)
    return made


@pytest.mark.parametrize(
    ("search", "state", "order", "left"),
    [
        ("10 ROOM", "", ["", False], "7"),
        ("12", "", ["", False], ""),  # numbers are not searched
        ("(", "", ["", False], ""),
        ("room", "used", ["", False], "7"),
        ("", "no such filter", ["no such column", True], "7 8 9 10"),
        ("", "", ["topic", False], "10 8 7 9"),
        ("", "", ["users", True], "10 7 9 8"),
    ],
)
def test_rows_are_searched_filtered_and_sorted(table, search, state, order, left):
    """Texts sort as people read them, missing values last; a filter counts all rows."""
    messages = ui.recorded(table)
    table.search, table.filter, table.order = search, state, order
    assert list(table.visible.index) == left.split()
    page, count = messages[-1], len(left.split())
    assert (page["total"], page["filters"]) == (count, [["empty", 1], ["used", 2]])
    assert page["count"] == ("4 rooms" if count == 4 else f"{count} of 4 rooms")


def test_a_pick_stays_while_its_row_is_there(table):
    """Its index, which may be a camera's address, is never sent, nor is a login in a cell."""
    frame = ROOMS.rename(index={"8": WITH_LOGIN}).replace("Büro", WITH_LOGIN)
    messages, page = ui.recorded(table), ui.page_of(table)
    table.show(frame)
    ui.receive(table, {"view": "v", "first": 0})
    assert messages[-1]["rows"][3]["cells"][0] == ["rtsp://user:***@192.0.2.7/x", None]
    number = messages[-1]["rows"][1]["number"]
    table.set_state({"_pick": number})
    assert (table.picked, messages[-1]) == (WITH_LOGIN, {"picked": number})
    table.search = "10"
    table.show(frame.iloc[::-1])
    assert table.picked == WITH_LOGIN
    assert "hunter2" not in page()
    table.show(ROOMS)
    assert (table.picked, table._pick) == (None, -1)
    for nonsense in (number, 99, -5):
        table.set_state({"_pick": nonsense})
        assert table.picked is None


def test_a_view_gets_the_page_that_it_asks_for(table):
    """A page beyond the end is the end; what makes no sense is left alone."""
    table.show(pd.DataFrame({"topic": [f"Room {n}" for n in range(500)], "users": 1}))
    messages = ui.recorded(table)
    for wish, first, count in ((0, 0, 120), (460, 460, 40), (9999, 499, 1), (-3, 0, 120)):
        ui.receive(table, {"view": "a", "first": wish})
        page = messages[-1]
        assert (page["view"], page["first"], len(page["rows"])) == ("a", first, count)
    assert page["rows"][0]["cells"] == [["Room 0", None], ["1", None]]
    before = len(messages)
    for nonsense in (None, {"view": 1, "first": 0}, {"view": "a", "first": "0"}):
        ui.receive(table, nonsense)
    assert len(messages) == before


# PasswordField


@pytest.mark.parametrize(
    ("text", "visible", "sent"),
    [("rtsp://h/1", True, 2), ("rtsp://h/1", False, 0), (WITH_LOGIN, True, 0)],
)
def test_the_text_of_a_password_field_is_in_no_state(text, visible, sent):
    """What code sets is sent, to each page, only where it can be read and holds no login."""
    field = PasswordField("Address", visible=visible)
    page = ui.page_of(field)
    ui.receive(field, {"typed": text})
    assert field.text == text
    assert text not in page()
    field.set(ck.Secret(text))
    ui.receive(field, {})
    assert page().count(text) == sent
    assert "hunter2" not in page() + str(field.__dict__)
    field.clear()
    assert not field.text


# Status and Refresh


@pytest.fixture
def soon(monkeypatch):
    """Beats come sooner, and a page is forgotten after a second."""
    for name, seconds in {"BEAT": 0.05, "WATCHED": 0.5, "FORGOTTEN": 1.0}.items():
        monkeypatch.setattr(status, name, seconds)


@pytest.fixture
def ids(client, sandbox):
    made = [ck.create_room(client, topic, "ops", attendee_max=2) for topic in ("Weekly", "Desk")]
    sandbox.join(made[0], "Ada")
    return made


@pytest.fixture
def refresh(open_panel, ids):
    return open_panel(Refresh, [*ids, "0000"])


def test_rooms_that_fail_keep_what_was_known_of_them(refresh, sandbox, client, ids):
    """With the time of it, and why; a room that is gone, or was never read, has no values."""
    new, before = ck.create_room(client, "New", "ops"), refresh.frame
    ck.delete_room(client, ids[1])
    sandbox.fault("A6", ret=504)
    refresh.add([new])
    assert refresh.read() == "4 rooms could not be read."
    frame = refresh.frame
    assert (refresh.outage, list(frame.index)) == ("", [*ids, "0000", new])
    assert frame["users"].tolist() == [1, pd.NA, pd.NA, pd.NA]
    assert "504" in frame.loc[ids[0], "error"]
    assert frame.loc[ids[0], "read_at"] == before.loc[ids[0], "read_at"]
    assert frame.loc[ids[1], ["topic", "ret"]].tolist() == [pd.NA, 404]
    assert frame.dtypes.equals(before.dtypes)
    sandbox.fault("A3", http=502, body="<h1>")
    refresh.add(["0001"])
    assert pd.isna(refresh.frame.loc["0001", "read_at"])


def test_it_reads_by_itself_while_a_page_shows_it(soon, open_panel, sandbox, ids):
    """Never twice at a time; unseen for a while it rests, then its beats end, until it is seen."""
    refresh = open_panel(Refresh, ids, every=0.1)
    messages = ui.recorded(refresh.status)
    sandbox.fault("A3", delay=0.3)
    for _ in range(2):
        messages.clear()
        before = sandbox.count("A3")
        ui.receive(refresh.status, LOOKING)
        ui.until(lambda before=before: sandbox.count("A3") > before)
        time.sleep(0.25)
        assert sum(thread.name == "confkit refresh" for thread in threading.enumerate()) <= 1
        ui.until(lambda: not refresh.status.watched)
        ui.settled()
        before = sandbox.count()
        ui.until(lambda: not refresh.status._thread.is_alive())
        assert (sandbox.count(), len(messages) > 3) == (before, True)
        assert messages[-1]["age"] < ui.LONG
    ui.receive(refresh.status, LOOKING)
    refresh.close()
    ui.settled()
    before = sandbox.count()
    time.sleep(0.3)
    assert sandbox.count() == before


def test_whatever_fails_in_the_background_is_the_outage(soon, open_panel, ids):
    """With the time since when; the next reading that succeeds ends it."""
    refresh, faults = open_panel(Refresh, ids, every=0.1), []
    refresh.on_change(lambda: faults and 1 / 0)
    faults.append(1)
    messages = ui.recorded(refresh.status)
    ui.receive(refresh.status, LOOKING)
    ui.until(lambda: messages and messages[-1]["outage"])
    assert "ZeroDivisionError" in refresh.outage
    assert abs(messages[-1]["outage_age"]) < ui.LONG
    faults.clear()
    ui.receive(refresh.status, LOOKING)
    ui.until(lambda: not refresh.outage)
