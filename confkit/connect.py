"""Connect: settings from arguments, the environment and a profile, in that order of precedence."""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .client import Client, base_address, check_rate, check_timeout
from .dialect import Dialect
from .errors import ConfigError
from .secret import Secret, SecretAddress, reveal
from .text import write_atomically

if TYPE_CHECKING:
    from .sandbox import Sandbox

_ADDRESSES = ("base_url", "outgoing_url")
SERVICE = (*_ADDRESSES, "access_key", "secret_key")
OWN = (*SERVICE, "dialect")  # never taken from the environment if the call names a profile
VARIABLES = {
    **{name: f"CONFKIT_{name.upper()}" for name in (*OWN, "timeout", "read_only")},
    "verify": "CONFKIT_CA_BUNDLE",
}
SETTINGS = (*VARIABLES, "max_rate")
CAMERA_PASSWORD = "CONFKIT_CAMERA_PASSWORD"  # noqa: S105  # the variable's name
EMBEDDED = "sandbox"  # the built-in profile


def connect(
    profile: str | None = None,
    *,
    base_url: str | None = None,
    outgoing_url: str | None = None,
    access_key: str | None = None,
    secret_key: str | Secret | None = None,
    dialect: Dialect | None = None,
    timeout: float | tuple[float, float] | None = None,
    read_only: bool | None = None,
    verify: bool | str | None = None,
    max_rate: float | None = None,
) -> Client:
    """Return a client for the service given by arguments, the environment or a profile.

    Arguments override the environment (CONFKIT_BASE_URL, ...), and the environment overrides the
    profile named by CONFKIT_PROFILE. For a profile named here the environment's addresses, keys and
    dialect are ignored. "sandbox" is the embedded service, one per process, controlled by
    `client.sandbox`; it stops when its last client is closed. Defaults: timeout (5, 10) seconds to
    connect and to read, verify True, read_only False, no max_rate (requests per second). No request
    is sent. ConfigError names the missing settings and how to set them, or the invalid one and its
    origin.
    """
    arguments = {
        key: (_hidden(key, value), "argument")
        for key, value in locals().items()  # so far only the parameters
        if key != "profile" and value is not None
    }
    del base_url, outgoing_url, secret_key  # a traceback shows the locals
    name = profile or ""
    if not name and not any(address in arguments for address in _ADDRESSES):
        name = os.environ.get("CONFKIT_PROFILE", "")
        variables = [VARIABLES[each] for each in _ADDRESSES if os.environ.get(VARIABLES[each])]
        if name and variables:  # the profile's keys would be sent there
            raise ConfigError(
                f"two services are named: CONFKIT_PROFILE={name} and {' and '.join(variables)}",
                "Unset one of them, or name the profile in the call: connect(NAME).",
            )
    ignored = OWN if profile or name == EMBEDDED else ()
    environment = {
        key: (_hidden(key, os.environ[variable]), variable)
        for key, variable in VARIABLES.items()
        if os.environ.get(variable) and key not in ignored
    }
    if name == EMBEDDED:
        return _sandbox_client({**environment, **arguments})
    profiles = load_profiles() if name else {"": {}}
    if name not in profiles:
        raise ConfigError(
            f"there is no profile {name!r} in {profiles_path()}",
            f"Known: {', '.join((EMBEDDED, *sorted(profiles)))}. "
            f"`confkit profile add {name}` makes it.",
        )
    profiled = {key: (value, f"profile {name}") for key, value in profiles[name].items()}
    settings = {**profiled, **environment, **arguments}
    checked = {key: check_setting(key, *setting) for key, setting in settings.items()}
    if missing := tuple(key for key in SERVICE if key not in settings):
        first, where = missing[0], f" in profile {name!r}" if name else ""
        error = ConfigError(
            f"no service is configured; missing{where}: {', '.join(missing)}",
            f"Set {first} in one of three ways: connect({first}=...); {VARIABLES[first]}=... in "
            'the environment; a profile, `confkit profile add NAME` and connect("NAME") or '
            '--profile NAME. To try things out, use connect("sandbox") or `confkit sandbox`.',
        )
        error.missing = missing
        raise error
    origins = {key: origin for key, (_, origin) in settings.items()}
    return Client(**checked, name=name, origins=origins)


def check_setting(name: str, value: Any, origin: str) -> Any:
    """Return a setting as a client takes it; it may be text, as in a variable.

    ConfigError names the problem and the setting's origin."""
    value = _hidden(name, value)
    try:
        return _read(name, value)
    except ConfigError as error:
        raise error.again(problem=f"{error.problem} (from {origin})") from None


def _read(name: str, value: Any) -> Any:
    if name in SERVICE:
        if not value or not isinstance(reveal(value), str):
            raise ConfigError(f"{name} is empty or not text", "Copy it from the provider as it is.")
        return base_address(value, name) if name in _ADDRESSES else value
    if name == "dialect":
        return Dialect.of(value)
    if name == "timeout":
        if isinstance(value, str):
            with suppress(ValueError):  # other text is rejected below
                numbers = [float(part) for part in value.strip("()[]").split(",")]
                value = numbers if len(numbers) > 1 else numbers[0]
        return check_timeout(value)
    if name == "max_rate":
        return check_rate(value)
    if name == "read_only":
        if (flag := str(value).lower()) in ("1", "true", "0", "false"):
            return flag in ("1", "true")
        raise ConfigError(f"read_only is {value!r}", "Use True or False, 1 or 0.")
    if name == "verify":
        return value if isinstance(value, bool) else str(Path(value).expanduser())
    raise ConfigError(f"unknown setting {name!r}", f"The settings are {', '.join(SETTINGS)}.")


def _hidden(name: str, value: Any) -> Any:
    """Return a setting without white space around it, and with any secret in it hidden: a traceback
    shows the locals."""
    value = reveal(value)
    value = value.strip() if isinstance(value, str) else value
    if value is None or (name in SETTINGS and name not in (*_ADDRESSES, "secret_key")):
        return value
    # An address without :// may be a key in the wrong field; an unknown name may be misspelt.
    is_address = name in _ADDRESSES and isinstance(value, str) and "://" in value
    return SecretAddress(value) if is_address else Secret(value)


# Profiles: named services in a TOML file that only its owner may read


def profiles_path() -> Path:
    """Return the file of the profiles: `profiles.toml` in the user's configuration folder."""
    import platformdirs

    return Path(platformdirs.user_config_dir("confkit", appauthor=False)) / "profiles.toml"


def save_profile(name: str, settings: Mapping[str, Any]) -> Path:
    """Write a profile, and return the file, which only its owner may read (mode 0600).

    ConfigError if the name is not allowed or the file cannot be read or written."""
    if name == EMBEDDED:
        raise ConfigError('"sandbox" is the embedded service, which is built in')
    file, lines = profiles_path(), list[str]()
    for each, stored in {**load_profiles(), name: settings}.items():
        lines += [f"[{json.dumps(each)}]", *(f"{key} = {_toml(stored[key])}" for key in stored), ""]
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(file, "\n".join(lines).encode(), private=True)
    except OSError as error:  # whose traceback contains the data
        raise ConfigError(
            f"{file} cannot be written ({error.strerror})",
            "Free some space, or set HOME or XDG_CONFIG_HOME to a folder that you can write to.",
        ) from error.with_traceback(None)
    return file


def load_profiles() -> dict[str, dict[str, Any]]:
    """Return the settings of all profiles, secrets hidden; ConfigError if the file is not right."""
    import tomllib

    file = profiles_path()
    try:
        if os.name == "posix" and file.stat().st_mode & 0o077:
            warnings.warn(f"{file} can be read by others; run: chmod 600 {file}", stacklevel=2)
        return {
            profile: {key: _hidden(key, value) for key, value in settings.items()}
            for profile, settings in tomllib.loads(file.read_text("utf-8-sig")).items()
        }
    except FileNotFoundError:
        return {}
    except (AttributeError, OSError, ValueError) as error:
        problem = f"cannot be read as TOML with a table for each profile, such as [prod] ({error})"
    # Raised here, where no traceback contains the text of the file.
    raise ConfigError(f"{file} {problem}", "Correct the file.")


def _toml(value: Any) -> str:
    """Return a value as TOML, which differs from JSON only in tables and DEL."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(value[key])}" for key in value) + "}"
    return json.dumps(reveal(value), ensure_ascii=False).replace("\x7f", "\\u007f")


# The embedded service

_starting = threading.Lock()
# With its open clients; those that were garbage-collected do not count.
_embedded: list[tuple[Sandbox, WeakSet[Client]]] = []


def _sandbox_client(settings: Mapping[str, tuple[Any, str]]) -> Client:
    """Return a client of the process's sandbox, which is seeded, so that notebooks are
    reproducible."""
    from .sandbox import Sandbox

    if own := [name for name in OWN if name in settings]:
        raise ConfigError(
            f'connect("sandbox") has its own {", ".join(own)}',
            "Omit that, or create a sandbox of another kind: "
            "confkit.sandbox.Sandbox(dialect=...).start().connect().",
        )
    options = {name: check_setting(name, *settings[name]) for name in settings}
    with _starting:
        if not _embedded or _embedded[0][0].closed:
            _embedded[:] = [(Sandbox(seed=7).start(), WeakSet())]
        sandbox, clients = _embedded[0]

        def release() -> None:
            with _starting:
                clients.discard(client)
                if not clients:
                    sandbox.close()

        client: Client = sandbox.connect(**options, on_close=release)
        clients.add(client)
    return client


def ask_secret(question: str = "Password: ", *, variable: str = CAMERA_PASSWORD) -> Secret:
    """Prompt for a secret without showing it: in a notebook, a terminal or from a pipe.

    ConfigError if no prompt is possible; it names `variable`, which commands read instead.
    """
    import getpass

    # Suppressed: no or a closed standard input, or a front end that cannot prompt.
    with suppress(AttributeError, EOFError, OSError, ValueError, NotImplementedError):
        if getpass.getpass.__module__ != "getpass" or sys.stdin.isatty():  # Jupyter replaces it
            return Secret(getpass.getpass(question))
        if line := sys.stdin.readline():
            return Secret(line.rstrip("\r\n"))
    raise ConfigError(
        f"cannot prompt for {question.rstrip(': ')!r}: not a terminal",
        f"Set {variable} in the environment, or run this in a terminal or a notebook.",
    )
