"""Servers in tests, as commands: started apart, waited for, ended with all that they started."""

import os
import signal
import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress


@contextmanager
def server(command, **options):
    """The process of this command, in a session of its own, over at the end with its children."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=15)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def page(address, process, seconds=60):
    """What stands at this address, as soon as the server gives it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=seconds) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            if time.monotonic() > deadline or process.poll() is not None:
                raise
        time.sleep(0.1)
