"""Messages of a panel: one of each kind, until it is dismissed or a later one replaces it."""

import pytest

import confkit as ck
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from confkit.panels.arranging import button
from confkit.panels.panel import Panel, told
from tests.panels.pressing import LONG, named, page

UNKNOWN = "0000000001"


class Saying(Panel):
    """A panel whose work goes wrong as it is asked to."""

    def __init__(self):
        super().__init__("Saying", None)
        self.wrong = ""

    def work(self, kind, wrong=""):
        with self.working("Working", kind):
            if wrong:
                raise ck.ConfigError(wrong)

    @told("pick")
    def pick(self, wrong=""):
        if wrong:
            raise ck.ConfigError(wrong)

    def read(self):
        with self.working("", "reading"):
            if self.wrong:
                raise ck.ConfigError(self.wrong)
        self.tell("", kind="reading")

    def tick(self):
        self.frame._hear(None, {"kind": "tick"}, [])
        assert self.wait(LONG)

    @property
    def texts(self):
        return [one["text"] for one in self.frame.messages]


@pytest.fixture
def panel():
    """A panel with an error of its reading, and one of a change."""
    made = Saying()
    for kind, text in (("reading", "Not read."), ("change", "Not changed.")):
        with pytest.raises(ck.ConfigError):
            made.work(kind, text)
    return made


def test_a_message_stays_while_and_after_work_of_another_kind(panel):
    """What one click says does not erase what another has said."""
    with panel.working("Exporting", "export"):
        assert panel.texts == ["Not read.", "Not changed."]
    panel.tell("Exported.", "good", "export")
    assert panel.texts == ["Not read.", "Not changed.", "Exported."]
    assert (panel.frame.text, panel.frame.tone) == ("Exported.", "good")


def test_a_message_goes_when_the_next_work_of_its_kind_begins(panel):
    """It does not go on showing an error that was put right; a newer one takes its place."""
    panel.work("change")
    assert panel.texts == ["Not read."]
    with pytest.raises(ck.ConfigError):
        panel.work("reading", "Not read again.")
    assert panel.texts == ["Not read again."]


def test_a_method_that_is_no_work_in_the_head_has_its_kind_too(panel):
    """Picking what is not there is said until something is picked."""
    with pytest.raises(ck.ConfigError):
        panel.pick("No such room.")
    assert panel.texts == ["Not read.", "Not changed.", "No such room."]
    panel.pick()
    assert panel.texts == ["Not read.", "Not changed."]


def test_work_within_work_says_nothing_of_its_own(panel):
    """What goes wrong in a part is the error of the whole, said once; its beginning erases none."""
    with pytest.raises(ck.ConfigError), panel.working("Creating", "change"):
        panel.pick()
        panel.work("reading", "The new room was not read.")
    assert [(one["kind"], one["text"], one["tone"]) for one in panel.frame.messages] == [
        ("reading", "Not read.", "bad"),
        ("change", "The new room was not read.", "bad"),
    ]


def test_what_comes_of_a_click_stands_beside_its_button(panel):
    """Its message, its question, and what comes of the answer; of a call it stands in the head."""

    def act(text):
        panel.tell(text, kind="change")
        panel.ask("Yes", f"{text}?", lambda: panel.tell("Did it.", kind="change"))

    place = {}
    for text in ("Delete", "Remove"):
        made = button(text, panel.clicked(lambda text=text: act(text), "change"))
        made.click()
        assert panel.wait(LONG)
        place[text] = panel.frame.place
        assert place[text] in made._dom_classes
        assert panel.frame.messages[-1]["place"] == place[text]
    assert place["Delete"] != place["Remove"]
    panel.frame._hear(None, {"kind": "yes"}, [])
    assert panel.wait(LONG)
    last = panel.frame.messages[-1]
    assert (last["text"], last["place"]) == ("Did it.", place["Remove"])
    panel.work("change")
    act("From code")
    assert (panel.frame.messages[-1]["place"], panel.frame.place) == ("", "")


@pytest.mark.parametrize(
    ("kind", "left"),
    [("reading", ["Not changed."]), (None, []), ("none", ["Not read.", "Not changed."])],
)
def test_a_message_is_dismissed_from_code(panel, kind, left):
    """The one of a kind, or all."""
    panel.dismiss(kind)
    assert panel.texts == left


def test_a_message_is_dismissed_by_a_click_unless_it_is_a_newer_one(panel):
    """A click that was on its way when another message came takes none away unread."""
    panel.frame._hear(None, {"kind": "dismiss", "message": "change", "text": "An older one."}, [])
    assert panel.texts == ["Not read.", "Not changed."]
    panel.frame._hear(None, {"kind": "dismiss", "message": "change", "text": "Not changed."}, [])
    assert panel.texts == ["Not read."]
    for nonsense in ({}, {"message": 7, "text": None}, {"message": ["reading"], "text": {}}):
        panel.frame._hear(None, {"kind": "dismiss", **nonsense}, [])
    assert panel.texts == ["Not read."]


def test_an_automatic_reading_takes_back_only_what_one_has_said():
    """It erases no message of a click, of its own kind neither, and its own when it works again."""
    panel = Saying()
    panel.every(60, panel.read)
    for kind, text in (("reading", "Refresh did not work."), ("change", "Not changed.")):
        with pytest.raises(ck.ConfigError):
            panel.work(kind, text)
    panel.tick()
    assert panel.texts == ["Refresh did not work.", "Not changed."]
    panel.wrong = "No service."
    panel.tick()
    assert panel.texts == ["Not changed.", "No service."]
    panel.wrong = ""
    panel.tick()
    assert panel.texts == ["Not changed."]


def test_what_automatic_readings_go_on_to_say_is_said_once():
    """A screen reader does not read it out every five seconds, and once dismissed it is gone until
    something else happens."""
    panel, sent = Saying(), []
    panel.every(60, panel.read)
    panel.frame.observe(lambda change: sent.append(change["new"]), "messages")
    panel.wrong = "No service."
    panel.tick()
    panel.tick()
    assert len(sent) == 1
    panel.dismiss("reading")
    panel.tick()
    assert panel.texts == []
    panel.wrong = ""
    panel.tick()
    panel.wrong = "No service."
    panel.tick()
    assert panel.texts == ["No service."]


def test_no_message_holds_a_login():
    """Messages may be saved with the notebook."""
    panel = Saying()
    for kind in ("change", "reading"):
        panel.tell("rtsp://user:hunter2@host/1 does not answer", "bad", kind)
    panel.frame.messages = [
        *panel.frame.messages,
        {"kind": "x", "text": "rtsp://u:hunter2@h", "tone": ""},
    ]
    assert "hunter2" not in page(panel)


# The panels themselves


def test_export_and_an_automatic_refresh_leave_the_warning_of_refresh(client):
    """It names rooms that could not be read, until the next Refresh, or until it is dismissed."""
    room_id = ck.create_room(client, "Weekly", "ops")
    panel = RoomExplorer(client, [room_id, UNKNOWN])
    panel.filter("weekly")  # the rows on the screen can all be read
    named(panel, "Refresh").click()
    assert panel.wait(LONG)
    warning = panel.frame.text
    assert "1 of 2 rooms could not be read" in warning
    panel.every(60, panel.refresh_visible)
    named(panel, "Download CSV").click()
    assert panel.wait(LONG)
    panel.frame._hear(None, {"kind": "tick"}, [])
    assert panel.wait(LONG)
    panel.create("Review", "ops")
    assert [one["kind"] for one in panel.frame.messages] == ["reading", "change"]
    assert panel.frame.messages[0]["text"] == warning
    panel.dismiss("reading")
    assert [one["kind"] for one in panel.frame.messages] == ["change"]


def test_an_automatic_refresh_leaves_the_error_of_a_report(client):
    """The operator reads it whenever they look."""
    panel = OccupancyPanel(client, [ck.create_room(client, "Weekly", "ops")])
    named(panel, "Capacity report").click()
    assert panel.wait(LONG)
    assert "no folder is given" in panel.frame.text
    panel.frame._hear(None, {"kind": "tick"}, [])
    assert panel.wait(LONG)
    assert "no folder is given" in panel.frame.text
    panel.close()


def test_a_refresh_of_the_devices_leaves_what_an_import_has_said(client):
    """Each click says its own."""
    panel = DevicePanel(client, ck.create_room(client, "Weekly", "ops"))
    with pytest.raises(ck.ConfkitError):
        panel.import_device()
    wrong = panel.frame.text
    panel.refresh()
    assert (panel.frame.text, panel.frame.tone) == (wrong, "bad")
