"""A clock over the stages of one attempt at a camera."""

from __future__ import annotations

import time
from collections.abc import Callable

from .report import FAILED, OK, RUNNING, SKIPPED, Stage

OnStage = Callable[[Stage], object]


class Stopped(BaseException):
    """What `on_stage` raised, on its way to the caller: nothing in between may take it for a
    failure of the camera."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__()
        self.raised = raised


class Steps:
    """The stages so far; one is under way at a time, and beginning the next ends it well, unless
    its `outcome` was set."""

    name = ""

    def __init__(self, name: str, on_stage: OnStage | None = None) -> None:
        """Begin with the stage `name`; `on_stage` gets each stage as it begins and as it ends."""
        self._done: list[Stage] = []
        self._on_stage = on_stage
        self.begin(name)

    def begin(self, name: str) -> None:
        """End the stage under way, and begin the next."""
        self.end()
        self.name, self.outcome = name, OK
        self.status_line = self.detail = ""
        self._began = time.perf_counter()
        self._tell(Stage(name, 0.0, outcome=RUNNING))

    def skip(self, detail: str) -> None:
        """Note that the stage under way is left out, and why."""
        self.outcome, self.detail = SKIPPED, detail
        self.end()

    def end(self, failure: str = "") -> tuple[Stage, ...]:
        """Return all stages; the one under way has failed when there is a `failure` to tell."""
        if self.name:
            if failure:
                self.outcome, self.detail = FAILED, failure
            seconds = time.perf_counter() - self._began
            ended = Stage(self.name, seconds, self.status_line, self.outcome, self.detail)
            self._done.append(ended)
            self.name = ""
            self._tell(ended)
        return tuple(self._done)

    def _tell(self, stage: Stage) -> None:
        try:
            if self._on_stage:
                self._on_stage(stage)
        except BaseException as error:  # noqa: BLE001  # Stopped hands it on
            raise Stopped(error) from None
