"""What panels show of a camera, as HTML: its stages, the verdict, the picture. No widgets here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING

from ..errors import ConfkitError
from ..records import Device
from ..rtsp.report import FAILED, OK, RUNNING, SKIPPED, Report, Snapshot, Stage
from ..secret import mask_address

if TYPE_CHECKING:
    from ..sandbox import Sandbox

_MARKS = {OK: "✓", FAILED: "✗", SKIPPED: "-", RUNNING: "…"}
_WORDS = {OK: "passed", FAILED: "failed", SKIPPED: "left out", RUNNING: "under way"}
_WIDE, _NARROW = 640, 240  # pixels of a preflight's picture and of a thumbnail


def stages_html(stages: Iterable[Stage], cause: str = "") -> str:
    """The stages as a table: mark, name, time, and what is worth knowing; a `cause` that is told
    elsewhere is not repeated."""
    rows = "".join(
        f'<tr class="confkit-stage-{stage.outcome}">'
        f'<td><span role="img" aria-label="{_WORDS[stage.outcome]}">{_MARKS[stage.outcome]}</span>'
        f'</td><th scope="row">{escape(stage.name)}</th><td>{_time(stage)}</td>'
        f"<td>{escape(_told(stage, cause))}</td></tr>"
        for stage in stages
    )
    return f'<table class="confkit-stages" aria-label="Stages">{rows}</table>'


def listener(show: Callable[[str], object], stages: list[Stage]) -> Callable[[Stage], None]:
    """What a preflight calls with its stages: keeps them in this list and shows them."""

    def listen(stage: Stage) -> None:
        if stages and stages[-1].outcome == RUNNING:
            stages.pop()
        stages.append(stage)
        show(stages_html(stages))

    return listen


def report_html(report: Report) -> str:
    """A report: verdict, cause, next step, picture and stages."""
    tone = "good" if report.ok else "bad"
    told = [
        f'<div class="confkit-verdict"><span class="confkit-badge confkit-tone-{tone}">'
        f"{escape(report.verdict)}</span> <code>{escape(report.subject)}</code></div>",
        f"<div>{escape(report.cause)}</div>",
        f'<div class="confkit-next">{escape(report.advice)}</div>',
    ]
    if report.snapshot:
        told.append(_image(report.snapshot, f"The first picture of {report.subject}", _WIDE))
    if facts := ", ".join(report.facts()):
        told.append(f'<div class="confkit-quiet">{escape(facts)}</div>')
    told += [
        f"<div><b>{escape(notice.grade)}</b>: {escape(notice.text)}</div>"
        for notice in report.warnings
    ]
    told.append(stages_html(report.stages, report.cause))
    return f'<div class="confkit-report">{"".join(told)}</div>'


def thumbnails_html(sandbox: Sandbox, devices: Iterable[Device]) -> str:
    """The newest picture of each of these devices, or why there is none."""
    pictures = "".join(_thumb(sandbox, device) for device in devices)
    return pictures and f'<div class="confkit-thumbnails">{pictures}</div>'


def _thumb(sandbox: Sandbox, device: Device) -> str:
    name = mask_address(device.user_name or device.user_id)
    try:
        snapshot = sandbox.snapshot(device.room_id, device.user_id)
        shown = _image(snapshot, f"The newest picture of {name}", _NARROW)
    except ConfkitError as error:
        told = escape(str(error))
        shown = f'<div class="confkit-no-picture" title="{told}">{told}</div>'
    return f"<figure>{shown}<figcaption>{escape(name)}</figcaption></figure>"


def _image(snapshot: Snapshot, alt: str, width: int) -> str:
    data = b64encode(snapshot.png(width)).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def _time(stage: Stage) -> str:
    return "" if stage.outcome == RUNNING else f"{stage.seconds * 1000:,.1f} ms"


def _told(stage: Stage, cause: str) -> str:
    detail = "" if stage.detail == cause else stage.detail
    return "; ".join(filter(None, (stage.status_line, detail)))
