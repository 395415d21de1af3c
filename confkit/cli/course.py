"""The command `course`: check a client of one's own, and what helps to write one."""

from __future__ import annotations

import argparse
import sys
from itertools import count
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..text import as_json, printable, say
from .options import JSON, Commands, add_command, option

if TYPE_CHECKING:
    from ..checklist import Check

_CHECK = (
    "Runs a client against three services on this machine, one operation at a time, and says "
    "which rows of the interface it gets right (PASS), wrong (FAIL, and why) or does not know "
    "(UNKNOWN). `confkit course contract` says what it has to do. Exit status 0 when all is right, "
    "1 when a row is wrong, 2 when rows are only unknown. Standard error says meanwhile which "
    "rows are done. The client is started about sixty times: what can be compiled is better "
    "compiled before."
)


def add_course_command(commands: Commands) -> None:
    """Add the command to those of `confkit`."""
    course = commands.add_parser("course", help="write a client of one's own, and have it checked")
    parts = course.add_subparsers(required=True, metavar="PART")
    check = add_command(
        parts,
        "check",
        _check,
        "try a client in any language",
        JSON,
        description=_CHECK,
        usage="confkit course check [--json] [--only ROW] [--limit S] -- COMMAND ...",
    )
    check.add_argument(
        "--only", action="append", default=[], metavar="ROW", help="such as A3 or timeout; repeat"
    )
    check.add_argument(
        "--limit", type=float, default=30.0, metavar="S", help="end a run after S seconds (30)"
    )
    check.add_argument("command", nargs=argparse.REMAINDER, help="such as -- java Client.java")
    add_command(parts, "contract", _contract, "print what such a client has to do")
    add_command(parts, "vectors", _vectors, "print signatures of all dialects, as JSON")
    language = option("language", help="java or sh")
    add_command(parts, "skeleton", _skeleton, "print the beginning of a client", language)


def _check(options: argparse.Namespace) -> int:
    from ..course import check_client
    from ..course.clients.rows import ROWS, chosen

    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise ConfigError(
            "no command is given", "It stands behind --: confkit course check -- java Client.java"
        )
    names = {row.name.lower() for row in ROWS}
    if command[-2:-1] == ["--only"] and command[-1].lower() in names:
        _tell(f"--only {command[-1]} stands behind --, so your client is given it; put it before")
    number, done = len(chosen(tuple(options.only))), count(1)
    _tell(f"{number} rows, each in one service or in three; here they are as they come")

    def each(check: Check) -> None:
        _tell(f"{next(done)} of {number}: {check.verdict} {check.check}")

    found = check_client(command, only=options.only, limit=options.limit, each=each)
    _print(found.as_json() if options.json else str(found))
    return found.exit_status


def _tell(text: str) -> None:
    """Beside the result, which stands alone on standard output."""
    say(text, aside=True)


def _contract(_: argparse.Namespace) -> int:
    from ..course import contract

    _print(contract().rstrip("\n"))
    return 0


def _vectors(_: argparse.Namespace) -> int:
    from ..course import vectors

    _print(as_json(vectors(), indent=1))
    return 0


def _skeleton(options: argparse.Namespace) -> int:
    from ..course import skeleton

    _print(skeleton(options.language).rstrip("\n"))
    return 0


def _print(text: str) -> None:
    """In UTF-8 whatever the terminal's encoding: a file that is made of it is one."""
    sys.stdout.flush()
    sys.stdout.buffer.write(printable(text).encode() + b"\n")
    sys.stdout.buffer.flush()
