"""Keeps requests at or under a rate."""

import math
import threading
from collections.abc import Callable

MARGIN = 1.02  # keeps the bound where the network bunches what left evenly


class Pace:
    """Calling it waits until one more request keeps to `max_rate` requests in any second.

    Requests leave evenly, not in bursts. `clock` gives monotonic seconds and `sleep` waits; both
    are passed in so that tests need no time.
    """

    def __init__(
        self, max_rate: float, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
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
