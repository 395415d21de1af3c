"""A sandbox under attack: its process, the honest caller beside it, and what both came to."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..frame import Counts, Piece
from ..journal import ROOT

MEGABYTES = 100.0  # that a sandbox may grow by, whatever is done to it
_LEFT = 12  # descriptors that an honest caller and a camera may need
_BACK = 15.0  # seconds in which descriptors are given back


class Target(NamedTuple):
    """Where the attacked sandbox answers, and a token of it."""

    ports: dict[str, int]  # by name: A, B, camera, mcu
    room: str
    token: str

    def whole(self, port: str) -> bytes:
        """A request that is complete."""
        if port == "B":
            body = json.dumps({"accessToken": self.token}).encode()
            return (
                b"POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1\r\nHost: h\r\nContent-Type: "
                b"application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            )
        query = f"access_token={self.token.replace('=', '%3D')}&room_id={self.room}"
        return f"GET /rtc/room/get?{query} HTTP/1.1\r\nHost: h\r\n\r\n".encode()


class Attacked:
    """A sandbox in its process, and what is counted."""

    def __init__(self, piece: Piece, descriptors: int) -> None:
        self.counts: dict[str, float] = {}
        self.notes: list[str] = [f"descriptors: {descriptors}"]
        self._file = piece.folder / "overload.txt"
        self._service = _started("service", str(descriptors))
        place = self._read(self._service)
        ports = {name: urlsplit(place[name]).port or 0 for name in ("A", "B", "camera")}
        ports["mcu"] = int(place["mcu"].rpartition(":")[2])
        self.target = Target(ports, place["room"], place["token"])
        self._before = self._ask()
        self._honest = _started("honest")
        self._tell(self._honest, json.dumps(place))
        assert self._honest.stdout is not None
        self._honest.stdout.readline()

    def look(self) -> None:
        """Asks in the middle of the attack whether the notebook can open a file."""
        if not self._ask()["free"]:
            self.count("notebook without descriptors", 1)

    def count(self, name: str, number: float, why: str = "") -> None:
        """Adds to a count, and notes why."""
        self.counts[name] = self.counts.get(name, 0) + number
        if why:
            self.notes.append(f"{name}: {why}")

    def over(self) -> Counts:
        """What was counted, once the honest caller has told how it fared."""
        assert self._honest.stdin is not None
        self._honest.stdin.close()
        fared = self._read(self._honest)
        self.counts |= {"honest calls": fared["calls"], "most seconds": fared["worst"]}
        self.count("unanswered calls", len(fared["unanswered"]), "; ".join(fared["unanswered"][:9]))
        until, now = time.monotonic() + _BACK, self._ask()
        while now["descriptors"] > self._before["descriptors"] + _LEFT and time.monotonic() < until:
            time.sleep(0.2)
            now = self._ask()
        kept = now["descriptors"] - self._before["descriptors"] - _LEFT
        grown = now["megabytes"] - self._before["megabytes"]
        self.counts["most megabytes"] = grown
        self.count("descriptors not given back", max(0, kept))
        self.count("memory beyond bound", int(grown > MEGABYTES))
        self._file.write_text("\n".join([*self.notes, str(self.counts)]) + "\n", "utf-8")
        return self.counts

    def end(self) -> None:
        """Ends both processes."""
        for process in (self._honest, self._service):
            with process:
                process.terminate()

    def _ask(self) -> dict[str, float]:
        self._tell(self._service, "")
        return self._read(self._service)

    @staticmethod
    def _tell(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()

    @staticmethod
    def _read(process: subprocess.Popen[str]) -> dict[str, Any]:
        assert process.stdout is not None
        told: dict[str, Any] = json.loads(process.stdout.readline())
        return told


@contextmanager
def attacked(piece: Piece, sockets: int) -> Iterator[Attacked]:
    """A sandbox, while this process may open so many sockets; as many descriptors as kernels have
    are its own, by chance the usual 1,024 or Jupyter's 4,096."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, sockets + 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    under = Attacked(piece, min(piece.chance("descriptors").choice([1024, 4096]), hard))
    try:
        yield under
    finally:
        under.end()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _started(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.{module}", *arguments], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
