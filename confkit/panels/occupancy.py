"""`OccupancyPanel`: how full rooms are, live and over time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, ConfkitError
from ..many.result import Sweep
from ..many.sweeps import sweep
from . import arranging
from .bars import Bars, as_of, bar_rows, bars, columns, failures, totals
from .courses import joined, read_samples, recorded_samples
from .given import check_source
from .live import LivePanel, check_every
from .panel import told
from .parts import Table
from .readings import Reading, asked, rooms_now, rooms_of, taken
from .recorded import RecordedBlock, of_a_recording, placed
from .room_curve import RoomCurve
from .room_list import unreachable, valued
from .watching import RATE

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

USUAL = 15.0  # seconds from one reading of the rows on the screen to the next


class OccupancyPanel(LivePanel):
    """Rooms as bars against their `attendee_max`, the fullest on top, read again while it is seen.

    `room_ids` is anything that `sweep` takes, or a finished Sweep, which is shown as it is; None
    stands for `known_rooms(client)`. `value` is the `occupancy_frame` with `read_at` (UTC) after
    `error`: a room that could not be read keeps what was read of it last, `read_at` says when that
    was and `error` why not since; one that was never read is missing. Every `every` seconds (15;
    with a Sweep 0: never) the rows on the screen are read again, and between that all others, the
    oldest first, with at most `background_rate` requests a second (0: none); `refresh` reads all.
    The curve of a picked room is of what the recording in `folder` has of it, if there is one, and
    of what was read since the panel is there, up to 200,000 samples of all rooms. Times, those of
    curves and of the capacity report too, are shown in the zone `tz`, None for this machine's own.
    ParameterError: `room_ids` are none; ConfigError: `every` or `background_rate` is no such
    number, or there is no such zone. Sections 4 and 7 of the interface.
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
        check_source(client, room_ids)
        usual = 0.0 if isinstance(room_ids, Sweep) else USUAL
        every = check_every(usual if every is None else every)  # before anything is sent
        super().__init__("Occupancy", client, background_rate, tz)
        self.add_class("confkit-occupancy")
        self._rooms = None if room_ids is None else asked(room_ids)
        self._reading: Reading | None = None
        self._bars: Bars | None = None
        self._asides: list[threading.Thread] = []
        self._arrange(str(folder))
        if isinstance(room_ids, Sweep):
            self._take(room_ids)
        else:
            self.first(self.refresh)
        self.refresh_every(every)

    def _arrange(self, folder: str) -> None:
        self.totals, self.lost = arranging.text(), arranging.text()
        arranging.shown(self.lost, False)
        self.table = Table(
            "Rooms", "room_id", columns(), what="rooms", sort=("fullness", True),
            empty="No room has been read yet.",
            on_choice=lambda _: self._beside(self._pick), on_page=self._turned,
        )  # fmt: skip
        self.curve = RoomCurve(self._client.name, lambda: self.select(""), self._tz)
        self.recorded = RecordedBlock(
            folder, look=lambda: self._beside(self.recorded.look),
            report=self.clicked(self.capacity, "report"),
            choose=lambda room_id: self._beside(lambda: self.select(room_id)),
        )  # fmt: skip
        if folder:
            self._beside(self.recorded.look)
        refresh = arranging.button("Refresh", self.clicked(self.refresh, "reading"), "primary")
        self.shows(
            arranging.row(refresh, self.often), self.totals, self.lost,
            arranging.columns(self.table, self.curve), self.recorded,
        )  # fmt: skip

    def close(self) -> None:
        """Close the panel and end what goes on in it by itself."""
        if hasattr(self, "curve"):  # it was made so far
            self.curve.close()
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether nothing is under way any more, after at most `timeout` seconds for each."""
        for thread in self._asides:
            thread.join(timeout)
        return super().wait(timeout) and not any(map(threading.Thread.is_alive, self._asides))

    # Reading

    def refresh(self) -> pd.DataFrame:
        """The `value`, once all rooms were read; those that a Cancel left out are as before."""
        with self.reads("Finding rooms") as work:
            rooms = rooms_now(self._client, self._rooms, work.cancelled)
            self.frame.busy = f"Reading {len(rooms):,} rooms, calls"
            swept = sweep(self._client, rooms, progress=work.progress, cancelled=work.cancelled)
            frame = self._take(swept, part=False)
        if not swept.complete:
            self.tell("Ended early: what was not read yet is as it was before.", kind="reading")
        return frame

    def refresh_page(self) -> pd.DataFrame:
        """The `value`, once the rows on the screen were read again, and the room of the curve."""
        if self._reading is None:
            return self.refresh()
        with self.reads("Reading the rows on the screen") as work:
            rooms = self._again(self._page(), work.cancelled)
            swept = sweep(self._client, rooms, progress=work.progress, cancelled=work.cancelled)
            return self._take(swept)

    # What goes on by itself

    @property
    def _rows(self) -> pd.DataFrame | None:
        return None if self._reading is None else self._reading.frame

    @property
    def _seeks(self) -> bool:
        return self._reading is None

    def _page(self) -> list[str]:
        shown = [*self.table.visible, *filter(None, [self.table.chosen])]
        return list(dict.fromkeys(shown))

    def _again(self, ids: Sequence[str], cut: threading.Event) -> pd.DataFrame:
        if self._reading is None:
            return rooms_now(self._client, self._rooms, cut)
        rooms = rooms_of(self._reading.frame)
        return rooms[rooms["room_id"].isin(ids)]

    def _take(self, swept: Sweep, *, part: bool = True) -> pd.DataFrame:
        with self._taking:
            self._put(taken(swept, self._reading, part=part and self._reading is not None))
            self._hear(swept)
            frame: pd.DataFrame = self.value
        return frame

    def _mark(self, error: ConfkitError) -> None:
        if self._reading is not None:
            self._put(replace(self._reading, frame=unreachable(self._reading.frame, error)))

    def _put(self, reading: Reading) -> None:
        self._reading = reading
        self.value = valued(reading.frame)  # whoever changes it changes nothing here
        self._bars = bars(reading.frame, self._bars)
        self.table.empty = "There is no room. Give room_ids, or create one."
        self._show()
        self._draw()

    def _show(self) -> None:
        with self._taking:
            if self._reading is None or self._bars is None:
                return
            reading, found, aging = self._reading, self._bars.found, bool(self.frame.every)
            told = escape(as_of(reading, aging, self._tz))
            self.totals.value = f'{totals(reading, found)}<div class="confkit-quiet">{told}</div>'
            self.lost.value = "" if self._watch.outage else failures(reading.frame)
            arranging.shown(self.lost, bool(self.lost.value))
            self.table.show(bar_rows(reading, found, aging, self._tz))

    def _turned(self) -> None:
        if self.frame.every:
            self._watch.tick()

    # One room

    @told("pick")
    def select(self, room_id: str) -> None:
        """Show the curve of this room; "" puts it away. ConfigError: the panel does not have it."""
        if room_id != "" and room_id not in list(self.value["room_id"]):
            raise ConfigError(f"room {room_id!r} is not in this panel", "Its rooms are in `value`")
        self.table.chosen = room_id
        self._pick()

    def samples(self, room_id: str) -> pd.DataFrame:
        """What there is of a room, as `load_occupancy` has it: its recorded samples, and those that
        this panel has read while nothing was recorded, no closer to each other than the others.

        ConfigError: the folder holds the recording of another service.
        """
        recorded = recorded_samples(self.recorded.folder, room_id, self._client.name)
        return joined(recorded, read_samples(self._reading, room_id), self.frame.every)

    def _pick(self) -> None:
        # Whichever is chosen now: of several quick picks the last one counts.
        self._draw(anew=True)

    def _draw(self, *, anew: bool = False) -> None:
        room_id, folder = self.table.chosen, self.recorded.folder
        self.curve.draw(room_id, self._reading, folder, self.frame.every, anew=anew)

    def _beside(self, action: Callable[[], object], kind: str = "pick") -> None:
        """Does it at once in a thread, whatever else is under way: it asks the service nothing."""

        def run() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001  # nobody would see it raised
                self.fails(error, kind)

        thread = threading.Thread(target=run, name="confkit panel beside", daemon=True)
        self._asides = [*filter(threading.Thread.is_alive, self._asides), thread]
        thread.start()

    # A recording

    def capacity(self) -> pd.DataFrame:
        """The `capacity_report` of the folder, once it is shown. Errors as of that; ConfigError
        where the folder holds something else. Topics are those that were read, if any were."""
        from ..occupancy.capacity import capacity_report  # loads DuckDB

        self.wait_for_first()
        with self.working("Counting the samples", "report"):
            path = of_a_recording(placed(self.recorded.folder))
            report = capacity_report(path, self._tz)
            self.recorded.show(report, self._reading)
        return report
