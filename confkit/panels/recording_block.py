"""The block of a panel in which a recording is begun, followed and ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import tzinfo
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets

from ..errors import ConfigError
from . import arranging
from .folders import placed
from .parts import Table
from .recordings import Recording, going_on, recording_told
from .reports import report_columns

if TYPE_CHECKING:
    import pandas as pd

PACE = {"every 15 s": 15.0, "every minute": 60.0, "every 5 minutes": 300.0,
        "every 15 minutes": 900.0}  # fmt: skip


class RecordingBlock(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """The folder, how often, Record and Stop, how far it is, and the folder's capacity report."""

    def __init__(
        self, folder: str, *, record: Callable[..., object], stop: Callable[..., object],
        report: Callable[..., object], choose: Callable[[str], object],
        tz: tzinfo | None = None,
    ) -> None:  # fmt: skip
        self._tz = tz
        self.entry = arranging.entry("Folder", folder, "such as occupancy/", "grow")
        self.wrong = arranging.text()
        self.entry.observe(lambda _: self._check(), "value")
        self._pace = arranging.choice("Sweeps", list(PACE.items()))
        self._pace.value = 60.0
        self.record_button = arranging.button("Record", record)
        self.stop_button = arranging.button("Stop", stop)
        self.state = arranging.text()
        self.report = Table("Capacity", "room_id", report_columns(), on_choice=choose)
        head = arranging.row(
            self.entry, self._pace, self.record_button, self.stop_button,
            arranging.button("Capacity report", report),
        )  # fmt: skip
        super().__init__([arranging.block("Recording", head, self.wrong, self.state, self.report)])
        for widget in (self.wrong, self.stop_button, self.state, self.report):
            arranging.shown(widget, False)

    @property
    def folder(self) -> str:
        """What stands in the field."""
        return str(self.entry.value).strip()

    @property
    def every(self) -> float:
        """How many seconds lie between two sweeps."""
        return float(self._pace.value)

    @property
    def path(self) -> Path:
        """The folder; ConfigError where none is given, or there can be none."""
        return placed(self.folder)

    def give(self, folder: str | os.PathLike[str]) -> None:
        """Put this into the field. ConfigError: there can be no such folder."""
        placed(folder)
        self.entry.value = os.fsdecode(folder)

    def found(self) -> Recording | None:
        """The recording into the folder that goes on already."""
        return going_on(self.path) if self.folder else None

    def follow(self, recording: Recording) -> None:
        """Show whatever becomes of this recording from now on."""
        recording.hear.append(lambda: self._show(recording))
        self._show(recording)

    def shows(self, report: pd.DataFrame) -> None:
        """Show the capacity report."""
        self.report.show(report, f"{len(report):,} rooms recorded in {self.folder}")
        arranging.shown(self.report, True)

    def _check(self) -> None:
        told = ""
        if self.folder:  # without one there is just no recording
            try:
                placed(self.folder)
            except ConfigError as error:
                told = f'<div class="confkit-status confkit-bad">{escape(str(error))}</div>'
        self.wrong.value = told
        arranging.shown(self.wrong, bool(told))

    def _show(self, recording: Recording) -> None:
        self.state.value = recording_told(recording, self._tz)
        arranging.shown(self.state, bool(self.state.value))
        arranging.shown(self.record_button, recording.ended)
        arranging.shown(self.stop_button, not recording.ended)
        self.entry.disabled = self._pace.disabled = not recording.ended
