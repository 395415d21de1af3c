"""The streams that the sandbox holds: cameras that answer, die and come back."""

import logging
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

import confkit as ck
from confkit.errors import ConfkitError, RoomNotFound, UserNotFound
from confkit.sandbox.cameras.faults import FAULTS
from confkit.sandbox.devices import DeviceStream
from tests.rtsp.scripted import DIGEST, packets, playing, reply
from tests.rtsp.scripted import scripted as scripted_camera

from .conftest import wait_until

SMALL = {"size": (128, 96), "fps": 10}
PLAYS = playing(packets(b"\x41\1\2\3"))  # one packet, which is no keyframe, and then nothing


@pytest.fixture
def scripted():
    """Makes scripted cameras, which end after the sandbox whose fixture follows this one."""
    with ExitStack() as cameras:
        yield lambda script=PLAYS: cameras.enter_context(scripted_camera(script))


def then(answer):
    """A script that plays, and whose DESCRIBE on later connections is answered so."""
    return lambda r: answer(r) if r.number > 1 and r.method == "DESCRIBE" else PLAYS(r)


def stream(caller, user_id="cam") -> DeviceStream:
    return next(each for each in caller.sandbox.streams() if each.user_id == user_id)


def test_a_snapshot_is_the_newest_keyframe(caller, sandbox):
    """While the stream is down there is none, and the error says why and what to do."""
    room_id, other, url = caller.room(), caller.room(), sandbox.camera("c", **SMALL)
    assert caller.add(room_id, url) == 0
    first = sandbox.snapshot(room_id, "cam")
    assert (first.codec, first.width, first.height) == ("h264", 128, 96)
    assert first._repr_png_().startswith(b"\x89PNG")
    wait_until(lambda: sandbox.snapshot(room_id, "cam").keyframe != first.keyframe)
    sandbox.join(room_id, "Ada", user_id="ada")
    for place, user_id, error in (
        ("none", "cam", RoomNotFound),
        (other, "cam", UserNotFound),
        (room_id, "ada", UserNotFound),
    ):
        with pytest.raises(error):
            sandbox.snapshot(place, user_id)
    assert [len(sandbox.streams(room)) for room in (room_id, other)] == [1, 0]
    sandbox.unplug(url)
    wait_until(lambda: stream(caller).verdict == "path_not_found")
    with pytest.raises(ConfkitError, match=r"is down .*path_not_found: .*404.* Take the path"):
        sandbox.snapshot(room_id, "cam")


def test_a_stream_that_dies_comes_back(caller, sandbox):
    """A dead device leaves A6, stays in B3, keeps its place, and returns by itself, also into a
    room that has been locked."""
    room_id, url = caller.room(attendee_max=1), sandbox.camera("front", **SMALL)
    for unknown in ("rtsp://127.0.0.1:1/none", None):
        with pytest.raises(ConfkitError, match="no camera"):
            sandbox.unplug(unknown)
    assert caller.add(room_id, url) == 0
    sandbox.unplug(url)
    wait_until(lambda: caller.users(room_id) == [])
    assert (caller.devices(room_id), caller.status(room_id)) == (["cam"], 0)
    assert caller.add(room_id, sandbox.camera(**SMALL), "second") == 426
    sandbox.lock(room_id)
    assert sandbox.camera("front", **SMALL) == url
    wait_until(lambda: caller.users(room_id) == ["cam"])


def test_the_code_follows_the_cause(make, caplog):
    """A camera that gives no answer in time is 427, others that do not play are 426; refusal and
    log name the verdict, and no password. A camera that sends packets is in the room."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    caller = make(dial_timeout=1.5)
    sandbox, room_id = caller.sandbox, caller.room()
    late = {"connect_timeout", "rtsp_silent", "udp_blocked", "no_media"}
    urls = {name: sandbox.camera(fault=name, size=(128, 96), fps=4) for name in FAULTS}

    def add(name):
        login = {"login_name": "admin", "login_password": "hush77"}
        options = {} if name == "auth_required" else login
        return caller.add(room_id, urls[name], name, options=options)

    with ThreadPoolExecutor(12) as pool:
        codes = dict(zip(FAULTS, pool.map(add, FAULTS), strict=True))
    usual = dict.fromkeys(FAULTS, 426) | dict.fromkeys(("no_keyframe", "no_picture"), 0)
    assert codes == usual | dict.fromkeys(late, 427)
    refused = "".join(map(str, sandbox.refusals))
    for name, code in codes.items():
        why = f"not opened: {FAULTS[name].verdict}: "
        assert (f"B1 {code}: the camera was {why}" in refused) is (code > 0), name
        assert (f"'{name}' in room '{room_id}', {urls[name]}: {why}" in caplog.text) is (code > 0)
    assert "hush77" not in caplog.text + refused


def test_dying_streams_are_redialled_with_patience(scripted, make, caplog):
    """A camera that falls silent is hung up and redialled; a death is logged with its verdict, a
    return too, a camera that stays away once."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    caller = make(dial_timeout=0.3)
    cameras = {"feeble": scripted(), "away": scripted(then(lambda r: reply(r, 404)))}
    room_id = caller.room()
    for user_id, camera in cameras.items():
        address = camera.url.replace("//", "//ada:hush77@")
        assert caller.add(room_id, address, user_id) == 0
    with pytest.raises(ConfkitError, match=r"No keyframe arrived within 0\.3 s|down"):
        caller.sandbox.snapshot(room_id, "feeble")
    feeble, away = cameras["feeble"], cameras["away"]
    wait_until(lambda: stream(caller, "feeble").reconnects >= 2 and away.connections >= 3)
    assert stream(caller, "feeble").verdict == "no_media"
    assert "TEARDOWN" in feeble.methods

    def news(user_id):
        lines = [record.message for record in caplog.records]
        return [re.sub(r".*?/live: ", "", line) for line in lines if f"'{user_id}' in" in line]

    assert news("feeble")[0] == "live: h264 over tcp"
    assert re.match(r"lost after 0\.\d s: no_media", news("feeble")[1])
    assert [line[:26] for line in news("away")][2:] == ["not opened: path_not_found"]
    assert "rtsp://ada:***@" in caplog.text
    assert "hush77" not in caplog.text


REFUSALS = {
    "401": lambda r: reply(r, 401, WWW_Authenticate=DIGEST),
    "403": lambda r: reply(r, 403),
    "hangs up": lambda _: b"",
    "silent": lambda _: None,
}


@pytest.mark.parametrize("way", REFUSALS)
def test_a_login_that_a_camera_does_not_accept_is_not_sent_again(scripted, make, way):
    """It is sent once and then not for ten minutes, however the camera refuses it."""
    refuse, caller = REFUSALS[way], make(dial_timeout=0.3)
    camera = scripted(then(lambda r: (refuse if r.get("Authorization") else REFUSALS["401"])(r)))
    assert caller.add(caller.room(), camera.url.replace("//", "//ada:hush77@")) == 0
    wait_until(lambda: stream(caller).state == "waiting" and camera.connections > 1)
    time.sleep(1.6)  # the next dial would have been 1 to 1.5 s after the refusal
    assert camera.logins == ["DESCRIBE"]


@pytest.mark.parametrize("way", ["del", "close"])
def test_a_room_that_goes_while_its_camera_is_dialled(scripted, caller, sandbox, way):
    """B1 answers 426, the camera is hung up, and the room's successor gets no device."""
    room_id = caller.room(room_extend_id="e")

    def script(request):
        if request.method == "PLAY" and way == "close":
            sandbox.close_room(room_id)
        elif request.method == "PLAY":
            with sandbox.connect() as client:
                ck.delete_room(client, room_id)
                ck.create_room(client, "Next", "ops", room_extend_id="e")
        return PLAYS(request)

    camera = scripted(script)
    assert caller.add(room_id, camera.url) == 426
    assert "while the camera was dialled" in sandbox.refusals[-1].why
    wait_until(lambda: camera.open_connections == 0)
    assert caller.devices() == []


def test_a_device_that_goes_while_it_is_redialled(scripted, make):
    """Whatever removes a device during a dial answers at once and ends the dial."""
    caller, ended = make(dial_timeout=300), threading.Event()
    sandbox, room_id, cameras = caller.sandbox, caller.room(), {}
    for way in ("remove", "force", "del", "close", "end"):
        room = room_id if way in ("remove", "force") else caller.room(room_extend_id=way)
        cameras[way] = scripted(lambda r: PLAYS(r) if r.number == 1 else ended.wait(60) and b"")
        assert caller.add(room, cameras[way].url, way) == 0
        cameras[way].requests[0].connection.shutdown(socket.SHUT_RDWR)
    for camera in cameras.values():
        wait_until(lambda each=camera: (each.connections, each.open_connections) == (2, 1))
    began = time.monotonic()
    device = {"roomId": room_id, "userId": "remove", "userAddress": cameras["remove"].url}
    assert caller.code("B2", **device) == 0
    assert caller.code("A7", room_id=room_id, user_id="force") == 0
    assert caller.code("A4", room_id="del") == 0
    sandbox.close_room("close")
    assert [each.user_id for each in sandbox.streams()] == caller.devices() == ["end"]
    sandbox.close()
    assert time.monotonic() - began < 5
    wait_until(
        lambda: not [each for each in threading.enumerate() if each.name == "sandbox device"]
    )
    ended.set()
