"""The commands `preflight` and `diagnose`: does a camera play, and why is it not in its room?"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from ..connect import CAMERA_PASSWORD, ask_secret, connect_outside
from ..errors import ConfigError
from ..secret import Guarded, Secret, mask
from ..terminal import say
from .options import PROFILE, Commands, add_command, option, timeout

if TYPE_CHECKING:
    from ..rtsp.report import Report

_PASSWORD = (
    "A camera's password is never an option: it is asked for where a login name is given, or taken "
    f"from {CAMERA_PASSWORD}. "
)
_STATUS = "Exit status 0 when all is well, 1 when something is wrong."


def add_camera_commands(commands: Commands) -> None:
    """Add the two commands to those of `confkit`."""
    of_the_camera = (
        option("--login-name", metavar="NAME", help="of the camera"),
        timeout(20, "for the camera"),
    )
    preflight = add_command(
        commands,
        "preflight",
        _preflight,
        "try a camera from this machine",
        *of_the_camera,
        description="Tells in one sentence whether an RTSP camera plays from this machine, and "
        f"what to do when it does not. {_PASSWORD}{_STATUS}",
    )
    preflight.add_argument("url", type=Guarded, metavar="URL", help="rtsp://host:554/path")
    preflight.add_argument("--transport", choices=("auto", "tcp", "udp"), default="auto")
    preflight.add_argument(
        "--observe", type=float, default=0.0, metavar="S", help="measure the stream for S seconds"
    )
    preflight.add_argument(
        "--no-verify", action="store_true", help="rtsps: trust any certificate of the camera"
    )
    preflight.add_argument("--snapshot", metavar="FILE", help="write the picture there, as PNG")

    diagnose = add_command(
        commands,
        "diagnose",
        _diagnose,
        "why is a device not in its room?",
        PROFILE,
        *of_the_camera,
        description="Tells in one sentence why a device is not in its room, and what to do. "
        "Without USER it looks at the room's first device that has a problem. Address and login of "
        f"the camera are those that the service lists. {_PASSWORD}{_STATUS}",
    )
    diagnose.add_argument("room", metavar="ROOM", help="the room's ID")
    diagnose.add_argument("user", metavar="USER", nargs="?", help="the device's user ID")
    diagnose.add_argument(
        "--address", type=Guarded, metavar="URL", help="the camera's, where it is not listed"
    )
    diagnose.add_argument(
        "--force", action="store_true", help="try the camera even while the service plays it"
    )


def _preflight(options: argparse.Namespace) -> int:
    from ..rtsp.preflight import preflight

    url, name, password = _login(options.url, options.login_name)
    try:
        report = preflight(
            url or "",
            name,
            password,
            transport=options.transport,
            timeout=options.timeout,
            observe=options.observe,
            verify=not options.no_verify,
        )
    except ValueError as error:  # an option that makes no sense
        raise ConfigError(mask(str(error))) from None
    return _told(report, options.snapshot)


def _diagnose(options: argparse.Namespace) -> int:
    from ..diagnosis import diagnose_device
    from ..diagnosis.findings import diagnose_line

    address, name, password = _login(options.address, options.login_name)
    with connect_outside(options.profile) as client:
        try:
            report = diagnose_device(
                client,
                options.room,
                options.user,
                address,
                login_name=name,
                login_password=password,
                force=options.force,
                timeout=options.timeout,
            )
        except ValueError as error:
            raise ConfigError(mask(str(error))) from None
    if report.verdict == "not_imported" and address is None:
        line = diagnose_line(options.room, options.user)
        report = replace(report, advice=f"Say which camera, and it is tried too: {line}")
    status = _told(report)
    if "ck." in report.advice:
        profile = repr(options.profile) if options.profile else ""
        known = f"import confkit as ck; client = ck.connect({profile})"
        say(f"  To run what begins with ck., start Python so: python3 -ic {quote(known)}")
    return status


def _login(url: str | None, login_name: str | None) -> tuple[str | None, str | None, Secret | None]:
    """Address, login name and password: of the address, of the environment, or asked for."""
    from ..rtsp.address import parse_address

    inside = password = None
    if url is not None:
        try:
            address = parse_address(url)
        except ValueError:
            return url, login_name, None  # the report says what is wrong with it
        inside = address.login_name
        if address.login_password:
            return url, login_name, None
    if os.environ.get(CAMERA_PASSWORD) and (login_name or inside):
        password = Secret(os.environ[CAMERA_PASSWORD])
    elif login_name:
        password = ask_secret(f"password of {login_name}: ")
    if password is not None and inside and login_name in (None, inside):
        return address.url, inside, password  # or the address would say that it is empty
    return url, login_name, password


def _told(report: Report, file: str | None = None) -> int:
    say(report)
    if file is None:
        return 0 if report.ok else 1
    if report.snapshot is None:
        raise ConfigError(f"{file} was not written, as there is no picture")
    try:
        report.snapshot.save(file)
    except OSError as error:
        raise ConfigError(
            f"{file} was not written: {error.strerror}",
            "Name a file in a folder of yours where there is space.",
        ) from None
    return 0 if report.ok else 1
