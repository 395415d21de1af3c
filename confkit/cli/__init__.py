"""The command `confkit`: `commands.toml` says what can be typed, modules beside it do it."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
import tomllib
import warnings
from importlib import import_module
from importlib.resources import files
from typing import Any

from .. import __version__
from ..errors import ConfkitError
from ..many.interrupts import as_interrupts
from ..secret import mask
from ..text import say
from .options import TYPES, Parser
from .services import SPOKEN


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0, 130 when it was interrupted, or 1 after an error, which is one sentence
    on standard error. SIGTERM and a terminal that hangs up interrupt as Ctrl-C does."""
    warnings.showwarning = lambda message, *_, **__: _complain(message)
    options, extra = _parser().parse_known_args(sys.argv[1:] if arguments is None else arguments)
    options.parser.refuse(extra, options.takes_more)
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


def _complain(what: object) -> None:
    say(f"confkit: {mask(str(what))}", aside=True)  # it may quote what was typed


def _parser() -> Parser:
    parser = Parser(
        prog="confkit",
        description="Rooms, users and devices of a conferencing service. `confkit COMMAND --help` "
        "says more of a command.",
    )
    spoken = f"confkit {__version__}, speaks {SPOKEN}"
    parser.add_argument("--version", action="version", version=spoken)
    rows = tomllib.loads(files(__package__).joinpath("commands.toml").read_text("utf-8"))
    shared = rows.pop("shared")
    groups = {"": parser.add_subparsers(required=True, metavar="COMMAND")}
    for words, row in rows.items():
        group, _, name = words.rpartition(" ")
        if "run" in row:
            _add(groups[group], name, row, {key: shared[key] for key in row.get("shared", ())})
        else:
            made = groups[group].add_parser(name, help=row["help"])
            groups[words] = made.add_subparsers(required=True, metavar=row["metavar"])
    return parser


def _add(
    commands: argparse._SubParsersAction[Any],
    name: str,
    row: dict[str, Any],
    options: dict[str, dict[str, Any]],
) -> None:
    """Add the command of this row, with these options and its own."""
    module, _, function = row["run"].partition(".")
    run = getattr(import_module(f".{module}", __package__), function)
    texts = {key: row[key] for key in ("help", "epilog", "usage") if key in row}
    made = commands.add_parser(name, description=inspect.getdoc(run), **texts)
    made.set_defaults(run=run, parser=made, takes_more=row.get("takes_more", False))
    for flag, settings in {**options, **row.get("options", {})}.items():
        kind = {"type": TYPES[settings["type"]]} if "type" in settings else {}
        made.add_argument(flag, **settings | kind)
