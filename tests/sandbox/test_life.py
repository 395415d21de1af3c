"""How a sandbox begins and ends, where it answers, and whom it keeps waiting."""

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

from .conftest import A, B


def test_a_seed_makes_everything_repeat(make):
    """Ids and times of two sandboxes of one seed are the same, of another seed or without one they
    are not; one login more does not change the rooms."""

    def play(seed, logins=0):
        stranger = make(seed=seed)
        answer = stranger.login()
        for _ in range(logins):
            stranger.login()
        room_id = stranger.room()
        return answer, room_id, stranger.sandbox.join(room_id, "Ada"), stranger.sandbox.now()

    first, free = play(7), play(None)
    assert first == play(7) == play(7, logins=3)
    for other in (play(8), free, play(None)):
        assert not {str(part) for part in first[:3]} & {str(part) for part in other[:3]}
    assert abs(time.time() - free[3]) < 60


def test_closing_is_quick_whatever_is_open(make):
    """Idle connections, waiting requests and dials hold nothing up, and all sockets and threads
    go."""
    before = set(threading.enumerate())
    stranger, silent = make(), socket.create_server((HERE, 0))
    sandbox, room_id = stranger.sandbox, stranger.room()
    port, url = int(sandbox.base_url.rpartition(":")[2]), sandbox.camera()
    stranger.bring(room_id, url)
    sandbox.fault(A["get"], delay=60)
    callers = [socket.create_connection((HERE, port)) for _ in range(3)]
    callers[1].sendall(b"GET /rtc/room/get?x")
    callers[2].sendall(f"GET {A['get']} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    with ThreadPoolExecutor(1) as pool:
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/x"
        dialling = pool.submit(stranger.bring, room_id, address, "b")
        dialled, _ = silent.accept()
        began = time.monotonic()
        sandbox.close()
        assert time.monotonic() - began < 5  # 0.3 on a machine that has nothing else to do
        assert isinstance(dialling.exception(), OSError)
    assert {thread.name for thread in set(threading.enumerate()) - before} <= {"sandbox device"}
    for caller in callers:
        assert caller.recv(10) == b""
    for closed in (port, int(url.split(":")[2].split("/")[0])):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HERE, closed), 5)
    for each in (*callers, dialled, silent):
        each.close()


def test_a_sandbox_that_is_not_started_or_closed_says_so():
    """start() gives the sandbox itself, also twice, close() may be called twice; before and after
    every method raises one clear error."""
    sandbox = Sandbox()

    def refused(match):
        for call in (sandbox.connect, sandbox.camera, sandbox.simulate, sandbox.room_ids):
            with pytest.raises(ConfkitError, match=match):
                call()

    refused("start")
    with pytest.raises(ConfkitError, match="start"):
        sandbox.base_url  # noqa: B018
    assert "not started" in repr(sandbox)
    assert sandbox.start() is sandbox.start() is sandbox
    sandbox.close()
    sandbox.close()
    refused("closed")
    with pytest.raises(ConfkitError, match="closed"):
        sandbox.start()
    assert "closed" in repr(sandbox)


def test_the_ports_may_be_chosen(make):
    """port and outgoing_port are the ports that it answers on, again right after a restart; one in
    use is a clear error, and nothing of the failed start stays behind. They may be the same."""
    with socket.create_server((HERE, 0)) as first, socket.create_server(("", 0)) as second:
        ports = first.getsockname()[1], second.getsockname()[1]
        with pytest.raises(ConfkitError, match=f"port {ports[1]}"):
            Sandbox(outgoing_port=ports[1]).start()
    for a, b in (ports, ports, (ports[0], ports[0])):
        stranger = make(port=a, outgoing_port=b)
        sandbox = stranger.sandbox
        assert [sandbox.base_url, sandbox.outgoing_url] == [f"http://{HERE}:{p}" for p in (a, b)]
        assert stranger.status(stranger.room()) == stranger.code("list") == 0
        assert stranger.raw("/none").json()["ret"] == 408
        sandbox.close()
    assert "interfaces A and B have " in sandbox.refusals[-1].why


def test_hostile_callers_keep_nobody_waiting(stranger, sandbox):
    """Slow heads, endless bodies, wrong tokens, 256 at once and ten slow imports: others are
    answered meanwhile."""
    place = HERE, int(sandbox.base_url.rpartition(":")[2])
    room_id, token = stranger.room(), stranger.token
    with socket.create_server((HERE, 0), backlog=64) as silent, ThreadPoolExecutor(26) as pool:
        callers = [socket.create_connection(place) for _ in range(256)]
        for number, caller in enumerate(callers):
            head = f"POST {A['get']} HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n"
            caller.sendall((head if number % 2 else head[:30]).encode())
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/"
        given = {"accessToken": token, "roomId": room_id, "userName": "n"}
        urls = sandbox.outgoing_url + B["import"], sandbox.base_url + A["get"]
        for number in range(10):
            query = {**given, "userId": f"u{number}", "userAddress": f"{address}{number}"}
            pool.submit(requests.get, urls[0], params=query, timeout=20)
        for number in range(200):
            query = {"access_token": f"{number}{token[5:]}", "room_id": room_id}
            pool.submit(requests.get, urls[1], params=query, timeout=20)
        waits = []
        for _ in range(20):
            began = time.monotonic()
            assert stranger.code("get", room_id=room_id) == 0
            waits.append(time.monotonic() - began)
        assert sorted(waits)[10] < 0.5
        sandbox.close()
        for caller in callers:
            caller.close()


def test_demo_keys_are_for_loopback(make, caplog):
    """On loopback the keys are the published ones; beyond it they are random, and a log says so."""
    here = make().sandbox
    assert (here.access_key, str(here.secret_key)) == ("demo_access", "demo_secret")
    assert caplog.records == []
    there = make(host="0.0.0.0").sandbox
    assert re.fullmatch("[0-9a-f]{64}", str(there.secret_key))
    assert there.secret_key != Sandbox(host="0.0.0.0").secret_key
    assert there.access_key != "demo_access"
    warning = caplog.records[-1]
    assert (warning.name, warning.levelno) == ("confkit.sandbox", logging.WARNING)
    assert "from other machines" in warning.message
    assert str(there.secret_key) not in repr(there) + caplog.text


def test_where_it_answers(make):
    """A host that has an IPv4 address answers there; the media server too."""
    for host, address in (("localhost", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")):
        stranger = make(host=host)
        assert stranger.sandbox.base_url.startswith(f"http://{address}:")
        found, port = stranger.ask("mcu", room_id=stranger.room())["addr"].rsplit(":", 1)
        assert found == address
        socket.create_connection((found.strip("[]"), int(port)), 5).close()


WRONG = [{"seed": 0, "host": "0.0.0.0"}, {"token_lifetime": 0}, {"dial_timeout": -1}]
WRONG += [{"latency": -1}, {"secret_key": ""}, {"host": "no.such.host.invalid"}]
WRONG += [{"result_field": "code"}, {"item_keys": "kebab-case"}]


@pytest.mark.parametrize("settings", WRONG)
def test_settings_that_are_refused(settings):
    """A seeded sandbox beyond loopback, and settings without sense, are a ConfigError."""
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
        "    try: sandbox.now()\n"
        "    except Exception as error: error_text = str(error)\n"
        "    sandbox.close(); sys.exit('process' not in str(error_text))\n"
        "status = os.waitpid(child, 0)[1]; sandbox.now(); sys.exit(status >> 8)",
        "",
    ),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_with_a_sandbox(name):
    """It does what it says, ends by itself, and says nothing else."""
    code, printed = PROGRAMS[name]
    start = "import sys, warnings; warnings.simplefilter('ignore')\n"
    code = f"{start}from confkit.sandbox import Sandbox\n{code}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, text=True)
    assert (ended.stdout, ended.stderr, ended.returncode) == (printed, "", 0)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_a_sandbox_listens_on_loopback_alone():
    """Both interfaces, the media server and a camera: no socket is reached from elsewhere."""

    def listening():
        mine = set()
        for link in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                mine.add(str(link.readlink()))
        tables = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        rows = [line.split() for line in tables.splitlines()]
        mine_too = [row for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
        return {row[1].partition(":")[0] for row in mine_too}

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
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "root:" not in shown.out + shown.err
    with pytest.raises(ck.ConfigError):
        course.check(name, lambda: None)
    assert list(tmp_path.iterdir()) == []
