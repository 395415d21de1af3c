"""Coroutines for people who block: a thread with an event loop, which preflights share."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_LAST_WORDS = 1.0  # seconds that an interrupted coroutine gets to end

T = TypeVar("T")


def blocking(
    make: Callable[[], Coroutine[Any, Any, T]],
    cancelled: threading.Event | None = None,
    *,
    alone: bool = False,
) -> T:
    """Return what a coroutine returns, which runs in another thread: a notebook's has a loop.

    `alone` gives it a loop of its own, which it may keep busy as long as it likes. Setting
    `cancelled` ends it, with CancelledError.
    """
    if cancelled and cancelled.is_set():
        raise CancelledError
    with (_Shared() if alone else _SHARED).thread() as thread:
        return thread.run(make, cancelled)


class LoopThread:
    """A thread with an event loop, from now until `stop`, which cancels what still runs in it."""

    def __init__(
        self, name: str, make: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    ) -> None:
        self._loop = make()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    def run(
        self,
        make: Callable[[], Coroutine[Any, Any, T]],
        cancelled: threading.Event | None = None,
    ) -> T:
        """Return what the coroutine returns, carried out in the thread.

        Whatever interrupts the wait (Ctrl-C, or `cancelled`) ends the coroutine before it goes on.
        CancelledError: it was cancelled, or the thread was stopped."""
        tasks: list[asyncio.Task[T]] = []
        ended = threading.Event()

        def start() -> None:
            tasks.append(self._loop.create_task(make()))
            tasks[0].add_done_callback(lambda _task: ended.set())

        try:
            self._soon(start)
            while not ended.wait(0.2):  # bounded, so that Windows sees Ctrl-C as well
                if not self._thread.is_alive() or (cancelled and cancelled.is_set()):
                    raise CancelledError
        except BaseException:
            self._soon(lambda: tasks[0].cancel())
            ended.wait(_LAST_WORDS)
            raise
        if tasks[0].cancelled():
            raise CancelledError
        return tasks[0].result()

    def stop(self) -> None:
        """End the thread, and wait a moment until it has ended."""
        self._soon(self._loop.stop)
        self._thread.join(_LAST_WORDS)

    def _soon(self, function: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: who waits sees that the thread is gone
            self._loop.call_soon_threadsafe(function)

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()


class _Shared:
    """A thread from the first caller who needs it to the last who leaves."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin with no thread and no caller, as a forked process does."""
        self._lock = threading.Lock()
        self._callers = 0

    @contextmanager
    def thread(self) -> Iterator[LoopThread]:
        """Lend the thread."""
        with self._lock:
            if not self._callers:
                self._thread = LoopThread("confkit rtsp")
            self._callers += 1
            thread = self._thread
        try:
            yield thread
        finally:
            with self._lock:
                self._callers -= 1
                last = not self._callers
            if last:
                thread.stop()


_SHARED = _Shared()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.renew)
