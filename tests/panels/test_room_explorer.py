"""The rooms panel: what it shows, reads and changes, from code and by its buttons."""

from functools import partial

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import RoomExplorer
from tests.panels import pressing as ui


@pytest.fixture
def panel(open_panel, ids):
    """The panel of three rooms, and of one that is not there."""
    return open_panel(RoomExplorer, [ids["full"], ids["open"], ids["used"], "0000"])


def names(panel):
    return panel.users.frame["user_name"].tolist()


def pick(panel, room_id, *people):
    """Pick a room, and wait until these people are shown."""
    panel.select(room_id)
    ui.until(lambda: names(panel) == [*people])


def test_looking_at_a_room_sends_reads_of_that_room_alone(panel, client, sandbox, ids):
    """No media server is assigned, but by its button, which says what accepts connections."""
    sandbox.unassign_mcu(ids["full"])
    before = len(client.calls)
    pick(panel, ids["full"], "Ada", "Bo")
    ui.settled()
    calls = [(call.endpoint, ids["full"] in call.url) for call in client.calls[before:]]
    assert calls == [("A6", True), ("B3", True)]
    assert "accepts connections from here" in ui.press(panel, "Check media server")


def test_a_pick_clears_what_belonged_to_the_room_before(panel, sandbox, ids):
    """Its users and a question go at once, and a question goes with its user."""
    pick(panel, ids["full"], "Ada", "Bo")
    sandbox.fault("A6", delay=2, times=1)
    for act in (partial(setattr, panel.users, "picked", "bo"), partial(panel.select, ids["used"])):
        panel.users.picked = "ada"
        assert ui.press(panel, "Force offline").startswith("Remove ")
        act()
        assert ui.text_of(ui.feedback(panel, "Force offline")) == ""
    assert (names(panel), panel.users.picked) == ([], None)
    pick(panel, ids["used"], "Cy")


def test_a_slow_room_does_not_come_back_over_a_later_pick(panel, sandbox, ids):
    sandbox.fault("A6", delay=1, times=1)
    ui.begin(sandbox, "A6", lambda: panel.select(ids["full"]))
    messages = ui.recorded(panel.users)
    pick(panel, ids["used"], "Cy")
    ui.settled()
    assert (names(panel), "Ada" in str(messages)) == (["Cy"], False)


def test_what_is_not_known_of_a_room_is_named_there(panel, sandbox, ids):
    """Who is in it, or who of them is a device."""
    ck.import_device(panel.client, ids["used"], "cam", "Camera", sandbox.camera())
    pick(panel, ids["used"], "Cy", "Camera")
    assert panel.users.frame["kind"].tolist() == ["person", "device"]
    sandbox.device_service("stopped")
    assert "List external users (B3) answered 304" in ui.press(panel, "Refresh")
    row = panel.value.set_index("room_id").loc[ids["used"]]
    assert (row.users, row.people) == (2, pd.NA)
    ui.until(lambda: panel.users.frame["kind"].tolist() == ["", ""])
    sandbox.fault("A6", ret=504)
    panel.select(ids["full"])
    ui.until(lambda: "504: timeout" in panel.card.value)
    panel.select("0000")
    ui.until(lambda: "No such room" in panel.card.value)


def test_rooms_are_added_with_any_separators(panel, ids):
    """Each once; what is no plausible number is asked about first."""
    ui.named(panel, "Room numbers").value = f'{ids["near"]}|{ids["near"]}; "4711"\t[{ids["full"]}]'
    question = "These do not look like room numbers: 4711. Add 3 rooms?"
    assert ui.press(panel, "Add") == question
    assert ui.confirm(panel) == "Added 2 rooms. Not found: 1."


def test_a_room_is_created_from_a_form(panel, client, sandbox):
    """What is wrong is named beside the button, and nothing is sent; an error keeps the fields."""
    password = ui.named(panel, "Host password")
    password.set("geheim")
    for label, text in (("Maximum attendees", " 3 "), ("Topic", "Review"), ("Owner", "ops")):
        assert "(Nothing was sent.)" in ui.press(panel, "Create room")
        ui.named(panel, label).value = text
    assert sandbox.count("A2") == 5
    sandbox.fault("A2", ret=405, times=1)
    assert "licence expired" in ui.press(panel, "Create room")
    assert ui.press(panel, "Create room").startswith("Created room ")
    room = ck.get_room(client, panel.selected)
    assert (room.topic, room.owner_id, room.attendee_max) == ("Review", "ops", 3)
    assert room.host_password == "geheim"
    assert not password.text


def test_a_user_is_forced_offline_when_the_question_is_answered(panel, ids):
    pick(panel, ids["full"], "Ada", "Bo")
    assert ui.press(panel, "Force offline") == "Pick a user first."
    panel.users.picked = "ada"
    assert ui.press(panel, "Force offline").startswith('Remove "Ada" (ada) from room "full" (')
    assert ui.confirm(panel) == 'Removed "Ada" (ada).'
    ui.until(lambda: names(panel) == ["Bo"])
    assert panel.value["users"].tolist() == [1, 1, 1, pd.NA]


def test_a_room_in_use_is_deleted_once_its_number_is_typed(panel, sandbox, ids):
    """Who is in it is read when the button is pressed; that they are not known is an error."""
    room_id = ids["open"]
    panel.select(room_id)
    sandbox.fault("A6", ret=504)
    assert "504" in ui.press(panel, "Delete room")
    sandbox.clear_faults()
    question = f'1 user in room "open" ({room_id}). To delete it, type {room_id}.'
    assert ui.press(panel, "Delete room") == question
    assert ui.named(panel, "Delete").disabled
    sandbox.leave(room_id, "di")
    assert ui.press(panel, "Delete room") == f'Delete room "open" ({room_id})?'
    assert ui.confirm(panel) == f'Deleted room "open" ({room_id}).'
    assert room_id not in [*sandbox.room_ids(), *panel.value["room_id"], panel.selected]


def test_what_a_panel_cannot_do_is_an_error_of_its_own(panel, client, ids):
    for act in (
        lambda: panel.select([ids["full"]]),
        lambda: panel.take_off(ids["near"]),
        lambda: RoomExplorer(client, every=None),
        lambda: RoomExplorer(client, [ids["full"]], refresh=panel.refresh_block),
    ):
        with pytest.raises(ck.ConfigError):
            act()


def test_a_read_only_client_changes_nothing(sandbox, open_panel, ids):
    with sandbox.connect(read_only=True) as client:
        panel = open_panel(RoomExplorer, [ids["full"]], client=client)
        for text in ("Create room", "Force offline", "Delete room"):
            assert ui.named(panel, text).disabled
            assert "read_only=False" in ui.named(panel, text).tooltip
        with pytest.raises(ck.ReadOnlyError):
            panel.delete(ids["full"])
