"""A clock over the stages of one attempt at a camera."""

from __future__ import annotations

import time

from .report import FAILED, OK, SKIPPED, Stage


class Steps:
    """The stages so far; one is under way at a time, and beginning the next ends it well."""

    def __init__(self, name: str) -> None:
        """Begin with the stage `name`."""
        self._done: list[Stage] = []
        self._open(name)

    def _open(self, name: str) -> None:
        self.name = name
        self.status_line = ""
        self.detail = ""
        self.outcome = OK
        self._began = time.perf_counter()

    def begin(self, name: str) -> None:
        """End the stage under way, well unless its `outcome` was set, and begin the next."""
        self._close(self.outcome)
        self._open(name)

    def skip(self, detail: str) -> None:
        """Note that the stage under way is left out, and why."""
        self.detail = detail
        self._close(SKIPPED)
        self.name = ""

    def end(self, failure: str = "") -> tuple[Stage, ...]:
        """Return all stages; the one under way has failed when there is a `failure` to tell."""
        if failure:
            self.detail = failure
        self._close(FAILED if failure else self.outcome)
        self.name = ""
        return tuple(self._done)

    def _close(self, outcome: str) -> None:
        if self.name:
            seconds = time.perf_counter() - self._began
            self._done.append(Stage(self.name, seconds, self.status_line, outcome, self.detail))
