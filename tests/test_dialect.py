"""Dialect: the settings of a deployment, checked when they are made."""

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.scripted import VECTOR_TOKEN

CHOICES = {
    "hash": ["sha1", "sha256", "sha512", "md5"],
    "signature": ["hex", "raw"],
    "result_field": ["ret", "result"],
    "item_keys": ["camelCase", "snake_case"],
    "create_method": ["GET", "POST"],
    "list_method": ["GET", "POST"],
    "placement": ["query", "form", "json"],
}
USUAL = {
    "hash": "sha1",
    "signature": "hex",
    "token_parameter": "access_token",
    "mcu_token_parameter": None,
    "remove_token_parameter": "access_token",
    "result_field": "ret",
    "item_keys": "camelCase",
    "create_method": "GET",
    "list_method": "GET",
    "placement": "query",
}
SETTINGS = st.fixed_dictionaries(
    {},
    optional={name: st.sampled_from(values) for name, values in CHOICES.items()}
    | {
        "token_parameter": st.sampled_from(["access_token", "access_tocken", "token"]),
        "mcu_token_parameter": st.sampled_from(["token", "access_token"]),
        "remove_token_parameter": st.sampled_from(["access_token", "accessToken"]),
    },
)


def test_the_usual_dialect_is_what_deployed_services_do():
    """Without settings every setting has the value that was seen in deployments."""
    made = Dialect()
    assert {name: getattr(made, name) for name in USUAL} == USUAL
    assert made.changes() == {}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["", "other", "SHA1", "get", None, 1, "sha1 "])
def test_another_value_is_refused_with_the_ones_there_are(name, value):
    """A value that a setting does not have is a ConfigError naming setting, value and choices."""
    with pytest.raises(ck.ConfigError) as caught:
        Dialect(**{name: value})
    told = str(caught.value)
    assert name in told
    assert repr(value) in told
    assert all(choice in told for choice in CHOICES[name])


@pytest.mark.parametrize("value", ["", "a b", "a&b", "a=b", "1st", 5, True, "to-ken", "token\n"])
def test_a_tokens_name_that_would_break_a_query_is_refused(value):
    """What is no parameter's name is a ConfigError that names the setting."""
    for name in ("token_parameter", "mcu_token_parameter", "remove_token_parameter"):
        with pytest.raises(ck.ConfigError, match=name):
            Dialect(**{name: value})


def test_the_tokens_name_cannot_be_none():
    """Only the MCU call's own name may be left out."""
    assert Dialect(mcu_token_parameter=None).mcu_token_parameter is None
    for name in ("token_parameter", "remove_token_parameter"):
        with pytest.raises(ck.ConfigError, match=f"setting {name}"):
            Dialect(**{name: None})


def test_an_unknown_setting_is_refused_with_the_ones_there_are():
    """A misspelt setting is a ConfigError that names it and all that exist."""
    for make in (lambda: Dialect.of({"hsah": "sha1"}), lambda: Dialect.parse("hsah=sha1")):
        with pytest.raises(ck.ConfigError, match="hsah") as caught:
            make()
        assert all(name in str(caught.value) for name in USUAL)


@pytest.mark.parametrize("text", ["hash", "hash=sha1,raw", "hash sha256"])
def test_a_setting_without_a_value_is_refused(text):
    """A part of the text that has no `=` is a ConfigError showing how to write it."""
    with pytest.raises(ck.ConfigError, match="hash=sha256,signature=raw"):
        Dialect.parse(text)


@pytest.mark.parametrize("text", ["", " ", ",", " , ,"])
def test_an_empty_text_is_the_usual_dialect(text):
    """Nothing written means nothing changed."""
    assert Dialect.parse(text) == Dialect()


def test_white_space_around_settings_does_not_matter():
    """A text with spaces and a comma at its end reads like one without."""
    read = Dialect.parse(" hash = sha256 , signature=raw, ")
    assert read == Dialect(hash="sha256", signature="raw")


@given(settings=SETTINGS)
def test_what_changes_says_makes_the_same_dialect_again(settings):
    """`changes` holds exactly what differs from usual, and `of` and `parse` read it back."""
    made = Dialect.of(settings)
    changed = made.changes()
    assert changed == {name: value for name, value in settings.items() if value != USUAL[name]}
    assert Dialect.of(changed) == made
    assert Dialect.parse(",".join(f"{name}={value}" for name, value in changed.items())) == made


def test_a_dialect_does_not_change():
    """A dialect is frozen and can be a key; an equal one is the same key."""
    made = Dialect(hash="md5")
    with pytest.raises(FrozenInstanceError):
        made.hash = "sha1"
    assert {made: 1}[Dialect(hash="md5")] == 1


def test_a_dialect_may_be_written_as_json():
    """A JSON object of settings reads like the short form; broken JSON is a ConfigError."""
    written = '{"hash": "sha256", "signature": "raw"}'
    assert ck.Dialect.parse(written) == ck.Dialect.parse("hash=sha256, signature=raw")
    for wrong in ('{"hash"', '{"hash": "sha25"}', '{"colour": "blue"}'):
        with pytest.raises(ck.ConfigError):
            ck.Dialect.parse(wrong)


# How each operation travels: written down here, as the sandbox reads it by the client's own rules.
NAMED = {
    "token_parameter": "access_tocken",
    "mcu_token_parameter": "token",
    "remove_token_parameter": "accessToken",
}
POSTED = {"create_method": "POST", "list_method": "POST"}
IN_USUAL = {
    "A2": ("GET", "access_token"),
    "A3": ("GET", "access_token"),
    "A4": ("GET", "access_token"),
    "A5": ("GET", "access_token"),
    "A6": ("GET", "access_token"),
    "A7": ("GET", "access_token"),
    "B1": ("GET", "accessToken"),
    "B2": ("GET", "access_token"),
    "B3": ("GET", "accessToken"),
}
TRAVELS = [
    ({}, IN_USUAL),
    (NAMED, {**dict.fromkeys(IN_USUAL, ("GET", "access_tocken")), "A5": ("GET", "token"),
             "B2": ("GET", "accessToken"), "B1": IN_USUAL["B1"], "B3": IN_USUAL["B3"]}),
    ({"token_parameter": "access_tocken"}, {**dict.fromkeys(IN_USUAL, ("GET", "access_tocken")),
                                     **{key: IN_USUAL[key] for key in ("B1", "B2", "B3")}}),
    ({"create_method": "POST"}, {**IN_USUAL, "B1": ("POST", "accessToken")}),
    ({"list_method": "POST"}, {**IN_USUAL, "B3": ("POST", "accessToken")}),
    *(({**POSTED, "placement": where}, {**IN_USUAL, "B1": ("POST", "accessToken"),
                                        "B3": ("POST", "accessToken")})
      for where in ("query", "form")),
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
    "B3": lambda client: ck.list_devices(client),
}
DONE = {
    "ret": 0,
    "room_id": "1",
    "addr": "h:1",
    "user_list": [],
    "msg": "success",
    "data": {"total": 0, "items": [], "roomId": "1", "userId": "cam"},
}


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
        assert (key, method, names) == (key, due[key][0], [due[key][1]])
        assert path.partition("?")[0] == ENDPOINTS[key].path
        assert ("?" in path) != in_body
