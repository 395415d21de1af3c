"""A clock over the stages of one attempt at a camera."""

from __future__ import annotations

import time
from collections.abc import Callable

from .report import FAILED, OK, RUNNING, SKIPPED, Stage

OnStage = Callable[[Stage], object]


class Stopped(BaseException):
    """What `on_stage` raised is on its way to who has given it: no failure of the camera, so that
    nothing in between takes it for one."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__()
        self.raised = raised


class Steps:
    """The stages so far; one is under way at a time, and beginning the next ends it well."""

    def __init__(self, name: str, on_stage: OnStage | None = None) -> None:
        """Begin with the stage `name`; `on_stage` is told of each as it begins and as it ends."""
        self._done: list[Stage] = []
        self._on_stage = on_stage
        self._open(name)

    def _open(self, name: str) -> None:
        self.name = name
        self.status_line = ""
        self.detail = ""
        self.outcome = OK
        self._began = time.perf_counter()
        self._tell(Stage(name, 0.0, outcome=RUNNING))

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
            self._tell(self._done[-1])

    def _tell(self, stage: Stage) -> None:
        if self._on_stage is None:
            return
        try:
            self._on_stage(stage)
        except BaseException as error:  # noqa: BLE001  # Stopped hands it on
            raise Stopped(error) from None
