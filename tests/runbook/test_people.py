"""nobody-can-join and force-user-offline on a real service: what they change, and never change."""

import json
import threading

import pytest

import confkit as ck
from confkit.runbook import rooms
from tests.runbook.harness import A2, A4, A5, A6, A7, changes, outside, play
from tests.runbook.test_scenes import OFF, PLACE, SERVER, WHO

FOUND, NEW = "the room is found", "a new room of this kind can be made"
LEFT, PERSON = "no such room is left", "it is a person, not a camera"
AWAY = "they stay away"


@pytest.fixture
def shift(real):
    """A sandbox, a client that takes it for a real service, and a room with Ada in it."""
    sandbox, client = real
    room_id = ck.create_room(client, "Night shift", "ops")
    sandbox.join(room_id, "Ada")
    return sandbox, client, room_id


def test_who_is_in_beyond_a_stream_cap_is_said_to_be_assumed():
    """People get into a room whose video streams are used up, and the line says what they lack."""
    found = play("nobody-can-join", scene="full-of-video")[PLACE].found
    assert "max_video 2; max_video may be used up: people get in without that stream" in found
    assert found.endswith("a camera is refused with 426 (assumed)")


def test_one_room_is_created_and_deleted_again_where_that_is_wanted(shift):
    """Named by its topic where it is known, else by its ID; a read only client changes nothing."""
    sandbox, client, room_id = shift
    with changes(sandbox):
        played = play("nobody-can-join", client, room="night SHIFT")
        with outside(sandbox, read_only=True) as reader:
            refused = play("nobody-can-join", reader, room=room_id, apply=True)
    assert (played.verdict, refused.verdict) == ("PASS", "PASS"), refused
    assert played[FOUND].found == f"{room_id} (topic 'Night shift')"
    assert played["a scene to look at"].verdict == "SKIP"
    assert "read only" in refused[NEW].found
    with changes(sandbox, A2=1, A4=1):
        assert play("nobody-can-join", client, room=room_id, apply=True).verdict == "PASS"
    assert sandbox.room_ids() == [room_id]
    assert [person["user_name"] for person in sandbox.people(room_id)] == ["Ada"]


def test_the_room_that_was_tried_is_deleted_when_the_runbook_is_interrupted(shift, monkeypatch):
    """Ctrl-C once the service has made the room: it is gone before the notebook ends."""
    sandbox, client, room_id = shift

    def interrupted(*given, **named):
        ck.create_room(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(rooms, "create_room", interrupted)
    with pytest.raises(KeyboardInterrupt), changes(sandbox, A2=1, A4=1):
        play("nobody-can-join", client, room=room_id, apply=True)
    assert sandbox.room_ids() == [room_id]


def test_a_room_that_cannot_be_deleted_again_is_named(shift):
    """The line's next step has the ID of the room that is left."""
    sandbox, client, room_id = shift
    sandbox.fault(A4, ret=407)
    played = play("nobody-can-join", client, room=room_id, apply=True)
    assert played.wrong == {LEFT: "FAIL"}
    [left] = {*sandbox.room_ids()} - {room_id}
    assert left in played[LEFT].advice


@pytest.mark.parametrize("ignores", [True, False], ids=["another ID", "no room"])
def test_what_the_service_made_of_the_creation_is_what_is_deleted(shift, ignores):
    """A room under another ID than the one that was chosen is deleted; a creation that was refused
    leaves none, and that is reported."""
    sandbox, client, room_id = shift
    fault = {"ret": 407}
    if ignores:
        other = ck.create_room(client, "nobody-can-join, may be deleted", "confkit")
        fault = {"body": json.dumps({"result": 0, "room_id": other})}
    sandbox.fault(A2, **fault)
    played = play("nobody-can-join", client, room=room_id, apply=True)
    assert sandbox.room_ids() == [room_id]
    assert played.wrong == ({} if ignores else {NEW: "FAIL"})
    assert played[LEFT].found == ("it was deleted again" if ignores else "none was made")


@pytest.mark.parametrize(
    ("ret", "verdict"), [(417, "FAIL"), (428, "FAIL"), (701, "FAIL"), (504, "UNKNOWN")]
)
def test_other_answers_of_a5_are_told_with_their_code(shift, ret, verdict):
    """The media server or the licence; what passes by itself is UNKNOWN."""
    sandbox, client, room_id = shift
    sandbox.fault(A5, ret=ret)
    played = play("nobody-can-join", client, room=room_id)
    assert played.wrong == {SERVER: verdict}
    assert str(ret) in played[SERVER].found


@pytest.mark.parametrize(
    "name", ["nobody-can-join", "force-user-offline", "camera-does-not-appear"]
)
def test_without_a_room_nothing_is_known(real, name):
    """On a real service no room is made up: the verdict is UNKNOWN, and says what is missing."""
    sandbox, client = real
    with changes(sandbox):
        played = play(name, client, apply=True)
        assert played.wrong == {FOUND: "UNKNOWN"}
        assert "no room is given" in played[FOUND].found
        assert play(name, client, room="000").wrong == {FOUND: "FAIL"}


@pytest.mark.parametrize("by", ["scene", "name", "id", "id among two of one name"])
def test_who_comes_back_under_a_new_id_is_noticed(client, by):
    """Of the scene, or in a room of ours: a FAIL, with what can be done about it."""
    room_id = ck.create_room(client, "Stand-up", "ops")
    zoe = client.sandbox.join(room_id, "Zoe")
    if "two" in by:
        client.sandbox.join(room_id, "Zoe")
    given = {"room": room_id, "user": "Zoe" if by == "name" else zoe} if by != "scene" else {}
    played = play("force-user-offline", client, "comes-back", **given, apply=True, watch=5.0)
    assert played.wrong == {AWAY: "FAIL"}
    assert "new ID" in played[AWAY].found
    assert "lock the room" in played[AWAY].advice


def test_exactly_the_one_who_is_meant_is_removed(shift):
    """Named by ID among two of one name: that one is gone, the others stay; without apply, or with
    a read only client, nobody is removed and the verdict is UNKNOWN."""
    sandbox, client, room_id = shift
    guest, other = (sandbox.join(room_id, "Guest") for _ in range(2))
    asked = {"room": room_id, "user": guest, "watch": 0.2}
    with changes(sandbox), outside(sandbox, read_only=True) as reader:
        assert play("force-user-offline", client, **asked).wrong == {OFF: "UNKNOWN"}
        refused = play("force-user-offline", reader, **asked, apply=True)
        assert refused.wrong == {OFF: "UNKNOWN"}
        assert "apply" not in refused[OFF].advice
    with changes(sandbox, A7=1):
        played = play("force-user-offline", client, **asked, apply=True)
    assert played.verdict == "PASS", played
    assert [one["user_id"] for one in sandbox.people(room_id)][1:] == [other]
    with changes(sandbox):
        again = play("force-user-offline", client, **asked, apply=True)
    assert again.wrong == {WHO: "FAIL"}


@pytest.mark.parametrize(
    ("path", "faults", "wrong"),
    [
        (A7, [{"ret": 417}], {OFF: "FAIL"}),
        (A7, [{"drop": True}], {OFF: "UNKNOWN"}),
        (A7, [{"body": '{"result": 0, "msg": "ok"}'}], {AWAY: "FAIL"}),  # they never left
        (A6, [{"delay": 0, "times": 1}, {"ret": 700}], {AWAY: "UNKNOWN"}),
    ],
    ids=["refused", "lost", "still there", "cannot be watched"],
)
def test_a_removal_that_did_not_work_is_told_as_what_it_is(shift, path, faults, wrong):
    """Refused and without effect is a FAIL; a lost answer, and a room that cannot be read
    afterwards, leave it open. Nobody who has set apply is told to set it."""
    sandbox, client, room_id = shift
    for fault in faults:
        sandbox.fault(path, **fault)
    asked = {"room": room_id, "user": "Ada", "watch": 0.2}
    played = play("force-user-offline", client, **asked, apply=True)
    assert played.wrong == wrong
    assert "apply" not in played[next(iter(wrong))].advice


def test_a_user_who_leaves_a_moment_later_is_not_one_who_came_back(shift):
    """The service says that it is done, and the user is gone after the first look: PASS."""
    sandbox, client, room_id = shift
    [ada] = [one["user_id"] for one in sandbox.people(room_id)]
    sandbox.fault(A7, body='{"result": 0, "msg": "ok"}')
    later = threading.Timer(0.5, sandbox.leave, (room_id, ada))
    later.start()
    played = play("force-user-offline", client, room=room_id, user=ada, watch=1.2, apply=True)
    later.join()
    assert played.verdict == "PASS", played


def test_whether_it_is_a_camera_has_to_be_known(shift):
    """When the cameras cannot be listed nobody is removed."""
    sandbox, client, room_id = shift
    sandbox.device_service("stopped")
    with changes(sandbox):
        played = play("force-user-offline", client, room=room_id, user="Ada", apply=True)
    assert played.wrong == {PERSON: "UNKNOWN"}
