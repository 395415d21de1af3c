"""A recording's folder: which files count, and which do not.

    _hot/20260329T080000123-5f3a9c1e.hot    a sweep, Parquet; named by its time
    date=2026-03-29/part-0.parquet          a day's samples by room and time; more of them, part-1
                                            and so on, when samples came after it was written

A file never changes once it is there. A part names in its metadata what it absorbed: those sweeps
count no more, whether they are still there or not, so a process may die between any two steps.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq

from ..errors import ConfigError
from .files import UNFINISHED, OvertakenError, RecordingError
from .samples import schema

ABSORBED = b"confkit.absorbed"  # of a part's metadata: the names of what went into it, as JSON
# Other readers skip what begins with _; Dask does not, but it skips what does not end so.
HOT, _ENDING = "_hot", ".hot"
_HOT_NAME = re.compile(r"(\d{8})T\d{9}-[0-9a-f]{8}\.hot")
_PART_NAME = re.compile(r"part-(\d+)\.parquet")

NAMED = 20  # files in one warning

Days = Callable[[date], bool]


@dataclass
class Contents:
    """What is in a folder: the parts and the sweeps that count, the sweeps that a part has absorbed
    but that are still there, the days' next part numbers, and what is wrong with other files."""

    parts: list[Path] = field(default_factory=list)
    hot: list[Path] = field(default_factory=list)
    spent: list[Path] = field(default_factory=list)
    absorbed: dict[date, set[str]] = field(default_factory=dict)
    next_part: dict[date, int] = field(default_factory=dict)
    strange: dict[Path, str] = field(default_factory=dict)

    def warn(self) -> None:
        """Names the files that were skipped in a warning, when there are any."""
        if self.strange:
            told = [f"{path} ({why})" for path, why in list(self.strange.items())[:NAMED]]
            more = f" and {len(self.strange) - NAMED} more" if len(self.strange) > NAMED else ""
            warnings.warn(
                f"skipped in the recording: {', '.join(told)}{more}. Look at them, and move them "
                "out of its folder.",
                stacklevel=3,
            )


def contents(folder: Path, days: Days = lambda _: True) -> Contents:
    """What is in the folder of these days. ConfigError where there is no such folder,
    RecordingError where it cannot be read."""
    while True:
        try:
            return _look(folder, days)
        except (FileNotFoundError, OvertakenError):
            continue  # a part of it has just gone, or all of it: look again
        except OSError as error:
            raise RecordingError(
                f"{folder} cannot be read: {error.strerror or error}. See to its rights and to its "
                "disk; nothing in it was changed."
            ) from error


def _look(folder: Path, days: Days) -> Contents:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file", "A recording is a folder, give its path.")
    if not folder.is_dir():
        raise ConfigError(
            f"there is no recording at {folder}",
            f"`confkit record {folder}` or Recorder makes one.",
        )
    found = Contents()
    # The sweeps first: one that is absorbed while we look is then named by a part that we see, or
    # gone when it is opened. The other way round it could be missed.
    sweeps = _sweeps(folder / HOT, days, found)
    for place in sorted(folder.iterdir()):
        if place.name.startswith((".", "_")):
            continue
        day = _day(place)
        if day is None:
            found.strange[place] = "no part of a recording"
        elif days(day):
            _look_at(place, day, found)
    for day, path in sweeps:
        spent = path.name in found.absorbed.get(day, ())
        (found.spent if spent else found.hot).append(path)
    return found


def hot_name(time: datetime) -> str:
    """The name of a sweep's file: its time, so that it is found by its day, and a chance part."""
    time = time.astimezone(UTC)
    return f"{time:%Y%m%dT%H%M%S}{time.microsecond // 1000:03}-{uuid4().hex[:8]}{_ENDING}"


def hot_day(path: Path) -> date:
    """The day in UTC of a sweep's file."""
    return datetime.strptime(path.name[:8], "%Y%m%d").replace(tzinfo=UTC).date()


def day_folder(folder: Path, day: date) -> Path:
    """Where a day's parts are."""
    return folder / f"date={day}"


def opened(path: Path) -> pq.ParquetFile:
    """A sweep or a part, open; ValueError where it is neither. OvertakenError when it is gone."""
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise OvertakenError from None
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
    """The samples of a sweep or a part that meet all the conditions, as an Arrow table; None, and
    noted as strange, where it cannot be read. OvertakenError when it is gone."""
    try:
        with opened(path) as file:
            if not conditions:
                return file.read(columns)
        return pq.read_table(
            path, columns=columns, filters=reduce(and_, conditions), partitioning=None
        )
    except FileNotFoundError:
        raise OvertakenError from None
    except (ValueError, OSError) as error:  # Arrow's are one or the other
        found.strange[path] = _line(error)
        return None


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _sweeps(hot: Path, days: Days, found: Contents) -> list[tuple[date, Path]]:
    sweeps = []
    for path in sorted(hot.iterdir()) if hot.is_dir() else ():
        if path.name.endswith(UNFINISHED):
            continue
        try:
            if not _HOT_NAME.fullmatch(path.name) or _leads_nowhere(path):
                raise ValueError
            day = hot_day(path)
        except ValueError:
            found.strange[path] = "no sweep of a recording"
            continue
        if days(day):
            sweeps.append((day, path))
    return sweeps


def _leads_nowhere(path: Path) -> bool:
    """Whether it is a link to nothing, which would look like a file that has just gone."""
    return path.is_symlink() and not path.exists()


def _day(place: Path) -> date | None:
    try:
        day = date.fromisoformat(place.name.removeprefix("date="))
    except ValueError:
        return None
    return day if place.name == f"date={day}" and place.is_dir() else None


def _look_at(place: Path, day: date, found: Contents) -> None:
    numbers = [-1]
    for path in sorted(place.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        name = _PART_NAME.fullmatch(path.name)
        if name is None or _leads_nowhere(path):
            found.strange[path] = "no part of a recording"
            continue
        numbers.append(int(name[1]))
        try:
            with opened(path) as file:
                absorbed = (file.schema_arrow.metadata or {}).get(ABSORBED)
            if absorbed is None:
                raise ValueError("samples that confkit has not written")
        except ValueError as error:
            found.strange[path] = str(error)
            continue
        found.parts.append(path)
        found.absorbed.setdefault(day, set()).update(json.loads(absorbed))
    found.next_part[day] = 1 + max(numbers)
