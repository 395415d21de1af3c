"""What a sweep reaches beside requests in threads, on one nginx; and the way from JSON to a frame.

Aims: 22 times the throughput of requests.Session with 32 threads, and 1/20 of its CPU, records
included; 0.93 of the ideal at 20 ms and 64 in flight, 0.80 at 256; bodies to a typed frame in 0.45
of the time and 0.35 of the memory.
"""

import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import requests

import confkit as ck
from confkit.endpoints import A3
from confkit.frames import room_columns
from confkit.many.reading import read_room
from confkit.wire import Answer, Request
from tests.bench.servers import answers, free_port, lacking, load, nginx, process
from tests.bench.turns import taken

ROUNDS, CALLS, USUAL_CALLS, BODIES = 5, 10_000, 1_500, 100_000
LATENCY = 0.02
TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
ROOM = {
    "ret": 0,
    "id": 100017,
    "room_id": "$arg_room_id",
    "topic": "Weekly sync of the field team",
    "room_status": 1,
    "owner_id": "operations-17",
    "host_password": "s3cret-17",
    "attendee_max": "25",
    "max_audio": "8",
    "max_video": "4",
    "room_extend_id": "",
    "room_mode": 1,
}
USERS = {
    "ret": 0,
    "user_list": [
        {"user_name": "Ada", "user_id": "5f0c2f5e-0001"},
        {"user_name": "Bo", "user_id": "5f0c2f5e-0002"},
    ],
}
DEVICES = {"ret": 0, "data": {"total": 0, "items": []}}
GRANTED = {"ret": 0, "random": "abc", "key": "def"}
REPLIES = {
    "/rtc/auth/valid": GRANTED,
    "/rtc/room/get_room_info": USERS,
    "/rtc/room/get": ROOM,
    "/avd/": DEVICES,
}

# A server that answers each request after a wait, as one at the other end of a country does.
SLOW = f"""
import asyncio, sys, uvloop
ROOM, GRANTED = sys.argv[2].encode(), sys.argv[3].encode()
HEAD = "HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: "
class Slow(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
    def write(self, answer):
        if not self.transport.is_closing():
            self.transport.write(answer)
    def data_received(self, data):
        query = data.split(b" ", 2)[1].partition(b"?")[2]
        body = GRANTED
        if b"room_id=" in query:
            room_id = query.partition(b"room_id=")[2].partition(b"&")[0]
            body = ROOM.replace(b"$arg_room_id", room_id)
        answer = (HEAD + str(len(body)) + "\\r\\n\\r\\n").encode() + body
        loop.call_later({LATENCY}, self.write, answer)
async def main():
    global loop
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Slow, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()
uvloop.run(main())
"""


def main() -> None:
    """Prints the table."""
    if missing := lacking("nginx", "wrk"):
        print(f"sweep: not measured; it needs {missing}\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        replies = {path: json.dumps(reply) for path, reply in REPLIES.items()}
        with nginx(Path(folder), replies) as url:
            _against_requests(url)
    _far_away()
    _to_frame()


def _client(url: str) -> ck.Client:
    return ck.connect(base_url=url, outgoing_url=url, access_key="demo", secret_key="demo")


def _ids(count: int) -> list[str]:
    return [f"10{number:06d}" for number in range(count)]


def _against_requests(url: str) -> None:
    with _client(url) as client, requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=32))
        ways: dict[str, tuple[int, Callable[[], object]]] = {
            "requests, 32 threads": (USUAL_CALLS, lambda: _usual(session, url, USUAL_CALLS)),
            "sweep to records, 32": (CALLS, lambda: _records(client, CALLS, 32)),
            "sweep to records, 256": (CALLS, lambda: _records(client, CALLS, 256)),
            "requests, to frames": (USUAL_CALLS, lambda: _usual_frames(session, url)),
            "sweep to frames, 32": (CALLS, lambda: _frames(client, CALLS // 2)),
        }
        found = taken({name: run for name, (_, run) in ways.items()}, ROUNDS)
        wall = {name: found[name].seconds / calls for name, (calls, _) in ways.items()}
        cpu = {name: found[name].cpu / calls for name, (calls, _) in ways.items()}
        ceiling = median(load(_room(url)) for _ in range(ROUNDS))
        print(f"reading rooms from one nginx, median of {ROUNDS} rounds")
        print("                            calls/s   CPU us/call      x   CPU")
        for name in ways:
            base = "requests, to frames" if "frames" in name else "requests, 32 threads"
            rate, us = 1 / wall[name], 1e6 * cpu[name]
            faster = wall[base] / wall[name]
            less = cpu[base] / cpu[name]
            aim = "   (aim: 22, 1/20)" if name.endswith("32") else ""
            print(f"  {name:<24}{rate:9.0f}{us:12.1f}{faster:10.1f}   1/{less:.0f}{aim}")
        times = wall["requests, 32 threads"] * ceiling
        print(f"  {'wrk, the ceiling':<24}{ceiling:9.0f}{times:22.1f}")
        for rooms in (1_000, 10_000, 100_000):
            began = time.perf_counter()
            _frames(client, rooms)
            each = 1e6 * (time.perf_counter() - began) / rooms
            print(f"  {rooms:7,} rooms to a frame, both calls: {each:5.0f} us a room")
        print()


def _usual(session: requests.Session, url: str, calls: int, path: str = "get") -> list[Any]:
    def ask(room_id: str) -> Any:
        fields = {"access_token": TOKEN, "room_id": room_id}
        return session.get(f"{url}/rtc/room/{path}", params=fields, timeout=10).json()

    with ThreadPoolExecutor(32) as pool:
        return list(pool.map(ask, _ids(calls)))


def _usual_frames(session: requests.Session, url: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    rooms = _usual(session, url, USUAL_CALLS // 2)
    users = _usual(session, url, USUAL_CALLS // 2, "get_room_info")
    return pd.DataFrame(rooms), pd.DataFrame([one for found in users for one in found["user_list"]])


def _records(client: ck.Client, calls: int, concurrency: int) -> None:
    found = ck.sweep(client, _ids(calls), users=False, concurrency=concurrency, progress=False)
    assert len(found.rooms) == calls, found


def _frames(client: ck.Client, rooms: int) -> None:
    frame = ck.sweep(client, _ids(rooms), progress=False).frame()
    assert frame["users"].sum() == 2 * rooms
    assert frame["attendee_max"].sum() == 25 * rooms


def _room(url: str) -> str:
    return f"{url}/rtc/room/get?access_token={TOKEN}&room_id=1"


def _far_away() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", SLOW, str(port), json.dumps(ROOM), json.dumps(GRANTED)]
    with process(command), _client(url) as client, requests.Session() as session:
        answers(port)
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=32))
        client.token()
        print(
            f"share of the ideal (calls x latency / in flight) at {LATENCY * 1000:.0f} ms, "
            f"median of {ROUNDS}"
        )
        ways = {
            "sweep, 64 in flight": (64, 20_000, lambda: _records(client, 20_000, 64)),
            "sweep, 256 in flight": (256, 20_000, lambda: _records(client, 20_000, 256)),
            "requests, 32 threads": (32, 1_500, lambda: _usual(session, url, 1_500)),
        }
        found = taken({name: run for name, (*_, run) in ways.items()}, ROUNDS)
        for name, (flying, calls, _) in ways.items():
            share = calls * LATENCY / flying / found[name].seconds
            aim = {64: "   (aim: 0.93)", 256: "   (aim: 0.80)"}.get(flying, "")
            print(f"  {name:<24}{share:6.2f}{aim}")
        for flying in (64, 256):
            share = median(load(_room(url), flying) for _ in range(ROUNDS)) * LATENCY / flying
            print(f"  {f'wrk, {flying} in flight':<24}{share:6.2f}   (the server's own limit)")
        print()


Answers = list[tuple[Request, Answer]]  # as a sweep has them


def _bodies() -> Answers:
    bodies = [
        json.dumps(
            {
                **ROOM,
                "id": n,
                "room_id": room_id,
                "topic": f"Weekly sync of team {n}",
                "attendee_max": ("25", 25, "")[n % 3],
            }
        ).encode()
        for n, room_id in enumerate(_ids(BODIES))
    ]
    return [
        (Request(A3, {"room_id": room_id}), Answer(200, "", body))
        for room_id, body in zip(_ids(BODIES), bodies, strict=True)
    ]


def _ours(answers: Answers) -> pd.DataFrame:
    dialect = ck.Dialect()
    rooms = [read_room(request, answer, dialect) for request, answer in answers]
    return pd.DataFrame(room_columns(rooms))


def _usual_frame(answers: Answers) -> pd.DataFrame:
    frame = pd.DataFrame([json.loads(answer.body) for _, answer in answers])
    for name in ("id", "room_status", "attendee_max", "max_audio", "max_video", "room_mode"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce").astype("Int64")
    texts = ("room_id", "topic", "owner_id", "room_extend_id")
    return frame.astype(dict.fromkeys(texts, "string"))


WAYS = {"json, DataFrame, astype": _usual_frame, "read_room, rooms_frame": _ours}


def _to_frame() -> None:
    answers = _bodies()
    seconds = taken({name: partial(run, answers) for name, run in WAYS.items()}, ROUNDS)
    memory = {name: _peak(partial(run, answers)) for name, run in WAYS.items()}
    size = sum(len(answer.body) for _, answer in answers) / BODIES
    print(f"{BODIES:,} room bodies of {size:.0f} bytes to a typed frame, median of {ROUNDS}")
    usual, ours = WAYS
    for name in WAYS:
        print(f"  {name:<24}{seconds[name].seconds:7.2f} s{memory[name]:7.0f} MB")
    print(
        f"  {seconds[ours].seconds / seconds[usual].seconds:.2f} and "
        f"{memory[ours] / memory[usual]:.2f} of it   (aim: 0.45 and 0.35)\n"
    )


def _peak(run: Callable[[], object]) -> float:
    """MB by which the memory that Python counts grows at most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
