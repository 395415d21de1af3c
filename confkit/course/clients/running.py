"""Runs of somebody's command: each bounded in time and in output, and over when it is over."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from threading import Event
from typing import NamedTuple

from ...errors import ConfigError

MOST_BYTES = 256 * 1024  # of each of the two outputs; who writes more is ended
HANGS = 3  # after so many runs that had to be ended no further one is made


class Run(NamedTuple):
    """How a run ended; `ended` says why it was ended by us, and is empty where it was not."""

    status: int
    output: bytes
    errors: bytes
    seconds: float
    ended: str = ""


class Command:
    """A command as a list of words, a run of which takes at most `limit` seconds; `stop` ends those
    that go on."""

    def __init__(self, words: Sequence[str], limit: float) -> None:
        self._words, self._limit = words, limit
        self._hung = 0
        self.stop = Event()

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> Run:
        """Run it with these words behind its own; all that it started ends with it. ConfigError: it
        cannot be started. KeyboardInterrupt: it was stopped."""
        if self._hung >= HANGS:
            return Run(0, b"", b"", 0, f"not tried, as {HANGS} runs before it had to be ended")
        with TemporaryFile() as output, TemporaryFile() as errors:
            start, ended = time.monotonic(), ""
            try:
                process = subprocess.Popen(  # noqa: S603  # the learner's own command
                    [*self._words, *words],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"the command {self._words[0]!r} cannot be started: "
                    f"{getattr(error, 'strerror', None) or error}",
                    "Give the program as it is typed in a terminal, each argument by itself: "
                    "confkit course check -- java Client.java",
                ) from None
            try:
                while not ended and process.poll() is None and not self.stop.is_set():
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(0.05)
                    if time.monotonic() > start + self._limit:
                        ended = f"it did not end within {self._limit:g} seconds, and was ended"
                    if max(os.fstat(one.fileno()).st_size for one in (output, errors)) > MOST_BYTES:
                        ended = f"it wrote more than {MOST_BYTES // 1024} kB, and was ended"
            finally:
                _kill(process)
                status = process.wait()
            seconds = time.monotonic() - start
            if self.stop.is_set():
                raise KeyboardInterrupt
            self._hung += bool(ended)
            output.seek(0)
            errors.seek(0)
            return Run(status, output.read(MOST_BYTES), errors.read(MOST_BYTES), seconds, ended)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started: where there are sessions, its own one."""
    if os.name == "nt":
        line = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(line, capture_output=True, check=False)  # noqa: S603
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
