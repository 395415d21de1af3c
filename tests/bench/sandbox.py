"""Room-get on the sandbox beside a bare ASGI hello-world on the same server, and nginx.

The load comes from wrk, on the same machine: 32 connections, one thread.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import confkit as ck
from confkit.wire import encode
from tests.bench.servers import answers, free_port, lacking, load, nginx, process

ROUNDS, SECONDS = 5, 3
HELLO = '{"hello":"world"}'

BARE = """
import sys, uvicorn

async def hello(scope, receive, send):
    headers = [(b"content-type", b"application/json"), (b"content-length", b"17")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"hello":"world"}'})

uvicorn.run(hello, port=int(sys.argv[1]), log_config=None, access_log=False, lifespan="off")
"""


def main() -> None:
    """Prints requests a second, and what share of the others' the sandbox reaches."""
    if missing := lacking("wrk", "nginx"):
        print(f"sandbox: not measured; it needs {missing}\n")
        return
    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory())
        urls = {
            "nginx": running.enter_context(nginx(Path(folder), {"/": HELLO})),
            "bare hello": running.enter_context(_bare()),
            "sandbox in memory": running.enter_context(_sandbox([])),
            "sandbox on a file": running.enter_context(_sandbox(["--db", f"{folder}/rooms"])),
        }
        rates: dict[str, list[float]] = {name: [] for name in urls}
        for _ in range(ROUNDS):
            for name, url in urls.items():
                rates[name].append(load(url, seconds=SECONDS))
    middle = {name: median(values) for name, values in rates.items()}
    print(f"room-get on the sandbox, median of {ROUNDS} rounds of {SECONDS} s")
    for name, rate in middle.items():
        print(
            f"  {name:18} {rate:8.0f} requests/s   {rate / middle['bare hello']:5.2f} of "
            f"the bare hello, {rate / middle['nginx']:5.2f} of nginx"
        )
    print()


@contextmanager
def _bare() -> Iterator[str]:
    port = free_port()
    with process([sys.executable, "-c", BARE, str(port)]):
        answers(port)
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def _sandbox(options: list[str]) -> Iterator[str]:
    command = [sys.executable, "-m", "confkit", "sandbox", "--port", "0", "--outgoing-port", "0"]
    with process([*command, *options]) as running:
        assert running.stdout is not None
        base_url, outgoing_url = (running.stdout.readline().split()[-1] for _ in range(2))
        with ck.Client(base_url, outgoing_url, "demo_access", "demo_secret") as client:
            room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=25)
            query = encode({"access_token": str(client.token()), "room_id": room_id})
        yield f"{base_url}/rtc/room/get?{query}"
