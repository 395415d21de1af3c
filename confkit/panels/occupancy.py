"""`OccupancyPanel`: how full rooms are, live and over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from ..charts.looks import STATES
from ..many.result import UTILISATION, Sweep
from ..text import counted
from . import arranging
from .live import RoomsPanel, check_every, clock, name_of
from .model import RATE, READ_AT, STATE, UNREAD, Filter, valued
from .panel import told
from .parts import Column, Table
from .recorded import (
    RecordedBlock,
    RoomCurve,
    joined,
    kept,
    recorded_samples,
    recording,
    samples_of,
)

if TYPE_CHECKING:
    from ..client import Client

RISK = 0.10  # the share of rooms that may exceed the cap that is suggested
USUAL = 15.0  # seconds from one reading of the rows on the screen to the next
_TONES = {
    "full": "bad",
    "near": "warn",
    "over": "bad",
    "free": "note",
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
        read = self.model.frame[~self.model.frame[UNREAD]]
        self._samples: tuple[pd.DataFrame, ...] = (samples_of(read),)
        self._arrange(str(folder))
        self.refresh_every(every)
        self._begins()

    def _arrange(self, folder: str) -> None:
        self._search = arranging.entry("Search", hint="topic, room, owner", width="grow")
        self._search.observe(lambda _: self._shows_rows(), "value")
        self.counts = Counts(self._shows_rows)
        self.totals = arranging.text()
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
        self.curve = RoomCurve(self.client.name, self._tz, lambda: self.select(None))
        self.recorded = RecordedBlock(
            folder,
            look=lambda: self._beside(self.recorded.look),
            report=self._button("Capacity report", self.capacity, "report"),
            choose=self._choose,
        )
        if folder:
            self._beside(self.recorded.look)
        refresh = self._button("Refresh", self.refresh, "reading", "primary")
        self.shows(
            arranging.row(refresh, self.often, self._search),
            self.counts,
            self.totals,
            arranging.columns(self.table, self.curve),
            self.recorded,
        )

    def close(self) -> None:
        """Close the panel and end what goes on in it by itself."""
        if hasattr(self, "curve"):  # it was made so far
            self.curve.close()
        super().close()

    # What is shown

    @told("filter")
    def filter(self, text: str = "", state: str | None = None) -> None:
        """Shows the rooms with every word of `text` in topic, ID, owner or external ID that are in
        this `state` of the occupancy chart: "full", "near", "over", "free", "empty", "no cap" or
        "unread". The `value` holds all rooms."""
        Filter(text, state=state).checked()
        self.counts.state = state
        if self._search.value == text:
            self._shows_rows()
        self._search.value = text  # another one shows them

    def refresh_page(self) -> pd.DataFrame:
        """The `value`, once the rows on the screen were read again, and the room of the curve."""
        if not self.model.begun:
            return self.refresh()
        with self.reads("Reading the rows on the screen"):
            self._read_page()
        frame: pd.DataFrame = self.value
        return frame

    def _draw(self) -> pd.DataFrame:
        frame, names = self.model.frame, list(self.model.frame.columns)
        self.counts.show(frame)
        self.totals.html = totals(frame)
        # Those without a cap come behind the others, and those that were never read behind these.
        full = frame[UTILISATION].fillna(-1.0).where(frame["users"].notna(), -2.0)
        wanted = Filter(self._search.value, state=self.counts.state)
        self._shows(wanted.rows(frame.assign(fullness=full)))
        return valued(frame[[*names[:7], *names[names.index("error") :]]])

    def _read_cell(self, row: Any) -> str | None:
        return None if row[READ_AT] is None else clock(row[READ_AT], self._tz)

    def _changed(self, read: pd.DataFrame | None) -> None:
        if read is not None:
            time = pd.Timestamp(read.attrs["time"])
            self._samples = kept(self._samples, samples_of(read, time))
        super()._changed(read)

    def _turned(self) -> None:
        if self.frame.every:
            self.model.tick(self._viewer)

    # One room

    def samples(self, room_id: str) -> pd.DataFrame:
        """What there is of a room, as `load_occupancy` has it: its recorded samples, and those that
        this panel has read while nothing was recorded, no closer to each other than the others.

        ConfigError: the folder holds the recording of another service.
        """
        recorded = recorded_samples(self.recorded.folder, room_id, self.client.name)
        return joined(recorded, self._read_of(room_id), self.frame.every)

    def _read_of(self, room_id: str) -> pd.DataFrame:
        return pd.concat([piece[piece["room_id"] == room_id] for piece in self._samples])

    def _turn_to(self, room_id: str) -> None:
        self.table.chosen = room_id
        self.curve.turn_to(room_id, self.recorded.folder)

    def _show_picked(self) -> None:
        # Which room it is, is asked in the curve's turn: of several quick picks the last one stays.
        self.curve.draw(lambda: self.model.picked, self._read_of, self._topic_of, self.frame.every)

    def _topic_of(self, room_id: str) -> object:
        frame = self.model.frame
        return next(iter(frame["topic"][frame["room_id"] == room_id]), None)

    # A recording

    def capacity(self) -> pd.DataFrame:
        """The `capacity_report` of the folder with a risk of 10 %, once it is shown. Errors as of
        that; ConfigError where the folder holds something else. Topics are those that were read, if
        any were."""
        from ..occupancy.capacity import capacity_report  # loads DuckDB

        with self.working("Counting the samples", "report"):
            path = recording(self.recorded.folder)
            report = capacity_report(path, self._tz, risk=RISK)
            self.recorded.show(report, self.model.frame.set_index("room_id")["topic"])
        return report


class Counts(ipywidgets.HBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A button for each state with how many rooms are in it; the one that is pressed is the `state`
    that is wanted, None for all. `changed` is called when another one is."""

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed, self._setting = changed, False
        self._buttons = {state: ipywidgets.ToggleButton() for state in _TONES}
        for state, button in self._buttons.items():
            button.add_class("confkit-badge")
            button.add_class(f"confkit-tone-{_TONES[state]}")
            button.observe(partial(self._pressed, state), "value")
        super().__init__([*self._buttons.values()])
        self.add_class("confkit-row")

    @property
    def state(self) -> str | None:
        """The state that is wanted."""
        return next((state for state, one in self._buttons.items() if one.value), None)

    @state.setter
    def state(self, wanted: str | None) -> None:
        self._setting = True
        for state, button in self._buttons.items():
            button.value = state == wanted
        self._setting = False

    def show(self, frame: pd.DataFrame) -> None:
        """Count the states of the rows, by what was last known of them; those that the last try has
        not read count as that, too."""
        count = Counter(frame[STATE].value_counts().to_dict())
        count["unread"] += int((frame[UNREAD] & frame["users"].notna()).sum())
        for state, button in self._buttons.items():
            button.description = f"{count[state]:,} {STATES[state].word}"
            arranging.shown(button, bool(count[state]) or state in _ALWAYS or button.value)

    def _pressed(self, state: str, change: Any) -> None:
        if not self._setting:
            self.state = state if change["new"] else None
            self._changed()


def totals(frame: pd.DataFrame) -> str:
    """How many rooms and users there are, as HTML, and whether all of that is fresh."""
    said = [counted(len(frame), "room")]
    for name, one in (("users", "user"), ("people", "person"), ("devices", "device")):
        known = frame[name].dropna()
        number = int(known.sum())
        none = known.empty and len(frame)
        said.append(f"{name} not known" if none else f"{number:,} {one if number == 1 else name}")
    old = int((frame[UNREAD] & frame["users"].notna()).sum())
    if old:
        said.append(f"{old:,} counted by last known values")
    elif frame["users"].isna().any():
        said.append("in the rooms that could be read")
    spans = "".join(f"<span>{one}</span>" for one in said)
    return f'<div class="confkit-totals">{spans}</div>'
