"""The streams that the sandbox holds: cameras that answer, die, come back, and what is reported."""

import asyncio
import gc
import logging
import signal
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import pytest

from confkit.errors import ConfkitError, RoomNotFound, UserNotFound
from confkit.rtsp.pull import PullRefused, pull
from confkit.rtsp.rtp import Packet
from confkit.sandbox.cameras.faults import FAULTS
from confkit.sandbox.cameras.server import CameraServer
from confkit.sandbox.service.store import StoredDevice
from confkit.sandbox.service.streams import FIRST_WAIT, LONGEST_WAIT, Devices, longer
from tests.rtsp.fakes import SMALL, fake_camera, instead, until, willing

from .test_interface_b import LOGIN, viewers
from .test_interface_b import until as wait_until

CAMERAS = 50
QUICK = {**SMALL, "keyframe_every": 0.2}
DIGEST = 'Digest realm="r", nonce="n"'


def frame(payload):
    """One interleaved RTP packet."""
    packet = Packet(96, True, 1, 1, 1, payload).encode()
    return b"$\0" + len(packet).to_bytes(2, "big") + packet


def packets(methods, payload=b"\x41abc"):
    """A script that sends a packet, of no keyframe unless given, with its answers to some methods.

    Its session ends in a second, so keep-alives come every half.
    """

    def answer(request):
        told = willing(request).replace(b"timeout=60", b"timeout=1")
        return told + frame(payload) if request.method in methods else told

    return answer


def brief(request):
    """A script that plays for half a second."""
    return b"" if request.method == "GET_PARAMETER" else packets(["PLAY"])(request)


class Aside:
    """An event loop of its own for cameras."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def play(self, *scripts):
        """Starts a camera, and gives what it sees; a script a connection, the last for all more."""

        def answer(request):
            return scripts[min(camera.connections, len(scripts)) - 1](request)

        camera = self.start(fake_camera(answer))
        return camera

    def start(self, camera):
        return self.run(self.stack.enter_async_context(camera))

    def close(self):
        try:
            self.run(self.stack.aclose())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()


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
    room_id, other, url = stranger.room(), stranger.room(), sandbox.camera("c", **QUICK)
    assert stranger.bring(room_id, url) == 0
    first = sandbox.snapshot(room_id, "cam")
    assert (first.codec, first.width, first.height) == ("h264", 128, 96)
    assert first._repr_png_().startswith(b"\x89PNG")
    wait_until(lambda: sandbox.snapshot(room_id, "cam").keyframe != first.keyframe)
    sandbox.join(room_id, "Ada", user_id="ada")
    with pytest.raises(RoomNotFound):
        sandbox.snapshot("none", "cam")
    for place, user_id in ((other, "cam"), (room_id, "ada"), (room_id, "none")):
        with pytest.raises(UserNotFound, match="no device"):
            sandbox.snapshot(place, user_id)
    assert [one.room_id for one in sandbox.streams(room_id)] == [room_id]
    assert sandbox.streams(other) == []
    sandbox.unplug(url)
    wait_until(lambda: fares(stranger).verdict == "path_not_found")
    with pytest.raises(ConfkitError, match=r"down for .*path_not_found: .*404.* Take the path"):
        sandbox.snapshot(room_id, "cam")


@pytest.mark.parametrize(
    ("payload", "told"), [(b"\x41abc", "no keyframe came within"), (b"\x65abc", "does not decode")]
)
def test_a_stream_without_a_picture(aside, make, payload, told):
    """Packets without a keyframe, or with one that is none, give an error instead of a picture."""
    stranger = make(dial_timeout=1.5)
    room_id, camera = stranger.room(), aside.play(packets(["PLAY", "GET_PARAMETER"], payload))
    assert stranger.bring(room_id, camera.url) == 0
    with pytest.raises(ConfkitError, match=told):
        stranger.sandbox.snapshot(room_id, "cam")


def test_ctrl_c_ends_what_the_sandbox_does_for_a_call(aside, make):
    """A call that is interrupted is over in the sandbox, too: it does not run on unseen."""
    stranger = make(dial_timeout=600)
    room_id, camera = stranger.room(), aside.play(packets(["PLAY", "GET_PARAMETER"]))
    assert stranger.bring(room_id, camera.url) == 0

    def waits():
        found = (one for one in gc.get_objects() if type(one) is types.CoroutineType)
        return any(one.__qualname__ == "Held.keyframe" for one in found)

    def interrupt():
        wait_until(waits)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    assert not waits()
    with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
        pool.submit(interrupt)
        stranger.sandbox.snapshot(room_id, "cam")
    wait_until(lambda: not waits())
    assert stranger.users(room_id) == ["cam"]


def test_the_answer_follows_the_cause(make, caplog):
    """Each faulty camera that gives no answer in time is 427, all others that cannot join are 426.

    The explanation and the log name the verdict; who sends packets is in the room.
    """
    caplog.set_level(logging.INFO, "confkit.sandbox")
    stranger = make(dial_timeout=1.5)
    sandbox, room_id = stranger.sandbox, stranger.room()
    late = {"connect_timeout", "rtsp_silent", "udp_blocked", "no_media"}
    joining = {"no_keyframe", "no_picture"}
    urls = {name: sandbox.camera(fault=name, size=(128, 96), fps=4) for name in FAULTS}
    assert stranger.bring(room_id, "rtsp://ada:x@h/", options=LOGIN) == 426
    assert ": credentials_conflict: " in sandbox.refusals[-1]
    login = {"login_name": "admin", "login_password": "admin"}

    def bring(name):
        options = {} if name == "auth_required" else login
        return stranger.bring(room_id, urls[name], name, options=options)

    with ThreadPoolExecutor(12) as pool:
        codes = dict(zip(FAULTS, pool.map(bring, FAULTS), strict=True))
    assert codes == {
        name: 427 if name in late else 0 if name in joining else 426 for name in FAULTS
    }
    for name in set(FAULTS) - joining:
        verdict = FAULTS[name].verdict
        told = f"B1 {codes[name]}: the camera was not opened: {verdict}: "
        assert any(text.startswith(told) for text in sandbox.refusals), name
        assert f"device '{name}' in room '{room_id}', {urls[name]}: not opened: {verdict}: " in (
            caplog.text
        )


def test_a_silent_stream_is_dead(aside, make):
    """A camera that stops sending is gone from the room, and is dialled again."""
    stranger = make(dial_timeout=1.0)
    room_id, camera = stranger.room(), aside.play(packets(["PLAY"]))
    assert stranger.bring(room_id, camera.url) == 0
    assert stranger.users(room_id) == ["cam"]
    wait_until(lambda: "sent no picture" in fares(stranger).reason)
    assert stranger.a("get", room_id=room_id)["room_status"] == 0
    wait_until(lambda: camera.connections == 2)
    assert "TEARDOWN" in camera.methods


def test_a_camera_that_is_open_has_longer_than_one_that_opens(aside, stranger, sandbox):
    """By default silence ends a stream after 10 s, and a picture is waited for as long."""
    room_id = stranger.room()
    quiet = aside.play(packets(["PLAY"]))
    blind = aside.play(packets(["PLAY", "GET_PARAMETER"]))
    assert [stranger.bring(room_id, quiet.url), stranger.bring(room_id, blind.url, "b")] == [0, 0]
    with pytest.raises(ConfkitError, match="no keyframe came within 10 s"):
        sandbox.snapshot(room_id, "b")
    wait_until(lambda: "sent no picture for 10 s" in fares(stranger).reason)
    assert fares(stranger, "b").reconnects == 0


def test_patience_grows():
    """The wait doubles up to 30 s; only after a refused login it is long, lest the camera locks."""
    waits = [FIRST_WAIT]
    while waits[-1] < LONGEST_WAIT:
        waits.append(longer(waits[-1], "refused"))
    assert waits == [0.25, 0.5, 1, 2, 4, 8, 16, 30]
    for verdict in ("auth_rejected", "auth_locked"):
        assert longer(1, verdict) == 600
    assert longer(600, "refused") == 30
    assert longer(1, "auth_required") == 2


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
    away = cameras["away"]
    wait_until(lambda: (away.connections, away.open_connections) == (3, 0))
    wait_until(lambda: fares(stranger, "feeble").reconnects == 2)
    assert time.monotonic() - began > 2  # twice half a second of life, then 0.375 and 0.75 at least
    feeble = fares(stranger, "feeble")
    assert feeble.packets == feeble.reconnects + 1  # one in each life
    assert (fares(stranger, "locked").verdict, cameras["locked"].connections) == (
        "auth_rejected",
        2,
    )

    def news(user_id):
        place = f"rtsp://ada:***@{cameras[user_id].url[7:]}: "
        start = f"device '{user_id}' in room '{room_id}', {place}"
        lines = [record.message for record in caplog.records]
        return [line.removeprefix(start) for line in lines if line.startswith(start)]

    live, lost, live_again, *_ = news("feeble")
    assert live == live_again == "live: h264 over tcp"
    assert lost.startswith("lost after 0.")
    assert lost.endswith(" s: dropped: The camera closed the connection.")
    _, _, missing = news("away")
    assert missing.startswith("not opened: path_not_found: The camera answered DESCRIBE with 404")
    assert "hush77" not in caplog.text


def test_a_device_that_goes_while_it_is_dialled_again(aside, make):
    """Whatever takes a device away during a reconnect answers at once and ends the dial, which may
    take five minutes here."""
    stranger = make(dial_timeout=300)
    sandbox = stranger.sandbox
    ways = ("remove", "delete", "close", "force", "end")
    cameras = {way: aside.play(brief, lambda request: None) for way in ways}
    rooms = {way: stranger.room() for way in ways}
    for way, camera in cameras.items():
        assert stranger.bring(rooms[way], camera.url, way) == 0
    for camera in cameras.values():
        wait_until(lambda one=camera: (one.connections, one.open_connections) == (2, 1))
    gone = {"roomId": rooms["remove"], "userId": "remove", "userAddress": cameras["remove"].url}
    assert stranger.b("remove", **gone)["ret"] == 0
    assert stranger.a("del", room_id=rooms["delete"])["ret"] == 0
    sandbox.close_room(rooms["close"])
    assert stranger.a("force", room_id=rooms["force"], user_id="force")["ret"] == 0
    assert [one.user_id for one in sandbox.streams()] == stranger.devices() == ["end"]
    for way in ways[:-1]:
        wait_until(lambda one=cameras[way]: one.open_connections == 0)
    time.sleep(0.7)  # in which a forgotten one would be dialled again
    sandbox.close()
    wait_until(lambda: cameras["end"].open_connections == 0)
    assert [camera.connections for camera in cameras.values()] == [2] * len(ways)


def test_threads_may_ask_for_the_first_camera_at_once(sandbox):
    """Eight cameras that are made at the same moment are all on one port, each at its own path."""
    with ThreadPoolExecutor(8) as pool:
        urls = list(pool.map(lambda _: sandbox.camera(**SMALL), range(8)))
    assert len(set(urls)) == 8
    assert len({url.rpartition("/")[0] for url in urls}) == 1


def test_fifty_cameras(stranger, sandbox):
    """50 imported cameras stream at once; one is unplugged, is gone, and comes back."""
    room_id = stranger.room()
    size = {"size": (128, 96), "fps": 2}
    urls = {f"cam{number}": sandbox.camera(f"p{number}", **size) for number in range(CAMERAS)}
    with ThreadPoolExecutor(8) as pool:
        codes = pool.map(lambda item: stranger.bring(room_id, item[1], item[0]), urls.items())
        assert list(codes) == [0] * CAMERAS
    before = {one.user_id: one.packets for one in sandbox.streams()}
    assert set(before) == set(stranger.users(room_id)) == set(urls)

    def grown():
        return [one.packets > before[one.user_id] for one in sandbox.streams(room_id)]

    wait_until(lambda: grown() == [True] * CAMERAS)
    assert [one.state for one in sandbox.streams()] == ["live"] * CAMERAS
    sandbox.unplug(urls["cam7"])
    wait_until(lambda: set(stranger.users(room_id)) == set(urls) - {"cam7"})
    assert sandbox.camera("p7", **size) == urls["cam7"]
    wait_until(lambda: set(stranger.users(room_id)) == set(urls))
    assert fares(stranger, "cam7").packets > 0
    assert sum(one.reconnects for one in sandbox.streams()) == 1
    assert viewers(sandbox, urls["cam7"]) == 1


def test_what_no_caller_can_bring_about():
    """A device that goes in the moment in which it came leaves no stream behind; whatever goes
    wrong in a dial, the device is refused, or dialled again, and no more."""

    async def run():
        async with CameraServer() as server:
            url, devices = await server.add(**LOGIN, **SMALL), Devices(5.0, lambda: 0.5)
            device = StoredDevice("1", "cam", "Door", url, "", LOGIN)
            devices.hold(device, await pull(url, *LOGIN.values()))
            await devices.release("cam")
            await until(lambda: server.viewers(url) == 0)
            strange = device._replace(options={"login_name": 5, "login_password": 5})
            with pytest.raises(PullRefused, match="service_cannot_reach: The sandbox failed at it"):
                await devices.dial(strange)

    asyncio.run(run())
