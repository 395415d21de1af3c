"""`sweep`: every room's fields and users, as fast as the wire and the service allow."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any

from ..client import Client
from ..errors import ConfigError
from .ids import room_ids as read_ids
from .progress import Show, progress_shown, told
from .reading import How, read_part
from .result import Sweep, failures
from .spread import read_spread

FEW = 100  # calls: up to there nobody waits for them
MANY = 1000  # calls: from there on a sweep says first how many there are
log = logging.getLogger("confkit.sweep")


def sweep(
    client: Client,
    room_ids: Any,
    *,
    rooms: bool = True,
    users: bool = True,
    concurrency: int = 32,
    max_rate: float | None = None,
    progress: bool | Show | None = None,
    executor: Executor | None = None,
    id_column: str | None = None,
    cancelled: threading.Event | None = None,
) -> Sweep:
    """The rooms (A3) and their users (A6) for every ID, and the external users once (B3).

    `room_ids` is an iterable, a Series, a DataFrame or the path of a CSV file (with `id_column`,
    unless a column is called room_id), or of a .txt file with one ID a line; further columns come
    along into `frame()`. Each ID is asked once, the order is kept.

    What fails is in `failures` and missing in `frame()`, never zero; an error is raised only when
    nothing can be asked: bad IDs (ParameterError), refused keys, no connection at all. Reads are
    retried, one expired token costs one authentication. Up to `concurrency` requests are under way
    at once, fewer while the service is slow, and at most `max_rate`, or the client's own, in any
    second. Ctrl-C, or `cancelled`, ends it within a second with what came. Outside a sandbox a
    sweep of over 1,000 calls first says how long it will take.

    `executor`, any of concurrent.futures or Dask's `get_executor()`, reads parts of 500 rooms
    elsewhere, with up to `concurrency` requests each; with a rate one part after another.
    Sections 4 and 7 of the interface.
    """
    if not (rooms or users):
        raise ConfigError(
            "rooms=False and users=False leave nothing to ask", "Leave one of them out."
        )
    if not isinstance(executor, Executor | None):
        raise ConfigError(
            f"executor is of type {type(executor).__name__}",
            "Give one of concurrent.futures, or get_executor() of a Dask client.",
        )
    given = read_ids(room_ids, id_column)
    ids, calls = given.ids, len(given.ids) * (int(rooms) + int(users))
    rates = [rate for rate in (max_rate, client.max_rate) if rate is not None]
    how = How(rooms, users, concurrency, min(rates, default=None))
    if ids and executor is not None:
        client.token()  # one authentication for all parts
    if client.sandbox is None and calls > MANY:
        _announce(client, calls, how, progress)
    when, began = datetime.now(UTC), time.monotonic()
    if progress is None and calls < FEW:
        progress = False
    with progress_shown(progress, calls + (1 if users and ids else 0), "calls") as step:
        if executor is None:
            part = read_part(client, ids, how, users and bool(ids), cancelled, step)
        else:
            part = read_spread(client, ids, how, executor, cancelled, step)
    return Sweep(
        ids=tuple(ids),
        service=client.name,
        time=when,
        seconds=time.monotonic() - began,
        requests=part.requests,
        complete=part.complete,
        failures=failures(ids, part),
        _part=part,
        _asked=(rooms, users),
        _columns=given.columns,
    )


def _announce(client: Client, calls: int, how: How, progress: bool | Show | None) -> None:
    """Says how many calls there are, and about how long they take, by those that went before."""
    seconds = max(
        calls * client.usual_seconds / how.concurrency,
        calls / how.max_rate if how.max_rate else 0.0,
    )
    text = f"{calls:,} calls to {client.name}, {_about(seconds)}"
    log.info("%s", text)
    told(progress, text)


def _about(seconds: float) -> str:
    if seconds < 1:
        return "about a second"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return (
        f"about {seconds / 60:.0f} minutes" if seconds < 6000 else f"about {seconds / 3600:.0f} h"
    )
