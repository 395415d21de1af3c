"""The pieces that are done, a line each, so that a campaign goes on where it stopped."""

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .frame import Counts, Piece

ROOT = Path(__file__).resolve().parent.parent.parent


def sources() -> str:
    """Twelve digits that change with any file of confkit and of the campaign."""
    told = hashlib.sha256()
    for folder in (ROOT / "confkit", ROOT / "tests" / "campaign"):
        for path in sorted(folder.rglob("*.py")):
            told.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return told.hexdigest()[:12]


def machine() -> str:
    """The machine's kind, for a figure to be quoted with."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


@dataclass(frozen=True)
class Journal:
    """A file of lines; a line counts for the sources that it was measured with, and no others."""

    path: Path
    sources: str

    def counts(self, piece: Piece) -> Counts | None:
        """What this very piece counted, or None when it is still to be run."""
        for line in self._lines():
            if line["piece"] == self._key(piece):
                return dict(line["counts"])
        return None

    def keep(self, piece: Piece, counts: Counts, seconds: float) -> None:
        """Adds a line for a piece that was run."""
        line = {
            "piece": self._key(piece), "counts": counts, "seconds": round(seconds, 1),
            "machine": machine(),
        }  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _key(self, piece: Piece) -> list[str | int]:
        return [self.sources, piece.part, piece.seed, piece.number, piece.size]

    def _lines(self) -> Iterator[dict]:
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                try:
                    yield json.loads(line)
                except ValueError:  # a line that a kill cut off
                    continue
