"""`Status`: how old a panel's values are, and whether they are still renewed."""

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
BEAT = 2.0  # seconds between two beats; the browser warns after 8
WATCHED = 30.0  # seconds after the last report of a page in which nobody looks any more
FORGOTTEN = 600.0  # seconds after it in which the beats end, so that idle kernels may be culled


class Status(anywidget.AnyWidget):
    """A line that says how old a panel's values are, and a banner when they are not renewed.

    A thread sends a beat every 2 s, also while the kernel is busy; after 8 s without one the
    browser says since when there is no connection. `facts()` is called for each beat and returns
    any of `age` (seconds since the last reading), `every` (seconds between two), `outage` (why none
    succeeds), `outage_age` and `now` (the service's clock). Pages that can be seen report every
    5 s; ten minutes after the last report the beats end, until a page is looked at again.
    """

    _esm = HERE / "status.js"
    _css = STYLE

    def __init__(self, facts: Callable[[], dict[str, Any]] = dict) -> None:
        super().__init__()
        self._facts = facts
        self._reported = time.monotonic()
        self._closed = threading.Event()
        self._starting, self._thread = threading.Lock(), threading.Thread()
        self._executing = False  # a page's report waits until the cell is done
        self._executed = 0.0  # when one was
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
        """Whether a page that shows it has reported lately."""
        return time.monotonic() - self._reported < WATCHED

    def beat(self) -> None:
        """Send the facts to all pages."""
        self.send(self._facts())

    def close(self) -> None:
        """End the beats."""
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
