"""Room-get on the sandbox beside a bare ASGI hello-world on the same server, and nginx."""

from statistics import median

import confkit as ck
from confkit.wire import encode
from tests.bench.servers import load, nginx, program

ROUNDS = 5
BARE = """
import sys, uvicorn

async def hello(scope, receive, send):
    headers = [(b"content-type", b"application/json"), (b"content-length", b"17")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"hello":"world"}'})

uvicorn.run(hello, port=int(sys.argv[1]), log_config=None, access_log=False, lifespan="off")
"""
SANDBOX = """
import sys, time
from confkit.sandbox import Sandbox
with Sandbox(port=int(sys.argv[1])):
    time.sleep(600)
"""


def main() -> None:
    """Prints requests a second, and what share of the others' the sandbox reaches."""
    with nginx({"/": '{"hello":"world"}'}) as fast, program(BARE) as bare, program(SANDBOX) as own:
        with ck.Client(own, own, "demo_access", "demo_secret") as client:
            room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=25)
            query = encode({"access_token": str(client.token()), "room_id": room_id})
        urls = {"nginx": fast, "bare hello": bare, "sandbox": f"{own}/rtc/room/get?{query}"}
        rounds = [{name: load(url) for name, url in urls.items()} for _ in range(ROUNDS)]
    rates = {name: median(one[name] for one in rounds) for name in urls}
    print(f"room-get on the sandbox, requests a second, median of {ROUNDS}")
    for name, rate in rates.items():
        print(f"  {name:12}{rate:8.0f}   the sandbox has {rates['sandbox'] / rate:.2f} of it")
    print()
