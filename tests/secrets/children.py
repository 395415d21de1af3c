"""Programs in processes of their own, given marked secrets in the only ways that there are."""

import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.secrets.worlds import World

ROOT = Path(__file__).resolve().parent.parent.parent

# Every way in which Python, IPython and a debugger's friends say that something went wrong.
PROGRAM = """
import faulthandler, http.client, logging, os, signal, sys, threading
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
http.client.HTTPConnection.debuglevel = 1
import confkit as ck
from confkit import runbook
from IPython.core.interactiveshell import InteractiveShell

client = ck.connect()
password = runbook.camera_password("admin")
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
    "ck.reimport_device(client, device)",
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


def environment(world: World) -> dict[str, str]:
    """What a program needs to find this service: the one place where its key has to stand."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("CONFKIT_")},
        "CONFKIT_BASE_URL": world.client.base_url,
        "CONFKIT_ACCESS_KEY": "marked access",
        "CONFKIT_OUTGOING_URL": world.client.outgoing_url,
        "CONFKIT_TIMEOUT": "2,4",
        "CONFKIT_SECRET_KEY": world.marks["secret_key"],
        "CONFKIT_CAMERA_PASSWORD": world.marks["camera variable"],
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(world.folder / "ipython"),
        "XDG_CONFIG_HOME": str(world.folder),
        "PYTHONFAULTHANDLER": "1",
        "COLUMNS": "160",
    }


def program(world: World, modes: tuple[str, ...]) -> str:
    """All that PROGRAM writes, in development mode, with these modes of IPython."""
    given = {**environment(world), "MODES": " ".join(modes)}
    return _said([sys.executable, "-X", "dev", "-c", PROGRAM], given, world)


def assertions(world: World) -> str:
    """All that pytest writes of TESTS, as much as it can."""
    path = world.file("test_marked.py", textwrap.dedent(TESTS))
    words = "-m pytest -vv --tb=long --showlocals -rA --log-level=DEBUG -c /dev/null"
    words += " -p no:cacheprovider -p no:randomly"
    return _said([sys.executable, *shlex.split(words), str(path)], environment(world), world)


def _said(command: list[str], given: dict[str, str], world: World) -> str:
    done = subprocess.run(
        command,
        env=given,
        cwd=world.folder,
        text=True,
        timeout=110,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout
