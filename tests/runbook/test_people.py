"""nobody-can-join and force-user-offline, in each scene that they claim to tell apart."""

import json
import threading

import pytest

import confkit as ck
from confkit.runbook import people
from tests.runbook.deployment import changes, deployed, outside, wrong
from tests.runbook.harness import play

STATUS, PLACE = "the room is neither locked nor closed", "the room has a free place"
LICENCE, SERVER = "the licence lets somebody in", "a media server serves the room"
PEERS, NEW = "peer-to-peer is permitted", "a new room of this kind can be made"
LEFT = "no such room is left"
ONE, PERSON = "the user is in the room, and nobody else is meant", "it is a person, not a camera"
OFF, AWAY = "the user is removed", "they stay away"
USERS, MCU = "/rtc/room/get_room_info", "/sdk/get_mcu"
CREATE, DELETE, REMOVE = "/rtc/room/create", "/rtc/room/del", "/rtc/force_offline_mcu"

JOIN = {
    "healthy": {},
    "full": {PLACE: "FAIL"},
    "full-of-video": {},
    "locked": {STATUS: "FAIL"},
    "closed": {STATUS: "FAIL"},
    "licence-expired": {LICENCE: "FAIL"},
    "no-seats": {LICENCE: "FAIL"},
    "media-server-gone": {SERVER: "FAIL"},
    "peer-to-peer": {PEERS: "UNKNOWN"},
    "peer-to-peer-refused": {PEERS: "UNKNOWN"},
}


@pytest.mark.parametrize(("scene", "expected"), JOIN.items(), ids=JOIN)
def test_what_keeps_people_out_is_told_apart(scene, expected):
    """Each scene has its own check that does not pass, and no other; none is changed."""
    played = play("nobody-can-join", scene=scene)
    assert wrong(played) == expected
    assert played.verdict == next(iter(expected.values()), "PASS")
    assert played[NEW].verdict == "SKIP"


def test_who_is_in_beyond_a_stream_cap_is_said_to_be_assumed():
    """People get into a room whose video streams are used up, and the line says what they lack."""
    found = play("nobody-can-join", scene="full-of-video")[PLACE].found
    assert "max_video 2; max_video may be used up: people get in without that stream" in found
    assert found.endswith("a camera is refused with 426 (assumed)")


def test_the_codes_of_licence_and_media_server_are_named():
    """The line says which of 405 and 411 it is, and 410."""
    assert "405" in play("nobody-can-join", scene="licence-expired")[LICENCE].found
    assert "411" in play("nobody-can-join", scene="no-seats")[LICENCE].found
    assert "410" in play("nobody-can-join", scene="media-server-gone")[SERVER].found


def test_a_new_room_tells_whether_peer_to_peer_is_permitted():
    """With apply a room of the same mode is created and deleted; 701 is then a FAIL."""
    assert play("nobody-can-join", scene="peer-to-peer", apply=True).verdict == "PASS"
    refused = play("nobody-can-join", scene="peer-to-peer-refused", apply=True)
    assert wrong(refused) == {NEW: "FAIL"}
    assert "701" in refused[NEW].found


def test_nothing_is_changed_unless_that_is_wanted_when_nobody_can_join():
    """On a real service, named by its topic: apply creates one room and deletes it, no more."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Night shift", "ops")
        user_id = sandbox.join(room_id, "Ada")
        with changes(sandbox):
            played = play("nobody-can-join", client, room="night SHIFT")
        assert played.verdict == "PASS", played
        assert played["the room is found"].found == f"{room_id} (topic 'Night shift')"
        assert played["a scene to look at"].verdict == "SKIP"
        with changes(sandbox, A2=1, A4=1):
            assert play("nobody-can-join", client, room=room_id, apply=True).verdict == "PASS"
        assert sandbox.room_ids() == [room_id]
        assert [person["user_id"] for person in sandbox.people(room_id)] == [user_id]


def test_the_room_that_was_tried_is_deleted_when_the_runbook_is_interrupted(monkeypatch):
    """Ctrl-C once the service has made the room: it is gone before the notebook ends."""
    create = ck.create_room

    def interrupted(*given, **named):
        create(*given, **named)
        raise KeyboardInterrupt

    with deployed() as (sandbox, client):
        room_id = create(client, "Night shift", "ops")
        monkeypatch.setattr(people, "create_room", interrupted)
        with pytest.raises(KeyboardInterrupt), changes(sandbox, A2=1, A4=1):
            play("nobody-can-join", client, room=room_id, apply=True)
        assert sandbox.room_ids() == [room_id]


def test_a_room_that_cannot_be_deleted_again_is_named():
    """The line's next step has the ID of the room that is left."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Night shift", "ops")
        sandbox.fault(DELETE, ret=407)
        played = play("nobody-can-join", client, room=room_id, apply=True)
        assert wrong(played) == {LEFT: "FAIL"}
        [left] = {*sandbox.room_ids()} - {room_id}
        assert left in played[LEFT].advice


@pytest.mark.parametrize("ignores", [True, False], ids=["another ID", "no room"])
def test_what_the_service_made_of_the_creation_is_what_is_deleted(ignores):
    """A room under another ID than the one that was chosen is deleted; a creation that was refused
    leaves none, and that is reported."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Night shift", "ops")
        if ignores:
            other = ck.create_room(client, "nobody-can-join, may be deleted", "confkit")
            sandbox.fault(CREATE, body=json.dumps({"result": 0, "room_id": other}))
        else:
            sandbox.fault(CREATE, ret=407)
        played = play("nobody-can-join", client, room=room_id, apply=True)
        assert sandbox.room_ids() == [room_id]
    assert wrong(played) == ({} if ignores else {NEW: "FAIL"})
    assert played[LEFT].found == ("it was deleted again" if ignores else "none was made")


def test_a_read_only_client_only_looks_why_nobody_can_join():
    """With apply a read only client changes nothing, and says so; the rest is reported as
    always."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Night shift", "ops", attendee_max=1)
        sandbox.join(room_id, "Ada")
        with outside(sandbox, read_only=True) as reader, changes(sandbox):
            played = play("nobody-can-join", reader, room=room_id, apply=True)
    assert wrong(played) == {PLACE: "FAIL"}
    assert "read only" in played[NEW].found


@pytest.mark.parametrize("ret", [417, 428, 701, 504])
def test_other_answers_of_a5_are_told_with_their_code(ret):
    """417 and 428 are the media server, 701 is the licence; what passes by itself is UNKNOWN."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Night shift", "ops")
        sandbox.fault(MCU, ret=ret)
        played = play("nobody-can-join", client, room=room_id)
    check, verdict = {701: (LICENCE, "FAIL"), 504: (SERVER, "UNKNOWN")}.get(ret, (SERVER, "FAIL"))
    assert wrong(played) == {check: verdict}
    assert str(ret) in played[check].found


@pytest.mark.parametrize("name", ["nobody-can-join", "force-user-offline"])
def test_without_a_room_nothing_is_known(name):
    """On a real service no room is made up: the verdict is UNKNOWN, and says what is missing."""
    with deployed() as (sandbox, client), changes(sandbox):
        played = play(name, client, apply=True)
        assert played.verdict == "UNKNOWN"
        assert "no room is given" in played["the room is found"].found
        assert wrong(play(name, client, room="000")) == {"the room is found": "FAIL"}


OFFLINE = {
    "there": {AWAY: "UNKNOWN"},
    "comes-back": {AWAY: "UNKNOWN"},
    "two-of-that-name": {ONE: "FAIL"},
    "a-camera": {PERSON: "FAIL"},
    "nobody": {ONE: "FAIL"},
}


@pytest.mark.parametrize(("scene", "expected"), OFFLINE.items(), ids=OFFLINE)
def test_who_is_meant_is_clear_before_anybody_is_removed(scene, expected):
    """Nobody, two of a name, and a camera are refused; without apply it is never a PASS."""
    played = play("force-user-offline", scene=scene)
    assert wrong(played) == expected
    assert played.verdict == next(iter(expected.values()))
    assert played[OFF].verdict == "SKIP"


def test_who_comes_back_under_a_new_id_is_noticed():
    """Somebody of that name with a new ID is a FAIL, with what can be done about it."""
    played = play("force-user-offline", scene="comes-back", apply=True, watch=5.0)
    assert wrong(played) == {AWAY: "FAIL"}
    assert "new ID" in played[AWAY].found
    assert "lock the room" in played[AWAY].advice


@pytest.mark.parametrize("by", ["name", "id", "id among two of one name"])
def test_who_is_given_comes_back_to_the_room_that_is_given(by):
    """The scene `comes-back` is about the inputs where there are any."""
    with ck.connect("sandbox") as client:
        room_id = ck.create_room(client, "Press briefing", "ops")
        zoe = client.sandbox.join(room_id, "Zoe")
        if by == "id among two of one name":
            client.sandbox.join(room_id, "Zoe")
        given = {"room": room_id, "user": "Zoe" if by == "name" else zoe}
        played = play("force-user-offline", client, "comes-back", **given, apply=True, watch=5.0)
    assert played[OFF].verdict == "PASS"
    assert wrong(played) == {AWAY: "FAIL"}
    assert "new ID" in played[AWAY].found


@pytest.mark.parametrize(
    ("given", "check"),
    [({"user": "Grace"}, AWAY), ({"room": "no such topic"}, "the room is found")],
)
def test_one_input_of_a_scene_may_be_given(given, check):
    """Another user comes back; a room that does not exist is said by the check."""
    played = play("force-user-offline", None, "comes-back", **given, apply=True, watch=5.0)
    assert check in wrong(played)
    assert ("new ID" in played[check].found) is (check == AWAY)


def test_exactly_the_one_who_is_meant_is_removed():
    """Named by ID among two of one name: that one is gone, the others and the camera stay."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        ada, guest, other = (sandbox.join(room_id, name) for name in ("Ada", "Guest", "Guest"))
        asked = {"room": room_id, "user": guest, "watch": 0.2}
        with changes(sandbox):
            assert play("force-user-offline", client, **asked).verdict == "UNKNOWN"
        with changes(sandbox, A7=1):
            played = play("force-user-offline", client, **asked, apply=True)
        assert played.verdict == "PASS", played
        assert {one["user_id"] for one in sandbox.people(room_id)} == {ada, other}
        with changes(sandbox):
            again = play("force-user-offline", client, **asked, apply=True)
        assert wrong(again) == {ONE: "FAIL"}


def test_a_read_only_client_puts_nobody_off():
    """Nothing is sent, and the verdict is UNKNOWN."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        sandbox.join(room_id, "Ada")
        with outside(sandbox, read_only=True) as reader, changes(sandbox):
            played = play("force-user-offline", reader, room=room_id, user="Ada", apply=True)
    assert wrong(played) == {AWAY: "UNKNOWN"}
    assert "read only" in played[OFF].found
    assert "apply" not in played[AWAY].advice


@pytest.mark.parametrize(
    ("fault", "off", "away"),
    [({"ret": 417}, "FAIL", "SKIP"), ({"drop": True}, "UNKNOWN", "UNKNOWN")],
    ids=["refused", "lost"],
)
def test_a_change_that_failed_is_not_told_as_one_that_was_not_wanted(fault, off, away):
    """With apply set, nobody is told to set it: refused is a FAIL, a lost answer leaves it open."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        sandbox.join(room_id, "Ada")
        sandbox.fault(REMOVE, **fault)
        asked = {"room": room_id, "user": "Ada", "watch": 0.2}
        played = play("force-user-offline", client, **asked, apply=True)
    assert (played[OFF].verdict, played[AWAY].verdict, played.verdict) == (off, away, off)
    assert "nobody was removed" not in played[AWAY].found
    assert "apply" not in played[AWAY].advice


def test_a_user_who_leaves_a_moment_later_is_not_one_who_came_back():
    """The service says that it is done, and the user is gone after the first look: PASS."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        ada = sandbox.join(room_id, "Ada")
        sandbox.fault(REMOVE, body='{"result": 0, "msg": "ok"}')
        later = threading.Timer(0.5, sandbox.leave, (room_id, ada))
        later.start()
        played = play("force-user-offline", client, room=room_id, user=ada, watch=1.2, apply=True)
        later.join()
    assert played.verdict == "PASS", played


def test_a_user_who_never_leaves_did_not_come_back():
    """The service says that it is done, and they stay: a FAIL that says so."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        ada = sandbox.join(room_id, "Ada")
        sandbox.fault(REMOVE, body='{"result": 0, "msg": "ok"}')
        played = play("force-user-offline", client, room=room_id, user=ada, watch=0.2, apply=True)
    assert wrong(played) == {AWAY: "FAIL"}
    assert "still there" in played[AWAY].found


def test_a_room_that_cannot_be_watched_is_not_one_that_stays_empty():
    """When A6 fails after the change, whether they stay away is UNKNOWN."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        sandbox.join(room_id, "Ada")
        sandbox.fault(USERS, delay=0, times=1)
        sandbox.fault(USERS, ret=700)
        asked = {"room": room_id, "user": "Ada", "watch": 0.2}
        played = play("force-user-offline", client, **asked, apply=True)
    assert wrong(played) == {AWAY: "UNKNOWN"}
    assert "700" in played[AWAY].found


def test_whether_it_is_a_camera_has_to_be_known():
    """When the cameras cannot be listed nobody is removed."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Press briefing", "ops")
        sandbox.join(room_id, "Ada")
        sandbox.device_service("stopped")
        with changes(sandbox):
            played = play("force-user-offline", client, room=room_id, user="Ada", apply=True)
    assert played.verdict == "UNKNOWN"
    assert played[PERSON].verdict == "UNKNOWN"
