"""From a name, arguments or the environment to a client; every value keeps where it came from."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import profiles
from .client import Client
from .errors import ConfigError
from .masking import Secret, guard, hidden_address

if TYPE_CHECKING:
    from .dialect import Dialect
    from .sandbox import Sandbox

OPTIONS = ("dialect", "timeout", "read_only", "verify", "max_rate")
SERVICE = ("base_url", "outgoing_url", "access_key", "secret_key")
_VARIABLES = {
    "base_url": "CONFKIT_BASE_URL", "outgoing_url": "CONFKIT_OUTGOING_URL",
    "access_key": "CONFKIT_ACCESS_KEY", "secret_key": "CONFKIT_SECRET_KEY",
    "timeout": "CONFKIT_TIMEOUT", "verify": "CONFKIT_CA_BUNDLE",
    "read_only": "CONFKIT_READ_ONLY", "dialect": "CONFKIT_DIALECT",
}  # fmt: skip

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
    """A client for the service that the arguments, the environment or a profile name.

    Arguments win over the environment (CONFKIT_BASE_URL, ...), and that over the profile that
    CONFKIT_PROFILE names. A profile named here is explicit: the environment's addresses, keys and
    dialect are then not looked at. "sandbox" is the embedded service, one in a process, steered by
    `client.sandbox` and ended by `client.close()`. Defaults: timeout (5, 10) seconds to connect and
    to read, verify True, read_only False, no max_rate (requests per second). No request is sent
    yet. ConfigError names what is missing and the three ways to give it.
    """
    secret_key = Secret(secret_key) if secret_key is not None else None
    base_url = hidden_address(base_url) if isinstance(base_url, str) else base_url
    outgoing_url = hidden_address(outgoing_url) if isinstance(outgoing_url, str) else outgoing_url
    given = {
        "base_url": base_url, "outgoing_url": outgoing_url, "access_key": access_key,
        "secret_key": secret_key, "dialect": dialect, "timeout": timeout,
        "read_only": read_only, "verify": verify, "max_rate": max_rate,
    }  # fmt: skip
    arguments = {
        name: Setting(value, "argument") for name, value in given.items() if value is not None
    }
    environment = _environment()
    name = profile or _variable("CONFKIT_PROFILE")
    if profile is None and name and not any(n in arguments for n in SERVICE[:2]):
        _one_service(name)
    elif profile is None:
        name = None  # the arguments name the service
    if profile is not None or name == profiles.EMBEDDED:
        environment = {n: s for n, s in environment.items() if n not in (*SERVICE, "dialect")}
    if name == profiles.EMBEDDED:
        return _sandbox_client(arguments, environment)
    stored = _profile(name) if name else {}
    settings = {**stored, **environment, **arguments}
    return _client(name, settings)


def connect_outside(profile: str | None) -> Client:
    """A client of a service that runs outside this process; ConfigError for the embedded one."""
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


def _one_service(name: str) -> None:
    named = [_VARIABLES[n] for n in SERVICE[:2] if _variable(_VARIABLES[n])]
    if named:
        raise ConfigError(
            f"two services are named: CONFKIT_PROFILE={name} and {' and '.join(named)}",
            "Unset one of them, or name a profile in the call: connect(NAME).",
        )


def _variable(name: str) -> str | None:
    return os.environ.get(name) or None


def _environment() -> dict[str, Setting]:
    found = {}
    for name, variable in _VARIABLES.items():
        text = _variable(variable)
        if text is None:
            continue
        value: Any = guard(text, name)
        if name == "timeout":
            value = seconds(text, variable)
        elif name == "read_only":
            value = _yes_or_no(text, variable)
        elif name == "dialect":
            value = _parsed(text, variable)
        found[name] = Setting(value, variable)
    return found


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


def _yes_or_no(text: str, variable: str) -> bool:
    known = {"1": True, "true": True, "yes": True, "on": True,
             "0": False, "false": False, "no": False, "off": False}  # fmt: skip
    if text.strip().lower() not in known:
        raise ConfigError(f"{variable} is {text!r}", "Give 1 or 0.")
    return known[text.strip().lower()]


def _parsed(text: str, variable: str) -> Dialect:
    from .dialect import Dialect

    try:
        return Dialect.parse(text)
    except ConfigError as error:
        raise ConfigError(f"{variable}: {error}") from None


def _profile(name: str) -> dict[str, Setting]:
    from .dialect import Dialect

    settings = profiles.load(name)
    found = {key: Setting(value, f"profile {name}") for key, value in settings.items()}
    if "dialect" in found:
        found["dialect"] = found["dialect"]._replace(value=Dialect.of(settings["dialect"]))
    if isinstance(settings.get("timeout"), list):
        found["timeout"] = found["timeout"]._replace(value=tuple(settings["timeout"]))
    if "secret_key" in found:
        found["secret_key"] = found["secret_key"]._replace(value=Secret(settings["secret_key"]))
    return found


def _client(name: str | None, settings: Mapping[str, Setting]) -> Client:
    missing = [key for key in SERVICE if key not in settings]
    if missing:
        where = f" in profile {name!r}" if name else ""
        raise ConfigError(
            f"no service is named: {', '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} missing{where}",
            f"Three ways to give "
            f"{'them' if len(missing) > 1 else 'it'}: as an argument, "
            f"connect({missing[0]}=...); in the environment, {_VARIABLES[missing[0]]}=...; or in a "
            'profile, `confkit profile add NAME` and connect("NAME"). '
            'connect("sandbox") is a service to try things on.',
        )
    service: dict[str, Any] = {key: stripped(key, settings[key]) for key in SERVICE}
    rest = {key: settings[key].value for key in OPTIONS if key in settings}
    _certificate(rest.get("verify"), settings)
    origins = {key: setting.origin for key, setting in settings.items()}
    return Client(**{**service, **rest}, name=name, origins=origins)


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


def _certificate(verify: object, settings: Mapping[str, Setting]) -> None:
    if isinstance(verify, str) and not Path(verify).exists():
        raise ConfigError(
            f"the certificate bundle {verify!r} (from {settings['verify'].origin}) does not exist"
        )


def _sandbox_client(arguments: Mapping[str, Setting], environment: Mapping[str, Setting]) -> Client:
    contradicting = [name for name in (*SERVICE, "dialect") if name in arguments]
    if contradicting:
        raise ConfigError(
            f'connect("sandbox") has its own {", ".join(contradicting)}',
            "Leave them out, or make a sandbox of another kind: Sandbox(dialect=...).",
        )
    options = {name: setting.value for name, setting in {**environment, **arguments}.items()
               if name in ("timeout", "read_only", "max_rate")}  # fmt: skip
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
