"""What a call came to, judged: true, an error of ours with cause and next step, or a break."""

from __future__ import annotations

import gc
import resource
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import confkit as ck

from ..chaos import Chaos
from ..chaos.messages import held_in
from ..frame import Counts, Piece

WRONG, HANG, NAMELESS, FOREIGN = (
    "wrong values", "hangs", "failures without a name", "exceptions that are not ours",
)  # fmt: skip
LEAKED, SHOWN, KEPT, LARGE = (
    "tokens sent to another host", "secrets in errors", "threads or sockets left behind",
    "answers that filled the memory",
)  # fmt: skip
NEVER = (WRONG, HANG, NAMELESS, FOREIGN, LEAKED, SHOWN, KEPT, LARGE)
OPENED = 8  # files that libraries keep open once they are in use
MEMORY = 700  # megabytes that no piece may need more than before, whatever is sent to it
TRIES = 9  # three for the call, three for a new token, three for the call with it
SLACK = 20.0  # seconds: a busy machine, many threads


class Judge:
    """Counts, and keeps a line about each break in the piece's folder."""

    def __init__(
        self, piece: Piece, secrets: Iterable[set[str]], timeout: tuple[float, float]
    ) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(NEVER, 0))
        self._secrets = list(secrets)  # sets that grow with each token
        self._longest = TRIES * sum(timeout) + SLACK
        self._path: Path = piece.folder / "broken.txt"
        self._lock = threading.Lock()

    def note(self, kind: str, what: object, expected: object, came: object) -> None:
        """Counts a break."""
        with self._lock:
            self.counts[kind] += 1
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{kind}: {what}\n  expected {expected!r:.600}\n  came {came!r:.900}\n")

    def count(self, name: str, more: int = 1) -> None:
        """Counts what is no break."""
        with self._lock:
            self.counts[name] += more

    def call(self, what: object, truth: Any, came: Any, seconds: float) -> None:
        """Judges what came of a call; `truth` is a value, or the class of an error.

        Right is the truth, or an error of ours that says why it is not known. A result code that
        the service did not give is no such error: RoomNotFound for a room that is there would be a
        wrong value. A code that nobody knows (of the class ApiError itself) is one, as a service
        may have codes of its own.
        """
        self.count("calls")
        if seconds > self._longest:
            self.note(HANG, what, f"at most {self._longest:g} s", f"{seconds:g} s")
        known = isinstance(truth, type)
        if isinstance(came, ck.ConfkitError):
            self.error(what, came)
            told = isinstance(came, ck.ApiError) and type(came) is not ck.ApiError
            if told and not (known and type(came) is truth):
                self.note(WRONG, what, truth, came)
            self.count("calls that failed with a name" if not known else "refusals")
        elif isinstance(came, BaseException):
            told = "".join(traceback.format_exception(came)[-6:])
            self.note(FOREIGN, what, truth, told)
        elif known or came != truth or type(came) is not type(truth):
            self.note(WRONG, what, truth, came)
        else:
            self.count("true values")

    def error(self, what: object, error: ck.ConfkitError) -> None:
        """Judges an error by itself: it names its cause, then its next step, and no secret."""
        text = str(error)
        cause = text.removesuffix(error.advice).strip()
        if not (error.advice.strip() and text.endswith(error.advice) and len(cause) > 10):
            self.note(NAMELESS, what, "a cause, and behind it the advice", (text, error.advice))
        shown = "".join(traceback.format_exception(error)) + repr(error) + error.advice
        if self._holds_secret(shown):
            self.note(SHOWN, what, "nothing secret", type(error).__name__)

    def _holds_secret(self, text: str) -> bool:
        return any(held_in(text, secrets) for secrets in self._secrets)

    def end(self, chaos: Chaos, client: ck.Client) -> None:
        """Judges what is left of a piece when its calls are over."""
        for call in client.calls:
            told = repr(call) + call.answer + call.as_curl()
            if self._holds_secret(told):
                self.note(SHOWN, "the record of a call", "nothing secret", told)
        for told in chaos.leaked:
            self.note(LEAKED, "the other host", "no token", told[:40])
        self.count("requests", sum(chaos.counts.values()))
        self.count("faults", sum(chaos.counts.values()) - chaos.counts["plain"])


@contextmanager
def left_behind(judge: list[Judge]) -> Iterator[None]:
    """Counts the threads and files that are open after a piece and were not before, and the memory
    that it took; `judge` holds it by then."""
    before, memory = _open(), _peak()
    yield
    for _ in range(100):
        gc.collect()
        threads, files = _open()
        if threads <= before[0] and files <= before[1] + OPENED:
            break
        time.sleep(0.05)
    else:
        names = sorted(thread.name for thread in threading.enumerate())
        judge[0].note(KEPT, "threads and files", before, (threads, files, names, _files()))
    taken = _peak() - memory
    judge[0].counts["most megabytes"] = round(taken)
    if taken > MEMORY:
        judge[0].note(LARGE, "memory", f"at most {MEMORY} megabytes", taken)


def _open() -> tuple[int, int]:
    files = Path("/proc/self/fd")
    return threading.active_count(), len(list(files.iterdir())) if files.is_dir() else 0


def _files() -> list[str]:
    found = []
    for path in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):
            found.append(str(path.readlink()))
    return sorted(found)


def _peak() -> float:
    """The most megabytes that this process has held."""
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def together(judge: Judge) -> Counts:
    """What was counted."""
    return dict(judge.counts)
