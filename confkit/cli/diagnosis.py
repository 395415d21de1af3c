"""The commands that find a fault: `preflight` and `diagnose` of a camera, `doctor` and `probe` of a
service."""

from typing import Any

import click

from ..connect import CAMERA_PASSWORD, connect
from ..rtsp.address import parse_address
from ..runbook.rooms import camera_login
from ..secret import SecretAddress
from ..text import counted, echo
from .options import explain_python, print_checks, profile_option

_EPILOG = (
    f"The camera's password is never an option: it is taken from {CAMERA_PASSWORD}, or asked "
    "for where there is a login name. Exit status: 0 all is well, 1 something is wrong."
)
login_option = click.option("--login-name", metavar="NAME", help="The camera's.")
ca_option = click.option("--ca-bundle", metavar="FILE", help="Certificates to trust (rtsps).")
verify_option = click.option("--no-verify", is_flag=True, help="Trust any certificate (rtsps).")
timeout_option = click.option("--timeout", type=float, default=20, help="Seconds for the camera.")


@click.command(epilog=_EPILOG)
@click.argument("url", type=SecretAddress, metavar="URL")
@login_option
@timeout_option
@click.option("--transport", type=click.Choice(["auto", "tcp", "udp"]), default="auto")
@ca_option
@verify_option
def preflight(url: SecretAddress, **options: Any) -> int:
    """Play the RTSP camera at URL, and say what stands in the way.

    It needs no service, opens one connection, logs in once at most, and changes nothing.
    """
    from ..rtsp.preflight import preflight

    report = preflight(url, **_camera_options(url, **options))
    echo(report)
    return 0 if report.ok else 1


@click.command(epilog=_EPILOG)
@click.argument("room")
@click.argument("user", required=False)
@click.option("--address", type=SecretAddress, metavar="URL", help="Of a camera not imported yet.")
@login_option
@timeout_option
@ca_option
@verify_option
@profile_option
def diagnose(
    room: str,
    user: str | None,
    address: SecretAddress | None,
    profile: str | None,
    **options: Any,
) -> int:
    """Say why the device USER is not in ROOM, and what to do.

    Without USER it looks at the room's first device that has a problem.
    """
    from ..diagnosis import diagnose_device

    options = _camera_options(address, **options)
    with connect(profile) as client:
        report = diagnose_device(client, room, user, address, **options)
    echo(report)
    explain_python(report.advice, profile)
    return 0 if report.ok else 1


def _camera_options(
    url: SecretAddress | None, login_name: str | None, **options: Any
) -> dict[str, Any]:
    """Return the options of a preflight. A login's password is the environment's, or asked for,
    unless the address holds it."""
    ca_bundle = options.pop("ca_bundle")
    options["verify"] = not options.pop("no_verify") and (ca_bundle or True)
    try:
        address = parse_address(url.reveal()) if url else None
    except ValueError:
        return options  # the report says what is wrong with it
    name = login_name or (address and address.login_name) or ""
    if address and address.login_password:
        return {**options, "login_name": name}
    return {**options, **camera_login(name)}


@click.command(epilog="Exit status: 0 all is well, 1 something is wrong, 2 that is not known.")
@click.argument("room", required=False)
@profile_option
def doctor(room: str | None, profile: str | None) -> int:
    """Find what is wrong between this machine and the service.

    With ROOM it looks at that room, too. The finding names the step to take first. It changes
    nothing: B2 is asked to remove a user who does not exist, unless the client is read-only.
    """
    from ..deployment import checkup

    with connect(profile) as client:
        steps = checkup(client, room)  # a wrong argument raises
        echo(f"Checking {client.name} (at most 2 failed logins)", err=True)
        return print_checks(steps).exit_status


@click.command(epilog="Exit status: 0 the dialect is known, 1 an error, 2 something is open.")
@profile_option
def probe(profile: str | None) -> int:
    """Find how a service fills what the interface leaves open.

    It creates and changes nothing: it asks for rooms and users that do not exist, and lets at most
    8 logins fail. The last line says how to set this dialect, and whether a point is open.
    """
    from ..deployment.probe import how_to_set, investigate

    with connect(profile) as client:
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
