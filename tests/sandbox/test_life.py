"""How a sandbox begins and ends, what its file keeps, and where it answers."""

import asyncio
import contextlib
import logging
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from confkit.errors import ConfigError, ConfkitError
from confkit.sandbox import Sandbox

from .conftest import A, B, Stranger

SERVE = """
import sys, time
from confkit.sandbox import Sandbox
sandbox = Sandbox(path=sys.argv[1]).start()
print(sandbox.base_url, sandbox.outgoing_url, flush=True)
for line in sys.stdin:
    room_id, name = line.split()
    print(sandbox.join(room_id, name), flush=True)
"""


def test_no_acknowledged_write_is_lost_by_kill_9(make, tmp_path):
    """What was answered is there after SIGKILL: rooms, deletions, people, devices, numbering."""
    path = tmp_path / "rooms.sqlite"
    url = make().sandbox.camera()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        base, outgoing = process.stdout.readline().split()
        stranger = Stranger(
            type(
                "Elsewhere",
                (),
                {
                    "base_url": base,
                    "outgoing_url": outgoing,
                    "access_key": "demo_access",
                    "secret_key": "demo_secret",
                    "dialect": Sandbox().dialect,
                },
            )()
        )
        rooms = [stranger.room(topic=f"t{n}", attendee_max=n) for n in range(50)]
        assert stranger.a("del", room_id=rooms.pop())["ret"] == 0
        print(rooms[0], "Ada", file=process.stdin, flush=True)
        ada = process.stdout.readline().strip()
        assert stranger.bring(rooms[1], url, options={"x": 1}) == 0
        process.send_signal(signal.SIGKILL)
        stranger.http.close()
    after = make(path=path)
    assert [after.a("get", room_id=room_id)["topic"] for room_id in rooms] == [
        f"t{n}" for n in range(49)
    ]
    assert after.sandbox.people(rooms[0]) == [{"user_id": ada, "user_name": "Ada", "host": False}]
    item = after.b("list", roomId=rooms[1])["data"]["items"][0]
    assert (item["userId"], item["userAddress"], item["options"]) == ("cam", url, {"x": 1})
    assert after.a("get", room_id=after.room())["id"] == 51


def test_state_survives_a_restart(make, tmp_path):
    """Lock, closing, hosts and the media server's assignment are in the file; tokens are not."""
    first = make(path=tmp_path / "rooms.sqlite")
    locked, closed = first.room(host_password="p"), first.room()
    first.sandbox.join(locked, "Ada", password="p")
    first.sandbox.lock(locked)
    first.sandbox.close_room(closed)
    first.sandbox.close()
    second = make(path=tmp_path / "rooms.sqlite")
    assert second.raw(A["get"], {"access_token": first.token}).json()["ret"] == 602
    assert [second.a("get", room_id=room)["room_status"] for room in (locked, closed)] == [2, 3]
    assert second.sandbox.people(locked)[0]["host"] is True
    assert second.a("force", room_id=locked, user_id="nobody")["ret"] == 429


@pytest.mark.parametrize("kind", ["text", "foreign", "folder", "no folder", "newer"])
def test_a_file_that_cannot_be_used(tmp_path, kind):
    """A file of something else is a clear error, and is left as it was."""
    path = tmp_path / "file"
    if kind == "text":
        path.write_text("these are my notes " * 100)
    elif kind in ("foreign", "newer"):
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE mine (x)")
        if kind == "newer":
            db.execute("PRAGMA application_id = 1129009986")
            db.execute("PRAGMA user_version = 99")
        db.commit()
        db.close()
    elif kind == "folder":
        path.mkdir()
    else:
        path = tmp_path / "none" / "file"
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ConfkitError, match="file"):
        Sandbox(path=path).start()
    assert before == (path.read_bytes() if path.is_file() else None)
    assert not path.with_name("file-wal").exists()


def sql(stranger, statement):
    """Carries a statement out where the service's own are."""
    sandbox = stranger.sandbox
    sandbox._carry(sandbox._service.store._db.execute, statement)


def test_a_database_that_fails_is_700(make, tmp_path):
    """A write that the database refuses is answered 700 in A, and the service goes on."""
    stranger = make(path=tmp_path / "rooms.sqlite")
    room_id = stranger.room()
    sql(stranger, "PRAGMA query_only = 1")
    assert stranger.a("create", topic="x", owner_id="o", room_mode=1)["ret"] == 700
    assert stranger.a("get", room_id=room_id)["ret"] == 0
    sql(stranger, "PRAGMA query_only = 0")
    stranger.room()


def test_a_seed_makes_everything_repeat(make):
    """Ids, names and times of two sandboxes of one seed are the same, of another seed are not."""

    def play(seed):
        stranger = make(seed=seed)
        answer = stranger.login()
        rooms = [stranger.room(), stranger.room()]
        users = [stranger.sandbox.join(rooms[0], name) for name in "ab"]
        return answer, rooms, users, stranger.sandbox.now()

    assert play(7) == play(7)
    assert play(7)[:3] != play(8)[:3]


def test_a_login_more_does_not_change_the_rooms(make):
    """Room numbers of a seeded sandbox do not depend on how often somebody logged in."""
    one, two = make(seed=7), make(seed=7)
    two.login()
    two.login()
    assert one.room() == two.room()


def test_without_a_seed_nothing_repeats(make):
    """Two sandboxes without a seed give different ids and random values."""
    one, two = make(), make()
    assert one.room() != two.room()
    assert one.login()["random"] != two.login()["random"]
    before = time.time()
    assert before - 1 <= one.sandbox.now() <= time.time() + 1


def test_closing_is_quick_whatever_is_open(make):
    """Idle connections, waiting requests and dials hold nothing up, and all sockets go."""
    stranger = make()
    sandbox = stranger.sandbox
    port = int(sandbox.base_url.rpartition(":")[2])
    silent = socket.create_server(("127.0.0.1", 0))
    idle = socket.create_connection(("127.0.0.1", port))
    half = socket.create_connection(("127.0.0.1", port))
    half.sendall(b"GET /rtc/room/get?x")
    waiting = socket.create_connection(("127.0.0.1", port))
    room_id = stranger.room()
    url = sandbox.camera()
    stranger.bring(room_id, url)
    sandbox.fault(A["get"], delay=60)
    waiting.sendall(f"GET {A['get']} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    address = f"rtsp://127.0.0.1:{silent.getsockname()[1]}/x"
    dialling = threading.Thread(target=_ignoring, args=(stranger.bring, room_id, address, "b"))
    dialling.start()
    time.sleep(0.3)
    threads = {thread.name for thread in threading.enumerate()}
    began = time.monotonic()
    sandbox.close()
    assert time.monotonic() - began < 20  # of a minute that an answer has left
    assert "confkit sandbox" in threads
    assert "confkit sandbox" not in {thread.name for thread in threading.enumerate()}
    for connection in (idle, half, waiting):
        assert connection.recv(10) == b""
        connection.close()
    for closed in (port, int(url.split(":")[2].split("/")[0])):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", closed), 5)
    dialling.join(5)
    silent.close()


def _ignoring(function, *values):
    with contextlib.suppress(OSError):
        function(*values)


def test_a_closed_sandbox_says_so(make):
    """close() may be called twice; every method then raises one clear error."""
    sandbox = make(path=None).sandbox
    sandbox.close()
    sandbox.close()
    for call in (
        sandbox.start,
        sandbox.connect,
        sandbox.stop_mcu,
        sandbox.camera,
        sandbox.clear_faults,
        sandbox.count,
        lambda: sandbox.join("r", "n"),
        lambda: sandbox.close_room("r"),
        lambda: sandbox.fault(A["get"], ret=1),
        lambda: sandbox.advance(1),
    ):
        with pytest.raises(ConfkitError, match="closed"):
            call()
    assert "closed" in repr(sandbox)


def test_a_sandbox_that_is_not_started(make):
    """Before start() there is no address; start() gives the sandbox itself, also twice."""
    sandbox = Sandbox()
    with pytest.raises(ConfkitError, match="start"):
        _ = sandbox.base_url
    with pytest.raises(ConfkitError, match="start"):
        sandbox.join("r", "n")
    assert sandbox.start() is sandbox
    assert sandbox.start() is sandbox
    sandbox.close()


def test_it_runs_inside_a_running_event_loop():
    """In a kernel, where a loop runs already, it starts, is steered and ends as elsewhere."""

    async def cell():
        with Sandbox() as sandbox:
            stranger = Stranger(sandbox)
            sandbox.join(stranger.room(), "Ada")
            stranger.http.close()

    asyncio.run(cell())


def test_a_seed_on_a_file_goes_on(make, tmp_path):
    """A seeded sandbox on the file of its predecessor gives new ids, not the old ones again."""
    path = tmp_path / "rooms.sqlite"
    first = make(seed=1, path=path)
    room_id = first.room()
    users = [first.sandbox.join(room_id, "Ada")]
    first.sandbox.close()
    second = make(seed=1, path=path)
    users.append(second.sandbox.join(room_id, "Bob"))
    assert len({room_id, second.room(), *users}) == 4


def test_two_sandboxes_at_once(make):
    """Sandboxes of one process know nothing of each other."""
    one, two = make(), make()
    assert two.a("get", room_id=one.room())["ret"] == 404
    assert two.raw(A["get"], {"access_token": one.token}).json()["ret"] == 602


def test_a_port_that_is_taken(make):
    """A port in use is a clear error, and nothing of the failed start stays behind."""
    port = int(make().sandbox.base_url.rpartition(":")[2])
    for ports in ({"port": port}, {"outgoing_port": port}):
        with pytest.raises(ConfkitError, match=f"port {port}"):
            Sandbox(**ports).start()


def test_the_ports_may_be_chosen(make):
    """port and outgoing_port are the ports that it answers on, again right after a restart."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as two:
        ports = one.getsockname()[1], two.getsockname()[1]
    for _ in range(2):
        stranger = make(port=ports[0], outgoing_port=ports[1])
        assert stranger.sandbox.base_url == f"http://127.0.0.1:{ports[0]}"
        assert stranger.sandbox.outgoing_url == f"http://127.0.0.1:{ports[1]}"
        assert stranger.b("list")["ret"] == 0
        stranger.sandbox.close()


def test_demo_keys_are_for_loopback(make, caplog):
    """On loopback the keys are the published ones; beyond it they are random, and a log says so."""
    here = make().sandbox
    assert (here.access_key, str(here.secret_key)) == ("demo_access", "demo_secret")
    assert caplog.records == []
    there = make(host="0.0.0.0")
    assert re.fullmatch("[0-9a-f]{64}", str(there.sandbox.secret_key))
    assert there.sandbox.secret_key != Sandbox(host="0.0.0.0").secret_key
    assert there.sandbox.access_key != "demo_access"
    warning = caplog.records[-1]
    assert (warning.name, warning.levelno) == ("confkit.sandbox", logging.WARNING)
    assert "beyond this machine" in warning.message
    assert there.sandbox.base_url.startswith("http://127.0.0.1:")
    host, port = there.a("mcu", room_id=there.room())["addr"].split(":")
    socket.create_connection((host, int(port)), 5).close()
    assert str(there.sandbox.secret_key) not in repr(there.sandbox) + caplog.text


def test_localhost_is_127_0_0_1(make):
    """A host that has an IPv4 address answers there; ::1 may be asked for and is loopback too."""
    assert make(host="localhost").sandbox.base_url.startswith("http://127.0.0.1:")
    six = make(host="::1", seed=1)
    assert six.sandbox.base_url.startswith("http://[::1]:")
    host, port = six.a("mcu", room_id=six.room())["addr"].rsplit(":", 1)
    assert host == "[::1]"
    socket.create_connection(("::1", int(port)), 5).close()


def test_given_keys_are_used(make):
    """Keys that are given are the keys, whatever the host."""
    stranger = make(access_key="a", secret_key="b")
    assert stranger.a("get", room_id="x")["ret"] == 404


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": 1, "host": "0.0.0.0"},
        {"seed": 0, "host": "::"},
        {"token_lifetime": 0},
        {"dial_timeout": -1},
        {"latency": -1},
        {"secret_key": ""},
        {"host": "no.such.host.invalid"},
    ],
)
def test_settings_that_are_refused(settings):
    """A seeded sandbox beyond loopback, and settings without sense, are a ConfigError."""
    with pytest.raises(ConfigError):
        Sandbox(**settings)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_nothing_hangs_after_a_fork_or_at_the_end():
    """A program that neither closes the sandbox nor its forked child ends at once and silently."""
    code = (
        "import os, sys, warnings; warnings.simplefilter('ignore')\n"
        "from confkit.sandbox import Sandbox; sandbox = Sandbox().start()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try: sandbox.now()\n"
        "    except Exception as error: sys.exit('process' not in str(error))\n"
        "status = os.waitpid(child, 0)[1]; sandbox.now(); sys.exit(status >> 8)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=10)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_ctrl_c_reaches_the_main_thread():
    """The sandbox takes no signal away from the program."""
    code = (
        "import os, signal, time; from confkit.sandbox import Sandbox\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "with Sandbox() as sandbox:\n"
        "    try: os.kill(os.getpid(), signal.SIGINT); time.sleep(5)\n"
        "    except KeyboardInterrupt: print('interrupted')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=10)
    assert (ended.stdout, ended.stderr) == (b"interrupted\n", b"")


def test_starting_loads_neither_pyav_nor_the_client():
    """A sandbox without a camera starts without PyAV, numpy and the client."""
    code = (
        "import sys; from confkit.sandbox import Sandbox\n"
        "with Sandbox(): print([m for m in ('av', 'numpy', 'confkit.sandbox.cameras.server') "
        "if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20)
    assert ended.stdout == b"[]\n"


def test_connect_gives_a_client_of_this_sandbox(make):
    """connect() gives a client in the sandbox's dialect that knows the sandbox."""
    sandbox = make({"hash": "sha256", "token_parameter": "access_tocken"}).sandbox
    with sandbox.connect(read_only=True) as client:
        assert client.sandbox is sandbox
        assert client.name == "SANDBOX"
        assert client.token()


@pytest.mark.parametrize("fast", [True, False])
def test_it_runs_without_uvloop_and_httptools(fast):
    """Where uvloop and httptools are not installed the same answers come."""
    block = "" if fast else "sys.modules.update(uvloop=None, httptools=None)\n"
    code = (
        f"import sys, urllib.request as u\n{block}"
        "from confkit.sandbox import Sandbox\n"
        "u.install_opener(u.build_opener(u.ProxyHandler({})))\n"
        "with Sandbox() as s:\n"
        f"    print(u.urlopen(s.base_url + '{A['get']}').read().decode())\n"
        f"    s.fault('{B['list']}', drop=True)\n"
        f"    try: u.urlopen(s.outgoing_url + '{B['list']}')\n"
        "    except OSError as error: print(type(error).__name__)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20, text=True)
    assert ended.stdout.splitlines() == [
        '{"ret":602,"msg":"access_token incorrect"}',
        "RemoteDisconnected",
    ]
    assert ended.stderr == ""


def test_two_sandboxes_do_not_share_a_file(tmp_path):
    """A file that a sandbox uses is refused to a second one, and free again when that ends."""
    path = tmp_path / "rooms.sqlite"
    with Sandbox(path=path), pytest.raises(ConfkitError, match="in use by another sandbox"):
        Sandbox(path=path).start()
    with Sandbox(path=path):
        pass
