"""`confkit record`, in a process of its own, against a real sandbox, and killed."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

import confkit as ck
from confkit.occupancy.loading import load_occupancy

TOLD = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+\+00:00): 3 rooms, [13] without a value")


@pytest.fixture
def start(sandbox, client, tmp_path):
    """Starts `confkit record` into tmp_path/"kept" for two rooms and an unknown one."""
    ids = [ck.create_room(client, topic, "ops", attendee_max=5) for topic in ("one", "two")]
    (tmp_path / "rooms.txt").write_text("\n".join([*ids, "unknown"]))
    keys = {
        "CONFKIT_BASE_URL": sandbox.base_url,
        "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
        "CONFKIT_ACCESS_KEY": sandbox.access_key,
        "CONFKIT_SECRET_KEY": str(sandbox.secret_key),
    }
    running = []

    def begin(*options: str, rooms: str = "rooms.txt", **environ: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "confkit", "record", "kept", "--rooms", rooms, *options]
        running.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                env={**os.environ, **keys, **environ},
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def test_it_records_and_ends_after_so_many_sweeps(start, tmp_path):
    """Each sweep is a line on standard error, the end one on standard output, and the status 0."""
    said, log = (process := start("--every", "0.2", "--sweeps", "3")).communicate(timeout=60)
    assert process.returncode == 0, log
    assert said.startswith("sweeps: 3; rows: 9, of which 3 without a value")
    assert len(TOLD.findall(log)) == 3
    frame = load_occupancy(tmp_path / "kept")
    assert len(frame) == 9
    assert frame["ret"].value_counts().to_dict() == {0: 6, 404: 3}


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(start, tmp_path, sent):
    """SIGTERM and Ctrl-C end it within seconds, with status 0 and a line that says what was
    done."""
    process = start("--every", "3600")
    line = process.stderr.readline()
    assert TOLD.search(line), line + process.stderr.read()
    process.send_signal(sent)
    said, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    assert said.startswith("sweeps: 1; rows: 3,")
    assert "Traceback" not in log
    assert len(load_occupancy(tmp_path / "kept")) == 3


def test_what_it_told_is_there_once_whenever_it_is_killed(start, tmp_path):
    """A recorder that is killed at any moment, again and again, beside one of other rooms, loses no
    sweep that it reported, doubles none, and leaves no half of one."""
    chance, told = random.Random(5), []
    files = {"rooms.txt": (tmp_path / "rooms.txt").read_text().split(), "others.txt": [*"abc"]}
    (tmp_path / "others.txt").write_text("\n".join(files["others.txt"]))
    for _ in range(4):
        pair = [start("--every", "0.02", rooms=file) for file in files]
        logs = []
        for process in pair:
            logs.append(process.stderr.readline())
            assert TOLD.search(logs[-1]), logs
        time.sleep(chance.uniform(0, 0.4))
        for process in pair:
            process.send_signal(signal.SIGKILL)
        logs += [process.communicate()[1] for process in pair]
        pairs = zip([*files] * 2, logs, strict=True)
        told += [(file, when) for file, log in pairs for when in TOLD.findall(log)]
    assert len(told) > 8
    frame = load_occupancy(tmp_path / "kept")
    for file, rooms in files.items():
        rows = frame[frame["room_id"].isin(rooms)].groupby("time").size()
        assert (rows == 3).all()
        assert {pd.Timestamp(when) for of, when in told if of == file} <= {*rows.index}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--every", "0"), "every is 0.0"),
        (("--until", "soon"), "until is 'soon'"),
        (("--sweeps", "0"), "sweeps is 0"),
        (("--profile", "sandbox"), "embedded sandbox"),
        (("--rooms", "nowhere.txt"), "nowhere.txt"),
    ],
)
def test_wrong_options_are_one_line(start, tmp_path, options, named):
    """An option that makes no sense is one line that names it, and exit status 1."""
    said, log = (process := start(*options)).communicate(timeout=60)
    assert (process.returncode, said) == (1, "")
    assert named in log
    assert len(log.strip().splitlines()) == 1
    assert not (tmp_path / "kept").exists()
