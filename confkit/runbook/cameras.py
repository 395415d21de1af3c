"""Runbooks about cameras: one does not appear, many come from a table, and some are stray."""

import os
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..bulk import devices as bulk
from ..bulk.table import TableError
from ..checks import Outcome
from ..client import Client
from ..connect import CAMERA_PASSWORD
from ..devices import list_devices
from ..diagnosis import diagnose_device
from ..errors import ConfigError, RoomNotFound
from ..records import Room
from ..rtsp.report import Report
from ..secret import Secret
from ..sweep import sweep
from ..text import counted
from .rooms import SHUT, camera_login
from .steps import Checks, Finding, ask, may_change, shorten, split

if TYPE_CHECKING:
    import pandas as pd

_IN_ROOMS = "Every camera in its room"
# Outcomes of an import or a removal that are no problem.
_DONE = (
    *(bulk.READY, bulk.IMPORTED, bulk.ALREADY_THERE),
    *(bulk.REMOVED, bulk.NOT_THERE, bulk.LEFT_ALONE),
)


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
    room_id = room.room_id if isinstance(room, Room) else room
    diagnose = partial(diagnose_device, client, room_id, device or None, address or None)
    login = camera_login(login_name)
    yield from ask("Camera in its room", lambda: diagnose(**login), _in_its_room)


def _in_its_room(report: Report) -> Finding:
    # An error of the service says nothing of the camera, unless it is about the media server.
    failed = {stage.name for stage in report.stages if stage.outcome == "failed"}
    unknown = report.verdict == "service_error" and "media server" not in failed
    outcome: Outcome = "PASS" if report.ok else "UNKNOWN" if unknown else "FAIL"
    plays = f" It plays from here: {', '.join(report.facts()[:3])}." if report.codec else ""
    return outcome, f"{report.verdict}: {report.cause}{plays}", report.advice


def bulk_camera_import(
    client: Client, table: str | os.PathLike[str], *, apply: bool = False
) -> Checks:
    """Many cameras come from a table: is it right, do they play, and are they in their rooms?

    `table`: the path of a CSV file, as `ck.import_devices` takes it. A row with a login name and no
    password gets the one of CONFKIT_CAMERA_PASSWORD. It reads, and plays the cameras; with `apply`
    it imports those that play (B1).
    """
    password = Secret(os.environ.get(CAMERA_PASSWORD, "")) or None
    run = partial(bulk.import_devices, client, table, progress=False, login_password=password)
    # An import plays the cameras: tried before, too, a wrong login would be two.
    play = apply is not True or client.read_only
    trial = partial(run, dry_run=True, preflight=play)
    rows = yield from ask(
        "Table", trial, lambda rows: counted(len(rows), "row"), fails=(TableError,)
    )
    if rows is None or (yield from ask("Rooms", lambda: _rooms_open(client, rows))) is None:
        return
    if bulk.READY in set(rows.outcome) and (yield from may_change(client, apply, "Import (B1)")):
        yield from ask(_IN_ROOMS, partial(run, verify=True), _all_done)
    else:
        yield from ask(_IN_ROOMS, lambda: _all_done(rows))


def _rooms_open(client: Client, rows: "pd.DataFrame") -> str | Finding:
    if rows.empty:
        return "UNKNOWN", "the table has no rows", "Check that this is the right file."
    rooms = sweep(client, list(rows.room_id), users=False, progress=False)
    unknown = [fail.room_id for fail in rooms.failures if isinstance(fail.error, RoomNotFound)]
    if unknown:
        detail = f"there is no room {shorten(map(str, unknown))}"
        return "FAIL", detail, "Correct room_id in the table; nothing was imported."
    if rooms.failures:
        return "UNKNOWN", rooms.commonest, rooms.failures[0].advice
    shut = {room.room_id for room in rooms.rooms if room.room_status in SHUT}
    if shut := shut.intersection(rows.room_id[rows.outcome == bulk.READY]):
        detail = f"locked or closed: {shorten(sorted(shut))}"
        return "FAIL", detail, "Have it unlocked, or correct room_id; nothing was imported."
    return counted(len(rooms.ids), "room")


def _all_done(rows: "pd.DataFrame") -> str | Finding:
    """Judge the outcomes of an import or a removal, with the causes of the first problems."""
    problems = rows[~rows.outcome.isin(_DONE)]
    if len(problems):
        advice = [f"{row.user_id}: {row.cause} {row.advice}" for row in problems[:3].itertuples()]
        unknown = problems.outcome.isin((bulk.UNKNOWN, bulk.NOT_TRIED)).all()
        detail = _names_with(problems, "outcome")
        return "UNKNOWN" if unknown else "FAIL", detail, " ".join([*advice, "Then run this again."])
    if ready := (rows.outcome == bulk.READY).sum():
        return "UNKNOWN", f"{ready} can be imported, and were not", "Run it with apply=True."
    return _names_with(rows, "outcome")


def _names_with(rows: "pd.DataFrame", column: str) -> str:
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

    def look() -> "pd.DataFrame":
        rows = bulk.stray_devices(client)
        return rows[~rows.user_id.isin(kept)]

    def look_twice() -> "pd.DataFrame":
        # A mistyped ID to keep would be the removal of that device.
        if unknown := set(kept) - {device.user_id for device in list_devices(client)}:
            raise ConfigError(f"no device has the ID {shorten(sorted(unknown))}", "Correct keep.")
        first = look()
        time.sleep(pause)
        return _in_both(first, look())

    strays = yield from ask("Two readings", look_twice, lambda rows: f"{len(rows)} stray in both")
    if strays is None:
        return
    removable = strays[strays.reason != bulk.NOT_KNOWN]
    if len(removable) and (yield from may_change(client, apply, "Removal (B2)")):
        yield from ask("Removal (B2)", partial(bulk.remove_devices, client, removable), _all_done)
        yield from ask("Stray devices", lambda: _no_strays(_in_both(strays, look())))
    else:
        yield from ask("Stray devices", lambda: _no_strays(strays))


def _in_both(first: "pd.DataFrame", second: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of the second reading that were in the first, for the same reason."""
    return second.merge(first[["room_id", "user_id", "reason"]].drop_duplicates())


def _no_strays(strays: "pd.DataFrame") -> str | Finding:
    certain = strays[strays.reason != bulk.NOT_KNOWN]
    if len(certain):
        advice = "Name in keep what has to stay, and run this again with apply=True."
        return "FAIL", _names_with(certain, "reason"), advice
    if len(strays):
        detail = f"the rooms of {shorten(strays.user_id)} could not be read"
        return "UNKNOWN", detail, f"{strays.cause.iloc[0]} Then run this again."
    return "none"
