"""A wrong digest or token is made by a mistake, and the mistake is named."""

import base64
import hashlib
import hmac
from urllib.parse import quote

import pytest

import confkit as ck
from confkit.sandbox.signatures import Parts, mistakes

PARTS = Parts("demo_access", "demo_secret", "abc", "def", earlier=(("123", "456"),))


def b64(data):
    return base64.b64encode(data).decode()


def mac(name="sha1", key=b"demo_secret", message=b"abc:def"):
    return hmac.new(key, message, name)


def hexed(**options):
    return mac(**options).hexdigest().encode()


def signed(**options):
    return b64(hexed(**options))


RIGHT = signed()
TRAVELLED = {"travelled": True}
# A signature, options, and what each mistake's text contains: None if no known mistakes explain it.
ROWS = [
    (b64(mac().digest()), {}, ["signature is of the raw bytes"]),
    (b64(hexed().upper()), {}, ["in capitals"]),
    (signed(name="sha256"), {}, ["the hash is sha256"]),
    (signed(key=b"abc:def", message=b"demo_secret"), {}, ["swapped"]),
    (signed(message=b"abcdef"), {}, ["colon is missing between random and key"]),
    (signed(message=b"abc-def"), {}, ["not joined by a colon"]),
    (signed(message=b"def:abc"), {}, ["wrong order"]),
    (signed(message=b"abc:def\n"), {}, ["message has a trailing newline"]),
    (signed(message=b"abc"), {}, ["only random was signed"]),
    (signed(message=b"123:456"), {}, ["earlier login"]),
    (signed(message=b"demo_access"), {}, ["this is the digest"]),
    (signed(key=b"demo_secret\r\n"), {}, ["secret key has a trailing newline"]),
    (signed(key=b"demo_secret "), {}, ["secret key has a trailing space"]),
    (signed(key=b"demo_access"), {}, ["access key was used instead of the secret"]),
    (b64(hashlib.sha1(b"demo_secretabc:def").hexdigest().encode()), {}, ["plain hash"]),
    (b64(hexed() + b"\n"), {}, ["hex text and a line end"]),
    (hexed().decode(), {}, ["not base64-encoded"]),
    (b64(RIGHT.encode()), {}, ["base64 of base64"]),
    (f"{RIGHT[:28]}\r\n{RIGHT[28:]}", {}, ["base64 is wrapped"]),
    (f"{RIGHT}\n", {}, ["it has a trailing newline"]),
    (f"{RIGHT} ", {}, ["it has white space around it"]),
    (quote(RIGHT), {}, ["percent-encoded already"]),
    (quote(quote(RIGHT)), {}, ["percent-encoded twice"]),
    (RIGHT.rstrip("="), {}, ["= at its end is missing"]),
    (f"b'{RIGHT}'", {}, ["repr of bytes"]),
    (RIGHT, {"kind": "digest"}, ["this is the access token"]),
    (RIGHT, TRAVELLED, []),
    # Where a signature came from a URL, what is encoded in it still was encoded twice.
    (RIGHT.replace("=", "%3D"), TRAVELLED, ["percent-encoded twice"]),
    (base64.encodebytes(hexed(name="sha256")).decode(), {}, ["wrapped", "sha256"]),
    (b64(mac("sha256").digest()), {}, ["the hash is sha256", "signature is of the raw bytes"]),
    (b64(mac("sha256", b"demo_secret\n").digest()), {}, None),  # three at once
    *((text, TRAVELLED, None) for text in ("", "é", "%%%", "\ud800", "=" * 99, "0" * 100_000)),
]


@pytest.mark.parametrize(("signature", "options", "expected"), ROWS)
def test_mistakes_are_named_and_none_is_made_up(signature, options, expected):
    arguments = {"kind": "token", "signature": signature, "parts": PARTS, **options}
    reasons = mistakes(dialect=ck.Dialect(), **arguments)
    assert (reasons is None) == (expected is None)
    for part, text in zip(expected or [], sorted(reasons or []), strict=True):
        assert part in text


@pytest.mark.parametrize(("name", "form"), [("sha1", "hex"), ("sha256", "raw"), ("md5", "raw")])
def test_what_is_right_depends_on_the_dialect(name, form):
    dialect = ck.Dialect(hash=name, signature=form)
    forms = {"hex": signed(name=name), "raw": b64(mac(name).digest())}
    assert mistakes("token", forms.pop(form), PARTS, dialect) == ()
    [reason] = mistakes("token", forms.popitem()[1], PARTS, dialect)
    assert "signature is of the" in reason


def test_url_safe_base64_is_named_where_it_differs():
    """With raw bytes the two alphabets differ. The parts keep their secret out of a repr."""
    digests = [mac(message=f"{n}:def".encode()).digest() for n in range(99)]
    number, digest = next((n, raw) for n, raw in enumerate(digests) if "+" in b64(raw))
    parts = Parts("a", "demo_secret", str(number), "def")
    safe = base64.urlsafe_b64encode(digest).decode()
    [reason] = mistakes("token", safe, parts, ck.Dialect(signature="raw"))
    assert "URL-safe" in reason
    assert "demo_secret" not in repr(parts)
