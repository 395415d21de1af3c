"""Where the servers of tests listen: an address for each process, and ports for servers that take
no 0 and say later than wished where they listen."""

import itertools
import os
import secrets
import socket
import sys

_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw19").removeprefix("gw")) % 20

# On Linux all of 127/8 is this machine. Each process of the tests has an address of its own there:
# a caller that is left over reaches no server of another process, which may have its port now.
HERE = f"127.0.1.{1 + _WORKER}" if sys.platform == "linux" else "127.0.0.1"

# Below the ports that systems hand out by themselves, a range for each process of the tests.
_RANGE = 500
_FIRST = 20_000 + _RANGE * _WORKER
_TURNS = itertools.count(secrets.randbelow(_RANGE))  # two runs at once begin at different ports


def quiet_port():
    """A free port that stays free until it is used, also while other tests open sockets."""
    while True:
        port = _FIRST + next(_TURNS) % _RANGE
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
