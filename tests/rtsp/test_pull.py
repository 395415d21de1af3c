import asyncio

import pytest

from confkit.rtsp.message import Parser
from confkit.rtsp.picture import decode_picture
from confkit.rtsp.pull import PullRefused, pull
from confkit.rtsp.rtp import Packet
from confkit.sandbox.cameras.server import CameraServer

from .fakes import SMALL, fake_camera, instead, raw_server, reply, until, willing

LOGIN = {"login_name": "admin", "login_password": "s3cret/@"}


async def refused(url, *login, **options):
    with pytest.raises(PullRefused) as caught:
        await pull(url, *login, **options)
    assert "hush" not in f"{caught.value!r}{caught.value.__cause__}"
    return caught.value


def tried(answer, *login, **options):
    """Why a scripted camera was refused, and what it saw: it has lost every connection by then."""

    async def run():
        async with fake_camera(answer) as fake:
            error = await refused(fake.url, *login, **options)
            await until(lambda: fake.open_connections == 0)
            return error, fake

    return asyncio.run(run())


DIGEST = 'Digest realm="r", nonce="n"'
PACKET = b"$\0\0\x10" + Packet(96, True, 1, 1, 1, b"\x41abc").encode()


def wanting(accepted):
    """A script that wants a login, and does with one what `accepted` does."""

    def answer(request):
        if request.get("Authorization"):
            return accepted(request)
        return instead("DESCRIBE", 401, WWW_Authenticate=DIGEST)(request)

    return answer


@pytest.mark.parametrize("auth", ["digest", "sha-256", "basic"])
@pytest.mark.parametrize("transports", [("tcp",), ("udp",)])
def test_a_camera_is_pulled_and_its_keyframe_decodes(auth, transports):
    """A stream plays by TCP, or by UDP when TCP is refused, and keeps a keyframe that decodes."""

    async def run():
        async with CameraServer() as server:
            url = await server.add(auth=auth, transports=transports, **LOGIN, **SMALL)
            stream = await pull(url, *LOGIN.values())
            assert stream.packets > 0
            assert (stream.codec, stream.transport) == ("h264", transports[0])
            await until(lambda: stream.keyframe is not None)
            assert decode_picture(stream.codec, stream.keyframe).startswith(b"\x89PNG")
            assert server.viewers(url) == 1
            await stream.close()
            assert (await stream.ended()).verdict == "dropped"
            await until(lambda: server.viewers(url) == 0)

    asyncio.run(run())


def test_a_login_in_the_address_works_and_never_travels():
    """A percent-encoded login in the URL opens the camera, and no request line holds it."""

    async def run():
        async with CameraServer() as server:
            url = await server.add(**LOGIN, **SMALL)
            stream = await pull(url.replace("//", "//admin:s3cret%2F%40@"))
            await stream.close()
        async with fake_camera(willing) as fake:
            await refused(fake.url.replace("//", "//ada:hush@"), timeout=1.0)
            assert not any("ada" in request.url for request in fake.requests)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_rejected"),
        (wanting(lambda request: b""), "rtsp_silent"),
    ],
)
def test_a_wrong_login_is_tried_exactly_once(script, verdict):
    """One DESCRIBE without and one with the login are sent on one connection, then the camera is
    left alone, also where it has read the login and hangs up."""
    error, fake = tried(script, "ada", "hush")
    assert (error.verdict, error.timed_out) == (verdict, False)
    assert (fake.methods, fake.connections) == (["OPTIONS", "DESCRIBE", "DESCRIBE"], 1)
    logins = [bool(request.get("Authorization")) for request in fake.requests]
    assert logins == [False, False, True]


def test_a_stale_nonce_is_renewed_once():
    """`stale=true` is no rejection: the new nonce is answered; a second stale one is refused."""

    def stale_times(times):
        def answer(request):
            if request.method != "DESCRIBE" or f'nonce="{times}"' in request.get("Authorization"):
                return willing(request)
            count = sum(r.method == "DESCRIBE" for r in fakes[0].requests)
            offer = f'Digest realm="r", nonce="{count}"' + (", stale=true" if count > 1 else "")
            return reply(request, 401, WWW_Authenticate=offer)

        return answer

    fakes = []

    async def run():
        for times, verdict in ((2, "no_media"), (3, "auth_rejected")):
            async with fake_camera(stale_times(times)) as fake:
                fakes[:] = [fake]
                assert (await refused(fake.url, "ada", "hush", timeout=1.0)).verdict == verdict

    asyncio.run(run())


def test_a_camera_that_closes_after_its_401_is_reopened():
    """The connection is opened again when a camera closes it after asking for a login."""
    seen = []

    async def serve(reader, writer):
        seen.append("connection")
        parser = Parser()
        while data := await reader.read(65536):
            for request in parser.feed(data):
                seen.append((request.method, bool(request.get("Authorization"))))
                output = wanting(willing)(request)
                writer.write(output)
                if b" 401 " in output:
                    return

    async def run():
        async with raw_server(serve) as port:
            return await refused(f"rtsp://127.0.0.1:{port}/live", "ada", "hush", timeout=1.0)

    assert asyncio.run(run()).verdict == "no_media"
    assert (seen.count("connection"), seen.count(("DESCRIBE", True))) == (2, 1)


def test_an_unknown_scheme_is_not_a_wrong_login():
    """A camera that offers only schemes nobody knows is `auth_unsupported`."""
    script = instead("DESCRIBE", 401, WWW_Authenticate="Negotiate")
    assert tried(script, "ada", "hush")[0].verdict == "auth_unsupported"


@pytest.mark.parametrize("silent_at", ["OPTIONS", "DESCRIBE", "SETUP", "PLAY", None])
def test_silence_hits_the_deadline_and_the_step_is_named(silent_at):
    """A camera that stops answering, or plays nothing, is a time-out; TEARDOWN ends its session."""

    error, fake = tried(lambda r: None if r.method == silent_at else willing(r), timeout=1.0)
    assert error.verdict == ("rtsp_silent" if silent_at else "no_media")
    assert error.timed_out
    assert (silent_at or "PLAY") in error.reason
    assert (fake.methods[-1] == "TEARDOWN") is (silent_at in ("PLAY", None))


def test_a_dripping_camera_hits_the_deadline():
    """A camera that sends one byte now and then cannot stretch the deadline."""

    async def serve(reader, writer):
        await reader.read(1000)
        for byte in b"RTSP/1.0 200 OK\r\nX: " + b"x" * 1000:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
            if reader.at_eof() or writer.is_closing():  # closed, or reset
                return

    async def run():
        async with raw_server(serve) as port:
            async with asyncio.timeout(10):  # half of what it could stretch it to
                error = await refused(f"rtsp://127.0.0.1:{port}/", timeout=1.0)
            assert (error.verdict, error.timed_out) == ("rtsp_silent", True)

    asyncio.run(run())


def test_an_address_and_fields_with_two_logins_open_nothing():
    """Another password, or another name, than that in the address is `credentials_conflict`."""

    async def run():
        async with fake_camera(willing) as fake:
            inside = fake.url.replace("//", "//ada:hush@")
            assert (await refused(inside, "ada", "hush2")).verdict == "credentials_conflict"
            assert (await refused(inside, "eve")).verdict == "credentials_conflict"
            assert fake.connections == 0

    asyncio.run(run())


def test_tls_to_a_camera_without_it_is_told():
    """An rtsps address of a port that speaks RTSP is `tls_failed`."""

    async def run():
        async with fake_camera(willing) as fake:
            return await refused(fake.url.replace("rtsp:", "rtsps:"))

    assert asyncio.run(run()).verdict == "tls_failed"


def test_packets_before_a_refused_play_leave_no_connection():
    """A camera that sends packets and then refuses PLAY is left like any other that refuses."""

    def answer(request):
        early = PACKET if request.method == "PLAY" else b""
        return early + instead("PLAY", 500)(request)

    error, fake = tried(answer)
    assert (error.verdict, fake.methods[-1]) == ("setup_play_failed", "TEARDOWN")


def test_cancelling_closes_the_socket():
    """A cancelled pull leaves no connection behind."""

    async def run():
        async with fake_camera(lambda r: None if r.method == "PLAY" else willing(r)) as fake:
            task = asyncio.create_task(pull(fake.url))
            await until(lambda: "PLAY" in fake.methods)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: fake.open_connections == 0)
            assert fake.methods[-1] == "TEARDOWN"

    asyncio.run(run())


def test_a_late_answer_is_not_taken_for_the_next_one():
    """An answer that comes twice does not count for the request after it."""

    def answer(request):
        again = b"RTSP/1.0 500 Again\r\nCSeq: %s\r\n\r\n" % request.get("CSeq").encode()
        return willing(request) + again

    assert tried(answer, timeout=1.0)[0].verdict == "no_media"


@pytest.mark.parametrize("advertised", [True, False])
def test_the_session_is_kept_alive_at_half_its_time_out(advertised):
    """GET_PARAMETER is sent when the camera names it, else OPTIONS, and silence ends the stream."""

    def answer(request):
        if request.method == "PLAY":
            return reply(request) + PACKET
        if request.method == "SETUP":
            return reply(request, Transport=request.get("Transport"), Session="77;timeout=1")
        if request.method == "OPTIONS" and not advertised:
            return reply(request)
        return willing(request)

    async def run():
        async with fake_camera(answer) as fake:
            stream = await pull(fake.url, silence=1.3)
            ended = await asyncio.wait_for(stream.ended(), 3)
            assert ended.verdict == "no_media"
            assert "1.3 s" in ended.reason
            await stream.close()
            await until(lambda: fake.open_connections == 0)
        method = "GET_PARAMETER" if advertised else "OPTIONS"
        assert fake.methods[4:] == [method, method, "TEARDOWN"]
        assert all(request.get("Session") == "77" for request in fake.requests[4:])

    asyncio.run(run())
