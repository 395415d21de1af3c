"""The commands `doctor` and `probe`: is a service well, and where is it not as specified?"""

from __future__ import annotations

from typing import Any

import click

from ..checks import Checklist
from ..text import counted, echo
from .options import (
    coloured,
    connected,
    json_option,
    max_failed_logins_option,
    print_check,
    profile_option,
    sandbox_option,
)


@click.command(epilog="Exit status: 0 all is well, 1 something is wrong, 2 that is not known.")
@click.argument("room", required=False)
@profile_option
@sandbox_option
@json_option
@max_failed_logins_option(default=2)
@click.option("--timeout", type=float, default=60, help="Seconds for all checks.")
def doctor(
    room: str | None, profile: str | None, sandbox: bool, as_json: bool, **limits: Any
) -> int:
    """Find what is wrong between this machine and the service.

    With ROOM it looks at that room, too. The last line names the step to take first. It changes
    nothing: B2 is asked to remove a user who does not exist, unless the client is read-only.
    """
    from ..deployment import checkup

    checks = []
    with connected(profile, sandbox) as client:
        steps = checkup(client, room, **limits)  # a wrong argument raises
        logins = counted(limits["max_failed_logins"], "failed login")
        echo(f"Checking {client.name} (at most {logins} and {limits['timeout']:g} s)", err=True)
        for check in steps:
            checks.append(check)
            if not as_json and check.name != "finding":
                print_check(check)
    checklist, finding = Checklist(checks), checks[-1]
    if as_json:
        echo(checklist.as_json())
    else:
        summary = ". ".join(filter(None, (finding.detail.rstrip("."), finding.advice)))
        line = f"Overall: {checklist.verdict} - {summary}"
        echo(line, style=coloured(checklist.verdict))
    return checklist.exit_status


@click.command(epilog="Exit status: 0 the dialect is known, 1 an error, 2 something is open.")
@profile_option
@sandbox_option
@max_failed_logins_option(default=8)
def probe(profile: str | None, sandbox: bool, max_failed_logins: int) -> int:
    """Find how a service fills what the interface leaves open.

    It creates and changes nothing: it asks for rooms and users that do not exist. The last line
    says how to set this dialect, and whether a point is open.
    """
    from ..deployment import investigate

    with connected(profile, sandbox) as client:
        dialect, unknown = investigate(client, max_failed_logins=max_failed_logins)
    for text in unknown:
        echo(f"open: {text}")
    line = ",".join(f"{name}={value}" for name, value in dialect.changes().items())
    summary = "The dialect is the usual one: set nothing"
    if line:
        summary = f"Set CONFKIT_DIALECT={line} (or: confkit profile add NAME --dialect {line})"
    if unknown:
        summary += f"; {counted(len(unknown), 'point')} open, see above"
    echo(summary)
    return 2 if unknown else 0
