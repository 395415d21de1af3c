"""The rooms panel: what it shows, finds, reads again and changes, from cells and from clicks."""

import json
import socket
import threading

import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError, RoomNotFound
from confkit.panels import RoomExplorer
from confkit.tables import RoomIds
from tests.panels.pressing import (
    GET,
    LIST,
    LONG,
    MCU,
    USERS,
    downloads,
    field,
    heard,
    named,
    once_asked,
    page,
    press,
    says,
)
from tests.ports import HERE

SECRET = "s3cr3t-of-ours"


@pytest.fixture
def building(client, sandbox):
    """Three rooms: two people and a cap of two; nobody and no cap; one person of four."""
    weekly = ck.create_room(client, "Weekly sync", "ops", attendee_max=2)
    open_end = ck.create_room(client, "Open end", "sales")
    desk = ck.create_room(client, "Front desk", "ops", attendee_max=4)
    for room_id, name in ((weekly, "Ada"), (weekly, "Bo"), (desk, "Cy")):
        sandbox.join(room_id, name)
    return [weekly, open_end, desk]


@pytest.fixture
def panel(client, building):
    """The panel of these rooms and of one that is not there, once they are read."""
    made = RoomExplorer(client, [*building, "0000"])
    assert made.wait(LONG)
    yield made
    assert made.wait(LONG)


def topics(panel):
    """The topics of the value, in its order."""
    return panel.value["topic"].fillna("-").tolist()


def by_id(panel):
    """The rows of the value by the ID of their room."""
    return panel.value.set_index("room_id")


def user(panel, name):
    """The user ID of somebody in the picked room."""
    return next(one.user_id for one in panel.selected.users if one.user_name == name)


# What is shown


def test_value_and_rows_say_how_full_rooms_are_the_fullest_first(panel, client, sandbox, building):
    """The columns of a sweep's frame and two more; the words of the occupancy chart. A room that
    could not be read says so: it is no empty one. A finished sweep is shown as it is: users that it
    did not ask for are a dash, neither a failure nor nobody."""
    frame, swept = panel.value, ck.sweep(client, building, users=False)
    assert topics(panel) == ["Weekly sync", "Front desk", "Open end", "-"]
    assert frame["utilisation"].tolist() == [1.0, 0.25, pd.NA, pd.NA]
    assert frame["users"].tolist() == [2, 1, 0, pd.NA]
    names = frame.columns.drop(["utilisation", "read_at"]).tolist()
    assert names == list(swept.frame().columns)
    assert frame.attrs["service"] == "SANDBOX"
    bars = [tuple(row[3].values()) for _, row in panel.table.rows]
    assert bars == [
        ("2 of 2, full", 1.0, "full"),
        ("1 of 4", 0.25, "in use"),
        ("0, no cap", None, "no cap"),
        ("not read", None, "unread"),
    ]
    assert panel.table.told.startswith("4 rooms · 1 not read in full · read at ")
    assert "1 of 4 rooms could not be read, room '0000': get room" in panel.frame.text
    asked = sandbox.count()
    without = RoomExplorer(client, swept).table
    assert [row[3] for _, row in without.rows] == [None] * 3
    assert "not read" not in without.told
    assert sandbox.count() == asked


def test_search_filters_and_order_are_those_of_value_and_table(panel, building):
    """From code, and as people type and click on a heading; who observes the value hears of each
    change. A picked room stays while a filter hides it, and until it is closed."""
    seen = []
    panel.observe(lambda change: seen.append(len(change["new"])), "value")
    panel.filter("ops")
    assert panel.table.visible == [building[0], building[2]]
    assert panel.table.told.startswith("2 of 4 rooms")
    assert seen[-1] == 2
    panel.table.choose(building[0])
    fuller = named(panel, "Fuller than (%)")
    for text, rooms in (("50 %", 1), ("much", 1), ("20", 2), ("nan", 2), ("", 2)):
        fuller.value = text
        assert len(panel.value) == rooms
        assert ("no percentage" in page(panel)) == (text in ("much", "nan"))
    for wanted, left in (
        ({"status": "scheduled"}, ["Open end"]),
        ({"mode": "peer-to-peer"}, []),
        ({"fuller_than": 200 / 3}, ["Weekly sync"]),
        ({"failures": True}, ["-"]),
        ({}, ["Weekly sync", "Front desk", "Open end", "-"]),
    ):
        panel.filter(**wanted)
        assert topics(panel) == left
        assert fuller.value == str(wanted.get("fuller_than", ""))
        assert panel.selected.room_id == building[0]
    assert panel.table.chosen == building[0]
    panel.sort("topic")
    assert topics(panel) == ["Front desk", "Open end", "Weekly sync", "-"]
    says(panel.table, "sort", column="topic")
    assert topics(panel) == ["Weekly sync", "Open end", "Front desk", "-"]
    assert panel.value.index.tolist() == [0, 1, 2, 3]
    press(panel, "Close")
    assert (panel.selected, panel.table.chosen, panel.model.picked) == (None, "", "")
    assert panel._card.layout.display == "none"


def test_what_a_method_refuses_is_told_in_the_panel_too(panel, sandbox, tmp_path):
    """In place of the good word of the one before, and before anything is sent. A filter with one
    wrong value sets nothing."""
    panel.filter("ops")
    before = sandbox.count()
    wrong = ("text", 5), ("status", "open"), ("fuller_than", True), ("failures", "yes")
    for refused, why in (
        *((lambda one=one: panel.filter(**{"text": "z", **dict([one])}), one[0]) for one in wrong),
        (lambda: panel.select("4711"), "is not among those of the panel"),
        (panel.delete, "No room is picked"),
        (lambda: panel.export(tmp_path / "none" / "rooms.csv"), "was not written"),
    ):
        panel.frame.tell("Done.", "good")
        with pytest.raises(ConfigError, match=why) as caught:
            refused()
        assert (panel.frame.text, panel.frame.tone) == (str(caught.value), "bad")
    assert (named(panel, "Search").value, len(panel.value)) == ("ops", 2)
    assert sandbox.count() == before


def test_the_value_can_be_exported(panel, tmp_path):
    """As text, as a file, and by a click as a download; only the rooms that are shown."""
    panel.filter("ops")
    text = panel.export(tmp_path / "rooms.csv")
    again = pd.read_csv(tmp_path / "rooms.csv", dtype={"room_id": str})
    assert again["room_id"].tolist() == panel.value["room_id"].tolist()
    sent = downloads(panel)
    press(panel, "Download CSV")
    assert sent == [text]


# One room


def test_looking_at_a_room_sends_reads_of_that_room_alone(panel, client, sandbox, building):
    """It is known in all its parts. Picked, picked again and read again by itself: nothing asks for
    a media server, so none is assigned to the room; the first that was asked for serves it. Who is
    removed is named in a question; only that room is read again."""
    weekly = building[0]
    sandbox.unassign_mcu(weekly)
    for look in (panel.select, panel.table.choose):
        before = len(client.calls)
        look(weekly)
        assert panel.wait(LONG)
        sent = [(call.endpoint, weekly in call.url) for call in client.calls[before:]]
        assert sent == [("A3", True), ("A6", True), ("B3", True)]
        found = panel.selected
        assert (found.complete, found.room.topic, found.devices) == (True, "Weekly sync", [])
        assert found.people["user_name"].tolist() == ["Ada", "Bo"]
        assert panel.table.chosen == weekly
        assert panel._card.users.visible == [user(panel, "Ada"), user(panel, "Bo")]
    before = len(client.calls)
    panel.refresh_visible()
    press(panel, "Refresh")
    assert {call.endpoint for call in client.calls[before:]} == {"A3", "A6", "B3"}
    with pytest.raises(ck.MediaServerUnavailable, match="428"):
        panel.force_offline(user(panel, "Ada"))
    press(panel, "Check media server")
    press(panel, "Force offline")
    assert "No user is picked" in panel.frame.text
    ada = user(panel, "Ada")
    panel._card.users.choose(ada)
    press(panel, "Force offline")
    assert panel.frame.question == f'Remove "Ada" ({ada}) from room "Weekly sync" ({weekly})?'
    panel.answer(True)
    assert panel.frame.text == f'Removed "Ada" ({ada}) from room "Weekly sync" ({weekly}).'
    assert panel._card.users.visible == [user(panel, "Bo")]
    assert panel.value["users"].tolist() == [1, 1, 0, pd.NA]


def test_a_slow_room_does_not_come_back_over_the_one_that_was_picked_after_it(
    panel, sandbox, building
):
    """Its reading ends at its next part. A sweep under way holds the picked room not up."""
    sandbox.fault(USERS, delay=0.5, times=1)
    once_asked(sandbox, USERS, lambda: panel.table.choose(building[0]))
    panel.table.choose(building[1])
    assert panel.wait(LONG)
    assert (panel.selected.topic, panel.selected.complete) == ("Open end", True)
    assert "Open end" in panel._card._head.html
    sandbox.fault(USERS, delay=0.5, times=3)
    once_asked(sandbox, USERS, named(panel, "Refresh").click)
    panel.select("0000")
    assert isinstance(panel.selected.room, RoomNotFound)
    assert panel.frame.busy


def test_a_part_that_fails_is_told_in_its_place_and_the_others_stand(panel, sandbox, building):
    """What was read before stays, with its time and why; once it can be read it is as it is now. Of
    a room that is not there nothing more is asked."""
    card = panel._card
    panel.select(building[0])
    before = panel.selected
    sandbox.fault(USERS, ret=504, times=None)
    panel.refresh_visible()
    now = panel.selected
    assert (now.users, now.read_at) == (before.users, before.read_at)
    assert "504" in str(now.stale)
    assert "not read since" in card._fields.html
    panel.select(building[2])
    found = panel.selected
    assert (found.room.topic, found.users.ret) == ("Front desk", 504)
    assert (found.devices, found.heads) == ([], "")
    assert "504" in card.devices.html
    assert card.users.layout.display == "none"
    sandbox.clear_faults()
    sandbox.leave(building[0], before.users[0].user_id)
    panel.select(building[0])
    assert [one.user_name for one in panel.selected.users] == ["Bo"]
    assert "not read since" not in card._fields.html
    asked = sandbox.count()
    panel.select("0000")
    assert sandbox.count() == asked + 1
    assert "answered 404" in card._fields.html
    assert panel.selected.users is None


def test_the_media_server_is_asked_for_and_dialled_once_by_a_button(panel, sandbox, building):
    """Its text says that this may assign one. What was found stays with the time of asking while
    the room is read again, and goes when another one is picked."""
    with socket.create_server((HERE, 0)) as listener:
        listener.setblocking(False)
        addr = f"{HERE}:{listener.getsockname()[1]}"
        sandbox.fault(MCU, body=json.dumps({"ret": 0, "addr": addr}), times=None)
        panel.select(building[0])
        assert "may assign one" in page(panel)
        press(panel, "Check media server")
        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert f'"Weekly sync" ({building[0]}): {addr} accepts connections' in panel.frame.text
    found, at = panel.selected.media_server, panel.selected.media_server_at
    assert (found.address, found.ok) == (addr, True)
    panel.refresh()
    assert not panel.check_media_server(building[2])
    assert "refuses" in panel.frame.text
    assert (panel.selected.media_server, panel.selected.media_server_at) == (found, at)
    assert f"{addr} " in panel._card._media.html
    assert sandbox.count(MCU) == 2
    panel.select(building[2])
    assert panel.selected.media_server is panel.selected.media_server_at is None
    assert addr not in panel._card._media.html
    sandbox.clear_faults()
    sandbox.stop_mcu()
    with pytest.raises(ck.MediaServerUnavailable):
        panel.check_media_server()
    for told in (panel.frame.text, panel._card._media.html, str(panel.selected.media_server)):
        assert "410" in told


# More rooms


def test_rooms_are_added_pasted_from_a_file_and_known(panel, client, building):
    """What the service does not know is a row with its error; what is there is not doubled; of a
    file people choose the column, and its further columns come along."""
    press(panel, "Add rooms")
    press(panel, "Add")
    assert "No room was given" in panel.frame.text
    pasted, filed, known = (ck.create_room(client, "New", "ops") for _ in range(3))
    named(panel, "Room IDs").value = f"{pasted}; {building[0]}\n4711"
    press(panel, "Add")
    assert len(panel.value) == 6
    assert by_id(panel).loc["4711", "ret"] == 404
    assert named(panel, "Room IDs").value == ""
    says(field(panel, "or a file"), "file", [f"number,site\n{filed},Oslo\n".encode()], name="a.csv")
    press(panel, "Add")
    assert "Which column" in panel.frame.text
    named(panel, "Column of the IDs").value = "number"
    press(panel, "Add")
    assert by_id(panel)["site"].dropna().to_dict() == {filed: "Oslo"}
    press(panel, "Known rooms")
    assert known in by_id(panel).index


# Reading again


def test_a_refresh_reads_all_rooms_and_the_picked_one(panel, sandbox, building):
    """Whatever the filters leave; so does adding rooms that are there already. What goes on by
    itself says nothing in the head but what fails, and raises that to a cell."""
    panel.select(building[1])
    panel.filter("desk")
    again = (panel.refresh, panel.add_known, lambda: panel.add([building[1]]))
    for number, act in enumerate(again, 1):
        sandbox.join(building[1], f"guest {number}")
        act()
        assert panel.model.frame.set_index("room_id").loc[building[1], "users"] == number
        assert number > 1 or len(panel.selected.users) == 1
    panel.add([])
    assert sorted(panel.model.ids) == sorted([*building, "0000"])
    said = []
    panel.frame.observe(lambda change: said.append(change["name"]), ["busy", "done", "messages"])
    panel.select(None)
    panel.refresh_visible()
    assert said == []
    panel.client.close()
    with pytest.raises(ConfigError):
        panel.refresh_visible()
    assert panel.frame.tone == "bad"


def test_a_sweep_that_is_cancelled_keeps_what_came(client, sandbox):
    """The other rooms are as they were, with their time, and those that were never read are missing
    and not asked; the panel says how many they are."""
    sandbox.simulate(rooms=80, days=0)
    ids, half = sandbox.room_ids(), threading.Event()
    panel = RoomExplorer(client, ids[:40])
    before = by_id(panel)
    panel.model.add(RoomIds(ids))
    sandbox.fault(GET, delay=0.05, times=None)
    panel.frame.observe(lambda change: change["new"] >= 20 and half.set(), "done")
    named(panel, "Refresh").click()
    assert half.wait(LONG)
    heard(panel, "cancel")
    frame = by_id(panel)
    unasked = frame["error"].fillna("").str.startswith("not asked")
    assert 0 < unasked.sum() <= 40
    assert not unasked[before.index].any()
    assert frame.loc[unasked, "users"].isna().any()
    assert frame.loc[before.index, "users"].equals(before["users"])
    assert "were not asked, and stand as they were before" in panel.frame.text


def test_a_room_that_was_found_and_deleted_elsewhere_leaves_with_a_word(client, building):
    """The panel has found it by itself, so nobody has to leave it out; it does not come back. One
    that was named stays, with its error."""
    found, given = RoomExplorer(client), RoomExplorer(client, building)
    for panel in (found, given):
        panel.select(building[0])
    with client.sandbox.connect() as other:
        ck.delete_room(other, building[0])
    told = f"The service does not have room {building[0]} any more: left out."
    for _ in range(2):
        assert {*found.refresh()["room_id"]} == {*building[1:]}
        assert [one["text"] for one in found.frame.messages] == [told]
    assert found.selected is None
    given.refresh()
    assert by_id(given).loc[building[0], "ret"] == 404
    assert given.selected.room_id == building[0]


# Changes


def test_a_room_is_created_from_the_form(panel, client, sandbox):
    """What is wrong is said and stays, and nothing is sent; a room's password is gone from the form
    afterwards. The new room is read, picked and on the page, though a filter hid it. It is what
    stood in the form at the click; a form that is filled in anew meanwhile keeps that."""
    panel.filter("desk")
    press(panel, "New room")
    texts = {"Topic": "Review", "Owner": "ops", "attendee_max": "a few", "External ID": "ext-7"}
    for label, text in texts.items():
        named(panel, label).value = text
    field(panel, "Host password").fill(SECRET)
    press(panel, "Create room")
    assert "attendee_max is 'a few', not a whole number" in panel.frame.text
    assert named(panel, "Topic").value == "Review"
    assert sandbox.count("/rtc/room/create") == 3
    named(panel, "attendee_max").value = "3"
    press(panel, "Create room")
    room = ck.get_room(client, "ext-7")
    assert (room.topic, room.owner_id, room.attendee_max) == ("Review", "ops", 3)
    assert room.host_password == SECRET
    assert field(panel, "Host password").text is None
    assert panel.frame.text == f'Created room "Review" ({room.room_id}).'
    assert panel.selected.room == room
    assert panel.table.chosen == room.room_id
    assert room.room_id in panel.table.visible
    named(panel, "Topic").value = "Retro"
    sandbox.fault(USERS, delay=0.3, times=1)
    once_asked(sandbox, USERS, named(panel, "Refresh").click)
    named(panel, "Create room").click()
    named(panel, "Topic").value = "Stand-up"
    assert panel.wait(LONG)
    assert (panel.selected.topic, named(panel, "Topic").value) == ("Retro", "Stand-up")


def test_delete_asks_about_the_room_that_was_shown_when_it_was_clicked(panel, sandbox, building):
    """Though another room is picked before it has its turn; so does the media server's check. Once
    the question's reading is cancelled, nothing is asked."""
    weekly, open_end, _ = building
    panel.select(open_end)
    sandbox.fault(USERS, delay=0.5, times=1)
    once_asked(sandbox, USERS, named(panel, "Refresh").click)
    named(panel, "Check media server").click()
    named(panel, "Delete room").click()
    panel.select(weekly)
    assert panel.wait(LONG)
    assert panel.frame.question == f'Delete room "Open end" ({open_end}) with nobody in it?'
    panel.answer(False)
    [asked] = [call for call in panel.client.calls if call.endpoint == "A5"]
    assert open_end in asked.url
    assert panel.selected.media_server is None
    sandbox.fault(USERS, delay=LONG / 2, times=1)
    once_asked(sandbox, USERS, named(panel, "Delete room").click)
    heard(panel, "cancel")
    assert (panel.frame.question, panel.frame.text) == ("", "Cancelled.")


def test_the_question_before_a_delete_says_who_is_in_the_room_now(panel, client, sandbox, building):
    """Not who was in it when it was read last; devices are counted apart; that it is not known is
    not nobody. Without the room's number nothing is deleted. The devices stand in the room with
    their pictures, and addresses without a login."""
    panel.select(building[0])
    sandbox.leave(building[0], user(panel, "Bo"))
    url = sandbox.camera("desk", login_name="admin", login_password=SECRET)
    address = url.replace("rtsp://", f"rtsp://admin:{SECRET}@")
    ck.import_device(client, building[0], "cam", "Desk camera", address)
    called = f'Delete room "Weekly sync" ({building[0]})'
    for path, told in (
        (MCU, f"{called} with 1 person and 1 device in it? Type {building[0]} beside"),
        (LIST, f"{called} with 2 users (people or devices) in it? Type"),
        (USERS, f"{called}? Who is in it could not be read: get room users (A6) answered 504"),
    ):
        sandbox.fault(path, ret=504, times=None)
        press(panel, "Delete room")
        assert panel.frame.question.startswith(told)
    with pytest.raises(ConfigError, match="its number was not typed"):
        panel.answer(True)
    sandbox.clear_faults()
    panel.select(building[0])
    assert panel.selected.topic == "Weekly sync"
    assert "data:image/png;base64," in panel._card.pictures.html
    assert url in panel._card.devices.html
    assert SECRET not in page(panel)
    panel.refresh_visible()
    assert dict(panel.table.rows)[building[0]][4:6] == ["1", "1"]
    panel.select(building[1])
    assert panel._card.pictures.html == ""


def test_a_room_with_people_in_it_is_deleted_once_its_number_is_typed(
    panel, client, sandbox, building
):
    """An empty room needs none. What is deleted is the room that was asked about, though another
    one is picked; it leaves table and card, with one call. One that is gone already is told before
    any question."""
    weekly, open_end, desk = building
    panel.select(weekly)
    press(panel, "Delete room")
    named(panel, "Room number").value = f" {weekly} "
    asked = sandbox.count()
    panel.answer(True)
    assert sandbox.count() == asked + 1
    assert panel.selected is None
    assert panel.frame.text == f"Deleted room {weekly}."
    assert weekly not in by_id(panel).index
    panel.select(open_end)
    press(panel, "Delete room")
    assert named(panel, "Room number").layout.display == "none"
    panel.select(desk)
    panel.answer(True)
    assert panel.selected.room_id == desk
    with pytest.raises(RoomNotFound):
        ck.get_room(client, open_end)
    ck.delete_room(client, desk)
    press(panel, "Delete room")
    assert panel.frame.question == ""
    assert "answered 404" in panel.frame.text
