"""`Recorder`: repeated sweeps of all rooms, written to a folder."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..client import Client, is_positive
from ..errors import ConfigError, ConfkitError
from ..sweep import Sweep, progress_bar, ret_of, sweep
from ..tables import room_ids as read_ids
from ..text import counted
from .folder import DayFiles
from .samples import COLUMNS

_STEP = 1.0  # seconds; longer waits are split, so that Ctrl-C works on Windows

log = logging.getLogger("confkit.record")


@dataclass(frozen=True)
class Recorded:
    """The result of a recording: the number of `sweeps` and `rows` written, of rows with a missing
    value (`failures`), and of sweeps `skipped` because their time had passed."""

    sweeps: int = 0
    rows: int = 0
    failures: int = 0
    skipped: int = 0

    def __str__(self) -> str:
        return (
            f"sweeps: {self.sweeps:,}; rows: {self.rows:,}, {self.failures:,} of them with a "
            f"missing value; sweeps skipped: {self.skipped:,}"
        )


@dataclass(frozen=True)
class Recorder:
    """Records the occupancy of rooms into a folder, sweep by sweep."""

    folder: str | Path

    def record(
        self,
        client: Client,
        room_ids: Any,
        every: float = 60,
        sweeps: int | None = None,
        *,
        progress: bool | None = None,
        cancelled: threading.Event | None = None,
        on_sweep: Callable[[Sweep], object] | None = None,
    ) -> Recorded:
        """Record until `sweeps` are done, `cancelled` is set or Ctrl-C; return the result.

        `room_ids` is as in `sweep`. The first sweep starts at once, the others every `every`
        seconds from then; a sweep whose time passes during another is skipped. Each reads the rooms
        (A3), their users (A6) and the devices (B3). Once written, a sweep is logged
        ("confkit.record") and passed to `on_sweep`, for example to compare it with the previous one
        (`changes`). `load_occupancy` can read the folder at any time, and several recorders may
        share it. A line with the number of sweeps is shown in a notebook or terminal, unless
        `progress` is False.

        The first sweep raises an error if nothing can be read, as `sweep` does; later failures are
        rows with missing values. RecordingError: the folder cannot be read or written, or the disk
        is full; sweeps already logged are safe. ValueError: an invalid argument. ConfigError: no
        rooms, or the folder has the format of an earlier version.
        """
        if not is_positive(every):
            raise ValueError(f"every is {every!r}; pass seconds above 0")
        if sweeps is not None and not is_positive(sweeps):
            raise ValueError(f"sweeps is {sweeps!r}; pass a number above 0, or None")
        ids = read_ids(room_ids)
        if not ids:
            raise ConfigError("no rooms to record", "Pass at least one room ID.")
        stop = cancelled or threading.Event()
        files = DayFiles(Path(self.folder).expanduser())
        done = Recorded()
        times: set[pd.Timestamp] = set()
        before = ""  # why rooms were not read in the sweep before
        with suppress(KeyboardInterrupt), progress_bar(progress, sweeps, "sweeps") as step:
            for skipped in _schedule(every, stop):
                moment = pd.Timestamp(client.now(), unit="s", tz="UTC").floor("ms")
                while moment in times:  # the clock was set back
                    moment += pd.Timedelta(1, "ms")
                times.add(moment)
                frame, result, reason = _read(client, ids, stop, first=not done.sweeps)
                if frame.empty:
                    continue
                files.append(frame.assign(time=moment, service=client.name))
                failures = len(frame) - int(frame["ret"].eq(0).sum())
                done = Recorded(
                    done.sweeps + 1,
                    done.rows + len(frame),
                    done.failures + failures,
                    done.skipped + skipped,
                )
                when = moment.isoformat(timespec="milliseconds")
                why = f"; {reason}" if reason and reason != before else ""  # once while it lasts
                before = reason
                level = logging.INFO if result else logging.WARNING
                log.log(level, "%s: %s%s", when, _describe(frame, failures), why)
                step()
                if result and on_sweep:
                    on_sweep(result)
                if sweeps and done.sweeps >= sweeps:
                    break
        return done


def _describe(frame: pd.DataFrame, failures: int) -> str:
    unread = frame["users"].isna().sum()
    partial = f", {failures - unread} read without their devices" if failures > unread else ""
    return f"{counted(len(frame), 'room')}, {unread} not read{partial}"


def _schedule(every: float, stop: threading.Event) -> Iterator[int]:
    """Wait for the time of each sweep, and yield how many were skipped before it."""
    start, turn, skipped = time.monotonic(), 0, 0
    while not stop.is_set():
        left = start + turn * every - time.monotonic()
        if left > 0:
            stop.wait(min(left, _STEP))
            continue
        yield skipped
        following = max(turn + 1, math.ceil((time.monotonic() - start) / every))
        skipped = following - turn - 1
        if skipped:
            log.warning("skipped %d: a sweep took too long, or this machine was asleep", skipped)
        turn = following


def _read(
    client: Client, ids: list[str], stop: threading.Event, *, first: bool
) -> tuple[pd.DataFrame, Sweep | None, str]:
    """Return the frame of a sweep, the sweep, and its commonest failure; if nothing could be read,
    a row without values for each room, or for the `first` sweep raise the error."""
    try:
        result = sweep(client, ids, progress=False, cancelled=stop)
    except ConfkitError as error:
        if first:
            raise
        frame = pd.DataFrame({"room_id": ids, "ret": ret_of(error)}, columns=COLUMNS)
        return frame, None, f"nothing could be read: {error}"
    frame = result.frame()
    if stop.is_set() and not result.complete:
        frame = frame[frame["users"].notna()]
    return frame, result, result.commonest
