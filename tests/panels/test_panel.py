"""What all panels share: clicks in a queue, questions, errors and other messages, one value."""

import logging
import threading
from concurrent.futures import CancelledError
from functools import partial

import pytest

import confkit as ck
from confkit.panels import DevicePanel, RoomExplorer
from confkit.panels.arranging import button
from confkit.panels.panel import Panel, told
from tests.panels.pressing import LONG, heard, named, page, says


class Doing(Panel):
    """A panel whose work the test holds up, and that notes what was done."""

    def __init__(self, client=None):
        super().__init__("Doing", client)
        self.done, self.begun, self.go = [], threading.Event(), threading.Event()

    def read(self):
        """Reads, until `go` is set or the work is cancelled."""
        with self.working("Reading", "reading") as work:
            self.begun.set()
            while not self.go.wait(0.01):
                if work.cancelled.is_set():
                    self.tell("Read nothing.", kind="reading")
                    return
            self.done.append("read")
            self.value = list(self.done)

    def fail(self, error, kind="work"):
        """Fails so."""
        with self.working("Failing", kind):
            raise error if isinstance(error, BaseException) else ck.ConfigError(error)

    @told("pick")
    def pick(self, wrong=""):
        """Picks, which is no work in the head."""
        if wrong:
            raise ck.ConfigError(wrong)

    def note(self, word):
        """A button that notes this word."""
        return button(word, self.clicked(partial(self.done.append, word)))

    def hold(self):
        """The button of a reading that is under way."""
        made = button("Read", self.clicked(self.read, "reading"))
        made.click()
        assert self.begun.wait(LONG)
        return made

    def finish(self):
        """Lets the reading end, and waits for all that follows."""
        self.go.set()
        assert self.wait(LONG)

    @property
    def texts(self):
        return [one["text"] for one in self.frame.messages]


@pytest.fixture
def panel():
    return Doing()


# The value


def test_a_first_reading_that_fails_keeps_nobody_waiting_and_is_no_value(panel):
    """Readers of the value get the error, which the panel shows, until there is a value."""
    panel.first(partial(panel.fail, "No service. Name one."))
    for _ in range(2):
        with pytest.raises(ck.ConfigError, match="Name one"):
            _ = panel.value
    assert panel.wait(LONG)
    assert panel.frame.text == "No service. Name one."
    panel.go.set()
    panel.read()
    assert panel.value == ["read"]


def test_the_first_value_is_there_before_what_was_clicked_meanwhile(panel):
    """Whoever waits for the value does not wait for a click's work, too."""
    goes_on = threading.Event()
    panel.first(panel.read)
    assert panel.begun.wait(LONG)
    panel.clicked(partial(goes_on.wait, LONG))()
    panel.go.set()
    assert panel.value == ["read"]
    goes_on.set()
    assert panel.wait(LONG)


def test_who_sees_what_is_drawn_reads_the_value_that_belongs_to_it(panel):
    """In whichever thread: not the value before, as long as the new one is not there yet."""
    found, readers = [], []

    def draw(new):
        # The page shows it from here on, and somebody there runs a cell.
        readers.append(threading.Thread(target=lambda: found.append(panel.value)))
        readers[-1].start()
        readers[-1].join(0.1)
        return new

    for new in ("first", "second"):
        panel.draws(partial(draw, new))
        readers[-1].join(LONG)
        assert (found[-1], panel.value) == (new, new)


# Clicks


def test_clicks_during_other_work_take_effect_after_it_in_their_order(panel):
    """Whatever is under way holds clicks up and does not swallow them; a tick is left out. Work in
    another thread waits for the first reading, and not with the lock that this needs."""
    panel.every(60, partial(panel.done.append, "tick"))
    begins = threading.Event()
    panel.first(lambda: begins.wait(LONG) and panel.read())
    reading = threading.Thread(target=panel.read, daemon=True)
    reading.start()
    reading.join(0.2)
    says(panel.frame, "tick")
    for word in ("clicked", "clicked again"):
        panel.clicked(partial(panel.done.append, word))()
    begins.set()
    panel.finish()
    reading.join(LONG)
    assert not reading.is_alive()
    assert [one for one in panel.done if one != "read"] == ["clicked", "clicked again"]
    assert panel.done.count("read") == 2


def test_clicks_during_a_clicks_work_are_named_in_the_head_and_done_in_their_order(panel):
    """A second click of the same button is said and does not count, until its first one is done."""
    read, create, export = panel.hold(), panel.note("Create"), panel.note("Export")
    read.click()
    assert panel.frame.waiting == "Already under way: Read."
    for one in (create, export, create):
        one.click()
    assert panel.frame.waiting == "Waiting: Create, Export. Already waiting: Create."
    assert all("confkit-at-work" in one._dom_classes for one in (read, create, export))
    panel.finish()
    assert panel.frame.waiting == ""
    assert not any("confkit-at-work" in one._dom_classes for one in (read, create, export))
    create.click()
    assert panel.wait(LONG)
    assert panel.done == ["read", "Create", "Export", "Create"]


def test_cancel_ends_the_work_and_drops_the_clicks_that_wait_and_says_which(panel):
    """They are not done later, by surprise; the message stays. Without work it does nothing."""
    panel.cancel()
    panel.hold()
    for word in ("Create", "Export"):
        panel.note(word).click()
    heard(panel, "cancel")
    assert (panel.frame.waiting, panel.frame.busy, panel.done) == ("", "", [])
    dropped = "Cancelled while waiting, and not done: Create, Export."
    assert panel.texts == [dropped, "Read nothing."]
    with pytest.raises(CancelledError):
        panel.fail(CancelledError())
    assert (panel.frame.text, panel.frame.tone) == ("Cancelled.", "")


def test_a_panel_that_is_closed_ends_its_work_and_names_what_waited(panel, caplog):
    """Nothing goes on for a panel that is gone; the log names the rest."""
    panel.hold()
    panel.note("Create").click()
    panel.close()
    assert panel.wait(LONG)
    assert panel.done == []
    assert caplog.messages == ["the panel was closed, and not done were: Create"]


def test_what_a_click_is_about_is_what_was_there_at_the_click(panel):
    """Not what is there when it has its turn; where there is nothing, the click says so at once."""
    picked = ["a room"]

    def pick():
        if not picked:
            raise ck.ConfigError("No room is picked.")
        return picked[-1]

    delete = button("Delete", panel.clicked(panel.done.append, "change", given=pick))
    panel.hold()
    delete.click()
    picked.append("another room")
    panel.finish()
    assert panel.done == ["read", "a room"]
    picked.clear()
    delete.click()
    assert panel.frame.text == "No room is picked."


# Questions


def test_a_question_comes_before_a_change_and_only_yes_does_it(panel):
    """A no is taken at once, whatever else is under way; a yes is done after that, and once. An
    answer to an earlier question answers none."""
    panel.hold()
    for answer, given, left in (
        ("no", "Delete it?", ""),
        ("yes", "Another?", "Delete it?"),
        ("yes", "Delete it?", ""),
    ):
        panel.ask("Delete", "Delete it?", partial(panel.done.append, answer))
        for _ in range(2):
            says(panel.frame, answer, question=given)
            assert panel.frame.question == left
    panel.finish()
    panel.answer(True)
    assert panel.done == ["read", "yes"]


def test_a_question_that_another_one_replaces_is_said_to_be_not_done(panel):
    """Of two clicks that waited and ask, neither is lost without a word."""
    panel.hold()
    for word in ("Delete", "Remove"):
        ask = partial(panel.ask, word, f"{word} it?", partial(panel.done.append, word))
        button(word, panel.clicked(ask)).click()
    panel.finish()
    assert panel.frame.question == "Remove it?"
    assert panel.frame.text == "Not answered, and not done: Delete it?"
    panel.answer(True)
    assert panel.done == ["read", "Remove"]


# Messages


@pytest.fixture
def wrong(panel):
    """The panel with an error of its reading, and one of a change."""
    for kind, text in (("reading", "Not read."), ("change", "Not changed.")):
        with pytest.raises(ck.ConfigError):
            panel.fail(text, kind)
    return panel


def test_an_error_is_told_in_the_panel_and_raised_to_code_but_not_by_a_click(panel, caplog):
    """A click ends in a text; one that nobody expects is a fault of ours, and logged once."""
    with pytest.raises(ck.ConfigError):
        panel.fail("The keys are wrong. Check them.")
    panel.clicked(partial(panel.fail, "Again."))()
    assert panel.wait(LONG)
    assert (panel.texts, panel.frame.tone, panel.frame.busy) == (["Again."], "bad", "")
    assert not caplog.records
    panel.clicked(partial(panel.fail, ZeroDivisionError("by nought")))()
    assert panel.wait(LONG)
    assert "ZeroDivisionError: by nought" in panel.frame.text
    assert [one.levelno for one in caplog.records if one.exc_info] == [logging.ERROR]


def test_a_message_stays_until_the_next_work_of_its_kind_begins(wrong):
    """What one click says does not erase what another has said, and an automatic reading erases
    nothing, of its own kind neither."""
    wrong.every(60, wrong.read)
    wrong.go.set()
    heard(wrong, "tick")
    with wrong.working("Exporting", "export"):
        assert wrong.texts == ["Not read.", "Not changed."]
    wrong.tell("Exported.", "good", "export")
    with wrong.working("Changing", "change"):
        assert wrong.texts == ["Not read.", "Exported."]
    with pytest.raises(ck.ConfigError):
        wrong.pick("No such room.")
    assert wrong.texts == ["Not read.", "Exported.", "No such room."]
    wrong.pick()
    assert wrong.texts == ["Not read.", "Exported."]


def test_work_within_work_is_one_and_says_nothing_of_its_own(wrong):
    """Both are cancelled together; what goes wrong in a part is the error of the whole, said once,
    and its beginning erases none."""
    with pytest.raises(ck.ConfigError), wrong.working("Creating", "change") as outer:
        with wrong.working("Inner") as inner:
            assert inner is outer
        assert wrong.frame.busy == "Creating"
        wrong.pick()
        wrong.fail("The new room was not read.", "reading")
    assert [(one["kind"], one["text"]) for one in wrong.frame.messages] == [
        ("reading", "Not read."),
        ("change", "The new room was not read."),
    ]
    assert wrong.frame.busy == ""


def test_what_comes_of_a_click_stands_beside_its_button(panel):
    """Its message, its question, and what comes of the answer; of a call it stands in the head."""

    def act(text):
        panel.tell(text, kind="change")
        panel.ask("Yes", f"{text}?", partial(panel.tell, "Did it.", kind="change"))

    places = set()
    for text in ("Delete", "Remove"):
        made = button(text, panel.clicked(partial(act, text), "change"))
        made.click()
        assert panel.wait(LONG)
        assert panel.frame.messages[-1]["place"] == panel.frame.place
        places.add(panel.frame.place in made._dom_classes and panel.frame.place)
    assert len(places) == 2
    heard(panel, "yes")
    last = panel.frame.messages[-1]
    assert (last["text"], last["place"]) == ("Did it.", panel.frame.place)
    act("From code")
    assert (panel.frame.messages[-1]["place"], panel.frame.place) == ("", "")


def test_a_message_is_dismissed_from_code_or_by_a_click(wrong):
    """A click that was on its way when another message came takes none away unread."""
    for nonsense in (
        {},
        {"message": ["reading"], "text": {}},
        {"message": "change", "text": "Old"},
    ):
        heard(wrong, "dismiss", **nonsense)
    wrong.dismiss("none")
    assert wrong.texts == ["Not read.", "Not changed."]
    heard(wrong, "dismiss", message="change", text="Not changed.")
    assert wrong.texts == ["Not read."]
    wrong.dismiss()
    assert wrong.texts == []


# The head


def test_the_head_hides_the_login_of_an_address_whatever_it_says(panel):
    """A device may be called by its address; what stands in the head may be saved."""
    where = "rtsp://user:hunter2@host/1"
    panel.tell(f"{where} was imported", "good")
    panel.ask("Remove", f"Remove {where}?", print)
    with panel.working(f"Removing {where}", "change"):
        assert page(panel).count("***@host") == 3
        assert "hunter2" not in page(panel)


def test_progress_of_many_steps_is_told_some_hundred_times(panel):
    """A sweep of 100,000 rooms does not send 100,000 messages."""
    steps = []
    panel.frame.observe(lambda change: steps.append(change["new"]), "done")
    with panel.working("Reading") as work:
        for step in range(100_000):
            work.progress(step + 1, 100_000)
    assert 50 < len(steps) < 250


def test_a_clock_and_messages_that_make_no_sense_are_left_alone(panel):
    """Seconds, or 0 for never; what a stranger's script sends to a widget does not break it."""
    for seconds in (-1, float("nan"), float("inf"), "5"):
        with pytest.raises(ck.ConfigError, match="0 for never"):
            panel.every(seconds, print)
    for message in (None, "text", {}, {"kind": ["tick"]}, {"kind": "unknown"}):
        panel.frame._hear(None, message, [])


def test_read_only_disables_what_changes_something_and_says_why(sandbox):
    """The head names the service, so that nobody takes one for another, and why. Methods are
    refused before anything is sent; a preflight works, for it changes nothing."""
    with sandbox.connect(read_only=True) as client:
        explorer, devices = RoomExplorer(client, []), DevicePanel(client)
        for panel, *buttons in (
            (explorer, "Delete room", "Force offline", "New room"),
            (devices, "Import", "Remove"),
        ):
            assert panel.frame.service == "SANDBOX"
            assert "Read only" in panel.frame.note
            for text in buttons:
                assert named(panel, text).disabled
                assert "read_only=False" in named(panel, text).tooltip
            assert not named(panel, "Refresh").disabled
        with pytest.raises(ck.ReadOnlyError):
            explorer.create("x", "y")
        assert devices.preflight(user_address=sandbox.camera(size=(160, 96), fps=5)).ok
