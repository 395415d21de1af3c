"""What goes around an import: the camera is tried before it, a refusal is explained after it."""

from ..client import Client
from ..codes import explain
from ..devices import PreflightFailed
from ..endpoints import B1, wrong
from ..errors import LOOKED_UP, ApiError
from ..records import Device
from ..rtsp.report import Report
from ..secret import mask_address
from .chain import Chain
from .device_address import bare, can_be_tried, preflight_of
from .lines import diagnose_call


def preflighted(device: Device, known: bool | Report = True) -> Report | None:
    """Return the report of a camera that plays; None where none can be tried (sip, h323).

    A report that is `known` counts, and nothing is tried again; ParameterError when it is of
    another address. PreflightFailed when the camera does not play.
    """
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


def explained(error: ApiError, client: Client, device: Device, passed: Report | None) -> None:
    """Tell in the error of a refused import (426, 427) what stood in the way, with a report.

    `passed` is the report of the camera, which plays from here; without one the error gets the
    call that finds out why.
    """
    if error.ret not in (426, 427):
        return
    looked = f"{LOOKED_UP} " if error.looked else ""
    if passed is None:
        error.advice = f"{looked}{explain(error).cause} To learn which: {diagnose_call(device)}"
        return
    report = Chain(client, device, lambda _: passed, refused=True).report()
    error.cause = f"{error.cause.rstrip(' .')}. {looked}{report.verdict}: {report.cause}"
    error.report, error.advice = report, report.advice
