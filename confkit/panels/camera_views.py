"""What panels show of cameras while they are tried, and once they play. No widgets here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from ..checks import outcome_table
from ..errors import ConfkitError
from ..records import Device
from ..rtsp.report import FAILED, OK, RUNNING, SKIPPED, Stage
from ..secret import redact

if TYPE_CHECKING:
    from ..sandbox import Sandbox

_BADGES = {OK: "PASS", FAILED: "FAIL", SKIPPED: "SKIP", RUNNING: "running"}
_WIDTH = 240  # pixels of a thumbnail


def stages_html(stages: Iterable[Stage]) -> str:
    """Return the stages of a preflight that is not over yet; its report shows all there is."""
    rows = [
        (_BADGES[one.outcome], one.name, f"{1000 * one.seconds:,.1f} ms" if one.seconds else "")
        for one in stages
    ]
    return outcome_table(("outcome", "stage", "time"), rows)


def thumbnails_html(sandbox: Sandbox, devices: Iterable[Device]) -> str:
    """Return the newest picture of each of these devices, or why there is none."""
    pictures = "".join(_thumbnail(sandbox, device) for device in devices)
    return pictures and f'<div class="confkit-thumbnails">{pictures}</div>'


def _thumbnail(sandbox: Sandbox, device: Device) -> str:
    name = escape(redact(device.user_name or device.user_id))
    try:
        data = b64encode(sandbox.snapshot(device.room_id, device.user_id).png(_WIDTH)).decode()
        shown = f'<img alt="The newest picture of {name}" src="data:image/png;base64,{data}">'
    except ConfkitError as error:
        why = escape(str(error))
        shown = f'<div class="confkit-no-picture" title="{why}">{why}</div>'
    return f"<figure>{shown}<figcaption>{name}</figcaption></figure>"
