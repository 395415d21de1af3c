"""The command `confkit`: each module beside this one adds a group of commands."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from itertools import takewhile

from .. import __version__
from ..errors import ConfkitError
from ..many.interrupts import as_interrupts
from ..secret import MASK, mask
from ..text import say
from .cameras import add_camera_commands
from .course import add_course_command
from .deployment import add_deployment_commands
from .lab import add_lab_command
from .options import Parser, option_in
from .record import add_record_command
from .runbook import add_runbook_command
from .services import SPOKEN, add_service_commands


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0, 130 when it was interrupted, or 1 after an error, which is one sentence
    on standard error. SIGTERM and a terminal that hangs up interrupt as Ctrl-C does."""
    warnings.showwarning = lambda message, *_, **__: _complain(message)
    parser = _parser()
    options, extra = parser.parse_known_args(sys.argv[1:] if arguments is None else arguments)
    _refuse(extra, options)
    options.extra = [part for part in extra if part != "--"]
    try:
        with as_interrupts():
            return int(options.run(options))
    except (ConfkitError, KeyboardInterrupt) as error:
        for note in getattr(error, "__notes__", ()):  # such as a room that could not be deleted
            _complain(note)
        if isinstance(error, KeyboardInterrupt):
            return 130
        _complain(error)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _refuse(extra: list[str], options: argparse.Namespace) -> None:
    """End a command that was given what it does not know. One that hands on the rest (`lab`) is
    ended where a word before `--` is almost an option of its own."""
    parser, wrong = options.parser, extra
    if hasattr(options, "takes_more"):
        before = takewhile(lambda word: word != "--", extra)
        wrong = [word for word in before if parser.meant(word, 0.8)]
    if wrong:
        names = [word if word == option_in(word) else option_in(word) + MASK for word in wrong]
        meant = [name for word in wrong if (name := parser.meant(word))]
        hint = f". Did you mean {meant[0]}?" if meant else ""
        parser.error(f"unknown arguments: {' '.join(names)}{hint}")


def _complain(what: object) -> None:
    say(f"confkit: {mask(str(what))}", aside=True)  # it may quote what was typed


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="confkit",
        description="Rooms, users and devices of a conferencing service. `confkit COMMAND --help` "
        "says more of a command.",
    )
    parser.add_argument(
        "--version", action="version", version=f"confkit {__version__}, speaks {SPOKEN}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_lab_command(commands)
    add_service_commands(commands)
    add_camera_commands(commands)
    add_deployment_commands(commands)
    add_record_command(commands)
    add_course_command(commands)
    add_runbook_command(commands)
    return parser
