"""The parts of a sweep on an executor: a process pool, threads, or a cluster's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from ..errors import ConfigError, ConfkitError, TokenRejected
from ..excerpts import excerpt
from ..many.sending import ending
from ..pace import MARGIN
from .reading import How, Part, read_part

if TYPE_CHECKING:
    from ..client import Client
    from ..masking import Secret

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
    found: list[Part | None] = [None] * len(parts)
    waiting = list(reversed(range(len(parts))))
    running: dict[Future[Part], int] = {}
    tokens: dict[int, Secret] = {}  # with which a part is read
    again: set[int] = set()  # parts whose token expired
    refusal: ConfkitError | None = None  # of the keys, after a token expired
    over = threading.Event()
    # Threads can be told when it ends; to a process an event does not travel.
    told = over if isinstance(executor, ThreadPoolExecutor) else None
    sweep = uuid4().hex  # Dask would give again what it still has for the same call

    with ending(cancelled) as ended:

        def renewed(number: int) -> bool:
            """Whether there is another token for a part; once one was refused nobody asks again."""
            nonlocal refusal
            if refusal is None:
                try:
                    client.token(instead_of=tokens[number])
                except ConfkitError as error:
                    refusal = error.with_traceback(None)
            return refusal is None

        def keep(number: int, part: Part) -> None:
            before = found[number]
            spent = part.requests + (before.requests if before else 0)
            found[number] = part._replace(requests=spent)
            if told is None and number not in again and _expired(part):
                again.add(number)
                if not ended() and renewed(number):
                    waiting.append(number)
                    return
            steps = len(parts[number]) * (how.rooms + how.users) + (part.devices is not None)
            for _ in range(steps):
                step()

        def take(futures: Iterable[Future[Part]]) -> None:
            for future in futures:
                number = running.pop(future)
                keep(number, _part(future, parts[number], how, number == 0, client))

        try:
            while (waiting or running) and not ended():
                while waiting and not (running and how.max_rate):
                    number = waiting.pop()
                    if refusal is not None:
                        keep(number, _failed(refusal, parts[number], how, number == 0))
                        continue
                    tokens[number] = client.token()
                    asks = client if told is not None else client.lent()
                    work: Callable[[], Part]
                    work = partial(_read, sweep, asks, parts[number], how, number == 0, told)
                    if told is not None:  # in a thread: spans belong beneath the caller's
                        work = partial(copy_context().run, work)
                    running[_submitted(executor, work)] = number
                done = wait(running, LONGEST, FIRST_COMPLETED).done
                if ended():
                    break
                take(done)
                if how.max_rate and waiting and not running:
                    _pause(MARGIN / how.max_rate, ended)
        finally:
            over.set()
            running = {future: number for future, number in running.items() if not future.cancel()}
        # Ctrl-C in a terminal ends the processes of a pool, too: that is no failure of their rooms.
        take(future for future in wait(running, GRACE).done if future.exception() is None)
    return _joined(parts, found)


def _read(
    sweep: str,  # noqa: ARG001  # it tells this call from that of another sweep
    client: Client,
    ids: Sequence[str],
    how: How,
    first: bool,
    ending: threading.Event | None,
) -> Part:
    return read_part(client, ids, how, first and how.users, ending)


def _expired(part: Part) -> bool:
    outcomes = (part.devices, *part.rooms, *part.users)
    return any(isinstance(outcome, TokenRejected) for outcome in outcomes)


def _submitted(executor: Executor, work: Callable[[], Part]) -> Future[Part]:
    try:
        return executor.submit(work)
    except Exception as error:  # noqa: BLE001  # it is broken, or cannot carry the work
        failed: Future[Part] = Future()
        failed.set_exception(error)
        return failed


def _pause(seconds: float, ended: Callable[[], bool]) -> None:
    """Waits, so that the first request of a part keeps its distance to the last one before."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not ended():
        time.sleep(min(left, LONGEST))


def _part(future: Future[Part], ids: Sequence[str], how: How, first: bool, client: Client) -> Part:
    try:
        return future.result()
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever a worker or its network can raise
        failure = error if isinstance(error, ConfkitError) else _lost(error, client)
    return _failed(failure, ids, how, first)


def _failed(failure: ConfkitError, ids: Sequence[str], how: How, first: bool) -> Part:
    nothing = [None] * len(ids)
    failed = [failure] * len(ids)
    return Part(
        rooms=failed if how.rooms else nothing, users=failed if how.users else nothing,
        devices=failure if first and how.users else None, requests=0, complete=True,
    )  # fmt: skip


def _lost(error: Exception, client: Client) -> ConfkitError:
    why = f"{type(error).__name__}: {excerpt(str(error), (client.secret_key,))}"
    advice = "Look at its workers: each needs confkit installed, and a way to the service."
    return ConfkitError(f"the executor lost a part of the sweep ({why})", advice)


def _joined(parts: Sequence[Sequence[str]], found: Sequence[Part | None]) -> Part:
    whole = [
        part or Part([None] * len(ids), [None] * len(ids), None, 0, complete=False)
        for ids, part in zip(parts, found, strict=True)
    ]
    return Part(
        rooms=[room for part in whole for room in part.rooms],
        users=[users for part in whole for users in part.users],
        devices=whole[0].devices if whole else None,
        requests=sum(part.requests for part in whole),
        complete=all(part.complete for part in whole),
    )
