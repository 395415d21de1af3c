"""How a sandbox begins and ends, and where it answers."""

import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

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
    """Idle connections, waiting requests and dials hold nothing up, and all sockets go."""
    stranger = make()
    sandbox, room_id = stranger.sandbox, stranger.room()
    port = int(sandbox.base_url.rpartition(":")[2])
    silent = socket.create_server((HERE, 0))
    url = sandbox.camera()
    stranger.bring(room_id, url)
    sandbox.fault(A["get"], delay=60)
    callers = [socket.create_connection((HERE, port)) for _ in range(3)]
    callers[1].sendall(b"GET /rtc/room/get?x")
    callers[2].sendall(f"GET {A['get']} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    with ThreadPoolExecutor(1) as pool:
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/x"
        dialling = pool.submit(stranger.bring, room_id, address, "b")
        dialled, _ = silent.accept()
        threads = set(threading.enumerate())
        began = time.monotonic()
        sandbox.close()
        assert time.monotonic() - began < 20  # of a minute that an answer has left
        assert isinstance(dialling.exception(), OSError)
    gone = threads - set(threading.enumerate())
    assert "confkit sandbox" in {thread.name for thread in gone}
    for caller in callers:
        assert caller.recv(10) == b""
    for closed in (port, int(url.split(":")[2].split("/")[0])):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HERE, closed), 5)
    for one in (*callers, dialled, silent):
        one.close()


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
    use is a clear error, and nothing of the failed start stays behind."""
    with socket.create_server((HERE, 0)) as one, socket.create_server(("", 0)) as two:
        ports = one.getsockname()[1], two.getsockname()[1]
        with pytest.raises(ConfkitError, match=f"port {ports[1]}"):
            Sandbox(outgoing_port=ports[1]).start()
    for _ in range(2):
        stranger = make(port=ports[0], outgoing_port=ports[1])
        sandbox = stranger.sandbox
        urls = [f"http://{HERE}:{port}" for port in ports]
        assert [sandbox.base_url, sandbox.outgoing_url] == urls
        assert stranger.code("list") == 0
        sandbox.close()


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
    assert "beyond this machine" in warning.message
    assert str(there.secret_key) not in repr(there) + caplog.text


def test_where_it_answers(make):
    """A host that has an IPv4 address answers there; the media server too."""
    for host, address in (("localhost", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")):
        stranger = make(host=host)
        assert stranger.sandbox.base_url.startswith(f"http://{address}:")
        found, port = stranger.ask("mcu", room_id=stranger.room())["addr"].rsplit(":", 1)
        assert found == address
        socket.create_connection((found.strip("[]"), int(port)), 5).close()


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": 0, "host": "0.0.0.0"},
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


PROGRAMS = {
    "it runs without uvloop and httptools": (
        "import urllib.request as u\n"
        "u.install_opener(u.build_opener(u.ProxyHandler({})))\n"
        "with Sandbox() as s:\n"
        f"    print(u.urlopen(s.base_url + '{A['get']}').read().decode())\n"
        f"    s.fault('{B['list']}', drop=True)\n"
        f"    try: u.urlopen(s.outgoing_url + '{B['list']}')\n"
        "    except OSError as error: print(type(error).__name__)\n",
        '{"ret":602,"msg":"access_token incorrect"}\nRemoteDisconnected\n',
    ),
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
        "    except Exception as error: sys.exit('process' not in str(error))\n"
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
    if "without uvloop" in name:
        start += "sys.modules.update(uvloop=None, httptools=None)\n"
    code = f"{start}from confkit.sandbox import Sandbox\n{code}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, text=True)
    assert (ended.stdout, ended.stderr, ended.returncode) == (printed, "", 0)
