"""`confkit record`, against a real sandbox, in a process of its own."""

import json
import os
import signal
import subprocess

import confkit as ck
from tests.commands import CONFKIT, known


def test_changes_are_lines_of_json_until_a_signal_ends_it(sandbox, client, tmp_path):
    """Who came, and that the room opened; then status 0, and what was done on standard error."""
    room_id = ck.create_room(client, "one", "ops")
    (rooms := tmp_path / "rooms.txt").write_text(f"{room_id}\nunknown")
    words = f"record {tmp_path / 'kept'} --rooms {rooms} --every 0.2 --changes"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environ = {**os.environ, **known(sandbox)}
    with subprocess.Popen([*CONFKIT, *words.split()], env=environ, **streams) as process:
        assert "2 rooms, 1 not read" in process.stderr.readline()
        sandbox.join(room_id, "Ada", user_id="ada")
        rows = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        out, log = process.communicate()
    changes = {(row["change"], row["user_name"]) for row in rows}
    assert changes == {("user joined", "Ada"), ("opened", None)}
    assert (process.returncode, out, "Traceback" in log) == (0, "", False), log
    rows = len(ck.load_occupancy(tmp_path / "kept"))
    assert f"; rows: {rows}, " in log.splitlines()[-1]
