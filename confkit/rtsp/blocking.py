"""Coroutines for people who block: one event loop for all of them, as long as any of them waits."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

_LAST_WORDS = 1.0  # seconds that an interrupted coroutine gets to take leave

T = TypeVar("T")


def blocking(
    make: Callable[[], Coroutine[Any, Any, T]],
    cancelled: threading.Event | None = None,
    *,
    alone: bool = False,
) -> T:
    """Return what a coroutine returns, which runs in another thread: a notebook's has a loop.

    `alone` gives it a loop of its own, which it may keep busy as long as it likes.  Whatever
    interrupts the wait (Ctrl-C, or `cancelled`, which raises CancelledError) ends the coroutine
    before it goes on.
    """
    tasks: list[asyncio.Task[T]] = []
    ended = threading.Event()

    def start() -> None:
        tasks.append(loop.create_task(make()))
        tasks[0].add_done_callback(lambda _task: ended.set())

    with (_Shared() if alone else _SHARED).loop() as loop:
        loop.call_soon_threadsafe(start)
        try:
            while not ended.wait(0.2):  # bounded, so that Windows sees Ctrl-C as well
                if cancelled is not None and cancelled.is_set():
                    raise CancelledError
        except BaseException:
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            ended.wait(_LAST_WORDS)
            raise
    return tasks[0].result()


class _Shared:
    """A thread with an event loop, from the first caller who needs it to the last who leaves."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin with no thread and no caller, as a forked process does."""
        self._lock = threading.Lock()
        self._callers = 0

    @contextmanager
    def loop(self) -> Iterator[asyncio.AbstractEventLoop]:
        """Lend the loop."""
        with self._lock:
            if not self._callers:
                self._loop = asyncio.new_event_loop()
                run = (self._loop,)
                self._thread = threading.Thread(target=_run, args=run, name="rtsp", daemon=True)
                self._thread.start()
            self._callers += 1
            loop, thread = self._loop, self._thread
        try:
            yield loop
        finally:
            with self._lock:
                self._callers -= 1
                last = not self._callers
            if last:
                loop.call_soon_threadsafe(loop.stop)
                thread.join(_LAST_WORDS)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


_SHARED = _Shared()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.renew)
