"""An honest caller in a process of its own, as users are: both interfaces, one call after another.

`python -m tests.campaign.overload.honest` reads where the sandbox answers from the first line of
its input, calls until the input ends, and prints how many calls there were and what became of them.
"""

import json
import select
import socket
import sys
import time
from typing import Any
from urllib.parse import urlsplit

from confkit.client import Client
from confkit.errors import ConfkitError
from confkit.listing import list_devices
from confkit.rooms import get_room
from confkit.sandbox.life import DEMO_ACCESS_KEY, DEMO_SECRET_KEY

from .settings import DEVICES, DIALECT

_PAUSE = 0.02
_PATIENCE = 15.0  # seconds to connect and to read in clients: later, somebody had to ask again


def main() -> None:
    """Calls until the input ends."""
    place = json.loads(sys.stdin.readline())
    kept = connected(place)
    print("ready", flush=True)
    calls, unanswered, worst = 0, [], 0.0
    while not select.select([sys.stdin], [], [], _PAUSE)[0]:
        for ask in (a, b, fresh, camera):
            began = time.monotonic()
            try:
                ask(place, kept)
            except (ConfkitError, OSError, AssertionError) as error:
                unanswered.append(f"{ask.__name__}: {type(error).__name__}: {error}")
            calls, took = calls + 1, time.monotonic() - began
            worst = max(worst, took)
            if took > _PATIENCE:
                unanswered.append(f"{ask.__name__}: answered after {took:.0f} s only")
    print(json.dumps({"calls": calls, "unanswered": unanswered, "worst": worst}), flush=True)


def connected(place: dict[str, Any]) -> Client:
    """A client as users have it, with the time-outs that are usual."""
    keys = {"access_key": DEMO_ACCESS_KEY, "secret_key": DEMO_SECRET_KEY, "dialect": DIALECT}
    return Client(base_url=place["A"], outgoing_url=place["B"], **keys)


def a(place: dict[str, Any], kept: Client) -> None:
    """A read of interface A, on a connection that is kept."""
    assert get_room(kept, place["room"]).topic == "Overloaded"


def b(place: dict[str, Any], kept: Client) -> None:
    """A read of interface B, on a connection that is kept."""
    assert len(list_devices(kept, place["room"])) == DEVICES


def fresh(place: dict[str, Any], _: Client) -> None:
    """A login and a read, on a new connection."""
    with connected(place) as client:
        a(place, client)


def camera(place: dict[str, Any], _: Client) -> None:
    """A camera that is asked what it can."""
    found = urlsplit(place["camera"])
    with socket.create_connection((found.hostname, found.port), 10) as line:
        line.sendall(f"OPTIONS {place['camera']} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
        assert line.recv(100).startswith(b"RTSP/1.0 200")


if __name__ == "__main__":
    main()
