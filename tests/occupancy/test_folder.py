"""The folder: nothing is lost or counted twice, whoever dies or comes late."""

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import date
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confkit.occupancy import folder as storage
from confkit.occupancy.capacity import capacity_report
from confkit.occupancy.folder import (
    ABSORBED,
    RecordingError,
    compact,
    reading,
    save_occupancy,
)
from confkit.occupancy.loading import load_occupancy
from tests.occupancy.made import record, sweep

NEXT_DAY = date(2026, 6, 2)
HOURS = [sweep(f"2026-06-01T0{hour}:00Z") for hour in range(3)]
DAY = "date=2026-06-01/day.parquet"


def parts(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet"))


def same(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    order = ["time", "room_id"]
    frames = [frame.sort_values(order, ignore_index=True) for frame in (one, other)]
    return frames[0].equals(frames[1])


def test_a_day_becomes_one_file_sorted_by_room_and_time(tmp_path):
    """A finished day is one file, by room and time; its sweeps go, and today's stay. A late one, as
    from a clock that stepped back, is read at once, and goes there with the next compaction."""
    today = sweep("2026-06-02T00:00Z")
    hot = record(tmp_path, *HOURS, today)
    compact(tmp_path, NEXT_DAY)
    assert parts(tmp_path) == [DAY]
    stored = pq.ParquetFile(tmp_path / DAY).read().to_pylist()
    assert [(row["room_id"], row["time"].hour) for row in stored] == [
        (room, hour) for room in "ab" for hour in range(3)
    ]
    assert list(tmp_path.glob("_hot/*")) == [hot[-1]]
    late = sweep("2026-06-01T09:00Z", users=7)
    record(tmp_path, late)
    for _ in range(2):
        assert same(load_occupancy(tmp_path), pd.concat([*HOURS, late, today]))
        compact(tmp_path, NEXT_DAY)
    assert list(tmp_path.glob("_hot/*")) == [hot[-1]]


def test_a_day_names_the_sweeps_in_it_and_they_count_no_more(tmp_path):
    """Sweeps that a day names are ignored when they are there all the same, as after a death
    between the two steps; the next compaction removes them."""
    hot = record(tmp_path, *HOURS)
    kept = [(path, path.read_bytes()) for path in hot]
    compact(tmp_path, NEXT_DAY)
    metadata = pq.read_schema(tmp_path / DAY).metadata
    assert sorted(json.loads(metadata[ABSORBED])) == [path.name for path in hot]
    for path, content in kept:
        path.write_bytes(content)
    assert same(load_occupancy(tmp_path), pd.concat(HOURS))
    compact(tmp_path, NEXT_DAY)
    assert not list(tmp_path.glob("_hot/*"))
    assert parts(tmp_path) == [DAY]
    assert same(load_occupancy(tmp_path), pd.concat(HOURS))


def test_a_death_at_any_step_of_a_compaction_loses_and_doubles_nothing(tmp_path):
    """A process that dies at its n-th system call that changes the folder leaves each sample there
    exactly once, and the next compaction finishes the work."""
    record(tmp_path / "0", *HOURS)
    for step in range(1, 8):
        shutil.copytree(tmp_path / "0", tmp_path / str(step))
    dying = [sys.executable, "-c", DYING, str(tmp_path)]
    ends = subprocess.run(dying, check=True, capture_output=True, text=True).stdout.split()
    assert ends == ["9"] * 7 + ["0"]
    for folder in [tmp_path / str(step) for step in range(8)]:
        assert same(load_occupancy(folder), pd.concat(HOURS))
        compact(folder, NEXT_DAY)
        assert parts(folder) == [DAY]
        assert same(load_occupancy(folder), pd.concat(HOURS))


# Each change of the folder raises an audit event, at which a process can end as if killed.
DYING = """
import os, sys
from datetime import date
from pathlib import Path
from confkit.occupancy.folder import compact

changes = {"os.mkdir", "os.link", "os.remove", "os.rename"}

def die(event, arguments):
    global left
    if event in changes:
        if not left:
            os._exit(9)
        left -= 1

for left in range(8):
    folder = Path(sys.argv[1], str(left))
    if not (child := os.fork()):
        sys.addaudithook(die)
        compact(folder, date(2026, 6, 2))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_compaction_keeps_away_from_who_reads(tmp_path):
    """While somebody reads, sweeps come but none goes into its day, and others read too; afterwards
    the compaction does its work."""
    record(tmp_path, *HOURS[:2])
    with reading(tmp_path) as found:
        assert compact(tmp_path, NEXT_DAY, wait=False) is None
        record(tmp_path, HOURS[2])
        assert same(load_occupancy(tmp_path), pd.concat(HOURS))
        assert all(path.exists() for path in found.files)
    compact(tmp_path, NEXT_DAY, wait=False)
    assert parts(tmp_path) == [DAY]
    assert same(load_occupancy(tmp_path), pd.concat(HOURS))


def test_a_reading_waits_for_a_compaction(tmp_path):
    """Who reads while a day is written waits, and finds each sample once."""
    record(tmp_path, sweep("2026-06-01T00:00Z"))
    with ThreadPoolExecutor() as pool:
        with storage._locked(tmp_path, write=True):
            assert sorted(path.name for path in tmp_path.iterdir()) == ["_hot", "_lock"]
            reader = pool.submit(load_occupancy, tmp_path)
            assert wait([reader], timeout=0.3).not_done
            record(tmp_path, sweep("2026-06-01T01:00Z"))
            storage._write_day(tmp_path, date(2026, 6, 1), storage.contents(tmp_path))
        assert len(reader.result(30)) == 4


WAITS = """
import signal, sys
from confkit.occupancy.loading import load_occupancy
signal.signal(signal.SIGINT, signal.default_int_handler)
print("waits", flush=True)
load_occupancy(sys.argv[1])
"""


def test_ctrl_c_ends_a_wait_for_the_lock(tmp_path):
    """Whoever holds it may have been stopped; who waits is not held with it."""
    record(tmp_path, sweep("2026-06-01T00:00Z"))
    with storage._locked(tmp_path, write=True):
        run = [sys.executable, "-c", WAITS, str(tmp_path)]
        with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"waits\n"
            while child.poll() is None:  # until it has begun to wait
                child.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    child.wait(0.2)
            assert b"KeyboardInterrupt" in child.stderr.read()


def test_two_savings_at_once_take_turns(tmp_path):
    """Threads that save the same samples and others into a new folder leave each of them once."""
    common = sweep("2026-06-01T10:00Z", "abc")
    frames = [pd.concat([common, sweep("2026-06-01T11:00Z", [str(at)])]) for at in range(8)]
    with ThreadPoolExecutor() as pool:
        added = list(pool.map(save_occupancy, frames, [tmp_path / "new"] * len(frames)))
    assert sum(added) == 3 + len(frames)
    assert len(load_occupancy(tmp_path / "new")) == 3 + len(frames)


def test_a_copy_without_its_lock_is_read(tmp_path):
    """A folder of days alone, such as a copy that cannot be written to, is read as it is."""
    record(tmp_path / "kept", sweep("2026-06-01T00:00Z"))
    compact(tmp_path / "kept", NEXT_DAY)
    day = tmp_path / "copy" / "date=2026-06-01"
    shutil.copytree(tmp_path / "kept" / day.name, day)
    assert len(load_occupancy(day.parent)) == 2
    assert [path.name for path in day.parent.iterdir()] == [day.name]


def test_memory_for_a_day_does_not_grow_with_its_rooms(tmp_path, monkeypatch):
    """A day of more samples than are sorted at once comes out whole and in order all the same."""
    monkeypatch.setattr(storage, "_AT_ONCE", 10)
    sweeps = [sweep(f"2026-06-01T0{hour}:00Z", map(str, range(17))) for hour in range(3)]
    record(tmp_path, *sweeps)
    compact(tmp_path, NEXT_DAY)
    stored = pq.ParquetFile(tmp_path / DAY)
    order = ["room_id", "time"]
    expected = pd.concat(sweeps).sort_values(order, ignore_index=True)
    assert stored.read().to_pandas()[order].equals(expected[order])
    assert stored.num_row_groups > 1
    assert same(load_occupancy(tmp_path), expected)


def test_a_file_that_may_not_grow_is_a_clear_error_and_no_torn_file(tmp_path):
    """Where a file cannot be written to its end, as on a full disk, nothing of it stays, and what
    was there before is safe."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("File too large. What was recorded before is safe") == 2
    assert len(load_occupancy(tmp_path)) == 2
    assert len(list(tmp_path.rglob("*.*"))) == 1


LIMITED = """
import resource, sys
from pathlib import Path
from tests.occupancy.made import record, sweep
from confkit.occupancy.folder import RecordingError, save_occupancy

folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
record(folder, sweep("2026-06-01T00:00Z"))
large = sweep("2026-06-01T00:01Z", map(str, range(5000)))
for write in (lambda: record(folder, large), lambda: save_occupancy(large, folder)):
    try:
        write()
    except RecordingError as error:
        print(error)
"""


def test_torn_and_foreign_files_are_named_and_skipped(tmp_path):
    """Each torn or foreign file is named in a warning with what is wrong, and the rest is read;
    they are still there afterwards, compacted days or not."""
    good = [sweep(f"2026-06-0{day}T00:00Z") for day in (1, 2, 3)]
    hot = record(tmp_path, *good)
    compact(tmp_path, NEXT_DAY)
    torn = hot[1].with_name(hot[1].name.replace("20260602", "20260601"))
    torn.write_bytes(hot[1].read_bytes()[:300])
    pretender, zeros = (tmp_path / f"date=2026-06-0{day}/day.parquet" for day in (4, 2))
    pretender.parent.mkdir()
    pq.write_table(pa.table({"x": [1]}), pretender)
    zeros.parent.mkdir()
    zeros.write_bytes(bytes(1000))
    (note := tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".DS_Store").write_text("nobody's")
    for _ in range(2):
        with pytest.warns(UserWarning, match="skipped in the recording") as told:
            assert same(load_occupancy(tmp_path), pd.concat(good))
        assert len(told) == 1
        assert all(str(path) in str(told[0].message) for path in (torn, pretender, zeros, note))
        assert "DS_Store" not in str(told[0].message)
        assert set(compact(tmp_path, date(2026, 6, 3)).strange) == {torn, zeros, note}


def test_a_file_damaged_inside_is_named(tmp_path):
    """A file whose end is whole and whose inside is not is an error that names it, and a compaction
    leaves it where it is."""
    good, bad = record(tmp_path, sweep("2026-06-01T00:00Z"), sweep("2026-06-01T00:01Z"))
    content = bytearray(bad.read_bytes())
    content[4:60] = b"\xff" * 56
    bad.write_bytes(content)
    for act in (load_occupancy, capacity_report, lambda folder: compact(folder, NEXT_DAY)):
        with pytest.raises(RecordingError, match=f"{bad.name} is damaged inside"):
            act(tmp_path)
    bad.rename(tmp_path.parent / "moved")
    assert len(load_occupancy(tmp_path)) == 2
    assert good.exists()


def test_what_a_dead_process_left_unfinished_goes_after_a_day(tmp_path):
    """An unfinished file is never read; after a day it is a dead process's and goes."""
    record(tmp_path, HOURS[0])
    for name in ("old", "new"):
        (tmp_path / f"_hot/.draft-{name}").write_bytes(b"half")
    os.utime(tmp_path / "_hot/.draft-old", (0, 0))
    assert len(load_occupancy(tmp_path)) == 2
    compact(tmp_path, NEXT_DAY)
    assert [path.name for path in tmp_path.glob("_hot/*")] == [".draft-new"]


def test_saved_samples_are_there_once_however_often_they_are_saved(tmp_path):
    """save_occupancy adds each day's samples as a part, says their number, and adds the same ones
    no second time."""
    frame = pd.concat([sweep("2026-06-01T23:59:59.999Z"), sweep("2026-06-02T00:00Z")])
    assert save_occupancy(frame.sample(frac=1, random_state=1), tmp_path) == 4
    assert parts(tmp_path) == ["date=2026-06-01/day.parquet", "date=2026-06-02/day.parquet"]
    assert save_occupancy(frame, tmp_path) == 0
    assert same(load_occupancy(tmp_path), frame)
    more = sweep("2026-06-02T00:00Z", ["c"])
    assert save_occupancy(pd.concat([frame, more]), str(tmp_path)) == 1
    assert same(load_occupancy(tmp_path), pd.concat([frame, more]))
    recorded = sweep("2026-06-03T10:00Z")
    record(tmp_path, recorded)
    assert save_occupancy(recorded.assign(users=recorded["users"] + 1), tmp_path) == 0
    assert same(load_occupancy(tmp_path), pd.concat([frame, more, recorded]))
    assert save_occupancy(frame.iloc[:0], tmp_path) == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"time": pd.Timestamp("2026-06-01")}, "time zone"),
        ({"users": 1.5}, "users"),
        ({"room_id": pd.NA}, "room_id"),
        ({"ret": "what"}, "ret"),
    ],
)
def test_what_are_no_samples_is_refused(tmp_path, change, named):
    """A frame without a column, a zone, an ID or whole numbers is a ValueError that names it."""
    frame = sweep("2026-06-01T10:00Z")
    for wrong, name in ((frame.assign(**change), named), (frame.drop(columns="users"), "users")):
        with pytest.raises(ValueError, match=name):
            save_occupancy(wrong, tmp_path)
    assert not list(tmp_path.iterdir())
