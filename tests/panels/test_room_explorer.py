"""The rooms panel: what it shows, reads and changes, from code and by its buttons."""

import json
import socket
import threading

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import OccupancyPanel, Refresh, RoomExplorer
from tests.panels import pressing as ui
from tests.ports import HERE

SECRET = "s3cr3t-of-ours"


@pytest.fixture
def ids(client, sandbox):
    """A full room of two people, one without a cap, and one with one person of four."""
    made = [
        ck.create_room(client, topic, "ops", attendee_max=cap)
        for topic, cap in (("Weekly sync", 2), ("Open end", None), ("Front desk", 4))
    ]
    for room_id, name in ((made[0], "Ada"), (made[0], "Bo"), (made[2], "Cy")):
        sandbox.join(room_id, name, user_id=name.lower())
    return made


@pytest.fixture
def panel(open_panel, ids):
    """The panel of these rooms, and of one that is not there."""
    return open_panel(RoomExplorer, [*ids, "0000"])


def topics(panel):
    return panel.value["topic"].fillna("-").tolist()


def names(panel):
    return panel.users.frame["user_name"].tolist()


def pick(panel, room_id, *people):
    """Pick a room, and wait until these people are shown."""
    panel.select(room_id)
    ui.until(lambda: names(panel) == [*people])


def read_meanwhile(sandbox, operation, act):
    """Do something, and wait until the service is asked for what this operation reads."""
    before = sandbox.count(operation)
    act()
    ui.until(lambda: sandbox.count(operation) > before)


def test_looking_at_a_room_sends_reads_of_that_room_alone(panel, client, sandbox, ids):
    """No media server is assigned, but by its button, which says what accepts connections."""
    sandbox.unassign_mcu(ids[0])
    before = len(client.calls)
    pick(panel, ids[0], "Ada", "Bo")
    ui.settled()
    calls = [(call.endpoint, ids[0] in call.url) for call in client.calls[before:]]
    assert calls == [("A6", True), ("B3", True)]
    ui.press(panel, "Refresh")
    ui.settled()
    assert sandbox.count("A5") == 0
    with socket.create_server((HERE, 0)) as listener:
        addr = f"{HERE}:{listener.getsockname()[1]}"
        sandbox.fault("A5", body=json.dumps({"ret": 0, "addr": addr}), times=1)
        answer = ui.press(panel, "Check media server")
        assert answer.endswith(f": {addr} accepts connections from here.")
    sandbox.stop_mcu()
    assert "410" in ui.press(panel, "Check media server")


def test_a_pick_clears_what_belonged_to_the_room_before(panel, client, sandbox, ids):
    """Its users and a question go at once, and a question goes with its user."""
    assert ui.press(panel, "Add known rooms") == "Already in the list."
    pick(panel, ids[0], "Ada", "Bo")
    assert ui.press(panel, "Force offline") == "Pick a user first."
    panel.users.picked = "ada"
    question = f'Remove "Ada" (ada) from room "Weekly sync" ({ids[0]})?'
    assert ui.press(panel, "Force offline") == question
    panel.users.picked = "bo"
    assert ui.text_of(ui.beside(panel, "Force offline")) == ""
    panel.users.picked = "ada"
    assert ui.press(panel, "Force offline") == question
    assert ui.confirm(panel) == 'Removed "Ada" (ada).'
    pick(panel, ids[0], "Bo")
    assert ui.text_of(ui.beside(panel, "Force offline")) == 'Removed "Ada" (ada).'
    assert [user.user_id for user in ck.get_room_users(client, ids[0])] == ["bo"]
    assert panel.value.set_index("room_id").loc[ids[0], "users"] == 1
    pick(panel, ids[0], "Bo")
    panel.users.picked = "bo"
    ui.press(panel, "Force offline")
    sandbox.fault("A6", delay=0.5, times=1)
    panel.select(ids[2])
    assert (names(panel), panel.users.picked) == ([], None)
    assert ui.text_of(ui.beside(panel, "Force offline")) == ""
    pick(panel, ids[2], "Cy")
    assert ui.press(panel, "Remove from list") == f"Removed room {ids[2]} from the list."
    assert (panel.selected, names(panel), ui.buttons(panel)) == (None, [], ["Refresh"])
    with pytest.raises(ck.ConfigError, match=r"is not in the list\. Add it first"):
        panel.select(ids[2])
    assert ui.press(panel, "Add known rooms") == "Added 1 room."


@pytest.mark.parametrize("fault", [{}, {"ret": 504}])
def test_a_slow_room_does_not_come_back_over_a_later_pick(panel, sandbox, ids, fault):
    """Nor does an error of it."""
    sandbox.fault("A6", delay=0.3, times=1, **fault)
    read_meanwhile(sandbox, "A6", lambda: panel.select(ids[0]))
    messages = ui.recorded(panel.users)
    panel.select(ids[1])
    pick(panel, ids[2], "Cy")
    ui.settled()
    assert (names(panel), "504" in panel.card.value) == (["Cy"], False)
    assert "Ada" not in str(messages)


def test_what_is_not_known_of_a_room_is_named_there(panel, sandbox, ids):
    """Who is in it, or who of them is a device; of a room that is not there, that it is not."""
    ck.import_device(panel.client, ids[2], "cam", "Camera", sandbox.camera())
    pick(panel, ids[2], "Cy", "Camera")
    assert panel.users.frame["kind"].tolist() == ["person", "device"]
    sandbox.device_service("stopped")
    sandbox.leave(ids[2], "cy")
    answer = ui.press(panel, "Refresh")
    assert answer.startswith("1 room could not be read. List external users (B3) answered 304")
    row = panel.value.set_index("room_id").loc[ids[2]]
    assert (row.users, row.people) == (1, pd.NA)
    ui.until(lambda: panel.users.frame["kind"].tolist() == [""])
    sandbox.fault("A6", ret=504)
    panel.select(ids[0])
    ui.until(lambda: "504: timeout" in panel.card.value)
    sandbox.clear_faults()
    panel.select("0000")
    assert "No such room." in panel.card.value
    ui.settled()
    assert "404" not in panel.card.value


def test_a_room_and_its_users_may_be_called_anything(script, open_panel):
    """Markup is text, a login in an ID or a topic is hidden; a user listed twice is one."""
    login, masked = "rtsp://user:hunter2@h/x", "rtsp://user:***@h/x"
    users = [{"user_id": login, "user_name": None}, {"user_id": login, "user_name": "<b>"}]
    answers = {
        "/rtc/room/get": {"ret": 0, "room_id": "1", "topic": f"<i>{login}"},
        "/rtc/room/get_room_info": {"ret": 0, "user_list": users},
    }
    panel = open_panel(RoomExplorer, ["1"], client=script(answers).client())
    page = ui.page_of(panel)
    pick(panel, "1", "<b>")
    panel.users.picked = login
    question = f'Remove "<b>" ({masked}) from room "<i>{masked}" (1)?'
    assert (ui.rows(panel.rooms)[0][0], ui.press(panel, "Force offline")) == (
        f"<i>{masked}",
        question,
    )
    assert "<i>" not in ui.html_of(panel)
    assert "hunter2" not in page()


# The list


@pytest.mark.parametrize(
    ("text", "answer", "more"),
    [
        (" ,;\n\t '' ", "Enter room numbers first.", 0),
        ("{new}|{new}, {old}", "Added 1 room.", 1),
        ('{new}; "4711"\t[{old}]', "1 of 3 does not look like a room number (4711). Add 3", 2),
        ("ext-7, a b c", "4 of 4 do not look like numbers (ext-7, a, b …). Add 4 rooms?", 4),
    ],
)
def test_rooms_are_added_with_any_separators(panel, client, ids, text, answer, more):
    """Each once; what is no plausible number is asked about first."""
    new, before = ck.create_room(client, "New", "ops"), len(panel.value)
    field = ui.named(panel, "Room numbers")
    field.value = text.format(new=new, old=ids[0])
    assert ui.press(panel, "Add").startswith(answer)
    if "look" in answer:
        assert len(panel.value) == before
        assert ui.confirm(panel).startswith(f"Added {more} rooms. Not found: ")
    assert len(panel.value) == before + more
    assert field.value == "" or not more


# Changes


def test_a_room_is_created_from_the_form(panel, client, sandbox):
    """What is wrong is said beside the button, and nothing is sent; the password never shows."""
    page, before = ui.page_of(panel), sandbox.count("A2")
    ui.receive(ui.named(panel, "Host password"), {"typed": SECRET})
    for label, text, answer in (
        ("External ID", "ext-7", "Enter the topic. (Nothing was sent.)"),
        ("Topic", "Review", "Enter the owner. (Nothing was sent.)"),
        ("Owner", "ops", ""),
        ("Maximum attendees", "a few", "Maximum attendees must be a whole number, or empty."),
    ):
        ui.named(panel, label).value = text
        assert not answer or ui.press(panel, "Create room").startswith(answer)
    assert sandbox.count("A2") == before
    ui.named(panel, "Maximum attendees").value = " 3 "
    sandbox.fault("A2", ret=405, times=1)
    assert "licence expired" in ui.press(panel, "Create room")
    assert ui.press(panel, "Create room") == "Created room ext-7."
    room = ck.get_room(client, "ext-7")
    assert (room.topic, room.owner_id, room.attendee_max) == ("Review", "ops", 3)
    assert (room.host_password, panel.selected) == (SECRET, "ext-7")
    assert [ui.named(panel, label).value for label in ("Topic", "Owner")] == ["", "ops"]
    assert not ui.named(panel, "Host password").text
    assert SECRET not in page()


def test_a_delete_is_of_the_room_that_was_picked_when_it_was_asked_for(panel, sandbox, ids):
    """With people in it now it wants its number; that they are not known is an error."""
    _, open_end, desk = ids
    sandbox.join(open_end, "Di", user_id="di")
    panel.select(open_end)
    sandbox.fault("A6", ret=504)
    assert "504" in ui.press(panel, "Delete room")
    sandbox.clear_faults()
    question = f'1 user in room "Open end" ({open_end}). To delete it, type {open_end}.'
    assert ui.press(panel, "Delete room") == question
    assert ui.named(panel, "Delete").disabled
    sandbox.leave(open_end, "di")
    assert ui.press(panel, "Delete room") == f'Delete room "Open end" ({open_end})?'
    assert ui.confirm(panel) == f'Deleted room "Open end" ({open_end}).'
    assert (panel.selected, sandbox.room_ids()) == (None, [ids[0], desk])
    assert topics(panel) == ["Weekly sync", "Front desk", "-"]


def test_what_is_asked_or_fails_late_is_never_of_another_room(panel, sandbox, ids):
    """A question about the room that was picked before is not asked, and its error says so."""
    _, open_end, desk = ids
    for fault, button, text in (
        ({"path": "A6"}, "Delete room", ""),
        ({"path": "A5", "ret": 410}, "Check media server", "Previous row: "),
    ):
        panel.select(open_end)
        ui.settled()
        sandbox.fault(**fault, delay=0.5, times=1)
        read_meanwhile(sandbox, fault["path"], ui.named(panel, button).click)
        panel.select(desk)
        ui.settled()
        answer = ui.text_of(ui.beside(panel, button))
        assert answer.startswith(text)
        assert bool(answer) == bool(text)
    assert ui.press(panel, "Remove from list") == f"Removed room {desk} from the list."


def test_a_read_only_client_changes_nothing(sandbox, open_panel, ids):
    """Its buttons say why they stay off, and the panel names the service."""
    with sandbox.connect(read_only=True) as client:
        panel = open_panel(RoomExplorer, ids, client=client)
        assert ui.press(panel, "Refresh") == ""
        for text in ("Create room", "Force offline", "Delete room"):
            assert ui.named(panel, text).disabled
            assert "read_only=False" in ui.named(panel, text).tooltip
        assert "SANDBOX Read only" in ui.text_of(panel)
        with pytest.raises(ck.ReadOnlyError):
            panel.delete(ids[0])
    for arguments, text in (
        ((sandbox,), r"result of ck.connect\(\)"),
        ((client, ids, -1), "for never"),
    ):
        with pytest.raises(ck.ConfigError, match=text):
            RoomExplorer(*arguments)


# Reading


def test_a_refresh_can_be_cancelled_and_an_outage_is_named_once(panel, client, sandbox, ids):
    """The value, a frame of its own, stays; the picked room does not repeat the panel's status."""
    frame, own = panel.value, ["utilisation", "read_at", "state"]
    assert list(frame.columns.drop(own)) == list(ck.sweep(client, ids).frame().columns)
    frame["users"] = 7
    sandbox.fault("A3", delay=2)
    before = sandbox.count("A3")
    text = ui.cancel(panel, "Refresh", lambda: sandbox.count("A3") == before + 4)
    assert text == "Cancelled; 4 rooms not read."
    assert panel.value["users"].tolist() == [2, 1, 0, pd.NA]
    client.close()
    assert "closed" in ui.press(panel, "Refresh")
    panel.select(ids[0])
    ui.settled()
    assert "closed" not in panel.card.value


def test_panels_share_one_refresh(sandbox, open_panel, ids):
    """Each room is read once for both, whoever asks; one that was closed is left alone."""
    refresh, before = open_panel(Refresh, ids), sandbox.count("A3")
    panels = [open_panel(kind, refresh=refresh) for kind in (RoomExplorer, OccupancyPanel)]
    threads = [threading.Thread(target=panel.refresh) for panel in panels * 3]
    for thread in threads:
        thread.start()
    for room_id in ids * 5:
        panels[0].select(room_id)
    for thread in threads:
        thread.join()
    assert sandbox.count("A3") == before + len(threads) * len(ids)
    panels[0].delete(ids[1])
    assert len(panels[1].value) == 2
    panels[0].close()
    ui.settled()
    before = sandbox.count("A6")
    refresh.read()
    ui.settled()
    assert sandbox.count("A6") == before + 2  # and none of the picked room
