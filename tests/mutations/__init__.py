"""Faults in public behaviour that the everyday tests must notice: `python -m tests.mutations`.

A row of `faults.toml` says what would be wrong, where the fault is planted (an exact text, which
stands once in its file, and what takes its place) and which tests must fail then. The rows are of
public behaviour, one for each that counts: no private detail, and no second one of a function.
"""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Fault(NamedTuple):
    """A fault: in `file`, `new` in place of `old`; `says` is the behaviour that it breaks."""

    name: str
    file: str
    says: str
    old: str
    new: str
    tests: list[str]

    def planted(self, root: Path) -> str:
        """The file's text with the fault in it; LookupError where there is no place for it."""
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text.count(self.old) != 1:
            raise LookupError("the fault has nowhere to stand: plant it anew")
        return text.replace(self.old, self.new)


def faults() -> list[Fault]:
    """All faults, in the order of their table."""
    text = Path(__file__).with_name("faults.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return [Fault(name, file, **row) for file, rows in table.items() for name, row in rows.items()]


def summary(output: str) -> str:
    """The line in which pytest says what came of its tests, else the last one."""
    lines = re.findall(r"^\d+ .* in [\d.]+s.*$", output, re.MULTILINE)
    return (lines or output.strip().splitlines() or ["pytest said nothing"])[-1]


def verdict(status: int, told: str) -> str:
    """What pytest's exit status and summary say of a fault: "noticed" where a test failed,
    "missed" where all passed, "error" where none could, as confkit or a fixture broke before."""
    if status == 0 and re.search(r"\d+ passed", told) and "skipped" not in told:
        return "missed"
    return "noticed" if status == 1 and re.search(r"\d+ failed", told) else "error"
