"""Whether a media server accepts a connection from here."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..secret import mask_address
from ..transport import finite


@dataclass(frozen=True, slots=True)
class McuAnswer:
    """Whether a media server accepts TCP connections from here: true as a condition when it does.

    `reason` says it in one sentence."""

    address: str
    ok: bool
    reason: str

    def __bool__(self) -> bool:
        return self.ok


def mcu_answers(address: str, timeout: float = 2.0) -> McuAnswer:
    """Try whether something accepts a TCP connection at a media server's `host:port` (A5), in at
    most `timeout` seconds, but for the look-up of its name.

    Nothing is sent, and nothing raised for a server that does not answer: `reason` says why. A
    server that takes media over UDP alone may do well without accepting any connection, and what
    accepts one need not be a media server. ValueError: the timeout is no number above 0.
    """
    if not finite(timeout):
        raise ValueError(f"timeout is {timeout!r}; give seconds, above 0 and finite")
    shown = mask_address(str(address), broken=True)
    target = _host_and_port(str(address).strip())
    if target is None:
        return McuAnswer(shown, False, f"{shown!r} is not host:port, so nothing was tried")
    try:
        socket.create_connection(target, timeout).close()
    except (OSError, UnicodeError) as error:  # Unicode: a name that IDNA cannot encode
        why = f"it cannot be reached ({getattr(error, 'strerror', '') or type(error).__name__})"
        if isinstance(error, ConnectionRefusedError):
            why = "it refuses them"
        elif isinstance(error, TimeoutError):
            why = f"no answer within {timeout:g} s"
        elif isinstance(error, socket.gaierror | UnicodeError):
            why = "its host name is not known here"
        told = f"{shown} does not accept TCP connections from here: {why}"
        return McuAnswer(shown, False, f"{told}; the media itself may still run over UDP")
    return McuAnswer(shown, True, f"{shown} accepts connections from here")


def _host_and_port(address: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    bare = parts.netloc == address and "@" not in address
    return (host, port) if host and port and bare else None
