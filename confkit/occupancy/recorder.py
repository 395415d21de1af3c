"""`Recorder`: who is in which room, again and again, in a folder."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..transport import finite
from .folder import BusyError, RecordingError, append_sweep, compact, note_service
from .rows import Rows, Taken
from .zones import Moment, moment

if TYPE_CHECKING:
    from ..client import Client

_STEP = 1.0  # seconds; waits are cut up, so that Windows sees Ctrl-C as well
_KNOWN = 10_000  # times of sweeps, a week of them at one a minute

log = logging.getLogger("confkit.record")


@dataclass(frozen=True)
class Recorded:
    """What a recording came to: its `sweeps` and their `rows`, all on the disk; how many rows lack
    a value (`failures`); the sweeps that were `skipped`, as their time had passed; and what `ended`
    it: "sweeps", "until", "cancelled" or "interrupted", or nothing while it goes on. `why` says why
    most of what failed in the last sweep did."""

    sweeps: int = 0
    rows: int = 0
    failures: int = 0
    skipped: int = 0
    ended: str = ""
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
        sweep is reported in the log ("confkit.record") when it is durable, and `told` is called
        with what there is until then; a day (UTC) is compacted when it is over. `load_occupancy`
        reads all of it at any time. An `until` without offset is local time.

        The first sweep raises when nothing can be asked, as `sweep` does; from then on a failure is
        a row with missing values. RecordingError where the disk is full: what was reported is safe.
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
        run = _Run(self, rows, stop, every, rooms_every, told)
        try:
            ended = run.go(sweeps, end)
        except KeyboardInterrupt:
            ended = "interrupted"
        return replace(run.done, ended=ended)


class _Run:
    """One call of `record`: a sweep a turn, each on the disk before it is reported; `done` is what
    it has come to."""

    def __init__(
        self,
        recorder: Recorder,
        rows: Rows,
        stop: threading.Event,
        every: float,
        rooms_every: float,
        told: Callable[[Recorded], object],
    ) -> None:
        self.done = Recorded()
        self._folder, self._clock, self._ticks = recorder.folder, recorder._clock, recorder._ticks
        self._sleep = recorder._sleep or stop.wait
        self._source, self._stop, self._told = rows, stop, told
        self._every, self._rooms_every = every, rooms_every
        self._rooms_due, self._compacted = 0.0, date.min
        self._times: deque[int] = deque(maxlen=_KNOWN)

    def go(self, sweeps: int | None, until: float) -> str:
        """Why it ended; Ctrl-C ends it too, as a KeyboardInterrupt or as "interrupted".

        Turns are so many seconds apart, however long each takes; one whose time has passed before
        it could begin is skipped.
        """
        start, turn = self._ticks(), 0
        while True:
            left = start + turn * self._every - self._ticks()
            if self._clock() + left >= until:
                return "until"
            while left > 0 and not self._stop.is_set():
                self._sleep(min(left, _STEP))
                left = start + turn * self._every - self._ticks()
            if self._stop.is_set():
                return "cancelled"
            in_time = left > -self._every  # else this machine was suspended while it waited
            if in_time and not self._sweep(turn * self._every):
                return "cancelled" if self._stop.is_set() else "interrupted"
            if self.done.sweeps == sweeps:
                return "sweeps"
            due = max(turn + 1, math.ceil((self._ticks() - start) / self._every))
            if late := due - turn - in_time:
                log.warning("skipped %d: a sweep took too long, or this machine slept", late)
                self.done = replace(self.done, skipped=self.done.skipped + late)
            turn = due

    def _sweep(self, at: float) -> bool:
        """Whether the sweep of the turn `at` so many seconds went to its end. What came is on the
        disk in any case."""
        now, rooms = self._moment(), at >= self._rooms_due
        if rooms:
            self._rooms_due = at + self._rooms_every
        taken = self._source.take(now, rooms=rooms)
        if taken.table.num_rows:
            append_sweep(self._folder, taken.table)
            if not self.done.sweeps:
                note_service(self._folder, self._source.service)
            self.done = replace(
                self.done,
                sweeps=self.done.sweeps + 1,
                rows=self.done.rows + taken.table.num_rows,
                failures=self.done.failures + taken.failures,
                why=taken.why or str(taken.error or ""),
            )
            _tell(now, taken)
            self._told(self.done)
        if self.done.sweeps and now.date() != self._compacted:  # else there may be no folder
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
        try:
            strange = compact(self._folder, today, wait=False).strange
        except BusyError:
            return  # somebody reads: with the next sweep
        except (RecordingError, OSError) as error:
            log.error("the days before %s are not compacted yet: %s", today, error)
            strange = {}
        self._compacted = today
        for path, why in strange.items():
            log.warning("skipped %s (%s); look at it, and move it out of the folder", path, why)


def _tell(now: datetime, taken: Taken) -> None:
    when = now.isoformat(timespec="milliseconds")
    if taken.error is not None:
        log.warning("%s: nothing could be asked: %s", when, taken.error)
    why = f"; {taken.why}" if taken.why else ""
    log.info("%s: %d rooms, %d without a value%s", when, taken.table.num_rows, taken.failures, why)
