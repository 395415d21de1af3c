"""From arguments, the environment and a profile to a client, in that order of precedence."""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .client import Client, base_address, checked_rate, hidden_address
from .dialect import Dialect
from .errors import ConfigError
from .secret import Secret
from .text import write_atomically
from .transport import checked_timeout

if TYPE_CHECKING:
    from .sandbox import Sandbox

SERVICE = ("base_url", "outgoing_url", "access_key", "secret_key")
OWN = (*SERVICE, "dialect")  # what a profile that is named in the call has for itself
VARIABLES = {
    **{name: f"CONFKIT_{name.upper()}" for name in (*OWN, "timeout", "read_only")},
    "verify": "CONFKIT_CA_BUNDLE",
}
SETTINGS = (*VARIABLES, "max_rate")
CAMERA_PASSWORD = "CONFKIT_CAMERA_PASSWORD"  # noqa: S105  # the variable's name
EMBEDDED = "sandbox"  # the profile that every installation has

Settings = Mapping[str, tuple[Any, str]]  # by name: the value, and where it came from


def connect(
    profile: str | None = None,
    *,
    base_url: str | None = None,
    outgoing_url: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
    dialect: Dialect | None = None,
    timeout: float | tuple[float, float] | None = None,
    read_only: bool | None = None,
    verify: bool | str | None = None,
    max_rate: float | None = None,
) -> Client:
    """Return a client for the service that the arguments, the environment or a profile name.

    Arguments win over the environment (CONFKIT_BASE_URL, ...), and the environment wins over the
    profile that CONFKIT_PROFILE names. A profile named here is explicit: the environment's
    addresses, keys and dialect are ignored. "sandbox" is the embedded service, one per process,
    steered by `client.sandbox`; it ends when its last client is closed. Defaults: timeout (5, 10)
    seconds to connect and to read, verify True, read_only False, no max_rate (requests per
    second). No request is sent. ConfigError names the setting that is missing or wrong, where it
    came from, and the ways to give it.
    """
    # Hidden before anything can fail: a traceback may show locals.
    secret_key = _hidden("secret_key", secret_key)
    base_url, outgoing_url = _hidden("base_url", base_url), _hidden("outgoing_url", outgoing_url)
    arguments = {
        "base_url": base_url,
        "outgoing_url": outgoing_url,
        "access_key": access_key,
        "secret_key": secret_key,
        "dialect": dialect,
        "timeout": timeout,
        "read_only": read_only,
        "verify": verify,
        "max_rate": max_rate,
    }
    settings = {key: (value, "argument") for key, value in arguments.items() if value is not None}
    name = profile or _profile_of_environment(settings)
    ignored = OWN if profile or name == EMBEDDED else ()
    environment = {
        key: (_hidden(key, os.environ[variable]), variable)
        for key, variable in VARIABLES.items()
        if os.environ.get(variable) and key not in ignored
    }
    if name == EMBEDDED:
        return _sandbox_client({**environment, **settings})
    stored = load_profile(name) if name else {}
    profiled = {key: (value, f"profile {name}") for key, value in stored.items()}
    return client_of({**profiled, **environment, **settings}, name)


def client_of(settings: Settings, profile: str | None = None) -> Client:
    """Return a client with these settings, named after the profile.

    ConfigError names a setting that is missing or wrong."""
    missing = [name for name in SERVICE if name not in settings]
    if missing:
        where = f" in profile {profile!r}" if profile else ""
        error = ConfigError(
            f"no service is configured; missing{where}: {', '.join(missing)}",
            f"Three ways to give {missing[0]}: {_ways(missing[0])}. "
            'connect("sandbox") is a service to try things on.',
        )
        error.missing = tuple(missing)
        raise error
    values = {name: check_setting(name, *setting) for name, setting in settings.items()}
    origins = {name: origin for name, (_, origin) in settings.items()}
    return Client(**values, name=profile, origins=origins)


def check_setting(name: str, value: Any, origin: str) -> Any:
    """Return a setting as a client takes it, read from text if it is a variable's.

    ConfigError says what is wrong with it, where it came from and the ways to give it."""
    try:
        if origin in VARIABLES.values():
            value = _parsed(name, value)
        if name in SERVICE:
            if not isinstance(value, str) or not value.strip():
                raise ConfigError(f"{name} is empty or not a text")
            if value != value.strip():
                value = _hidden(name, value.strip())
                warnings.warn(
                    f"white space around {name} (from {origin}) was removed", stacklevel=2
                )
        if name.endswith("_url"):
            return base_address(value, name)
        if name == "timeout":
            return checked_timeout(value)
        if name == "max_rate":
            return checked_rate(value)
        if name == "dialect" and not isinstance(value, Dialect):
            return Dialect.of(value)
        if name == "read_only" and not isinstance(value, bool):
            raise ConfigError(
                f"read_only is {value!r}", "Give True or False; in a variable, 1 or 0."
            )
        bundle = isinstance(value, str) and Path(value).exists()
        if name == "verify" and not (bundle or isinstance(value, bool)):
            raise ConfigError(f"verify is {value!r}, not a certificate bundle, True or False")
    except ConfigError as error:
        raise error.again(
            problem=f"{error.problem} (from {origin})",
            advice=f"{error.advice.rstrip('.')}. To give it: {_ways(name)}.".removeprefix(". "),
        ) from None
    return value


def _parsed(name: str, text: str) -> Any:
    """Return the value of a variable's text."""
    if name == "dialect":
        return Dialect.parse(text)
    if name == "timeout":
        try:
            seconds = [float(part) for part in text.split(",")]
        except ValueError:
            advice = "Give seconds, or seconds to connect and to read, such as 5,10."
            raise ConfigError(f"timeout is {text!r}", advice) from None
        return seconds if len(seconds) > 1 else seconds[0]
    if name == "read_only" and text.strip().lower() in ("1", "true", "yes", "on"):
        return True
    if name == "read_only" and text.strip().lower() in ("0", "false", "no", "off"):
        return False
    return text


def _ways(name: str) -> str:
    variable = f"in the environment, {VARIABLES[name]}=...; " if name in VARIABLES else ""
    return (
        f'as an argument, connect({name}="..."); {variable}or in a profile, `confkit profile add '
        'NAME` and connect("NAME")'
    )


def _hidden(name: str, value: Any) -> Any:
    """Return a setting that is or may hold a secret as a text whose repr does not show it."""
    if name.endswith("_url") and isinstance(value, str):
        return hidden_address(value)
    if value is not None and (name == "secret_key" or name not in SETTINGS):
        return Secret(value if isinstance(value, str) else "")  # what is not text is refused
    return value


def _profile_of_environment(arguments: Settings) -> str | None:
    """Return the profile that CONFKIT_PROFILE names, unless the arguments name the service.

    ConfigError if the environment names an address too: a profile's keys would go there."""
    name = os.environ.get("CONFKIT_PROFILE")
    if not name or "base_url" in arguments or "outgoing_url" in arguments:
        return None
    variables = (VARIABLES["base_url"], VARIABLES["outgoing_url"])
    if addresses := [variable for variable in variables if os.environ.get(variable)]:
        raise ConfigError(
            f"two services are named: CONFKIT_PROFILE={name} and {' and '.join(addresses)}",
            "Unset one of them, or name a profile in the call: connect(NAME).",
        )
    return name


# Profiles: named services in a file of TOML that only its owner may read


def profiles_path() -> Path:
    """Return the file that holds the profiles: `profiles.toml` in the user's configuration."""
    import platformdirs

    return Path(platformdirs.user_config_dir("confkit", appauthor=False)) / "profiles.toml"


def profile_names() -> list[str]:
    """Return the names of all profiles, the embedded sandbox's first."""
    return [EMBEDDED, *sorted(_stored())]


def load_profile(name: str) -> dict[str, Any]:
    """Return the settings of a profile; ConfigError if there is none, or one of them is wrong."""
    profiles = {
        profile: {key: _hidden(key, value) for key, value in settings.items()}
        for profile, settings in _stored().items()
    }
    if name not in profiles:
        raise ConfigError(
            f"there is no profile {name!r} in {profiles_path()}",
            f"There are {', '.join([EMBEDDED, *sorted(profiles)])}. "
            f"`confkit profile add {name if name.isprintable() else 'NAME'}` makes it.",
        )
    if unknown := [key for key in profiles[name] if key not in SETTINGS]:
        raise ConfigError(
            f"profile {name!r} has an unknown setting {unknown[0]!r}",
            f"There are {', '.join(SETTINGS)}. Correct it in {profiles_path()}.",
        )
    return profiles[name]


def save_profile(name: str, settings: Mapping[str, Any]) -> Path:
    """Write a profile and return the file, which only its owner may read (mode 0600).

    ConfigError if the name is not allowed or the file cannot be read or written."""
    check_profile_name(name)
    if reason := _write({**_stored(), name: dict(settings)}):
        raise ConfigError(
            f"{profiles_path()} cannot be written ({reason})",
            "Free space, or set HOME or XDG_CONFIG_HOME to a folder of yours.",
        )
    return profiles_path()


def check_profile_name(name: str) -> None:
    """Raise ConfigError for a name that no profile may have."""
    if name == EMBEDDED:
        raise ConfigError('"sandbox" is the embedded service, which is built in')
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise ConfigError(f"profile name {name!r}: use letters, digits, '-', '_' and '.'")


def _stored() -> dict[str, dict[str, Any]]:
    import tomllib

    file, problem, stored = profiles_path(), "", {}
    try:
        stored = tomllib.loads(file.read_text("utf-8"))
        if os.name == "posix" and file.stat().st_mode & 0o077:
            warnings.warn(f"{file} can be read by others; run: chmod 600 {file}", stacklevel=2)
        if not all(isinstance(settings, dict) for settings in stored.values()):
            problem, stored = "every profile is a table, such as [prod]", {}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except tomllib.TOMLDecodeError as error:
        problem = f"it is not TOML ({error})"
    except (OSError, UnicodeDecodeError) as error:
        problem = f"it cannot be read ({error})"
    if problem:  # raised here, where no traceback holds the text of the file, with its secrets
        raise ConfigError(f"{file}: {problem}", "Correct the file.")
    return stored


def _write(profiles: Mapping[str, Mapping[str, Any]]) -> str:
    """Write all profiles, and return the reason if that fails: this frame holds their secrets."""
    tables = []
    for name, settings in profiles.items():
        lines = [f"{setting} = {_toml(value)}\n" for setting, value in settings.items()]
        tables.append("".join([f"[{json.dumps(name)}]\n", *lines]))
    try:
        profiles_path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(profiles_path(), "\n".join(tables).encode(), private=True)
    except OSError as error:
        return error.strerror or "it is not a file"
    return ""


def _toml(value: Any) -> str:
    """JSON writes texts, numbers, booleans and lists as TOML does, but for tables and DEL."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(value[key])}" for key in value) + "}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# The embedded service

_starting = threading.Lock()
# By process, with its open clients; one that nobody holds any more is not waited for.
_embedded: dict[int, tuple[Sandbox, WeakSet[Client]]] = {}


def _sandbox_client(settings: Settings) -> Client:
    """Return a client of the process's sandbox, which is seeded, so that notebooks repeat."""
    from .sandbox import Sandbox

    if own := [name for name in OWN if name in settings]:
        raise ConfigError(
            f'connect("sandbox") has its own {", ".join(own)}',
            "Leave them out, or make a sandbox of another kind: Sandbox(dialect=...).",
        )
    options = {name: check_setting(name, *settings[name]) for name in settings if name != "verify"}
    with _starting:
        sandbox, clients = _embedded.get(os.getpid(), (None, WeakSet()))
        if sandbox is None or sandbox.closed:
            sandbox, clients = Sandbox(seed=7).start(), WeakSet()
            _embedded[os.getpid()] = sandbox, clients

        def leave() -> None:
            with _starting:
                clients.discard(client)
                if not clients:
                    sandbox.close()

        client: Client = sandbox.connect(**options, on_close=leave)
        clients.add(client)
    return client


def ask_secret(question: str = "Password: ", *, variable: str = CAMERA_PASSWORD) -> Secret:
    """Return what somebody types, without showing it: in a notebook, a terminal or from a pipe.

    ConfigError if nobody can be asked; it names `variable`, which commands read instead.
    """
    import getpass

    interactive = getpass.getpass.__module__ != "getpass"  # Jupyter puts its own in its place
    try:
        if interactive or (sys.stdin and sys.stdin.isatty()):
            return Secret(getpass.getpass(question))
        line = sys.stdin.readline() if sys.stdin else ""
    except (EOFError, OSError, ValueError, NotImplementedError):
        line = ""  # closed, or a front end that cannot ask
    if not line:
        raise ConfigError(
            f"cannot prompt for {question.rstrip(': ')!r}: not a terminal",
            f"Set {variable} in the environment, or run this in a terminal or a notebook.",
        )
    return Secret(line.rstrip("\r\n"))
