"""Whether a media server accepts a connection from here."""

from __future__ import annotations

import re
import socket
from typing import NamedTuple

from ..secret import mask_address
from ..transport import finite

_HOST_AND_PORT = re.compile(r"(?:\[([^\[\]@/?#\s]+)\]|([^\[\]@/?#\s:]+)):([0-9]{1,5})")


class McuAnswer(NamedTuple):
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
    found = _HOST_AND_PORT.fullmatch(str(address).strip())
    if not found or not 0 < int(found[3]) < 65536:
        return McuAnswer(shown, False, f"{shown!r} is not host:port, so nothing was tried")
    try:
        socket.create_connection((found[1] or found[2], int(found[3])), timeout).close()
    except (OSError, UnicodeError) as error:  # Unicode: a name that IDNA cannot encode
        why = f"it cannot be reached ({getattr(error, 'strerror', '') or type(error).__name__})"
        if isinstance(error, ConnectionRefusedError):
            why = "it refuses them"
        elif isinstance(error, TimeoutError):
            why = f"no answer within {timeout:g} s"
        elif isinstance(error, socket.gaierror | UnicodeError):
            why = "its host name is not known here"
        text = f"{shown} does not accept TCP connections from here: {why}"
        return McuAnswer(shown, False, f"{text}; the media itself may still run over UDP")
    return McuAnswer(shown, True, f"{shown} accepts connections from here")
