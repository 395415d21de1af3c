"""A figure beside its aim, and ways that take turns, so that a noisy machine is as noisy to one as
to the other."""

import resource
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple


class Figure(NamedTuple):
    """What was measured, its value, and what it should be at most or, if `least`, at least."""

    name: str
    value: float
    aim: float
    least: bool = False

    def row(self) -> str:
        """A row of the table in Markdown."""
        met = self.value >= self.aim if self.least else self.value <= self.aim
        aim = f"{'≥' if self.least else '≤'} {self.aim:.2f}"
        return f"| {self.name} | {aim} | {self.value:.2f} | {'yes' if met else '**no**'} |"


class Taken(NamedTuple):
    """Medians of seconds: on the clock, and of a processor."""

    seconds: float
    cpu: float


def take_turns(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Taken]:
    """Return what each way takes, in so many rounds."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            started, spent = time.perf_counter(), _cpu()
            run()
            taken[name].append((time.perf_counter() - started, _cpu() - spent))
    return {name: Taken(*map(median, zip(*each, strict=True))) for name, each in taken.items()}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
