"""What each runbook says of a fault, and that it changes nothing unasked.

A row is a scene on a sandbox, the checks that are FAIL or UNKNOWN, each with a part of its detail,
the changes that the service was asked for, and the inputs; those that are named as an operation are
what it answers meanwhile."""

import time
from collections import Counter
from functools import partial

import pandas as pd
import pytest

import confkit as ck
from confkit import runbook
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox
from tests.rtsp.scripted import instead, scripted, wanting

SECRETS = ("desk-2468", "yesterdays-secret", "demo_secret")
LOGIN = {"login_name": "admin", "login_password": "desk-2468"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded
LOST, GONE = {"drop": True}, {"ret": 404, "times": 1}
NEXT = {"delay": 0, "times": 1}  # the next response is as it would be
DONE = {"body": '{"ret": 0}'}  # although nothing was done
BACK = {"body": '{"ret": 0, "user_list": [{"user_name": "Ada", "user_id": "new"}]}'}
DOWN = {"body": '{"ret": 0, "addr": "127.0.0.1:1"}'}
DONE_BUT_LOST = {"drop": True, "after": True, "times": 1}


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", LOGIN["login_password"])


# Scenes: each makes something on a sandbox, and returns the inputs of the runbook


def shift(sandbox, client, folder, locked=False, **options):
    """A room with two people, which may be locked behind them."""
    room = ck.create_room(client, "Night shift", "ops", **options)
    for name in ("Ada", "Grace"):
        sandbox.join(room, name, user_id=name.lower())
    if locked:
        sandbox.lock(room)
    return {"room": room}


def rooms(sandbox, client, folder, stopped=False):
    """Three rooms, in two of which are people."""
    ids = [ck.create_room(client, topic, "ops") for topic in ("Weekly", "Lobby", "Empty")]
    for room in ids[:2]:
        sandbox.join(room, "Ada")
    if stopped:
        sandbox.stop_mcu()
    return {"rooms": ids}


def desk(sandbox, client, folder, listed=True):
    """A room, and a camera with a login that may be imported into it."""
    room = ck.create_room(client, "Front desk", "ops")
    address = sandbox.camera("desk", **LOGIN, **SMALL)
    if listed:
        ck.import_device(client, room, "cam-desk", "Camera", address, **LOGIN)
    return {"room": room, "device": "cam-desk", "address": address, "login_name": "admin"}


def park(sandbox, client, folder, unplugged=("ramp", "roof")):
    """A room with three cameras, two of them unplugged; one of these stays."""
    room = ck.create_room(client, "Car park", "ops")
    for name in ("gate", "ramp", "roof"):
        address = sandbox.camera(name, **SMALL)
        ck.import_device(client, room, f"cam-{name}", name, address)
        if name in unplugged:
            sandbox.unplug(address)
    while sum(stream.state == "live" for stream in sandbox.streams(room)) > 3 - len(unplugged):
        time.sleep(0.02)
    return {"keep": "cam-roof", "pause": 0.1}


def yard(sandbox, client, folder, garage="desk-2468", locked=False, count=2):
    """A table of two cameras, for a room that may be locked."""
    room, lines = ck.create_room(client, "Yard", "ops"), []
    for name, password in (("north", "desk-2468"), ("garage", garage))[:count]:
        address = sandbox.camera(name, login_name="admin", login_password=password, **SMALL)
        lines.append((room, f"cam-{name}", name, address, "admin", "desk-2468"))
    if locked:
        sandbox.lock(room)
    columns = ("room_id", "user_id", "user_name", "user_address", "login_name", "login_password")
    pd.DataFrame(lines, columns=columns).to_csv(folder / "table.csv", index=False)
    return {"table": folder / "table.csv"}


def hall(sandbox, client, folder):
    return {"camera": sandbox.camera("hall", **LOGIN, **SMALL), "login_name": "admin"}


def other_key(sandbox, client, folder):
    client.secret_key = ck.Secret("yesterdays-secret")
    return {}


def other_hash(sandbox, client, folder):
    client.dialect = ck.Dialect(hash="sha256")
    return {}


def month(sandbox, client, folder, full=False):
    """The recording of three rooms, of which one may be full."""
    past = sandbox.simulate(rooms=3, days=31, every=3600, until="2026-11-01", seed=3)
    past["attendee_max"] = 500
    past.loc[past.room_id == past.room_id[0], ["users", "attendee_max"]] = 5, 5 if full else 500
    ck.save_occupancy(past, folder)
    return {"recording": str(folder)}


def row(name, scene, wrong="", changed="", **inputs):
    return (name, scene, wrong.split("; ") if wrong else [], changed, inputs)


JOIN, OFF, SERVER = "nobody-can-join", "force-user-offline", "media-server-gone"
CAMERA, BULK, STRAY = "camera-does-not-appear", "bulk-camera-import", "stray-devices"
ACCEPT, AUTH, CAPACITY = "deployment-acceptance", "authentication-fails", "capacity-review"
FULL, P2P = partial(shift, attendee_max=2), partial(shift, room_mode=3)
DO, ADA = {"apply": True}, {"apply": True, "user": "ada"}
ALL, TRIED = "A7 A7 A7", "A2 A4 A7 B1 B2 B2"
NOT_CREATED = "UNKNOWN New room (A2): nothing was changed"
OUT, EVERY = "FAIL Camera in its room", "Every camera in its room"
OFFLINE = "FAIL Media servers online (A7): 417; FAIL Media servers (A5): 3 of 3 rooms"
FAILED_ONE = f"FAIL {EVERY}: cam-garage (preflight failed)"
LOST_TWICE = f"UNKNOWN {EVERY}: cam-north ("
RAMP = "FAIL Stray devices: cam-ramp (not among the users)"
STOPPED = partial(rooms, stopped=True)

ROWS = [
    row(JOIN, FULL, "FAIL Free places: none (2 of 2)"),
    row(JOIN, partial(shift, locked=True), "FAIL Status: locked: nobody new can join"),
    row(JOIN, shift, "UNKNOWN Licence and media server (A5): 504", A5=504),
    row(JOIN, P2P, changed="A2 A4", **DO),
    row(OFF, shift, "FAIL User: nobody in the room has the ID 'Adda'", user="Adda", **DO),
    row(OFF, shift, "UNKNOWN Forced offline: ", "A7", A7=LOST, **ADA),
    row(OFF, shift, "UNKNOWN Stays away: 700", "A7", A6=[NEXT, 700], A7=DONE, **ADA),
    row(OFF, shift, "FAIL Stays away: in the room", "A7", A6=[NEXT, BACK], watch=-1, **ADA),
    row(SERVER, STOPPED, "FAIL Media servers (A5): 410"),
    row(SERVER, STOPPED, OFFLINE, ALL, **DO),
    row(SERVER, rooms, "UNKNOWN Media servers (A5): all rooms are closed", A5=416),
    row(SERVER, rooms, "UNKNOWN Media servers online (A7): 2 rooms not asked", "A7", A7=LOST, **DO),
    row(SERVER, rooms, "UNKNOWN Connection to the media server: 127.0.0.1:1 does not", A5=DOWN),
    row(SERVER, other_key, "UNKNOWN Rooms: authenticate (A1) answered 401", rooms="1"),
    row(CAMERA, partial(desk, listed=False), f"{OUT}: It plays from here: H.264, 160 x 96"),
    row(CAMERA, desk, "UNKNOWN Camera in its room: 504", A6=504),
    row(BULK, yard, f"UNKNOWN {EVERY}: 2 can be imported"),
    row(BULK, partial(yard, garage="desk-1357"), FAILED_ONE, "B1", **DO),
    row(BULK, partial(yard, locked=True), "FAIL Rooms: locked or closed", **DO),
    row(BULK, partial(yard, count=0), "UNKNOWN Rooms: the table has no rows", **DO),
    row(BULK, lambda *_: {"table": "/nowhere.csv"}, "UNKNOWN Table: [Errno 2] No such file"),
    row(BULK, yard, "UNKNOWN Table: closed the connection", B3=LOST, **DO),
    row(BULK, yard, LOST_TWICE, "B1 B1", B1=LOST, **DO),
    row(STRAY, park, RAMP),
    row(STRAY, park, "UNKNOWN Two readings: no device has the ID gate 7", keep="gate 7", **DO),
    row(STRAY, park, "UNKNOWN Two readings: 304", B3=[NEXT, 304], **DO),
    row(STRAY, park, f"FAIL Removal (B2): cam-ramp (failed); {RAMP}", "B2", B2=303, **DO),
    # What is stray in one reading only is being restarted.
    row(STRAY, partial(park, unplugged=()), A3=GONE, **DO),
    row(ACCEPT, hall, f"UNKNOWN Users of an unknown room (A6): 700; {NOT_CREATED}", A6=700),
    row(ACCEPT, hall, "UNKNOWN New room (A2): ", "A2 A4", A2=LOST, **DO),
    row(ACCEPT, hall, changed=TRIED, A2=DONE_BUT_LOST, **DO),
    row(ACCEPT, hall, "UNKNOWN Clean-up (A4): ", TRIED, A4=LOST, **DO),
    # All is well.
    row(ACCEPT, hall, changed=TRIED, **DO),
    row(BULK, yard, changed="B1 B1", **DO),
    row(OFF, shift, changed="A7", **ADA),
    row(SERVER, rooms, changed=ALL, **DO),
    row(STRAY, park, changed="B2", **DO),
    row(AUTH, other_key, "FAIL Keys: A1 refuses the keys (401)"),
    row(AUTH, other_hash, "FAIL Keys: the keys are right, but the service expects another"),
    row(CAPACITY, month, "UNKNOWN Recording: no recording at nowhere", recording="nowhere"),
    row(CAPACITY, month, "UNKNOWN Recording: there are no samples", days=0),
    row(CAPACITY, partial(month, full=True), "FAIL Rooms large enough: at its cap", A1=401),
]


def changes(sandbox):
    return Counter({key: sandbox.count(key) for key, row in OPERATIONS.items() if row.write})


@pytest.mark.parametrize(("name", "scene", "wrong", "changed", "inputs"), ROWS)
def test_a_fault_is_named_and_nothing_changes_unasked(
    name, scene, wrong, changed, inputs, tmp_path
):
    """These checks are FAIL or UNKNOWN and no others, each with a next step; the service is asked
    for these changes alone, and by a client that is read only for none, where all is well; no
    secret shows, and a room that is left is named."""
    with Sandbox(seed=5) as sandbox, sandbox.connect() as client:
        arguments = {"client": client, **scene(sandbox, client, tmp_path)}
        if name == OFF:
            arguments["watch"] = 0.3
        for key in OPERATIONS.keys() & inputs.keys():
            for fault in inputs[key] if isinstance(inputs[key], list) else [inputs[key]]:
                fault = fault if isinstance(fault, dict) else {"ret": fault}
                sandbox.fault(key, **fault)
        arguments |= {key: value for key, value in inputs.items() if key not in OPERATIONS}
        before, there = changes(sandbox), set(sandbox.room_ids())
        if not wrong and not OPERATIONS.keys() & inputs.keys():
            with sandbox.connect(read_only=True) as reader:
                list(runbook.RUNBOOKS[name](**{**arguments, "client": reader}))
            assert changes(sandbox) == before
        checks = ck.Checklist(runbook.RUNBOOKS[name](**arguments))
        made, left = changes(sandbox) - before, set(sandbox.room_ids()) - there
    bad = {f"{row.outcome} {row.name}": row for row in checks if row.outcome in "FAIL UNKNOWN"}
    expected = dict(line.split(": ", 1) for line in wrong)
    assert bad.keys() == expected.keys(), checks
    assert (checks.verdict == "PASS") == (not wrong)
    for line, detail in expected.items():
        assert detail in bad[line].detail
        assert bad[line].advice
    assert made == Counter(changed.split()), checks
    # What is not known is not even handed over for removal.
    assert changed or ("Removal (B2)", "PASS") not in [(row.name, row.outcome) for row in checks]
    text = str(checks) + checks._repr_html_()
    assert not any(secret in text for secret in SECRETS)
    assert bool(left) == any("Clean-up" in line for line in bad)
    assert all(room in text for room in left)


def test_ctrl_c_deletes_the_room_and_says_so(sandbox, client, tmp_path):
    """While a check waits for the next step, and whatever the room holds."""
    inputs = hall(sandbox, client, tmp_path)
    checks = runbook.deployment_acceptance(client, **inputs, apply=True)
    while next(checks).name != "Camera import (B1)":
        pass
    assert sandbox.room_ids()
    with pytest.raises(KeyboardInterrupt) as interrupt:
        checks.throw(KeyboardInterrupt())
    assert sandbox.room_ids() == []
    assert interrupt.value.__notes__ == ["PASS Clean-up (A4): deleted"]


def test_an_import_tries_each_camera_once(sandbox, client, tmp_path):
    """After a few wrong logins some cameras lock an address out."""
    table = yard(sandbox, client, tmp_path)["table"]
    with scripted(wanting(instead("DESCRIBE", 401))) as camera:
        wrong = f"{sandbox.room_ids()[0]},cam,Cam,{camera.url},admin,wrong"
        table.write_text(table.read_text() + wrong)
        list(runbook.bulk_camera_import(client, table, **DO))
    assert len(camera.logins) == 1


def test_a_recording_is_judged_by_its_own_service(sandbox, client, tmp_path):
    """Samples of another service in the folder do not count, and alone are UNKNOWN."""
    inputs = month(sandbox, client, tmp_path)
    samples = ck.load_occupancy(tmp_path)
    ck.save_occupancy(samples.assign(users=500, service="prod"), tmp_path)
    assert ck.Checklist(runbook.capacity_review(client, **inputs)).verdict == "PASS"
    client.name = "other.example"
    [check] = runbook.capacity_review(client, **inputs)
    assert (check.outcome, "prod" in check.detail) == ("UNKNOWN", True)


def test_an_input_that_makes_no_sense_is_refused_before_a_change(client):
    room = ck.create_room(client, "Lobby", "ops")
    with pytest.raises(ck.ConfigError, match="Set apply to True or False"):
        list(runbook.nobody_can_join(client, room, apply="False"))
