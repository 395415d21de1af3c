"""Each runbook in each of its scenes: what it says of it, and that nothing changes unasked."""

import pytest

from confkit.runbook import library
from confkit.runbook.scenes import scenes
from tests.runbook.harness import play

PLACE, OPEN = "the room has a free place", "the room is neither locked nor closed"
SERVER, PEERS = "licence and media server let people in", "peer-to-peer is permitted"
INSIDE, ALL_INSIDE = "the camera is in its room", "every camera is in its room"
FIT = "the rooms can take them"
GIVEN, AFFECTED = "rooms are given a media server (A5)", "no room is affected"
MADE, WHOLE = "a room is made (A2)", "every room was read often enough"
WHOLE_TABLE = "the table is right, and its cameras are tried"
WHO, OFF = "the user is in the room, and nobody else is meant", "the user is removed"

# The checks that do not pass: their verdict, and a part of what they found.
EXPECTED = {
    "authentication-fails": {
        "rotated-secret": {"authentication": "FAIL A1 refuses the keys (401)"},
        "white-space": {"no white space stands around the keys and addresses": "FAIL secret_key"},
        "signature": {"authentication": "FAIL your secret is right"},
        "token-refused": {"token in A": "FAIL A3 does not accept it (602)"},
        "tokens-end": {"a token holds for several calls": "FAIL 3 calls needed 3 logins"},
        "healthy": {},
    },
    "bulk-camera-import": {
        "healthy": {ALL_INSIDE: "UNKNOWN 4 are ready"},
        "one-does-not-play": {ALL_INSIDE: "FAIL cam-garage (preflight failed)"},
        "mistakes-in-the-table": {WHOLE_TABLE: "FAIL row 3, user_id"},
        "a-room-is-closed": {FIT: "FAIL is closed", ALL_INSIDE: "UNKNOWN 4 are ready"},
        "a-room-is-too-small": {
            FIT: "FAIL 0 of attendee_max 1, and 2 come",
            ALL_INSIDE: "UNKNOWN 4 are ready",
        },
    },
    "camera-does-not-appear": {
        "healthy": {},
        "password-changed": {INSIDE: "FAIL auth_rejected"},
        "reset": {INSIDE: "FAIL path_not_found"},
        "not-imported": {INSIDE: "FAIL not_imported"},
        "moved": {INSIDE: "FAIL address_differs"},
        "locked": {INSIDE: "FAIL room_locked"},
        "full": {INSIDE: "FAIL room_full"},
        "closed": {INSIDE: "FAIL room_closed"},
        "media-server-gone": {INSIDE: "FAIL 410"},
    },
    "capacity-review": {
        "healthy": {},
        "one-too-small": {"no room was full for more than 30 minutes": "FAIL at its cap for"},
        "gaps": {WHOLE: "UNKNOWN 31 of 31 rooms were not"},
        "three-days": {"it covers 30 days": "UNKNOWN 3.0 days"},
        "old": {"it is recent": "UNKNOWN its last sample"},
    },
    "deployment-acceptance": {
        "healthy": {MADE: "UNKNOWN nothing was changed"},
        "no-device-service": {"token in B": "FAIL 304"},
        "licence-expired": {MADE: "UNKNOWN nothing was changed"},
    },
    "force-user-offline": {
        "there": {OFF: "UNKNOWN nothing was changed"},
        "comes-back": {OFF: "UNKNOWN nothing was changed"},
        "two-of-that-name": {WHO: "FAIL 2 in the room are called 'Guest'"},
        "a-camera": {"it is a person, not a camera": "FAIL 'Camera hall' is a camera"},
        "nobody": {WHO: "FAIL nobody in the room is called 'Adda'"},
    },
    "media-server-gone": {
        "stopped": {
            GIVEN: "FAIL no MCU available (410): 3 of 3 rooms",
            AFFECTED: "FAIL 3 of 3 rooms: Weekly sync (410, users: 2)",
        },
        "unassigned": {},
        "healthy": {},
    },
    "nobody-can-join": {
        "healthy": {},
        "full": {PLACE: "FAIL the room is full (2 of 2)"},
        "full-of-video": {},
        "locked": {OPEN: "FAIL the room is locked"},
        "closed": {OPEN: "FAIL the room is closed"},
        "licence-expired": {SERVER: "FAIL (405)"},
        "no-seats": {SERVER: "FAIL (411)"},
        "media-server-gone": {SERVER: "FAIL (410)"},
        "peer-to-peer": {PEERS: "UNKNOWN only creating one shows"},
        "peer-to-peer-refused": {PEERS: "UNKNOWN only creating one shows"},
    },
    "stray-devices": {
        "healthy": {},
        "strays": {"no device is stray but those that stay": "FAIL cam-ramp (not among the users)"},
        "unreadable": {"no device is stray but those that stay": "UNKNOWN could not be read"},
    },
}  # fmt: skip
QUICKLY = {"stray-devices": {"seconds": 0.1}, "camera-does-not-appear": {"seconds": 5.0}}
SECRETS = ("desk-2468", "desk-1357", "yesterdays-secret", "demo_secret")


def told(played, expected):
    """Fails unless exactly these checks did not pass, each with its verdict and what it found."""
    assert played.wrong == {check: text.split()[0] for check, text in expected.items()}, played
    for check, text in expected.items():
        assert text.partition(" ")[2] in played[check].found, played
        assert played[check].advice
    assert not any(secret in played.text for secret in SECRETS)


def test_every_scene_is_in_the_table():
    """A new runbook, and a new scene, is told apart here."""
    assert {one.name for one in library.stored()} == set(EXPECTED)
    for name, rows in EXPECTED.items():
        assert set(rows) == set(scenes(name)), name


@pytest.mark.parametrize(
    ("name", "scene"), [(name, scene) for name, rows in EXPECTED.items() for scene in rows]
)
def test_a_scene_is_told_apart_and_nothing_changes(client, sandbox, name, scene):
    """Its own checks do not pass and no other; nothing is changed unless that is wanted."""
    played = play(name, client, scene, **QUICKLY.get(name, {}))
    told(played, EXPECTED[name][scene])
    assert not played.changed
