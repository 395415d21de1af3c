import asyncio
import contextlib
import shutil
import socket
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from confkit.rtsp.address import parse_address
from confkit.rtsp.message import Frame, Parser, Request, Response
from confkit.rtsp.pull import PullRefused, pull
from confkit.rtsp.rtp import parse_packet
from confkit.sandbox.cameras.server import CameraServer
from tests.conftest import need

from .fakes import SMALL, until

QUICK = ["-v", "error", "-analyzeduration", "300000", "-fpsprobesize", "0"]
TCP = ("Transport", "RTP/AVP/TCP;unicast;interleaved=4-5")


class Client:
    """A bare RTSP client that does what a test tells it."""

    def __init__(self, reader, writer):
        self.reader, self.writer, self.parser, self.waiting = reader, writer, Parser(), []

    async def next(self, kind):
        while True:
            for message in [m for m in self.waiting if isinstance(m, kind)]:
                self.waiting.remove(message)
                return message
            data = await self.reader.read(65536)
            assert data, "the server closed the connection"
            self.waiting += self.parser.feed(data)

    async def packet(self):
        frame = await self.next(Frame)
        assert frame.channel == 4
        return parse_packet(frame.payload)

    async def ask(self, method, url, *headers):
        self.writer.write(Request(method, url, headers=(("CSeq", "1"), *headers)).encode())
        return await asyncio.wait_for(self.next(Response), 5)

    async def play(self, url):
        setup = await self.ask("SETUP", url + "/track1", TCP)
        session = ("Session", setup.get("Session").partition(";")[0])
        return session, await self.ask("PLAY", url, session)


@asynccontextmanager
async def client_of(url):
    where = parse_address(url)
    reader, writer = await asyncio.open_connection(where.host, where.port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


@asynccontextmanager
async def camera(viewers=1, session_timeout=60.0, **settings):
    """A server, the address of its camera, and clients of that."""
    async with CameraServer(session_timeout=session_timeout) as server, AsyncExitStack() as stack:
        url = await server.add(**{**SMALL, **settings})
        clients = [await stack.enter_async_context(client_of(url)) for _ in range(viewers)]
        yield server, url, *clients


async def witness(*arguments):
    """The exit status, output and messages of ffprobe or ffmpeg."""
    need(arguments[0], shutil.which(arguments[0]), "apt-get install ffmpeg")
    process = await asyncio.create_subprocess_exec(
        *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, messages = await asyncio.wait_for(process.communicate(), 20)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, output, messages.decode()


@pytest.mark.parametrize(
    ("codec", "transport"), [("h264", "tcp"), ("h264", "udp"), ("h265", "tcp"), ("mjpeg", "udp")]
)
async def test_ffmpeg_decodes_a_frame_with_the_right_login(codec, transport):
    """FFmpeg, an independent client, logs in by digest and decodes a whole, clean picture."""
    async with camera(0, codec=codec, login_name="admin", login_password="s3cret") as (_, url):
        inside = url.replace("//", "//admin:s3cret@")
        options = [*QUICK, "-rtsp_transport", transport, "-i", inside, "-frames:v", "3"]
        ending = ["-pix_fmt", "gray", "-f", "rawvideo", "-"]
        status, output, messages = await witness("ffmpeg", *options, *ending)
    assert (status, len(output), messages) == (0, 3 * 128 * 96, "")
    assert max(output) > 100


@pytest.mark.parametrize("turns", range(6))
def test_whoever_has_only_just_come_is_let_go_when_the_cameras_stop(turns):
    """A connection that is accepted while the server closes ends with it, like every other."""

    async def run():
        async with camera(0) as (_, url):
            address = parse_address(url)
            place = address.host, address.port
            callers = [socket.create_connection(place, 10) for _ in range(3)]
            for _ in range(turns):
                await asyncio.sleep(0)
        for caller in callers:
            with caller, contextlib.suppress(ConnectionResetError):
                assert caller.recv(10) == b""

    for _ in range(5):
        asyncio.run(run())


async def test_addresses_are_numbered_and_hold_no_login():
    """Paths count up, get their slash, cannot be taken twice, and no URL holds a login."""
    login = {"login_name": "ada", "login_password": "hush", **SMALL}
    async with CameraServer() as server:
        urls = await asyncio.gather(*(server.add(p, **login) for p in (None, None, "hall")))
        paths = sorted("/" + url.rpartition("/")[2] for url in urls)
        assert paths == ["/camera-1", "/camera-2", "/hall"]
        assert "hush" not in "".join(urls) + repr(vars(server))
        with pytest.raises(ValueError, match="path already"):
            await server.add("/hall", **SMALL)
        with pytest.raises(ValueError, match="codec"):
            await server.add("/broken", codec="vp8")
        assert await server.add("/broken", **SMALL)


async def test_a_viewer_gets_the_newest_keyframe_at_once_and_steady_packets():
    """The first packet is a keyframe's and comes at once, after PAUSE too; the numbers run on."""
    async with camera(keyframe_every=5.0) as (server, url, client):
        await asyncio.sleep(0.35)
        session, playing = await client.play(url)
        async with asyncio.timeout(2):
            packets = [await client.packet() for _ in range(6)]
        first = packets[0]
        assert first.payload[0] & 31 == 24  # SPS, PPS and what else fits
        assert f"seq={first.sequence};" in playing.get("RTP-Info")
        assert playing.get("RTP-Info").endswith(f"rtptime={first.timestamp}")
        assert [(p.sequence - first.sequence) & 0xFFFF for p in packets] == list(range(6))
        assert {(p.timestamp - first.timestamp) % 2**32 % 9000 for p in packets} == {0}
        assert {p.ssrc for p in packets} == {first.ssrc}
        assert (await client.ask("PAUSE", url, session)).status == 200
        assert server.viewers(url) == 0
        client.waiting.clear()
        assert (await client.ask("PLAY", url, session)).status == 200
        assert (await client.packet()).payload[0] & 31 == 24


async def test_a_camera_with_all_its_viewers_answers_453():
    """Who comes when `max_viewers` watch gets 453 at SETUP, or at PLAY; a place gets free again."""
    async with camera(3, max_viewers=1) as (server, url, one, two, three):
        waiting = await two.ask("SETUP", url + "/track1", TCP)
        session, playing = await one.play(url)
        assert (playing.status, waiting.status, server.viewers(url)) == (200, 200, 1)
        own = ("Session", waiting.get("Session").partition(";")[0])
        assert (await two.ask("PLAY", url, own)).status == 453
        assert (await three.ask("SETUP", url + "/track1", TCP)).status == 453
        assert (await one.ask("TEARDOWN", url, session)).status == 200
        assert (await two.ask("PLAY", url, own)).status == 200


async def test_a_removed_camera_kicks_its_viewers_and_is_gone():
    """remove() ends the stream, and the address answers 404 from then on; close() ends all, and
    frees the port."""
    async with CameraServer() as server:
        urls = [await server.add(**SMALL) for _ in range(2)]
        gone, left = [await pull(url) for url in urls]
        await server.remove(urls[0])
        assert (await asyncio.wait_for(gone.ended(), 2)).verdict == "dropped"
        with pytest.raises(PullRefused, match="path_not_found"):
            await pull(urls[0])
        with pytest.raises(LookupError):
            await server.remove(urls[0])
        await server.close()
        assert (await asyncio.wait_for(left.ended(), 2)).verdict == "dropped"
        with pytest.raises(PullRefused, match="refused"):
            await pull(urls[1])


async def test_requests_out_of_order_get_the_status_that_rtsp_has_for_them():
    """Wrong state, session, transport, method, path and syntax each get their own status."""
    async with camera(transports=("tcp",)) as (_, url, client):
        assert "PLAY" in (await client.ask("OPTIONS", "*")).get("Public")
        for method, where, header, status in (
            ("PLAY", url, (), 455),
            ("PLAY", url, ("Session", "1"), 454),
            ("SETUP", url + "/track1", ("Transport", "RTP/AVP;unicast;client_port=5000-5001"), 461),
            ("SETUP", url + "/track1", ("Transport", "RTP/AVP/TCP;multicast"), 461),
            ("RECORD", url, (), 501),
            ("DESCRIBE", url + "0", (), 404),
            ("DESCRIBE", "nonsense", (), 400),
        ):
            assert (await client.ask(method, where, *filter(None, [header]))).status == status
        client.writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert (await client.next(Response)).status == 400
        assert await client.reader.read() == b""


async def test_a_silent_session_ends_and_a_living_one_does_not():
    """Without a sign of life the session ends at its time-out; keep-alives hold it."""
    async with camera(2, session_timeout=2.0) as (server, url, silent, living):
        await silent.play(url)
        session, _ = await living.play(url)
        for _ in range(7):
            await asyncio.sleep(0.5)
            await living.ask("GET_PARAMETER", url, session)
        assert server.viewers(url) == 1
        await asyncio.wait_for(silent.reader.read(), 1)


async def test_a_viewer_that_does_not_read_is_dropped():
    """A viewer whose unsent data grows is dropped, and the others go on."""
    async with camera(size=(640, 360), fps=15) as (_, url, client):
        stream = await pull(url)
        setup = Request("SETUP", url + "/track1", headers=(TCP,)).encode()
        again = Request("PLAY", url).encode() + Request("PAUSE", url).encode()
        # Each PLAY begins with a keyframe of some 5 kB: more than any socket holds.
        client.writer.write(setup + again * 4000)
        await asyncio.sleep(0.3)
        received = 0
        async with asyncio.timeout(3):
            with contextlib.suppress(ConnectionError):
                while data := await client.reader.read(65536):
                    received += len(data)
        assert received < 12_000_000
        before = stream.packets
        await until(lambda: stream.packets > before)
        await stream.close()
