"""What goes around an import: the camera is tried before it, the device is looked for after it."""

import time
from typing import TYPE_CHECKING

from .arguments import wrong
from .client import Client
from .endpoints import B1
from .errors import LOOKED_UP, ApiError, ConfkitError
from .explanations import explain
from .listing import find_device
from .masking import mask_address
from .records import Device
from .users import get_room_users

if TYPE_CHECKING:
    from .rtsp.report import Report

_PAUSE = 0.25  # seconds between two looks


class PreflightFailed(ConfkitError):
    """The camera does not play, so the service was not asked to import it; `report` says why."""

    report: "Report"


class NotInRoom(ConfkitError):
    """A device was imported and then was not seen in its room; `device` is what was imported."""

    device: Device


def preflighted(device: Device, known: "bool | Report" = True) -> "Report | None":
    """The report of a camera that plays; None where a device cannot be tried (sip, h323).

    A report that is `known` counts, and nothing is tried again; ParameterError when it is of
    another address.
    """
    from .cameras import bare, can_be_tried, preflight_of
    from .rtsp.report import Report

    if not can_be_tried(device):
        return None
    report = known if isinstance(known, Report) else preflight_of(device)
    if report is known and report.subject != bare(device):
        problem = f"The report is of {report.subject}, and the device is at {bare(device)}."
        raise wrong(B1, problem, "Make a preflight of this address.")
    if report.ok:
        return report
    failed = PreflightFailed(
        f"{mask_address(device.user_id)!r} was not imported and nothing was sent to the service",
        report.advice,
        cause=f"{report.verdict}: {report.cause}",
    )
    failed.report = report
    raise failed


def advised(error: ApiError, device: Device) -> None:
    """Nothing; the error of a refused import (426, 427) gets the call that finds out why."""
    from .diagnosis.lines import diagnose_call

    if error.ret in (426, 427):
        cause = explain(error).cause
        error.advice = f"{_looked(error)}{cause} To learn which: {diagnose_call(device)}"


def _looked(error: ApiError) -> str:
    """The sentence with which the error's advice says that the change was looked up."""
    return f"{LOOKED_UP} " if error.advice.startswith(LOOKED_UP) else ""


def there(error: ApiError, device: Device) -> None:
    """Nothing; the error of an import that is refused because this very device is there (423) says
    so: the one before it, whose answer may have been lost, has brought it in."""
    error.advice = (
        f"{mask_address(device.user_id)!r} is in room {device.room_id!r} with this address, by an "
        "earlier import: nothing is left to do."
    )


def explained(error: ApiError, client: Client, device: Device, passed: "Report") -> None:
    """Nothing; the error of a refused import (426, 427) gets the report of what stood in the way.

    `passed` is the report of the camera, which plays from here.
    """
    from .diagnosis.chain import Chain

    if error.ret not in (426, 427):
        return
    report = Chain(client, device, lambda _: passed, refused=True).report()
    error.cause = f"{error.cause.rstrip(' .')}. {_looked(error)}{report.verdict}: {report.cause}"
    error.report, error.advice = report, report.advice


def see(client: Client, device: Device, patience: float) -> None:
    """Nothing, once B3 and A6 both show the device; NotInRoom when they do not in time."""
    end = time.monotonic() + patience
    while (missing := _missing(client, device)) and time.monotonic() < end:
        time.sleep(_PAUSE)
    if missing:
        room_id, called = device.room_id, mask_address(device.user_id)
        error = NotInRoom(
            f"{called!r} was imported into room {room_id!r}, and {missing}",
            f"To find out why: ck.diagnose_device(client, {room_id!r}, {called!r})",
        )
        error.device = device
        raise error


def _missing(client: Client, device: Device) -> str:
    """Where the device is not seen; empty when it is seen in B3 and in A6."""
    try:
        if find_device(client, device.room_id, device.user_id) is None:
            return "the service does not list it (B3)"
        users = get_room_users(client, device.room_id)
    except ConfkitError as error:
        return f"whether it is there could not be read: {error}"
    seen = any(user.user_id == device.user_id for user in users)
    return "" if seen else "it is not among the room's users (A6)"
