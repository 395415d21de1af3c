"""Where a client's settings come from: arguments, environment, profiles; and what is refused."""

import stat
import tomllib

import pytest

import confkit as ck
from confkit.connect import profiles_path, save_profile

SERVICE = {
    "base_url": "http://conference.example:8080",
    "outgoing_url": "http://conference.example:8050",
    "access_key": "key",
    "secret_key": "hunter2",
}
OTHER, LOGIN = "http://other.example:8080", "http://user:hunter2@conference.example"
PROD = {**SERVICE, "secret_key": "stored", "read_only": True, "max_rate": 5, "timeout": [2.0, 4.0]}


@pytest.fixture
def environment(monkeypatch):
    """Sets variables of the environment, by the setting's name."""

    def setenv(**settings):
        for name, value in settings.items():
            monkeypatch.setenv(f"CONFKIT_{name.upper()}", value)

    return setenv


CONNECTIONS = [  # variables of the environment, arguments, and what the client has
    ({}, SERVICE, {"timeout": (5.0, 10.0), "read_only": False, "name": "conference.example"}),
    ({**SERVICE, "timeout": "(1,2.5)"}, {}, {"timeout": (1.0, 2.5), "access_key": "key"}),
    (SERVICE, {"base_url": OTHER}, {"base_url": OTHER, "access_key": "key"}),
    # The profile of the environment gives way to the rest of it, and to an argument's service.
    ({"profile": "prod"}, {}, {"name": "prod", "secret_key": "stored", "timeout": (2.0, 4.0)}),
    ({"profile": "prod", "secret_key": "other"}, {}, {"secret_key": "other", "max_rate": 5}),
    # A profile named in the call has its own addresses and keys.
    ({**SERVICE, "base_url": OTHER}, {"profile": "prod"}, {"secret_key": "stored"}),
]


@pytest.mark.parametrize(("variables", "given", "due"), CONNECTIONS)
def test_each_setting_comes_from_the_first_place_that_has_it(environment, variables, given, due):
    """Arguments win over the environment, and that over the profile."""
    save_profile("prod", PROD)
    environment(**variables)
    client = ck.connect(**given)
    assert {name: getattr(client, name) for name in due} == due
    assert "secret_key=*** (" in repr(client)
    assert "hunter2" not in repr(client)


def refused(match, *profile, **settings):
    """The ConfigError of a call; neither it nor the locals of its traceback show the secret."""
    with pytest.raises(ck.ConfigError, match=match) as raised:
        ck.connect(*profile, **settings)
    frames = [repr(entry.frame.f_locals) for entry in raised.traceback[1:]]
    assert "hunter2" not in f"{raised.value} {frames}"
    return raised.value


WRONG = [  # a setting, its value, and the problem
    ("base_url", "ftp://h", "is not a valid URL"),
    ("base_url", LOGIN, "contains a login"),
    ("secret_key", b"hunter2", "empty or not text"),
]


@pytest.mark.parametrize(("name", "value", "problem"), WRONG)
def test_a_wrong_argument_is_refused_when_connecting(name, value, problem):
    """The error names the setting, the problem, where it came from and what to do."""
    refused(rf"{name}.*{problem}.*\(from argument\).*[A-Z]\w+ .*", **{**SERVICE, name: value})


def test_two_services_at_once_are_refused(environment):
    environment(profile="prod", base_url=OTHER)
    refused("two services.*CONFKIT_PROFILE=prod and CONFKIT_BASE_URL")


PROFILES = {  # the text of the file, and the error
    "[prod\nsecret_key = 'hunter2'": "cannot be read as TOML",
    "[x2]\n['a b']": "no profile 'prod' in .*profiles.toml.*sandbox, a b, x2.*add prod",
    "[prod]\nsecretkey = 'hunter2'\n{}": "unknown setting 'secretkey'.*from profile prod",
}


@pytest.mark.parametrize(("text", "match"), PROFILES.items())
def test_a_wrong_profile_is_refused(text, match):
    """No traceback holds the text of the file."""
    service = "\n".join(f"{name} = {value!r}" for name, value in SERVICE.items())
    profiles_path().parent.mkdir(parents=True)
    profiles_path().touch(mode=0o600)
    profiles_path().write_text(text.replace("{}", service))
    assert refused(match, "prod").__context__ is None or "{}" in text


def test_a_profile_is_saved_beside_the_others_for_its_owner_alone():
    odd = {**PROD, "secret_key": "\"\\\n\t'é😀#", "verify": False}
    save_profile("o.dd-é", odd)
    file = save_profile("prod", SERVICE)
    assert tomllib.loads(file.read_text("utf-8")) == {"o.dd-é": odd, "prod": SERVICE}
    with pytest.raises(ck.ConfigError, match="built in"):
        save_profile("sandbox", SERVICE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    with pytest.warns(UserWarning, match="chmod 600"):
        ck.connect("prod")


def test_the_embedded_sandbox_is_one_per_process_and_ends_with_its_last_client(environment):
    """Whatever service the environment names; one that ended is replaced by a new one."""
    environment(base_url=OTHER)
    first, second = ck.connect("sandbox"), ck.connect("sandbox", read_only=True)
    assert first.sandbox is second.sandbox
    assert (first.name, first.dialect) == ("SANDBOX", ck.Dialect())
    first.close()
    first.close()  # which counts once
    assert ck.list_devices(second) == []
    second.close()
    assert first.sandbox.closed
    with ck.connect("sandbox") as third:
        assert third.sandbox is not first.sandbox
