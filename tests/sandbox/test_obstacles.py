"""What stands in the way of a call, and what each operation answers then: one table."""

import pytest

import confkit as ck
from confkit.errors import ConfkitError
from confkit.sandbox import Sandbox


def stopped(sandbox, _):
    sandbox.device_service("stopped")


def hanging(sandbox, _):
    sandbox.device_service("hanging")


def no_mcu(sandbox, _):
    sandbox.stop_mcu()


def licence(**settings):
    return lambda sandbox, _: sandbox.licence(**settings)


def deleted(sandbox, room_id):
    sandbox.join(room_id, "Ada", user_id="u")
    with sandbox.connect() as client:
        ck.delete_room(client, room_id)


def joined(sandbox, room_id):
    sandbox.join(room_id, "Ada")


# What is answered where nothing stands in the way: a user of A7 and a device of B2 are unknown.
USUAL = {"create": 0, "get": 0, "force": 429, "mcu": 0, "info": 0, "import": 0, "list": 0}
USUAL |= {"remove": 425, "del": 0}
# The fields of a room, what is done then, what is answered otherwise than usually, and why nobody
# can join ("": everybody can).
ROWS = [
    ({}, Sandbox.unlock, {}, ""),
    (
        {},
        deleted,
        {"get": 404, "force": 404, "mcu": 404, "info": 404, "import": 426, "del": 404},
        "there is no such room",
    ),
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
    ({}, no_mcu, {"force": 417, "mcu": 410, "import": 426}, "no media server is up"),
    ({}, stopped, {"import": 302, "list": 304, "remove": 303}, ""),
    ({}, hanging, {"import": 310, "list": 310, "remove": 310}, ""),
]


@pytest.mark.parametrize(("fields", "done", "codes", "why"), ROWS)
def test_what_each_operation_answers(stranger, sandbox, fields, done, codes, why):
    """Each operation has its own code for what stands in its way, and all others work. max_audio
    and max_video limit streams: they keep no person out, and only a device needs one of video."""
    room_id, url = stranger.room(**fields), sandbox.camera(size=(128, 96))
    given = {"room_id": room_id, "roomId": room_id, "userName": "Door", "userAddress": url}
    given |= {"topic": "t", "owner_id": "o", "room_mode": 1, "user_id": "u", **fields}
    done(sandbox, room_id)
    found = {}
    for name in USUAL:
        if name == "del" and why:
            with pytest.raises(ConfkitError, match=why):
                sandbox.join(room_id, "Bob")
        elif name == "del":
            sandbox.join(room_id, "Bob")
        user_id = "nobody" if name == "remove" else "u"
        found[name] = stranger.code(name, **given, userId=user_id)
    assert found == {**USUAL, **codes}
    if found["import"] == 426:
        assert any((why or "max_video is 1, taken by") in text for text in sandbox.refusals)


def test_who_goes_gives_the_seat_back(stranger, sandbox):
    """Whoever leaves, is forced offline, or was in a room that is closed or deleted."""
    sandbox.licence(seats=1)
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


@pytest.mark.parametrize(
    "given",
    [{"seats": "3"}, {"seats": -1}, {"seats": True}, {"expired": "no"}, {"peer_to_peer": 1}],
)
def test_a_licence_that_makes_no_sense_is_refused(stranger, sandbox, given):
    """The error names what was given, and nothing has changed."""
    with pytest.raises(ValueError, match=next(iter(given))):
        sandbox.licence(**given)
    assert stranger.ask("mcu", room_id=stranger.room())["ret"] == 0
