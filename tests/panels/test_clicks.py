"""Clicks while a panel does something else: by itself, or for another click."""

import threading
import time
from functools import partial

import pytest

import confkit as ck
from confkit.panels import RoomExplorer
from confkit.panels.arranging import button
from confkit.panels.panel import Panel
from tests.panels.pressing import LONG, named

USERS = "/rtc/room/get_room_info"


class Reading(Panel):
    """A panel that reads for as long as it is told to, and notes what was done."""

    def __init__(self):
        super().__init__("Reading", None)
        self.done, self.begun, self.may_end = [], threading.Event(), threading.Event()

    def read(self):
        self.begun.set()
        assert self.may_end.wait(LONG)
        self.done.append("read")
        self.value = list(self.done)


@pytest.mark.parametrize("begin", ["first", "tick"])
def test_clicks_during_what_nobody_clicked_for_take_effect_after_it_in_their_order(begin):
    """The first reading and an automatic one hold clicks up; they do not swallow them."""
    panel = Reading()
    if begin == "first":
        panel.first(panel.read)
    else:
        panel.every(60, panel.read)
        panel.frame._hear(None, {"kind": "tick"}, [])
    assert panel.begun.wait(LONG)
    for word in ("clicked", "clicked again"):
        panel.clicked(lambda word=word: panel.done.append(word))()
    assert panel.done == []
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "clicked", "clicked again"]


def test_the_first_value_is_there_before_what_was_clicked_meanwhile():
    """Whoever waits for the value does not wait for a click's work, too."""
    panel, goes_on = Reading(), threading.Event()
    panel.first(panel.read)
    assert panel.begun.wait(LONG)
    panel.clicked(lambda: goes_on.wait(LONG))()
    panel.may_end.set()
    assert panel.value == ["read"]
    goes_on.set()
    assert panel.wait(LONG)


def test_a_tick_during_a_clicks_work_is_left_out_and_a_click_waits():
    """The clock does not follow a click with a reading; another click has its turn."""
    panel = Reading()
    panel.every(60, lambda: panel.done.append("tick"))
    panel.clicked(panel.read)()
    assert panel.begun.wait(LONG)
    panel.frame._hear(None, {"kind": "tick"}, [])
    panel.clicked(lambda: panel.done.append("clicked"))()
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "clicked"]


# More clicks than one


def held(panel, name="Read"):
    """The button of the reading, whose click is under way."""
    made = button(name, panel.clicked(panel.read, "reading"))
    made.click()
    assert panel.begun.wait(LONG)
    return made


def noting(panel, word):
    """A button that notes this word."""
    return button(word, panel.clicked(lambda: panel.done.append(word)))


def test_clicks_during_a_clicks_work_are_named_in_the_head_and_done_in_their_order():
    """Whoever waits for the panel waits for all of them."""
    panel = Reading()
    reads, later = held(panel), [noting(panel, word) for word in ("Create", "Export")]
    for one in later:
        one.click()
    assert panel.frame.waiting == "Waiting: Create, Export."
    assert all("confkit-at-work" in one._dom_classes for one in (reads, *later))
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "Create", "Export"]
    assert panel.frame.waiting == ""
    assert not any("confkit-at-work" in one._dom_classes for one in (reads, *later))


def test_a_second_click_of_the_same_button_is_said_and_does_not_count():
    """Whether its first click is under way or waits; once it is done, another one counts."""
    panel = Reading()
    read, create = held(panel), noting(panel, "Create")
    read.click()
    assert panel.frame.waiting == "Already under way: Read."
    create.click()
    create.click()
    assert panel.frame.waiting == "Waiting: Create. Already waiting: Create."
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "Create"]
    create.click()
    assert panel.wait(LONG)
    assert panel.done == ["read", "Create", "Create"]


def test_cancel_drops_the_clicks_that_wait_and_says_which():
    """They are not done later, by surprise; the message stays."""
    panel = Reading()
    held(panel)
    for word in ("Create", "Export"):
        noting(panel, word).click()
    panel.frame._hear(None, {"kind": "cancel"}, [])
    assert panel.frame.waiting == ""
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read"]
    assert panel.frame.text == "Cancelled while waiting, and not done: Create, Export."


def test_a_panel_that_is_closed_does_no_click_that_waits(caplog):
    """What is under way comes to its end, and nothing after it; the log names the rest."""
    panel = Reading()
    held(panel)
    noting(panel, "Create").click()
    panel.close()
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read"]
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "the panel was closed, and not done were: Create")
    ]


def test_what_a_click_is_about_is_what_was_there_at_the_click():
    """Not what is there when it has its turn; where there is nothing, the click says so at once."""
    panel, picked = Reading(), ["a room"]

    def pick():
        if not picked:
            raise ck.ConfigError("No room is picked.")
        return picked[-1]

    delete = button("Delete", panel.clicked(panel.done.append, "change", given=pick))
    held(panel)
    delete.click()
    picked.append("another room")
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "a room"]
    picked.clear()
    delete.click()
    assert panel.frame.text == "No room is picked."


def test_a_question_that_another_one_replaces_is_said_to_be_not_done():
    """Of two clicks that waited and ask, neither is lost without a word."""
    panel = Reading()
    held(panel)
    for word in ("Delete", "Remove"):
        asks = panel.clicked(
            partial(panel.ask, word, f"{word} it?", lambda: panel.done.append("gone"))
        )
        button(word, asks).click()
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.frame.question == "Remove it?"
    assert panel.frame.text == "Not answered, and not done: Delete it?"
    panel.answer(True)
    assert panel.done == ["read", "gone"]


# Rooms


@pytest.fixture
def explorer(client, sandbox):
    """The panel of two rooms."""
    rooms = [ck.create_room(client, topic, "ops") for topic in ("Weekly", "Desk")]
    panel = RoomExplorer(client, rooms)
    assert panel.wait(LONG)
    yield panel
    assert panel.wait(LONG)


def refresh_slowly(panel, sandbox):
    """Clicks on Refresh, whose reading is under way for a second."""
    before = sandbox.count(USERS)
    sandbox.fault(USERS, delay=1.0, times=2)
    named(panel, "Refresh").click()
    while sandbox.count(USERS) == before:
        time.sleep(0.01)


def test_create_during_a_refresh_makes_the_room_once_and_then_empties_the_form(
    explorer, client, sandbox
):
    """The form stays filled while its click waits; a double click makes no second room."""
    panel = explorer
    named(panel, "New room").click()
    named(panel, "Topic").value, named(panel, "Owner").value = "Review", "ops"
    refresh_slowly(panel, sandbox)
    named(panel, "Create room").click()
    named(panel, "Create room").click()
    assert panel.frame.waiting.startswith("Waiting: Create room.")
    assert named(panel, "Topic").value == "Review"
    assert panel.wait(LONG)
    assert sandbox.count("/rtc/room/create") == 3
    assert panel.value["topic"].tolist().count("Review") == 1
    assert named(panel, "Topic").value == ""


def test_a_form_that_is_filled_in_anew_while_its_click_waits_keeps_that(explorer, sandbox):
    """The room is what stood there at the click."""
    panel = explorer
    named(panel, "New room").click()
    named(panel, "Topic").value, named(panel, "Owner").value = "Review", "ops"
    refresh_slowly(panel, sandbox)
    named(panel, "Create room").click()
    named(panel, "Topic").value = "Stand-up"
    assert panel.wait(LONG)
    assert "Review" in panel.value["topic"].tolist()
    assert "Stand-up" not in panel.value["topic"].tolist()
    assert named(panel, "Topic").value == "Stand-up"


def test_delete_asks_about_the_room_that_was_shown_when_it_was_clicked(explorer, sandbox):
    """Though another room is picked before it has its turn."""
    panel = explorer
    ids = panel.value.set_index("topic")["room_id"]
    weekly, desk = ids["Weekly"], ids["Desk"]
    panel.select(weekly)
    refresh_slowly(panel, sandbox)
    named(panel, "Delete room").click()
    panel.select(desk)
    assert panel.wait(LONG)
    assert panel.frame.question == f'Delete room "Weekly" ({weekly}) with nobody in it?'
