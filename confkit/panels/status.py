"""`Status`: the age of a panel's values, and a banner when they are no longer updated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
from IPython import get_ipython

HERE = Path(__file__).parent
STYLE = HERE / "style.css"
BEAT = 2.0  # seconds between two heartbeats; the browser warns after 8
WATCHED = 30.0  # seconds after a page's last report, after which it counts as hidden
FORGOTTEN = 600.0  # seconds after which heartbeats stop, so that idle kernels may be culled


class Status(anywidget.AnyWidget):
    """A line with the age of a panel's values, and a banner when they are no longer updated.

    A thread sends a heartbeat every 2 s, even while the kernel is busy; after 8 s without one the
    browser reports a lost connection. `facts()` is called for each heartbeat and returns any of
    `age` (seconds since the last reading), `every` (seconds between two), `outage` (why none
    succeeds), `outage_age`, and `now` (the service's clock) with the kernel's `utc_offset`.
    Visible pages report every 5 s; ten minutes after the last report the heartbeats stop, until a
    page is visible again.
    """

    _esm = HERE / "status.js"
    _css = STYLE

    def __init__(self, facts: Callable[[], dict[str, Any]] = dict) -> None:
        super().__init__()
        self._facts = facts
        self._reported = time.monotonic()
        self._closed = threading.Event()
        self._starting, self._thread = threading.Lock(), threading.Thread()
        self._executing = False  # meanwhile reports of pages are queued
        self._executed = 0.0  # when a cell last finished
        self.on_msg(lambda *_: self._report())
        shell = get_ipython()
        self._events = shell.events if getattr(shell, "kernel", None) else None
        if self._events:
            self._executing = True
            self._events.register("pre_execute", self._begin_cell)
            self._events.register("post_execute", self._end_cell)
            self._start()

    def __repr__(self) -> str:
        return "Status()"

    @property
    def watched(self) -> bool:
        """Whether a page that shows it has reported recently."""
        return time.monotonic() - self._reported < WATCHED

    def beat(self) -> None:
        """Send the facts to all pages."""
        self.send(self._facts())

    def close(self) -> None:
        """Stop the heartbeats."""
        if self._events and not self._closed.is_set():
            self._events.unregister("pre_execute", self._begin_cell)
            self._events.unregister("post_execute", self._end_cell)
        self._closed.set()
        super().close()

    def _report(self) -> None:
        self._reported = time.monotonic()
        self._start()
        self.beat()

    def _begin_cell(self) -> None:
        self._executing = self.watched

    def _end_cell(self) -> None:
        if self._executing:
            self._executing, self._executed = False, time.monotonic()

    def _start(self) -> None:
        with self._starting:
            if not (self._thread.is_alive() or self._closed.is_set()):
                self._thread = threading.Thread(target=self._run, name="confkit beat", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(BEAT):
            alone = time.monotonic() - max(self._reported, self._executed)
            if alone > FORGOTTEN and not self._executing:
                return
            self.beat()
