"""The command `confkit`: `commands.toml` says what can be typed, modules beside it do it."""

from __future__ import annotations

import inspect
import os
import sys
import tomllib
import warnings
from importlib import import_module
from importlib.resources import files

from .. import __version__
from ..errors import ConfkitError
from ..interrupts import as_interrupts
from ..secret import redact
from ..text import echo
from .options import Parser
from .services import SPOKEN


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0 or its own, 130 when it was interrupted, or 1
    after an error, which is one sentence on standard error. SIGTERM and a terminal that hangs up
    interrupt as Ctrl-C does."""
    warnings.showwarning = lambda message, *_, **__: _complain(message)
    options, extra = _parser().parse_known_args(sys.argv[1:] if arguments is None else arguments)
    given = vars(options)
    run, parser, takes_more = map(given.pop, ("run", "parser", "takes_more"))
    parser.refuse(extra, takes_more)
    if takes_more:
        given["extra"] = [part for part in extra if part != "--"]
    try:
        with as_interrupts():
            return run(**given) or 0
    except (ConfkitError, ValueError, KeyboardInterrupt) as error:  # such as an impossible option
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
    echo(f"confkit: {redact(str(what))}", err=True)  # it may quote what was typed


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
        if "run" not in row:
            made = groups[group].add_parser(name, help=row["help"])
            groups[words] = made.add_subparsers(required=True, metavar=row["metavar"])
            continue
        module, _, function = row["run"].partition(".")
        run = getattr(import_module(f".{module}", __package__), function)
        texts = {key: row[key] for key in ("help", "epilog") if key in row}
        made = groups[group].add_parser(name, description=inspect.getdoc(run), **texts)
        made.set_defaults(run=run, parser=made, takes_more=row.get("takes_more", False))
        options = {flag: shared[flag] for flag in row.get("shared", ())}
        for flag, settings in (options | row.get("options", {})).items():
            made.add_argument(flag, **settings)
    return parser
