"""The preflight against cameras that answer from a script, byte by byte."""

import base64
import gc
import re
import socket
import ssl
import threading
import time
import tracemalloc
from concurrent.futures import CancelledError

import pytest

import confkit as ck
from confkit.rtsp.errors import VERDICTS
from confkit.rtsp.preflight import limited_reach
from confkit.rtsp.rtp import MAX_PICTURE

from .scripted import (
    DIGEST,
    SDP,
    Last,
    at,
    framed,
    instead,
    nals,
    packets,
    payloads,
    picture,
    pictures,
    playing,
    reply,
    report_of,
    rtp,
    scripted,
    stream,
    tried,
    wanting,
    willing,
)

SLICE, HEVC_SLICE = b"\x41" + bytes(range(1, 41)), b"\x02\x01" + bytes(range(1, 41))


def all_texts(report):
    """All that a person could be shown of a report."""
    return f"{report!r}{report}{report._repr_html_()}{report.to_frame().to_string()}"


def wire(sent):
    return b"".join(map(framed, sent))


def test_every_verdict_says_cause_and_advice_in_a_sentence():
    for name, sentences in VERDICTS.items():
        assert re.fullmatch("[a-z_]+", name)
        assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)


# What does not play: the script, the verdict, the last stage, and words of cause or advice

LARGE_JPEG = bytes(4) + b"\1\x50\0\0" + bytes(100)  # larger than its header can say
KEY = pictures("h264")[0]
SETS = nals(KEY)[:2]
AT_ONCE = [
    *(
        (instead(method, status, reason=reason), verdict, method, f"{status} {reason}".strip())
        for method, status, verdict, reason in (
            ("DESCRIBE", 404, "path_not_found", ""),
            ("DESCRIBE", 400, "path_not_found", ""),
            ("DESCRIBE", 454, "path_not_found", ""),
            ("SETUP", 453, "busy", ""),
            ("DESCRIBE", 500, "server_error", ""),
            ("SETUP", 461, "transport_refused", ""),
            ("SETUP", 500, "setup_play_failed", ""),
            # A lock is told from a clock and a block.
            ("DESCRIBE", 401, "auth_locked", "Account Locked"),
            ("DESCRIBE", 403, "auth_locked", "Too Many Attempts"),
            ("DESCRIBE", 403, "forbidden", "Clock not synchronised"),
            ("DESCRIBE", 403, "forbidden", "IP blocked"),
        )
    ),
    *(
        (instead("DESCRIBE", body=body), verdict, "SDP", words)
        for body, verdict, words in (
            (b"  \r\n", "sdp_invalid", "empty"),
            (b"<html>", "sdp_invalid", "not a session description"),
            (SDP[: SDP.index(b"m=")], "sdp_invalid", "cut off"),
            (b"v=0\r\nm=vi", "sdp_invalid", "cut off"),
            (SDP[: SDP.index(b"H264")], "sdp_invalid", "payload type 96"),
            (b"v=0\r\nt=0 0\r\n", "no_video", ""),
            (b"v=0\r\nm=audio 0 RTP/AVP 8\r\n", "no_video", "only PCMA"),
            (SDP.replace(b"H264", b"VP8"), "codec_unsupported", "VP8"),
            (b"v=0\r\nm=video 0 RTP/AVP 34\r\n", "codec_unsupported", "H263"),
            (SDP.replace(b"AVP", b"SAVP"), "codec_unsupported", "encrypted"),
            (SDP + b"a=crypto:1 X inline:a\r\n", "codec_unsupported", "enableSrtp"),
        )
    ),
    *(
        (lambda _, data=data: data, verdict, "OPTIONS", words)
        for data, verdict, words in (
            (Last(b"<!DOCTYPE HTML>"), "not_rtsp", "an HTTP server"),
            (b"SSH-2.0-OpenSSH_9.2", "not_rtsp", "an SSH server"),
            (b"220 ready\r\n", "not_rtsp", "FTP or mail"),
            (b"\x00\x01\x02", "not_rtsp", "not an RTSP server"),
            (b"RTSP/1.0 OK\r\n", "not_rtsp", "faulty RTSP"),
            (b"RTSP/1.0 200 OK\r\nX: " + bytes(70_000), "not_rtsp", "faulty RTSP"),
            (Last(b"\x15\x03\x01\x00\x02\x02\x46"), "tls_failed", "encrypted"),
            (Last(), "rtsp_silent", "OPTIONS"),
        )
    ),
    *(
        (at("DESCRIBE", lambda r, head=head: reply(r)[:-2] + head + b"\r\n\r\n"), *row)
        for head, *row in (
            (b"Content-Length: 67108864", "server_error", "DESCRIBE", "Content-Length"),
            (b"Content-Length: -1", "server_error", "DESCRIBE", "Content-Length"),
            (b"X: " + b"x" * 70_000, "server_error", "DESCRIBE", "headers exceed"),
        )
    ),
    (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_required", "DESCRIBE", ""),
    (instead("DESCRIBE", 302), "redirected", "DESCRIBE", "not to an RTSP address"),
    (instead("SETUP", 301, Location="rtsp://h/2"), "redirected", "SETUP", "to rtsp://h:554/2"),
    (instead("PLAY", 503), "busy", "PLAY", "source or encoder has started"),
    (at("DESCRIBE", lambda r: Last(willing(r)[:-9])), "sdp_invalid", "DESCRIBE", "incomplete"),
    # Some send before they refuse.
    (at("PLAY", lambda r: packets(SLICE) + reply(r, 500)), "setup_play_failed", "PLAY", "500"),
    (playing(packets(*[SLICE] * 9), b"H265"), "no_picture", "keyframe", "H265"),
    (playing(packets(*[SLICE] * 9), b"JPEG"), "no_picture", "keyframe", "JPEG"),
    (playing(packets(*[HEVC_SLICE] * 9)), "no_picture", "keyframe", "H264"),
    (playing(packets(LARGE_JPEG), b"JPEG"), "codec_unsupported", "first packet", "2040"),
    (at("PLAY", lambda r: Last(willing(r) + packets(SLICE))), "dropped", "keyframe", "closed"),
    (at("PLAY", lambda r: Last(willing(r))), "dropped", "first packet", "closed"),
]
PATIENCE = 1.2  # seconds for a camera that never answers: a busy machine needs some to connect
LATE = [
    *(
        (at(step, lambda _: None), "rtsp_silent", step, f"did not answer {step} within 1.2 s")
        for step in ("OPTIONS", "DESCRIBE", "SETUP", "PLAY")
    ),
    (lambda _: b"RTSP/1.0 200", "rtsp_silent", "OPTIONS", "OPTIONS"),
    (at("DESCRIBE", lambda r: willing(r)[:-9]), "sdp_invalid", "DESCRIBE", "incomplete"),
    (willing, "no_media", "first packet", "accepted PLAY"),
    (playing(packets(*[SLICE] * 70)), "no_keyframe", "keyframe", "in 70 packets."),
    (playing(packets(*[HEVC_SLICE] * 3)), "no_picture", "keyframe", "announces H264"),
    (playing(packets(*SETS, b"\x65" + SLICE)), "no_picture", "picture", "does not decode"),
]
FORCED = [
    (willing, "udp", "udp_blocked", "first packet", ""),
    (instead("SETUP", 461), "udp", "transport_refused", "SETUP", "--transport"),
    (instead("SETUP", 461), "tcp", "transport_refused", "SETUP", "--transport"),
]


@pytest.mark.parametrize(
    ("script", "verdict", "stage", "words", "options"),
    [
        *((*row, {"timeout": 300}) for row in AT_ONCE),
        *((*row, {"timeout": PATIENCE}) for row in LATE),
        *((s, *row, {"timeout": PATIENCE, "transport": t}) for s, t, *row in FORCED),
    ],
)
def test_whatever_a_camera_does_has_its_verdict_at_its_stage(
    script, verdict, stage, words, options
):
    """At once where waiting is of no use; a session that was set up is ended, and nothing is asked
    twice."""
    report, camera = tried(script, **options)
    assert (report.ok, report.verdict) == (False, verdict), str(report)
    assert words in f"{report.cause} {report.advice}"
    assert (report.stages[-1].name, report.stages[-1].outcome) == (stage, "failed")
    ended = "PLAY" in camera.methods and verdict != "dropped"
    assert (camera.methods[-1:] == ["TEARDOWN"]) is ended
    assert camera.methods.count("OPTIONS") <= 1
    gc.collect()  # a socket that nobody has closed is a warning now, and those are errors


CODES = b"\0\0\1\x65" * 15_000  # nothing but the beginnings of units
STAP = b"\x18" + (b"\0\x1e" + SLICE[:30]) + b"\0\1\x65" * 19_000


@pytest.mark.parametrize(
    ("part", "verdict"),
    [
        (packets(*[SLICE[:1] + b"\1" * 60_000] * 20, marker=False), "no_keyframe"),
        (
            wire(picture([*SETS, SLICE, *[b"\x65\x88" + CODES] * 100, b"\x65\x88" + SLICE])),
            "no_keyframe",
        ),
        (packets(*SETS, *[STAP] * 20), "no_picture"),
        (wire(picture([*SETS, *[b"\x65\x88" + b"\1" * 60_000] * 150])), "no_keyframe"),
    ],
    ids=["no end", "start codes", "aggregates", "too large"],
)
def test_time_and_memory_are_bounded_however_much_a_camera_sends(part, verdict):
    flood = at("PLAY", lambda r: [willing(r), *[part] * (480_000_000 // len(part))])
    with scripted(flood) as camera:
        tracemalloc.start()
        report = ck.preflight(camera.url, timeout=1.5)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert report.verdict == verdict
    assert report.seconds < 3
    assert peak < 5 * MAX_PICTURE


@pytest.mark.parametrize(
    ("url", "login", "verdict", "words"),
    [
        ("http://host/", ("admin", "hush"), "url_malformed", ""),
        ("rtsp://admin:pa#ss@host/", ("admin", "hush"), "url_malformed", "%23"),
        ("rtsp://host/live#backchannel=0", (), "url_malformed", "another program"),
        ("rtsp://other:s3cret@host/", ("admin", "hush"), "credentials_conflict", ""),
        ("rtsp://admin:s3cret@host/", ("admin", "hush"), "credentials_conflict", ""),
        ("rtsp://nowhere.invalid/", (), "dns_failed", ""),
        ("rtsp://a..b/", (), "dns_failed", ""),
        ("rtsp://127.255.255.255/", (), "unreachable", ""),  # a broadcast address
        ("rtsp://127.0.0.1:1/", (), "refused", ""),
        ("rtsp://127.0.0.1:1/", ("a\n", "b"), "url_malformed", ""),
        ("rtsp://127.0.0.1:1/", ("a", "\ud800"), "url_malformed", ""),
    ],
)
def test_an_address_is_judged_before_anything_is_sent(url, login, verdict, words):
    report = ck.preflight(url, *login)
    assert report.verdict == verdict
    assert words in report.cause
    assert (len(report.stages) == 1) is (verdict in ("url_malformed", "credentials_conflict"))
    for secret in ("pa#ss", "s3cret", "hush"):
        assert secret not in all_texts(report)


# What plays, as FFmpeg plays it


def jpeg(change):
    """A JPEG picture whose payload is changed: head, tables and scan."""
    (payload,) = payloads("mjpeg", pictures("mjpeg")[0], 60_000)
    return packets(change(payload[:8], payload[12:140], payload[140:]))


def key(start=0):
    return wire(picture(payloads("h264", KEY, 60_000), start))


def slices(mark_all):
    """Pictures of four slices, with a marker on each slice, or on none."""
    units = enumerate(pictures("h264", "slices=4"))
    parts = [(nal, n) for n, unit in units for nal in nals(unit)]
    return wire(rtp(nal, mark_all, n, 9000 * place) for n, (nal, place) in enumerate(parts))


def swapped():
    """A stream in which each second packet overtakes one, some come twice, and one is lost."""
    sent = stream("h264", limit=200)
    del sent[3]
    sent[1::2], sent[::2] = sent[: len(sent) // 2 * 2 : 2], sent[1::2] + sent[len(sent) // 2 * 2 :]
    return [packet for packet in sent for _ in range(2)]


def recovery():
    """A picture that begins with parameter sets and a recovery point, and holds no IDR picture."""
    units = pictures("h264", "open-gop=1:bframes=2:keyint=6:min-keyint=3:repeat-headers=1")
    return wire(picture(next(nals(unit) for unit in units[1:] if b"\x06\x06" in unit)))


def without_marker(packet):
    return packet[:1] + bytes([packet[1] & 127]) + packet[2:]


SOUND = wire([rtp(bytes(36), True, 4711, 0, number=8)])
RTCP = packets(bytes(36), start=1).replace(b"\x80\xe0", b"\x80\xc8")
ONE_STAMP = wire(rtp(nal, nal[0] & 31 < 6, n, 0) for n, nal in enumerate([SLICE, *nals(KEY)]))
STREAMS = {
    "fragments, numbers wrap": ("H264", wire(stream("h264", limit=100, start=65530))),
    "begun inside a keyframe": ("H264", wire(stream("h264", limit=24)[30:])),
    "no markers": ("H264", wire(map(without_marker, stream("h264")))),
    "markers on slices": ("H264", slices(mark_all=True)),
    "slices without markers": ("H264", slices(mark_all=False)),
    "one timestamp": ("H264", ONE_STAMP),
    "start codes inside": ("H264", packets(KEY)),
    "one number": ("H264", wire(p[:2] + b"\0\7" + p[4:] for p in stream("h264", limit=400))),
    "empty packets": ("H264", key(7) + packets(*[b""] * 5, start=70, marker=False) + key(80)),
    "no keyframe but a recovery point": ("H264", recovery()),
    "sound and RTCP beside": ("H264", packets(SLICE) + SOUND + RTCP + key(1)),
    "stray bytes": ("H264", b"\x07\x08junk" + key()),
    "H.265": ("H265", wire(stream("h265", limit=100))),
    "JPEG": ("JPEG", wire(stream("mjpeg", limit=300))),
    "implied tables": ("JPEG", jpeg(lambda head, _, scan: head[:5] + b"\x32" + head[6:] + scan)),
    "one table": ("JPEG", jpeg(lambda head, both, scan: head + b"\0\0\0\x40" + both[:64] + scan)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_ffmpeg_plays_is_shown(name):
    codec, sent = STREAMS[name]
    report = report_of(playing(sent, codec.encode()), timeout=3)
    assert (report.verdict, report.width, report.height) == ("ok", 128, 96), str(report)


def description(*changes):
    """A script with a description that differs in these places."""
    body = SDP
    for old, new in changes:
        body = body.replace(old, new)
    return instead("DESCRIBE", body=body)


@pytest.mark.parametrize(
    "script",
    [
        description((b"v=0\r\n", b"")),
        description((b"v=0", b"\xef\xbb\xbfv=0"), (b"s=-", b" s=-\r\nX-Vendor: 1")),
        description((b"96 H264", b"96\th264"), (b"track1", b"tr\xe4ck \0")),
        description((b"a=c", b"a=fmtp:96 sprop-parameter-sets=\xc3\xa9\r\na=c")),
        description((b"m=v", b"m=application 0 TCP/DTLS/SCTP webrtc-datachannel\r\nm=v")),
        description((b"m=video", b"m=audio 0 RTP/AVP\r\nm=video")),
        lambda r: willing(r).replace(b"CSeq: ", b"no colon\r\nCSeq: " + b"9" * 5000),
        instead("OPTIONS", Content_Length=""),
        instead("SETUP", Session=" 77 ; timeout = 30", Transport="RTP/AVP/TCP;interleaved=0-1"),
        instead("SETUP", Session="77", Transport="RTP/AVP/TCP;interleaved=" + "9" * 5000),
        at("DESCRIBE", lambda r: packets(SLICE) + willing(r)),
        at("OPTIONS", lambda r: reply(r, 100) + reply(r)),
        at("SETUP", lambda r: b"OPTIONS rtsp://h/ RTSP/1.0\r\nCSeq: 1\r\n\r\n" + willing(r)),
    ],
)
def test_odd_firmware_plays(script):
    """What players pass over is passed over, and request lines hold visible ASCII only."""
    report, camera = tried(lambda r: script(r) + key() * (r.method == "PLAY"), timeout=3)
    assert report.ok, str(report)
    assert all(re.fullmatch("[!-~]+", request.url) for request in camera.requests)


@pytest.mark.parametrize(
    ("base", "track"),
    [
        ("", "{}/track1"),
        ("{}/", "{}/track1"),
        ("rtsp://10.9.9.9/x?channel=1", "rtsp://10.9.9.9/x?channel=1/track1"),
        ("/other/", "{host}/other/track1"),
        ("cam.local:554/other", "rtsp://cam.local:554/other/track1"),
        ("rtsp://ada:hush@10.9.9.9/", "rtsp://10.9.9.9/track1"),
        ("//[fe80::1%eth0/live", "{}/track1"),
    ],
)
def test_control_urls_are_concatenated_to_the_base_and_hold_no_login(base, track):
    """The base may lack its host, or be a private address: the connection stays the same."""

    def described(request):
        headers = {"Content_Base": base.format(request.url)} if base else {}
        return reply(request, body=SDP, **headers)

    _, camera = tried(at("DESCRIBE", described), timeout=0.5)
    expected = track.format(camera.url, host=camera.url.removesuffix("/live"))
    assert {request.url for request in camera.requests if request.method == "SETUP"} == {expected}
    assert not any("hush" in request.url for request in camera.requests)


# Transports


def udp_only(refusal, sent):
    """A script that plays over UDP only: a SETUP for TCP gets this refusal, or a UDP transport."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    target = []

    def script(request):
        offer = request.get("Transport")
        if request.method == "SETUP" and "TCP" in offer and refusal:
            return reply(request, refusal)
        if request.method == "SETUP":
            port = re.search(r"client_port=(\d+)", offer)
            target[:] = [(request.connection.getpeername()[0], int(port[1]))] if port else []
            if not out.getsockname()[1]:
                out.bind((request.connection.getsockname()[0], 0))
            transport = f"RTP/AVP;unicast;client_port=9;server_port={out.getsockname()[1]}"
            return reply(request, Session="77", Transport=transport)
        if request.method == "PLAY":
            for packet in sent:
                out.sendto(packet, target[0])
        if request.method == "TEARDOWN":
            out.close()
        return willing(request)

    return script


@pytest.mark.parametrize("refusal", [461, 400, 500, None])
def test_udp_is_used_where_a_camera_offers_nothing_else(refusal):
    """Packets that overtake others, come twice or are lost do not keep a later keyframe away."""
    report, camera = tried(udp_only(refusal, swapped()), timeout=3)
    assert (report.verdict, report.transport) == ("ok", "udp")
    assert report.warnings[-1].key == "transport_switched"
    assert camera.methods[-2:] == ["PLAY", "TEARDOWN"]
    assert camera.connections == 1


def test_a_loss_is_named_as_a_loss_and_tcp_is_the_advice():
    sent = picture(payloads("h264", KEY, 60))
    report = report_of(udp_only(461, sent[:3] + sent[5:]), timeout=1)
    assert report.verdict == "no_keyframe"
    assert "2 packets were lost on the way" in report.cause
    assert "--transport tcp" in report.advice


def test_a_large_keyframe_arrives_over_udp():
    """The receive buffer holds what a camera sends at once, as far as the system lets it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * 1024 * 1024)
        granted = probe.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    unit = b"\0\0\1".join([b"", *SETS, b"\x65" + b"\x88" + b"\xaa" * 3_000_000])
    # What the system counts for one packet.
    sent = picture(payloads("h264", unit))[: granted // 2 // 2304]
    report = report_of(udp_only(461, sent), timeout=2)
    assert "lost" not in report.cause
    assert f"in {len(sent)} packets" in report.cause


def test_a_stream_is_asked_for_by_its_own_profile():
    script = description((b"RTP/AVP", b"RTP/AVPF"))
    for transport, offer in (("tcp", "RTP/AVPF/TCP;unicast;inter"), ("udp", "RTP/AVPF;unicast;")):
        _, camera = tried(script, transport=transport, timeout=0.5)
        assert camera.requests[2].get("Transport").startswith(offer)


def test_hosts_of_several_addresses_and_of_version_six(version_six):
    with scripted(instead("DESCRIBE", 404), "127.0.0.1") as camera:
        url = camera.url.replace("127.0.0.1", "localhost")
        assert ck.preflight(url).verdict == "path_not_found"
    with scripted(playing(key()), version_six) as camera:
        assert camera.url.startswith("rtsp://[::1]:")
        assert ck.preflight(camera.url, timeout=3).ok


def test_encryption(certificate, tmp_path):
    """With the certificate's file, or without a check, the camera plays; else `tls_failed`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    for verify in (str(certificate[0]), False):
        report = report_of(playing(key()), scheme="rtsps", tls=context, verify=verify)
        assert report.ok, str(report)
        assert [stage.name for stage in report.stages[2:4]] == ["TCP", "TLS"]
    for options, words in (
        ({"tls": context}, "self-signed"),
        ({"tls": context, "verify": str(tmp_path / "missing.pem")}, "cannot be read"),
        ({"tls": context, "scheme": "rtsp"}, "expects an encrypted connection (rtsps)"),
        ({}, "does not speak TLS"),
    ):
        report = report_of(willing, **{"scheme": "rtsps", **options})
        assert report.verdict == "tls_failed", str(report)
        assert words in report.cause


def test_an_address_that_few_services_reach_is_known():
    for host in ("::1", "127.0.0.1", "LocalHost"):
        assert "this machine's own" in limited_reach(host)
    assert "is private" in limited_reach("10.0.0.7")
    assert limited_reach("8.8.8.8") == limited_reach("camera.example") == ""


# Logins

ends = at("PLAY", lambda request: Last(willing(request)))  # as soon as it has answered PLAY


@pytest.mark.parametrize(
    ("script", "verdict", "words", "logins"),
    [
        (wanting(instead("DESCRIBE", 401, WWW_Authenticate=DIGEST)), "auth_rejected", "", 1),
        (wanting(lambda _: b""), "rtsp_silent", "", 1),  # it hangs up
        (wanting(lambda _: None), "rtsp_silent", "", 1),
        (instead("PLAY", 401, WWW_Authenticate=DIGEST), "auth_rejected", "", 1),
        (wanting(ends, "Negotiate"), "auth_unsupported", "Negotiate", 0),
        (wanting(ends, DIGEST + ", algorithm=SHA-512-256"), "auth_unsupported", "SHA-512-256", 0),
        (wanting(ends, DIGEST + ', qop="auth-int"'), "auth_unsupported", "qop=auth-int", 0),
    ],
)
def test_a_wrong_login_is_tried_exactly_once(script, verdict, words, logins):
    """On one connection; TEARDOWN carries no login that was just rejected."""
    report, camera = tried(script, "ada", "hush", timeout=PATIENCE)
    assert report.verdict == verdict
    assert words in report.cause
    assert (len(camera.logins), camera.connections) == (logins, 1)


@pytest.mark.parametrize(("times", "verdict"), [(2, "dropped"), (3, "auth_rejected")])
def test_a_stale_nonce_is_renewed_once(times, verdict):
    refused = []

    def answer(request):
        if request.method != "DESCRIBE" or f'nonce="{times}"' in request.get("Authorization"):
            return ends(request)
        refused.append(request)
        offer = f'Digest realm="r", nonce="{len(refused)}"' + ", stale=true" * (len(refused) > 1)
        return reply(request, 401, WWW_Authenticate=offer)

    assert report_of(answer, "ada", "hush").verdict == verdict


def test_a_new_nonce_after_an_accepted_login_is_no_rejection():
    """A camera that wants a fresh nonce for each request plays on, and TEARDOWN has it as well."""

    def answer(request):
        nonce = f'nonce="{request.method}"'
        if request.method == "OPTIONS" or nonce in request.get("Authorization"):
            return willing(request)
        return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}')

    report, camera = tried(answer, "a", "b", timeout=PATIENCE)
    assert report.verdict == "no_media"
    assert camera.methods.count("PLAY") == camera.methods.count("TEARDOWN") == 2


def test_a_camera_that_closes_after_its_401_is_reopened_once():
    def answer(request):
        output = wanting(ends)(request)
        return Last(output) if b" 401 " in output else output

    report, camera = tried(answer, "ada", "hush")
    assert (report.verdict, report.stages[-1].name) == ("dropped", "first packet")
    assert (camera.connections, camera.logins.count("DESCRIBE")) == (2, 1)


# Secrets


def test_a_password_that_stands_in_the_address_is_not_shown():
    inside = base64.b64encode(b"admin:hunter22").decode()
    with scripted(playing(key())) as camera:
        url = camera.url.replace("live", f"0/admin:hunter22/x?password=hunter22&authbasic={inside}")
        report = ck.preflight(url, "admin", "hunter22", timeout=3)
    assert report.ok
    assert not re.search(f"hunter22|{inside}", all_texts(report))


@pytest.mark.parametrize("offer", ['Basic realm="r"', DIGEST])
def test_a_camera_that_repeats_the_login_does_not_get_it_into_the_report(offer):
    password = "s3cret/@#%"

    def parrot(request):
        return reply(request, 500, reason=f"no {password} {request.get('Authorization')}")

    report, camera = tried(wanting(parrot, offer), "admin", password)
    assert report.verdict == "server_error"
    assert "500 no" in report.cause
    sent = camera.requests[-1].get("Authorization")
    for secret in (password, sent, sent.rpartition("response=")[2] or "YWRtaW46"):
        assert secret not in all_texts(report)


@pytest.mark.parametrize(
    "location",
    [
        "rtsp://127.0.0.1:1/x/hunter22",
        "rtsp://hunter22.invalid/x",
        "rtsp://admin:other1@127.0.0.1:1/x?user=admin&password=other1",
    ],
)
def test_a_redirect_is_named_without_a_login_and_not_followed(location):
    away = instead("DESCRIBE", 302, Location=location)
    report, camera = tried(wanting(away, 'Basic realm="r"'), "admin", "hunter22")
    assert (report.verdict, report.snapshot, camera.connections) == ("redirected", None, 1)
    assert "redirects to rtsp://" in report.cause
    assert not re.search("hunter22|other1", all_texts(report))


# Listeners and cancelling


def test_each_stage_is_reported_as_it_begins_and_as_it_ends():
    heard = []
    report = report_of(instead("DESCRIBE", 404), on_stage=heard.append)
    assert tuple(heard[1::2]) == report.stages
    assert [(stage.name, stage.seconds, stage.outcome) for stage in heard[::2]] == [
        (stage.name, 0.0, "running") for stage in report.stages
    ]


@pytest.mark.parametrize("stage", ["TCP", "OPTIONS", "PLAY", "first packet"])
def test_a_preflight_is_cancelled_while_a_camera_is_silent(stage):
    """Whoever cancels does not wait for the end of a stage; a session is ended before."""
    cancelled = threading.Event()

    def listen(event):
        if (event.name, event.outcome) == (stage, "running"):
            cancelled.set()

    silent = willing if stage == "first packet" else at(stage, lambda _: None)
    start = time.monotonic()
    raised, camera = tried(silent, timeout=60, on_stage=listen, cancelled=cancelled)
    assert isinstance(raised, CancelledError)
    assert time.monotonic() - start < 5
    assert ("TEARDOWN" in camera.methods) is (stage in ("PLAY", "first packet"))


def test_a_preflight_that_is_cancelled_before_it_begins_asks_no_camera():
    cancelled = threading.Event()
    cancelled.set()
    raised, camera = tried(willing, cancelled=cancelled)
    assert isinstance(raised, CancelledError)
    assert camera.connections == 0


# A camera's failures are OSError and TimeoutError as well: those of the listener are its own.
@pytest.mark.parametrize(
    ("kind", "stage", "scheme"),
    [
        (OSError, "first packet", "rtsp"),
        (TimeoutError, "first packet", "rtsp"),
        (KeyboardInterrupt, "first packet", "rtsp"),
        (KeyboardInterrupt, "TLS", "rtsps"),  # before there is a session
    ],
)
def test_what_the_listener_raises_is_the_callers_and_the_session_is_ended(kind, stage, scheme):
    broken, heard = kind("not the camera"), []

    def listen(event):
        heard.append(event.name)
        if event.name == stage:
            raise broken

    raised, camera = tried(willing, scheme=scheme, on_stage=listen)
    assert raised is broken
    assert camera.methods[-1:] == ["TEARDOWN"] * (scheme == "rtsp")
    assert heard.count(stage) == 1
    gc.collect()


def test_an_option_that_makes_no_sense_raises():
    nan = float("nan")
    for options in ({"transport": "quic"}, {"timeout": nan}, {"login_name": nan}):
        with pytest.raises(ValueError, match=next(iter(options))):
            ck.preflight("rtsp://127.0.0.1/", **options)
