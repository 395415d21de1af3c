"""A kernel of its own with panels in it, and what goes to and fro between it and a front end."""

import json
import queue
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..journal import ROOT
from ..processes import clean

READY = 120.0  # seconds for a kernel to start, on a machine that is busy


class Page:
    """What a front end does with widgets: it takes what comes, and sends what somebody does."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.pid: int = manager.provisioner.pid
        self.came: Counter[str] = Counter()  # messages by type, and their bytes
        self.complaints: list[str] = []
        self.titles: dict[str, str] = {}  # by the comm of a widget, what it is called
        self._manager, self._client = manager, client

    @property
    def alive(self) -> bool:
        """Whether the kernel runs."""
        return bool(self._manager.is_alive())

    def run(self, source: str) -> None:
        """Nothing, once the code was carried out; what it raises is a complaint."""
        asked = self._client.execute(source, allow_stdin=False)
        until = time.monotonic() + READY
        while time.monotonic() < until:
            message = self._next(0.5)
            ours = message is not None and message["parent_header"].get("msg_id") == asked
            if message and ours and message["content"].get("execution_state") == "idle":
                return
        raise AssertionError(f"{source} did not end")

    def send(self, title: str, content: Mapping[str, Any]) -> None:
        """Nothing, once every widget of this title was sent a message, as its browser half does."""
        for comm, known in list(self.titles.items()):
            if known == title:
                data = {"method": "custom", "content": dict(content)}
                message = self._client.session.msg("comm_msg", {"comm_id": comm, "data": data})
                self._client.shell_channel.send(message)

    def listen(self, seconds: float) -> None:
        """Nothing, once so much time is over, in which all that came was looked at."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._next(left)

    def _next(self, seconds: float) -> dict[str, Any] | None:
        try:
            message: dict[str, Any] = self._client.get_iopub_msg(timeout=seconds)
        except queue.Empty:
            return None
        kind, content = message["msg_type"], message["content"]
        self.came[kind] += 1
        self.came["bytes"] += len(json.dumps(content, default=str))
        state = content.get("data", {}).get("state", {}) if kind[:5] == "comm_" else {}
        title = state.get("title") or state.get("label")
        if kind == "comm_open" and title:
            self.titles[content["comm_id"]] = title
        elif kind == "comm_close":
            self.titles.pop(content["comm_id"], None)
        if kind == "error":
            self.complaints.append(f"{content['ename']}: {content['evalue']}")
        if state.get("tone") == "bad":
            self.complaints.append(f"a panel says: {state.get('text')}")
        if kind == "stream" and content.get("name") == "stderr":
            self.complaints.append(content["text"])
        return message


@contextmanager
def page(log: Path) -> Iterator[Page]:
    """A kernel of this Python and of this checkout, and the page in front of it."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    with tempfile.TemporaryDirectory(prefix="confkit-") as folder, log.open("ab") as errors:
        files = Path(folder)  # a short path: those of sockets are
        manager = KernelManager(
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(files / "kernel.json"), transport="ipc", ip=str(files / "kernel"),
        )  # fmt: skip
        own = {**clean(), "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(files / "ipython")}
        manager.start_kernel(env=own, stdout=errors, stderr=errors)
        client = manager.blocking_client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=READY)
            yield Page(manager, client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
