"""Many reads at once: which is sent next, and what became of each.

Nothing here moves bytes: `libcurl` and `threads` do, and ask a `Queue` in the same way. What one
attempt's failure means is said in `attempt`, for one call and for many.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from ..attempt import Attempt, Context, Read
from ..client import take
from ..errors import ConfkitError, TokenRejected
from ..wire import interpret
from .politeness import Climb, Pulse, is_strain

if TYPE_CHECKING:
    from ..client import Pace
    from ..errors import TransportError
    from ..secret import Secret
    from ..wire import Answer, Request


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
        except BaseException as error:  # noqa: BLE001  # raised by who asks for the result
            future.set_exception(error)

    run = copy_context().run  # its span belongs beneath the caller's
    threading.Thread(target=run, args=(ask,), name="confkit token", daemon=True).start()
    return future


class Outcomes(list[Any]):
    """What came for each request, in order: what was read, its error, or None where it was not
    asked because the call was ended early (`complete` is False then). `sent` counts requests."""

    sent: int = 0
    complete: bool = True

    @classmethod
    def none(cls, count: int) -> Outcomes:
        """Return the outcomes of so many requests of which none was asked yet."""
        found = cls([None] * count)
        found.complete = not count
        return found


class Queue:
    """The requests of one call, and the way that each has gone.

    `climb` says how many may be under way, a `Pulse` whether there is anybody to ask: when the
    service is gone the rest is not asked, and fails as the last one did.
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
        self.results = Outcomes.none(len(requests))
        self.left = len(requests)
        self.wait = 0.0  # seconds until `take` may give something, when it gave nothing
        self.climb = Climb(concurrency)
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
        self._pulse = Pulse(context.clock())

    def take(self) -> Attempt | None:
        """Return the next attempt to send; None when none may be sent for `wait` seconds."""
        self.wait = math.inf
        if self._renewal is not None and not self._adopted(self._renewal):
            self.wait = 0.01
            return None
        if self._flying + 1 > self.climb.limit:
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
            self._pulse.asked(now)
        self._flying += 1
        self.results.sent += 1
        attempt.begin(self._token, self._secrets)
        return attempt

    def _until_fresh(self, now: float) -> float:
        """Seconds until a request may leave that has not been sent before, or another again."""
        known = self._later or self._flying  # what has failed says first whether it is back
        if self._fresh >= len(self._requests) or (self._pulse.silent and known):
            return self._later[0][0] - now if self._later else math.inf
        return self._pulse.until_probe(now)

    def put(self, attempt: Attempt, moved: Answer | TransportError) -> None:
        """Take in what came of an attempt: its outcome, or another one at once or later."""
        self._flying -= 1
        outcome = attempt.land(moved, self._read)
        attempt.record(alone=False)
        failure = attempt.error
        if failure is None:
            self._pulse.answered()
            self.climb.faster(attempt.seconds)
            self._settle(attempt.place, outcome)
            return
        now = attempt.began + attempt.seconds
        strained = is_strain(failure, attempt.answer)
        if strained:
            self.climb.slower(attempt.began, now)
        if attempt.is_refused and self._refusal is None:
            if attempt.token is self._token and self._renewal is None:
                self._renewal = future_token(self.context, attempt.token, self._pace)
            self._send_later(attempt, now)
            return
        self._pulse.failed(failure, strained, now)
        pause = attempt.pause
        if pause is not None:
            self._send_later(attempt, now + pause)
        elif isinstance(failure, TokenRejected):
            self._settle(attempt.place, (self._refusal or failure).again())
        else:
            self._settle(attempt.place, failure)
        if self._pulse.is_gone(failure, pause is not None, now):
            self._give_up(failure)

    def _send_later(self, attempt: Attempt, when: float) -> None:
        heapq.heappush(self._later, (when, attempt.place, attempt.again()))

    def _settle(self, place: int, outcome: Any) -> None:
        self.results[place] = outcome
        self.left -= 1
        self.results.complete = not self.left
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
