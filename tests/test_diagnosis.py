"""Why is it not in the room? Each answer by a real state of the sandbox, with real cameras."""

import json
import shlex
import socket
import socketserver
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress

import pandas as pd
import pytest

import confkit as ck
from confkit.diagnosis.findings import STAGES, VERDICTS
from confkit.endpoints import A3, A5, A6, B1, B3
from confkit.rtsp.verdicts import VERDICTS as OF_CAMERAS
from confkit.sandbox import Sandbox
from tests.rtsp.zoo import ZOO

PASSWORD = "geheim@77:/#%"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (128, 96), "fps": 10}


@pytest.fixture
def room_id(client):
    client._sleep = lambda _: None  # what is retried is retried at once
    return ck.create_room(client, "t", "ops", attendee_max=4)


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, **SMALL)


@pytest.fixture
def imported(client, room_id, camera):
    """A camera that is in the room."""
    return ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)


@pytest.fixture
def gone(sandbox, client, imported):
    """A device that the service lists and that has left the room: its camera is unplugged."""
    sandbox.unplug(imported.user_address)
    until(lambda: ck.get_room_users(client, imported.room_id) == [])
    return imported


@pytest.fixture
def silent():
    """The address of something that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"rtsp://127.0.0.1:{server.getsockname()[1]}/x"


def until(condition, seconds=20.0):
    """Waits for a condition that comes by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def outcomes(report):
    """The outcome of each stage, by its name."""
    return {stage.name: stage.outcome for stage in report.stages}


OURS = {"room", "device", "users", "listed address", "elsewhere", "media server", "camera"}


def failed(report):
    """The stages that are marked as failed."""
    return [stage.name for stage in report.stages if stage.outcome == "failed"]


class Door:
    """Stands before a camera: lets so many connections through, and closes all others at once."""

    def __init__(self, url, places):
        self.places, self.inside = places, 0
        self.knocks = []  # when
        self.open = set()
        parts = url.removeprefix("rtsp://").partition("/")
        host, port = parts[0].split(":")
        door = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                door.knocks.append(time.monotonic())
                if door.inside >= door.places:
                    return
                door.inside += 1
                with socket.create_connection((host, int(port))) as camera:
                    door.open |= {camera, self.request}
                    back = threading.Thread(target=door.pump, args=(camera, self.request))
                    back.start()
                    door.pump(self.request, camera)
                    back.join()
                    door.open -= {camera, self.request}
                door.inside -= 1

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False
        self.url = f"rtsp://127.0.0.1:{self.server.server_address[1]}/{parts[2]}"

    @staticmethod
    def pump(source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Cuts off all who are inside."""
        for end in list(self.open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def door_before(url, places=1):
    door = Door(url, places)
    serving = threading.Thread(target=door.server.serve_forever, args=(0.02,))
    serving.start()
    try:
        yield door
    finally:
        door.server.shutdown()
        serving.join()
        door.cut()
        door.server.server_close()


# The device is in its room


def test_a_device_that_is_in_its_room_is_ok_and_its_camera_is_left_alone(client, imported):
    """While the service plays the camera it is not dialled, and the stage says why."""
    with door_before(imported.user_address, places=9) as door:
        ck.import_device(client, imported.room_id, "cam-2", "Yard", door.url, **LOGIN)
        knocks = len(door.knocks)
        report = ck.diagnose_device(client, imported.room_id, "cam-2")
        assert len(door.knocks) == knocks
    assert (report.ok, report.verdict) == (True, "ok")
    assert outcomes(report)["camera"] == "skipped"
    assert "one connection" in report.stages[-1].detail
    assert "'cam-2'" in report.subject
    assert failed(report) == []
    assert "the service lists it" in report.cause
    assert "force=True (--force)" in report.advice


def test_force_tries_the_camera_all_the_same(client, imported):
    """With force the camera is tried beside the service, its own stages follow, each stage has a
    name of its own, and nothing is left to be tried."""
    report = ck.diagnose_device(client, imported.room_id, "cam", force=True)
    assert (report.ok, report.verdict) == (True, "ok")
    assert "is in room" in report.cause
    names = [stage.name for stage in report.stages]
    assert names[:5] == ["room", "device", "users", "listed address", "address"]
    assert names[-1] == "picture"
    assert len(set(names)) == len(names)
    assert "--force" not in report.advice


def test_a_camera_that_the_service_holds_is_busy_and_not_broken(client, room_id, camera):
    """With force, a camera with one connection that closes the second is "busy", held by the
    service, which keeps its stream."""
    with door_before(camera) as door:
        ck.import_device(client, room_id, "cam", "Door", door.url, **LOGIN)
        report = ck.diagnose_device(client, room_id, "cam", force=True)
        assert (report.ok, report.verdict) == (False, "busy")
        assert "The service holds the camera" in report.cause
        assert failed(report) == [report.stages[-1].name]
        assert ck.diagnose_device(client, room_id, "cam").ok


def test_force_shows_what_else_is_wrong_with_a_camera(client, imported):
    """With force, another failure from here keeps its own verdict."""
    report = ck.diagnose_device(
        client, imported.room_id, "cam", login_name="admin", login_password="wrong", force=True
    )
    assert (report.ok, report.verdict) == (False, "auth_rejected")


def test_a_device_may_be_named_by_its_address_alone(client, imported):
    """An address finds the device in B3, with a login in it or the host in capitals, too."""
    inside = imported.user_address.replace("rtsp://", "rtsp://admin:x@")
    named = imported.user_address.replace("127.0.0.1", "localhost")
    ck.import_device(client, imported.room_id, "cam-2", "Door", named, **LOGIN)
    known = {imported.user_address: "cam", inside: "cam", named: "cam-2",
             named.replace("localhost", "LOCALHOST"): "cam-2"}  # fmt: skip
    for address, user_id in known.items():
        report = ck.diagnose_device(client, imported.room_id, user_address=address)
        assert report.verdict == "ok"
        assert f"device '{user_id}'" in report.subject


def test_a_device_in_a_locked_or_full_room_is_ok(sandbox, client, imported):
    """A lock and a full room keep others out, not the device that is in it."""
    for name in "abc":
        sandbox.join(imported.room_id, name)
    sandbox.lock(imported.room_id)
    assert ck.diagnose_device(client, imported.room_id, "cam").verdict == "ok"


def test_a_room_may_be_named_by_the_id_of_its_application(script):
    """A room_extend_id finds the room: its lists are asked for by its own ID, and a B3 that answers
    with the devices of all rooms is no matter."""
    far = {"roomId": "2", "userId": "cam", "userAddress": "rtsp://192.0.2.8/x"}
    near = {**far, "roomId": "1047", "userAddress": "rtsp://192.0.2.7/x"}
    service = script({
        A3.path: {"ret": 0, "room_id": "1047", "room_extend_id": "mine"},
        A6.path: lambda asked: {"ret": 0, "user_list": [{"user_id": "cam"}]}
        if asked["room_id"] == "1047" else {"ret": 404},
        B3.path: {"ret": 0, "data": {"items": [far, near]}},
    })  # fmt: skip
    report = ck.diagnose_device(service.client(), "mine", "cam", "rtsp://192.0.2.7/x")
    assert report.verdict == "ok"
    assert "in room '1047'" in report.subject


# The room


def test_no_such_room(client, room_id):
    """A room that the service does not have is told with the service's name, and nothing else is
    asked."""
    report = ck.diagnose_device(client, "0", "cam")
    assert (report.verdict, failed(report), len(report.stages)) == ("room_not_found", ["room"], 1)
    assert "SANDBOX has no room '0'" in report.cause


def test_a_closed_room(sandbox, client, imported):
    """A closed room is the verdict, whatever the camera does."""
    sandbox.close_room(imported.room_id)
    report = ck.diagnose_device(client, imported.room_id, "cam", imported.user_address)
    assert (report.verdict, failed(report)) == ("room_closed", ["room"])
    assert report.stages[0].detail == "closed"


def test_a_locked_room(sandbox, client, room_id, camera):
    """A device that is not in a locked room is kept out by the lock."""
    sandbox.lock(room_id)
    report = ck.diagnose_device(client, room_id, "cam", camera, **LOGIN)
    assert (report.verdict, failed(report)) == ("room_locked", ["room"])


@pytest.mark.parametrize(
    ("cap", "sure"),
    [("attendee_max", "."), ("max_video", ", if each of them sends video (assumed).")],
)
def test_a_full_room(sandbox, client, room_id, camera, cap, sure):
    """A room whose cap is reached is full, and the cap is named; max_audio keeps no device out, and
    that people have taken the video streams is said to be assumed."""
    full = ck.create_room(client, "t", "ops", max_audio=1, **{cap: 1})
    sandbox.join(full, "Ada")
    report = ck.diagnose_device(client, full, "cam", camera)
    assert (report.verdict, failed(report)) == ("room_full", ["users"])
    assert f"it holds 1 of 1 (people and devices) by its {cap}{sure}" in report.cause
    assert cap in report.advice


def test_a_room_that_is_full_of_devices_that_are_away(sandbox, client, gone):
    """The place of a listed device is kept while it is away, so it counts; not for itself."""
    for name in "abc":
        sandbox.join(gone.room_id, name)
    other = sandbox.camera("other", **SMALL)
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, gone.room_id, "new", "Door", other)
    report = ck.diagnose_device(client, gone.room_id, "new", other)
    assert report.verdict == "room_full"
    assert ck.diagnose_device(client, gone.room_id, "cam").verdict == "path_not_found"


# What B3 lists, and what it does not


def test_a_listed_device_whose_camera_is_gone_gets_the_cameras_verdict(client, gone):
    """A device that is listed and away is judged by its camera, with the login of B3."""
    report = ck.diagnose_device(client, gone.room_id, "cam")
    assert (report.ok, report.verdict) == (False, "path_not_found")
    assert report.advice.startswith(OF_CAMERAS["path_not_found"].advice)
    assert "whether the camera was replaced or reset" in report.advice
    assert "dials again by itself" in report.advice
    assert failed(report) == ["DESCRIBE"]
    assert outcomes(report)["users"] == "skipped"
    assert [s.detail for s in report.stages if s.name == "users"] == [
        "0 in the room; not among them: 'cam'"
    ]


def test_a_listed_device_in_a_locked_room_gets_the_cameras_verdict_first(sandbox, client, gone):
    """A camera that is broken is mended first; when it plays, the lock is what keeps it out."""
    sandbox.lock(gone.room_id)
    assert ck.diagnose_device(client, gone.room_id, "cam").verdict == "path_not_found"


def test_a_camera_whose_password_was_changed(sandbox, client, gone):
    """The login that the service has is tried, not another, and the camera refuses it; as the
    service goes on trying, the device is to be taken out."""
    sandbox.camera("door", login_name="admin", login_password="new", **SMALL)
    report = ck.diagnose_device(client, gone.room_id, "cam")
    assert report.verdict == "auth_rejected"
    assert f"take the device out first with ck.remove_device(client, '{gone.room_id}', 'cam')" in (
        report.advice
    )
    other = ck.diagnose_device(
        client, gone.room_id, "cam", login_name="admin", login_password="wrong"
    )
    assert (other.verdict, other.advice) == ("auth_rejected", OF_CAMERAS["auth_rejected"].advice)


@pytest.mark.parametrize(("change", "verdict", "told"), [
    (LOGIN, "auth_required", "has no login for it: take the device out with ck.remove_device("),
    ({"fault": "busy"}, "busy", "The service dials again by itself when the camera is back."),
])  # fmt: skip
def test_what_follows_for_the_service_that_goes_on_dialling(
    sandbox, client, room_id, change, verdict, told
):
    """A listed camera that has changed: the advice says what the service does meanwhile."""
    url = sandbox.camera("yard", **SMALL)
    ck.import_device(client, room_id, "cam", "Yard", url)
    sandbox.unplug(url)
    until(lambda: ck.get_room_users(client, room_id) == [])
    sandbox.camera("yard", **change, **SMALL)
    report = ck.diagnose_device(client, room_id, "cam")
    assert report.verdict == verdict
    assert told in report.advice


@pytest.mark.parametrize("where", ["fields", "address"])
def test_a_login_that_the_service_does_not_have(sandbox, client, gone, where):
    """The camera plays with the login that is given here, and the service has an older one: what is
    to be done is to import the device with this one."""
    sandbox.camera("door", login_name="admin", login_password="new-one", **SMALL)
    login, address = {"login_name": "admin", "login_password": "new-one"}, None
    if where == "address":
        login, address = {}, gone.user_address.replace("//", "//admin:new-one@")
    report = ck.diagnose_device(client, gone.room_id, "cam", address, **login)
    assert (report.ok, report.verdict) == (False, "login_differs")
    assert failed(report) == ["users"]
    assert f"ck.remove_device(client, '{gone.room_id}', 'cam'), then ck.import_device(" in (
        report.advice
    )
    assert "'Door'" in report.advice
    assert "new-one" not in f"{report!r}{report}"


def test_the_login_that_is_given_stands_against_one_in_the_listed_address(
    sandbox, client, room_id, camera
):
    """An old login inside the address that was imported is no conflict with the one given here."""
    inside = camera.replace("//", "//admin:geheim%4077%3A%2F%23%25@")
    ck.import_device(client, room_id, "cam", "Door", inside)
    sandbox.unplug(camera)
    until(lambda: ck.get_room_users(client, room_id) == [])
    sandbox.camera("door", login_name="admin", login_password="new-one", **SMALL)
    report = ck.diagnose_device(
        client, room_id, "cam", login_name="admin", login_password="new-one"
    )
    assert report.verdict == "login_differs"


def test_a_login_that_the_camera_does_not_ask_for_explains_nothing(sandbox, client, room_id):
    """Without a login at the camera it is no matter that the service has another one."""
    with away(client, room_id, sandbox.camera(**SMALL)):
        report = ck.diagnose_device(client, room_id, "cam", **LOGIN)
    assert report.verdict == "service_cannot_reach"


@contextmanager
def away(client, room_id, url, **login):
    """A device that is listed and, as the service says, not in its room, although its camera
    plays."""
    with door_before(url, places=9) as door:
        ck.import_device(client, room_id, "cam", "Door", door.url, **login)
        client.sandbox.fault(A6.path, body='{"ret": 0, "user_list": []}')
        yield door


def test_a_camera_that_plays_here_and_not_in_the_room(client, camera):
    """Listed, away, and it plays from here: the service cannot reach it, and the line to run on
    the service's own host is printed, without a password. The place that is kept for it in a small
    room does not make the room full."""
    room_id = ck.create_room(client, "t", "ops", attendee_max=1)
    with away(client, room_id, camera, **LOGIN) as door:
        report = ck.diagnose_device(client, room_id, "cam")
        line = f"confkit preflight {door.url} --login-name admin"
    assert (report.ok, report.verdict) == (False, "service_cannot_reach")
    assert failed(report) == ["users"]
    assert report.advice.endswith(line)
    assert PASSWORD not in report.advice


def test_a_lock_may_keep_out_what_was_in_the_room(sandbox, client, room_id, camera):
    """Listed, away, it plays from here, and the room is locked: the lock is the cause."""
    with away(client, room_id, camera, **LOGIN):
        sandbox.lock(room_id)
        assert ck.diagnose_device(client, room_id, "cam").verdict == "room_locked"


def test_a_device_that_was_never_imported(client, room_id):
    """Without an address there is nothing to try; the next step is to say which camera it is, and
    what was not found has no tick."""
    report = ck.diagnose_device(client, room_id, "cam")
    assert (report.verdict, failed(report)) == ("not_imported", ["device"])
    assert f"ck.diagnose_device(client, '{room_id}', 'cam', 'rtsp://...'" in report.advice
    assert outcomes(report)["camera"] == outcomes(report)["users"] == "skipped"
    assert report.stages[0].detail == "open (the service says 'scheduled')"


def test_a_camera_that_plays_and_was_never_imported(client, room_id, camera):
    """It plays from here, so the next step is the import, and what 426 and 427 mean then."""
    report = ck.diagnose_device(client, room_id, "cam", camera, **LOGIN)
    assert (report.ok, report.verdict) == (False, "not_imported")
    assert f"'{camera}', login_name='admin', login_password=ck.ask_secret()" in report.advice
    assert "426 or 427" in report.advice
    assert report.advice.endswith(f"confkit preflight {camera} --login-name admin")
    assert outcomes(report)["picture"] == "ok"


def test_a_camera_that_does_not_play_and_was_never_imported(client, room_id, camera):
    """The camera's own verdict, since an import would fail by it."""
    assert ck.diagnose_device(client, room_id, "cam", camera).verdict == "auth_required"
    nowhere = ck.diagnose_device(client, room_id, user_address=camera + "/none", **LOGIN)
    assert nowhere.verdict == "path_not_found"
    assert camera in nowhere.subject


@pytest.mark.parametrize(
    "fault", ["not_rtsp", "closes_at_once", "locked", "no_video", "busy", "dropped", "moved"]
)
def test_each_verdict_of_a_camera_is_told_as_it_is(sandbox, client, room_id, fault):
    """A camera that cannot be imported as it is keeps its verdict, its cause and its advice."""
    url = sandbox.camera(fault=ZOO[fault], **SMALL)
    report = ck.diagnose_device(client, room_id, "cam", url)
    verdict = ZOO[fault].verdict
    assert (report.ok, report.verdict) == (False, verdict)
    assert not OURS & set(failed(report))
    assert report.advice == ck.preflight(url).advice


def test_an_address_that_is_none(client, room_id):
    """What is no RTSP address is the camera's verdict too, not an exception."""
    assert ck.diagnose_device(client, room_id, "cam", "192.0.2.7/x").verdict == "url_malformed"


def test_sip_and_h323_are_not_tried(tmp_path):
    """Only rtsp and rtsps can be tried: for others the camera's stage says that it was left out."""
    path = tmp_path / "rooms.sqlite"
    with Sandbox(seed=1, path=path) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "t", "ops")
        ck.import_device(client, room_id, "cam", "Door", sandbox.camera(**SMALL))
    with sqlite3.connect(path) as file:
        file.execute("UPDATE devices SET user_address = 'sip:' || '//192.0.2.7:5060/door'")
    file.close()
    with Sandbox(seed=1, path=path) as sandbox, sandbox.connect() as client:
        for user_id, verdict in (("cam", "not_joined"), ("new", "not_imported")):
            address = None if user_id == "cam" else "h323://192.0.2.8/yard"
            report = ck.diagnose_device(client, room_id, user_id, address)
            assert report.verdict == verdict
            assert outcomes(report)["camera"] == "skipped"
            assert "only rtsp and rtsps" in report.stages[-1].detail


# Addresses, strays, duplicates


def test_another_address_than_the_one_imported(client, imported):
    """The address that was meant and the one that is listed differ: both are shown."""
    meant = "rtsp://admin:hidden@192.0.2.7/door"
    report = ck.diagnose_device(client, imported.room_id, "cam", meant)
    assert (report.verdict, failed(report)) == ("address_differs", ["listed address"])
    assert imported.user_address in report.cause
    assert "rtsp://192.0.2.7:554/door" in report.cause
    assert "hidden" not in repr(report)


def test_the_same_address_under_another_id(client, imported):
    """The camera is in the room as another device: an import would answer 423."""
    report = ck.diagnose_device(client, imported.room_id, "new", imported.user_address)
    assert (report.verdict, failed(report)) == ("duplicate_address", ["device"])
    assert "as device 'cam'" in report.cause
    with pytest.raises(ck.UserExists):
        ck.import_device(client, imported.room_id, "new", "Door", imported.user_address, **LOGIN)


def test_a_person_with_the_devices_id(sandbox, client, room_id, camera):
    """A person of the room has the ID: an import would answer 423."""
    sandbox.join(room_id, "Ada", user_id="cam")
    report = ck.diagnose_device(client, room_id, "cam", camera, **LOGIN)
    assert (report.verdict, failed(report)) == ("user_id_taken", ["users"])
    with pytest.raises(ck.UserExists):
        ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)


@pytest.mark.parametrize("with_address", [True, False])
def test_a_device_that_is_in_another_room(client, imported, with_address):
    """It was imported into another room, which is named."""
    wrong = ck.create_room(client, "t", "ops")
    address = imported.user_address if with_address else None
    report = ck.diagnose_device(client, wrong, "cam", address)
    assert (report.verdict, failed(report)) == ("in_another_room", ["elsewhere"])
    assert f"in room '{imported.room_id}', as 'cam'" in report.cause
    assert f"ck.remove_device(client, '{imported.room_id}', 'cam')" in report.advice


@pytest.mark.parametrize("user_id", ["new", None])
def test_a_camera_may_be_in_two_rooms(client, imported, user_id):
    """That the address is in another room, under another ID, is a notice; the way goes on to the
    camera, and ends with the import, which works."""
    other = ck.create_room(client, "t", "ops")
    report = ck.diagnose_device(client, other, user_id, imported.user_address, **LOGIN)
    assert (report.verdict, report.width) == ("not_imported", 128)
    notices = {notice.key: notice.text for notice in report.warnings}
    assert f"in room '{imported.room_id}' as device 'cam'" in notices["elsewhere"]
    ck.import_device(client, other, "new", "Door", imported.user_address, **LOGIN)


def test_an_id_that_another_camera_has_elsewhere(sandbox, client, imported):
    """The ID belongs to another device of another room: an import answers 423, in a full or locked
    room too, and its text leads to that room."""
    full = ck.create_room(client, "t", "ops", attendee_max=1)
    sandbox.join(full, "Ada")
    locked = ck.create_room(client, "t", "ops")
    sandbox.lock(locked)
    other = sandbox.camera("other", **SMALL)
    for room_id in (ck.create_room(client, "t", "ops"), full, locked):
        report = ck.diagnose_device(client, room_id, "cam", other)
        assert (report.verdict, failed(report)) == ("user_id_elsewhere", ["elsewhere"])
        assert f"{imported.user_address} in room '{imported.room_id}'" in report.cause
        assert f"ck.remove_device(client, '{imported.room_id}', 'cam')" in report.advice
        with pytest.raises(ck.UserExists, match=r"list_devices\(client\), which lists all rooms"):
            ck.import_device(client, room_id, "cam", "Door", other)


def test_other_rooms_that_cannot_be_read_stop_nothing(sandbox, client, room_id):
    """When B3 of all rooms fails, that is said, and the rest is found out all the same."""
    sandbox.fault(B3.path, delay=0.0, times=1)
    sandbox.fault(B3.path, ret=304)
    report = ck.diagnose_device(client, room_id, "cam")
    assert report.verdict == "not_imported"
    assert outcomes(report)["elsewhere"] == "skipped"


def test_a_camera_that_another_room_holds(client, room_id, camera):
    """Imported into two rooms, with one connection: the other room is told as what holds it."""
    other = ck.create_room(client, "t", "ops")
    with away(client, room_id, camera, **LOGIN) as door:
        ck.import_device(client, other, "cam-2", "Door", door.url, **LOGIN)
        door.places = 1
        report = ck.diagnose_device(client, room_id, "cam")
    assert report.verdict == "rtsp_silent"
    assert f"in room '{other}' as device 'cam-2', which may take its only place" in report.cause
    assert "elsewhere" in [notice.key for notice in report.warnings]


def test_devices_of_one_name_in_many_rooms_are_not_taken_for_one(sandbox, client, room_id):
    """A listed device is looked for in other rooms by its address, as IDs may come again."""
    item = {"roomId": room_id, "userId": "cam", "userAddress": sandbox.camera(**SMALL)}
    other = {"roomId": "other", "userId": "cam", "userAddress": "rtsp://192.0.2.7/x"}
    lists = [{"ret": 0, "data": {"items": items}} for items in ([item], [item, other])]
    for answer in lists:
        sandbox.fault(B3.path, body=json.dumps(answer), times=1)
    report = ck.diagnose_device(client, room_id, "cam")
    assert report.verdict == "service_cannot_reach"
    assert "elsewhere" not in [notice.key for notice in report.warnings]


# Everything in the room


def test_all_devices_of_a_room(sandbox, client, imported):
    """Without a name all devices are looked at: the first with a problem, and how many have one."""
    room_id = imported.room_id
    assert ck.diagnose_device(client, room_id).cause.startswith("Its device is in room")
    urls = [sandbox.camera(name, **SMALL) for name in ("b", "c")]
    for user_id, url in zip(("cam-b", "cam-c"), urls, strict=True):
        ck.import_device(client, room_id, user_id, "Door", url)
    report = ck.diagnose_device(client, room_id)
    assert (report.ok, report.verdict) == (True, "ok")
    assert report.cause.startswith("Each of its 3 devices is in room")
    forced = ck.diagnose_device(client, room_id, force=True)
    assert (forced.ok, outcomes(forced)["picture"]) == (True, "ok")
    for url in urls:
        sandbox.unplug(url)
    until(lambda: len(ck.get_room_users(client, room_id)) == 1)
    report = ck.diagnose_device(client, room_id)
    assert report.verdict == "path_not_found"
    assert report.cause.startswith("2 of the room's 3 devices are not in it; the first is 'cam-b'")
    assert "'cam-b'" in report.subject


def test_a_room_without_devices(client, room_id):
    """A room into which nothing was imported says so."""
    report = ck.diagnose_device(client, room_id)
    assert report.verdict == "not_imported"
    assert "does not list any device" in report.cause
    assert outcomes(report)["users"] == "ok"


# The service itself


def test_no_media_server_or_licence(sandbox, client, room_id, camera):
    """A camera that plays and a room that is open, but nothing takes anybody up: A5 says why."""
    sandbox.licence(seats=0)
    report = ck.diagnose_device(client, room_id, "cam", camera, **LOGIN)
    assert (report.verdict, failed(report)) == ("service_error", ["media server"])
    assert "411" in report.cause
    sandbox.stop_mcu()
    assert "410" in ck.diagnose_device(client, room_id, "cam", camera, **LOGIN).cause
    assert ck.diagnose_device(client, room_id, "cam", camera).verdict == "auth_required"


def test_a_media_server_that_cannot_be_asked_for_stops_nothing(sandbox, client, room_id):
    """Another error of A5 says nothing about the device, so the rest is found out all the same."""
    sandbox.fault(A5.path, ret=504)
    report = ck.diagnose_device(client, room_id, "cam")
    assert report.verdict == "not_imported"
    assert outcomes(report)["media server"] == "skipped"


@pytest.mark.parametrize(("endpoint", "stage"), [(A3, "room"), (B3, "device"), (A6, "users")])
@pytest.mark.parametrize("how", [{"ret": 805}, {"drop": True}, {"body": "<html>"}])
def test_a_service_that_fails_is_never_an_empty_room(
    sandbox, client, imported, endpoint, stage, how
):
    """An error of the service is the verdict, at its stage, with its own text and next step."""
    sandbox.fault(endpoint.path, **how)
    report = ck.diagnose_device(client, imported.room_id, "cam")
    assert (report.ok, report.verdict, failed(report)) == (False, "service_error", [stage])
    assert report.stages[-1].name == stage
    assert endpoint.key in report.cause or "127.0.0.1" in report.cause
    assert len(report.advice) > 20


def test_a_service_that_is_off(script):
    """No answer at all is a report too, whose next step is that of the error."""
    client = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "s", sleep=lambda _: None)
    report = ck.diagnose_device(client, "1", "cam")
    assert report.verdict == "service_error"
    assert report.cause.startswith("The service could not be asked: http://127.0.0.1:9/")
    assert report.cause.endswith("it refused the connection.")
    assert report.advice.startswith("Check that the service runs, ")


def test_an_error_of_one_sentence_has_a_cause_and_a_next_step(sandbox, room_id):
    """Where an error does not say its next step in a sentence of its own, a report has both."""
    client = sandbox.connect()
    lent = client.lent()
    sandbox.advance(4000)  # its token expires, and it makes no other
    report = ck.diagnose_device(lent, room_id)
    assert report.verdict == "service_error"
    assert report.cause == "The access token was refused, and this copy makes no other."
    assert report.advice == "Correct that, then diagnose it again."
    client.close()
    report = ck.diagnose_device(client, room_id)
    assert report.verdict == "service_error"
    assert (report.cause, report.advice) == ("This client is closed.", "Connect again.")


@pytest.mark.parametrize("wrong", [
    ("", "cam"), (None, "cam"), ("1", ""), ("1", "cam", "rtsp://u:***@192.0.2.7/x"),
    ("1", "cam", ...), ("1", "cam", ""),
])  # fmt: skip
def test_a_wrong_argument_is_raised(client, wrong):
    """What can name no room and no device is the caller's mistake, not a finding."""
    with pytest.raises(ck.ParameterError):
        ck.diagnose_device(client, *wrong)


# The preflight with what B3 holds


def test_preflight_device_takes_address_and_login_from_b3(client, imported):
    """Nobody types a password: the camera opens with what the service has."""
    report = ck.preflight_device(client, imported.room_id, "cam", timeout=10)
    assert report.ok
    with pytest.raises(ck.UserNotFound, match="lists no external user 'new'"):
        ck.preflight_device(client, imported.room_id, "new")


def test_a_password_that_came_as_a_number(sandbox, script):
    """A service that gives a password back as a number opens the camera all the same."""
    url = sandbox.camera(login_name="admin", login_password="4711", **SMALL)
    item = {"roomId": "1", "userId": "cam", "userAddress": url,
            "options": {"login_name": "admin", "login_password": 4711}}  # fmt: skip
    service = script({B3.path: {"ret": 0, "data": {"total": 1, "items": [item]}}})
    assert ck.preflight_device(service.client(), "1", "cam").ok


@pytest.mark.parametrize(
    ("login", "verdict"),
    [
        ({"login_name": "admin", "login_password": 2468.5}, "service_cannot_reach"),
        ({"login_name": 7.5, "login_password": 2468.5}, "auth_rejected"),
        ({"login_name": "admin", "login_password": {"hash": ["2468.5", 2468.5]}}, "auth_rejected"),
        ({"login_name": ["admin"], "login_password": ["2468.5"]}, "auth_required"),
        ({"login_name": True, "login_password": False}, "auth_required"),
        ({"login_name": None, "login_password": None, "assist_address": 2.5}, "auth_required"),
    ],
)
def test_a_login_of_any_type_in_the_list_ends_no_diagnosis_and_no_import(
    sandbox, script, login, verdict
):
    """A login that B3 gives as something else than text is used where it is a number, counts as
    none otherwise, and is shown nowhere."""
    url = sandbox.camera(login_name="admin", login_password="2468.5", **SMALL)
    item = {"roomId": "1", "userId": "cam", "userAddress": url, "options": login}
    service = script({
        A3.path: {"ret": 0, "room_id": "1", "room_status": 1},
        A5.path: {"ret": 0, "addr": "127.0.0.1:1"},
        A6.path: {"ret": 0, "user_list": []},
        B1.path: {"ret": 426, "err": f"no login {json.dumps(login['login_password'])}"},
        B3.path: {"ret": 0, "data": {"total": 1, "items": [item]}},
    })  # fmt: skip
    client = service.client()
    report = ck.diagnose_device(client, "1", "cam")
    assert report.verdict == verdict
    [listed] = ck.list_devices(client, "1")
    with pytest.raises(ck.JoinFailed) as raised:
        ck.import_device(client, listed, user_name="Door")
    item["userAddress"] = "rtsp://192.0.2.7/elsewhere"
    row = {"room_id": "1", "user_id": "cam", "user_name": "Door", "user_address": url,
           "login_name": "admin", "login_password": "2468.5"}  # fmt: skip
    result = ck.import_devices(client, pd.DataFrame([row]))
    assert list(result.outcome) == ["refused"]
    assert list(result.verdict) == ["address_differs"]
    said = [report, listed, listed.login_password, raised.value, client.calls]
    shown = f"{said!r} {report} {result.to_csv()}"
    assert "2468.5" not in shown
    assert "'login_password': False" not in shown
    # A word of the language is no secret.
    assert ("no login false" in str(raised.value)) == (login["login_password"] is False)


# Importing with a preflight, and looking afterwards


def test_an_import_with_preflight_and_verification(sandbox, client, room_id, camera):
    """A camera that plays is imported, and seen in B3 and A6."""
    device = ck.import_device(
        client, room_id, "cam", "Door", camera, preflight=True, verify=True, **LOGIN
    )
    assert device.user_id == "cam"
    assert sandbox.count(A6.path) == 1


def test_a_camera_that_does_not_play_is_not_sent_to_the_service(sandbox, client, room_id, camera):
    """PreflightFailed carries the report, and says that nothing was sent."""
    with pytest.raises(ck.PreflightFailed, match="nothing was sent") as raised:
        ck.import_device(client, room_id, "cam", "Door", camera, preflight=True)
    error = raised.value
    assert error.report.verdict == "auth_required"
    assert error.report.cause in str(error)
    assert error.report.advice in str(error)
    assert sandbox.count(B1.path) == 0


def test_sip_is_imported_without_a_preflight(sandbox, client, room_id):
    """What cannot be tried from here is left to the service."""
    with pytest.raises(ck.JoinFailed) as raised:
        ck.import_device(client, room_id, "cam", "Door", "sip://192.0.2.7/x", preflight=True)
    assert sandbox.count(B1.path) == 1
    assert raised.value.report is None


@pytest.mark.parametrize("ret", [426, 427])
def test_a_refusal_after_a_passed_preflight(sandbox, client, room_id, camera, ret):
    """The camera plays from here and nothing else is in the way: the service cannot reach it."""
    sandbox.fault(B1.path, ret=ret, times=1)
    with pytest.raises((ck.JoinFailed, ck.ServiceTimeout)) as raised:
        ck.import_device(client, room_id, "cam", "Door", camera, preflight=True, **LOGIN)
    error = raised.value
    assert (error.ret, error.report.verdict) == (ret, "service_cannot_reach")
    line = f"confkit preflight {camera} --login-name admin"
    assert line in str(error)
    assert line in error.advice
    assert PASSWORD not in str(error)


def test_a_time_out_after_which_the_device_is_there(sandbox, client, room_id, camera):
    """427, and the device has joined after all: it is imported."""
    sandbox.fault(B1.path, ret=427, after=True, times=1)
    device = ck.import_device(client, room_id, "cam", "Door", camera, preflight=True, **LOGIN)
    assert device in ck.list_devices(client)


def test_another_failure_of_the_service_is_not_the_cameras(sandbox, client, room_id, camera):
    """310 says that the service hangs: there is nothing to find out about room and camera."""
    sandbox.fault(B1.path, ret=310, times=1)
    with pytest.raises(ck.ServiceTimeout) as raised:
        ck.import_device(client, room_id, "cam", "Door", camera, preflight=True, **LOGIN)
    assert raised.value.report is None


def test_a_refusal_that_the_room_explains(sandbox, client, room_id, camera):
    """A passed preflight and a locked room: the lock is the verdict, not the service's network."""
    sandbox.lock(room_id)
    with pytest.raises(ck.JoinFailed, match="room_locked") as raised:
        ck.import_device(client, room_id, "cam", "Door", camera, preflight=True, **LOGIN)
    assert raised.value.report.verdict == "room_locked"


def test_a_camera_in_two_rooms_does_not_explain_a_refusal(sandbox, client, imported):
    """A camera may be in two rooms: that it is in another one is a warning, not the verdict."""
    other = ck.create_room(client, "t", "ops")
    sandbox.fault(B1.path, ret=426, times=1)
    with pytest.raises(ck.JoinFailed) as raised:
        ck.import_device(
            client, other, "cam-2", "Door", imported.user_address, preflight=True, **LOGIN
        )
    assert raised.value.report.verdict == "service_cannot_reach"


def test_a_report_that_is_there_counts_as_the_preflight(sandbox, client, room_id, camera):
    """The camera is not dialled again, and a refusal is explained as after a preflight."""
    with door_before(camera, places=2) as door:
        report = ck.preflight(door.url, **LOGIN)
        sandbox.fault(B1.path, ret=426, times=1)
        with pytest.raises(ck.JoinFailed) as raised:
            ck.import_device(client, room_id, "cam", "Door", door.url, preflight=report, **LOGIN)
        assert raised.value.report.verdict == "service_cannot_reach"
        assert raised.value.report.snapshot == report.snapshot
        assert len(door.knocks) == 1
        ck.import_device(client, room_id, "cam", "Door", door.url, preflight=report, **LOGIN)
        assert len(door.knocks) == 2  # the service's own


def test_a_report_counts_only_for_its_own_camera(sandbox, client, room_id, camera):
    """One that did not pass is PreflightFailed, one of another address a ParameterError; the login
    in an address makes it no other. Nothing is sent of either."""
    failed, passed = ck.preflight(camera), ck.preflight(camera, **LOGIN)
    with pytest.raises(ck.PreflightFailed, match="auth_required"):
        ck.import_device(client, room_id, "cam", "Door", camera, preflight=failed, **LOGIN)
    with pytest.raises(ck.ParameterError, match=r"The report is of rtsp.* is at rtsp.*/other"):
        other = camera.rpartition("/")[0] + "/other"
        ck.import_device(client, room_id, "cam", "Door", other, preflight=passed, **LOGIN)
    assert sandbox.count(B1.path) == 0
    address = camera.replace("://", "://admin:geheim%4077%3A%2F%23%25@")
    ck.import_device(client, room_id, "cam", "Door", address, preflight=passed)
    assert sandbox.count(B1.path) == 1


@pytest.mark.parametrize("ret", [426, 427])
def test_a_refusal_without_a_preflight_says_how_to_go_on(sandbox, client, room_id, camera, ret):
    """426 and 427 name the diagnosis of this very device, as a line that runs."""
    sandbox.fault(B1.path, ret=ret, times=1)
    with pytest.raises((ck.JoinFailed, ck.ServiceTimeout)) as one:
        ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    assert one.value.report is None
    call = one.value.advice.partition("To learn which: ")[2]
    assert str(one.value).endswith(call)
    known = {"ck": ck, "client": client}
    report = eval(call.replace("ck.ask_secret()", repr(str(PASSWORD))), known)
    assert report.verdict == "not_imported"
    assert PASSWORD not in str(one.value)
    assert "ck.diagnose_device" in ck.explain(ret, "B").advice


def test_an_import_that_does_not_show(sandbox, client, room_id, camera):
    """Answered 0 and not in B3: NotInRoom, with the device and the next step."""
    sandbox.fault(B1.path, body=json.dumps({"ret": 0, "data": {}}))
    with pytest.raises(
        ck.NotInRoom, match=r"does not list it \(B3\).*ck\.diagnose_device"
    ) as raised:
        ck.import_device(client, room_id, "cam", "Door", camera, verify=True, patience=0.1, **LOGIN)
    assert raised.value.device.user_id == "cam"


def test_an_import_that_does_not_join(sandbox, client, room_id, camera):
    """In B3 and not among the users: NotInRoom."""
    sandbox.fault(A6.path, body=json.dumps({"ret": 0, "user_list": []}))
    with pytest.raises(ck.NotInRoom, match="not among the room's users"):
        ck.import_device(client, room_id, "cam", "Door", camera, verify=True, patience=0.1, **LOGIN)


def test_an_import_that_cannot_be_verified(sandbox, client, room_id, camera):
    """When the lists cannot be read, that is said; the import itself was answered with 0."""
    sandbox.fault(B3.path, ret=304)
    with pytest.raises(ck.NotInRoom, match="could not be read") as raised:
        ck.import_device(client, room_id, "cam", "Door", camera, verify=True, patience=0.1, **LOGIN)
    assert raised.value.device.room_id == room_id


def test_verification_waits_for_a_service_that_takes_a_moment(sandbox, client, room_id, camera):
    """A device that shows after a while is there."""
    sandbox.fault(A6.path, body=json.dumps({"ret": 0, "user_list": []}), times=2)
    ck.import_device(client, room_id, "cam", "Door", camera, verify=True, **LOGIN)
    assert sandbox.count(A6.path) == 3


# What is told


def test_no_password_shows_in_any_report(sandbox, client, room_id, camera):
    """Neither the login's password nor one inside an address is in text, repr, HTML or frame."""
    inside = camera.replace("rtsp://", "rtsp://admin:hidden%40pw@")
    reports = [
        ck.diagnose_device(client, room_id, "cam", inside),
        ck.diagnose_device(client, room_id, "cam", camera, **LOGIN),
        ck.diagnose_device(client, room_id, "cam", camera, login_name="x", login_password=PASSWORD),
    ]
    for report in reports:
        shown = f"{report!r} {report} {report.to_frame().to_json()} {report._repr_html_()}"
        shown += " ".join(notice.text for notice in report.warnings)
        for secret in (PASSWORD, "hidden"):
            assert secret not in shown


def test_the_line_to_run_is_quoted_for_a_shell(client, room_id, sandbox):
    """A path or a name with odd letters comes as one word each."""
    url = sandbox.camera("cam?channel=1&subtype=0", **SMALL)
    report = ck.diagnose_device(client, room_id, "cam", url, login_name="it's me; rm")
    words = shlex.split(report.advice.partition("own host: ")[2])
    assert words == ["confkit", "preflight", url, "--login-name", "it's me; rm"]


def test_every_verdict_has_its_sentences():
    """Each verdict of the diagnosis shows at a stage, and has a cause and a next step."""
    assert set(STAGES) == set(VERDICTS) - {"ok"}
    for cause, advice in VERDICTS.values():
        assert cause
        assert advice
