"""The commands `preflight` and `diagnose`: does a camera play, and why is it not in its room?"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from ..connect import CAMERA_PASSWORD, EMBEDDED, ask_secret
from ..errors import ConfigError
from ..secret import Secret, SecretAddress, redact
from ..text import echo
from .options import Choice, connected, profile_option, sandbox_option

_EPILOG = (
    "The camera's password is never an option: it is taken from CONFKIT_CAMERA_PASSWORD, or asked "
    "for where --login-name is given. Exit status: 0 all is well, 1 something is wrong."
)
login_option = click.option("--login-name", metavar="NAME", help="The camera's.")
timeout_option = click.option("--timeout", type=float, default=20, help="Seconds for the camera.")


@click.command(epilog=_EPILOG)
@click.argument("url", type=SecretAddress, metavar="URL")
@login_option
@timeout_option
@click.option("--transport", type=Choice(["auto", "tcp", "udp"]), default="auto")
@click.option("--snapshot", type=Path, metavar="FILE", help="Write the picture there, as PNG.")
def preflight(
    url: SecretAddress, login_name: str | None, snapshot: Path | None, **options: Any
) -> int:
    """Play the RTSP camera at URL, and say what stands in the way.

    It needs no service, opens one connection, logs in once at most, and changes nothing.
    """
    from ..rtsp.preflight import preflight

    report = preflight(url, *_login(url, login_name), **options)
    echo(report)
    if snapshot is None:
        return 0 if report.ok else 1
    if report.snapshot is None:
        raise ConfigError(f"{snapshot} was not written, as there is no picture")
    try:
        report.snapshot.save(snapshot)
    except OSError as error:
        advice = "Name a file in a folder of yours where there is space."
        raise ConfigError(f"{snapshot} was not written: {error.strerror}", advice) from None
    return 0


@click.command(epilog=_EPILOG)
@click.argument("room")
@click.argument("user", required=False)
@click.option("--address", type=SecretAddress, metavar="URL", help="Of a camera not imported yet.")
@login_option
@click.option("--force", is_flag=True, help="Play the camera even while the service does.")
@timeout_option
@profile_option
@sandbox_option
def diagnose(
    room: str,
    user: str | None,
    address: SecretAddress | None,
    login_name: str | None,
    profile: str | None,
    sandbox: bool,
    **options: Any,
) -> int:
    """Say why the device USER is not in ROOM, and what to do.

    Without USER it looks at the room's first device that has a problem.
    """
    from ..diagnosis import diagnose_device

    options["login_name"], options["login_password"] = _login(address, login_name)
    with connected(profile, sandbox) as client:
        report = diagnose_device(client, room, user, address, **options)
    if report.verdict == "not_imported" and address is None:
        device = f"{quote(room)} {quote(redact(user or 'USER_ID'))}"
        line = f"confkit diagnose {device} --address rtsp://... [--login-name NAME]"
        report = replace(report, advice=f"Say which camera, and it is tried too: {line}")
    echo(report)
    if "ck." in report.advice:
        service = EMBEDDED if sandbox else profile
        line = f"import confkit as ck; client = ck.connect({repr(service) if service else ''})"
        echo(f"  To run what begins with ck., start Python so: python3 -ic {quote(line)}")
    return 0 if report.ok else 1


def _login(url: SecretAddress | None, name: str | None) -> tuple[str | None, Secret | None]:
    """Return a camera's name and password, but for what the address holds: the password is the
    environment's, or asked for."""
    from ..rtsp.address import parse_address

    try:
        address = parse_address(url.reveal()) if url is not None else None
    except ValueError:
        return name, None  # the report says what is wrong with it
    if address and address.login_password:
        return name, None
    login_name = name or (address and address.login_name)
    if login_name and os.environ.get(CAMERA_PASSWORD):
        return login_name, Secret(os.environ[CAMERA_PASSWORD])
    return name, ask_secret(f"password of {name}: ") if name else None
