"""The preflight against cameras that answer from a script, byte by byte."""

import asyncio
import contextlib
import gc
import re
import socket
import sys
import threading
import time
import tracemalloc
from concurrent.futures import CancelledError

import pytest

from confkit.rtsp.message import Frame, Parser
from confkit.rtsp.preflight import preflight
from confkit.rtsp.rtp import MAX_UNIT
from confkit.rtsp.verdicts import VERDICTS
from confkit.sandbox.cameras.picture import encode_loop
from confkit.sandbox.cameras.server import CameraServer
from confkit.sandbox.cameras.serving import packetise

from .fakes import SDP, SMALL, fake_camera, instead, raw_server, reply, until, willing

SECRET = "s3cret/@#%"
LOGIN = {"login_name": "admin", "login_password": SECRET}
DIGEST = 'Digest realm="r", nonce="n"'


def of_script(answer, *login, seen=None, **options):
    """The report about a scripted camera, which must have lost every connection by then."""
    options.setdefault("timeout", 5)

    async def run():
        async with fake_camera(answer) as fake:
            report = await asyncio.to_thread(preflight, fake.url, *login, **options)
            await until(lambda: fake.open_connections == 0)
            if seen is not None:
                seen.append(fake)
        return report

    return asyncio.run(run())


def of_bytes(data, close, **options):
    """The report about a port that answers the first bytes it gets with `data`."""
    options.setdefault("timeout", 1)

    async def serve(reader, writer):
        await reader.read(100)
        writer.write(data)
        if not close:
            await reader.read()

    async def run():
        async with raw_server(serve) as port:
            return await asyncio.to_thread(preflight, f"rtsp://127.0.0.1:{port}/", **options)

    return asyncio.run(run())


def of_camera(*login, observe=0.0, transport="auto", **settings):
    """The report about a camera that plays, and how many viewers it has a moment later."""

    async def run():
        async with CameraServer() as server:
            url = await server.add(**{**SMALL, **settings})
            report = await asyncio.to_thread(
                preflight, url, *login, observe=observe, transport=transport
            )
            return report, server.viewers(url)

    return asyncio.run(run())


def test_every_verdict_says_cause_and_advice_in_a_sentence():
    """Each verdict has a stable name, one sentence of cause and one of advice."""
    for name, (cause, advice) in VERDICTS.items():
        assert re.fullmatch("[a-z_]+", name)
        for sentence in (cause, advice):
            assert sentence[0].isupper()
            assert sentence.endswith(".")


@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
@pytest.mark.parametrize("transports", [("tcp",), ("udp",)])
def test_a_camera_that_plays_is_shown(codec, transports):
    """Every codec over TCP and UDP ends in `ok` with its facts and a picture, and no viewer."""
    report, viewers = of_camera("admin", SECRET, codec=codec, transports=transports, **LOGIN)
    assert (report.ok, report.verdict) == (True, "ok")
    assert (report.codec, report.width, report.height) == (codec, 128, 96)
    assert report.transport == transports[0]
    assert report.authentication == "Digest SHA-256"
    assert report.snapshot.png().startswith(b"\x89PNG")
    assert [stage.name for stage in report.stages] == [
        "address",
        "name",
        "TCP",
        "OPTIONS",
        "DESCRIBE",
        "authentication",
        "SDP",
        "SETUP",
        *(["SETUP"] if transports == ("udp",) else []),
        "PLAY",
        "first packet",
        "keyframe",
        "picture",
    ]
    keys = [notice.key for notice in report.warnings]
    assert ("transport_switched" in keys) is (transports == ("udp",))
    assert ("h265" in keys) is (codec == "h265")
    assert viewers == 0


def test_a_stream_is_measured_when_asked():
    """With `observe` the report says frame rate, bit rate, keyframe interval and loss."""
    report, _ = of_camera(observe=1.5, keyframe_every=0.5)
    assert report.ok
    assert report.fps == pytest.approx(10, rel=0.2)
    assert report.keyframe_interval == pytest.approx(0.5, rel=0.2)
    assert report.bit_rate > 1000
    assert report.packet_loss == 0
    assert "10 frames/s" in str(report)


def test_a_long_keyframe_interval_is_a_warning():
    """A stream that sends no second keyframe while it is observed is told of."""
    report, _ = of_camera(observe=2.2, keyframe_every=10)
    assert "long_keyframe_interval" in [notice.key for notice in report.warnings]


@pytest.mark.parametrize(
    ("answer", "verdict", "stage"),
    [
        (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_required", "DESCRIBE"),
        (instead("DESCRIBE", 403), "forbidden", "DESCRIBE"),
        (instead("DESCRIBE", 404), "path_not_found", "DESCRIBE"),
        (instead("DESCRIBE", 400), "path_not_found", "DESCRIBE"),
        (instead("DESCRIBE", 454), "path_not_found", "DESCRIBE"),
        (instead("DESCRIBE", 302), "redirected", "DESCRIBE"),
        (instead("DESCRIBE", 453), "busy", "DESCRIBE"),
        (instead("SETUP", 453), "busy", "SETUP"),
        (instead("PLAY", 503), "busy", "PLAY"),
        (instead("DESCRIBE", 500), "server_error", "DESCRIBE"),
        (instead("DESCRIBE", 551), "server_error", "DESCRIBE"),
        (instead("DESCRIBE", body=b""), "sdp_invalid", "SDP"),
        (instead("DESCRIBE", body=b"<html>"), "sdp_invalid", "SDP"),
        (instead("DESCRIBE", body=SDP[: SDP.index(b"m=")]), "sdp_invalid", "SDP"),
        (instead("DESCRIBE", body=SDP[: SDP.index(b"H264")]), "sdp_invalid", "SDP"),
        (instead("DESCRIBE", body=b"v=0\r\nt=0 0\r\n"), "no_video", "SDP"),
        (instead("DESCRIBE", body=b"v=0\r\nm=audio 0 RTP/AVP 8\r\n"), "no_video", "SDP"),
        (instead("DESCRIBE", body=SDP.replace(b"H264", b"VP8")), "codec_unsupported", "SDP"),
        (
            instead("DESCRIBE", body=b"v=0\r\nm=video 0 RTP/AVP 34\r\n"),
            "codec_unsupported",
            "SDP",
        ),
        (instead("SETUP", 461), "transport_refused", "SETUP"),
        (instead("SETUP", 500), "setup_play_failed", "SETUP"),
        (instead("PLAY", 455), "setup_play_failed", "PLAY"),
        (lambda request: willing(request) if request.method != "PLAY" else b"", "dropped", "PLAY"),
    ],
)
def test_each_answer_has_its_verdict_at_its_stage(answer, verdict, stage):
    """What a camera answers becomes one verdict, and the last stage is where it came."""
    seen = []
    report = of_script(answer, seen=seen)
    assert (report.ok, report.verdict) == (False, verdict)
    assert report.cause
    assert report.advice
    last = report.stages[-1]
    assert (last.name, last.outcome) == (stage, "failed")
    assert seen[0].connections == 1
    playing = stage == "PLAY" and verdict != "dropped"
    assert (seen[0].methods[-1] == "TEARDOWN") is playing


@pytest.mark.parametrize(
    ("data", "close", "verdict", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True, "not_rtsp", "an HTTP server"),
        (b"<!DOCTYPE HTML>", True, "not_rtsp", "an HTTP server"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", False, "not_rtsp", "an SSH server"),
        (b"220 ready\r\n", False, "not_rtsp", "FTP or mail"),
        (b"\x00\x01\x02", False, "not_rtsp", "not an RTSP server"),
        (b"hello", False, "not_rtsp", "not an RTSP server"),
        (b"hello", True, "not_rtsp", "not an RTSP server"),
        (b"\x15\x03\x01\x00\x02\x02\x46", True, "tls_failed", "encrypted"),
        (b"", False, "rtsp_silent", "OPTIONS"),
        (b"", True, "rtsp_silent", "OPTIONS"),
        (b"RTSP/1.0 200", False, "rtsp_silent", "OPTIONS"),
    ],
)
def test_what_is_no_camera_is_named(data, close, verdict, said):
    """A port where something else answers, or nothing, is told apart."""
    report = of_bytes(data, close)
    assert report.verdict == verdict
    assert said in report.cause


def test_a_description_that_is_cut_off_is_no_silence():
    """A body shorter than it was announced is `sdp_invalid`, closed or not."""
    whole = b"RTSP/1.0 200 OK\r\nCSeq: %s\r\nContent-Length: 999\r\n\r\n" + SDP
    for close in (False, True):

        async def serve(reader, writer, close=close):
            parser = Parser()
            while data := await reader.read(65536):
                for request in parser.feed(data):
                    if request.method == "OPTIONS":
                        writer.write(reply(request))
                        continue
                    writer.write(whole % request.get("CSeq").encode())
                    if close:
                        return

        async def run(serve=serve):
            async with raw_server(serve) as port:
                url = f"rtsp://127.0.0.1:{port}/"
                return await asyncio.to_thread(preflight, url, timeout=1)

        report = asyncio.run(run())
        assert (report.verdict, report.stages[-1].name) == ("sdp_invalid", "DESCRIBE")


def test_a_wrong_login_is_tried_once_and_a_lock_is_told():
    """One DESCRIBE without and one with the login; a reason that names a lock is `auth_locked`, and
    a clock or a block is none."""
    seen = []
    report = of_script(
        instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "admin", SECRET, seen=seen
    )
    assert report.verdict == "auth_rejected"
    logins = [bool(r.get("Authorization")) for r in seen[0].requests if r.method == "DESCRIBE"]
    assert logins == [False, True]

    for status, reason, verdict in (
        (401, "Account Locked", "auth_locked"),
        (401, "user_locked", "auth_locked"),
        (401, "Too Many Attempts", "auth_locked"),
        (403, "UserLocked", "auth_locked"),
        (401, "Clock not synchronised", "auth_rejected"),
        (401, "client-clock skew", "auth_rejected"),
        (403, "Clock not synchronised", "forbidden"),
        (403, "IP blocked", "forbidden"),
    ):

        def refused(request, status=status, reason=reason):
            if request.method != "DESCRIBE":
                return willing(request)
            answer = reply(request, status, WWW_Authenticate=DIGEST)
            return answer.replace(b"Reason", reason.encode())

        assert of_script(refused, "admin", SECRET).verdict == verdict, reason


def test_a_new_nonce_after_an_accepted_login_is_no_rejection():
    """A camera that wants a fresh nonce for each request plays on."""

    def answer(request):
        nonce = f'nonce="{request.method}"'
        if request.method == "OPTIONS" or nonce in request.get("Authorization"):
            return willing(request)
        return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}')

    seen = []
    assert of_script(answer, "a", "b", timeout=1.0, seen=seen).verdict == "no_media"
    assert seen[0].methods.count("PLAY") == 2


def test_no_secret_shows_in_a_report():
    """A camera that repeats the login in its reason does not get it into the report."""

    def parrot(request):
        if request.method != "DESCRIBE":
            return willing(request)
        if not request.get("Authorization"):
            return reply(request, 401, WWW_Authenticate='Basic realm="r"')
        words = f"no {SECRET} {request.get('Authorization')}"
        return reply(request, 500).replace(b"Reason", words.encode())

    report = of_script(parrot, "admin", SECRET)
    assert report.verdict == "server_error"
    assert "500 no" in report.cause
    for text in (repr(report), str(report), report._repr_html_(), report.to_frame().to_string()):
        assert SECRET not in text
        assert "YWRtaW46" not in text


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("http://host/", "url_malformed"),
        ("rtsp://", "url_malformed"),
        ("rtsp://host:99999/", "url_malformed"),
        ("rtsp://admin:pa#ss@host/", "url_malformed"),
        ("rtsp://admin:pa/ss@host/", "url_malformed"),
        ("rtsp://admin:pa%ss@host/", "url_malformed"),
        ("rtsp://other:s3cret@host/", "credentials_conflict"),
        ("rtsp://nowhere.invalid/", "dns_failed"),
        ("rtsp://a..b/", "dns_failed"),
        ("rtsp://127.255.255.255/", "unreachable"),  # a broadcast address, to which none connects
    ],
)
def test_an_address_is_judged_before_anything_is_sent(url, verdict):
    """A malformed address, two logins or an unknown host end the preflight, and quote nothing."""
    report = preflight(url, "admin", "hush")
    assert report.verdict == verdict
    for secret in ("pa#ss", "pa/ss", "pa%ss", "s3cret", "hush"):
        assert secret not in f"{report} {report!r}"


def test_a_port_where_nothing_listens_refuses():
    """A closed port is `refused`, at once."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        report = preflight(f"rtsp://127.0.0.1:{taken.getsockname()[1]}/")
    assert (report.verdict, report.stages[-1].name) == ("refused", "TCP")


def test_a_redirect_is_followed_once_without_the_login():
    """A redirect to another camera is followed and reported, and no login goes there."""
    targets = []

    def redirecting(request):
        if request.method != "DESCRIBE":
            return willing(request)
        if not request.get("Authorization"):
            return reply(request, 401, WWW_Authenticate=DIGEST)
        return reply(request, 302, Location=targets[0])

    async def run(answer_there, add):
        async with fake_camera(answer_there) as there, CameraServer() as server:
            targets[:] = [await server.add(**SMALL) if add else there.url]
            async with fake_camera(redirecting) as here:
                report = await asyncio.to_thread(preflight, here.url, "admin", SECRET, timeout=3)
            return report, there

    report, _ = asyncio.run(run(willing, True))
    assert (report.ok, report.verdict) == (True, "redirected")
    assert report.snapshot is not None

    wants = instead("DESCRIBE", 401, WWW_Authenticate=DIGEST)
    report, there = asyncio.run(run(wants, False))
    assert (report.ok, report.verdict) == (False, "redirected")
    assert there.methods == ["OPTIONS", "DESCRIBE"]
    assert not any(request.get("Authorization") for request in there.requests)

    again = instead("DESCRIBE", 302, Location="rtsp://127.0.0.1:1/")
    report, _ = asyncio.run(run(again, False))
    assert report.verdict == "redirected"
    assert "second time" in report.cause


def packets(*payloads, marker=True, start=0):
    """Interleaved RTP packets, one a payload."""
    return b"".join(
        Frame(0, b"\x80%c" % (96 | marker << 7) + number.to_bytes(2) + bytes(8) + payload).encode()
        for number, payload in enumerate(payloads, start)
    )


def playing(*payloads, codec=b"H264", close=False):
    """A script that plays these payloads after PLAY."""

    def answer(request):
        if request.method == "DESCRIBE":
            return reply(request, body=SDP.replace(b"H264", codec))
        if request.method == "PLAY":
            return reply(request) + packets(*payloads)
        return willing(request)

    return answer


SLICE, HEVC_SLICE = b"\x41" + bytes(40), b"\x02\x01" + bytes(40)


@pytest.mark.parametrize(
    ("answer", "verdict", "quick"),
    [
        (willing, "no_media", False),
        (playing(*[SLICE] * 70), "no_keyframe", False),
        (playing(*[HEVC_SLICE] * 70), "no_picture", True),
        (playing(*[SLICE] * 70, codec=b"H265"), "no_picture", True),
        (playing(*[SLICE] * 70, codec=b"JPEG"), "no_picture", True),
        (playing(*[HEVC_SLICE] * 3), "no_picture", False),
        (playing(b"\x65" + bytes(40), b"\x65" + bytes(40)), "no_picture", False),
    ],
)
def test_what_plays_and_shows_nothing_is_told_apart(answer, verdict, quick):
    """No packets, no keyframe, and another codec than announced are three things."""
    assert of_script(answer, timeout=300 if quick else 0.7).verdict == verdict


def test_udp_without_a_packet_is_a_firewall():
    """A camera that accepts UDP and sends nothing is `udp_blocked`."""
    assert of_script(willing, transport="udp", timeout=1.0).verdict == "udp_blocked"


def test_a_camera_that_drops_is_told():
    """A connection that closes after PLAY, before a picture, is `dropped`."""

    async def serve(reader, writer):
        parser = Parser()
        while data := await reader.read(65536):
            for request in parser.feed(data):
                writer.write(willing(request))
                if request.method == "PLAY":
                    writer.write(packets(SLICE))
                    return

    async def run():
        async with raw_server(serve) as port:
            return await asyncio.to_thread(preflight, f"rtsp://127.0.0.1:{port}/", timeout=3)

    report = asyncio.run(run())
    assert report.verdict == "dropped"


def test_nothing_is_left_behind():
    """After a preflight there is neither a thread nor a socket of it."""
    before = threading.active_count()
    for _ in range(3):
        assert of_camera(transports=("udp",))[0].ok
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


@pytest.mark.parametrize("script", [willing, instead("DESCRIBE", 404)])
def test_each_stage_is_told_as_it_begins_and_as_it_ends(script):
    """Who listens hears of every stage in order: that it has begun, then all that the report says
    of it, before the next one begins."""
    told = []
    report = of_script(script, on_stage=told.append, timeout=1.0)
    assert tuple(told[1::2]) == report.stages
    assert [(stage.name, stage.seconds, stage.outcome) for stage in told[::2]] == [
        (stage.name, 0.0, "running") for stage in report.stages
    ]
    assert report.stages[-1].outcome == "failed"


def raised_by(url, **options):
    """What a preflight raises, as a value: on its way through asyncio it would be taken for its."""
    try:
        return preflight(url, **options)
    except BaseException as error:  # noqa: BLE001
        return error


def test_a_stage_is_told_while_the_camera_is_tried():
    """The stages before a silent one are known while it lasts, and which one it is."""
    told = []
    silent = threading.Event()

    def listen(stage):
        told.append(stage)
        if (stage.name, stage.outcome) == ("PLAY", "running"):
            silent.set()

    async def run():
        async with fake_camera(lambda r: None if r.method == "PLAY" else willing(r)) as fake:
            url, options = fake.url, {"timeout": 60, "on_stage": listen, "cancelled": silent}
            return await asyncio.to_thread(raised_by, url, **options)

    assert isinstance(asyncio.run(run()), CancelledError)
    assert [stage.name for stage in told if stage.outcome == "ok"] == [
        "address",
        "name",
        "TCP",
        "OPTIONS",
        "DESCRIBE",
        "SDP",
        "SETUP",
    ]


# A camera's failures are OSError and TimeoutError as well: those of the listener are its own.
@pytest.mark.parametrize("kind", [OSError, TimeoutError, KeyboardInterrupt])
def test_what_the_listener_raises_is_the_callers_and_the_camera_gets_its_farewell(kind):
    """An error of `on_stage` comes out as it is, and the session is ended before."""
    broken = kind("not the camera")
    told = []

    def listen(stage):
        told.append(stage.name)
        if stage.name == "first packet":
            raise broken

    async def run():
        async with fake_camera(willing) as fake:
            assert await asyncio.to_thread(raised_by, fake.url, on_stage=listen) is broken
            await until(lambda: fake.open_connections == 0)
            return fake.methods

    assert asyncio.run(run())[-1] == "TEARDOWN"
    assert told.count("first packet") == 1


def test_a_listener_that_raises_between_tcp_and_tls_leaves_no_socket():
    """Before there is a session, too, its error comes out and the connection is closed."""
    broken = LookupError("not the camera")
    received = []

    def listen(stage):
        if stage.name == "TLS":
            raise broken

    async def serve(reader, _):
        received.append(await reader.read())

    async def run():
        async with raw_server(serve) as port:
            url = f"rtsps://127.0.0.1:{port}/"
            assert await asyncio.to_thread(raised_by, url, on_stage=listen) is broken
            await until(lambda: received == [b""])

    asyncio.run(run())
    gc.collect()  # a socket that nobody has closed is a warning now, and those are errors


@pytest.mark.parametrize(
    "options", [{"transport": "quic"}, {"timeout": 0}, {"timeout": float("nan")}, {"observe": -1}]
)
def test_an_option_that_makes_no_sense_raises(options):
    """A transport, time-out or observation that cannot be meant is a ValueError."""
    with pytest.raises(ValueError, match=next(iter(options))):
        preflight("rtsp://127.0.0.1/", **options)


def test_a_host_with_two_addresses_is_tried_at_both():
    """A camera on the second of its host's addresses is found; both refused is `refused`."""

    async def run():
        async with fake_camera(instead("DESCRIBE", 404)) as fake:
            url = fake.url.replace("127.0.0.1", "localhost")
            return await asyncio.to_thread(preflight, url)

    assert asyncio.run(run()).verdict == "path_not_found"


def test_a_camera_has_an_address_of_six(version_six):
    """IPv6 addresses stand in brackets, and the camera plays over both transports."""

    async def run():
        async with CameraServer(version_six) as server:
            reports = []
            for transports in (("tcp",), ("udp",)):
                url = await server.add(transports=transports, **SMALL)
                assert url.startswith("rtsp://[::1]:")
                reports.append(await asyncio.to_thread(preflight, url))
            return reports

    for report in asyncio.run(run()):
        assert report.ok, str(report)


def test_without_a_decoder_all_but_the_picture_is_told():
    """Where PyAV is missing the keyframe counts, and the report says what is not known."""
    code = (
        "import sys; sys.modules['av'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'av' else find(name, *rest)\n"
        "from confkit.rtsp.preflight import preflight\n"
        "print(preflight(sys.argv[1]))"
    )

    async def run():
        async with CameraServer() as server:
            url = await server.add(**SMALL)
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", code, url, stdout=asyncio.subprocess.PIPE
            )
            output, _ = await process.communicate()
            return output.decode()

    output = asyncio.run(run())
    assert "ok: rtsp://" in output
    assert "- picture" in output
    assert "H.264 High" in output
    assert "PyAV is missing" in output


def test_memory_is_bounded_by_a_picture_not_by_the_stream():
    """Packets without an end and without a keyframe do not pile up."""
    flood = packets(*[SLICE] * 200, marker=False)

    async def serve(reader, writer):
        parser = Parser()
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                for request in parser.feed(data):
                    writer.write(willing(request))
                    if request.method == "PLAY":
                        for _ in range(8000):  # four times what a picture may have
                            writer.write(flood)
                            await writer.drain()

    async def run():
        async with raw_server(serve) as port:
            tracemalloc.start()
            url = f"rtsp://127.0.0.1:{port}/"
            report = await asyncio.to_thread(preflight, url, timeout=6)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return report, peak

    report, peak = asyncio.run(run())
    assert report.verdict == "no_keyframe"
    assert peak < 8 * MAX_UNIT  # its slices are small, and each is an object of several times that


def sdp(old, new):
    """A script whose description differs in one place."""
    return instead("DESCRIBE", body=SDP.replace(old, new))


def counting(change):
    """A script that counts its answers in a way of its own."""

    def answer(request):
        number = int(request.get("CSeq"))
        output = willing(request)
        return output.replace(b"CSeq: %d\r\n" % number, change(number))

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        sdp(b"s=-", b"s=-\r\nX-Vendor: 1"),
        sdp(b"s=-", b" s=-"),
        sdp(b"v=0", b"\xef\xbb\xbfv=0"),
        sdp(b"track1\r\n", b"track1\r\n\0"),
        sdp(b"96 H264", b"96\tH264"),
        sdp(b"m=video", b"m=application 0 TCP/DTLS/SCTP webrtc-datachannel\r\nm=video"),
        sdp(b"m=video", b"m=audio 0 RTP/AVP\r\nm=video"),
        sdp(b"RTP/AVP 96", b"RTP/AVP 97 96\r\na=rtpmap:97 rtx/90000"),
        sdp(b"a=control", b"a=fmtp:96 sprop-parameter-sets=\xc3\xa9\r\na=control"),
        sdp(b"track1", b"my\0 track"),
        sdp(b"track1", b"tr\xe4ck"),
        counting(lambda number: b"CSeq: 1\r\n"),
        counting(lambda number: b"CSeq: %d\r\n" % (number - 1)),
        counting(lambda number: b"CSeq: 000%d\r\n" % number),
        counting(lambda number: b"CSeq: " + b"9" * 5000 + b"\r\n"),
        instead("OPTIONS", Content_Length=""),
        instead("SETUP", Session=" 77 ; timeout = 30"),
        instead("SETUP", Session="77", Transport="RTP/AVP/TCP;interleaved=" + "9" * 5000),
    ],
)
def test_odd_firmware_is_no_failure(answer):
    """What players pass over is passed over: the camera gets as far as PLAY."""

    def watched(request):
        output = answer(request)
        assert re.fullmatch("[!-~]+", request.url)
        return output

    assert of_script(watched, timeout=1.0).verdict == "no_media"


def test_packets_before_play_and_stray_bytes_between_them_are_passed_over():
    """A camera that begins too soon, or sends bytes that are no frame, is played all the same."""
    keyframe = packetise_keyframe()

    def answer(request):
        early = packets(SLICE) if request.method in ("OPTIONS", "DESCRIBE") else b""
        if request.method == "PLAY":
            return reply(request) + b"\x07\x08junk" + packets(*keyframe) + b"junk" + packets(SLICE)
        return early + willing(request)

    report = of_script(answer, timeout=3)
    assert report.ok, str(report)


def packetise_keyframe():
    loop = encode_loop("x", **SMALL)
    return packetise("h264", loop.frames[0], limit=60_000)


def test_other_packets_on_the_channel_do_not_spoil_the_picture():
    """Sound and RTCP that come on the video's channel are told apart by their payload type."""
    picture = packets(*packetise_keyframe(), start=1)
    sound = b"".join(
        Frame(0, bytes([0x80, kind]) + number.to_bytes(2) + bytes(48)).encode()
        for number, kind in ((4711, 8), (4712, 8), (1, 200))
    )

    def answer(request):
        if request.method == "PLAY":
            return reply(request) + packets(SLICE) + sound + picture
        return willing(request)

    assert of_script(answer, timeout=3).ok


def test_a_wrong_login_at_play_is_not_repeated_in_the_farewell():
    """TEARDOWN carries no login that was just rejected."""

    def answer(request):
        if request.method != "PLAY":
            return willing(request)
        return reply(request, 401, WWW_Authenticate=DIGEST)

    seen = []
    assert of_script(answer, "a", "b", seen=seen).verdict == "auth_rejected"
    assert seen[0].methods[-1] == "TEARDOWN"
    assert not seen[0].requests[-1].get("Authorization")


@pytest.mark.parametrize(
    "place", ["rtsp://127.0.0.1:1/x/{}", "rtsp://{}.invalid/x", "rtsp://127.0.0.1:1/?a=1&b={}"]
)
def test_a_redirect_does_not_show_the_password(place):
    """An address that a camera makes of the password is shown without it."""

    def answer(request):
        if request.method != "DESCRIBE":
            return willing(request)
        if not request.get("Authorization"):
            return reply(request, 401, WWW_Authenticate='Basic realm="r"')
        return reply(request, 302, Location=place.format("hunter22"))

    report = of_script(answer, "admin", "hunter22")
    assert report.verdict == "redirected"
    assert "hunter22" not in f"{report}{report!r}{report._repr_html_()}"


def test_a_password_that_stands_in_the_path_too_is_not_shown():
    """Many cameras take the login in the query as well: no part of the report shows it."""

    async def run():
        async with CameraServer() as server:
            url = await server.add("live?user=admin&password=hunter22", **SMALL)
            return await asyncio.to_thread(preflight, url, "admin", "hunter22")

    report = asyncio.run(run())
    assert report.ok
    assert "hunter22" not in f"{report}{report!r}{report._repr_html_()}"
    other = preflight("rtsp://127.0.0.1:1/hunter22", "admin", "hunter22")
    assert "hunter22" not in f"{other}{other!r}{other._repr_html_()}"


@pytest.mark.parametrize("login", [("a\n", "b"), ("a", "\ud800"), ("a", "b\0")])
def test_a_login_that_cannot_be_sent_is_refused_before_anything_is(login):
    """Control characters and half letters in a login end the preflight at its address."""
    report = preflight("rtsp://127.0.0.1:1/", *login)
    assert (report.verdict, report.stages[-1].name) == ("url_malformed", "address")


def test_a_name_in_the_address_and_the_password_in_its_field_are_one_login():
    """An address with the login name alone does not contradict the fields."""
    report, _ = of_camera("admin", SECRET, **LOGIN)
    assert report.ok

    async def run():
        async with CameraServer() as server:
            url = await server.add(**LOGIN, **SMALL)
            return await asyncio.to_thread(
                preflight, url.replace("//", "//admin@"), "admin", SECRET
            )

    assert asyncio.run(run()).ok


def test_mjpeg_beyond_its_header_is_named():
    """Pictures over 2040 pixels, which RTP's header for JPEG cannot tell, are not supported."""
    begins = bytes(4) + b"\1\x50\0\0" + bytes(100)
    report = of_script(playing(begins, codec=b"JPEG"), timeout=3)
    assert report.verdict == "codec_unsupported"
    assert "2040" in report.cause


def test_another_codec_is_told_at_once_when_packets_overtake_each_other_too():
    """The early verdict does not hang on a packet count that two packets pass together."""
    first, rest = packets(*[HEVC_SLICE] * 59), packets(*[HEVC_SLICE] * 9, start=61)
    swapped = packets(HEVC_SLICE, start=60) + packets(HEVC_SLICE, start=59)

    def answer(request):
        if request.method == "PLAY":
            return reply(request) + first + swapped + rest
        return willing(request)

    assert of_script(answer, timeout=300).verdict == "no_picture"
