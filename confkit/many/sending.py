"""`Client.send_many`: by libcurl where the session's settings allow it, else in threads."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import closing, contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, ParameterError, TransportError
from ..transport import move
from ..wire import Answer
from .interrupts import handled
from .libcurl import Libcurl, options_of
from .queue import LONGEST, Outcomes, Queue, future_token

if TYPE_CHECKING:
    from ..attempt import Attempt, Context, Read
    from ..client import Pace
    from ..wire import Request


def send_many(
    asked: Sequence[Request],
    context: Context,
    concurrency: int,
    pace: Pace | None,
    cancelled: threading.Event | None,
    step: Callable[[], object],
    read: Read | None,
) -> Outcomes:
    """What came for each request, in order; `cancelled` ends it within a second, and so does
    Ctrl-C, with a KeyboardInterrupt."""
    check_concurrency(concurrency)
    firsts = {request.endpoint: request for request in asked}
    for endpoint in firsts:
        if endpoint.write or endpoint.token is None:
            raise ParameterError(
                f"{endpoint.title} ({endpoint.key}) is not among the reads that go out together: "
                "send it by itself. Nothing was sent."
            )
    if not asked:
        return Outcomes()
    with ending(cancelled) as ended:
        token = future_token(context, None, pace)
        while not (token.done() or ended()):
            wait([token], LONGEST)
        if ended():
            return Outcomes([None] * len(asked), complete=False)
        queue = Queue(asked, context, token.result(), concurrency, pace, step, read)
        fits = all(options_of(context, context.written(one, None)) for one in firsts.values())
        with closing((Libcurl if fits else Threads)(context, min(concurrency, len(asked)))) as way:
            while queue.left and not (queue.gone or ended()):
                while (attempt := queue.take()) is not None:
                    way.start(attempt)
                for attempt, moved in way.arrived(min(LONGEST, queue.wait)):
                    queue.put(attempt, moved)
    queue.results.complete = not queue.left
    return queue.results


def check_concurrency(given: object) -> None:
    """Raise ConfigError for what is no number of requests at once."""
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise ConfigError(f"concurrency is {given!r}", "Give a whole number from 1.")


class Threads:
    """Moves what is started through the session, in as many threads.

    They are daemons: after Ctrl-C nobody waits for the answers that are still due.
    """

    def __init__(self, context: Context, count: int) -> None:
        self._context, self._count = context, count
        self._started: SimpleQueue[Attempt | None] = SimpleQueue()
        self._moved: SimpleQueue[tuple[Attempt, Any]] = SimpleQueue()
        self.start = self._started.put
        for _ in range(count):
            threading.Thread(target=self._work, name="confkit request", daemon=True).start()

    def _work(self) -> None:
        context = self._context
        moved: Answer | BaseException
        while (attempt := self._started.get()) is not None:
            try:
                written = context.written(attempt.request, attempt.token)
                moved = move(context.session, written, context.timeout, attempt.secrets)
            except BaseException as error:  # noqa: BLE001  # raised below, to who has called
                moved = error
            self._moved.put((attempt, moved))

    def arrived(self, wait: float) -> Iterator[tuple[Attempt, Answer | TransportError]]:
        """Give an attempt that has ended within `wait` seconds with what came."""
        try:
            attempt, moved = self._moved.get(timeout=wait)
        except Empty:
            return
        if not isinstance(moved, Answer | TransportError):
            raise moved
        yield attempt, moved

    def close(self) -> None:
        """Let each thread end when its answer has come."""
        for _ in range(self._count):
            self._started.put(None)


@contextmanager
def ending(cancelled: threading.Event | None) -> Iterator[Callable[[], bool]]:
    """Inside, say whether the call is to end: `cancelled` is set, or Ctrl-C was pressed.

    The KeyboardInterrupt of Ctrl-C comes at the end, not at whatever line runs: inside a callback
    of libcurl it would be lost. Somebody else's handler, who has his own idea of it, stays."""
    stopped = threading.Event()
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with handled([signal.SIGINT] if ours else [], lambda *_: stopped.set()):
        yield lambda: stopped.is_set() or (cancelled is not None and cancelled.is_set())
    if stopped.is_set():
        raise KeyboardInterrupt
