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
from confkit.connect import SERVICE
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox

from .piece import Piece
from .writes import Told, judged, places, settled

LONGEST = 60.0  # seconds for a start; one that takes longer hangs
IMPORT = OPERATIONS["B1"].path
OUTCOMES = {"imported": "done", "already there": "done", "unknown": "uncertain"}  # else it failed
# A process that has loaded everything and has no thread forks the children: a kill then costs
# milliseconds, and lands in the work, not in Python's start.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, "confkit.bulk.devices", "confkit.rtsp.preflight", "av"])


class Child:
    """A function in a process of its own, which gets what a client of the sandbox is made of, and
    the lines that it has said so far."""

    def __init__(
        self, log: Path, sandbox: Sandbox, act: Callable[..., object], *given: Any
    ) -> None:
        self.log = log
        log.write_bytes(b"")
        service = {name: str(getattr(sandbox, name)) for name in SERVICE}
        own = (log, act, service, *given)
        self.process = _FORKS.Process(target=_said_into, args=own, daemon=True)
        self.process.start()

    def lines(self) -> list[str]:
        """The whole lines; what a kill cut off is none."""
        return self.log.read_text("utf-8").split("\n")[:-1]

    def begun(self) -> None:
        """Waits for the first line."""
        until = time.monotonic() + LONGEST
        while not self.lines():
            if self.process.exitcode is not None or time.monotonic() > until:
                raise AssertionError(f"no line comes: {self.log.read_text('utf-8')}")
            time.sleep(0.005)

    def kill(self) -> None:
        """Kills it without a word."""
        self.process.kill()
        self.process.join()


def _said_into(log: Path, act: Callable[..., object], service: Any, *given: Any) -> None:
    sys.stdout = sys.stderr = log.open("a", buffering=1, encoding="utf-8")
    with ck.Client(**service, sleep=lambda _: None) as client:
        act(client, *given)


# An import of many devices, killed and run again until its table is finished


def imported(piece: Piece) -> None:
    """Imports tables, each killed some times, and then to its end."""
    chance = piece.chance()
    with Sandbox() as sandbox, sandbox.connect() as client:
        cameras = [sandbox.camera(size=(128, 96), fps=1) for _ in range(6)]
        while piece.counts["kills"] < piece.size:
            rooms = [ck.create_room(client, "List", "ops") for _ in range(chance.randint(1, 4))]
            devices = [
                (room_id, f"{room_id}-{at}", camera)
                for room_id in rooms
                for at, camera in enumerate(cameras)
            ]
            chance.shuffle(devices)
            _to_its_end(piece, sandbox, client, devices, chance)
            listed = settled(lambda: places(client), 0.5)
            if listed != sorted(devices):
                piece.broke("lists not finished", sorted(devices), listed)
            for room_id in rooms:
                ck.delete_room(client, room_id)
            piece.count("lists")


def _to_its_end(
    piece: Piece, sandbox: Sandbox, client: ck.Client, devices: Sequence[Any], chance: random.Random
) -> None:
    """Runs that are killed, and then runs until all is imported."""
    file, log = piece.folder / "cameras.csv", piece.folder / "import.log"
    table = pd.DataFrame(devices, columns=["room_id", "user_id", "user_address"])
    table.assign(user_name="Camera").to_csv(file, index=False)
    for _ in range(chance.randint(1, 8)):
        if chance.random() < 0.7:  # an import that may outlive its importer
            slow = chance.uniform(0, 0.25)
            sandbox.fault(IMPORT, delay=slow, after=chance.random() < 0.3, times=1)
        begun, missing = sandbox.count(IMPORT), len(devices) - len(places(client))
        child = Child(log, sandbox, _import, str(file))
        _moment(sandbox, begun + chance.randint(0, missing), chance)
        child.kill()
        piece.count("kills", child.process.exitcode == -signal.SIGKILL)
    sandbox.clear_faults()
    for _ in range(3):
        settled(lambda: places(client), 0.5)
        child = Child(log, sandbox, _import, str(file))
        child.process.join()
        if child.process.exitcode:
            piece.broke("importers that failed", log.read_text("utf-8"))
        times = Counter(user_id for _, user_id, _ in places(client))
        told = [line.split("\t") for line in child.lines() if line.count("\t") == 1]
        said = [(user_id, Told(OUTCOMES.get(outcome, "failed"))) for user_id, outcome in told]
        for user_id, one in said:
            judged(piece, user_id, True, one, times[user_id])
        if said and all(one.name == "done" for _, one in said):
            return


def _moment(sandbox: Sandbox, calls: int, chance: random.Random) -> None:
    """A moment at which to kill: anywhere at all, or while a certain row is imported."""
    until = time.monotonic() + (chance.uniform(0, 0.3) if chance.random() < 0.3 else 3.0)
    while sandbox.count(IMPORT) < calls and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.01))


def _import(client: ck.Client, file: str) -> None:
    done = ck.import_devices(client, file, preflight=False, progress=False)
    for row in done.to_dict("records"):
        print(f"{row['user_id']}\t{row['outcome']}")


# A recorder, killed while it records and while it turns the days that are over into Parquet

EVERY, FIRST = 6 * 3600.0, 1577836800.0  # 2020-01-01
PACE = 0.02  # seconds that these six hours take
SAID = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+\+00:00): (\d+) rooms, ")


def recorders(piece: Piece) -> None:
    """Kills recorders of one folder, and reads the folder while they record and after each kill."""
    chance, folder = piece.chance("moments"), piece.folder / "kept"
    told: Counter[pd.Timestamp] = Counter()
    last = FIRST
    with Sandbox() as sandbox, sandbox.connect() as client:
        rooms = {"unknown": -1}
        for count in range(4):
            room_id = ck.create_room(client, f"{count}", "ops")
            rooms[room_id] = count
            for _ in range(count):
                sandbox.join(room_id, "Person")
        while piece.counts["kills"] < piece.size:
            # Goes on in the same day, or after days without any; never at the time of a sweep that
            # is there, which may be one that nobody was told of.
            start = last + EVERY * chance.choice([0.5, 1, 9])
            victims = [
                Child(
                    piece.folder / f"{n}.log", sandbox, _record, folder, [*rooms], start + n * 1800
                )
                for n in range(chance.choice([1, 2]))
            ]
            for victim in victims:
                victim.begun()
            until = time.monotonic() + chance.uniform(0, 1)
            while time.monotonic() < until:
                _read(piece, folder, rooms, told + _told_by(piece, victims))
            for victim in victims:
                victim.kill()
                piece.count("kills")
            told += _told_by(piece, victims)
            last = _read(piece, folder, rooms, told)
        piece.count("sweeps reported", told.total())
        for path in folder.iterdir():  # what the dead left becomes Parquet, or goes, in two days
            os.utime(path, (time.time() - 3 * 86_400,) * 2)
        ck.Recorder(folder).record(client, [*rooms], sweeps=1)
    if left := [path for path in folder.iterdir() if path.suffix != ".parquet"][1:]:
        piece.broke("left files", left)
    _read(piece, folder, rooms, told)


def _record(client: ck.Client, folder: Path, rooms: list[str], start: float) -> None:
    """Records until it is killed, in a time of its own, in which days pass."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stdout)
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    begun = time.monotonic()
    client.now = lambda: start + (time.monotonic() - begun) / PACE * EVERY
    ck.Recorder(folder).record(client, rooms, every=PACE)


def _told_by(piece: Piece, victims: Sequence[Child]) -> Counter[pd.Timestamp]:
    """When the sweeps began that these told."""
    lines = [line for victim in victims for line in victim.lines()]
    for line in lines:
        if not SAID.search(line) and not line.startswith("skipped "):
            piece.broke("complaints", line)
    return Counter(pd.Timestamp(one[1]) for line in lines if (one := SAID.search(line)))


def _read(
    piece: Piece, folder: Path, rooms: Mapping[str, int], told: Counter[pd.Timestamp]
) -> float:
    """Judges the recording, as people read it; when its last sweep was."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as of a file that cannot be read
        frame = ck.load_occupancy(folder)
    frame["right"] = frame["room_id"].map(rooms) == frame["users"].fillna(-1)
    # Each sweep has as many rows as there are rooms, each of another one, and each right.
    counted = frame.groupby("time").agg({"room_id": ["size", "nunique"], "right": "sum"})
    for sweep in counted[(counted != len(rooms)).any(axis=1)].itertuples():
        piece.broke("torn, doubled or wrong sweeps", sweep)
    times = counted.index.floor("ms")
    for lost in told - Counter(times):
        piece.broke("lost sweeps", lost)
    return times.max().timestamp() if len(times) else FIRST
