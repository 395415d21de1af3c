"""Ways that take turns, so that a noisy machine is as noisy to one as to the other."""

import resource
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple


class Taken(NamedTuple):
    """Medians of seconds: on the clock, and of a processor."""

    seconds: float
    cpu: float


def taken(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Taken]:
    """What each way takes, in so many rounds."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            began, spent = time.perf_counter(), _cpu()
            run()
            found[name].append((time.perf_counter() - began, _cpu() - spent))
    return {name: Taken(*map(median, zip(*each, strict=True))) for name, each in found.items()}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
