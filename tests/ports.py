"""Ports for servers that take no 0 and say later than wished where they listen."""

import random
import socket


def quiet_port() -> int:
    """A free port below those that systems hand out by themselves: still free a moment later, also
    while other tests open sockets."""
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
