"""One run of somebody's command: bounded in time and in output, and over when it is over."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from threading import Event
from typing import IO, NamedTuple

from ...errors import ConfigError

MOST_BYTES = 256 * 1024  # of each of the two outputs; who writes more is ended


class Run(NamedTuple):
    """How a run ended; `ended` says why it was ended by us, and is empty where it was not."""

    status: int
    output: bytes
    errors: bytes
    seconds: float
    ended: str = ""


def run(command: Sequence[str], environment: Mapping[str, str], limit: float, stop: Event) -> Run:
    """Run a command for at most `limit` seconds, or until `stop` is set; all that it started ends
    with it. ConfigError: it cannot be started."""
    start = time.monotonic()
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = _started(command, environment, output, errors)
        ended = ""
        try:
            while not ended and process.poll() is None and not stop.is_set():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
                if time.monotonic() > start + limit:
                    ended = f"it did not end within {limit:g} seconds, and was ended"
                if max(os.fstat(file.fileno()).st_size for file in (output, errors)) > MOST_BYTES:
                    ended = f"it wrote more than {MOST_BYTES // 1024} kB, and was ended"
        finally:
            _kill(process)
            status = process.wait()
        seconds = time.monotonic() - start
        for file in (output, errors):
            file.seek(0)
        return Run(status, output.read(MOST_BYTES), errors.read(MOST_BYTES), seconds, ended)


def _started(
    command: Sequence[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603  # the learner's own command
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"the command {command[0]!r} cannot be started: {why}",
            "Give the program as it is typed in a terminal, each argument by itself: "
            "confkit course check -- java Client.java",
        ) from None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started: where there are sessions, its own one."""
    if os.name == "nt":
        line = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(line, capture_output=True, check=False)  # noqa: S603
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
