"""What was found out about a camera: verdict, stages and the first picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import outcome_table
from ..text import one_line, without_maths, write_atomically

if TYPE_CHECKING:
    import pandas as pd

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
RUNNING = "running"  # of a stage that has only begun; none in a report is
_MARKS = {OK: "✓", FAILED: "✗", SKIPPED: "-"}
_BADGES = {OK: "PASS", FAILED: "FAIL", SKIPPED: "SKIP"}
_SHOWN_WIDTH = 400  # CSS pixels of the picture in a notebook


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: its time in seconds, the status line that came (or ""), "ok", "failed" or
    "skipped", and what is worth knowing about it."""

    name: str
    seconds: float
    status_line: str = ""
    outcome: str = OK
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that works and deserves attention all the same; `grade` is "note" or "warning"."""

    key: str
    grade: str
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A keyframe as the camera sent it; it becomes a PNG file when that is asked for."""

    codec: str
    keyframe: bytes = field(repr=False)
    width: int
    height: int

    @classmethod
    def of(cls, codec: str, keyframe: bytes) -> Snapshot:
        """Return the snapshot of a keyframe; raises ValueError when it does not decode."""
        from .picture import decode_frame

        picture = decode_frame(codec, keyframe)
        return cls(codec, keyframe, picture.width, picture.height)

    def png(self, width: int | None = None) -> bytes:
        """Return the picture as a PNG file, made smaller where it is wider than `width` pixels."""
        from .picture import decode_picture

        return decode_picture(self.codec, self.keyframe, width)

    def save(self, path: str | Path) -> Path:
        """Return the path, after the picture was written there as a PNG file; until it is whole
        a file that was there stays. Raises OSError when it cannot be written."""
        write_atomically(path, self.png())
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self.png()


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a preflight or a diagnosis found: one verdict, its cause, and the next step (`advice`).

    `verdict` is "ok" or a fixed name; `ok` says whether the camera plays.  `stages` ends with the
    furthest one reached.  `subject` is what was looked at, without its login.  Sizes are in pixels;
    what was not found out is None.
    """

    subject: str
    ok: bool
    verdict: str
    cause: str
    advice: str
    stages: tuple[Stage, ...] = ()
    codec: str | None = None
    profile: str | None = None
    width: int | None = None
    height: int | None = None
    transport: str | None = None
    authentication: str | None = None
    snapshot: Snapshot | None = field(default=None, repr=False)
    warnings: tuple[Notice, ...] = ()

    @property
    def seconds(self) -> float:
        """How long all of it took."""
        return sum(stage.seconds for stage in self.stages)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per stage: `stage`, `outcome`, `seconds`, `status_line`, `detail`."""
        import pandas as pd

        columns = ["name", "outcome", "seconds", "status_line", "detail"]
        types = {**dict.fromkeys(columns, "string"), "seconds": "float64"}
        frame = pd.DataFrame([asdict(stage) for stage in self.stages], columns=columns)
        return frame.astype(types).rename(columns={"name": "stage"})

    def facts(self) -> tuple[str, ...]:
        """Return what is known of the stream, each in a few words."""
        codec = {"h264": "H.264", "h265": "H.265", "mjpeg": "MJPEG"}.get(self.codec or "", "")
        known = (
            f"{codec} {self.profile or ''}".strip(),
            self.width and f"{self.width} x {self.height}",
            self.transport and f"over {self.transport.upper()}",
            "no login" if self.authentication == "none" else self.authentication,
        )
        return tuple(str(fact) for fact in known if fact)

    def __str__(self) -> str:
        """Return all of it as lines of text."""
        width = max((len(stage.name) for stage in self.stages), default=0)
        lines = [f"{self._mark} {self.verdict}: {self.subject}", f"  {self.cause}"]
        lines += [f"  -> {self.advice}", ""]
        lines += [
            f"  {_MARKS[stage.outcome]} {stage.name:{width}} {_time(stage):>11}"
            f"  {self._told(stage)}".rstrip()
            for stage in self.stages
        ]
        if self.facts():
            lines += ["", f"  {', '.join(self.facts())}"]
        lines += [f"  {notice.grade}: {notice.text}" for notice in self.warnings]
        return "\n".join(map(one_line, lines))

    def _repr_html_(self) -> str:
        from base64 import b64encode

        rows = [
            (_BADGES[stage.outcome], stage.name, _time(stage), self._told(stage))
            for stage in self.stages
        ]
        table = outcome_table(("outcome", "stage", "time", "what came"), rows)
        notes = "".join(
            f"<li><b>{notice.grade}</b>: {escape(notice.text)}</li>" for notice in self.warnings
        )
        picture = ""
        if self.snapshot:
            data = b64encode(self.snapshot.png()).decode()
            picture = (
                f"<img alt='The first picture of {escape(self.subject, quote=True)}' "
                f"style='width:{_SHOWN_WIDTH}px;max-width:100%' src='data:image/png;base64,{data}'>"
            )
        return without_maths(
            f"<div><p><b>{self._mark} {escape(self.verdict)}</b> "
            f"<code>{escape(self.subject)}</code><br>{escape(self.cause)}<br>"
            f"&rarr; {escape(self.advice)}</p>"
            "<div style='display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start'>"
            f"{picture}{table}</div>"
            f"<p>{escape(', '.join(self.facts()))}</p><ul>{notes}</ul></div>"
        )

    def _told(self, stage: Stage) -> str:
        """Return what a stage has to say besides the cause, which stands above all of them."""
        detail = "" if stage.detail == self.cause else stage.detail
        return "; ".join(filter(None, (stage.status_line, detail)))

    @property
    def _mark(self) -> str:
        return _MARKS[OK if self.ok else FAILED]


def _time(stage: Stage) -> str:
    return f"{stage.seconds * 1000:.1f} ms"
