"""What several commands share: options, the service that they name, colour, and the log."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial

import click

from ..checks import Check
from ..client import Client
from ..connect import EMBEDDED, SERVICE, VARIABLES, connect
from ..errors import ConfigError
from ..text import echo, one_line, printable

_COLOURS = {"PASS": "green", "FAIL": "red", "UNKNOWN": "yellow"}

profile_option = click.option(
    "--profile", metavar="NAME", help="The service; without one, the environment's."
)
sandbox_option = click.option("--sandbox", is_flag=True, help="The embedded service, not yours.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
max_rate_option = click.option("--max-rate", type=float, help="At most so many requests a second.")
dialect_option = click.option(
    "--dialect", metavar="NAME=VALUE,...", help="Such as hash=sha256,signature=raw."
)
max_failed_logins_option = partial(
    click.option, "--max-failed-logins", type=int, help="Logins that may fail: accounts may lock."
)


def connected(
    profile: str | None,
    sandbox: bool | None = None,
    *,
    outside: bool = False,
    explicit: bool = False,
) -> Client:
    """Connect to the service that options or environment name; ConfigError says how to name one.

    `sandbox` is None where a command has no --sandbox. With `outside` the service has to outlive
    this process, and with `explicit` the embedded one needs --sandbox: nobody shall take its
    verdict for that of a real service.
    """
    if sandbox and profile not in (None, EMBEDDED):
        raise ConfigError(f"two services are named: --sandbox and --profile {profile}")
    embedded = "" if sandbox is None else "--sandbox for the embedded one, "
    advice = (
        f"Name one: --profile NAME (`confkit profile add NAME` makes it), {embedded}or "
        f"{', '.join(VARIABLES[name] for name in SERVICE)} in the environment."
    )
    try:
        client = connect(EMBEDDED if sandbox else profile)
    except ConfigError as error:
        raise (error.again(advice=advice) if error.missing else error) from None
    if client.sandbox is None or sandbox or not (outside or explicit):
        return client
    client.close()
    if explicit:
        raise ConfigError("only the embedded sandbox is named", advice)
    raise ConfigError(
        "the embedded sandbox ends with this command",
        "Run `confkit sandbox` and set the variables that it prints, or name another profile.",
    )


def suggest(kind: str, name: str, known: Iterable[str]) -> str:
    """Return that there is no such thing of this kind, and the nearest one, or which there are."""
    names = list(known)
    near = get_close_matches(name, names, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(names)}."
    return f"there is no {kind} {name!r}. {hint}"


class Choice(click.Choice[str]):
    """A choice that names the nearest value."""

    def get_invalid_choice_message(self, value: object, ctx: object) -> str:  # noqa: ARG002
        """Return what may be typed."""
        return suggest("choice", str(value), self.choices)


def coloured(outcome: str) -> Callable[[str], str]:
    """Return what colours the outcome's word in a text, on a terminal and without NO_COLOR."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return str
    styled = click.style(outcome, fg=_COLOURS.get(outcome), bold=True)
    return lambda text: text.replace(outcome, styled, 1)


def print_check(check: Check) -> None:
    """Print a check; on a terminal its outcome has a colour."""
    echo(check, style=coloured(check.outcome))


def log_to_stderr(level: int, style: str = "%(asctime)s %(message)s") -> None:
    """From now on, write what is logged at this level or above to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine(style))
    logging.basicConfig(level=level, handlers=[handler])


class OneLine(logging.Formatter):
    """Writes each record on a line of its own; a traceback, if any, on lines below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """Return the record's line."""
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the traceback."""
        return printable(super().format(record))
