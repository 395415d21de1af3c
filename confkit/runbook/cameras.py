"""Why a camera does not appear, many cameras from a table, and stray devices."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..bulk import devices as bulk
from ..bulk.devices import import_devices
from ..bulk.table import TableError
from ..checks import Check
from ..connect import CAMERA_PASSWORD
from ..devices import import_device, list_devices, remove_device
from ..diagnosis import diagnose_device
from ..errors import ConfigError, RoomNotFound
from ..records import Device
from ..rtsp.preflight import preflight
from ..secret import SecretAddress
from ..sweep import sweep
from ..text import counted
from .inputs import to_set
from .rooms import called, few, find_room, meant, names, room_found
from .steps import Checks, Finding, asked, may_change, said, told

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client
    from ..rtsp.report import Report
    from ..sweep import Sweep

AGAIN = "the camera is imported again"
HELPS = ("not_imported", "address_differs", "service_cannot_reach")


def camera_does_not_appear(
    client: Client,
    room: str,
    device: str = "",
    *,
    address: str = "",
    login_name: str = "",
    login_password: str | None = None,
    seconds: float = 10.0,
    apply: bool = False,
) -> Checks:
    """Where on the way from the room to the camera does it end, and does a new import help?

    `device`: the camera's user ID or name; empty: the first of the room's that has a problem.
    `address`, `login_name`, `login_password`: only where the service lists none or old ones. It
    only reads, and tries the camera; with `apply` it imports the camera again where that can help,
    and looks for it for so many `seconds`.
    """
    it = yield from room_found(client, room)
    if it is None:
        return
    room_id = it.room_id
    listed = yield from asked(
        "it is clear which camera is meant",
        lambda: list_devices(client, room_id),
        lambda them: _which(device, address, them),
    )
    if listed is None:
        return
    camera = next(iter(called(device, listed)), None)
    login: dict[str, Any] = {"login_name": login_name or None, "login_password": login_password}
    if camera and not login_name:
        login = {name: getattr(camera, name) for name in login}

    def look() -> Report:
        user_id = camera.user_id if camera else device or None
        return diagnose_device(client, room_id, user_id, address or None, **login)

    report = trial = look()
    if report.verdict == "address_differs":  # then only the addresses were compared
        trial = preflight(address, **login)
    if trial.codec:
        yield Check("the camera plays from here", "PASS", ", ".join(trial.facts()[:3]))
    helps = report.verdict in HELPS and trial.codec and (camera or (device and address))
    again = f"The camera plays from here. {to_set('apply', True)}: it is imported again."
    if helps and (yield from may_change(client, apply, AGAIN)):
        old, removed = camera or Device(room_id, device, device, SecretAddress(address)), False
        new = replace(
            old,
            user_name=old.user_name or old.user_id,
            user_address=SecretAddress(address) if address else old.user_address,
            options={name: value for name, value in old.options.items() if name not in login},
        )

        def bring_in() -> object:
            nonlocal removed
            if camera:
                remove_device(client, camera)
                removed = True
            return import_device(client, new, **login, verify=True, patience=seconds)

        again = f"The camera plays from here. Fix what {AGAIN!r} says."
        try:
            done = None
            done = yield from asked(AGAIN, bring_in, f"{old.user_id!r}")
        finally:  # an import may take half a minute, in which one may interrupt it
            if removed and done is None:
                yield Check(
                    "what was listed before is listed now",
                    "FAIL",
                    f"{old.user_id!r} was removed before the import, and may be missing now",
                    f"Run this again with device={old.user_id!r}, address={old.user_address!r} or "
                    f"its new one, and login_name={old.login_name or ''!r}: that imports it.",
                )
        report = look()
    yield told("the camera is in its room", _inside(report, trial, again))


def _which(device: str, address: str, listed: list[Device]) -> Finding:
    if device and address and not called(device, listed):
        return f"{device!r}, not listed, at the address that was given"
    return "the first with a problem" if listed and not device else meant(device, listed)


def _inside(report: Report, trial: Report, again: str) -> Finding:
    """An error of the service is no fault of the camera, unless it is that of the media server."""
    if report.ok:
        return report.cause
    server = any(it.name == "media server" and it.outcome == "failed" for it in report.stages)
    unknown = report.verdict == "service_error" and not server
    # Where only the addresses were compared, the trial says what is wrong with the new one.
    shown = report if trial.codec or report.verdict != "address_differs" else trial
    helps = report.verdict in HELPS and trial.codec
    found = f"{shown.verdict}: {shown.cause}"
    return "UNKNOWN" if unknown else "FAIL", found, again if helps else shown.advice


IMPORTED = "those that are ready are asked for"


def bulk_camera_import(
    client: Client,
    table: str | os.PathLike[str],
    *,
    login_password: str | None = None,
    timeout: float = 20.0,
    seconds: float = 5.0,
    apply: bool = False,
) -> Checks:
    """Is the table right, do its cameras play, can their rooms take them, and are they there?

    `table`: the path of a CSV file, as `ck.import_devices` takes it. `login_password`, or that of
    CONFKIT_CAMERA_PASSWORD, is for rows with a login name and no password; `timeout`: seconds for
    each camera. It only reads, and tries the cameras; with `apply` it imports those that play, and
    looks for each for so many `seconds`.
    """
    password = login_password or os.environ.get(CAMERA_PASSWORD)
    options: dict[str, Any] = {"timeout": timeout, "progress": False, "login_password": password}

    def tried() -> pd.DataFrame:
        if not table:
            raise ConfigError("no table is given", "Set table to the path of a CSV file.")
        try:
            return import_devices(client, table, dry_run=True, preflight=True, **options)
        except OSError as error:
            raise ConfigError(f"{table} cannot be read: {error.strerror}", "Check table.") from None

    # With one mistake in the table nothing is tried.
    final = yield from asked(
        "the table is right, and its cameras are tried", tried, _outcomes, fails=TableError
    )
    if final is None:
        return
    coming = final[final.outcome == "ready"].room_id.value_counts().to_dict()
    if coming:
        rooms = list(map(str, coming))
        yield from asked(
            "the rooms can take them",
            lambda: sweep(client, rooms, progress=False),
            lambda read: _fit(read, coming),
        )
    if coming and (yield from may_change(client, apply, IMPORTED)):
        made = yield from asked(
            IMPORTED,
            lambda: import_devices(client, table, verify=True, patience=seconds, **options),
            _outcomes,
        )
        final = final if made is None else made
    yield told("every camera is in its room", _all_inside(final))


def _outcomes(frame: pd.DataFrame) -> str:
    return ", ".join(f"{n} {one}" for one, n in frame.outcome.value_counts().items() if n) or "none"


def _fit(read: Sweep, coming: dict[Any, int]) -> Finding:
    """A room that is locked, closed or full takes no camera (426); nor does one whose `max_video`
    leaves no stream for it (assumed)."""
    import pandas as pd

    unread = [f"{it.room_id}: {said(it.error)}" for it in read.failures]
    full = []
    for it in read.frame().fillna({"users": 0, "devices": 0}).to_dict("records"):
        room_id, new = it["room_id"], coming[it["room_id"]]
        if it["status"] in ("locked", "closed"):
            full.append(f"{room_id} is {it['status']}")
        for cap, there in (("attendee_max", it["users"]), ("max_video", it["devices"])):
            if pd.notna(it[cap]) and 0 < it[cap] < there + new:
                full.append(f"{room_id} has {there} of {cap} {it[cap]}, and {new} come")
    if full or any(isinstance(it.error, RoomNotFound) for it in read.failures):
        advice = "Give these rows another room: this interface opens no room and changes no cap."
        return "FAIL", "; ".join([*full, *unread]), advice
    if unread:
        return "UNKNOWN", "; ".join(unread), "Fix that, then run this again."
    return counted(len(coming), "room")


def _all_inside(final: pd.DataFrame) -> Finding:
    missing = final[~final.outcome.isin(("imported", "already there"))]
    if final.empty:
        return "UNKNOWN", "the table has no rows", "Look whether this is the right file."
    if missing.empty:
        return f"{len(final)} are"
    left = missing[missing.outcome != "ready"]
    if left.empty:
        found = f"{len(missing)} are ready and were not imported"
        return "UNKNOWN", found, f"{to_set('apply', True)} to import them."
    lost = left.outcome.eq("unknown").all()  # the answers were lost
    first = [f"{row.user_id}: {row.cause} {row.advice}" for row in left.head(3).itertuples()]
    advice = " ".join([*first, "Then run this again with the same table."])
    return "UNKNOWN" if lost else "FAIL", _named(left, "outcome"), advice


def _named(rows: pd.DataFrame, column: str) -> str:
    return few(f"{one} ({why})" for one, why in zip(rows.user_id, rows[column], strict=True))


OUT, TIDY = "the stray devices are removed", "no device is stray but those that stay"


def stray_devices(
    client: Client,
    rooms: str = "",
    keep: str = "",
    *,
    seconds: float = 3.0,
    apply: bool = False,
    sleep: Callable[[float], object] = time.sleep,
) -> Checks:
    """Which devices does the service list although nobody sees them, and may they be removed?

    `rooms`: IDs or topics with commas between them, empty: all rooms of the list; `keep`: user IDs
    or names of devices that stay. It looks twice, `seconds` apart, as a camera that is restarting
    is missing too (A3, A6, B3); with `apply` it removes (B2) what was stray both times for a reason
    that is known.
    """
    listed = yield from asked(
        "the service lists its devices",
        lambda: list_devices(client),
        lambda devices: (
            f"{len(devices)} in {counted(len({one.room_id for one in devices}), 'room')}"
        ),
    )
    if listed is None:
        return
    there = {one.room_id for one in listed}  # one of these may be gone already
    stay = names(keep)

    def look() -> pd.DataFrame:
        ids = [one if one in there else find_room(client, one) for one in names(rooms)]
        found = bulk.stray_devices(client, ids or None)
        return found[~(found.user_id.isin(stay) | found.user_name.isin(stay))]

    def both() -> pd.DataFrame:
        first = look()
        if len(first):
            sleep(seconds)
        return _both(first, look())

    strays = yield from asked("the rooms were looked at twice", both, _strays)
    if strays is None:
        return
    goes = strays[strays.reason != "not known"]
    tidy = partial(_tidy, apply=apply)
    if unknown := [name for name in stay if not called(name, listed)]:
        found = f"no device is called {', '.join(unknown)}"
        yield Check(
            "every name in keep is that of a device",
            "FAIL",
            found,
            "Fix keep; nothing is removed before.",
        )
    elif len(goes) and (yield from may_change(client, apply, OUT)):
        yield from asked(OUT, lambda: bulk.remove_devices(client, goes), _outcomes)
        yield from asked(TIDY, lambda: _both(strays, look()), tidy)
        return
    yield told(TIDY, tidy(strays))


def _both(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The rows of the second look that were in the first one too, for the same reason."""
    return second.merge(first[["room_id", "user_id", "reason"]].drop_duplicates())


def _strays(frame: pd.DataFrame) -> str:
    return f"{len(frame)} stray" + (f": {_named(frame, 'reason')}" if len(frame) else "")


def _tidy(strays: pd.DataFrame, apply: bool) -> Finding:
    """What was stray before and still is counts."""
    sure = strays[strays.reason != "not known"]
    if len(sure):
        way = "Then run this again" if apply else to_set("apply", True)
        return "FAIL", _named(sure, "reason"), f"Put what has to stay into keep. {way}."
    if len(strays):
        found = f"the rooms of {', '.join(strays.user_id)} could not be read"
        return "UNKNOWN", found, f"{strays.cause.iloc[0]} Fix that, then run this again."
    return "none is stray"
