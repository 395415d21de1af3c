"""What the sandbox promises to whoever shares the machine or the network with it."""

import contextlib
from pathlib import Path

import pytest

import confkit as ck
from confkit import cli, course
from confkit.sandbox import DEMO_SECRET_KEY, Sandbox

LOOPBACK = {"0100007F", "0" * 24 + "01000000"}


def listening() -> set[str]:
    """The local addresses of all listening TCP sockets of this process (Linux)."""
    mine = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            mine.add(str(link.readlink()))
    tables = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    rows = [line.split() for line in tables.splitlines()]
    return {
        row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine
    }


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_a_sandbox_listens_on_loopback_alone():
    """Both interfaces, the media server and a camera: no socket is reached from elsewhere."""
    before = listening()
    with Sandbox(seed=1, host="127.0.0.1") as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Lab", "ops")
        sandbox.camera(size=(128, 96), fps=5)
        assert ck.get_mcu(client, room_id).startswith("127.0.0.1:")
        assert listening() - before <= LOOPBACK
        assert listening() & LOOPBACK


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--host 0.0.0.0", "CONFKIT_SECRET_KEY"),
        (f"--host 0.0.0.0 --secret-key {DEMO_SECRET_KEY}", "CONFKIT_SECRET_KEY"),
        ("--seed 1 --secret-key s3cr3t --host ::", "Leave out seed, or use host='127.0.0.1'"),
    ],
)
def test_beyond_loopback_nothing_is_guessable(arguments, told, capsys):
    """Without a secret of its own, with the published one, or with a seed the command does not
    start there, and says what to do in a line."""
    assert cli.main(["sandbox", "--port", "0", "--outgoing-port", "0", *arguments.split()]) == 1
    said = capsys.readouterr().err
    assert told in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "x\0y"])
def test_a_name_is_no_path(name, capsys, tmp_path, monkeypatch):
    """A runbook, a profile, an exercise and a part are looked up, never opened."""
    monkeypatch.chdir(tmp_path)
    for command, status in (
        ("runbook --sandbox", 2),
        ("interface", 1),
        ("token --profile", 1),
    ):
        assert cli.main([*command.split(), name]) == status, command
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    assert "root:" not in told.out + told.err
    with pytest.raises(ck.ConfigError):
        course.check(name, lambda: None)
    assert list(tmp_path.iterdir()) == []
