"""Processes that are killed (-9) at any moment: what they had reported as done is there, and
once."""

import logging
import multiprocessing
import os
import random
import re
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import confkit as ck
from confkit import cli
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox

from .piece import Piece
from .writes import Told, judged, places, settled

LONGEST = 60.0  # seconds for a start; one that takes longer hangs
IMPORT = ENDPOINTS["B1"].path
OUTCOMES = {"imported": "done", "already there": "done", "unknown": "uncertain"}  # else it failed
# A process that has loaded everything and has no thread forks the children: a kill then costs
# milliseconds, and lands in the work, not in Python's start.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, "confkit.bulk.imports", "confkit.rtsp.preflight", "av"])


class Child:
    """A function in a process of its own, and the lines that it has said so far."""

    def __init__(self, log: Path, function: Callable[..., object], *arguments: Any) -> None:
        self.log = log
        log.write_bytes(b"")
        self.process = _FORKS.Process(target=_said_into, args=(log, function, arguments))
        self.process.start()

    def lines(self) -> list[str]:
        """The whole lines; what a kill cut off is none."""
        return self.log.read_text("utf-8").split("\n")[:-1]

    def line(self, number: int) -> str:
        """The line of this number, from 0, once it has come."""
        until = time.monotonic() + LONGEST
        while len(self.lines()) <= number:
            if self.process.exitcode is not None or time.monotonic() > until:
                raise AssertionError(f"line {number} does not come: {self.log.read_text('utf-8')}")
            time.sleep(0.005)
        return self.lines()[number]

    def kill(self) -> None:
        """Kills it without a word."""
        self.process.kill()
        self.process.join()


def _said_into(log: Path, function: Callable[..., object], arguments: Sequence[Any]) -> None:
    for name in [name for name in os.environ if name.startswith("CONFKIT_")]:
        del os.environ[name]
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(file, descriptor)
    sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1, encoding="utf-8")
    sys.exit(function(*arguments))


def client_of(service: Mapping[str, str]) -> ck.Client:
    """A client of a sandbox, in any process."""
    return ck.Client(**service, sleep=lambda _: None)


def service_of(sandbox: Sandbox) -> dict[str, str]:
    """What a client of the sandbox is made of."""
    return {
        "base_url": sandbox.base_url,
        "outgoing_url": sandbox.outgoing_url,
        "access_key": sandbox.access_key,
        "secret_key": str(sandbox.secret_key),
    }


# An import of many devices, killed and run again until its table is finished


def imported(piece: Piece) -> None:
    """Imports tables, each killed some times, and then to its end."""
    chance = piece.chance()
    with Sandbox() as sandbox, sandbox.connect() as client:
        cameras = [sandbox.camera(size=(128, 96), fps=1) for _ in range(6)]
        while piece.counts["kills"] < piece.size:
            rooms = [ck.create_room(client, "List", "ops") for _ in range(chance.randint(1, 4))]
            table = pd.DataFrame(
                [
                    {
                        "room_id": room_id,
                        "user_id": f"{room_id}-{at}",
                        "user_name": "Camera",
                        "user_address": camera,
                    }
                    for room_id in rooms
                    for at, camera in enumerate(cameras)
                ]
            ).sample(frac=1, random_state=chance.randrange(2**32))
            _to_its_end(piece, sandbox, client, table, chance)
            wanted = sorted(table[["room_id", "user_id", "user_address"]].itertuples(index=False))
            listed = settled(lambda: places(client), 0.5)
            if listed != [tuple(one) for one in wanted]:
                piece.broke("lists not finished", wanted, listed)
            for room_id in rooms:
                ck.delete_room(client, room_id)
            piece.count("lists")


def _to_its_end(
    piece: Piece, sandbox: Sandbox, client: ck.Client, table: pd.DataFrame, chance: random.Random
) -> None:
    """Runs that are killed, and then runs until all is imported."""
    file, log = piece.folder / "cameras.csv", piece.folder / "import.log"
    table.to_csv(file, index=False)
    for _ in range(chance.randint(1, 8)):
        if chance.random() < 0.7:  # an import that may outlive its importer
            slow = chance.uniform(0, 0.25)
            sandbox.fault(IMPORT, delay=slow, after=chance.random() < 0.3, times=1)
        begun, missing = sandbox.count(IMPORT), len(table) - len(places(client))
        child = Child(log, _import, service_of(sandbox), str(file))
        _moment(sandbox, begun + chance.randint(0, missing), chance)
        child.kill()
        piece.count("kills", child.process.exitcode == -signal.SIGKILL)
    sandbox.clear_faults()
    for _ in range(3):
        settled(lambda: places(client), 0.5)
        child = Child(log, _import, service_of(sandbox), str(file))
        child.process.join()
        if child.process.exitcode:
            piece.broke("importers that failed", log.read_text("utf-8"))
        times = Counter(user_id for _, user_id, _ in places(client))
        told = [line.split("\t") for line in child.lines() if line.count("\t") == 1]
        for user_id, outcome in told:
            judged(piece, user_id, True, Told(OUTCOMES.get(outcome, "failed")), times[user_id])
        if told and all(OUTCOMES.get(outcome) == "done" for _, outcome in told):
            return


def _moment(sandbox: Sandbox, calls: int, chance: random.Random) -> None:
    """A moment at which to kill: anywhere at all, or while a certain row is imported."""
    until = time.monotonic() + (chance.uniform(0, 0.3) if chance.random() < 0.3 else 3.0)
    while sandbox.count(IMPORT) < calls and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.01))


def _import(service: Mapping[str, str], file: str) -> None:
    with client_of(service) as client:
        done = ck.import_devices(client, file, preflight=False, progress=False)
    for row in done.to_dict("records"):
        print(f"{row['user_id']}\t{row['outcome']}")


# A recorder, killed while it records and while it compacts the days that are over

TURNS = ("quick", "quick pair", "command")  # days pass quickly for the first two
EVERY, FIRST = 6 * 3600.0, 1577836800.0  # 2020-01-01
QUICK = pd.Timestamp("2025-01-01", tz="UTC")  # the command's own times come after this
SAID = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+\+00:00): (\d+) rooms, ")


def recorders(piece: Piece) -> None:
    """Kills recorders of one folder, and reads the folder while they record and after each kill."""
    chance, folder = piece.chance("moments"), piece.folder / "kept"
    told: Counter[pd.Timestamp] = Counter()
    last = FIRST
    with Sandbox() as sandbox, sandbox.connect() as client:
        rooms: dict[str, int | None] = {"unknown": None}
        for count in range(4):
            room_id = ck.create_room(client, f"{count}", "ops")
            rooms[room_id] = count
            for _ in range(count):
                sandbox.join(room_id, "Person")
        while piece.counts["kills"] < piece.size:
            turn = TURNS[int(piece.counts["kills"]) % len(TURNS)]
            # Goes on in the same day, or after days without any; never at the time of a sweep that
            # is there, which may be one that nobody was told of.
            start = last + EVERY * chance.choice([0.5, 1, 9])
            victims = [
                Child(
                    piece.folder / f"{n}.log",
                    _record,
                    service_of(sandbox),
                    str(folder),
                    [*rooms],
                    None if turn == "command" else start + n * 1800,
                )
                for n in range(2 if turn == "quick pair" else 1)
            ]
            for victim in victims:
                victim.line(0)
            until = time.monotonic() + chance.uniform(0, 1)
            while time.monotonic() < until:
                _read(piece, folder, rooms, told + _told_by(piece, victims))
            for victim in victims:
                victim.kill()
                piece.count("kills")
            told += _told_by(piece, victims)
            last = _read(piece, folder, rooms, told)
        piece.count("sweeps reported", told.total())
        later = time.time() + 5 * 86_400
        for path in folder.rglob("*.tmp"):  # of the dead; it goes after a day
            os.utime(path, (time.time() - 90_000,) * 2)
        ck.Recorder(folder, clock=lambda: later).record(client, [*rooms], sweeps=1)
    if left := [*folder.rglob("*.tmp")]:
        piece.broke("left files", left)
    _read(piece, folder, rooms, told)


def _record(service: Mapping[str, str], folder: str, rooms: list[str], start: float | None) -> None:
    """Records until it is killed; with a `start` in a time of its own, in which days pass."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stdout)
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    if start is None:
        file = Path(f"{folder}.txt")
        file.write_text("\n".join(rooms), "utf-8")
        os.environ.update({f"CONFKIT_{name.upper()}": value for name, value in service.items()})
        cli.main(["record", folder, "--rooms", str(file), "--every", "0.03"])
        return
    now = start

    def sleep(seconds: float) -> None:
        nonlocal now
        now += 1200 * seconds  # a recorder waits a second at most, and then looks again

    with client_of(service) as client:
        recorder = ck.Recorder(folder, clock=lambda: now, ticks=lambda: now, sleep=sleep)
        recorder.record(client, rooms, every=EVERY)


def _told_by(piece: Piece, victims: Sequence[Child]) -> Counter[pd.Timestamp]:
    """When the sweeps began that these told."""
    lines = [line for victim in victims for line in victim.lines()]
    for line in lines:
        if not SAID.search(line) and " skipped " not in line:
            piece.broke("complaints", line)
    return Counter(pd.Timestamp(one[1]) for line in lines if (one := SAID.search(line)))


def _read(
    piece: Piece, folder: Path, rooms: Mapping[str, int | None], told: Counter[pd.Timestamp]
) -> float:
    """Judges the recording, as people read it; when its last quick sweep was."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        frame = ck.load_occupancy(folder)
    times = frame["time"].dt.floor("ms")
    rows = frame.groupby(times).size()
    known = frame["room_id"].map(rooms).astype("Int64")
    wrong = {
        "unreadable files": [str(one.message) for one in warned],
        "lost sweeps": [w for w, n in told.items() if rows.get(w, 0) < n * len(rooms)],
        "torn sweeps": [*rows[rows % len(rooms) != 0].index],
        "doubled samples": [*frame[frame.duplicated(["time", "room_id"])].itertuples()],
        "wrong values": [*frame[known.fillna(-1) != frame["users"].fillna(-1)].itertuples()],
    }
    for name, found in wrong.items():
        for one in found:
            piece.broke(name, one)
    quick = times[times < QUICK]
    return quick.max().timestamp() if len(quick) else FIRST
