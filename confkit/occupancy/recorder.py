"""`Recorder`: who is in which room, read again and again into a folder.

Caps that a sweep does not read are those that were read last.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import ApiError, ConfigError, ConfkitError
from ..sweep import Sweep, sweep
from ..tables import room_ids as read_ids
from ..transport import is_positive
from .folder import append_sweep, compact, note_service
from .samples import NUMBERS, samples_table
from .zones import Moment, moment

if TYPE_CHECKING:
    from ..client import Client

_STEP = 1.0  # seconds; waits are cut up, so that Windows sees Ctrl-C as well

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

    `clock` gives the seconds since 1970, the client's unless it is set; `ticks` gives seconds that
    never step, and `sleep` waits. They are passed in so that tests need no time.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        clock: Callable[[], float] | None = None,
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
        on_sweep: Callable[[Sweep], object] = lambda _: None,
    ) -> Recorded:
        """Record until `sweeps` are done, `until` has come, `cancelled` is set or Ctrl-C is
        pressed; return what was recorded.

        `room_ids` and `id_column` as `sweep` takes them. The first sweep starts at once, the others
        at every `every` seconds from then; one whose time passes during another is skipped. Users
        are read each time (A6, and B3 once), the rooms' fields (A3) every `rooms_every` seconds. A
        sweep is reported in the log ("confkit.record") when it is durable, and `on_sweep` is called
        with it, such as to compare it with the one before (`changes`); its rooms are those that
        were read last. A day (UTC) is compacted when it is over. `load_occupancy`
        reads all of it at any time. An `until` without offset is local time.

        The first sweep raises when nothing can be asked, as `sweep` does; from then on a failure is
        a row with missing values. RecordingError where the disk is full: what was reported is safe.
        ValueError: an argument makes no sense, or there is no room.
        """
        for name, seconds in (("every", every), ("rooms_every", rooms_every)):
            if not is_positive(seconds):
                raise ValueError(f"{name} is {seconds!r}; give seconds, above 0")
        if sweeps is not None and (not isinstance(sweeps, int) or not is_positive(sweeps)):
            raise ValueError(f"sweeps is {sweeps!r}; give a whole number above 0, or None")
        end = math.inf if until is None else moment(until, "until").timestamp()
        clock = self._clock or client.now
        if end <= clock():
            raise ValueError(f"until is {until}, which is over; give a time to come")
        ids = read_ids(room_ids, id_column).ids
        if not ids:
            raise ConfigError("there is no room to record", "Give the IDs of one or more.")
        stop = cancelled or threading.Event()
        pace: dict[str, Any] = {"concurrency": concurrency, "max_rate": max_rate}
        ask = partial(sweep, client, ids, cancelled=stop, progress=False, **pace)
        run = _Run(self, clock, client.name, ask, stop, every, rooms_every, on_sweep, _unknown(ids))
        try:
            ended = run.go(sweeps, end)
        except KeyboardInterrupt:
            ended = "interrupted"
        return replace(run.done, ended=ended)


def _unknown(ids: Iterable[str], ret: Any = None) -> pd.DataFrame:
    """Return a row for each of the rooms, of which nothing is known, and why."""
    return pd.DataFrame({"ret": ret}, index=[*ids], columns=NUMBERS).astype("Int64")


@dataclass
class _Run:
    """One call of `record`: a sweep a turn, each on the disk before it is reported; `done` is what
    it has come to, `known` the caps that were read last, with a `ret` where none ever was."""

    recorder: Recorder
    clock: Callable[[], float]
    service: str
    ask: Callable[..., Sweep]
    stop: threading.Event
    every: float
    rooms_every: float
    on_sweep: Callable[[Sweep], object]
    known: pd.DataFrame
    done: Recorded = Recorded()
    rooms_due: float = 0.0
    compacted: date = date.min
    times: set[int] = field(default_factory=set)
    last: Sweep | None = None

    def go(self, sweeps: int | None, until: float) -> str:
        """Record, and return why it ended; Ctrl-C is a KeyboardInterrupt.

        Turns are so many seconds apart, however long each takes; one whose time has passed before
        it could begin is skipped.
        """
        clock, ticks = self.clock, self.recorder._ticks
        sleep = self.recorder._sleep or self.stop.wait
        start, turn = ticks(), 0
        while True:
            left = start + turn * self.every - ticks()
            if clock() + left >= until:
                return "until"
            while left > 0 and not self.stop.is_set():
                sleep(min(left, _STEP))
                left = start + turn * self.every - ticks()
            if self.stop.is_set():
                return "cancelled"
            in_time = left > -self.every  # else this machine was suspended while it waited
            if in_time and not self._sweep(turn * self.every):
                return "cancelled"
            if self.done.sweeps == sweeps:
                return "sweeps"
            due = max(turn + 1, math.ceil((ticks() - start) / self.every))
            if late := due - turn - in_time:
                log.warning("skipped %d: a sweep took too long, or this machine slept", late)
                self.done = replace(self.done, skipped=self.done.skipped + late)
            turn = due

    def _sweep(self, at: float) -> bool:
        """Make the sweep of the turn `at` so many seconds; return False where it was cancelled.
        What was read until then is on the disk."""
        now, rooms = self._moment(), at >= self.rooms_due
        if rooms:
            self.rooms_due = at + self.rooms_every
        frame, swept, complete = self._taken(rooms)
        why = swept.commonest if isinstance(swept, Sweep) else str(swept)
        if len(frame):
            lacking = frame[["users", "people", "devices"]].isna().any(axis=1)
            known = self.known.loc[frame.index]
            frame["attendee_max"] = known["attendee_max"]
            frame["ret"] = frame["ret"].where(lacking, known["ret"])
            table = samples_table(frame.assign(time=pd.Timestamp(now), room_id=frame.index))
            failures = int((lacking | (frame["ret"] != 0).fillna(True)).sum())
            append_sweep(self.recorder.folder, table)
            if not self.done.sweeps:
                note_service(self.recorder.folder, self.service)
            self.done = replace(
                self.done,
                sweeps=self.done.sweeps + 1,
                rows=self.done.rows + len(frame),
                failures=self.done.failures + failures,
                why=why,
            )
            when, why = now.isoformat(timespec="milliseconds"), why and f"; {why}"
            log.info("%s: %d rooms, %d without a value%s", when, len(frame), failures, why)
            if isinstance(swept, Sweep):
                self.last = swept.with_rooms_of(self.last) if self.last else swept
                self.on_sweep(self.last)
        if self.done.sweeps and now.date() != self.compacted:  # else there may be no folder
            self._compact(now.date())
        return complete

    def _taken(self, rooms: bool) -> tuple[pd.DataFrame, Sweep | ConfkitError, bool]:
        """Return what one sweep has read, by room, the sweep or why there is none, and False where
        it was cancelled; with `rooms` it reads the caps too. The first one raises when nothing can
        be asked."""
        try:
            # Apart: who is in a room counts although its cap cannot be read.
            swept = self.ask(rooms=False)
            read = self.ask(users=False) if rooms else None
        except ConfkitError as error:
            if not self.done.sweeps:
                raise
            code = error.ret if isinstance(error, ApiError) else None
            fits = isinstance(code, int) and abs(code) < 2**63  # else into no column
            log.warning("nothing could be asked: %s", error)
            return _unknown(self.known.index, code if fits else None), error, True
        frame = swept.frame().set_index("room_id")
        if read is not None:
            swept = swept.with_rooms_of(read)
            caps = read.frame().set_index("room_id")[["attendee_max", "ret"]]
            failed = caps.index.isin([failure.room_id for failure in read.failures])
            self.known.update(caps[failed & (self.known["ret"] != 0).fillna(True)])
            self.known.loc[~failed, "attendee_max"] = caps["attendee_max"][~failed]
            self.known.loc[~failed, "ret"] = 0
        cancelled = self.stop.is_set() and not swept.complete
        if cancelled:
            frame = frame[frame["users"].notna()]
        return frame, swept, not cancelled

    def _moment(self) -> datetime:
        """Return the time, to the millisecond, or the next that no sweep had: where the clock was
        set back by whole minutes, people would count twice."""
        time = math.floor(self.clock() * 1000)
        while time in self.times:
            time += 1
        self.times.add(time)
        return datetime.fromtimestamp(time / 1000, UTC)

    def _compact(self, today: date) -> None:
        """Compact the days before. A failure ends no recording: sweeps are read where they are."""
        found = None
        try:
            if (found := compact(self.recorder.folder, today, wait=False)) is None:
                return  # somebody reads: with the next sweep
        except OSError as error:
            log.error("the days before %s are not compacted yet: %s", today, error)
        self.compacted = today
        for path, why in found.strange.items() if found else ():
            log.warning("skipped %s (%s); look at it, and move it out of the folder", path, why)
