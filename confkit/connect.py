"""From a name, arguments or the environment to a client: a row for each setting, and where its
value came from."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import profiles
from .client import Client, base_address, checked_rate, hidden_address
from .dialect import Dialect
from .errors import ConfigError
from .secret import Secret, guard
from .transport import timeouts

if TYPE_CHECKING:
    from .sandbox import Sandbox

OWN = ("base_url", "outgoing_url", "access_key", "secret_key", "dialect")  # of a named service
SERVICE = OWN[:4]
CAMERA_PASSWORD = "CONFKIT_CAMERA_PASSWORD"  # noqa: S105  # the variable's name

_embedded: dict[int, Sandbox] = {}  # by process: the one sandbox of connect("sandbox")
_starting = threading.Lock()


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
    yet. ConfigError names the setting that is missing or wrong, and the ways to give it.
    """
    # Hidden first: a traceback shows locals.
    secret_key = Secret(secret_key) if secret_key is not None else None
    base_url = hidden_address(base_url) if isinstance(base_url, str) else base_url
    outgoing_url = hidden_address(outgoing_url) if isinstance(outgoing_url, str) else outgoing_url
    values = {
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
    arguments = Source("argument", values)
    name = profile or _named_by_environment(arguments)
    named = profile is not None or name == profiles.EMBEDDED
    sources = [arguments, *_environment(named)]
    if name == profiles.EMBEDDED:
        return _sandbox_client(sources)
    if name:
        sources.append(Source(f"profile {name}", profiles.load(name)))
    return client_of(sources, name)


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


@dataclass(frozen=True, slots=True)
class Source:
    """Settings that were given in one place, and what people call it; its repr shows no value."""

    name: str
    values: Mapping[str, Any] = field(repr=False)


class Setting(NamedTuple):
    """How a setting is checked and, where the environment can hold it, its variable and how that
    is read."""

    check: Callable[[Any], Any]
    variable: str = ""
    read: Callable[[str], Any] | None = None


def client_of(sources: Iterable[Source], profile: str | None = None) -> Client:
    """Return a client with the settings of these sources; the first source that has one counts.

    ConfigError names a setting that is missing (also in this `profile`, whose name the client gets)
    or wrong."""
    found = merged(sources)
    missing = [name for name in SERVICE if name not in found]
    if missing:
        are, them = ("are", "them") if len(missing) > 1 else ("is", "it")
        where = f" in profile {profile!r}" if profile else ""
        error = ConfigError(
            f"no service is named: {', '.join(missing)} {are} missing{where}",
            f"Three ways to give {them}: {_ways(missing[0])}. "
            'connect("sandbox") is a service to try things on.',
        )
        error.missing = tuple(missing)
        raise error
    values = {name: checked(name, *found[name]) for name in found}
    return Client(
        **values, name=profile, origins={name: origin for name, (_, origin) in found.items()}
    )


def merged(sources: Iterable[Source]) -> dict[str, tuple[Any, str]]:
    """Return the value of each setting that is given (not None), from the first source that has
    it, with the name of that source."""
    found: dict[str, tuple[Any, str]] = {}
    for source in sources:
        for name, value in source.values.items():
            if value is not None:
                found.setdefault(name, (value, source.name))
    return found


def checked(name: str, value: Any, origin: str) -> Any:
    """Return the value as a client takes it; ConfigError names the setting, where it came from and
    the ways to give it."""
    try:
        if name in SERVICE:
            value = _stripped(name, value, origin)
        return SETTINGS[name].check(value)
    except ConfigError as error:
        refused = error
    raise refused.again(  # outside the block, so that the value hangs on no traceback
        problem=f"{refused.problem} (from {origin})",
        advice=f"{refused.advice.rstrip('.')}. To give it: {_ways(name)}.".removeprefix(". "),
    )


def _ways(name: str) -> str:
    if variable := SETTINGS[name].variable:
        variable = f"in the environment, {variable}=...; "
    return (
        f'as an argument, connect({name}="..."); {variable}or in a profile, `confkit profile add '
        'NAME` and connect("NAME")'
    )


def _stripped(name: str, value: Any, origin: str) -> str:
    """Return the text without the white space around it, of which a warning tells; never empty."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} is not a text")
    plain = value.strip()
    if name.endswith("_url"):
        plain = hidden_address(plain)
    elif name == "secret_key":
        plain = Secret(plain)
    if not plain:
        raise ConfigError(f"{name} is empty")
    if plain != value:
        warnings.warn(f"white space around {name} (from {origin}) was removed", stacklevel=5)
    return plain


def _dialect(value: Dialect | Mapping[str, object]) -> Dialect:
    return Dialect.of(value) if isinstance(value, Mapping) else value


def _bundle(value: bool | str) -> bool | str:
    if isinstance(value, str) and not Path(value).exists():
        raise ConfigError(f"verify: the certificate bundle {value!r} does not exist")
    return value


# The environment


def _named_by_environment(arguments: Source) -> str | None:
    """Return the profile that CONFKIT_PROFILE names, unless the arguments name the service."""
    name = os.environ.get("CONFKIT_PROFILE")
    if not name or any(arguments.values[one] is not None for one in SERVICE[:2]):
        return None
    variables = [SETTINGS[one].variable for one in SERVICE[:2]]
    addresses = [one for one in variables if os.environ.get(one)]
    if addresses:
        raise ConfigError(
            f"two services are named: CONFKIT_PROFILE={name} and {' and '.join(addresses)}",
            "Unset one of them, or name a profile in the call: connect(NAME).",
        )
    return name


def _environment(named: bool) -> list[Source]:
    """Return a source for each variable, without those that a `named` service has itself. What
    cannot be read is an error also where it is not used."""
    found = []
    for name, setting in SETTINGS.items():
        if setting.read and (text := os.environ.get(setting.variable)):
            try:
                value = setting.read(text)
            except ConfigError as error:
                raise error.again(problem=f"{setting.variable}: {error.problem}") from None
            if not (named and name in OWN):
                found.append(Source(setting.variable, {name: value}))
    return found


def _seconds(text: str) -> float | tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 2):
        raise ConfigError(
            f"timeout is {text!r}",
            "Give seconds, such as 10, or seconds to connect and to read, such as 5,10.",
        )
    return numbers if len(numbers) == 2 else numbers[0]


def _yes_or_no(text: str) -> bool:
    word = text.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ConfigError(f"read_only is {text!r}", "Give 1 or 0.")


def _text(
    name: str, check: Callable[[Any], Any] = lambda value: value, variable: str = ""
) -> Setting:
    return Setting(check, variable or f"CONFKIT_{name.upper()}", partial(guard, name=name))


SETTINGS = {
    "base_url": _text("base_url", partial(base_address, setting="base_url")),
    "outgoing_url": _text("outgoing_url", partial(base_address, setting="outgoing_url")),
    "access_key": _text("access_key"),
    "secret_key": _text("secret_key"),
    "dialect": Setting(_dialect, "CONFKIT_DIALECT", Dialect.parse),
    "timeout": Setting(timeouts, "CONFKIT_TIMEOUT", _seconds),
    "read_only": Setting(bool, "CONFKIT_READ_ONLY", _yes_or_no),
    "verify": _text("verify", _bundle, "CONFKIT_CA_BUNDLE"),
    "max_rate": Setting(checked_rate),
}


# The embedded service


def _sandbox_client(sources: list[Source]) -> Client:
    found = merged(sources)
    contradicting = [name for name in OWN if name in found]
    if contradicting:
        raise ConfigError(
            f'connect("sandbox") has its own {", ".join(contradicting)}',
            "Leave them out, or make a sandbox of another kind: Sandbox(dialect=...).",
        )
    found.pop("verify", None)
    options = {name: checked(name, *found[name]) for name in found}
    sandbox = _the_sandbox()
    client: Client = sandbox.connect(**options, on_close=lambda: _end(sandbox))
    return client


def _the_sandbox() -> Sandbox:
    """Return the process's own sandbox: seeded, so that notebooks repeat, and on loopback only."""
    from .sandbox import Sandbox

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
