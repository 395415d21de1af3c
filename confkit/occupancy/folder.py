"""A recording's folder: which files are in it, and how samples get there and out again.

    _hot/20260329T080000123-5f3a9c1e.hot    a sweep, Parquet; named by its time
    date=2026-03-29/day.parquet             a day's samples by room and time
    _services/SANDBOX                       whose samples they are
    _lock                                   who puts sweeps into days holds it, and who reads

Anybody may add a sweep at any time; only under the lock it goes, into the file of its day. That
file names in its metadata the sweeps that went into it last: those count no more, whether they are
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
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

import pandas as pd

from ..errors import ConfigError, ConfkitError
from .arrow import pa, pc, pq
from .samples import COLUMNS, samples_table, schema

ABSORBED = b"confkit.absorbed"  # of a day's metadata: the names of the sweeps in it, as JSON
# Other readers skip what begins with _; Dask does not, but it skips what does not end so.
HOT, DAY, LOCK, SERVICES = "_hot", "day.parquet", "_lock", "_services"
NAMED = 20  # files in one warning
_OURS = re.compile(
    r"_hot/(\d{4})(\d\d)(\d\d)T\d{9}-[0-9a-f]{8}\.hot|date=(\d{4})-(\d\d)-(\d\d)/day\.parquet"
)
_OLDER = re.compile(r"date=[^/]+/part-\d+\.parquet")
_UNFINISHED = ".tmp"
_GLANCE = 0.02  # seconds between two looks at the lock
_STALE = 86_400.0  # seconds after which an unfinished file is a dead process's
_ORDER = [("room_id", "ascending"), ("time", "ascending")]
_AT_ONCE = 2_000_000  # rows sorted in memory, some 400 MB
_ROWS = 1 << 17  # of a row group: what has to be read for one room

Days = Callable[[date], bool]


class RecordingError(ConfkitError, OSError):
    """A recording could not be written or read; the text names the file, why, and what to do."""


class BusyError(Exception):
    """Somebody else holds the lock of the folder."""


@dataclass
class Contents:
    """What is in a folder: the files of days and the sweeps that count, the sweeps that are in a
    day but still there, and what is wrong with other files."""

    days: dict[date, Path] = field(default_factory=dict)
    hot: list[Path] = field(default_factory=list)
    spent: list[Path] = field(default_factory=list)
    strange: dict[Path, str] = field(default_factory=dict)

    @property
    def files(self) -> list[Path]:
        """All that counts."""
        return [*self.days.values(), *self.hot]

    def warn(self) -> None:
        """Names the files that were skipped in a warning, when there are any."""
        if self.strange:
            told = [f"{path} ({why})" for path, why in list(self.strange.items())[:NAMED]]
            more = f" and {len(self.strange) - NAMED} more" if len(self.strange) > NAMED else ""
            warnings.warn(
                f"skipped in the recording: {', '.join(told)}{more}. Look at them, and move them "
                "out of its folder.",
                stacklevel=4,
            )


def append_sweep(folder: Path, table: Any) -> None:
    """Write the samples of one sweep into the folder, durably. RecordingError: they cannot be."""
    first = table.column("time")[0].as_py().astimezone(UTC)
    name = f"{first:%Y%m%dT%H%M%S}{first.microsecond // 1000:03}-{uuid4().hex[:8]}.hot"

    def write(draft: Path) -> None:
        # Small and short-lived: what costs time is left out.
        pq.write_table(
            table, draft, use_dictionary=False, compression="none", write_statistics=False
        )

    _publish(folder, folder / HOT / name, write)


def compact(folder: Path, before: date, *, wait: bool = True) -> Contents:
    """What was left out as strange, once the sweeps of the days before this one are in their days.

    RecordingError where a day cannot be written; its sweeps then stay. BusyError where somebody
    reads the folder, or compacts it, and this is not to `wait`.
    """
    with _locked(folder, write=True, wait=wait):
        _remove_stale(folder / HOT)
        found = contents(folder, lambda day: day < before)
        for day in sorted({_of(path) for path in [*found.hot, *found.spent]}):
            _write_day(folder, day, found)
    return found


def save_occupancy(samples: pd.DataFrame, folder: str | Path) -> int:
    """The number of samples that were added to a recording's folder, each in the file of its day.

    `samples` has the columns that `load_occupancy` gives, from a simulation or from elsewhere. A
    sample of a room and a time that the folder has already is left out; after a crash or a full
    disk (RecordingError), call it again. ValueError where it is no frame of samples.
    """
    folder, table, added = Path(folder), samples_table(samples), 0
    days = pc.cast(pc.cast(table.column("time"), pa.timestamp("ms")), pa.date32())
    with _locked(folder, write=True):
        found = contents(folder, set(pc.unique(days).to_pylist()).__contains__)
        for day in sorted(pc.unique(days).to_pylist()):
            new = _without_known(table.filter(pc.equal(days, day)), found)
            if new.num_rows:
                _write_day(folder, day, found, new)
            added += int(new.num_rows)
    if "service" in samples.attrs:
        note_service(folder, str(samples.attrs["service"]))
    return added


def note_service(folder: Path, name: str) -> None:
    """Notes that samples of this service are in the folder; a name that is lost is no sample."""
    with suppress(OSError):
        _make_folder(folder / SERVICES)
        (folder / SERVICES / quote(name, safe=" ")).touch()


def services(folder: Path) -> str | None:
    """The names of the services whose samples are in the folder, or None where none was noted."""
    notes = folder / SERVICES
    names = sorted(unquote(note.name) for note in notes.iterdir()) if notes.is_dir() else []
    return ", ".join(names) or None


def whose(samples: str | Path | pd.DataFrame) -> str | None:
    """The names of the services whose samples these are, None where that is not known."""
    if isinstance(samples, pd.DataFrame):
        return samples.attrs.get("service")
    return services(Path(samples))


@contextmanager
def reading(folder: Path, days: Days = lambda _: True) -> Iterator[Contents]:
    """What is in the folder of these days, which stays as it is meanwhile; at the end a warning
    names the files that were skipped. Errors as of `contents`."""
    with _locked(folder, write=False):
        found = contents(folder, days)
        yield found
    found.warn()


def contents(folder: Path, days: Days = lambda _: True) -> Contents:
    """What is in the folder of these days. ConfigError where there is no such folder, or one of an
    older confkit; RecordingError where it cannot be read."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file", "A recording is a folder, give its path.")
    if not folder.is_dir():
        raise ConfigError(
            f"there is no recording at {folder}",
            f"`confkit record {folder}` or Recorder makes one.",
        )
    found, absorbed = Contents(), set[str]()
    try:
        for path in _paths(folder):
            name = path.relative_to(folder).as_posix()
            day = _day(name)
            if path.name.startswith((".", "_")) or (day is not None and not days(day)):
                continue
            if _OLDER.fullmatch(name):
                raise ConfigError(
                    f"{folder} was recorded by an older confkit, as {name} shows",
                    "Record into a new folder; pandas.read_parquet and ck.save_occupancy bring "
                    "the days over.",
                )
            if day is None:
                found.strange[path] = "no part of a recording"
            elif name.startswith(HOT):
                found.hot.append(path)
            else:
                _look_at(path, day, found, absorbed)
    except OSError as error:
        raise RecordingError(
            f"{folder} cannot be read: {error.strerror or error}. See to its rights and to its "
            "disk; nothing in it was changed."
        ) from error
    found.spent = [path for path in found.hot if path.name in absorbed]
    found.hot = [path for path in found.hot if path.name not in absorbed]
    return found


def _paths(folder: Path) -> Iterator[Path]:
    for place in sorted(folder.iterdir()):
        ours = place.name == HOT or place.name.startswith("date=")
        yield from sorted(place.iterdir()) if ours and place.is_dir() else [place]


def _of(sweep: Path) -> date:
    """The day (UTC) of a sweep's file."""
    return datetime.strptime(sweep.name[:8], "%Y%m%d").replace(tzinfo=UTC).date()


def _day(name: str) -> date | None:
    """The day (UTC) of a file of a recording; None of others."""
    found = _OURS.fullmatch(name)
    try:
        return date(*map(int, filter(None, found.groups()))) if found else None
    except ValueError:
        return None


def _look_at(path: Path, day: date, found: Contents, absorbed: set[str]) -> None:
    """Find out whether it is a day's file, and which sweeps are in it."""
    try:
        with opened(path) as file:
            names = (file.schema_arrow.metadata or {}).get(ABSORBED)
        if names is None:
            raise ValueError("samples that confkit has not written")
    except ValueError as error:
        found.strange[path] = str(error)
        return
    found.days[day] = path
    absorbed.update(json.loads(names))


def opened(path: Path) -> pq.ParquetFile:
    """A sweep or a day, open; ValueError where it is neither."""
    try:
        file = pq.ParquetFile(path)
    except (ValueError, OSError) as error:  # Arrow's are one or the other
        raise ValueError(f"no whole Parquet file: {_line(error)}") from None
    if not file.schema_arrow.equals(schema()):
        file.close()
        raise ValueError("Parquet with other columns or types")
    return file


def read(
    path: Path,
    found: Contents,
    conditions: Iterable[Any] = (),
    columns: list[str] | None = None,
) -> Any:
    """The samples of a sweep or a day that meet all the conditions, as an Arrow table; None, and
    noted as strange, where it cannot be read."""
    try:
        with opened(path) as file:
            if not conditions:
                return file.read(columns)
        return pq.read_table(
            path, columns=columns, filters=reduce(and_, conditions), partitioning=None
        )
    except (ValueError, OSError) as error:  # Arrow's are one or the other
        found.strange[path] = _line(error)
        return None


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _without_known(rows: Any, found: Contents) -> Any:
    """The samples whose room was not sampled at their time before: people do not count twice."""
    keys = ["time", "room_id"]
    for path in found.files:
        known = read(path, found, columns=keys)
        if known is not None and known.num_rows:
            rows = rows.join(known, keys, join_type="left anti")
    return rows.select(COLUMNS)


def _write_day(folder: Path, day: date, found: Contents, more: Any = None) -> None:
    """Put the day's sweeps, and these samples, into its file, beside those that are in it.

    A day's file that cannot be read is left as it is, and its sweeps with it."""
    path = folder / f"date={day}" / DAY
    spent = [sweep for sweep in found.spent if _of(sweep) == day]
    if spent:
        _flush_folder(path.parent)  # a process may have died before that
        _remove(spent)
    sources, rooms, rows = [], set[str](), 0
    for source in [
        *([path] if path.exists() else []),
        *(sweep for sweep in found.hot if _of(sweep) == day),
    ]:
        table = None if source in found.strange else read(source, found)
        if table is not None:
            sources.append(source)
            rooms.update(table.column("room_id").unique().to_pylist())
            rows += table.num_rows
        elif source == path and more is not None:
            raise RecordingError(
                f"{path} cannot be read: {found.strange[path]}. Look at it, move it out of the "
                "folder, and save again; what was saved before is safe."
            )
        elif source == path:
            return
    sweeps = [source for source in sources if source != path]
    if more is not None:
        rooms.update(more.column("room_id").unique().to_pylist())
        rows += more.num_rows
    elif not sweeps:
        return
    names = [sweep.name for sweep in [*sweeps, *spent] if sweep.exists()]
    told = {**schema().metadata, ABSORBED: json.dumps(names).encode()}

    def write(draft: Path) -> None:
        with pq.ParquetWriter(
            draft,
            schema().with_metadata(told),
            compression="zstd",
            use_dictionary=[name for name in COLUMNS if name != "time"],
            column_encoding={"time": "DELTA_BINARY_PACKED"},
        ) as writer:
            for table in _slices(sources, more, sorted(rooms), rows):
                writer.write_table(table.replace_schema_metadata(told), row_group_size=_ROWS)

    _publish(folder, path, write)
    _remove(sweeps)


def _slices(sources: list[Path], more: Any, rooms: list[str], rows: int) -> Iterator[Any]:
    """The samples by room and time, some rooms at once. The memory of a day's is saved by reading
    the sweeps again."""
    size = math.ceil(len(rooms) / math.ceil(rows / _AT_ONCE))
    for start in range(0, len(rooms), size):
        of = rooms[start : start + size]
        wanted = (pc.field("room_id") >= of[0]) & (pc.field("room_id") <= of[-1])
        tables = [] if more is None else [more.filter(wanted)]
        for source in sources:
            with opened(source) as file:
                tables.append(file.read().filter(wanted))
        plain = [table.replace_schema_metadata(None) for table in tables]
        yield pa.concat_tables(plain).sort_by(_ORDER)


@contextmanager
def _locked(folder: Path, *, write: bool, wait: bool = True) -> Iterator[None]:
    """Hold the folder's lock: a writer keeps everybody out, a reader only writers.

    The lock is SQLite's, which every system has and which ends with its process. A folder without
    it, as a part of one that was copied, is read as it is. RecordingError where it cannot be made,
    BusyError where it is held and nobody is to `wait`.
    """
    with ExitStack() as held:
        try:
            if write:
                _make_folder(folder)
            place = f"{(folder / LOCK).absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
            lock = sqlite3.connect(place, uri=True, timeout=0, isolation_level=None)
            held.callback(lock.close)
            while not _taken(lock, write):
                if not wait:
                    raise BusyError
                time.sleep(_GLANCE)  # not in SQLite, where Ctrl-C would not be heard
        except (sqlite3.Error, OSError) as error:
            if write:
                raise _unwritten(folder, error) from error
        yield


def _taken(lock: sqlite3.Connection, write: bool) -> bool:
    """Whether the lock is ours now; False while somebody else has it."""
    try:
        lock.execute("PRAGMA journal_mode = memory")  # nothing is written, nor left by who dies
        lock.execute("BEGIN EXCLUSIVE" if write else "BEGIN")
        lock.execute("SELECT count(*) FROM sqlite_master")  # from here on a reader holds it
    except sqlite3.OperationalError as error:
        if lock.in_transaction:
            lock.execute("ROLLBACK")
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _publish(folder: Path, path: Path, write: Callable[[Path], object]) -> None:
    """Put the file that `write` writes at `path`, whole and durable, or not at all."""
    draft = folder / HOT / f".{uuid4().hex}{_UNFINISHED}"
    try:
        if not draft.parent.is_dir():
            _make_folder(draft.parent)
            with suppress(FileExistsError):  # to open it would drop the locks of this process
                (folder / LOCK).touch(exist_ok=False)
        _make_folder(path.parent)
        write(draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        _remove([draft])


def _unwritten(path: Path, error: Exception) -> RecordingError:
    why = getattr(error, "strerror", None) or error
    return RecordingError(
        f"{path} was not written: {why}. What was recorded before is safe and whole. Free "
        "space, or see to the rights on this file system; then go on with the same folder."
    )


def _make_folder(folder: Path) -> None:
    """Make this folder and those above it, durably."""
    missing = [place for place in folder.parents if not place.exists()][::-1]
    for new in [] if folder.is_dir() else [*missing, folder]:
        new.mkdir(exist_ok=True)
        _flush_folder(new.parent)


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


def _remove_stale(hot: Path) -> None:
    oldest = time.time() - _STALE
    for path in hot.glob(f".*{_UNFINISHED}"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
