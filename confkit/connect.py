"""From a name, arguments or the environment to a client; every value keeps where it came from."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import profiles
from .client import Client
from .errors import ConfigError
from .secret import Secret, guard, hidden_address

if TYPE_CHECKING:
    from .dialect import Dialect
    from .sandbox import Sandbox

SERVICE = ("base_url", "outgoing_url", "access_key", "secret_key")
CAMERA_PASSWORD = "CONFKIT_CAMERA_PASSWORD"  # noqa: S105  # the variable's name
VARIABLES = {
    **{name: f"CONFKIT_{name.upper()}" for name in (*SERVICE, "dialect", "timeout", "read_only")},
    "verify": "CONFKIT_CA_BUNDLE",
}
OF_A_SERVICE = tuple(VARIABLES[name] for name in (*SERVICE, "dialect"))  # a named one has its own

_embedded: dict[int, Sandbox] = {}  # by process: the one sandbox of connect("sandbox")
_starting = threading.Lock()


class Setting(NamedTuple):
    """A value and where it came from; its repr tells the origin alone."""

    value: Any
    origin: str

    def __repr__(self) -> str:
        return f"Setting(from {self.origin})"

    def __sentry_repr__(self) -> str:  # Sentry would go through the fields of a tuple
        return repr(self)


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
    """Make a client for the service that the arguments, the environment or a profile name.

    Arguments win over the environment (CONFKIT_BASE_URL, ...), and that over the profile that
    CONFKIT_PROFILE names. A profile named here is explicit: the environment's addresses, keys and
    dialect are then not looked at. "sandbox" is the embedded service, one in a process, steered by
    `client.sandbox` and ended by `client.close()`. Defaults: timeout (5, 10) seconds to connect and
    to read, verify True, read_only False, no max_rate (requests per second). No request is sent
    yet. ConfigError names what is missing and the three ways to give it.
    """
    # Hidden first: a traceback shows locals.
    secret_key = Secret(secret_key) if secret_key is not None else None
    base_url = hidden_address(base_url) if isinstance(base_url, str) else base_url
    outgoing_url = hidden_address(outgoing_url) if isinstance(outgoing_url, str) else outgoing_url
    given = {
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
    arguments = {
        name: Setting(value, "argument") for name, value in given.items() if value is not None
    }
    name = profile or _named_by_environment(arguments)
    explicit = profile is not None or name == profiles.EMBEDDED
    environment = _environment(without=(*SERVICE, "dialect") if explicit else ())
    if name == profiles.EMBEDDED:
        return _sandbox_client(arguments, environment)
    return _client(name, {**(_profile(name) if name else {}), **environment, **arguments})


def connect_outside(profile: str | None) -> Client:
    """Connect to a service that runs outside this process; ConfigError for the embedded one."""
    client = connect(profile)
    if client.sandbox is None:
        return client
    client.close()
    raise ConfigError(
        "the embedded sandbox lives in the process that uses it, so a command finds none of its "
        "rooms",
        "Run `confkit sandbox` and set CONFKIT_BASE_URL and CONFKIT_OUTGOING_URL to it, or "
        "name another profile.",
    )


def ask_secret(question: str = "Password: ", *, variable: str = CAMERA_PASSWORD) -> Secret:
    """Return what somebody types, without showing it: in a notebook or terminal, or from a pipe.

    ConfigError where nobody can be asked; it names `variable`, in which commands look for it.
    """
    import getpass

    # Jupyter puts its own question in getpass's place.
    attended = getpass.getpass.__module__ != "getpass"
    try:
        if attended or (sys.stdin and sys.stdin.isatty()):
            return Secret(getpass.getpass(question))
        line = sys.stdin.readline() if sys.stdin else ""
    except (EOFError, OSError, ValueError, NotImplementedError):
        line = ""  # closed, or a front end without it
    if not line:
        raise ConfigError(
            f"nobody can be asked here ({question.rstrip(': ')})",
            f"Set {variable} in the environment, or run this where somebody can type.",
        )
    return Secret(line.rstrip("\r\n"))


def seconds(text: str, name: str) -> float | tuple[float, float]:
    """The time-out in a text: seconds, or seconds to connect and to read; ConfigError for others,
    under the name of what held the text."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise ConfigError(
            f"{name} is {text!r}",
            "Give seconds, such as 10, or seconds to connect and to read, such as 5,10.",
        )
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def stripped(name: str, setting: Setting) -> str:
    """The value without white space around it, which a warning then tells; never empty."""
    if not isinstance(setting.value, str):
        raise ConfigError(f"{name} (from {setting.origin}) is not a text")
    plain = setting.value.strip()
    if name.endswith("_url"):
        plain = hidden_address(plain)
    elif name == "secret_key":
        plain = Secret(plain)
    if not plain:
        raise ConfigError(f"{name} (from {setting.origin}) is empty")
    if plain != setting.value:
        warnings.warn(
            f"white space around {name} (from {setting.origin}) was removed", stacklevel=4
        )
    return plain


# What an argument leaves open: the environment, then a profile


def _named_by_environment(arguments: Mapping[str, Setting]) -> str | None:
    """The profile that CONFKIT_PROFILE names, unless the arguments name the service."""
    name = os.environ.get("CONFKIT_PROFILE")
    if not name or not arguments.keys().isdisjoint(SERVICE[:2]):
        return None
    addresses = [VARIABLES[n] for n in SERVICE[:2] if os.environ.get(VARIABLES[n])]
    if addresses:
        raise ConfigError(
            f"two services are named: CONFKIT_PROFILE={name} and {' and '.join(addresses)}",
            "Unset one of them, or name a profile in the call: connect(NAME).",
        )
    return name


def _environment(without: tuple[str, ...]) -> dict[str, Setting]:
    """What the environment says, and that it can be read, also where a profile goes before it."""
    readers = {"timeout": seconds, "read_only": _yes_or_no, "dialect": _dialect}
    found = {}
    for name, variable in VARIABLES.items():
        if text := os.environ.get(variable):
            value = readers[name](text, variable) if name in readers else guard(text, name)
            found[name] = Setting(value, variable)
    return {name: setting for name, setting in found.items() if name not in without}


def _yes_or_no(text: str, variable: str) -> bool:
    word = text.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ConfigError(f"{variable} is {text!r}", "Give 1 or 0")


def _dialect(text: str, variable: str) -> Dialect:
    from .dialect import Dialect

    try:
        return Dialect.parse(text)
    except ConfigError as error:
        raise error.again(problem=f"{variable}: {error.problem}") from None


def _profile(name: str) -> dict[str, Setting]:
    from .dialect import Dialect

    settings = profiles.load(name)
    if "dialect" in settings:
        settings["dialect"] = Dialect.of(settings["dialect"])
    if isinstance(settings.get("timeout"), list):
        settings["timeout"] = tuple(settings["timeout"])
    return {key: Setting(value, f"profile {name}") for key, value in settings.items()}


def _client(name: str | None, settings: Mapping[str, Setting]) -> Client:
    missing = [key for key in SERVICE if key not in settings]
    if missing:
        are, them = ("are", "them") if len(missing) > 1 else ("is", "it")
        where = f" in profile {name!r}" if name else ""
        raise ConfigError(
            f"no service is named: {', '.join(missing)} {are} missing{where}",
            f"Three ways to give {them}: as an argument, connect({missing[0]}=...); in the "
            f"environment, {VARIABLES[missing[0]]}=...; or in a profile, `confkit profile add "
            'NAME` and connect("NAME"). connect("sandbox") is a service to try things on.',
        )
    values = {key: setting.value for key, setting in settings.items()}
    for key in SERVICE:
        values[key] = stripped(key, settings[key])
    verify = values.get("verify")
    if isinstance(verify, str) and not Path(verify).exists():
        raise ConfigError(
            f"the certificate bundle {verify!r} (from {settings['verify'].origin}) does not exist"
        )
    origins = {key: setting.origin for key, setting in settings.items()}
    return Client(**values, name=name, origins=origins)


# The embedded service


def _sandbox_client(arguments: Mapping[str, Setting], environment: Mapping[str, Setting]) -> Client:
    contradicting = [name for name in (*SERVICE, "dialect") if name in arguments]
    if contradicting:
        raise ConfigError(
            f'connect("sandbox") has its own {", ".join(contradicting)}',
            "Leave them out, or make a sandbox of another kind: Sandbox(dialect=...).",
        )
    settings = {**environment, **arguments}
    settings.pop("verify", None)
    options = {name: setting.value for name, setting in settings.items()}
    sandbox = _the_sandbox()
    client: Client = sandbox.connect(**options, on_close=lambda: _end(sandbox))
    return client


def _the_sandbox() -> Sandbox:
    """The process's own sandbox. Seeded, so that what notebooks show repeats; on loopback only."""
    try:
        from .sandbox import Sandbox
    except ModuleNotFoundError as error:
        raise ConfigError(str(error)) from None
    with _starting:
        sandbox = _embedded.get(os.getpid())
        if sandbox is None or sandbox.closed:  # its owner may have closed it as well
            sandbox = _embedded[os.getpid()] = Sandbox(seed=7).start()
        return sandbox


def _end(sandbox: Sandbox) -> None:
    with _starting:
        if _embedded.get(os.getpid()) is sandbox:
            del _embedded[os.getpid()]
    sandbox.close()
