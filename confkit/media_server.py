"""Whether a media server accepts connections from this machine."""

from __future__ import annotations

import queue
import socket
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from .masking import mask_address
from .transport import finite


@dataclass(frozen=True, slots=True)
class McuAnswer:
    """Whether a media server accepts TCP connections from here: true as a condition when it does.

    `reason` says it in one sentence, `seconds` how long it took to find out."""

    address: str
    ok: bool
    seconds: float
    reason: str

    def __bool__(self) -> bool:
        return self.ok


def mcu_answers(address: str, timeout: float = 2.0) -> McuAnswer:
    """Whether something accepts a TCP connection at a media server's `host:port` (A5), in at most
    `timeout` seconds.

    Nothing is sent, and nothing raised for a server that does not answer: `reason` says why. A
    server that takes media over UDP alone may do well without accepting any connection, and what
    accepts one need not be a media server. ValueError: the timeout is no number above 0.
    """
    if not finite(timeout):
        raise ValueError(f"timeout is {timeout!r}; give seconds, above 0 and finite")
    shown = mask_address(str(address), broken=True)
    target = _host_and_port(str(address))
    if target is None:
        return McuAnswer(shown, False, 0.0, f"{shown!r} is not host:port, so nothing was tried")
    began = time.monotonic()
    outcome: queue.SimpleQueue[OSError | UnicodeError | None] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            socket.create_connection(target, timeout).close()
        except (OSError, UnicodeError) as error:  # Unicode: a name that IDNA cannot encode
            outcome.put(error)
        else:
            outcome.put(None)

    # In a thread, because looking up a name heeds no timeout.
    threading.Thread(target=attempt, name=f"media server {target[0]}", daemon=True).start()
    try:
        problem = outcome.get(timeout=timeout)
    except queue.Empty:
        problem = TimeoutError()
    seconds = time.monotonic() - began
    if problem is None:
        return McuAnswer(shown, True, seconds, f"{shown} accepts connections from here")
    told = f"{shown} does not accept TCP connections from here: {_why(problem, timeout)}"
    return McuAnswer(shown, False, seconds, f"{told}; the media itself may still run over UDP")


def _host_and_port(address: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(f"//{address.strip()}")
        found = parts.hostname, parts.port
    except ValueError:
        return None
    host, port = found
    bare = parts.netloc == address.strip() and "@" not in address
    return (host, port) if host and port and bare else None


def _why(problem: OSError | UnicodeError, timeout: float) -> str:
    if isinstance(problem, ConnectionRefusedError):
        return "it refuses them"
    if isinstance(problem, TimeoutError):
        return f"no answer within {timeout:g} s"
    if isinstance(problem, socket.gaierror | UnicodeError):
        return "its host name is not known here"
    return f"it cannot be reached ({problem.strerror or type(problem).__name__})"
