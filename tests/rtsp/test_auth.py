import base64
import hashlib

import pytest

from confkit.rtsp.auth import Login, authorization, choose_challenge, parse_challenges
from confkit.sandbox.cameras.serving import Guard

LOGIN = Login("Mufasa", "Circle of Life")
RFC_7616 = (
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm={algorithm}, '
    'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", '
    'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
)
URL = "rtsp://cam/live"


def answer_to(offers, method="DESCRIBE", login=LOGIN, uri=URL):
    return authorization(choose_challenge(parse_challenges(offers)), login, method, uri)


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_the_examples_of_rfc_7616_come_out(algorithm, expected):
    """The digests of RFC 7616, section 3.9.1, come out exactly."""
    (challenge,) = parse_challenges([RFC_7616.format(algorithm=algorithm)])
    cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    header = authorization(challenge, LOGIN, "GET", "/dir/index.html", cnonce=cnonce)
    assert header.endswith(f'response="{expected}"')


def test_an_old_challenge_gets_an_old_answer_in_the_order_that_cameras_want():
    """Without qop and algorithm neither is sent; nonce stands before uri, response last."""
    first, second = (
        hashlib.md5(text.encode()).hexdigest()
        for text in ("Mufasa:r:Circle of Life", f"DESCRIBE:{URL}")
    )
    response = hashlib.md5(f"{first}:n:{second}".encode()).hexdigest()
    assert answer_to(['Digest realm="r", nonce="n"']) == (
        f'Digest username="Mufasa", realm="r", nonce="n", uri="{URL}", response="{response}"'
    )


def test_the_strongest_answerable_challenge_is_chosen():
    """SHA-256 goes before MD5 before Basic; unknown schemes and algorithms are passed over."""
    line = 'Negotiate, Basic realm="a, b", Digest nonce="1", Digest nonce="2", algorithm=SHA-256'
    strange = 'Digest nonce="3", algorithm=SHA-512-256'
    only_int = 'Digest nonce="4", algorithm=SHA-256, qop="auth-int"'
    best = choose_challenge(parse_challenges([line, strange, only_int]))
    assert best.parameters["nonce"] == "2"
    for offers, scheme in (
        (['Digest nonce="1"', "Basic realm=x"], "digest"),
        (["Basic realm=x", strange], "basic"),
    ):
        assert choose_challenge(parse_challenges(offers)).scheme == scheme
    assert choose_challenge(parse_challenges(["Negotiate", strange])) is None
    header = answer_to(["Basic realm=x"], login=Login("ada", "pä:ss"))
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == "ada:pä:ss"  # in UTF-8


@pytest.mark.parametrize("algorithms", [("MD5",), ("MD5-sess",), ("SHA-256-sess",), ()])
def test_both_sides_agree_and_a_wrong_login_is_refused(algorithms):
    """The right login passes for each algorithm; another password, name, method or nonce does not,
    nor a header that makes no sense."""
    guard, further = (Guard(LOGIN, algorithms, 'the "lobby"') for _ in range(2))
    assert "Circle" not in f"{guard!r}{LOGIN!r}"
    right, basic = answer_to(guard.challenges()), not algorithms
    assert guard.opens(right, "DESCRIBE", URL)
    assert guard.opens(right, "DESCRIBE", URL + "/track1")
    assert guard.opens(right, "PLAY", URL) is basic
    assert guard.opens(right, "DESCRIBE", "rtsp://cam/other") is basic
    assert further.opens(right, "DESCRIBE", URL) is basic
    wrong = (Login("Mufasa", "x"), Login("Scar", LOGIN.password))
    headers = [answer_to(guard.challenges(), login=login) for login in wrong]
    for broken in (*headers, "", "Digest", "Digest nonce", "Basic ?", "Digest uri=\xff", "x" * 99):
        assert not guard.opens(broken, "DESCRIBE", URL)
