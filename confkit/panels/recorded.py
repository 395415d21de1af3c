"""A room over time: its curve, and the folder of a recording with its capacity report."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path

import ipywidgets
import numpy as np
import pandas as pd

from ..charts.sheet import Chart
from ..errors import ConfigError, ConfkitError
from ..occupancy.folder import contents
from ..occupancy.loading import load_occupancy, recorded_rooms
from ..occupancy.samples import COLUMNS
from ..sweep import NOT_ASKED
from ..text import counted
from . import arranging
from .live import age
from .model import READ_AT
from .parts import Column, Table, View
from .room_card import problem_html

_CLOSE = 0.75  # of the usual interval: what comes sooner adds nothing
_LATELY = timedelta(days=1)  # how far back the last sample is looked for


# Samples


def samples_of(frame: pd.DataFrame, time: datetime | None = None) -> pd.DataFrame:
    """Return the rows as samples of this time, or of when each was read; what was not asked is
    none, and a failure is one with missing values and its code."""
    times = frame[READ_AT] if time is None else pd.Series(pd.Timestamp(time), frame.index)
    asked = times.notna() & frame["error"].ne(NOT_ASKED).fillna(True)
    return frame[asked].assign(time=times[asked].dt.as_unit("ms"))[list(COLUMNS)]


def joined(recorded: pd.DataFrame | None, read: pd.DataFrame, every: float = 0) -> pd.DataFrame:
    """Return one room's recorded samples, and those that were read while nothing was recorded.

    These come no closer to others than the recorded ones to each other, or, without such, than
    `every` seconds: a curve takes the usual interval for how long a sample lasts, and would show
    gaps between the others.
    """
    if recorded is None:
        recorded = read.iloc[:0]
    times = recorded["time"].to_numpy()
    usual = np.timedelta64(round(1000 * every), "ms")
    if len(times) > 1:
        usual = np.median(np.diff(times))
    chosen: list[int] = []
    last: list[np.datetime64] = []
    for row, time in enumerate(read["time"].to_numpy()):
        place = int(np.searchsorted(times, time))
        around = [*times[max(0, place - 1) : place + 1], *last]
        if all(abs(time - other) > usual * _CLOSE for other in around):
            chosen.append(row)
            last = [time]
    both = pd.concat([recorded, read.iloc[chosen]]).sort_values("time", ignore_index=True)
    both.attrs = recorded.attrs
    return both


# The folder


def recorded_samples(folder: str, room_id: str, service: str) -> pd.DataFrame | None:
    """Return the samples that a recording has of the room; None where there is no such folder.

    ConfigError as of `recording`, and where they are another service's: its rooms may have the same
    IDs.
    """
    if not folder or not (path := recording(folder)).is_dir():
        return None
    found = load_occupancy(path, room_id)
    whose = found.attrs.get("service")
    if whose is not None and service not in whose.split(", "):
        raise ConfigError(
            f"{folder} holds a recording of {whose}, and this panel shows {service}",
            "Give the folder of this service, or none.",
        )
    return found


def recording(folder: str) -> Path:
    """Return the whole path of a folder with a recording, or with none yet. ConfigError: none is
    given, there can be no such folder, or it holds other things and no sample.

    To look into it as if it were a recording would name its files in a warning, which a panel's
    thread writes where nobody looks for it.
    """
    if not folder:
        raise ConfigError("no folder is given", "Name the folder of a recording.")
    try:
        path = Path(folder).expanduser().absolute()
        found = contents(path) if path.exists() else None
    except (RuntimeError, ValueError, OSError) as error:  # no such user, a NUL, a name too long
        why = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{folder} can be no folder ({why})", "Give a path such as occupancy/"
        ) from error
    if found and found.strange and not found.files:
        raise ConfigError(
            f"{path} is no recording: it holds {min(found.strange).name}, and no sample",
            "Give the folder of a recording, or the name of a new one, and record into it.",
        )
    return path


def holding(folder: str) -> str:
    """Return what the folder holds, in a sentence, with the lines that record into it. ConfigError
    as of `recording`."""
    path, found = recording(folder), "Nothing is recorded there yet"
    if path.is_dir():
        rooms = recorded_rooms(path)
        now = datetime.now(UTC)
        lately = load_occupancy(path, since=now - _LATELY)["time"]
        last = "none in the last day" if lately.empty else f"the last {age(lately.max(), now)} ago"
        found = f"It holds samples of {counted(len(rooms), 'room')}, {last}"
    line = f"confkit record {shlex.quote(folder)} --rooms rooms.csv --every 60"
    cell = f'ck.Recorder({folder!r}).record(client, panel.value["room_id"], every=60)'
    return f"{found}. To record: {line} in a terminal, or {cell} in a notebook of its own."


# Widgets


class RoomCurve(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """One room over time: what `chart` gives, as a picture and as text; None changes nothing."""

    def __init__(self, chart: Callable[[], Chart | None], close: Callable[[], object]) -> None:
        self._chart = chart
        # Every reading comes in a thread of its own, and matplotlib opens all fonts for each thread
        # that draws, and keeps them open: one thread draws for all.
        self._pen = ThreadPoolExecutor(1, "confkit panel draws")
        self.view, self.words = View(), arranging.text()
        as_text = arranging.check("As text")
        as_text.observe(lambda change: arranging.shown(self.words, change["new"]), "value")
        closes = arranging.button("Close", lambda _: close())
        super().__init__([self.view, arranging.row(as_text, closes), self.words])
        arranging.shown(self.words, False)
        arranging.shown(self, False)

    def draw(self) -> None:
        """Draw what there is now. Of several quick picks the last one stays: what to draw is asked
        in the turn."""
        try:
            drawn = self._pen.submit(self._draw)
        except RuntimeError:  # closed meanwhile
            return
        drawn.result()

    def close(self) -> None:
        """End the thread that draws, and wait for it."""
        if hasattr(self, "_pen"):  # it was made to its end
            self._pen.shutdown()
        super().close()

    def _draw(self) -> None:
        try:
            if chart := self._chart():
                self.view.html = chart.svg()
                self.words.html = f"<pre>{escape(chart.summary())}</pre>"
        except ConfkitError as error:
            self.view.html, self.words.html = problem_html(error), ""


class RecordedBlock(ipywidgets.VBox):  # type: ignore[misc]
    """The folder, what it holds and how to record into it, and its capacity report."""

    def __init__(
        self,
        folder: str,
        *,
        beside: Callable[[Callable[[], object]], object],
        report: ipywidgets.Button,
        choose: Callable[[str], object],
    ) -> None:
        self.entry = arranging.entry("Folder", folder, "such as occupancy/", "grow")
        self.entry.observe(lambda _: beside(self.look), "value")
        self.state = arranging.text()
        columns = [
            Column("room", "Room"),
            Column("attendee_max", "Cap now", right=True),
            Column("peak", "Peak", right=True),
            Column("p95", "95 %", right=True, wide=True),
            Column("suggested", "Suggested", right=True),
            Column("reason", "Why"),
        ]
        self.report = Table("Capacity", "room_id", columns, on_choice=choose)
        head = arranging.row(self.entry, report)
        super().__init__([arranging.heading("Recording"), head, self.state, self.report])
        arranging.shown(self.state, False)
        arranging.shown(self.report, False)
        if folder:
            beside(self.look)

    @property
    def folder(self) -> str:
        """What stands in the field."""
        return str(self.entry.value).strip()

    def look(self) -> None:
        """Show what the folder holds, or why it is none; of no folder that is nothing."""
        said, tone = "", "quiet"
        try:
            said = holding(self.folder) if self.folder else ""
        except ConfkitError as error:
            said, tone = str(error), "bad"
        self.state.html = f'<div class="confkit-status confkit-{tone}">{escape(said)}</div>'
        arranging.shown(self.state, bool(said))

    def show(self, report: pd.DataFrame, topics: pd.Series) -> None:
        """Show the capacity report with these topics of the rooms: those that were full first, then
        those of which the most would change."""
        room = report["room_id"].map(topics).fillna(report["room_id"])
        change = (report["suggested"] - report["attendee_max"]).fillna(0).abs()
        full = report["minutes_full"].fillna(0)
        ranked = pd.DataFrame({"full": full, "change": change}).sort_values(
            ["full", "change"], ascending=False, kind="stable"
        )
        said = f"{counted(len(report), 'room')} recorded in {self.folder}"
        self.report.show(report.assign(room=room).loc[ranked.index], said)
        arranging.shown(self.report, True)
