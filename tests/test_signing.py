"""Digest and access token: the published vectors, and every variant against RFC 2104 by hand."""

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confkit as ck
from confkit import signing


def by_hand(key: bytes, message: bytes, name: str) -> bytes:
    """The HMAC written out from RFC 2104, without Python's hmac module."""
    made = hashlib.new(name)
    if len(key) > made.block_size:
        key = hashlib.new(name, key).digest()
    key = key.ljust(made.block_size, b"\0")
    inner = hashlib.new(name, bytes(byte ^ 0x36 for byte in key) + message).digest()
    return hashlib.new(name, bytes(byte ^ 0x5C for byte in key) + inner).digest()


def expected(key: str, message: str, dialect: ck.Dialect) -> str:
    """What a deployment of this dialect computes."""
    mac = by_hand(key.encode(), message.encode(), dialect.hash)
    signed = mac.hex().encode() if dialect.signature == "hex" else mac
    return base64.b64encode(signed).decode()


def test_digest_and_token_are_those_of_the_published_vectors():
    """By default demo_access, random abc and key def make what deployed clients send."""
    made = signing.digest("demo_access", "demo_secret", ck.Dialect())
    assert made == "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="
    made = signing.access_token("abc", "def", "demo_secret", ck.Dialect())
    assert made == "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512", "md5"])
@pytest.mark.parametrize("form", ["hex", "raw"])
@settings(max_examples=25)
@given(key=TEXTS, random=TEXTS, value=TEXTS)
def test_any_texts_are_signed_as_utf_8_joined_by_a_colon(key, random, value, name, form):
    """Whatever the service hands out, and however long the key: UTF-8, `random:key`, that HMAC."""
    dialect = ck.Dialect(hash=name, signature=form)
    assert signing.access_token(random, value, key, dialect) == expected(
        key, f"{random}:{value}", dialect
    )
    assert signing.digest(random, key, dialect) == expected(key, random, dialect)


def test_what_is_signed_shows_as_stars():
    """Digest and token are texts to code and *** in a repr."""
    for made in (
        signing.digest("a", "b", ck.Dialect()),
        signing.access_token("r", "k", "s", ck.Dialect()),
    ):
        assert repr(made) == "'***'"
        assert str(made) != "***"
