"""What a part of the campaign is: one promise, a piece of work that attacks it, and its counts."""

import importlib
import pkgutil
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

Counts = Mapping[str, float]
RAISED = "pieces that raised"  # counted for any part, and never to be


@dataclass(frozen=True)
class Piece:
    """One piece of a part: its chance comes from `chance`, its files go to `folder`."""

    part: str
    seed: int
    number: int
    size: int  # how much to do, in the part's unit
    folder: Path

    def chance(self, purpose: str = "") -> random.Random:
        """A source of chance that is the same whenever this piece is run again."""
        return random.Random(f"{self.seed}/{self.part}/{self.number}/{purpose}")

    def broke(self, what: str) -> None:
        """Nothing, once a line about what broke, what was expected and what came, is kept."""
        path = self.folder / "broken.txt"
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{what}\n")


@dataclass(frozen=True)
class Part:
    """A promise, and the piece of work that would break it; `never` names counts that stay 0.

    A whole campaign has `pieces` pieces of `size` units each, the ordinary tests one of `short`.
    """

    name: str
    promise: str  # one sentence, as the README says it
    unit: str  # calls, kills, seconds: the count of that name says how much was done
    run: Callable[[Piece], Counts]
    pieces: int
    size: int
    short: int
    never: tuple[str, ...]
    beside: tuple[str, ...] = ()  # counts without which the README's figure would say too much


def total(counts: Iterable[Counts]) -> dict[str, float]:
    """The counts of several pieces in one: added up, but of what begins with "most" the highest."""
    together: dict[str, float] = {}
    for piece in counts:
        for name, count in piece.items():
            before = together.get(name, 0)
            together[name] = max(before, count) if name.startswith("most ") else before + count
    return together


def broken(part: Part, counts: Counts) -> dict[str, float]:
    """What was counted that must never be; nothing done at all counts as well."""
    found = {name: counts[name] for name in (*part.never, RAISED) if counts.get(name)}
    return found if counts.get(part.unit) else {**found, f"no {part.unit}": 1}


def parts() -> dict[str, Part]:
    """Every part by its name: those in `PARTS` of this package's modules."""
    package = importlib.import_module(__package__)
    found = [
        part
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("__")
        for part in getattr(importlib.import_module(f"{__package__}.{module.name}"), "PARTS", ())
    ]
    return {part.name: part for part in sorted(found, key=lambda part: part.name)}


def named(name: str, known: Mapping[str, Part]) -> list[Part]:
    """The part of this name, or the group of those whose names begin with it."""
    return [
        part for known_name, part in known.items()
        if known_name == name or known_name.startswith(f"{name}-")
    ]  # fmt: skip
