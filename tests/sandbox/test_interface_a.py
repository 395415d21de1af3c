"""Interface A row by row; the codes that a state leads to are in test_obstacles."""

import re
import socket

import pytest

from confkit.sandbox import RoomJoinRefused

from .conftest import A


def test_a1_gives_random_and_key_to_the_right_digest(stranger, sandbox):
    """A1 answers two texts, other ones each time; 401 with a text in msg for a wrong key or
    digest in any alphabet."""
    answers = stranger.login(), stranger.login()
    assert [answer.pop("ret") for answer in answers] == [0, 0]
    assert len({text for answer in answers for text in answer.values()}) == 4
    key = sandbox.access_key
    right = {"access_key": key, "digest": stranger.sign(key)}
    for change in ({"access_key": "x"}, {"digest": "x"}, {"digest": "é😀"}):
        answer = stranger.raw(A["valid"], {**right, **change}).json()
        assert answer == {"ret": 401, "msg": "authentication failed"}


def test_a3_gives_back_what_a2_was_given(stranger):
    """The caps quoted, the numbers as numbers; what was not given is an empty text, and a number
    that the service gives has ten digits. 149 bytes of topic fit; parameters that the
    sandbox does not know, room_type among them, do no harm, whatever they are."""
    texts = {"owner_id": "o-1", "host_password": "geheim", "room_extend_id": "ext-1"}
    given = {"topic": "Größe & Maß" + "é" * 67 + "x", "room_mode": 4, **texts}
    caps = {"attendee_max": "25", "max_audio": "4", "max_video": "0"}
    further = {"room_type": "none", "anything": "else"}
    room_id = stranger.room(**given, **caps, **further)
    found = {"ret": 0, "id": 1, "room_id": "ext-1", "room_status": 0, **given, **caps}
    assert stranger.ask("get", room_id=room_id) == found
    bare = stranger.ask("get", room_id=stranger.room())
    assert {bare[name] for name in ("host_password", "room_extend_id", *caps)} == {""}
    assert re.fullmatch(r"\d{10}", bare["room_id"])
    assert bare["id"] == 2
    # room_extend_id is unique, also against the number of another room.
    for taken in ("ext-1", bare["room_id"]):
        assert stranger.create(room_extend_id=taken)["ret"] == 407


def test_a2_refuses_wrong_values(stranger):
    """A topic of 150 bytes or more, an unknown mode and a cap that is no number are 407."""
    for name, value in (
        ("topic", "é" * 75),
        ("room_mode", "0"),
        ("room_mode", "5"),
        ("attendee_max", "-1"),
        ("attendee_max", "9" * 19),
        ("max_audio", "1e3"),
        ("max_video", "٣"),
    ):
        answer = stranger.create(**{name: value})
        assert answer == {"ret": 407, "msg": "parameter error"}, value


def test_a5_gives_an_address_that_answers(stranger, sandbox):
    """A5's addr is host:port, and something listens there; not while the media server is stopped,
    and again on the same port."""
    room_id = stranger.room()
    address = stranger.ask("mcu", room_id=room_id)["addr"]
    host, port = address.rsplit(":", 1)
    socket.create_connection((host, int(port)), 5).close()
    sandbox.stop_mcu()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 5)
    sandbox.start_mcu()
    assert stranger.ask("mcu", room_id=room_id)["addr"] == address


def test_a6_lists_who_is_there_and_a7_puts_a_person_off(stranger, sandbox):
    """A6 lists name and id of everybody, in the order in which they came; A7 answers with a text,
    the user is gone, and a second time is 429. A room whose media server is taken away gets it
    again when A5 is asked, when somebody joins, and when a device is imported."""
    room_id = stranger.room()
    ada, bob = sandbox.join(room_id, "Ada"), sandbox.join(room_id, "Bob", user_id="b-1")
    assert stranger.ask("info", room_id=room_id)["user_list"] == [
        {"user_name": "Ada", "user_id": ada},
        {"user_name": "Bob", "user_id": "b-1"},
    ]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ada)
    answer = stranger.ask("force", room_id=room_id, user_id=ada)
    assert answer == {"ret": 0, "msg": "success"}
    assert stranger.users(room_id) == [bob]
    for again in (
        lambda: stranger.code("mcu", room_id=room_id),
        lambda: sandbox.join(room_id, "Eve"),
        lambda: stranger.bring(room_id, sandbox.camera(size=(160, 96), fps=5)),
    ):
        sandbox.unassign_mcu(room_id)
        again()
        assert stranger.code("force", room_id=room_id, user_id=ada) == 429


def test_a_room_goes_through_its_states(stranger, sandbox):
    """0 until somebody joins, 1 while somebody is there, then 0 again; locked 2, closed 3, and then
    nobody is in it."""
    room_id = stranger.room()
    for step, *values, state in (
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.leave, "u", (0, [])),
        (sandbox.join, "Ada", None, "u", (1, ["u"])),
        (sandbox.lock, (2, ["u"])),
        (sandbox.unlock, (1, ["u"])),
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
    people = [(one["user_name"], one["host"]) for one in sandbox.people(room_id)]
    assert people == [("Ada", True), ("Eve", False)]

    def refused(match, **more):
        with pytest.raises(RoomJoinRefused, match=match) as error:
            sandbox.join(room_id, "Bob", **more)
        assert "geheim" not in str(error.value)

    refused("password", password="geheimer")
    refused("taken", user_id="u")
    sandbox.lock(room_id)
    refused("locked", password="geheim")
    sandbox.unlock(room_id)
    for name, user_id in ((None, None), ("", None), ({}, None), ("Bob", ""), ("Bob", 7)):
        with pytest.raises(ValueError, match=r"user_(name|id)"):
            sandbox.join(room_id, name, user_id=user_id)
    assert len(stranger.users(room_id)) == 2
    for call in (lambda: sandbox.leave(room_id, "x"), lambda: sandbox.lock("none")):
        with pytest.raises(LookupError):
            call()
