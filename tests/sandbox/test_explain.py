"""Which known mistakes made a wrong digest or token: pure functions."""

import base64
import hashlib
import hmac

import pytest

from confkit.dialect import Dialect
from confkit.sandbox.service.signatures import Parts, mistakes

from .conftest import signature

SECRET = "s3cret"
PARTS = Parts("acc", SECRET, "abc", "def")
RIGHT = signature(SECRET, "abc:def")
HEX = hmac.new(b"s3cret", b"abc:def", hashlib.sha1).hexdigest()


def told(given, dialect=None):
    return "; ".join(mistakes("token", given, PARTS, dialect or Dialect(), travelled=True) or ())


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (RIGHT.replace("=", "%3D"), "percent-encoded twice"),
        (RIGHT.replace("=", "%253D"), "percent-encoded twice"),
        (RIGHT + "\n", "a trailing newline"),
        (RIGHT.rstrip("="), "the = at its end is missing"),
    ],
)
def test_what_was_done_on_the_way_is_named(given, text):
    """What happened to a right signature is recognised, and it alone."""
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
    whole = base64.b64encode(f"{label}(stdin)= {HEX}{end}".encode()).decode()
    assert "openssl" in told(whole)
    line = base64.b64encode(f"{HEX}\n".encode()).decode()
    assert "line end" in told(line)
