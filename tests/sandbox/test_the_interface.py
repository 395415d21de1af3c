"""The ten operations, row by row: what they do, the code for what stands in their way, and what
travels: encodings, JSONP, unknown routes, tokens."""

import json
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.ports import HERE
from tests.rtsp.scripted import until
from tests.scripted import A1, A3, B3
from tests.test_records import deep

LOGIN = {"login_name": "admin", "login_password": "geheim77"}
SMALL = {"size": (128, 96), "fps": 5}


def test_a1_wants_the_right_digest(caller, sandbox):
    right = {"access_key": sandbox.access_key, "digest": caller.sign(sandbox.access_key)}
    responses = [caller.raw(A1, right).json() for _ in range(2)]
    assert len({text for each in responses for text in each.values()} - {0}) == 4
    for change in ({"access_key": "x"}, {"digest": "é😀"}):
        response = caller.raw(A1, {**right, **change}).json()
        assert response == {"ret": 401, "msg": "authentication failed"}


def test_a3_returns_what_a2_was_called_with(caller):
    """Caps are quoted, other numbers are numbers, what is missing is an empty text; a number that
    the service chooses has ten digits; room_extend_id is unique among all numbers."""
    texts = {"owner_id": "o-1", "host_password": "geheim", "room_extend_id": "ext-1"}
    fields = {"topic": "Größe & Maß" + "é" * 67 + "x", "room_mode": 4, **texts}
    caps = {"attendee_max": "25", "max_audio": "4", "max_video": "0"}
    room_id = caller.room(**fields, **caps)
    expected = {"ret": 0, "id": 1, "room_id": "ext-1", "room_status": 0, **fields, **caps}
    assert caller.call("A3", room_id=room_id) == expected
    bare = caller.call("A3", room_id=caller.room(attendee_max=""))
    assert {bare[name] for name in ("host_password", "room_extend_id", *caps)} == {""}
    assert re.fullmatch(r"\d{10}", bare["room_id"])
    for taken in ("ext-1", bare["room_id"]):
        assert caller.create(room_extend_id=taken)["ret"] == 407


def test_wrong_values(caller):
    """407 in A, 401 in B; 426 for a scheme that the sandbox does not dial."""
    for change in ({"topic": "é" * 75}, {"room_mode": "5"}, {"attendee_max": "9" * 19}):
        assert caller.create(**change)["ret"] == 407
    for address, options, code in (
        ("sip://127.0.0.1:5060/x", "", 426),
        ("http://127.0.0.1:1/", "", 401),
        ("rtsp://h/", '{"x":NaN}', 401),
        ("rtsp://h/", deep(101), 401),
    ):
        assert caller.add(caller.room(), address, options=options) == code


def test_a_room_goes_through_its_states(caller, sandbox):
    room_id = caller.room()
    eve = sandbox.join(room_id, "Eve")
    assert caller.users(room_id) == [eve]
    assert caller.call("A7", room_id=room_id, user_id=eve) == {"ret": 0, "msg": "success"}
    for step, *arguments, state in (
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.leave, "u", (0, [])),
        (sandbox.join, "Bob", None, "b", (1, ["b"])),
        (sandbox.lock, (2, ["b"])),
        (sandbox.unlock, (1, ["b"])),
        (sandbox.close_room, (3, [])),
    ):
        step(room_id, *arguments)
        assert (caller.status(room_id), caller.users(room_id)) == state


def test_a_host_joins_by_the_rooms_password(caller, sandbox):
    """A wrong one is refused, and any in a room that has none."""
    room_id = caller.room(host_password="geheim")
    sandbox.join(room_id, "Ada", password="geheim", user_id="u")
    assert caller.users(room_id) == ["u"]
    for room in (room_id, caller.room()):
        with pytest.raises(RoomJoinRefused, match="password is wrong") as error:
            sandbox.join(room, "Bob", password="geheimer")
        assert "geheim" not in str(error.value)


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
    assert (caller.status(room_id), sandbox.snapshot(room_id, "cam").width) == (1, 128)
    right = {"roomId": room_id, "userId": "cam", "userAddress": url}
    for wrong in right:
        assert caller.code("B2", **{**right, wrong: "rtsp://other/"}) == 425
    assert caller.call("B2", **right) == done  # once the camera is released
    assert "sandbox device" not in {each.name for each in threading.enumerate()}
    assert caller.users(room_id) == caller.devices() == []


def test_an_import_is_unique(caller, sandbox):
    """423: a user ID of any device or of a person of the room, a camera twice in one room. B3
    returns a room's devices, all with an empty roomId, none of an unknown room."""
    first, second = caller.room(), caller.room()
    front, back = sandbox.camera(**SMALL), sandbox.camera(**SMALL)
    sandbox.join(first, "Ada", user_id="ada")
    for room_id, address, user_id, code in (
        (first, front, "cam", 0),
        (first, front.replace("//", "//ada:x@"), "other", 423),  # by another login
        (second, back, "cam", 423),
        (first, back, "ada", 423),
        (second, front, "other", 0),
    ):
        assert caller.add(room_id, address, user_id) == code
    listed = [caller.devices(room_id) for room_id in (first, "", "none")]
    assert listed == [["cam"], ["cam", "other"], []]


def test_a_place_is_taken_while_a_camera_is_dialled(make):
    """Its user ID and the room's last place; both are free again after a failure."""
    with socket.create_server((HERE, 0)) as silent, ThreadPoolExecutor(1) as pool:
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/"
        caller = make(dial_timeout=2.0)
        room_id = caller.room(attendee_max=1)
        first = pool.submit(caller.add, room_id, address)
        until(lambda: caller.sandbox._service.rooms[room_id].devices)
        assert caller.add(caller.room(), address, "cam") == 423
        assert caller.add(room_id, address + "2", "other") == 426
        assert caller.devices() == caller.users(room_id) == []
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
    ({}, deleted, GONE, "there is no such room"),
    ({}, Sandbox.lock, {"B1": 426}, "the room is locked"),
    ({}, Sandbox.close_room, {"A7": 416, "A5": 416, "B1": 426}, "the room is closed"),
    ({}, Sandbox.unassign_mcu, {"A7": 428}, ""),
    ({"attendee_max": 1}, JOINED, {"B1": 426}, "its attendee_max is 1"),
    ({"max_video": 1}, JOINED, {"B1": 426}, ""),
    ({"room_mode": 3}, lambda s, _: s.licence(peer_to_peer=False), {"A2": 701}, ""),
    ({}, lambda s, _: s.licence(expired=True), {"A2": 405, "A5": 405}, "licence has expired"),
    ({}, lambda s, _: s.licence(seats=0), {"A5": 411, "B1": 426}, "all seats of the licence"),
    ({}, lambda s, _: s.stop_mcu(), {"A7": 417, "A5": 410, "B1": 426}, "no media"),
    ({}, lambda s, _: s.device_service("stopped"), {"B1": 302, "B3": 304, "B2": 303}, ""),
    ({}, lambda s, _: s.device_service("hanging"), {"B1": 310, "B3": 310, "B2": 310}, ""),
]


@pytest.mark.parametrize(("fields", "change", "codes", "why"), ROWS)
def test_what_each_operation_answers(caller, sandbox, fields, change, codes, why):
    """Each has its own code for what stands in its way, and all others work. max_video limits
    streams: it keeps no person out."""
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


def test_responses_are_compact_json(caller):
    """A query of 60 kB and bytes that are not UTF-8 are answered, too."""
    response = caller.raw(f"{A3}?access_token=%ff%fe&y={'z' * 60_000}")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.text == '{"ret":602,"msg":"access_token incorrect"}'


@pytest.mark.parametrize("port", ["A", "B"])
def test_an_unknown_route_or_method_is_408(caller, port):
    """All are counted."""
    wrong = [("/../../etc/passwd", "GET"), (A3, "POST"), (B3, "POST")]
    for route, method in wrong:
        response = caller.raw(route, port=port, method=method).json()
        assert response["ret"] == 408
        assert response["msg" if port == "A" else "err"] == "HTTP request not supported"
    assert caller.sandbox.count() == len(wrong)


def test_a_token_expires(caller, sandbox):
    """After an hour by the sandbox's clock."""
    room_id = caller.room()
    sandbox.advance(3500)
    assert caller.code("A3", room_id=room_id) == 0
    sandbox.advance(200)
    assert caller.code("A3", room_id=room_id) == caller.code("B3") == 602
    assert sandbox.refusals[-1].why == "token expired 1 min ago"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_tokens_come_first_and_then_the_parameters(caller, operation):
    """602 for a missing or wrong token; then 407 in A and 401 in B for each required parameter that
    is missing or empty, and the refusal names it."""
    usual = {"room_mode": "1", "userAddress": "rtsp://127.0.0.1/"}
    values = {name: usual.get(name, "1") for name in operation.required}
    if operation.token:
        for token in (None, "gültig?"):
            refused = caller.raw(operation.path, {operation.token: token}).json()
            assert refused["ret"] == 602
        values[operation.token] = caller.token
    for name in operation.required:
        for missing in (None, ""):
            refused = caller.raw(operation.path, {**values, name: missing}).json()
            assert refused["ret"] == (407 if operation.interface == "A" else 401)
            assert caller.sandbox.refusals[-1].why.startswith(f"{name} is ")


def test_jsonp(caller):
    """callback=NAME makes any response NAME({...}) as JavaScript, and of several the last one
    counts; any other callback is a parameter error as plain JSON, and is not quoted."""
    query = {"access_token": caller.token, "room_id": caller.room(topic="a\u2028b\u2029")}
    response = caller.raw(A3, {**query, "callback": ["1a", "$.b_c"]})
    assert response.headers["content-type"] == "application/javascript"
    assert not {"\u2028", "\u2029"} & set(response.text)
    members = re.fullmatch(r"\$\.b_c\((.*)\)", response.text)[1]
    assert json.loads(members)["topic"] == "a\u2028b\u2029"
    for name in ("", "1a", "alert(1)", "a\n"):
        response = caller.raw(A3, {**query, "callback": name})
        assert response.json() == {"ret": 407, "msg": "parameter error"}
        assert caller.code("B3", callback=name) == 401


def test_a_body_that_is_too_large_is_not_read(caller, sandbox):
    """Its connection is closed after a mebibyte, the reason is kept, and others are served."""
    body = iter([b"x" * 2**20] * 64)
    with pytest.raises(requests.ConnectionError):
        requests.post(sandbox.base_url + A3, data=body, timeout=20)
    assert next(body)
    assert "larger than 1,048,576 bytes" in sandbox.refusals[-1].why
    assert caller.room()
