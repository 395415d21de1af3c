"""The rooms, people and devices in SQLite; every method has committed when it returns.

One connection, for one thread. WAL with synchronous=NORMAL: what was committed survives the death
of the process at any moment.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...errors import ConfkitError
from ...secret import Guarded, Secret, guard

_APPLICATION = 0x434B5342  # "CKSB", in SQLite's header: tells our files from others
_VERSION = 1
_SCHEMA = f"""
BEGIN;
CREATE TABLE rooms (
    id INTEGER PRIMARY KEY AUTOINCREMENT, room_id TEXT NOT NULL UNIQUE, topic TEXT NOT NULL,
    owner_id TEXT NOT NULL, room_mode INTEGER NOT NULL, host_password TEXT, attendee_max INTEGER,
    max_audio INTEGER, max_video INTEGER, room_extend_id TEXT,
    locked INTEGER NOT NULL DEFAULT 0, closed INTEGER NOT NULL DEFAULT 0,
    mcu INTEGER NOT NULL DEFAULT 0);
CREATE TABLE people (
    seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL, user_name TEXT NOT NULL, host INTEGER NOT NULL,
    room_id TEXT NOT NULL REFERENCES rooms (room_id) ON DELETE CASCADE, UNIQUE (room_id, user_id));
CREATE TABLE devices (
    seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL UNIQUE, user_name TEXT NOT NULL,
    user_address TEXT NOT NULL, user_data TEXT NOT NULL, options TEXT NOT NULL,
    room_id TEXT NOT NULL REFERENCES rooms (room_id) ON DELETE CASCADE,
    UNIQUE (room_id, user_address));
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""
# A file is nobody else's until it is closed.
_SETTINGS = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
"""
_TAKEN = (
    "SELECT (SELECT count(*) FROM people WHERE :room IS NULL OR room_id = :room) "
    "+ (SELECT count(*) FROM devices WHERE :room IS NULL OR room_id = :room)"
)


class StoredRoom(NamedTuple):
    """A room as the file holds it; `peopled` is true while a person is in it."""

    id: int
    room_id: str
    topic: str
    owner_id: str
    room_mode: int
    host_password: Secret | None
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


_COLUMNS = ", ".join(StoredRoom._fields[:-1])
_PEOPLED = "EXISTS (SELECT 1 FROM people WHERE people.room_id = rooms.room_id)"
_ROOM = f"SELECT {_COLUMNS}, {_PEOPLED} FROM rooms WHERE room_id = ?"  # noqa: S608  # ours
_DEVICE = f"SELECT {', '.join(StoredDevice._fields)} FROM devices"  # noqa: S608


class Store:
    """The sandbox's file, or its memory when `path` is None."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._db = _opened(":memory:" if path is None else Path(path))
        self.close = self._db.close

    def _do(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._db.execute(statement, values)

    def room(self, room_id: str) -> StoredRoom | None:
        """Return the room with this number."""
        row = self._do(_ROOM, room_id).fetchone()
        return StoredRoom._make((*row[:5], row[5] and Secret(row[5]), *row[6:])) if row else None

    def add(
        self, rooms: Iterable[dict[str, Any]], people: Iterable[tuple[str, Person]] = ()
    ) -> None:
        """Keep new rooms, whose fields are columns of `rooms`, and people in rooms, which have
        their media server from then on; all of it or nothing."""
        with self._together():
            for fields in rooms:
                self._insert("rooms", fields)
            for room_id, person in people:
                self._insert("people", {"room_id": room_id, **person._asdict()})

    def room_ids(self) -> list[str]:
        """Return the numbers of all rooms, in the order in which they were made."""
        return [row[0] for row in self._do("SELECT room_id FROM rooms ORDER BY id")]

    def empty(self, room_id: str, delete: bool) -> None:
        """Remove the people and devices of a room, and delete or close it."""
        with self._together():
            for table in ("rooms",) if delete else ("people", "devices"):
                self._do(f"DELETE FROM {table} WHERE room_id = ?", room_id)  # noqa: S608  # ours
            self.mark(room_id, "closed")

    def mark(
        self, room_id: str, column: Literal["locked", "closed", "mcu"], to: bool = True
    ) -> bool:
        """Keep whether a room is locked, closed or served; False where there is no such room."""
        marking = f"UPDATE rooms SET {column} = ? WHERE room_id = ?"  # noqa: S608  # ours
        return bool(self._do(marking, to, room_id).rowcount)

    def people(self, room_id: str) -> list[Person]:
        """Return the people in the room, in the order in which they came."""
        chosen = "SELECT user_id, user_name, host FROM people WHERE room_id = ? ORDER BY seq"
        return [Person(key, name, bool(host)) for key, name, host in self._do(chosen, room_id)]

    def remove_person(self, room_id: str, user_id: str) -> bool:
        """Take a person out of the room; False when there is none of this id."""
        gone = "DELETE FROM people WHERE room_id = ? AND user_id = ?"
        return bool(self._do(gone, room_id, user_id).rowcount)

    def taken(self, room_id: str | None = None) -> int:
        """Return the number of people and devices in the room, or in all rooms."""
        (count,) = self._db.execute(_TAKEN, {"room": room_id}).fetchone()
        return int(count)

    def devices(self, **where: str) -> list[StoredDevice]:
        """Return the devices of this `room_id` or `user_id`, or all, in the order in which they
        came."""
        chosen = " AND ".join(f"{name} = :{name}" for name in where) or "1"
        rows = self._db.execute(f"{_DEVICE} WHERE {chosen} ORDER BY seq", where)
        return [
            StoredDevice._make((*ids, Guarded(address), Guarded(data), guard(json.loads(options))))
            for *ids, address, data, options in rows
        ]

    def add_device(self, device: StoredDevice) -> None:
        """Keep a device; its room has its media server from then on."""
        options = json.dumps(device.options, ensure_ascii=False)
        with self._together():
            self._insert("devices", {**device._asdict(), "options": options})

    def remove_device(self, user_id: str) -> None:
        """Delete the device."""
        self._do("DELETE FROM devices WHERE user_id = ?", user_id)

    def _insert(self, table: str, fields: dict[str, Any]) -> None:
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608  # names are ours
        self._do(statement, *fields.values())
        if table != "rooms":
            self.mark(fields["room_id"], "mcu")

    @contextmanager
    def _together(self) -> Iterator[None]:
        with self._db:
            self._do("BEGIN IMMEDIATE")
            yield


def _opened(file: Path | str) -> sqlite3.Connection:
    """Open the database in this file, or in memory; made where it is not there, for its owner
    alone."""
    try:
        if isinstance(file, Path):
            # Before SQLite sees it, and nobody else's at any moment: it will hold passwords.
            with suppress(FileExistsError):
                os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            with closing(sqlite3.connect(file, timeout=1)) as db:
                if not _is_ours(db):
                    raise sqlite3.DatabaseError("it is an SQLite file of something else")
            file.chmod(0o600)
        return _prepared(file)
    except (sqlite3.Error, OSError) as error:
        if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise ConfkitError(
                f"{file} is in use by another sandbox, or open elsewhere. End that, or give this "
                "one its own file."
            ) from None
        raise ConfkitError(
            f"The sandbox cannot use {file}: {error}. Give it a file that it wrote before, or a "
            "new one in a folder of yours, with space for it."
        ) from None


def _is_ours(db: sqlite3.Connection) -> bool:
    application, version, tables = db.execute(
        "SELECT application_id, user_version, count(name) "
        "FROM pragma_application_id, pragma_user_version LEFT JOIN sqlite_master"
    ).fetchone()
    return (application, version) == (_APPLICATION, _VERSION) or (application, tables) == (0, 0)


def _prepared(file: Path | str) -> sqlite3.Connection:
    db = sqlite3.connect(file, timeout=1, isolation_level=None)
    try:
        db.executescript(_SETTINGS)
        if db.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
            db.executescript(_SCHEMA)
    except BaseException:
        db.close()
        raise
    return db
