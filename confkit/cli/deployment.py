"""The commands `doctor` and `probe`: is a service well, and where is it not as specified?"""

from __future__ import annotations

import click

from ..text import counted, echo
from .options import connected, print_checks, profile_option, sandbox_option


@click.command(epilog="Exit status: 0 all is well, 1 something is wrong, 2 that is not known.")
@click.argument("room", required=False)
@profile_option
@sandbox_option
def doctor(room: str | None, profile: str | None, sandbox: bool) -> int:
    """Find what is wrong between this machine and the service.

    With ROOM it looks at that room, too. The finding names the step to take first. It changes
    nothing: B2 is asked to remove a user who does not exist, unless the client is read-only.
    """
    from ..deployment import checkup

    with connected(profile, sandbox) as client:
        steps = checkup(client, room)  # a wrong argument raises
        echo(f"Checking {client.name} (at most 2 failed logins)", err=True)
        return print_checks(steps).exit_status


@click.command(epilog="Exit status: 0 the dialect is known, 1 an error, 2 something is open.")
@profile_option
@sandbox_option
def probe(profile: str | None, sandbox: bool) -> int:
    """Find how a service fills what the interface leaves open.

    It creates and changes nothing: it asks for rooms and users that do not exist, and lets at most
    8 logins fail. The last line says how to set this dialect, and whether a point is open.
    """
    from ..deployment.probe import how_to_set, investigate

    with connected(profile, sandbox) as client:
        dialect, unknown = investigate(client)
    for text in unknown:
        echo(f"open: {text}")
    summary = "The dialect is the usual one: set nothing"
    if dialect.changes():
        summary = f"The dialect differs from the usual one: {how_to_set(client, dialect)}"
    if unknown:
        summary += f"; {counted(len(unknown), 'point')} open, see above"
    echo(summary)
    return 2 if unknown else 0
