"""The commands `preflight` and `diagnose`: does a camera play, and why is it not in its room?"""

from __future__ import annotations

import os
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..connect import CAMERA_PASSWORD, ask_secret
from ..errors import ConfigError
from ..secret import Secret, SecretAddress, redact
from ..text import echo
from .options import connected, named

if TYPE_CHECKING:
    from ..rtsp.report import Report


def preflight(url: SecretAddress, login_name: str | None, snapshot: str | None, **how: Any) -> int:
    """Say in one sentence whether an RTSP camera plays from this machine, and what to do if not.

    It plays the camera over one connection, with one login at most, and changes nothing. It needs
    no service, so it can run on the service's own host, which dials the cameras itself.

    A camera's password is never an option: it is asked for where a login name is given, or taken
    from CONFKIT_CAMERA_PASSWORD. Exit status 0 when all is well, 1 when something is wrong.
    """
    from ..rtsp.preflight import preflight

    address, name, password = _login(url, login_name)
    return _shown(preflight(address or "", name, password, **how), snapshot)


def diagnose(
    room_id: str,
    user_id: str | None,
    address: SecretAddress | None,
    login_name: str | None,
    profile: str | None,
    sandbox: bool,
    **how: Any,
) -> int:
    """Say in one sentence why a device is not in its room, and what to do.

    It goes from the room to the camera, and stops at what is wrong. Without USER it looks at the
    room's first device that has a problem. Address and login of the camera are those that the
    service lists.

    A camera's password is never an option: it is asked for where a login name is given, or taken
    from CONFKIT_CAMERA_PASSWORD. Exit status 0 when all is well, 1 when something is wrong.
    """
    from ..diagnosis import diagnose_device

    url, name, password = _login(address, login_name)
    with connected(profile, sandbox) as client:
        report = diagnose_device(
            client, room_id, user_id, url, login_name=name, login_password=password, **how
        )
    if report.verdict == "not_imported" and url is None:
        device = f"{quote(room_id)} {quote(redact(user_id or 'USER_ID'))}"
        line = f"confkit diagnose {device} --address rtsp://... [--login-name NAME]"
        report = replace(report, advice=f"Say which camera, and it is tried too: {line}")
    status = _shown(report)
    if "ck." in report.advice:
        service = repr(name) if (name := named(profile, sandbox)) else ""
        known = f"import confkit as ck; client = ck.connect({service})"
        echo(f"  To run what begins with ck., start Python so: python3 -ic {quote(known)}")
    return status


def _login(
    url: SecretAddress | None, login_name: str | None
) -> tuple[SecretAddress | None, str | None, Secret | None]:
    """Address, login name and password: of the address, of the environment, or asked for."""
    from ..rtsp.address import parse_address

    try:
        address = parse_address(url.reveal()) if url is not None else None
    except ValueError:
        return url, login_name, None  # the report says what is wrong with it
    inside = address.login_name if address else None
    password = None
    if address and address.login_password:
        return url, login_name, None
    if os.environ.get(CAMERA_PASSWORD) and (login_name or inside):
        password = Secret(os.environ[CAMERA_PASSWORD])
    elif login_name:
        password = ask_secret(f"password of {login_name}: ")
    if address and password is not None and inside and login_name in (None, inside):
        # With the login's name in it the address would say that the password is empty.
        return SecretAddress(address.url), inside, password
    return url, login_name, password


def _shown(report: Report, file: str | None = None) -> int:
    """The exit status of a report that was printed; its picture is written into this file."""
    echo(report)
    if file is not None:
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
