"""A wrong digest or token is made by a mistake, and the mistake is named; one alone is a row of
answers.json."""

import base64
import hmac

import pytest

import confkit as ck
from confkit import course
from confkit.sandbox.signatures import Parts, mistakes

PARTS = Parts("demo_access", "demo_secret", "abc", "def", earlier=(("123", "456"),))


def b64(data):
    return base64.b64encode(data).decode()


def mac(name="sha1", key=b"demo_secret", message=b"abc:def"):
    return hmac.new(key, message, name)


def hexed(**options):
    return mac(**options).hexdigest().encode()


RIGHT = b64(hexed())
TRAVELLED = {"travelled": True}


@pytest.mark.parametrize(
    ("given", "options", "named"),
    [
        (b64(mac("sha256").digest()), {}, ["the hash is sha256", "signature is of the raw bytes"]),
        (b64(mac("sha256", b"demo_secret\n").digest()), {}, []),  # three at once
        (base64.encodebytes(hexed(name="sha256")).decode(), {}, ["wrapped", "sha256"]),
        ("x\ny", {}, []),
        (RIGHT, {"kind": "digest"}, ["this is the access token"]),
        (RIGHT, TRAVELLED, []),
        # Where a signature came from a URL, what is encoded in it still was encoded twice.
        (RIGHT.replace("=", "%3D"), TRAVELLED, ["percent-encoded twice"]),
        (RIGHT.replace("=", "%253D"), TRAVELLED, ["percent-encoded twice"]),
        (b64(b"SHA1(stdin)= " + hexed()), {}, ["openssl"]),
        (b64(b"HMAC-SHA1(stdin)= " + hexed() + b"\n"), {}, ["openssl"]),
        *((garbage, TRAVELLED, []) for garbage in ("", "é", "%%%", "\ud800", "=" * 99)),
    ],
)
def test_one_or_two_mistakes_are_named_and_none_is_made_up(given, options, named):
    """Two at once are both reported; a right signature and one that nothing explains get no
    explanation."""
    asked = {"kind": "token", **options}
    found = sorted(mistakes(signature=given, parts=PARTS, dialect=ck.Dialect(), **asked) or ())
    assert len(found) == len(named)
    assert all(part in text for part, text in zip(named, found, strict=True))


def test_what_nothing_explains_is_said_to_be_unknown():
    """The parts keep their secret out of a repr."""
    three = b64(mac("sha256", b"demo_secret\n").digest())
    for unknown in (three, "0" * 100_000):  # at once, however long it is
        assert "No mistake that is known" in course.check("token", unknown).told
    assert course.check("digest", b64(hexed(message=b"demo_access"))).right
    assert "demo_secret" not in repr(PARTS)


@pytest.mark.parametrize(
    ("name", "form"), [("sha1", "hex"), ("sha256", "raw"), ("sha512", "hex"), ("md5", "raw")]
)
def test_what_is_right_depends_on_the_dialect(name, form):
    """Every dialect has one right token, and the other form is a mistake there."""
    dialect = ck.Dialect(hash=name, signature=form)
    forms = {"hex": b64(hexed(name=name)), "raw": b64(mac(name).digest())}
    assert mistakes("token", forms.pop(form), PARTS, dialect) == ()
    [found] = mistakes("token", forms.popitem()[1], PARTS, dialect)
    assert "signature is of the" in found


def test_url_safe_base64_is_told_where_it_differs():
    """With raw bytes the two alphabets differ, and the URL-safe one is named."""
    made = (mac(message=f"{n}:def".encode()).digest() for n in range(99))
    number, found = next((n, one) for n, one in enumerate(made) if b"+" in base64.b64encode(one))
    parts, safe = Parts("a", "demo_secret", str(number), "def"), base64.urlsafe_b64encode(found)
    [told] = mistakes("token", safe.decode(), parts, ck.Dialect(signature="raw"))
    assert "URL-safe" in told
