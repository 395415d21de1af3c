"""`confkit lab` at its most talkative: what it shows, writes, keeps and is started with."""

import os
import re
import shlex
import signal
import sys
import time
import urllib.request
from pathlib import Path
from subprocess import Popen
from typing import Any, NamedTuple
from urllib.parse import quote

import requests
from jupyter_client import BlockingKernelClient

from tests.ports import quiet_port
from tests.secrets.children import environment
from tests.secrets.commanded import written
from tests.secrets.worlds import World
from tests.servers import page, server

CELL = """
import logging
logging.basicConfig(level=logging.DEBUG)
import confkit as ck
client = ck.connect()
print(client, client.token(), client.calls, ck.get_room(client, "{room_id}"))
ck.get_room(client, "nowhere")
"""


class Opened(NamedTuple):
    """What a page or a kernel shows, all that stands in logs, files and arguments, where somebody
    without the token ends up, and the command's exit status after Ctrl-C."""

    shown: str
    kept: str
    stranger: str
    status: int


def opened(world: World, app: bool) -> Opened:
    """JupyterLab or Voila, opened, looked at and ended as people do it."""
    port = quiet_port()
    more = "--app" if app else "--IdentityProvider.token=ours"
    words = f"-m confkit lab --no-browser --port {port} --debug {more}"
    command = [sys.executable, *shlex.split(words)]
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR")
    proxy = quote(world.marks["password of a proxy"], safe="")
    given = {
        **environment(world),
        **dict.fromkeys(folders, str(world.folder / "jupyter")),
        "HTTPS_PROXY": f"http://u:{proxy}@127.0.0.1:9",
        "PYTHONUNBUFFERED": "1",
        "HOME": str(world.folder),  # its copy of the notebooks is there
    }
    log = world.folder / "log.txt"
    with (
        log.open("w") as out,
        server(command, env=given, stdout=out, stderr=out, cwd=world.folder) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        if app:
            shown = page(f"{address}/?token={_token(log, process)}", process)
        else:
            page(f"{address}/lab/tree/first-look.ipynb?token=ours", process)
            shown = _in_a_kernel(address, world)
        with urllib.request.urlopen(address, timeout=60) as answer:
            stranger = answer.url
        arguments = _arguments(world)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        status = process.wait(timeout=60)
    kept = "\n".join([arguments, *written(world).values()])
    return Opened(shown, kept, stranger, status)


def _token(log: Path, process: Popen[Any]) -> str:
    """Voila's own, of the address that it prints."""
    while process.poll() is None:
        if found := re.search(r"\?token=(\w+)", log.read_text("utf-8", "replace")):
            return found[1]
        time.sleep(0.1)
    raise OSError(log.read_text("utf-8", "replace"))


def _in_a_kernel(address: str, world: World) -> str:
    """All that CELL gives in a kernel of this JupyterLab."""
    headers = {"Authorization": "token ours"}
    made = requests.post(f"{address}/api/kernels", headers=headers, timeout=30)
    file = world.folder / "jupyter" / f"kernel-{made.json()['id']}.json"
    client = BlockingKernelClient(connection_file=str(file))
    client.load_connection_file()
    client.hb_channel.time_to_dead = 30.0  # a busy machine is no dead kernel
    client.start_channels()
    heard: list[object] = []
    try:
        client.wait_for_ready(timeout=60)
        cell = CELL.format(room_id=world.room_id)
        client.execute_interactive(
            cell, timeout=60, output_hook=lambda message: heard.append(message["content"])
        )
    finally:
        client.stop_channels()
    return str(heard)


def _arguments(world: World) -> str:
    """The arguments of every process that was given this world's key."""
    key, found = world.marks["secret_key"].encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if key in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text("utf-8", "replace"))
        except OSError:  # another's, or over
            continue
    return "\n".join(found)
