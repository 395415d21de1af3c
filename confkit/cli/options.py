"""What several commands share: options, the service that they name, checks, and the log."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from shlex import quote

import click

from ..checks import Check, Checklist
from ..client import Client
from ..connect import EMBEDDED, connect
from ..errors import ConfigError
from ..text import echo, one_line, printable

_COLOURS = {"PASS": "green", "FAIL": "red", "UNKNOWN": "yellow"}

profile_option = click.option(
    "--profile", metavar="NAME", help="The service; without one, the environment's."
)
sandbox_option = click.option("--sandbox", is_flag=True, help="The embedded service, not yours.")
port = click.IntRange(0, 65535)
rooms_file = click.Path(exists=True, dir_okay=False, resolve_path=True)
dialect_option = click.option(
    "--dialect", metavar="NAME=VALUE,...", help="Such as hash=sha256,signature=raw."
)


def connected(profile: str | None, sandbox: bool | None = None) -> Client:
    """Connect to the service that options or environment name; ConfigError says how to name one.

    `sandbox` is None where a command has no --sandbox: there the service has to outlive it.
    """
    if sandbox and profile:
        raise ConfigError(f"two services are named: --sandbox and --profile {profile}")
    embedded = "" if sandbox is None else "--sandbox for the embedded one, "
    advice = (
        "Name one: --profile NAME (`confkit profile add NAME` makes it), "
        f"{embedded}or CONFKIT_BASE_URL, CONFKIT_OUTGOING_URL, CONFKIT_ACCESS_KEY and "
        "CONFKIT_SECRET_KEY in the environment."
    )
    try:
        client = connect(EMBEDDED if sandbox else profile)
    except ConfigError as error:
        raise (error.again(advice=advice) if error.missing else error) from None
    if client.sandbox and sandbox is None:
        client.close()
        advice = "Run `confkit sandbox`, and set the variables that it prints."
        raise ConfigError("the embedded sandbox ends with this command", advice)
    return client


def print_checks(steps: Generator[Check]) -> Checklist:
    """Print each check as it is made, and a last line with the verdict and the finding, if any."""
    checks, finding = [], ""
    with closing(steps):
        for check in steps:
            checks.append(check)
            if check.name == "Finding":
                finding = f" - {check.detail.rstrip('.')}. {check.advice}".removesuffix(". ")
            else:
                echo(check, style=_coloured(check.outcome))
    checklist = Checklist(checks)
    echo(f"Overall: {checklist.verdict}{finding}", style=_coloured(checklist.verdict))
    return checklist


def explain_python(advice: str, profile: str | None, sandbox: bool) -> None:
    """Print how to start Python for an advice that is a call of confkit."""
    if re.search(r"\bck\.", advice):
        service = EMBEDDED if sandbox else profile
        line = f"import confkit as ck; client = ck.connect({repr(service) if service else ''})"
        start = f"{quote(sys.executable)} -ic {quote(line)}"  # the Python that has confkit
        echo(f"  To run what begins with ck., start Python so: {start}")


def _coloured(outcome: str) -> Callable[[str], str]:
    """Return what colours the outcome's word in a text, on a terminal and without NO_COLOR."""
    if not (sys.stdout and sys.stdout.isatty()) or os.environ.get("NO_COLOR"):
        return str
    styled = click.style(outcome, fg=_COLOURS.get(outcome), bold=True)
    return lambda text: text.replace(outcome, styled, 1)


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
