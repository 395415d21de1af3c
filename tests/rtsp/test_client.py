"""The client that holds a stream, as the sandbox does; addresses; and how challenges are met."""

import base64
import hashlib
import itertools
import re
import socket
import threading
import time
from concurrent.futures import CancelledError

import pytest

from confkit.rtsp.address import parse_address
from confkit.rtsp.auth import Login, choose_challenge, parse_challenges
from confkit.rtsp.client import RtspClient
from confkit.rtsp.errors import RtspError
from confkit.rtsp.report import Snapshot

from .scripted import (
    Last,
    at,
    instead,
    nals,
    packets,
    pictures,
    playing,
    reply,
    rtp,
    scripted,
    until,
    willing,
)

SLICE = packets(b"\x41abc")


@pytest.mark.parametrize(
    ("script", "verdict", "slow"),
    [(willing, "no_media", True), (instead("DESCRIBE", 404), "path_not_found", False)],
)
def test_an_error_shows_no_login_and_no_request_line_holds_it(script, verdict, slow):
    with scripted(script) as camera:
        client = RtspClient.of(camera.url.replace("//", "//ada:hush@"), timeout=1)
        with pytest.raises(RtspError) as caught:
            client.play()
        client.close()
    assert (caught.value.verdict, caught.value.timed_out) == (verdict, slow)
    assert "hush" not in f"{caught.value!r}{caught.value.__cause__}"
    assert not any("ada" in request.url for request in camera.requests)
    assert (camera.methods[-1] == "TEARDOWN") is slow


def test_a_stream_is_held_until_it_is_cancelled():
    """Packets are counted and the newest keyframe is kept; setting the event ends the wait."""
    cancelled = threading.Event()
    sent = packets(pictures("h264")[0]) + packets(b"\x41abc", start=1, stamp=9000)
    with scripted(playing(sent)) as camera:
        client = RtspClient.of(camera.url, timeout=2, cancelled=cancelled)
        client.play()
        while client.packets < 2:
            client.receive(2)
        assert nals(client.keyframe) == nals(pictures("h264")[0])
        threading.Timer(0.2, cancelled.set).start()
        with pytest.raises(CancelledError):
            client.receive(60)
        client.close()
    assert camera.methods[-1] == "TEARDOWN"


@pytest.mark.parametrize("advertised", ["GET_PARAMETER", "OPTIONS"])
def test_the_session_is_kept_alive_at_half_its_time_out(advertised):
    """GET_PARAMETER is sent when the camera names it, else OPTIONS, and silence ends the stream.
    A camera that wants another nonce by then gets it."""

    def script(request):
        if request.method == "OPTIONS" and not request.get("Session"):
            return reply(request, Public=advertised)
        nonce = 'nonce="2"' if request.method == advertised else 'nonce="1"'
        if nonce not in request.get("Authorization"):
            return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}, qop="auth"')
        played = SLICE * (request.method == "PLAY")
        return willing(request).replace(b"timeout=60", b"timeout=1") + played

    with scripted(script) as camera:
        client = RtspClient.of(camera.url, "ada", "x", timeout=2)
        client.play()
        with pytest.raises(RtspError, match=r"no_media: .*for 1\.3 s"):
            client.receive(1.3)
        client.close()
    kept = [request for request in camera.requests[1:] if request.method == advertised]
    assert ['nonce="2"' in request.get("Authorization") for request in kept] == [False, True, True]
    assert "nc=00000002" in kept[2].get("Authorization")
    assert all(request.get("Session") == "77" for request in kept)


def test_a_session_is_kept_alive_while_datagrams_pour_in():
    """Over UDP too, and what the camera answers is read: a close ends the stream at once."""
    pouring = threading.Event()

    def pour(connection, port):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.bind((connection.getsockname()[0], 0))
            client = connection.getpeername()[0], port
            for number in itertools.takewhile(lambda _: pouring.is_set(), itertools.count()):
                out.sendto(rtp(b"\x41abc", True, number, number), client)
                time.sleep(0.01)

    def script(request):
        if request.method == "PLAY":
            pouring.set()
            port = int(re.search(r"client_port=(\d+)", camera.requests[-2].get("Transport"))[1])
            threading.Thread(target=pour, args=(request.connection, port), daemon=True).start()
        if request.method == "GET_PARAMETER":
            return Last(reply(request))
        return willing(request).replace(b"timeout=60", b"timeout=1")

    with scripted(script) as camera:
        client = RtspClient.of(camera.url, timeout=2, transport="udp")
        client.play()
        with pytest.raises(RtspError, match="dropped"):
            for _ in range(300):
                client.receive(1)
        client.close()
        pouring.clear()
    assert camera.methods[4:] == ["GET_PARAMETER"]


def test_a_camera_that_does_not_answer_teardown_is_left_soon():
    with scripted(at("TEARDOWN", lambda _: None)) as camera:
        client = RtspClient.of(camera.url, timeout=0.3)
        with pytest.raises(RtspError):
            client.play()
        client.close()
        until(lambda: camera.open_connections == 0, 1)


def test_a_picture_is_made_as_small_as_asked_and_never_larger():
    """The proportions stay; bytes that are no picture are a ValueError."""
    for width, size in ((64, (64, 48)), (4000, (128, 96)), (1, (1, 1))):
        png = Snapshot.of("h264", pictures("h264")[0]).png(width)
        assert png.startswith(b"\x89PNG")
        assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == size
    for codec in ("h265", "mjpeg"):
        with pytest.raises(ValueError, match="does not decode"):
            Snapshot.of(codec, b"\0\0\0\1garbage" * 20)


# Challenges

LOGIN, URL = Login("Mufasa", "Circle of Life"), "rtsp://cam/live"
RFC_7616 = (
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm={}, '
    'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", '
    'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
)


def answer_to(*offers, login=LOGIN):
    return choose_challenge(parse_challenges(offers)).answer(login, "DESCRIBE", URL)


def test_the_examples_of_rfc_7616_come_out(monkeypatch):
    cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    monkeypatch.setattr("secrets.token_hex", lambda _: cnonce)
    for algorithm, expected in (
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ):
        (challenge,) = parse_challenges([RFC_7616.format(algorithm)])
        header = challenge.answer(LOGIN, "GET", "/dir/index.html")
        assert header.endswith(f'response="{expected}"')


@pytest.mark.parametrize(("algorithm", "name"), [("MD5-sess", "md5"), ("SHA-256-sess", "sha256")])
def test_a_session_digest_is_made_of_the_first_nonces(algorithm, name):
    """The variants -sess hash login, nonce and cnonce once more (RFC 7616, section 3.4.2)."""

    def hashed(*parts):
        return hashlib.new(name, ":".join(parts).encode()).hexdigest()

    header = answer_to(f'Digest realm="r", nonce="n", algorithm={algorithm}')
    cnonce, response = (re.search(f'{part}="(.*?)"', header)[1] for part in ("cnonce", "response"))
    secret = hashed(hashed("Mufasa", "r", "Circle of Life"), "n", cnonce)
    assert response == hashed(secret, "n", hashed("DESCRIBE", URL))


def test_an_old_challenge_gets_an_old_answer_in_the_order_that_cameras_want():
    """Without qop and algorithm neither is sent; nonce stands before uri, response last."""
    first, second = (
        hashlib.md5(text.encode()).hexdigest()
        for text in ("Mufasa:r:Circle of Life", f"DESCRIBE:{URL}")
    )
    response = hashlib.md5(f"{first}:n:{second}".encode()).hexdigest()
    assert answer_to('Digest realm="r", nonce="n"') == (
        f'Digest username="Mufasa", realm="r", nonce="n", uri="{URL}", response="{response}"'
    )


LINE = 'Negotiate, Basic realm="a, b", Digest nonce="1", Digest nonce="2", algorithm=SHA-256'
UNKNOWN = 'Digest nonce="3", algorithm=SHA-512-256'
ONLY_INT = 'Digest nonce="4", algorithm=SHA-256, qop="auth-int"'


def test_the_strongest_challenge_that_can_be_answered_is_chosen():
    for offers, name in (
        ([LINE, UNKNOWN, ONLY_INT], "Digest SHA-256"),
        (['Digest nonce="1", algorithm=md5, qop="auth"', "Basic realm=x"], "Digest MD5"),
        (["Basic realm=x", UNKNOWN, "Digest realm=x"], "Basic"),
        (["Negotiate", UNKNOWN], None),
    ):
        challenge = choose_challenge(parse_challenges(offers))
        assert (challenge and challenge.name) == name


def test_basic_sends_utf_8():
    header = answer_to("Basic realm=x", login=Login("ada", "pä:ss"))
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == "ada:pä:ss"
    assert "Circle" not in repr(LOGIN)


# Addresses


def test_the_parts_of_an_address():
    for url, host, port, path in (
        ("rtsp://cam/live", "cam", 554, "/live"),
        ("RTSPS://cam:", "cam", 322, "/"),
        ("rtsp://10.0.0.9:8554/c?channel=1&b=0", "10.0.0.9", 8554, "/c?channel=1&b=0"),
        ("rtsp://[fe80::1]:99/x", "fe80::1", 99, "/x"),
        ("rtsp://cam?channel=1", "cam", 554, "/?channel=1"),
        ("rtsp://cam/tür", "cam", 554, "/t%C3%BCr"),
    ):
        address = parse_address(url)
        assert (address.host, address.port, address.path) == (host, port, path)
        assert parse_address(address.url) == address


def test_the_login_ends_at_the_last_at_and_stays_out_of_the_request_url():
    for login, name, password in (
        ("ad%40min:p@ss%3A%2F:x@", "ad@min", "p@ss:/:x"),
        ("ada:@", "ada", ""),
        ("ada@", "ada", None),
        ("", None, None),
    ):
        address = parse_address(f"rtsp://{login}cam:554/live")
        assert (address.login_name, address.login_password) == (name, password)
        assert address.url == "rtsp://cam:554/live"
        assert "p@ss" not in repr(address)


@pytest.mark.parametrize(
    "url",
    [
        "cam:554/hush",
        "rtsp://cam:0/hush",
        "rtsp://cam:hush/",
        "rtsp://cam:65536/hush",
        "rtsp://cam/hush#",
        "rtsp://ada:hu/sh@cam/",
        "rtsp://ada:hush%@cam/",
        "rtsp://ada:hush%0d%0aX@cam/",
        "rtsp://cam/hush hush",
        "rtsp://fe80::1/hush",
        "rtsp://\ud800/hush",
    ],
)
def test_a_malformed_address_is_refused_in_one_sentence_without_quoting_it(url):
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$") as caught:
        parse_address(url)
    assert not re.search("hush|hu/sh", str(caught.value))
