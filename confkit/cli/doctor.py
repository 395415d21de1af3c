"""The command `doctor`: what is wrong between this machine and the service."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..connect import connect
from ..terminal import say

if TYPE_CHECKING:
    from ..checklist import Check


def add_doctor_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Adds it to the commands of `confkit`."""
    doctor = commands.add_parser(
        "doctor",
        help="what is wrong between this machine and the service?",
        description="Tries one thing after another, from the settings to a room's media server, "
        "and says of each PASS, FAIL, SKIP or UNKNOWN, with its cause and the next step. It "
        "changes nothing: it reads, and asks B2 to remove a user who is not there, where the "
        "client is not read only. Exit status 0 when all is well, 1 when something is wrong, 2 "
        "when that cannot be told.",
    )
    doctor.add_argument("room", metavar="ROOM", nargs="?", help="a room's ID, to look at it too")
    doctor.add_argument("--profile", help="the service; without one, the environment's")
    doctor.add_argument(
        "--max-failed-logins",
        type=int,
        default=2,
        metavar="N",
        help="at most N logins that fail, as accounts may lock (2); 0 makes no login",
    )
    doctor.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="for all together (60)"
    )
    doctor.add_argument("--json", action="store_true", help="one JSON object, at the end")
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    from ..checklist import Checklist
    from ..deployment import checkup

    with connect(options.profile) as client:
        found = checkup(
            client,
            options.room,
            max_failed_logins=options.max_failed_logins,
            timeout=options.timeout,
        )
        bound = f"at most {options.max_failed_logins} failed logins and {options.timeout:g} s"
        say(f"{client.name}: changes nothing, {bound}", aside=True)
        checks = []
        for check in _awaited(found):
            checks.append(check)
            if not options.json:
                say(check)
    made = Checklist(checks)
    say(made.as_json() if options.json else str(made).rpartition("\n")[2])
    return made.exit_status


def _awaited(checks: Iterator[Check]) -> Iterator[Check]:
    """The checks as they come; a terminal shows meanwhile which one is waited for."""
    from ..deployment import CHECKS

    for name in CHECKS:
        if sys.stderr.isatty():
            say(f"        {name} ...", aside=True, end="\r")
        yield next(checks)
