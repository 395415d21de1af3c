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


def guard(*algorithms: str) -> Guard:
    return Guard(LOGIN, 'the "lobby"', algorithms, b"key", nonce_seconds=60)


def answer_to(offers: list[str], method: str = "DESCRIBE", login: Login = LOGIN, uri: str = URL):
    challenge = choose_challenge(parse_challenges(offers))
    assert challenge
    return authorization(challenge, login, method, uri)


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
    header = answer_to(['Digest realm="r", nonce="n"'])
    hashed = [
        hashlib.md5(t.encode()).hexdigest() for t in ("Mufasa:r:Circle of Life", f"DESCRIBE:{URL}")
    ]
    response = hashlib.md5(f"{hashed[0]}:n:{hashed[1]}".encode()).hexdigest()
    assert header == (
        f'Digest username="Mufasa", realm="r", nonce="n", uri="{URL}", response="{response}"'
    )


def test_the_strongest_answerable_challenge_is_chosen():
    """SHA-256 goes before MD5 before Basic; unknown schemes and algorithms are passed over."""
    line = 'Negotiate, Basic realm="a, b", Digest nonce="1", Digest nonce="2", algorithm=SHA-256'
    strange = 'Digest nonce="3", algorithm=SHA-512-256'
    only_int = 'Digest nonce="4", algorithm=SHA-256, qop="auth-int"'
    best = choose_challenge(parse_challenges([line, strange, only_int]))
    assert best
    assert best.parameters["nonce"] == "2"
    assert (
        choose_challenge(parse_challenges(['Digest nonce="1"', "Basic realm=x"])).scheme == "digest"
    )
    assert choose_challenge(parse_challenges(["Basic realm=x", strange])).scheme == "basic"
    assert choose_challenge(parse_challenges(["Negotiate", strange])) is None
    header = answer_to(["Basic realm=x"], login=Login("ada", "pä:ss"))
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == "ada:pä:ss"  # in UTF-8


@pytest.mark.parametrize(
    "algorithms", [("MD5",), ("SHA-256",), ("MD5-sess",), ("SHA-256-sess",), ()]
)
def test_both_sides_agree_and_a_wrong_login_is_refused(algorithms):
    """The right login passes for each algorithm; another password, name or method does not."""
    door = guard(*algorithms)
    assert "Circle" not in f"{door!r}{LOGIN!r}"
    assert "key'" not in repr(door)
    offers = door.challenges(1000)
    assert door.check(answer_to(offers), "DESCRIBE", URL, 1001) == "ok"
    assert door.check(answer_to(offers, uri=URL), "DESCRIBE", URL + "/track1", 1001) == "ok"
    for wrong in (Login("Mufasa", "x"), Login("Scar", LOGIN.password)):
        assert door.check(answer_to(offers, login=wrong), "DESCRIBE", URL, 1001) == "wrong"
    if algorithms:
        assert door.check(answer_to(offers), "PLAY", URL, 1001) == "wrong"
        assert door.check(answer_to(offers), "DESCRIBE", "rtsp://cam/other", 1001) == "wrong"


def test_an_outdated_nonce_is_stale_and_a_forged_one_wrong():
    """A right answer to an old nonce is told apart from a wrong one; a nonce cannot be made up, and
    a header that makes no sense is a wrong login, for both schemes."""
    door = guard("MD5")
    header = answer_to(door.challenges(1000))
    assert door.check(header, "DESCRIBE", URL, 1061) == "stale"
    assert parse_challenges(door.challenges(1061, stale=True))[0].stale
    forged = answer_to(['Digest realm="the \\"lobby\\"", nonce="3e8-0", algorithm=MD5'])
    broken = ("", "Digest", "Digest nonce", "Basic ?", "Digest uri=\xff", "x" * 99)
    for header in (forged, *broken):
        assert door.check(header, "DESCRIBE", URL, 1001) == "wrong"
        assert guard().check(header, "DESCRIBE", URL, 1001) == "wrong"
