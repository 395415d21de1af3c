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
USED = ("campaign", "injection", "openapi", "secrets")  # of the tests' packages
KINDS = {".py", ".js", ".css", ".ipynb"}


def sources() -> str:
    """Twelve digits that change with any file of confkit, of the campaign and of what it uses."""
    told = hashlib.sha256()
    for folder in ("confkit", *(f"tests/{name}" for name in USED)):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in KINDS or path.name == "statement.py":  # which measures nothing
                continue
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
            if line.get("piece") == self._key(piece):
                return dict(line["counts"])
        return None

    def keep(self, piece: Piece, counts: Counts, seconds: float) -> None:
        """Adds a line for a piece that was run."""
        line = {
            "piece": self._key(piece), "counts": counts, "seconds": round(seconds, 1),
            "machine": machine(),
        }  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            # After a line that a kill cut off this one begins anew.
            file.write(b"\n" * self._cut_off() + json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _key(self, piece: Piece) -> list[str | int]:
        return [self.sources, piece.part, piece.seed, piece.number, piece.size]

    def _cut_off(self) -> bool:
        return self.path.exists() and self.path.read_bytes()[-1:] not in (b"\n", b"")

    def _lines(self) -> Iterator[dict]:
        if self.path.exists():
            for text in self.path.read_text("utf-8", "replace").splitlines():
                try:
                    line = json.loads(text)
                except ValueError:  # a line that a kill cut off
                    continue
                if isinstance(line, dict) and "counts" in line:
                    yield line
