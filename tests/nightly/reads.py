"""Reads under chaos: what is not true has failed with a name, in time, and most of it is true."""

import itertools
import resource
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
Make = Callable[..., ck.Client]
# What takes long or much is rare, what looks true and is not is frequent.
_RATES = {**dict.fromkeys(SLOW, 0.0006), **dict.fromkeys(BOMBS, 0.0003), "other_room": 0.03}
HOSTILE = {**dict.fromkeys(FAULTS, FAULTY / len(FAULTS)), **_RATES}
KINDS = {  # of those that meet nothing but benign faults all have to be true
    "calls": (FLOOR, HOSTILE, {"timeout": QUICK}),
    "benign calls": (1.0, dict.fromkeys(sorted(BENIGN), 0.9 / len(BENIGN)), {}),
}


class World(NamedTuple):
    """A service, its rooms, and for each call what comes of it: a value or an error."""

    sandbox: Sandbox
    ids: list[str]
    truth: Mapping[Call, Any]
    frames: list[pd.DataFrame]  # of a sweep, and of the occupancy in it


def outcome(act: Callable[..., Any], *given: Any) -> Any:
    """What an act gives, or what it raises, an exception that is not ours included."""
    try:
        return act(*given)
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        return error


def asked(client: ck.Client, call: Call) -> Any:
    """What comes of a call of a helper."""
    return outcome(getattr(ck, call[0]), client, call[1])


def swept(client: ck.Client, ids: list[str]) -> tuple[ck.Sweep, list[pd.DataFrame]]:
    """A sweep, and its frames with an object in each cell."""
    found = ck.sweep(client, ids, progress=False)
    frames = (found.frame(), ck.occupancy_frame(found))
    return found, [frame.set_index("room_id").astype(object) for frame in frames]


@contextmanager
def world(piece: Piece, rooms: int) -> Iterator[World]:
    """A sandbox with so many rooms; nothing in it changes."""
    chance = piece.chance("world")
    given = {"attendee_max": CAPS, "max_audio": [None, 16], "max_video": [None, 40]}
    with Sandbox(seed=piece.number) as sandbox, sandbox.connect() as client:
        login = {"login_name": "admin", "login_password": PASSWORD}
        url, ids = sandbox.camera(**login), []
        for number in range(rooms):
            given |= {"host_password": [None, PASSWORD], "room_extend_id": [None, f"{number}/ü"]}
            drawn = {name: chance.choice(those) for name, those in given.items()}
            room_id = ck.create_room(client, TOPICS[number % len(TOPICS)], "ops", **drawn)
            ids.append(room_id)
            most = drawn["attendee_max"] or 99
            for person in range(min(chance.choice([0, 0, 1, 3, 8]), most)):
                sandbox.join(room_id, f"{TOPICS[person]} {person}")
            if 2 < number < 8 and most > 8:
                ck.import_device(client, room_id, f"camera of {room_id}", "Camera", url, **login)
        sandbox.unplug(url)
        while any(stream.state == "live" for stream in sandbox.streams()):
            time.sleep(0.02)
        sandbox.close_room(ids[-1])
        sandbox.lock(ids[-2])
        ids.append("404")
        calls = [*itertools.product(HELPERS, ids), ("list_devices", None)]
        truth = {call: asked(client, call) for call in calls}
        yield World(sandbox, ids, truth, swept(client, ids)[1])


class Judge(NamedTuple):
    """Judges what comes of reads of one kind through a client whose answers are attacked."""

    piece: Piece
    kind: str
    chaos: Chaos
    client: ck.Client

    def true(self, right: int, of: int = 1) -> None:
        """Counts calls, and how many of them gave what is true."""
        self.piece.count(self.kind, of)
        self.piece.count(f"true {self.kind}", right)

    def call(self, what: object, truth: Any, came: Any) -> None:
        """What came of a call is the truth (a value, or an error of the same class), or an error of
        ours that says why it is not known: RoomNotFound for a room that is there would be a wrong
        value. A code that nobody knows (ApiError itself) is such an error."""
        right = type(came) is type(truth) if isinstance(truth, Exception) else came == truth
        self.true(right)
        if isinstance(came, Exception):
            self.error(what, came)
            right = right or not isinstance(came, ck.ApiError) or type(came) is ck.ApiError
        if not right:
            self.piece.broke("wrong values", what, truth, came)

    def error(self, what: object, error: Exception) -> None:
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
        if held_in(text, self.chaos.secrets):
            self.piece.broke("secrets shown", what)

    def sweep(self, known: World, what: str, way: str) -> None:
        """Each cell of a sweep is true, or missing in the row of a room that is named as failed."""
        came = outcome(swept, by(self.client, way), known.ids)
        if isinstance(came, Exception):
            self.true(0, sum(frame.size for frame in known.frames))
            self.error(what, came)
            return
        self.piece.count("sweeps")
        sweep, frames = came
        for one in sweep.failures:
            self.error((what, one.room_id, one.call), one.error)
        failed = {one.room_id for one in sweep.failures}
        for found, truth in zip(frames, known.frames, strict=True):
            if list(found.index) != list(truth.index) or not sweep.complete:
                self.piece.broke("wrong values", what, known.ids, list(found.index))
                continue
            right = (found == truth) | (found.isna() & truth.isna())
            self.true(int(right.to_numpy().sum()), right.size)
            for room_id, row in found.iterrows():
                lost = bool(failed & {room_id, None})
                fine = right.loc[room_id] | (lost & (row.isna() | row.index.isin(["ret", "error"])))
                told = row.where(row.notna(), None)  # a ret that is missing is not 0
                zero = lost and (told.get("ret") == 0 or told.get("error", "") is None)
                if zero or not fine.all():
                    self.piece.broke("wrong values", (what, room_id), lost, dict(row[~fine]))


@contextmanager
def judges(piece: Piece, rooms: int, make: Make) -> Iterator[tuple[World, list[Judge]]]:
    """A world, and a judge for each kind of call; what the clients kept is judged at the end."""
    memory, found = _peak(), []
    with world(piece, rooms) as known, ExitStack() as attacks:
        for kind, (_, weights, options) in KINDS.items():
            made = attacked(piece, known.sandbox, weights, make, **options)
            judge = Judge(piece, kind, *attacks.enter_context(made))
            judge.chaos.secrets.update((PASSWORD, str(known.sandbox.secret_key)))
            found.append(judge)
        yield known, found
        for judge in found:
            for call in judge.client.calls:
                judge.shown("the record of a call", repr(call) + call.answer + call.as_curl())
            for told in judge.chaos.leaked:
                piece.broke("tokens sent to another host", told[:40])
    if _peak() - memory > MEMORY:
        piece.broke("answers that filled the memory", f"{_peak() - memory:.0f} MB")
    for kind, (least, _, _) in KINDS.items():
        piece.floor(f"true {kind}", kind, least)


def _peak() -> float:
    """The most megabytes that this process has held; Linux counts in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


@contextmanager
def in_time(piece: Piece, what: object) -> Iterator[None]:
    """Breaks where what is done meanwhile hangs."""
    began = time.monotonic()
    yield
    if (took := time.monotonic() - began) > HANG:
        piece.broke("hangs", what, f"{took:g} s")


def single(piece: Piece, make: Make = ck.Client, threads: int = 1) -> None:
    """Calls of all reading helpers, from so many threads that share their clients."""
    with judges(piece, 24, make) as (known, found):

        def ask(number: int) -> None:
            chance = piece.chance(f"asks {number}")
            for name in chance.choices([*HELPERS], [*HELPERS.values()], k=piece.size // threads):
                call = chance.choice([call for call in known.truth if call[0] == name])
                judge = chance.choice(found)
                with in_time(piece, call):
                    judge.call(call, known.truth[call], asked(judge.client, call))

        asking = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(threads)]
        for one in asking:
            one.start()
        for one in asking:
            one.join(HANG + piece.size)
            if one.is_alive():
                piece.broke("hangs", "a thread has not ended")


def sweeps(piece: Piece, make: Make = ck.Client) -> None:
    """Sweeps of all rooms, by libcurl and by the session in turn."""
    with judges(piece, 60, make) as (known, found):
        for judge in found * 9:  # a login that is lost loses every row: people log in again
            outcome(judge.client.token)
        for turn in itertools.count():
            for judge in found:
                with in_time(piece, f"sweep {turn}"):
                    judge.sweep(known, f"sweep {turn}", ("libcurl", "session")[turn % 2])
            if turn and piece.counts["calls"] >= piece.size:
                return
