"""A wrong digest or token is made by a mistake, and the mistake is named."""

import base64
import hmac

import pytest

import confkit as ck
from confkit.sandbox.signatures import Parts, mistakes

PARTS = Parts("demo_access", "demo_secret", "abc", "def")


def b64(data):
    return base64.b64encode(data).decode()


def mac(name="sha1", key=b"demo_secret", message=b"abc:def"):
    return hmac.new(key, message, name)


def signed(**options):
    return b64(mac(**options).hexdigest().encode())


RIGHT = signed()
# A signature, and what each mistake's text contains: None if no known mistakes explain it.
ROWS = [
    (RIGHT, ()),
    (b64(mac().digest()), ["signature is of the raw bytes"]),
    (signed(name="sha256"), ["the hash is sha256"]),
    (signed(key=b"abc:def", message=b"demo_secret"), ["swapped"]),
    (signed(key=b"demo_access"), ["access key was used"]),
    (signed(message=b"abcdef"), ["colon is missing between random and key"]),
    (signed(message=b"demo_access"), ["this is the digest"]),
    (mac().hexdigest(), ["not base64-encoded"]),
    (RIGHT.rstrip("="), ["too few or too many ="]),
    (RIGHT[:-1], ["too few or too many ="]),
    (b64(mac("sha256").digest()), ["the hash is sha256", "signature is of the raw bytes"]),
    (b64(mac("sha256", b"demo_secret\n").digest()), None),  # three at once
    *((text, None) for text in ("", "é", "\ud800", "0" * 100_000)),
]


@pytest.mark.parametrize(("signature", "expected"), ROWS)
def test_mistakes_are_named_and_none_is_made_up(signature, expected):
    reasons = mistakes("token", signature, PARTS, ck.Dialect(), travelled=True)
    assert (reasons is None) == (expected is None)
    for part, text in zip(expected or [], sorted(reasons or []), strict=True):
        assert part in text
