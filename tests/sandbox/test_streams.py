"""The streams that the sandbox holds: cameras that answer, die and come back."""

import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

import confkit as ck
from confkit.errors import ConfkitError
from confkit.sandbox.cameras.faults import FAULTS
from tests.rtsp.scripted import packets, playing, until, wanting
from tests.rtsp.scripted import scripted as scripted_camera

SMALL = {"size": (128, 96), "fps": 10}
PLAYS = playing(packets(b"\x41\1\2\3"))  # one packet, which is no keyframe, and then nothing


@pytest.fixture
def scripted():
    """Makes scripted cameras, which end after the sandbox whose fixture follows this one."""
    with ExitStack() as cameras:
        yield lambda script=PLAYS: cameras.enter_context(scripted_camera(script))


def test_a_snapshot_is_the_newest_keyframe(caller, sandbox):
    """While the stream is down there is none, and the error says why and what to do."""
    room_id, url = caller.room(), sandbox.camera("c", **SMALL)
    assert caller.add(room_id, url) == 0
    first = sandbox.snapshot(room_id, "cam")
    assert (first.codec, first.width, first.height) == ("h264", 128, 96)
    until(lambda: sandbox.snapshot(room_id, "cam").keyframe != first.keyframe)
    sandbox.unplug(url)
    until(lambda: sandbox.streams()[0].state != "live")
    assert sandbox.streams()[0].verdict
    until(lambda: sandbox.streams()[0].verdict == "path_not_found")
    with pytest.raises(ConfkitError, match=r"is down .*path_not_found: .*404.* Take the path"):
        sandbox.snapshot(room_id, "cam")


def test_a_stream_that_dies_comes_back(caller, sandbox):
    """A dead device leaves A6, stays in B3, keeps its place, and returns by itself, also into a
    room that has been locked."""
    room_id, url = caller.room(attendee_max=1), sandbox.camera("front", **SMALL)
    assert caller.add(room_id, url) == 0
    sandbox.unplug(url)
    until(lambda: caller.users(room_id) == [])
    assert (caller.devices(room_id), caller.status(room_id)) == (["cam"], 0)
    assert caller.add(room_id, sandbox.camera(**SMALL), "second") == 426
    sandbox.lock(room_id)
    assert sandbox.camera("front", **SMALL) == url
    until(lambda: caller.users(room_id) == ["cam"])
    assert sandbox.streams()[0].reconnects == 1


def test_the_code_follows_the_cause(make, caplog):
    """A camera that gives no answer in time is 427, others that do not play are 426; refusal and
    log show no password. A camera that sends packets is in the room."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    caller = make(dial_timeout=1.5)
    room_id, sandbox = caller.room(), caller.sandbox

    def add(name):
        login = {"login_name": "admin", "login_password": "hush77"}
        options = {} if name == "auth_required" else login
        url = sandbox.camera(fault=name, size=(128, 96), fps=4)
        return caller.add(room_id, url, name, options=options)

    with ThreadPoolExecutor(12) as pool:
        codes = dict(zip(FAULTS, pool.map(add, FAULTS), strict=True))
    late = ("connect_timeout", "rtsp_silent", "udp_blocked", "no_media")
    usual = dict.fromkeys(FAULTS, 426) | dict.fromkeys(("no_keyframe", "no_picture"), 0)
    assert codes == usual | dict.fromkeys(late, 427)
    refused = "".join(map(str, sandbox.refusals))
    assert "B1 427: the camera was not opened: no_media: " in refused
    assert "hush77" not in caplog.text + refused


def test_a_camera_that_falls_silent_is_hung_up_and_redialled(scripted, make, caplog):
    """Its death is logged with its verdict. A login that it does not accept any more is in no log,
    is sent once and then not for ten minutes, though the camera only hangs up."""
    caplog.set_level(logging.INFO, "confkit.sandbox")

    def script(request):
        if request.number == 1 or request.method != "DESCRIBE":
            return PLAYS(request)
        return wanting(lambda _: b"")(request)

    caller, camera = make(dial_timeout=0.3), scripted(script)
    assert caller.add(caller.room(), camera.url.replace("//", "//ada:hush77@")) == 0
    until(lambda: caller.sandbox.streams()[0].state == "waiting" and camera.connections > 1)
    assert "TEARDOWN" in camera.methods
    time.sleep(1.6)  # the next dial would have been 1 to 1.5 s after the refusal
    assert camera.logins == ["DESCRIBE"]
    assert "s: no_media" in caplog.text
    assert "hush77" not in caplog.text


def test_a_room_that_goes_while_its_camera_is_dialled(scripted, caller, sandbox):
    """B1 answers 426, the camera is hung up, and the room's successor gets no device."""
    room_id = caller.room(room_extend_id="e")

    def script(request):
        if request.method == "PLAY":
            with sandbox.connect() as client:
                ck.delete_room(client, room_id)
                ck.create_room(client, "Next", "ops", room_extend_id="e")
        return PLAYS(request)

    camera = scripted(script)
    assert caller.add(room_id, camera.url) == 426
    assert "while the camera was dialled" in sandbox.refusals[-1].why
    until(lambda: camera.open_connections == 0)
    assert caller.devices() == []


@pytest.mark.parametrize("key", ["B2", "A7", "A4"])
def test_a_device_that_goes_while_it_is_redialled(scripted, make, key):
    """Whatever removes a device during a dial answers at once and ends the dial."""
    caller, ended = make(dial_timeout=300), threading.Event()
    room_id = caller.room()
    camera = scripted(lambda r: PLAYS(r) if r.number == 1 else ended.wait(60) and b"")
    assert caller.add(room_id, camera.url) == 0
    camera.requests[0].connection.shutdown(socket.SHUT_RDWR)
    until(lambda: (camera.connections, camera.open_connections) == (2, 1))
    device = {"roomId": room_id, "userId": "cam", "userAddress": camera.url}
    assert caller.code(key, **device, room_id=room_id, user_id="cam") == 0
    assert caller.sandbox.streams() == caller.devices() == []
    until(lambda: "sandbox device" not in {each.name for each in threading.enumerate()})
    ended.set()
