"""How many requests a service can take; whether it is overloaded, away for a moment, or gone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import (
    ApiError,
    ConfkitError,
    ProtocolError,
    TokenRejected,
    TransportError,
    TransportTimeout,
)
from ..wire import BUSY

if TYPE_CHECKING:
    from ..wire import Answer

START = 8  # under way at the beginning
QUICK = 0.1  # seconds: an answer within them is never a sign of strain
SLOWER = 3.0  # times the quickest answer: from there on the service is not hurried further
STRAINED = (410, 503, 504)  # result codes, and HTTP statuses, of a service that has too much to do
SILENT = 8  # failures in a row that are not about a room: from there on the service is probed
PROBE = 0.5  # seconds between two fresh requests then
PATIENCE = 10.0  # seconds without a sign of life after which it is gone; a restart takes less


def is_strain(failure: ConfkitError, answer: Answer | None) -> bool:
    """Whether a failure is a service's that has too much to do."""
    if isinstance(failure, TransportError | TimeoutError):
        return True
    told = failure.ret if isinstance(failure, ApiError) else None
    return told in STRAINED or (answer is not None and answer.status in (*STRAINED, BUSY))


def _is_silence(failure: ConfkitError) -> bool:
    """Whether nobody fit to answer is there: no answer, none of this interface, or only that a
    fresh token is wrong too."""
    if isinstance(failure, ProtocolError):
        return failure.retry
    return isinstance(failure, TransportError | TokenRejected)


class Climb:
    """How many requests may be under way: 8 at the beginning, one more for each quick answer, up to
    `most`. A service under strain halves it, once for all that was under way then; from there on
    each round of quick answers adds one."""

    def __init__(self, most: int) -> None:
        self.limit = float(min(START, most))
        self._most = float(most)
        self._best = math.inf
        self._cut = -math.inf

    def faster(self, seconds: float) -> None:
        """Note an answer that took so long."""
        self._best = min(self._best, seconds)
        if self.limit < self._most and seconds <= max(QUICK, SLOWER * self._best):
            more = 1.0 if self._cut == -math.inf else 1.0 / self.limit
            self.limit = min(self.limit + more, self._most)

    def slower(self, began: float, now: float) -> None:
        """Note that a request which began then met a service under strain."""
        if began > self._cut:
            self.limit, self._cut = max(1.0, self.limit / 2), now


class Pulse:
    """Whether there is anybody to ask.

    Where failures follow one another (`silent`), one fresh request at a time finds out whether the
    service is back; when that takes ten seconds, or requests time out, it is gone.
    """

    def __init__(self, now: float) -> None:
        self._row = 0
        self._since = self._probed = now

    @property
    def silent(self) -> bool:
        """Whether so many failures have followed one another that fresh requests are probes."""
        return self._row >= SILENT

    def asked(self, now: float) -> None:
        """Note that a fresh request has left."""
        self._probed = now

    def until_probe(self, now: float) -> float:
        """Return the seconds until the next fresh request may leave."""
        return max(0.0, self._probed + PROBE - now) if self.silent else 0.0

    def answered(self) -> None:
        """Note a sign of life."""
        self._row = 0

    def failed(self, failure: ConfkitError, strained: bool, now: float) -> None:
        """Note a failure; one that is about a room is a sign of life."""
        if not (strained or _is_silence(failure)):
            self._row = 0
            return
        if not self._row:
            self._since = now
        self._row += 1

    def is_gone(self, failure: ConfkitError, again: bool, now: float) -> bool:
        """Whether the service is gone after this failure, which is tried `again` or not: time-outs
        have cost their time already, and to go on with refused tokens is an authentication each."""
        if not self.silent:
            return False
        if isinstance(failure, TransportTimeout | TokenRejected):
            return True
        return not again and now - self._since >= PATIENCE
