"""The report on a camera: verdict, stages and the first picture."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checks import Check, Outcome, checks_table
from ..text import one_line, without_maths

if TYPE_CHECKING:
    import av
    import pandas as pd

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
RUNNING = "running"  # of a stage in progress; never in a report
_OUTCOMES: dict[str, Outcome] = {OK: "PASS", FAILED: "FAIL", SKIPPED: "SKIP"}
_CODECS = {"h264": "H.264", "h265": "H.265", "mjpeg": "MJPEG"}
_DISPLAY_WIDTH = 400  # CSS pixels of the picture in a notebook


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: its time in seconds, the received status line (or ""), "ok", "failed" or "skipped",
    and a detail."""

    name: str
    seconds: float
    status_line: str = ""
    outcome: str = OK
    detail: str = ""


OnStage = Callable[[Stage], object]


class Stages:
    """The stages so far, timed. Beginning the next one ends the current one, which is "ok" unless
    its `outcome` was set; `status_line` and `detail` also belong to the current stage."""

    name = ""

    def __init__(self, name: str, on_stage: OnStage | None = None) -> None:
        """Begin with the stage `name`; `on_stage` is called at the start and end of each stage."""
        self._ended: list[Stage] = []
        self._on_stage = on_stage or (lambda _: None)
        self.begin(name)

    def begin(self, name: str) -> None:
        """End the current stage, and begin the next."""
        self.end()
        self.name, self.outcome = name, OK
        self.status_line = self.detail = ""
        self._start = time.perf_counter()
        self._on_stage(Stage(name, 0.0, outcome=RUNNING))

    def skip(self, detail: str) -> None:
        """End the current stage as skipped, with the reason."""
        self.outcome, self.detail = SKIPPED, detail
        self.end()

    def end(self, failure: str = "") -> tuple[Stage, ...]:
        """End the current stage, as failed if there is a `failure`, and return all stages."""
        if self.name:
            if failure:
                self.outcome, self.detail = FAILED, failure
            seconds = time.perf_counter() - self._start
            stage = Stage(self.name, seconds, self.status_line, self.outcome, self.detail)
            self._ended.append(stage)
            self.name = ""
            self._on_stage(stage)
        return tuple(self._ended)


class Notice(NamedTuple):
    """A remark on a camera that plays; `grade` is "note" or "warning"."""

    key: str
    grade: str
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A keyframe as the camera sent it, converted to PNG on demand."""

    codec: str
    keyframe: bytes = field(repr=False)
    width: int
    height: int
    refreshing: bool = field(default=False, repr=False)

    @classmethod
    def of(cls, codec: str, keyframe: bytes, refreshing: bool = False) -> Snapshot:
        """Return the snapshot of a keyframe; ValueError if it does not decode. `refreshing`: it
        begins a gradual refresh, so that parts of the picture come later."""
        picture = decode_frame(codec, keyframe, refreshing)
        return cls(codec, keyframe, picture.width, picture.height, refreshing)

    def png(self, width: int | None = None) -> bytes:
        """Return the picture as a PNG file, scaled down to at most `width` pixels."""
        picture: Any = decode_frame(self.codec, self.keyframe, self.refreshing)
        image, file = picture.to_image(), BytesIO()
        image.thumbnail((width or image.width, image.height))
        image.save(file, "png", compress_level=2)  # fast
        return file.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()


def decode_frame(codec: str, keyframe: bytes, incomplete: bool = False) -> av.VideoFrame:
    """Return the decoded keyframe (an access unit); ValueError if it does not decode.

    A picture that the decoder had to conceal errors in is rejected, unless it may be `incomplete`.
    """
    import av

    context: Any = av.CodecContext.create("hevc" if codec == "h265" else codec, "r")
    context.thread_count = 1  # with several, a corrupt picture is not marked
    # Otherwise I pictures that are no IDR are held back; the decoder of JPEG never marks a picture.
    is_jpeg = codec == "mjpeg"
    context.options = {"err_detect": "explode"} if is_jpeg else {"flags": "+output_corrupt"}
    try:
        pictures = [*context.decode(av.Packet(keyframe)), *context.decode(None)]
    except av.FFmpegError:
        pictures = []
    if not pictures or (pictures[0].is_corrupt and not incomplete):
        raise ValueError(f"The keyframe does not decode as {codec}.")
    picture: av.VideoFrame = pictures[0]
    return picture


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result of a preflight or a diagnosis: a verdict, its cause, and the next step (`advice`).

    `verdict` is "ok" or a fixed name; `ok`: the camera plays. `stages` ends with the last one
    reached. `subject` is the camera or device, without its login. Sizes are in pixels; unknown
    facts are None. `warnings` are remarks on a camera that plays.
    """

    subject: str
    ok: bool
    verdict: str
    cause: str
    advice: str
    stages: tuple[Stage, ...] = ()
    codec: str | None = None
    width: int | None = None
    height: int | None = None
    transport: str | None = None
    authentication: str | None = None
    snapshot: Snapshot | None = field(default=None, repr=False)
    warnings: tuple[Notice, ...] = ()

    @property
    def seconds(self) -> float:
        """The total time."""
        return sum(stage.seconds for stage in self.stages)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per stage: `stage`, `outcome`, `seconds`, `status_line`, `detail`."""
        import pandas as pd

        columns = ["name", "outcome", "seconds", "status_line", "detail"]
        types = {**dict.fromkeys(columns, "string"), "seconds": "float64"}
        frame = pd.DataFrame([asdict(stage) for stage in self.stages], columns=columns)
        return frame.astype(types).rename(columns={"name": "stage"})

    def facts(self) -> tuple[str, ...]:
        """Return the known facts about the stream, each in a few words."""
        facts = (
            _CODECS.get(self.codec or ""),
            self.width and f"{self.width} x {self.height}",
            self.transport and f"over {self.transport.upper()}",
            "no login" if self.authentication == "none" else self.authentication,
        )
        return tuple(str(fact) for fact in facts if fact)

    def _checks(self) -> list[Check]:
        """Return the stages as checks; the cause is not repeated."""
        checks = []
        for stage in self.stages:
            detail = "" if stage.detail == self.cause else stage.detail
            detail = "; ".join(filter(None, (stage.status_line, detail)))
            outcome = _OUTCOMES[stage.outcome]
            checks.append(Check(stage.name, outcome, detail, seconds=stage.seconds))
        return checks

    def __str__(self) -> str:
        """Return the report as lines of text."""
        mark = "✓" if self.ok else "✗"
        lines = [f"{mark} {self.verdict}: {self.subject}", f"  {self.cause}"]
        lines += [f"  -> {self.advice}", "", *(f"  {check}" for check in self._checks())]
        if self.facts():
            lines += ["", f"  {', '.join(self.facts())}"]
        lines += [f"  {notice.grade}: {notice.text}" for notice in self.warnings]
        return "\n".join(map(one_line, lines))

    def _repr_html_(self) -> str:
        mark = "✓" if self.ok else "✗"
        notes = "".join(
            f"<li><b>{notice.grade}</b>: {escape(notice.text)}</li>" for notice in self.warnings
        )
        picture = ""
        if self.snapshot:
            data = b64encode(self.snapshot.png(2 * _DISPLAY_WIDTH)).decode()
            picture = (
                f"<img alt='The first picture of {escape(self.subject, quote=True)}' "
                f"style='width:{_DISPLAY_WIDTH}px;max-width:100%' "
                f"src='data:image/png;base64,{data}'>"
            )
        return without_maths(
            f"<div><p><b>{mark} {escape(self.verdict)}</b> <code>{escape(self.subject)}</code><br>"
            f"{escape(self.cause)}<br>&rarr; {escape(self.advice)}</p>"
            "<div style='display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start'>"
            f"{picture}{checks_table(self._checks())}</div>"
            f"<p>{escape(', '.join(self.facts()))}</p><ul>{notes}</ul></div>"
        )
