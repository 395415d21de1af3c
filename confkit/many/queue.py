"""Many reads at once: which is sent next, and how each ends.

Nothing here moves bytes: libcurl and threads do. What one attempt's failure means is said in
`attempt`, for one call and for many; how many requests a service can take, and whether it is
overloaded, away for a moment, or gone, is said here.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from ..attempt import Attempt, Context, Read
from ..client import take
from ..errors import (
    ApiError,
    ConfkitError,
    ProtocolError,
    TokenRejected,
    TransportError,
    TransportTimeout,
)
from ..wire import BUSY, Answer, interpret

if TYPE_CHECKING:
    from ..client import Pace
    from ..secret import Secret
    from ..wire import Request

LONGEST = 0.25  # seconds: a wait that sees the end of the call soon
START = 8  # under way at the beginning
QUICK = 0.1  # seconds: an answer within them is never a sign of strain
SLOWER = 3.0  # times the quickest answer: from there on the service is not hurried further
STRAINED = (410, 503, 504)  # result codes, and HTTP statuses, of a service that has too much to do
SILENT = 8  # failures in a row that are not about a room: from there on the service is probed
PROBE = 0.5  # seconds between two fresh requests then
PATIENCE = 10.0  # seconds without a sign of life after which it is gone; a restart takes less


def future_token(
    context: Context, refused: Secret | None = None, pace: Pace | None = None
) -> Future[Secret]:
    """The token, or one in place of a refused one, asked for in a thread when its `pace` allows it:
    an authentication may take long, and who waits for it has other things to watch."""
    future: Future[Secret] = Future()

    def ask() -> None:
        try:
            if pace is not None:
                pace()
            future.set_result(context.token(refused))
        except BaseException as error:  # noqa: BLE001  # raised again by `result`
            future.set_exception(error)

    run = copy_context().run  # its span belongs beneath the caller's
    threading.Thread(target=run, args=(ask,), name="confkit token", daemon=True).start()
    return future


class Outcomes(list[Any]):
    """What came for each request, in order: what was read, its error, or None where it was not
    asked because the call was ended early (`complete` is False then). `sent` counts requests."""

    def __init__(self, outcomes: Iterable[Any] = (), complete: bool = True) -> None:
        super().__init__(outcomes)
        self.sent, self.complete = 0, complete


class Queue:
    """The requests of one call, and the way that each has gone.

    When the service is gone the rest is not asked, and fails as the last one did.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        context: Context,
        token: Secret,
        concurrency: int,
        pace: Pace | None,
        step: Callable[[], object],
        read: Read | None,
    ) -> None:
        self.left = len(requests)
        self.results = Outcomes([None] * self.left)
        self.wait = 0.0  # seconds until `take` may give something, when it gave nothing
        self.context = context
        self._requests, self._step, self._read = requests, step, read or interpret
        self._pace = pace
        self._paces = [each for each in (pace, context.pace) if each is not None]
        self._token = token
        self._secrets: tuple[str, ...] = (token, context.secret_key)
        self._flying = self._fresh = 0
        self._later: list[tuple[float, int, Attempt]] = []
        self._renewal: Future[Secret] | None = None
        self._refusal: ConfkitError | None = None
        self.politeness = Politeness(concurrency, context.clock())

    def take(self) -> Attempt | None:
        """Return the next attempt to send; None when none may be sent for `wait` seconds."""
        self.wait = math.inf
        if self._renewal is not None and not self._adopted(self._renewal):
            self.wait = 0.01
            return None
        if self._flying + 1 > self.politeness.limit:
            return None
        now = self.context.clock()
        again = bool(self._later) and self._later[0][0] <= now
        if not again and (wait := self._until_fresh(now)):
            self.wait = wait
            return None
        if self._paces and (wait := take(self._paces)):
            self.wait = wait
            return None
        if again:
            attempt = heapq.heappop(self._later)[2]
        else:
            attempt = Attempt(self._requests[self._fresh], self.context, self._fresh)
            self._fresh += 1
            self.politeness.asked(now)
        self._flying += 1
        self.results.sent += 1
        attempt.begin(self._token, self._secrets)
        return attempt

    def _until_fresh(self, now: float) -> float:
        """Seconds until a request may leave that has not been sent before, or another again."""
        known = self._later or self._flying  # what has failed says first whether it is back
        if self._fresh >= len(self._requests) or (self.politeness.silent and known):
            return self._later[0][0] - now if self._later else math.inf
        return self.politeness.until_probe(now)

    def put(self, attempt: Attempt, moved: Answer | TransportError) -> None:
        """Take in what an attempt brought: its outcome, or another one at once or later."""
        self._flying -= 1
        outcome = attempt.land(moved, self._read)
        attempt.record(alone=False)
        if attempt.error is None:
            self.politeness.answered(attempt.seconds)
            self._settle(attempt.place, outcome)
            return
        now, failure = attempt.began + attempt.seconds, attempt.error
        refused = attempt.is_refused and self._refusal is None
        if refused and attempt.token is self._token and self._renewal is None:
            self._renewal = future_token(self.context, attempt.token, self._pace)
        pause = 0.0 if refused else attempt.pause
        gone = self.politeness.is_gone(attempt, pause is not None, now)
        if pause is not None:
            heapq.heappush(self._later, (now + pause, attempt.place, attempt.again()))
        elif isinstance(failure, TokenRejected) and self._refusal is not None:
            self._settle(attempt.place, self._refusal.again())
        else:
            self._settle(attempt.place, failure)
        if gone:
            self._give_up(failure)

    def _settle(self, place: int, outcome: Any) -> None:
        self.results[place] = outcome
        self.left -= 1
        self._step()

    def _adopted(self, renewal: Future[Secret]) -> bool:
        """Whether the new token is there; without one, all that is left has failed with it."""
        if not renewal.done():
            return False
        self._renewal = None
        try:
            self._token = renewal.result()
        except ConfkitError as error:
            self._refusal = error.with_traceback(None)
            self._give_up(self._refusal)
        else:
            self._secrets = (*self._secrets, self._token)
        return True

    def _give_up(self, failure: ConfkitError) -> None:
        waiting = [place for _, place, _ in self._later]
        waiting += range(self._fresh, len(self._requests))
        self._later, self._fresh = [], len(self._requests)
        for place in waiting:
            self._settle(place, failure.again())


class Politeness:
    """How many requests may be under way, and whether there is anybody to ask.

    `limit` is 8 at the beginning, and one more for each quick answer, up to `most`. A service under
    strain halves it, once for all that was under way then; from there on each round of quick
    answers adds one. Where failures follow one another (`silent`), one fresh request at a time
    finds out whether the service is back; when that takes ten seconds, or requests time out, it is
    gone.
    """

    def __init__(self, most: int, now: float) -> None:
        self.limit = float(min(START, most))
        self._most = float(most)
        self._best = math.inf
        self._cut = -math.inf
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

    def answered(self, seconds: float) -> None:
        """Note an answer that took so long."""
        self._row = 0
        self._best = min(self._best, seconds)
        if self.limit < self._most and seconds <= max(QUICK, SLOWER * self._best):
            more = 1.0 if self._cut == -math.inf else 1.0 / self.limit
            self.limit = min(self.limit + more, self._most)

    def is_gone(self, attempt: Attempt, again: bool, now: float) -> bool:
        """Note an attempt that failed, whose request is sent `again` or not; say whether the
        service is gone.

        A failure that is about a room is a sign of life. Time-outs have cost their time already,
        and to go on with refused tokens is an authentication each."""
        failure, status = attempt.error, 0 if attempt.answer is None else attempt.answer.status
        strained = status in (*STRAINED, BUSY) or isinstance(failure, TransportError | TimeoutError)
        strained = strained or (isinstance(failure, ApiError) and failure.ret in STRAINED)
        if strained and attempt.began > self._cut:
            self.limit, self._cut = max(1.0, self.limit / 2), now
        # Nobody fit to answer: not this interface, or only that a fresh token is wrong too.
        nobody = isinstance(failure, ProtocolError) and failure.retry
        if attempt.is_refused:
            return False
        if not (strained or nobody or isinstance(failure, TokenRejected)):
            self._row = 0
            return False
        if not self._row:
            self._since = now
        self._row += 1
        if not self.silent:
            return False
        if isinstance(failure, TransportTimeout | TokenRejected):
            return True
        return not again and now - self._since >= PATIENCE
