"""The preflight against cameras that answer from a script, byte by byte."""

import asyncio
import gc
import re
import socket
import ssl
import sys
import threading
import tracemalloc
from concurrent.futures import CancelledError

import pytest

from confkit.rtsp.message import Frame
from confkit.rtsp.preflight import preflight
from confkit.rtsp.rtp import MAX_UNIT
from confkit.rtsp.verdicts import VERDICTS
from confkit.sandbox.cameras.server import CameraServer

from .fakes import (
    DIGEST,
    SDP,
    SMALL,
    Last,
    at,
    fake_camera,
    instead,
    keyframe,
    of_script,
    packets,
    playing,
    raw_server,
    reply,
    tried,
    until,
    wanting,
    willing,
)

SECRET = "s3cret/@#%"
LOGIN = {"login_name": "admin", "login_password": SECRET}
SLICE, HEVC_SLICE = b"\x41" + bytes(40), b"\x02\x01" + bytes(40)


async def of_camera(*login, change=str, options=None, **settings):
    """The report about a camera that plays, and how many viewers it has a moment later."""
    async with CameraServer() as server:
        url = await server.add(**{**SMALL, **settings})
        report = await asyncio.to_thread(preflight, change(url), *login, **(options or {}))
        return report, server.viewers(url)


def keys(report):
    return [notice.key for notice in report.warnings]


def told_by(report):
    """All that a person could be shown of a report."""
    return f"{report!r}{report}{report._repr_html_()}{report.to_frame().to_string()}"


def test_every_verdict_says_cause_and_advice_in_a_sentence():
    """Each verdict has a stable name, one sentence of cause and one of advice."""
    for name, sentences in VERDICTS.items():
        assert re.fullmatch("[a-z_]+", name)
        assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)


# Cameras that play


@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
@pytest.mark.parametrize("transport", ["tcp", "udp"])
async def test_a_camera_that_plays_is_shown(codec, transport):
    """Every codec over TCP and UDP ends in `ok` with its facts and a picture, and no viewer."""
    settings = {"codec": codec, "transports": (transport,), **LOGIN}
    report, viewers = await of_camera("admin", SECRET, **settings)
    assert (report.ok, report.verdict) == (True, "ok")
    assert (report.codec, report.width, report.height) == (codec, 128, 96)
    assert (report.transport, report.authentication) == (transport, "Digest SHA-256")
    assert report.snapshot.png().startswith(b"\x89PNG")
    setups = "SETUP " * (2 if transport == "udp" else 1)
    names = f"address name TCP OPTIONS DESCRIBE authentication SDP {setups}PLAY".split()
    assert [stage.name for stage in report.stages] == [
        *names,
        "first packet",
        "keyframe",
        "picture",
    ]
    assert ("transport_switched" in keys(report)) is (transport == "udp")
    assert ("h265" in keys(report)) is (codec == "h265")
    assert viewers == 0


async def test_a_stream_is_measured_when_asked():
    """With `observe` the report says frame rate, bit rate, keyframe interval and loss, and warns of
    a long interval."""
    report, _ = await of_camera(keyframe_every=0.5, options={"observe": 1.5})
    assert report.fps == pytest.approx(10, rel=0.2)
    assert report.keyframe_interval == pytest.approx(0.5, rel=0.2)
    assert report.bit_rate > 1000
    assert report.packet_loss == 0
    assert "10 frames/s" in str(report)
    report, _ = await of_camera(keyframe_every=10, options={"observe": 2.2})
    assert "long_keyframe_interval" in keys(report)


@pytest.mark.parametrize("inside", ["admin@", "admin:s3cret%2F%40%23%25@", ""])
async def test_a_login_may_stand_in_the_address(inside):
    """All of it, percent-encoded, or the name alone."""
    change = lambda url: url.replace("//", f"//{inside}")  # noqa: E731
    login = () if ":" in inside else ("admin", SECRET)
    assert (await of_camera(*login, change=change, **LOGIN))[0].ok


async def test_a_password_that_stands_in_the_path_too_is_not_shown():
    """Many cameras take the login in the query as well: no part of the report shows it."""
    login = ("admin", "hunter22")
    report, _ = await of_camera(*login, path="live?user=admin&password=hunter22")
    assert report.ok
    for one in (report, preflight("rtsp://127.0.0.1:1/hunter22", *login)):
        assert "hunter22" not in told_by(one)


async def test_hosts_of_several_addresses_and_of_version_six(version_six):
    """A camera on the second of its host's addresses is found; one of version six, in brackets,
    plays over both transports."""
    async with fake_camera(instead("DESCRIBE", 404)) as fake, CameraServer(version_six) as server:
        url = fake.url.replace("127.0.0.1", "localhost")
        assert (await asyncio.to_thread(preflight, url)).verdict == "path_not_found"
        for transports in (("tcp",), ("udp",)):
            url = await server.add(transports=transports, **SMALL)
            assert url.startswith("rtsp://[::1]:")
            report = await asyncio.to_thread(preflight, url)
            assert report.ok, str(report)


async def test_without_a_decoder_all_but_the_picture_is_told():
    """Where PyAV is missing the keyframe counts, and the report says what is not known."""
    code = (
        "import sys; sys.modules['av'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'av' else find(name, *rest)\n"
        "from confkit.rtsp.preflight import preflight\n"
        "print(preflight(sys.argv[1]))"
    )
    async with CameraServer() as server:
        line = [sys.executable, "-c", code, await server.add(**SMALL)]
        process = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
        output = (await process.communicate())[0].decode()
    for told in ("ok: rtsp://", "- picture", "H.264 High", "PyAV is missing"):
        assert told in output


def attempts(certificate, *changes):
    """The reports about an rtsps camera, one for each change of its address with its options."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def run(change, options):
        return (await of_camera("admin", SECRET, change=change, options=options, tls=context))[0]

    return [asyncio.run(run(*one)) for one in changes]


def test_encryption(certificate, tmp_path):
    """With the certificate's file, or without a check, the camera plays; else `tls_failed`, as on a
    port that wants encryption or has none, and with certificates that cannot be read."""
    (broken := tmp_path / "broken.pem").write_text("nothing")
    known = {"verify": str(certificate[0])}
    plays, unchecked, unknown, other, plain, missing, unreadable = attempts(
        certificate,
        (str, known),
        (str, {"verify": False}),
        (str, {}),
        (lambda url: url.replace("127.0.0.1", "127.1"), known),
        (lambda url: url.replace("rtsps:", "rtsp:"), {}),
        *((str, {"verify": str(path)}) for path in (tmp_path / "missing.pem", broken)),
    )
    assert plays.ok, str(plays)
    assert [stage.name for stage in plays.stages][2:4] == ["TCP", "TLS"]
    assert unchecked.ok
    without = of_script(willing, scheme="rtsps")
    for report, said in (
        (unknown, "self-signed"),
        (other, "127.1"),
        (plain, "rtsps"),
        (missing, "cannot be read"),
        (unreadable, "cannot be read"),
        (without, "does not answer with an encrypted"),
    ):
        assert report.verdict == "tls_failed", str(report)
        assert said in report.cause


# Cameras that refuse

NO_FORMAT = SDP[: SDP.index(b"H264")]


@pytest.mark.parametrize(
    ("answer", "verdict", "stage"),
    [
        *(
            (instead(method, status), verdict, method)
            for method, status, verdict in (
                ("DESCRIBE", 403, "forbidden"),
                ("DESCRIBE", 404, "path_not_found"),
                ("DESCRIBE", 400, "path_not_found"),
                ("DESCRIBE", 454, "path_not_found"),
                ("DESCRIBE", 302, "redirected"),
                ("DESCRIBE", 453, "busy"),
                ("SETUP", 453, "busy"),
                ("PLAY", 503, "busy"),
                ("DESCRIBE", 500, "server_error"),
                ("DESCRIBE", 551, "server_error"),
                ("SETUP", 461, "transport_refused"),
                ("SETUP", 500, "setup_play_failed"),
                ("PLAY", 455, "setup_play_failed"),
            )
        ),
        *(
            (instead("DESCRIBE", body=body), verdict, "SDP")
            for body, verdict in (
                (b"", "sdp_invalid"),
                (b"  \r\n", "sdp_invalid"),
                (b"<html>", "sdp_invalid"),
                (b"v=0\r\n<html>", "sdp_invalid"),
                (b"v=0\r\nm=video", "sdp_invalid"),
                (SDP[: SDP.index(b"m=")], "sdp_invalid"),
                (NO_FORMAT, "sdp_invalid"),
                (b"v=0\r\nm=video 0 RTP/AVP\r\n", "sdp_invalid"),
                (b"v=0\r\nt=0 0\r\n", "no_video"),
                (b"v=0\r\nm=audio 0 RTP/AVP 8\r\n", "no_video"),
                (SDP.replace(b"H264", b"VP8"), "codec_unsupported"),
                (b"v=0\r\nm=video 0 RTP/AVP 34\r\n", "codec_unsupported"),
            )
        ),
        (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_required", "DESCRIBE"),
        (at("PLAY", lambda _: b""), "dropped", "PLAY"),
        (at("DESCRIBE", lambda r: Last(reply(r, body=SDP)[:-9])), "sdp_invalid", "DESCRIBE"),
        (
            at("PLAY", lambda r: packets(SLICE) + reply(r, 500)),  # some send before they refuse
            "setup_play_failed",
            "PLAY",
        ),
    ],
)
def test_each_answer_has_its_verdict_at_its_stage(answer, verdict, stage):
    """What a camera answers becomes one verdict, and the last stage is where it came; a session
    that was set up is ended."""
    report, fake = tried(answer)
    assert (report.ok, report.verdict) == (False, verdict)
    assert report.cause
    assert report.advice
    assert (report.stages[-1].name, report.stages[-1].outcome) == (stage, "failed")
    assert fake.connections == 1
    assert (fake.methods[-1] == "TEARDOWN") is (stage == "PLAY" and verdict != "dropped")


@pytest.mark.parametrize(
    ("data", "verdict", "said"),
    [
        (Last(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "not_rtsp", "an HTTP server"),
        (Last(b"<!DOCTYPE HTML>"), "not_rtsp", "an HTTP server"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not_rtsp", "an SSH server"),
        (b"220 ready\r\n", "not_rtsp", "FTP or mail"),
        (b"\x00\x01\x02", "not_rtsp", "not an RTSP server"),
        (b"hello", "not_rtsp", "not an RTSP server"),
        (Last(b"hello"), "not_rtsp", "not an RTSP server"),
        (Last(b"\x15\x03\x01\x00\x02\x02\x46"), "tls_failed", "encrypted"),
        (Last(), "rtsp_silent", "OPTIONS"),
        (b"RTSP/1.0 200", "rtsp_silent", "OPTIONS"),
    ],
)
def test_what_is_no_camera_is_named(data, verdict, said):
    """A port where something else answers, or nothing, is told apart."""
    report = of_script(lambda _: data, timeout=1)
    assert report.verdict == verdict
    assert said in report.cause


@pytest.mark.parametrize(
    ("answer", "verdict", "said"),
    [
        *(
            (at(step, lambda _: None), "rtsp_silent", f"did not answer {step} within 0.7 s")
            for step in ("OPTIONS", "DESCRIBE", "SETUP", "PLAY")
        ),
        (wanting(lambda _: None), "rtsp_silent", "did not answer the login"),
        (at("DESCRIBE", lambda r: reply(r, body=SDP)[:-9]), "sdp_invalid", "did not come whole"),
        (willing, "no_media", "accepted PLAY"),
        (playing(*[SLICE] * 70), "no_keyframe", "among 70 packets"),
        (playing(*[HEVC_SLICE] * 3), "no_picture", "not the H264"),
        (playing(*[b"\x65" + bytes(40)] * 2), "no_picture", "does not decode"),
        (lambda r: willing(r) + reply(r, 500), "no_media", ""),  # a second answer counts for none
    ],
)
def test_what_does_not_come_is_named_at_the_deadline(answer, verdict, said):
    """Silence at a step, a body cut off, no packets, no keyframe, another codec: TEARDOWN ends each
    session."""
    report, fake = tried(answer, "ada", "hush", timeout=0.7)
    assert report.verdict == verdict
    assert said in report.cause
    assert (fake.methods[-1] == "TEARDOWN") is ("PLAY" in fake.methods)


JPEG_BEGINS = bytes(4) + b"\1\x50\0\0" + bytes(100)  # of more than its header can tell
FIRST, REST = packets(*[HEVC_SLICE] * 59), packets(*[HEVC_SLICE] * 9, start=61)
SWAPPED = packets(HEVC_SLICE, start=60) + packets(HEVC_SLICE, start=59)


@pytest.mark.parametrize(
    ("answer", "verdict", "said"),
    [
        (playing(*[HEVC_SLICE] * 70), "no_picture", "H264"),
        (playing(*[SLICE] * 70, codec=b"H265"), "no_picture", "H265"),
        (playing(*[SLICE] * 70, codec=b"JPEG"), "no_picture", "JPEG"),
        (
            playing(before=FIRST + SWAPPED + REST),
            "no_picture",
            "H264",
        ),  # 60 is passed unseen
        (playing(JPEG_BEGINS, codec=b"JPEG"), "codec_unsupported", "2040"),
        (at("PLAY", lambda r: Last(willing(r) + packets(SLICE))), "dropped", "closed"),
    ],
)
def test_what_cannot_become_a_picture_is_told_at_once(answer, verdict, said):
    """Another codec than announced, MJPEG beyond its header, and a connection that closes are not
    waited for."""
    report = of_script(answer, timeout=300)
    assert report.verdict == verdict
    assert said in report.cause


def test_udp_without_a_packet_is_a_firewall():
    """A camera that accepts UDP and sends nothing is `udp_blocked`."""
    assert of_script(willing, transport="udp", timeout=1.0).verdict == "udp_blocked"


async def test_a_dripping_camera_hits_the_deadline():
    """A camera that sends one byte now and then cannot stretch the deadline."""

    async def serve(reader, writer):
        await reader.read(1000)
        for byte in b"RTSP/1.0 200 OK\r\nX: " + b"x" * 1000:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
            if reader.at_eof() or writer.is_closing():  # closed, or reset
                return

    async with raw_server(serve) as port, asyncio.timeout(10):  # half of what it could stretch
        report = await asyncio.to_thread(preflight, f"rtsp://127.0.0.1:{port}/", timeout=1)
    assert report.verdict == "rtsp_silent"


async def test_memory_is_bounded_by_a_picture_not_by_the_stream():
    """Packets without an end and without a keyframe do not pile up."""
    flood = [packets(*[SLICE] * 200, marker=False)] * 8000  # four times what a picture may have
    async with fake_camera(at("PLAY", lambda r: [willing(r), *flood])) as fake:
        tracemalloc.start()
        report = await asyncio.to_thread(preflight, fake.url, timeout=6)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert report.verdict == "no_keyframe"
    assert peak < 8 * MAX_UNIT  # its slices are small, and each is an object of several times that


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
        ("rtsp://other@host/", "credentials_conflict"),
        ("rtsp://admin:s3cret@host/", "credentials_conflict"),
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


@pytest.mark.parametrize("login", [("a\n", "b"), ("a", "\ud800"), ("a", "b\0")])
def test_a_login_that_cannot_be_sent_is_refused_before_anything_is(login):
    """Control characters and half letters in a login end the preflight at its address."""
    report = preflight("rtsp://127.0.0.1:1/", *login)
    assert (report.verdict, report.stages[-1].name) == ("url_malformed", "address")


def test_a_port_where_nothing_listens_refuses():
    """A closed port is `refused`, at once."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        report = preflight(f"rtsp://127.0.0.1:{taken.getsockname()[1]}/")
    assert (report.verdict, report.stages[-1].name) == ("refused", "TCP")


# Logins


@pytest.mark.parametrize(
    ("status", "reason", "verdict"),
    [
        (401, "Unauthorized", "auth_rejected"),
        (401, "Clock not synchronised", "auth_rejected"),
        (401, "client-clock skew", "auth_rejected"),
        (401, "Account Locked", "auth_locked"),
        (401, "user_locked", "auth_locked"),
        (401, "Too Many Attempts", "auth_locked"),
        (403, "UserLocked", "auth_locked"),
        (403, "Clock not synchronised", "forbidden"),
        (403, "IP blocked", "forbidden"),
    ],
)
def test_a_lock_is_told_from_a_clock(status, reason, verdict):
    """A reason that names a lock is `auth_locked`; a clock or a block is none."""
    script = instead("DESCRIBE", status, reason=reason, WWW_Authenticate=DIGEST)
    assert of_script(script, "admin", SECRET).verdict == verdict


@pytest.mark.parametrize(
    ("script", "verdict", "logins"),
    [
        (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_rejected", ["DESCRIBE"]),
        (
            wanting(lambda _: b""),
            "rtsp_silent",
            ["DESCRIBE"],
        ),  # it hangs up
        (instead("DESCRIBE", 401, WWW_Authenticate="Negotiate"), "auth_unsupported", []),
        (instead("PLAY", 401, WWW_Authenticate=DIGEST), "auth_rejected", ["PLAY"]),
    ],
)
def test_a_wrong_login_is_tried_exactly_once(script, verdict, logins):
    """One request without and one with the login are sent on one connection, then the camera is
    left alone; TEARDOWN carries no login that was just rejected."""
    report, fake = tried(script, "ada", "hush")
    assert report.verdict == verdict
    assert (fake.logins, fake.connections) == (logins, 1)


@pytest.mark.parametrize(("times", "verdict"), [(2, "no_media"), (3, "auth_rejected")])
def test_a_stale_nonce_is_renewed_once(times, verdict):
    """`stale=true` is no rejection: the new nonce is answered; a second stale one is refused."""
    asked = []

    def answer(request):
        if f'nonce="{times}"' in request.get("Authorization"):
            return reply(request, body=SDP)
        asked.append(request)
        offer = f'Digest realm="r", nonce="{len(asked)}"' + ", stale=true" * (len(asked) > 1)
        return reply(request, 401, WWW_Authenticate=offer)

    assert of_script(at("DESCRIBE", answer), "ada", "hush", timeout=1.0).verdict == verdict


def test_a_new_nonce_after_an_accepted_login_is_no_rejection():
    """A camera that wants a fresh nonce for each request plays on, and hears the farewell."""

    def answer(request):
        nonce = f'nonce="{request.method}"'
        if request.method == "OPTIONS" or nonce in request.get("Authorization"):
            return willing(request)
        return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}')

    report, fake = tried(answer, "a", "b", timeout=1.0)
    assert report.verdict == "no_media"
    assert fake.methods.count("PLAY") == fake.methods.count("TEARDOWN") == 2


def test_a_camera_that_closes_after_its_401_is_reopened():
    """The connection is opened again when a camera closes it after asking for a login."""

    def answer(request):
        output = wanting(willing)(request)
        return Last(output) if b" 401 " in output else output

    report, fake = tried(answer, "ada", "hush", timeout=1.0)
    assert report.verdict == "no_media"
    assert (fake.connections, fake.logins.count("DESCRIBE")) == (2, 1)


def test_no_secret_shows_in_a_report():
    """A camera that repeats the login in its reason does not get it into the report."""

    def parrot(request):
        words = f"no {SECRET} {request.get('Authorization')}"
        return reply(request, 500, reason=words)

    report = of_script(wanting(parrot, 'Basic realm="r"'), "admin", SECRET)
    assert report.verdict == "server_error"
    assert "500 no" in report.cause
    assert SECRET not in told_by(report)
    assert "YWRtaW46" not in told_by(report)


# Redirections


async def test_a_redirect_is_followed_once_without_the_login():
    """A redirect to another camera is followed and reported, and no login goes there."""
    targets = []

    def away(request):
        return reply(request, 302, Location=targets[-1])

    async def redirected(target):
        targets.append(target)
        async with fake_camera(wanting(at("DESCRIBE", away))) as here:
            return await asyncio.to_thread(preflight, here.url, "admin", SECRET, timeout=3)

    async with CameraServer() as server:
        report = await redirected(await server.add(**SMALL))
    assert (report.ok, report.verdict) == (True, "redirected")
    assert report.snapshot is not None
    async with fake_camera(wanting(willing)) as there:
        report = await redirected(there.url)
    assert (report.ok, report.verdict) == (False, "redirected")
    assert (there.methods, there.logins) == (["OPTIONS", "DESCRIBE"], [])
    async with fake_camera(instead("DESCRIBE", 302, Location="rtsp://127.0.0.1:1/")) as there:
        report = await redirected(there.url)
    assert report.verdict == "redirected"
    assert "second time" in report.cause


@pytest.mark.parametrize(
    "place", ["rtsp://127.0.0.1:1/x/{}", "rtsp://{}.invalid/x", "rtsp://127.0.0.1:1/?a=1&b={}"]
)
def test_a_redirect_does_not_show_the_password(place):
    """An address that a camera makes of the password is shown without it."""
    away = instead("DESCRIBE", 302, Location=place.format("hunter22"))
    report = of_script(wanting(away, 'Basic realm="r"'), "admin", "hunter22")
    assert report.verdict == "redirected"
    assert "hunter22" not in told_by(report)


# Odd firmware


def sdp(old, new):
    """A script whose description differs in one place."""
    return instead("DESCRIBE", body=SDP.replace(old, new))


def counting(change):
    """A script that counts its answers in a way of its own."""

    def answer(request):
        number = int(request.get("CSeq"))
        return willing(request).replace(b"CSeq: %d\r\n" % number, change(number))

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
        lambda request: willing(request).replace(b"CSeq", b"no colon\r\nCSeq", 1),
        instead("OPTIONS", Content_Length=""),
        instead("SETUP", Session=" 77 ; timeout = 30"),
        instead("SETUP", Session="77", Transport="RTP/AVP/TCP;interleaved=" + "9" * 5000),
    ],
)
def test_odd_firmware_is_no_failure(answer):
    """What players pass over is passed over: the camera gets as far as PLAY."""

    def watched(request):
        assert re.fullmatch("[!-~]+", request.url)
        return answer(request)

    assert of_script(watched, timeout=0.5).verdict == "no_media"


SOUND = b"".join(
    Frame(0, bytes([0x80, kind]) + number.to_bytes(2) + bytes(48)).encode()
    for number, kind in ((4711, 8), (4712, 8), (1, 200))
)


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: (
            (packets(SLICE) if request.method == "DESCRIBE" else b"") + willing(request)
        ),
        at("PLAY", lambda r: reply(r) + b"\x07\x08junk"),
        at("PLAY", lambda r: reply(r) + packets(SLICE) + SOUND),
    ],
    ids=["too soon", "stray bytes", "sound and RTCP"],
)
def test_what_comes_beside_a_picture_does_not_spoil_it(answer):
    """Packets that come too soon, bytes that are no frame, and what else travels on the video's
    channel are passed over."""
    picture = packets(*keyframe(), start=1) + b"junk" + packets(SLICE, start=99)

    def playing_then(request):
        return answer(request) + (picture if request.method == "PLAY" else b"")

    report = of_script(playing_then, timeout=3)
    assert report.ok, str(report)


# Those who listen, and what is left behind


async def test_nothing_is_left_behind():
    """After a preflight there is neither a thread nor a socket of it."""
    before = threading.active_count()
    for _ in range(3):
        assert (await of_camera(transports=("udp",)))[0].ok
    await until(lambda: [one for one in threading.enumerate() if "confkit" in one.name] == [])
    assert threading.active_count() <= before + 2  # the loop's own, for to_thread
    gc.collect()


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


async def test_a_stage_is_told_while_the_camera_is_tried():
    """The stages before a silent one are known while it lasts; cancelled, it ends."""
    told, silent = [], threading.Event()

    def listen(stage):
        told.append(stage)
        if (stage.name, stage.outcome) == ("PLAY", "running"):
            silent.set()

    async with fake_camera(at("PLAY", lambda _: None)) as fake:
        options = {"timeout": 60, "on_stage": listen, "cancelled": silent}
        raised = await asyncio.to_thread(raised_by, fake.url, **options)
    assert isinstance(raised, CancelledError)
    names = [stage.name for stage in told if stage.outcome == "ok"]
    assert names == ["address", "name", "TCP", "OPTIONS", "DESCRIBE", "SDP", "SETUP"]


# A camera's failures are OSError and TimeoutError as well: those of the listener are its own.
@pytest.mark.parametrize("kind", [OSError, TimeoutError, KeyboardInterrupt])
async def test_what_the_listener_raises_is_the_callers_and_the_camera_gets_its_farewell(kind):
    """An error of `on_stage` comes out as it is, and the session is ended before."""
    broken, told = kind("not the camera"), []

    def listen(stage):
        told.append(stage.name)
        if stage.name == "first packet":
            raise broken

    async with fake_camera(willing) as fake:
        assert await asyncio.to_thread(raised_by, fake.url, on_stage=listen) is broken
        await until(lambda: fake.open_connections == 0)
    assert fake.methods[-1] == "TEARDOWN"
    assert told.count("first packet") == 1


async def test_a_listener_that_raises_between_tcp_and_tls_leaves_no_socket():
    """Before there is a session, too, its error comes out and the connection is closed."""
    broken, received = LookupError("not the camera"), []

    def listen(stage):
        if stage.name == "TLS":
            raise broken

    async def serve(reader, _):
        received.append(await reader.read())

    async with raw_server(serve) as port:
        url = f"rtsps://127.0.0.1:{port}/"
        assert await asyncio.to_thread(raised_by, url, on_stage=listen) is broken
        await until(lambda: received == [b""])
    gc.collect()  # a socket that nobody has closed is a warning now, and those are errors


@pytest.mark.parametrize(
    "options", [{"transport": "quic"}, {"timeout": 0}, {"timeout": float("nan")}, {"observe": -1}]
)
def test_an_option_that_makes_no_sense_raises(options):
    """A transport, time-out or observation that cannot be meant is a ValueError."""
    with pytest.raises(ValueError, match=next(iter(options))):
        preflight("rtsp://127.0.0.1/", **options)
