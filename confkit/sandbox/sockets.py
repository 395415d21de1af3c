"""Where a sandbox answers: hosts, ports and the sockets that are bound to them."""

import ipaddress
import os
import socket

from ..errors import ConfigError, ConfkitError


def resolve(host: str) -> tuple[str, bool]:
    """The IP address of a host, and whether it is loopback; unknown ones are a ConfigError."""
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"The sandbox's host {host!r} is not known here ({error}).") from None
    found.sort(
        key=lambda item: item[0] != socket.AF_INET
    )  # "localhost" is 127.0.0.1 to most people
    address = str(found[0][4][0])
    return address, ipaddress.ip_address(address.partition("%")[0]).is_loopback


def share(part: int, most: int) -> int:
    """How many connections may be held with one in `part` of the descriptors that this process may
    have, `most` at the most: in a kernel they are the notebook's too."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return most
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if soft == resource.RLIM_INFINITY else max(1, min(most, soft // part))


def bind(address: str, port: int) -> socket.socket:
    """A socket bound to address and port; one that is taken is a ConfkitError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
        bound.listen(2048)
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or error
        raise ConfkitError(
            f"The sandbox cannot listen on {address}, port {port}: {reason}. "
            "Give another port, or 0 for any that is free."
        ) from None
    return bound


def url(bound: socket.socket) -> str:
    """The base URL under which a bound socket is reached from this machine."""
    host, port = bound.getsockname()[:2]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"
