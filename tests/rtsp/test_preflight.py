"""The preflight against cameras that answer from a script, byte by byte."""

import re
import socket
import ssl
import threading
import tracemalloc
from concurrent.futures import CancelledError

import pytest

import confkit as ck
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
    rtp,
    scripted,
    stream,
    tried,
    wanting,
    willing,
)

SLICE, HEVC_SLICE = b"\x41\x9a" + bytes(range(1, 41)), b"\x02\x01" + bytes(range(1, 41))
KEY = pictures("h264")[0]
SETS = nals(KEY)[:2]
LARGE_JPEG = bytes(4) + b"\1\x50\0\0" + bytes(100)  # larger than its header can say
ENDING = at("PLAY", lambda request: Last(willing(request)))
PATIENCE = 1.2  # seconds for a camera that never answers: a busy machine needs some to connect


def all_texts(report):
    """All that a person could be shown of a report."""
    return f"{report!r}{report}{report._repr_html_()}{report.to_frame().to_string()}"


def wire(sent):
    return b"".join(map(framed, sent))


def described(*changes):
    """A script with a description that differs in these places."""
    body = SDP
    for old, new in changes:
        body = body.replace(old, new)
    return instead("DESCRIBE", body=body)


# What does not play; the verdicts that are not here have a camera of the sandbox in test_camera.py

AT_ONCE = [
    (instead("DESCRIBE", 400), "path_not_found", "DESCRIBE", "400"),
    (instead("DESCRIBE", 401, reason="Account Locked"), "auth_locked", "DESCRIBE", "Account"),
    (instead("DESCRIBE", 403, reason="Wrong clock"), "forbidden", "DESCRIBE", "clock"),
    (described((b"video 0", b"audio 0"), (b"H264", b"PCMA")), "no_video", "SDP", "only PCMA"),
    (described((b"AVP", b"SAVP")), "codec_unsupported", "SDP", "encrypted"),
    (described((b"H264", b"MP2T")), "codec_unsupported", "SDP", "over RTP"),
    (described((b"a=rtpmap:96 H264/90000", b"")), "sdp_invalid", "SDP", "payload type 96"),
    (at("DESCRIBE", lambda r: Last(willing(r)[:-9])), "sdp_invalid", "DESCRIBE", "incomplete"),
    (described((b" 0 RTP/AVP 96", b"")), "sdp_invalid", "SDP", "is cut off"),
    (lambda _: b"RTSP/1.0 200 OK\r\nX: " + bytes(70_000), "not_rtsp", "OPTIONS", "faulty RTSP"),
    (instead("DESCRIBE", Content_Length="67108864"), "server_error", "DESCRIBE", "Length"),
    # Some send before they refuse.
    (at("PLAY", lambda r: packets(SLICE) + reply(r, 500)), "setup_play_failed", "PLAY", "500"),
    (playing(packets(*[HEVC_SLICE] * 9)), "no_picture", "keyframe", "H264"),
    (playing(packets(LARGE_JPEG), b"JPEG"), "codec_unsupported", "first packet", "2040"),
    (at("PLAY", lambda r: Last(willing(r) + packets(SLICE))), "dropped", "keyframe", "closed"),
]
LATE = [
    (at("PLAY", lambda _: None), "rtsp_silent", "PLAY", "within 1.2 s"),
    (playing(packets(*[SLICE] * 70)), "no_keyframe", "keyframe", "in 70 packets."),
    (playing(packets(*nals(KEY)[2:])), "no_keyframe", "keyframe", "repeat SPS and PPS"),
    (playing(packets(*SETS, b"\x65" + SLICE)), "no_picture", "picture", "does not decode"),
    (instead("SETUP", 461), "transport_refused", "SETUP", "--transport"),
    (instead("SETUP", Transport="RTP/AVP;Multicast"), "transport_refused", "SETUP", "unicast"),
    (instead("DESCRIBE", 302), "redirected", "DESCRIBE", "not to an RTSP address"),
]


@pytest.mark.parametrize(
    ("script", "verdict", "stage", "words", "timeout"),
    [*((*row, 300) for row in AT_ONCE), *((*row, PATIENCE) for row in LATE)],
)
def test_what_a_camera_does_has_its_verdict(script, verdict, stage, words, timeout):
    """At its stage, at once where waiting is of no use; a session that was set up is ended."""
    report, camera = tried(script, timeout=timeout, transport="tcp")
    assert (report.ok, report.verdict) == (False, verdict), str(report)
    assert words in f"{report.cause} {report.advice}"
    assert (report.stages[-1].name, report.stages[-1].outcome) == (stage, "failed")
    set_up = "PLAY" in camera.methods or "multicast" in report.cause
    ended = set_up and verdict != "dropped"
    assert (camera.methods[-1:] == ["TEARDOWN"]) is ended


def test_time_and_memory_are_bounded_however_much_a_camera_sends():
    sent = wire(picture([*SETS, *[b"\x65\x88" + b"\0\0\1\x65" * 15_000] * 130]))
    flood = at("PLAY", lambda r: [willing(r), *[sent] * 50])
    with scripted(flood) as camera:
        tracemalloc.start()
        report = ck.preflight(camera.url, timeout=1.5)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert report.verdict == "no_keyframe"
    assert report.seconds < 5
    assert peak < 5 * MAX_PICTURE


@pytest.mark.parametrize(
    ("url", "login", "verdict"),
    [
        ("rtsp://admin:pa#ss@host/", (), "url_malformed"),
        ("rtsp://other:s3cret@host/", ("admin", "hush"), "credentials_conflict"),
        ("rtsp://127.0.0.1:1/", ("a\n", "b"), "url_malformed"),
        ("rtsp://127.255.255.255/", (), "unreachable"),  # a broadcast address
        ("rtsp://127.0.0.010/", (), "url_malformed"),  # 127.0.0.8 for the system
        ("rtsp://127.0.0.1:1/live\u200b", (), "url_malformed"),
        ("rtsp://ada:x@127.0.0.1:1/", ("", ""), "refused"),
    ],
)
def test_an_address_is_judged_before_anything_is_sent(url, login, verdict):
    report = ck.preflight(url, *login)
    assert report.verdict == verdict
    assert not re.search("pa#ss|s3cret|hush", all_texts(report))


# What plays, as FFmpeg plays it


def key(start=0):
    return wire(picture(payloads("h264", KEY, 60_000), start))


def without_marker(packet):
    return packet[:1] + bytes([packet[1] & 127]) + packet[2:]


def recovery(options, sei=True):
    """A picture with parameter sets and a recovery point, which is no IDR picture."""
    units = map(nals, pictures("h264", f"{options}:repeat-headers=1")[1:])
    found = next(unit for unit in units if any(nal[:2] == b"\x06\x06" for nal in unit))
    return wire(picture([nal for nal in found if sei or nal[0] != 6]))


JPEG = payloads("mjpeg", pictures("mjpeg")[0], 60_000)[0]
BESIDE = packets(bytes(36)).replace(b"\x80\xe0", b"\x80\xc8")  # RTCP
ONE_CLOCK = [nal for unit in [*pictures("h264")[1:4], KEY] for nal in nals(unit)]
ONE_STAMP = wire(rtp(nal, nal[0] & 31 < 6, n, 0) for n, nal in enumerate(ONE_CLOCK))


def another_set():
    """The picture parameter set of KEY under the number 1."""
    bits = f"{int.from_bytes(SETS[1][1:], 'big'):b}".rstrip("0")
    bits = f"010{bits[1:]}"
    bits += "0" * (-len(bits) % 8)
    return SETS[1][:1] + int(bits, 2).to_bytes(len(bits) // 8, "big")


STREAMS = {
    "begun inside, numbers wrap": ("H264", wire(stream("h264", limit=24, start=65500)[30:])),
    "no markers": ("H264", wire(map(without_marker, stream("h264")))),
    "start codes inside": ("H264", packets(KEY)),
    "gradual refresh": ("H264", recovery("intra-refresh=1:keyint=6")),
    "I slices alone": ("H264", recovery("open-gop=1:bframes=2:keyint=6:min-keyint=3", False)),
    "one timestamp": ("H264", ONE_STAMP),
    "several sets": ("H264", packets(*SETS) + wire(picture([another_set(), *nals(KEY)[2:]], 2))),
    "parameter sets alone first": ("H264", packets(*SETS * 9) + key(20)),
    "private units first": ("H264", packets(*[b"\x1e" + bytes([9] * 9)] * 9) + key(9)),
    "RTCP beside": ("H264", packets(SLICE) + BESIDE + key(1)),
    "stray bytes": ("H264", b"\x07\x08junk" + key()),
    "a broken keyframe first": ("H264", packets(*SETS, b"\x65" + SLICE) + key(9)),
    "H.265": ("H265", wire(stream("h265", limit=100))),
    "JPEG": ("JPEG", wire(stream("mjpeg", limit=300))),
    "implied tables": ("JPEG", packets(JPEG[:5] + b"\x32" + JPEG[6:8] + JPEG[140:])),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_ffmpeg_plays_is_shown(name):
    codec, sent = STREAMS[name]
    report, _ = tried(playing(sent, codec.encode()))
    assert (report.verdict, report.width, report.height) == ("ok", 128, 96), str(report)


@pytest.mark.parametrize(
    "script",
    [
        described((b"v=0", b"\xef\xbb\xbfv=0"), (b"s=-", b" s=-\r\nX-Vendor: 1")),
        described((b"96 H264", b"96\th264"), (b"track1", b"tr\xe4ck \0")),
        lambda r: willing(r).replace(b"CSeq: ", b"no colon\r\nCSeq: " + b"9" * 5000),
        instead("OPTIONS", 501, Content_Length=""),
        instead("SETUP", Transport="rtp/avp/tcp;unicast;Interleaved=0-1"),
        instead("SETUP", Session=" 77 ; timeout = 30", Transport="RTP/AVP/TCP;interleaved=0-1"),
        at("DESCRIBE", lambda r: packets(SLICE) + willing(r)),
        at("SETUP", lambda r: b"OPTIONS rtsp://h/ RTSP/1.0\r\nCSeq: 1\r\n\r\n" + willing(r)),
    ],
)
def test_odd_firmware_plays(script):
    """What players pass over is passed over, and request lines hold visible ASCII only."""
    report, camera = tried(lambda r: script(r) + key() * (r.method == "PLAY"))
    assert report.ok, str(report)
    assert all(re.fullmatch("[!-~]+", request.url) for request in camera.requests)


@pytest.mark.parametrize(
    ("base", "track"),
    [
        ("rtsp://10.9.9.9/x?channel=1", "rtsp://10.9.9.9/x?channel=1/track1"),
        ("rtsp://ada:hush@10.9.9.9/", "rtsp://10.9.9.9/track1"),
        ("//[fe80::1%eth0/live", "{}/track1"),
    ],
)
def test_control_urls_are_concatenated_to_the_base_and_hold_no_login(base, track):
    """The base may lack its host, or be a private address: the connection stays the same."""
    _, camera = tried(instead("DESCRIBE", body=SDP, Content_Base=base), timeout=0.5)
    expected = track.format(camera.url)
    assert {request.url for request in camera.requests if request.method == "SETUP"} == {expected}


# Transports


def udp_only(refusal, sent):
    """A script that plays over UDP only: a SETUP for TCP gets this refusal, or a UDP transport."""
    out, ports = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []

    def script(request):
        asked = request.get("Transport")
        if request.method == "SETUP" and "TCP" in asked and refusal:
            return reply(request, refusal)
        if request.method == "SETUP":
            ports[:] = map(int, re.findall(r"client_port=(\d+)", asked))
            if not out.getsockname()[1]:
                out.bind(("127.0.0.99", 0))  # the other address of a camera with two networks
            transport = f"RTP/AVP;unicast;client_port=9;server_port={out.getsockname()[1]}"
            return reply(request, Session="77", Transport=transport)
        if request.method == "PLAY":
            for packet in sent:
                out.sendto(packet, (request.connection.getpeername()[0], ports[0]))
        if request.method == "TEARDOWN":
            out.close()
        return willing(request)

    return script


@pytest.mark.parametrize("refusal", [461, 405, None])
def test_udp_is_used_where_a_camera_offers_nothing_else(refusal):
    """Packets that overtake others, come twice or are lost do not keep a later keyframe away."""
    sent = stream("h264", limit=200)
    del sent[3]
    sent[1::2], sent[::2] = sent[: len(sent) // 2 * 2 : 2], sent[1::2] + sent[len(sent) // 2 * 2 :]
    twice = [packet for packet in sent for _ in range(2)]
    report, camera = tried(udp_only(refusal, twice))
    assert report.facts() == ("H.264", "128 x 96", "over UDP", "no login")
    assert [notice.key for notice in report.warnings] == ["private_address", "transport_switched"]
    assert camera.connections == 1


def test_where_both_transports_are_refused_the_first_refusal_counts():
    refused = at("SETUP", lambda r: reply(r, 500 if "TCP" in r.get("Transport") else 461))
    assert tried(refused)[0].verdict == "setup_play_failed"


def test_a_loss_is_named_as_a_loss_and_tcp_is_the_advice():
    sent = picture(payloads("h264", KEY, 60))
    report, _ = tried(udp_only(461, sent[:3] + sent[5:]), timeout=PATIENCE)
    assert report.verdict == "no_keyframe"
    assert "2 packets were lost on the way" in report.cause
    assert "--transport tcp" in report.advice


def test_a_host_of_several_addresses():
    with scripted(playing(key()), "127.0.0.1") as camera:
        assert ck.preflight(camera.url.replace("127.0.0.1", "localhost")).ok


def test_encryption(certificate):
    """With the certificate's file, or without a check, the camera plays; else `tls_failed`."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    for verify in (str(certificate[0]), False):
        report, _ = tried(playing(key()), scheme="rtsps", tls=tls, verify=verify)
        assert report.ok, str(report)
    for scheme, context, words in (
        ("rtsps", tls, "self-signed"),
        ("rtsp", tls, "expects an encrypted connection (rtsps)"),
    ):
        report, _ = tried(willing, scheme=scheme, tls=context)
        assert report.verdict == "tls_failed", str(report)
        assert words in report.cause


def renewing(stale):
    """A script that wants a second nonce behind its first, and says whether that is stale."""
    offer = f'Digest realm="r", nonce="2", stale={stale}'
    again = instead("DESCRIBE", 401, WWW_Authenticate=offer)
    return wanting(lambda r: (ENDING if 'nonce="2"' in r.get("Authorization") else again)(r))


def hanging_up(request):
    """Closes the connection after a 401."""
    output = wanting(ENDING)(request)
    return Last(output) if b" 401 " in output else output


@pytest.mark.parametrize(
    ("script", "verdict", "logins", "connections"),
    [
        (wanting(instead("DESCRIBE", 401, WWW_Authenticate=DIGEST)), "auth_rejected", 1, 1),
        (wanting(lambda _: b""), "rtsp_silent", 1, 1),  # it hangs up
        (instead("PLAY", 401, WWW_Authenticate=DIGEST), "auth_rejected", 1, 1),
        (wanting(instead("DESCRIBE", 401)), "auth_rejected", 1, 1),
        (wanting(ENDING, DIGEST + ", algorithm=SHA-512-256"), "auth_unsupported", 0, 1),
        (renewing("true"), "dropped", 4, 1),
        (renewing("false"), "auth_rejected", 1, 1),
        (hanging_up, "dropped", 3, 2),
    ],
)
def test_a_wrong_login_is_tried_exactly_once(script, verdict, logins, connections):
    """A stale nonce is renewed, and a camera that closes after its 401 is reopened once; TEARDOWN
    carries no login that was just rejected."""
    report, camera = tried(script, "ada", "hush")
    assert report.verdict == verdict
    assert (len(camera.logins), camera.connections) == (logins, connections)


def test_a_camera_that_repeats_the_login_does_not_get_it_into_the_report():
    def parrot(request):
        return reply(request, 500, reason=f"no s3cret/@#% {request.get('Authorization')}")

    report, _ = tried(wanting(parrot, 'Basic realm="r"'), "admin", "s3cret/@#%")
    assert "500 no" in report.cause
    assert not re.search("s3cret|YWRtaW46", all_texts(report))


def test_a_redirect_is_named_without_a_login_and_not_followed():
    location = "rtsp://admin:other1@127.0.0.1:1/hunter22?password=other1"
    away = instead("DESCRIBE", 302, Location=location)
    report, camera = tried(wanting(away, 'Basic realm="r"'), "admin", "hunter22")
    assert (report.verdict, camera.connections) == ("redirected", 1)
    assert "redirects to rtsp://" in report.cause
    assert not re.search("hunter22|other1", all_texts(report))


def test_a_preflight_is_cancelled_while_a_camera_is_silent():
    """Nobody waits for the end of a stage, and the session is ended; so it is where the listener
    raises, and its TimeoutError is no camera's."""
    cancelled, broken = threading.Event(), TimeoutError("not the camera")

    def fail():
        raise broken

    for act, kind in ((cancelled.set, CancelledError), (fail, TimeoutError)):
        raised, camera = tried(
            willing,
            timeout=300,
            on_stage=lambda event, act=act: event.name == "first packet" and act(),
            cancelled=cancelled,
        )
        cancelled.clear()
        assert isinstance(raised, kind)
        assert camera.methods[-1] == "TEARDOWN"
    assert raised is broken
