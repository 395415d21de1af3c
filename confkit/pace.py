"""Keeps requests at or under a rate."""

import threading
from collections import deque
from collections.abc import Callable


class Pace:
    """Calling it waits until one more request keeps to `max_rate` requests in any second.

    `clock` gives monotonic seconds and `sleep` waits; both are passed in so that tests need no
    time.
    """

    def __init__(
        self, max_rate: float, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        self._count = max(1, int(max_rate))
        # A rate below one is one request in 1/rate seconds; 2.5 is two in 0.8 s. The margin keeps
        # the bound where the network bunches what left evenly.
        self._window = self._count / max_rate * 1.02
        self._times: deque[float] = deque(maxlen=self._count)
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Nothing, when it is time for one more request."""
        with self._lock:
            now = self._clock()
            due = self._times[0] + self._window if len(self._times) == self._count else now
            self._times.append(max(now, due))
        if due > now:
            self._sleep(due - now)
