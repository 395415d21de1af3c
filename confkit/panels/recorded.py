"""The folder of a recording: how to record into it, what it holds, and its capacity report."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets

from ..errors import ConfigError, ConfkitError
from ..occupancy.files import OvertakenError
from ..occupancy.folder import contents
from ..occupancy.loading import load_occupancy, recorded_rooms
from . import arranging
from .parts import Column, Table
from .room_list import age, rooms_told

if TYPE_CHECKING:
    import pandas as pd

    from .readings import Reading

_LATELY = timedelta(days=1)  # how far back the last sample is looked for


def placed(given: str | os.PathLike[str]) -> Path:
    """The whole path of a folder, which need not be there. ConfigError: there can be none."""
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(f"folder is of type {type(given).__name__}", "Give a path.")
    text = os.fsdecode(given).strip()
    if not text:
        raise ConfigError("no folder is given", "Name the folder of a recording.")
    try:
        path = Path(text).expanduser().absolute()
        with suppress(FileNotFoundError):
            path.stat()
    except (RuntimeError, ValueError, OSError) as error:  # no such user, a NUL, a name too long
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{text} can be no folder ({why})", "Give a path such as occupancy/"
        ) from error
    return path


def of_a_recording(path: Path) -> Path:
    """The folder, as it is. ConfigError: it holds other things and no sample, or is closed to us.

    To look into it as if it were a recording would name its files in a warning, which a panel's
    thread writes where nobody looks for it.
    """
    try:
        found = contents(path)
    except OvertakenError:
        return path  # it is written right now
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror})", "Look at it.") from error
    if found.strange and not (found.parts or found.hot):
        raise ConfigError(
            f"{path} is no recording: it holds {min(found.strange).name}, and no sample",
            "Give the folder of a recording, or the name of a new one, and record into it.",
        )
    return path


def holding(folder: str) -> str:
    """What the folder holds, in a sentence, with the lines that record into it. ConfigError: there
    can be no such folder, or it holds something else."""
    path = placed(folder)
    found = "Nothing is recorded there yet"
    if path.is_dir():
        rooms = recorded_rooms(of_a_recording(path))
        lately = load_occupancy(path, since=datetime.now(UTC) - _LATELY)["time"]
        last = "none in the last day" if lately.empty else f"the last {age(lately.max())} ago"
        found = f"It holds samples of {rooms_told(len(rooms))}, {last}"
    line = f"confkit record {shlex.quote(folder)} --rooms rooms.csv --every 60"
    cell = f'ck.Recorder({folder!r}).record(client, panel.value["room_id"], every=60)'
    return f"{found}. To record: {line} in a terminal, or {cell} in a notebook of its own."


class RecordedBlock(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """The folder, what it holds and how to record into it, and its capacity report."""

    def __init__(
        self, folder: str, *, look: Callable[[], object], report: Callable[..., object],
        choose: Callable[[str], object],
    ) -> None:  # fmt: skip
        self.entry = arranging.entry("Folder", folder, "such as occupancy/", "grow")
        self.entry.observe(lambda _: look(), "value")
        self.state = arranging.text()
        self.report = Table("Capacity", "room_id", _columns(), on_choice=choose)
        head = arranging.row(self.entry, arranging.button("Capacity report", report))
        super().__init__([arranging.block("Recording", head, self.state, self.report)])
        arranging.shown(self.state, False)
        arranging.shown(self.report, False)

    @property
    def folder(self) -> str:
        """What stands in the field."""
        return str(self.entry.value).strip()

    def look(self) -> None:
        """Show what the folder holds, or why it is none; of no folder that is nothing."""
        told, tone = "", "quiet"
        try:
            told = holding(self.folder) if self.folder else ""
        except ConfkitError as error:
            told, tone = str(error), "bad"
        self.state.value = f'<div class="confkit-status confkit-{tone}">{escape(told)}</div>'
        arranging.shown(self.state, bool(told))

    def show(self, report: pd.DataFrame, reading: Reading | None) -> None:
        """Show the capacity report with the topics of the rooms that were read; first what would
        change."""
        room = report["room_id"]
        if reading is not None:
            room = room.map(reading.frame.set_index("room_id")["topic"]).fillna(room)
        change = (report["suggested"] - report["attendee_max"]).fillna(0).abs()
        order = change.sort_values(ascending=True, kind="stable").index
        told = f"{rooms_told(len(report))} recorded in {self.folder}"
        self.report.show(report.assign(room=room).loc[order], told)
        arranging.shown(self.report, True)


def _columns() -> list[Column]:
    return [
        Column("room", "Room"),
        Column("attendee_max", "Cap now", right=True),
        Column("peak", "Peak", right=True),
        Column("p95", "95 %", right=True, wide=True),
        Column("suggested", "Suggested", right=True),
        Column("reason", "Why"),
    ]
