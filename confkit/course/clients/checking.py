"""The checker: somebody's client, row by row, in three services."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from ...checklist import Check, Checklist
from ...errors import ConfigError
from ...many.progress import Show, progress_shown
from ...sandbox import Sandbox
from .rows import EVERYWHERE, Row, chosen
from .services import SERVICES, Service
from .trials import Outcome, Stage, Tries

LIMIT = 30.0  # seconds a run may take unless another limit is given
AT_ONCE = 2  # services that are tried at the same time
SEED = 7


def check_client(
    command: Sequence[str],
    *,
    only: Sequence[str] = (),
    limit: float = LIMIT,
    progress: bool | Show | None = False,
    each: Callable[[Check], object] | None = None,
) -> Checklist:
    """Return what a client in any language gets right (PASS), wrong (FAIL) or does not know
    (UNKNOWN), a check for each row of the contract.

    `command` starts it; the operation and its arguments are added (see `course.contract()`).
    It runs against three sandboxes on this machine with keys of their own, once or twice a row and
    service; a run of more than `limit` seconds is ended, with all that it started. `only` names
    rows, `progress` is that of `sweep`, and `each` is called with every check when it is done.
    ConfigError: the command cannot be started, or a row is unknown.
    """
    if isinstance(command, str) or not command:
        raise ConfigError(
            "the command is a list of words, such as ['java', 'Client.java']",
            "In a terminal: confkit course check -- java Client.java",
        )
    if not limit > 0:
        raise ConfigError(f"limit is {limit!r}", "It is a number of seconds above 0.")
    rows = chosen(tuple(only))
    once = [row for row in rows if row not in EVERYWHERE]
    parts = [(service, [row for row in rows if row in EVERYWHERE]) for service in SERVICES]
    parts += [(SERVICES[0], once[::2]), (SERVICES[0], once[1::2])]
    outcomes: dict[str, list[Outcome]] = {row.name: [] for row in rows}
    lock = threading.Lock()
    tries = Tries(command, limit)

    def done(row: Row, outcome: Outcome) -> None:
        with lock:
            outcomes[row.name].append(outcome)
            step()
            if each and len(outcomes[row.name]) == (len(SERVICES) if row in EVERYWHERE else 1):
                each(_check(row, outcomes[row.name]))

    with (
        progress_shown(progress, sum(len(part) for _, part in parts), "trials") as step,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        left = {pool.submit(_try, *part, tries, done) for part in parts if part[1]}
        try:
            while left:  # in short spells, so that Windows sees Ctrl-C
                ended, left = wait(left, timeout=0.5)
                for future in ended:
                    future.result()
        finally:
            tries.stop.set()
            pool.shutdown(cancel_futures=True)
    return Checklist(_check(row, outcomes[row.name]) for row in rows)


def _check(row: Row, outcomes: list[Outcome]) -> Check:
    """The check of a row: the worst outcome, of the first service that had it."""
    order = [service.name for service in SERVICES]
    outcomes = sorted(outcomes, key=lambda outcome: order.index(outcome.service))
    right = sum(outcome.verdict == "PASS" for outcome in outcomes)
    name, services = f"{row.name}, {row.title}", f"in {len(outcomes)} services"
    for verdict in ("FAIL", "UNKNOWN"):
        for outcome in outcomes:
            if outcome.verdict == verdict:
                some = f" ({right} of {len(outcomes)} services right)"
                some *= verdict == "FAIL" and len(outcomes) > 1
                return Check(name, outcome.verdict, outcome.found + some, outcome.advice)
    return Check(name, "PASS", f"right {services}" if len(outcomes) > 1 else "right")


def _try(
    service: Service, rows: Sequence[Row], tries: Tries, done: Callable[[Row, Outcome], object]
) -> None:
    with Sandbox(
        seed=SEED,
        dialect=service.dialect,
        access_key=service.access_key,
        secret_key=service.secret_key,
    ) as sandbox:
        stage = Stage(service, sandbox, tries)
        for row in rows:
            done(row, stage.tried(row))
