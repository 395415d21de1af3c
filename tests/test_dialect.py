"""Dialect: its settings, its signature, and how each operation is sent."""

import base64
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.dialect import CHOICES, Dialect
from confkit.operations import OPERATIONS
from tests.scripted import A1, GRANTED, VECTOR_TOKEN

WRONG = [
    *((f"{name}=SHA1", f"{name} is 'SHA1'.*{', '.join(CHOICES[name])}") for name in CHOICES),
    ("token_parameter=to-ken", "token_parameter is 'to-ken'.*access_tocken"),
    ("hsah=sha1", "no setting hsah.*hash, signature, .*placement"),
    ("hash", "hash=sha256,signature=raw"),
]


@pytest.mark.parametrize(("settings", "match"), WRONG)
def test_what_is_not_a_dialect_is_refused(settings, match):
    """The error names the setting, and what is possible instead."""
    with pytest.raises(ck.ConfigError, match=match):
        Dialect.of(settings)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
HASHES, FORMS = st.sampled_from(CHOICES["hash"]), st.sampled_from(CHOICES["signature"])


@given(key=TEXTS, random=TEXTS, value=TEXTS, name=HASHES, form=FORMS)
def test_any_texts_are_signed_as_utf_8_joined_by_a_colon(key, random, value, name, form):
    """The HMAC in this hash, as its lowercase hex text or raw; the published vectors hold."""
    dialect = Dialect(hash=name, signature=form)
    for signature, message in (
        (dialect.access_token(random, value, key), f"{random}:{value}"),
        (dialect.digest(random, key), random),
    ):
        mac = hmac.digest(key.encode(), message.encode(), name)
        expected = mac.hex().encode() if form == "hex" else mac
        assert base64.b64decode(signature.reveal()) == expected
    assert Dialect().access_token("abc", "def", "demo_secret") == VECTOR_TOKEN
    digest = Dialect().digest("demo_access", "demo_secret")
    assert digest == "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="


IN_A = dict.fromkeys(("A2", "A3", "A4", "A5", "A6", "A7"), "GET access_token")
SENT = {**IN_A, "B1": "GET accessToken", "B2": "GET access_token", "B3": "GET accessToken"}
POST = dict.fromkeys(("B1", "B3"), "POST accessToken")


@pytest.mark.parametrize(
    ("settings", "due"),
    [
        ({}, {}),
        ({"token_parameter": "access_tocken"}, dict.fromkeys(IN_A, "GET access_tocken")),
        ({"create_method": "POST", "list_method": "POST", "placement": "form"}, POST),
    ],
    ids=str,
)
def test_each_operation_travels_as_the_dialect_says(script, settings, due):
    """HTTP method, the token's name, and where the parameters are, of each operation."""
    service = script({endpoint.path: {"ret": 0} for endpoint in OPERATIONS.values()})
    service.script[A1] = GRANTED
    client = service.client(dialect=Dialect(**settings))
    for key, expected in {**SENT, **due}.items():
        client.call(OPERATIONS[key], x="1")
        method, path, fields = service.requests[-1]
        [name, _] = fields
        assert (f"{method} {name}", fields) == (expected, {name: VECTOR_TOKEN, "x": "1"})
        assert path.partition("?")[0] == OPERATIONS[key].path
        assert ("?" in path) != (method == "POST" and settings.get("placement") == "form")
