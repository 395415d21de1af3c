"""The times at which sweeps are due."""

import math
import threading
from collections.abc import Callable

_STEP = 1.0  # seconds; waits are cut up, so that Windows sees Ctrl-C as well


class Grid:
    """Turns at fixed times, the first one now: `every` seconds apart, however long each takes.

    `skipped` counts the turns whose time had passed. `ticks` gives seconds that never step.
    """

    def __init__(
        self,
        every: float,
        ticks: Callable[[], float],
        sleep: Callable[[float], object],
        stop: threading.Event,
    ) -> None:
        self.skipped = 0
        self._every, self._ticks, self._sleep, self._stop = every, ticks, sleep, stop
        self._start, self._turn = ticks(), 0

    @property
    def at(self) -> float:
        """The turn's time, in seconds since the first."""
        return self._turn * self._every

    @property
    def left(self) -> float:
        """Seconds until the turn is due."""
        return self._start + self.at - self._ticks()

    def advance(self) -> None:
        """Goes to the next turn that can still be in time."""
        passed = math.ceil((self._ticks() - self._start) / self._every)
        following = max(self._turn + 1, passed)
        self.skipped += following - self._turn - 1
        self._turn = following

    def wait(self) -> None:
        """Wait until the turn is due or `stop` is set."""
        while not self._stop.is_set():
            while self.left > 0 and not self._stop.is_set():
                self._sleep(min(self.left, _STEP))
            if self.left > -self._every:
                return
            self.skipped += 1  # this one: the machine was suspended
            self.advance()
