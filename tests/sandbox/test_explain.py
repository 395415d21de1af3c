"""Which known mistake made a wrong digest or token: pure functions."""

import base64
import hashlib
import hmac

import pytest

from confkit.dialect import Dialect
from confkit.sandbox.service.explain import wrong_signature

from .conftest import signature

SECRET, PARTS = "s3cret", ("abc", "def")
RIGHT = signature(SECRET, "abc:def")
HEX = hmac.new(b"s3cret", b"abc:def", hashlib.sha1).hexdigest()


def told(given, dialect=None):
    return wrong_signature(given, SECRET, PARTS, dialect or Dialect()) or ""


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (signature(SECRET, "abc:def", raw=True),
         "the signature is of the raw bytes, this service wants the lowercase hex text"),
        (signature(SECRET, "abc:def", "sha256"), "the hash is sha256, this service wants sha1"),
        (signature("abc:def", SECRET), "message and key are swapped"),
        (signature(SECRET, "abcdef"), "the colon is missing"),
        (signature(SECRET, "def:abc"), "random and key have changed places"),
        (signature(SECRET, "abc:def\n"), "the message has a trailing newline"),
        (signature(SECRET + "\n", "abc:def"), "the secret key has a trailing newline"),
        (RIGHT.replace("=", "%3D"), "percent-encoded twice"),
        (RIGHT.replace("=", "%253D"), "percent-encoded twice"),
        (RIGHT + "\n", "a trailing newline"),
        (RIGHT.rstrip("="), "the = at its end is missing"),
        (HEX, "not base64-encoded"),
        (base64.b64encode(HEX.upper().encode()).decode(), "in capitals"),
    ],
)  # fmt: skip
def test_a_single_mistake_is_named(given, text):
    """Each mistake that people make is recognised, and it alone."""
    assert text in told(given)
    assert told(given).count(";") == 0


def test_two_mistakes_are_both_named():
    """Raw bytes of the wrong hash, encoded twice: all of it is said."""
    given = signature(SECRET, "abc:def", "sha256", raw=True).replace("=", "%3D")
    assert told(given).count(";") == 2


def test_the_dialect_decides_what_is_wrong():
    """What is right in one dialect is a mistake in another."""
    raw = Dialect(hash="sha256", signature="raw")
    assert "sha1, this service wants sha256" in told(RIGHT, raw)
    assert "the raw bytes" in told(RIGHT, raw)
    assert told(signature(SECRET, "abc:def", "sha256", raw=True), raw) == ""


@pytest.mark.parametrize(
    "given", ["", "x", "é", "%%%", "\ud800", "=" * 99, RIGHT, signature("k", "m")]
)
def test_nothing_is_made_up(given):
    """A right signature and one that nothing explains get no explanation."""
    assert told(given) == ""


@pytest.mark.parametrize("label", ["SHA1", "HMAC-SHA1"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_what_openssl_prints_around_the_hex_text_is_recognised(label, end):
    """A signature made of openssl's whole line, or of the hex text and a line end, is explained."""
    text = hmac.new(b"secret", b"key", hashlib.sha1).hexdigest()
    whole = base64.b64encode(f"{label}(stdin)= {text}{end}".encode()).decode()
    assert "openssl" in (wrong_signature(whole, "secret", ("key",), Dialect()) or "")
    line = base64.b64encode(f"{text}\n".encode()).decode()
    assert "line end" in (wrong_signature(line, "secret", ("key",), Dialect()) or "")
