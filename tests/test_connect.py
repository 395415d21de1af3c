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
VARIABLES = {f"CONFKIT_{name.upper()}": value for name, value in SERVICE.items()}


@pytest.fixture
def environment(monkeypatch):
    def put(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return put


def test_arguments_make_a_client():
    """Four arguments name a service; its name is then its host."""
    client = ck.connect(**SERVICE)
    assert (client.base_url, client.outgoing_url) == (SERVICE["base_url"], SERVICE["outgoing_url"])
    assert client.name == "conference.example"
    assert client.sandbox is None
    assert (client.timeout, client.read_only) == ((5.0, 10.0), False)


def test_the_environment_makes_a_client(environment):
    """The variables alone name a service, and its settings."""
    environment(**VARIABLES, CONFKIT_TIMEOUT="1,2.5", CONFKIT_READ_ONLY="yes")
    client = ck.connect()
    assert client.base_url == SERVICE["base_url"]
    assert (client.timeout, client.read_only) == ((1.0, 2.5), True)


def test_the_environment_names_a_dialect(environment):
    """CONFKIT_DIALECT is what the service does, unless an argument or a named profile says so."""
    environment(**VARIABLES, CONFKIT_DIALECT="hash=sha256,signature=raw")
    assert ck.connect().dialect == ck.Dialect(hash="sha256", signature="raw")
    assert ck.connect(dialect=ck.Dialect()).dialect == ck.Dialect()
    profiles.save("prod", {**SERVICE, "dialect": {"hash": "md5"}})
    assert ck.connect("prod").dialect == ck.Dialect(hash="md5")
    with ck.connect("sandbox") as client:
        assert client.dialect == ck.Dialect()
        assert ck.list_devices(client) == []


def test_arguments_win_over_the_environment(environment):
    """An argument is taken before the variable of the same setting."""
    environment(**VARIABLES, CONFKIT_READ_ONLY="1", CONFKIT_TIMEOUT="7")
    client = ck.connect(base_url="http://other.example:8080", read_only=False, timeout=3)
    assert client.base_url == "http://other.example:8080"
    assert client.outgoing_url == SERVICE["outgoing_url"]
    assert (client.timeout, client.read_only) == ((3.0, 3.0), False)


@pytest.mark.parametrize("name", SERVICE)
def test_a_missing_setting_is_named_with_three_ways_to_give_it(environment, name):
    """ConfigError names the setting, the argument, the variable and the profile."""
    environment(
        **{key: value for key, value in VARIABLES.items() if not key.endswith(name.upper())}
    )
    with pytest.raises(ck.ConfigError) as raised:
        ck.connect()
    told = str(raised.value)
    for way in (name, f"connect({name}=", f"CONFKIT_{name.upper()}", "confkit profile add"):
        assert way in told
    assert "hunter2" not in told


def test_nothing_falls_back_to_the_sandbox():
    """connect() in an empty environment is an error, not a sandbox."""
    with pytest.raises(ck.ConfigError, match="no service is named"):
        ck.connect()


def test_a_profile_keeps_a_service_for_its_owner_alone():
    """A saved profile is read back; its file has mode 0600 and its client the profile's name."""
    file = profiles.save(
        "prod",
        {
            **SERVICE,
            "read_only": True,
            "max_rate": 5,
            "dialect": {"hash": "sha256"},
            "timeout": [2, 4],
        },
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    client = ck.connect("prod")
    assert (client.name, client.read_only, client.timeout) == ("prod", True, (2.0, 4.0))
    assert client.dialect == ck.Dialect(hash="sha256")
    assert client.base_url == SERVICE["base_url"]
    assert profiles.names() == ["sandbox", "prod"]
    assert ck.connect("prod", read_only=False).read_only is False


def test_a_profile_named_in_the_call_is_explicit(environment):
    """The environment's addresses and keys are not looked at then."""
    profiles.save("prod", SERVICE)
    environment(
        CONFKIT_BASE_URL="http://other.example",
        CONFKIT_SECRET_KEY="other",
        CONFKIT_PROFILE="elsewhere",
    )
    client = ck.connect("prod")
    assert client.base_url == SERVICE["base_url"]
    assert client.secret_key == "hunter2"


def test_a_profile_in_the_environment_is_used(environment):
    """CONFKIT_PROFILE names the profile of connect()."""
    profiles.save("prod", SERVICE)
    environment(CONFKIT_PROFILE="prod")
    assert ck.connect().name == "prod"


@pytest.mark.parametrize("profile", ["prod", "sandbox"])
@pytest.mark.parametrize("address", ["CONFKIT_BASE_URL", "CONFKIT_OUTGOING_URL"])
def test_two_services_in_the_environment_are_refused(environment, profile, address):
    """CONFKIT_PROFILE beside an address is a ConfigError that names both."""
    profiles.save("prod", SERVICE)
    environment(CONFKIT_PROFILE=profile, **{address: "http://other.example:8080"})
    with pytest.raises(ck.ConfigError, match=f"two services.*{address}"):
        ck.connect()


def test_an_unknown_profile_lists_those_that_are_there():
    """The error names the file, the profiles and the command that adds one."""
    profiles.save("prod", SERVICE)
    with pytest.raises(ck.ConfigError, match=r"sandbox, prod.*confkit profile add nowhere"):
        ck.connect("nowhere")


def test_white_space_around_a_key_is_removed_with_a_warning():
    """A stray line end behind a secret is stripped, and a warning says so without showing it."""
    with pytest.warns(UserWarning, match="white space around secret_key") as caught:
        client = ck.connect(**{**SERVICE, "secret_key": " hunter2\n"})
    assert client.secret_key == "hunter2"
    assert "hunter2" not in str(caught[0].message)


def test_the_repr_says_where_each_value_came_from_and_no_secret(environment):
    """repr(client) names addresses, keys and their origins; the secret is ***."""
    environment(CONFKIT_SECRET_KEY="hunter2", CONFKIT_ACCESS_KEY="key")
    shown = repr(ck.connect(base_url=SERVICE["base_url"], outgoing_url=SERVICE["outgoing_url"]))
    assert "base_url=http://conference.example:8080 (argument)" in shown
    assert "secret_key=*** (CONFKIT_SECRET_KEY)" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    "setting",
    [
        {"base_url": "conference.example:8080"},
        {"base_url": "ftp://conference.example"},
        {"base_url": "http://"},
        {"base_url": "http://user:pw@conference.example"},
        {"outgoing_url": "http://conference.example:0"},
        {"outgoing_url": "http://h:99999"},
        {"base_url": "http://h/?a=b"},
        {"secret_key": "  "},
        {"access_key": ""},
        {"timeout": 0},
        {"max_rate": 0},
        {"max_rate": -1},
        {"verify": "/nowhere/ca.pem"},
    ],
)
def test_a_wrong_setting_is_refused_when_connecting(setting):
    """A setting that cannot work is a ConfigError at once, naming it, without a password."""
    with warnings.catch_warnings(), pytest.raises(ck.ConfigError) as raised:
        warnings.simplefilter("ignore")
        ck.connect(**{**SERVICE, **setting})
    assert next(iter(setting)).partition("_")[0] in str(raised.value) or "certificate" in str(
        raised.value
    )
    assert "user:pw@" not in str(raised.value)


@pytest.mark.parametrize(
    ("source", "named"),
    [("arguments", "argument"), ("environment", "CONFKIT_BASE_URL"), ("profile", "profile prod")],
)
def test_a_wrong_setting_names_its_source_and_the_ways_to_give_it(environment, source, named):
    """Wherever the address came from, that is said, with the ways to give another, and no login."""
    wrong = {**SERVICE, "base_url": "http://user:hunter2@conference.example"}
    if source == "environment":
        environment(**(VARIABLES | {"CONFKIT_BASE_URL": wrong["base_url"]}))
    elif source == "profile":
        profiles.save("prod", wrong)
    with pytest.raises(
        ck.ConfigError, match=rf"base_url holds a login.*\(from {named}\)"
    ) as raised:
        ck.connect(
            "prod" if source == "profile" else None, **(wrong if source == "arguments" else {})
        )
    for way in ("connect(base_url=", "CONFKIT_BASE_URL=", "confkit profile add"):
        assert way in raised.value.advice
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "variables",
    [
        {"CONFKIT_TIMEOUT": "soon"},
        {"CONFKIT_TIMEOUT": "1,2,3"},
        {"CONFKIT_READ_ONLY": "perhaps"},
        {"CONFKIT_DIALECT": "hash=crc32"},
        {"CONFKIT_DIALECT": "hash"},
        {"CONFKIT_DIALECT": "{"},
    ],
)
def test_a_wrong_variable_is_named(environment, variables):
    """A variable that cannot be read is a ConfigError with its name."""
    environment(**VARIABLES, **variables)
    with pytest.raises(ck.ConfigError, match=next(iter(variables))):
        ck.connect()


@pytest.mark.parametrize(
    "text",
    [
        "[prod\nsecret_key = 'hunter2'",
        "prod = 3",
        "[prod]\ncolour = 'blue'",
        "[prod]\nread_only = 'yes'",
    ],
)
def test_a_broken_profile_file_is_named_without_its_secrets(text):
    """A file that is not right is a ConfigError; the text of the file is not in it."""
    file = profiles.path()
    file.parent.mkdir(parents=True)
    file.touch(mode=0o600)
    file.write_text(text)
    with pytest.raises(ck.ConfigError) as raised:
        ck.connect("prod")
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_profile_file_that_others_can_read_is_warned_about():
    """A mode wider than 0600 is reported with the command that fixes it."""
    profiles.path().parent.mkdir(parents=True)
    profiles.save("prod", SERVICE).chmod(0o644)
    with pytest.warns(UserWarning, match="chmod 600"):
        ck.connect("prod")


def test_the_embedded_sandbox_is_one_in_a_process():
    """connect("sandbox") gives the same service each time, and close() ends it."""
    first = ck.connect("sandbox")
    second = ck.connect("sandbox", read_only=True)
    assert first.sandbox is second.sandbox
    assert first.name == "SANDBOX"
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


def test_the_embedded_sandbox_takes_no_other_service(environment):
    """Addresses, keys or a dialect beside "sandbox" are refused; the environment's are ignored."""
    with pytest.raises(ck.ConfigError, match="base_url"):
        ck.connect("sandbox", base_url="http://other.example")
    with pytest.raises(ck.ConfigError, match="dialect"):
        ck.connect("sandbox", dialect=ck.Dialect(hash="sha256"))
    environment(CONFKIT_SECRET_KEY="other", CONFKIT_BASE_URL="http://other.example")
    with ck.connect("sandbox") as client:
        assert ck.list_devices(client) == []
