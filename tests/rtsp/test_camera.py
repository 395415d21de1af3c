import asyncio
import contextlib
import shutil
import socket
from contextlib import asynccontextmanager

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

    async def ask(self, method, url, *headers):
        self.writer.write(Request(method, url, headers=(("CSeq", "1"), *headers)).encode())
        return await asyncio.wait_for(self.next(Response), 5)

    async def play(self, url):
        setup = await self.ask("SETUP", url + "/track1", TCP)
        session = ("Session", setup.get("Session").partition(";")[0])
        return session, await self.ask("PLAY", url, session)


@asynccontextmanager
async def client_of(url):
    port = int(url.rpartition(":")[2].partition("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


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

    async with CameraServer() as server:
        login = {"login_name": "admin", "login_password": "s3cret"}
        url = await server.add(codec=codec, **login, **SMALL)
        inside = url.replace("//", "//admin:s3cret@")
        options = [*QUICK, "-rtsp_transport", transport, "-i", inside, "-frames:v", "3"]
        ending = ["-pix_fmt", "gray", "-f", "rawvideo", "-"]
        status, output, messages = await witness("ffmpeg", *options, *ending)
        assert (status, len(output), messages) == (0, 3 * 128 * 96, "")
        assert max(output) > 100


@pytest.mark.parametrize("auth", ["digest", "basic"])
async def test_ffprobe_with_a_wrong_login_gets_401(auth):
    """A wrong login is 401 for an independent client, by digest and by Basic."""

    async with CameraServer() as server:
        url = await server.add(login_name="admin", login_password="right", auth=auth, **SMALL)
        options = [*QUICK, "-rtsp_transport", "tcp", "-i"]
        wrong = await witness("ffprobe", *options, url.replace("//", "//admin:wrong@"))
        assert wrong[0] != 0
        assert "401" in wrong[2]
        right = await witness("ffprobe", *options, url.replace("//", "//admin:right@"))
        assert right == (0, b"", "")


@pytest.mark.parametrize("turns", range(6))
def test_whoever_has_only_just_come_is_let_go_when_the_cameras_stop(turns):
    """A connection that is accepted while the server closes ends with it, like every other."""

    async def run():
        async with CameraServer() as server:
            address = parse_address(await server.add(**SMALL))
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

    async with CameraServer() as server:
        urls = await asyncio.gather(
            *(
                server.add(p, login_name="ada", login_password="hush", **SMALL)
                for p in (None, None, "hall")
            )
        )
        paths = sorted("/" + url.rpartition("/")[2] for url in urls)
        assert paths == ["/camera-1", "/camera-2", "/hall"]
        assert "hush" not in "".join(urls) + repr(vars(server))
        with pytest.raises(ValueError, match="path already"):
            await server.add("/hall", **SMALL)
        with pytest.raises(ValueError, match="codec"):
            await server.add("/broken", codec="vp8")
        assert await server.add("/broken", **SMALL)


async def test_a_viewer_gets_the_newest_keyframe_at_once_and_steady_packets():
    """The first packet is a keyframe's and comes at once; the numbers run on."""

    async with CameraServer() as server:
        url = await server.add(keyframe_every=5.0, **SMALL)
        await asyncio.sleep(0.35)
        async with client_of(url) as client:
            _, playing = await client.play(url)
            packets = []
            async with asyncio.timeout(2):
                while len(packets) < 6:
                    packets.append(parse_packet((await client.next(Frame)).payload))
        assert packets[0].payload[0] & 31 == 24  # SPS, PPS and what else fits
        assert f"seq={packets[0].sequence};" in playing.get("RTP-Info")
        assert playing.get("RTP-Info").endswith(f"rtptime={packets[0].timestamp}")
        numbers = [(p.sequence - packets[0].sequence) & 0xFFFF for p in packets]
        assert numbers == list(range(6))
        steps = {(p.timestamp - packets[0].timestamp) % 2**32 % 9000 for p in packets}
        assert steps == {0}
        assert len({p.ssrc for p in packets}) == 1


async def test_several_viewers_have_streams_of_their_own():
    """Two viewers of one camera have different SSRCs and are counted; TEARDOWN uncounts one."""

    async with CameraServer() as server:
        url = await server.add(**SMALL)
        async with client_of(url) as one, client_of(url) as two:
            session, _ = await one.play(url)
            await two.play(url)
            assert server.viewers(url) == 2
            frames = [await client.next(Frame) for client in (one, two)]
            assert [frame.channel for frame in frames] == [4, 4]
            assert len({parse_packet(frame.payload).ssrc for frame in frames}) == 2
            assert (await one.ask("TEARDOWN", url, session)).status == 200
            assert server.viewers(url) == 1
        await until(lambda: server.viewers(url) == 0)


async def test_a_camera_with_all_its_viewers_answers_453():
    """Who comes when `max_viewers` watch gets 453 at SETUP, or at PLAY; a place gets free again."""

    async with CameraServer() as server:
        url = await server.add(max_viewers=1, **SMALL)
        async with client_of(url) as one, client_of(url) as two, client_of(url) as three:
            waiting = await two.ask("SETUP", url + "/track1", TCP)
            session, playing = await one.play(url)
            assert (playing.status, waiting.status) == (200, 200)
            own = ("Session", waiting.get("Session").partition(";")[0])
            assert (await two.ask("PLAY", url, own)).status == 453
            assert (await three.ask("SETUP", url + "/track1", TCP)).status == 453
            assert (await one.ask("TEARDOWN", url, session)).status == 200
            assert (await two.ask("PLAY", url, own)).status == 200


async def test_pause_stops_and_play_goes_on_from_a_keyframe():
    """PAUSE ends the packets, the session stays, and PLAY begins with a keyframe again."""

    async with CameraServer() as server:
        url = await server.add(**SMALL)
        async with client_of(url) as client:
            session, _ = await client.play(url)
            assert (await client.ask("PAUSE", url, session)).status == 200
            assert server.viewers(url) == 0
            client.waiting.clear()
            assert (await client.ask("PLAY", url, session)).status == 200
            first = parse_packet((await client.next(Frame)).payload)
            assert first.payload[0] & 31 == 24


async def test_a_removed_camera_kicks_its_viewers_and_is_gone():
    """remove() ends the stream, and the address answers 404 from then on."""

    async with CameraServer() as server:
        url = await server.add(**SMALL)
        stream = await pull(url)
        await server.remove(url)
        assert (await asyncio.wait_for(stream.ended(), 2)).verdict == "dropped"
        with pytest.raises(PullRefused) as caught:
            await pull(url)
        assert caught.value.verdict == "path_not_found"
        with pytest.raises(LookupError):
            await server.remove(url)


async def test_requests_out_of_order_get_the_status_that_rtsp_has_for_them():
    """Wrong state, session, transport, method, path and syntax each get their own status."""

    async with CameraServer() as server:
        url = await server.add(transports=("tcp",), **SMALL)
        async with client_of(url) as client:
            assert "PLAY" in (await client.ask("OPTIONS", "*")).get("Public")
            assert (await client.ask("PLAY", url)).status == 455
            assert (await client.ask("PLAY", url, ("Session", "1"))).status == 454
            udp = ("Transport", "RTP/AVP;unicast;client_port=5000-5001")
            assert (await client.ask("SETUP", url + "/track1", udp)).status == 461
            multicast = ("Transport", "RTP/AVP/TCP;multicast")
            assert (await client.ask("SETUP", url + "/track1", multicast)).status == 461
            assert (await client.ask("RECORD", url)).status == 501
            assert (await client.ask("DESCRIBE", url + "0")).status == 404
            assert (await client.ask("DESCRIBE", "nonsense")).status == 400
            client.writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert (await client.next(Response)).status == 400
            assert await client.reader.read() == b""


async def test_a_silent_session_ends_and_a_living_one_does_not():
    """Without a sign of life the session ends at its time-out; keep-alives hold it."""

    async with CameraServer(session_timeout=2.0) as server:
        url = await server.add(**SMALL)
        async with client_of(url) as silent, client_of(url) as living:
            await silent.play(url)
            session, _ = await living.play(url)
            for _ in range(7):
                await asyncio.sleep(0.5)
                await living.ask("GET_PARAMETER", url, session)
            assert server.viewers(url) == 1
            await asyncio.wait_for(silent.reader.read(), 1)


async def test_a_viewer_that_does_not_read_is_dropped():
    """A viewer whose unsent data grows is dropped, and the others go on."""

    async with CameraServer() as server:
        url = await server.add()
        stream = await pull(url)
        async with client_of(url) as client:
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


async def test_closing_the_server_ends_every_viewer():
    """close() ends the streams and frees the port, whoever still watches."""

    server = CameraServer()
    await server.start()
    url = await server.add(**SMALL)
    stream = await pull(url)
    await server.close()
    assert (await asyncio.wait_for(stream.ended(), 2)).verdict == "dropped"
    with pytest.raises(PullRefused) as caught:
        await pull(url)
    assert caught.value.verdict == "refused"
