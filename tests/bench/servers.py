"""Servers that figures are measured against, each a process of its own."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.ports import quiet_port
from tests.servers import page, server

SANDBOX = """
import sys, time
from confkit.sandbox import Sandbox
with Sandbox(port=int(sys.argv[1])):
    time.sleep(600)
"""


@contextmanager
def program(text: str, *arguments: str) -> Iterator[str]:
    """The address of a server in Python, whose first argument is its port."""
    port = quiet_port()
    with server([sys.executable, "-c", text, str(port), *arguments]) as running:
        page(f"http://127.0.0.1:{port}/", running)
        yield f"http://127.0.0.1:{port}"
