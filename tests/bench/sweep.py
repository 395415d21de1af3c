"""What a sweep reaches beside requests in threads, on a fast server and on one that is far away.

Aims: 8 times the throughput of requests.Session with 32 threads, and 1/7 of its CPU, records
included; without pycurl as fast as requests; 0.90 of the ideal at 20 ms and 64 in flight, 0.75 at
256.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pandas as pd
import requests

import confkit as ck
from tests.bench.servers import program
from tests.bench.turns import taken

ROUNDS, CALLS, USUAL_CALLS = 5, 10_000, 1_500
LATENCY = 0.02
FIELDS = {"access_token": "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="}
NUMBERS = {"room_status": 1, "attendee_max": "25", "max_audio": "8", "max_video": "4"}
TEXTS = {"topic": "Weekly sync of the field team", "owner_id": "operations-17"}
MORE = {"room_mode": 1, "host_password": "s3cret-17", "room_extend_id": ""}
ROOM = {"ret": 0, "id": 100017, "room_id": "$room_id", **TEXTS, **NUMBERS, **MORE}
USERS = [{"user_name": name, "user_id": f"5f0c2f5e-{name}"} for name in ("Ada", "Bo")]
GRANTED = {"ret": 0, "random": "abc", "key": "def"}
REPLIES = {
    "/rtc/auth/valid": GRANTED,
    "/rtc/room/get_room_info": {"ret": 0, "user_list": USERS},
    "/rtc/room/get": ROOM,
    "/": {"ret": 0, "data": {"total": 0, "items": []}},
}

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
        body = replies.get(path, replies[b"/"]).replace(b"$room_id", found[1] if found else b"")
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


def main() -> None:
    """Prints the tables."""
    with program(SERVER, "0", json.dumps(REPLIES)) as url:
        _against_requests(url)
    with program(SERVER, str(LATENCY), json.dumps(REPLIES)) as url:
        _far_away(url)


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

    def usual(self, calls: int, path: str = "get") -> list[Any]:
        """What requests gives of so many rooms."""

        def ask(room_id: str) -> Any:
            fields = {**FIELDS, "room_id": room_id}
            return self.session.get(f"{self.url}/rtc/room/{path}", params=fields, timeout=10).json()

        with ThreadPoolExecutor(32) as pool:
            return list(pool.map(ask, _ids(calls)))

    def usual_frames(self, calls: int) -> None:
        """The same of half as many rooms, with their users, in frames."""
        found = self.usual(calls // 2, "get_room_info")
        pd.DataFrame([user for one in found for user in one["user_list"]])
        pd.DataFrame(self.usual(calls // 2))

    def records(self, calls: int, flying: int = 32) -> None:
        """A sweep of so many rooms, without their users."""
        given = {"users": False, "concurrency": flying, "progress": False}
        assert len(ck.sweep(self.client, _ids(calls), **given).rooms) == calls

    def slowly(self, calls: int) -> None:
        """The same without libcurl: a hook of the session's has nothing like it there."""
        self.client.session.hooks["response"].append(lambda *_, **__: None)
        self.records(calls)
        self.client.session.hooks["response"].clear()

    def frames(self, calls: int) -> None:
        """A sweep of half as many rooms, with their users, in a frame."""
        frame = ck.sweep(self.client, _ids(calls // 2), progress=False).frame()
        assert frame["users"].sum() == calls
        assert frame["attendee_max"].sum() == 25 * calls // 2


def _against_requests(url: str) -> None:
    both = Both(url)
    pairs = {"records": (both.usual, both.records), "frames": (both.usual_frames, both.frames)}
    print(f"reading rooms from one fast server, in calls, median of {ROUNDS} rounds (aim: 8, 1/7)")
    for name, (usual, ours) in pairs.items():
        ways = {"requests": partial(usual, USUAL_CALLS), "sweep": partial(ours, CALLS)}
        theirs, own = taken(ways, ROUNDS).values()
        slow, fast = 1 / USUAL_CALLS, 1 / CALLS
        rates = 1 / theirs.seconds / slow, 1 / own.seconds / fast
        less = theirs.cpu * slow / (own.cpu * fast)
        print(
            f"  to {name:8} requests, 32 threads {rates[0]:6.0f} a second, sweep {rates[1]:6.0f}:"
        )
        print(f"              {rates[1] / rates[0]:.1f} times as fast, 1/{less:.0f} of the CPU")
    print()


def _far_away(url: str) -> None:
    both = Both(url)
    ways = {
        "sweep, 64 in flight (aim: 0.90)": (64, 10_000, lambda: both.records(10_000, 64)),
        "sweep, 256 in flight (aim: 0.75)": (256, 10_000, lambda: both.records(10_000, 256)),
        "requests, 32 threads": (32, 1_500, lambda: both.usual(1_500)),
        "sweep without pycurl, 32 (aim: that of requests)": (32, 1_500, lambda: both.slowly(1_500)),
    }
    found = taken({name: run for name, (*_, run) in ways.items()}, ROUNDS)
    print(f"share of the ideal, calls x latency / in flight, at {1000 * LATENCY:.0f} ms")
    for name, (flying, calls, _) in ways.items():
        print(f"  {name:<49}{calls * LATENCY / flying / found[name].seconds:6.2f}")
    print()
