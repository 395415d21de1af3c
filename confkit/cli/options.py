"""What several commands share: options, the service that they name, checks, and the log."""

import logging
import os
import re
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from shlex import quote

import click

from ..checks import Check, Checklist
from ..text import echo, one_line

_COLOURS = {"PASS": "green", "FAIL": "red", "UNKNOWN": "yellow"}

profile_option = click.option(
    "--profile", metavar="NAME", help="The service, or sandbox; without one, the environment's."
)
port = click.IntRange(0, 65535)
infile = click.Path(exists=True, dir_okay=False, resolve_path=True)
dialect_option = click.option(
    "--dialect", metavar="NAME=VALUE,...", help="Such as hash=sha256,signature=raw."
)


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


def explain_python(advice: str, profile: str | None) -> None:
    """Print how to start Python for an advice that is a call of confkit."""
    if re.search(r"\bck\.", advice):
        line = f"import confkit as ck; client = ck.connect({repr(profile) if profile else ''})"
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
    """Writes each record on a line of its own, with its traceback, if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return one_line(super().format(record))
