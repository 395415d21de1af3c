"""A piece of an attack: its chance, its folder, what it did, and what broke."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Piece:
    """One seeded piece of a part; threads may share it."""

    part: str
    seed: int
    number: int
    size: int  # how much to do, in the part's unit
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def chance(self, purpose: object = "") -> random.Random:
        """Chance that is the same whenever this piece is run again."""
        return random.Random(f"{self.seed}/{self.part}/{self.number}/{purpose}")

    def again(self) -> str:
        """The command that does the same again."""
        return (
            f"python -m tests.nightly --part {self.part} --seed {self.seed} "
            f"--piece {self.number} --size {self.size}"
        )

    def count(self, name: str, more: float = 1) -> None:
        """Counts what was done."""
        with self.lock:
            self.counts[name] += more

    def broke(self, kind: str, *told: object) -> None:
        """Counts a break, and keeps what was expected and what came in `broken.txt`."""
        with self.lock:
            self.broken[kind] += 1
            with (self.folder / "broken.txt").open("a", errors="backslashreplace") as file:
                file.write(f"{kind}: {'; '.join(f'{one}'[:2000] for one in told)}\n")

    def floor(self, name: str, of: str, least: float) -> None:
        """Breaks where less than this share was counted: what always fails shall not pass."""
        if self.counts[name] < least * self.counts[of]:
            self.broke(f"too few {name}", f"{self.counts[name]} of {self.counts[of]} {of}")


class Part(NamedTuple):
    """A promise, and the attack on it; a piece has `size` units; tests run one of `short`."""

    promise: str
    attack: Callable[[Piece], object]
    unit: str  # what a piece has to count: one that did nothing is broken
    size: int
    short: int = 0
    once: bool = False  # a run has one piece of it

    def run(self, piece: Piece) -> Piece:
        """The piece, once it was carried out."""
        piece.folder.mkdir(parents=True, exist_ok=True)
        self.attack(piece)
        if not piece.counts[self.unit]:
            piece.broke(f"no {self.unit}")
        return piece
