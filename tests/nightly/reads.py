"""Reads under chaos: what is not true has failed with a name, in time, and most of it is true."""

import gc
import itertools
import resource
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

import confkit as ck
from confkit.frames import without_login
from tests.ways import by

from .piece import Piece
from .proxy import Chaos, held_in
from .world import BENIGN_ALONE, HELPERS, PASSWORD, World, attacked, hostile, outcome, world

FLOOR = 0.7  # of the calls give what is true, whatever is done to them
FAULTY = 0.2  # of the requests meet a fault
QUICK = (0.5, 0.4)  # time-outs of a client that is not to wait long
HANG = 120.0  # seconds; nine tries and a sweep's rounds are over long before
MEMORY = 700  # megabytes that no piece may need more than before, whatever is sent to it
OPENED = 8  # files that libraries keep open once they are in use
CALLS = {"users": ("A6",), "people": ("A6", "B3"), "devices": ("A6", "B3")}
FIELDS = ("topic", "attendee_max", "owner_id", "max_audio", "max_video", "room_status", "id")
Make = Callable[..., ck.Client]
# Under benign faults alone all of it has to be true.
KINDS = {"calls": (FLOOR, hostile(FAULTY), {"timeout": QUICK}), "benign calls":
         (1.0, BENIGN_ALONE, {})}  # fmt: skip


class Judge:
    """Judges what comes of reads, in calls of one kind."""

    def __init__(self, piece: Piece, kind: str, secrets: list[set[str]]) -> None:
        self.piece, self._kind, self._secrets = piece, kind, secrets

    def judged(self, right: int, of: int = 1) -> None:
        """Counts calls, and how many of them gave what is true."""
        self.piece.count(self._kind, of)
        self.piece.count(f"true {self._kind}", right)

    def call(self, what: object, truth: Any, came: Any) -> None:
        """What came of a call is the truth (a value, or an error's class), or an error of ours that
        says why it is not known: RoomNotFound for a room that is there would be a wrong value. A
        code that nobody knows (ApiError itself) is such an error: services may have their own."""
        right = type(came) is truth if isinstance(truth, type) else came == truth
        self.judged(right)
        if isinstance(came, ck.ConfkitError):
            self.error(what, came)
            if not right and isinstance(came, ck.ApiError) and type(came) is not ck.ApiError:
                self.piece.broke("wrong values", what, truth, came)
        elif isinstance(came, BaseException):
            self.foreign(what, came)
        elif not right or type(came) is not type(truth):
            self.piece.broke("wrong values", what, truth, came)

    def foreign(self, what: object, error: BaseException) -> None:
        """An exception that is not ours."""
        told = "".join(traceback.format_exception(error)[-6:])
        self.piece.broke("foreign exceptions", what, told)

    def error(self, what: object, error: ck.ConfkitError) -> None:
        """An error names its cause, then its next step, and no secret."""
        text = str(error)
        cause = text.removesuffix(error.advice).strip()
        if not (error.advice.strip() and text.endswith(error.advice) and len(cause) > 10):
            self.piece.broke("errors without cause or next step", what, text)
        self.shown(what, "".join(traceback.format_exception(error)) + repr(error) + error.advice)

    def shown(self, what: object, text: str) -> None:
        """A text that people see holds no secret."""
        if any(held_in(text, secrets) for secrets in self._secrets):
            self.piece.broke("secrets shown", what)


@contextmanager
def judges(
    piece: Piece, rooms: int, make: Make
) -> Iterator[tuple[World, list[tuple[Judge, ck.Client]]]]:
    """A world, and a judge and a client for each kind of call; what they leave behind is judged."""
    with left_behind(piece), world(piece, rooms) as known, ExitStack() as attacks:
        found = []
        for kind, (_, weights, options) in KINDS.items():
            made = attacked(known.sandbox, piece, weights, make, **options)
            chaos, client = attacks.enter_context(made)
            secrets = [{PASSWORD, str(known.sandbox.secret_key)}, chaos.secrets]
            found.append((Judge(piece, kind, secrets), client))
            attacks.callback(_looked_back, *found[-1], chaos)
        yield known, found
    for kind, (least, _, _) in KINDS.items():
        piece.floor(f"true {kind}", kind, least)


def _looked_back(judge: Judge, client: ck.Client, chaos: Chaos) -> None:
    for call in client.calls:
        judge.shown("the record of a call", repr(call) + call.answer + call.as_curl())
    for told in chaos.leaked:
        judge.piece.broke("tokens sent to another host", told[:40])


def single(piece: Piece, make: Make = ck.Client, threads: int = 1) -> None:
    """Calls of all reading helpers, from so many threads that share their clients."""
    with judges(piece, 24, make) as (known, clients):

        def ask(number: int) -> None:
            chance = piece.chance(f"asks {number}")
            asks = [[call for call in known.truth if call[0] == name] for name in HELPERS]
            for calls in chance.choices(asks, [40, 15, 30, 15], k=piece.size // threads):
                call, (judge, client) = chance.choice(calls), chance.choice(clients)
                began = time.monotonic()
                judge.call(call, known.truth[call], outcome(client, call))
                _in_time(piece, call, began)

        asking = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(threads)]
        for one in asking:
            one.start()
        for one in asking:
            one.join(HANG + piece.size)
            if one.is_alive():
                piece.broke("hangs", "a thread has not ended")


def from_threads(piece: Piece, make: Make = ck.Client) -> None:
    """The same from many threads."""
    single(piece, make, threads=8)


def sweeps(piece: Piece, make: Make = ck.Client) -> None:
    """Sweeps of all rooms, by libcurl and in threads in turn."""
    with judges(piece, 60, make) as (known, clients):
        for _, client in clients:
            for _ in range(9):  # a login that is lost loses every row: people log in again
                with suppress(ck.ConfkitError):
                    client.token()
        for turn in itertools.count():
            for judge, client in clients:
                way, began = by(client, ("libcurl", "threads")[turn % 2]), time.monotonic()
                _sweep(judge, way, expected(known), turn)
                _in_time(piece, f"sweep {turn}", began)
            if turn and piece.counts["calls"] >= piece.size:
                return


def expected(known: World) -> dict[str, dict[str, Any]]:
    """For each room what its row says when nothing fails."""
    devices = {(one.room_id, one.user_id) for one in known.truth["list_devices", None]}
    found = {}
    for room_id in known.ids:
        room, users = known.truth["get_room", room_id], known.truth["get_room_users", room_id]
        few = sum((room_id, user.user_id) in devices for user in users)
        found[room_id] = {name: getattr(room, name) for name in FIELDS}
        found[room_id] |= {"users": len(users), "devices": few, "people": len(users) - few}
        for name in ("topic", "owner_id"):  # as frames show it: without a camera's password
            found[room_id][name] = without_login(found[room_id][name])
    return found


def _sweep(judge: Judge, client: ck.Client, truth: dict[str, Any], turn: int) -> None:
    what, ids, broke = f"sweep {turn}", [*truth, "404"], judge.piece.broke
    of = len(ids) * (3 + len(FIELDS))
    try:
        swept = ck.sweep(client, ids, progress=False)
        frame, occupancy = swept.frame(), ck.occupancy_frame(swept)
        ck.rooms_frame(swept.rooms)
        ck.users_frame(swept.users)
    except Exception as error:  # noqa: BLE001  # of ours or not: it is judged
        judge.judged(0, of)
        (judge.error if isinstance(error, ck.ConfkitError) else judge.foreign)(what, error)
        return
    judge.piece.count("sweeps")
    failed = {(one.room_id, one.call) for one in swept.failures}
    for failure in swept.failures:
        judge.error((what, failure.room_id, failure.call), failure.error)
    if not list(frame["room_id"]) == list(occupancy["room_id"]) == ids or not swept.complete:
        broke("wrong values", what, ids, list(frame["room_id"]))
    for row, shares in zip(frame.to_dict("records"), occupancy.to_dict("records"), strict=True):
        room_id, right = row["room_id"], 0
        known = truth.get(room_id)
        lacks = {one for one in ("A3", "A6", "B3")
                 if (None if one == "B3" else room_id, one) in failed}  # fmt: skip
        for name in ("users", "people", "devices", *FIELDS):
            value = None if pd.isna(row[name]) else row[name]
            may_lack = bool(lacks & set(CALLS.get(name, ("A3",))))
            wanted = known and known[name]
            right += value == wanted
            if (value != wanted and not (value is None and may_lack)) or not (known or may_lack):
                broke("wrong values", (what, room_id, name), wanted, row)
        judge.judged(right, 3 + len(FIELDS))
        if {not pd.isna(row["error"]), row["ret"] != 0} != {bool(lacks)}:  # missing ret is not 0
            broke("errors without cause or next step", (what, room_id), lacks, row)
        users, cap = row["users"], row["attendee_max"]
        share = None if pd.isna(users) or pd.isna(cap) or cap == 0 else users / cap
        if share != (None if pd.isna(shares["utilisation"]) else shares["utilisation"]):
            broke("wrong values", (what, room_id, "utilisation"), share, shares)


def _in_time(piece: Piece, what: object, began: float) -> None:
    if time.monotonic() - began > HANG:
        piece.broke("hangs", what, f"{time.monotonic() - began:g} s")


@contextmanager
def left_behind(piece: Piece) -> Iterator[None]:
    """Judges the threads and files that are open afterwards and were not before, and the memory
    that was needed at the most."""
    before, memory = _open(), _peak()
    yield
    until = time.monotonic() + 10
    threads, files = _open()
    while (threads > before[0] or files > before[1] + OPENED) and time.monotonic() < until:
        gc.collect()
        time.sleep(0.05)
        threads, files = _open()
    if threads > before[0] or files > before[1] + OPENED:
        names = sorted(thread.name for thread in threading.enumerate())
        piece.broke("threads or files left", before, (threads, files), names)
    if _peak() - memory > MEMORY:
        piece.broke("answers that filled the memory", f"{_peak() - memory:.0f} MB")


def _open() -> tuple[int, int]:
    files = Path("/dev/fd")
    return threading.active_count(), len(list(files.iterdir())) if files.is_dir() else 0


def _peak() -> float:
    """The most megabytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10  # Linux counts in kB
