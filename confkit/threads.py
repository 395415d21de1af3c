"""Moves the requests of a batch through the requests session, in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING

from .transport import move

if TYPE_CHECKING:
    from .batch import Batch

LONGEST = 0.25  # seconds: a wait that sees the end of the call soon


def in_threads(batch: Batch, most: int, ended: Callable[[], bool]) -> None:
    """Nothing, once every request of the batch has its outcome, or `ended` says so.

    The threads are daemons: after Ctrl-C nobody waits for the answers that are still due.
    """
    context = batch.context
    news = threading.Condition()
    over = False
    broken: list[BaseException] = []

    def work() -> None:
        while True:
            with news:
                flight = None
                while not over and batch.left and (flight := batch.take()) is None:
                    news.wait(min(LONGEST, batch.wait))
                if over or flight is None:
                    return
                secrets = batch.secrets
            written = context.written(flight.request, flight.token)
            moved = move(context.session, written, context.timeout, secrets)
            with news:
                if not over:
                    batch.put(flight, moved)
                news.notify_all()

    def watched() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised below, to who has called
            broken.append(error)
        with news:
            news.notify_all()

    for _ in range(min(most, batch.left)):
        run = copy_context().run  # spans belong beneath the caller's
        threading.Thread(target=run, args=(watched,), name="confkit request", daemon=True).start()
    try:
        with news:
            while batch.left and not broken and not ended():
                news.wait(LONGEST)
    finally:
        with news:
            over = True
            news.notify_all()
    if broken:
        raise broken[0]
