"""Processes of our own that are started, listened to and killed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .journal import ROOT

LONGEST = 60.0  # seconds for a start; one that takes longer hangs


def clean() -> dict[str, str]:
    """This process's environment without the settings of whoever runs the campaign."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CONFKIT_")}


class Child:
    """A Python process of this checkout, whose lines are kept as they come."""

    def __init__(
        self, arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.began = time.monotonic()
        self.lines: list[str] = []  # those that came; `taken` takes one away
        self.ended = threading.Event()  # its output is, and so is the process
        self._news = threading.Condition()
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, text=True,
                env={**clean(), "PYTHONPATH": str(ROOT), **(environment or {})},
            )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def line(self, number: int, seconds: float = LONGEST) -> str | None:
        """The line of this number, from 0, once it has come; None where none comes."""
        with self._news:
            self._news.wait_for(
                lambda: len(self.lines) > number or self.ended.is_set(), timeout=seconds
            )
            return self.lines[number] if len(self.lines) > number else None

    def taken(self, seconds: float = LONGEST) -> str | None:
        """The first line, which is then no more among `lines`; None where none comes."""
        if self.line(0, seconds) is None:
            return None
        with self._news:
            return self.lines.pop(0)

    def say(self, line: str) -> None:
        """Nothing, once the line is on its way to it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def end(self, seconds: float = LONGEST) -> bool:
        """Whether it ended in time, and well, once it was told that there are no more lines."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        self.ended.wait(seconds)
        well = self.process.poll() == 0 or (self.ended.is_set() and self.process.wait(5) == 0)
        self.kill()
        return well

    def kill(self) -> None:
        """Nothing, once it is dead, without a word to it, and its last line is kept."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                if line.endswith("\n"):  # else a kill cut it off
                    with self._news:
                        self.lines.append(line.rstrip("\n"))
                        self._news.notify_all()
        with self._news:
            self.ended.set()
            self._news.notify_all()
