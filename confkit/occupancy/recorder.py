"""`Recorder`: who is in which room, read again and again into a folder."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import ConfigError, ConfkitError
from ..sweep import Sweep, status_line, sweep
from ..tables import room_ids as read_ids
from ..text import counted
from ..transport import is_positive
from .folder import DayFiles, list_files
from .samples import COLUMNS, samples_frame
from .times import Moment, parse_moment

if TYPE_CHECKING:
    from ..client import Client

_STEP = 1.0  # seconds; waits are cut up, so that Windows sees Ctrl-C as well

log = logging.getLogger("confkit.record")


@dataclass(frozen=True)
class Recorded:
    """What a recording came to: its `sweeps` and their `rows`, all on the disk; how many rows lack
    a value (`failures`); the sweeps that were `skipped`, as their time had passed; and what `ended`
    it: "sweeps", "until", "cancelled" or "interrupted"."""

    sweeps: int = 0
    rows: int = 0
    failures: int = 0
    skipped: int = 0
    ended: str = ""

    def __str__(self) -> str:
        return (
            f"sweeps: {self.sweeps:,}; rows: {self.rows:,}, of which {self.failures:,} without a "
            f"value; sweeps skipped: {self.skipped:,}; ended: {self.ended}"
        )


class Recorder:
    """Records into a folder who is in the rooms, a sweep at a time."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"Recorder({str(self.folder)!r})"

    def record(
        self,
        client: "Client",
        room_ids: Any,
        every: float = 60,
        sweeps: int | None = None,
        until: Moment | None = None,
        *,
        id_column: str | None = None,
        concurrency: int = 32,
        max_rate: float | None = None,
        cancelled: threading.Event | None = None,
        on_sweep: Callable[[Sweep], object] | None = None,
    ) -> Recorded:
        """Record until `sweeps` are done, `until` has come, `cancelled` is set or Ctrl-C is
        pressed; return what was recorded.

        `room_ids` and `id_column` as `sweep` takes them. The first sweep starts at once, the others
        at every `every` seconds from then; one whose time passes during another is skipped. Each
        reads the rooms (A3), their users (A6) and the devices (B3). When it is on the disk it is
        reported in the log ("confkit.record"), and `on_sweep` is called with it, such as to compare
        it with the one before (`changes`). `load_occupancy` reads the folder at any time, and
        several recorders may share it. An `until` without offset is local time.

        The first sweep raises when nothing can be asked, as `sweep` does; from then on a failure is
        a row with missing values. RecordingError where the disk is full: what was reported is safe.
        ValueError: an argument makes no sense, or there is no room. ConfigError: the folder has the
        form of an earlier version.
        """
        if not is_positive(every):
            raise ValueError(f"every is {every!r}; give seconds, above 0")
        if sweeps is not None and (not isinstance(sweeps, int) or not is_positive(sweeps)):
            raise ValueError(f"sweeps is {sweeps!r}; give a whole number above 0, or None")
        end = math.inf if until is None else parse_moment(until, "until").timestamp()
        if end <= client.now():
            raise ValueError(f"until is {until}, which is over; give a time to come")
        ids = read_ids(room_ids, id_column).ids
        if not ids:
            raise ConfigError("there is no room to record", "Give the IDs of one or more.")
        if self.folder.exists():
            list_files(self.folder)  # refuses what is no folder of samples
        stop = cancelled or threading.Event()
        pace: dict[str, Any] = {"concurrency": concurrency, "max_rate": max_rate}
        ask = partial(sweep, client, ids, cancelled=stop, progress=False, **pace)
        files, done, times = DayFiles(self.folder), Recorded(ended="interrupted"), set[int]()
        with status_line() as show, suppress(KeyboardInterrupt):
            for skipped in _turns(every, end, client.now, stop):
                moment = _unused(math.floor(1000 * client.now()), times)
                frame, swept = _read(ask, ids, stop, first=not done.sweeps)
                if frame.empty:
                    continue
                files.append(samples_frame(frame.assign(time=moment, service=client.name)))
                failures = int(frame["ret"].fillna(-1).ne(0).sum())
                done = replace(
                    done,
                    sweeps=done.sweeps + 1,
                    rows=done.rows + len(frame),
                    failures=done.failures + failures,
                    skipped=done.skipped + skipped,
                )
                rooms, when = counted(len(frame), "room"), moment.isoformat(timespec="milliseconds")
                why = f"; {swept.commonest}" if swept and swept.commonest else ""
                log.info("%s: %s, %d without a value%s", when, rooms, failures, why)
                if swept and on_sweep:
                    on_sweep(swept)
                last = f"{moment.to_pydatetime().astimezone():%H:%M:%S}"
                number = counted(done.sweeps, "sweep")
                show(f"{number}, last at {last}, {rooms}, {failures} not read")
                if done.sweeps == sweeps:
                    return replace(done, ended="sweeps")
            done = replace(done, ended="cancelled" if stop.is_set() else "until")
        return done


def _turns(
    every: float, until: float, now: Callable[[], float], stop: threading.Event
) -> Iterator[int]:
    """Wait for each turn, and yield how many were skipped before it, as their time passed
    meanwhile."""
    start, turn, skipped = time.monotonic(), 0, 0
    while not stop.is_set():
        left = start + turn * every - time.monotonic()
        if now() + max(left, 0) >= until:
            return
        if left > 0:
            stop.wait(min(left, _STEP))
            continue
        yield skipped
        following = max(turn + 1, math.ceil((time.monotonic() - start) / every))
        skipped = following - turn - 1
        if skipped:
            log.warning("skipped %d: a sweep took too long, or this machine slept", skipped)
        turn = following


def _read(
    ask: Callable[[], Sweep], ids: list[str], stop: threading.Event, *, first: bool
) -> tuple[pd.DataFrame, Sweep | None]:
    """Return what a sweep has read, and the sweep; where nothing could be asked, a row without
    values for each room. The `first` one raises then."""
    try:
        swept = ask()
    except ConfkitError as error:
        if first:
            raise
        log.warning("nothing could be asked: %s", error)
        code = getattr(error, "ret", None)
        code = code if isinstance(code, int) and abs(code) < 2**63 else None
        return pd.DataFrame({"room_id": ids, "ret": code}, columns=COLUMNS), None
    frame = swept.frame()
    if stop.is_set() and not swept.complete:
        frame = frame[frame["users"].notna()]
    return frame, swept


def _unused(time: int, times: set[int]) -> pd.Timestamp:
    """Return the time, in epoch milliseconds, or the next that no sweep had: where the clock was
    set back, two sweeps would else be taken for one."""
    while time in times:
        time += 1
    times.add(time)
    return pd.Timestamp(time, unit="ms", tz="UTC")
