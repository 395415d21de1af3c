"""`load_occupancy`, and the folder as other tools read it."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone

import dask
import dask.dataframe
import duckdb
import pandas as pd
import pytest

from confkit.errors import ConfigError
from confkit.occupancy.folder import compact, save_occupancy
from confkit.occupancy.loading import load_occupancy, recorded_rooms
from tests.occupancy.made import record, samples, sweep

TYPES = {
    "time": "datetime64[ms, UTC]",
    "room_id": "string",
    "users": "Int64",
    "people": "Int64",
    "devices": "Int64",
    "attendee_max": "Int64",
    "ret": "Int64",
}


@pytest.fixture
def folder(tmp_path):
    """Three days with a sweep at midnight, 8 and 16 h (UTC), rooms a to c; the last day is hot."""
    sweeps = [
        sweep(f"2026-06-0{day}T{hour:02}:00Z", "cab") for day in (1, 2, 3) for hour in (0, 8, 16)
    ]
    record(tmp_path, *sweeps)
    compact(tmp_path, date(2026, 6, 3))
    return tmp_path


def hours(frame: pd.DataFrame) -> list[tuple[int, int]]:
    times = frame["time"].drop_duplicates()
    return list(zip(times.dt.day, times.dt.hour, strict=True))


def test_all_of_it_comes_sorted_by_time_and_room(folder):
    """Without arguments all samples come, compacted and not, by time and room, in their types."""
    frame = load_occupancy(folder)
    assert frame.dtypes.astype(str).to_dict() == TYPES
    assert len(frame) == 27
    assert recorded_rooms(folder) == ["a", "b", "c"]
    assert frame[["time", "room_id"]].equals(
        frame[["time", "room_id"]].sort_values(["time", "room_id"], ignore_index=True)
    )


def test_missing_values_survive_the_folder(tmp_path):
    """What is missing comes back as missing, before and after compaction, and 0 as 0."""
    frame = samples(
        [
            {"time": "2026-06-01T00:00Z", "room_id": "a", "users": None, "ret": 404},
            {"time": "2026-06-01T00:00Z", "room_id": "b", "users": 0, "devices": 0, "ret": None},
            {"time": "2026-06-01T00:00Z", "room_id": "ü/ ", "users": 3, "attendee_max": 0},
        ]
    )
    record(tmp_path, frame)
    assert load_occupancy(tmp_path).equals(frame)
    compact(tmp_path, date(2026, 6, 2))
    assert load_occupancy(tmp_path).equals(frame)


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2026-06-02T08:00Z", "2026-06-03T08:00Z", [(2, 8), (2, 16), (3, 0)]),
        ("2026-06-02T08:00:00.001Z", None, [(2, 16), (3, 0), (3, 8), (3, 16)]),
        (None, datetime(2026, 6, 1, 10, tzinfo=timezone(timedelta(hours=2))), [(1, 0)]),
        (pd.Timestamp("2026-06-03T09:00Z"), None, [(3, 16)]),
        (date(2026, 6, 4), None, []),
    ],
)
def test_a_window_begins_with_since_and_ends_before_until(folder, since, until, expected):
    """`since` is in the window and `until` is not, to the millisecond, in any form of a time."""
    assert hours(load_occupancy(folder, since=since, until=until)) == expected


def test_a_time_without_offset_is_local(folder, monkeypatch):
    """Naive times and dates are the local zone's."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")  # 5:45 ahead
    import time

    time.tzset()
    try:
        frame = load_occupancy(folder, since="2026-06-03T05:45", until="2026-06-03T13:45")
        by_date = load_occupancy(folder, since=date(2026, 6, 3))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert hours(frame) == [(3, 0)]
    assert hours(by_date) == [(3, 0), (3, 8), (3, 16)]


@pytest.mark.parametrize(
    ("rooms", "expected"),
    [
        ("b", ["b"]),
        (["c", "a"], ["a", "c"]),
        (pd.Series(["b"]), ["b"]),
        (["nobody"], []),
        ([], []),
    ],
)
def test_one_room_or_some(folder, rooms, expected):
    """Only the rooms that are asked for come; of unknown ones nothing, in the same types."""
    frame = load_occupancy(folder, rooms, since="2026-06-02T12:00Z")
    assert sorted(set(frame["room_id"])) == expected
    assert frame.dtypes.astype(str).to_dict() == TYPES


def test_a_missing_folder_is_a_clear_error(tmp_path):
    """No folder is a ConfigError that names it and says what makes one."""
    with pytest.raises(ConfigError, match=r"no recording at .*nowhere.*confkit record"):
        load_occupancy(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "moment", ["half past", "2026-13-01", "10/11/2026", "Nov 10", "today", "09:00", 5, pd.NaT]
)
def test_what_is_no_time_is_refused(folder, moment):
    """A window's end that is no time is a ValueError that names it."""
    with pytest.raises(ValueError, match=r"since is .*2026-03-29T08:00"):
        load_occupancy(folder, since=moment)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's own calls of pandas
def test_pandas_duckdb_and_dask_read_the_compacted_days(folder):
    """The folder is a Hive-partitioned dataset: pandas, DuckDB and Dask read exactly the compacted
    days of it, typed, sweeps of today beside them or not."""
    ours = load_occupancy(folder, until=datetime(2026, 6, 3, tzinfo=UTC))
    dask.config.set(scheduler="synchronous")
    for theirs in (pd.read_parquet(folder), dask.dataframe.read_parquet(folder).compute()):
        assert set(theirs["date"]) == {"2026-06-01", "2026-06-02"}
        frame = theirs.drop(columns="date").sort_values(["time", "room_id"], ignore_index=True)
        pd.testing.assert_frame_equal(frame, ours)
    for pattern in ("date=*/*.parquet", "**/*.parquet"):
        found = duckdb.sql(
            f"SELECT date::TEXT, count(*), sum(users) FROM read_parquet('{folder}/{pattern}', "
            "hive_partitioning = true) GROUP BY date ORDER BY date"
        ).fetchall()
        assert found == [("2026-06-01", 9, 9), ("2026-06-02", 9, 9)]


def test_a_saved_simulation_loads_as_it_was(sandbox, tmp_path):
    """What the sandbox simulates, saved and loaded, is the same frame."""
    frame = sandbox.simulate(rooms=20, days=3)
    save_occupancy(frame, tmp_path)
    order = ["time", "room_id"]
    loaded = load_occupancy(tmp_path)
    pd.testing.assert_frame_equal(loaded, frame.sort_values(order, ignore_index=True))


@pytest.mark.parametrize(
    ("lacking", "needing"),
    [
        ("pyarrow", "confkit.occupancy.loading.load_occupancy"),
        ("duckdb", "confkit.occupancy.capacity.capacity_report"),
    ],
)
def test_a_library_that_is_not_installed_is_a_clear_error(folder, lacking, needing):
    """Without pyarrow or duckdb the error says what to install."""
    module, _, name = needing.rpartition(".")
    code = (
        f"import sys; sys.modules[{lacking!r}] = None\n"
        "import confkit as ck\n"
        "try:\n"
        f"    from {module} import {name}; {name}({str(folder)!r})\n"
        "except ck.ConfigError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"needs {lacking}" in done.stdout or f"need {lacking}" in done.stdout
    assert "confkit-notebooks[recording]" in done.stdout


def test_only_what_is_asked_for_is_read(folder, tmp_path_factory):
    """Days outside of the window are not even opened; an empty folder gives an empty frame of the
    same types."""
    (folder / "date=2026-06-01/day.parquet").write_bytes(b"torn")
    assert len(load_occupancy(folder, since="2026-06-02T00:00Z")) == 18
    with pytest.warns(UserWarning, match="skipped"):
        assert len(load_occupancy(folder)) == 18
    empty = load_occupancy(tmp_path_factory.mktemp("empty"))
    assert len(empty) == 0
    assert empty.dtypes.astype(str).to_dict() == TYPES
