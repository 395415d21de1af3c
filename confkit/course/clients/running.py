"""One run of somebody's command: bounded in time and in output, and over when it is over."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

from ...errors import ConfigError

MOST_BYTES = 256 * 1024  # of each of the two outputs; who writes more is ended
LIMIT = 30.0  # seconds a run may take unless another limit is given
_PIECE = 16 * 1024


class Run(NamedTuple):
    """How a run ended: `status` is None where it was ended by us, and `ended` says then why."""

    status: int | None
    output: bytes
    errors: bytes
    seconds: float
    ended: str = ""


class Runner:
    """Runs one command again and again; `stop` ends all that runs and whatever is started later.

    Each run is a session of its own, so that its children end with it.
    """

    def __init__(self, command: Sequence[str], limit: float) -> None:
        self.command = tuple(command)
        self.limit = limit
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Run:
        """The run of the command with these arguments. ConfigError: it cannot be started."""
        start = time.monotonic()
        process = self._start(arguments, environment)
        too_much = threading.Event()
        kept = [bytearray(), bytearray()]
        readers = [
            threading.Thread(target=_read, args=(stream, into, too_much), daemon=True)
            for stream, into in zip((process.stdout, process.stderr), kept, strict=True)
        ]
        for reader in readers:
            reader.start()
        ended = ""
        try:
            ended = self._wait(process, start + self.limit, too_much)
        finally:
            _kill(process)  # also what it left running behind it
            with self._lock:
                self._running.discard(process)
            process.wait()
        for reader in readers:
            reader.join(1.0)  # a process that left the session may hold the pipe: it is let go
        seconds = time.monotonic() - start
        status = None if ended else process.returncode
        return Run(status, bytes(kept[0]), bytes(kept[1]), seconds, ended)

    def stop(self) -> None:
        """End the runs that go on, and let none begin any more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt
            try:
                process = subprocess.Popen(  # noqa: S603  # the learner's own command
                    [*self.command, *arguments],
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or str(error)
                raise ConfigError(
                    f"the command {self.command[0]!r} cannot be started: {why}",
                    "Give the program "
                    "as it is typed in a terminal, each argument by itself: "
                    "confkit course check -- java Client.java",
                ) from None
            self._running.add(process)
        return process

    def _wait(
        self, process: subprocess.Popen[bytes], until: float, too_much: threading.Event
    ) -> str:
        """Why the run was ended; empty where it ended by itself."""
        pause = 0.001
        while True:
            over = _over(process)  # perhaps because nobody reads any more what it writes
            if too_much.is_set():
                return f"it wrote more than {MOST_BYTES // 1024} kB, and was ended"
            if over:
                return ""
            if self._stopped:
                raise KeyboardInterrupt
            if time.monotonic() > until:
                return f"it did not end within {self.limit:g} seconds, and was ended"
            time.sleep(pause)
            pause = min(2 * pause, 0.05)


def _read(stream: IO[bytes] | None, into: bytearray, too_much: threading.Event) -> None:
    if stream is None:
        return
    with stream, contextlib.suppress(OSError, ValueError):
        while piece := os.read(stream.fileno(), _PIECE):
            if len(into) < MOST_BYTES:
                into += piece
            else:
                too_much.set()
                return  # closes the pipe: whoever goes on writing is told so


def _over(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has ended. Where the system tells that without collecting it, its number
    stays taken, so that what is ended by this number afterwards is no other's."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    return process.poll() is not None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and, where the system has sessions, all that it started."""
    if os.name == "nt":
        if process.poll() is None:
            subprocess.run(  # noqa: S603
                ["taskkill", "/T", "/F", "/PID", str(process.pid)],  # noqa: S607
                capture_output=True, check=False,
            )  # fmt: skip
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
