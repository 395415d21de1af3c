"""The runbook media-server-gone: 410, 417 and 428 told apart, and never guessed."""

import pytest

import confkit as ck
from tests.runbook.harness import play

A5, A6 = "/sdk/get_mcu", "/rtc/room/get_room_info"
ONLINE = "rooms have a media server that is online (A7)"
GIVEN = "rooms are given a media server (A5)"
REACHED = "the media servers accept connections from here"
AFFECTED = "no room is affected"


@pytest.mark.parametrize(
    ("scene", "apply", "verdict", "online", "given"),
    [
        ("stopped", True, "FAIL", "417, MCU not online", "410, no MCU available: 3 of 3 rooms"),
        ("stopped", False, "FAIL", "nothing was changed", "410, no MCU available: 3 of 3 rooms"),
        ("unassigned", True, "FAIL", "428, no MCU found", "3 rooms, media servers: 127.0.0.1"),
        ("unassigned", False, "PASS", "nothing was changed", "3 rooms, media servers: 127.0.0.1"),
        ("healthy", True, "PASS", "none said 417 or 428", "3 rooms, media servers: 127.0.0.1"),
    ],
)
def test_each_scene_has_its_verdict_and_its_code(scene, apply, verdict, online, given):
    """410 by A5; 417 and 428 by A7 alone, which is asked with apply=True only."""
    played = play("media-server-gone", scene=scene, apply=apply)
    assert played.verdict == verdict, played
    assert online in played[ONLINE].found
    assert given in played[GIVEN].found


def test_the_affected_rooms_are_named_with_the_people_in_them():
    """The unassigned room alone is affected: its topic, its users, its code."""
    played = play("media-server-gone", scene="unassigned", apply=True)
    assert played[AFFECTED].found == "1 of 3 rooms, with 2 users in them: Weekly sync (428)"


def test_only_the_rooms_that_are_given_are_asked(sandbox, client):
    """By topic; and nobody is removed by asking."""
    made = [ck.create_room(client, topic, owner_id="ops") for topic in ("Attic", "Cellar")]
    sandbox.join(made[1], "Ada")
    played = play("media-server-gone", client, rooms="cellar", scene="healthy", apply=True)
    assert played[AFFECTED].found == "1 rooms asked"
    assert [person["user_name"] for person in sandbox.people(made[1])] == ["Ada"]


@pytest.mark.parametrize(
    ("fault", "verdict", "found"),
    [
        ({"ret": 504}, "UNKNOWN", "timeout"),
        ({"drop": True}, "UNKNOWN", "closed the connection"),
        ({"ret": 417}, "FAIL", "417, MCU not online"),
    ],
)
def test_a_room_that_could_not_be_asked_is_unknown_not_well(client, sandbox, fault, verdict, found):
    """No answer of A5 says nothing of the media server."""
    sandbox.fault(A5, **fault)
    room_id = ck.create_room(client, "Attic", owner_id="ops")
    played = play("media-server-gone", client, rooms=room_id, scene="healthy")
    assert (played.verdict, played[GIVEN].verdict) == (verdict, verdict)
    assert found in played[GIVEN].found


def test_an_address_that_takes_no_connection_is_unknown(client, sandbox):
    """Media may run over UDP, so a silent address alone is no FAIL."""
    sandbox.fault(A5, body='{"ret": 0, "addr": "127.0.0.1:1"}')
    played = play("media-server-gone", client, scene="healthy")
    assert (played.verdict, played[REACHED].verdict) == ("UNKNOWN", "UNKNOWN")


def test_users_that_cannot_be_read_are_missing_never_none(client, sandbox):
    """The rooms are named all the same, and how many of them were not read."""
    sandbox.fault(A6, ret=700)
    found = play("media-server-gone", client)[AFFECTED].found
    assert found.startswith("3 of 3 rooms, with 0 users in them (3 of them could not be read)")


def test_keys_that_are_refused_are_not_the_media_server(sandbox):
    """Everything else is skipped, and the advice leads to the other runbook."""
    wrong = {"access_key": sandbox.access_key, "secret_key": "wrong"}
    with ck.connect(
        base_url=sandbox.base_url, outgoing_url=sandbox.outgoing_url, **wrong
    ) as client:
        played = play("media-server-gone", client, apply=True)
    assert played.verdict == "UNKNOWN"
    assert "authentication-fails" in played["interface A takes the keys"].advice
    assert played[GIVEN].verdict == "SKIP"
    assert sandbox.count("/rtc/auth/valid") == 1


def test_a_room_that_is_not_there_is_unknown(client):
    """A wrong number says nothing of the media server; the known rooms are named."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    played = play("media-server-gone", client, rooms="Attic", scene="healthy")
    assert played.verdict == "UNKNOWN"
    assert f"{room_id} (Lobby)" in played["there are rooms to look at"].advice
