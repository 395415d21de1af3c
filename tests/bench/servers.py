"""Servers that figures are measured against, each a process of its own."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import quiet_port
from tests.servers import page, server

NGINX = """
daemon off; worker_processes 1; pid %(folder)s/pid; error_log /dev/null;
events { worker_connections 2048; }
http { access_log off; keepalive_requests 1000000000; client_body_temp_path %(folder)s;
  proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s; uwsgi_temp_path %(folder)s;
  scgi_temp_path %(folder)s; default_type application/json;
  server { listen 127.0.0.1:%(port)d; %(locations)s } }
"""


@contextmanager
def program(text: str, *arguments: str) -> Iterator[str]:
    """The address of a server in Python, whose first argument is its port."""
    port = quiet_port()
    with server([sys.executable, "-c", text, str(port), *arguments]) as running:
        page(f"http://127.0.0.1:{port}/", running)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def nginx(replies: dict[str, str]) -> Iterator[str]:
    """The address of an nginx with one worker that gives these replies, by location."""
    if not shutil.which("nginx"):
        sys.exit("it needs nginx: apt-get install nginx-light")
    port = quiet_port()
    locations = " ".join(
        f"location {path} {{ return 200 '{reply}'; }}" for path, reply in replies.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "nginx.conf")
        settings.write_text(NGINX % {"folder": folder, "port": port, "locations": locations})
        with server(["nginx", "-e", "/dev/null", "-c", settings]) as running:
            page(f"http://127.0.0.1:{port}{next(iter(replies))}", running)
            yield f"http://127.0.0.1:{port}"
