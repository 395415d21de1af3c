"""Moves the requests of a queue through the requests session, in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING

from ..transport import move

if TYPE_CHECKING:
    from .queue import Queue

LONGEST = 0.25  # seconds: a wait that sees the end of the call soon


def in_threads(queue: Queue, most: int, ended: Callable[[], bool]) -> None:
    """Send all requests of the queue, until each has its outcome or `ended` says so.

    The threads are daemons: after Ctrl-C nobody waits for the answers that are still due.
    """
    context = queue.context
    news = threading.Condition()
    over = False
    broken: list[BaseException] = []

    def work() -> None:
        while True:
            with news:
                attempt = None
                while not over and queue.left and (attempt := queue.take()) is None:
                    news.wait(min(LONGEST, queue.wait))
                if over or attempt is None:
                    return
            written = context.written(attempt.request, attempt.token)
            moved = move(context.session, written, context.timeout, attempt.secrets)
            with news:
                if not over:
                    queue.put(attempt, moved)
                news.notify_all()

    def watched() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised below, to who has called
            broken.append(error)
        with news:
            news.notify_all()

    for _ in range(min(most, queue.left)):
        run = copy_context().run  # spans belong beneath the caller's
        threading.Thread(target=run, args=(watched,), name="confkit request", daemon=True).start()
    try:
        with news:
            while queue.left and not broken and not ended():
                news.wait(LONGEST)
    finally:
        with news:
            over = True
            news.notify_all()
    if broken:
        raise broken[0]
