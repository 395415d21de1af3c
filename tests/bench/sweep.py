"""What a sweep reaches beside requests in threads, on a fast server and on one that is far away."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import requests

import confkit as ck
from tests.bench.figures import Figure, take_turns
from tests.bench.servers import program

ROUNDS, CALLS, USUAL_CALLS = 5, 10_000, 1_500
LATENCY = 0.02
FIELDS = {"access_token": "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="}
NUMBERS = {"room_status": 1, "attendee_max": "25", "max_audio": "8", "max_video": "4"}
TEXTS = {"topic": "Weekly sync of the field team", "owner_id": "operations-17"}
MORE = {"room_mode": 1, "host_password": "s3cret-17", "room_extend_id": ""}
ROOM = {"ret": 0, "id": 100017, "room_id": "$room_id", **TEXTS, **NUMBERS, **MORE}
REPLIES = {"/rtc/auth/valid": {"ret": 0, "random": "abc", "key": "def"}, "/rtc/room/get": ROOM}

# A server that answers each request after a wait, as one at the other end of a country does; its
# arguments are that wait, and the answers by their paths.
SERVER = """
import asyncio, json, re, sys
_, port, wait, replies = sys.argv
replies = {path.encode(): json.dumps(reply).encode() for path, reply in json.loads(replies).items()}
class Protocol(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
    def write(self, answer):
        if not self.transport.is_closing():
            self.transport.write(answer)
    def data_received(self, data):
        path = re.match(rb"GET ([^? ]*)", data)[1]
        found = re.search(rb"room_id=(\\w+)", data)
        body = replies.get(path, b"").replace(b"$room_id", found[1] if found else b"")
        head = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: "
        answer = head + b"%d\\r\\n\\r\\n" % len(body) + body
        loop.call_later(float(wait), self.write, answer) if float(wait) else self.write(answer)
async def main():
    global loop
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Protocol, "127.0.0.1", int(port), backlog=1024)
    await server.serve_forever()
asyncio.run(main())
"""


def figures() -> Iterator[Figure]:
    with program(SERVER, "0", json.dumps(REPLIES)) as url:
        both = Both(url)
        ways = {
            "requests": partial(both.usual, USUAL_CALLS),
            "sweep": partial(both.records, CALLS),
        }
        usual, ours = take_turns(ways, ROUNDS).values()
    more = CALLS / USUAL_CALLS  # the sweep makes so many times the calls
    text = "sweep to records / requests with 32 threads, one fast server"
    yield Figure(f"{text}: calls a second", more * usual.seconds / ours.seconds, 8, True)
    yield Figure(f"{text}: processor", ours.cpu / usual.cpu / more, 1 / 7)
    with program(SERVER, str(LATENCY), json.dumps(REPLIES)) as url:
        both = Both(url)
        far = {
            64: partial(both.records, CALLS, 64),
            256: partial(both.records, CALLS, 256),
            "requests": partial(both.usual, USUAL_CALLS),
            "session": partial(both.slowly, USUAL_CALLS),
        }
        taken = {name: each.seconds for name, each in take_turns(far, ROUNDS).items()}
    for flying, aim in ((64, 0.9), (256, 0.75)):
        text = f"share of the ideal at 20 ms, {flying} in flight"
        yield Figure(text, CALLS * LATENCY / flying / taken[flying], aim, True)
    text = "without pycurl at 20 ms, 32 in flight / requests with 32 threads"
    yield Figure(text, taken["requests"] / taken["session"], 1.0, True)


def _ids(count: int) -> list[str]:
    return [f"10{number:06d}" for number in range(count)]


class Both:
    """Both ways to ask a service: a sweep, and requests in 32 threads."""

    def __init__(self, url: str) -> None:
        self.url, self.session = url, requests.Session()
        self.session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=32))
        keys = {"access_key": "demo", "secret_key": "demo"}
        self.client = ck.connect(base_url=url, outgoing_url=url, **keys)
        self.client.token()

    def usual(self, calls: int) -> None:
        """What requests gives of so many rooms."""

        def ask(room_id: str) -> Any:
            fields = {**FIELDS, "room_id": room_id}
            return self.session.get(f"{self.url}/rtc/room/get", params=fields, timeout=10).json()

        with ThreadPoolExecutor(32) as pool:
            assert len(list(pool.map(ask, _ids(calls)))) == calls

    def records(self, calls: int, flying: int = 32) -> None:
        """A sweep of so many rooms, without their users."""
        given = {"users": False, "concurrency": flying, "progress": False}
        assert len(ck.sweep(self.client, _ids(calls), **given).rooms) == calls

    def slowly(self, calls: int) -> None:
        """The same without libcurl: a hook of the session's has nothing like it there."""
        self.client.session.hooks["response"].append(lambda *_, **__: None)
        self.records(calls)
        self.client.session.hooks["response"].clear()
