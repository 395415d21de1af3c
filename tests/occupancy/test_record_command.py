"""`confkit record`, against a real sandbox."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from tests.commands import run

TOLD = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+\+00:00): 3 rooms, [13] not read")


@pytest.fixture
def record(sandbox, client, tmp_path):
    """Runs `confkit record` into tmp_path/"kept" for two rooms and an unknown one."""
    ids = [ck.create_room(client, topic, "ops", attendee_max=5) for topic in ("one", "two")]
    (listed := tmp_path / "rooms.txt").write_text("\n".join([*ids, "unknown"]))
    keys = {
        "CONFKIT_BASE_URL": sandbox.base_url,
        "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
        "CONFKIT_ACCESS_KEY": sandbox.access_key,
        "CONFKIT_SECRET_KEY": str(sandbox.secret_key),
    }
    command = ("record", str(tmp_path / "kept"), "--rooms", str(listed))

    def record(*options, by=run):
        return by(*command, *options, **keys)

    return record


def apart(*command, **keys):
    """Runs a command in a process of its own."""
    environ = {**os.environ, **keys}
    command = [sys.executable, "-m", "confkit", *command]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_it_records_and_ends_after_so_many_sweeps(record, tmp_path):
    """Each sweep is a line on standard error, the end is one on standard output; status 0."""
    status, said, log = record("--every", "0.2", "--sweeps", "3", by=apart)
    assert status == 0, log
    assert said.startswith("sweeps: 3; rows: 9, 3 of them with a missing value")
    assert len(TOLD.findall(log)) == 3
    frame = ck.load_occupancy(tmp_path / "kept")
    assert frame["ret"].value_counts().to_dict() == {0: 6, 404: 3}


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(record, tmp_path, sent):
    """SIGTERM and Ctrl-C end it within seconds, with status 0 and a line that says what was
    done."""

    def ended(*command, **keys):
        line = [sys.executable, "-m", "confkit", *command]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(line, env={**os.environ, **keys}, **pipes) as child:
            log = ""
            while child.poll() is None and "3 rooms" not in log:
                log += child.stderr.readline()
            child.send_signal(sent)
            said, rest = child.communicate()
            return child.returncode, said, log + rest

    status, said, log = record("--every", "3600", by=ended)
    assert status == 0, log
    assert said.startswith("sweeps: 1; rows: 3,")
    assert "Traceback" not in log
    assert len(ck.load_occupancy(tmp_path / "kept")) == 3


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ("--every 0", 2, "'--every': 0.0 is not in the range"),
        ("--sweeps 0", 2, "'--sweeps': 0 is not in the range"),
        ("--max-rate 0", 1, "--max-rate is 0.0. Give"),
        ("--until 2020-01-01", 1, "until is 2020-01-01, which is in the past"),
        ("--id-column name", 1, "--id-column"),
        ("--profile sandbox", 1, "embedded sandbox"),
    ],
)
def test_wrong_options_are_one_line(record, tmp_path, options, status, message):
    """An option that makes no sense is one line that names it as it is typed."""
    done = record(*options.split())
    assert (done.returncode, done.stdout) == (status, "")
    log = done.stderr
    assert message in log
    assert len(log.strip().splitlines()) == 1
    assert not (tmp_path / "kept").exists()


def test_changes_are_lines_of_json_on_standard_output(record, sandbox, client):
    """Who came between two sweeps, and that the room opened; the end is on standard error."""

    def join():
        while sandbox.count("/rtc/room/get_room_info") < 3:
            time.sleep(0.01)
        sandbox.join(client.created[0], "Ada", user_id="ada")

    with ThreadPoolExecutor(1) as pool:
        joined = pool.submit(join)
        status, out, log = record("--every", "0.2", "--sweeps", "12", "--changes", by=apart)
        joined.result()
    assert (status, log.count("sweeps: 12")) == (0, 1)
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["change"], row["user_name"], row["users"]) for row in rows] == [
        ("user joined", "Ada", 1),
        ("opened", None, 1),
    ]
    assert {row["topic"] for row in rows} == {"one"}
