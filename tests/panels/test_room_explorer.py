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
from confkit.panels.parts import Field, View
from tests.panels.pressing import LONG, named, page, state, within

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


def field(panel, label):
    """The field of this label, whose text is never saved."""
    (found,) = [one for one in within(panel) if isinstance(one, Field) and one.label == label]
    return found


def press(panel, text):
    """Clicks a button and waits until what it does is done."""
    named(panel, text).click()
    assert panel.wait(LONG)


def topics(panel):
    """The topics of the value, in its order."""
    return panel.value["topic"].fillna("-").tolist()


def user(panel, name):
    """The user ID of somebody in the picked room."""
    return next(one.user_id for one in panel.selected.users if one.user_name == name)


# What is shown


def test_the_value_is_the_frame_of_the_rooms_the_fullest_first(panel, client, building):
    """The columns of a sweep's frame and two more; what was not read is missing."""
    frame = panel.value
    assert topics(panel) == ["Weekly sync", "Front desk", "Open end", "-"]
    assert frame["utilisation"].tolist() == [1.0, 0.25, pd.NA, pd.NA]
    assert frame["users"].tolist() == [2, 1, 0, pd.NA]
    columns = list(ck.sweep(client, building).frame().columns)
    assert frame.columns.drop(["utilisation", "read_at"]).tolist() == columns
    assert frame.attrs["service"] == "SANDBOX"


def test_a_room_that_could_not_be_read_says_so_in_its_row(panel):
    """It is no empty room, and it is counted as not read."""
    rows = dict(panel.table.rows)
    assert rows["0000"][2] == {"text": "not read", "tone": "bad"}
    assert rows["0000"][3]["text"] == "not read"
    assert rows["0000"][4] is None
    assert panel.table.told.startswith("4 rooms · 1 not read in full · read at ")
    assert "1 of 4 rooms could not be read" in panel.frame.text


def test_the_rows_say_how_full_a_room_is(panel, building):
    """In the words of the occupancy chart."""
    rows = dict(panel.table.rows)
    weekly, open_end, desk = (rows[room_id][3] for room_id in building)
    assert (weekly["text"], weekly["tone"]) == ("2 of 2, full", "full")
    assert (desk["text"], desk["share"], desk["tone"]) == ("1 of 4", 0.25, "free")
    assert (open_end["share"], open_end["tone"]) == (None, "no cap")


def test_a_finished_sweep_is_shown_and_nothing_asked(client, sandbox, building):
    """Its value is there at once."""
    found = ck.sweep(client, building)
    asked = sandbox.count()
    panel = RoomExplorer(client, found)
    assert len(panel.value) == 3
    assert sandbox.count() == asked


def test_users_that_a_sweep_did_not_ask_for_are_a_dash(client, building):
    """They are neither a failure nor nobody."""
    panel = RoomExplorer(client, ck.sweep(client, building, users=False))
    assert [cells[3] for _, cells in panel.table.rows] == [None] * 3
    assert "not read" not in panel.table.told


def test_without_rooms_the_known_ones_are_read(client, building):
    """Those that this client has created, among others."""
    panel = RoomExplorer(client)
    assert set(panel.value["room_id"]) == set(building)
    assert panel.wait(LONG)


def test_rooms_that_cannot_be_known_are_not_no_rooms(client, sandbox, building):
    """Whoever asks for the value gets the error; the button makes up for it."""
    sandbox.fault(LIST, ret=304)
    panel = RoomExplorer(client)
    with pytest.raises(ck.ServiceUnavailable):
        panel.value  # noqa: B018
    assert "304" in panel.frame.text
    sandbox.clear_faults()
    panel.add_known()
    assert set(panel.value["room_id"]) == set(building)
    with pytest.raises(ck.ParameterError, match="zeros"):
        RoomExplorer(client, [10.5])


def test_search_and_filters_leave_rooms_in_value_and_table(panel, building):
    """From code, and as people type and choose."""
    panel.filter("ops")
    assert topics(panel) == ["Weekly sync", "Front desk"]
    assert panel.table.visible == [building[0], building[2]]
    assert panel.table.told.startswith("2 of 4 rooms")
    named(panel, "Fuller than (%)").value = "50 %"
    assert topics(panel) == ["Weekly sync"]
    panel.filter(status="scheduled")
    assert topics(panel) == ["Open end"]
    panel.filter(failures=True)
    assert panel.value["room_id"].tolist() == ["0000"]
    panel.filter()
    assert len(panel.value) == 4


def test_a_percentage_that_is_none_is_told_and_filters_nothing_away(panel):
    """The note goes when it is fixed."""
    fuller = named(panel, "Fuller than (%)")
    fuller.value = "much"
    assert "no percentage" in page(panel)
    assert len(panel.value) == 4
    fuller.value = "20"
    assert "no percentage" not in page(panel)
    assert len(panel.value) == 2


def test_a_status_that_there_is_not_is_an_error_that_names_them(panel):
    """Nothing changes."""
    with pytest.raises(ConfigError, match="scheduled, opening, locked, closed, other"):
        panel.filter(status="open")
    assert len(panel.value) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": 5},
        {"text": None},
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


def test_a_percentage_is_kept_to_its_last_digit(panel):
    """No room falls between the number that was given and the one that is looked for."""
    panel.filter(fuller_than=200 / 3)
    assert float(named(panel, "Fuller than (%)").value) == 200 / 3
    panel.filter(fuller_than=80)
    assert named(panel, "Fuller than (%)").value == "80"


def test_nan_is_no_percentage_either(panel):
    """It would leave no room, without a word."""
    named(panel, "Fuller than (%)").value = "nan"
    assert "is no percentage" in page(panel)
    assert len(panel.value) == 4


def test_the_value_has_the_order_of_the_table(panel):
    """A click on a heading and the method do the same."""
    panel.sort("topic")
    assert topics(panel) == ["Front desk", "Open end", "Weekly sync", "-"]
    panel.table._hear(None, {"kind": "sort", "column": "topic"}, [])
    assert topics(panel) == ["Weekly sync", "Open end", "Front desk", "-"]
    assert panel.value.index.tolist() == [0, 1, 2, 3]


def test_whoever_observes_the_value_hears_of_each_change(panel):
    """As with any widget."""
    heard = []
    panel.observe(lambda change: heard.append(len(change["new"])), "value")
    panel.filter("desk")
    assert heard[-1] == 1


def test_the_value_can_be_exported(panel, tmp_path):
    """As text, as a file, and by a click as a download; only the rooms that are shown."""
    panel.filter("ops")
    text = panel.export(tmp_path / "rooms.csv")
    again = pd.read_csv(tmp_path / "rooms.csv", dtype={"room_id": str})
    assert again["room_id"].tolist() == panel.value["room_id"].tolist()
    sent = []
    for view in within(panel):
        if isinstance(view, View):
            view.send = lambda content, *_: sent.append(content)
    press(panel, "Download CSV")
    assert [one["text"] for one in sent if one["kind"] == "save"] == [text]


# One room


def test_a_picked_room_is_known_in_all_its_parts(panel, building):
    """Fields, people and devices; its media server is not asked for."""
    panel.select(building[0])
    found = panel.selected
    assert found.complete
    assert found.room.topic == "Weekly sync"
    assert found.people[["user_name", "kind"]].to_numpy().tolist() == [
        ["Ada", "person"],
        ["Bo", "person"],
    ]
    assert found.devices == []
    assert found.media_server is None
    assert panel.table.chosen == building[0]


def test_a_click_on_a_row_shows_the_room(panel, building):
    """The last one that was clicked on."""
    for room_id in building:
        panel.table.choose(room_id)
    assert panel.wait(LONG)
    assert (panel.selected.room_id, panel.selected.complete) == (building[-1], True)
    assert "Front desk" in panel._card._fields.html
    assert panel._card.users.visible == [user(panel, "Cy")]


def test_a_slow_room_does_not_come_back_over_the_one_that_was_picked_after_it(
    panel, sandbox, building
):
    """Its reading ends at its next part."""
    before = sandbox.count(USERS)
    sandbox.fault(USERS, delay=0.5, times=1)
    panel.table.choose(building[0])
    while sandbox.count(USERS) == before:
        time.sleep(0.01)
    panel.table.choose(building[1])
    assert panel.wait(LONG)
    assert panel.selected.topic == "Open end"
    assert panel.selected.complete
    assert "Open end" in panel._card._head.html


def test_a_room_can_be_looked_into_while_a_sweep_is_under_way(panel, sandbox, building):
    """A long reading does not hold the picked room up."""
    sandbox.fault(USERS, delay=1.0, times=3)
    named(panel, "Refresh").click()
    panel.table.choose("0000")
    assert panel.wait(LONG)
    assert isinstance(panel.selected.room, RoomNotFound)
    assert panel.wait(LONG)


def test_of_a_room_that_is_not_there_nothing_more_is_asked(panel, sandbox):
    """One error is reported, with its next step."""
    with pytest.raises(ConfigError, match="No room is picked"):
        panel.check_media_server()
    asked = sandbox.count()
    panel.select("0000")
    assert sandbox.count() == asked + 1
    assert isinstance(panel.selected.room, RoomNotFound)
    assert "answered 404" in panel._card._fields.html
    assert panel.selected.users is None


def test_a_part_that_fails_is_told_in_its_place_and_the_others_stand(panel, sandbox, building):
    """Users and media server fail; the fields and the devices are there."""
    sandbox.fault(USERS, ret=504, times=None)
    sandbox.stop_mcu()
    panel.select(building[0])
    with pytest.raises(ck.MediaServerUnavailable):
        panel.check_media_server()
    assert "410" in panel.frame.text
    found = panel.selected
    assert found.room.topic == "Weekly sync"
    assert found.devices == []
    assert found.users.ret == 504
    assert found.media_server.ret == 410
    assert "504" in panel._card._problem.html
    assert "410" in panel._card._media.html
    assert panel._card.users.layout.display == "none"
    assert found.heads == ""


def test_looking_at_a_room_sends_reads_of_that_room_alone(panel, client, sandbox, building):
    """Picked, picked again and read again by itself: nothing asks for a media server, so none is
    assigned to the room; the first that was asked for serves it."""
    weekly = building[0]
    sandbox.unassign_mcu(weekly)
    for look in (panel.select, panel.table.choose):
        before = len(client.calls)
        look(weekly)
        assert panel.wait(LONG)
        sent = [(call.endpoint, weekly in call.url) for call in client.calls[before:]]
        assert sent == [("A3", True), ("A6", True), ("B3", True)]
    before = len(client.calls)
    panel.refresh_visible()
    press(panel, "Refresh")
    assert {call.endpoint for call in client.calls[before:]} == {"A3", "A6", "B3"}
    with pytest.raises(ck.MediaServerUnavailable, match="428"):
        panel.force_offline(user(panel, "Ada"))
    press(panel, "Check media server")
    panel.force_offline(user(panel, "Ada"))


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
        assert panel.selected.complete
        assert (panel.selected.media_server, panel.selected.media_server_at) == (found, at)
        assert f"{addr} " in panel._card._media.html
        assert f"{at.astimezone():%H:%M:%S}" in panel._card._media.html
    gone = panel.check_media_server(building[2])
    assert not gone
    assert "refuses" in panel.frame.text
    assert panel.selected.media_server is found
    assert sandbox.count(MCU) == 2
    panel.select(building[2])
    assert panel.selected.media_server is panel.selected.media_server_at is None
    assert panel._card._media.html == ""


def test_the_media_server_is_that_of_the_room_in_which_the_button_was_pressed(
    panel, client, sandbox, building
):
    """Also when another room is picked before the check has its turn."""
    panel.select(building[0])
    before = sandbox.count(GET)
    sandbox.fault(GET, delay=0.5, times=1)
    named(panel, "Automatic refresh").value = 5
    panel.frame._hear(None, {"kind": "tick"}, [])
    while sandbox.count(GET) == before:
        time.sleep(0.01)
    named(panel, "Check media server").click()
    panel.table.choose(building[1])
    assert panel.wait(LONG)
    [asked] = [call for call in client.calls if call.endpoint == "A5"]
    assert building[0] in asked.url
    assert panel.selected.topic == "Open end"
    assert panel.selected.media_server is None


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
    assert SECRET not in page(panel) + repr(panel.selected)
    assert "base64" not in state(panel)
    assert SECRET not in panel.export()


def test_what_a_service_tells_is_text_and_no_html(client, sandbox):
    """Neither in the room's fields nor among its people."""
    evil = "<img src=x onerror=alert(1)>"
    room_id = ck.create_room(client, evil, evil)
    sandbox.join(room_id, evil)
    panel = RoomExplorer(client, [room_id])
    panel.select(room_id)
    parts = panel._card
    shown = [widget.html for widget in (parts._head, parts._fields, parts._media, parts._problem)]
    assert evil not in "".join(shown) + parts.devices.html
    assert "&lt;img src=x" in parts._fields.html
    sandbox.fault(USERS, body=json.dumps({"ret": 504, "msg": evil}), times=None)
    panel.refresh_visible()
    assert "&lt;img src=x" in parts._stale.html
    assert evil not in parts._stale.html
    assert panel.wait(LONG)


def test_a_room_of_another_panel_is_refused(panel):
    """The error says how to add it."""
    with pytest.raises(ConfigError, match=r"panel\.add\(\['4711'\]\)"):
        panel.select("4711")
    panel.select(None)
    assert panel.selected is None
    with pytest.raises(ConfigError, match="No room is picked"):
        panel.delete()


def test_what_a_method_refuses_is_told_in_the_panel_too(panel, building, tmp_path):
    """In place of the good word of the one before."""
    nowhere = tmp_path / "none" / "rooms.csv"
    for refused in (
        lambda: panel.select("nope"),
        lambda: panel.delete("77"),
        panel.delete,
        lambda: panel.force_offline("u"),
        lambda: panel.export(nowhere),
        lambda: panel.create("Review", "ops", foo=1),
    ):
        panel.frame.tell("Done.", "good")
        with pytest.raises((ConfigError, OSError)) as caught:
            refused()
        assert (panel.frame.text, panel.frame.tone) == (str(caught.value), "bad")


def test_an_option_that_no_room_has_is_refused_before_anything_is_sent(panel, sandbox):
    """The error names those that there are."""
    before = sandbox.count()
    for option in ("foo", "client"):
        with pytest.raises(ConfigError, match=f"no option {option}. It has room_mode, attendee"):
            panel.create("Review", "ops", **{option: 1})
    assert sandbox.count() == before


def test_a_filter_that_hides_the_picked_room_leaves_it_picked(panel, building):
    """Its row is marked again when it comes back."""
    panel.select(building[0])
    panel.filter("desk")
    assert panel.selected.room_id == building[0]
    panel.filter()
    assert panel.table.chosen == building[0]


# More rooms


def test_rooms_are_added_as_they_are_pasted(panel, client, building):
    """What the service does not know is a row with its error; what is there is not doubled."""
    press(panel, "Add rooms")
    new = ck.create_room(client, "New", "ops", attendee_max=9)
    named(panel, "Room IDs").value = f"{new}; {building[0]}\n4711"
    press(panel, "Add")
    assert len(panel.value) == 6
    assert panel.value.set_index("room_id").loc["4711", "ret"] == 404
    assert named(panel, "Room IDs").value == ""


def test_rooms_are_added_from_a_file_whose_column_is_chosen(panel, client):
    """Its further columns come along into the value."""
    press(panel, "Add rooms")
    new = ck.create_room(client, "New", "ops")
    csv = f"number,site\n{new},Oslo\n".encode()
    field(panel, "or a file")._hear(None, {"kind": "file", "name": "a.csv"}, [csv])
    press(panel, "Add")
    assert "Which column" in panel.frame.text
    named(panel, "Column of the IDs").value = "number"
    press(panel, "Add")
    assert panel.value.set_index("room_id").loc[new, "site"] == "Oslo"
    assert panel.value["site"].notna().sum() == 1


def test_rooms_that_are_there_already_are_read_again(panel, client, sandbox, building):
    """Nothing is new, and nothing is lost; no rooms at all are none."""
    sandbox.join(building[1], "Di")
    panel.add([building[1]])
    assert panel.value.set_index("room_id").loc[building[1], "users"] == 1
    sandbox.join(building[1], "Ed")
    panel.add_known()
    assert panel.value.set_index("room_id").loc[building[1], "users"] == 2
    panel.add([])
    assert sorted(panel.value["room_id"]) == sorted([*building, "0000"])


def test_nothing_to_add_is_told(panel):
    """And what makes no sense is reported as a sweep reports it."""
    press(panel, "Add rooms")
    press(panel, "Add")
    assert "No room was given" in panel.frame.text
    with pytest.raises(ck.ParameterError, match="zeros"):
        panel.add([10.5])
    assert panel.frame.tone == "bad"


def test_known_rooms_are_added_by_a_button(panel, client):
    """Those that were created meanwhile, too."""
    press(panel, "Add rooms")
    new = ck.create_room(client, "New", "ops")
    press(panel, "Known rooms")
    assert new in set(panel.value["room_id"])


# Reading again


def test_a_refresh_reads_all_rooms_and_the_picked_one(panel, sandbox, building):
    """Whatever the filters leave."""
    panel.select(building[1])
    panel.filter("desk")
    sandbox.join(building[1], "Di")
    press(panel, "Refresh")
    panel.filter()
    assert panel.value.set_index("room_id").loc[building[1], "users"] == 1
    assert [one.user_name for one in panel.selected.users] == ["Di"]


def test_automatic_refresh_reads_only_the_rows_on_the_screen_and_the_picked_one(client, sandbox):
    """Fifty of them, not all; nothing is said in the head."""
    sandbox.simulate(rooms=60, days=0)
    panel = RoomExplorer(client, sandbox.room_ids())
    assert len(panel.value) == 60
    assert panel.wait(LONG)
    hidden = panel.value["room_id"].tolist()[-1]
    panel.select(panel.table.visible[0])
    panel.table.turn(0)
    before = sandbox.count(USERS)
    named(panel, "Automatic refresh").value = 5
    assert panel.frame.every == 5
    panel.frame._hear(None, {"kind": "tick"}, [])
    assert panel.wait(LONG)
    assert hidden not in panel.table.visible
    assert sandbox.count(USERS) - before == 50 + 1
    named(panel, "Automatic refresh").value = 0
    assert panel.frame.every == 0


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


def test_when_nothing_can_be_asked_that_is_told_and_no_room_is_empty():
    """The rooms that were given are there, each with why it was not read."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        keys = {"access_key": "demo", "secret_key": "demo"}
        with ck.connect(base_url=url, outgoing_url=url, **keys) as client:
            panel = RoomExplorer(client, ["1047", "2291"])
            assert panel.value["room_id"].tolist() == ["1047", "2291"]
            assert panel.value["users"].isna().all()
            assert panel.frame.tone == "bad"
            assert panel.value["error"].str.contains("refused").all()
            assert "2 not read in full" in panel.table.told
            assert panel.wait(LONG)


def test_rooms_that_cannot_be_looked_for_are_not_no_rooms(client, sandbox):
    """When the known rooms could not be found out, who asks for the value gets the error."""
    sandbox.fault(LIST, ret=304, times=1)
    panel = RoomExplorer(client)
    with pytest.raises(ck.ServiceUnavailable):
        _ = panel.value
    panel.add_known()
    assert panel.value.empty


def test_a_sweep_that_is_cancelled_keeps_what_came(client, sandbox):
    """The other rooms are marked as not asked, and the panel says how many they are."""
    sandbox.simulate(rooms=80, days=0)
    sandbox.fault(GET, delay=0.05, times=None)
    half = threading.Event()
    panel = RoomExplorer(client, [])
    assert panel.wait(LONG)
    panel.frame.observe(lambda change: change["new"] >= 40 and half.set(), "done")  # of 80 rooms
    thread = threading.Thread(target=panel.add, args=(sandbox.room_ids(),))
    thread.start()
    assert half.wait(LONG)
    panel.cancel()
    thread.join(LONG)
    frame = panel.value
    unasked = frame["error"].fillna("").str.startswith("not asked")
    assert 0 < unasked.sum() < 80
    assert frame.loc[unasked, ["room_status", "users"]].isna().any(axis=1).all()
    assert frame.loc[~unasked, ["room_status", "users"]].notna().all(axis=None)
    assert f"{unasked.sum()} were not asked" in panel.frame.text
    assert "not asked" in panel.table.told


def test_a_room_that_is_deleted_during_an_automatic_refresh_does_not_come_back(
    panel, sandbox, building
):
    """Nor is it told as one that could not be read."""
    before = sandbox.count(GET)
    sandbox.fault(GET, delay=0.5, times=None)
    reading = threading.Thread(target=panel.refresh_visible)
    reading.start()
    while sandbox.count(GET) == before:
        time.sleep(0.01)
    panel.delete(building[1])
    reading.join(LONG)
    assert set(panel.value["room_id"]) == {building[0], building[2], "0000"}
    assert panel.frame.text.startswith("1 of 3 rooms could not be read, room '0000': get room")


def test_looking_for_known_rooms_ends_when_it_is_cancelled(client, sandbox, building):
    """Though the service has not answered yet; that is reported."""
    sandbox.fault(LIST, delay=3.0, times=1)
    panel = RoomExplorer(client)
    while not sandbox.count(LIST):
        time.sleep(0.01)
    panel.cancel()
    assert panel.wait(LONG)
    assert panel.frame.text == "Cancelled."
    assert sandbox.count(GET) == 0
    panel.add_known()
    assert set(panel.value["room_id"]) == set(building)


def test_a_refresh_that_is_cancelled_leaves_what_was_read_before(client, sandbox):
    """The rooms that it did not come to stand as they were, with their time."""
    sandbox.simulate(rooms=80, days=0)
    panel = RoomExplorer(client, sandbox.room_ids())
    before = panel.value
    assert panel.wait(LONG)
    half = threading.Event()
    sandbox.fault(GET, delay=0.05, times=None)
    panel.frame.observe(lambda change: change["new"] >= 40 and half.set(), "done")  # of 80 rooms
    named(panel, "Refresh").click()
    assert half.wait(LONG)
    panel.cancel()
    assert panel.wait(LONG)
    assert panel.value["error"].isna().all()
    assert panel.value["users"].equals(before["users"])
    assert panel.value["read_at"].nunique() == 2
    assert pd.Timestamp(panel.value.attrs["time"]) == before["read_at"].min()
    assert "stand as they were before" in panel.frame.text


# Changes


def test_a_room_can_be_created_during_the_first_reading(panel, client, sandbox):
    """It is not waited for with the lock that the reading needs."""
    begin = threading.Event()
    panel.first(lambda: begin.wait(LONG) and panel.add(["4711"]))
    made = threading.Thread(target=panel.create, args=("Review", "ops"), daemon=True)
    made.start()
    time.sleep(0.3)
    begin.set()
    made.join(LONG)
    assert not made.is_alive()
    assert panel.wait(LONG)
    assert panel.selected.topic == "Review"


@pytest.mark.parametrize("button", ["Delete room", "Force offline"])
def test_nothing_is_asked_once_the_question_is_cancelled(panel, sandbox, building, button):
    """It ends at once, and says so."""
    panel.select(building[0])
    panel._card.users.choose(user(panel, "Ada"))
    before = sandbox.count(USERS)
    sandbox.fault(USERS, delay=1.0, times=1)
    named(panel, button).click()
    while sandbox.count(USERS) == before:
        time.sleep(0.01)
    panel.cancel()
    assert panel.wait(LONG)
    assert panel.frame.question == ""
    assert panel.frame.text == "Cancelled."


def test_a_new_room_is_read_picked_and_on_the_page(panel):
    """Though a filter hid it."""
    panel.filter("desk")
    room_id = panel.create("Review", "ops", attendee_max=3)
    assert panel.selected.room.attendee_max == 3
    assert panel.table.chosen == room_id
    assert room_id in panel.table.visible
    assert panel.frame.text == f'Created room "Review" ({room_id}).'


def test_a_room_is_created_from_the_form(panel, client):
    """Its password is gone from the form afterwards."""
    press(panel, "New room")
    named(panel, "Topic").value = "Review"
    named(panel, "Owner").value = "ops"
    named(panel, "attendee_max").value = "3"
    named(panel, "External ID").value = "ext-7"
    field(panel, "Host password").fill(SECRET)
    press(panel, "Create room")
    room = ck.get_room(client, "ext-7")
    assert (room.topic, room.owner_id, room.attendee_max) == ("Review", "ops", 3)
    assert room.host_password == SECRET
    assert field(panel, "Host password").text is None
    assert named(panel, "Topic").value == ""


def test_a_form_with_a_wrong_number_says_so_and_sends_nothing(panel, sandbox):
    """What was typed stays."""
    press(panel, "New room")
    named(panel, "Topic").value = "Review"
    named(panel, "Owner").value = "ops"
    named(panel, "attendee_max").value = "a few"
    press(panel, "Create room")
    assert "attendee_max is 'a few', not a whole number" in panel.frame.text
    assert named(panel, "Topic").value == "Review"
    assert sandbox.count("/rtc/room/create") == 3


def test_a_user_is_put_off_after_a_question_that_names_both(panel, client, building):
    """Only that room is read again."""
    panel.select(building[0])
    ada = user(panel, "Ada")
    assert named(panel, "Force offline").disabled
    panel._card.users.choose(ada)
    press(panel, "Force offline")
    assert panel.frame.question == f'Remove "Ada" ({ada}) from room "Weekly sync" ({building[0]})?'
    assert len(ck.get_room_users(client, building[0])) == 2
    panel.answer(True)
    assert [one.user_name for one in panel.selected.users] == ["Bo"]
    assert panel.value.set_index("room_id").loc[building[0], "users"] == 1
    assert panel.frame.text == f'Removed "Ada" ({ada}) from room "Weekly sync" ({building[0]}).'


def test_the_question_before_a_delete_says_who_is_in_the_room_now(panel, client, sandbox, building):
    """Not who was in it when it was read last; devices are counted apart."""
    panel.select(building[0])
    sandbox.leave(building[0], user(panel, "Bo"))
    url = sandbox.camera()
    ck.import_device(client, building[0], "cam", "Camera", url)
    press(panel, "Delete room")
    asked = f'Delete room "Weekly sync" ({building[0]}) with 1 person and 1 device in it?'
    assert panel.frame.question.startswith(asked)
    panel.answer(False)
    assert ck.get_room(client, building[0]).topic == "Weekly sync"
    panel.select(building[1])
    press(panel, "Delete room")
    assert panel.frame.question == f'Delete room "Open end" ({building[1]}) with nobody in it?'


def test_the_question_says_when_it_is_not_known_who_is_in_the_room(panel, sandbox, building):
    """That is not nobody."""
    panel.select(building[0])
    sandbox.fault(USERS, ret=504, times=None)
    press(panel, "Delete room")
    assert "Who is in it could not be read" in panel.frame.question
    assert "504" in panel.frame.question
    sandbox.clear_faults()
    sandbox.fault(LIST, ret=304, times=None)
    press(panel, "Delete room")
    assert "with 2 users (people or devices) in it?" in panel.frame.question


def test_what_is_deleted_is_the_room_that_was_asked_about(panel, client, building):
    """Though another one was picked before the answer."""
    panel.select(building[1])
    press(panel, "Delete room")
    panel.select(building[0])
    panel.answer(True)
    with pytest.raises(RoomNotFound):
        ck.get_room(client, building[1])
    assert building[1] not in set(panel.value["room_id"])
    assert panel.selected.room_id == building[0]


def test_a_room_with_people_in_it_is_deleted_once_its_number_is_typed(panel, client, building):
    """Without it nothing is deleted, and the panel says what to do; an empty room needs none."""
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
    assert "Type" not in panel.frame.question
    assert named(panel, "Room number").layout.display == "none"


def test_the_card_is_closed_by_its_button(panel, building):
    """No row is marked then."""
    panel.table.choose(building[0])
    assert panel.wait(LONG)
    press(panel, "Close")
    assert panel.selected is None
    assert panel.table.chosen == panel.model.picked == ""
    assert panel._card.layout.display == "none"


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
        panel._card.users.choose(user(panel, "Ada"))
        for text in ("Delete room", "Force offline", "New room"):
            assert named(panel, text).disabled
            assert "Read only" in named(panel, text).tooltip
        for change in (
            lambda: panel.delete(),
            lambda: panel.create("x", "y"),
            lambda: panel.force_offline(user(panel, "Ada")),
        ):
            with pytest.raises(ReadOnlyError):
                change()
        assert len(ck.get_room_users(client, building[0])) == 2


def test_a_service_that_went_away_is_told_and_the_rooms_stay_as_they_were_read(
    panel, client, sandbox
):
    """The error is raised to a cell, too."""
    before = panel.value
    client.close()
    with pytest.raises(ck.ConfkitError, match="closed"):
        panel.refresh()
    assert panel.frame.tone == "bad"
    kept = panel.value
    assert kept.drop(columns="error").equals(before.drop(columns="error"))
    assert kept["error"].str.contains("closed").all()
