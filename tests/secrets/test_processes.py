"""No traceback, log line or argument of a process shows a secret."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox.sandbox import DEMO_ACCESS_KEY
from confkit.secret import Secret
from tests.scripted import Reply
from tests.secrets import worlds
from tests.secrets.worlds import environment
from tests.servers import server

# Every way in which Python, IPython and a debugger's friends say that something went wrong.
PROGRAM = """
import faulthandler, http.client, logging, os, signal, sys, threading
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
http.client.HTTPConnection.debuglevel = 1
import confkit as ck
from confkit.runbook.rooms import camera_login
from IPython.core.interactiveshell import InteractiveShell

client = ck.connect()
password = camera_login("admin", None)["login_password"]
device = ck.list_devices(client)[0]
shell = InteractiveShell.instance()
shell.colors = "NoColor"

def interrupt():
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()

shell.user_ns.update(ck=ck, client=client, password=password, device=device, interrupt=interrupt)
cells = [
    "client, device, client.token(), device.user_address, client.calls",
    "ck.import_device(client, '1', 'd', 'D', 'rtsp//x', login_name='a', login_password=password)",
    "ck.create_room(client, 't' * 400, 'ops', host_password=password)",
    "ck.get_room_users(client, '1')",
    "ck.import_device(client, device, login_password=password)",
    "[device] + client.token()",
    "interrupt(); ck.get_mcu(client, '1')",
    "interrupt(); ck.force_offline(client, '1', 'u')",
]
for mode in ("Context", "Verbose"):
    shell.run_line_magic("xmode", mode)
    for cell in cells:
        shell.run_cell(cell)
faulthandler.dump_traceback(sys.stderr)
with open("/proc/self/cmdline") as arguments:
    print(arguments.read())
left_open = client.session
ck.get_room_users(client, "1")
"""


@pytest.fixture
def slow(tmp_path):
    """A service in which all is well but for A6, which says back what it hears, and A5 and A7,
    which are late."""
    with worlds.world("good", tmp_path, random.Random(7)) as made:
        late = Reply({"ret": 0}, delay=1.5)
        answers = {"A5": late, "A6": worlds.code, "A7": late}
        made.service.script |= {OPERATIONS[key].path: one for key, one in answers.items()}
        made.client.token()
        yield made


def test_no_traceback_of_a_notebook_or_a_program_shows_a_secret(slow):
    """In IPython with locals and without, after Ctrl-C, in development mode, with the logs of
    urllib3 and http.client, faulthandler's dump and the process's arguments."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM],
        env=environment(slow),
        cwd=slow.folder,
        text=True,
        timeout=110,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.stdout.count("KeyboardInterrupt") >= 4
    assert "Traceback (most recent call last)" in done.stdout
    assert "Current thread" in done.stdout
    assert slow.shown(done.stdout) == []


def test_a_sandbox_of_its_own_process_shows_no_secret(slow):
    """What `confkit sandbox --explain` writes while it refuses calls with a wrong token, a wrong
    digest and a token that is encoded twice, its arguments, and what it writes at Ctrl-C."""
    words = "-X dev -m confkit sandbox --port 0 --outgoing-port 0 --explain"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [sys.executable, *words.split()]
    with server(command, env=environment(slow), **pipes) as process, process.stdout:
        head = [process.stdout.readline() for _ in range(4)]
        urls = [line.split()[-1] for line in head if line.startswith("interface")]
        with ck.Client(*urls, DEMO_ACCESS_KEY, slow["secret_key"]) as slow.client:
            client, password = slow.client, slow["host_password"]
            room = {"room_id": ck.create_room(client, "t", "ops", host_password=password)}
            signed = client.dialect.sign(slow["typed password"], "x")
            client.ask_once("A3", room, signed)
            client.ask_once("A1", {"access_key": client.access_key, "digest": signed})
            client.ask_once("A3", room, Secret(ck.wire.encode({"x": client.token()})))
        arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
        process.send_signal(signal.SIGINT)
        text = "".join([*head, arguments, process.stdout.read()])
    assert "interface A" in text
    assert "signature" in text or "token" in text
    assert slow.shown(text) == []
