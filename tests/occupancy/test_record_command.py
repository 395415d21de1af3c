"""`confkit record`, against a real sandbox, in a process of its own."""

import json
import os
import signal
import subprocess
import time

import pytest

import confkit as ck
from tests.commands import CONFKIT, known


@pytest.fixture
def record(sandbox, client, tmp_path):
    """Starts `confkit record` into tmp_path/"kept" for two rooms and an unknown one."""
    ids = [ck.create_room(client, topic, "ops", attendee_max=5) for topic in ("one", "two")]
    (rooms := tmp_path / "rooms.txt").write_text("\n".join([*ids, "unknown"]))
    line = [*CONFKIT, "record", str(tmp_path / "kept"), "--rooms", str(rooms)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environ = {**os.environ, **known(sandbox)}
    return lambda *options: subprocess.Popen([*line, *options], env=environ, **streams)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(record, tmp_path, number):
    """With status 0 and a line that says what was done."""
    with record("--every", "3600") as process:
        log = ""
        while process.poll() is None and "3 rooms" not in log:
            log += process.stderr.readline()
        process.send_signal(number)
        out, rest = process.communicate()
    assert (process.returncode, "Traceback" in rest) == (0, False), log + rest
    assert out.startswith("sweeps: 1; rows: 3, 1 of them with a missing value")
    assert len(ck.load_occupancy(tmp_path / "kept")) == 3


def test_changes_are_lines_of_json_on_standard_output(record, sandbox, client):
    """Who came between two sweeps, and that the room opened; the end is on standard error."""
    with record("--every", "0.2", "--sweeps", "12", "--changes") as process:
        while sandbox.count("/rtc/room/get_room_info") < 3:
            time.sleep(0.01)
        sandbox.join(client.created[0], "Ada", user_id="ada")
        out, log = process.communicate()
    assert (process.returncode, log.count("sweeps: 12")) == (0, 1), log
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["change"], row["user_name"]) for row in rows] == [
        ("user joined", "Ada"),
        ("opened", None),
    ]
