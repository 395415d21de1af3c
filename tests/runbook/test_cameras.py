"""camera-does-not-appear, bulk-camera-import, stray-devices: the scenes that they tell apart."""

import time

import pandas as pd
import pytest

import confkit as ck
from confkit import runbook
from confkit.runbook import cameras
from tests.runbook.deployment import SMALL, changes, deployed, outside, wrong
from tests.runbook.harness import play

PLAYS, INSIDE = "the camera plays from here", "the camera is in its room"
AGAIN, WHICH = "the camera is imported again", "it is clear which camera is meant"
WHOLE, FIT = "the table is right", "the rooms can take them"
ALL_PLAY = "the cameras that are not there yet play from here"
IMPORTED, ALL_INSIDE = "the cameras are imported", "every camera of the table is in its room"
KEPT = "what was listed before is listed now"
KEEP, OUT = "every name in keep is that of a device", "the stray devices are removed"
TIDY, LISTED = "no device is stray but those that stay", "the service lists its devices"
ROOM = "/rtc/room/get"
B1 = "/avd/api/outgoing/createOutgoingUser"
LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
PASSWORDS = ("desk-2468", "desk-1357")  # of the scenes


def until(done):
    """Wait until this is so; AssertionError after ten seconds."""
    end = time.monotonic() + 10
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


# A camera does not appear in the room

CAMERA = {
    "healthy": ("PASS", {}, ""),
    "password-changed": ("FAIL", {PLAYS: "FAIL", INSIDE: "FAIL"}, "auth_rejected"),
    "reset": ("FAIL", {PLAYS: "FAIL", INSIDE: "FAIL"}, "path_not_found"),
    "not-imported": ("FAIL", {INSIDE: "FAIL"}, "not_imported"),
    "moved": ("FAIL", {INSIDE: "FAIL"}, "address_differs"),
    "locked": ("FAIL", {INSIDE: "FAIL"}, "room_locked"),
    "full": ("FAIL", {INSIDE: "FAIL"}, "room_full"),
    "closed": ("FAIL", {INSIDE: "FAIL"}, "room_closed"),
    "media-server-gone": ("FAIL", {INSIDE: "FAIL"}, "410"),
}


@pytest.mark.parametrize(("scene", "expected"), CAMERA.items(), ids=CAMERA)
def test_what_keeps_a_camera_out_is_told_apart(scene, expected):
    """Each scene has its verdict and its cause, and without apply nothing is imported."""
    verdict, checks, cause = expected
    played = play("camera-does-not-appear", scene=scene)
    assert (played.verdict, wrong(played)) == (verdict, checks), played
    assert cause in played[PLAYS if PLAYS in checks else INSIDE].found
    assert played[AGAIN].verdict == "SKIP"
    assert not any(word in played.text for word in PASSWORDS)


@pytest.mark.parametrize("scene", ["not-imported", "moved"])
def test_a_camera_that_plays_is_imported_again(scene):
    """With apply it is in its room afterwards: PASS."""
    played = play("camera-does-not-appear", scene=scene, apply=True)
    assert played.verdict == "PASS", played
    assert played[AGAIN].verdict == "PASS"


def test_what_an_import_does_not_mend_is_not_imported():
    """A camera that does not play is left alone even with apply."""
    played = play("camera-does-not-appear", scene="reset", apply=True)
    assert "would not help" in played[AGAIN].found
    assert played.verdict == "FAIL"


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


def test_a_camera_is_imported_only_where_that_is_wanted():
    """On a real service: without apply nothing is sent, with it one import; named by its name, and
    with what is listed; then a second run changes nothing."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Front desk", "ops")
        url = sandbox.camera("desk", **LOGIN, **SMALL)
        ck.import_device(client, room_id, "cam-desk", "Desk", url, **LOGIN)
        sandbox.unplug(url)
        until(lambda: not ck.get_room_users(client, room_id))
        other = sandbox.camera("desk-2", **LOGIN, **SMALL)
        asked = {"room": "front desk", "device": "Desk", "address": other}
        with changes(sandbox):
            assert play("camera-does-not-appear", client, **asked).verdict == "FAIL"
        with outside(sandbox, read_only=True) as reader, changes(sandbox):
            refused = play("camera-does-not-appear", reader, **asked, apply=True)
            assert "read only" in refused[AGAIN].found
        with changes(sandbox, B1=1, B2=1):
            played = play("camera-does-not-appear", client, **asked, apply=True)
        assert played.verdict == "PASS", played
        [device] = ck.list_devices(client)
        assert (device.user_id, device.user_address) == ("cam-desk", other)
        assert LOGIN["login_password"] not in played.text
        with changes(sandbox):
            again = play("camera-does-not-appear", client, **asked, apply=True)
        assert again.verdict == "PASS", again


@pytest.fixture
def moved():
    """A listed camera that has moved: the sandbox, a client, and the inputs that import it anew."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Front desk", "ops")
        url = sandbox.camera("desk", **LOGIN, **SMALL)
        ck.import_device(client, room_id, "cam-desk", "Desk", url, **LOGIN)
        sandbox.unplug(url)
        until(lambda: not ck.get_room_users(client, room_id))
        other = sandbox.camera("desk-2", **LOGIN, **SMALL)
        asked = {"room": room_id, "device": "Desk", "address": other, "apply": True}
        yield sandbox, client, asked


def test_a_camera_that_was_taken_out_and_not_brought_back_is_told(moved):
    """A line says that it is listed no more and how to restore it; nobody who has set apply is
    told to set it."""
    sandbox, client, asked = moved
    sandbox.fault(B1, ret=426)
    played = play("camera-does-not-appear", client, **asked)
    assert wrong(played) == {AGAIN: "FAIL", KEPT: "FAIL", INSIDE: "FAIL"}
    assert "'cam-desk' was removed" in played[KEPT].found
    assert "that imports it" in played[KEPT].advice
    assert "apply=True" not in played[INSIDE].advice
    assert LOGIN["login_password"] not in played.text
    sandbox.clear_faults()
    login = {"device": "cam-desk", "login_name": "admin", "login_password": LOGIN["login_password"]}
    restored = play("camera-does-not-appear", client, **{**asked, **login})
    assert restored.verdict == "PASS", restored


def test_whether_a_camera_is_listed_after_its_import_failed_may_be_unknown(moved, monkeypatch):
    """The service is gone in the middle of it: UNKNOWN, with the same next step."""
    sandbox, client, asked = moved

    def lost(*_, **__):
        sandbox.device_service("stopped")
        raise ck.TransportError("no answer")

    monkeypatch.setattr(cameras, "import_device", lost)
    played = play("camera-does-not-appear", client, **asked)
    assert (played[AGAIN].verdict, played[KEPT].verdict) == ("UNKNOWN", "UNKNOWN")
    assert "that imports it" in played[KEPT].advice


def test_an_import_that_is_interrupted_tells_that_the_camera_is_out(moved, monkeypatch):
    """Ctrl-C between removal and import: the line comes before the notebook ends."""
    _, client, asked = moved
    books = []

    def begin(*given):
        books.append(runbook.Runbook(*given))
        return books[0]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(runbook, "begin", begin)
    monkeypatch.setattr(cameras, "import_device", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play("camera-does-not-appear", client, **asked)
    last = books[0].checks[-1]
    assert (last.check, last.verdict) == (KEPT, "FAIL")


def test_a_camera_that_is_not_clear_is_unknown_and_nothing_is_imported():
    """Without a room, without a camera, or with a name that two have, the verdict is UNKNOWN."""
    with deployed() as (sandbox, client):
        played = play("camera-does-not-appear", client, apply=True)
        assert played.verdict == "UNKNOWN"
        assert "no room is given" in played["the room is found"].found
        room_id = ck.create_room(client, "Front desk", "ops")
        with changes(sandbox):
            none = play("camera-does-not-appear", client, room=room_id, apply=True)
        assert wrong(none) == {WHICH: "UNKNOWN"}
        for n in range(2):
            url = sandbox.camera(**SMALL)
            ck.import_device(client, room_id, f"cam{n}", "Door", url)
        with changes(sandbox):
            two = play("camera-does-not-appear", client, room=room_id, device="Door", apply=True)
        assert wrong(two) == {WHICH: "UNKNOWN"}
        missing = play("camera-does-not-appear", client, room=room_id, device="Gate")
        assert wrong(missing) == {WHICH: "FAIL"}
        assert play("camera-does-not-appear", client, room=room_id).verdict == "PASS"


def test_a_service_that_does_not_answer_is_unknown():
    """What cannot be asked is not a fault of the camera."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Front desk", "ops")
        sandbox.device_service("stopped")
        played = play("camera-does-not-appear", client, room=room_id, device="cam")
        assert wrong(played) == {"the cameras of the room are listed": "UNKNOWN"}
        sandbox.device_service("running")
        sandbox.fault("/rtc/room/get_room_info", ret=504)
        played = play(
            "camera-does-not-appear", client, room=room_id, device="cam", address="sip://127.0.0.1"
        )
    told = "the users can be read"
    assert wrong(played) == {told: "UNKNOWN", INSIDE: "UNKNOWN"}


# Many cameras from a table

BULK = {
    "healthy": {ALL_INSIDE: "UNKNOWN"},
    "one-does-not-play": {ALL_PLAY: "FAIL", ALL_INSIDE: "FAIL"},
    "mistakes-in-the-table": {WHOLE: "FAIL"},
    "a-room-is-closed": {FIT: "FAIL", ALL_INSIDE: "UNKNOWN"},
    "a-room-is-too-small": {FIT: "FAIL", ALL_INSIDE: "UNKNOWN"},
}


@pytest.mark.parametrize(("scene", "expected"), BULK.items(), ids=BULK)
def test_what_is_wrong_with_a_table_of_cameras_is_told_apart(scene, expected):
    """Each scene has its checks; a table that is ready is no PASS before it is imported."""
    played = play("bulk-camera-import", scene=scene)
    assert wrong(played) == expected, played
    assert played[IMPORTED].verdict == "SKIP"
    assert not any(word in played.text for word in PASSWORDS)


def test_those_that_play_are_imported_and_the_others_named():
    """With apply three of four are imported, and the fourth is the FAIL."""
    played = play("bulk-camera-import", scene="one-does-not-play", apply=True)
    assert played[IMPORTED].found == "3 new ones"
    assert played[ALL_INSIDE].found == "cam-garage (preflight failed)"
    assert play("bulk-camera-import", scene="healthy", apply=True).verdict == "PASS"


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [({"ret": 426}, "FAIL"), ({"ret": 302}, "FAIL"), ({"drop": True, "times": 1}, "UNKNOWN")],
    ids=["refused", "no service", "lost"],
)
def test_rows_that_were_ready_and_did_not_come_in_are_no_pass(tmp_path, fault, verdict):
    """None came in: the line of the import says so, and names them."""
    path = tmp_path / "cameras.csv"
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Doors", "ops")
        url = sandbox.camera(**SMALL)
        path.write_text(f"room_id,user_id,user_name,user_address\n{room_id},c,Door,{url}\n")
        sandbox.fault(B1, **fault)
        played = play("bulk-camera-import", client, table=str(path), apply=True)
    assert wrong(played) == {IMPORTED: verdict, ALL_INSIDE: verdict}
    assert played[IMPORTED].found == "0 new ones; 1 that were ready are not: c"


def test_a_table_is_imported_once_and_only_where_that_is_wanted(tmp_path, monkeypatch):
    """On a real service, from a file without passwords: apply imports each camera once, and a
    second run finds them there."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", LOGIN["login_password"])
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Doors", "ops")
        path = tmp_path / "cameras.csv"
        rows = [
            {
                "room_id": room_id,
                "user_id": f"cam{n}",
                "user_name": f"Door {n}",
                "user_address": sandbox.camera(**LOGIN, **SMALL),
                "login_name": "admin",
            }
            for n in range(2)
        ]
        pd.DataFrame(rows).to_csv(path, index=False)
        asked = {"table": str(path)}
        with changes(sandbox):
            assert play("bulk-camera-import", client, **asked).verdict == "UNKNOWN"
        with outside(sandbox, read_only=True) as reader, changes(sandbox):
            refused = play("bulk-camera-import", reader, **asked, apply=True)
            assert refused.verdict == "UNKNOWN"
            assert "read only" in refused[IMPORTED].found
        with changes(sandbox, B1=2):
            played = play("bulk-camera-import", client, **asked, apply=True)
        assert played.verdict == "PASS", played
        assert LOGIN["login_password"] not in played.text
        with changes(sandbox):
            again = play("bulk-camera-import", client, **asked, apply=True)
        assert again.verdict == "PASS"
        assert again[ALL_PLAY].found == "all are in their rooms already"


def test_a_table_that_cannot_be_read_is_told(tmp_path):
    """None given is UNKNOWN; a file that is not there is a FAIL; a service without B is UNKNOWN."""
    with deployed() as (sandbox, client), changes(sandbox):
        none = play("bulk-camera-import", client, apply=True)
        assert wrong(none) == {WHOLE: "UNKNOWN"}
        lost = play("bulk-camera-import", client, table=str(tmp_path / "lost.csv"), apply=True)
        assert wrong(lost) == {WHOLE: "FAIL"}
        assert "No such file" in lost[WHOLE].found
        path = tmp_path / "cameras.csv"
        path.write_text("room_id,user_id,user_name,user_address\n1,c,Door,rtsp://127.0.0.1:9/s\n")
        empty = tmp_path / "empty.csv"
        empty.write_text(path.read_text().partition("\n")[0])
        none = play("bulk-camera-import", client, table=str(empty), apply=True)
        assert wrong(none) == {ALL_INSIDE: "UNKNOWN"}
        sandbox.device_service("stopped")
        down = play("bulk-camera-import", client, table=str(path), apply=True)
        assert wrong(down) == {WHOLE: "UNKNOWN"}


def test_a_room_of_the_table_that_is_not_there_or_not_read_is_told(tmp_path):
    """404 is a FAIL that names the room, a room that could not be read is UNKNOWN."""
    path = tmp_path / "cameras.csv"
    header = "room_id,user_id,user_name,user_address\n"
    with deployed() as (sandbox, client):
        path.write_text(f"{header}77,c,Door,sip://127.0.0.1:9/s\n")
        played = play("bulk-camera-import", client, table=str(path))
        assert played[FIT].verdict == "FAIL"
        assert "77 does not exist" in played[FIT].found
        room_id = ck.create_room(client, "Doors", "ops")
        path.write_text(f"{header}{room_id},c,Door,sip://127.0.0.1:9/s\n")
        sandbox.fault(ROOM, ret=700)
        played = play("bulk-camera-import", client, table=str(path))
        assert played[FIT].verdict == "UNKNOWN"
        assert "700" in played[FIT].found


@pytest.mark.parametrize(
    ("cap", "people", "verdict"),
    [
        ({"max_audio": 1}, ["Ada"], "PASS"),
        ({"max_video": 2}, [], "PASS"),
        ({"max_video": 1}, [], "FAIL"),
        ({"max_video": 2}, ["Ada"], "UNKNOWN"),
    ],
)
def test_cameras_need_video_streams_and_no_audio(tmp_path, cap, people, verdict):
    """More cameras than max_video are a FAIL, people who may send video make it UNKNOWN, and both
    are said to be assumed; max_audio keeps no camera out."""
    path = tmp_path / "cameras.csv"
    header = "room_id,user_id,user_name,user_address\n"
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Doors", "ops", **cap)
        for name in people:
            sandbox.join(room_id, name)
        rows = [f"{room_id},c{n},Door,sip://127.0.0.1:9/{n}\n" for n in range(2)]
        path.write_text(header + "".join(rows))
        fit = play("bulk-camera-import", client, table=str(path))[FIT]
    assert fit.verdict == verdict
    assert ("(assumed)" in fit.found) == (verdict != "PASS")


# Stray devices

STRAYS = {
    "healthy": ("PASS", {}),
    "strays": ("FAIL", {TIDY: "FAIL"}),
    "unreadable": ("UNKNOWN", {TIDY: "UNKNOWN"}),
}


@pytest.mark.parametrize(("scene", "expected"), STRAYS.items(), ids=STRAYS)
def test_stray_devices_are_told_from_those_that_are_not_known(scene, expected):
    """A room that could not be read makes no stray, and no PASS."""
    played = play("stray-devices", scene=scene, seconds=0.1)
    assert (played.verdict, wrong(played)) == expected, played
    assert played[OUT].verdict == "SKIP"


def test_what_is_kept_stays_and_the_rest_is_taken_out():
    """On a real service: without apply nothing is sent; with it one device goes, the one that is
    named in keep stays, whether by ID or by name."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Car park", "ops")
        urls = [sandbox.camera(**SMALL) for _ in range(3)]
        for n, url in enumerate(urls):
            ck.import_device(client, room_id, f"cam{n}", f"Gate {n}", url)
        for url in urls[:2]:
            sandbox.unplug(url)
        until(lambda: len(ck.get_room_users(client, room_id)) == 1)
        with changes(sandbox):
            both = play("stray-devices", client, keep="cam1, Gate 0", seconds=0.1, apply=True)
            assert both.verdict == "PASS", both
            assert play("stray-devices", client, keep="Gate 1", seconds=0.1).verdict == "FAIL"
            typo = play("stray-devices", client, keep="Gate 7", seconds=0.1, apply=True)
            assert wrong(typo) == {KEEP: "FAIL", TIDY: "FAIL"}
        with outside(sandbox, read_only=True) as reader, changes(sandbox):
            refused = play("stray-devices", reader, keep="Gate 1", seconds=0.1, apply=True)
            assert "read only" in refused[OUT].found
        with changes(sandbox, B2=1):
            played = play(
                "stray-devices", client, keep="Gate 1", rooms="car park", seconds=0.1, apply=True
            )
        assert played.verdict == "PASS", played
        assert sorted(device.user_id for device in ck.list_devices(client)) == ["cam1", "cam2"]


def test_devices_of_a_room_that_is_gone_are_taken_out():
    """404 for a room makes its devices strays, also where the room is named."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Car park", "ops")
        ck.import_device(client, room_id, "cam", "Gate", sandbox.camera(**SMALL))
        sandbox.fault(ROOM, ret=404)
        with changes(sandbox, B2=1):
            played = play("stray-devices", client, rooms=room_id, seconds=0.1, apply=True)
        assert played.verdict == "PASS", played


@pytest.mark.parametrize("before", [0, 1], ids=["at the first look", "at the second"])
def test_what_is_stray_once_only_is_not_removed(before):
    """A device that is stray at one of the two looks is being restarted."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Car park", "ops")
        ck.import_device(client, room_id, "cam", "Gate", sandbox.camera(**SMALL))
        if before:
            sandbox.fault(ROOM, delay=0, times=before)
        sandbox.fault(ROOM, ret=404, times=1)
        with changes(sandbox):
            played = play("stray-devices", client, seconds=0.1, apply=True)
        assert played["the rooms are looked at"].found == (
            "0 stray" if before else "1 stray: cam (room gone)"
        )
        assert played.verdict == "PASS", played


def test_a_device_of_a_room_that_cannot_be_read_is_not_removed():
    """With apply nothing is sent for it, and the verdict is UNKNOWN."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Car park", "ops")
        ck.import_device(client, room_id, "cam", "Gate", sandbox.camera(**SMALL))
        sandbox.fault(ROOM, ret=700)
        with changes(sandbox):
            played = play("stray-devices", client, seconds=0.1, apply=True)
    assert wrong(played) == {TIDY: "UNKNOWN"}
    assert played[OUT].found == "there is none to remove"


def test_a_list_that_cannot_be_read_is_no_tidy_one():
    """Without B3 nothing is known, and nothing is removed."""
    with deployed() as (sandbox, client), changes(sandbox):
        sandbox.device_service("stopped")
        assert wrong(play("stray-devices", client, apply=True)) == {LISTED: "UNKNOWN"}


def test_a_removal_that_fails_is_told():
    """A device that could not be removed is named, and is still stray."""
    with deployed() as (sandbox, client):
        room_id = ck.create_room(client, "Car park", "ops")
        ck.import_device(client, room_id, "cam", "Gate", sandbox.camera(**SMALL))
        sandbox.fault(ROOM, ret=404)
        sandbox.fault("/avd/api/outgoing/destroyOutgoingUser", ret=303)
        played = play("stray-devices", client, seconds=0.1, apply=True)
    assert wrong(played) == {OUT: "FAIL", TIDY: "FAIL"}


def test_a_look_that_fails_takes_nothing_out():
    """When B3 answers once and then no more, the verdict is UNKNOWN and nothing is removed."""
    with deployed() as (sandbox, client), changes(sandbox):
        sandbox.fault("/avd/api/outgoing/getOutgoingUsers", delay=0, times=1)
        sandbox.fault("/avd/api/outgoing/getOutgoingUsers", ret=304)
        played = play("stray-devices", client, apply=True)
    assert wrong(played) == {"the rooms are looked at": "UNKNOWN"}
