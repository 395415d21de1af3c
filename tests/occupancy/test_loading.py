"""`load_occupancy`, and the folder as other tools read it."""

import time
from datetime import UTC, date, datetime, timedelta, timezone

import dask
import dask.dataframe
import pandas as pd
import pytest

import confkit as ck
from confkit.occupancy.folder import compact
from confkit.occupancy.loading import load_occupancy, recorded_rooms
from tests.occupancy.made import record, samples, sweep

NUMBERS = ("users", "people", "devices", "attendee_max", "ret")
TYPES = {"time": "datetime64[ms, UTC]", "room_id": "string", **dict.fromkeys(NUMBERS, "Int64")}


@pytest.fixture
def folder(tmp_path):
    """Three days with a sweep at midnight, 8 and 16 h (UTC), rooms a to c; the last day is hot."""
    sweeps = [
        sweep(f"2026-06-0{day}T{hour:02}:00Z", "cab") for day in (1, 2, 3) for hour in (0, 8, 16)
    ]
    record(tmp_path, *sweeps)
    compact(tmp_path, date(2026, 6, 3))
    return tmp_path


@pytest.fixture
def kathmandu(monkeypatch):
    """The local time of a place whose zone has a name."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def hours(frame: pd.DataFrame) -> list[tuple[int, int]]:
    times = frame["time"].drop_duplicates()
    return list(zip(times.dt.day, times.dt.hour, strict=True))


def test_all_of_it_comes_sorted_by_time_and_room(folder):
    """Without arguments all samples come, compacted and not, by time and room, in their types."""
    frame = load_occupancy(folder)
    assert frame.dtypes.astype(str).to_dict() == TYPES
    assert len(frame) == 27
    assert recorded_rooms(folder) == ["a", "b", "c"]
    assert frame.equals(frame.sort_values(["time", "room_id"], ignore_index=True))


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


@pytest.mark.usefixtures("kathmandu")
def test_a_time_without_offset_is_local(folder):
    """Naive times and dates are the local zone's, here 5:45 ahead."""
    frame = load_occupancy(folder, since="2026-06-03T05:45", until="2026-06-03T13:45")
    assert hours(frame) == [(3, 0)]
    assert hours(load_occupancy(folder, since=date(2026, 6, 3))) == [(3, 0), (3, 8), (3, 16)]


@pytest.mark.parametrize(
    ("rooms", "expected"), [("b", "b"), (pd.Series(["c", "a"]), "ac"), (["nobody"], ""), ([], "")]
)
def test_one_room_or_some(folder, rooms, expected):
    """Only the rooms that are asked for come; of unknown ones nothing, in the same types."""
    frame = load_occupancy(folder, rooms, since="2026-06-02T12:00Z")
    assert sorted(set(frame["room_id"])) == [*expected]
    assert frame.dtypes.astype(str).to_dict() == TYPES


def test_what_is_no_folder_is_a_clear_error(tmp_path):
    """It is named, with what makes one; a file in its place is not written over."""
    (place := tmp_path / "taken").write_text("")
    with pytest.raises(ck.ConfigError, match=r"recording at .*taken, which is a file.*confkit rec"):
        load_occupancy(place)
    with pytest.raises(ck.RecordingError, match="taken"):
        ck.save_occupancy(sweep("2026-06-01T00:00Z"), place)


@pytest.mark.parametrize("moment", ["2026-13-01", "10/11/2026", "09:00", 5, pd.NaT])
def test_what_is_no_time_is_refused(folder, moment):
    """A window's end that is no time is a ValueError that names it."""
    with pytest.raises(ValueError, match=r"since is .*2026-03-29T08:00"):
        load_occupancy(folder, since=moment)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's own calls of pandas
def test_pandas_and_dask_read_the_compacted_days(folder):
    """The folder is a Hive-partitioned dataset: pandas and Dask read exactly the compacted days of
    it, typed, sweeps of today beside them or not."""
    ours = load_occupancy(folder, until=datetime(2026, 6, 3, tzinfo=UTC))
    dask.config.set(scheduler="synchronous")
    for theirs in (pd.read_parquet(folder), dask.dataframe.read_parquet(folder).compute()):
        assert set(theirs["date"]) == {"2026-06-01", "2026-06-02"}
        frame = theirs.drop(columns="date").sort_values(["time", "room_id"], ignore_index=True)
        pd.testing.assert_frame_equal(frame, ours)


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
