"""Where a client's settings come from: arguments, environment, profiles; and what is refused."""

import os
import re
import stat
import tomllib

import pytest

import confkit as ck
from confkit.connect import VARIABLES, profile_names, profiles_path, save_profile

SERVICE = {
    "base_url": "http://conference.example:8080",
    "outgoing_url": "http://conference.example:8050",
    "access_key": "key",
    "secret_key": "hunter2",
}
OTHER, LOGIN = "http://other.example:8080", "http://user:hunter2@conference.example"
STORED = {"read_only": True, "max_rate": 5, "dialect": {"hash": "sha256"}, "timeout": [2.0, 4.0]}
PROD = {**SERVICE, "secret_key": "stored", **STORED}
MD5, SHA256 = ck.Dialect(hash="md5"), ck.Dialect(hash="sha256")


@pytest.fixture
def environment(monkeypatch):
    """Sets variables of the environment, by the setting's name."""
    return lambda settings: [
        monkeypatch.setenv(VARIABLES.get(name, "CONFKIT_PROFILE"), value)
        for name, value in settings.items()
    ]


CONNECTIONS = [  # variables of the environment, arguments, and what the client has
    ({}, SERVICE, {"timeout": (5.0, 10.0), "read_only": False, "name": "conference.example"}),
    ({**SERVICE, "timeout": "1,2.5"}, {}, {"timeout": (1.0, 2.5), "access_key": "key"}),
    (SERVICE, {"base_url": OTHER}, {"base_url": OTHER, "access_key": "key"}),
    ({**SERVICE, "read_only": "1"}, {"read_only": False}, {"read_only": False}),
    ({**SERVICE, "dialect": "hash=md5"}, {}, {"dialect": MD5}),
    # Text is read wherever it comes from, without white space around it.
    (SERVICE, {"timeout": "5", "read_only": "no"}, {"timeout": (5, 5), "read_only": False}),
    ({}, {**SERVICE, "secret_key": " hun ter2\n"}, {"secret_key": "hun ter2"}),
    # The profile of the environment gives way to the rest of it, and to an argument's service.
    ({"profile": "prod"}, {}, {"name": "prod", "secret_key": "stored", "timeout": (2.0, 4.0)}),
    ({"profile": "prod", "secret_key": "other"}, {}, {"secret_key": "other", "max_rate": 5}),
    ({**SERVICE, "profile": "no"}, {"base_url": OTHER}, {"base_url": OTHER}),
    # A profile named in the call has its own addresses, keys and dialect.
    ({**SERVICE, "base_url": OTHER}, {"profile": "prod"}, {"secret_key": "stored"}),
    ({"dialect": "hash="}, {"profile": "prod"}, {"dialect": SHA256}),
    (SERVICE, {"profile": ""}, {"name": "conference.example", "secret_key": "hunter2"}),
]


@pytest.mark.parametrize(("variables", "arguments", "expected"), CONNECTIONS)
def test_each_setting_comes_from_the_first_place_that_has_it(
    environment, variables, arguments, expected
):
    """Arguments win over the environment, and that over the profile; the repr names the place."""
    save_profile("prod", PROD)
    environment(variables)
    client = ck.connect(**arguments)
    assert {name: getattr(client, name) for name in expected} == expected
    assert "hunter2" not in repr(client)
    key = "secret_key"
    named = arguments.get("profile") or (
        variables.get("profile") == "prod" and key not in variables
    )
    place = "argument" if key in arguments else "profile prod" if named else "CONFKIT_SECRET_KEY"
    assert f"secret_key=*** ({place})" in repr(client)


# What is refused


def refused(match, *profile, **settings):
    """The ConfigError of a call; neither it nor the locals of its traceback show the secret."""
    with pytest.raises(ck.ConfigError, match=match) as raised:
        ck.connect(*profile, **settings)
    frames = [repr(entry.frame.f_locals) for entry in raised.traceback[1:]]
    assert "hunter2" not in f"{raised.value} {frames}"
    return raised.value


@pytest.mark.parametrize("name", SERVICE)
def test_a_missing_setting_is_named_with_three_ways_to_give_it(environment, name):
    others = {other: value for other, value in SERVICE.items() if other != name}
    save_profile("prod", others)
    refused(f"missing in profile 'prod': {name}", "prod")
    environment(others)
    ways = rf"connect\({name}=.*{VARIABLES[name]}=.*confkit profile add"
    assert refused(f"missing: {name}.*{ways}").missing == (name,)


URL, EMPTY, BUNDLE = "is not a valid URL", "empty or not text", "certificate"
WRONG = [  # a setting, its value, and the problem
    *(("base_url", url, URL) for url in ("h:8080", "ftp://h", "http://", "http://h/?a=b")),
    *(("outgoing_url", "http://h:0", URL), ("base_url", LOGIN, "contains a login")),
    *(("secret_key", value, EMPTY) for value in (b"hunter2", "  ", 1)),
    ("access_key", "", EMPTY),
    *(("timeout", value, "") for value in (0, float("inf"), (1, 2, 3), True)),
    *(("max_rate", 0, ""), ("read_only", "perhaps", ""), ("read_only", 2, "")),
    *(("verify", "/nowhere/ca.pem", BUNDLE), ("verify", 3, BUNDLE)),
    *(("dialect", "hash", "has no value"), ("dialect", 3, "Dialect")),
]


@pytest.mark.parametrize(("name", "value", "problem"), WRONG)
def test_a_wrong_argument_is_refused_when_connecting(name, value, problem):
    """The error names the setting, the problem, where it came from and what to do."""
    refused(rf"{name}.*{problem}.*\(from argument\).*[A-Z]\w+ .*", **{**SERVICE, name: value})


@pytest.mark.parametrize(
    ("variables", "match"),
    [
        ({"timeout": "soon"}, "timeout is .*CONFKIT_TIMEOUT"),
        ({"read_only": "perhaps"}, "read_only is .*from CONFKIT_READ_ONLY"),
        ({"dialect": "hash=x"}, "dialect.*from CONFKIT_DIALECT"),
        ({"base_url": LOGIN}, "base_url contains a login.*from CONFKIT_BASE_URL"),
        ({"profile": "prod"}, "two services.*CONFKIT_PROFILE=prod and CONFKIT_BASE_URL"),
    ],
)
def test_a_wrong_variable_is_refused(environment, variables, match):
    environment({**SERVICE, **variables})
    refused(match)


PROFILES = {  # the text of the file, and the error
    "[prod\nsecret_key = 'hunter2'": "cannot be read as TOML",
    "prod = 3\nsecret_key = 'hunter2'": "every profile must be a table",
    "[x2]\n['a b']": "no profile 'prod' in .*profiles.toml.*sandbox, a b, x2.*add prod",
    "[prod]\nread_only = 'maybe'\n{}": "read_only is 'maybe'.*from profile prod",
    "[prod]\ndialect = 3\n{}": "Dialect.*from profile prod",
    "[prod]\nmax_rate = 'fast'\n{}": "max_rate.*from profile prod",
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
    odd = {**PROD, "secret_key": "\"\\\n\t\x7f\x01'é😀#", "verify": False}
    save_profile("o.dd-é", odd)
    file = save_profile("prod", SERVICE)
    assert tomllib.loads(file.read_text("utf-8")) == {"o.dd-é": odd, "prod": SERVICE}
    assert profile_names() == ["sandbox", "o.dd-é", "prod"]
    for name in ("sandbox", "", "a/b", "a\nb"):
        with pytest.raises(ck.ConfigError, match=r"profile name|built in"):
            save_profile(name, SERVICE)
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o644)
        with pytest.warns(UserWarning, match=f"chmod 600 {re.escape(str(file))}"):
            ck.connect("prod")


def test_the_embedded_sandbox_is_one_per_process_and_ends_with_its_last_client(environment):
    """Whatever service the environment names; one that ended is replaced by a new one."""
    environment({"secret_key": "other", "base_url": OTHER, "dialect": "hash=sha256"})
    first, second = ck.connect("sandbox"), ck.connect("sandbox", read_only=True)
    assert first.sandbox is second.sandbox
    assert (first.name, first.dialect) == ("SANDBOX", ck.Dialect())
    room_id = ck.create_room(first, "Weekly sync", "ops")
    with pytest.raises(ck.ReadOnlyError):
        ck.delete_room(second, room_id)
    first.close()
    first.close()  # which counts once
    assert ck.get_room(second, room_id).topic == "Weekly sync"
    second.close()
    third = ck.connect("sandbox")
    assert (first.sandbox.closed, third.sandbox is first.sandbox) == (True, False)
    third.sandbox.close()  # its owner may end it too
    with ck.connect("sandbox") as fourth:
        third.close()  # which concerns its own sandbox alone
        assert ck.get_room(fourth, ck.create_room(fourth, "Works", "ops")).topic == "Works"
    refused("has its own base_url, dialect", "sandbox", base_url=OTHER, dialect=ck.Dialect())
