"""Many reads at once: which is sent next, and how each ends.

Nothing here moves bytes: libcurl and threads do. What one attempt's failure means is said in
`attempt`, for one call and for many; whether anybody still answers is said here.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from ..attempt import Attempt, Context, Read
from ..client import take
from ..errors import ApiError, ConfkitError, TokenRejected, TransportError
from ..wire import Answer, interpret

if TYPE_CHECKING:
    from ..client import Pace
    from ..secret import Secret
    from ..wire import Request

LONGEST = 0.25  # seconds: a wait that sees the end of the call soon
UNANSWERED = 16  # requests in a row, or as many as may be in flight: then comes a probe
PROBE = -1  # its place: the result of a probe is not kept
PROBE_DELAY = 1.0  # seconds before it: a connection that is lost is often back by then
SERVER_ERROR = 500  # HTTP


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

    threading.Thread(target=ask, name="confkit token", daemon=True).start()
    return future


class Outcomes(list[Any]):
    """What came for each request, in order: what was read, its error, or None where it was not
    asked because the call ended early (`complete` is False then). `sent` counts requests."""

    def __init__(self, outcomes: Iterable[Any] = (), complete: bool = True) -> None:
        super().__init__(outcomes)
        self.sent, self.complete = 0, complete


class Queue:
    """The requests of one call, and what has become of each.

    Requests that fail cost only themselves. When too many in a row are not answered, one request is
    tried alone, as a probe: the last that was answered, else the last of all. When that fails too,
    the service is `gone`, and the rest is not asked.
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
        self.gone = False
        self.wait = 0.0  # seconds until `take` may give something, when it gave nothing
        self.context = context
        self._requests, self._step, self._read = requests, step, read or interpret
        self._pace = pace
        self._paces = [each for each in (pace, context.pace) if each is not None]
        self._token = token
        self._secrets: tuple[str, ...] = (token, context.secret_key)
        self._concurrency, self._tolerated = concurrency, max(UNANSWERED, concurrency)
        self._in_flight = self._next = self._unanswered = 0
        self._later: list[tuple[float, int, Attempt]] = []  # when, and what failed before
        self._probe: Attempt | None = None
        self._probe_due = 0.0
        self._last_answered = requests[-1]
        self._renewal: Future[Secret] | None = None
        self._refusal: ConfkitError | None = None

    def take(self) -> Attempt | None:
        """Return the next attempt to send; None when none may be sent for `wait` seconds."""
        self.wait = math.inf
        if self._renewal is not None and not self._adopted(self._renewal):
            self.wait = 0.01
            return None
        now = self.context.clock()
        self.wait = max(0.0, self._due() - now)
        if not self.wait and self._paces:
            self.wait = take(self._paces)
        if self.wait:
            return None
        attempt = self._probe or self._pop(now)
        self._in_flight += 1
        self.results.sent += 1
        attempt.begin(self._token, self._secrets)
        return attempt

    def _due(self) -> float:
        """When the next attempt may leave; infinite where an answer has to come first."""
        if self._in_flight >= (1 if self._probe else self._concurrency):
            return math.inf
        if self._probe:
            return self._probe_due
        if self._next < len(self._requests):
            return -math.inf
        return self._later[0][0] if self._later else math.inf

    def _pop(self, now: float) -> Attempt:
        """What failed before and is due again, else the next request."""
        if self._next == len(self._requests) or (self._later and self._later[0][0] <= now):
            return heapq.heappop(self._later)[2].again()
        self._next += 1
        return Attempt(self._requests[self._next - 1], self.context, self._next - 1)

    def put(self, attempt: Attempt, moved: Answer | TransportError) -> None:
        """Take in what an attempt brought: its outcome, or another one at once or later."""
        self._in_flight -= 1
        outcome = attempt.land(moved, self._read)
        attempt.record()
        current = attempt.token is self._token and self._refusal is None
        if attempt.is_refused and current and self._renewal is None:
            self._renewal = future_token(self.context, attempt.token, self._pace)
        if attempt.place == PROBE:
            self._put_probe(attempt)
        else:
            self._put(attempt, outcome)

    def _put(self, attempt: Attempt, outcome: Any) -> None:
        now, refused = attempt.began + attempt.seconds, attempt.is_refused
        if _is_answered(attempt):
            self._unanswered = 0
            if attempt.request.parameters:  # of a room: B3 may answer where no room is read
                self._last_answered = attempt.request
        elif not refused:
            self._unanswered += 1
            if self._unanswered >= self._tolerated and self._probe is None:
                self._probe = Attempt(self._last_answered, self.context, PROBE)
                self._probe_due = now + PROBE_DELAY
        pause = 0.0 if refused else attempt.pause
        if attempt.error is None:
            self._settle(attempt.place, outcome)
        elif refused and self._refusal is not None:
            self._settle(attempt.place, self._refusal.again())
        elif pause is not None:
            heapq.heappush(self._later, (now + pause, attempt.place, attempt))
        else:
            self._settle(attempt.place, attempt.error)

    def _put_probe(self, attempt: Attempt) -> None:
        """Go on if the probe was answered; else end, with their own errors for those that were
        asked. A probe whose token was refused is sent again with a new one."""
        if attempt.is_refused:
            self._probe = attempt.again()
            return
        self._probe, self._unanswered = None, 0
        if not _is_answered(attempt):
            self.gone = True
            for _, place, failed in self._later:
                self._settle(place, failed.error)

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
            waiting = [place for _, place, _ in self._later]
            waiting += range(self._next, len(self._requests))
            self._later, self._next, self._probe = [], len(self._requests), None
            for place in waiting:
                self._settle(place, self._refusal.again())
        else:
            self._secrets = (*self._secrets, self._token)
        return True


def _is_answered(attempt: Attempt) -> bool:
    """Whether the service has answered: with success, or with a result code of its own. A new token
    that is refused at once does not count, as each would cost an authentication."""
    if isinstance(attempt.error, ApiError):
        return not isinstance(attempt.error, TokenRejected)
    status = 0 if attempt.answer is None else attempt.answer.status
    return not isinstance(attempt.error, TransportError) and status < SERVER_ERROR
