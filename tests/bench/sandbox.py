"""Room-get on the sandbox beside a bare Starlette hello-world on the same server, and nginx.

The load comes from wrk, on the same machine: 32 connections, one thread.
"""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import confkit as ck
from confkit.wire import encode

ROUNDS, SECONDS = 5, 3

STARLETTE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def hello(request):
    return JSONResponse({"hello": "world"})

uvicorn.run(Starlette(routes=[Route("/", hello)]), port=int(sys.argv[1]), log_config=None,
            access_log=False, lifespan="off")
"""
NGINX = """
daemon off; worker_processes 1; pid %(folder)s/pid; error_log /dev/null; events {}
http { access_log off; keepalive_requests 1000000000; client_body_temp_path %(folder)s;
  proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s; uwsgi_temp_path %(folder)s;
  scgi_temp_path %(folder)s;
  server { listen 127.0.0.1:%(port)d; location / { default_type application/json;
    return 200 '{"hello":"world"}'; } } }
"""


def main() -> None:
    """Prints requests a second, and what share of the others' the sandbox reaches."""
    missing = [name for name in ("wrk", "nginx") if not shutil.which(name)]
    if missing:
        print(
            f"sandbox: not measured; it needs {' and '.join(missing)}: "
            "apt-get install wrk nginx-light\n"
        )
        return
    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory())
        urls = {
            "nginx": running.enter_context(_nginx(Path(folder))),
            "Starlette hello": running.enter_context(_starlette()),
            "sandbox in memory": running.enter_context(_sandbox([])),
            "sandbox on a file": running.enter_context(_sandbox(["--db", f"{folder}/rooms"])),
        }
        rates: dict[str, list[float]] = {name: [] for name in urls}
        for _ in range(ROUNDS):
            for name, url in urls.items():
                rates[name].append(_rate(url))
    middle = {name: median(values) for name, values in rates.items()}
    print(f"room-get on the sandbox, median of {ROUNDS} rounds of {SECONDS} s")
    for name, rate in middle.items():
        print(
            f"  {name:18} {rate:8.0f} requests/s   {rate / middle['Starlette hello']:5.2f} of "
            f"Starlette's hello, {rate / middle['nginx']:5.2f} of nginx"
        )
    print()


def _rate(url: str) -> float:
    told = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{SECONDS}s", url], capture_output=True, text=True, check=True
    ).stdout
    if "Non-2xx" in told:
        sys.exit(f"the server refused the load:\n{told}")
    found = re.search(r"Requests/sec:\s+([\d.]+)", told)
    return float(found.group(1)) if found else 0.0


@contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def _nginx(folder: Path) -> Iterator[str]:
    port = _free()
    (folder / "nginx.conf").write_text(NGINX % {"folder": folder, "port": port})
    with _process(["nginx", "-e", "/dev/null", "-c", str(folder / "nginx.conf")]):
        _wait(port)
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def _starlette() -> Iterator[str]:
    port = _free()
    with _process([sys.executable, "-c", STARLETTE, str(port)]):
        _wait(port)
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def _sandbox(options: list[str]) -> Iterator[str]:
    command = [sys.executable, "-m", "confkit", "sandbox", "--port", "0", "--outgoing-port", "0"]
    with _process([*command, *options]) as process:
        assert process.stdout is not None
        base_url, outgoing_url = (process.stdout.readline().split()[-1] for _ in range(2))
        with ck.connect(base_url=base_url, outgoing_url=outgoing_url, access_key="demo_access",
                        secret_key="demo_secret") as client:  # fmt: skip
            room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=25)
            query = encode({"access_token": str(client.token()), "room_id": room_id})
        yield f"{base_url}/rtc/room/get?{query}"
