"""Digest and access token: the published vectors, and every variant against RFC 2104 by hand."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit import signing

HASHES = ["sha1", "sha256", "sha512", "md5"]
SIGNATURES = ["hex", "raw"]


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


def test_the_digest_is_that_of_the_published_vector():
    """By default the digest of demo_access is the one that deployed clients send."""
    made = signing.digest("demo_access", "demo_secret", ck.Dialect())
    assert made == "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="


def test_the_token_is_that_of_the_published_vector():
    """By default random abc and key def make the token that deployed clients send."""
    made = signing.access_token("abc", "def", "demo_secret", ck.Dialect())
    assert made == "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="


def test_the_usual_token_is_56_characters_of_base64_over_40_of_hex():
    """By default what is base64-encoded is the lowercase hex text of SHA-1."""
    made = signing.access_token("r", "k", "s", ck.Dialect())
    assert len(made) == 56
    assert made.endswith("==")
    plain = base64.b64decode(made).decode()
    assert plain == plain.lower()
    assert len(bytes.fromhex(plain)) == 20


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("name", HASHES)
def test_every_variant_is_that_hash_in_that_form(name, signature):
    """Each hash with each signature form gives what an independent computation gives."""
    dialect = ck.Dialect(hash=name, signature=signature)
    assert signing.digest("demo_access", "demo_secret", dialect) == expected(
        "demo_secret", "demo_access", dialect
    )
    assert signing.access_token("abc", "def", "demo_secret", dialect) == expected(
        "demo_secret", "abc:def", dialect
    )
    size = hashlib.new(name).digest_size * (2 if signature == "hex" else 1)
    assert len(base64.b64decode(signing.sign("k", "m", dialect), validate=True)) == size


def test_no_two_variants_give_the_same_token():
    """Hash and form both matter: the eight variants give eight tokens."""
    made = {
        signing.access_token("abc", "def", "demo_secret", ck.Dialect(hash=name, signature=form))
        for name in HASHES
        for form in SIGNATURES
    }
    assert len(made) == 8


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(
    key=TEXTS, random=TEXTS, value=TEXTS,
    name=st.sampled_from(HASHES), form=st.sampled_from(SIGNATURES),
)  # fmt: skip
def test_any_texts_are_signed_as_utf_8_joined_by_a_colon(key, random, value, name, form):
    """Whatever the service hands out, and however long the key: UTF-8, `random:key`, that HMAC."""
    dialect = ck.Dialect(hash=name, signature=form)
    assert signing.access_token(random, value, key, dialect) == expected(
        key, f"{random}:{value}", dialect
    )
    assert signing.digest(random, key, dialect) == expected(key, random, dialect)


def test_key_and_message_are_not_interchanged():
    """The secret key is the HMAC's key and the access key its message, not the other way round."""
    dialect = ck.Dialect()
    assert signing.digest("one", "two", dialect) != signing.digest("two", "one", dialect)
    assert signing.digest("one", "two", dialect) == expected("two", "one", dialect)


def test_what_is_signed_shows_as_stars():
    """Digest and token are texts to code and *** in a repr."""
    for made in (
        signing.digest("a", "b", ck.Dialect()),
        signing.access_token("r", "k", "s", ck.Dialect()),
    ):
        assert repr(made) == "'***'"
        assert str(made) != "***"
