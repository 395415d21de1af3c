"""Runbooks about cameras: one does not appear, many come from a table, and some are stray."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..bulk import devices as bulk
from ..bulk.table import TableError
from ..checks import Check
from ..client import Client
from ..connect import CAMERA_PASSWORD
from ..devices import list_devices
from ..diagnosis import diagnose_device
from ..errors import ConfigError, ConfkitError, RoomNotFound
from ..records import Room
from ..secret import Secret
from ..sweep import Sweep, sweep
from ..text import counted
from .rooms import SHUT, ask_room, camera_login
from .steps import AGAIN, Checks, Finding, ask, may_change, shorten, split

if TYPE_CHECKING:
    import pandas as pd


def camera_does_not_appear(
    client: Client,
    room: str | Room,
    device: str = "",
    *,
    address: str = "",
    login_name: str = "",
) -> Checks:
    """A camera does not appear in its room: where between the room and the camera is the fault?

    `device`: the camera's user ID; empty: the first of the room that has a problem. `address` and
    `login_name`: only where the service lists none or old ones; the password is taken from
    CONFKIT_CAMERA_PASSWORD, or asked for. It changes nothing (A3, A6, B3), and plays the camera;
    what it advises is a call to paste.
    """
    known = yield from ask_room(client, room)
    if known is None:
        return
    login = camera_login(login_name)
    report = diagnose_device(client, known.room_id, device or None, address or None, **login)
    if report.codec:
        yield Check("Camera plays from here", "PASS", ", ".join(report.facts()[:3]))
    # An error of the service says nothing of the camera, unless it is about the media server.
    failed = {stage.name for stage in report.stages if stage.outcome == "failed"}
    unknown = report.verdict == "service_error" and "media server" not in failed
    yield Check(
        "Camera in its room",
        "PASS" if report.ok else "UNKNOWN" if unknown else "FAIL",
        report.cause if report.ok else f"{report.verdict}: {report.cause}",
        "" if report.ok else report.advice,
    )


def bulk_camera_import(
    client: Client, table: str | os.PathLike[str], *, apply: bool = False
) -> Checks:
    """Many cameras come from a table: is it right, do they play, and are they in their rooms?

    `table`: the path of a CSV file, as `ck.import_devices` takes it. A row with a login name and no
    password gets the one of CONFKIT_CAMERA_PASSWORD. It reads, and plays the cameras; with `apply`
    it imports those that play (B1).
    """
    password = Secret(os.environ.get(CAMERA_PASSWORD, "")) or None
    options: dict[str, Any] = {"progress": False, "login_password": password}
    # An import plays the cameras: tried before, too, a wrong login would be two.
    play = apply is not True or client.read_only

    def dry_run() -> pd.DataFrame:
        if not table:
            raise ConfigError("no table is given", "Set table (-p table=...) to a CSV file.")
        try:
            return bulk.import_devices(client, table, dry_run=True, preflight=play, **options)
        except ConfkitError:  # some are an OSError, too
            raise
        except OSError as error:
            raise ConfigError(f"cannot read {table}: {error.strerror}", "Check table.") from None

    rows = yield from ask(
        "Table", dry_run, lambda rows: counted(len(rows), "row"), fails=(TableError,)
    )
    if rows is None:
        return
    ids = list(rows.room_id)
    read = partial(sweep, client, ids, users=False, progress=False)
    ready = rows[rows.outcome == bulk.READY]
    if ids and (yield from ask("Rooms", read, partial(_rooms_open, set(ready.room_id)))) is None:
        return
    do_import = len(ready) and (yield from may_change(client, apply, "Import (B1)"))

    def result() -> pd.DataFrame:
        if not do_import:
            return rows
        return bulk.import_devices(client, table, verify=True, **options)

    yield from ask("Every camera in its room", result, _all_in_rooms)


def _rooms_open(to_join: set[str], rooms: Sweep) -> str | Finding:
    unknown = [fail.room_id for fail in rooms.failures if isinstance(fail.error, RoomNotFound)]
    if unknown:
        detail = f"there is no room {shorten(map(str, unknown))}"
        return "FAIL", detail, "Correct room_id in the table; nothing was imported."
    if rooms.failures:
        return "UNKNOWN", rooms.commonest, rooms.failures[0].advice
    if shut := to_join & {room.room_id for room in rooms.rooms if room.room_status in SHUT}:
        detail = f"locked or closed: {shorten(sorted(shut))}"
        return "FAIL", detail, "Have it unlocked, or correct room_id; nothing was imported."
    return counted(len(rooms.ids), "room")


def _all_in_rooms(rows: pd.DataFrame) -> str | Finding:
    problems = rows[~rows.outcome.isin((bulk.IMPORTED, bulk.ALREADY_THERE, bulk.READY))]
    if rows.empty:
        return "UNKNOWN", "the table has no rows", "Check that this is the right file."
    if len(problems):
        return _with_causes(problems, "Then run this again with the same table.")
    if ready := (rows.outcome == bulk.READY).sum():
        return "UNKNOWN", f"{ready} can be imported, and were not", f"{AGAIN} to import them."
    return counted(len(rows), "camera")


def _removed(rows: pd.DataFrame) -> str | Finding:
    problems = rows[rows.outcome.isin((bulk.FAILED, bulk.UNKNOWN, bulk.NOT_TRIED))]
    if len(problems):
        return _with_causes(problems, "Then run this again.")
    return _names_with(rows, "outcome")


def _with_causes(problems: pd.DataFrame, advice: str) -> Finding:
    first = [f"{row.user_id}: {row.cause} {row.advice}" for row in problems.head(3).itertuples()]
    unknown = problems.outcome.isin((bulk.UNKNOWN, bulk.NOT_TRIED)).all()
    advice = " ".join([*first, advice])
    return "UNKNOWN" if unknown else "FAIL", _names_with(problems, "outcome"), advice


def _names_with(rows: pd.DataFrame, column: str) -> str:
    pairs = zip(rows.user_id, rows[column], strict=True)
    return shorten(f"{user_id} ({value})" for user_id, value in pairs)


def stray_devices(
    client: Client, keep: Sequence[str] = "", *, pause: float = 3.0, apply: bool = False
) -> Checks:
    """Stray devices: which are listed although nobody sees them, and may they be removed?

    `keep`: user IDs of devices that stay, as a list or with commas between them. It reads (A3, A6,
    B3) twice, `pause` seconds apart, as a camera that restarts is missing too; with `apply` it
    removes (B2) what was stray both times.
    """
    kept = split(keep)
    listed = yield from ask(
        "Listed devices (B3)",
        lambda: list_devices(client),
        lambda devices: counted(len(devices), "device"),
    )
    if listed is None:
        return
    if unknown := set(kept) - {device.user_id for device in listed}:
        detail = f"no device has the ID {shorten(sorted(unknown))}"
        yield Check("Devices to keep", "FAIL", detail, "Correct keep; nothing was removed.")
        return

    def look() -> pd.DataFrame:
        rows = bulk.stray_devices(client)
        return rows[~rows.user_id.isin(kept)]

    def look_twice() -> pd.DataFrame:
        first = look()
        if len(first):
            time.sleep(pause)
        return _in_both(first, look())

    strays = yield from ask("Two readings", look_twice, lambda rows: f"{len(rows)} stray in both")
    if strays is None:
        return
    removable = strays[strays.reason != bulk.NOT_KNOWN]
    if len(removable) and (yield from may_change(client, apply, "Removal (B2)")):
        yield from ask("Removal (B2)", partial(bulk.remove_devices, client, removable), _removed)
        yield from ask("Stray devices", lambda: _in_both(strays, look()), _no_strays)
    else:
        yield from ask("Stray devices", lambda: strays, _no_strays)


def _in_both(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the second reading that were in the first, for the same reason."""
    return second.merge(first[["room_id", "user_id", "reason"]].drop_duplicates())


def _no_strays(strays: pd.DataFrame) -> str | Finding:
    certain = strays[strays.reason != bulk.NOT_KNOWN]
    if len(certain):
        advice = f"Name in keep what has to stay. {AGAIN} to remove the others."
        return "FAIL", _names_with(certain, "reason"), advice
    if len(strays):
        detail = f"the rooms of {shorten(strays.user_id)} could not be read"
        return "UNKNOWN", detail, f"{strays.cause.iloc[0]} Then run this again."
    return "none"
