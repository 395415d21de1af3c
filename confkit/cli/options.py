"""What several commands share: the service that their options name, and plain complaints."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

from ..client import Client
from ..connect import EMBEDDED, OWN, SERVICE, VARIABLES, connect
from ..errors import ConfigError, missing_extra
from ..secret import MASK, SecretAddress
from ..text import one_line, printable

_QUOTED = re.compile(r"(?s)(['\"])(.*)\1(?=$| \(choose from )")  # what was typed, in a complaint


def named(profile: str | None, sandbox: bool | None) -> str | None:
    """Return the profile that --profile or --sandbox name; ConfigError where both name one."""
    if sandbox and profile not in (None, EMBEDDED):
        raise ConfigError(f"two services are named: --sandbox and --profile {profile}")
    return EMBEDDED if sandbox else profile


def connected(profile: str | None, sandbox: bool | None = None, *, outside: bool = False) -> Client:
    """Connect to the service that options or environment name; ConfigError says how to name one.

    `sandbox` is None where a command has no --sandbox. With `outside` the service has to be one
    that outlives this process: not the embedded one."""
    try:
        client = connect(named(profile, sandbox))
    except ConfigError as error:
        if not error.missing:
            raise
        embedded = "" if sandbox is None else "--sandbox for the embedded one, "
        variables = ", ".join(VARIABLES[name] for name in SERVICE)
        raise error.again(
            advice=f"Name one: --profile NAME (`confkit profile add NAME` makes it), {embedded}or "
            f"{variables} in the environment."
        ) from None
    if client.sandbox is None or not outside:
        return client
    client.close()
    raise ConfigError(
        "the embedded sandbox lives in the process that uses it, so it ends with this command",
        "Run `confkit sandbox` and set CONFKIT_BASE_URL and CONFKIT_OUTGOING_URL to it, or "
        "name another profile.",
    )


def as_profile(client: Client) -> dict[str, Any]:
    """Return the settings with which this client was made, as a profile holds them."""
    given = {
        "timeout": list(client.timeout),
        "verify": client.session.verify,
        "max_rate": client.max_rate,
        "read_only": client.read_only,
    }
    return {
        **{name: getattr(client, name) for name in SERVICE},
        **{name: value for name, value in given.items() if name in client.origins},
        "dialect": client.dialect.changes(),
    }


def environment_of(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process whose `ck.connect()` finds this profile: one that is named on
    the command line is meant as it is, without another service's addresses, keys and dialect."""
    if not profile:
        return dict(environment)
    variables = [VARIABLES[name] for name in OWN]
    kept = {name: value for name, value in environment.items() if name not in variables}
    return {**kept, "CONFKIT_PROFILE": profile}


def names_no_service(environment: Mapping[str, str]) -> bool:
    """Whether `ck.connect()` would find no service of the user's in this environment."""
    addresses = any(environment.get(VARIABLES[name]) for name in SERVICE[:2])
    profile = environment.get("CONFKIT_PROFILE") or EMBEDDED
    return not addresses and profile == EMBEDDED


def need(what: str, *modules: str) -> None:
    """ConfigError with the line that installs them where one of these modules is missing."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise missing_extra(what, ", ".join(missing), "lab")


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError("give a port, a number up to 65535")
    return int(text)


def _seconds(text: str) -> float:
    number = float(text)  # argparse reports a ValueError
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("give a number of seconds above 0")
    return number


TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "port": _port,
    "seconds": _seconds,
    "path": Path,
    "address": SecretAddress,
}


def log_here(level: int) -> None:
    """From now on, write what is logged at this level or above to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(asctime)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])


class Help(argparse.HelpFormatter):
    """Keeps the paragraphs of a description."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(fill(part, width, indent) for part in text.split("\n\n"))


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the words that were typed, and repeats none but names of options:
    what is in the wrong place may be a password."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False, formatter_class=Help)
        for name, read in TYPES.items():
            self.register("type", name, read)

    def refuse(self, extra: Sequence[str], takes_more: bool) -> None:
        """End the command that was given what it does not know. One that hands on the rest is ended
        where a word before -- is almost an option of its own."""
        known = re.findall(r"--[\w-]+", self.format_usage())
        if takes_more:
            before = takewhile("--".__ne__, extra)
            extra = [word for word in before if get_close_matches(_name(word), known, 1, 0.8)]
        if extra:
            names = [_name(word) + MASK * (_name(word) != word) for word in extra]
            self.error(f"unknown arguments: {' '.join(names)}{_hint(map(_name, extra), known)}")

    def error(self, message: str) -> NoReturn:
        """End the command with status 2, and with this message without what was typed; it names the
        choice that is spelled almost like that."""
        if quoted := _QUOTED.search(message):
            choices = re.findall(r"[\w-]+", message[quoted.end() :].removeprefix(" (choose from"))
            message = message.replace(quoted[0], repr(MASK)) + _hint([quoted[2]], choices)
        super().error(one_line(message))


class OneLine(logging.Formatter):
    """Writes each record on a line of its own; a traceback, if any, on lines below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """The record's line."""
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """All of it."""
        return printable(super().format(record))


def _name(word: str) -> str:
    """The option's name with which a word begins; what is behind it may be a password."""
    found = re.match("--[^=]*=?|-.?", word)
    return found[0] if found else ""


def _hint(words: Iterable[str], known: Sequence[str]) -> str:
    near = [found for word in words for found in get_close_matches(word.rstrip("="), known, 1)]
    return f". Did you mean {near[0]}?" if near else ""
