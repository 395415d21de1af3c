"""Commands as somebody types them, in this process: what a start of Python costs is paid once."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

from confkit import cli
from confkit.sandbox import Sandbox


class Done(NamedTuple):
    """How a command ended, and what it wrote, named as `subprocess.run` names it."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, typed: str = "", **environ: str) -> Done:
    """The command's end, with this text on its standard input, which is no terminal."""
    given, out, err = _stream(typed), _stream(), _stream()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with (
            mock.patch.dict(os.environ, environ),
            mock.patch("sys.stdin", given),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")  # a warning is a line, as in a process of its own
            try:
                status = cli.main(list(arguments))
            except SystemExit as ended:
                status = int(ended.code or 0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return Done(status, _text(out), _text(err))


def interrupted(code: str, *arguments: str, begun: Callable[[], object]) -> Done:
    """How a Python process with this program ends that Ctrl-C is pressed in once it has begun.

    It is pressed until the process ends: a KeyboardInterrupt inside a weak reference's callback
    would be lost."""
    line = [sys.executable, "-c", code, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, **pipes) as child:
        while not begun() and child.poll() is None:
            time.sleep(0.01)
        while child.poll() is None:
            child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(1)
        return Done(child.returncode, *child.communicate())


def known(sandbox: Sandbox) -> dict[str, str]:
    """The environment in which a command finds this sandbox."""
    return {
        "CONFKIT_BASE_URL": sandbox.base_url,
        "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
        "CONFKIT_ACCESS_KEY": sandbox.access_key,
        "CONFKIT_SECRET_KEY": str.__str__(sandbox.secret_key),
    }


def _stream(text: str = "") -> io.TextIOWrapper:
    """A stream with a buffer, as commands have it."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
