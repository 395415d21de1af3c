"""The streams that the sandbox holds: cameras that answer, die, come back, and what is reported."""

import asyncio
import gc
import logging
import re
import signal
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import pytest

import confkit as ck
from confkit.errors import ConfkitError, RoomNotFound, UserNotFound
from confkit.rtsp.blocking import LoopThread
from confkit.rtsp.pull import PullRefused
from confkit.sandbox.cameras.faults import FAULTS
from confkit.sandbox.service.room import StoredDevice
from confkit.sandbox.service.streams import Devices
from tests.rtsp.fakes import DIGEST, SMALL, fake_camera, instead, packets, willing

from .conftest import until


def sending(*methods, payload=b"\x41abc"):
    """A script that sends a packet, of no keyframe unless given, with its answers to some methods.

    Its session ends in a second, so keep-alives come every half.
    """

    def answer(request):
        told = willing(request).replace(b"timeout=60", b"timeout=1")
        return told + packets(payload) * (request.method in methods)

    return answer


def brief(request):
    """A script that plays for half a second."""
    return b"" if request.method == "GET_PARAMETER" else sending("PLAY")(request)


class Aside:
    """Cameras in a thread of their own."""

    def __init__(self):
        self.thread, self.stack = LoopThread("cameras"), AsyncExitStack()

    def play(self, *scripts):
        """Starts a camera, and gives what it sees; a script a connection, the last for all more."""

        def answer(request):
            return scripts[min(camera.connections, len(scripts)) - 1](request)

        camera = self.thread.run(lambda: self.stack.enter_async_context(fake_camera(answer)))
        return camera

    def close(self):
        self.thread.run(self.stack.aclose)
        self.thread.stop()


@pytest.fixture
def aside():
    """Cameras that end after the sandbox: name this fixture first."""
    cameras = Aside()
    yield cameras
    cameras.close()


def fares(stranger, user_id="cam"):
    """How one device's stream fares."""
    return next(one for one in stranger.sandbox.streams() if one.user_id == user_id)


def test_a_snapshot_is_the_newest_keyframe(stranger, sandbox):
    """snapshot gives a picture of the camera's size that a notebook shows, and soon a newer one.
    While the stream is down there is none, and the error says why and what to do; nor of an unknown
    room, a person, or another room's device."""
    room_id, other = stranger.room(), stranger.room()
    url = sandbox.camera("c", keyframe_every=0.2, **SMALL)
    assert stranger.bring(room_id, url) == 0
    first = sandbox.snapshot(room_id, "cam")
    assert (first.codec, first.width, first.height) == ("h264", 128, 96)
    assert first._repr_png_().startswith(b"\x89PNG")
    until(lambda: sandbox.snapshot(room_id, "cam").keyframe != first.keyframe)
    with pytest.raises(RoomNotFound):
        sandbox.snapshot("none", "cam")
    sandbox.join(room_id, "Ada", user_id="ada")
    for place, user_id in ((other, "cam"), (room_id, "ada")):
        with pytest.raises(UserNotFound, match="no device"):
            sandbox.snapshot(place, user_id)
    assert [len(sandbox.streams(room)) for room in (room_id, other)] == [1, 0]
    sandbox.unplug(url)
    until(lambda: fares(stranger).verdict == "path_not_found")
    with pytest.raises(ConfkitError, match=r"down for .*path_not_found: .*404.* Take the path"):
        sandbox.snapshot(room_id, "cam")


def test_a_stream_without_a_picture(aside, make):
    """Packets without a keyframe, or with one that is none, give an error instead of a picture. A
    camera that stops sending is gone from the room, and is dialled again."""
    stranger = make(dial_timeout=1.0)
    room_id, silent = stranger.room(), aside.play(sending("PLAY"))
    assert stranger.bring(room_id, silent.url) == 0
    for load, told in ((b"\x41abc", "no keyframe came within"), (b"\x65abc", "does not decode")):
        camera = aside.play(sending("PLAY", "GET_PARAMETER", payload=load))
        assert stranger.bring(room_id, camera.url, told) == 0
        with pytest.raises(ConfkitError, match=told):
            stranger.sandbox.snapshot(room_id, told)
    until(lambda: silent.connections >= 2)
    assert "sent no picture for 1 s" in fares(stranger).reason
    assert "TEARDOWN" in silent.methods


@pytest.mark.nightly
def test_ctrl_c_ends_what_the_sandbox_does_for_a_call(aside, make):
    """A call that is interrupted is over in the sandbox, too: it does not run on unseen."""
    stranger = make(dial_timeout=600)
    room_id, camera = stranger.room(), aside.play(sending("PLAY", "GET_PARAMETER"))
    assert stranger.bring(room_id, camera.url) == 0

    def waits():
        found = (one for one in gc.get_objects() if type(one) is types.CoroutineType)
        return any(one.__qualname__ == "Held.keyframe" for one in found)

    def interrupt():
        until(waits)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    assert not waits()
    with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
        pool.submit(interrupt)
        stranger.sandbox.snapshot(room_id, "cam")
    until(lambda: not waits())
    assert stranger.users(room_id) == ["cam"]


def test_the_answer_follows_the_cause(make, caplog):
    """Each faulty camera that gives no answer in time is 427, all others that cannot join are 426.

    The explanation and the log name the verdict; who sends packets is in the room.
    """
    caplog.set_level(logging.INFO, "confkit.sandbox")
    stranger = make(dial_timeout=1.5)
    sandbox, room_id = stranger.sandbox, stranger.room()
    usual = dict.fromkeys(FAULTS, 426) | dict.fromkeys(("no_keyframe", "no_picture"), 0)
    late = ("connect_timeout", "rtsp_silent", "udp_blocked", "no_media")
    urls = {name: sandbox.camera(fault=name, size=(128, 96), fps=4) for name in FAULTS}
    login = {"login_name": "admin", "login_password": "admin"}

    def bring(name):
        options = {} if name == "auth_required" else login
        return stranger.bring(room_id, urls[name], name, options=options)

    with ThreadPoolExecutor(12) as pool:
        codes = dict(zip(FAULTS, pool.map(bring, FAULTS), strict=True))
    assert codes == usual | dict.fromkeys(late, 427)
    refused = "".join(sandbox.refusals)
    for name, code in codes.items():
        told = f"not opened: {FAULTS[name].verdict}: "
        assert (f"B1 {code}: the camera was {told}" in refused) is (code > 0), name
        assert (f"'{name}' in room '{room_id}', {urls[name]}: {told}" in caplog.text) is (code > 0)


def test_dying_streams_are_dialled_with_patience(aside, stranger, caplog):
    """A death is reported with its verdict, a return too, and a camera that stays away once.

    Dials become slower each time, and a camera that refuses the login is left alone.
    """
    caplog.set_level(logging.INFO, "confkit.sandbox")
    refusing = instead("DESCRIBE", 401, WWW_Authenticate=DIGEST)
    cameras = {
        "feeble": aside.play(brief),
        "away": aside.play(brief, instead("DESCRIBE", 404)),
        "locked": aside.play(brief, refusing),
    }
    room_id, began = stranger.room(), time.monotonic()
    for user_id, camera in cameras.items():
        address = camera.url.replace("//", "//ada:hush77@")
        assert stranger.bring(room_id, address, user_id) == 0
    until(lambda: (cameras["away"].connections, cameras["away"].open_connections) == (3, 0))
    until(lambda: fares(stranger, "feeble").reconnects == 2)
    assert time.monotonic() - began > 2  # twice half a second of life, then 0.375 and 0.75 at least
    feeble, locked = fares(stranger, "feeble"), fares(stranger, "locked")
    assert feeble.packets == feeble.reconnects + 1  # one in each life
    assert (locked.verdict, cameras["locked"].connections) == ("auth_rejected", 2)

    def news(user_id):
        start = f"device '{user_id}' in room '{room_id}', "
        start += f"rtsp://ada:***@{cameras[user_id].url[7:]}: "
        lines = [record.message for record in caplog.records]
        return [line.removeprefix(start) for line in lines if line.startswith(start)]

    live, lost, live_again, *_ = news("feeble")
    assert live == live_again == "live: h264 over tcp"
    assert re.match(r"lost after 0\.\d s: dropped: The camera closed the connection\.", lost)
    _, _, missing = news("away")
    assert missing.startswith("not opened: path_not_found: The camera answered DESCRIBE with 404")
    assert "hush77" not in caplog.text


@pytest.mark.parametrize("way", ["del", "close"])
def test_a_room_that_goes_while_its_camera_is_slow(aside, stranger, sandbox, way):
    """A camera that answers when its room is gone is hung up, B1 answers 426, and the room's
    successor gets no device."""
    room_id = stranger.room(room_extend_id="e")

    def answer(request):
        if request.method == "PLAY" and way == "close":
            sandbox.close_room(room_id)
        elif request.method == "PLAY":
            with sandbox.connect() as client:
                ck.delete_room(client, room_id)
                ck.create_room(client, "Next", "ops", room_extend_id="e")
        return sending("PLAY")(request)

    camera = aside.play(answer)
    assert stranger.bring(room_id, camera.url) == 426
    assert "while the camera was dialled" in sandbox.refusals[-1]
    until(lambda: camera.open_connections == 0)
    assert stranger.devices() == []


def test_a_device_that_goes_while_it_is_dialled_again(aside, make):
    """Whatever takes a device away during a reconnect answers at once and ends the dial, which may
    take five minutes here."""
    stranger = make(dial_timeout=300)
    sandbox, room_id = stranger.sandbox, stranger.room()
    cameras = {}
    for way in ("remove", "force", "del", "close", "end"):
        room = room_id if way in ("remove", "force") else stranger.room(room_extend_id=way)
        camera = cameras[way] = aside.play(brief, lambda request: None)
        assert stranger.bring(room, camera.url, way) == 0
    for camera in cameras.values():
        until(lambda one=camera: (one.connections, one.open_connections) == (2, 1))
    gone = {"roomId": room_id, "userId": "remove", "userAddress": cameras["remove"].url}
    assert stranger.code("remove", **gone) == 0
    assert stranger.code("force", room_id=room_id, user_id="force") == 0
    assert stranger.code("del", room_id="del") == 0
    sandbox.close_room("close")
    assert [one.user_id for one in sandbox.streams()] == stranger.devices() == ["end"]
    end = cameras.pop("end")
    for camera in cameras.values():
        until(lambda one=camera: one.open_connections == 0)
    time.sleep(0.7)  # in which a forgotten one would be dialled again
    sandbox.close()
    until(lambda: end.open_connections == 0)
    assert {camera.connections for camera in (end, *cameras.values())} == {2}


def test_whatever_goes_wrong_in_a_dial_is_a_refusal():
    """No caller can bring it about; a device whose dial failed otherwise would never come back."""
    strange = StoredDevice("1", "cam", "Door", "rtsp://h/", "", {"login_name": 5})
    with pytest.raises(PullRefused, match="service_cannot_reach: The sandbox failed at it"):
        asyncio.run(Devices(5.0, lambda: 0.5).dial(strange))
