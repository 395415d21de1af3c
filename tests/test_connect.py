"""Where a client's settings come from: arguments, environment, profiles; and what is refused."""

import os
import stat
import warnings

import pytest

import confkit as ck
from confkit import profiles

SERVICE = {
    "base_url": "http://conference.example:8080",
    "outgoing_url": "http://conference.example:8050",
    "access_key": "key",
    "secret_key": "hunter2",
}
OTHER = "http://other.example:8080"


def variable(name):
    return f"CONFKIT_{name.upper()}"


@pytest.fixture
def environment(monkeypatch):
    """Puts these settings into the environment, those of the service too where none is given."""

    def put(settings=SERVICE, **more):
        for name, value in {**settings, **more}.items():
            monkeypatch.setenv(variable(name), value)

    return put


def refused(match, *profile, **settings):
    """The ConfigError of a call, which shows no secret."""
    with warnings.catch_warnings(), pytest.raises(ck.ConfigError, match=match) as raised:
        warnings.simplefilter("ignore")
        ck.connect(*profile, **settings)
    assert "hunter2" not in str(raised.value)
    return raised.value


def test_arguments_make_a_client():
    """Four arguments name a service; its name is then its host; an empty environment none. The repr
    says where each value came from, and no secret."""
    client = ck.connect(**SERVICE)
    assert (client.base_url, client.outgoing_url) == (SERVICE["base_url"], SERVICE["outgoing_url"])
    assert (client.name, client.sandbox) == ("conference.example", None)
    assert (client.timeout, client.read_only) == ((5.0, 10.0), False)
    assert "base_url=http://conference.example:8080 (argument)" in repr(client)
    refused(r"base_url, .* are missing")


def test_arguments_win_over_the_environment(environment):
    """The variables alone name a service and its settings; an argument is taken before the variable
    of the same setting."""
    environment(timeout="1,2.5", read_only="yes")
    client = ck.connect()
    assert client.base_url == SERVICE["base_url"]
    assert (client.timeout, client.read_only) == ((1.0, 2.5), True)
    assert "secret_key=*** (CONFKIT_SECRET_KEY)" in repr(client)
    client = ck.connect(base_url=OTHER, read_only=False, timeout=3)
    assert (client.base_url, client.outgoing_url) == (OTHER, SERVICE["outgoing_url"])
    assert (client.timeout, client.read_only) == ((3.0, 3.0), False)
    environment(timeout="4", read_only="off", profile="nowhere")
    client = ck.connect(base_url=OTHER)
    assert (client.timeout, client.read_only) == ((4.0, 4.0), False)


def test_the_environment_names_a_dialect(environment):
    """CONFKIT_DIALECT is what the service does, unless an argument or a named profile says so."""
    environment(dialect="hash=sha256,signature=raw")
    assert ck.connect().dialect == ck.Dialect(hash="sha256", signature="raw")
    assert ck.connect(dialect=ck.Dialect()).dialect == ck.Dialect()
    profiles.save("prod", {**SERVICE, "dialect": {"hash": "md5"}})
    assert ck.connect("prod").dialect == ck.Dialect(hash="md5")


@pytest.mark.parametrize("name", SERVICE)
def test_a_missing_setting_is_named_with_three_ways_to_give_it(environment, name):
    """ConfigError names the setting, the argument, the variable and the profile."""
    environment({other: value for other, value in SERVICE.items() if other != name})
    told = str(refused(f"{name} is missing"))
    for way in (f"connect({name}=", variable(name), "confkit profile add"):
        assert way in told
    environment({"profile": "prod", "base_url": "", "outgoing_url": ""})
    profiles.save("prod", {other: value for other, value in SERVICE.items() if other != name})
    refused("in profile 'prod'", "prod")


def test_a_profile_keeps_a_service_for_its_owner_alone():
    """A saved profile is read back; its file has mode 0600 and its client the profile's name."""
    more = {"read_only": True, "max_rate": 5, "dialect": {"hash": "sha256"}, "timeout": [2, 4]}
    file = profiles.save("prod", {**SERVICE, **more})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    client = ck.connect("prod")
    assert (client.name, client.read_only, client.timeout) == ("prod", True, (2.0, 4.0))
    assert (client.dialect, client.base_url) == (ck.Dialect(hash="sha256"), SERVICE["base_url"])
    assert client.max_rate == 5
    assert profiles.names() == ["sandbox", "prod"]
    assert ck.connect("prod", read_only=False).read_only is False


def test_a_profile_named_in_the_call_is_explicit(environment):
    """The environment's addresses and keys are not looked at then; CONFKIT_PROFILE names the
    profile of connect()."""
    profiles.save("prod", SERVICE)
    environment({"profile": "prod"})
    assert ck.connect().name == "prod"
    environment({"profile": "elsewhere", "base_url": OTHER, "secret_key": "other"})
    client = ck.connect("prod")
    assert (client.base_url, client.secret_key) == (SERVICE["base_url"], "hunter2")


def test_two_services_in_the_environment_are_refused(environment):
    """CONFKIT_PROFILE beside an address is a ConfigError that names both."""
    profiles.save("prod", SERVICE)
    environment({"profile": "prod", "outgoing_url": OTHER})
    refused("two services.*CONFKIT_PROFILE=prod and CONFKIT_OUTGOING_URL")
    environment({"profile": "sandbox", "base_url": OTHER})
    refused("two services.*CONFKIT_BASE_URL and CONFKIT_OUTGOING_URL")


def test_an_unknown_profile_lists_those_that_are_there():
    """The error names the file, the profiles and the command that adds one."""
    profiles.save("prod", SERVICE)
    refused(r"profiles.toml.*sandbox, prod.*confkit profile add nowhere", "nowhere")
    refused("confkit profile add NAME", "no\nwhere")


def test_white_space_around_a_key_is_removed_with_a_warning():
    """A stray line end behind a secret is stripped, and a warning says so without showing it."""
    with pytest.warns(UserWarning, match="white space around secret_key") as caught:
        client = ck.connect(**{**SERVICE, "secret_key": " hunter2\n"})
    assert client.secret_key == "hunter2"
    assert "hunter2" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("base_url", url) for url in (
            "conference.example:8080", "ftp://conference.example", "http://", "http://h/?a=b")),
        *(("outgoing_url", url) for url in ("http://conference.example:0", "http://h:99999")),
        ("secret_key", "  "), ("access_key", ""), ("access_key", 1), ("max_rate", 0),
        *(("timeout", value) for value in (0, float("inf"), (1,), (1, 2, 3), "5", True)),
        ("verify", "/nowhere/ca.pem"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_refused_when_connecting(name, value):
    """A setting that cannot work is a ConfigError at once, naming it, without a password."""
    refused("certificate" if name == "verify" else name, **{**SERVICE, name: value})


def test_a_wrong_setting_names_its_source_and_the_ways_to_give_it(environment):
    """Wherever the address came from, that is said, with the ways to give another, and no login."""
    wrong = {**SERVICE, "base_url": "http://user:hunter2@conference.example"}
    profiles.save("prod", wrong)
    environment(wrong)
    for named, profile, given in (
        ("argument", (), wrong),
        ("CONFKIT_BASE_URL", (), {}),
        ("profile prod", ("prod",), {}),
    ):
        error = refused(rf"base_url holds a login.*\(from {named}\)", *profile, **given)
        for way in ("connect(base_url=", "CONFKIT_BASE_URL=", "confkit profile add"):
            assert way in error.advice


def test_a_wrong_variable_is_named(environment, monkeypatch):
    """A variable that cannot be read is a ConfigError with its name."""
    environment()
    for name, value in (
        ("timeout", "soon"),
        ("timeout", "1,2,3"),
        ("read_only", "perhaps"),
        *(("dialect", value) for value in ("hash=crc32", "hash", "{")),
    ):
        monkeypatch.setenv(variable(name), value)
        refused(variable(name))
        monkeypatch.delenv(variable(name))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[prod\nsecret_key = 'hunter2'", "is not TOML"),
        ("prod = 3", "every profile is a table"),
        ("[prod]\ncolour = 'blue'", "unknown setting 'colour'"),
        ("[prod]\nread_only = 'yes'", "read_only is of the wrong type"),
    ],
)
def test_a_broken_profile_file_is_named_without_its_secrets(text, match):
    """A file that is not right is a ConfigError; the text of the file is not in it."""
    file = profiles.path()
    file.parent.mkdir(parents=True)
    file.touch(mode=0o600)
    file.write_text(text)
    error = refused(match, "prod")
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_profile_file_that_others_can_read_is_warned_about():
    """A mode wider than 0600 is reported with the command that fixes it."""
    profiles.save("prod", SERVICE).chmod(0o644)
    with pytest.warns(UserWarning, match="chmod 600"):
        ck.connect("prod")


def test_the_embedded_sandbox_is_one_in_a_process(environment):
    """connect("sandbox") gives the same service each time, whatever service the environment names,
    and close() ends it, about which another client's has no say."""
    environment({"secret_key": "other", "base_url": OTHER, "dialect": "hash=sha256"})
    first, second = ck.connect("sandbox"), ck.connect("sandbox", read_only=True)
    assert first.sandbox is second.sandbox
    assert (first.name, first.dialect) == ("SANDBOX", ck.Dialect())
    room_id = ck.create_room(first, "Weekly sync", "ops")
    assert ck.get_room(second, room_id).topic == "Weekly sync"
    with pytest.raises(ck.ReadOnlyError):
        ck.delete_room(second, room_id)
    first.close()
    with pytest.raises(ck.ConfkitError, match=r"sandbox is closed\. Connect again"):
        ck.get_room(second, room_id)
    third = ck.connect("sandbox")
    assert third.sandbox is not first.sandbox
    with pytest.raises(ck.RoomNotFound):
        ck.get_room(third, room_id)
    third.sandbox.close()  # by its owner's hand, not by the client's
    with ck.connect("sandbox") as fourth:
        third.close()  # which is about its own sandbox alone
        assert ck.get_room(fourth, ck.create_room(fourth, "Works", "ops")).topic == "Works"


def test_the_embedded_sandbox_takes_no_other_service():
    """Addresses, keys or a dialect beside "sandbox" are refused."""
    refused("has its own base_url", "sandbox", base_url=OTHER)
    refused("has its own dialect", "sandbox", dialect=ck.Dialect(hash="sha256"))
