"""Disks that are full and folders that go: what was reported as written is there and whole, and
what failed says why and what to do."""

import os
import random
import re
import resource
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd

import confkit as ck
from confkit import profiles
from confkit.occupancy.folder import compact
from confkit.sandbox import Sandbox

from .piece import Piece
from .writes import Told, judged, told_by

STEP = re.compile(r"\b(free|give|name|see|set|run|call|ask|look|make|end|restart)\b", re.IGNORECASE)
BEGIN, APART = datetime(2026, 6, 1, tzinfo=UTC), timedelta(minutes=37)  # there are days to compact
Writer = tuple[Callable[[int], Any], Callable[[], list[int]]]


def failing(piece: Piece) -> None:
    """Writes of all kinds under one fault after the other, each looked at afterwards."""
    chance, folder = piece.chance(), piece.folder / "inside"
    own = {"XDG_CONFIG_HOME": str(folder)}
    with (
        mock.patch.dict(os.environ, own),
        Sandbox(seed=1) as sandbox,
        sandbox.connect() as client,
    ):
        known = writers(folder, client)
        told: dict[tuple[str, int], Told] = {}
        for number in range(piece.size):
            name = [*known][number % len(known)]
            write, read = known[name]
            fault = chance.choice([well, limited, gone, taken])
            folder.mkdir(exist_ok=True)
            piece.count("writes")
            with fault(folder, chance):
                one = told_by(partial(write, number))
            if one.value is False:
                one = Told("failed", ck.RecordingError("not done; see the log"))
            done = one.name == "done"
            piece.count("well written" if done else f"failed: {fault.__name__}")
            if one.name == "failed" and not STEP.search(str(one.value)):
                piece.broke("errors without a next step", name, one.value)
            if one.name == "failed" and fault is well:
                one = Told("foreign", one.value)
            # `gone` takes what was written meanwhile; what has failed may be there or not.
            surely = one.name == "foreign" or (done and fault is not gone)
            told[name, number] = one if surely else Told("uncertain")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    found = Counter(read())
            except Exception as unread:  # noqa: BLE001  # whatever cannot be read is reported
                piece.broke("unreadable files", name, fault.__name__, repr(unread))
                continue
            for written in range(number % len(known), number + 1, len(known)):
                judged(piece, name, True, told[name, written], found[written])
    piece.floor("well written", "writes", 0.3)


def writers(folder: Path, client: ck.Client) -> dict[str, Writer]:
    """What writes files, each with how to read the numbers of what is there."""
    room_id, samples = ck.create_room(client, "T", "o"), folder / "samples"

    def record(number: int) -> bool:
        clock, done = (BEGIN + APART * number).timestamp(), []
        recorder = ck.Recorder(samples, clock=lambda: clock)
        recorder.record(client, [room_id], sweeps=1, told=lambda one: done.append(one.sweeps))
        return done == [1]

    def save(number: int) -> None:
        counts = {"users": 1, "people": 1, "devices": 0, "attendee_max": None, "ret": 0}
        row = {"time": BEGIN + APART * number, "room_id": "saved", **counts}
        ck.save_occupancy(pd.DataFrame([row]), samples)
        if number % 2 and samples.exists():
            compact(samples, date(2027, 1, 1))

    def times(of: str) -> list[int]:
        frame = ck.load_occupancy(samples) if samples.exists() else pd.DataFrame({"room_id": []})
        return [round((one - BEGIN) / APART) for one in frame[frame.room_id == of].get("time", [])]

    return {
        "recorder": (record, lambda: times(room_id)),
        "save": (save, lambda: times("saved")),
        "profile": (
            lambda n: profiles.save(f"p{n}", {"base_url": f"http://h{n}"}),
            lambda: [int(one[1:]) for one in profiles.names() if one != profiles.EMBEDDED],
        ),
    }


def well(folder: Path, chance: random.Random) -> nullcontext[None]:
    """Nothing is wrong."""
    return nullcontext()


@contextmanager
def limited(folder: Path, chance: random.Random) -> Iterator[None]:
    """No file may grow beyond a few bytes: a disk that is full, for whoever asks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (chance.randrange(6_000), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def gone(folder: Path, chance: random.Random) -> Iterator[None]:
    """The folder goes while it is written to, and what was in it comes back."""
    away = folder.rename(folder.with_name("away"))
    try:
        yield
    finally:
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink(missing_ok=True)
        away.rename(folder)


@contextmanager
def taken(folder: Path, chance: random.Random) -> Iterator[None]:
    """Nothing can be written there, whoever asks: a file has taken the folder's place."""
    with gone(folder, chance):
        folder.touch()
        yield
