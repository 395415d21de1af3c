"""The preflight against cameras that play, and those that answer from a script, byte by byte."""

import asyncio
import gc
import re
import ssl
import threading
import tracemalloc
from concurrent.futures import CancelledError

import pytest

from confkit.rtsp.address import Address
from confkit.rtsp.conversation import Conversation
from confkit.rtsp.notices import notices
from confkit.rtsp.preflight import preflight
from confkit.rtsp.reception import Reception
from confkit.rtsp.rtp import MAX_UNIT
from confkit.rtsp.sdp import Media
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
    reply,
    tried,
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


def names(report):
    return [stage.name for stage in report.stages]


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


@pytest.mark.parametrize(
    ("codec", "transport", "inside", "login"),
    [
        ("h264", "tcp", "", ("admin", SECRET)),
        ("h265", "udp", "admin@", ("admin", SECRET)),
        ("mjpeg", "udp", "admin:s3cret%2F%40%23%25@", ()),
    ],
)
async def test_a_camera_that_plays_is_shown(codec, transport, inside, login):
    """Every codec over TCP and UDP ends in `ok` with its facts and a picture, and no viewer. The
    login may stand in the address, all of it, percent-encoded, or the name alone."""
    settings = {"codec": codec, "transports": (transport,), **LOGIN}
    change = lambda url: url.replace("//", f"//{inside}")  # noqa: E731
    report, viewers = await of_camera(*login, change=change, **settings)
    assert (report.ok, report.verdict, viewers) == (True, "ok", 0)
    assert (report.codec, report.width, report.height) == (codec, 128, 96)
    assert (report.transport, report.authentication) == (transport, "Digest SHA-256")
    assert report.snapshot.png().startswith(b"\x89PNG")
    setups = "SETUP " * (2 if transport == "udp" else 1)
    before = f"address name TCP OPTIONS DESCRIBE authentication SDP {setups}PLAY".split()
    assert names(report) == [*before, "first packet", "keyframe", "picture"]
    assert ("transport_switched" in keys(report)) is (transport == "udp")
    assert ("h265" in keys(report)) is (codec == "h265")
    gc.collect()  # a socket that nobody has closed is a warning now, and those are errors


async def test_hosts_of_several_addresses_and_of_version_six(version_six):
    """A camera on the second of its host's addresses is found; one of version six, in brackets,
    plays over both transports."""
    four = fake_camera(instead("DESCRIBE", 404), "127.0.0.1")
    async with four as fake, CameraServer(version_six) as server:
        url = fake.url.replace("127.0.0.1", "localhost")
        assert (await asyncio.to_thread(preflight, url)).verdict == "path_not_found"
        for transport in ("tcp", "udp"):
            url = await server.add(transports=(transport,), **SMALL)
            assert url.startswith("rtsp://[::1]:")
            report = await asyncio.to_thread(preflight, url)
            assert report.ok, str(report)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("127.0.0.1", ["this machine's own"]),
        ("::1", ["this machine's own"]),
        ("LocalHost", ["this machine's own"]),
        ("10.0.0.7", ["a private one"]),
        ("fd00::7", ["a private one"]),
        ("8.8.8.8", []),
        ("camera.example", []),
    ],
)
async def test_an_address_that_few_services_reach_is_noted(host, said):
    """A camera that plays at this machine's own address, or at a private one, earns a notice."""
    camera = Conversation(Address("rtsp", host, 554, "/"), None, 1)
    camera.reception = Reception(Media("video", 96, "H264"))
    assert list(notices(camera, None)) == []  # nothing has come yet
    camera.reception.packets = 1
    found = [(notice.key, notice.text) for notice in notices(camera, None)]
    assert [key for key, _ in found] == ["private_address"] * len(said)
    assert all(words in text for words, (_, text) in zip(said, found, strict=True))


def test_encryption(certificate, tmp_path):
    """With the certificate's file, or without a check, the camera plays; else `tls_failed`, as on a
    port that wants encryption or has none, and with certificates that cannot be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    def attempt(verify, old="", new=""):
        given = {"options": {"verify": verify}, "tls": context}
        change = lambda url: url.replace(old, new)  # noqa: E731
        return asyncio.run(of_camera("admin", SECRET, change=change, **given))[0]

    known = str(certificate[0])
    plays = attempt(known)
    assert plays.ok, str(plays)
    assert names(plays)[2:4] == ["TCP", "TLS"]
    assert attempt(verify=False).ok
    for report, said in (
        (attempt(verify=True), "self-signed"),
        (attempt(known, "127.0.0.1", "127.1"), "127.1"),
        (attempt(known, "rtsps:", "rtsp:"), "rtsps"),
        (attempt(str(tmp_path / "missing.pem")), "cannot be read"),
        (of_script(willing, scheme="rtsps"), "does not answer with an encrypted"),
    ):
        assert report.verdict == "tls_failed", str(report)
        assert said in report.cause


# Cameras that do not play: what they answer, the verdict, the last stage, and words of the cause

NO_FORMAT = SDP[: SDP.index(b"H264")]
JPEG_BEGINS = bytes(4) + b"\1\x50\0\0" + bytes(100)  # of more than its header can tell
# With two packets swapped at the end of the first sixty: the sixtieth is never the last one.
SWAPPED = (
    packets(*[HEVC_SLICE] * 59)
    + packets(HEVC_SLICE, start=60)
    + packets(HEVC_SLICE, start=59)
    + packets(*[HEVC_SLICE] * 9, start=61)
)
AT_ONCE = [
    *(
        (instead(method, status, reason=reason), verdict, method, f"{status} {reason}".strip())
        for method, status, verdict, reason in (
            ("DESCRIBE", 404, "path_not_found", ""),
            ("DESCRIBE", 400, "path_not_found", ""),
            ("DESCRIBE", 454, "path_not_found", ""),
            ("SETUP", 453, "busy", ""),
            ("PLAY", 503, "busy", ""),
            ("DESCRIBE", 500, "server_error", ""),
            ("SETUP", 461, "transport_refused", ""),
            ("SETUP", 500, "setup_play_failed", ""),
            # A lock is told from a clock and a block.
            ("DESCRIBE", 401, "auth_locked", "Account Locked"),
            ("DESCRIBE", 401, "auth_locked", "Too Many Attempts"),
            ("DESCRIBE", 403, "auth_locked", "UserLocked"),
            ("DESCRIBE", 403, "forbidden", "Clock not synchronised"),
            ("DESCRIBE", 403, "forbidden", "IP blocked"),
        )
    ),
    *(
        (instead("DESCRIBE", body=body), verdict, "SDP", said)
        for body, verdict, said in (
            (b"  \r\n", "sdp_invalid", "empty"),
            (b"<html>", "sdp_invalid", "start"),
            (SDP[: SDP.index(b"m=")], "sdp_invalid", "cut off"),
            (b"v=0\r\nm=vi", "sdp_invalid", "cut off"),
            (NO_FORMAT, "sdp_invalid", "payload type 96"),
            (b"v=0\r\nt=0 0\r\n", "no_video", ""),
            (b"v=0\r\nm=audio 0 RTP/AVP 8\r\n", "no_video", ""),
            (SDP.replace(b"H264", b"VP8"), "codec_unsupported", "VP8"),
            (b"v=0\r\nm=video 0 RTP/AVP 34\r\n", "codec_unsupported", "H263"),
        )
    ),
    *(
        (lambda _, data=data: data, verdict, "OPTIONS", said)
        for data, verdict, said in (
            (Last(b"<!DOCTYPE HTML>"), "not_rtsp", "an HTTP server"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "not_rtsp", "an SSH server"),
            (b"220 ready\r\n", "not_rtsp", "FTP or mail"),
            (b"\x00\x01\x02", "not_rtsp", "not an RTSP server"),
            (Last(b"\x15\x03\x01\x00\x02\x02\x46"), "tls_failed", "encrypted"),
            (Last(), "rtsp_silent", "OPTIONS"),
        )
    ),
    (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_required", "DESCRIBE", ""),
    (instead("DESCRIBE", 302), "redirected", "DESCRIBE", "no RTSP address"),
    (instead("SETUP", 301, Location="rtsp://h/2"), "redirected", "SETUP", "to rtsp://h:554/2"),
    (at("DESCRIBE", lambda r: Last(reply(r, body=SDP)[:-9])), "sdp_invalid", "DESCRIBE", "whole"),
    # Some send before they refuse.
    (at("PLAY", lambda r: packets(SLICE) + reply(r, 500)), "setup_play_failed", "PLAY", "500"),
    (playing(*[SLICE] * 70, codec=b"H265"), "no_picture", "keyframe", "H265"),
    (playing(*[SLICE] * 70, codec=b"JPEG"), "no_picture", "keyframe", "JPEG"),
    (playing(before=SWAPPED), "no_picture", "keyframe", "H264"),
    (playing(JPEG_BEGINS, codec=b"JPEG"), "codec_unsupported", "keyframe", "2040"),
    (at("PLAY", lambda r: Last(willing(r) + packets(SLICE))), "dropped", "keyframe", "closed"),
]
PATIENCE = 2.0  # seconds for a camera that never answers: a busy machine needs some to connect
LATE = [
    *(
        (
            at(step, lambda _: None),
            "rtsp_silent",
            step,
            f"did not answer {step} within 2 s",
        )
        for step in ("OPTIONS", "DESCRIBE", "SETUP", "PLAY")
    ),
    (lambda _: b"RTSP/1.0 200", "rtsp_silent", "OPTIONS", "OPTIONS"),
    (lambda _: b"hello", "not_rtsp", "OPTIONS", "not an RTSP server"),
    (willing, "no_media", "first packet", "accepted PLAY"),
    (lambda r: willing(r) + reply(r, 500), "no_media", "first packet", ""),  # counts for nothing
    (playing(*[SLICE] * 70), "no_keyframe", "keyframe", "among 70 packets"),
    (playing(*[HEVC_SLICE] * 3), "no_picture", "keyframe", "not the H264"),
    (playing(*[b"\x65" + bytes(40)] * 2), "no_picture", "picture", "does not decode"),
]


@pytest.mark.parametrize(
    ("answer", "verdict", "stage", "said", "options"),
    [
        *((*row, {"timeout": 300}) for row in AT_ONCE),
        *((*row, {"timeout": PATIENCE}) for row in LATE),
        (willing, "udp_blocked", "first packet", "", {"timeout": PATIENCE, "transport": "udp"}),
    ],
)
def test_whatever_a_camera_does_has_its_verdict_at_its_stage(answer, verdict, stage, said, options):
    """Each answer, silence and stream becomes one verdict, at once where waiting is of no use; a
    session that was set up is ended, and nothing is asked twice."""
    report, fake = tried(answer, **options)
    assert (report.ok, report.verdict) == (False, verdict)
    assert said in report.cause
    assert report.advice
    assert (report.stages[-1].name, report.stages[-1].outcome) == (stage, "failed")
    ended = "PLAY" in fake.methods and verdict != "dropped"
    assert (fake.methods[-1:] == ["TEARDOWN"]) is ended
    assert fake.methods.count("OPTIONS") <= 1


async def test_time_and_memory_are_bounded_however_much_a_camera_sends():
    """Packets without an end and without a keyframe neither stretch the time-out nor pile up."""
    flood = [packets(*[SLICE[:1] + bytes(60_000)] * 20, marker=False)] * 80
    assert sum(map(len, flood)) > 10 * MAX_UNIT
    async with fake_camera(at("PLAY", lambda r: [willing(r), *flood])) as fake:
        tracemalloc.start()
        report = await asyncio.to_thread(preflight, fake.url, timeout=2)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert report.verdict == "no_keyframe"
    assert peak < 5 * MAX_UNIT


ADMIN = "admin", "hush"


@pytest.mark.parametrize(
    ("url", "login", "verdict"),
    [
        ("http://host/", ADMIN, "url_malformed"),
        ("rtsp://admin:pa#ss@host/", ADMIN, "url_malformed"),
        ("rtsp://other:s3cret@host/", ADMIN, "credentials_conflict"),
        ("rtsp://admin:s3cret@host/", ADMIN, "credentials_conflict"),
        ("rtsp://nowhere.invalid/", ADMIN, "dns_failed"),
        ("rtsp://a..b/", ADMIN, "dns_failed"),
        ("rtsp://127.255.255.255/", ADMIN, "unreachable"),  # a broadcast address
        ("rtsp://127.0.0.1:1/", ("a\n", "b"), "url_malformed"),
        ("rtsp://127.0.0.1:1/", ("a", "\ud800"), "url_malformed"),
    ],
)
def test_an_address_is_judged_before_anything_is_sent(url, login, verdict):
    """A malformed address, two logins, one that cannot be sent or an unknown host end the
    preflight, and quote nothing."""
    report = preflight(url, *login)
    assert report.verdict == verdict
    assert (names(report) == ["address"]) is (verdict in ("url_malformed", "credentials_conflict"))
    for secret in ("pa#ss", "s3cret", "hush"):
        assert secret not in f"{report} {report!r}"


# Logins


@pytest.mark.parametrize(
    ("script", "verdict", "logins"),
    [
        (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_rejected", ["DESCRIBE"]),
        (wanting(lambda _: b""), "rtsp_silent", ["DESCRIBE"]),  # it hangs up
        (wanting(lambda _: None), "rtsp_silent", ["DESCRIBE"]),
        (instead("DESCRIBE", 401, WWW_Authenticate="Negotiate"), "auth_unsupported", []),
        (instead("PLAY", 401, WWW_Authenticate=DIGEST), "auth_rejected", ["PLAY"]),
    ],
)
def test_a_wrong_login_is_tried_exactly_once(script, verdict, logins):
    """One request without and one with the login are sent on one connection, then the camera is
    left alone; TEARDOWN carries no login that was just rejected."""
    report, fake = tried(script, "ada", "hush", timeout=PATIENCE)
    assert report.verdict == verdict
    assert (fake.logins, fake.connections) == (logins, 1)


# A script that ends as soon as it has answered PLAY.
ends = at("PLAY", lambda request: Last(willing(request)))


@pytest.mark.parametrize(("times", "verdict"), [(2, "dropped"), (3, "auth_rejected")])
def test_a_stale_nonce_is_renewed_once(times, verdict):
    """`stale=true` is no rejection: the new nonce is answered; a second stale one is refused."""
    asked = []

    def answer(request):
        if request.method != "DESCRIBE" or f'nonce="{times}"' in request.get("Authorization"):
            return ends(request)
        asked.append(request)
        offer = f'Digest realm="r", nonce="{len(asked)}"' + ", stale=true" * (len(asked) > 1)
        return reply(request, 401, WWW_Authenticate=offer)

    assert of_script(answer, "ada", "hush").verdict == verdict


def test_a_new_nonce_after_an_accepted_login_is_no_rejection():
    """A camera that wants a fresh nonce for each request plays on, and hears the farewell."""

    def answer(request):
        nonce = f'nonce="{request.method}"'
        if request.method == "OPTIONS" or nonce in request.get("Authorization"):
            return willing(request)
        return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}')

    report, fake = tried(answer, "a", "b", timeout=PATIENCE)
    assert report.verdict == "no_media"
    assert fake.methods.count("PLAY") == fake.methods.count("TEARDOWN") == 2


def test_a_camera_that_closes_after_its_401_is_reopened():
    """The connection is opened again when a camera closes it after asking for a login."""

    def answer(request):
        output = wanting(ends)(request)
        return Last(output) if b" 401 " in output else output

    report, fake = tried(answer, "ada", "hush")
    assert (report.verdict, names(report)[-1]) == ("dropped", "first packet")
    assert (fake.connections, fake.logins.count("DESCRIBE")) == (2, 1)


async def test_a_password_that_stands_in_the_path_too_is_not_shown():
    """Many cameras take the login in the query as well: no part of the report shows it."""
    login = ("admin", "hunter22")
    report, _ = await of_camera(*login, path="live?user=admin&password=hunter22")
    assert report.ok
    for one in (report, preflight("rtsp://127.0.0.1:1/hunter22", *login)):
        assert "hunter22" not in told_by(one)


def test_no_secret_shows_in_a_report():
    """A camera that repeats the login in its reason does not get it into the report."""

    def parrot(request):
        words = f"no {SECRET} {request.get('Authorization')}"
        return reply(request, 500, reason=words)

    for offer in ('Basic realm="r"', DIGEST):
        report, fake = tried(wanting(parrot, offer), "admin", SECRET)
        assert report.verdict == "server_error"
        assert "500 no" in report.cause
        sent = fake.requests[-1].get("Authorization")
        for secret in (SECRET, sent, sent.rpartition("response=")[2] or "YWRtaW46"):
            assert secret not in told_by(report)


@pytest.mark.parametrize(
    "place",
    [
        "rtsp://127.0.0.1:1/x/{0}",
        "rtsp://{0}.invalid/x",
        "rtsp://admin:{0}@127.0.0.1:1/x?user=admin&password={0}",
    ],
)
def test_a_redirect_does_not_show_the_password(place):
    """An address that a camera makes of the password is shown without it."""
    away = instead("DESCRIBE", 302, Location=place.format("hunter22"))
    report = of_script(wanting(away, 'Basic realm="r"'), "admin", "hunter22")
    assert report.verdict == "redirected"
    assert "redirects to rtsp://" in report.cause
    assert "hunter22" not in told_by(report)


async def test_a_redirect_is_named_and_not_followed():
    """A camera that redirects does not play: the report names the address, without a login in it,
    and nothing is sent there."""
    async with fake_camera(willing) as there:
        target = there.url.replace("//", "//ada:geheim@")
        async with fake_camera(wanting(instead("DESCRIBE", 302, Location=target))) as here:
            report = await asyncio.to_thread(preflight, here.url, "admin", SECRET, timeout=3)
    assert (report.ok, report.verdict, report.snapshot) == (False, "redirected", None)
    assert (here.connections, there.connections) == (1, 0)
    assert report.cause == f"The camera redirects to {there.url}."
    assert "with its own login" in report.advice
    assert "geheim" not in told_by(report)


# Odd firmware


def sdp(*changes):
    """A script whose description differs in these places."""
    body = SDP
    for old, new in changes:
        body = body.replace(old, new)
    return at("DESCRIBE", lambda request: reply(request, body=body))


@pytest.mark.parametrize(
    "answer",
    [
        sdp(
            (b"v=0", b"\xef\xbb\xbfv=0"),
            (b"s=-", b" s=-\r\nX-Vendor: 1"),
            (b"96 H264", b"96\tH264"),
            (b"a=control", b"a=fmtp:96 sprop-parameter-sets=\xc3\xa9\r\na=control"),
            (b"track1", b"tr\xe4ck \0"),
            (b"m=video", b"m=application 0 TCP/DTLS/SCTP webrtc-datachannel\r\nm=video"),
        ),
        sdp((b"m=video", b"m=audio 0 RTP/AVP\r\nm=video"), (b"track1\r\n", b"track1\r\n\0")),
        sdp((b"RTP/AVP 96", b"RTP/AVP 97 96\r\na=rtpmap:97 rtx/90000")),
        lambda request: willing(request).replace(b"CSeq: ", b"no colon\r\nCSeq: " + b"9" * 5000),
        instead("OPTIONS", Content_Length=""),
        instead("SETUP", Session=" 77 ; timeout = 30"),
        instead("SETUP", Session="77", Transport="RTP/AVP/TCP;interleaved=" + "9" * 5000),
    ],
)
def test_odd_firmware_is_no_failure(answer):
    """What players pass over is passed over: the camera gets beyond PLAY."""

    def watched(request):
        assert re.fullmatch("[!-~]+", request.url)
        return Last(answer(request)) if request.method == "PLAY" else answer(request)

    report = of_script(watched)
    assert (report.verdict, names(report)[-1]) == ("dropped", "first packet")


SOUND = packets(bytes(36), bytes(36), start=4711).replace(b"\x80\xe0", b"\x80\x08")
RTCP = packets(bytes(36), start=1).replace(b"\x80\xe0", b"\x80\xc8")


@pytest.mark.parametrize(
    ("method", "before", "after"),
    [
        ("DESCRIBE", packets(SLICE), b""),
        ("PLAY", b"", b"\x07\x08junk"),
        ("PLAY", b"", packets(SLICE) + SOUND + RTCP),
    ],
    ids=["too soon", "stray bytes", "sound and RTCP"],
)
def test_what_comes_beside_a_picture_does_not_spoil_it(method, before, after):
    """Packets that come too soon, bytes that are no frame, and what else travels on the video's
    channel are passed over."""
    picture = packets(*keyframe(), start=1) + b"junk" + packets(SLICE, start=99)

    def answer(request):
        said = willing(request)
        if request.method == method:
            said = before + said + after
        return said + picture * (request.method == "PLAY")

    report = of_script(answer, timeout=3)
    assert report.ok, str(report)


# Those who listen


def test_each_stage_is_told_as_it_begins_and_as_it_ends():
    """Who listens hears of every stage in order: that it has begun, then all that the report says
    of it, before the next one begins."""
    told = []
    report = of_script(instead("DESCRIBE", 404), on_stage=told.append)
    assert tuple(told[1::2]) == report.stages
    assert [(stage.name, stage.seconds, stage.outcome) for stage in told[::2]] == [
        (name, 0.0, "running") for name in names(report)
    ]
    assert report.stages[-1].outcome == "failed"


def test_a_preflight_is_cancelled_while_a_camera_is_silent():
    """A stage is told while it lasts, and whoever cancels then does not wait for its end."""
    silent = threading.Event()

    def listen(stage):
        if (stage.name, stage.outcome) == ("PLAY", "running"):
            silent.set()

    options = {"timeout": 60, "on_stage": listen, "cancelled": silent}
    raised, _ = tried(at("PLAY", lambda _: None), **options)
    assert isinstance(raised, CancelledError)


def test_a_preflight_that_is_cancelled_before_it_begins_asks_no_camera():
    """No connection is made, and no login is spent."""
    cancelled = threading.Event()
    cancelled.set()
    raised, fake = tried(willing, cancelled=cancelled)
    assert isinstance(raised, CancelledError)
    assert fake.methods == []


# A camera's failures are OSError and TimeoutError as well: those of the listener are its own.
@pytest.mark.parametrize(
    ("kind", "place", "scheme"),
    [
        (OSError, "first packet", "rtsp"),
        (TimeoutError, "first packet", "rtsp"),
        (KeyboardInterrupt, "TLS", "rtsps"),  # before there is a session
    ],
)
def test_what_the_listener_raises_is_the_callers_and_the_camera_gets_its_farewell(
    kind, place, scheme
):
    """An error of `on_stage` comes out as it is, and the session and the connection are ended
    before."""
    broken, told = kind("not the camera"), []

    def listen(stage):
        told.append(stage.name)
        if stage.name == place:
            raise broken

    raised, fake = tried(willing, scheme=scheme, on_stage=listen)
    assert raised is broken
    assert fake.methods[-1:] == ["TEARDOWN"] * (scheme == "rtsp")
    assert told.count(place) == 1
    gc.collect()


@pytest.mark.parametrize(
    "options", [{"transport": "quic"}, {"timeout": 0}, {"timeout": float("nan")}]
)
def test_an_option_that_makes_no_sense_raises(options):
    """A transport or time-out that cannot be meant is a ValueError."""
    with pytest.raises(ValueError, match=next(iter(options))):
        preflight("rtsp://127.0.0.1/", **options)
