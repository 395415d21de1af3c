"""How a sandbox begins and ends, where it listens, and whom it keeps waiting."""

import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import requests

import confkit as ck
from confkit import cli, course
from confkit.errors import ConfigError, ConfkitError
from confkit.sandbox import Sandbox
from tests.ports import HERE

from .conftest import path, wait_until


def port_of(url):
    return int(url.rpartition(":")[2])


def test_a_seed_makes_ids_reproducible(make):
    """One login more does not change the rooms."""

    def play(seed, logins=0):
        caller = make(seed=seed)
        first = caller.login()
        for _ in range(logins):
            caller.login()
        room_id = caller.room()
        return first, room_id, caller.sandbox.join(room_id, "Ada")

    first, free = play(7), play(None)
    assert first == play(7) == play(7, logins=3)
    for other in (play(8), free, play(None)):
        assert not {str(part) for part in first} & {str(part) for part in other}


def test_closing_is_quick_whatever_is_open(make):
    """Idle connections, waiting requests and dials hold nothing up, and sockets and threads go."""
    before = set(threading.enumerate())
    caller, silent = make(), socket.create_server((HERE, 0))
    sandbox, room_id = caller.sandbox, caller.room()
    port, url = port_of(sandbox.base_url), sandbox.camera(size=(128, 96))
    caller.add(room_id, url)
    sandbox.fault("A3", delay=60)
    clients = [socket.create_connection((HERE, port)) for _ in range(3)]
    clients[1].sendall(b"GET /rtc/room/get?x")
    clients[2].sendall(f"GET {path('A3')} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    with ThreadPoolExecutor(1) as pool:
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/x"
        dialling = pool.submit(caller.add, room_id, address, "b")
        dialled, _ = silent.accept()
        began = time.monotonic()
        sandbox.close()
        assert time.monotonic() - began < 5  # 0.3 on a machine that has nothing else to do
        assert isinstance(dialling.exception(), OSError)
    wait_until(lambda: set(threading.enumerate()) <= before)
    for client in clients:
        assert client.recv(10) == b""
    for closed in (port, int(url.split(":")[2].split("/")[0])):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HERE, closed), 5)
    for each in (*clients, dialled, silent):
        each.close()


def test_a_sandbox_that_is_not_started_or_closed_says_so():
    sandbox = Sandbox()

    def assert_refused(match):
        for call in (sandbox.connect, sandbox.camera, sandbox.simulate, sandbox.room_ids):
            with pytest.raises(ConfkitError, match=match):
                call()
        assert match in repr(sandbox)

    assert_refused("not started")
    assert sandbox.start() is sandbox.start() is sandbox
    sandbox.close()
    sandbox.close()
    assert_refused("closed")
    with pytest.raises(ConfkitError, match="closed"):
        sandbox.start()


def test_the_ports_may_be_chosen(make):
    """Again right after a restart, and the same for both; a port in use is a clear error."""
    with socket.create_server((HERE, 0)) as first, socket.create_server(("", 0)) as second:
        ports = first.getsockname()[1], second.getsockname()[1]
        with pytest.raises(ConfkitError, match=f"port {ports[1]}"):
            Sandbox(outgoing_port=ports[1]).start()
    for a, b in (ports, ports, (ports[0], ports[0])):
        caller = make(port=a, outgoing_port=b)
        sandbox = caller.sandbox
        assert [sandbox.base_url, sandbox.outgoing_url] == [f"http://{HERE}:{p}" for p in (a, b)]
        assert caller.status(caller.room()) == caller.code("B3") == 0
        assert caller.raw("/none").json()["ret"] == 408
        sandbox.close()
    assert "interfaces A and B have " in sandbox.refusals[-1].why


def test_hostile_callers_keep_nobody_waiting(caller, sandbox):
    """Slow heads, endless bodies, wrong tokens and slow imports: others are served meanwhile."""
    place = HERE, port_of(sandbox.base_url)
    room_id, token = caller.room(), caller.token
    with socket.create_server((HERE, 0), backlog=64) as silent, ThreadPoolExecutor(26) as pool:
        clients = [socket.create_connection(place) for _ in range(256)]
        for number, client in enumerate(clients):
            head = f"POST {path('A3')} HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n"
            client.sendall((head if number % 2 else head[:30]).encode())
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/"
        device = {"accessToken": token, "roomId": room_id, "userName": "n"}
        urls = sandbox.outgoing_url + path("B1"), sandbox.base_url + path("A3")
        for number in range(10):
            query = {**device, "userId": f"u{number}", "userAddress": f"{address}{number}"}
            pool.submit(requests.get, urls[0], params=query, timeout=20)
        for number in range(200):
            query = {"access_token": f"{number}{token[5:]}", "room_id": room_id}
            pool.submit(requests.get, urls[1], params=query, timeout=20)
        waits = []
        for _ in range(20):
            began = time.monotonic()
            assert caller.code("A3", room_id=room_id) == 0
            waits.append(time.monotonic() - began)
        assert sorted(waits)[10] < 0.5
        sandbox.close()
        for client in clients:
            client.close()


def test_demo_keys_are_for_loopback(make, caplog):
    """Beyond it the keys are random, and a log warns."""
    here = make().sandbox
    assert (here.access_key, here.secret_key) == ("demo_access", "demo_secret")
    assert caplog.records == []
    there = make(host="0.0.0.0").sandbox
    assert re.fullmatch("[0-9a-f]{64}", there.secret_key)
    assert there.secret_key != Sandbox(host="0.0.0.0").secret_key
    assert there.access_key != "demo_access"
    warning = caplog.records[-1]
    assert (warning.name, warning.levelno) == ("confkit.sandbox", logging.WARNING)
    assert "from other machines" in warning.message
    assert there.secret_key not in repr(there) + caplog.text


@pytest.mark.parametrize(
    ("host", "address"),
    [("localhost", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")],
)
def test_where_it_listens(make, host, address):
    """At a host's IPv4 address if it has one; the media server too."""
    caller = make(host=host)
    assert caller.sandbox.base_url.startswith(f"http://{address}:")
    mcu, port = caller.call("A5", room_id=caller.room())["addr"].rsplit(":", 1)
    assert mcu == address
    socket.create_connection((mcu.strip("[]"), int(port)), 5).close()


@pytest.mark.parametrize(
    "settings",
    [{"seed": 0, "host": "0.0.0.0"}, {"host": "no.such.host.invalid"}, {"item_keys": "kebab"}],
)
def test_settings_that_are_refused(settings):
    with pytest.raises(ConfigError):
        Sandbox(**settings)


PROGRAMS = {
    "no signal is taken, and without a camera neither PyAV nor numpy is loaded": (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "with Sandbox() as sandbox:\n"
        "    try: os.kill(os.getpid(), signal.SIGINT); time.sleep(5)\n"
        "    except KeyboardInterrupt: print('interrupted')\n"
        "    print({'av', 'numpy', 'confkit.sandbox.cameras.server'} & {*sys.modules})",
        "interrupted\nset()\n",
    ),
    "who never closes it, or forks, ends at once": (
        "import os; sandbox = Sandbox().start()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try: sandbox.room_ids()\n"
        "    except Exception as error: error_text = str(error)\n"
        "    sandbox.close(); sys.exit('process' not in error_text)\n"
        "status = os.waitpid(child, 0)[1]; sandbox.room_ids(); sys.exit(status >> 8)",
        "",
    ),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_with_a_sandbox(name):
    code, printed = PROGRAMS[name]
    start = "import sys, warnings; warnings.simplefilter('ignore')\n"
    code = f"{start}from confkit.sandbox import Sandbox\n{code}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, text=True)
    assert (ended.stdout, ended.stderr, ended.returncode) == (printed, "", 0)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_a_sandbox_listens_on_loopback_alone():
    """Both interfaces, the media server and a camera."""

    def listening():
        own = set()
        for link in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                own.add(str(link.readlink()))
        tables = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        rows = [line.split() for line in tables.splitlines()]
        rows = [row for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]
        return {row[1].partition(":")[0] for row in rows}

    before, loopback = listening(), {"0100007F", "0" * 24 + "01000000"}
    with Sandbox(seed=1, host="127.0.0.1") as sandbox, sandbox.connect() as client:
        sandbox.camera(size=(128, 96), fps=5)
        assert ck.get_mcu(client, ck.create_room(client, "Lab", "ops")).startswith("127.0.0.1:")
        assert listening() - before <= loopback
        assert listening() & loopback


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "x\0y"])
def test_a_name_is_no_path(name, capsys, tmp_path, monkeypatch):
    """A runbook, a profile, an exercise and a part are looked up, never opened."""
    monkeypatch.chdir(tmp_path)
    for command, status in (("runbook --sandbox", 2), ("interface", 1), ("token --profile", 1)):
        assert cli.main([*command.split(), name]) == status, command
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert "root:" not in printed.out + printed.err
    with pytest.raises(ck.ConfigError):
        course.check(name, lambda: None)
    assert list(tmp_path.iterdir()) == []
