"""A wrong digest or token is made by a mistake, and the mistake is named; one alone is a row of
answers.json."""

import base64
import hmac

import pytest

import confkit as ck
from confkit import course
from confkit.sandbox.service.signatures import Parts, mistakes

KEY, LOGIN, ACCESS = b"demo_secret", b"abc:def", b"demo_access"
PARTS = Parts("demo_access", "demo_secret", "abc", "def", earlier=[("123", "456")])


def b64(data):
    return base64.b64encode(data).decode()


def hexed(key, message, name="sha1"):
    return hmac.new(key, message, name).hexdigest().encode()


RIGHT = b64(hexed(KEY, LOGIN))


def told(given, kind="token", dialect=ck.Dialect(), parts=PARTS, **options):  # noqa: B008
    return mistakes(kind, given, parts, dialect, **options)


def test_two_mistakes_are_named_together():
    """Raw bytes of the wrong hash are both reported; three at once are nothing that is known."""
    both = b64(hmac.new(KEY, LOGIN, "sha256").digest())
    assert {text.split(",")[0] for text in told(both)} == {
        "the hash is sha256",
        "the signature is of the raw bytes",
    }
    three = b64(hmac.new(KEY + b"\n", LOGIN, "sha256").digest())
    assert told(three) is None
    assert "No mistake that is known" in course.check("token", three).told


def test_a_wrapped_text_is_told_beside_what_else_is_wrong():
    """The 88 characters of another hash, as base64 wraps them, have two causes; a wrapped text of
    nothing known has none."""
    first, second = told(base64.encodebytes(hexed(KEY, LOGIN, "sha256")).decode())
    assert "wrapped" in first
    assert "sha256" in second
    assert told("x\ny") is None


def test_a_token_is_no_digest():
    """Sent as the digest, the token is called the token; the right digest has no mistake."""
    assert "this is the access token" in told(RIGHT, "digest")[0]
    assert course.check("digest", b64(hexed(KEY, ACCESS))).right


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512", "md5"])
@pytest.mark.parametrize("form", ["hex", "raw"])
def test_what_is_right_depends_on_the_dialect(name, form):
    """Every dialect has one right token, and the other form is a mistake there."""
    dialect = ck.Dialect(hash=name, signature=form)
    mac = hmac.new(KEY, LOGIN, name)
    forms = {"hex": b64(mac.hexdigest().encode()), "raw": b64(mac.digest())}
    assert told(forms.pop(form), dialect=dialect) == ()
    assert "signature is of the" in told(forms.popitem()[1], dialect=dialect)[0]


@pytest.mark.parametrize("given", [RIGHT.replace("=", "%3D"), RIGHT.replace("=", "%253D")])
def test_what_has_travelled_is_percent_encoded_once_by_itself(given):
    """Where a signature came from a URL, what is encoded in it still was encoded twice."""
    assert "percent-encoded twice" in told(given, travelled=True)[0]


@pytest.mark.parametrize("given", ["", "x", "é", "%%%", "\ud800", "=" * 99, RIGHT])
def test_nothing_is_made_up(given):
    """A right signature and one that nothing explains get no explanation; the parts keep their
    secret out of a repr."""
    assert not told(given, travelled=True)
    assert "demo_secret" not in repr(PARTS)


@pytest.mark.parametrize("label", ["SHA1", "HMAC-SHA1"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_what_openssl_prints_around_the_hex_text_is_recognised(label, end):
    """A signature made of openssl's whole line is explained."""
    line = f"{label}(stdin)= {hexed(KEY, LOGIN).decode()}{end}"
    assert "openssl" in told(b64(line.encode()))[0]


def test_url_safe_base64_is_told_where_it_differs():
    """With raw bytes the two alphabets differ, and the URL-safe one is named."""
    macs = ((str(n), hmac.new(b"s", f"{n}:k".encode(), "sha1").digest()) for n in range(99))
    random, mac = next(found for found in macs if b"+" in base64.b64encode(found[1]))
    safe, raw = base64.urlsafe_b64encode(mac), ck.Dialect(signature="raw")
    assert "URL-safe" in told(safe, dialect=raw, parts=Parts("a", "s", random, "k"))[0]
