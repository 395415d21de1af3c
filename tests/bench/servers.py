"""Servers that figures are measured against, each a process of its own."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NGINX = """
daemon off; worker_processes 1; pid %(folder)s/pid; error_log /dev/null;
events { worker_connections 2048; }
http { access_log off; keepalive_requests 1000000000; client_body_temp_path %(folder)s;
  proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s; uwsgi_temp_path %(folder)s;
  scgi_temp_path %(folder)s; default_type application/json;
  server { listen 127.0.0.1:%(port)d; %(locations)s } }
"""


def lacking(*programs: str) -> str:
    """Which of these programs are not installed, and how to install them; empty when all are."""
    missing = [name for name in programs if not shutil.which(name)]
    packages = {"nginx": "nginx-light"}
    line = " ".join(packages.get(name, name) for name in missing)
    return f"{' and '.join(missing)}: apt-get install {line}" if missing else ""


@contextmanager
def process(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """A running process, ended afterwards."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.terminate()


def answers(port: int) -> None:
    """Wait until something listens on this port."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def load(url: str, flying: int = 32, seconds: int = 1) -> float:
    """How many requests a second wrk gets from this address."""
    line = ["wrk", "-t1", f"-c{flying}", f"-d{seconds}s", url]
    told = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in told, f"the server refused the load: {told}"
    return float(told.partition("Requests/sec:")[2].split()[0])


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def nginx(folder: Path, replies: dict[str, str]) -> Iterator[str]:
    """The address of an nginx with one worker that gives these replies, by location."""
    port = free_port()
    locations = " ".join(
        f"location {path} {{ return 200 '{reply}'; }}" for path, reply in replies.items()
    )
    filled = NGINX % {"folder": folder, "port": port, "locations": locations}
    (folder / "nginx.conf").write_text(filled)
    with process(["nginx", "-e", "/dev/null", "-c", str(folder / "nginx.conf")]):
        answers(port)
        yield f"http://127.0.0.1:{port}"
