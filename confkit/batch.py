"""Many reads at once: which is sent next, and what became of each.

Nothing here moves bytes: `transfer` and `threads` do, and ask a `Batch` in the same way, so that
retries, a token that expires and the politeness towards the service cannot differ between them.
"""

from __future__ import annotations

import heapq
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import ConfkitError, TokenRejected
from .exchange import TRIES, Context, Outcomes, log, pause
from .pace import Climb, take
from .pulse import Pulse, is_strain
from .token import future_token
from .tracing import traced
from .wire import Answer, Request, encode, interpret

if TYPE_CHECKING:
    from .dialect import Dialect
    from .errors import TransportError
    from .masking import Secret
    from .pace import Pace

Read = Callable[[Request, Answer, "Dialect"], Any]


class Flight(NamedTuple):
    """A request on its way: its place in the batch, where it goes, its token, since when.

    `url` holds all its parameters; it is None where they travel in another way. Its repr hides
    both."""

    place: int
    request: Request
    address: str
    url: str | None
    token: Secret
    began: float

    def __repr__(self) -> str:
        return f"Flight({self.place}, {self.request})"

    def __sentry_repr__(self) -> str:  # Sentry would go through the fields of a tuple
        return repr(self)


class Landed(NamedTuple):
    """A request that is no longer on its way, and when; its answer or the error in its place."""

    flight: Flight
    ended: float
    answer: Answer | None
    failure: ConfkitError | None


class Batch:
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
        self.secrets: tuple[str, ...] = (token, context.secret_key)
        self._requests, self._step, self._read = requests, step, read or _members
        self._pace = pace
        self._paces = [each for each in (pace, context.pace) if each is not None]
        self._token = token
        self._flying = self._fresh = 0
        self._later: list[tuple[float, int]] = []
        self._failed: dict[int, int] = {}  # tries that failed, by place
        self._renewed: set[int] = set()  # places whose token was refused once
        self._openings: dict[str, tuple[str, str]] = {}
        self._renewal: Future[Secret] | None = None
        self._refusal: ConfkitError | None = None
        self._pulse = Pulse(context.clock())
        # A record takes longer than a call: those that will be kept are made at the end.
        self._landed: deque[Landed] = deque(maxlen=context.calls.maxlen)
        self._tells = log.isEnabledFor(logging.DEBUG) or traced()

    def take(self) -> Flight | None:
        """The next request to send; None when none may be sent for `wait` seconds."""
        self.wait = math.inf
        if self._renewal is not None and not self._adopted(self._renewal):
            self.wait = 0.01
            return None
        if self._flying >= int(self.climb.limit):
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
            _, index = heapq.heappop(self._later)
        else:
            index = self._fresh
            self._fresh += 1
            self._pulse.asked(now)
        self._flying += 1
        self.results.sent += 1
        request = self._requests[index]
        url = None
        if not (opening := self._openings.get(request.endpoint.key)):
            opening = self._opening(request)
        if opening[1] and request.parameters:
            url = f"{opening[1]}&{encode(request.parameters)}"
        return Flight(index, request, opening[0], url, self._token, now)

    def _until_fresh(self, now: float) -> float:
        """Seconds until a request may leave that has not been sent before, or another again."""
        known = self._later or self._flying  # what has failed tells first whether it is back
        if self._fresh >= len(self._requests) or (self._pulse.silent and known):
            return self._later[0][0] - now if self._later else math.inf
        return self._pulse.until_probe(now)

    def _opening(self, request: Request) -> tuple[str, str]:
        """The address of an operation, and how its URL begins where all parameters stand in it:
        all begin alike, with the token, which takes longest to encode."""
        written = self.context.written(request, self._token)
        opening = ""
        if written.placement == "query":
            name = next(iter(written.fields))
            opening = f"{written.address}?{encode({name: self._token})}"
        found = self._openings[request.endpoint.key] = written.address, opening
        return found

    def put(self, flight: Flight, moved: Answer | TransportError) -> None:
        """Takes in what came for a request: kept, asked again at once or later."""
        self._flying -= 1
        index, now = flight.place, self.context.clock()
        answer: Answer | None = None
        failure: ConfkitError | None = None
        outcome: Any = moved
        if isinstance(moved, Answer):
            answer = moved
            try:
                outcome = self._read(flight.request, answer, self.context.dialect)
            except ConfkitError as error:
                # The frames of a traceback would keep every answer in memory.
                outcome = failure = error.with_traceback(None)
        else:
            failure = moved
        self._landed.append(Landed(flight, now, answer, failure))
        if self._tells:
            self._record()
        if failure is None:
            self._pulse.answered()
            self.climb.faster(now - flight.began)
            self._settle(index, outcome)
            return
        strained = is_strain(failure, answer)
        if strained:
            self.climb.slower(flight.began, now)
        if isinstance(failure, TokenRejected):
            if self._is_asked_anew(flight, now):
                return
            outcome = (self._refusal or failure).again()
        self._pulse.failed(failure, strained, now)
        tries = self._failed[index] = self._failed.get(index, 0) + 1
        again = failure.retry and tries < TRIES
        if again:
            heapq.heappush(self._later, (now + pause(tries, answer, self.context), index))
        else:
            self._settle(index, outcome)
        if self._pulse.is_gone(failure, again, now):
            self._give_up(failure)

    def _record(self) -> None:
        """Puts what has landed last on record."""
        landed = self._landed.popleft()
        flight, context = landed.flight, self.context
        began = datetime.now(UTC) - timedelta(seconds=context.clock() - flight.began)
        written = context.written(flight.request, flight.token)
        seconds = landed.ended - flight.began
        context.record(flight.request, written, began, seconds, landed.answer, landed.failure)

    def end(self) -> Outcomes:
        """What came, once nothing more is to come; the last calls are on record then."""
        while self._landed:
            self._record()
        self.results.complete = not self.left
        return self.results

    def _settle(self, index: int, outcome: Any) -> None:
        self.results[index] = outcome
        self.left -= 1
        self._step()

    def _is_asked_anew(self, flight: Flight, now: float) -> bool:
        """Whether a request whose token was refused waits for its one repetition with another."""
        if flight.place in self._renewed or self._refusal is not None:
            return False
        self._renewed.add(flight.place)
        heapq.heappush(self._later, (now, flight.place))
        if flight.token is self._token and self._renewal is None:
            self._renewal = future_token(self.context.token, flight.token, self._pace)
        return True

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
            self._openings = {}
            self.secrets = (*self.secrets, self._token)
        return True

    def _give_up(self, failure: ConfkitError) -> None:
        waiting = [index for _, index in self._later]
        waiting += range(self._fresh, len(self._requests))
        self._later, self._fresh = [], len(self._requests)
        for index in waiting:
            self._settle(index, failure.again())


def _members(request: Request, answer: Answer, dialect: Dialect) -> dict[str, Any]:
    return interpret(request.endpoint, answer, dialect)
