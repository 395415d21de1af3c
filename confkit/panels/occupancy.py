"""`OccupancyPanel`: how full rooms are, live and over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from ..charts.curve import occupancy_curve
from ..charts.looks import STATES
from ..charts.texts import clean
from ..occupancy.capacity import capacity_report
from ..sweep import UTILISATION, Sweep
from . import arranging
from .live import RoomsPanel, check_every, clock, name_of
from .model import RATE, READ_AT, STATE, UNREAD, Filter, valued
from .panel import told
from .parts import Column, Table
from .recorded import RecordedBlock, RoomCurve, joined, recorded_samples, recording, samples_of

if TYPE_CHECKING:
    from ..charts.sheet import Chart
    from ..client import Client

RISK = 0.10  # the share of rooms that may exceed the cap that is suggested
USUAL = 15.0  # seconds from one reading of the rows on the screen to the next
MOST = 200_000  # samples that are kept, some 20 MB; the oldest go first
_WIDTH = 480  # pixels of a curve beside the table
_TONES = {
    "full": "bad",
    "near": "warn",
    "over": "bad",
    "in use": "note",
    "empty": "quiet",
    "no cap": "quiet",
    "unread": "quiet",
}
_ALWAYS = ("full", "near", "over")  # are counted where there are none, too


class OccupancyPanel(RoomsPanel):
    """Rooms as bars against their `attendee_max`, the fullest on top, read again while it is seen.

    `room_ids` is anything that `sweep` takes, or a finished Sweep, which is shown as it is; None
    stands for `known_rooms(client)`; a `RoomsModel` is shared with the panels that show it, too.
    `value` is the `occupancy_frame` with `read_at` (UTC) after `error`: a room that could not be
    read keeps what was read of it last, `read_at` says when that was and `error` why not since; one
    that was never read is missing. Every `every` seconds (15; with a Sweep 0: never) the rows on
    the screen are read again, and between that all others, the oldest first, with at most
    `background_rate` requests a second (0: none); `refresh` reads all. The curve of a picked room
    is of what the recording in `folder` has of it, if there is one, and of what was read since the
    panel is there, up to 200,000 samples of all rooms. Times, those of curves and of the capacity
    report too, are shown in the zone `tz`, None for this machine's own. ParameterError: `room_ids`
    are none; ConfigError: `every` or `background_rate` is no such number, or there is no such
    zone. Sections 4 and 7 of the interface.
    """

    def __init__(
        self,
        client: Client,
        room_ids: Any = None,
        *,
        every: float | None = None,
        folder: str | Path = "",
        background_rate: float = RATE,
        tz: str | tzinfo | None = None,
    ) -> None:
        usual = 0.0 if isinstance(room_ids, Sweep) else USUAL
        every = check_every(usual if every is None else every)  # before anything is sent
        super().__init__("Occupancy", client, room_ids, background_rate, tz)
        self.add_class("confkit-occupancy")
        # What was read is a sample of its time: the rows that are there already, too.
        self._read_so_far = samples_of(self.model.frame[~self.model.frame[UNREAD]])
        # A folder may hold years: it is read when a room is picked, not with each of its readings.
        self._recorded = lru_cache(1)(recorded_samples)
        self._search = arranging.entry("Search", hint="topic, room, owner", width="grow")
        self._search.observe(lambda _: self._shows_rows(), "value")
        self.counts = Counts(self._shows_rows)
        self.table = Table(
            "Rooms",
            "room_id",
            [
                Column("topic", "Room", name_of),
                Column("fullness", "Occupancy", self._users_cell),
                Column("people", "People", right=True),
                Column("devices", "Devices", right=True, wide=True),
                Column("room_id", "ID", wide=True, copy=True),
                Column(READ_AT, "Read at", self._read_cell, right=True, wide=True),
            ],
            what="rooms",
            sort=("fullness", True),
            empty="No room to show. Give room_ids, create one, or change the search.",
            on_choice=self._choose,
            on_page=self._turned,
        )
        self.curve = RoomCurve(self._chart, lambda: self.select(None))
        self.recorded = RecordedBlock(
            str(folder),
            beside=self._beside,
            report=self._button("Capacity report", self.capacity, "report"),
            choose=self._choose,
        )
        refresh = self._button("Refresh", self.refresh, "reading", "primary")
        self.shows(
            arranging.row(refresh, self.often, self._search),
            self.counts,
            arranging.columns(self.table, self.curve),
            self.recorded,
        )
        self.refresh_every(every)
        self._begins()

    def close(self) -> None:
        """Close the panel and end what goes on in it by itself."""
        if hasattr(self, "curve"):  # it was made so far
            self.curve.close()
        super().close()

    # What is shown

    @told("filter")
    def filter(self, text: str = "", state: str | None = None) -> None:
        """Show the rooms with every word of `text` in topic, ID, owner or external ID that are in
        this `state` of the occupancy chart: "full", "near", "over", "in use", "empty", "no cap" or
        "unread". The `value` holds all rooms."""
        Filter(text, state=state).checked()
        self.counts.state, self._search.value = state, text

    def refresh_page(self) -> pd.DataFrame:
        """Read the rows on the screen again, and the room of the curve; return the `value`."""
        if not self.model.begun:
            return self.refresh()
        with self.reads("Reading the rows on the screen"):
            self._read_page()
        frame: pd.DataFrame = self.value
        return frame

    def _draw(self) -> pd.DataFrame:
        frame, names = self.model.frame, list(self.model.frame.columns)
        self.counts.show(frame)
        # Those without a cap come behind the others, and those that were never read behind these.
        full = frame[UTILISATION].fillna(-1.0).where(frame["users"].notna(), -2.0)
        wanted = Filter(self._search.value, state=self.counts.state)
        self._shows(wanted.rows(frame.assign(fullness=full)))
        return valued(frame[[*names[:7], *names[names.index("error") :]]])

    def _read_cell(self, row: Any) -> str | None:
        return row[READ_AT] and clock(row[READ_AT], self._tz, self._client_time)

    def _changed(self, read: pd.DataFrame | None) -> None:
        if read is not None:
            new = samples_of(read, pd.Timestamp(read.attrs["time"]))
            self._read_so_far = pd.concat([self._read_so_far, new]).tail(MOST)
        super()._changed(read)

    def _turned(self) -> None:
        if self.frame.every:
            self.model.tick(self._viewer)

    # One room

    def samples(self, room_id: str) -> pd.DataFrame:
        """Return what there is of a room, as `load_occupancy` has it: its recorded samples, and
        those that this panel has read while nothing was recorded, no closer to each other than the
        others.

        ConfigError: the folder holds the recording of another service.
        """
        self._recorded.cache_clear()
        return self._samples(room_id)

    def _samples(self, room_id: str) -> pd.DataFrame:
        recorded = self._recorded(self.recorded.folder, room_id, self.client.name)
        read = self._read_so_far
        return joined(recorded, read[read["room_id"] == room_id], self.frame.every)

    def _chart(self) -> Chart | None:
        """The curve of the picked room, if any is."""
        if not (room_id := self.model.picked):
            return None
        topics, samples = self.model.frame.set_index("room_id")["topic"], self._samples(room_id)
        return occupancy_curve(
            samples,
            room_id,
            topic=clean(topics.get(room_id)) or None,
            service=self.client.name,
            tz=self._tz,
            width=_WIDTH,
        )

    def _turn_to(self, room_id: str) -> None:
        self.table.chosen = room_id
        self._recorded.cache_clear()
        arranging.shown(self.curve, bool(room_id))

    def _show_picked(self) -> None:
        self.curve.draw()

    # A recording

    def capacity(self) -> pd.DataFrame:
        """Return the `capacity_report` of the folder with a risk of 10 %, once it is shown. Errors
        as of that; ConfigError where the folder holds something else. Topics are those that were
        read, if any were."""
        with self.working("Counting the samples", "report"):
            path = recording(self.recorded.folder)
            report = capacity_report(path, self._tz, risk=RISK)
            self.recorded.show(report, self.model.frame.set_index("room_id")["topic"])
        return report


class Counts(ipywidgets.HBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A button for each state with how many rooms are in it; the one that is pressed is the `state`
    that is wanted, None for all. `changed` is called when another one is."""

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed = changed
        self._buttons = {state: ipywidgets.ToggleButton() for state in _TONES}
        for state, button in self._buttons.items():
            button.add_class("confkit-badge")
            button.add_class(f"confkit-tone-{_TONES[state]}")
            button.observe(self._pressed, "value")
        super().__init__([*self._buttons.values()])
        self.add_class("confkit-row")

    @property
    def state(self) -> str | None:
        """The state that is wanted."""
        return next((state for state, one in self._buttons.items() if one.value), None)

    @state.setter
    def state(self, wanted: str | None) -> None:
        for state, button in self._buttons.items():
            button.value = state == wanted

    def show(self, frame: pd.DataFrame) -> None:
        """Count the states of the rows, by what was last known of them; those that the last try has
        not read count as that, too."""
        count = Counter(frame[STATE])
        count["unread"] += int((frame[UNREAD] & frame["users"].notna()).sum())
        for state, button in self._buttons.items():
            button.description = f"{count[state]:,} {STATES[state].word}"
            arranging.shown(button, bool(count[state]) or state in _ALWAYS or button.value)

    def _pressed(self, change: Any) -> None:
        if change["new"]:  # one at a time
            for button in self._buttons.values():
                button.value = button is change["owner"]
        self._changed()
