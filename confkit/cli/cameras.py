"""The commands `preflight` and `diagnose`: does a camera play, and why is it not in its room?"""

from __future__ import annotations

from typing import Any

import click

from ..connect import CAMERA_PASSWORD
from ..secret import SecretAddress
from ..text import echo
from .options import connected, explain_python, profile_option, sandbox_option

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

    report = preflight(url, **_completed(options, url))
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
@sandbox_option
def diagnose(
    room: str,
    user: str | None,
    address: SecretAddress | None,
    profile: str | None,
    sandbox: bool,
    **options: Any,
) -> int:
    """Say why the device USER is not in ROOM, and what to do.

    Without USER it looks at the room's first device that has a problem.
    """
    from ..diagnosis import diagnose_device

    options = _completed(options, address)
    with connected(profile, sandbox) as client:
        report = diagnose_device(client, room, user, address, **options)
    echo(report)
    explain_python(report.advice, profile, sandbox)
    return 0 if report.ok else 1


def _completed(options: dict[str, Any], url: SecretAddress | None) -> dict[str, Any]:
    """Return the options of a preflight from those typed. A login's password is the environment's,
    or asked for, unless the address holds it."""
    from ..rtsp.address import parse_address
    from ..runbook.rooms import camera_login

    ca_bundle = options.pop("ca_bundle")
    options["verify"] = not options.pop("no_verify") and (ca_bundle or True)
    try:
        address = parse_address(url.reveal()) if url else None
    except ValueError:
        return options  # the report says what is wrong with it
    name = options["login_name"] = options["login_name"] or (address and address.login_name)
    if not (address and address.login_password):
        options |= camera_login(name or "")
    return options
