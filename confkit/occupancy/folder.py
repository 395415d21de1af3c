"""A recording's folder: which files are in it, and how samples get there and out again.

    _hot/20260329T080000123-5f3a9c1e.hot    a sweep, Parquet; named by its time
    date=2026-03-29/day.parquet             a day's samples by room and time
    _services/SANDBOX                       whose samples they are
    _lock                                   held while days are written, and while it is read

A sweep may be added at any time; only under the lock it goes into the file of its day. That file
names in its metadata the sweeps that went into it last: those count no more, whether they are
still there or not, so a process may die between any two steps.
"""

import json
import math
import os
import re
import sqlite3
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

import pandas as pd

from ..errors import ConfigError, ConfkitError
from ..text import write_atomically
from .arrow import ds, pa, pc, pq
from .samples import COLUMNS, samples_table, schema

ABSORBED = b"confkit.absorbed"  # of a day's metadata: the names of the sweeps in it, as JSON
# Other readers skip what begins with _; Dask does not, but it skips what does not end so.
HOT, DAY, LOCK, SERVICES = "_hot", "day.parquet", "_lock", "_services"
_OURS = re.compile(r"_hot/(\d{8})T\d{9}-[0-9a-f]{8}\.hot|date=(\d{4}-\d\d-\d\d)/day\.parquet")
_STALE = 86_400  # seconds after which an unfinished file is a dead process's
_GLANCE = 0.02  # seconds between two looks at the lock
_ORDER = [("room_id", "ascending"), ("time", "ascending")]
_AT_ONCE = 2_000_000  # rows sorted in memory, some 400 MB
_ROWS = 1 << 17  # of a row group: what has to be read for one room
_PACKED: Any = {
    "compression": "zstd",
    "use_dictionary": [name for name in COLUMNS if name != "time"],
    "column_encoding": {"time": "DELTA_BINARY_PACKED"},
}
# A sweep is small and short-lived: what costs time is left out.
_PLAIN: Any = {"use_dictionary": False, "compression": "none", "write_statistics": False}

Days = Callable[[date], bool]


class RecordingError(ConfkitError, OSError):
    """A recording could not be written or read; the text names the file, why, and what to do."""


@dataclass
class Contents:
    """What is in a folder: the files of days and the sweeps that count, each with its day, the
    sweeps that are in a day but still there, and what is wrong with other files."""

    days: dict[Path, date] = field(default_factory=dict)
    hot: dict[Path, date] = field(default_factory=dict)
    spent: dict[Path, date] = field(default_factory=dict)
    strange: dict[Path, str] = field(default_factory=dict)

    @property
    def files(self) -> list[Path]:
        """All that counts."""
        return [*self.days, *self.hot]


def append_sweep(folder: Path, table: Any) -> None:
    """Write the samples of one sweep into the folder, durably. RecordingError: they cannot be."""
    first = table.column("time")[0].as_py().astimezone(UTC)
    name = f"{first:%Y%m%dT%H%M%S}{first.microsecond // 1000:03}-{uuid4().hex[:8]}.hot"
    _publish(folder, folder / HOT / name, [table], table.schema, _PLAIN)


def compact(folder: Path, before: date, *, wait: bool = True) -> Contents | None:
    """Put the sweeps of the days before this one into their days; return what was there.

    None where somebody reads the folder, or compacts it, and this is not to `wait`. RecordingError
    where a day cannot be written; its sweeps then stay.
    """
    with _locked(folder, write=True, wait=wait) as mine:
        if not mine:
            return None
        for draft in folder.glob("*/.draft-*"):  # of write_atomically
            with suppress(OSError):
                if time.time() - draft.stat().st_mtime > _STALE:
                    draft.unlink()
        found = contents(folder, lambda day: day < before)
        for day in sorted({*found.hot.values(), *found.spent.values()}):
            _write_day(folder, day, found)
    return found


def save_occupancy(samples: pd.DataFrame, folder: str | Path) -> int:
    """Add samples to a recording's folder, each to the file of its day; return how many were new.

    `samples` has the columns that `load_occupancy` gives, from a simulation or from elsewhere. A
    sample of a room and a time that the folder has already is left out; after a crash or a full
    disk (RecordingError), call it again. ValueError where it is no frame of samples.
    """
    folder, table, added = Path(folder), samples_table(samples), 0
    days = pc.cast(pc.cast(table.column("time"), pa.timestamp("ms")), pa.date32())
    with _locked(folder, write=True):
        for day in sorted(pc.unique(days).to_pylist()):
            known = read(contents(folder, {day}.__contains__).files, ["time", "room_id"])
            new = table.filter(pc.equal(days, day))
            if known.num_rows:  # people do not count twice
                new = new.join(known, ["time", "room_id"], join_type="left anti").select(COLUMNS)
            if new.num_rows:
                append_sweep(folder, new.cast(schema()))
                added += int(new.num_rows)
            _write_day(folder, day, contents(folder, {day}.__contains__))
    if "service" in samples.attrs:
        note_service(folder, str(samples.attrs["service"]))
    return added


def note_service(folder: Path, name: str) -> None:
    """Note that samples of this service are in the folder; a name that is lost is no sample."""
    with suppress(OSError):
        (folder / SERVICES).mkdir(parents=True, exist_ok=True)
        (folder / SERVICES / quote(name, safe=" ")).touch()


def whose(samples: str | Path | pd.DataFrame) -> str | None:
    """Return the names of the services whose samples these are; None where they are not known."""
    if isinstance(samples, pd.DataFrame):
        return samples.attrs.get("service")
    return (
        ", ".join(sorted(unquote(note.name) for note in Path(samples, SERVICES).glob("*"))) or None
    )


@contextmanager
def reading(folder: Path, days: Days = lambda _: True) -> Iterator[Contents]:
    """Hold the folder as it is and give what is in it of these days; a warning names the files
    that are skipped. Errors as of `contents`."""
    with _locked(folder, write=False):
        found = contents(folder, days)
        if found.strange:
            text = ", ".join(f"{path} ({why})" for path, why in list(found.strange.items())[:20])
            warnings.warn(
                f"skipped in the recording: {text}. Look at them, and move them out of its folder.",
                stacklevel=4,
            )
        yield found


def contents(folder: Path, days: Days = lambda _: True) -> Contents:
    """Return what is in the folder of these days. ConfigError: there is no such folder;
    RecordingError: it cannot be read."""
    if not folder.is_dir():
        why = "is a file" if folder.exists() else "is not there"
        raise ConfigError(
            f"there is no recording at {folder}, which {why}",
            "Give the path of a folder; `confkit record FOLDER` or Recorder makes one.",
        )
    found, absorbed = Contents(), set[str]()
    try:
        for path in _paths(folder):
            ours = _OURS.fullmatch(path.relative_to(folder).as_posix())
            if ours is None:
                found.strange[path] = "no part of a recording"
            elif days(day := date.fromisoformat(ours[1] or ours[2])):
                try:
                    absorbed |= _sweeps_in(path)
                except (ValueError, OSError) as error:  # Arrow's are one or the other
                    found.strange[path] = str(error).partition("\n")[0]
                else:
                    (found.hot if ours[1] else found.days)[path] = day
    except OSError as error:
        raise RecordingError(
            f"{folder} cannot be read: {error.strerror or error}. See to its rights and to its "
            "disk; nothing in it was changed."
        ) from error
    found.spent = {path: found.hot.pop(path) for path in [*found.hot] if path.name in absorbed}
    return found


def _paths(folder: Path) -> Iterator[Path]:
    """Yield the files that may be samples, or do not belong there."""
    for place in sorted(folder.iterdir()):
        if place.is_dir() and (place.name == HOT or place.name.startswith("date=")):
            yield from (path for path in sorted(place.iterdir()) if not path.name.startswith("."))
        elif not place.name.startswith((".", "_")):
            yield place


def _sweeps_in(path: Path) -> set[str]:
    """Return the names of the sweeps that went into this file; ValueError: it is none of ours."""
    found = pq.read_schema(path)
    if not found.equals(schema()):
        raise ValueError("Parquet with other columns or types")
    return set(json.loads((found.metadata or {}).get(ABSORBED, b"[]")))


def read(files: list[Path], columns: Iterable[str] = COLUMNS, where: Any = None) -> Any:
    """Return the samples in these files that meet the condition, as an Arrow table.
    RecordingError: a file is damaged."""
    samples = ds.dataset([str(path) for path in files], schema=schema(), format="parquet")
    try:
        return samples.to_table(columns=list(columns), filter=where)
    except (pa.ArrowException, OSError) as error:
        raise damaged(files, error) from error


def damaged(files: list[Path], error: Exception) -> RecordingError:
    """Return the error that names the file which is damaged inside; `contents` does not see it."""
    for path in files:
        try:
            pq.ParquetFile(path).read()
        except (pa.ArrowException, OSError):
            return RecordingError(f"{path} is damaged inside. Move it out of the folder.")
    return RecordingError(f"the recording cannot be read: {error}. Look at the folder's disk.")


def _write_day(folder: Path, day: date, found: Contents) -> None:
    """Put the day's sweeps into its file, beside the samples that are in it. A day's file that
    cannot be read is left as it is, and its sweeps with it."""
    path = folder / f"date={day}" / DAY
    hot, spent = ([one for one in every if every[one] == day] for every in (found.hot, found.spent))
    if path in found.strange:
        return
    if spent:
        _flush_folder(path.parent)  # a process may have died before that
    if hot:
        sources = [*hot, *([path] if path in found.days else [])]
        names = json.dumps([sweep.name for sweep in [*hot, *spent]])
        told = schema().with_metadata({**schema().metadata, ABSORBED: names.encode()})
        _publish(folder, path, _sorted(sources), told, _PACKED)
    _remove([*hot, *spent])


def _sorted(sources: list[Path]) -> Iterator[Any]:
    """Yield the samples by room and time, some rooms at once: reading again saves memory."""
    column = read(sources, ["room_id"]).column("room_id")
    rooms = sorted(column.unique().to_pylist())
    size = math.ceil(len(rooms) / math.ceil(len(column) / _AT_ONCE))
    for start in range(0, len(rooms), size):
        of = rooms[start : start + size]
        wanted = (pc.field("room_id") >= of[0]) & (pc.field("room_id") <= of[-1])
        yield read(sources, where=wanted).sort_by(_ORDER)


@contextmanager
def _locked(folder: Path, *, write: bool, wait: bool = True) -> Iterator[bool]:
    """Hold the folder's lock: a writer keeps everybody out, a reader only writers. False where it
    is held and nobody is to `wait`.

    The lock is SQLite's, which every system has and which ends with its process. A folder without
    it, as a part of one that was copied, is read as it is. RecordingError where it cannot be made.
    """
    lock, mine = None, False
    try:
        if write:
            folder.mkdir(parents=True, exist_ok=True)
        place = f"{(folder / LOCK).absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
        # It waits in short spells: within one Ctrl-C would not be heard.
        lock = sqlite3.connect(place, uri=True, timeout=_GLANCE, isolation_level=None)
        while not (mine := _taken(lock, write)) and wait:
            pass
    except (sqlite3.Error, OSError) as error:
        if write:
            raise _unwritten(folder, error) from error
    try:
        yield mine
    finally:
        if lock:
            lock.close()


def _taken(lock: sqlite3.Connection, write: bool) -> bool:
    """Whether the lock is ours now; False while somebody else has it."""
    try:
        lock.execute("PRAGMA journal_mode = memory")  # nothing is written, nor left by who dies
        lock.execute("BEGIN EXCLUSIVE" if write else "BEGIN")
        lock.execute("SELECT count(*) FROM sqlite_master")  # from here on a reader holds it
    except sqlite3.OperationalError as error:
        lock.rollback()
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _publish(
    folder: Path, path: Path, tables: Iterable[Any], told: Any, ways: Mapping[str, Any]
) -> None:
    """Put these samples at `path` as Parquet with the schema `told`, whole and durable, or not at
    all."""
    whole = BytesIO()
    with pq.ParquetWriter(whole, told, **ways) as writer:
        for table in tables:
            writer.write_table(table.cast(told), row_group_size=_ROWS)
    try:
        (folder / HOT).mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # to open it would drop the locks of this process
            (folder / LOCK).touch(exist_ok=False)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, whole.getvalue())
        _flush_folder(path.parent)
    except OSError as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: Exception) -> RecordingError:
    why = getattr(error, "strerror", None) or error
    return RecordingError(
        f"{path} was not written: {why}. What was recorded before is safe and whole. Free "
        "space, or see to the rights on this file system; then go on with the same folder."
    )


def _remove(paths: Iterable[Path]) -> None:
    """Delete these files; one that is gone already, or that may not be removed, stays as it is."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _flush_folder(folder: Path) -> None:
    """Make the names in this folder durable."""
    if sys.platform == "win32":
        return  # Windows neither needs it nor can open a folder
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
