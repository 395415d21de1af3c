"""How many requests leave in a second."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from .errors import ConfigError

MARGIN = 1.02  # keeps the bound where the network bunches what left evenly
LATE = 0.005  # seconds that may be caught up; together with a gap below MARGIN the bound holds


def finite(value: object) -> bool:
    """Whether this is a number above 0 and not infinite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def take(paces: Sequence[Pace]) -> float:
    """Seconds until one more request keeps to all of these; 0 when it does now, and then it counts
    as one that has left."""
    with ExitStack() as held:
        for pace in paces:
            held.enter_context(pace._lock)
        wait = max((pace._wait() for pace in paces), default=0.0)
        if wait > 0:
            return wait
        for pace in paces:
            pace._leave()
        return 0.0


class Pace:
    """Calling it waits until one more request keeps to `max_rate` requests in any second.

    Requests leave evenly, not in bursts. `clock` gives monotonic seconds and `sleep` waits; both
    are passed in so that tests need no time.
    """

    def __init__(
        self, max_rate: float, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        if not finite(max_rate):
            raise ConfigError(f"max_rate is {max_rate!r}", "Give requests per second, above 0")
        # Of 2.5 requests only two fit into a second; below one, the gap is what counts.
        self._gap = MARGIN / (math.floor(max_rate) if max_rate >= 1 else max_rate)
        self._due = -math.inf
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Nothing, when it is time for one more request."""
        with self._lock:
            now = self._clock()
            due = self._due = max(now, self._due + self._gap)
        if due > now:
            self._sleep(due - now)

    def _wait(self) -> float:
        return self._due + self._gap - self._clock()

    def _leave(self) -> None:
        # Who came a little late, as waits do, does not make those behind him late as well.
        self._due = max(self._due + self._gap, self._clock() - LATE)
