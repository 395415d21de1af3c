"""The ten operations, row by row: what they do, and the code for what stands in their way."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.ports import HERE
from tests.test_records import deep

from .conftest import path, wait_until

LOGIN = {"login_name": "admin", "login_password": "geheim77"}
SMALL = {"size": (128, 96), "fps": 5}


def test_a1_returns_random_and_key_for_the_right_digest(caller, sandbox):
    responses = caller.login(), caller.login()
    assert [response.pop("ret") for response in responses] == [0, 0]
    assert len({text for response in responses for text in response.values()}) == 4
    right = {"access_key": sandbox.access_key, "digest": caller.sign(sandbox.access_key)}
    for change in ({"access_key": "x"}, {"digest": "x"}, {"digest": "é😀"}):
        response = caller.raw(path("A1"), {**right, **change}).json()
        assert response == {"ret": 401, "msg": "authentication failed"}


def test_a3_returns_what_a2_was_called_with(caller):
    """Caps are quoted, other numbers are numbers, what is missing is an empty text; a number that
    the service chooses has ten digits; room_extend_id is unique among all numbers."""
    texts = {"owner_id": "o-1", "host_password": "geheim", "room_extend_id": "ext-1"}
    fields = {"topic": "Größe & Maß" + "é" * 67 + "x", "room_mode": 4, **texts}
    caps = {"attendee_max": "25", "max_audio": "4", "max_video": "0"}
    room_id = caller.room(**fields, **caps, room_type="none", anything="else")
    expected = {"ret": 0, "id": 1, "room_id": "ext-1", "room_status": 0, **fields, **caps}
    assert caller.call("A3", room_id=room_id) == expected
    bare = caller.call("A3", room_id=caller.room(attendee_max=""))
    assert {bare[name] for name in ("host_password", "room_extend_id", *caps)} == {""}
    assert re.fullmatch(r"\d{10}", bare["room_id"])
    for taken in ("ext-1", bare["room_id"]):
        assert caller.create(room_extend_id=taken)["ret"] == 407


WRONG_ROOMS = [("topic", "é" * 75), ("room_mode", "0"), ("room_mode", "5"), ("room_mode", "1.0")]
WRONG_ROOMS += [("attendee_max", "-1"), ("attendee_max", "9" * 19), ("max_video", "٣")]
WRONG_DEVICES = [("sip://127.0.0.1:5060/x", 426), ("h323://127.0.0.1:5060/x", 426), ("sip://", 401)]
WRONG_DEVICES += [("http://127.0.0.1:1/", 401), ("rtsp://h:0/", 401), (" rtsp://h/", 401)]
WRONG_OPTIONS = ["[]", "{", '{"login_name":1}', '{"x":NaN}', '{"x":"\\ud800"}', deep(101)]


def test_wrong_values(caller):
    """407 in A, 401 in B; 426 for a scheme that the sandbox does not dial."""
    for name, value in WRONG_ROOMS:
        assert caller.create(**{name: value})["ret"] == 407, value
    for address, code in WRONG_DEVICES:
        assert caller.add(caller.room(), address) == code, address
    for options in WRONG_OPTIONS:
        assert caller.add("none", "rtsp://h/", options=options) == 401, options[:9]


def test_the_media_server(caller, sandbox):
    """Something listens at A5's host:port, unless it is stopped, and then again at the same port;
    a room gets it again by A5, a join and an import."""
    room_id = caller.room()
    address = caller.call("A5", room_id=room_id)["addr"]
    place = address.rpartition(":")[0], int(address.rpartition(":")[2])
    socket.create_connection(place, 5).close()
    sandbox.stop_mcu()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place, 5)
    sandbox.start_mcu()
    assert caller.call("A5", room_id=room_id)["addr"] == address
    for assign in (
        lambda: caller.code("A5", room_id=room_id),
        lambda: sandbox.join(room_id, "Eve"),
        lambda: caller.add(room_id, sandbox.camera(**SMALL)),
    ):
        sandbox.unassign_mcu(room_id)
        assert caller.code("A7", room_id=room_id, user_id="x") == 428
        assign()
        assert caller.code("A7", room_id=room_id, user_id="x") == 429


def test_a_room_goes_through_its_states(caller, sandbox):
    room_id = caller.room()
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", sandbox.join(room_id, "Eve"))
    [eve] = caller.users(room_id)
    assert caller.call("A7", room_id=room_id, user_id=eve) == {"ret": 0, "msg": "success"}
    for step, *arguments, state in (
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.leave, "u", (0, [])),
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.join, "Bob", None, "b", (1, ["u", "b"])),
        (sandbox.lock, (2, ["u", "b"])),
        (sandbox.unlock, (1, ["u", "b"])),
        (sandbox.close_room, (3, [])),
    ):
        step(room_id, *arguments)
        assert (caller.status(room_id), caller.users(room_id)) == state


def test_who_can_join(caller, sandbox):
    """The room's password makes a host; a wrong one and an ID that is taken are refused, and a
    locked room refuses even hosts."""
    room_id, locked = caller.room(host_password="geheim"), caller.room()
    sandbox.join(room_id, "Ada", password="geheim", user_id="u")
    sandbox.join(room_id, "Eve")
    people = [(person["user_name"], person["host"]) for person in sandbox.people(room_id)]
    assert people == [("Ada", True), ("Eve", False)]
    sandbox.lock(locked)
    for room, match, options in (
        (room_id, "password is wrong", {"password": "geheimer"}),
        (room_id, "'u' is taken", {"user_id": "u"}),
        (locked, "is locked", {"password": "x"}),
        ("none", "no such room", {}),
    ):
        with pytest.raises(RoomJoinRefused, match=match) as error:
            sandbox.join(room, "Bob", **options)
        assert "geheim" not in str(error.value)
    for name, user_id in ((None, None), ("", None), ("Bob", ""), ("Bob", 7)):
        with pytest.raises(ValueError, match="non-empty text"):
            sandbox.join(room_id, name, user_id=user_id)
    for call in (lambda: sandbox.leave(room_id, "x"), lambda: sandbox.lock("none")):
        with pytest.raises(LookupError):
            call()


def test_an_imported_camera_is_a_user_until_it_is_removed(caller, sandbox):
    """B1 opens the stream; A6, B3 and room_status show the device; B2 ends it, if room, user and
    address are the device's."""
    room_id, url = caller.room(), sandbox.camera(**LOGIN, **SMALL)
    fields = {"roomId": room_id, "userId": "cam", "userName": "Door", "userAddress": url}
    done = {"ret": 0, "data": {"roomId": room_id, "userId": "cam"}}
    assert caller.call("B1", **fields, options=LOGIN, userData="outgoing") == done
    users = caller.call("A6", room_id=room_id)["user_list"]
    assert users == [{"user_name": "Door", "user_id": "cam"}]
    item = {**fields, "userData": "outgoing", "options": LOGIN}
    assert caller.call("B3", roomId=room_id) == {"ret": 0, "data": {"total": 1, "items": [item]}}
    assert (caller.status(room_id), sandbox._cameras.viewers(url)) == (1, 1)
    right = {"roomId": room_id, "userId": "cam", "userAddress": url}
    for wrong in right:
        assert caller.code("B2", **{**right, wrong: "rtsp://other/"}) == 425
    assert caller.call("B2", **right) == done
    wait_until(lambda: sandbox._cameras.viewers(url) == 0)
    assert caller.users(room_id) == caller.devices() == []
    assert caller.status(room_id) == 0


def test_the_login_of_a_camera(caller, sandbox):
    """Wrong: 426, and nothing stays behind; one inside userAddress counts, and B3 returns it."""
    room_id, url = caller.room(), sandbox.camera(**LOGIN, **SMALL)
    for options in ({}, {**LOGIN, "login_password": "wrong"}):
        assert caller.add(room_id, url, options=options) == 426
        assert caller.devices() == []
        assert "auth" in sandbox.refusals[-1].why
    inside = url.replace("rtsp://", "rtsp://admin:geheim77@")
    assert caller.add(room_id, inside) == 0
    item = caller.call("B3")["data"]["items"][0]
    assert (item["userAddress"], item["userData"], item["options"]) == (inside, "", {})


def test_an_import_is_unique(caller, sandbox):
    """423: a user ID of any device or of a person of the room, a camera twice in one room. B3
    returns a room's devices, all with an empty roomId, none of an unknown room."""
    first, second = caller.room(), caller.room()
    front, back = sandbox.camera(**SMALL), sandbox.camera(**SMALL)
    sandbox.join(first, "Ada", user_id="ada")
    again = front.replace("//", "//ada:x@")  # the same camera, by another login
    rows = [(first, front), (first, again, "other"), (second, back), (first, back, "ada")]
    codes = [caller.add(*row) for row in (*rows, (second, front, "other"))]
    assert codes == [0, 423, 423, 423, 0]
    listed = [caller.devices(room_id) for room_id in (first, second, "", "none")]
    assert listed == [["cam"], ["other"], ["cam", "other"], []]


@pytest.mark.parametrize("same", ["userId", "userAddress", "place"])
def test_a_place_is_taken_while_a_camera_is_dialled(make, same):
    """User ID, address and the room's last place, and nobody is there yet; all are free again after
    a failure."""
    with socket.create_server((HERE, 0)) as server, ThreadPoolExecutor(1) as pool:
        silent = f"rtsp://{HERE}:{server.getsockname()[1]}/x"
        caller = make(dial_timeout=1.0)
        room_id = caller.room(attendee_max=1 if same == "place" else 2)
        address = silent if same == "userAddress" else silent + "2"
        first = pool.submit(caller.add, room_id, silent)
        wait_until(lambda: caller.sandbox._service.rooms[room_id].devices)
        second = caller.add(room_id, address, "cam" if same == "userId" else "b")
        assert second == (426 if same == "place" else 423)
        assert caller.devices() == caller.users(room_id) == []
        assert caller.code("A7", room_id=room_id, user_id="cam") == 429
        assert first.result() == 427
    assert caller.add(room_id, caller.sandbox.camera(**SMALL)) == 0


def deleted(sandbox, room_id):
    with sandbox.connect() as client:
        ck.delete_room(client, room_id)


# The code of each operation if nothing stands in its way: the user of A7 and B2 is unknown.
USUAL = {"A2": 0, "A3": 0, "A7": 429, "A5": 0, "A6": 0, "B1": 0, "B3": 0, "B2": 425, "A4": 0}
GONE = {"A3": 404, "A7": 404, "A5": 404, "A6": 404, "B1": 426, "A4": 404}
JOINED = lambda sandbox, room_id: sandbox.join(room_id, "Ada")  # noqa: E731
# The fields of a room, what is done to it, the codes that differ, and why nobody can join.
ROWS = [
    ({}, Sandbox.unlock, {}, ""),
    ({}, deleted, GONE, "there is no such room"),
    ({}, Sandbox.lock, {"B1": 426}, "the room is locked"),
    ({}, Sandbox.close_room, {"A7": 416, "A5": 416, "B1": 426}, "the room is closed"),
    ({}, Sandbox.unassign_mcu, {"A7": 428}, ""),
    ({"attendee_max": 1}, JOINED, {"B1": 426}, "its attendee_max is 1"),
    ({"attendee_max": 0}, JOINED, {}, ""),
    ({"max_video": 1}, JOINED, {"B1": 426}, ""),
    ({"max_audio": 1}, JOINED, {}, ""),
    ({"room_mode": 3}, lambda s, _: s.licence(peer_to_peer=False), {"A2": 701}, ""),
    ({}, lambda s, _: s.licence(expired=True), {"A2": 405, "A5": 405}, "licence has expired"),
    ({}, lambda s, _: s.licence(seats=0), {"A5": 411, "B1": 426}, "all seats of the licence"),
    ({}, lambda s, _: s.stop_mcu(), {"A7": 417, "A5": 410, "B1": 426}, "no media"),
    ({}, lambda s, _: s.device_service("stopped"), {"B1": 302, "B3": 304, "B2": 303}, ""),
    ({}, lambda s, _: s.device_service("hanging"), {"B1": 310, "B3": 310, "B2": 310}, ""),
]


@pytest.mark.parametrize(("fields", "change", "codes", "why"), ROWS)
def test_what_each_operation_answers(caller, sandbox, fields, change, codes, why):
    """Each has its own code for what stands in its way, and all others work. max_audio and
    max_video limit streams: they keep no person out."""
    room_id, url = caller.room(**fields), sandbox.camera(**SMALL)
    values = {"room_id": room_id, "roomId": room_id, "userName": "Door", "userAddress": url}
    values |= {"topic": "t", "owner_id": "o", "room_mode": 1, "user_id": "u", **fields}
    change(sandbox, room_id)
    if why:
        with pytest.raises(RoomJoinRefused, match=why):
            sandbox.join(room_id, "Bob")
    answers = {
        key: caller.code(key, **values, userId="nobody" if key == "B2" else "u") for key in USUAL
    }
    assert answers == {**USUAL, **codes}
    if answers["B1"] == 426:
        reasons = [refusal.why for refusal in sandbox.refusals]
        assert any((why or "max_video is 1, taken by") in reason for reason in reasons)


def test_who_goes_gives_the_seat_back(caller, sandbox):
    """By leaving, by force, or with a room that is closed or deleted."""
    sandbox.licence(seats=1)
    for go in (
        lambda room_id: sandbox.leave(room_id, "u"),
        lambda room_id: caller.code("A7", room_id=room_id, user_id="u"),
        sandbox.close_room,
        lambda room_id: caller.code("A4", room_id=room_id),
    ):
        room_id = caller.room()
        sandbox.join(room_id, "Ada", user_id="u")
        assert caller.code("A5", room_id=room_id) == 411
        go(room_id)
    assert caller.code("A5", room_id=caller.room()) == 0
