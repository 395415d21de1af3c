"""Challenges of any kind, and the answers to them."""

import hashlib

from hypothesis import strategies as st

from confkit.rtsp.auth import (
    Challenge,
    Guard,
    Login,
    authorization,
    choose_challenge,
    parse_challenges,
)
from confkit.rtsp.message import Parser, Request

from .dialogues import WORD

CHALLENGES = st.lists(
    st.lists(
        st.sampled_from([
            "Digest", "Basic", "Negotiate", " ", ",", "=", '"', "\\", 'realm="a"', "nonce=b",
            'nonce="', "qop=auth", 'qop="auth,auth-int"', "algorithm=MD5", "algorithm=SHA-256",
            "algorithm=SHA-512-256", "algorithm=MD5-sess", "stale=TRUE", "opaque=", '\\"',
            " " * 40, "a" * 40, "\udce9", "ß",
        ]) | WORD,
        max_size=12,
    ).map("".join),
    max_size=3,
)  # fmt: skip


def any_challenge_is_answered_or_passed_over(lines: list[str], name: str, password: str) -> None:
    """WWW-Authenticate lines of any kind give an answer that can be sent, or none."""
    chosen = choose_challenge(parse_challenges(lines))
    if chosen is None:
        return
    answer = authorization(chosen, Login(name, password), "DESCRIBE", "rtsp://h/x", cnonce="c")
    sent = Request("DESCRIBE", "rtsp://h/x", headers=(("Authorization", answer),))
    (back,) = Parser().feed(sent.encode())
    assert isinstance(back, Request)
    assert back.get("Authorization") == answer.strip()
    plain = password and len(password) > 3 and password not in "".join([*lines, name, "rtsp://h/x"])
    if plain and chosen.scheme != "basic":
        assert password not in answer.partition("response=")[0]
    if chosen.scheme == "digest":
        _digest_is_right(chosen, answer, name, password)


def _digest_is_right(chosen: Challenge, answer: str, name: str, password: str) -> None:
    """The response is that of RFC 7616, written down here once more."""
    given = chosen.parameters
    hashing = hashlib.sha256 if chosen.algorithm.startswith("SHA-256") else hashlib.md5

    def digest(*parts: str) -> str:
        return hashing(":".join(parts).encode(errors="surrogateescape")).hexdigest()

    first = digest(name, given.get("realm", ""), password)
    if chosen.algorithm.endswith("-SESS"):
        first = digest(first, given["nonce"], "c")
    fresh = (given["nonce"],)
    if "auth" in [value.strip().lower() for value in given.get("qop", "").split(",")]:
        fresh = (given["nonce"], "00000001", "c", "auth")
    expected = digest(first, *fresh, digest("DESCRIBE", "rtsp://h/x"))
    assert answer.endswith(f'response="{expected}"')


GUARDS = st.sampled_from([(), ("MD5",), ("SHA-256",), ("SHA-256", "MD5"), ("MD5-sess",)])


def a_login_opens_its_own_guard(
    name: str, password: str, wrong: str, realm: str, algorithms: tuple[str, ...]
) -> None:
    """The answer to our own challenge is right with the login, wrong with another password."""
    guard = Guard(Login(name, password), realm, algorithms, b"key")
    chosen = choose_challenge(parse_challenges(guard.challenges(1000.0)))
    assert chosen is not None
    right = authorization(chosen, Login(name, password), "PLAY", "rtsp://h/x")
    assert guard.check(right, "PLAY", "rtsp://h/x/track1", 1001.0) == "ok"
    if algorithms:
        assert guard.check(right, "PLAY", "rtsp://h/x/track1", 1000.0 + 301) == "stale"
    other = authorization(chosen, Login(name, wrong), "PLAY", "rtsp://h/x")
    if wrong != password:
        assert guard.check(other, "PLAY", "rtsp://h/x", 1001.0) == "wrong"
    assert guard.check(realm, "PLAY", "rtsp://h/x", 1001.0) == "wrong"
