"""An import that is killed at random moments and run again until its list is finished."""

import csv
import json
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import confkit as ck
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece
from .door import late_door
from .importers import Importers
from .scene import IMPORT, Notes, places, settled, small_cameras

Rows = Sequence[Mapping[str, str]]
RERUNS = 12  # without a kill, until the list has to be finished
SLOW = 0.25  # seconds that the service may take longer over an import
LATE = 0.8  # seconds that one camera takes to answer
THERE = {"imported", "already there"}


def kills_import(piece: Piece) -> Counts:
    """Kills so many importers, list after list, each list imported to its end."""
    notes, chance = Notes(piece.folder), piece.chance()
    with (
        Sandbox() as sandbox,
        sandbox.connect() as client,
        Importers() as importers,
        ExitStack() as doors,
    ):
        cameras = small_cameras(sandbox, 6)
        cameras[-1] = doors.enter_context(late_door(cameras[-1], LATE))
        while notes.counts["kills"] < piece.size:
            number = notes.counts["lists"]
            rows = _list(client, cameras, chance, number)
            job = _job(sandbox, rows, piece.folder / f"list-{number}", chance)
            _to_its_end((sandbox, client, importers), rows, job, chance, notes)
            _compare(client, rows, notes)
            sandbox.clear_faults()
            for room_id in sandbox.room_ids():
                ck.delete_room(client, room_id)
            notes.count("lists")
            notes.count("cameras", len(rows))
    return notes.counts


def _list(
    client: ck.Client, cameras: Sequence[str], chance: random.Random, number: int
) -> list[dict[str, str]]:
    rooms = [ck.create_room(client, f"List {number}", "ops") for _ in range(chance.randint(1, 4))]
    places = [(room_id, camera) for room_id in rooms for camera in cameras]
    chance.shuffle(places)
    return [
        {"room_id": room_id, "user_id": f"{number}-{at}", "user_name": f"Camera {at}",
         "user_address": camera}
        for at, (room_id, camera) in enumerate(places)
    ]  # fmt: skip


def _job(sandbox: Sandbox, rows: Rows, folder: Path, chance: random.Random) -> dict[str, Any]:
    """What an importer is told: the service, the table as a file, and the options."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cameras.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    service = {
        "base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url,
        "access_key": sandbox.access_key, "secret_key": str(sandbox.secret_key),
    }  # fmt: skip
    options = {"preflight": chance.random() < 0.1, "verify": chance.random() < 0.3}
    return {
        "service": service, "options": options, "table": str(folder / "cameras.csv"),
        "result": str(folder / "result.json"),
    }  # fmt: skip


def _to_its_end(
    scene: tuple[Sandbox, ck.Client, Importers],
    rows: Rows,
    job: Mapping[str, Any],
    chance: random.Random,
    notes: Notes,
) -> None:
    """Runs that are killed, until the kills are used up, and then runs until all is imported."""
    sandbox, client, importers = scene
    kills, reruns = chance.randint(1, 8), 0
    outcomes: list[str] = []
    while reruns < RERUNS:
        if chance.random() < 0.7:  # an import that may outlive its importer
            slow, first = chance.uniform(0, SLOW), chance.random() < 0.3
            sandbox.fault(IMPORT, delay=slow, after=first, times=1)
        importers.begin(job)
        if kills > 0:
            _a_moment(sandbox, len(rows) - len(places(client)), chance)
        ended = importers.end(kill=kills > 0)
        reruns += kills <= 0
        kills -= 1
        if ended == "killed":
            notes.count("kills")
            continue
        if ended != "finished":
            notes.broken("importers that failed", f"{rows[0]}: {ended}")
            continue
        notes.count("finished runs")
        outcomes = _judged(client, json.loads(Path(job["result"]).read_text("utf-8")), notes)
        if set(outcomes) <= THERE and kills <= 0:
            return
    notes.broken("lists not finished", f"{rows[0]}: {outcomes}")


def _a_moment(sandbox: Sandbox, missing: int, chance: random.Random) -> None:
    """Waits for a moment at which to kill: anywhere at all, or while a certain row is imported."""
    begun, number = sandbox.count(IMPORT), chance.randint(0, missing)
    end = time.monotonic() + (chance.uniform(0, 0.3) if chance.random() < 0.3 else 3.0)
    while sandbox.count(IMPORT) < begun + number and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.01))


def _judged(client: ck.Client, reported: Rows, notes: Notes) -> list[str]:
    """The outcomes that a run reported, each compared with what the service lists afterwards."""
    listed = {(room, user) for room, user, _ in settled(lambda: places(client), LATE + SLOW)}
    for row in reported:
        there = (row["room_id"], row["user_id"]) in listed
        notes.count(f"rows {row['outcome']}")
        if row["outcome"] in THERE and not there:
            notes.broken("reported and missing", str(row))
        if row["outcome"] not in (*THERE, "unknown") and there:
            notes.broken("failed but there", str(row))
    return [row["outcome"] for row in reported]


def _compare(client: ck.Client, rows: Rows, notes: Notes) -> None:
    """Every camera of the list is once in its room, by B3 and by A6, and nothing else is there."""
    wanted = sorted((row["room_id"], row["user_id"], row["user_address"]) for row in rows)
    listed = settled(lambda: places(client), LATE + SLOW)
    for place, times in (Counter(listed) - Counter(wanted)).items():
        notes.broken("doubled", f"{times} too many of {place}")
    for place, times in (Counter(wanted) - Counter(listed)).items():
        notes.broken("missing", f"{times} too few of {place}")
    for room_id in {room for room, _, _ in wanted}:
        users = sorted(user.user_id for user in ck.get_room_users(client, room_id))
        if users != sorted(user for room, user, _ in wanted if room == room_id):
            notes.broken("missing", f"room {room_id} has the users {users}")
