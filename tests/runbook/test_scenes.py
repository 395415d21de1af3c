"""Each runbook in each of its scenes: what it says of it, what its inputs and a service that
answers otherwise change in that, and that nothing is changed unasked."""

from collections import Counter

import pytest

from confkit.runbook import library
from confkit.runbook.scenes import scenes
from tests.runbook.harness import world

SECRETS = ("desk-2468", "desk-1357", "yesterdays-secret", "demo_secret")
LOST, NO_ROOM = {"drop": True}, {"ret": 404, "times": 1}
RIGHT = {"delay": 0, "times": 1}  # the first answer is as it is


def run(*lines, changed="", **inputs):
    """A run with these inputs, or operations that answer otherwise: which checks do not pass, each
    with a part of what it found, and which changes are asked for."""
    return lines, changed, inputs


TRIED = "A2 A4 A7 B1 B1 B2 B2"
NEW_LOGIN = {"login_name": "admin", "login_password": "desk-1357"}
INSIDE, WHICH = "the camera is in its room", "it is clear which camera is meant"
ALL_INSIDE, FIT = "every camera is in its room", "the rooms can take them"
TIDY, OFF = "no device is stray but those that stay", "the user is removed"
GIVEN, ONLINE = "rooms are given a media server (A5)", "rooms have a media server that is online"
# In each scene it is played again and again in the same sandbox, first as its notebook is stored.
PLAYED = {
    "authentication-fails": {
        "rotated-secret": [run("FAIL keys: A1 refuses the keys (401)")],
        "white-space": [
            run("FAIL no white space stands around the keys and addresses: secret_key")
        ],
        "signature": [
            run("FAIL keys: the keys are right"),
            run("FAIL keys: the keys are right", apply=True),
        ],
        "token-refused": [run("FAIL token in A: A3 refused the token in every known way: 602")],
        "tokens-end": [run("FAIL a token holds for several calls: 3 calls needed 3 logins")],
        "healthy": [run(), run("PASS a token holds for several calls: 3 calls, 0", apply=True)],
    },
    "bulk-camera-import": {
        "one-does-not-play": [
            run(f"FAIL {ALL_INSIDE}: cam-garage (preflight failed)"),
            run(f"FAIL {ALL_INSIDE}: cam-garage", apply=True, changed="B1 B1 B1"),
        ],
        "mistakes-in-the-table": [
            run("FAIL the table is right, and its cameras are tried: row 3, user_id"),
            run("UNKNOWN the table is right, and its cameras are tried: no table", table=""),
            run("UNKNOWN the table is right, and its cameras are tried: No such file", table="no"),
        ],
        "a-room-is-closed": [
            run(f"FAIL {FIT}: is closed", f"UNKNOWN {ALL_INSIDE}: 4 are ready"),
        ],
        "a-room-is-too-small": [
            run(
                f"FAIL {FIT}: 0 of attendee_max 1, and 2 come",
                f"UNKNOWN {ALL_INSIDE}: 4 are ready",
            ),
        ],
        "healthy": [
            run(f"UNKNOWN {ALL_INSIDE}: 4 are ready"),
            run(f"FAIL {FIT}: (404)", f"UNKNOWN {ALL_INSIDE}: 4 are ready", A3=404),
            run(f"UNKNOWN {FIT}: (700)", f"UNKNOWN {ALL_INSIDE}: 4 are ready", A3=700),
            run("UNKNOWN the table is right, and its cameras are tried: 304", B3=304, apply=True),
            run(f"FAIL {ALL_INSIDE}: cam-north (", B1=426, apply=True, changed="B1 " * 4),
            run(f"UNKNOWN {ALL_INSIDE}: cam-north (", B1=LOST, apply=True, changed="B1 " * 4),
            run(apply=True, changed="B1 B1 B1 B1"),
            run(f"PASS {ALL_INSIDE}: 4 are", apply=True),
        ],
    },
    "camera-does-not-appear": {
        "password-changed": [
            run(f"FAIL {INSIDE}: auth_rejected"),
            run(f"FAIL {INSIDE}: service_cannot_reach", **NEW_LOGIN),
            run(apply=True, **NEW_LOGIN, changed="B1 B2"),
        ],
        "reset": [
            run(f"FAIL {INSIDE}: path_not_found"),
            run(f"FAIL {INSIDE}: path_not_found", apply=True),
        ],
        "not-imported": [
            run(f"FAIL {INSIDE}: not_imported"),
            run(f"UNKNOWN {WHICH}: none is named", device="", address="", apply=True),
            run(apply=True, changed="B1"),
        ],
        "moved": [
            run(f"FAIL {INSIDE}: address_differs"),
            run(
                "FAIL the camera is imported again: 426",
                "FAIL what was listed before is listed now: 'cam-desk' was removed",
                f"FAIL {INSIDE}: not_imported",
                B1=426,
                apply=True,
                changed="B1 B2",
            ),
            run(apply=True, changed="B1"),
            run(apply=True),
            run("UNKNOWN the room is found: no room is given", room="", apply=True),
        ],
        "locked": [run(f"FAIL {INSIDE}: room_locked")],
        "full": [run(f"FAIL {INSIDE}: room_full")],
        "closed": [run(f"FAIL {INSIDE}: room_closed")],
        "media-server-gone": [run(f"FAIL {INSIDE}: 410")],
        "healthy": [
            run(),
            run(device=""),
            run(f"FAIL {WHICH}: nobody in the room is", device="Gate", address="", apply=True),
            run(f"UNKNOWN {WHICH}: 304", B3=304, apply=True),
            run(f"UNKNOWN {INSIDE}: 504", A6=504, apply=True),
        ],
    },
    "capacity-review": {
        "one-too-small": [
            run("FAIL no room was full for more than 30 minutes: at its cap for"),
            run(full_minutes=5000, A3=700),
        ],
        "gaps": [
            run("UNKNOWN every room was read often enough: 30 of 30 rooms were not"),
            run(coverage=0.5),
        ],
        "three-days": [run("UNKNOWN it covers 30 days: 3.0 days"), run(days=3)],
        "old": [run("UNKNOWN it is recent: its last sample"), run(stale_days=50)],
        "healthy": [
            run(),
            run("UNKNOWN the recording can be read: no recording is given", recording=""),
            run("UNKNOWN the recording can be read: no recording at nowhere", recording="nowhere"),
        ],
    },
    "deployment-acceptance": {
        "no-device-service": [run("FAIL token in B: 304")],
        "licence-expired": [
            run("UNKNOWN a room is made (A2): nothing was changed"),
            run("FAIL a room is made (A2): (405)", apply=True, changed="A2 A4"),
        ],
        "healthy": [
            run("UNKNOWN a room is made (A2): nothing was changed"),
            run(apply=True, changed=TRIED),
            run("UNKNOWN a room is made (A2): without", A2=LOST, apply=True, changed="A2 A4"),
            run(A2={**LOST, "after": True, "times": 1}, apply=True, changed=TRIED),
            run("FAIL nothing of this test is left (A4): 407", A4=407, apply=True, changed=TRIED),
            run("UNKNOWN nothing of this test is left (A4): ", A4=LOST, apply=True, changed=TRIED),
            run(camera="", apply=True, changed="A2 A4 A7 B2"),
            run(
                "FAIL the camera is imported (B1): 426",
                camera="rtsp://127.0.0.1:9/none",
                apply=True,
                changed="A2 A4 A7 B1 B2",
            ),
            run("FAIL media server: 410", A5=410, apply=True, changed=TRIED),
            run(
                "FAIL an unknown room has no users: 404 (A6): it succeeded, where 404 is due",
                A6={"body": '{"ret":0,"user_list":[]}', "times": 1},
                apply=True,
                changed=TRIED,
            ),
            run(
                "FAIL a missing parameter gives 401 in B (B2): 425",
                B2={"ret": 425, "times": 1},
                apply=True,
                changed=TRIED,
            ),
        ],
    },
    "force-user-offline": {
        "two-of-that-name": [
            run("FAIL the user is in the room, and nobody else is meant: 2 in the room are called"),
            run("FAIL the user is in the room, and nobody else is meant: Guest", apply=True),
        ],
        "a-camera": [run("FAIL it is a person, not a camera: 'Camera hall' is a camera")],
        "nobody": [
            run("FAIL the user is in the room, and nobody else is meant: nobody in the room is"),
            run("UNKNOWN the room is found: no room is given", room="", apply=True),
        ],
        "comes-back": [
            run(f"UNKNOWN {OFF}: nothing was changed"),
            run("FAIL they stay away: new ID", apply=True, watch=5.0, changed="A7"),
        ],
        "there": [
            run(f"UNKNOWN {OFF}: nothing was changed"),
            run("UNKNOWN it is a person, not a camera: 304", B3=304, apply=True),
            run(f"FAIL {OFF}: 417", A7=417, apply=True, changed="A7"),
            run(f"UNKNOWN {OFF}: ", A7=LOST, apply=True, changed="A7"),
            run(
                "FAIL they stay away: still there",
                A7={"body": '{"ret": 0}'},
                apply=True,
                watch=0.2,
                changed="A7",
            ),
            run(
                "UNKNOWN they stay away: 700",
                A6=[RIGHT, 700],
                A7={"body": '{"ret": 0}'},
                apply=True,
                changed="A7",
            ),
            run(apply=True, watch=0.2, changed="A7"),
        ],
    },
    "media-server-gone": {
        "stopped": [
            run(
                f"FAIL {GIVEN}: no MCU available (410)",
                "FAIL no room is affected: Weekly sync (410, users: 2)",
            ),
            run(
                f"FAIL {ONLINE} (A7): MCU not online (417)",
                f"FAIL {GIVEN}: no MCU available (410)",
                "FAIL no room is affected: 3 of 3 rooms",
                apply=True,
                changed="A7 A7 A7",
            ),
        ],
        "unassigned": [
            run(
                f"FAIL {ONLINE} (A7): no MCU found",
                "FAIL no room is affected: 1 of 3 rooms: Weekly sync (428, users: 2)",
                apply=True,
                changed="A7 A7 A7",
            ),
            run(),
        ],
        "healthy": [
            run(),
            run(f"PASS {GIVEN}: 1 of 1 room asked", rooms="lobby"),
            run("UNKNOWN there are rooms to look at: 'Attic'", rooms="Attic"),
            run(f"UNKNOWN {GIVEN}: timeout", A5=504),
            run(f"UNKNOWN {GIVEN}: closed the connection", A5=LOST),
            run(f"PASS {GIVEN}: none, all are closed", A5=416),
            run(
                f"FAIL {GIVEN}: MCU not online (417)",
                "FAIL no room is affected: Weekly sync (417, users: not known)",
                A5=417,
                A6=700,
            ),
            run(
                "UNKNOWN the media server accepts connections from here: it refuses them",
                A5={"body": '{"ret": 0, "addr": "127.0.0.1:1"}'},
            ),
            run(apply=True, changed="A7 A7 A7"),
        ],
    },
    "nobody-can-join": {
        "full": [run("FAIL the room has a free place: the room is full (2 of 2)")],
        "full-of-video": [
            run(
                "PASS the room has a free place: people get in without that stream, a camera is "
                "refused with 426 (assumed)"
            ),
        ],
        "locked": [run("FAIL the room is neither locked nor closed: the room is locked")],
        "closed": [run("FAIL the room is neither locked nor closed: the room is closed")],
        "licence-expired": [run("FAIL licence and media server let people in: (405)")],
        "no-seats": [run("FAIL licence and media server let people in: (411)")],
        "media-server-gone": [run("FAIL licence and media server let people in: (410)")],
        "peer-to-peer": [
            run("UNKNOWN peer-to-peer is permitted: only creating one shows"),
            run(apply=True, changed="A2 A4"),
        ],
        "peer-to-peer-refused": [
            run("UNKNOWN peer-to-peer is permitted: only creating one shows"),
            run("FAIL a new room of this kind can be made: 701", apply=True, changed="A2 A4"),
        ],
        "healthy": [
            run(),
            run("UNKNOWN the room is found: no room is given", room="", apply=True),
            run("FAIL the room is found: (404)", room="000", apply=True),
            run("FAIL licence and media server let people in: (428)", A5=428),
            run("UNKNOWN licence and media server let people in: (504)", A5=504),
            run("FAIL no such room is left: 407", A4=407, apply=True, changed="A2 A4"),
            run(
                "FAIL a new room of this kind can be made: 407",
                "PASS no such room is left: none was made",
                A2=407,
                apply=True,
                changed="A2 A4",
            ),
            run(apply=True, changed="A2 A4"),
        ],
    },
    "stray-devices": {
        "strays": [
            run(f"FAIL {TIDY}: cam-ramp (not among the users)"),
            run(
                "FAIL every name in keep is that of a device: gate 7",
                f"FAIL {TIDY}: cam-ramp",
                keep="gate 7",
                apply=True,
            ),
            run(keep="cam-roof, Camera ramp", apply=True),
            run(apply=True, changed="B2"),
        ],
        "unreadable": [
            run(f"UNKNOWN {TIDY}: could not be read"),
            run(f"UNKNOWN {TIDY}: could not be read", A3=700, apply=True),
        ],
        "healthy": [
            run(),
            run("UNKNOWN the service lists its devices: 304", B3=304, apply=True),
            run("UNKNOWN the rooms were looked at twice: 304", B3=[RIGHT, 304], apply=True),
            # What is stray at one look only is being restarted.
            run("PASS the rooms were looked at twice: 0 stray", A3=NO_ROOM, apply=True),
            run("PASS the rooms were looked at twice: 0 stray", A3=[RIGHT, NO_ROOM], apply=True),
            run(
                f"FAIL {TIDY}: cam-gate",
                A3=404,
                B2={"ret": 303, "times": 1},
                apply=True,
                changed="B2 B2",
            ),
            run("PASS the stray devices are removed: 1 removed", A3=404, apply=True, changed="B2"),
        ],
    },
}


def test_every_scene_is_in_the_table():
    """A new runbook, and a new scene, is told apart here."""
    there = {one.name: scenes(one.name).keys() for one in library.stored()}
    assert {name: rows.keys() for name, rows in PLAYED.items()} == there


@pytest.mark.parametrize(
    ("name", "scene"), [(name, scene) for name, rows in PLAYED.items() for scene in rows]
)
def test_a_scene_is_told_apart_and_nothing_changes_unasked(name, scene):
    """Its own checks do not pass and no other: FAIL is what the service answered, UNKNOWN what was
    not answered, or may be. What does not help, or is not clear, is not changed. Nobody who has set
    apply is told to set it; a room that is left is named."""
    quickly = {"stray-devices": {"seconds": 0.1}, "camera-does-not-appear": {"seconds": 5.0}}
    with world(name, scene) as there:
        for lines, changed, inputs in PLAYED[name][scene]:
            played = there.play(**quickly.get(name, {}), **inputs)
            shown = {f"{one.outcome} {one.name}: ": one for one in played}
            due = {one: line for line in lines for one in shown if line.startswith(one)}
            assert len(due) == len(lines), (inputs, played)
            assert {one for one in shown if one[:4] in ("FAIL", "UNKN")} <= due.keys(), played
            for start, line in due.items():
                assert line.removeprefix(start) in shown[start].detail, (inputs, played)
                assert shown[start].advice or start[:4] == "PASS"
            assert played.changed == Counter(changed.split()), inputs
            # What is not known is not even handed over for removal.
            assert changed or "PASS the stray devices are removed: " not in shown
            assert not any(secret in played.text for secret in SECRETS)
            assert not (inputs.get("apply") and "apply=True" in played.text), inputs
            assert bool(played.left) == any("is left" in start for start in due if start[0] != "P")
            assert all(room_id in played.advice for room_id in played.left)
