"""The ten operations, row by row: what they do, and what each answers where something is wrong.
Streams that die are in test_streams."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from confkit.errors import ConfkitError
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.ports import HERE
from tests.test_records import deep

from .conftest import A, until

LOGIN = {"login_name": "admin", "login_password": "geheim77"}


def test_a1_gives_random_and_key_to_the_right_digest(stranger, sandbox):
    """Two texts, other ones each time; 401 for a wrong key or digest in any alphabet."""
    answers = stranger.login(), stranger.login()
    assert [answer.pop("ret") for answer in answers] == [0, 0]
    assert len({text for answer in answers for text in answer.values()}) == 4
    right = {"access_key": sandbox.access_key, "digest": stranger.sign(sandbox.access_key)}
    for change in ({"access_key": "x"}, {"digest": "x"}, {"digest": "é😀"}):
        answer = stranger.raw(A["valid"], {**right, **change}).json()
        assert answer == {"ret": 401, "msg": "authentication failed"}


def test_a3_gives_back_what_a2_was_given(stranger):
    """The caps quoted, the numbers as numbers; what was not given is an empty text, a number that
    the service gives has ten digits, unknown parameters do no harm. room_extend_id is unique, also
    against the number of another room."""
    texts = {"owner_id": "o-1", "host_password": "geheim", "room_extend_id": "ext-1"}
    fields = {"topic": "Größe & Maß" + "é" * 67 + "x", "room_mode": 4, **texts}
    caps = {"attendee_max": "25", "max_audio": "4", "max_video": "0"}
    room_id = stranger.room(**fields, **caps, room_type="none", anything="else")
    whole = {"ret": 0, "id": 1, "room_id": "ext-1", "room_status": 0, **fields, **caps}
    assert stranger.ask("get", room_id=room_id) == whole
    bare = stranger.ask("get", room_id=stranger.room())
    assert {bare[name] for name in ("host_password", "room_extend_id", *caps)} == {""}
    assert re.fullmatch(r"\d{10}", bare["room_id"])
    for taken in ("ext-1", bare["room_id"]):
        assert stranger.create(room_extend_id=taken)["ret"] == 407


WRONG_ROOMS = [("topic", "é" * 75), ("room_mode", "0"), ("room_mode", "5"), ("room_mode", "1.0")]
WRONG_ROOMS += [("attendee_max", "-1"), ("attendee_max", "9" * 19), ("max_audio", "1e3")]
WRONG_ROOMS += [("max_video", "٣")]
WRONG_DEVICES = [("sip://127.0.0.1:5060/x", 426), ("h323://127.0.0.1:5060/x", 426), ("sip://", 401)]
WRONG_DEVICES += [("http://127.0.0.1:1/", 401), ("rtsp://h:0/", 401), (" rtsp://h/", 401)]
WRONG_OPTIONS = [
    "[]",
    "{",
    '{"login_name":1}',
    '{"x":NaN}',
    '{"x":"\\ud800"}',
    *map(deep, (101, 900)),
]


def test_wrong_values(stranger, sandbox):
    """407 in A; in B 401 for what is no address and options that are no JSON object, or could not
    be given back, and 426 for what the sandbox does not dial."""
    for name, value in WRONG_ROOMS:
        assert stranger.create(**{name: value})["ret"] == 407, value
    for address, code in WRONG_DEVICES:
        assert stranger.bring(stranger.room(), address) == code, address
        assert "rtsp" in sandbox.refusals[-1].why or code == 401
    for options in WRONG_OPTIONS:
        assert stranger.bring("none", "rtsp://h/", options=options) == 401, options[:9]


def test_the_media_server(stranger, sandbox):
    """A5's addr is host:port, and something listens there; not while the media server is stopped,
    and again on the same port. A room gets it again by A5, a join and an import."""
    room_id = stranger.room()
    address = stranger.ask("mcu", room_id=room_id)["addr"]
    place = address.rpartition(":")[0], int(address.rpartition(":")[2])
    socket.create_connection(place, 5).close()
    sandbox.stop_mcu()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place, 5)
    sandbox.start_mcu()
    assert stranger.ask("mcu", room_id=room_id)["addr"] == address
    for again in (
        lambda: stranger.code("mcu", room_id=room_id),
        lambda: sandbox.join(room_id, "Eve"),
        lambda: stranger.bring(room_id, sandbox.camera(size=(160, 96), fps=5)),
    ):
        sandbox.unassign_mcu(room_id)
        assert stranger.code("force", room_id=room_id, user_id="x") == 428
        again()
        assert stranger.code("force", room_id=room_id, user_id="x") == 429


def test_a_room_goes_through_its_states(stranger, sandbox):
    """0 until somebody joins, 1 while somebody is there, then 0 again; locked 2, closed 3, and then
    nobody is in it. A7 puts one off, and a second time is 429."""
    room_id = stranger.room()
    ada = sandbox.join(room_id, "Ada")
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ada)
    force = {"room_id": room_id, "user_id": ada}
    assert stranger.ask("force", **force) == {"ret": 0, "msg": "success"}
    assert stranger.code("force", **force) == 429
    for step, *values, state in (
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.leave, "u", (0, [])),
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.join, "Bob", None, "b", (1, ["u", "b"])),
        (sandbox.lock, (2, ["u", "b"])),
        (sandbox.unlock, (1, ["u", "b"])),
        (sandbox.close_room, (3, [])),
    ):
        step(room_id, *values)
        assert (stranger.status(room_id), stranger.users(room_id)) == state


def test_who_can_join(stranger, sandbox):
    """The right password makes a host, none makes a plain person; a wrong one and a taken user id
    refuse a person, and not even a host can enter a locked room."""
    room_id = stranger.room(host_password="geheim")
    sandbox.join(room_id, "Ada", password="geheim", user_id="u")
    sandbox.join(room_id, "Eve")
    people = [(person["user_name"], person["host"]) for person in sandbox.people(room_id)]
    assert people == [("Ada", True), ("Eve", False)]
    sandbox.lock(second := stranger.room())
    for room, match, more in (
        (room_id, "password is wrong", {"password": "geheimer"}),
        (room_id, "'u' is taken", {"user_id": "u"}),
        (second, "is locked", {"password": "x"}),
        ("none", "no such room", {}),
    ):
        with pytest.raises(RoomJoinRefused, match=match) as error:
            sandbox.join(room, "Bob", **more)
        assert "geheim" not in str(error.value)
    for name, user_id in ((None, None), ("", None), ({}, None), ("Bob", ""), ("Bob", 7)):
        with pytest.raises(ValueError, match=r"user_(name|id) is"):
            sandbox.join(room_id, name, user_id=user_id)
    assert len(stranger.users(room_id)) == 2
    for call in (lambda: sandbox.leave(room_id, "x"), lambda: sandbox.lock("none")):
        with pytest.raises(LookupError):
            call()


def test_an_imported_camera_is_a_user_until_it_is_removed(stranger, sandbox):
    """B1 opens the stream; A6, B3 and room_status show the device; B2 lets go of it, if room, user
    and address are the device's (425)."""
    room_id, url = stranger.room(), sandbox.camera(**LOGIN)
    fields = {"roomId": room_id, "userId": "cam", "userName": "Door", "userAddress": url}
    done = {"ret": 0, "data": {"roomId": room_id, "userId": "cam"}}
    assert stranger.ask("import", **fields, options=LOGIN, userData="outgoing") == done
    users = stranger.ask("info", room_id=room_id)["user_list"]
    assert users == [{"user_name": "Door", "user_id": "cam"}]
    item = {**fields, "userData": "outgoing", "options": LOGIN}
    assert stranger.ask("list", roomId=room_id) == {"ret": 0, "data": {"total": 1, "items": [item]}}
    assert (stranger.status(room_id), sandbox._cameras.viewers(url)) == (1, 1)
    right = {"roomId": room_id, "userId": "cam", "userAddress": url}
    for wrong in right:
        assert stranger.code("remove", **{**right, wrong: "rtsp://other/"}) == 425
    assert stranger.ask("remove", **right) == done
    until(lambda: sandbox._cameras.viewers(url) == 0)
    assert stranger.users(room_id) == stranger.devices() == []
    assert stranger.status(room_id) == 0


def test_the_login_of_a_camera(stranger, sandbox):
    """A camera that refuses the login makes B1 answer 426, and nothing stays behind; a login inside
    userAddress opens it, and B3 gives the address back as it came."""
    room_id, url = stranger.room(), sandbox.camera(**LOGIN)
    for options in ({}, {**LOGIN, "login_password": "wrong"}):
        assert stranger.bring(room_id, url, options=options) == 426
        assert stranger.devices() == []
        assert "auth" in sandbox.refusals[-1].why
    inside = url.replace("rtsp://", "rtsp://admin:geheim77@")
    assert stranger.bring(room_id, inside) == 0
    item = stranger.ask("list")["data"]["items"][0]
    assert (item["userAddress"], item["userData"], item["options"]) == (inside, "", {})


def test_an_import_is_unique(stranger, sandbox):
    """423: a user id that any device or a person of the room has, an address twice in one room.
    B3 gives one room's devices, all with an empty roomId, none for an unknown room."""
    first, second = stranger.room(), stranger.room()
    front, back = sandbox.camera(), sandbox.camera()
    sandbox.join(first, "Ada", user_id="ada")
    again = front.replace("//", "//ada:x@")  # the same camera, by another login
    rows = [(first, front), (first, again, "other"), (second, back), (first, back, "ada")]
    codes = [stranger.bring(*row) for row in (*rows, (second, front, "other"))]
    assert codes == [0, 423, 423, 423, 0]
    listed = [stranger.devices(room_id) for room_id in (first, second, "", "none")]
    assert listed == [["cam"], ["other"], ["cam", "other"], []]


@pytest.mark.parametrize("same", ["userId", "userAddress", "place"])
def test_a_place_is_taken_while_a_camera_is_dialled(make, same):
    """User id, address and the room's last place are taken before the dial: a second import is 423
    or 426 meanwhile; after a failure all of them are free again."""
    with socket.create_server((HERE, 0)) as server, ThreadPoolExecutor(1) as pool:
        silent = f"rtsp://{HERE}:{server.getsockname()[1]}/x"
        stranger = make(dial_timeout=1.0)
        room_id = stranger.room(attendee_max=1 if same == "place" else 2)
        address = silent if same == "userAddress" else silent + "2"
        first = pool.submit(stranger.bring, room_id, silent)
        until(lambda: stranger.sandbox._service.rooms[room_id].devices)
        second = stranger.bring(room_id, address, "cam" if same == "userId" else "b")
        assert second == (426 if same == "place" else 423)
        assert first.result() == 427
    assert stranger.bring(room_id, stranger.sandbox.camera()) == 0


def test_a_stream_that_dies_and_comes_back(stranger, sandbox):
    """A dead device leaves A6, stays in B3, keeps its place, and returns by itself, also into a
    room that was locked meanwhile."""
    room_id, url = stranger.room(attendee_max=1), sandbox.camera("front")
    for unknown in ("rtsp://127.0.0.1:1/none", None):
        with pytest.raises(ConfkitError, match="no camera"):
            sandbox.unplug(unknown)
    assert stranger.bring(room_id, url) == 0
    sandbox.unplug(url)
    until(lambda: stranger.users(room_id) == [])
    assert (stranger.devices(room_id), stranger.status(room_id)) == (["cam"], 0)
    assert stranger.bring(room_id, sandbox.camera(), "second") == 426
    sandbox.lock(room_id)
    assert sandbox.camera("front") == url
    until(lambda: stranger.users(room_id) == ["cam"])


def licence(**settings):
    return lambda sandbox, _: sandbox.licence(**settings)


def device_service(state):
    return lambda sandbox, _: sandbox.device_service(state)


def deleted(sandbox, room_id):
    with sandbox.connect() as client:
        ck.delete_room(client, room_id)


def joined(sandbox, room_id):
    sandbox.join(room_id, "Ada")


# What is answered where nothing stands in the way: a user of A7 and a device of B2 are unknown.
USUAL = {"create": 0, "get": 0, "force": 429, "mcu": 0, "info": 0, "import": 0, "list": 0}
USUAL |= {"remove": 425, "del": 0}
GONE = {"get": 404, "force": 404, "mcu": 404, "info": 404, "import": 426, "del": 404}
# The fields of a room, what is done then, what is answered otherwise than usually, and why nobody
# can join ("": everybody can).
ROWS = [
    ({}, Sandbox.unlock, {}, ""),
    ({}, deleted, GONE, "there is no such room"),
    ({}, Sandbox.lock, {"import": 426}, "the room is locked"),
    ({}, Sandbox.close_room, {"force": 416, "mcu": 416, "import": 426}, "the room is closed"),
    ({}, Sandbox.unassign_mcu, {"force": 428}, ""),
    ({"attendee_max": 1}, joined, {"import": 426}, "its attendee_max is 1"),
    ({"attendee_max": 0}, joined, {}, ""),
    ({"max_video": 1}, joined, {"import": 426}, ""),
    ({"max_audio": 1}, joined, {}, ""),
    ({"room_extend_id": "e"}, joined, {"create": 407}, ""),
    ({"room_mode": 3}, licence(peer_to_peer=False), {"create": 701}, ""),
    ({}, licence(expired=True), {"create": 405, "mcu": 405}, "licence has expired"),
    ({}, licence(seats=0), {"mcu": 411, "import": 426}, "all seats of the licence are used"),
    (
        {},
        lambda sandbox, _: sandbox.stop_mcu(),
        {"force": 417, "mcu": 410, "import": 426},
        "no media",
    ),
    ({}, device_service("stopped"), {"import": 302, "list": 304, "remove": 303}, ""),
    ({}, device_service("hanging"), {"import": 310, "list": 310, "remove": 310}, ""),
]


@pytest.mark.parametrize(("fields", "done", "codes", "why"), ROWS)
def test_what_each_operation_answers(stranger, sandbox, fields, done, codes, why):
    """Each operation has its own code for what stands in its way, and all others work. max_audio
    and max_video limit streams: they keep no person out, and only a device needs one of video."""
    room_id, url = stranger.room(**fields), sandbox.camera(size=(128, 96))
    values = {"room_id": room_id, "roomId": room_id, "userName": "Door", "userAddress": url}
    values |= {"topic": "t", "owner_id": "o", "room_mode": 1, "user_id": "u", **fields}
    done(sandbox, room_id)
    answered = {}
    for name in USUAL:
        if name == "del" and why:
            with pytest.raises(RoomJoinRefused, match=why):
                sandbox.join(room_id, "Bob")
        elif name == "del":
            sandbox.join(room_id, "Bob")
        user_id = "nobody" if name == "remove" else "u"
        answered[name] = stranger.code(name, **values, userId=user_id)
    assert answered == {**USUAL, **codes}
    if answered["import"] == 426:
        reasons = [refusal.why for refusal in sandbox.refusals]
        assert any((why or "max_video is 1, taken by") in reason for reason in reasons)


def test_who_goes_gives_the_seat_back(stranger, sandbox):
    """Whoever leaves, is forced offline, or was in a room that is closed or deleted. A licence that
    makes no sense is a ValueError, and nothing has changed."""
    sandbox.licence(seats=1)
    for wrong in (
        {"seats": "3"},
        {"seats": -1},
        {"seats": True},
        {"expired": "no"},
        {"peer_to_peer": 1},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            sandbox.licence(**wrong)
    for go in (
        lambda room_id: sandbox.leave(room_id, "u"),
        lambda room_id: stranger.code("force", room_id=room_id, user_id="u"),
        sandbox.close_room,
        lambda room_id: stranger.code("del", room_id=room_id),
    ):
        room_id = stranger.room()
        sandbox.join(room_id, "Ada", user_id="u")
        assert stranger.code("mcu", room_id=room_id) == 411
        go(room_id)
    assert stranger.code("mcu", room_id=stranger.room()) == 0
