"""Dialect: the settings of a deployment, checked when they are made."""

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.scripted import VECTOR_TOKEN

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
    with pytest.raises(FrozenInstanceError):
        made.hash = "md5"
    assert {Dialect(hash="md5"): 1}[Dialect(hash="md5")] == 1


WRONG = ["", "other", "SHA1", "get", None, 1, "sha1 "]
NO_NAMES = ["", "a b", "a&b", "a=b", "1st", 5, True, "to-ken", "token\n", None]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in CHOICES for value in WRONG),
        *((name, value) for name in SPELT for value in NO_NAMES if value or "mcu" not in name),
    ],
)
def test_another_value_is_refused_with_the_ones_there_are(name, value):
    """A value that a setting does not have, or that is no parameter's name, is a ConfigError naming
    setting, value and choices; only the MCU call's own name may be left out."""
    with pytest.raises(ck.ConfigError, match=name) as caught:
        Dialect(**{name: value})
    told = str(caught.value)
    assert all(choice in told for choice in CHOICES.get(name, ()))
    assert name in SPELT or repr(value) in told


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


@pytest.mark.parametrize("text", ["", " ", ",", " , ,"])
def test_an_empty_text_is_the_usual_dialect(text):
    """Nothing written means nothing changed."""
    assert Dialect.parse(text) == Dialect()


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


# How each operation travels: written down here, as the sandbox reads it by the client's own rules.
IN_USUAL = {
    **dict.fromkeys(("A2", "A3", "A4", "A5", "A6", "A7", "B2"), ("GET", "access_token")),
    **dict.fromkeys(("B1", "B3"), ("GET", "accessToken")),
}
OTHER = dict.fromkeys(("A2", "A3", "A4", "A5", "A6", "A7"), ("GET", "access_tocken"))
POSTED = {"create_method": "POST", "list_method": "POST"}
BY_POST = dict.fromkeys(("B1", "B3"), ("POST", "accessToken"))
TRAVELS = [
    ({}, {}),
    ({"token_parameter": "access_tocken"}, OTHER),
    ({"token_parameter": "access_tocken", "mcu_token_parameter": "token",
      "remove_token_parameter": "accessToken"},
     {**OTHER, "A5": ("GET", "token"), "B2": ("GET", "accessToken")}),
    ({"create_method": "POST"}, {"B1": BY_POST["B1"]}),
    ({"list_method": "POST"}, {"B3": BY_POST["B3"]}),
    *(({**POSTED, "placement": where}, BY_POST) for where in ("query", "form")),
]  # fmt: skip
CALLS = {
    "A2": lambda client: ck.create_room(client, "t", "ops"),
    "A3": lambda client: ck.get_room(client, "1"),
    "A4": lambda client: ck.delete_room(client, "1"),
    "A5": lambda client: ck.get_mcu(client, "1"),
    "A6": lambda client: ck.get_room_users(client, "1"),
    "A7": lambda client: ck.force_offline(client, "1", "ada"),
    "B1": lambda client: ck.import_device(client, "1", "cam", "Door", "rtsp://h/a"),
    "B2": lambda client: ck.remove_device(client, "1", "cam", "rtsp://h/a"),
    "B3": ck.list_devices,
}
DATA = {"total": 0, "items": [], "roomId": "1", "userId": "cam"}
DONE = {"ret": 0, "room_id": "1", "addr": "h:1", "user_list": [], "msg": "success", "data": DATA}


@pytest.mark.parametrize(("settings", "due"), TRAVELS, ids=str)
def test_each_operation_travels_as_the_dialect_says(script, settings, due):
    """Method, the token's name and where the parameters stand, of each operation."""
    service = script({endpoint.path: DONE for endpoint in ENDPOINTS.values() if endpoint.token})
    client = service.client(dialect=Dialect(**settings))
    for key, call in CALLS.items():
        call(client)
        method, path, fields = service.requests[-1]
        names = [name for name, value in fields.items() if value == VECTOR_TOKEN]
        in_body = method == "POST" and settings.get("placement") == "form"
        assert (key, method, *names) == (key, *{**IN_USUAL, **due}[key])
        assert path.partition("?")[0] == ENDPOINTS[key].path
        assert ("?" in path) != in_body
