"""Digest and access token: the published vectors, and every variant."""

import base64
import hmac

from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit import signing


def test_digest_and_token_are_those_of_the_published_vectors():
    """By default demo_access, random abc and key def make what deployed clients send."""
    made = signing.digest("demo_access", "demo_secret", ck.Dialect())
    assert made == "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="
    made = signing.access_token("abc", "def", "demo_secret", ck.Dialect())
    assert made == "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(
    key=TEXTS, random=TEXTS, value=TEXTS, name=st.sampled_from(["sha1", "sha256", "sha512", "md5"])
)
def test_any_texts_are_signed_as_utf_8_joined_by_a_colon(key, random, value, name):
    """Whatever the service hands out, and however long the key: UTF-8, `random:key`, and the HMAC
    in this hash, as its lowercase hex text or raw."""
    for form in ("hex", "raw"):
        dialect = ck.Dialect(hash=name, signature=form)
        for made, signed in (
            (signing.access_token(random, value, key, dialect), f"{random}:{value}"),
            (signing.digest(random, key, dialect), random),
        ):
            mac = hmac.digest(key.encode(), signed.encode(), name)
            assert base64.b64decode(made) == (mac.hex().encode() if form == "hex" else mac)


def test_what_is_signed_shows_as_stars():
    """Digest and token are texts to code and *** in a repr."""
    dialect = ck.Dialect()
    made = signing.digest("a", "b", dialect), signing.access_token("r", "k", "s", dialect)
    assert repr(made) == "('***', '***')"
    assert "*" not in "".join(made)
