"""The parts of a sweep on an executor: a process pool, threads, or a cluster's."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from ..client import MARGIN
from ..errors import ConfigError, ConfkitError, TokenRejected
from ..secret import excerpt
from .reading import How, Part, read_part
from .sending import ending

if TYPE_CHECKING:
    from ..client import Client
    from ..secret import Secret

ROOMS = 500  # in a part
LONGEST = 0.25  # seconds: a wait that sees the end of the call soon
GRACE = 0.5  # seconds: for what still comes of the parts that were told of the end


def read_spread(
    client: Client,
    ids: Sequence[str],
    how: How,
    executor: Executor,
    cancelled: threading.Event | None,
    step: Callable[[], object],
) -> Part:
    """What came for these rooms, read in parts on an executor, in the order asked.

    With a `max_rate` the parts follow one another: each keeps to it, and so do all together. A part
    whose token expired is read once more with another, for which one authentication is enough.
    ConfigError where a part says that nothing can be asked so.
    """
    parts = [ids[at : at + ROOMS] for at in range(0, len(ids), ROOMS)]
    found = [_all(None, part, how, first=not at) for at, part in enumerate(parts)]
    waiting = deque(range(len(parts)))
    running: dict[Future[Part], tuple[int, Secret]] = {}
    again: set[int] = set()  # parts whose token expired
    refusal: ConfkitError | None = None  # of the keys, after a token expired: nobody tries again
    due = 0.0  # when the next part may begin to keep to the rate
    over = threading.Event()
    # Threads share the client and can be told when it ends; to a process an event does not travel.
    shared = isinstance(executor, ThreadPoolExecutor)
    sweep = uuid4().hex  # Dask would give again what it still has for the same call

    def start(number: int) -> None:
        token = client.token()
        asks, told = (client, over) if shared else (client.lent(), None)
        work = partial(_read, sweep, asks, parts[number], how, number == 0, told)
        if shared:  # spans belong beneath the caller's
            work = partial(copy_context().run, work)
        future: Future[Part] = Future()
        try:
            future = executor.submit(work)
        except Exception as error:  # noqa: BLE001  # it is broken, or cannot carry the work
            future.set_exception(error)
        running[future] = number, token

    def keep(number: int, part: Part) -> None:
        found[number] = part._replace(requests=part.requests + found[number].requests)
        for _ in range(len(parts[number]) * (how.rooms + how.users) + (part.devices is not None)):
            step()

    def take(future: Future[Part]) -> None:
        nonlocal refusal
        number, token = running.pop(future)
        part = _part(future, parts[number], how, number == 0, client)
        if not shared and number not in again and _expired(part) and not ended():
            again.add(number)
            try:
                refusal or client.token(instead_of=token)
            except ConfkitError as error:
                refusal = error.with_traceback(None)
            if refusal is None:
                found[number] = found[number]._replace(requests=part.requests)
                waiting.appendleft(number)
                return
        keep(number, part)

    with ending(cancelled) as ended:
        try:
            while (waiting or running) and not ended():
                while waiting and refusal is not None:
                    number = waiting.popleft()
                    keep(number, _all(refusal, parts[number], how, number == 0))
                while waiting and not (how.max_rate and (running or time.monotonic() < due)):
                    start(waiting.popleft())
                if not running:
                    time.sleep(min(LONGEST, max(0.0, due - time.monotonic())))
                for future in wait(running, LONGEST, FIRST_COMPLETED).done:
                    if not ended():
                        take(future)
                        due = time.monotonic() + (MARGIN / how.max_rate if how.max_rate else 0.0)
        finally:
            over.set()
            running = {one: its for one, its in running.items() if not one.cancel()}
        # Ctrl-C in a terminal ends the processes of a pool, too: that is no failure of their rooms.
        for future in wait(running, GRACE).done:
            if future.exception() is None:
                take(future)
    return Part(
        rooms=[room for part in found for room in part.rooms],
        users=[users for part in found for users in part.users],
        devices=found[0].devices if found else None,
        requests=sum(part.requests for part in found),
        complete=all(part.complete for part in found),
    )


def _read(
    sweep: str,  # noqa: ARG001  # it tells this call from that of another sweep
    client: Client,
    ids: Sequence[str],
    how: How,
    first: bool,
    over: threading.Event | None,
) -> Part:
    return read_part(client, ids, how, first and how.users, over)


def _expired(part: Part) -> bool:
    outcomes = (part.devices, *part.rooms, *part.users)
    return any(isinstance(outcome, TokenRejected) for outcome in outcomes)


def _part(future: Future[Part], ids: Sequence[str], how: How, first: bool, client: Client) -> Part:
    try:
        return future.result()
    except ConfigError:
        raise
    except ConfkitError as error:
        return _all(error, ids, how, first)
    except Exception as error:  # noqa: BLE001  # whatever a worker or its network can raise
        why = f"{type(error).__name__}: {excerpt(str(error), (client.secret_key,))}"
        advice = "Look at its workers: each needs confkit installed, and a way to the service."
        lost = ConfkitError(f"the executor lost a part of the sweep ({why})", advice)
        return _all(lost, ids, how, first)


def _all(failure: ConfkitError | None, ids: Sequence[str], how: How, first: bool) -> Part:
    """A part of which nothing was read, because of a failure or because it was not asked."""
    return Part(
        rooms=[failure if how.rooms else None] * len(ids),
        users=[failure if how.users else None] * len(ids),
        devices=failure if first and how.users else None,
        requests=0,
        complete=failure is not None,
    )
