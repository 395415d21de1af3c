"""Whether a sandbox's file, and the sandbox on it, hold what its writers' books say."""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import confkit as ck
from confkit.client import Client

from .writing import GONE, THERE, UNKNOWN, Device, Room, Writer

DIALLED = 30.0  # seconds in which every camera is back; a dial takes some milliseconds

Told = Callable[[str, str], None]  # what was counted, and what was expected and came


def check_file(file: Path, writers: Sequence[Writer], told: Told) -> None:
    """Nothing, once what is wrong with the file is told; fates that were unknown are known then."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        for (said,) in db.execute("PRAGMA integrity_check"):
            if said != "ok":
                told("damaged files", said)
        if db.execute("PRAGMA foreign_key_check").fetchall():
            told("damaged files", "a person or a device of a room that is gone")
        rooms = db.execute("SELECT topic, room_id, attendee_max FROM rooms").fetchall()
        devices = db.execute("SELECT user_id, room_id, user_address FROM devices").fetchall()
    times = Counter(topic for topic, _, _ in rooms)
    found = {topic: (room_id, most) for topic, room_id, most in rooms}
    imported = {user_id: (room_id, address) for user_id, room_id, address in devices}
    for topic in (topic for topic, count in times.items() if count > 1):
        told("doubled rooms", f"{topic} is there {times[topic]} times")
    for room in (room for writer in writers for room in writer.rooms):
        there = found.pop(room.topic, None)
        if room.fate == UNKNOWN and there is not None and not room.room_id:
            room.room_id = there[0]
        _compare(room, f"room {room.topic}", there, (room.room_id, room.attendee_max), told)
        for device in room.devices.values():
            expected = room.room_id, device.address
            _compare(device, f"device {device.user_id}", imported.pop(device.user_id, None),
                     expected, told)  # fmt: skip
    for left in [*found, *imported]:
        told("strange rows", f"{left}: nobody has asked for it")


def _compare(
    one: Room | Device, name: str, there: tuple[str, int] | None, expected: object, told: Told
) -> None:
    if there is not None and there != expected:
        told("lost writes", f"{name} is {there}, not {expected}")
    if one.fate == THERE and there is None:
        told("lost writes", f"{name} was answered, and is not there")
    elif one.fate == GONE and there is not None:
        told("undone deletions", f"{name} was answered as gone, and is there")
    one.fate = THERE if there else GONE


def check_answers(client: Client, writers: Sequence[Writer], told: Told) -> None:
    """Nothing, once what the sandbox answers other than its writers' books is told."""
    rooms = {room.room_id: room for writer in writers for room in writer.rooms}
    read = ck.sweep(client, list(rooms), progress=False)
    for room in read.rooms:
        known = rooms[room.room_id]
        if (room.topic, room.attendee_max) != (known.topic, known.attendee_max):
            told("wrong answers", f"A3 gives {room.topic}, {room.attendee_max} for {known.topic}")
    if len(read.rooms) != len(rooms):
        told("wrong answers", f"A3 answers {len(read.rooms)} of {len(rooms)} rooms")
    expected = {(one.user_id, room_id) for room_id, room in rooms.items()
                for one in room.devices.values()}  # fmt: skip
    listed = [(device.user_id, device.room_id) for device in ck.list_devices(client)]
    if sorted(listed) != sorted(expected):
        told("wrong answers", f"B3 lists {len(listed)} devices, {len(expected)} are known")
    deadline = time.monotonic() + DIALLED
    while expected and time.monotonic() < deadline:
        users = ck.sweep(client, sorted({room_id for _, room_id in expected}), progress=False).users
        expected -= {(user.user_id, room_id) for room_id, some in users.items() for user in some}
    for user_id, room_id in expected:
        told("lost cameras", f"{user_id} is not back in room {room_id}")
