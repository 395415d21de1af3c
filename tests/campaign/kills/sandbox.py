"""`confkit sandbox --db FILE`, killed while many write into it, while it starts, and as it ends."""

import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from confkit.client import Client
from confkit.sandbox import Sandbox
from tests.ports import quiet_port

from ..frame import Counts, Piece
from ..processes import Child
from .checking import check_answers, check_file
from .writing import Writer

WRITERS = 4
AT = ("load", "start", "load", "end", "load", "load", "first start", "load")  # a turn each
NEVER = (
    "lost writes", "undone deletions", "doubled rooms", "strange rows", "damaged files",
    "wrong answers", "lost cameras", "failed starts", "failed calls",
)  # fmt: skip


def run(piece: Piece) -> Counts:
    """So many kills of one sandbox after the other on the same file, each looked at afterwards."""
    with Sandbox() as yard:  # its cameras are all that is used
        cameras = [yard.camera(size=(160, 120), fps=5, name=f"Camera {n}") for n in range(3)]
        return Victim(piece, cameras).kills()


class Victim:
    """The sandbox that is killed again and again: its file, its ports, and who writes into it."""

    def __init__(self, piece: Piece, cameras: Sequence[str]) -> None:
        self.counts: Counter[str] = Counter()
        self._piece, self._file = piece, piece.folder / "rooms.sqlite"
        for left in piece.folder.glob(f"{self._file.name}*"):  # of a piece that was stopped
            left.unlink()
        self._ports = quiet_port(), quiet_port()
        self._chance = piece.chance("moments")
        self._writers = [
            Writer(f"writer {n}", piece.chance(f"writer {n}"), cameras) for n in range(WRITERS)
        ]
        self._seconds = 1.0  # that a start takes here

    def kills(self) -> Counts:
        """The counts of all kills of the piece."""
        for number in range(self._piece.size):
            self._at = f"kill {number} at {AT[number % len(AT)]}"
            {"load": self._load, "end": self._load, "start": self._start,
             "first start": self._start}[AT[number % len(AT)]](number)  # fmt: skip
            self.counts["kills"] += 1
            self.counts[f"kills at {AT[number % len(AT)]}"] += 1
        self._checked().kill()
        self.counts["changes answered"] = sum(writer.answered for writer in self._writers)
        return self.counts

    def _load(self, number: int) -> None:
        """Kills it while all write; "end": a moment after it was asked to end."""
        child, ending, writing = self._checked(), Event(), Event()
        for writer in self._writers:
            writer.start(*_addresses(child), writing)
        time.sleep(self._chance.uniform(0.05, 0.6))
        failed = [writer.failed for writer in self._writers if writer.failed]
        ending.set()
        if AT[number % len(AT)] == "end":
            child.process.send_signal(signal.SIGTERM)
            time.sleep(self._chance.uniform(0, 0.2))
        child.kill()
        writing.set()
        for writer in self._writers:
            writer.join()
        for error in failed:
            self._told("failed calls", repr(error))

    def _start(self, number: int) -> None:
        """Kills it before it answers, perhaps while it makes its file or reads the other's."""
        file = self._file
        if AT[number % len(AT)] == "first start":
            file = self._piece.folder / f"new-{number}.sqlite"
        child = self._started(file)
        time.sleep(self._chance.uniform(0.2, 1.1) * self._seconds)
        child.kill()
        if file is not self._file:
            again = self._answering(file)
            check_file(file, [], self._told)
            again.kill()

    def _checked(self) -> Child:
        """The sandbox, started again on its file, once that was looked at."""
        child = self._answering(self._file)
        check_file(self._file, self._writers, self._told)
        for writer in self._writers:
            writer.settled()
        with Client(*_addresses(child), "demo_access", "demo_secret") as client:
            check_answers(client, self._writers, self._told)
        return child

    def _answering(self, file: Path) -> Child:
        """One that has said where it answers; on other ports where somebody took ours meanwhile."""
        for _ in range(5):
            child = self._started(file)
            if child.line(2) is not None:
                self._seconds = time.monotonic() - child.began
                return child
            child.kill()
            log = (self._piece.folder / "sandbox.log").read_text("utf-8")
            if not log.rstrip().endswith("Give another port, or 0 for any that is free."):
                self._told("failed starts", log[-2000:])
            self.counts["starts on other ports"] += 1
            self._ports = quiet_port(), quiet_port()
        raise AssertionError(f"{file.name}: no start came about; see sandbox.log and broken.txt")

    def _started(self, file: Path) -> Child:
        one, other = self._ports
        arguments = ["--port", str(one), "--outgoing-port", str(other), "--db", str(file)]
        log = self._piece.folder / "sandbox.log"
        return Child(["-m", "confkit", "sandbox", *arguments], log)

    def _told(self, name: str, what: str) -> None:
        self.counts[name] += 1
        self._piece.broke(f"{name} after {self._at}: {what}")


def _addresses(child: Child) -> tuple[str, str]:
    told = [child.line(number) for number in (0, 1)]
    base_url, outgoing_url = (str(line).split()[-1] for line in told)
    return base_url, outgoing_url
