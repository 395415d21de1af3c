"""The rooms, people and devices in SQLite; every method has committed when it returns.

One connection, for one thread. WAL with synchronous=NORMAL: what was committed survives the death
of the process at any moment.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

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


Row = TypeVar("Row", "StoredRoom", "Person", "StoredDevice")


class StoredRoom(NamedTuple):
    """A room as the file holds it."""

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


class Person(NamedTuple):
    """A person in a room; `host` is 1 for one who joined with the host's password."""

    room_id: str
    user_id: str
    user_name: str
    host: int


class StoredDevice(NamedTuple):
    """An external device as B1 brought it; its repr hides what is secret."""

    room_id: str
    user_id: str
    user_name: str
    user_address: Guarded
    user_data: Guarded
    options: Any


_TABLES: dict[type, str] = {StoredRoom: "rooms", Person: "people", StoredDevice: "devices"}
# How columns are read that hold more than a text or a number.
_READ: dict[str, Callable[[str], Any]] = {
    "host_password": Secret,
    "user_address": Guarded,
    "user_data": Guarded,
    "options": lambda text: guard(json.loads(text)),
}


class Store:
    """The sandbox's file, or its memory when `path` is None: rows of three tables."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._db = _opened(":memory:" if path is None else Path(path))
        self.close = self._db.close

    def find(self, kind: type[Row], **where: str) -> list[Row]:
        """Return the rows with these values, or all, in the order in which they came."""
        names = kind._fields
        return [
            kind._make(
                _READ[name](value) if value and name in _READ else value
                for name, value in zip(names, row, strict=True)
            )
            for row in self._do(f"SELECT {', '.join(names)} FROM", kind, where, "ORDER BY rowid")
        ]

    def count(self, kind: type[Row], **where: str) -> int:
        """Return how many rows have these values, or how many there are."""
        return int(self._do("SELECT count(*) FROM", kind, where).fetchone()[0])

    def add(self, kind: type[Row], **fields: Any) -> None:
        """Keep a new row; the fields that are left out are as in the schema."""
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        values = [
            json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
            for value in fields.values()
        ]
        statement = f"INSERT INTO {_TABLES[kind]} ({names}) VALUES ({marks})"  # noqa: S608  # ours
        self._db.execute(statement, values)

    def remove(self, kind: type[Row], **where: str) -> bool:
        """Delete the rows with these values; False where there is none."""
        return bool(self._do("DELETE FROM", kind, where).rowcount)

    def mark(self, room_id: str, column: str, to: bool = True) -> bool:
        """Keep whether a room is locked, closed or served; False where there is no such room."""
        marking = f"UPDATE rooms SET {column} = ? WHERE room_id = ?"  # noqa: S608  # ours
        return bool(self._db.execute(marking, (to, room_id)).rowcount)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep all changes that are made inside, or none of them."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def _do(
        self, start: str, kind: type[Row], where: dict[str, str], order: str = ""
    ) -> sqlite3.Cursor:
        chosen = " AND ".join(f"{name} = :{name}" for name in where) or "1"
        return self._db.execute(f"{start} {_TABLES[kind]} WHERE {chosen} {order}", where)


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
