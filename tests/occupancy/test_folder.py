"""The folder: nothing is lost or counted twice, whoever dies or comes late."""

import os
import shutil
import subprocess
import sys
import time
from datetime import date

import pandas as pd
import pytest

import confkit as ck
from confkit.occupancy import folder
from confkit.text import DRAFT
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
    frame = samples(rows).sort_values("room_id", ignore_index=True)
    if saved:
        assert ck.save_occupancy(frame[::-1], tmp_path) == len(ids)
    else:
        record(tmp_path, frame)
    result = load(tmp_path)
    assert result.equals(frame)
    assert result.dtypes.equals(frame.dtypes)
    assert names(tmp_path) == ["2026-06-01.parquet" if saved else "2026-06-01.csv"]


def test_a_window_begins_with_since_and_ends_before_until(tmp_path):
    record(tmp_path, *HOURS, NEXT)
    frame = load(tmp_path, since="2026-06-01T01:00Z", until=date(2026, 6, 2))
    assert frame.equals(joined(*HOURS[1:]))


def test_a_file_that_becomes_parquet_while_it_is_loaded_is_read(tmp_path, monkeypatch):
    record(tmp_path, *HOURS, NEXT)
    listed = [path.with_suffix(".csv") for path in folder.list_files(tmp_path)[0]]
    monkeypatch.setattr(folder, "list_files", lambda _: (listed, []))
    assert load(tmp_path).equals(joined(*HOURS, NEXT))


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
    (folder / file.name).write_bytes(data.replace(b"\n", b"\r\n"))  # a transfer in text mode
    assert load(folder).equals(joined(HOURS[0], odd))
    (folder / file.name).write_bytes(data[:-1])
    record(folder, HOURS[1])
    record(folder, NEXT, sweep("2026-06-03T00:00Z"))
    assert load(folder, until=date(2026, 6, 2)).equals(joined(HOURS[0], HOURS[1]))


def test_finished_days_become_parquet(tmp_path):
    """A recorder's own, once it begins another day, and those that nobody has touched for two
    days; what a killed one was writing goes, once it is as old."""
    record(tmp_path, sweep("2026-05-30T00:00Z"))
    for draft in (tmp_path / f"{DRAFT}dead", tmp_path / f"{DRAFT}alive"):
        draft.write_bytes(b"PAR1")
    age(tmp_path / f"{DRAFT}dead")
    age(next(tmp_path.glob("*.csv")))
    record(tmp_path, sweep("2026-05-31T00:00Z"))
    record(tmp_path, *HOURS, NEXT)
    assert [path.name for path in tmp_path.glob(".*")] == [f"{DRAFT}alive"]
    days = ["2026-05-30.parquet", "2026-05-31.csv", "2026-06-01.parquet", "2026-06-02.csv"]
    assert names(tmp_path) == days
    assert load(tmp_path, since="2026-06-01T00:00Z").equals(joined(*HOURS, NEXT))


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
    that differ that with the most users; rooms of two services are two."""
    frame = joined(sweep("2026-06-01T23:59:59.999Z"), NEXT)
    for frame.attrs["note"] in range(2):  # which is not saved
        assert ck.save_occupancy(frame, tmp_path) == 4
    assert names(tmp_path) == ["2026-06-01.parquet", "2026-06-02.parquet"]
    ck.save_occupancy(frame.assign(users=pd.NA, ret=504), tmp_path)
    ck.save_occupancy(frame.assign(users=0), tmp_path)
    record(tmp_path, NEXT)
    assert load(tmp_path).equals(frame)
    frame.attrs["service"] = "prod"
    ck.save_occupancy(frame, tmp_path)
    assert [*ck.load_occupancy(tmp_path).groupby("service", dropna=False).size()] == [4, 4]


LIMITED = """
import pathlib, resource, sys
import confkit as ck
from tests.occupancy.made import record, sweep

files = record(pathlib.Path(sys.argv[1]), sweep("2026-06-01T00:00Z"))
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
try:
    record(files, sweep("2026-06-01T00:01Z", map(str, range(50_000))))
except ck.RecordingError as error:
    print(error)
"""


def test_a_file_that_may_not_grow_is_a_clear_error(tmp_path):
    """As on a full disk: earlier samples are safe, and what was half written does not count."""
    limited = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(limited, capture_output=True, text=True, check=True)
    assert "File too large. Earlier samples are safe" in done.stdout
    assert len(load(tmp_path)) == 2
    assert names(tmp_path) == ["2026-06-01.csv"]


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (ck.load_occupancy, ck.ConfigError, "its 4 files are others"),
        (lambda at: ck.load_occupancy(at / "bad"), ck.RecordingError, "cannot be read: .*Move it"),
        (lambda at: ck.load_occupancy(at / "kept"), ck.RecordingError, "no empty line .*Move it"),
        (lambda at: record(at / "old", NEXT), ck.ConfigError, "earlier version"),
        (lambda at: ck.load_occupancy(at, since="10/11/2026"), ValueError, "since is .*T08:00"),
        (lambda at: ck.save_occupancy(NEXT, at / "file"), ck.RecordingError, "was not written"),
        (lambda at: ck.save_occupancy(NEXT.assign(users=1.5), at), ValueError, "whole numbers"),
        (lambda at: ck.save_occupancy(NEXT.assign(room_id=1.0), at), ValueError, "as text"),
    ],
)
def test_what_cannot_be_read_or_written_is_a_clear_error(tmp_path, act, error, message):
    (tmp_path / "file").touch()
    (tmp_path / "bad").mkdir()
    (tmp_path / "old" / "date=2026-06-01").mkdir(parents=True)
    (tmp_path / "bad" / "2026-06-01-0123456789ab.parquet").write_bytes(b"PAR1")
    record(tmp_path / "kept", *HOURS)
    [file] = (tmp_path / "kept").iterdir()
    pd.read_csv(file).to_csv(file, index=False)
    with pytest.raises(error, match=message):
        act(tmp_path)
