"""The folder: nothing is lost or counted twice, whoever dies or comes late."""

import os
import shutil
import subprocess
import sys
import time
from datetime import date, datetime, timedelta, timezone

import dask
import dask.dataframe
import pandas as pd
import pytest

import confkit as ck
from confkit.occupancy.samples import TYPES
from tests.occupancy.made import record, samples, sweep

HOURS = [sweep(f"2026-06-01T0{hour}:00Z") for hour in range(3)]
NEXT = sweep("2026-06-02T00:00Z")


def load(folder, **window):
    """The samples of a folder, without their service."""
    return ck.load_occupancy(folder, **window).drop(columns="service")


def joined(*sweeps):
    return pd.concat(sweeps, ignore_index=True)


def names(folder):
    """The files of the folder, by day."""
    return sorted(f"{path.name[:10]}{path.suffix}" for path in folder.glob("[!.]*"))


def age(path):
    """Make a file one that nobody has touched for three days."""
    os.utime(path, (time.time() - 3 * 86_400,) * 2)


@pytest.mark.parametrize("saved", [True, False])
def test_samples_come_back_as_they_were(tmp_path, saved):
    """By time and room, in their types; a missing value is missing and 0 is 0, whatever a room is
    called, from CSV and from Parquet."""
    ids = ["a", "NA", " ", "0012", "ü/ ", '"', "a,b", "a\nb", "\r", "=1", "\x00"]
    rows = [{"time": "2026-06-01T00:00:00.123Z", "room_id": room, "users": 0} for room in ids]
    rows[0] |= {"users": None, "ret": 404}
    rows[1] |= {"users": 3, "devices": 1, "ret": None, "attendee_max": 0}
    frame = samples(rows)
    frame.attrs["service"] = "conf/éx:8080"
    if saved:
        assert ck.save_occupancy(frame.sample(frac=1, random_state=1), tmp_path) == len(ids)
    else:
        record(tmp_path, frame, service="conf/éx:8080")
    result = ck.load_occupancy(str(tmp_path))
    assert result.dtypes.astype(str).to_dict() == TYPES
    assert result.attrs == {"service": "conf/éx:8080"}
    assert set(result.pop("service")) == {"conf/éx:8080"}
    assert result.equals(frame.sort_values("room_id", ignore_index=True))
    assert names(tmp_path) == ["2026-06-01.parquet" if saved else "2026-06-01.csv"]


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2026-06-01T08:00Z", "2026-06-02T08:00Z", [(1, 8), (1, 16), (2, 0)]),
        ("2026-06-01T16:00:00.001Z", None, [(2, 0), (2, 8), (2, 16)]),
        (None, datetime(2026, 6, 1, 10, tzinfo=timezone(timedelta(hours=2))), [(1, 0)]),
        (pd.Timestamp("2026-06-02T09:00Z"), None, [(2, 16)]),
        # without an offset they are local time, here 5:45 ahead
        ("2026-06-02T05:45", "2026-06-02T13:45", [(2, 0)]),
        (date(2026, 6, 2), None, [(2, 0), (2, 8), (2, 16)]),
    ],
)
def test_a_window_begins_with_since_and_ends_before_until(
    tmp_path, monkeypatch, since, until, expected
):
    """To the millisecond, in any form of a time. Days outside of it are not even opened."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    record(tmp_path, *(sweep(f"2026-06-0{day}T{at:02}:00Z") for day in (1, 2) for at in (0, 8, 16)))
    (tmp_path / "2026-05-30-000000000000.csv").mkdir()
    try:
        since = since or date(2026, 6, 1)
        times = load(tmp_path, since=since, until=until)["time"].drop_duplicates()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert list(zip(times.dt.day, times.dt.hour, strict=True)) == expected


@pytest.mark.parametrize("moment", ["2026-13-01", "10/11/2026", "09:00", "", 5, pd.NaT])
def test_a_wrong_time_is_refused(tmp_path, moment):
    with pytest.raises(ValueError, match=r"since is .*2026-03-29T08:00"):
        ck.load_occupancy(tmp_path, since=moment)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's own calls of pandas
def test_pandas_and_dask_read_the_parquet_of_a_folder(tmp_path):
    """As `load_occupancy` does; an empty folder gives no samples, of the same types."""
    assert ck.load_occupancy(tmp_path).dtypes.astype(str).to_dict() == TYPES
    ck.save_occupancy(joined(*HOURS, NEXT), tmp_path)
    record(tmp_path, sweep("2026-06-03T00:00Z"))
    ours, files = ck.load_occupancy(tmp_path, until="2026-06-03T00:00Z"), f"{tmp_path}/*.parquet"
    with dask.config.set(scheduler="synchronous"):
        frames = [dask.dataframe.read_parquet(files).compute()]
    frames.append(pd.concat(map(pd.read_parquet, sorted(tmp_path.glob("*.parquet")))))
    for frame in frames:
        pd.testing.assert_frame_equal(frame.reset_index(drop=True), ours)


# Who dies, and who comes late


def test_a_torn_sweep_does_not_count(tmp_path):
    """Wherever it is cut off, those before it are read; another start of a recorder goes on in a
    file of its own."""
    odd = sweep("2026-06-01T03:00Z", ["a", 'b"\n"c', "d"])
    record(tmp_path / "whole", HOURS[0], odd)
    [file] = (tmp_path / "whole").iterdir()
    data = file.read_bytes()
    first = data.index(b"\n\n") + 2
    for cut in range(len(data)):
        (folder := tmp_path / str(cut)).mkdir()
        (folder / file.name).write_bytes(data[:cut])
        assert load(folder).equals(HOURS[0] if cut >= first else HOURS[0][:0]), cut
    record(folder, HOURS[1])
    record(folder, NEXT, sweep("2026-06-03T00:00Z"))
    assert load(folder, until=date(2026, 6, 2)).equals(joined(HOURS[0], HOURS[1]))


def test_finished_days_become_parquet(tmp_path):
    """A recorder's own, once it begins another day, even if its clock was set back; and those that
    nobody has touched for two days."""
    record(tmp_path, sweep("2026-05-30T00:00Z"))
    age(next(tmp_path.iterdir()))
    record(tmp_path, young := sweep("2026-05-31T00:00Z"))
    late = sweep("2026-06-01T09:00Z")
    record(tmp_path, *HOURS, NEXT, late, sweep("2026-06-02T09:00Z"))
    assert names(tmp_path) == [
        "2026-05-30.parquet",
        "2026-05-31.csv",
        *("2026-06-01.parquet", "2026-06-01.parquet"),
        *("2026-06-02.csv", "2026-06-02.parquet"),
    ]
    frame = load(tmp_path, since="2026-05-31T00:00Z", until="2026-06-02T00:00Z")
    assert frame.equals(joined(young, *HOURS, late))


def test_a_recorder_that_seemed_dead_goes_on(tmp_path):
    """Its file became Parquet while its machine was suspended; or both files are there, as after a
    death between two steps. Nothing is lost, nor there twice."""
    files = record(tmp_path, HOURS[0])
    age(next(tmp_path.glob("*.csv")))
    record(tmp_path, sweep("2026-06-01T00:30Z", "c"))
    assert names(tmp_path) == ["2026-06-01.csv", "2026-06-01.parquet"]
    record(files, HOURS[1])
    assert len(load(tmp_path)) == 5
    [parquet] = tmp_path.glob("*.parquet")
    shutil.copy(max(tmp_path.glob("*.csv"), key=os.path.getsize), parquet.with_suffix(".csv"))
    assert len(load(tmp_path)) == 5


def test_samples_have_a_key(tmp_path):
    """Of the same time, room and service each is there once, however often it is saved, and of two
    that differ the one that was read; rooms of two services are two."""
    frame = joined(sweep("2026-06-01T23:59:59.999Z"), NEXT)
    for _ in range(2):
        assert ck.save_occupancy(frame, tmp_path) == 4
    assert names(tmp_path) == ["2026-06-01.parquet", "2026-06-02.parquet"]
    ck.save_occupancy(frame.assign(users=pd.NA, ret=504), tmp_path)
    record(tmp_path, NEXT)
    assert load(tmp_path).equals(frame)
    frame.attrs["service"] = "prod"
    ck.save_occupancy(frame, tmp_path)
    result = ck.load_occupancy(tmp_path)
    assert (len(result), result.attrs["service"]) == (8, "prod")
    assert result[result["service"] == "prod"]["users"].tolist() == [1] * 4
    assert ck.save_occupancy(frame.iloc[:0], tmp_path) == 0


LIMITED = """
import resource, sys
from pathlib import Path
import confkit as ck
from tests.occupancy.made import record, sweep

folder = Path(sys.argv[1])
files = record(folder, sweep("2026-06-01T00:00Z"))
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
large = sweep("2026-06-01T00:01Z", map(str, range(50_000)))
for write in (lambda: record(files, large), lambda: ck.save_occupancy(large, folder)):
    try:
        write()
    except ck.RecordingError as error:
        print(error)
"""


def test_a_file_that_may_not_grow_is_a_clear_error(tmp_path):
    """As on a full disk: earlier samples are safe, and what was half written does not count."""
    limited = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(limited, capture_output=True, text=True, check=True)
    assert done.stdout.count("File too large. Earlier samples are safe") == 2
    assert len(load(tmp_path)) == 2
    assert names(tmp_path) == ["2026-06-01.csv"]


# Other files and folders


def test_foreign_files_are_named_and_damaged_ones_are_an_error(tmp_path, caplog):
    """A recorder goes on beside them."""
    record(tmp_path, *HOURS)
    for name in ("notes.txt", "2026-06-01.csv", ".DS_Store"):
        (tmp_path / name).write_text("mine")
    with pytest.warns(UserWarning, match=r"skipped 2 .*: 2026-06-01\.csv, notes\.txt\.") as warned:
        assert load(tmp_path).equals(joined(*HOURS))
    assert warned[0].filename == __file__
    for name in ("notes.txt", "2026-06-01.csv"):
        (tmp_path / name).unlink()
    for name, content in (
        ("2026-06-01-0123456789ab.parquet", b"PAR1"),
        ("2026-06-01-0123456789ab.csv", b"a,b\n1,2\n\n"),
        ("2026-06-01-0123456789ab.parquet", pd.DataFrame({"a": [1]}).to_parquet()),  # not ours
    ):
        (damaged := tmp_path / name).write_bytes(content)
        with pytest.raises(ck.RecordingError, match=f"{name} cannot be read: .*Move it out"):
            ck.load_occupancy(tmp_path)
        age(damaged)
        record(tmp_path, NEXT)
        damaged.unlink()
    assert "0123456789ab.csv could not be converted to Parquet" in caplog.text
    assert load(tmp_path).equals(joined(*HOURS, NEXT))


def test_a_folder_of_an_earlier_version_is_refused(tmp_path, client):
    """By whoever reads it or writes into it; the code of the advice copies its days."""
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "_hot").mkdir(parents=True)
    (old / "date=2026-06-01").mkdir()
    joined(*HOURS).to_parquet(old / "date=2026-06-01/day.parquet")
    for act in (
        ck.load_occupancy,
        lambda folder: ck.save_occupancy(NEXT, folder),
        lambda folder: ck.Recorder(folder).record(client, ["1"], sweeps=1),
    ):
        with pytest.raises(ck.ConfigError, match="format of an earlier version") as refused:
            act(old)
    advice = refused.value.advice.partition("into it: ")[2]
    eval(advice.replace("'new'", "new"), {"ck": ck, "pd": pd, "new": new})
    assert load(new).equals(joined(*HOURS))


def test_a_path_that_is_no_folder_is_a_clear_error(tmp_path):
    (place := tmp_path / "taken").write_text("")
    with pytest.raises(ck.ConfigError, match=r"recording at .*taken, which is a file.*confkit rec"):
        ck.load_occupancy(place)
    with pytest.raises(ck.ConfigError, match="none, which does not exist"):
        ck.load_occupancy(tmp_path / "none")
    with pytest.raises(ck.RecordingError, match="taken was not written"):
        ck.save_occupancy(NEXT, place)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": pd.Timestamp("2026-06-01")}, "to_datetime"),
        ({"users": 1.5}, "users, .*must be whole numbers"),
        ({"room_id": pd.NA}, "needs a time and a room_id"),
        (None, "missing: users"),
    ],
)
def test_a_frame_that_holds_no_samples_is_refused(tmp_path, change, message):
    frame = sweep("2026-06-01T10:00Z")
    wrong = frame.assign(**change) if change else frame.drop(columns="users")
    for act in (lambda: ck.save_occupancy(wrong, tmp_path), lambda: ck.capacity_report(wrong)):
        with pytest.raises(ValueError, match=message):
            act()
    assert not list(tmp_path.iterdir())
