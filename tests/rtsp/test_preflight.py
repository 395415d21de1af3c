"""The preflight against cameras that answer from a script, byte by byte: what is on the wire, and
the verdict."""

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

SECRET = "s3cret/@#%"
SLICE, HEVC_SLICE = b"\x41" + bytes(range(1, 41)), b"\x02\x01" + bytes(range(1, 41))


def names(report):
    return [stage.name for stage in report.stages]


def keys(report):
    return [notice.key for notice in report.warnings]


def all_texts(report):
    """All that a person could be shown of a report."""
    return f"{report!r}{report}{report._repr_html_()}{report.to_frame().to_string()}"


def test_every_verdict_says_cause_and_advice_in_a_sentence():
    """Each verdict has a stable name, a sentence of cause and one of advice."""
    for name, sentences in VERDICTS.items():
        assert re.fullmatch("[a-z_]+", name)
        assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)


def numbered(parts, start=0):
    """Packets of (payload, marker, stamp), numbered one after the other."""
    return b"".join(framed(rtp(p, m, n, stamp)) for n, (p, m, stamp) in enumerate(parts, start))


# What does not play: the answer, the verdict, the last stage, and words of cause or advice

VIDEO = b"m=video 0 RTP/AVP 96\r\na=rtpmap:96 "
CHALLENGE_512 = 'Digest realm="r", nonce="n", algorithm=SHA-512-256, qop="auth"'
LARGE_JPEG = bytes(4) + b"\1\x50\0\0" + bytes(100)  # larger than its header can say
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
            (b"v=0\r\nm=video 0 RTP/AVP 33\r\n", "codec_unsupported", "MPEG transport stream"),
            (SDP.replace(b"AVP", b"SAVP"), "codec_unsupported", "encrypted"),
            (SDP + b"a=crypto:1 X inline:a\r\n", "codec_unsupported", "enableSrtp"),
        )
    ),
    *(
        (lambda _, data=data: data, verdict, "OPTIONS", words)
        for data, verdict, words in (
            (Last(b"<!DOCTYPE HTML>"), "not_rtsp", "an HTTP server"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "not_rtsp", "an SSH server"),
            (b"220 ready\r\n", "not_rtsp", "FTP or mail"),
            (b"\x00\x01\x02", "not_rtsp", "not an RTSP server"),
            (b"RTSP/1.0 OK\r\n", "not_rtsp", "faulty RTSP"),
            (Last(b"\x15\x03\x01\x00\x02\x02\x46"), "tls_failed", "encrypted"),
            (Last(), "rtsp_silent", "OPTIONS"),
            (b"RTSP/1.0 200 OK\r\nX: " + bytes(70_000), "not_rtsp", "faulty RTSP"),
        )
    ),
    *(
        (at("DESCRIBE", lambda r, head=head: reply(r)[:-2] + head + b"\r\n\r\n"), *row)
        for head, *row in (
            (b"Content-Length: 67108864", "sdp_invalid", "DESCRIBE", "too long"),
            (b"Content-Length: -1", "sdp_invalid", "DESCRIBE", "-1"),
            (b"X: " + b"x" * 70_000, "server_error", "DESCRIBE", "headers exceed"),
        )
    ),
    (instead("DESCRIBE", 404, body=bytes(300_000)), "path_not_found", "DESCRIBE", "404"),
    (instead("DESCRIBE", 401, WWW_Authenticate=DIGEST), "auth_required", "DESCRIBE", ""),
    (instead("DESCRIBE", 302), "redirected", "DESCRIBE", "not to an RTSP address"),
    (instead("SETUP", 301, Location="rtsp://h/2"), "redirected", "SETUP", "to rtsp://h:554/2"),
    (instead("DESCRIBE", 503), "busy", "DESCRIBE", "source or encoder has started"),
    (
        at("DESCRIBE", lambda r: Last(reply(r, body=SDP)[:-9])),
        "sdp_invalid",
        "DESCRIBE",
        "is incomplete",
    ),
    # Some send before they refuse.
    (at("PLAY", lambda r: packets(SLICE) + reply(r, 500)), "setup_play_failed", "PLAY", "500"),
    (playing(packets(*[SLICE] * 70), b"H265"), "no_picture", "keyframe", "H265"),
    (playing(packets(*[SLICE] * 70), b"JPEG"), "no_picture", "keyframe", "JPEG"),
    (playing(packets(*[HEVC_SLICE] * 70)), "no_picture", "keyframe", "H264"),
    (playing(packets(LARGE_JPEG), b"JPEG"), "codec_unsupported", "first packet", "2040"),
    (at("PLAY", lambda r: Last(willing(r) + packets(SLICE))), "dropped", "keyframe", "closed"),
    (at("PLAY", lambda r: Last(willing(r))), "dropped", "first packet", "right after PLAY"),
]
SETS = nals(pictures("h264")[0])[:2]
PATIENCE = 1.2  # seconds for a camera that never answers: a busy machine needs some to connect
SILENT = "did not answer {} within 1.2 s"
LATE = [
    *(
        (at(step, lambda _: None), "rtsp_silent", step, SILENT.format(step))
        for step in ("OPTIONS", "DESCRIBE", "SETUP", "PLAY")
    ),
    (lambda _: b"RTSP/1.0 200", "rtsp_silent", "OPTIONS", "OPTIONS"),
    (lambda _: b"hello", "not_rtsp", "OPTIONS", "not an RTSP server"),
    (at("DESCRIBE", lambda r: reply(r, body=SDP)[:-9]), "sdp_invalid", "DESCRIBE", "is incomplete"),
    (willing, "no_media", "first packet", "accepted PLAY"),
    (playing(packets(*[SLICE] * 70)), "no_keyframe", "keyframe", "in 70 packets."),
    (playing(packets(*[HEVC_SLICE] * 3)), "no_picture", "keyframe", "announces H264"),
    (playing(packets(*SETS, b"\x65" + SLICE)), "no_picture", "picture", "does not decode"),
]
FORCED = [
    (willing, "udp", "udp_blocked", "first packet", ""),
    (instead("SETUP", 461), "udp", "transport_refused", "SETUP", "--transport tcp"),
    (instead("SETUP", 461), "tcp", "transport_refused", "SETUP", "--transport udp"),
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
    """Each answer, silence and stream becomes one verdict, at once where waiting is of no use; a
    session that was set up is ended, and nothing is asked twice."""
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


def large(*parts):
    """A picture of these payloads, which no marker ends but the last one's."""
    return numbered([(part, part is parts[-1], 0) for part in parts])


@pytest.mark.parametrize(
    ("part", "verdict"),
    [
        (packets(*[SLICE[:1] + b"\1" * 60_000] * 20, marker=False), "no_keyframe"),
        (large(*SETS, SLICE, *[b"\x65\x88" + CODES] * 100, b"\x65\x88" + SLICE), "no_keyframe"),
        (packets(*SETS, *[STAP] * 20), "no_picture"),
    ],
    ids=["no end", "start codes", "aggregates"],
)
def test_time_and_memory_are_bounded_however_much_a_camera_sends(part, verdict):
    """Packets without an end and without a keyframe neither stretch the time-out nor pile up, nor
    do pictures of nothing but the beginnings of units."""
    with scripted(
        at("PLAY", lambda r: [willing(r), *[part] * (480_000_000 // len(part))])
    ) as camera:
        tracemalloc.start()
        report = ck.preflight(camera.url, timeout=1.5)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert report.verdict == verdict
    assert report.seconds < 3
    assert peak < 5 * MAX_PICTURE


ADMIN = "admin", "hush"


@pytest.mark.parametrize(
    ("url", "login", "verdict", "words"),
    [
        ("http://host/", ADMIN, "url_malformed", ""),
        ("rtsp://admin:pa#ss@host/", ADMIN, "url_malformed", "%23"),
        ("rtsp://host/live#backchannel=0", ADMIN, "url_malformed", "another program"),
        ("rtsp://other:s3cret@host/", ADMIN, "credentials_conflict", ""),
        ("rtsp://admin:s3cret@host/", ADMIN, "credentials_conflict", ""),
        ("rtsp://nowhere.invalid/", ADMIN, "dns_failed", ""),
        ("rtsp://a..b/", ADMIN, "dns_failed", ""),
        ("rtsp://127.255.255.255/", ADMIN, "unreachable", ""),  # a broadcast address
        ("rtsp://127.0.0.1:1/", ADMIN, "refused", ""),
        ("rtsp://127.0.0.1:1/", ("a\n", "b"), "url_malformed", ""),
        ("rtsp://127.0.0.1:1/", ("a", "\ud800"), "url_malformed", ""),
    ],
)
def test_an_address_is_judged_before_anything_is_sent(url, login, verdict, words):
    """A malformed address, two logins, one that cannot be sent or an unknown host end the
    preflight, and quote nothing."""
    report = ck.preflight(url, *login)
    assert report.verdict == verdict
    assert words in report.cause
    assert (names(report) == ["address"]) is (verdict in ("url_malformed", "credentials_conflict"))
    for secret in ("pa#ss", "s3cret", "hush"):
        assert secret not in all_texts(report)


# What plays, as FFmpeg plays it


def jpeg(change):
    """A JPEG picture whose payload is changed: head, tables and scan."""
    (whole,) = payloads("mjpeg", pictures("mjpeg")[0], 60_000)
    return packets(change(whole[:8], whole[12:140], whole[140:]))


KEY = pictures("h264")[0]
SOUND = packets(bytes(36), bytes(36), start=4711, number=8)
RTCP = packets(bytes(36), start=1).replace(b"\x80\xe0", b"\x80\xc8")


def key(start=0):
    """The packets of one keyframe."""
    parts = payloads("h264", KEY, 60_000)
    return numbered([(part, part is parts[-1], 9000) for part in parts], start)


def slices(mark_all):
    """Pictures of four slices, with a marker on each slice, or on none."""
    units = enumerate(pictures("h264", "slices=4"))
    return numbered([(nal, mark_all, 9000 * n) for n, unit in units for nal in nals(unit)])


WHOLE = key()


def joined(codec, **options):
    return b"".join(map(framed, stream(codec, **options)))


def swapped():
    """A stream in which each second packet overtakes one, some come twice, and one is lost."""
    sent = stream("h264", limit=200)
    del sent[3]
    sent[1::2], sent[::2] = sent[: len(sent) // 2 * 2 : 2], sent[1::2] + sent[len(sent) // 2 * 2 :]
    return [packet for packet in sent for _ in range(2)]


def constant():
    """A keyframe whose packets all have one number."""
    parts = payloads("h264", KEY, 400)
    return b"".join(framed(rtp(part, part is parts[-1], 7, 9000)) for part in parts)


def recovery():
    """Pictures that begin with parameter sets and a recovery point, and hold no IDR picture."""
    units = pictures("h264", "open-gop=1:bframes=2:keyint=6:min-keyint=3:repeat-headers=1")
    (parts, *_) = [nals(unit) for unit in units[1:] if b"\x06\x06" in unit]
    return numbered([(part, part is parts[-1], 9000) for part in parts])


STREAMS = {
    "fragments, numbers wrap": ("H264", joined("h264", limit=100, start=65530)),
    "begun inside a keyframe": ("H264", b"".join(map(framed, stream("h264", limit=24)[30:]))),
    "no markers": ("H264", joined("h264", marker=False)),
    "markers on slices": ("H264", slices(mark_all=True)),
    "slices without markers": ("H264", slices(mark_all=False)),
    "one timestamp": ("H264", numbered([(nal, nal[0] & 31 < 6, 0) for nal in [SLICE, *nals(KEY)]])),
    "start codes inside": ("H264", packets(KEY)),
    "numbers that make no sense": ("H264", constant()),
    "empty packets": ("H264", key(7) + numbered([(b"", False, 9000)] * 5, 70) + key(80)),
    "no keyframe but a recovery point": ("H264", recovery()),
    "sound and RTCP beside": ("H264", packets(SLICE) + SOUND + RTCP + key(1)),
    "stray bytes": ("H264", b"\x07\x08junk" + WHOLE),
    "H.265": ("H265", joined("h265", limit=100)),
    "JPEG": ("JPEG", joined("mjpeg", limit=300)),
    "implied tables": ("JPEG", jpeg(lambda head, _, scan: head[:5] + b"\x32" + head[6:] + scan)),
    "one table": ("JPEG", jpeg(lambda head, both, scan: head + b"\0\0\0\x40" + both[:64] + scan)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_ffmpeg_plays_is_shown(name):
    """Fragments, numbers that wrap, pictures without markers or with one on each slice, start
    codes inside a unit, packets out of order, twice and lost, sound and RTCP on the video's
    channel, stray bytes; JPEG with tables of its own, implied ones, and a single one."""
    codec, sent = STREAMS[name]
    report = report_of(playing(sent, codec.encode()), timeout=3)
    assert (report.verdict, report.width, report.height) == ("ok", 128, 96), str(report)


def description(*changes):
    """A script with a description that differs in these places, and plays."""
    body = SDP
    for old, new in changes:
        body = body.replace(old, new)
    plays = playing(WHOLE)
    return lambda r: reply(r, body=body) if r.method == "DESCRIBE" else plays(r)


def headers(method, **more):
    """A script that plays, with these headers in an answer."""
    plays = playing(WHOLE)
    body = {"DESCRIBE": SDP}.get(method, b"")
    return lambda r: reply(r, body=body, **more) if r.method == method else plays(r)


@pytest.mark.parametrize(
    "script",
    [
        description((b"v=0\r\n", b"")),
        description((b"v=0", b"\xef\xbb\xbfv=0"), (b"s=-", b" s=-\r\nX-Vendor: 1")),
        description((b"96 H264", b"96\th264"), (b"track1", b"tr\xe4ck \0")),
        description((b"a=c", b"a=fmtp:96 sprop-parameter-sets=\xc3\xa9\r\na=c")),
        description((b"m=v", b"m=application 0 TCP/DTLS/SCTP webrtc-datachannel\r\nm=v")),
        description((b"m=video", b"m=audio 0 RTP/AVP\r\nm=video"), (b"track1\r\n", b"track1\0")),
        description((b"RTP/AVP 96", b"RTP/AVP 97 96\r\na=rtpmap:97 rtx/90000")),
        lambda r: playing(WHOLE)(r).replace(b"CSeq: ", b"no colon\r\nCSeq: " + b"9" * 5000),
        headers("OPTIONS", Content_Length=""),
        headers("SETUP", Session=" 77 ; timeout = 30", Transport="RTP/AVP/TCP;interleaved=0-1"),
        headers("SETUP", Session="77", Transport="RTP/AVP/TCP;interleaved=" + "9" * 5000),
        at("DESCRIBE", lambda r: packets(SLICE) + willing(r)),
    ],
)
def test_odd_firmware_plays(script):
    """What players pass over is passed over, and request lines hold visible ASCII only."""
    plays = playing(WHOLE)
    report, camera = tried(lambda r: plays(r) if r.method == "PLAY" else script(r), timeout=3)
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
def test_the_urls_of_requests_are_whole_and_hold_no_login(base, track):
    """Control URLs are concatenated to the base, which may lack its scheme or its host, or carry a
    login or a private address: the connection stays the one that is open."""
    offered = {"Content_Base": base} if base else {}

    def described(request):
        given = {name: text.format(request.url) for name, text in offered.items()}
        return reply(request, body=SDP, **given)

    _, camera = tried(at("DESCRIBE", described), timeout=0.5)
    expected = track.format(camera.url, host=camera.url.removesuffix("/live"))
    assert {request.url for request in camera.requests if request.method == "SETUP"} == {expected}


# Transports


def udp_only(refusal, sent, answered="RTP/AVP;unicast;client_port={0};server_port={1}"):
    """A script that plays over UDP only: a SETUP for TCP gets this refusal, or a UDP transport."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to = []

    def script(request):
        offer = request.get("Transport")
        if request.method == "SETUP" and "TCP" in offer and refusal:
            return reply(request, refusal)
        if request.method == "SETUP":
            port = re.search(r"client_port=(\d+)", offer)
            to[:] = [(request.connection.getpeername()[0], int(port[1]))] if port else []
            out.getsockname()[1] or out.bind((request.connection.getsockname()[0], 0))
            transport = answered.format(to[0][1] if to else 0, out.getsockname()[1])
            return reply(request, Session="77", Transport=transport)
        if request.method == "PLAY":
            for packet in sent:
                out.sendto(packet, to[0])
        if request.method == "TEARDOWN":
            out.close()
        return willing(request)

    return script


def large():
    """A keyframe of 2,200 packets, sent at once: more than a socket holds by default."""
    unit = [*nals(KEY)[:2], b"\x65" + b"\x88" + b"\xaa" * 3_000_000]
    parts = payloads("h264", b"\0\0\1" + b"\0\0\1".join(unit))
    return [rtp(part, part is parts[-1], n, 0) for n, part in enumerate(parts)]


@pytest.mark.parametrize("refusal", [461, 400, 500, None])
def test_udp_is_used_where_a_camera_offers_nothing_else(refusal):
    """After 461 or another refusal of a SETUP for TCP, or where that is answered with a UDP
    transport; a notice says so."""
    report, camera = tried(udp_only(refusal, stream("h264")), timeout=3)
    assert (report.verdict, report.transport, keys(report)[-1]) == (
        "ok",
        "udp",
        "transport_switched",
    )
    assert camera.methods[-2:] == ["PLAY", "TEARDOWN"]
    assert camera.connections == 1


def test_packets_over_udp_are_put_in_order():
    """Packets that overtake others, come twice or are lost do not keep a later keyframe away."""
    report = report_of(udp_only(461, swapped()), timeout=3)
    assert report.ok, str(report)


def test_a_loss_is_named_as_a_loss_and_tcp_is_the_advice():
    """Packets that UDP lost are counted, and what is left is not called foreign."""
    sent = stream("h264", limit=60, count=6)
    report = report_of(udp_only(461, sent[:3] + sent[5:]), timeout=1)
    assert report.verdict == "no_keyframe"
    assert "2 packets were lost on the way" in report.cause
    assert "--transport tcp" in report.advice


def test_a_large_keyframe_arrives_over_udp():
    """The receive buffer holds what a camera sends at once, as far as the system lets it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * 1024 * 1024)
        granted = probe.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    sent = large()[: granted // 2 // 2304]  # what the system counts for one packet
    report = report_of(udp_only(461, sent), timeout=2)
    assert "lost" not in report.cause
    assert f"in {len(sent)} packets" in report.cause


@pytest.mark.parametrize(
    ("profile", "transport", "offer"),
    [
        ("RTP/AVP", "tcp", "RTP/AVP/TCP;unicast;interleaved=0-1"),
        ("RTP/AVPF", "tcp", "RTP/AVPF/TCP;unicast;interleaved=0-1"),
        ("RTP/AVPF", "udp", "RTP/AVPF;unicast;client_port="),
    ],
)
def test_a_stream_is_asked_for_by_its_own_profile(profile, transport, offer):
    """RTP/AVPF is asked for where the description offers it."""
    script = instead("DESCRIBE", body=SDP.replace(b"RTP/AVP", profile.encode()))
    _, camera = tried(script, transport=transport, timeout=0.5)
    assert camera.requests[2].get("Transport").startswith(offer)


def test_hosts_of_several_addresses_and_of_version_six(version_six):
    """A camera on the second of its host's addresses is found; one of version six plays."""
    with scripted(instead("DESCRIBE", 404), "127.0.0.1") as camera:
        url = camera.url.replace("127.0.0.1", "localhost")
        assert ck.preflight(url).verdict == "path_not_found"
    with scripted(playing(WHOLE), version_six) as camera:
        assert camera.url.startswith("rtsp://[::1]:")
        assert ck.preflight(camera.url, timeout=3).ok


def test_encryption(certificate, tmp_path):
    """With the certificate's file, or without a check, the camera plays; else `tls_failed`, as on a
    port that wants encryption or has none, and with certificates that cannot be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    known, plays = str(certificate[0]), playing(WHOLE)
    for verify in (known, False):
        report = report_of(plays, scheme="rtsps", tls=context, verify=verify)
        assert report.ok, str(report)
        assert names(report)[2:4] == ["TCP", "TLS"]
    missing = str(tmp_path / "missing.pem")
    for options, words in (
        ({"tls": context}, "self-signed"),
        ({"tls": context, "verify": missing}, "cannot be read"),
        ({"tls": context, "scheme": "rtsp"}, "expects an encrypted connection (rtsps)"),
        ({}, "does not speak TLS"),
    ):
        report = report_of(plays, **{"scheme": "rtsps", **options})
        assert report.verdict == "tls_failed", str(report)
        assert words in report.cause


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("127.0.0.1", "this machine's own"),
        ("::1", "this machine's own"),
        ("LocalHost", "this machine's own"),
        ("10.0.0.7", "is private"),
        ("fd00::7", "is private"),
        ("8.8.8.8", ""),
        ("camera.example", ""),
    ],
)
def test_an_address_that_few_services_reach_is_known(host, words):
    """This machine's own addresses and private ones earn a notice; no name is looked up."""
    assert words in limited_reach(host)
    assert bool(limited_reach(host)) is bool(words)


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
    report, camera = tried(script, "ada", "hush", timeout=PATIENCE)
    assert report.verdict == verdict
    assert (camera.logins, camera.connections) == (logins, 1)


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        (CHALLENGE_512, "Digest SHA-512-256"),
        ("Negotiate", "Negotiate"),
        ('Digest realm="r", nonce="n", qop="auth-int"', "qop=auth-int"),
    ],
)
def test_a_login_that_cannot_be_made_names_what_the_camera_offers(offer, words):
    """The cause names the scheme, and the advice is not what the camera does already."""
    report = report_of(wanting(willing, offer), "ada", "hush")
    assert report.verdict == "auth_unsupported"
    assert words in report.cause
    assert "MD5 or SHA-256" in report.advice


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

    assert report_of(answer, "ada", "hush").verdict == verdict


def test_a_new_nonce_after_an_accepted_login_is_no_rejection():
    """A camera that wants a fresh nonce for each request plays on, and hears the farewell."""

    def answer(request):
        nonce = f'nonce="{request.method}"'
        if request.method == "OPTIONS" or nonce in request.get("Authorization"):
            return willing(request)
        return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}')

    report, camera = tried(answer, "a", "b", timeout=PATIENCE)
    assert report.verdict == "no_media"
    assert camera.methods.count("PLAY") == camera.methods.count("TEARDOWN") == 2


def test_a_camera_that_closes_after_its_401_is_reopened():
    """The connection is opened again, once, when a camera closes it after asking for a login."""

    def answer(request):
        output = wanting(ends)(request)
        return Last(output) if b" 401 " in output else output

    report, camera = tried(answer, "ada", "hush")
    assert (report.verdict, names(report)[-1]) == ("dropped", "first packet")
    assert (camera.connections, camera.logins.count("DESCRIBE")) == (2, 1)


# Secrets


def test_a_password_that_stands_in_the_address_is_not_shown():
    """Many cameras take the login in the query or the path: no part of a report shows it."""
    inside = base64.b64encode(b"admin:hunter22").decode()
    for path in (
        "live?user=admin&password=hunter22",
        "0/admin:hunter22/main",
        f"cam?channel=1&authbasic={inside}",
    ):
        with scripted(playing(WHOLE)) as camera:
            url = camera.url.replace("live", path)
            report = ck.preflight(url, "admin", "hunter22", timeout=3)
        assert report.ok
        for secret in ("hunter22", inside):
            assert secret not in all_texts(report)


def test_no_secret_shows_in_a_report():
    """A camera that repeats the login in its reason does not get it into the report."""

    def parrot(request):
        return reply(request, 500, reason=f"no {SECRET} {request.get('Authorization')}")

    for offer in ('Basic realm="r"', DIGEST):
        report, camera = tried(wanting(parrot, offer), "admin", SECRET)
        assert report.verdict == "server_error"
        assert "500 no" in report.cause
        sent = camera.requests[-1].get("Authorization")
        for secret in (SECRET, sent, sent.rpartition("response=")[2] or "YWRtaW46"):
            assert secret not in all_texts(report)
    sized = wanting(lambda r: reply(r, Content_Length="hunter22", Content_Type="application/sdp"))
    report = report_of(sized, "admin", "hunter22")
    assert report.verdict == "sdp_invalid"
    assert "hunter22" not in all_texts(report)


@pytest.mark.parametrize(
    "location",
    [
        "rtsp://127.0.0.1:1/x/hunter22",
        "rtsp://hunter22.invalid/x",
        "rtsp://admin:hunter22@127.0.0.1:1/x?user=admin&password=hunter22",
    ],
)
def test_a_redirect_is_named_without_a_login_and_not_followed(location):
    """The report names the address to which a camera redirects, and nothing is sent there."""
    away = instead("DESCRIBE", 302, Location=location)
    report, camera = tried(wanting(away, 'Basic realm="r"'), "admin", "hunter22")
    assert (report.verdict, report.snapshot, camera.connections) == ("redirected", None, 1)
    assert "redirects to rtsp://" in report.cause
    assert "with its own login" in report.advice
    assert "hunter22" not in all_texts(report)


# Those who listen, and those who stop it


def test_each_stage_is_reported_as_it_begins_and_as_it_ends():
    """Who listens hears of every stage in order: that it has begun, then all that the report says
    of it, before the next one begins."""
    heard = []
    report = report_of(instead("DESCRIBE", 404), on_stage=heard.append)
    assert tuple(heard[1::2]) == report.stages
    assert [(stage.name, stage.seconds, stage.outcome) for stage in heard[::2]] == [
        (name, 0.0, "running") for name in names(report)
    ]
    assert report.stages[-1].outcome == "failed"


@pytest.mark.parametrize("stage", ["TCP", "OPTIONS", "PLAY", "first packet"])
def test_a_preflight_is_cancelled_while_a_camera_is_silent(stage):
    """Whoever cancels does not wait for the end of a stage; a session is ended before."""
    cancelled, silent = (
        threading.Event(),
        at("OPTIONS" if stage == "OPTIONS" else "PLAY", lambda _: None),
    )

    def listen(begun):
        if (begun.name, begun.outcome) == (stage, "running"):
            cancelled.set()

    began = time.monotonic()
    raised, camera = tried(
        willing if stage == "first packet" else silent,
        timeout=60,
        on_stage=listen,
        cancelled=cancelled,
    )
    assert isinstance(raised, CancelledError)
    assert time.monotonic() - began < 5
    assert camera.methods[-1:] == ["TEARDOWN"] * (stage in ("PLAY", "first packet")) or stage in (
        "TCP",
        "OPTIONS",
    )


def test_a_preflight_that_is_cancelled_before_it_begins_asks_no_camera():
    """No connection is made, and no login is spent."""
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
def test_what_the_listener_raises_is_the_callers_and_the_camera_gets_its_farewell(
    kind, stage, scheme
):
    """An error of `on_stage`, or Ctrl-C, comes out as it is, and the session and the connection are
    ended before."""
    broken, heard = kind("not the camera"), []

    def listen(begun):
        heard.append(begun.name)
        if begun.name == stage:
            raise broken

    raised, camera = tried(willing, scheme=scheme, on_stage=listen)
    assert raised is broken
    assert camera.methods[-1:] == ["TEARDOWN"] * (scheme == "rtsp")
    assert heard.count(stage) == 1
    gc.collect()


@pytest.mark.parametrize(
    "options", [{"transport": "quic"}, {"timeout": 0}, {"timeout": float("nan")}]
)
def test_an_option_that_makes_no_sense_raises(options):
    """A transport or time-out that cannot be meant is a ValueError."""
    with pytest.raises(ValueError, match=next(iter(options))):
        ck.preflight("rtsp://127.0.0.1/", **options)
