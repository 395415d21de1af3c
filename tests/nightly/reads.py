"""Reads under chaos: what is not true has failed with a name, in time, and most of it is true."""

import itertools
import resource
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pandas as pd

import confkit as ck
from confkit.frames import without_login
from confkit.sandbox import Sandbox
from tests.ways import by

from .chaos import BENIGN, BOMBS, FAULTS, SLOW
from .piece import Piece
from .proxy import Chaos, attacked, held_in

TOPICS = (
    "Weekly sync", "Überblick über alles", "会议室 七", '"ret": 404', '{"ret":602}', "a: b",
    '":x"', "rtsp://admin:geheim@camera/1", "<html>", "back\\slash", "NaN", "\u202eright to left",
    "\U0001f600", "1e400", "token=abc", "null", "25",
)  # fmt: skip
CAPS = (None, 1, 25, 500, 2**31)
PASSWORD = "geheim-Tür/7+=&"
Call = tuple[str, str | None]  # a helper's name, and the room that it is asked about
HELPERS: dict[str, Callable[..., Any]] = {
    "get_room": ck.get_room,
    "get_mcu": ck.get_mcu,
    "get_room_users": ck.get_room_users,
    "list_devices": ck.list_devices,
}
FLOOR = 0.7  # of the calls give what is true, whatever is done to them
FAULTY = 0.2  # of the requests meet a fault
QUICK = (2.0, 1.5)  # time-outs: short, and longer than a busy machine takes to answer
HANG = 120.0  # seconds; nine tries and a sweep's rounds are over long before
MEMORY = 700  # megabytes that no piece may need more than before, whatever is sent to it
CALLS = {"users": ("A6",), "people": ("A6", "B3"), "devices": ("A6", "B3")}
FIELDS = ("topic", "attendee_max", "owner_id", "max_audio", "max_video", "room_status", "id")
Make = Callable[..., ck.Client]
# What takes long or much is rare, what looks true and is not is frequent.
_RATES = {**dict.fromkeys(SLOW, 0.0006), **dict.fromkeys(BOMBS, 0.0003), "other_room": 0.03}
HOSTILE = {**dict.fromkeys(FAULTS, FAULTY / len(FAULTS)), **_RATES}
KINDS = {  # of those that meet nothing but benign faults all have to be true
    "calls": (FLOOR, HOSTILE, {"timeout": QUICK}),
    "benign calls": (1.0, dict.fromkeys(sorted(BENIGN), 0.9 / len(BENIGN)), {}),
}


@dataclass(frozen=True)
class World:
    """A service, its rooms, and for each call what comes of it: a value, or an error's class."""

    sandbox: Sandbox
    ids: list[str]
    truth: Mapping[Call, Any]


def outcome(client: ck.Client, call: Call) -> Any:
    """What a helper gives, or what it raises, an exception that is not ours included."""
    try:
        return HELPERS[call[0]](client, call[1])
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        return error


@contextmanager
def world(piece: Piece, rooms: int) -> Iterator[World]:
    """A sandbox with so many rooms; nothing in it changes."""
    chance = piece.chance("world")
    with Sandbox(seed=piece.number) as sandbox, sandbox.connect() as client:
        ids = []
        for number in range(rooms):
            cap = chance.choice(CAPS)
            room_id = ck.create_room(
                client,
                TOPICS[number % len(TOPICS)],
                f"owner-{number % 5}",
                attendee_max=cap,
                max_audio=chance.choice([None, 16]),
                max_video=chance.choice([None, 40]),
                host_password=chance.choice([None, PASSWORD]),
                room_extend_id=chance.choice([None, f"Raum {number}/ü"]),
            )
            ids.append(room_id)
            for person in range(min(chance.choice([0, 0, 1, 3, 8]), cap or 8)):
                sandbox.join(room_id, f"{TOPICS[person]} {person}")
        url = sandbox.camera(login_name="admin", login_password=PASSWORD)
        for room_id in ids[3:8]:
            if (ck.get_room(client, room_id).attendee_max or 99) > 8:
                ck.import_device(
                    client,
                    room_id,
                    f"camera of {room_id}",
                    "Camera",
                    url,
                    login_name="admin",
                    login_password=PASSWORD,
                    user_data='{"a": "b=c"}',
                )
        sandbox.unplug(url)
        sandbox.close_room(ids[-1])
        sandbox.lock(ids[-2])
        calls: list[Call] = [(name, room_id) for name in HELPERS for room_id in [*ids, "404"]]
        truth = {call: outcome(client, call) for call in [*calls, ("list_devices", None)]}
        yield World(
            sandbox,
            ids,
            {call: type(one) if isinstance(one, Exception) else one for call, one in truth.items()},
        )


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
    """A world, and a judge and a client for each kind of call; what they kept is judged."""
    memory, found = _peak(), []
    with world(piece, rooms) as known, ExitStack() as attacks:
        for kind, (_, weights, options) in KINDS.items():
            made = attacked(known.sandbox, piece, weights, make, **options)
            chaos, client = attacks.enter_context(made)
            secrets = [{PASSWORD, str(known.sandbox.secret_key)}, chaos.secrets]
            found.append((Judge(piece, kind, secrets), client))
            attacks.callback(_looked_back, *found[-1], chaos)
        yield known, found
    if _peak() - memory > MEMORY:
        piece.broke("answers that filled the memory", f"{_peak() - memory:.0f} MB")
    for kind, (least, _, _) in KINDS.items():
        piece.floor(f"true {kind}", kind, least)


def _peak() -> float:
    """The most megabytes that this process has held; Linux counts in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


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
        lacks = {
            one for one in ("A3", "A6", "B3") if (None if one == "B3" else room_id, one) in failed
        }
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
    if (took := time.monotonic() - began) > HANG:
        piece.broke("hangs", what, f"{took:g} s")
