"""Many reads at once: with libcurl where the session's settings allow it, else in threads."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from .batch import Batch, Read
from .errors import ConfigError, ParameterError
from .exchange import Context, Outcomes
from .libcurl import settings_of
from .pace import take
from .threads import in_threads
from .token import future_token
from .transfer import LONGEST, transfer
from .wire import Request

if TYPE_CHECKING:
    from .masking import Secret
    from .pace import Pace


def run(
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
    if not asked:
        return Outcomes()
    with interrupted() as stopped:

        def ended() -> bool:
            return stopped.is_set() or (cancelled is not None and cancelled.is_set())

        token = _token(context, ended)
        if token is None:
            return Outcomes.none(len(asked))
        if pace is not None:
            take([pace])  # for the authentication that went before, or for the call before this one
        batch = Batch(asked, context, token, concurrency, pace, step, read)
        way = transfer if _fits(asked, context) else in_threads
        try:
            way(batch, concurrency, ended)
        finally:
            found = batch.end()
    return found


def _token(context: Context, ended: Callable[[], bool]) -> Secret | None:
    """The client's token, or None where the call ends before it is there."""
    future = future_token(context.token)
    while not future.done():
        if ended():
            return None
        wait([future], LONGEST)
    return future.result()


def _fits(asked: Sequence[Request], context: Context) -> bool:
    """Whether libcurl can stand in for the session at every address that is asked."""
    firsts = {request.endpoint: request for request in asked}.values()
    return all(
        settings_of(context.session, context.written(request, None)) is not None
        for request in firsts
    )


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, in place of a KeyboardInterrupt at whatever line runs: inside a
    callback of libcurl that would be lost. Only the main thread ever gets one."""
    event = threading.Event()
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if main else None
    if before is not signal.default_int_handler:  # somebody else's, who has his own idea of it
        yield event
        return

    def note(_: int, __: FrameType | None) -> None:
        event.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
