"""`Client.send_many`: with libcurl where the session's settings allow it, else in threads."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..client import take
from ..errors import ConfigError, ParameterError
from .interrupts import handled
from .libcurl import by_libcurl, options_of
from .queue import Outcomes, Queue, future_token
from .threads import LONGEST, in_threads

if TYPE_CHECKING:
    from ..attempt import Context, Read
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
    """What came for each request, in order; Ctrl-C or `cancelled` ends it within a second."""
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise ConfigError(f"concurrency is {concurrency!r}", "Give a whole number from 1.")
    for endpoint in {request.endpoint for request in asked}:
        if endpoint.write or endpoint.token is None:
            raise ParameterError(
                f"{endpoint.title} ({endpoint.key}) is not among the reads that go out together: "
                "send it by itself. Nothing was sent."
            )
    with ending(cancelled) as ended:
        token = future_token(context) if asked else None
        while token is not None and not token.done() and not ended():
            wait([token], LONGEST)
        if token is None or not token.done() or ended():
            return Outcomes.none(len(asked))
        if pace is not None:
            take([pace])  # for the authentication that went before, or for the call before this one
        queue = Queue(asked, context, token.result(), concurrency, pace, step, read)
        way = by_libcurl if _fits(asked, context) else in_threads
        way(queue, concurrency, ended)
    return queue.results


def _fits(asked: Sequence[Request], context: Context) -> bool:
    """Whether libcurl can stand in for the session at every address that is asked."""
    firsts = {request.endpoint: request for request in asked}.values()
    return all(options_of(context, context.written(one, None)) for one in firsts)


@contextmanager
def ending(cancelled: threading.Event | None) -> Iterator[Callable[[], bool]]:
    """Inside, say whether the call is to end: `cancelled` is set, or Ctrl-C was pressed.

    That is noted in place of a KeyboardInterrupt at whatever line runs: inside a callback of
    libcurl that would be lost. Somebody else's handler, who has his own idea of it, stays."""
    stopped = threading.Event()
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with handled([signal.SIGINT] if ours else [], lambda *_: stopped.set()):
        yield lambda: stopped.is_set() or (cancelled is not None and cancelled.is_set())
