"""A recording while it runs: a sweep a turn, each on the disk before it is told."""

import logging
import math
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from .compaction import append_sweep, compact
from .files import RecordingError
from .grid import Grid
from .rows import Rows, Taken
from .services import note_service

_KNOWN = 10_000  # times of sweeps, a week of them at one a minute

log = logging.getLogger("confkit.record")


class Run:
    """One call of `record`: goes until something ends it, and counts what it has done."""

    def __init__(
        self, folder: Path, rows: Rows, grid: Grid, stop: threading.Event,
        clock: Callable[[], float], rooms_every: float, told: Callable[[], object],
    ) -> None:  # fmt: skip
        self.sweeps = self.rows = self.failures = 0
        self.why = ""
        self._folder, self._source, self._grid, self._stop = folder, rows, grid, stop
        self._clock, self._rooms_every, self._told = clock, rooms_every, told
        self._rooms_due, self._compacted, self._skipped = 0.0, date.min, 0
        self._times: deque[int] = deque(maxlen=_KNOWN)

    def go(self, sweeps: int | None, until: float) -> str:
        """Why it ended; Ctrl-C ends it too, as a KeyboardInterrupt or as "interrupted"."""
        while True:
            if self._clock() + self._grid.left >= until:
                return "until"
            self._grid.wait()
            if self._stop.is_set():
                return "cancelled"
            if not self._sweep():
                return "cancelled" if self._stop.is_set() else "interrupted"
            if self.sweeps == sweeps:
                return "sweeps"
            self._grid.advance()

    def _sweep(self) -> bool:
        """Whether it went to its end. What came is on the disk in any case."""
        if self._grid.skipped > self._skipped:
            late = self._grid.skipped - self._skipped
            log.warning("skipped %d: a sweep took too long, or this machine slept", late)
            self._skipped = self._grid.skipped
        now = self._moment()
        rooms = self._grid.at >= self._rooms_due
        if rooms:
            self._rooms_due = self._grid.at + self._rooms_every
        taken = self._source.take(now, rooms=rooms)
        if taken.table.num_rows:
            append_sweep(self._folder, taken.table)
            if not self.sweeps:
                note_service(self._folder, self._source.service)
            self.sweeps += 1
            self.rows += taken.table.num_rows
            self.failures += taken.failures
            self.why = taken.why or str(taken.error or "")
            _tell(now, taken)
            self._told()
        if self.sweeps and now.date() != self._compacted:  # else there may be no folder
            self._compact(now.date())
        return taken.complete

    def _moment(self) -> datetime:
        """The time, to the millisecond. One that a sweep had before, as when the clock is set back
        by whole minutes, would count its people twice: the next one that is free stands for it."""
        time = math.floor(self._clock() * 1000)
        while time in self._times:
            time += 1
        self._times.append(time)
        return datetime.fromtimestamp(time / 1000, UTC)

    def _compact(self, today: date) -> None:
        """Never ends a recording: sweeps that are not compacted are read from where they are."""
        self._compacted = today
        try:
            strange = compact(self._folder, today).strange
        except (RecordingError, OSError) as error:
            log.error("the days before %s are not compacted yet: %s", today, error)
            return
        for path, why in strange.items():
            log.warning("skipped %s (%s); look at it, and move it out of the folder", path, why)


def _tell(now: datetime, taken: Taken) -> None:
    when = now.isoformat(timespec="milliseconds")
    if taken.error is not None:
        log.warning("%s: nothing could be asked: %s", when, taken.error)
    why = f"; {taken.why}" if taken.why else ""
    log.info("%s: %d rooms, %d without a value%s", when, taken.table.num_rows, taken.failures, why)
