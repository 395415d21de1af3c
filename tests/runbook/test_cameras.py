"""camera-does-not-appear, bulk-camera-import and stray-devices on a real service: what they change,
and never change."""

import time

import pytest

import confkit as ck
from confkit import runbook
from confkit.runbook import cameras
from tests.runbook.harness import A3, A6, B1, B2, B3, SMALL, changes, outside, play
from tests.runbook.test_scenes import ALL_INSIDE, FIT, INSIDE

PLAYS, AGAIN = "the camera plays from here", "the camera is imported again"
WHICH, KEPT = "it is clear which camera is meant", "what was listed before is listed now"
WHOLE, IMPORTED = (
    "the table is right, and its cameras are tried",
    "those that are ready are asked for",
)
KEEP, OUT = "every name in keep is that of a device", "the stray devices are removed"
LOOKED, TIDY = "the rooms were looked at twice", "no device is stray but those that stay"
LISTED = "the service lists its devices"
LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
HEADER = "room_id,user_id,user_name,user_address,login_name\n"


def unplug(sandbox, client, room_id, url):
    """Unplug a camera, and wait until it has left its room; AssertionError after ten seconds."""
    users, end = len(ck.get_room_users(client, room_id)), time.monotonic() + 10
    sandbox.unplug(url)
    while len(ck.get_room_users(client, room_id)) == users:
        assert time.monotonic() < end
        time.sleep(0.02)


# A camera does not appear in the room


def test_a_new_password_is_put_in(monkeypatch):
    """With a login name, and the password of the environment, the camera is imported with them."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "desk-1357")
    password = runbook.camera_password("admin")
    inputs = {"scene": "password-changed", "login_name": "admin", "login_password": password}
    told = play("camera-does-not-appear", **inputs)
    assert "login_differs" in told[INSIDE].found
    assert "apply=True" in told[INSIDE].advice
    played = play("camera-does-not-appear", **inputs, apply=True)
    assert played.verdict == "PASS", played
    assert "desk-1357" not in played.text


@pytest.fixture
def moved(real):
    """A listed camera that has moved: the sandbox, a client, and the inputs that import it anew."""
    sandbox, client = real
    room_id = ck.create_room(client, "Front desk", "ops")
    url = sandbox.camera("desk", **LOGIN, **SMALL)
    ck.import_device(client, room_id, "cam-desk", "Desk", url, **LOGIN)
    unplug(sandbox, client, room_id, url)
    other = sandbox.camera("desk-2", **LOGIN, **SMALL)
    return sandbox, client, {"room": "front desk", "device": "Desk", "address": other}


def test_a_camera_is_imported_once_and_only_where_that_is_wanted(moved):
    """Without apply, and by a read only client, nothing is sent; with it one import, with what is
    listed; then a second run changes nothing."""
    sandbox, client, asked = moved
    with changes(sandbox), outside(sandbox, read_only=True) as reader:
        assert play("camera-does-not-appear", client, **asked).wrong == {INSIDE: "FAIL"}
        refused = play("camera-does-not-appear", reader, **asked, apply=True)
        assert "read only" in refused[AGAIN].found
    with changes(sandbox, B1=1, B2=1):
        played = play("camera-does-not-appear", client, **asked, apply=True)
    assert played.verdict == "PASS", played
    [device] = ck.list_devices(client)
    assert (device.user_id, device.user_address) == ("cam-desk", asked["address"])
    assert LOGIN["login_password"] not in played.text
    with changes(sandbox):
        assert play("camera-does-not-appear", client, **asked, apply=True).verdict == "PASS"


def test_a_camera_that_was_taken_out_and_not_brought_back_is_told(moved):
    """A line says so, and how to restore it; nobody who has set apply is told to set it."""
    sandbox, client, asked = moved
    sandbox.fault(B1, ret=426)
    played = play("camera-does-not-appear", client, **asked, apply=True)
    assert played.wrong == {AGAIN: "FAIL", KEPT: "FAIL", INSIDE: "FAIL"}
    assert "'cam-desk' was removed" in played[KEPT].found
    assert "that imports it" in played[KEPT].advice
    assert "apply=True" not in played[INSIDE].advice
    assert LOGIN["login_password"] not in played.text
    sandbox.clear_faults()
    login = {**LOGIN, "device": "cam-desk"}
    restored = play("camera-does-not-appear", client, **{**asked, **login}, apply=True)
    assert restored.verdict == "PASS", restored


def test_an_import_that_is_interrupted_tells_that_the_camera_is_out(moved, monkeypatch):
    """Ctrl-C between removal and import: the line comes before the notebook ends."""
    _, client, asked = moved
    book = runbook.begin("camera-does-not-appear", client)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cameras, "import_device", interrupted)
    with pytest.raises(KeyboardInterrupt):
        book.show(runbook.camera_does_not_appear(client, **asked, apply=True))
    assert (book.checks[-1].check, book.checks[-1].verdict) == (KEPT, "FAIL")


def test_a_camera_that_is_not_clear_is_unknown_and_nothing_is_imported(real):
    """Without a camera the verdict is UNKNOWN; a name that two or none have is a FAIL."""
    sandbox, client = real
    room_id = ck.create_room(client, "Front desk", "ops")

    def wrong(device=""):
        with changes(sandbox):
            played = play("camera-does-not-appear", client, room=room_id, device=device, apply=True)
        return played.wrong

    assert wrong() == {WHICH: "UNKNOWN"}
    for n in range(2):
        ck.import_device(client, room_id, f"cam{n}", "Door", sandbox.camera(**SMALL))
    assert wrong("Door") == {WHICH: "FAIL"}
    assert wrong("Gate") == {WHICH: "FAIL"}
    assert wrong() == {}


@pytest.mark.parametrize(("path", "check"), [(B3, WHICH), (A6, INSIDE)])
def test_a_service_that_does_not_answer_is_unknown(real, path, check):
    """What cannot be asked is not a fault of the camera."""
    sandbox, client = real
    room_id = ck.create_room(client, "Front desk", "ops")
    sandbox.fault(path, ret={B3: 304, A6: 504}[path])
    asked = {"room": room_id, "device": "cam", "address": "sip://127.0.0.1"}
    assert play("camera-does-not-appear", client, **asked).wrong == {check: "UNKNOWN"}


# Many cameras from a table


@pytest.fixture
def imported(tmp_path):
    """Plays bulk-camera-import with a table of these lines."""

    def run(client, *lines, **inputs):
        path = tmp_path / "cameras.csv"
        path.write_text(HEADER + "\n".join(lines))
        return play("bulk-camera-import", client, table=str(path), seconds=1.0, **inputs)

    return run


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [({"ret": 426}, "FAIL"), ({"ret": 302}, "FAIL"), ({"drop": True, "times": 1}, "UNKNOWN")],
    ids=["refused", "no service", "lost"],
)
def test_rows_that_were_ready_and_did_not_come_in_are_no_pass(real, imported, fault, verdict):
    """They are named, with why; a lost answer leaves it open."""
    sandbox, client = real
    room_id = ck.create_room(client, "Doors", "ops")
    sandbox.fault(B1, **fault)
    played = imported(client, f"{room_id},c,Door,{sandbox.camera(**SMALL)},", apply=True)
    assert played.wrong == {ALL_INSIDE: verdict}
    assert played[ALL_INSIDE].found.startswith("c (")


def test_a_table_is_imported_once_and_only_where_that_is_wanted(real, imported, monkeypatch):
    """From a file without passwords: apply imports each camera once, a second run finds them."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", LOGIN["login_password"])
    sandbox, client = real
    room_id = ck.create_room(client, "Doors", "ops")
    urls = [sandbox.camera(**LOGIN, **SMALL) for _ in range(2)]
    lines = [f"{room_id},cam{n},Door {n},{url},admin" for n, url in enumerate(urls)]
    with changes(sandbox), outside(sandbox, read_only=True) as reader:
        assert imported(client, *lines).wrong == {ALL_INSIDE: "UNKNOWN"}
        refused = imported(reader, *lines, apply=True)
        assert refused.wrong == {ALL_INSIDE: "UNKNOWN"}
        assert "read only" in refused[IMPORTED].found
    with changes(sandbox, B1=2):
        played = imported(client, *lines, apply=True)
    assert played.verdict == "PASS", played
    assert LOGIN["login_password"] not in played.text
    with changes(sandbox):
        assert imported(client, *lines, apply=True)[ALL_INSIDE].found == "2 are"


def test_a_table_that_cannot_be_read_is_told(real, imported):
    """None given, no such file, an empty one, and a service without B: UNKNOWN."""
    sandbox, client = real
    with changes(sandbox):
        assert play("bulk-camera-import", client, apply=True).wrong == {WHOLE: "UNKNOWN"}
        lost = play("bulk-camera-import", client, table="nowhere/lost.csv", apply=True)
        assert lost.wrong == {WHOLE: "UNKNOWN"}
        assert "No such file" in lost[WHOLE].found
        assert imported(client, apply=True).wrong == {ALL_INSIDE: "UNKNOWN"}
        sandbox.device_service("stopped")
        line = "1,c,Door,rtsp://127.0.0.1:9/s,"
        assert imported(client, line, apply=True).wrong == {WHOLE: "UNKNOWN"}


@pytest.mark.parametrize(
    ("room", "fault", "verdict", "found"),
    [
        ({"max_audio": 1}, None, "PASS", "1 room"),
        ({"max_video": 2}, None, "PASS", "1 room"),
        ({"max_video": 1}, None, "FAIL", "0 of max_video 1, and 2 come"),
        ({"attendee_max": 2}, None, "FAIL", "1 of attendee_max 2, and 2 come"),
        ({}, {"ret": 404}, "FAIL", "room not found (404)"),
        ({}, {"ret": 700}, "UNKNOWN", "database error (700)"),
    ],
)
def test_whether_the_rooms_can_take_them(real, imported, room, fault, verdict, found):
    """Cameras need a place and a video stream, and no audio; a room that is not there is a FAIL,
    one that could not be read is UNKNOWN."""
    sandbox, client = real
    room_id = ck.create_room(client, "Doors", "ops", **room)
    sandbox.join(room_id, "Ada")
    if fault:
        sandbox.fault(A3, **fault)
    fit = imported(client, *(f"{room_id},c{n},Door,sip://127.0.0.1:9/{n}," for n in range(2)))[FIT]
    assert fit.verdict == verdict
    assert found in fit.found


# Stray devices


@pytest.fixture
def park(real):
    """A sandbox, a client, and a room with a camera in it, "Gate"."""
    sandbox, client = real
    room_id = ck.create_room(client, "Car park", "ops")
    ck.import_device(client, room_id, "cam", "Gate", sandbox.camera("gate", **SMALL))
    return sandbox, client, room_id


def test_what_is_kept_stays_and_the_rest_is_taken_out(park):
    """Without apply nothing is sent; with it one device goes, the one that is named in keep stays,
    whether by ID or by name; with a name that fits none nothing goes."""
    sandbox, client, room_id = park
    ck.import_device(client, room_id, "cam2", "Gate 2", url := sandbox.camera("two", **SMALL))
    for address in (url, ck.list_devices(client)[0].user_address):
        unplug(sandbox, client, room_id, address)

    def wrong(keep, **inputs):
        return play("stray-devices", client, keep=keep, seconds=0.1, **inputs).wrong

    with changes(sandbox):
        assert wrong("cam2, Gate", apply=True) == {}
        assert wrong("Gate 2") == {TIDY: "FAIL"}
        assert wrong("Gate 7", apply=True) == {KEEP: "FAIL", TIDY: "FAIL"}
        with outside(sandbox, read_only=True) as reader:
            refused = play("stray-devices", reader, seconds=0.1, apply=True)
            assert "read only" in refused[OUT].found
    with changes(sandbox, B2=1):
        assert wrong("Gate 2", rooms="car park", apply=True) == {}
    assert [device.user_id for device in ck.list_devices(client)] == ["cam2"]


def test_devices_of_a_room_that_is_gone_are_taken_out(park):
    """404 for a room makes its devices strays, also where the room is named; a device that could
    not be removed is named, and is still stray."""
    sandbox, client, room_id = park
    sandbox.fault(A3, ret=404)
    sandbox.fault(B2, ret=303, times=1)
    left = play("stray-devices", client, rooms=room_id, seconds=0.1, apply=True)
    assert left.wrong == {TIDY: "FAIL"}
    with changes(sandbox, B2=1):
        played = play("stray-devices", client, rooms=room_id, seconds=0.1, apply=True)
    assert played.verdict == "PASS", played


@pytest.mark.parametrize("before", [0, 1], ids=["at the first look", "at the second"])
def test_what_is_stray_once_only_is_not_removed(park, before):
    """A device that is stray at one of the two looks is being restarted."""
    sandbox, client, _ = park
    if before:
        sandbox.fault(A3, delay=0, times=before)
    sandbox.fault(A3, ret=404, times=1)
    with changes(sandbox):
        played = play("stray-devices", client, seconds=0.1, apply=True)
    assert played[LOOKED].found == "0 stray"
    assert played.verdict == "PASS", played


@pytest.mark.parametrize(
    ("path", "faults", "check"),
    [
        (A3, [{"ret": 700}], TIDY),
        (B3, [{"ret": 304}], LISTED),
        (B3, [{"delay": 0, "times": 1}, {"ret": 304}], LOOKED),
    ],
    ids=["a room", "the list", "the list at the first look"],
)
def test_what_could_not_be_read_takes_nothing_out(park, path, faults, check):
    """With apply nothing is sent, and the verdict is UNKNOWN; a device whose room could not be read
    is none of those that go."""
    sandbox, client, _ = park
    for fault in faults:
        sandbox.fault(path, **fault)
    with changes(sandbox):
        played = play("stray-devices", client, seconds=0.1, apply=True)
    assert played.wrong == {check: "UNKNOWN"}
    with pytest.raises(KeyError):
        played[OUT]
