"""Commands as somebody types them, in this process: what a start of Python costs is paid once."""

import contextlib
import io
import os
import pty
import signal
import subprocess
import sys
import termios
import time
import warnings
from typing import NamedTuple
from unittest import mock

from confkit import cli

CONFKIT = (sys.executable, "-m", "confkit")  # for a process of its own


class Done(NamedTuple):
    """How a command ended, and what it wrote, named as `subprocess.run` names it."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, typed="", **environ):
    """The command's end, with this text on its standard input, which is no terminal."""
    streams = [io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8") for text in (typed, "", "")]
    with (
        mock.patch.dict(os.environ, environ),
        mock.patch("sys.stdin", streams[0]),
        contextlib.redirect_stdout(streams[1]),
        contextlib.redirect_stderr(streams[2]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")  # a warning is a line, as in a process of its own
        status = cli.main(list(arguments))
    for stream in streams:
        stream.flush()
    return Done(status, *(stream.buffer.getvalue().decode() for stream in streams[1:]))


def on_a_terminal(*words, typed="", **environ):
    """What a command writes on a terminal. What is typed waits until there is no echo."""
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    streams |= {"env": {**os.environ, **environ}, "start_new_session": True}  # whoever looks on
    with subprocess.Popen([*CONFKIT, *words], **streams):
        end = time.monotonic() + 20
        while typed and termios.tcgetattr(ours)[3] & termios.ECHO and time.monotonic() < end:
            time.sleep(0.01)
        os.close(theirs)
        os.write(ours, typed.encode())
        written = b""
        with contextlib.suppress(OSError):  # Linux says so at the end of a terminal
            while data := os.read(ours, 65536):
                written += data
        os.close(ours)
    return written.decode()


def interrupted(code, *arguments, begun):
    """How a Python process with this program ends that Ctrl-C is pressed in once it has begun, and
    until it ends: a KeyboardInterrupt inside a weak reference's callback would be lost."""
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


def known(sandbox):
    """The environment in which a command finds this sandbox."""
    names = ("base_url", "outgoing_url", "access_key", "secret_key")
    return {f"CONFKIT_{name.upper()}": str(getattr(sandbox, name)) for name in names}
