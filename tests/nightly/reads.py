"""Reads under chaos: what is not true has failed with a name, in time, and most of it is true."""

import itertools
import resource
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

import pandas as pd

import confkit as ck
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
HELPERS = {"get_room": 40, "get_mcu": 15, "get_room_users": 30, "list_devices": 15}  # how often
FLOOR = 0.7  # of the calls give what is true, whatever is done to them
FAULTY = 0.2  # of the requests meet a fault
QUICK = (2.0, 1.5)  # time-outs: short, and longer than a busy machine takes to answer
HANG = 120.0  # seconds; nine tries and a sweep's rounds are over long before
MEMORY = 700  # megabytes that no piece may need more than before, whatever is sent to it
# Without which of its calls a column of a sweep may be empty; the others need A3.
NEEDS = {"users": "A6", "people": "A6 B3", "devices": "A6 B3", "utilisation": "A3 A6"}
Make = Callable[..., ck.Client]
# What takes long or much is rare, what looks true and is not is frequent.
_RATES = {**dict.fromkeys(SLOW, 0.0006), **dict.fromkeys(BOMBS, 0.0003), "other_room": 0.03}
HOSTILE = {**dict.fromkeys(FAULTS, FAULTY / len(FAULTS)), **_RATES}
KINDS = {  # of those that meet nothing but benign faults all have to be true
    "calls": (FLOOR, HOSTILE, {"timeout": QUICK}),
    "benign calls": (1.0, dict.fromkeys(sorted(BENIGN), 0.9 / len(BENIGN)), {}),
}


class World(NamedTuple):
    """A service, its rooms, and for each call what comes of it: a value, or an error's class."""

    sandbox: Sandbox
    ids: list[str]
    truth: Mapping[Call, Any]
    frames: list[pd.DataFrame]  # of a sweep, and of the occupancy in it


def outcome(client: ck.Client, call: Call) -> Any:
    """What a helper gives, or what it raises, an exception that is not ours included."""
    try:
        return getattr(ck, call[0])(client, call[1])
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        return error


@contextmanager
def world(piece: Piece, rooms: int) -> Iterator[World]:
    """A sandbox with so many rooms; nothing in it changes."""
    chance = piece.chance("world")
    with Sandbox(seed=piece.number) as sandbox, sandbox.connect() as client:
        url = sandbox.camera(login_name="admin", login_password=PASSWORD)
        login = {"login_name": "admin", "login_password": PASSWORD}
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
            if 2 < number < 8 and (cap or 99) > 8:
                ck.import_device(client, room_id, f"camera of {room_id}", "Camera", url, **login)
        sandbox.unplug(url)
        sandbox.close_room(ids[-1])
        sandbox.lock(ids[-2])
        asked = [*ids, "404"]
        calls: list[Call] = [(name, room_id) for name in HELPERS for room_id in asked]
        truth = {call: outcome(client, call) for call in [*calls, ("list_devices", None)]}
        for call, one in truth.items():
            truth[call] = type(one) if isinstance(one, Exception) else one
        yield World(sandbox, asked, truth, _frames(ck.sweep(client, asked, progress=False)))


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
        if isinstance(came, BaseException):
            self.error(what, came)
            right = right or not isinstance(came, ck.ApiError) or type(came) is ck.ApiError
        if not right:
            self.piece.broke("wrong values", what, truth, came)

    def error(self, what: object, error: BaseException) -> None:
        """An error is ours, and names its cause, then its next step, and no secret."""
        told = "".join(traceback.format_exception(error))
        if not isinstance(error, ck.ConfkitError):
            self.piece.broke("foreign exceptions", what, told)
            return
        text = str(error)
        cause = text.removesuffix(error.advice).strip()
        if not (error.advice.strip() and text.endswith(error.advice) and len(cause) > 10):
            self.piece.broke("errors without cause or next step", what, text)
        self.shown(what, told + repr(error) + error.advice)

    def shown(self, what: object, text: str) -> None:
        """A text that people see holds no secret."""
        if any(held_in(text, secrets) for secrets in self._secrets):
            self.piece.broke("secrets shown", what)

    def in_time(self, what: object, began: float) -> None:
        """Whatever was done did not hang."""
        if (took := time.monotonic() - began) > HANG:
            self.piece.broke("hangs", what, f"{took:g} s")


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
            for name in chance.choices([*HELPERS], [*HELPERS.values()], k=piece.size // threads):
                call = chance.choice([call for call in known.truth if call[0] == name])
                judge, client = chance.choice(clients)
                began = time.monotonic()
                judge.call(call, known.truth[call], outcome(client, call))
                judge.in_time(call, began)

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
                _sweep(judge, way, known, f"sweep {turn}")
                judge.in_time(f"sweep {turn}", began)
            if turn and piece.counts["calls"] >= piece.size:
                return


def _frames(swept: ck.Sweep) -> list[pd.DataFrame]:
    ck.rooms_frame(swept.rooms)
    ck.users_frame(swept.users)
    return [
        frame.set_index("room_id").astype(object)
        for frame in (swept.frame(), ck.occupancy_frame(swept))
    ]


def _sweep(judge: Judge, client: ck.Client, known: World, what: str) -> None:
    of = sum(frame.size for frame in known.frames)
    try:
        swept = ck.sweep(client, known.ids, progress=False)
        frames = _frames(swept)
    except Exception as error:  # noqa: BLE001  # of ours or not: it is judged
        judge.judged(0, of)
        judge.error(what, error)
        return
    judge.piece.count("sweeps")
    failed = {(one.room_id, one.call) for one in swept.failures}
    for failure in swept.failures:
        judge.error((what, failure.room_id, failure.call), failure.error)
    for found, truth in zip(frames, known.frames, strict=True):
        if list(found.index) != list(truth.index) or not swept.complete:
            judge.piece.broke("wrong values", what, known.ids, list(found.index))
            continue
        right = (found == truth) | (found.isna() & truth.isna())
        judge.judged(int(right.to_numpy().sum()), right.size)
        for room_id, name in itertools.product(found.index, found):
            lacks = {call for call in ("A3", "A6") if (room_id, call) in failed}
            lacks |= {"B3"} if (None, "B3") in failed else set()
            value = found.at[room_id, name]
            if name in ("ret", "error"):  # a ret that is missing is not 0
                fine = pd.isna(value) if name == "error" else not pd.isna(value) and value == 0
                wrong = fine is bool(lacks)
            else:
                may_lack = lacks & set(NEEDS.get(name, "A3").split())
                wrong = not right.at[room_id, name] and not (pd.isna(value) and may_lack)
            if wrong:
                judge.piece.broke("wrong values", (what, room_id, name), lacks, value)
