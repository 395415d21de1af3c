"""Many reads in parts on an executor: a process pool, threads, or a cluster's."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..errors import ConfigError, ConfkitError, TokenRejected
from ..wire import excerpt
from .queue import LONGEST, Outcomes
from .sending import ending

if TYPE_CHECKING:
    from ..client import Client
    from ..secret import Secret
    from ..wire import Request

SIZE = 1000  # requests in a part
GRACE = 0.5  # seconds: for what still comes of parts after the end


def send_spread(
    client: Client,
    executor: Executor,
    asked: Sequence[Request],
    *,
    cancelled: threading.Event | None,
    step: Callable[[], object],
    **options: Any,
) -> Outcomes:
    """What came for each request, in order, as by `Client.send_many`, read in parts elsewhere.

    With a `max_rate` the parts follow one another: each keeps to it, and so do all together. A part
    whose token expired is read once more with another, for which one authentication is enough.
    ConfigError where a part says that nothing can be asked so.
    """
    parts = [asked[at : at + SIZE] for at in range(0, len(asked), SIZE)]
    found = [Outcomes([None] * len(part), complete=False) for part in parts]
    waiting = deque(range(len(parts)))
    running: dict[Future[Outcomes], tuple[int, Secret | None]] = {}
    refusal: ConfkitError | None = None  # of the keys, after a token expired: they are not retried
    over = threading.Event()
    # Threads share the client and see its end; to a process an event does not travel.
    shared = isinstance(executor, ThreadPoolExecutor)
    call = uuid4().hex  # Dask would give again what it still has for the same call

    def start(number: int) -> None:
        token, future = None, Future[Outcomes]()
        try:
            if refusal is not None:
                raise refusal
            token = client.token()
            asks, end = (client, over) if shared else (client.lent(), None)
            work = partial(_send, call, asks, parts[number], {**options, "cancelled": end})
            if shared:  # spans belong beneath the caller's
                work = partial(copy_context().run, work)
            future = executor.submit(work)
        except Exception as error:  # noqa: BLE001  # it is broken, or cannot carry the work
            future.set_exception(error)
        running[future] = number, token

    def take(future: Future[Outcomes]) -> None:
        nonlocal refusal
        number, token = running.pop(future)
        outcomes, before = _result(future, len(parts[number]), client), found[number].sent
        expired = any(isinstance(one, TokenRejected) for one in outcomes)
        found[number].sent += outcomes.sent
        if expired and not (shared or before or ended()):
            try:
                refusal or client.token(instead_of=token)
            except ConfkitError as error:
                refusal = error.with_traceback(None)
            if refusal is None:
                waiting.appendleft(number)
                return
        outcomes.sent = found[number].sent
        found[number] = outcomes
        for _ in outcomes:
            step()

    with ending(cancelled) as ended:
        try:
            while (waiting or running) and not ended():
                while waiting and not (running and options["max_rate"]):
                    start(waiting.popleft())
                for future in wait(running, LONGEST, FIRST_COMPLETED).done:
                    if not ended():
                        take(future)
        finally:
            over.set()
            running = {one: its for one, its in running.items() if not one.cancel()}
        # Ctrl-C in a terminal ends the processes of a pool, too: that is no failure of their rooms.
        for future in wait(running, GRACE).done:
            if future.exception() is None:
                take(future)
    merged = Outcomes(one for outcomes in found for one in outcomes)
    merged.sent = sum(outcomes.sent for outcomes in found)
    merged.complete = all(outcomes.complete for outcomes in found)
    return merged


def _send(
    call: str,  # noqa: ARG001  # it tells this call from that of another sweep
    client: Client,
    asked: Sequence[Request],
    options: dict[str, Any],
) -> Outcomes:
    return client.send_many(asked, **options)


def _result(future: Future[Outcomes], count: int, client: Client) -> Outcomes:
    """The outcomes of a part, or for each of its requests why it was lost."""
    failure: ConfkitError
    try:
        return future.result()
    except ConfigError:
        raise
    except ConfkitError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # whatever a worker or its network can raise
        why = f"{type(error).__name__}: {excerpt(str(error), (client.secret_key,))}"
        advice = "Look at its workers: each needs confkit installed, and a way to the service."
        failure = ConfkitError(f"the executor lost a part of the sweep ({why})", advice)
    return Outcomes([failure] * count)
