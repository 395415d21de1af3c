"""What the sandbox promises to whoever shares the machine or the network with it."""

import os
import re
import socket
import stat
from pathlib import Path

import pytest
import requests

import confkit as ck
from confkit import cli, course, profiles
from confkit.course import kept
from confkit.sandbox import DEMO_SECRET_KEY, Sandbox
from confkit.sandbox.service.identity import Ids, random_keys
from tests.injection import texts

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
BEYOND = ("0.0.0.0", "::", "192.0.2.7")  # the last is an address of documentation


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
    inodes = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
        except OSError:
            continue
        if found:
            inodes.add(found[1])
    hosts = set()
    for name, loopback in (("tcp", "0100007F"), ("tcp6", "0" * 24 + "01000000")):
        table = Path("/proc/net") / name
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                host = words[1].partition(":")[0]
                hosts.add("loopback" if host == loopback else host)
    return hosts


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_a_sandbox_listens_on_loopback_alone():
    """Both interfaces, the media server and a camera: no socket is reached from elsewhere."""
    before = listening()
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Lab", "ops")
        sandbox.join(room_id, "Ada")
        sandbox.camera(size=(128, 96), fps=5)
        assert ck.get_mcu(client, room_id).startswith("127.0.0.1:")
        assert listening() <= before | {"loopback"}
        assert "loopback" in listening()


@pytest.mark.parametrize("host", BEYOND)
def test_a_seeded_sandbox_stays_on_loopback(host, capsys):
    """With a seed and an address beyond loopback nothing is bound; the error says what to do."""
    with pytest.raises(ck.ConfigError, match=r"Leave out seed, or use host='127.0.0.1'"):
        Sandbox(seed=1, host=host, secret_key="s3cr3t-of-ours")
    arguments = ["sandbox", "--seed", "1", "--host", host, "--port", "0", "--outgoing-port", "0"]
    assert cli.main(arguments) == 1
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "loopback only" in told


@pytest.mark.parametrize("arguments", [(), ("--secret-key", DEMO_SECRET_KEY)])
def test_the_command_publishes_no_demo_keys_beyond_loopback(arguments, capsys):
    """Without a secret of its own, or with the published one, it does not start there."""
    ports = ("--port", "0", "--outgoing-port", "0")
    assert cli.main(["sandbox", "--host", "0.0.0.0", *ports, *arguments]) == 1
    told = capsys.readouterr().err
    assert "CONFKIT_SECRET_KEY" in told
    assert len(told.splitlines()) == 1


def test_what_a_token_is_made_of_is_unguessable_unless_seeded():
    """Nonces and keys differ each time; a seed repeats them."""
    many = {Ids().nonce() for _ in range(200)} | {random_keys()[1] for _ in range(200)}
    assert len(many) == 400
    assert {len(one) for one in many} == {32, 64}
    assert Ids(7).nonce() == Ids(7).nonce()
    assert Ids("7").further().nonce() != Ids("7").nonce()


def test_files_are_for_their_owner_alone(tmp_path, open_umask):
    """Under umask 000 the file, its companions, profiles and the course's outcomes are 0600."""
    with Sandbox(path=tmp_path / "rooms.sqlite") as sandbox, sandbox.connect() as client:
        ck.create_room(client, "Lab", "ops", host_password="s3cr3t-of-ours")
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"rooms.sqlite", "rooms.sqlite-wal"}
        assert {mode(path) for path in tmp_path.iterdir()} == {0o600}
    assert {mode(path) for path in tmp_path.iterdir()} == {0o600}
    assert mode(profiles.save("prod", {"base_url": "http://h:8080"})) == 0o600
    assert mode(profiles.path().parent) == 0o700
    assert kept.keep("read-a-room", True)
    assert mode(kept.path()) == 0o600


def test_a_file_that_others_could_read_is_shut(tmp_path, open_umask):
    """One of before, and what a crash left beside it, is 0600 before anything is added."""
    path = tmp_path / "rooms.sqlite"
    with Sandbox(path=path) as sandbox, sandbox.connect() as client:
        ck.create_room(client, "Lab", "ops")
    for name in ("rooms.sqlite", "rooms.sqlite-wal", "rooms.sqlite-shm"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o666)
    with Sandbox(path=path) as sandbox, sandbox.connect() as client:
        assert ck.list_devices(client) == []
        ck.create_room(client, "Lab", "ops")
        assert {mode(one) for one in tmp_path.iterdir()} == {0o600}


def test_the_sandbox_serves_no_file():
    """Whatever the path, the answer is a code of the interface, and never a file's content."""
    with Sandbox(seed=1) as sandbox:
        for base in (sandbox.base_url, sandbox.outgoing_url):
            host, port = base.removeprefix("http://").split(":")
            for path in PATHS:
                with socket.create_connection((host, int(port)), 5) as wire:
                    head = f"GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                    wire.sendall(head.encode())
                    told = b""
                    while piece := wire.recv(4096):
                        told += piece
                assert b"root:" not in told
                assert b'"ret":408' in told, (path, told)


def test_an_answer_is_never_a_page():
    """What comes back is JSON, or a script for the callback that was asked for, and no browser
    guesses otherwise."""
    with Sandbox(seed=1) as sandbox:
        url = f"{sandbox.base_url}/rtc/room/get"
        for query in (
            {"room_id": "<script>"},
            {"callback": "<script>alert(1)</script>"},
            {"callback": "f;alert(1)//"},
            {"access_token": "<b>"},
        ):
            answer = requests.get(url, params=query, timeout=5)
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
