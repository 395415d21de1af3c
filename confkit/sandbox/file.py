"""The sandbox's SQLite file: made, recognised, and kept from other sandboxes."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from ..errors import ConfkitError

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


def locked(path: str | os.PathLike[str]) -> int | None:
    """The descriptor that keeps other sandboxes from this file; None where systems differ.

    A file of its own: closing any descriptor of SQLite's file would drop SQLite's own locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        # Through no link, which somebody else may have left there.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        handle = os.open(f"{os.fspath(path)}-lock", flags, 0o600)
    except OSError as error:
        raise _not_created(path, error) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise ConfkitError(
            f"{path} is in use by another sandbox. End that one, or give this one its own file."
        ) from None
    return handle


def opened(path: str | os.PathLike[str] | None) -> sqlite3.Connection:
    """The database in this file, or in memory; made where it is not there, for its owner alone."""
    if path is None:
        return _prepared(sqlite3.connect(":memory:", isolation_level=None))
    file = Path(path)
    try:
        # Before SQLite sees it, and nobody else's at any moment: it will hold passwords in clear.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise _not_created(file, error) from None
    try:
        with closing(sqlite3.connect(file)) as db:
            ours = _is_ours(db)
        if ours:
            if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
                file.chmod(0o600)
            return _prepared(sqlite3.connect(file, isolation_level=None))
    except (sqlite3.Error, OSError) as error:
        raise ConfkitError(
            f"The sandbox cannot use {file}: {error}. Give it a file that it wrote before, "
            "or a new name."
        ) from None
    raise ConfkitError(
        f"{file} is an SQLite file of something else, and was left as it is. "
        "Give the sandbox a file of its own."
    )


def _not_created(path: str | os.PathLike[str], error: OSError) -> ConfkitError:
    return ConfkitError(
        f"The sandbox cannot create {os.fspath(path)}: {error.strerror}. Free space, or give it a "
        "file in a folder of yours."
    )


def _is_ours(db: sqlite3.Connection) -> bool:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return (application, version) == (_APPLICATION, _VERSION) or (application, tables) == (0, 0)


def _prepared(db: sqlite3.Connection) -> sqlite3.Connection:
    try:
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        if db.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
            db.executescript(_SCHEMA)
    except BaseException:
        db.close()
        raise
    return db
