"""`OccupancyPanel`: how full rooms are, now and over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from ..charts.curve import occupancy_curve
from ..errors import ConfigError
from ..occupancy.times import time_zone
from ..secret import redact
from ..sweep import NOT_ASKED, Sweep, changes, with_last_known
from ..text import counted
from .job import message
from .layout import Latest, error_html, set_visible, split
from .refresh import Refresh
from .room_table import DEVICES, NUMBER, OCCUPANCY, TOPIC, RoomPanel, topic_of, with_state
from .table import Column, Table

if TYPE_CHECKING:
    from ..client import Client

RISK = 0.10  # the share of rooms that may exceed their suggested cap
MOST_SAMPLES = 200_000  # in memory, some 20 MB; the oldest are dropped first
MOST_CHANGES = 500
RANGES = {"1 h": timedelta(hours=1), "24 h": timedelta(days=1), "7 d": timedelta(days=7)}
_SAMPLE = ["time", "room_id", "users", "people", "devices", "attendee_max", "ret"]
_PEOPLE = ("user joined", "user left")  # too frequent to be listed
_WIDTH = 480  # pixels of a curve
_CAPACITY = [
    TOPIC,
    Column("attendee_max", "Maximum", 6.5, right=True),
    Column("suggested", "Suggested", 7.5, right=True),
    Column("peak", "Peak", 4, right=True),
    Column("reason", "Reason", 20),
]


class OccupancyPanel(RoomPanel):
    """A panel of rooms as bars against their `attendee_max`, the fullest first, with history.

    `room_ids`, `every`, `refresh`, `value` and `selected` are as in `RoomExplorer`. The picked room
    has a curve, from the recording in `folder`, if any, and from the panel's own readings (the last
    200,000 samples). A list shows rooms that became full, empty or unreadable, and devices that
    came or went. With a `folder` its `capacity_report` is available, at a risk of 10 %. Times are
    in the zone `tz`, None for local time. Sections 4 and 7 of the interface.
    """

    def __init__(
        self,
        client: Client,
        room_ids: Any = None,
        every: float = 15,
        *,
        folder: str | Path | None = None,
        tz: str | tzinfo | None = None,
        refresh: Refresh | None = None,
    ) -> None:
        self.folder, (self.zone, _) = folder, time_zone(tz)
        columns = [TOPIC, OCCUPANCY, Column("people", "People", 5, right=True), DEVICES, NUMBER]
        super().__init__("Occupancy", client, columns, room_ids, every, refresh)
        self.report = Table(
            "Capacity", _CAPACITY, ("minutes_full", True), noun="room", empty="No samples."
        )
        set_visible(self.report, False)
        self.range = ipywidgets.Dropdown(
            description="Range",
            options=[*RANGES, "all"],
            value="24 h",
            layout={"width": "11em"},
            style={"description_width": "auto"},
        )
        self.curve = ipywidgets.HTML()
        self.changes = Table(
            "Recent changes",
            self._change_columns(),
            empty="No change since the panel was opened.",
            searchable=False,
        )
        self._changes = pd.DataFrame()
        self._samples: list[pd.DataFrame] = []
        self._recorded: tuple[object, pd.DataFrame | None] = (None, None)  # range and samples
        self._sweep: Sweep | None = None
        self._known: Sweep | None = None  # the same, with what could not be read since
        self._draw = Latest(self._draw_curve)
        self._drawn: object = None  # the room and the range of the curve
        listed = ipywidgets.VBox([ipywidgets.HTML("<b>Recent changes</b>"), self.changes])
        master = ipywidgets.VBox([self.rooms, self.report])
        self.append(self._buttons(), split(master, self.range, self.curve, listed))
        self.rooms.observe(lambda _: self._show_curve(), "picked")
        self.report.observe(lambda change: self._pick_reported(change.new), "picked")
        self.range.observe(lambda _: self._show_curve(), "value")
        self.refresh_block.on_change(self._show)

    def _buttons(self) -> ipywidgets.Widget:
        actions = {"Refresh": self._refresh}
        if self.folder is not None:
            actions |= {"Capacity report": self._run_report}
        self._back_button = ipywidgets.Button(description="Back to the rooms")
        self._back_button.on_click(lambda _: self._show_report(False))
        set_visible(self._back_button, False)
        return self.job.row(actions, self._back_button)

    def _change_columns(self) -> list[Column]:
        def clock(change: Any) -> str:
            return f"{change.time.astimezone(self.zone):%H:%M:%S}"

        def describe(change: Any) -> str:
            user = change.user_id if pd.isna(change.user_name) else change.user_name
            return change.change if pd.isna(user) else f"{change.change}: {user}"

        return [Column("time", "Time", 5, clock), TOPIC, Column("change", "Change", 11, describe)]

    # What is shown

    def _show(self) -> None:
        after = self.refresh_block.sweep
        if after is not self._sweep:  # not just a single room
            self._sweep = after
            self._keep_samples(after)
            if self._known:
                self._keep_changes(changes(self._known, after))
            self._known = with_last_known(self._known, after)
        self.rooms.show(with_state(self.refresh_block.frame))
        self._show_curve()

    def _keep_changes(self, new: pd.DataFrame) -> None:
        new = new[~new["change"].isin(_PEOPLE)]
        if len(new):
            self._changes = pd.concat([self._changes, new]).tail(MOST_CHANGES)
            # The newest first; a row's name is its position.
            self.changes.show(self._changes.iloc[::-1].reset_index(drop=True))

    def _keep_samples(self, sweep: Sweep) -> None:
        frame = sweep.frame()
        frame.attrs = {}  # the panel's head names the service
        frame = frame[frame["error"].ne(NOT_ASKED).fillna(True)]
        self._samples.append(frame.assign(time=pd.Timestamp(sweep.time).as_unit("ms"))[_SAMPLE])
        while sum(map(len, self._samples[1:])) > MOST_SAMPLES:
            del self._samples[0]

    # The curve of a room

    def samples(self, room_id: str) -> pd.DataFrame:
        """Return the samples of a room, as `load_occupancy` does: the recorded ones, then the
        panel's own readings since.

        ConfigError: the folder contains the recording of another service.
        """
        read: pd.DataFrame = pd.concat(self._samples)
        read = read.loc[read["room_id"] == room_id]
        recorded = self._recorded_samples()
        if recorded is None:
            return read
        recorded = recorded[recorded["room_id"] == room_id]
        later = read[~(read["time"] <= recorded["time"].max())]
        samples: pd.DataFrame = pd.concat([recorded, later], ignore_index=True)
        return samples

    def _recorded_samples(self) -> pd.DataFrame | None:
        """Return the recorded samples of the chosen range, which are loaded once per pick."""
        if self.folder is None or not Path(self.folder).is_dir():
            return None
        from ..occupancy.folder import load_service  # needs pyarrow

        name, (loaded, frame) = self.range.value, self._recorded
        if loaded != name:  # which may change while its samples load
            frame = load_service(self.client.name, self.folder, self._since(name))
            self._recorded = (name, frame)
        return frame

    def _since(self, name: str) -> datetime | None:
        period = RANGES.get(name)
        now = datetime.fromtimestamp(self.client.now(), UTC)
        return None if period is None else now - period

    def _show_curve(self) -> None:
        """Draw the curve of the picked room."""
        room_id, key = self.selected, (self.selected, self.range.value)
        set_visible(self.range, room_id is not None)
        if key != self._drawn:  # clear the other room
            self._drawn, self._recorded = key, (None, None)
            self.job.clear()
            self.curve.value = "" if room_id else "Pick a room to see it over time."
        if room_id is not None:
            self._draw(key)

    def _draw_curve(self, key: tuple[str, str]) -> None:
        room_id, name = key
        try:
            samples, since = self.samples(room_id), self._since(name)
            figure = occupancy_curve(
                samples if since is None else samples[samples["time"] >= since],
                room_id,
                topic=topic_of(self.rooms.frame, room_id),
                tz=self.zone,
                width=_WIDTH,
            )
            html = figure.html()
        except Exception as error:  # noqa: BLE001  # it would be lost in this thread
            html = error_html(message(error))
        if self._drawn == key:
            self.curve.value = self._reason(room_id) + html

    # Capacity

    def capacity(self) -> pd.DataFrame:
        """Return the `capacity_report` of the folder, with `topic`, and show it."""
        report = self._capacity()
        self._show_capacity(report)
        return report

    def _capacity(self) -> pd.DataFrame:
        if self.folder is None:
            raise ConfigError("no recording folder", "Pass folder= to OccupancyPanel.")
        from ..occupancy.capacity import capacity_report  # needs pyarrow

        report = capacity_report(self.folder, self.zone, risk=RISK)
        topics = self.refresh_block.frame["topic"]
        report["topic"] = report["room_id"].map(topics).astype("string")
        return report

    def _show_capacity(self, report: pd.DataFrame) -> None:
        self.report.show(report.set_index("room_id", drop=False).rename_axis(None))
        self._show_report(True)

    def _run_report(self) -> str:
        report = self.job.wait_for(self._capacity)
        self._show_capacity(report)
        advised = int(report["suggested"].notna().sum())
        return f"A cap is suggested for {advised:,} of {counted(len(report), 'room')}."

    def _show_report(self, visible: bool) -> None:
        set_visible(self.report, visible)
        set_visible(self._back_button, visible)
        set_visible(self.rooms, not visible)

    def _pick_reported(self, room_id: str | None) -> None:
        known = room_id in self.refresh_block.frame.index
        self.select(room_id if known else None)
        if room_id is not None and not known:
            self.curve.value = self._reason(room_id)

    def _reason(self, room_id: str) -> str:
        """Return the reason for the suggested cap, if the report is visible."""
        if self.report.layout.display == "none" or room_id not in self.report.frame.index:
            return ""
        row: Any = self.report.frame.loc[room_id]
        topic = room_id if pd.isna(row.topic) else row.topic
        return f"<p><b><bdi>{escape(redact(topic))}</bdi></b>: {escape(redact(row.reason))}</p>"
