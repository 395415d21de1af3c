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
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd

import confkit as ck
from confkit import profiles
from confkit.course import kept
from confkit.occupancy.folder import compact
from confkit.sandbox import Sandbox
from confkit.text import write_whole

from .piece import Piece

STEP = re.compile(r"\b(free|give|name|see|set|run|call|ask|look|make|end|restart)\b", re.IGNORECASE)
BEGIN, APART = datetime(2026, 6, 1, tzinfo=UTC), timedelta(minutes=37)  # there are days to compact
Writer = tuple[Callable[[int], Any], Callable[[], list[int]]]


def failing(piece: Piece) -> None:
    """Writes of all kinds under one fault after the other, each looked at afterwards."""
    chance, folder, stored = piece.chance(), piece.folder / "inside", piece.folder / "rooms.sqlite"
    own = {"XDG_CONFIG_HOME": str(folder), "CONFKIT_COURSE": str(folder / "course.jsonl")}
    with (
        mock.patch.dict(os.environ, own),
        Sandbox(seed=1) as sandbox,
        sandbox.connect() as client,
        Sandbox(path=stored) as filed,
        filed.connect() as filing,
    ):
        known = writers(folder, client, filed, filing)
        told: dict[str, set[int]] = {name: set() for name in known}
        for number in range(piece.size):
            name = [*known][number % len(known)]
            fault = chance.choice([well, limited, gone, taken][: 2 if name == "room" else 4])
            folder.mkdir(exist_ok=True)
            piece.count("writes")
            with fault(folder, chance):
                error = raised(known[name][0], number)
            done = error is None
            piece.count("well written" if done else f"failed: {fault.__name__}")
            plain = name == "table" and isinstance(error, OSError)  # as Python people expect
            if isinstance(error, ck.ConfkitError) and not STEP.search(str(error)):
                piece.broke("errors without a next step", name, error)
            if error and (fault is well or not (plain or isinstance(error, ck.ConfkitError))):
                piece.broke("foreign exceptions", name, fault.__name__, repr(error))
            if done and fault is not gone:  # which takes what was written meanwhile
                told[name] = {number} if name == "table" else told[name] | {number}  # one version
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    found = Counter(known[name][1]())
            except Exception as unread:  # noqa: BLE001  # whatever cannot be read is reported
                piece.broke("unreadable files", name, fault.__name__, repr(unread))
                continue
            if lost := told[name] - set(found):
                piece.broke("lost values", name, fault.__name__, lost)
            if max(found.values(), default=1) > 1:
                piece.broke("doubled values", name, fault.__name__, found)
    piece.floor("well written", "writes", 0.3)


def raised(write: Callable[[int], Any], number: int) -> Exception | None:
    """What a write raised; None where it was reported as done."""
    try:
        return ck.RecordingError("not done; see the log") if write(number) is False else None
    except Exception as error:  # noqa: BLE001  # it is judged
        return error


def writers(
    folder: Path, client: ck.Client, filed: Sandbox, filing: ck.Client
) -> dict[str, Writer]:
    """What writes files, each with how to read the numbers of what is there."""
    room_id, samples, table = ck.create_room(client, "T", "o"), folder / "samples", folder / "t.csv"

    def record(number: int) -> bool:
        clock, told = (BEGIN + APART * number).timestamp(), []
        recorder = ck.Recorder(samples, clock=lambda: clock)
        recorder.record(client, [room_id], sweeps=1, told=lambda done: told.append(done.sweeps))
        return told == [1]

    def save(number: int) -> None:
        row = {
            "time": BEGIN + APART * number,
            "room_id": "saved",
            "users": 1,
            "people": 1,
            "devices": 0,
            "attendee_max": None,
            "ret": 0,
        }
        ck.save_occupancy(pd.DataFrame([row]), samples)
        if number % 2 and samples.exists():
            compact(samples, date(2027, 1, 1))

    def times(of: str) -> list[int]:
        frame = ck.load_occupancy(samples) if samples.exists() else pd.DataFrame({"room_id": []})
        return [round((one - BEGIN) / APART) for one in frame[frame.room_id == of].get("time", [])]

    def whole() -> list[int]:
        text = table.read_text() if table.exists() else ""
        assert len(set(text.splitlines())) < 2, "two versions in one file"
        assert text.count("\n") in (0, 3000), "half a file"
        return [int(line) for line in text.splitlines()[:1]]

    return {
        "recorder": (record, lambda: times(room_id)),
        "save": (save, lambda: times("saved")),
        "profile": (
            lambda n: profiles.save(f"p{n}", {"base_url": f"http://h{n}"}),
            lambda: [int(one[1:]) for one in profiles.names() if one != profiles.EMBEDDED],
        ),
        "course": (
            lambda n: kept.keep(f"e{n}", True),
            lambda: [int(one[1:]) for one in kept.outcomes()],
        ),
        "table": (lambda n: write_whole(table, b"%d\n" % n * 3000), whole),
        "room": (
            lambda n: ck.create_room(filing, "x" * 100, "o" * 3000, room_extend_id=f"r{n}"),
            lambda: [int(one[1:]) for one in filed.room_ids()],
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
        shutil.rmtree(folder, ignore_errors=True)
        away.rename(folder)


@contextmanager
def taken(folder: Path, chance: random.Random) -> Iterator[None]:
    """Nothing can be written there, whoever asks: a file has taken the folder's place."""
    away = folder.rename(folder.with_name("away"))
    folder.touch()
    try:
        yield
    finally:
        folder.unlink()
        away.rename(folder)
