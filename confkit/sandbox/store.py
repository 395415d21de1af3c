"""The rooms, people and devices in SQLite; every method has committed when it returns.

One connection, for one thread. WAL with synchronous=NORMAL: what was committed survives the death
of the process at any moment.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..secret import Guarded, guard
from . import file

_ROOM = (
    "SELECT id, room_id, topic, owner_id, room_mode, host_password, attendee_max, max_audio, "
    "max_video, room_extend_id, locked, closed, mcu, "
    "EXISTS (SELECT 1 FROM people WHERE people.room_id = rooms.room_id) "
    "FROM rooms WHERE room_id = ?"
)
_TAKEN = (
    "SELECT (SELECT count(*) FROM people WHERE :room IS NULL OR room_id = :room) "
    "+ (SELECT count(*) FROM devices WHERE :room IS NULL OR room_id = :room)"
)
_COME = "INSERT INTO people (room_id, user_id, user_name, host) VALUES (?, ?, ?, ?)"
_DEVICE = "SELECT room_id, user_id, user_name, user_address, user_data, options FROM devices"


@dataclass(slots=True)
class StoredRoom:
    """A room as the file holds it; `peopled` is true while a person is in it."""

    id: int
    room_id: str
    topic: str
    owner_id: str
    room_mode: int
    host_password: str | None = field(repr=False)
    attendee_max: int | None
    max_audio: int | None
    max_video: int | None
    room_extend_id: str | None
    locked: int
    closed: int
    mcu: int
    peopled: int


class Person(NamedTuple):
    """A person in a room; `host` is true for one who joined with the host's password."""

    user_id: str
    user_name: str
    host: bool


class StoredDevice(NamedTuple):
    """An external device as B1 brought it; its repr hides what is secret."""

    room_id: str
    user_id: str
    user_name: str
    user_address: Guarded
    user_data: Guarded
    options: Any


class Store:
    """The sandbox's file, or its memory when `path` is None."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._lock = None if path is None else file.locked(path)
        try:
            self._db = file.opened(path)
        except BaseException:
            self._unlock()
            raise

    def close(self) -> None:
        """Closes the file; what was committed is in it."""
        self._db.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)

    @contextmanager
    def _together(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            # A full disk may have ended it already; one that stays open would stop all others.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def room(self, room_id: str) -> StoredRoom | None:
        """The room with this number."""
        row = self._db.execute(_ROOM, (room_id,)).fetchone()
        return StoredRoom(*row) if row else None

    def add_room(self, fields: dict[str, Any]) -> None:
        """Keeps a new room; its fields are columns of `rooms`."""
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        statement = f"INSERT INTO rooms ({names}) VALUES ({marks})"  # noqa: S608  # names are ours
        self._db.execute(statement, tuple(fields.values()))

    def add_all(
        self, rooms: Sequence[dict[str, Any]], people: Iterable[tuple[str, Person]]
    ) -> None:
        """Keeps many new rooms, all of the same columns, and their people; all of it or nothing."""
        with self._together():
            for fields in rooms:
                self.add_room(fields)
            self._db.executemany(_COME, ((room_id, *person) for room_id, person in people))

    def room_ids(self) -> list[str]:
        """The numbers of all rooms, in the order in which they were made."""
        return [row[0] for row in self._db.execute("SELECT room_id FROM rooms ORDER BY id")]

    def delete_room(self, room_id: str) -> None:
        """Forgets the room, its people and its devices."""
        self._db.execute("DELETE FROM rooms WHERE room_id = ?", (room_id,))

    def close_room(self, room_id: str) -> None:
        """Closes the room and puts off its people and its devices."""
        with self._together():
            self._db.execute("UPDATE rooms SET closed = 1 WHERE room_id = ?", (room_id,))
            self._db.execute("DELETE FROM people WHERE room_id = ?", (room_id,))
            self._db.execute("DELETE FROM devices WHERE room_id = ?", (room_id,))

    def lock_room(self, room_id: str, locked: bool) -> None:
        """Locks or unlocks the room."""
        self._db.execute("UPDATE rooms SET locked = ? WHERE room_id = ?", (locked, room_id))

    def assign_mcu(self, room_id: str, assigned: bool = True) -> None:
        """Says whether the media server serves the room."""
        self._db.execute("UPDATE rooms SET mcu = ? WHERE room_id = ?", (assigned, room_id))

    def people(self, room_id: str) -> list[Person]:
        """The people in the room, in the order in which they came."""
        rows = self._db.execute(
            "SELECT user_id, user_name, host FROM people WHERE room_id = ? ORDER BY seq", (room_id,)
        )
        return [Person(user_id, name, bool(host)) for user_id, name, host in rows]

    def add_person(self, room_id: str, person: Person) -> None:
        """Brings a person into the room, which has its media server from then on."""
        with self._together():
            self._db.execute(_COME, (room_id, *person))
            self.assign_mcu(room_id)

    def remove_person(self, room_id: str, user_id: str) -> bool:
        """Takes a person out of the room; False when there is none of this id."""
        gone = "DELETE FROM people WHERE room_id = ? AND user_id = ?"
        return bool(self._db.execute(gone, (room_id, user_id)).rowcount)

    def taken(self, room_id: str | None = None) -> int:
        """The number of people and devices in the room, or in all rooms."""
        (count,) = self._db.execute(_TAKEN, {"room": room_id}).fetchone()
        return int(count)

    def devices(self, room_id: str | None = None) -> list[StoredDevice]:
        """The devices of the room, or of all rooms, in the order in which they came."""
        where, values = ("", ()) if room_id is None else (" WHERE room_id = ?", (room_id,))
        return [_device(row) for row in self._db.execute(f"{_DEVICE}{where} ORDER BY seq", values)]

    def device(self, user_id: str) -> StoredDevice | None:
        """The device with this user id, in whatever room it is."""
        row = self._db.execute(f"{_DEVICE} WHERE user_id = ?", (user_id,)).fetchone()
        return _device(row) if row else None

    def add_device(self, device: StoredDevice) -> None:
        """Keeps a device; its room has its media server from then on."""
        options = json.dumps(device.options, ensure_ascii=False)
        with self._together():
            self._db.execute(
                "INSERT INTO devices (room_id, user_id, user_name, user_address, user_data, "
                "options) VALUES (?, ?, ?, ?, ?, ?)",
                (*map(str, device[:-1]), options),
            )
            self.assign_mcu(device.room_id)

    def remove_device(self, user_id: str) -> None:
        """Forgets the device."""
        self._db.execute("DELETE FROM devices WHERE user_id = ?", (user_id,))


def _device(row: tuple[str, str, str, str, str, str]) -> StoredDevice:
    address, data, options = row[3:]
    return StoredDevice(
        *row[:3], Guarded(address), Guarded(data), guard(json.loads(options), "options")
    )
