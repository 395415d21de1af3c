"""Why is a device not in its room? A diagnosis on its own, and before and after an import."""

from __future__ import annotations

from typing import Any

from ..client import Client
from ..devices import PreflightFailed, check_address
from ..errors import ApiError
from ..operations import A3, B1
from ..records import Device, parameter_error, parse_id
from ..rtsp.report import Report
from ..secret import Secret, SecretAddress, redact
from .calls import diagnose_call
from .camera import address_without_login, can_be_tried, preflight_of
from .walk import walk


def diagnose_device(
    client: Client,
    room_id: str,
    user_id: str | None = None,
    user_address: str | SecretAddress | None = None,
    *,
    login_name: str | None = None,
    login_password: str | Secret | None = None,
    **options: Any,
) -> Report:
    """Find out why a device is not in its room: one verdict, its cause, and the next step.

    The device is given by its user ID, its address, or both; without them the first of the room's
    devices with a problem is diagnosed. The camera is tried from here, with the login of B3 if none
    is given, unless the service plays it, as some cameras allow one connection only. `options`,
    such as `timeout`, are those of `preflight`. Errors of the service are part of the report;
    only an invalid argument is raised (ParameterError).
    """
    login_password = Secret(login_password) if login_password is not None else None
    if user_address is not None:
        user_address = SecretAddress(user_address)
        check_address(B1, user_address)
    login = {"login_name": login_name, "login_password": login_password}
    device = Device(
        parse_id(A3, "room_id", room_id),
        "" if user_id is None else parse_id(B1, "user_id", user_id),
        user_address=user_address,
        options={name: value for name, value in login.items() if value is not None},
    )
    return walk(client, device, **options)


def require_preflight(device: Device, known: bool | Report = True) -> Report | None:
    """Return the `known` or a new report of a camera, else PreflightFailed; None for sip and
    h323. ParameterError: the known one is of another address."""
    if not can_be_tried(device):
        return None
    report = known if isinstance(known, Report) else preflight_of(device)
    address = address_without_login(device)
    if report is known and report.subject != address:
        problem = f"The report is of {report.subject}, but the device is at {address}."
        raise parameter_error(B1, problem, "Run a preflight of this address.")
    if report.ok:
        return report
    error = PreflightFailed(
        f"{redact(device.user_id)!r} was not imported and nothing was sent to the service",
        report.advice,
        cause=f"{report.verdict}: {report.cause}",
    )
    error.report = report
    raise error


def explain_refusal(error: ApiError, client: Client, device: Device, known: Report | None) -> None:
    """Add the reason to the error of a refused import (426, 427), and a report if the camera plays
    from here (`known`). Without that the error names the call that finds the reason."""
    if error.ret not in (426, 427):
        return
    if known is None and can_be_tried(device):
        call = diagnose_call(device)
        error.advice = f"The cause is the room or the camera. To find out which: {call}"
        return
    report = walk(client, device, known, refused=True)
    error.cause = f"{error.cause.rstrip(' .')}. {report.verdict}: {report.cause}"
    error.advice = report.advice
    if known is not None:
        error.report = report
