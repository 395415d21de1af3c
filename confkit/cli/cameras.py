"""The commands `preflight` and `diagnose`: does a camera play, and why is it not in its room?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from ..connect import CAMERA_PASSWORD, ask_secret
from ..errors import ConfigError
from ..secret import Secret, mask
from ..text import say
from .options import connected, named

if TYPE_CHECKING:
    from ..rtsp.report import Report


def preflight(options: argparse.Namespace) -> int:
    """Say in one sentence whether an RTSP camera plays from this machine, and what to do if not.

    It plays the camera over one connection, with one login at most, and changes nothing. It needs
    no service, so it can run on the service's own host, which dials the cameras itself.

    A camera's password is never an option: it is asked for where a login name is given, or taken
    from CONFKIT_CAMERA_PASSWORD. Exit status 0 when all is well, 1 when something is wrong.
    """
    from ..rtsp.preflight import preflight

    url, name, password = _login(options.url, options.login_name)
    with _sensible():
        report = preflight(
            url or "",
            name,
            password,
            transport=options.transport,
            timeout=options.timeout,
            observe=options.observe,
            verify=not options.no_verify,
        )
    return _shown(report, options.snapshot)


def diagnose(options: argparse.Namespace) -> int:
    """Say in one sentence why a device is not in its room, and what to do.

    It goes from the room to the camera, and stops at what is wrong. Without USER it looks at the
    room's first device that has a problem. Address and login of the camera are those that the
    service lists.

    A camera's password is never an option: it is asked for where a login name is given, or taken
    from CONFKIT_CAMERA_PASSWORD. Exit status 0 when all is well, 1 when something is wrong.
    """
    from ..diagnosis import diagnose_device
    from ..diagnosis.findings import diagnose_line

    address, name, password = _login(options.address, options.login_name)
    with connected(options) as client, _sensible():
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
    if report.verdict == "not_imported" and address is None:
        line = diagnose_line(options.room, options.user)
        report = replace(report, advice=f"Say which camera, and it is tried too: {line}")
    status = _shown(report)
    if "ck." in report.advice:
        profile = repr(profile) if (profile := named(options)) else ""
        known = f"import confkit as ck; client = ck.connect({profile})"
        say(f"  To run what begins with ck., start Python so: python3 -ic {quote(known)}")
    return status


@contextmanager
def _sensible() -> Iterator[None]:
    """Inside, an option that makes no sense is an error of one line."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(mask(str(error))) from None


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


def _shown(report: Report, file: str | None = None) -> int:
    """The exit status of a report that was printed; its picture is written into this file."""
    say(report)
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
