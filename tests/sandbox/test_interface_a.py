"""Interface A row by row: every operation with every code of sections 4 and 7."""

import re
import socket

import pytest

from confkit.sandbox import RoomJoinRefused

from .conftest import A


def test_a1_gives_random_and_key(stranger):
    """A1 answers 0 with two texts for the right key and digest."""
    answer = stranger.login()
    assert answer["ret"] == 0
    assert isinstance(answer["random"], str)
    assert isinstance(answer["key"], str)
    assert answer["random"] != answer["key"]
    assert stranger.login()["random"] != answer["random"]


@pytest.mark.parametrize("change", [{"access_key": "x"}, {"digest": "x"}, {"digest": "é😀"}])
def test_a1_refuses_a_wrong_key_or_digest(stranger, sandbox, change):
    """A1 answers 401 with a text in msg when key or digest is wrong, in any alphabet."""
    key = sandbox.access_key
    query = {"access_key": key, "digest": stranger.sign(key), **change}
    answer = stranger.raw("/rtc/auth/valid", query).json()
    assert answer == {"ret": 401, "msg": "authentication failed"}


@pytest.mark.parametrize("left_out", ["access_key", "digest"])
def test_a1_needs_both_parameters(stranger, sandbox, left_out):
    """A1 without one of its parameters is a parameter error."""
    query = {"access_key": sandbox.access_key, "digest": stranger.sign(sandbox.access_key)}
    del query[left_out]
    assert stranger.raw("/rtc/auth/valid", query).json()["ret"] == 407


def test_a2_creates_a_room_that_a3_gives_back(stranger):
    """A3 gives what A2 was given, the caps quoted, the numbers as numbers."""
    room_id = stranger.room(
        topic="Größe & Maß",
        owner_id="o-1",
        host_password="geheim",
        attendee_max=25,
        max_audio=4,
        max_video=0,
        room_extend_id="ext-1",
    )
    assert stranger.a("get", room_id=room_id) == {
        "ret": 0,
        "id": 1,
        "room_id": "ext-1",
        "topic": "Größe & Maß",
        "room_status": 0,
        "owner_id": "o-1",
        "host_password": "geheim",
        "attendee_max": "25",
        "max_audio": "4",
        "max_video": "0",
        "room_extend_id": "ext-1",
        "room_mode": 1,
    }


def test_a3_gives_empty_texts_for_what_was_not_given(stranger):
    """What was not given is an empty text; a number has ten digits."""
    room = stranger.a("get", room_id=stranger.room())
    for name in ("host_password", "attendee_max", "max_audio", "max_video", "room_extend_id"):
        assert room[name] == ""
    assert re.fullmatch(r"\d{10}", room["room_id"])


def test_room_ids_and_record_numbers_are_unique(stranger):
    """Two rooms differ in room_id and in id."""
    rooms = [stranger.a("get", room_id=stranger.room()) for _ in range(3)]
    assert len({room["room_id"] for room in rooms}) == 3
    assert [room["id"] for room in rooms] == [1, 2, 3]


@pytest.mark.parametrize("left_out", ["topic", "owner_id", "room_mode"])
@pytest.mark.parametrize("empty", [True, False])
def test_a2_needs_its_required_parameters(stranger, left_out, empty):
    """A2 without a required parameter, or with an empty one, is a parameter error."""
    fields = {"topic": "x", "owner_id": "o", "room_mode": "1"}
    fields[left_out] = ""
    if not empty:
        del fields[left_out]
    assert stranger.a("create", **fields) == {"ret": 407, "msg": "parameter error"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("topic", "x" * 150),
        ("topic", "é" * 75),
        ("room_mode", "0"),
        ("room_mode", "5"),
        ("room_mode", "one"),
        ("room_mode", "1.0"),
        ("attendee_max", "-1"),
        ("max_audio", "many"),
        ("max_video", "1e3"),
        ("max_video", "٣"),
        ("room_type", "3"),
        ("start_time", "noon"),
        ("attendee_max", "9" * 30),
    ],
)
def test_a2_refuses_wrong_values(stranger, name, value):
    """A topic of 150 bytes or more, an unknown mode and a cap that is no number are 407."""
    fields = {"topic": "x", "owner_id": "o", "room_mode": "1", name: value}
    assert stranger.a("create", **fields)["ret"] == 407


def test_a2_takes_the_longest_topic_and_the_field_parameters(stranger):
    """149 bytes of topic fit; room_type, start_time, end_time and unknown parameters do no harm."""
    room_id = stranger.room(
        topic="é" * 74 + "x", room_type=2, start_time=1, end_time=2, anything="else"
    )
    assert stranger.a("get", room_id=room_id)["topic"] == "é" * 74 + "x"


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_a2_takes_every_mode(stranger, mode):
    """The room modes 1 to 4 exist."""
    assert stranger.a("get", room_id=stranger.room(room_mode=mode))["room_mode"] == mode


def test_a2_refuses_a_second_room_of_one_extend_id(stranger):
    """room_extend_id is unique, also against the number of another room."""
    room_id = stranger.room()
    stranger.room(room_extend_id="e")
    for taken in ("e", room_id):
        answer = stranger.a("create", topic="x", owner_id="o", room_mode=1, room_extend_id=taken)
        assert answer["ret"] == 407


def test_licence_shows_in_a2_and_a5(stranger, sandbox):
    """An expired licence is 405 from A2 and A5, and rooms are read as before."""
    room_id = stranger.room()
    sandbox.licence(expired=True)
    assert stranger.a("create", topic="x", owner_id="o", room_mode=1)["ret"] == 405
    assert stranger.a("mcu", room_id=room_id)["ret"] == 405
    assert stranger.a("get", room_id=room_id)["ret"] == 0
    sandbox.licence(expired=False)
    assert stranger.a("mcu", room_id=room_id)["ret"] == 0


@pytest.mark.parametrize(("mode", "code"), [(1, 0), (2, 0), (3, 701), (4, 701)])
def test_a2_needs_a_licence_for_peer_to_peer(stranger, sandbox, mode, code):
    """Modes 3 and 4 are 701 where peer-to-peer is not licensed."""
    sandbox.licence(peer_to_peer=False)
    assert stranger.a("create", topic="x", owner_id="o", room_mode=mode)["ret"] == code


@pytest.mark.parametrize("name", ["get", "del", "mcu", "info", "force"])
def test_an_unknown_room_is_not_found(stranger, name):
    """A3 to A7 answer 404 for a room that does not exist."""
    answer = stranger.a(name, room_id="none", user_id="u")
    assert answer == {"ret": 404, "msg": "room not found"}


@pytest.mark.parametrize("name", ["get", "del", "mcu", "info", "force"])
def test_a_missing_room_id_is_a_parameter_error(stranger, name):
    """A3 to A7 answer 407 without room_id."""
    assert stranger.a(name, user_id="u")["ret"] == 407


@pytest.mark.parametrize("name", ["create", "get", "del", "mcu", "info", "force"])
@pytest.mark.parametrize("token", [None, "", "wrong", "gültig?"])
def test_a_wrong_token_comes_before_everything_else(stranger, name, token):
    """A2 to A7 answer 602 for a missing, empty or wrong token, before they look at parameters."""
    query = {} if token is None else {"access_token": token}
    answer = stranger.raw(A[name], query).json()
    assert answer == {"ret": 602, "msg": "access_token incorrect"}


def test_a4_deletes_the_room_with_everybody_in_it(stranger, sandbox):
    """A4 answers with the room_id; the room is then unknown, and a new one of the id is empty."""
    room_id = stranger.room(room_extend_id="e")
    sandbox.join(room_id, "Ada")
    assert stranger.a("del", room_id=room_id) == {"ret": 0, "room_id": "e"}
    assert stranger.a("get", room_id=room_id)["ret"] == 404
    assert stranger.a("del", room_id=room_id)["ret"] == 404
    assert stranger.users(stranger.room(room_extend_id="e")) == []


def test_a5_gives_an_address_that_answers(stranger):
    """A5's addr is host:port, and something listens there."""
    host, port = stranger.a("mcu", room_id=stranger.room())["addr"].rsplit(":", 1)
    socket.create_connection((host, int(port)), 5).close()


def test_a5_without_a_media_server(stranger, sandbox):
    """A5 answers 410 while the media server is stopped, and its port is closed then."""
    room_id = stranger.room()
    host, port = stranger.a("mcu", room_id=room_id)["addr"].rsplit(":", 1)
    sandbox.stop_mcu()
    assert stranger.a("mcu", room_id=room_id)["ret"] == 410
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 5)
    sandbox.start_mcu()
    assert stranger.a("mcu", room_id=room_id)["addr"] == f"{host}:{port}"


def test_a5_when_all_seats_are_used(stranger, sandbox):
    """A5 answers 411 when people of all rooms together use every seat, until one is free."""
    first, second = stranger.room(), stranger.room()
    sandbox.licence(seats=2)
    sandbox.join(first, "Ada")
    user_id = sandbox.join(second, "Bob")
    assert stranger.a("mcu", room_id=first)["ret"] == 411
    with pytest.raises(RoomJoinRefused, match="seats"):
        sandbox.join(first, "Eve")
    sandbox.leave(second, user_id)
    assert stranger.a("mcu", room_id=first)["ret"] == 0


def test_a6_lists_who_is_there(stranger, sandbox):
    """A6 lists name and id of everybody, in the order in which they came."""
    room_id = stranger.room()
    assert stranger.a("info", room_id=room_id) == {"ret": 0, "user_list": []}
    ada = sandbox.join(room_id, "Ada")
    bob = sandbox.join(room_id, "Bob", user_id="b-1")
    assert stranger.a("info", room_id=room_id)["user_list"] == [
        {"user_name": "Ada", "user_id": ada},
        {"user_name": "Bob", "user_id": bob},
    ]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ada)
    assert bob == "b-1"


def test_a7_puts_a_person_off(stranger, sandbox):
    """A7 answers with a text, the user is gone, and a second time is 429."""
    room_id = stranger.room()
    user_id = sandbox.join(room_id, "Ada")
    answer = stranger.a("force", room_id=room_id, user_id=user_id)
    assert answer["ret"] == 0
    assert isinstance(answer["msg"], str)
    assert stranger.users(room_id) == []
    assert stranger.a("force", room_id=room_id, user_id=user_id)["ret"] == 429


def test_a7_needs_the_rooms_media_server(stranger, sandbox):
    """A7 is 428 where no media server is assigned, 417 where it is stopped, 407 without user; a
    room gets it when it is created, when A5 is asked, and when somebody joins."""
    room_id = stranger.room()
    force = {"room_id": room_id, "user_id": "u"}
    assert stranger.a("force", **force)["ret"] == 429
    sandbox.unassign_mcu(room_id)
    assert stranger.a("force", **force)["ret"] == 428
    stranger.a("mcu", room_id=room_id)
    assert stranger.a("force", **force)["ret"] == 429
    sandbox.stop_mcu()
    assert stranger.a("force", **force)["ret"] == 417
    sandbox.start_mcu()
    sandbox.unassign_mcu(room_id)
    assert stranger.a("force", **force)["ret"] == 428
    sandbox.join(room_id, "Ada", user_id="u")
    assert stranger.a("force", **force)["ret"] == 0
    assert stranger.a("force", room_id=room_id)["ret"] == 407


def test_a_room_goes_through_its_states(stranger, sandbox):
    """0 until somebody joins, 1 while somebody is there, then 0 again; locked 2, closed 3."""
    room_id = stranger.room()

    def status():
        return stranger.a("get", room_id=room_id)["room_status"]

    user_id = sandbox.join(room_id, "Ada")
    assert status() == 1
    sandbox.leave(room_id, user_id)
    assert status() == 0
    sandbox.join(room_id, "Ada", user_id=user_id)
    sandbox.lock(room_id)
    assert status() == 2
    assert stranger.users(room_id) == [user_id]
    sandbox.unlock(room_id)
    assert status() == 1
    sandbox.close_room(room_id)
    assert status() == 3


def test_a_closed_room(stranger, sandbox):
    """A3 still answers, A6 is empty, A5 and A7 are 416, B1 is 426, and A4 deletes it."""
    room_id = stranger.room()
    user_id = sandbox.join(room_id, "Ada")
    sandbox.close_room(room_id)
    assert stranger.a("get", room_id=room_id)["ret"] == 0
    assert stranger.a("info", room_id=room_id) == {"ret": 0, "user_list": []}
    assert stranger.a("mcu", room_id=room_id)["ret"] == 416
    assert stranger.a("force", room_id=room_id, user_id=user_id)["ret"] == 416
    assert stranger.bring(room_id, "rtsp://127.0.0.1:9/x") == 426
    assert stranger.a("del", room_id=room_id)["ret"] == 0


def test_attendee_max_is_enforced_when_people_join(stranger, sandbox):
    """Nobody joins a room beyond its attendee_max; a cap of 0 is none."""
    room_id = stranger.room(attendee_max=1)
    user_id = sandbox.join(room_id, "Ada")
    with pytest.raises(RoomJoinRefused, match="attendee_max"):
        sandbox.join(room_id, "Bob")
    sandbox.leave(room_id, user_id)
    sandbox.join(room_id, "Bob")
    endless = stranger.room(attendee_max=0)
    for name in "abc":
        sandbox.join(endless, name)


def test_the_host_password_makes_a_host(stranger, sandbox):
    """The right password makes a host, a wrong one is refused, none makes a plain person."""
    room_id = stranger.room(host_password="geheim")
    sandbox.join(room_id, "Ada", password="geheim")
    sandbox.join(room_id, "Bob")
    with pytest.raises(RoomJoinRefused, match="password") as refused:
        sandbox.join(room_id, "Eve", password="falsch")
    assert "falsch" not in str(refused.value)
    assert "geheim" not in str(refused.value)
    assert [(p["user_name"], p["host"]) for p in sandbox.people(room_id)] == [
        ("Ada", True),
        ("Bob", False),
    ]


def test_why_somebody_cannot_join(stranger, sandbox):
    """Unknown, locked (hosts too) and closed rooms and a taken user id refuse a person."""
    room_id = stranger.room(host_password="p")
    sandbox.join(room_id, "Ada", user_id="u")
    with pytest.raises(RoomJoinRefused, match="no such room"):
        sandbox.join("none", "Ada")
    with pytest.raises(RoomJoinRefused, match="taken"):
        sandbox.join(room_id, "Bob", user_id="u")
    sandbox.lock(room_id)
    with pytest.raises(RoomJoinRefused, match="locked"):
        sandbox.join(room_id, "Bob", password="p")
    sandbox.close_room(room_id)
    with pytest.raises(RoomJoinRefused, match="closed"):
        sandbox.join(room_id, "Bob")
    with pytest.raises(LookupError):
        sandbox.leave(room_id, "u")
    with pytest.raises(LookupError):
        sandbox.lock("none")
