import asyncio
import contextlib
import shutil
import socket
import subprocess
from contextlib import asynccontextmanager

import pytest

from confkit.rtsp.address import parse_address
from confkit.rtsp.connection import Connection, dial, look_up, talk
from confkit.rtsp.message import Request
from confkit.rtsp.pull import pull
from confkit.rtsp.rtp import parse_packet
from confkit.sandbox.cameras.server import CameraServer
from tests.conftest import need

from .fakes import SMALL, until

TCP = ("Transport", "RTP/AVP/TCP;unicast;interleaved=4-5")


class Client(Connection):
    """An RTSP client that does what a test tells it; what it receives are `packets`."""

    def __init__(self):
        super().__init__(self.receive)
        self.packets = []

    def receive(self, frame):
        assert frame.channel == 4
        self.packets.append(parse_packet(frame.payload))

    async def set_up(self, url):
        """The answer to SETUP, and the header of the session."""
        setup = await self.exchange("SETUP", url + "/track1", TCP)
        return setup, ("Session", setup.get("Session").partition(";")[0])

    async def play(self, url):
        _, session = await self.set_up(url)
        return session, await self.exchange("PLAY", url, session)


async def opened(url):
    """A connection to a camera, of bytes."""
    address = parse_address(url)
    return await asyncio.open_connection(address.host, address.port)


@asynccontextmanager
async def camera(viewers=1, session_timeout=60.0, **settings):
    """A server, the address of its camera, and clients of that."""
    async with CameraServer(session_timeout=session_timeout) as server:
        url = await server.add(**{**SMALL, **settings})
        targets = await look_up(parse_address(url).host, parse_address(url).port)
        clients = [await talk(await dial(targets), Client) for _ in range(viewers)]
        yield server, url, *clients
    for client in clients:
        await client.closed


async def test_ffmpeg_decodes_a_frame_with_the_right_login():
    """FFmpeg, an independent client, logs in by digest and decodes a whole, clean picture."""
    need("ffmpeg", shutil.which("ffmpeg"), "apt-get install ffmpeg")

    async def played(codec, transport):
        async with camera(0, codec=codec, login_name="admin", login_password="s3cret") as (_, url):
            inside = url.replace("//", "//admin:s3cret@")
            line = f"ffmpeg -v error -rtsp_transport {transport} -i {inside} -frames:v 3"
            line = f"{line} -pix_fmt gray -f rawvideo -".split()
            done = await asyncio.to_thread(subprocess.run, line, capture_output=True, timeout=60)
        assert (done.returncode, len(done.stdout), done.stderr) == (0, 3 * 128 * 96, b"")
        assert max(done.stdout) > 100

    await asyncio.gather(played("h264", "tcp"), played("h265", "udp"), played("mjpeg", "udp"))


async def test_whoever_has_only_just_come_is_let_go_when_the_cameras_stop():
    """A connection that is accepted while the server closes ends with it, like every other."""
    for turns in (*range(6), 0, 1, 2):
        async with camera(0) as (_, url):
            address = parse_address(url)
            place = address.host, address.port
            callers = [socket.create_connection(place, 10) for _ in range(3)]
            for _ in range(turns):
                await asyncio.sleep(0)
        for caller in callers:
            with caller, contextlib.suppress(ConnectionResetError):
                assert caller.recv(10) == b""


async def test_addresses_are_numbered_and_hold_no_login():
    """Paths count up, get their slash, cannot be taken twice, and no URL holds a login. remove()
    ends the stream."""
    login = {"login_name": "ada", "login_password": "hush", **SMALL}
    async with CameraServer() as server:
        urls = await asyncio.gather(*(server.add(p, **login) for p in (None, None, "hall")))
        paths = sorted("/" + url.rpartition("/")[2] for url in urls)
        assert paths == ["/camera-1", "/camera-2", "/hall"]
        assert "hush" not in "".join(urls) + repr(vars(server))
        with pytest.raises(ValueError, match="path already"):
            await server.add("/hall", **SMALL)
        stream = await pull(urls[0], "ada", "hush")
        await server.remove(urls[0])
        assert (await stream.ended()).verdict == "dropped"
        with pytest.raises(LookupError):
            await server.remove(urls[0])


async def test_a_viewer_gets_the_newest_keyframe_at_once_and_steady_packets():
    """The first packet is a keyframe's and comes at once, after PAUSE too; the numbers run on."""
    async with camera(keyframe_every=5.0) as (server, url, client):
        await asyncio.sleep(0.35)
        session, playing = await client.play(url)
        await until(lambda: len(client.packets) > 5)
        packets, first = list(client.packets), client.packets[0]
        assert first.payload[0] & 31 == 24  # SPS, PPS and what else fits
        expected = f"seq={first.sequence};rtptime={first.timestamp}"
        assert playing.get("RTP-Info").endswith(expected)
        for number, packet in enumerate(packets):
            assert (packet.sequence - first.sequence) & 0xFFFF == number
            assert (packet.timestamp - first.timestamp) % 2**32 % 9000 == 0
            assert packet.ssrc == first.ssrc
        await client.exchange("PAUSE", url, session)
        assert server.viewers(url) == 0
        client.packets.clear()
        await client.exchange("PLAY", url, session)
        await until(lambda: client.packets)
        assert client.packets[0].payload[0] & 31 == 24


async def test_a_camera_with_all_its_viewers_answers_453():
    """Who comes when `max_viewers` watch gets 453 at SETUP, or at PLAY; a place gets free again."""
    async with camera(3, max_viewers=1) as (server, url, one, two, three):
        _, waiting = await two.set_up(url)
        session, playing = await one.play(url)
        assert (playing.status, server.viewers(url)) == (200, 1)
        assert (await two.exchange("PLAY", url, waiting)).status == 453
        assert (await three.set_up(url))[0].status == 453
        assert (await one.exchange("TEARDOWN", url, session)).status == 200
        assert (await two.exchange("PLAY", url, waiting)).status == 200


async def test_requests_out_of_order_get_the_status_that_rtsp_has_for_them():
    """Wrong state, session, transport, method, path and syntax each get their own status."""
    async with camera(transports=("tcp",)) as (_, url, client):
        assert "PLAY" in (await client.exchange("OPTIONS", "*")).get("Public")
        for method, where, status, *header in (
            ("PLAY", url, 455),
            ("PLAY", url, 454, ("Session", "1")),
            ("SETUP", url + "/track1", 461, ("Transport", "RTP/AVP;unicast;client_port=5000-5001")),
            ("SETUP", url + "/track1", 461, ("Transport", "RTP/AVP/TCP;multicast")),
            ("RECORD", url, 501),
            ("DESCRIBE", url + "0", 404),
            ("DESCRIBE", "nonsense", 400),
        ):
            assert (await client.exchange(method, where, *header)).status == status
        reader, writer = await opened(url)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert (await reader.read()).startswith(b"RTSP/1.0 400 ")
        writer.close()


async def test_a_silent_session_ends_and_a_living_one_does_not():
    """Without a sign of life the session ends at its time-out; keep-alives hold it."""
    async with camera(2, session_timeout=1.5) as (server, url, silent, living):
        await silent.play(url)
        session, _ = await living.play(url)
        for _ in range(5):
            await asyncio.sleep(0.4)
            await living.exchange("GET_PARAMETER", url, session)
        assert server.viewers(url) == 1
        await asyncio.wait_for(silent.closed, 1)


async def test_a_viewer_that_does_not_read_is_dropped():
    """A viewer whose unsent data grows is dropped, and the others go on."""
    async with camera(0, size=(640, 360), fps=15) as (_, url):
        stream = await pull(url)
        reader, writer = await opened(url)
        setup = Request("SETUP", url + "/track1", headers=(TCP,)).encode()
        # Each PLAY begins with a keyframe of some 5 kB: more than any socket holds.
        again = Request("PLAY", url).encode() + Request("PAUSE", url).encode()
        writer.write(setup + again * 4000)
        await asyncio.sleep(0.3)
        received = 0
        async with asyncio.timeout(3):
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(65536):
                    received += len(data)
        assert received < 12_000_000
        before = stream.packets
        await until(lambda: stream.packets > before)
        await stream.close()
        writer.close()
