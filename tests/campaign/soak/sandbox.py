"""An hour of everything at once for one sandbox with 20 held cameras, seen from outside."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ..frame import Counts, Piece
from ..processes import Child
from .flat import JUDGED, grows, growth, long, swells
from .sampling import Curve, draw, sample

EVERY = 5.0  # seconds between two samples
START = 180.0  # seconds for 20 cameras and ten thousand logins, on a machine that is busy
END = 120.0
WHO = ("sandbox", "load")
# One descriptor or thread a minute that leaks is 20 in a third of an hour; after the load there are
# as many as before it, to the last one, but for a camera that is being dialled again.
SPARE = 3
# In ten minutes that leaked nothing the sandbox rose by as much as 1.6 MB an hour, its clients by
# 3.7. A call that leaks 100 bytes, of 40 a second, makes 14.
HOURLY, LEAP = 8.0, 2.0  # MB
NEVER = (
    "failed calls", "deaths", "growing memory", "growing descriptors", "growing threads",
    "growing files", "descriptors left", "threads left", "processes not measured",
)  # fmt: skip


def run(piece: Piece) -> Counts:
    """So many seconds of mixed load."""
    long = piece.size >= JUDGED
    script = Path(__file__).with_name("loading.py")
    arguments = [str(piece.folder), str(piece.seed), "fill" if long else "as it is"]
    child = Child(["-P", str(script), *arguments], piece.folder / "load.log")
    soak = Soak(piece, child)
    try:
        soak.watch(EVERY if long else 0.5)
        child.end(END)
        soak.look_back()
    finally:
        child.kill()
    return soak.counts


class Soak:
    """What is seen of the two processes while one loads the other."""

    def __init__(self, piece: Piece, child: Child) -> None:
        self.counts: Counter[str] = Counter()
        self._piece, self._child, self._read = piece, child, 2
        self._pids = json.loads(child.line(0, START) or "{}")
        self._curve = Curve(piece.folder / "curve.csv")
        if child.line(1, START) is None:
            self._count("deaths", "the load did not start; see load.log")

    def watch(self, every: float) -> None:
        """Nothing, once the seconds of the piece are over; a line of the curve every so often."""
        began = time.monotonic()
        while (passed := time.monotonic() - began) < self._piece.size:
            if self._child.ended.wait(min(every, self._piece.size - passed)):
                self._count("deaths", "the load ended by itself; see load.log")
                return
            self._curve.add({**self._told(), **self._taken()})
        self.counts["seconds"] = round(time.monotonic() - began)

    def look_back(self) -> None:
        """Nothing, once what grew, and what was not given back, is counted."""
        self._told()
        said = "".join(f"{line}\n" for line in self._child.lines)
        (self._piece.folder / "load.jsonl").write_text(said, "utf-8")
        last = json.loads(self._child.lines[-1])
        if "after" not in last or not last["ended"]:
            self._count("deaths", f"the sandbox did not end well: {last}; see sandbox.log")
        for name in ("descriptors", "threads"):
            left = last.get("after", {}).get(name, 0) - last.get("before", {}).get(name, 0)
            if left > SPARE:
                self._count(f"{name} left", f"{left} more than before the load")
        self.counts["loads"] = sum(last.get("done", {}).values())
        for who in WHO:
            for name in ("descriptors", "threads"):
                if grows(self._curve.of(f"{name} of the {who}"), SPARE):
                    self._count(f"growing {name}", f"those of the {who}; see curve.csv")
            memory = self._curve.of(f"RSS in MB of the {who}")
            if not memory and self._piece.size >= JUDGED:
                self._count("processes not measured", f"this system has no /proc of the {who}")
            if swells(memory, HOURLY, LEAP):
                self._count("growing memory", f"of the {who}: {growth(memory):.1f} MB an hour")
            if long(memory):
                grown = max(0.0, growth(memory))
                self.counts[f"most MB an hour that the {who} grew"] = round(grown, 2)
        if swells(self._curve.of("file in MB"), 1.0, 0.3):
            self._count("growing files", "see curve.csv")
        if self._curve.samples:
            title = f"{self._piece.part}, seed {self._piece.seed}: {self.counts['loads']:,} loads"
            draw(self._curve, self._piece.folder / "curve.png", title)

    def _told(self) -> dict[str, float]:
        """What the load has said of late, its failures counted."""
        told: dict[str, Any] = {}
        while self._read < len(self._child.lines):
            told.update(said := json.loads(self._child.lines[self._read]))
            self._read += 1
            for failure in said.get("failures", ()):
                self._count("failed calls", failure)
        return {"four calls in ms": told.get("four calls in ms", 0.0)}

    def _taken(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for who in WHO:
            for name, value in sample(self._pids.get(who, 0)).items():
                found[f"{name} of the {who}"] = value
        for ending, name in (("", "file in MB"), ("-wal", "WAL in MB")):
            path = self._piece.folder / f"soak.sqlite{ending}"
            found[name] = path.stat().st_size / 1e6 if path.exists() else 0.0
        return found

    def _count(self, name: str, what: str) -> None:
        self.counts[name] += 1
        self._piece.broke(f"{name}: {what}")
