"""What is taken is given back: descriptors, threads and memory after thousands of calls.

Between two rests a process has as many descriptors and threads as before. Python's own count of its
memory may grow by 24 bytes a call, the least that one can leave behind; the resident memory by the
bytes that the calls exchanged. To both comes what is kept on purpose, the last 200 calls.
"""

import gc
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import confkit as ck
from confkit.sandbox import Sandbox

from .piece import Piece

SMALLEST, KEPT = 24, 200  # bytes, and calls on record
EXCHANGED = 500  # bytes: a request and its answer, with their heads
ROOMS, HELD = 10, 4  # of rooms, and of cameras in them
WARM = 600  # calls before the first rest: a client keeps the last 200, a sandbox fewer refusals


class Rest(NamedTuple):
    """What the process takes when nothing is under way."""

    descriptors: int
    threads: int
    held: int  # bytes that Python counts
    resident: int  # bytes


def rest(wanted: Rest | None, patience: float) -> Rest:
    """What is taken, once it is no more than wanted or the patience, in seconds, is over."""
    until = time.monotonic() + patience
    while True:
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
        found = Rest(
            len(list(Path("/dev/fd").iterdir())),
            threading.active_count(),
            tracemalloc.get_traced_memory()[0],
            resident,
        )
        same = (
            wanted and found.descriptors <= wanted.descriptors and found.threads <= wanted.threads
        )
        if same or time.monotonic() > until:
            return found
        time.sleep(0.1)


def soak(
    piece: Piece,
    load: Callable[[Sandbox, ck.Client], Callable[[int], object]],
    warm: int = WARM,
    patience: float = 30.0,
) -> None:
    """Carries out a load for so many seconds, and compares two rests."""
    tracemalloc.start()
    try:
        with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
            carried_out = load(sandbox, client)
            number = 0
            while sandbox.count() < warm:
                number += 1
                carried_out(number)
            before, asked = rest(None, patience / 10), sandbox.count()
            until = time.monotonic() + piece.size
            while time.monotonic() < until:
                carried_out(number + int(piece.counts["rounds"]))
                piece.count("rounds")
            after, calls = rest(before, patience), sandbox.count() - asked
    finally:
        tracemalloc.stop()
    piece.count("calls", calls)
    stays = KEPT * EXCHANGED
    bounds = Rest(0, 0, SMALLEST * calls + stays, EXCHANGED * calls + stays)
    for name, most, now, then in zip(Rest._fields, bounds, after, before, strict=True):
        piece.count(f"more {name}", max(0, now - then))
        if now - then > most:
            piece.broke(f"growing {name}", f"{now - then:,} in {calls:,} calls; at most {most:,}")


def mixed(sandbox: Sandbox, client: ck.Client) -> Callable[[int], None]:
    """Everything at once for one sandbox with cameras, and its clients."""
    rooms = [ck.create_room(client, f"Room {number}", "soak") for number in range(ROOMS)]
    urls = [sandbox.camera(size=(128, 96), fps=2) for _ in range(HELD + 1)]
    for room_id, url in zip(rooms, urls[:HELD], strict=False):
        ck.import_device(client, room_id, f"camera of {room_id}", "Camera", url)

    def carried_out(number: int) -> None:
        assert not ck.sweep(client, rooms, progress=False).failures
        room_id = ck.create_room(client, "Standup", "soak", attendee_max=9)
        ck.get_mcu(client, room_id)
        ck.import_device(client, room_id, "free", "Camera", urls[-1])
        ck.force_offline(client, room_id, sandbox.join(room_id, "Somebody"))
        ck.remove_device(client, room_id, "free")
        ck.delete_room(client, room_id)
        with (
            suppress(ck.AuthenticationFailed),
            ck.Client(sandbox.base_url, sandbox.outgoing_url, "demo_access", "wrong") as stranger,
        ):
            ck.get_room(stranger, rooms[0])
        if number % 10 == 0:
            assert ck.preflight(urls[0]).ok
            sandbox.snapshot(rooms[0], f"camera of {rooms[0]}")

    return carried_out
