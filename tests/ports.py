"""Ports for servers that take no 0 and say later than wished where they listen."""

import secrets
import socket


def quiet_port() -> int:
    """A free port below those that systems hand out by themselves: still free a moment later, also
    while other tests open sockets."""
    while True:
        # Not by `random`, which is seeded alike before each test: two that run at once would both
        # find the same port free.
        port = 20_000 + secrets.randbelow(10_000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
