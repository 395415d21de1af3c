"""From sweeps to days: sorted, small, and written once."""

import hashlib
import json
import math
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from .arrow import pa, pc, pq
from .files import UNFINISHED, OvertakenError, flush_folder, make_folder, publish, remove
from .folder import ABSORBED, HOT, Contents, contents, day_folder, hot_day, hot_name, opened, read
from .samples import COLUMNS, samples_table, schema
from .services import note_service

_ORDER = [("room_id", "ascending"), ("time", "ascending")]
_AT_ONCE = 2_000_000  # rows sorted in memory, some 400 MB
_ROWS = 1 << 17  # of a row group: what has to be read for one room
_STALE = 86_400.0  # seconds after which an unfinished file is a dead process's


def append_sweep(folder: Path, table: Any) -> None:
    """Write the samples of one sweep into the folder, durably. RecordingError: they cannot be."""
    hot = folder / HOT
    first = table.column("time")[0].as_py()

    def write(draft: Path) -> None:
        # Small and short-lived: what costs time is left out.
        pq.write_table(table, draft, use_dictionary=False, compression="none",
                       write_statistics=False)  # fmt: skip

    publish(hot / hot_name(first), write, drafts=hot, shared=False)


def compact(folder: Path, before: date) -> Contents:
    """What was left out as strange, once the sweeps of the days before this one are in parts.

    Several processes may do it at once, and each may die at any moment: a part's number is free
    only for the one who saw all parts before it, and what a part absorbed goes only when that part
    is durable. RecordingError where a part cannot be written; the sweeps then stay.
    """
    _remove_stale(folder / HOT)
    found = contents(folder, lambda day: day < before)
    for day in sorted({hot_day(path) for path in [*found.hot, *found.spent]}):
        found.strange.update(_compact_day(folder, day).strange)
    return found


def save_occupancy(samples: pd.DataFrame, folder: str | Path) -> int:
    """The number of samples that were added to a recording's folder, each day as a compacted file.

    `samples` has the columns that `load_occupancy` gives, from a simulation or from elsewhere. A
    sample of a room and a time that the folder has already is left out; after a crash or a full
    disk (RecordingError), call it again. ValueError where it is no frame of samples.
    """
    folder, table, added = Path(folder), samples_table(samples), 0
    days = pc.cast(pc.cast(table.column("time"), pa.timestamp("ms")), pa.date32())
    for day in sorted(pc.unique(days).to_pylist()):
        rows = table.filter(pc.equal(days, day)).sort_by(_ORDER)
        numbers = pd.util.hash_pandas_object(rows.to_pandas(ignore_metadata=True), index=False)
        name = f"saved-{hashlib.sha256(numbers.to_numpy().tobytes()).hexdigest()[:32]}"
        added += _save_day(folder, day, rows, name)
    if "service" in samples.attrs:
        note_service(folder, str(samples.attrs["service"]))
    return added


def _save_day(folder: Path, day: date, rows: Any, name: str) -> int:
    while True:
        make_folder(folder)
        found = contents(folder, lambda other: other == day)
        if name in found.absorbed.get(day, ()):
            return 0
        try:
            new = _without_known(rows, found)
            if new.num_rows:
                _write_part(folder, day, found, [name], [new])
        except OvertakenError:
            continue
        return int(new.num_rows)


def _without_known(rows: Any, found: Contents) -> Any:
    """The samples whose room was not sampled at their time before: people do not count twice."""
    keys = ["time", "room_id"]
    for path in [*found.parts, *found.hot]:
        known = read(path, found, columns=keys)
        if known is not None and known.num_rows:
            rows = rows.join(known, keys, join_type="left anti")
    return rows.select(COLUMNS).sort_by(_ORDER)


def _compact_day(folder: Path, day: date) -> Contents:
    while True:
        found = contents(folder, lambda other: other == day)
        if found.spent:
            flush_folder(day_folder(folder, day))  # another process may have written the part
            flush_folder(folder)
            remove(found.spent)
        try:
            sweeps, rooms, rows = _readable(found)
            if not sweeps:
                return found
            size = math.ceil(len(rooms) / math.ceil(rows / _AT_ONCE))
            slices = (
                _sorted(sweeps, rooms[start : start + size]) for start in range(0, len(rooms), size)
            )
            _write_part(folder, day, found, [path.name for path in sweeps], slices)
        except OvertakenError:
            continue


def _readable(found: Contents) -> tuple[list[Path], list[str], int]:
    """The sweeps that can be read to their end, their rooms in order, and their rows."""
    sweeps, rooms, rows = [], pa.array([], pa.string()), 0
    for path in found.hot:
        table = read(path, found)
        if table is not None:
            sweeps.append(path)
            rooms = pa.chunked_array([rooms, *table.column("room_id").chunks]).unique()
            rows += table.num_rows
    return sweeps, sorted(rooms.to_pylist()), rows


def _sorted(sweeps: list[Path], rooms: list[str]) -> Any:
    """The samples of these rooms. The memory of a day's is saved by reading the sweeps again."""
    wanted = (pc.field("room_id") >= rooms[0]) & (pc.field("room_id") <= rooms[-1])
    tables = []
    for path in sweeps:
        with opened(path) as file:
            tables.append(file.read().filter(wanted))
    return pa.concat_tables(tables).sort_by(_ORDER)


def _write_part(
    folder: Path, day: date, found: Contents, names: list[str], slices: Iterable[Any]
) -> None:
    told = {**schema().metadata, ABSORBED: json.dumps(names).encode()}

    def write(draft: Path) -> None:
        with pq.ParquetWriter(
            draft, schema().with_metadata(told), compression="zstd",
            use_dictionary=[name for name in COLUMNS if name != "time"],
            column_encoding={"time": "DELTA_BINARY_PACKED"},
        ) as writer:  # fmt: skip
            for table in slices:
                writer.write_table(table.replace_schema_metadata(told), row_group_size=_ROWS)

    path = day_folder(folder, day) / f"part-{found.next_part.get(day, 0)}.parquet"
    publish(path, write, drafts=folder / HOT)


def _remove_stale(hot: Path) -> None:
    oldest = time.time() - _STALE
    for path in hot.glob(f".*{UNFINISHED}"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
