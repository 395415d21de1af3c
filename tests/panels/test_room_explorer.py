"""The rooms panel: what it shows, finds, reads again and changes, from cells and from clicks."""

import json
import socket
import threading
import time

import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError, ReadOnlyError, RoomNotFound
from confkit.panels import RoomExplorer
from tests.panels.pressing import LONG, downloads, field, heard, named, page, press, state

GET, USERS, LIST = "/rtc/room/get", "/rtc/room/get_room_info", "/avd/api/outgoing/getOutgoingUsers"
MCU = "/sdk/get_mcu"
SECRET = "s3cr3t-of-ours"


@pytest.fixture
def building(client, sandbox):
    """Three rooms: two people and a cap of two; nobody and no cap; one person of four."""
    weekly = ck.create_room(client, "Weekly sync", "ops", attendee_max=2, host_password=SECRET)
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


def users_of(panel, room_id):
    """What the value says of a room."""
    return panel.value.set_index("room_id").loc[room_id, "users"]


def user(panel, name):
    """The user ID of somebody in the picked room."""
    return next(one.user_id for one in panel.selected.users if one.user_name == name)


def once_asked(sandbox, path, act):
    """Does it, and waits until this is asked for."""
    before = sandbox.count(path)
    act()
    while sandbox.count(path) == before:
        time.sleep(0.01)


# What is shown


def test_value_and_rows_say_how_full_rooms_are_the_fullest_first(panel, client, building):
    """The columns of a sweep's frame and two more; the words of the occupancy chart. A room that
    could not be read says so: it is no empty one, and it is counted as not read."""
    frame = panel.value
    assert topics(panel) == ["Weekly sync", "Front desk", "Open end", "-"]
    assert frame["utilisation"].tolist() == [1.0, 0.25, pd.NA, pd.NA]
    assert frame["users"].tolist() == [2, 1, 0, pd.NA]
    columns = list(ck.sweep(client, building).frame().columns)
    assert frame.columns.drop(["utilisation", "read_at"]).tolist() == columns
    assert frame.attrs["service"] == "SANDBOX"
    rows = dict(panel.table.rows)
    weekly, open_end, desk = (rows[room_id][3] for room_id in building)
    assert (weekly["text"], weekly["tone"]) == ("2 of 2, full", "full")
    assert (desk["text"], desk["share"], desk["tone"]) == ("1 of 4", 0.25, "free")
    assert (open_end["share"], open_end["tone"]) == (None, "no cap")
    assert rows["0000"][2] == {"text": "not read", "tone": "bad"}
    assert (rows["0000"][3]["text"], rows["0000"][4]) == ("not read", None)
    assert panel.table.told.startswith("4 rooms · 1 not read in full · read at ")
    assert "1 of 4 rooms could not be read, room '0000': get room" in panel.frame.text


def test_a_finished_sweep_is_shown_and_nothing_asked(client, sandbox, building):
    """Users that it did not ask for are a dash, neither a failure nor nobody."""
    found, without = ck.sweep(client, building), ck.sweep(client, building, users=False)
    asked = sandbox.count()
    assert len(RoomExplorer(client, found).value) == 3
    panel = RoomExplorer(client, without)
    assert [cells[3] for _, cells in panel.table.rows] == [None] * 3
    assert "not read" not in panel.table.told
    assert sandbox.count() == asked


def test_rooms_that_cannot_be_known_are_not_no_rooms(client, sandbox, building):
    """Without rooms the known ones are read; where these cannot be found out, who asks for the
    value gets the error, and the button makes up for it."""
    sandbox.fault(LIST, ret=304)
    panel = RoomExplorer(client)
    with pytest.raises(ck.ServiceUnavailable):
        _ = panel.value
    assert "304" in panel.frame.text
    sandbox.clear_faults()
    panel.add_known()
    assert set(panel.value["room_id"]) == set(building)
    assert set(RoomExplorer(client).value["room_id"]) == set(building)
    with pytest.raises(ck.ParameterError, match="zeros"):
        RoomExplorer(client, [10.5])


def test_search_filters_and_order_are_those_of_value_and_table(panel, building):
    """From code, and as people type, choose and click on a heading; who observes the value hears
    of each change."""
    seen = []
    panel.observe(lambda change: seen.append(len(change["new"])), "value")
    panel.filter("ops")
    assert topics(panel) == ["Weekly sync", "Front desk"]
    assert panel.table.visible == [building[0], building[2]]
    assert panel.table.told.startswith("2 of 4 rooms")
    assert seen[-1] == 2
    named(panel, "Fuller than (%)").value = "50 %"
    assert topics(panel) == ["Weekly sync"]
    panel.filter(status="scheduled")
    assert topics(panel) == ["Open end"]
    panel.filter(failures=True)
    assert panel.value["room_id"].tolist() == ["0000"]
    panel.filter()
    panel.sort("topic")
    assert topics(panel) == ["Front desk", "Open end", "Weekly sync", "-"]
    panel.table._hear(None, {"kind": "sort", "column": "topic"}, [])
    assert topics(panel) == ["Weekly sync", "Open end", "Front desk", "-"]
    assert panel.value.index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["much", "nan"])
def test_a_percentage_that_is_none_is_told_and_filters_nothing_away(panel, text):
    """The note goes when it is fixed; a number is kept to its last digit."""
    fuller = named(panel, "Fuller than (%)")
    fuller.value = text
    assert "no percentage" in page(panel)
    assert len(panel.value) == 4
    fuller.value = "20"
    assert "no percentage" not in page(panel)
    assert len(panel.value) == 2
    for given, shown in ((200 / 3, str(200 / 3)), (80, "80")):
        panel.filter(fuller_than=given)
        assert fuller.value == shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": 5},
        {"text": None},
        {"status": "open"},
        {"mode": "SFU"},
        {"fuller_than": "80"},
        {"fuller_than": True},
        {"fuller_than": float("nan")},
        {"fuller_than": float("inf")},
        {"failures": "yes"},
    ],
)
def test_a_filter_with_one_wrong_value_is_an_error_and_sets_nothing(panel, wrong):
    """What was looked for before stays, and so does what is shown; the panel says it, too."""
    panel.filter("ops")
    with pytest.raises(ConfigError, match=next(iter(wrong))) as caught:
        panel.filter(**{"text": "zzz", **wrong})
    assert named(panel, "Search").value == "ops"
    assert len(panel.value) == 2
    assert panel.frame.text == str(caught.value)


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
    a media server, so none is assigned to the room; the first that was asked for serves it."""
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
        assert found.people["kind"].tolist() == ["person"] * 2
        assert panel.table.chosen == weekly
        assert panel._card.users.visible == [user(panel, "Ada"), user(panel, "Bo")]
    before = len(client.calls)
    panel.refresh_visible()
    press(panel, "Refresh")
    assert {call.endpoint for call in client.calls[before:]} == {"A3", "A6", "B3"}
    with pytest.raises(ck.MediaServerUnavailable, match="428"):
        panel.force_offline(user(panel, "Ada"))
    press(panel, "Check media server")
    panel.force_offline(user(panel, "Ada"))


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
    sandbox.fault(USERS, delay=1.0, times=3)
    once_asked(sandbox, USERS, named(panel, "Refresh").click)
    panel.select("0000")
    assert isinstance(panel.selected.room, RoomNotFound)
    assert panel.frame.busy


def test_a_part_that_fails_is_told_in_its_place_and_the_others_stand(panel, sandbox, building):
    """Users and media server fail; the fields and the devices are there. Of a room that is not
    there nothing more is asked."""
    with pytest.raises(ConfigError, match="No room is picked"):
        panel.check_media_server()
    sandbox.fault(USERS, ret=504, times=None)
    sandbox.stop_mcu()
    panel.select(building[0])
    with pytest.raises(ck.MediaServerUnavailable):
        panel.check_media_server()
    assert "410" in panel.frame.text
    found = panel.selected
    assert (found.room.topic, found.devices, found.heads) == ("Weekly sync", [], "")
    assert (found.users.ret, found.media_server.ret) == (504, 410)
    assert "504" in panel._card.devices.html
    assert "410" in panel._card._media.html
    assert panel._card.users.layout.display == "none"
    asked = sandbox.count()
    panel.select("0000")
    assert sandbox.count() == asked + 1
    assert "answered 404" in panel._card._fields.html
    assert panel.selected.users is None


def test_a_part_that_cannot_be_read_again_stays_with_its_time(panel, sandbox, building):
    """And says why; once it can be read, it is as it is now."""
    panel.select(building[0])
    sandbox.fault(USERS, ret=504)
    panel.refresh_visible()
    assert [one.user_name for one in panel.selected.users] == ["Ada", "Bo"]
    assert "not read since" in panel._card._fields.html
    sandbox.clear_faults()
    sandbox.leave(building[0], user(panel, "Ada"))
    panel.refresh_visible()
    assert [one.user_name for one in panel.selected.users] == ["Bo"]
    assert "not read since" not in panel._card._fields.html


def test_the_media_server_is_asked_for_and_dialled_once_by_a_button(panel, sandbox, building):
    """Its text says that this may assign one. What was found stays with the time of asking while
    the room is read again, and goes when another one is picked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        addr = f"127.0.0.1:{listener.getsockname()[1]}"
        sandbox.fault(MCU, body=json.dumps({"ret": 0, "addr": addr}), times=None)
        panel.select(building[0])
        panel.refresh_visible()
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert "may assign one" in page(panel)
        press(panel, "Check media server")
        listener.accept()[0].close()
    assert f'"Weekly sync" ({building[0]}): {addr} accepts connections' in panel.frame.text
    found, at = panel.selected.media_server, panel.selected.media_server_at
    assert (found.address, found.ok) == (addr, True)
    for again in (panel.refresh_visible, panel.refresh, lambda: panel.select(building[0])):
        again()
        assert (panel.selected.media_server, panel.selected.media_server_at) == (found, at)
        assert f"{addr} " in panel._card._media.html
    gone = panel.check_media_server(building[2])
    assert not gone
    assert "refuses" in panel.frame.text
    assert panel.selected.media_server is found
    assert sandbox.count(MCU) == 2
    panel.select(building[2])
    assert panel.selected.media_server is panel.selected.media_server_at is None
    assert panel._card._media.html == ""


def test_devices_have_their_pictures_on_a_sandbox(panel, client, sandbox, building):
    """The picture, and the address without its login."""
    url = sandbox.camera("desk", login_name="admin", login_password=SECRET)
    address = url.replace("rtsp://", f"rtsp://admin:{SECRET}@")
    ck.import_device(client, building[2], "cam", "Desk camera", address)
    panel.select(building[2])
    html = panel._card.devices.html
    assert "data:image/png;base64," in html
    assert url in html
    assert SECRET not in html
    assert panel.selected.people["kind"].tolist() == ["person", "device"]
    panel.refresh_visible()
    assert dict(panel.table.rows)[building[2]][5] == "1"


def test_nothing_secret_and_no_picture_is_in_what_a_notebook_saves(panel, building):
    """A room's host_password is nowhere, and what is typed into the form is not either."""
    press(panel, "New room")
    panel.select(building[0])
    field(panel, "Host password").fill(SECRET)
    assert SECRET not in page(panel) + repr(panel.selected) + panel.export()
    assert "base64" not in state(panel)


def test_what_a_service_tells_is_text_and_no_html(client, sandbox):
    """Neither in the room's fields nor among its people, nor in why it could not be read."""
    evil = "<img src=x onerror=alert(1)>"
    room_id = ck.create_room(client, evil, evil)
    sandbox.join(room_id, evil)
    panel = RoomExplorer(client, [room_id])
    panel.select(room_id)
    sandbox.fault(USERS, body=json.dumps({"ret": 504, "msg": evil}), times=None)
    panel.refresh_visible()
    card = panel._card
    assert card._fields.html.count("&lt;img src=x") == 3  # stale, topic, owner
    for html in (card._head.html, card._fields.html, card.devices.html):
        assert evil not in html
    assert panel.wait(LONG)


def test_what_a_method_refuses_is_told_in_the_panel_too(panel, sandbox, tmp_path):
    """In place of the good word of the one before, and before anything is sent."""
    nowhere, before = tmp_path / "none" / "rooms.csv", sandbox.count()
    for refused, why in (
        (lambda: panel.select("4711"), "is not among those of the panel"),
        (lambda: panel.delete("77"), "is not among those of the panel"),
        (panel.delete, "No room is picked"),
        (lambda: panel.force_offline("u"), "No room is picked"),
        (lambda: panel.export(nowhere), "was not written"),
        (lambda: panel.create("Review", "ops", foo=1), "no option foo. It has room_mode, atten"),
        (lambda: panel.create("Review", "ops", client=1), "no option client"),
    ):
        panel.frame.tell("Done.", "good")
        with pytest.raises(ConfigError, match=why) as caught:
            refused()
        assert (panel.frame.text, panel.frame.tone) == (str(caught.value), "bad")
    assert sandbox.count() == before


def test_the_picked_room_stays_while_a_filter_hides_it_and_until_it_is_closed(panel, building):
    """Its row is marked again when it comes back."""
    panel.table.choose(building[0])
    panel.filter("desk")
    assert panel.selected.room_id == building[0]
    panel.filter()
    assert panel.table.chosen == building[0]
    press(panel, "Close")
    assert panel.selected is None
    assert panel.table.chosen == panel.model.picked == ""
    assert panel._card.layout.display == "none"


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
    assert panel.value.set_index("room_id").loc["4711", "ret"] == 404
    assert named(panel, "Room IDs").value == ""
    csv = f"number,site\n{filed},Oslo\n".encode()
    field(panel, "or a file")._hear(None, {"kind": "file", "name": "a.csv"}, [csv])
    press(panel, "Add")
    assert "Which column" in panel.frame.text
    named(panel, "Column of the IDs").value = "number"
    press(panel, "Add")
    assert panel.value.set_index("room_id")["site"].dropna().to_dict() == {filed: "Oslo"}
    press(panel, "Known rooms")
    assert known in set(panel.value["room_id"])
    with pytest.raises(ck.ParameterError, match="zeros"):
        panel.add([10.5])
    assert panel.frame.tone == "bad"


def test_rooms_that_are_there_already_are_read_again(panel, sandbox, building):
    """Nothing is new, and nothing is lost; no rooms at all are none."""
    for number, again in enumerate((lambda: panel.add([building[1]]), panel.add_known), 1):
        sandbox.join(building[1], f"guest {number}")
        again()
        assert users_of(panel, building[1]) == number
    panel.add([])
    assert sorted(panel.value["room_id"]) == sorted([*building, "0000"])


# Reading again


def test_a_refresh_reads_all_rooms_and_the_picked_one(panel, sandbox, building):
    """Whatever the filters leave."""
    panel.select(building[1])
    panel.filter("desk")
    sandbox.join(building[1], "Di")
    press(panel, "Refresh")
    panel.filter()
    assert users_of(panel, building[1]) == 1
    assert [one.user_name for one in panel.selected.users] == ["Di"]


def test_automatic_refresh_says_nothing_but_what_fails(panel, sandbox):
    """Nothing in the head comes and goes with it; an error is reported, and raised to a cell."""
    said = []
    panel.frame.observe(lambda change: said.append(change["name"]), ["busy", "done", "text"])
    panel.refresh_visible()
    assert said == []
    panel.client.close()
    with pytest.raises(ck.ConfkitError):
        panel.refresh_visible()
    assert panel.frame.tone == "bad"


@pytest.mark.parametrize("begins", ["add", "refresh"])
def test_a_sweep_that_is_cancelled_keeps_what_came(client, sandbox, begins):
    """The other rooms are marked as not asked where they were never read, else as they were, with
    their time; the panel says how many they are."""
    sandbox.simulate(rooms=80, days=0)
    panel = RoomExplorer(client, [] if begins == "add" else sandbox.room_ids())
    before, half = panel.value, threading.Event()
    assert panel.wait(LONG)
    sandbox.fault(GET, delay=0.05, times=None)
    panel.frame.observe(lambda change: change["new"] >= 40 and half.set(), "done")  # of 80 rooms
    act = panel.refresh if begins == "refresh" else lambda: panel.add(sandbox.room_ids())
    thread = threading.Thread(target=act)
    thread.start()
    assert half.wait(LONG)
    panel.cancel()
    thread.join(LONG)
    frame = panel.value
    unasked = frame["error"].fillna("").str.startswith("not asked")
    assert "as they were before" in panel.frame.text
    if begins == "add":
        assert 0 < unasked.sum() < 80
        assert frame.loc[unasked, ["room_status", "users"]].isna().any(axis=1).all()
        assert frame.loc[~unasked, ["room_status", "users"]].notna().all(axis=None)
        assert f"{unasked.sum()} were not asked" in panel.frame.text
    else:
        assert frame["error"].isna().all()
        assert frame["users"].equals(before["users"])
        assert frame["read_at"].nunique() == 2
        assert pd.Timestamp(frame.attrs["time"]) == before["read_at"].min()


def test_a_room_that_is_deleted_during_an_automatic_refresh_does_not_come_back(
    panel, sandbox, building
):
    """Nor is it told as one that could not be read."""
    sandbox.fault(GET, delay=0.5, times=None)
    reading = threading.Thread(target=panel.refresh_visible)
    once_asked(sandbox, GET, reading.start)
    panel.delete(building[1])
    reading.join(LONG)
    assert set(panel.value["room_id"]) == {building[0], building[2], "0000"}
    assert panel.frame.text.startswith("1 of 3 rooms could not be read, room '0000': get room")


def test_a_room_that_was_found_and_deleted_elsewhere_leaves_with_a_word(client, building):
    """The panel has found it by itself, so nobody has to leave it out; it does not come back. One
    that was named stays, with its error."""
    found, given = RoomExplorer(client), RoomExplorer(client, building)
    for panel in (found, given):
        panel.select(building[0])
    with client.sandbox.connect() as other:
        ck.delete_room(other, building[0])
    for _ in range(2):
        assert set(found.refresh()["room_id"]) == set(building[1:])
        assert (
            found.frame.text == f"The service does not have room {building[0]} any more: left out."
        )
    assert found.selected is None
    assert given.refresh().set_index("room_id").loc[building[0], "ret"] == 404
    assert given.selected.room_id == building[0]


def test_looking_for_known_rooms_ends_when_it_is_cancelled(client, sandbox, building):
    """Though the service has not answered yet; that is reported."""
    sandbox.fault(LIST, delay=3.0, times=1)
    panel = RoomExplorer(client)
    while not sandbox.count(LIST):
        time.sleep(0.01)
    heard(panel, "cancel")
    assert panel.frame.text == "Cancelled."
    assert sandbox.count(GET) == 0


# Changes


def test_a_room_can_be_created_during_the_first_reading(panel):
    """It is not waited for with the lock that the reading needs."""
    begin = threading.Event()
    panel.first(lambda: begin.wait(LONG) and panel.add(["4711"]))
    made = threading.Thread(target=panel.create, args=("Review", "ops"), daemon=True)
    made.start()
    time.sleep(0.3)
    begin.set()
    made.join(LONG)
    assert not made.is_alive()
    assert panel.selected.topic == "Review"


@pytest.mark.parametrize("button", ["Delete room", "Force offline"])
def test_nothing_is_asked_once_the_question_is_cancelled(panel, sandbox, building, button):
    """It ends at once, and says so."""
    panel.select(building[0])
    panel._card.users.choose(user(panel, "Ada"))
    sandbox.fault(USERS, delay=1.0, times=1)
    once_asked(sandbox, USERS, named(panel, button).click)
    heard(panel, "cancel")
    assert (panel.frame.question, panel.frame.text) == ("", "Cancelled.")


def test_a_new_room_is_read_picked_and_on_the_page(panel):
    """Though a filter hid it."""
    panel.filter("desk")
    room_id = panel.create("Review", "ops", attendee_max=3)
    assert panel.selected.room.attendee_max == 3
    assert panel.table.chosen == room_id
    assert room_id in panel.table.visible
    assert panel.frame.text == f'Created room "Review" ({room_id}).'


def test_a_room_is_created_from_the_form(panel, client, sandbox):
    """What is wrong is said and stays, and nothing is sent; a room's password is gone from the form
    afterwards."""
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
    assert named(panel, "Topic").value == ""


def test_a_user_is_put_off_after_a_question_that_names_both(panel, client, building):
    """Only that room is read again."""
    panel.select(building[0])
    ada = user(panel, "Ada")
    press(panel, "Force offline")
    assert "No user is picked" in panel.frame.text
    panel._card.users.choose(ada)
    press(panel, "Force offline")
    assert panel.frame.question == f'Remove "Ada" ({ada}) from room "Weekly sync" ({building[0]})?'
    assert len(ck.get_room_users(client, building[0])) == 2
    panel.answer(True)
    assert [one.user_name for one in panel.selected.users] == ["Bo"]
    assert users_of(panel, building[0]) == 1
    assert panel.frame.text == f'Removed "Ada" ({ada}) from room "Weekly sync" ({building[0]}).'


def test_the_question_before_a_delete_says_who_is_in_the_room_now(panel, client, sandbox, building):
    """Not who was in it when it was read last; devices are counted apart; that it is not known is
    not nobody."""
    panel.select(building[0])
    sandbox.leave(building[0], user(panel, "Bo"))
    ck.import_device(client, building[0], "cam", "Camera", sandbox.camera())
    press(panel, "Delete room")
    asked = f'Delete room "Weekly sync" ({building[0]}) with 1 person and 1 device in it?'
    assert panel.frame.question.startswith(asked)
    sandbox.fault(LIST, ret=304, times=None)
    press(panel, "Delete room")
    assert "with 2 users (people or devices) in it?" in panel.frame.question
    sandbox.fault(USERS, ret=504, times=None)
    press(panel, "Delete room")
    assert "Who is in it could not be read" in panel.frame.question
    assert "504" in panel.frame.question
    panel.answer(False)
    assert ck.get_room(client, building[0]).topic == "Weekly sync"


def test_a_room_with_people_in_it_is_deleted_once_its_number_is_typed(panel, client, building):
    """Without it nothing is deleted, and the panel says what to do; an empty room needs none. What
    is deleted is the room that was asked about, though another one is picked."""
    panel.select(building[0])
    press(panel, "Delete room")
    assert f"Type {building[0]} beside the button first." in panel.frame.question
    with pytest.raises(ConfigError, match="its number was not typed"):
        panel.answer(True)
    assert ck.get_room(client, building[0]).topic == "Weekly sync"
    press(panel, "Delete room")
    named(panel, "Room number").value = f" {building[0]} "
    panel.answer(True)
    assert building[0] not in set(panel.value["room_id"])
    panel.select(building[1])
    press(panel, "Delete room")
    assert panel.frame.question == f'Delete room "Open end" ({building[1]}) with nobody in it?'
    assert named(panel, "Room number").layout.display == "none"
    panel.select(building[2])
    panel.answer(True)
    with pytest.raises(RoomNotFound):
        ck.get_room(client, building[1])
    assert panel.selected.room_id == building[2]


def test_a_deleted_room_leaves_table_and_card_and_nothing_is_read(panel, sandbox, building):
    """One call, and no other."""
    panel.select(building[0])
    asked = sandbox.count()
    panel.delete()
    assert sandbox.count() == asked + 1
    assert panel.selected is None
    assert len(panel.value) == 3
    assert panel.frame.text == f"Deleted room {building[0]}."


def test_a_room_that_is_gone_already_is_told_before_any_question(panel, client, building):
    """With what to do."""
    panel.select(building[0])
    ck.delete_room(client, building[0])
    press(panel, "Delete room")
    assert panel.frame.question == ""
    assert "answered 404" in panel.frame.text


def test_read_only_shows_the_buttons_disabled_with_the_reason(sandbox, building):
    """The methods are refused as well, before anything is sent."""
    with sandbox.connect(read_only=True) as client:
        panel = RoomExplorer(client, building)
        assert panel.wait(LONG)
        panel.select(building[0])
        for text in ("Delete room", "Force offline", "New room"):
            assert named(panel, text).disabled
            assert "Read only" in named(panel, text).tooltip
        for change in (
            panel.delete,
            lambda: panel.create("x", "y"),
            lambda: panel.force_offline(user(panel, "Ada")),
        ):
            with pytest.raises(ReadOnlyError):
                change()
        assert len(ck.get_room_users(client, building[0])) == 2
