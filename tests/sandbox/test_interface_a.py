"""Interface A row by row: every operation with every code of sections 4 and 7."""

import re
import socket

import pytest

from confkit.sandbox import RoomJoinRefused

from .conftest import A

OF_A_ROOM = ["get", "del", "mcu", "info", "force"]


def test_a1_gives_random_and_key_to_the_right_digest(stranger, sandbox):
    """A1 answers two texts, other ones each time; 401 with a text in msg for a wrong key or
    digest in any alphabet, 407 where one is missing."""
    answers = stranger.login(), stranger.login()
    assert [answer.pop("ret") for answer in answers] == [0, 0]
    assert len({text for answer in answers for text in answer.values()}) == 4
    key = sandbox.access_key
    right = {"access_key": key, "digest": stranger.sign(key)}
    for change in ({"access_key": "x"}, {"digest": "x"}, {"digest": "é😀"}):
        answer = stranger.raw(A["valid"], {**right, **change}).json()
        assert answer == {"ret": 401, "msg": "authentication failed"}
    for left in right:
        assert stranger.raw(A["valid"], {left: right[left]}).json()["ret"] == 407


def test_a3_gives_back_what_a2_was_given(stranger):
    """The caps quoted, the numbers as numbers; what was not given is an empty text, and a number
    that the service gives has ten digits."""
    given = {
        "topic": "Größe & Maß",
        "owner_id": "o-1",
        "host_password": "geheim",
        "room_extend_id": "ext-1",
        "room_mode": 1,
    }
    caps = {"attendee_max": "25", "max_audio": "4", "max_video": "0"}
    room_id = stranger.room(**given, **caps)
    found = {"ret": 0, "id": 1, "room_id": "ext-1", "room_status": 0, **given, **caps}
    assert stranger.a("get", room_id=room_id) == found
    bare = stranger.a("get", room_id=stranger.room())
    for name in ("host_password", "room_extend_id", *caps):
        assert bare[name] == ""
    assert re.fullmatch(r"\d{10}", bare["room_id"])
    assert bare["id"] == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("topic", "owner_id", "room_mode") for value in ("", None)),
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
    """A required parameter that is empty or missing, a topic of 150 bytes or more, an unknown mode
    and a cap that is no number are 407."""
    assert stranger.create(**{name: value}) == {"ret": 407, "msg": "parameter error"}


def test_a2_takes_the_longest_topic_each_mode_and_the_field_parameters(stranger):
    """149 bytes of topic fit; room_type, start_time, end_time and unknown parameters do no harm;
    room_extend_id is unique, also against the number of another room."""
    longest = "é" * 74 + "x"
    field = {"room_type": 2, "start_time": 1, "end_time": 2, "anything": "else"}
    room_id = stranger.room(topic=longest, **field)
    assert stranger.a("get", room_id=room_id)["topic"] == longest
    for mode in (1, 2, 3, 4):
        assert stranger.a("get", room_id=stranger.room(room_mode=mode))["room_mode"] == mode
    stranger.room(room_extend_id="e")
    for taken in ("e", room_id):
        assert stranger.create(room_extend_id=taken)["ret"] == 407


def test_licence_shows_in_a2_and_a5(stranger, sandbox):
    """An expired licence is 405 from A2 and A5, and rooms are read as before; modes 3 and 4 are 701
    where peer-to-peer is not licensed."""
    room_id = stranger.room()
    sandbox.licence(expired=True)
    codes = [stranger.code(name, room_id=room_id) for name in ("mcu", "get")]
    assert [stranger.create()["ret"], *codes] == [405, 405, 0]
    sandbox.licence(expired=False, peer_to_peer=False)
    assert stranger.code("mcu", room_id=room_id) == 0
    assert [stranger.create(room_mode=mode)["ret"] for mode in (1, 2, 3, 4)] == [0, 0, 701, 701]


@pytest.mark.parametrize("name", OF_A_ROOM)
def test_an_unknown_or_missing_room(stranger, name):
    """A3 to A7 answer 404 for a room that does not exist, and 407 without room_id."""
    answer = stranger.a(name, room_id="none", user_id="u")
    assert answer == {"ret": 404, "msg": "room not found"}
    assert stranger.code(name, user_id="u") == 407


@pytest.mark.parametrize("name", ["create", *OF_A_ROOM])
@pytest.mark.parametrize("token", [None, "", "wrong", "gültig?"])
def test_a_wrong_token_comes_before_everything_else(stranger, name, token):
    """A2 to A7 answer 602 for a missing, empty or wrong token, before they look at parameters."""
    answer = stranger.raw(A[name], {"access_token": token}).json()
    assert answer == {"ret": 602, "msg": "access_token incorrect"}


def test_a4_deletes_the_room_with_everybody_in_it(stranger, sandbox):
    """A4 answers with the room_id; the room is then unknown, and a new one of the id is empty."""
    room_id = stranger.room(room_extend_id="e")
    sandbox.join(room_id, "Ada")
    assert stranger.a("del", room_id=room_id) == {"ret": 0, "room_id": "e"}
    assert [stranger.code(name, room_id=room_id) for name in ("get", "del")] == [404, 404]
    assert stranger.users(stranger.room(room_extend_id="e")) == []


def test_a5_gives_an_address_that_answers(stranger, sandbox):
    """A5's addr is host:port, and something listens there; 410 while the media server is stopped,
    when its port is closed."""
    room_id = stranger.room()
    address = stranger.a("mcu", room_id=room_id)["addr"]
    host, port = address.rsplit(":", 1)
    socket.create_connection((host, int(port)), 5).close()
    sandbox.stop_mcu()
    assert stranger.code("mcu", room_id=room_id) == 410
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 5)
    sandbox.start_mcu()
    assert stranger.a("mcu", room_id=room_id)["addr"] == address


def test_a5_when_all_seats_are_used(stranger, sandbox):
    """A5 answers 411 when people of all rooms together use every seat, until one is free."""
    first, second = stranger.room(), stranger.room()
    sandbox.licence(seats=2)
    sandbox.join(first, "Ada")
    user_id = sandbox.join(second, "Bob")
    assert stranger.code("mcu", room_id=first) == 411
    with pytest.raises(RoomJoinRefused, match="seats"):
        sandbox.join(first, "Eve")
    sandbox.leave(second, user_id)
    assert stranger.code("mcu", room_id=first) == 0


def test_a6_lists_who_is_there_and_a7_puts_a_person_off(stranger, sandbox):
    """A6 lists name and id of everybody, in the order in which they came; A7 answers with a text,
    the user is gone, and a second time is 429."""
    room_id = stranger.room()
    assert stranger.a("info", room_id=room_id) == {"ret": 0, "user_list": []}
    ada, bob = sandbox.join(room_id, "Ada"), sandbox.join(room_id, "Bob", user_id="b-1")
    assert stranger.a("info", room_id=room_id)["user_list"] == [
        {"user_name": "Ada", "user_id": ada},
        {"user_name": "Bob", "user_id": "b-1"},
    ]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ada)
    answer = stranger.a("force", room_id=room_id, user_id=ada)
    assert answer == {"ret": 0, "msg": "success"}
    assert stranger.users(room_id) == [bob]
    assert stranger.code("force", room_id=room_id, user_id=ada) == 429


def test_a7_needs_the_rooms_media_server(stranger, sandbox):
    """A7 is 428 where no media server is assigned, 417 where it is stopped, 407 without user; a
    room gets it when it is created, when A5 is asked, and when somebody joins."""
    room_id = stranger.room()

    def force():
        return stranger.code("force", room_id=room_id, user_id="u")

    codes = [force()]
    for step in (
        lambda: sandbox.unassign_mcu(room_id),
        lambda: stranger.a("mcu", room_id=room_id),
        sandbox.stop_mcu,
        sandbox.start_mcu,
        lambda: sandbox.unassign_mcu(room_id),
        lambda: sandbox.join(room_id, "Ada", user_id="u"),
    ):
        step()
        codes.append(force())
    assert codes == [429, 428, 429, 417, 429, 428, 0]
    assert stranger.code("force", room_id=room_id) == 407


def test_a_room_goes_through_its_states(stranger, sandbox):
    """0 until somebody joins, 1 while somebody is there, then 0 again; locked 2, closed 3."""
    room_id = stranger.room()
    states = [stranger.status(room_id)]
    for step in (
        lambda: sandbox.join(room_id, "Ada", user_id="u"),
        lambda: sandbox.leave(room_id, "u"),
        lambda: sandbox.join(room_id, "Ada", user_id="u"),
        lambda: sandbox.lock(room_id),
        lambda: sandbox.unlock(room_id),
        lambda: sandbox.close_room(room_id),
    ):
        step()
        states.append(stranger.status(room_id))
        assert stranger.users(room_id) == (["u"] if len(states) in (2, 4, 5, 6) else [])
    assert states == [0, 1, 0, 1, 2, 1, 3]


def test_a_closed_room(stranger, sandbox):
    """A3 still answers, A6 is empty, A5 and A7 are 416, B1 is 426, and A4 deletes it."""
    room_id = stranger.room()
    user_id = sandbox.join(room_id, "Ada")
    sandbox.close_room(room_id)
    assert stranger.a("info", room_id=room_id) == {"ret": 0, "user_list": []}
    assert stranger.bring(room_id, "rtsp://127.0.0.1:9/x") == 426
    ways = ("get", "mcu", "force", "del", "get")
    codes = [stranger.code(name, room_id=room_id, user_id=user_id) for name in ways]
    assert codes == [0, 416, 416, 0, 404]


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

    def refused(match, room=room_id, **more):
        with pytest.raises(RoomJoinRefused, match=match):
            sandbox.join(room, "Bob", **more)

    refused("no such room", "none")
    refused("taken", user_id="u")
    sandbox.lock(room_id)
    refused("locked", password="p")
    sandbox.close_room(room_id)
    refused("closed")
    for call in (lambda: sandbox.leave(room_id, "u"), lambda: sandbox.lock("none")):
        with pytest.raises(LookupError):
            call()
