"""What the sandbox promises to whoever shares the machine or the network with it."""

import contextlib
import os
import stat
from http.client import HTTPConnection
from pathlib import Path

import pytest

import confkit as ck
from confkit import cli, course, profiles
from confkit.course import kept
from confkit.sandbox import DEMO_SECRET_KEY, Sandbox
from confkit.sandbox.service.identity import Ids, random_keys
from tests.injection import texts

from .conftest import A

PATHS = (
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/static/../../etc/passwd",
    "/.git/config",
    "/\\..\\x",
)
LOOPBACK = {"0100007F", "0" * 24 + "01000000"}


@pytest.fixture
def open_umask():
    """Whatever is made is readable and writable by all, unless it says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def listening() -> set[str]:
    """The local addresses of all listening TCP sockets of this process (Linux)."""
    mine = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            mine.add(str(link.readlink()))
    tables = [Path("/proc/net/tcp").read_text(), Path("/proc/net/tcp6").read_text()]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    return {
        row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine
    }


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_a_sandbox_listens_on_loopback_alone():
    """Both interfaces, the media server and a camera: no socket is reached from elsewhere."""
    before = listening()
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Lab", "ops")
        sandbox.join(room_id, "Ada")
        sandbox.camera(size=(128, 96), fps=5)
        assert ck.get_mcu(client, room_id).startswith("127.0.0.1:")
        assert listening() - before <= LOOPBACK
        assert listening() & LOOPBACK


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--host 0.0.0.0", "CONFKIT_SECRET_KEY"),
        (f"--host 0.0.0.0 --secret-key {DEMO_SECRET_KEY}", "CONFKIT_SECRET_KEY"),
        *(
            (
                f"--seed 1 --secret-key s3cr3t --host {host}",
                "Leave out seed, or use host='127.0.0.1'",
            )
            for host in ("0.0.0.0", "::", "192.0.2.7")  # the last is of documentation
        ),
    ],
)
def test_beyond_loopback_nothing_is_guessable(arguments, told, capsys):
    """Without a secret of its own, with the published one, or with a seed the command does not
    start there, and says what to do in a line."""
    assert cli.main(["sandbox", "--port", "0", "--outgoing-port", "0", *arguments.split()]) == 1
    said = capsys.readouterr().err
    assert told in said
    assert len(said.splitlines()) == 1


def test_what_a_token_is_made_of_is_unguessable_unless_seeded():
    """Nonces and keys differ each time; a seed repeats them."""
    many = {Ids().nonce() for _ in range(200)} | {random_keys()[1] for _ in range(200)}
    assert len(many) == 400
    assert {len(one) for one in many} == {32, 64}
    assert Ids(7).nonce() == Ids(7).nonce()
    assert Ids("7").further().nonce() != Ids("7").nonce()


def test_files_are_for_their_owner_alone(tmp_path, open_umask):
    """Under umask 000 the file, its companions, profiles and the course's outcomes are 0600; so is
    a file of before, and what a crash left beside it, before anything is added."""
    path, names = tmp_path / "rooms.sqlite", ["rooms.sqlite", "rooms.sqlite-wal"]
    for _ in range(2):
        with Sandbox(path=path) as sandbox, sandbox.connect() as client:
            ck.create_room(client, "Lab", "ops", host_password="s3cr3t-of-ours")
            assert {mode(one) for one in tmp_path.iterdir()} == {0o600}
            assert {one.name for one in tmp_path.iterdir()} >= set(names)
        for name in (*names, "rooms.sqlite-shm"):
            (tmp_path / name).touch()
            (tmp_path / name).chmod(0o666)
    assert mode(profiles.save("prod", {"base_url": "http://h:8080"})) == 0o600
    assert mode(profiles.path().parent) == 0o700
    assert kept.keep("read-a-room", True)
    assert mode(kept.path()) == 0o600


def test_the_sandbox_serves_no_file(sandbox):
    """Whatever the path, the answer is a code of the interface, and never a file's content."""
    for url in (sandbox.base_url, sandbox.outgoing_url):
        wire = HTTPConnection(url.removeprefix("http://"))
        for path in PATHS:
            wire.request("GET", path)
            assert wire.getresponse().read().startswith(b'{"ret":408,'), path
        wire.close()


def test_an_answer_is_never_a_page(stranger):
    """What comes back is JSON, or a script for the callback that was asked for, and no browser
    guesses otherwise."""
    for query in (
        {"room_id": "<script>"},
        {"callback": "<script>alert(1)</script>"},
        {"callback": "f;alert(1)//"},
        {"access_token": "<b>"},
    ):
        answer = stranger.raw(A["get"], query)
        assert answer.headers["content-type"].startswith("application/json")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "<" not in answer.text


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..", "a/b", "x\0y", *texts.PLACES[:3]])
def test_a_name_is_no_path(name, capsys, tmp_path, monkeypatch):
    """A runbook, a profile, an exercise, a language and a part are looked up, never opened."""
    monkeypatch.chdir(tmp_path)
    before = set(profiles.path().parent.parent.rglob("*"))
    assert cli.main(["runbook", name, "--sandbox"]) == 2
    commands = ("profile remove", "interface", "token --profile", "course skeleton")
    for command in commands:
        assert cli.main([*command.split(), name]) == 1, command
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    assert "root:" not in told.out + told.err
    with pytest.raises(ck.ConfigError):
        course.check(name, lambda: None)
    after = set(profiles.path().parent.parent.rglob("*"))
    assert after == before
    assert list(tmp_path.iterdir()) == []
