"""`Recorder`: who is in which room, again and again, in a folder."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..transport import finite
from .grid import Grid
from .rows import Rows
from .running import Run
from .zones import Moment, moment

if TYPE_CHECKING:
    from ..client import Client


@dataclass(frozen=True)
class Recorded:
    """What a recording came to: its `sweeps` and their `rows`, all on the disk; how many rows lack
    a value (`failures`); the sweeps that were `skipped`, as their time had passed; and what `ended`
    it: "sweeps", "until", "cancelled" or "interrupted", or nothing while it goes on. `why` says why
    most of what failed in the last sweep did."""

    sweeps: int
    rows: int
    failures: int
    skipped: int
    ended: str
    why: str = ""

    def __str__(self) -> str:
        return (
            f"sweeps: {self.sweeps:,}; rows: {self.rows:,}, of which {self.failures:,} without a "
            f"value; sweeps skipped: {self.skipped:,}; ended: {self.ended}"
        )


class Recorder:
    """Records into a folder who is in the rooms, a sweep at a time.

    `clock` gives the seconds since 1970, `ticks` seconds that never step, and `sleep` waits; they
    are passed in so that tests need no time.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._clock, self._ticks, self._sleep = clock, ticks, sleep

    def __repr__(self) -> str:
        return f"Recorder({str(self.folder)!r})"

    def record(
        self,
        client: "Client",
        room_ids: Any,
        every: float = 60,
        sweeps: int | None = None,
        until: Moment | None = None,
        rooms_every: float = 3600,
        *,
        id_column: str | None = None,
        concurrency: int = 32,
        max_rate: float | None = None,
        cancelled: threading.Event | None = None,
        told: Callable[[Recorded], object] = lambda _: None,
    ) -> Recorded:
        """What was recorded, once `sweeps` are done, `until` has come, `cancelled` is set or Ctrl-C
        is pressed.

        `room_ids` and `id_column` as `sweep` takes them. The first sweep starts at once, the others
        at every `every` seconds from then; one whose time passes during another is skipped. Users
        are read each time (A6, and B3 once), the rooms' fields (A3) every `rooms_every` seconds. A
        sweep is told in the log ("confkit.record") when it is durable, and `told` is called with
        what there is until then; a day (UTC) is compacted when it is over. `load_occupancy` reads
        all of it at any time. An `until` without offset is local time.

        The first sweep raises when nothing can be asked, as `sweep` does; from then on a failure is
        a row with missing values. RecordingError where the disk is full: what was told is safe.
        ValueError: an argument makes no sense, or there is no room.
        """
        for name, seconds in (("every", every), ("rooms_every", rooms_every)):
            if not finite(seconds):
                raise ValueError(f"{name} is {seconds!r}; give seconds, above 0")
        if sweeps is not None and (not isinstance(sweeps, int) or not finite(sweeps)):
            raise ValueError(f"sweeps is {sweeps!r}; give a whole number above 0, or None")
        end = math.inf if until is None else moment(until, "until").timestamp()
        stop = cancelled or threading.Event()
        if end <= self._clock():
            raise ValueError(f"until is {until}, which is over; give a time to come")
        rows = Rows(
            client, room_ids, stop, id_column=id_column, concurrency=concurrency, max_rate=max_rate
        )
        grid = Grid(every, self._ticks, self._sleep or stop.wait, stop)

        def recorded(ended: str = "") -> Recorded:
            return Recorded(run.sweeps, run.rows, run.failures, grid.skipped, ended, run.why)

        run = Run(self.folder, rows, grid, stop, self._clock, rooms_every, lambda: told(recorded()))
        try:
            return recorded(run.go(sweeps, end))
        except KeyboardInterrupt:
            return recorded("interrupted")
