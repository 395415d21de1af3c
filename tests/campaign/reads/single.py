"""Single helpers under chaos: one after the other, and from many threads that share a client."""

import threading
import time

from ..frame import Counts, Piece
from .judge import HANG, Judge, left_behind, together
from .world import HELPERS, attacked, outcome, world

ROOMS = 24
THREADS = 8
_SHARES = {"get_room": 40, "get_room_users": 30, "get_mcu": 15, "list_devices": 15}


def one_by_one(piece: Piece) -> Counts:
    """Calls of all reading helpers, one after the other."""
    return _run(piece, 1)


def from_threads(piece: Piece) -> Counts:
    """The same from many threads, which share one client."""
    return _run(piece, THREADS)


def _run(piece: Piece, threads: int) -> Counts:
    judges: list[Judge] = []
    with (
        left_behind(judges),
        world(piece, ROOMS) as known,
        attacked(known, piece) as (chaos, client),
    ):
        judge = Judge(piece, (known.secrets, chaos.secrets), client.timeout)
        judges.append(judge)

        def ask(share: int) -> None:
            chance = piece.chance(f"asks {share}")
            asks = {name: known.calls(name) for name in HELPERS}
            for name in chance.choices(
                list(_SHARES), list(_SHARES.values()), k=piece.size // threads
            ):
                call = chance.choice(asks[name])
                began = time.monotonic()
                came = outcome(client, call)
                judge.call(call, known.truth[call], came, time.monotonic() - began)

        asking = [
            threading.Thread(target=ask, args=(share,), daemon=True) for share in range(threads)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(60 + piece.size)
            if thread.is_alive():
                judge.note(HANG, "a thread", "an end", "none")
        judge.end(chaos, client)
    return together(judge)
