"""Why a camera does not appear, many cameras from a table, and stray devices."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..bulk import removals
from ..bulk.device_table import TableError
from ..bulk.imports import import_devices
from ..checklist import Check
from ..connect import CAMERA_PASSWORD
from ..devices import import_device, list_devices, reimport_device, remove_device
from ..diagnosis import diagnose_device
from ..errors import RoomNotFound, UserNotFound
from ..many.sweeps import sweep
from ..records import Device
from ..rooms import get_room
from ..rtsp.preflight import preflight
from .inputs import to_set
from .people import FOUND, READ, called, room_found, users_read
from .rooms import find_room
from .steps import Checking, Finding, Steps

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client
    from ..rtsp.report import Report

CAMERAS, WHICH = "the cameras of the room are listed", "it is clear which camera is meant"
WAY, PLAYS = "the way to the camera", "the camera plays from here"
AGAIN, KEPT = "the camera is imported again", "what was listed before is listed now"
INSIDE = "the camera is in its room"
HELPS = ("not_imported", "address_differs", "login_differs", "service_cannot_reach")


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
) -> Iterator[Check]:
    """Where on the way from the room to the camera does it end, and does a new import help?

    `device`: the camera's user ID or name; empty: the first of the room's that has a problem.
    `address`, `login_name`, `login_password`: only where the service lists none or old ones. It
    only reads, and tries the camera; with `apply` it imports the camera again where that can help,
    and looks for it for so many `seconds`.
    """
    steps = Steps(client)
    room_id = yield from room_found(steps, client, room)
    yield from steps.asked(
        READ, lambda: get_room(client, room_id), found=lambda it: repr(it.topic), needs=FOUND
    )
    listed = yield from steps.asked(
        CAMERAS,
        lambda: list_devices(client, room_id),
        found=lambda devices: (
            f"{len(devices)} listed"
            + "".join(f"; {one.user_id!r} at {one.user_address}" for one in devices[:10])
        ),
        needs=FOUND,
    )
    yield from users_read(steps, client, room_id)
    fits = called(device, listed or [])
    yield from steps.judged(
        WHICH, listed, lambda them: _meant(fits, device, address, bool(them)), needs=CAMERAS
    )
    if not (yield from steps.ready(WAY, WHICH)):
        for check in (PLAYS, AGAIN, INSIDE):
            yield from steps.ready(check, WHICH)
        return
    camera = fits[0] if fits else None
    login: dict[str, Any] = {"login_name": login_name or None, "login_password": login_password}
    if camera and not login_name:
        login = {name: getattr(camera, name) for name in login}

    def look() -> Report:
        user_id = camera.user_id if camera else device or None
        return diagnose_device(client, room_id, user_id, address or None, **login)

    report = trial = look()
    ways = ", ".join(f"{stage.name} {stage.outcome}" for stage in report.stages)
    yield steps.passed(WAY, f"it was looked at: {ways}")
    if report.verdict == "address_differs":  # then only the addresses were compared
        trial = preflight(address, **login)
    yield steps.told(PLAYS, _plays(report, trial))

    def bring_in() -> object:
        if camera is None:
            new = Device(room_id, device, device, address)
        elif address or login_name:
            others = {name: value for name, value in camera.options.items() if name not in login}
            new = replace(camera, user_address=address or camera.user_address, options=others)
            remove_device(client, camera)
        else:
            return reimport_device(client, camera)
        return import_device(client, new, **login, verify=True, patience=seconds)

    changed = False
    if report.ok:
        yield steps.skipped(AGAIN, "it is in its room")
    elif report.verdict not in HELPS or not trial.codec:
        yield steps.skipped(AGAIN, f"that would not help against {trial.verdict}")
    elif not (camera or (device and address)):
        yield steps.skipped(AGAIN, "none was named, so it is not clear which one")
    elif (yield from steps.may_change(apply, AGAIN)):
        try:
            yield from steps.asked(
                AGAIN, bring_in, found=f"{device or (camera and camera.user_id)!r}"
            )
            changed = steps.verdicts[AGAIN] == "PASS"
        finally:  # an import may take half a minute, in which one may interrupt it
            if camera and not changed:
                yield from _still_listed(steps, client, camera)
    failed = steps.verdicts[AGAIN] in ("FAIL", "UNKNOWN")
    yield steps.told(INSIDE, _inside(look() if changed else report, trial, failed))


def _meant(fits: list[Device], device: str, address: str, some: bool) -> Finding:
    if len(fits) > 1:
        ids = ", ".join(one.user_id for one in fits)
        found = f"{len(fits)} are called {device!r}: {ids}"
        return "UNKNOWN", found, "Give its user ID as device."
    if fits:
        return "PASS", f"{fits[0].user_name!r}, listed as {fits[0].user_id!r}"
    if device and address:
        return "PASS", f"{device!r}, not listed, at the address that was given"
    if device:
        return (
            "FAIL",
            f"the service lists no {device!r} in this room",
            "Compare it with the room's devices. If it was never imported, give its address too.",
        )
    if some:
        return "PASS", "none was named: the first with a problem"
    return "UNKNOWN", "none was named, and the room has none", "Give device and address."


def _tried(trial: Report) -> bool:
    return any(stage.name == "name" for stage in trial.stages)


def _plays(report: Report, trial: Report) -> Finding:
    """A camera that the service plays is left alone: some give one connection only (seen)."""
    if trial.codec:
        return "PASS", ", ".join(trial.facts()[:3])
    if _tried(trial):
        return "FAIL", f"{trial.verdict}: {trial.cause}", trial.advice
    why = "the service plays it" if report.ok else f"the way ends before it, {report.verdict}"
    return "SKIP", f"it was left alone: {why}"


def _still_listed(steps: Steps, client: Client, camera: Device) -> Iterator[Check]:
    """The import did not work: is the camera still listed, or was it removed before?"""

    def listed() -> Device:
        for one in list_devices(client, camera.room_id):
            if one.user_id == camera.user_id:
                return one
        raise UserNotFound(f"no: {camera.user_id!r} was removed before the import")

    yield from steps.asked(
        KEPT,
        listed,
        fails=UserNotFound,
        advice=f"Fix what {AGAIN!r} says, then run this again with device={camera.user_id!r}, "
        f"address={camera.user_address!r} or its new one, and login_name="
        f"{camera.login_name or ''!r}: that imports it.",
    )


def _inside(final: Report, trial: Report, failed: bool) -> Finding:
    no_server = any(it.name == "media server" and it.outcome == "failed" for it in final.stages)
    if final.ok:
        return "PASS", final.cause
    if final.verdict == "service_error" and not no_server:
        return "UNKNOWN", final.cause, final.advice
    if final.verdict in HELPS and trial.codec:
        way = f"{to_set('apply', True)}: it is imported again."
        way = f"fix what {AGAIN!r} says." if failed else way
        return "FAIL", f"{final.verdict}: {final.cause}", f"The camera plays from here. {way}"
    if final.verdict == trial.verdict and _tried(trial) and not trial.codec:
        return "FAIL", "its camera does not play", f"Fix what {PLAYS!r} says."
    return "FAIL", f"{final.verdict}: {final.cause}", final.advice


WHOLE, FIT = "the table is right", "the rooms can take them"
ALL_PLAY = "the cameras that are not there yet play from here"
IMPORTED, ALL_INSIDE = "the cameras are imported", "every camera of the table is in its room"
ASKED, _IN = "the service is asked for each camera", ("imported", "already there")


def bulk_camera_import(
    client: Client,
    table: str | os.PathLike[str],
    *,
    login_password: str | None = None,
    timeout: float = 20.0,
    seconds: float = 5.0,
    apply: bool = False,
) -> Iterator[Check]:
    """Is the table right, do its cameras play, can their rooms take them, and are they there?

    `table`: the path of a CSV file, as `ck.import_devices` takes it. `login_password`, or that of
    CONFKIT_CAMERA_PASSWORD, is for rows with a login name and no password; `timeout`: seconds for
    each camera. It only reads, and tries the cameras; with `apply` it imports those that play, and
    looks for each for so many `seconds`.
    """
    steps = Steps(client)
    password = login_password or os.environ.get(CAMERA_PASSWORD)
    options: dict[str, Any] = {"timeout": timeout, "progress": False, "login_password": password}
    dry = final = yield from _dry_run(steps, client, table, options)
    yield from steps.judged(ALL_PLAY, dry, _all_play, needs=WHOLE)
    yield from steps.judged(FIT, dry, lambda frame: _fit(client, frame), needs=WHOLE)
    if (yield from steps.ready(IMPORTED, WHOLE)) and dry is not None:
        if not dry.outcome.eq("ready").any():
            yield steps.skipped(IMPORTED, "none is ready that is not there already")
        elif (yield from steps.may_change(apply, IMPORTED)):
            result = yield from steps.asked(
                ASKED,
                lambda: import_devices(client, table, verify=True, patience=seconds, **options),
                found=lambda frame: f"{len(frame)} rows",
            )
            yield from steps.judged(IMPORTED, result, lambda it: _imported(dry, it), needs=ASKED)
            final = dry if result is None else result
    yield from steps.judged(ALL_INSIDE, final, _all_inside, needs=WHOLE)


def _dry_run(
    steps: Steps, client: Client, table: str | os.PathLike[str], options: dict[str, Any]
) -> Checking[pd.DataFrame | None]:
    """With one mistake in the table nothing is tried."""
    if not table:
        yield steps.unknown(WHOLE, "no table is given", "Set table to the path of a CSV file.")
        return None
    try:
        return (
            yield from steps.asked(
                WHOLE,
                lambda: import_devices(client, table, dry_run=True, **options),
                found=lambda frame: f"{len(frame)} cameras for {frame.room_id.nunique()} rooms",
                fails=TableError,
            )
        )
    except OSError as error:
        yield steps.failed(
            WHOLE, f"the file cannot be read: {error.strerror}", "Check the path in table."
        )
        return None


def _next_steps(rows: pd.DataFrame) -> str:
    """What to do about the first of these rows."""
    first = [f"Row {row.row}, {row.user_id}: {row.cause} {row.advice}" for row in rows.itertuples()]
    return " ".join(first[:3])


def _named(rows: pd.DataFrame, column: str) -> str:
    return ", ".join(f"{one} ({why})" for one, why in zip(rows.user_id, rows[column], strict=True))


def _all_play(dry: pd.DataFrame) -> Finding:
    bad, ready = dry[dry.outcome == "preflight failed"], dry[dry.outcome == "ready"]
    if len(bad):
        return "FAIL", _named(bad, "verdict"), f"{_next_steps(bad)} The others can be imported."
    if ready.empty:
        return "SKIP", "all are in their rooms already"
    untried = (ready.verdict == "skipped").sum()
    more = f", {untried} cannot be tried (sip, h323)" if untried else ""
    return "PASS", f"{len(ready) - untried} play{more}"


def _fit(client: Client, dry: pd.DataFrame) -> Finding:
    """A room that is locked, closed or full takes no camera (426); nor does one whose `max_video`
    leaves no stream for it (assumed)."""
    import pandas as pd

    coming = dry[dry.outcome == "ready"].groupby("room_id").size()
    read = sweep(client, list(dict.fromkeys(dry.room_id)), progress=False)
    gone = {it.room_id for it in read.failures if isinstance(it.error, RoomNotFound)}
    rooms = read.frame().set_index("room_id")
    problems, unread, unsure = [], [], []
    for room_id in coming.index:
        it, new = rooms.loc[room_id], coming[room_id]
        limits = it.attendee_max, it.max_video
        most, video = (n if pd.notna(n) and n > 0 else float("inf") for n in limits)
        if room_id in gone:
            problems.append(f"{room_id} does not exist")
        elif pd.notna(it.error):
            unread.append(f"{room_id}: {it.error}")
        elif str(it.status) in ("locked", "closed"):
            problems.append(f"{room_id} is {it.status}")
        elif it.users + new > most:
            problems.append(f"{room_id} has {it.users} of {most}, and {new} come")
        elif it.devices + new > video:
            need = f"{it.devices + new} cameras need a video stream each (assumed)"
            problems.append(f"{room_id} has max_video {video}, and {need}")
        elif it.users + new > video:
            send = f"the {it.users} in it may send video as well (assumed)"
            unsure.append(f"{room_id} has max_video {video}, {new} come, and {send}")
    if problems:
        return (
            "FAIL",
            "; ".join(problems),
            "Give these rows another room: this interface opens no room and changes no cap.",
        )
    if unread:
        return "UNKNOWN", "; ".join(unread), "Fix that, then run this again."
    if unsure:
        return (
            "UNKNOWN",
            "; ".join(unsure),
            "Import them: B1 answers 426 where no video stream is left. A new room can have more.",
        )
    return "PASS", f"{len(rooms)} rooms"


def _imported(dry: pd.DataFrame, result: pd.DataFrame) -> Finding:
    new = f"{result.outcome.eq('imported').sum()} new ones"
    lost = result[dry.outcome.eq("ready") & ~result.outcome.isin(_IN)]
    if lost.empty:
        return "PASS", new
    numbers = f"{new}; {len(lost)} that were ready are not: {', '.join(lost.user_id)}"
    if lost.outcome.eq("unknown").all():
        return "UNKNOWN", numbers, "No answer came. Run this again: what is there is left alone."
    return "FAIL", numbers, _next_steps(lost)


def _all_inside(final: pd.DataFrame) -> Finding:
    there, waiting = final.outcome.isin(_IN), final.outcome.eq("ready")
    missing = final[~there & ~waiting]
    if final.empty:
        return "UNKNOWN", "the table has no rows", "Look whether this is the right file."
    if there.all():
        return "PASS", f"{len(final)} are"
    if missing.empty:
        numbers = f"{there.sum()} are, {waiting.sum()} are ready and were not imported"
        return "UNKNOWN", numbers, f"{to_set('apply', True)} to import them."
    names = _named(missing, "outcome")
    if missing.outcome.eq("unknown").all():  # the answers were lost
        return "UNKNOWN", names, "Run this again with the same table."
    return "FAIL", names, "Fix these rows, then run this again with the same table."


LISTED, ROOMS = "the service lists its devices", "the rooms to look at are known"
KEEP, LOOKED = "every name in keep is that of a device", "the rooms were looked at twice"
OUT, TIDY = "the stray devices are removed", "no device is stray but those that stay"


def stray_devices(
    client: Client,
    rooms: str = "",
    keep: str = "",
    *,
    seconds: float = 3.0,
    apply: bool = False,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[Check]:
    """Which devices does the service list although nobody sees them, and may they be removed?

    `rooms`: IDs or topics with commas between them, empty: all rooms of the list; `keep`: user IDs
    or names of devices that stay. It looks twice, `seconds` apart, as a camera that is restarting
    is missing too (A3, A6, B3); with `apply` it removes (B2) what was stray both times for a reason
    that is known.
    """
    steps = Steps(client)
    listed = yield from steps.asked(
        LISTED,
        lambda: list_devices(client),
        found=lambda devices: f"{len(devices)} in {len({one.room_id for one in devices})} rooms",
    )

    def wanted() -> list[str] | None:
        there = {one.room_id for one in listed or []}  # one of these may be gone already
        return [one if one in there else find_room(client, one) for one in _names(rooms)] or None

    room_ids = yield from steps.asked(
        ROOMS, wanted, found=lambda ids: ", ".join(ids or ["all of the list"]), needs=LISTED
    )
    stay = _names(keep)
    yield from steps.judged(KEEP, listed, lambda them: _kept_are_known(them, stay), needs=LISTED)

    def look() -> pd.DataFrame:
        return removals.stray_devices(client, room_ids)

    strays = yield from _both_looks(steps, look, seconds, sleep)
    if (yield from steps.ready(OUT, (KEEP, LOOKED))) and strays is not None:
        goes = strays[~_kept(strays, stay) & (strays.reason != "not known")]
        if goes.empty:
            yield steps.skipped(OUT, "there is none to remove")
        elif (yield from steps.may_change(apply, OUT)):
            yield steps.told(OUT, _removed(client, goes))
    if (yield from steps.ready(TIDY, LOOKED)) and strays is not None:
        again = "the rooms are looked at once more"
        now = yield from steps.asked(again, look, found=_count)
        yield from steps.judged(TIDY, now, lambda it: _tidy(strays, it, stay))


def _kept_are_known(listed: list[Device], stay: list[str]) -> Finding:
    known = {name for one in listed for name in (one.user_id, one.user_name)}
    if missed := ", ".join(name for name in stay if name not in known):
        return "FAIL", f"no device is called {missed}", "Fix keep; nothing is removed before."
    return "PASS", ", ".join(stay) or "nothing is to be kept"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _kept(frame: pd.DataFrame, stay: list[str]) -> pd.Series:
    return frame.user_id.isin(stay) | frame.user_name.isin(stay)


def _count(frame: pd.DataFrame) -> str:
    return f"{len(frame)} stray" + (f": {_named(frame[:10], 'reason')}" if len(frame) else "")


def _both(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The rows of the second look that were in the first one too, for the same reason."""
    return second.merge(first[["room_id", "user_id", "reason"]].drop_duplicates())


def _both_looks(
    steps: Steps,
    look: Callable[[], pd.DataFrame],
    seconds: float,
    sleep: Callable[[float], object],
) -> Checking[pd.DataFrame | None]:
    if not (yield from steps.ready(LOOKED, ROOMS)):
        return None
    first = yield from steps.asked("the rooms are looked at", look, found=_count)
    if first is None:
        yield steps.skipped(LOOKED, "the first look failed")
        return None
    if len(first):
        sleep(seconds)
    return (yield from steps.asked(LOOKED, lambda: _both(first, look()), found=_count))


def _removed(client: Client, goes: pd.DataFrame) -> Finding:
    fate = removals.remove_devices(client, goes)
    left = fate[~fate.outcome.isin(["removed", "not there"])]
    if left.empty:
        return "PASS", f"{len(fate)} of them"
    why = "; ".join(f"{one.user_id}: {one.cause}" for one in left[:3].itertuples())
    return "FAIL", f"still there: {_named(left, 'outcome')}", f"{why}. Run this again."


def _tidy(strays: pd.DataFrame, now: pd.DataFrame, stay: list[str]) -> Finding:
    """What was stray before and still is counts."""
    kept = _kept(now, stay)
    left = now[~kept]
    unread = left[left.reason == "not known"]
    sure = _both(strays, left[left.reason != "not known"])
    if len(sure):
        way = f"Put what has to stay into keep. {to_set('apply', True)}."
        return "FAIL", _named(sure, "reason"), way
    if len(unread):
        return (
            "UNKNOWN",
            f"the rooms of {', '.join(unread.user_id)} could not be read",
            f"{unread.cause.iloc[0]} Fix that, then run this again.",
        )
    return "PASS", f"{kept.sum()} stay" if kept.any() else "none is stray"
