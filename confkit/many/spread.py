"""Many reads in parts on an executor: a process pool, threads, or a cluster's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..errors import ConfigError, ConfkitError
from ..wire import excerpt
from .queue import LONGEST, Outcomes

if TYPE_CHECKING:
    from ..client import Client
    from ..wire import Request

SIZE = 1000  # requests in a part
GRACE = 0.5  # seconds: for what still comes of parts under way when the call is cancelled


def send_spread(
    client: Client,
    executor: Executor,
    asked: Sequence[Request],
    *,
    cancelled: threading.Event | None,
    step: Callable[[], object],
    max_rate: float | None = None,
    **options: Any,
) -> Outcomes:
    """Return the outcome of each request in order, like `Client.send_many`, reading them in parts
    on the executor.

    Thread pools share the client; other executors get a copy, which renews its own token. With a
    `max_rate` parts run one after another. Raises ConfigError if a part does.
    """
    cancelled, over = cancelled or threading.Event(), threading.Event()
    # An event cannot be sent to another process.
    options["cancelled"] = over if isinstance(executor, ThreadPoolExecutor) else None
    options["max_rate"] = max_rate
    call = uuid4().hex  # keeps Dask from returning a cached result of an earlier sweep
    parts = [asked[at : at + SIZE] for at in range(0, len(asked), SIZE)]
    ahead = 1 if max_rate else len(parts)  # parts submitted at once
    futures: list[Future[Outcomes]] = []
    results: list[Outcomes] = []

    def keep(outcomes: Outcomes) -> None:
        results.append(outcomes)
        for _ in outcomes:
            step()

    try:
        while len(results) < len(parts) and not cancelled.is_set():
            while len(futures) < min(len(results) + ahead, len(parts)):
                futures.append(_submit(executor, call, client, parts[len(futures)], options))
            first = futures[len(results)]
            wait([first], LONGEST)
            if first.done():
                keep(_result(first, len(parts[len(results)]), client))
    finally:
        over.set()
        for future in futures:
            future.cancel()
    left, under_way = parts[len(results) :], futures[len(results) :]
    wait(under_way, GRACE)
    for part, last in zip_longest(left, under_way):
        # Whoever cancels may end the workers, too: that is no failure of their rooms.
        if last is not None and last.done() and not (last.cancelled() or last.exception()):
            keep(last.result())
        else:
            results.append(Outcomes([None] * len(part), complete=False))
    merged = Outcomes(outcome for outcomes in results for outcome in outcomes)
    merged.sent = sum(outcomes.sent for outcomes in results)
    merged.complete = all(outcomes.complete for outcomes in results)
    return merged


def _submit(
    executor: Executor,
    call: str,
    client: Client,
    part: Sequence[Request],
    options: dict[str, Any],
) -> Future[Outcomes]:
    """The future of a part; one that has failed already where the executor is broken, or cannot
    carry the work."""
    try:
        return executor.submit(_send, call, client, part, options)
    except Exception as error:  # noqa: BLE001  # raised again by `result`
        failed: Future[Outcomes] = Future()
        failed.set_exception(error)
        return failed


def _send(
    call: str,  # noqa: ARG001  # makes it differ from the same part of another sweep
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
        advice = (
            "Check that the executor is running, and that its workers have confkit installed and "
            "can reach the service."
        )
        failure = ConfkitError(f"the executor lost a part of the sweep ({why})", advice)
    return Outcomes([failure] * count)
