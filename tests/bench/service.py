"""The sandbox: calls a second beside a greeting from the same server, and how soon it answers."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from urllib.parse import urlencode, urlsplit

import confkit as ck
from tests.bench.figures import Figure, take_turns
from tests.bench.servers import SANDBOX, program

THREADS, CALLS = 16, 100
HELLO = """
import sys, uvicorn
async def hello(scope, receive, send):
    length = [(b"content-type", b"text/plain"), (b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": b"hello"})
uvicorn.run(hello, port=int(sys.argv[1]), http="h11", lifespan="off", log_level="error")
"""
FIRST = """
import time
started = time.perf_counter()
import confkit as ck
ck.list_devices(ck.connect("sandbox"))
print(time.perf_counter() - started)
"""


def figures() -> Iterator[Figure]:
    with (
        program(SANDBOX) as url,
        program(HELLO) as hello,
        ck.Client(url, url, "demo_access", "demo_secret") as client,
    ):
        room_id = ck.create_room(client, "Weekly sync", "ops")
        query = urlencode({"access_token": client.token().reveal(), "room_id": room_id})
        ways = {
            "hello": partial(_many, hello, "/"),
            "sandbox": partial(_many, url, f"/rtc/room/get?{query}"),
        }
        theirs, ours = (each.seconds for each in take_turns(ways, 7).values())
    yield Figure("calls a second to 16 threads / a greeting of uvicorn", theirs / ours, 0.5, True)
    command = [sys.executable, "-c", FIRST]
    started = [float(subprocess.check_output(command)) for _ in range(7)]
    yield Figure(
        '`connect("sandbox")` to the first answer, imports included, s', median(started), 1
    )


def _many(url: str, target: str) -> None:
    """Send the same request so many times in each thread, on a connection of its own."""

    place = urlsplit(url)
    request = f"GET {target} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()

    def ask(_: int) -> None:
        with socket.create_connection((place.hostname, place.port)) as peer:
            for _ in range(CALLS):
                peer.sendall(request)
                head, _, body = peer.recv(65536).partition(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split()[0])
                while len(body) < length:
                    body += peer.recv(65536)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(ask, range(THREADS)))
