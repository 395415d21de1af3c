"""A mixed load on a sandbox, in a process of its own: FOLDER SEED FILL, until its input ends.

Lines out, each a JSON object: the two processes; that it is ready; every second how the calls
fare; at the end what the sandbox took up before the load, and what it does after it.
"""

import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import confkit as ck
from confkit.sandbox import Sandbox
from tests.campaign.soak.loads import LOADS, Turn
from tests.campaign.soak.sampling import sample
from tests.campaign.soak.steering import Served

ROOMS, HELD = 30, 20
TOKENS = 10_000  # that a sandbox keeps: what is bounded is filled before anything is measured
SETTLED = 30.0  # seconds in which what is let go of is gone


def main(folder: str, seed: str, fill: str) -> None:
    """Loads the sandbox until nobody wants it any more."""
    place, ended, told = Path(folder), threading.Event(), Report()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    (place / "soak.sqlite").unlink(missing_ok=True)
    served = Served(str(place / "soak.sqlite"), place / "sandbox.log")
    say({"sandbox": served.pid, "load": os.getpid()})
    with ExitStack() as open_now:
        yard = open_now.enter_context(Sandbox())
        client = open_now.enter_context(served.client())
        cameras = [yard.camera(size=(160, 120), fps=5) for _ in range(HELD + 1)]
        rooms = [ck.create_room(client, f"Room {n}", "soak") for n in range(ROOMS)]
        steady = []
        for number, url in enumerate(cameras[:HELD]):
            device = rooms[number % len(rooms)], f"camera-{number}"
            ck.import_device(client, *device, f"Camera {number}", url)
            steady.append(device)
        for _ in range(TOKENS if fill == "fill" else 0):
            client.send(client_login(client))
        client.session.close()
        before = settled(served.pid, {})
        say({"ready": True})
        workers = []
        for name, (pause, load) in LOADS.items():
            turn = Turn(served, yard, rooms, cameras, HELD, random.Random(f"{seed}/{name}"),
                        served.client(), {"steady": steady[: HELD // 2]})  # fmt: skip
            work = (name, load, turn, pause, ended, told)
            workers.append(threading.Thread(target=again_and_again, args=work, name=name))
        for worker in workers:
            worker.start()
        while not ended.wait(1.0):
            say(told.latest())
        for worker in workers:
            worker.join()
        say(told.latest())
        after = settled(served.pid, before)
    say({"before": before, "after": after, "ended": served.end(), "done": told.done})


def client_login(client: ck.Client) -> Any:
    """The request of a login, by itself."""
    from confkit.endpoints import A1
    from confkit.signing import digest
    from confkit.wire import Request

    signed = digest(client.access_key, client.secret_key, client.dialect)
    return Request(A1, {"access_key": client.access_key, "digest": signed})


def again_and_again(
    name: str,
    load: Callable[[Turn], None],
    turn: Turn,
    pause: float,
    ended: threading.Event,
    told: "Report",
) -> None:
    """One load after the other, until the end."""
    while not ended.is_set():
        began = time.monotonic()
        try:
            load(turn)
        except Exception as error:  # noqa: BLE001  # each is counted, and the load goes on
            told.failed(name, error)
        told.took(name, time.monotonic() - began)
        ended.wait(pause)
    turn.client.close()


def settled(pid: int, wanted: dict[str, float]) -> dict[str, float]:
    """What a process takes up, once it is no more than is wanted, or does not change any more."""
    until, seen = time.monotonic() + SETTLED, {}
    while time.monotonic() < until:
        found = sample(pid)
        names = ("descriptors", "threads")
        if wanted and all(found.get(name, 0) <= wanted.get(name, 0) for name in names):
            return found
        if not wanted and seen and all(found.get(name) == seen.get(name) for name in names):
            return found
        seen = found
        time.sleep(0.3)
    return seen


class Report:
    """How the calls fare, since it was last asked."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._failures: list[str] = []
        self._seconds: list[float] = []

    def took(self, name: str, seconds: float) -> None:
        """Notes that a load was carried out."""
        with self._lock:
            self.done[name] += 1
            if name == "writes":  # four calls, which are the same every time
                self._seconds.append(seconds)

    def failed(self, name: str, error: Exception) -> None:
        """Notes that a load went wrong."""
        with self._lock:
            self._failures.append(f"{name}: {type(error).__name__}: {error}")

    def latest(self) -> dict[str, Any]:
        """What came since the last time."""
        with self._lock:
            seconds, self._seconds = sorted(self._seconds), []
            failures, self._failures = self._failures, []
        told: dict[str, Any] = {"failures": failures, "loads": sum(self.done.values())}
        if seconds:
            told["four calls in ms"] = 1000 * seconds[len(seconds) // 2]
        return told


def say(what: dict[str, Any]) -> None:
    """Nothing, once a line is out."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
