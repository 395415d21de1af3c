"""Whether a media server accepts a connection from here."""

import re
import socket

from ..secret import SecretAddress

_HOST_AND_PORT = re.compile(r"(?:\[([^\[\]@/?#\s]+)\]|([^\[\]@/?#\s:]+)):([0-9]{1,5})")
_TIMEOUT = 2.0  # seconds


def mcu_answers(address: str) -> tuple[bool, str]:
    """Try a TCP connection to a media server's `host:port` (A5), for at most 2 seconds plus the
    look-up of its name; return whether it accepts one, and a sentence that says so.

    Nothing is sent, and nothing is raised for a server that does not respond. A server that takes
    media over UDP only may work nevertheless.
    """
    text = SecretAddress(address)
    parts = _HOST_AND_PORT.fullmatch(address.strip())
    if not parts or not 0 < int(parts[3]) < 65536:
        return False, f"{text!r} is not host:port, so nothing was tried"
    try:
        socket.create_connection((parts[1] or parts[2], int(parts[3])), _TIMEOUT).close()
    except (OSError, UnicodeError) as error:  # Unicode: a name that IDNA cannot encode
        reason = "no response" if isinstance(error, TimeoutError) else str(error)
        reason = f"{text} does not accept TCP connections from here ({reason})"
        return False, f"{reason}; the media itself may still run over UDP"
    return True, f"{text} accepts connections from here"
