"""Dialect: the settings of a deployment, checked when they are made."""

import json
import re
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.scripted import GRANTED, VECTOR_TOKEN

# What each setting can be, first what is usual: what was seen in deployments.
CHOICES = {
    "hash": ["sha1", "sha256", "sha512", "md5"],
    "signature": ["hex", "raw"],
    "result_field": ["ret", "result"],
    "item_keys": ["camelCase", "snake_case"],
    "create_method": ["GET", "POST"],
    "list_method": ["GET", "POST"],
    "placement": ["query", "form", "json"],
}
SPELT = {
    "token_parameter": ["access_token", "access_tocken", "token"],
    "mcu_token_parameter": [None, "token", "access_token"],
    "remove_token_parameter": ["access_token", "accessToken"],
}
USUAL = {name: values[0] for name, values in (CHOICES | SPELT).items()}
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from([value for value in values if value])
        for name, values in (CHOICES | SPELT).items()
    },
)


def test_the_usual_dialect_is_what_deployed_services_do():
    """Without settings every setting has its usual value; a dialect is frozen, and a key."""
    made = Dialect()
    assert {name: getattr(made, name) for name in USUAL} == USUAL
    assert made.changes() == {}
    assert Dialect.parse("") == Dialect.parse(" , ,") == made
    with pytest.raises(FrozenInstanceError):
        made.hash = "md5"
    assert {Dialect(hash="md5"): 1}[Dialect(hash="md5")] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, "SHA1 ") for name in CHOICES),
        *(("hash", value) for value in ("", None, 1)),
        *((name, "to-ken") for name in SPELT),
        *(
            ("token_parameter", value)
            for value in ("", "a b", "1st_token", 5, "token\n", None, "x")
        ),
    ],
)
def test_another_value_is_refused_with_the_ones_there_are(name, value):
    """A value that a setting does not have, or that is no parameter's name by which a token is
    known, is a ConfigError naming setting, value and choices; only the MCU call's own name may be
    left out."""
    with pytest.raises(ck.ConfigError, match=f"{name} is {re.escape(repr(value))}") as caught:
        Dialect(**{name: value})
    assert all(choice in str(caught.value) for choice in CHOICES.get(name, ()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hsah=sha1", " ".join(f"(?=.*{name})" for name in ("hsah", *USUAL)).replace(" ", "")),
        *((text, "hash=sha256,signature=raw") for text in ("hash", "hash=sha1,raw", "hash sha256")),
        ('{"hash"', "."),
        ('{"hash": "sha25"}', "sha25"),
        ('{"colour": "blue"}', "colour"),
    ],
)
def test_a_text_that_is_no_dialect_is_refused(text, said):
    """A misspelt setting is named with all that exist, one without `=` with how to write it."""
    with pytest.raises(ck.ConfigError, match=f"(?s){said}"):
        Dialect.parse(text)


@given(settings=SETTINGS)
def test_what_changes_says_makes_the_same_dialect_again(settings):
    """`changes` holds exactly what differs from usual, and `of` and `parse` read it back, also with
    spaces and a comma at its end, and as JSON."""
    made = Dialect.of(settings)
    changed = made.changes()
    assert changed == {name: value for name, value in settings.items() if value != USUAL[name]}
    assert Dialect.of(changed) == made
    assert Dialect.parse(json.dumps(changed)) == made
    for pattern in ("{}={},", " {} = {} , "):
        assert Dialect.parse("".join(pattern.format(*one) for one in changed.items())) == made


# The HTTP method and the token's name of each operation, written down here, as the sandbox reads a
# call by the client's own rules.
IN_A = ("A2", "A3", "A4", "A5", "A6", "A7")
USUALLY = {
    **dict.fromkeys((*IN_A, "B2"), "GET access_token"),
    **dict.fromkeys(("B1", "B3"), "GET accessToken"),
}
OTHER = dict.fromkeys(IN_A, "GET access_tocken")
BY_POST = dict.fromkeys(("B1", "B3"), "POST accessToken")
POSTED = {"create_method": "POST", "list_method": "POST"}
OWN = {"mcu_token_parameter": "token", "remove_token_parameter": "accessToken"}
TRAVELS = [
    ({}, {}),
    ({"token_parameter": "access_tocken"}, OTHER),
    (OWN, {"A5": "GET token", "B2": "GET accessToken"}),
    ({"create_method": "POST"}, {"B1": BY_POST["B1"]}),
    ({"list_method": "POST"}, {"B3": BY_POST["B3"]}),
    *(({**POSTED, "placement": where}, BY_POST) for where in ("query", "form")),
]


@pytest.mark.parametrize(("settings", "due"), TRAVELS, ids=str)
def test_each_operation_travels_as_the_dialect_says(script, settings, due):
    """Method, the token's name and where the parameters stand, of each operation."""
    service = script({endpoint.path: {"ret": 0} for endpoint in ENDPOINTS.values()})
    service.script["/rtc/auth/valid"] = GRANTED
    client = service.client(dialect=Dialect(**settings))
    for key, told in {**USUALLY, **due}.items():
        client.send(ck.Request(ENDPOINTS[key], {"x": "1"}))
        method, path, fields = service.requests[-1]
        name, _ = fields
        assert f"{method} {name}" == told
        assert fields == {name: VECTOR_TOKEN, "x": "1"}
        assert path.partition("?")[0] == ENDPOINTS[key].path
        assert ("?" in path) != (method == "POST" and settings.get("placement") == "form")
