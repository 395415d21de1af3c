"""Programs in processes of their own, given marked secrets in the only ways that there are: what
they write, keep on disk and are started with."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import confkit as ck
from confkit.sandbox.sandbox import DEMO_ACCESS_KEY
from confkit.secret import Secret
from tests.ports import quiet_port
from tests.secrets.worlds import ACCESS_KEY, World
from tests.servers import page, server

ROOT = Path(__file__).resolve().parent.parent.parent

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
for mode in os.environ["MODES"].split():
    shell.run_line_magic("xmode", mode)
    for cell in cells:
        shell.run_cell(cell)
faulthandler.dump_traceback(sys.stderr)
with open("/proc/self/cmdline") as arguments:
    print(arguments.read())
left_open = client.session
ck.get_room_users(client, "1")
"""

# What pytest says of an assertion that fails, with locals, and of an error.
TESTS = """
import confkit as ck
import pytest

@pytest.fixture
def client():
    with ck.connect() as client:
        yield client

def test_token(client):
    token = client.token()
    assert token == "another"

def test_key(client):
    assert client.secret_key == "another", client

def test_room(client):
    room = ck.get_room(client, "1")
    assert room == ck.Room(room_id="1", host_password="x")

def test_password(client):
    room = ck.get_room(client, "1")
    assert room.host_password in ["another"]

def test_password_equal(client):
    assert ck.get_room(client, "1").host_password == "another"

def test_device(client):
    device = ck.list_devices(client)[0]
    assert device.user_address == "rtsp://192.0.2.7/x"

def test_options(client):
    device = ck.list_devices(client)[0]
    assert device.options == {"login_password": "x"}

def test_devices(client):
    assert ck.list_devices(client) == []

def test_error(client):
    device = ck.list_devices(client)[0]
    with pytest.raises(ck.ConfkitError, match="something else"):
        ck.get_room_users(client, "1")
    ck.import_device(client, device)
"""


def environment(world: World, **more: str) -> dict[str, str]:
    """What a program needs to find this service: the one place where its key has to stand."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("CONFKIT_")},
        "CONFKIT_BASE_URL": world.client.base_url,
        "CONFKIT_ACCESS_KEY": ACCESS_KEY,
        "CONFKIT_OUTGOING_URL": world.client.outgoing_url,
        "CONFKIT_TIMEOUT": "2,4",
        "CONFKIT_SECRET_KEY": world["secret_key"],
        "CONFKIT_CAMERA_PASSWORD": world["camera variable"],
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(world.folder / "ipython"),
        "XDG_CONFIG_HOME": str(world.folder),
        "PYTHONFAULTHANDLER": "1",
        "COLUMNS": "160",
        **more,
    }


def program(world: World, modes: tuple[str, ...]) -> str:
    """All that PROGRAM writes, in development mode, with these modes of IPython."""
    return _said(world, ["-X", "dev", "-c", PROGRAM], MODES=" ".join(modes))


def assertions(world: World) -> str:
    """All that pytest writes of TESTS, as much as it can."""
    words = "-m pytest -vv --tb=long --showlocals -rA --log-level=DEBUG -c /dev/null"
    words = f"{words} -p no:cacheprovider {world.file('test_marked.py', TESTS)}"
    return _said(world, shlex.split(words), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")


def _said(world: World, words: list[str], **more: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        env=environment(world, **more),
        cwd=world.folder,
        text=True,
        timeout=110,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout


def wronged(client: ck.Client, room_id: str, secret: str) -> None:
    """Calls with a wrong token, with a wrong digest, and with a token that is encoded twice."""
    room, wrong = {"room_id": room_id}, client.dialect.sign(secret, "x")
    client.ask_once("A3", room, wrong)
    client.ask_once("A1", {"access_key": client.access_key, "digest": wrong})
    client.ask_once("A3", room, Secret(ck.wire.encode({"x": client.token()})))


def served(world: World) -> str:
    """What `confkit sandbox --explain` writes while it refuses calls, its arguments, and what it
    writes at Ctrl-C."""
    words = "-X dev -m confkit sandbox --port 0 --outgoing-port 0 --explain"
    command = [sys.executable, *words.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with server(command, env=environment(world), **pipes) as process, process.stdout:
        head = [process.stdout.readline() for _ in range(4)]
        urls = [line.split()[-1] for line in head if line.startswith("interface")]
        with ck.Client(*urls, DEMO_ACCESS_KEY, world["secret_key"]) as world.client:
            password = world["host_password"]
            room_id = ck.create_room(world.client, "t", "ops", host_password=password)
            wronged(world.client, room_id, world["typed password"])
        arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
        process.send_signal(signal.SIGINT)
        return "".join([*head, arguments, process.stdout.read()])


def opened(world: World) -> tuple[str, str, str, int]:
    """The panels as a page of Voila, opened and ended as people do it: what the page shows, all
    that stands in logs, files and arguments, where somebody without the token ends up, and the exit
    status after Ctrl-C."""
    port, folder, log = quiet_port(), world.folder, world.folder / "log.txt"
    words = f"-m confkit lab --app --no-browser --port {port} --debug"
    proxy = f"http://u:{quote(world['password of a proxy'], safe='')}@127.0.0.1:9"
    # The copy of the notebooks is in HOME.
    given = environment(world, HTTPS_PROXY=proxy, PYTHONUNBUFFERED="1", HOME=str(folder))
    own = [f"JUPYTER_{name}_DIR" for name in ("CONFIG", "RUNTIME", "DATA")]
    given |= dict.fromkeys(own, str(folder / "jupyter"))
    with (
        log.open("w") as out,
        server(
            [sys.executable, *words.split()], env=given, stdout=out, stderr=out, cwd=folder
        ) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        shown = page(f"{address}/?token={_token(log, process)}", process)
        with urllib.request.urlopen(address, timeout=60) as answer:
            stranger = answer.url
        arguments = _arguments(world)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        status = process.wait(timeout=60)
    return shown, "\n".join([arguments, *world.written().values()]), stranger, status


def _token(log: Path, process: "subprocess.Popen[Any]") -> str:
    """Voila's own, of the address that it prints."""
    while process.poll() is None:
        if found := re.search(r"\?token=(\w+)", log.read_text("utf-8", "replace")):
            return found[1]
        time.sleep(0.1)
    raise OSError(log.read_text("utf-8", "replace"))


def _arguments(world: World) -> str:
    """The arguments of every process that was given this world's key."""
    key, found = world["secret_key"].encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if key in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text("utf-8", "replace"))
        except OSError:  # another's, or over
            continue
    return "\n".join(found)
