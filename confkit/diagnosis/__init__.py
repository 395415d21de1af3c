"""Why is a device not in its room? Asked by itself, and before and after an import."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..client import Client
from ..devices import PreflightFailed
from ..errors import ApiError
from ..operations import A3, B1
from ..records import Device, parameter_error, parse_id, preview
from ..rtsp.report import Report
from ..secret import Secret, SecretAddress, redact
from ..wire import check_sendable
from .calls import diagnose_call
from .camera import address_without_login, can_be_tried, preflight_of
from .walk import Walk


def diagnose_device(
    client: Client,
    room_id: str,
    user_id: str | None = None,
    user_address: str | SecretAddress | None = None,
    *,
    login_name: str | None = None,
    login_password: str | Secret | None = None,
    force: bool = False,
    timeout: float = 20.0,
    **options: Any,
) -> Report:
    """Why a device is not in its room: one verdict, its cause, and the next step.

    The device is named by its user ID, its address, or both; without them the first of the room's
    devices that has a problem is looked at. The camera is tried from here, with the login of B3
    where none is given, unless the service plays it: some cameras give one connection only.
    `force` tries it all the same. `timeout` (seconds) and `options` are those of `preflight`. What
    the service answers is part of the report; only a wrong argument is raised (ParameterError).
    """
    login_password = Secret(login_password) if login_password is not None else None
    if user_address is not None:
        if not isinstance(user_address, str | Secret) or not user_address:
            problem = f"user_address is {preview(user_address)}."
            raise parameter_error(B1, problem, "Give a user_address that is not empty.")
        user_address = SecretAddress(user_address)
        check_sendable(B1, {"user_address": user_address})
    login = {"login_name": login_name, "login_password": login_password}
    device = Device(
        parse_id(A3, "room_id", room_id),
        "" if user_id is None else parse_id(B1, "user_id", user_id),
        user_address=user_address,
        options={name: value for name, value in login.items() if value is not None},
    )
    look = partial(preflight_of, timeout=timeout, **options)
    return Walk(client, device, look, force).report()


def require_preflight(device: Device, known: bool | Report = True) -> Report | None:
    """Return the report of a camera that plays; None where none can be tried (sip, h323).

    A report that is `known` counts, and nothing is tried again; ParameterError when it is of
    another address. PreflightFailed when the camera does not play.
    """
    if not can_be_tried(device):
        return None
    report = known if isinstance(known, Report) else preflight_of(device)
    address = address_without_login(device)
    if report is known and report.subject != address:
        problem = f"The report is of {report.subject}, and the device is at {address}."
        raise parameter_error(B1, problem, "Make a preflight of this address.")
    if report.ok:
        return report
    failed = PreflightFailed(
        f"{redact(device.user_id)!r} was not imported and nothing was sent to the service",
        report.advice,
        cause=f"{report.verdict}: {report.cause}",
    )
    failed.report = report
    raise failed


def explain_refusal(error: ApiError, client: Client, device: Device, passed: Report | None) -> None:
    """Say in the error of a refused import (426, 427) what stood in the way.

    `passed` is the report of the camera, which plays from here: the error gets a report, too.
    Without one it gets the call that finds out why, unless only the service can dial the device.
    """
    if error.ret not in (426, 427):
        return
    if passed is None and can_be_tried(device):
        call = diagnose_call(device)
        error.advice = f"The room or the camera stood in the way. To learn which: {call}"
        return
    report = Walk(client, device, lambda _: passed or preflight_of(device), refused=True).report()
    error.cause = f"{error.cause.rstrip(' .')}. {report.verdict}: {report.cause}"
    error.advice = report.advice
    if passed is not None:
        error.report = report
