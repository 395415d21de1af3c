"""A kernel in which one runbook runs: started, asked cell by cell, ended whatever happens."""

from __future__ import annotations

import queue
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..terminal import held_off

READY = 60.0  # seconds for a kernel to start
ENDING = 20.0  # seconds for an interrupted cell to undo what it does

Message = Mapping[str, Any]


class KernelDied(Exception):
    """The kernel ended by itself."""


class Kernel:
    """A kernel that is up. `execute` runs one piece of code in it and hands over its messages."""

    def __init__(self, manager: Any, client: Any) -> None:
        self._manager = manager
        self._client = client
        self._asked = ""

    def execute(self, source: str, seconds: float, take: Callable[[Message], object]) -> bool:
        """Whether the code ended within these seconds; what it shows is given to `take`."""
        self._asked = self._client.execute(source, allow_stdin=False)
        return self._follow(seconds, take)

    def interrupt(self, take: Callable[[Message], object]) -> None:
        """Ends the code that runs as Ctrl-C does, and waits while it undoes what it did."""
        self._manager.interrupt_kernel()
        self._follow(ENDING, take)

    def _follow(self, seconds: float, take: Callable[[Message], object]) -> bool:
        until = time.monotonic() + seconds
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                if not self._manager.is_alive():
                    raise KernelDied from None
                message = None
            if message and message["parent_header"].get("msg_id") == self._asked:
                if message["content"].get("execution_state") == "idle":
                    return True
                take(message)
            if time.monotonic() > until:
                return False


@contextmanager
def kernel(environment: Mapping[str, str]) -> Iterator[Kernel]:
    """A kernel of this Python, in this folder, with this environment; it has settings of its own,
    so that no start-up file of a user changes what a runbook does."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    with tempfile.TemporaryDirectory(prefix="confkit-") as folder:
        files = Path(folder)
        manager = KernelManager(
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),  # no kernel of another Python
            connection_file=str(files / "kernel.json"),
        )
        if sys.platform != "win32":
            manager.transport, manager.ip = "ipc", str(files / "kernel")
        with (files / "log").open("wb") as log:
            manager.start_kernel(
                env={**environment, "IPYTHONDIR": str(files / "ipython")}, stdout=log, stderr=log
            )
            client = manager.blocking_client()
            try:
                client.start_channels()
                client.wait_for_ready(timeout=READY)
                yield Kernel(manager, client)
            finally:
                with held_off():  # a second Ctrl-C would leave the kernel behind
                    client.stop_channels()
                    manager.shutdown_kernel(now=True)
