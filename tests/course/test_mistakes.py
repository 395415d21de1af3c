"""A wrong digest or token is made by a mistake, and the mistake is named."""

import base64
import hashlib
import hmac
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course
from confkit.sandbox.service.signatures import Parts, mistakes
from confkit.secret import mask

KEY, LOGIN, ACCESS = b"demo_secret", b"abc:def", b"demo_access"
PARTS = Parts("demo_access", "demo_secret", "abc", "def", earlier=[("123", "456")])


def b64(data):
    return base64.b64encode(data).decode()


def hexed(key, message, name="sha1"):
    return hmac.new(key, message, name).hexdigest().encode()


RIGHT = b64(hexed(KEY, LOGIN))
RAW = hmac.new(KEY, LOGIN, "sha1").digest()
WRONG = {
    "signature is of the raw bytes": b64(RAW),
    "in capitals": b64(hexed(KEY, LOGIN).upper()),
    "the hash is sha256": b64(hexed(KEY, LOGIN, "sha256")),
    "the hash is md5": b64(hexed(KEY, LOGIN, "md5")),
    "the hash is sha512": b64(hexed(KEY, LOGIN, "sha512")),
    "swapped": b64(hexed(LOGIN, KEY)),
    "colon is missing between random and key": b64(hexed(KEY, b"abcdef")),
    "joined by something else": b64(hexed(KEY, b"abc-def")),
    "changed places": b64(hexed(KEY, b"def:abc")),
    "message has a trailing newline": b64(hexed(KEY, LOGIN + b"\n")),
    "message has a blank at its end": b64(hexed(KEY, LOGIN + b" ")),
    "secret key has a trailing newline": b64(hexed(KEY + b"\n", LOGIN)),
    "secret key has a trailing newline, of two": b64(hexed(KEY + b"\r\n", LOGIN)),
    "wrapped by a line break": f"{RIGHT[:40]}\n{RIGHT[40:]}",
    "base64 is wrapped": f"{RIGHT[:28]}\r\n{RIGHT[28:]}",
    "secret key has a blank": b64(hexed(KEY + b" ", LOGIN)),
    "hex text and a line end": b64(hexed(KEY, LOGIN) + b"\n"),
    "it has a trailing newline": RIGHT + "\n",
    "it has white space around it": RIGHT + " ",
    "base64 of base64": b64(RIGHT.encode()),
    "percent-encoded already": quote(RIGHT, safe=""),
    "percent-encoded twice": quote(quote(RIGHT, safe=""), safe=""),
    "this is the digest": b64(hexed(KEY, ACCESS)),
    "not base64-encoded": hexed(KEY, LOGIN).decode(),
    "= at its end is missing": RIGHT.rstrip("="),
    "earlier login": b64(hexed(KEY, b"123:456")),
    "access key was taken in the place of the secret": b64(hexed(ACCESS, LOGIN)),
    "plain hash": b64(hashlib.sha1(LOGIN + KEY).hexdigest().encode()),
    "picture of bytes": str(RIGHT.encode()),
    "only random was signed": b64(hexed(KEY, b"abc")),
}


@pytest.mark.parametrize(("told", "given"), WRONG.items(), ids=list(WRONG))
def test_a_mistake_is_named(told, given):
    """Each usual mistake is the one that is reported, alone, and `check` says it to the learner."""
    found = mistakes("token", given, PARTS, ck.Dialect())
    assert found is not None
    assert len(found) == 1
    assert told in found[0]
    finding = course.check("token", given)
    assert finding.right is False
    assert told in finding.told


def test_two_mistakes_are_named_together():
    """Raw bytes of the wrong hash are both reported; three at once are nothing that is known."""
    both = b64(hmac.new(KEY, LOGIN, "sha256").digest())
    found = mistakes("token", both, PARTS, ck.Dialect())
    assert found is not None
    assert {text.split(",")[0] for text in found} == {
        "the hash is sha256",
        "the signature is of the raw bytes",
    }
    three = b64(hmac.new(KEY + b"\n", LOGIN, "sha256").digest())
    assert mistakes("token", three, PARTS, ck.Dialect()) is None
    assert "No mistake that is known" in course.check("token", three).told


def test_a_wrapped_text_is_told_beside_what_else_is_wrong():
    """The 88 characters of another hash, as base64 wraps them, have two causes; a wrapped text of
    nothing known has none, and a newline at the end alone is no wrapping."""
    wrapped = base64.encodebytes(hexed(KEY, LOGIN, "sha256")).decode()
    found = mistakes("token", wrapped, PARTS, ck.Dialect())
    assert found is not None
    assert "wrapped" in found[0]
    assert "sha256" in found[1]
    assert mistakes("token", "x\ny", PARTS, ck.Dialect()) is None


def test_a_token_is_no_digest():
    """Sent as the digest, the token is called the token; the right digest has no mistake."""
    (told,) = mistakes("digest", RIGHT, PARTS, ck.Dialect())
    assert "this is the access token" in told
    assert mistakes("digest", b64(hexed(KEY, ACCESS)), PARTS, ck.Dialect()) == ()
    assert course.check("digest", b64(hexed(KEY, ACCESS))).right


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512", "md5"])
@pytest.mark.parametrize("form", ["hex", "raw"])
def test_what_is_right_depends_on_the_dialect(name, form):
    """Every dialect has one right token, and the other form is a mistake there."""
    dialect = ck.Dialect(hash=name, signature=form)
    mac = hmac.new(KEY, LOGIN, name)
    forms = {"hex": b64(mac.hexdigest().encode()), "raw": b64(mac.digest())}
    assert mistakes("token", forms.pop(form), PARTS, dialect) == ()
    (told,) = mistakes("token", forms.popitem()[1], PARTS, dialect)
    assert "signature is of the" in told


@pytest.mark.parametrize("given", [RIGHT.replace("=", "%3D"), RIGHT.replace("=", "%253D")])
def test_what_has_travelled_is_percent_encoded_once_by_itself(given):
    """Where a signature came from a URL, what is encoded in it still was encoded twice."""
    (told,) = mistakes("token", given, PARTS, ck.Dialect(), travelled=True)
    assert "percent-encoded twice" in told


@pytest.mark.parametrize("given", ["", "x", "é", "%%%", "\ud800", "=" * 99, RIGHT])
def test_nothing_is_made_up(given):
    """A right signature and one that nothing explains get no explanation."""
    assert not mistakes("token", given, PARTS, ck.Dialect(), travelled=True)


@pytest.mark.parametrize("label", ["SHA1", "HMAC-SHA1"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_what_openssl_prints_around_the_hex_text_is_recognised(label, end):
    """A signature made of openssl's whole line is explained."""
    whole = b64(f"{label}(stdin)= {hexed(KEY, LOGIN).decode()}{end}".encode())
    (told,) = mistakes("token", whole, PARTS, ck.Dialect())
    assert "openssl" in told


def test_url_safe_base64_is_told_where_it_differs():
    """With raw bytes the two alphabets differ, and the URL-safe one is named."""
    dialect = ck.Dialect(signature="raw")
    parts = next(
        Parts("a", "s", str(n), "k")
        for n in range(99)
        if b"+" in base64.b64encode(hmac.new(b"s", f"{n}:k".encode(), "sha1").digest())
    )
    mac = hmac.new(b"s", f"{parts.random}:k".encode(), "sha1").digest()
    (told,) = mistakes("token", base64.urlsafe_b64encode(mac), parts, dialect)
    assert "URL-safe" in told


def test_no_text_hides_itself_and_none_shows_the_secret():
    """What is reported passes the mask unchanged (it reads like prose, not like a secret), and the
    parts keep their secret out of a repr."""
    for given in [*WRONG.values(), RIGHT, "x", "demo_secret", "abc"]:
        told = course.check("token", given).told
        assert "***" not in told
        assert mask(told) == told
        assert "demo_secret" not in told
    assert "demo_secret" not in repr(PARTS)
