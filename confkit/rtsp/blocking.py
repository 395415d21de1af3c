"""Coroutines for people who block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

_LAST_WORDS = 1.0  # seconds that an interrupted coroutine gets to take leave

T = TypeVar("T")


def blocking(
    make: Callable[[], Coroutine[Any, Any, T]], cancelled: threading.Event | None = None
) -> T:
    """Return what a coroutine returns, from a loop of its own: a notebook's thread has one already.

    Whatever interrupts the wait (Ctrl-C, or `cancelled`, which raises CancelledError) ends the
    coroutine before it goes on.
    """
    outcome: list[T | BaseException] = []
    started = threading.Event()
    interrupted = threading.Event()
    ended = threading.Event()  # not join: interrupted in there, Python takes the thread for dead
    runner = asyncio.Runner()
    loop = runner.get_loop()
    running: list[asyncio.Task[Any]] = []

    async def tracked() -> T:
        running.extend(filter(None, [asyncio.current_task()]))
        started.set()
        if interrupted.is_set():
            raise asyncio.CancelledError
        return await make()

    def run() -> None:
        try:
            with runner:
                outcome.append(runner.run(tracked()))
        except BaseException as error:  # noqa: BLE001  # handed on to the caller's thread
            outcome.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, name="confkit rtsp", daemon=True)
    thread.start()
    try:
        while not ended.wait(0.2):  # bounded, so that Windows sees Ctrl-C as well
            if cancelled is not None and cancelled.is_set():
                raise CancelledError
        thread.join()
    except BaseException:
        interrupted.set()
        if started.is_set():
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in running])
        if ended.wait(_LAST_WORDS):
            thread.join()
        raise
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result
