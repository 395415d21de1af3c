"""What each runbook says of a fault, and that it changes nothing unasked.

A row is a scene on a sandbox, the checks that are FAIL or UNKNOWN, each with a part of its detail,
the changes that the service was asked for, and the inputs; those that are named as an operation are
what it answers meanwhile."""

import json
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import confkit as ck
from confkit import runbook
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox

DIALECT = ck.Dialect(
    hash="sha256",
    signature="raw",
    token_parameter="access_tocken",
    create_method="POST",
    list_method="POST",
    placement="json",
    remove_token_parameter="accessToken",
)
SETTINGS = ("base_url", "outgoing_url", "access_key", "secret_key")
NOTEBOOKS = Path(__file__).parents[2] / "notebooks" / "runbooks"
CHANGES = {key: row.path for key, row in OPERATIONS.items() if row.write}
SECRETS = ("desk-2468", "desk-1357", "yesterdays-secret", "demo_secret")
LOGIN = {"login_name": "admin", "login_password": "desk-2468"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded
LOST, GONE = {"drop": True}, {"ret": 404, "times": 1}
NEXT = {"delay": 0, "times": 1}  # the next response is as it would be
DONE = {"body": '{"ret": 0}'}  # although nothing was done
DONE_BUT_LOST = {"drop": True, "after": True, "times": 1}
NO_PORT = {"body": '{"ret": 0, "addr": "127.0.0.1:1"}'}
NO_USERS = {"body": '{"ret":0,"user_list":[]}', "times": 1}


# Scenes: each makes something on a sandbox, and returns the inputs of the runbook


def nothing(sandbox, client):
    return {}


def shift(sandbox, client, steer=None, **options):
    """A room with two people, to which something happens."""
    room = ck.create_room(client, "Night shift", "ops", **options)
    for name in ("Ada", "Grace"):
        sandbox.join(room, name, user_id=name.lower())
    if steer:
        steer(sandbox)
    return {"room": room}


def with_camera(sandbox, client):
    inputs = shift(sandbox, client)
    ck.import_device(client, inputs["room"], "cam", "Camera", sandbox.camera("desk", **SMALL))
    return inputs


def rooms(sandbox, client, steer=None):
    """Three rooms, in two of which are people."""
    ids = [ck.create_room(client, topic, "ops") for topic in ("Weekly", "Lobby", "Empty")]
    for room in ids[:2]:
        sandbox.join(room, "Ada")
    if steer:
        steer(sandbox)
    return {"rooms": ", ".join(ids)}


def desk(sandbox, client, listed=True, unplugged=False, steer=None, **options):
    """A room, and a camera with a login that is imported into it, then perhaps unplugged."""
    room = ck.create_room(client, "Front desk", "ops", **options)
    sandbox.join(room, "Ada")
    address = sandbox.camera("desk", **LOGIN, **SMALL)
    if listed:
        ck.import_device(client, room, "cam-desk", "Camera", address, **LOGIN)
    if unplugged:
        unplug(sandbox, room, address)
    if steer:
        steer(sandbox)
    return {"room": room, "device": "cam-desk", "address": address, **LOGIN}


def new_password(sandbox, client):
    """The same, and the camera has another password now."""
    inputs = desk(sandbox, client, unplugged=True)
    sandbox.camera("desk", login_name="admin", login_password="desk-1357", **SMALL)
    return {"room": inputs["room"], "device": "cam-desk"}


def park(sandbox, client, unplugged=("ramp", "roof")):
    """A room with three cameras, two of them unplugged; one of these stays."""
    room = ck.create_room(client, "Car park", "ops")
    for name in ("gate", "ramp", "roof"):
        address = sandbox.camera(name, **SMALL)
        ck.import_device(client, room, f"cam-{name}", name, address)
        if name in unplugged:
            unplug(sandbox, room, address)
    return {"keep": "cam-roof", "pause": 0.1}


def unplug(sandbox, room, address):
    count = sum(stream.state == "live" for stream in sandbox.streams(room))
    sandbox.unplug(address)
    while sum(stream.state == "live" for stream in sandbox.streams(room)) == count:
        time.sleep(0.02)


def yard(sandbox, client, folder, garage="desk-2468", scheme="rtsp"):
    """A table of two cameras."""
    room, lines = ck.create_room(client, "Yard", "ops"), []
    for name, password in (("north", "desk-2468"), ("garage", garage)):
        address = sandbox.camera(name, login_name="admin", login_password=password, **SMALL)
        address = address.replace("rtsp", scheme, name == "garage")
        lines.append((room, f"cam-{name}", name, address, "admin", "desk-2468"))
    columns = ("room_id", "user_id", "user_name", "user_address", "login_name", "login_password")
    pd.DataFrame(lines, columns=columns).to_csv(folder / "table.csv", index=False)
    return {"table": folder / "table.csv"}


def hall(sandbox, client, steer=None):
    """A camera."""
    if steer:
        steer(sandbox)
    return {"camera": sandbox.camera("hall", **LOGIN, **SMALL), **LOGIN}


def other_client(sandbox, client, dialect=None, **settings):
    """A client that connects otherwise than it should."""
    settings = {**{name: getattr(sandbox, name) for name in SETTINGS}, **settings}
    return {"client": ck.connect(**settings, dialect=dialect)}


def month(sandbox, client, folder, days=31, gap=0, full=False, age=0):
    """The recording of three rooms, which may end some days ago."""
    past = sandbox.simulate(rooms=3, days=days, every=3600, until="2026-11-01", seed=3)
    past["attendee_max"] = 500
    past.loc[past.room_id == past.room_id[0], ["users", "attendee_max"]] = 5, 5 if full else 500
    before = past.time.max() - past.time
    past = past[(before < pd.Timedelta(days=3)) | (before >= pd.Timedelta(days=3 + gap))]
    ck.save_occupancy(past, folder)
    sandbox.advance(86400 * age)
    return {"recording": str(folder)}


def lock(sandbox):
    sandbox.lock(sandbox.room_ids()[0])


def close(sandbox):
    sandbox.close_room(sandbox.room_ids()[0])


def expire(sandbox):
    sandbox.licence(expired=True)


def stop(sandbox):
    sandbox.stop_mcu()


def row(name, scene, wrong="", changed="", **inputs):
    return (name, scene, wrong.split("; ") if wrong else [], changed, inputs)


JOIN, OFF, SERVER = "nobody-can-join", "force-user-offline", "media-server-gone"
CAMERA, BULK, STRAY = "camera-does-not-appear", "bulk-camera-import", "stray-devices"
ACCEPT, AUTH, CAPACITY = "deployment-acceptance", "authentication-fails", "capacity-review"
FULL, P2P = partial(shift, attendee_max=2), partial(shift, room_mode=3)
DO, ADA = {"apply": True}, {"apply": True, "user": "ada"}
ALL, TRIED = "A7 A7 A7", "A2 A4 A7 B1 B2 B2"
UNLISTED = partial(desk, listed=False)
LICENCE, SERVERS = "Licence and media server (A5)", "Media servers (A5)"
OUT, EVERY = "FAIL Camera in its room", "Every camera in its room"
CONNECTION = "UNKNOWN Connection to the media server: connection refused"
NOT_CREATED = "UNKNOWN New room (A2): nothing was changed"
OFFLINE = "FAIL Media servers online (A7): 417; FAIL Media servers (A5): 3 of 3 rooms"
STOPPED = partial(rooms, steer=stop)
SHA = partial(other_client, dialect=ck.Dialect(hash="sha256"))
NO_DEVICES = partial(hall, steer=lambda sandbox: sandbox.device_service("stopped"))
ALONE = partial(rooms, steer=lambda sandbox: sandbox.unassign_mcu(sandbox.room_ids()[0]))

ROWS = [
    row(JOIN, partial(shift, attendee_max=9)),
    row(JOIN, FULL, "FAIL Free places: none (2 of 2)"),
    row(JOIN, partial(shift, steer=lock), "FAIL Status: locked"),
    row(JOIN, partial(shift, steer=close), "FAIL Status: closed, for good"),
    row(JOIN, partial(shift, steer=expire), f"FAIL {LICENCE}: 405"),
    row(JOIN, shift, f"FAIL {LICENCE}: 428", A5=428),
    row(JOIN, shift, f"UNKNOWN {LICENCE}: 504", A5=504),
    row(JOIN, P2P, NOT_CREATED),
    row(JOIN, P2P, changed="A2 A4", **DO),
    row(JOIN, shift, "UNKNOWN Room: no room is given", room="", **DO),
    row(JOIN, shift, "FAIL Room: 404", room="000", **DO),
    row(JOIN, shift, "FAIL Clean-up (A4): 404", "A2 A4", A4=404, **DO),
    row(JOIN, shift, "FAIL New room (A2): 407", "A2 A4", A2=407, **DO),
    row(OFF, shift, "UNKNOWN User: none is given", user=""),
    row(OFF, shift, "FAIL User: nobody in the room has the ID 'Adda'", user="Adda", **DO),
    row(OFF, with_camera, "FAIL A person, not a camera: 'Camera'", user="cam", **DO),
    row(OFF, shift, "UNKNOWN Forced offline: nothing was changed", user="ada"),
    row(OFF, shift, "UNKNOWN A person, not a camera: 304", B3=304, **ADA),
    row(OFF, shift, "FAIL Forced offline: 417", "A7", A7=417, **ADA),
    row(OFF, shift, "UNKNOWN Forced offline: ", "A7", A7=LOST, **ADA),
    row(OFF, shift, "FAIL Stays away: still", "A7", A7=DONE, **ADA),
    row(OFF, shift, "UNKNOWN Stays away: 700", "A7", A6=[NEXT, 700], A7=DONE, **ADA),
    row(OFF, shift, changed="A7", **ADA),
    row(SERVER, rooms),
    row(SERVER, nothing, "UNKNOWN Rooms: no rooms are given"),
    row(SERVER, STOPPED, "FAIL Media servers (A5): 410"),
    row(SERVER, STOPPED, OFFLINE, ALL, **DO),
    row(SERVER, ALONE, "FAIL Media servers online (A7): 428", ALL, **DO),
    row(SERVER, rooms, f"UNKNOWN {SERVERS}: closed the connection", A5=LOST),
    row(SERVER, rooms, A5=416),
    row(SERVER, rooms, CONNECTION, A5=NO_PORT),
    row(SERVER, rooms, changed=ALL, **DO),
    row(CAMERA, desk),
    row(CAMERA, desk, device="", address=""),
    row(CAMERA, partial(desk, unplugged=True), f"{OUT}: path_not_found"),
    row(CAMERA, new_password, f"{OUT}: auth_rejected"),
    row(CAMERA, UNLISTED, f"{OUT}: not_imported"),
    row(CAMERA, partial(UNLISTED, attendee_max=1), f"{OUT}: room_full"),
    row(CAMERA, partial(UNLISTED, steer=stop), f"{OUT}: 410"),
    row(CAMERA, desk, "UNKNOWN Camera in its room: 504", A6=504),
    row(BULK, yard, f"UNKNOWN {EVERY}: 2 can be imported"),
    row(BULK, yard, changed="B1 B1", **DO),
    row(
        *(BULK, partial(yard, garage="desk-1357")),
        *(f"FAIL Cameras: 1 of 2; FAIL {EVERY}: cam-garage (preflight failed)", "B1"),
        **DO,
    ),
    row(BULK, partial(yard, scheme="http"), "FAIL Table: user_address", **DO),
    row(BULK, yard, "UNKNOWN Table: no table", table=""),
    row(BULK, yard, "UNKNOWN Table: No such file", table="nowhere.csv"),
    row(BULK, yard, "UNKNOWN Table: 304", B3=304, **DO),
    row(BULK, yard, f"FAIL {EVERY}: cam-north (", "B1 B1", B1=426, **DO),
    row(BULK, yard, f"UNKNOWN {EVERY}: cam-north (", "B1 B1", B1=LOST, **DO),
    row(STRAY, park, "FAIL Stray devices: cam-ramp (not among the users)"),
    row(STRAY, park, changed="B2", **DO),
    row(STRAY, park, "FAIL Devices to keep: gate 7", keep="gate 7", **DO),
    row(STRAY, park, keep="cam-roof, cam-ramp", **DO),
    row(STRAY, park, "UNKNOWN Stray devices: could not be read", A3=700, **DO),
    row(STRAY, park, "UNKNOWN Two readings: 304", B3=[NEXT, 304], **DO),
    # What is stray in one reading only is being restarted.
    row(STRAY, partial(park, unplugged=()), A3=GONE, **DO),
    row(STRAY, partial(park, unplugged=()), A3=[NEXT, GONE], **DO),
    row(ACCEPT, hall, NOT_CREATED),
    row(ACCEPT, hall, changed=TRIED, **DO),
    row(ACCEPT, hall, changed="A2 A4 A7 B2", camera="", **DO),
    row(ACCEPT, NO_DEVICES, "FAIL Token in B: 304", **DO),
    row(ACCEPT, hall, "UNKNOWN New room (A2): ", "A2 A4", A2=LOST, **DO),
    row(ACCEPT, hall, changed=TRIED, A2=DONE_BUT_LOST, **DO),
    row(ACCEPT, hall, "UNKNOWN Clean-up (A4): ", TRIED, A4=LOST, **DO),
    row(ACCEPT, hall, "FAIL Camera import (B1): 426", TRIED[:-3], B1=426, **DO),
    row(ACCEPT, hall, "FAIL Media server (A5): 410", TRIED, A5=410, **DO),
    row(
        *(ACCEPT, hall),
        f"FAIL Users of an unknown room (A6): success, expected 404; {NOT_CREATED}",
        A6=NO_USERS,
    ),
    row(
        *(ACCEPT, hall, "FAIL Missing parameter (B2): expected 401", TRIED),
        **(DO | {"B2": {"ret": 425, "times": 1}}),
    ),
    row(AUTH, nothing),
    row(AUTH, partial(other_client, secret_key=SECRETS[2]), "FAIL Keys: A1 refuses the keys (401)"),
    row(AUTH, SHA, "FAIL Keys: the keys are right"),
    row(AUTH, nothing, "FAIL Token in A: A3 refused the token in every known form", A3=602),
    row(CAPACITY, month),
    row(CAPACITY, month, "UNKNOWN Recording: no recording is given", recording=""),
    row(CAPACITY, month, "UNKNOWN Recording: no recording at nowhere", recording="nowhere"),
    row(CAPACITY, partial(month, days=9), "UNKNOWN Time recorded: not 30 days"),
    row(CAPACITY, partial(month, days=9), days=8),
    row(CAPACITY, partial(month, age=3), "UNKNOWN Time recorded: none since"),
    row(CAPACITY, partial(month, gap=7), "UNKNOWN Samples of each room: incomplete in 3 of 3"),
    row(CAPACITY, partial(month, full=True), "FAIL Rooms large enough: at its cap"),
    row(CAPACITY, partial(month, full=True), full_minutes=10**6, A3=700),
]


def changes(sandbox):
    return Counter({key: sandbox.count(path) for key, path in CHANGES.items()})


def make(scene, sandbox, client, folder):
    """The inputs of a scene, which may need a folder."""
    function = scene.func if isinstance(scene, partial) else scene
    return scene(sandbox, client, folder) if function in (yard, month) else scene(sandbox, client)


@pytest.mark.parametrize(
    ("name", "scene", "wrong", "changed", "inputs"),
    ROWS,
    ids=[f"{row[0]}-{number}" for number, row in enumerate(ROWS)],
)
def test_a_fault_is_named_and_nothing_changes_unasked(
    name, scene, wrong, changed, inputs, tmp_path
):
    """These checks are FAIL or UNKNOWN and no others, each with a next step; the service is asked
    for these changes alone; no secret shows, and a room that is left is named."""
    with Sandbox(seed=5) as sandbox, sandbox.connect() as client:
        arguments = {"client": client, **make(scene, sandbox, client, tmp_path)}
        if name == OFF:
            arguments["watch"] = 0.3
        for key in OPERATIONS.keys() & inputs.keys():
            for fault in inputs[key] if isinstance(inputs[key], list) else [inputs[key]]:
                fault = fault if isinstance(fault, dict) else {"ret": fault}
                sandbox.fault(OPERATIONS[key].path, **fault)
        arguments |= {key: value for key, value in inputs.items() if key not in OPERATIONS}
        before, there = changes(sandbox), set(sandbox.room_ids())
        checks = ck.Checklist(runbook.RUNBOOKS[name](**arguments))
        made, left = changes(sandbox) - before, set(sandbox.room_ids()) - there
    bad = {
        f"{check.outcome} {check.name}": check
        for check in checks
        if check.outcome in "FAIL UNKNOWN"
    }
    expected = dict(line.split(": ", 1) for line in wrong)
    assert bad.keys() == expected.keys(), checks
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


@pytest.mark.parametrize(
    ("name", "scene", "changed", "inputs"),
    [
        (AUTH, nothing, "", {}),
        (BULK, yard, "B1 B1", DO),
        (CAMERA, desk, "", {}),
        (ACCEPT, hall, TRIED, DO),
        (OFF, shift, "A7", {**ADA, "watch": 0.3}),
        (SERVER, rooms, ALL, DO),
        (STRAY, park, "B2", DO),
    ],
)
def test_a_service_of_another_dialect_passes_and_read_only_changes_nothing(
    name, scene, changed, inputs, tmp_path
):
    """From outside, by its addresses and keys, with apply."""
    with Sandbox(seed=5, dialect=DIALECT) as sandbox, sandbox.connect() as owner:
        inputs = {**make(scene, sandbox, owner, tmp_path), **inputs}
        settings = {key: getattr(sandbox, key) for key in SETTINGS}
        for read_only in (True, False):
            with ck.connect(**settings, dialect=DIALECT, read_only=read_only) as client:
                before = changes(sandbox)
                checks = ck.Checklist(runbook.RUNBOOKS[name](client, **inputs))
                made = changes(sandbox) - before
            assert made == Counter([] if read_only else changed.split()), checks
            assert len({check.name for check in checks}) == len(
                checks
            )  # what is skipped is not tried
        assert checks.verdict == "PASS", checks


def test_tokens_that_end_early_are_named(sandbox, client):
    """Each call needs a login then."""

    def advance(response, **_):
        if "getOutgoingUsers" in response.url:
            sandbox.advance(2 * 3600)

    for check in runbook.authentication_fails(client):
        if check.name == "Token in B":
            client.session.hooks["response"].append(advance)
    assert check.name == "Token lifetime"
    assert (check.outcome, check.detail) == ("FAIL", "3 calls needed 3 logins")


def test_ctrl_c_deletes_the_room_and_says_so(sandbox, client):
    """While a check waits for the next step, and whatever the room holds."""
    checks = runbook.deployment_acceptance(client, **hall(sandbox, client), apply=True)
    while next(checks).name != "Camera import (B1)":
        pass
    assert sandbox.room_ids()
    with pytest.raises(KeyboardInterrupt) as interrupt:
        checks.throw(KeyboardInterrupt())
    assert sandbox.room_ids() == []
    assert interrupt.value.__notes__ == ["PASS Clean-up (A4): deleted"]


@pytest.mark.parametrize(
    ("user", "event", "name", "fault", "verdict", "detail"),
    [
        ("ada", "join", "Ada", None, "FAIL", "back, with the ID"),
        ("grace", "leave", "grace", DONE, "PASS", "not seen for"),
    ],
)
def test_who_comes_back_is_seen_and_who_leaves_late_is_not_taken_for_one(
    sandbox, client, user, event, name, fault, verdict, detail
):
    """Under a new ID with the same name; only who was gone can be back."""
    room = shift(sandbox, client)["room"]
    if fault:
        sandbox.fault(OPERATIONS["A7"].path, **fault)
    checks = runbook.force_user_offline(client, room, user, watch=1.5, apply=True)
    while next(checks).name != "Forced offline":
        pass
    timer = threading.Timer(0.4, getattr(sandbox, event), (room, name))
    timer.start()
    [check] = checks
    timer.join()
    assert (check.name, check.outcome, detail in check.detail) == ("Stays away", verdict, True)


def test_a_recording_is_judged_by_its_own_service(sandbox, client, tmp_path):
    """Samples of another service in the folder do not count, and alone are UNKNOWN."""
    inputs = month(sandbox, client, tmp_path)
    samples = ck.load_occupancy(tmp_path)
    ck.save_occupancy(samples.assign(users=500, service="prod"), tmp_path)
    assert ck.Checklist(runbook.capacity_review(client, **inputs)).verdict == "PASS"
    with other_client(sandbox, client)["client"] as other:
        [check] = runbook.capacity_review(other, **inputs)
    assert (check.outcome, "prod" in check.advice) == ("UNKNOWN", True)


def test_the_advice_for_a_camera_is_a_line_for_a_shell(client):
    """Without its password."""
    camera = "rtsp://admin:desk-2468@127.0.0.1:9/none"
    checks = ck.Checklist(runbook.deployment_acceptance(client, camera=camera, apply=True))
    [check] = [check for check in checks if check.outcome == "FAIL"]
    assert check.advice.endswith(": confkit preflight 'rtsp://admin:***@127.0.0.1:9/none'")


@pytest.mark.parametrize("name", runbook.RUNBOOKS)
def test_a_notebook_runs_twice_in_a_row(name, monkeypatch):
    """In one kernel, as after "run this again": with the same checks."""
    monkeypatch.setenv("CONFKIT_PROFILE", "sandbox")
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    namespace, outcomes = {}, []
    for _ in range(2):
        exec(code.replace("\nck.Checklist(", "\nchecks = ck.Checklist("), namespace)
        outcomes.append([(check.name, check.outcome) for check in namespace["checks"]])
    ck.connect("sandbox").sandbox.close()
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("apply", ["False", 1, None])
def test_apply_is_true_or_false(client, apply):
    """A text that says False would be true."""
    room = ck.create_room(client, "Lobby", "ops")
    with pytest.raises(ck.ConfigError, match="Set apply to True or False"):
        list(runbook.nobody_can_join(client, room, apply=apply))
