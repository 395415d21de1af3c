"""The command `course`: check a client of one's own, and what helps to write one."""

from __future__ import annotations

import sys
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..text import as_json, printable, say

if TYPE_CHECKING:
    from ..checklist import Check


def check(command: list[str], only: list[str], limit: float, as_json: bool) -> int:
    """Run a client against three services on this machine, one operation at a time, and say which
    rows of the interface it gets right (PASS), wrong (FAIL, and why) or does not know (UNKNOWN).

    `confkit course contract` says what it has to do. Exit status 0 when all is right, 1 when a row
    is wrong, 2 when rows are only unknown. Standard error says meanwhile which rows are done. The
    client is started about sixty times: what can be compiled is better compiled before.
    """
    from ..course import check_client
    from ..course.clients.rows import ROWS, chosen

    command = command[1:] if command[:1] == ["--"] else command
    tell = partial(say, aside=True)  # beside the result, which is alone on standard output
    if not command:
        raise ConfigError(
            "no command is given", "It stands behind --: confkit course check -- java Client.java"
        )
    names = {row.name.lower() for row in ROWS}
    if command[-2:-1] == ["--only"] and command[-1].lower() in names:
        tell(f"--only {command[-1]} stands behind --, so your client is given it; put it before")
    number, done = len(chosen(tuple(only))), count(1)
    tell(f"{number} rows, each in one service or in three; here they are as they come")

    def each(check: Check) -> None:
        tell(f"{next(done)} of {number}: {check.verdict} {check.check}")

    found = check_client(command, only=only, limit=limit, each=each)
    _print(found.as_json() if as_json else str(found))
    return found.exit_status


def contract() -> None:
    """Print what a client in any language has to do, as Markdown."""
    from ..course import contract

    _print(contract().rstrip("\n"))


def vectors() -> None:
    """Print digest and token of every hash and form, for easy keys and awkward ones, as JSON."""
    from ..course import vectors

    _print(as_json(vectors(), indent=1))


def skeleton(language: str) -> None:
    """Print a client that is right but for three operations, which are left to you."""
    from ..course import skeleton

    _print(skeleton(language).rstrip("\n"))


def _print(text: str) -> None:
    """In UTF-8 whatever the terminal's encoding: a file that is made of it is one."""
    sys.stdout.flush()
    sys.stdout.buffer.write(printable(text).encode() + b"\n")
    sys.stdout.buffer.flush()
