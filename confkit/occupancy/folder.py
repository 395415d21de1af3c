"""A recording's folder: files of samples, each with a single writer.

    2026-03-28-5f3a9c1e0b7d.parquet   a finished day (UTC), or a saved one
    2026-03-29-8c01d2aa6e45.csv       a day of a recorder that may still be running

In a CSV file each sweep is one write, which ends in an empty line. Anything after the last empty
line is ignored: the process that wrote it was killed. Samples have a key (time, room and service),
and readers drop duplicates, so that a process may die between any two steps.
"""

import hashlib
import logging
import os
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import ConfigError, ConfkitError, missing_extra
from ..text import DRAFT, counted, write_atomically
from .samples import TYPES, samples_frame
from .times import Moment, parse_moment

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    raise missing_extra("recordings need", error.name, "recording") from None

_FILE_NAME = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{12}\.(csv|parquet)")
_ABANDONED = 2 * 86_400  # seconds without a write, after which a file has no writer any more
_SCHEMA = pa.Schema.from_pandas(pd.DataFrame(columns=[*TYPES]).astype(TYPES), preserve_index=False)

log = logging.getLogger("confkit.record")


class RecordingError(ConfkitError, OSError):
    """A recording could not be written or read; the text names the file, the cause and the next
    step."""


def load_occupancy(
    folder: str | Path, since: Moment | None = None, until: Moment | None = None
) -> pd.DataFrame:
    """Return the samples of a recording, one row per room and sweep, sorted by time and room.

    Columns: `time` (UTC, the sweep's true start), `room_id` (string), `users`, `people` and
    `devices` in the room, `attendee_max`, `ret`, why a value is missing (all Int64), and `service`
    (string). `since` is inclusive, `until` exclusive; without an offset they are local time.
    `attrs["service"]` names the services of the samples. A warning names files that are not part of
    the recording. ConfigError: no such folder, or it cannot be read or holds other files only;
    RecordingError: a file is damaged.
    """
    first = parse_moment(since or "0001-01-02T00:00Z", "since")
    end = parse_moment(until or "9999-12-30T00:00Z", "until")
    try:
        paths, foreign = list_files(Path(folder).expanduser())
        if foreign and not paths:
            raise FileNotFoundError(0, f"its {counted(len(foreign), 'file')} are others")
    except OSError as error:
        raise ConfigError(
            f"there is no recording at {folder}: {error.strerror}",
            "Pass the folder that `confkit record` or a Recorder fills; check its permissions, and "
            "that its disk or share is there.",
        ) from None
    if foreign:
        names = ", ".join(path.name for path in foreign[:20])
        warnings.warn(
            f"skipped {counted(len(foreign), 'file')} in {folder} that belong to no recording: "
            f"{names}. Move them out of the folder.",
            stacklevel=2,
        )
    days = [path for path in paths if str(first.date()) <= path.name[:10] <= str(end.date())]
    table = pa.concat_tables([_SCHEMA.empty_table(), *map(_read, days)])
    table = table.filter((pc.field("time") >= first) & (pc.field("time") < end))
    samples: pd.DataFrame = table.to_pandas()
    # Of several with the same key that with the most users counts: no peak is lost.
    samples = samples.sort_values(["time", "room_id", "users", "people"], na_position="first")
    key = ["time", "room_id", "service"]
    samples = samples.drop_duplicates(key, keep="last", ignore_index=True)
    if services := sorted(samples["service"].dropna().unique()):
        samples.attrs["service"] = ", ".join(services)
    return samples


def load_service(service: str, folder: str | Path, since: Moment | None = None) -> pd.DataFrame:
    """Return the samples of this service, and those of none. ConfigError: all are of others."""
    samples = load_occupancy(folder, since)
    ours: pd.DataFrame = samples[samples["service"].isna() | (samples["service"] == service)]
    if len(samples) and ours.empty:
        raise ConfigError(
            f"the recording is of {samples.attrs['service']}, not of {service}",
            "Connect to the service of the recording, by the name under which it was recorded.",
        )
    return ours


def list_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of a recording, and other files in its folder. ConfigError: it has the
    format of an earlier version."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if any(path.name.startswith("date=") for path in paths):
        raise ConfigError(
            f"{folder} has the format of an earlier version, with a folder for each day",
            "Record into a new folder; pd.read_parquet reads the finished days of this one.",
        )
    ours = [path for path in paths if _FILE_NAME.fullmatch(path.name)]
    return ours, [path for path in paths if path not in ours]


def _read(path: Path) -> Any:
    """Return the samples in a file as an Arrow table."""
    try:
        if path.suffix == ".csv":
            with suppress(FileNotFoundError):  # its recorder has just turned it into Parquet
                return _read_csv(path.read_bytes())
            path = path.with_suffix(".parquet")
        with pq.ParquetFile(path) as file:  # a day is too small for threads
            return file.read(_SCHEMA.names, use_threads=False).cast(_SCHEMA)
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        why = str(error).partition("\n")[0]
        raise RecordingError(
            f"{path} cannot be read: {why}. Move it out of the folder, restore it, or "
            "correct its permissions."
        ) from error


def _read_csv(data: bytes) -> Any:
    data = data.replace(b"\r\n", b"\n")  # by a transfer in text mode
    end = data.rfind(b"\n\n") + 1
    if not end:
        rows = data[: data.rfind(b"\n")].splitlines()[1:]
        if len({row.partition(b",")[0] for row in rows}) > 1:  # a torn first sweep has one time
            raise ValueError("no empty line between its sweeps: another program has rewritten it")
        return _SCHEMA.empty_table()
    return pyarrow.csv.read_csv(
        pa.BufferReader(data[:end]),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=_SCHEMA.names,  # without those of a later version
            column_types=_SCHEMA,
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


class DayFiles:
    """The CSV files of one run of a recorder, one per day (UTC)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = Path()  # of the current day
        with _writing(folder), suppress(FileNotFoundError):
            list_files(folder)  # a file, or a folder that may not be read, is an error at once

    def append(self, sweep: pd.DataFrame) -> None:
        """Write the samples of one sweep durably; after the first of a day convert finished days to
        Parquet. RecordingError: the sweep was not written."""
        path, day = self._path, f"{sweep['time'].iloc[0]:%Y-%m-%d}"
        # A file may be gone: taken for abandoned while this machine was suspended.
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
                while data:  # one write; on a full disk the rest raises the error
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
        if begins:
            _finish_days(self._folder, finished=self._path)
            self._path = path


def _finish_days(folder: Path, finished: Path) -> None:
    """Convert the `finished` file, and those untouched for two days, to Parquet; remove drafts of
    killed processes. A failure does not end the recording: CSV files can be read as they are."""
    for path in [*list_files(folder)[0], *folder.glob(f"{DRAFT}*")]:
        try:
            abandoned = time.time() - path.stat().st_mtime > _ABANDONED
            if path.suffix != ".parquet" and (abandoned or path == finished):
                if path.suffix == ".csv":
                    write_atomically(path.with_suffix(".parquet"), _as_parquet(_read(path)))
                path.unlink()
        except FileNotFoundError:
            pass  # another recorder was faster
        except OSError as error:
            log.error("%s could not be converted to Parquet: %s", path, error)


def save_occupancy(samples: pd.DataFrame, folder: str | Path) -> int:
    """Add samples to a recording's folder, one Parquet file per day (UTC); return their number.

    `samples` has the columns of `load_occupancy`, from a simulation or another source; a missing
    `service` is taken from `attrs["service"]`. Samples of the same time, room and service count
    once, those with the most users: after RecordingError, such as on a full disk, repeat the call.
    ValueError: not a frame of samples. ConfigError: the folder has the format of an earlier
    version.
    """
    frame, folder = samples_frame(samples), Path(folder).expanduser()
    if "service" not in frame.columns:
        frame = frame.assign(service=samples.attrs.get("service"))
    frame = frame.sort_values(["time", "room_id"])
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        list_files(folder)  # rejects the format of an earlier version
        for day, rows in frame.groupby(frame["time"].dt.floor("D")):
            data = _as_parquet(_table(rows))
            name = hashlib.sha256(data).hexdigest()[:12]  # the same samples have the same name
            write_atomically(folder / f"{day:%Y-%m-%d}-{name}.parquet", data)
    return len(frame)


def _table(samples: pd.DataFrame) -> Any:
    # The cast leaves out the frame's attrs.
    return pa.Table.from_pandas(samples, _SCHEMA, preserve_index=False).cast(_SCHEMA)


def _as_parquet(table: Any) -> bytes:
    file = BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordingError(
            f"{path} was not written: {error.strerror or error}. Earlier samples are safe. Free "
            "some space, or check the folder and its permissions; then continue with it."
        ) from error
