"""A recording's folder: files of samples, each of which has a single writer.

    2026-03-28-5f3a9c1e0b7d.parquet   a day (UTC) that is over, or was saved
    2026-03-29-8c01d2aa6e45.csv       a day of a recorder that may still go on

In a CSV file each sweep is one write, which ends in an empty line. What stands behind the last
empty line is ignored: the process that wrote it was killed. Samples have a key (time, room and
service), and readers drop what is there twice, so that a process may die between any two steps.
"""

import hashlib
import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import ConfigError, ConfkitError, missing_extra
from ..text import write_atomically
from .samples import TYPES, samples_frame, without_duplicates
from .times import Moment, parse_moment

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    raise missing_extra("recordings need", error.name, "recording") from None

_OURS = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{12}\.(csv|parquet)")
_ABANDONED = 2 * 86_400  # seconds after which nobody is taken to write a file any more
_SCHEMA = pa.Schema.from_pandas(pd.DataFrame(columns=[*TYPES]).astype(TYPES), preserve_index=False)

log = logging.getLogger("confkit.record")


class RecordingError(ConfkitError, OSError):
    """A recording could not be written or read; the text names the file, why, and what to do."""


def load_occupancy(
    folder: str | Path, since: Moment | None = None, until: Moment | None = None
) -> pd.DataFrame:
    """Return the samples of a recording, one row per room and sweep, sorted by time and room.

    Columns: `time` (UTC, the sweep's true start), `room_id` (string), `users`, `people` and
    `devices` in the room, `attendee_max`, `ret`, why a value is missing (all Int64), and `service`
    (string). From `since` up to before `until`, which are local time where they have no offset.
    `attrs["service"]` names the services whose samples these are. A warning names the files that
    are not part of the recording. ConfigError: there is no such folder, or it has the form of an
    earlier version; RecordingError: a file is damaged.
    """
    first = parse_moment("0001-01-02T00:00Z" if since is None else since, "since")
    end = parse_moment("9999-12-30T00:00Z" if until is None else until, "until")
    ours, foreign = list_files(Path(folder))
    if foreign:
        names = ", ".join(path.name for path in foreign[:20])
        warnings.warn(
            f"skipped {len(foreign):,} in {folder}: {names}. They are not part of the recording; "
            "move them out of its folder.",
            stacklevel=2,
        )
    tables = [_SCHEMA.empty_table()]
    for path in ours:
        if str(first.date()) <= path.name[:10] <= str(end.date()):
            table = _read(path)
            times = table["time"]
            within = pc.and_(pc.greater_equal(times, first), pc.less(times, end))
            tables.append(table.filter(within))
    samples: pd.DataFrame = pa.concat_tables(tables).to_pandas()
    samples = without_duplicates(samples, "time", "room_id", "service")
    if services := sorted(samples["service"].dropna().unique()):
        samples.attrs["service"] = ", ".join(services)
    return samples


def list_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of a recording, and what else is in its folder. ConfigError as of
    `load_occupancy`."""
    if not folder.is_dir():
        why = "is a file" if folder.exists() else "is not there"
        raise ConfigError(
            f"there is no recording at {folder}, which {why}",
            "Give the path of a folder; `confkit record FOLDER` or Recorder makes one.",
        )
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if any(path.is_dir() and path.name.startswith(("_", "date=")) for path in paths):
        raise ConfigError(
            f"{folder} has the form of an earlier version, with a folder for each day",
            "Record into a new folder. This copies the days that are over into it: "
            f"ck.save_occupancy(pd.read_parquet({str(folder)!r}), 'new')",
        )
    foreign = [path for path in paths if not _OURS.fullmatch(path.name)]
    return [path for path in paths if _OURS.fullmatch(path.name)], foreign


def _read(path: Path) -> Any:
    """Return the samples in a file as an Arrow table."""
    try:
        if path.suffix == ".csv":
            try:
                return _read_csv(path)
            except FileNotFoundError:  # its recorder has just turned it into Parquet
                path = path.with_suffix(".parquet")
        with pq.ParquetFile(path) as file:  # a day is too small to be worth threads
            return file.read(use_threads=False).cast(_SCHEMA)
    except (pa.ArrowException, ValueError, OSError) as error:
        why = str(error).partition("\n")[0]
        raise RecordingError(
            f"{path} cannot be read: {why}. Move it out of the folder, or restore it."
        ) from error


def _read_csv(path: Path) -> Any:
    data = path.read_bytes()
    end = data.rfind(b"\n\n") + 1
    while data.count(b'"', 0, end) % 2:  # this empty line stands in a room's ID
        end = data.rfind(b"\n\n", 0, end) + 1
    if not end:
        return _SCHEMA.empty_table()
    return pyarrow.csv.read_csv(
        pa.BufferReader(data[:end]),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=_SCHEMA,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    ).cast(_SCHEMA)


class DayFiles:
    """The CSV files of one start of a recorder, one for each day (UTC)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = Path()  # of the day that goes on

    def append(self, sweep: pd.DataFrame) -> None:
        """Write the samples of one sweep, durably; after the first of a day turn the days that are
        over into Parquet. RecordingError: the sweep was not written."""
        path, day = self._path, f"{sweep['time'].iloc[0]:%Y-%m-%d}"
        # A file that is gone was taken for abandoned while this machine was suspended.
        begins = path.name[:10] != day or not path.exists()
        if begins:
            path = self._folder / f"{day}-{os.urandom(6).hex()}.csv"
        rows = BytesIO()
        options = pyarrow.csv.WriteOptions(include_header=begins)
        pyarrow.csv.write_csv(_table(sweep), rows, options)
        data = rows.getvalue() + b"\n"
        with _writing(path):
            self._folder.mkdir(parents=True, exist_ok=True)
            with path.open("ab", buffering=0) as file:
                while data:  # one write; on a full disk there is a rest, which brings the error
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            if begins:
                _flush_names(self._folder)
        if begins:
            over, self._path = self._path, path
            _finish_days(self._folder, over)


def _finish_days(folder: Path, over: Path) -> None:
    """Turn the file that is `over`, and those that nobody has touched for two days, into Parquet.
    A failure ends no recording: they are read as they are."""
    for path in sorted(folder.iterdir()):
        try:
            abandoned = time.time() - path.stat().st_mtime > _ABANDONED
            if abandoned and path.name.startswith(".draft-"):  # of write_atomically
                path.unlink()
            is_csv = path.suffix == ".csv" and _OURS.fullmatch(path.name)
            if is_csv and (abandoned or path == over):
                size = path.stat().st_size
                _publish(path.with_suffix(".parquet"), _as_parquet(_read(path)))
                if path.stat().st_size == size:  # else its recorder has gone on meanwhile
                    path.unlink()
        except FileNotFoundError:
            pass  # another recorder was faster
        except OSError as error:
            log.error("%s stays CSV for now: %s", path, error)


def save_occupancy(samples: pd.DataFrame, folder: str | Path) -> int:
    """Add samples to a recording's folder, a Parquet file for each day (UTC); return their number.

    `samples` has the columns that `load_occupancy` returns, from a simulation or from elsewhere;
    where there is no `service`, it is `attrs["service"]`. Samples of the same time, room and
    service as others count once: after RecordingError, such as on a full disk, call it again.
    ValueError: it is no frame of samples. ConfigError as of `load_occupancy`.
    """
    frame, folder = samples_frame(samples), Path(folder)
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    list_files(folder)  # refuses the form of an earlier version
    if "service" not in frame.columns:
        frame = frame.assign(service=samples.attrs.get("service"))
    frame = frame.sort_values(["time", "room_id"])
    for day, rows in frame.groupby(frame["time"].dt.floor("D")):
        data = _as_parquet(_table(rows))  # the same samples have the same name
        _publish(folder / f"{day:%Y-%m-%d}-{hashlib.sha256(data).hexdigest()[:12]}.parquet", data)
    return len(frame)


def _table(samples: pd.DataFrame) -> Any:
    table = pa.Table.from_pandas(samples, _SCHEMA, preserve_index=False)
    return table.replace_schema_metadata(_SCHEMA.metadata)  # without the frame's attrs


def _as_parquet(table: Any) -> bytes:
    file = BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def _publish(path: Path, data: bytes) -> None:
    with _writing(path):
        write_atomically(path, data)
        _flush_names(path.parent)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise what goes wrong inside as a RecordingError."""
    try:
        yield
    except OSError as error:
        raise RecordingError(
            f"{path} was not written: {error.strerror or error}. What was recorded before is safe "
            "and whole. Free space, or see to the rights on this file system; then go on with the "
            "same folder."
        ) from error


def _flush_names(folder: Path) -> None:
    """Make the names in this folder durable; Windows does so by itself."""
    if sys.platform != "win32":
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)
