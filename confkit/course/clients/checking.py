"""The checker: somebody's client, row by row, in three services."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import NamedTuple

from ...errors import ConfigError
from ...many.progress import Show, progress_shown
from .dialects import SERVICES, USUAL, Service
from .judging import Missing, Wrong
from .report import ClientCheck, ClientRow
from .rows import Row, rows
from .running import LIMIT, Runner
from .stage import Cameras, Stage, Tries
from .trials import tidy

AT_ONCE = 2  # services that are tried at the same time
SEED = 7
NAMES = [service.name for service in SERVICES]


class Outcome(NamedTuple):
    """What one trial said of a row: empty, why it is wrong, or None where it is missing."""

    row: str
    where: str
    why: str | None


def check_client(
    command: Sequence[str],
    *,
    only: Sequence[str] = (),
    limit: float = LIMIT,
    progress: bool | Show | None = False,
    each: Callable[[ClientRow], object] | None = None,
) -> ClientCheck:
    """What a client in any language gets right, wrong or does not know, a row each.

    `command` starts it; the operation and its arguments are added (`course.contract()` tells them).
    It runs against three sandboxes on this machine with keys of their own, once or twice a row and
    service; a run of more than `limit` seconds is ended, with all that it started. `only` names
    rows, `progress` is that of `sweep`, and `each` is called with every row when it is done.
    ConfigError: the command cannot be started, or a row is unknown.
    """
    if isinstance(command, str) or not command:
        raise ConfigError(
            "the command is a list of words, such as ['java', 'Client.java']",
            "In a terminal: confkit course check -- java Client.java",
        )
    if not limit > 0:
        raise ConfigError(f"limit is {limit!r}", "It is a number of seconds above 0.")
    chosen = rows(tuple(only))
    parts = [(service, [row for row in chosen if row.everywhere]) for service in SERVICES]
    once = [row for row in chosen if not row.everywhere]
    parts += [(USUAL, once[:6]), (USUAL, once[6:])]
    runner = Runner(command, limit)
    trials = sum(len(part) for _, part in parts)
    with (
        progress_shown(progress, trials, "trials") as step,
        _cameras() as cameras,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        tries, done = Tries(runner), _Done(chosen, each, step)
        futures = [pool.submit(_try, *part, cameras, tries, done) for part in parts if part[1]]
        try:
            _finished(futures)
        finally:
            runner.stop()
            pool.shutdown(cancel_futures=True)
    return ClientCheck(tuple(_row(row, done.outcomes) for row in chosen))


class _Done:
    """The outcomes so far, of all services; tells of each trial, and of a row after its last."""

    def __init__(
        self,
        chosen: Sequence[Row],
        each: Callable[[ClientRow], object] | None,
        step: Callable[[], object],
    ) -> None:
        self.outcomes: list[Outcome] = []
        self._rows = {row.name: row for row in chosen}
        self._each, self._step = each, step
        self._lock = threading.Lock()

    def __call__(self, outcome: Outcome) -> None:
        with self._lock:  # services are tried at the same time
            self.outcomes.append(outcome)
            self._step()
            row = self._rows[outcome.row]
            came = sum(other.row == row.name for other in self.outcomes)
            if self._each and came == (len(SERVICES) if row.everywhere else 1):
                self._each(_row(row, self.outcomes))


def _finished(futures: list[Future[None]]) -> None:
    """Waits for all, in short spells so that Windows sees Ctrl-C; the first error is raised."""
    left = set(futures)
    while left:
        done, left = wait(left, timeout=0.5)
        for future in done:
            future.result()


@contextmanager
def _cameras() -> Iterator[Cameras]:
    from ...sandbox import Sandbox

    with Sandbox(seed=SEED) as sandbox:
        yield Cameras(sandbox)


def _try(
    service: Service,
    chosen: list[Row],
    cameras: Cameras,
    tries: Tries,
    done: Callable[[Outcome], object],
) -> None:
    from ...sandbox import Sandbox

    with (
        Sandbox(
            seed=SEED, dialect=service.dialect, access_key=service.access_key,
            secret_key=service.secret_key,
        ) as sandbox,
        sandbox.connect() as client,
    ):  # fmt: skip
        for row in chosen:
            stage = Stage(service, sandbox, client, cameras, tries)
            found = Outcome(row.name, *_tried(row, stage))
            tidy(stage)
            done(found)


def _tried(row: Row, stage: Stage) -> tuple[str, str | None]:
    try:
        row.trial(stage)
    except Missing:
        why = None
    except Wrong as wrong:
        why = str(wrong)
    else:
        why = ""
    return f"{stage.service.name}, {stage.operation}", why


def _row(row: Row, outcomes: list[Outcome]) -> ClientRow:
    mine = [outcome for outcome in outcomes if outcome.row == row.name]
    mine.sort(key=lambda outcome: NAMES.index(outcome.where.partition(", ")[0]))
    wrong = [outcome for outcome in mine if outcome.why]
    if wrong:
        right = f" ({len(mine) - len(wrong)} of {len(mine)} services right)" * (len(mine) > 1)
        return ClientRow(row.name, row.title, "wrong", f"{wrong[0].where}: {wrong[0].why}{right}")
    missing = [outcome for outcome in mine if outcome.why is None]
    if missing:
        operation = missing[0].where.rpartition(", ")[2]
        return ClientRow(row.name, row.title, "missing", f"it does not know {operation}")
    return ClientRow(row.name, row.title, "right")
