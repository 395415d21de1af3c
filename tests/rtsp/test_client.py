"""The client that holds a stream, as the sandbox does; addresses; and how challenges are met."""

import hashlib

import pytest

from confkit.rtsp.address import parse_address
from confkit.rtsp.auth import Login, choose_challenge, parse_challenges
from confkit.rtsp.client import RtspClient
from confkit.rtsp.errors import RtspError

from .scripted import packets, reply, scripted, willing


@pytest.mark.parametrize("advertised", ["GET_PARAMETER", "OPTIONS"])
def test_the_session_is_kept_alive_at_half_its_time_out(advertised):
    """By GET_PARAMETER or, where the camera does not name it, by OPTIONS; with another nonce, where
    it wants one by then. Silence ends the stream."""

    def script(request):
        if request.method == "OPTIONS" and not request.get("Session"):
            return reply(request, Public=advertised)
        nonce = 'nonce="2"' if request.method == advertised else 'nonce="1"'
        if nonce not in request.get("Authorization"):
            return reply(request, 401, WWW_Authenticate=f'Digest realm="r", {nonce}, qop="auth"')
        played = packets(b"\x41abc") * (request.method == "PLAY")
        return willing(request).replace(b"timeout=60", b"timeout=1") + played

    with scripted(script) as camera:
        client = RtspClient(camera.url, "ada", "x", timeout=2)
        client.play()
        with pytest.raises(RtspError, match="no_media"):
            client.receive(1.3)
        client.close()
    kept = [request for request in camera.requests[1:] if request.method == advertised]
    assert ['nonce="2"' in request.get("Authorization") for request in kept] == [False, True, True]
    assert all(request.get("Session") == "77" for request in kept)


# Challenges

LOGIN, URL = Login("Mufasa", "Circle of Life"), "rtsp://cam/live"
RFC_7616 = (
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm={}, '
    'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", '
    'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
)


def md5(*parts):
    return hashlib.md5(":".join(parts).encode()).hexdigest()


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


def test_an_old_challenge_gets_an_old_answer_in_the_order_that_cameras_want():
    """Without qop and algorithm neither is sent, nor is an empty one; nonce stands before uri,
    response last."""
    login, asked = md5("Mufasa", "r", "Circle of Life"), md5("DESCRIBE", URL)
    challenge = choose_challenge(parse_challenges(['Digest realm="r", nonce="n", algorithm=""']))
    assert challenge.answer(LOGIN, "DESCRIBE", URL) == (
        f'Digest username="Mufasa", realm="r", nonce="n", uri="{URL}", '
        f'response="{md5(login, "n", asked)}"'
    )


def test_the_strongest_challenge_that_can_be_answered_is_chosen():
    line = 'Negotiate, Basic realm="a, b", Digest nonce="1", Digest nonce="2", algorithm=SHA-256'
    unknown = 'Digest nonce="3", algorithm=SHA-512-256'
    only_int = 'Digest nonce="4", algorithm=SHA-256, qop="auth-int"'
    for offers, name in (
        ([line, unknown, only_int], "Digest SHA-256"),
        (["Basic realm=x", unknown, "Digest realm=x"], "Basic"),
        (["Negotiate", unknown], None),
    ):
        challenge = choose_challenge(parse_challenges(offers))
        assert (challenge and challenge.name) == name
    [basic] = parse_challenges(["Basic realm=x"])
    assert basic.answer(Login("ada", "pä:ss"), "PLAY", URL) == "Basic YWRhOnDDpDpzcw=="


def test_the_parts_of_an_address():
    """The login ends at the last @, and stays out of the address for request lines."""
    for url, *parts in (
        ("rtsp://cam/tür", "cam", 554, "/t%C3%BCr", None, None),
        ("rtsp://ada:@[fe80::1]:99/x", "fe80::1", 99, "/x", "ada", ""),
        ("rtsp://ada:caf%E9@cam", "cam", 554, "/", "ada", "caf\udce9"),
        ("rtsp://ad%40min:p@ss%3A:x@cam?c=1&b=0", "cam", 554, "/?c=1&b=0", "ad@min", "p@ss::x"),
    ):
        address = parse_address(url)
        login = [address.login_name, address.login_password]
        assert [address.host, address.port, address.path, *login] == parts
        assert parse_address(address.url).login_name is None
        assert "p@ss" not in repr(address)


def test_a_malformed_address_is_refused_without_quoting_it():
    for rest in ("cam:65536/hush", "ada:hush/@cam/", "ada:hush%0aX@cam/", "fe80::1/hush"):
        with pytest.raises(ValueError, match=r"^[A-Z].*\.$") as caught:
            parse_address(f"rtsp://{rest}")
        assert "hush" not in str(caught.value)
