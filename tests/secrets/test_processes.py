"""No traceback or log line of a process shows a secret."""

import os
import random
import signal
import subprocess
import sys

from confkit.operations import OPERATIONS
from tests.scripted import Reply
from tests.secrets.worlds import code, environment, world

# Every way in which Python, IPython and a debugger's friends say that something went wrong.
PROGRAM = """
import faulthandler, http.client, logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
http.client.HTTPConnection.debuglevel = 1
import confkit as ck
from confkit.runbook.rooms import camera_login
from IPython.core.interactiveshell import InteractiveShell

client = ck.connect()
password = camera_login("admin")["login_password"]
device = ck.list_devices(client)[0]
shell = InteractiveShell.instance()
shell.colors = "NoColor"
shell.user_ns.update(ck=ck, client=client, password=password, device=device)
for mode in ("Context", "Verbose"):
    shell.run_line_magic("xmode", mode)
    for cell in (
        "client, device, client.token(), device.user_address, client.calls",
        "ck.import_device(client, '1', 'd', 'D', 'rtsp//x', login_password=password)",
        "ck.get_room_users(client, '1')",
        "ck.get_mcu(client, '1')",
    ):
        shell.run_cell(cell)
faulthandler.dump_traceback(sys.stderr)
ck.get_room_users(client, "1")
"""


def test_no_traceback_of_a_notebook_or_a_program_shows_a_secret(tmp_path):
    """In IPython with locals and without, after Ctrl-C, in development mode, with the logs of
    urllib3 and http.client, and faulthandler's dump."""
    running = []

    def interrupt(connection):
        running[0].send_signal(signal.SIGINT)
        connection.recv(1)  # until the program has given up

    with world("good", tmp_path, random.Random(7)) as made:
        answers = {"A5": Reply(raw=interrupt), "A6": lambda query: code(made.marks, query)}
        made.service.script |= {OPERATIONS[key].path: one for key, one in answers.items()}
        made.client.token()
        with subprocess.Popen(
            [sys.executable, "-X", "dev", "-c", PROGRAM],
            env={**os.environ, **environment(made), "IPYTHONDIR": str(tmp_path)},
            cwd=tmp_path,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            running.append(process)
            text, _ = process.communicate(timeout=110)
        assert text.count("KeyboardInterrupt") >= 2
        assert "Traceback (most recent call last)" in text
        assert "Current thread" in text
        assert made.shown(text) == []
