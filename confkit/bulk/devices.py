"""Import and remove many devices, and find those that are missing from their rooms.

Each device is requested once, in order, until the service cannot be reached. Each has a row with
its outcome, which may be "unknown".
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from ..client import Client
from ..devices import NotInRoom, import_device, list_devices, remove_device
from ..diagnosis.calls import name_of, remove_call
from ..diagnosis.camera import camera_key, can_be_tried, login_of, preflight_of
from ..errors import (
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    RoomNotFound,
    TokenRejected,
    TransportError,
    UserNotFound,
)
from ..frames import NAME, ROOM_STATUS, Kind, address_text, frame_of
from ..operations import B1, B2, B3
from ..records import Device, parse_id
from ..rooms import get_room, get_room_users
from ..secret import MASK, Secret, redact, reveal
from ..sweep import Progress, progress_bar
from ..tables import Problem, read_table
from .table import parse_cells, read_devices, table_error

if TYPE_CHECKING:
    import pandas as pd

NOT_TRIED, UNKNOWN = "not tried", "unknown"
IMPORTED, ALREADY_THERE, READY = "imported", "already there", "ready"
PREFLIGHT_FAILED, REFUSED, NOT_SEEN = "preflight failed", "refused", "not seen"
REMOVED, NOT_THERE, FAILED, LEFT_ALONE = "removed", "not there", "failed", "left alone"
IMPORTS = (
    *(IMPORTED, ALREADY_THERE, PREFLIGHT_FAILED, REFUSED, NOT_SEEN, UNKNOWN, NOT_TRIED, READY),
)
REMOVALS = (REMOVED, NOT_THERE, FAILED, UNKNOWN, LEFT_ALONE, NOT_TRIED)
ROOM_GONE, ROOM_CLOSED = "room gone", "room closed"
NOT_AMONG_USERS, NOT_KNOWN = "not among the users", "not known"
STRAYS = (ROOM_GONE, ROOM_CLOSED, NOT_AMONG_USERS, NOT_KNOWN)

# Outcomes after which a device is, or may be, in its room.
_REMOVABLE = ("", IMPORTED, NOT_SEEN, UNKNOWN, REMOVED, NOT_THERE, FAILED)
# The service is unusable: the next device would fail, too.
_NO_SERVICE = (TransportError, TokenRejected, AuthenticationFailed, ConfigError)
_THREADS = 16  # that try cameras
_INTERRUPTED = "The call was interrupted."

Row = dict[str, Any]  # of the result, and its `device`


def import_devices(
    client: Client,
    table: "pd.DataFrame | str | os.PathLike[str]",
    *,
    dry_run: bool = False,
    login_password: str | Secret | None = None,
    preflight: bool | None = None,
    verify: bool = False,
    patience: float = 5.0,
    timeout: float = 20.0,
    progress: bool | Progress | None = None,
    encoding: str | None = None,
) -> "pd.DataFrame":
    """Import the devices of a table (B1), and return one row per device with its outcome.

    `table` is a DataFrame, or the path of a CSV file (commas, semicolons, tabs or bars; UTF-8
    unless `encoding` names another), with the columns room_id, user_id, user_name, user_address;
    optional: login_name, login_password, user_data and options (JSON). The whole table is checked
    first: TableError lists all mistakes, and nothing is sent. `login_password` applies to rows with
    a login_name but no password, so that a file need not contain one.

    A device whose address is already in its room is skipped. Unless `preflight` is False the
    cameras are tried from here, 16 at a time and one per host at a time, for `timeout` seconds
    each; cameras that do not play are not imported. Then the devices are imported once each, in
    order, until the service cannot be reached. With `verify` each is then looked up in B3 and A6,
    for up to `patience` seconds. `remove_devices(client, result)` removes what was imported, or may
    have been.

    `dry_run` checks the table, and the cameras only if `preflight` is True: devices that would be
    imported are "ready"; a read-only client will do. Ctrl-C ends running preflights and returns the
    results so far. `progress` is True, False or a function that is called with the number of steps
    done and of all.

    Columns: `row` (the line of the file; in a DataFrame the position, from 1), `outcome`, a
    category: "imported", "already there", "preflight failed", "refused" (by the service), "not
    seen" (`verify`), "unknown" (the response was lost, or leaves it open), "not tried", "ready"
    (`dry_run`); `verdict` of the preflight or "skipped", `room_id`, `user_id`, `cause`, `advice`,
    `user_name`, `user_address` (masked).
    """
    if not dry_run:
        client.may_send(B1)
    preflight = not dry_run if preflight is None else preflight
    login_password = Secret(login_password) if login_password is not None else None
    devices, problems = read_devices(table, encoding, login_password)
    del table  # a traceback would show its passwords
    if problems:
        raise table_error(problems)
    rows = [_new_row(number, device) for number, device in devices]

    options: dict[str, Any] = {"verify": verify, "patience": patience}

    def request(row: Row) -> None:
        if not dry_run:
            import_device(client, row["device"], preflight=row["report"] or False, **options)

    retry_advice = "Call again with the same table: devices that are already there are skipped."
    stop_reason = ""  # why no further device is requested
    try:
        _mark_present(client, rows)  # a preflight could take a camera's only connection
        absent = [row for row in rows if row["outcome"] == NOT_TRIED and preflight]
        cameras = [row for row in absent if can_be_tried(row["device"])]
        with progress_bar(progress, len(cameras) + len(rows), "importing") as step:
            _preflight_all(cameras, timeout, step)
            outcomes = (READY if dry_run else IMPORTED, REFUSED, NOT_SEEN)
            stop_reason = _request_all(rows, request, NotInRoom, outcomes, step)
    except KeyboardInterrupt:
        stop_reason = _INTERRUPTED
    return _result(rows, IMPORTS, stop_reason, retry_advice, "verdict")


def _mark_present(client: Client, rows: Sequence[Row]) -> None:
    listed = list_devices(client) if rows else []
    present = {(device.room_id, camera_key(device)): device for device in listed}
    for row in rows:
        device: Device = row["device"]
        if known := present.get((device.room_id, camera_key(device))):
            row["outcome"] = ALREADY_THERE
            if known.user_id != device.user_id:
                row["cause"] = f"The room already has this camera, as {name_of(known)}."
                row["advice"] = (
                    f"To use this user ID instead, remove that first: {remove_call(known)}"
                )


def _preflight_all(rows: Sequence[Row], timeout: float, step: Callable[[], object]) -> None:
    """Try the cameras in parallel, but one at a time per host: a recorder may lock out a client
    that connects too often."""
    hosts: dict[object, list[Row]] = {}
    for row in rows:
        _, host, *_ = camera_key(row["device"])
        hosts.setdefault(host, []).append(row)
    stop, lock = Event(), Lock()

    def try_host(cameras: list[Row]) -> None:
        rejected: dict[object, Any] = {}  # by login: a recorder locks out who tries it again
        for row in cameras:
            login = login_of(row["device"])
            report = rejected.get(login) or preflight_of(
                row["device"], timeout=timeout, cancelled=stop
            )
            if report.verdict in ("auth_rejected", "auth_locked"):
                rejected[login] = report
            # Of a thousand cameras, the pictures would fill the memory.
            row.update(verdict=report.verdict, report=replace(report, snapshot=None))
            if not report.ok:
                row.update(outcome=PREFLIGHT_FAILED, cause=report.cause, advice=report.advice)
            with lock:
                step()

    with ThreadPoolExecutor(_THREADS) as pool:
        longest_first = sorted(hosts.values(), key=len, reverse=True)
        try:
            for future in as_completed([pool.submit(try_host, each) for each in longest_first]):
                future.result()
        finally:
            stop.set()  # ends running preflights
            pool.shutdown(wait=False, cancel_futures=True)


def remove_devices(
    client: Client,
    devices: "Iterable[Device] | Device | pd.DataFrame | str | os.PathLike[str]",
) -> "pd.DataFrame":
    """Remove devices (B2), and return one row per device, in order, with its outcome; stop only if
    the service cannot be reached.

    `devices` are Device records, or a table (see `import_devices`) with room_id, user_id and,
    optionally, user_address; a missing or masked address is looked up in B3. Of the result of
    `import_devices` only devices that were imported, or may have been ("unknown"), are removed;
    the others are left alone, as are those that `stray_devices` calls "not known". A mistake in the
    table is a TableError, and nothing is sent. Ctrl-C returns the results so far.

    Columns: `row` (the line of the file, or the position from 1), `outcome`, a category:
    "removed", "not there", "failed", "unknown" (the response was lost, or leaves it open), "left
    alone", "not tried"; `room_id`, `user_id`, `cause`, `advice`, `user_name`, `user_address`
    (masked).
    """
    client.may_send(B2)
    if isinstance(devices, Device):
        devices = [devices]
    if isinstance(devices, str | os.PathLike) or hasattr(devices, "columns"):
        rows, problems = _removal_rows(devices)
    else:
        records = list(devices)
        if not all(isinstance(record, Device) for record in records):
            raise TypeError("pass Device records, a DataFrame, or the path of a CSV file")
        rows, problems = [_new_row(number, record) for number, record in enumerate(records, 1)], []
    del devices  # a traceback would show its passwords
    if problems:
        raise table_error(problems)
    retry_advice = 'Call again with the same devices: those already removed are "not there".'
    stop_reason = ""  # why no further device is requested
    try:
        _look_up_addresses(client, rows)
        outcomes = (REMOVED, FAILED, NOT_THERE)
        stop_reason = _request_all(
            rows, lambda row: remove_device(client, row["device"]), UserNotFound, outcomes
        )
    except KeyboardInterrupt:
        stop_reason = _INTERRUPTED
    return _result(rows, REMOVALS, stop_reason, retry_advice)


def _removal_rows(table: object) -> tuple[list[Row], list[Problem]]:
    texts = ("user_name", "outcome", "reason")
    lines, problems = read_table(table, ("room_id", "user_id"), (*texts, "user_address"))
    rows = []
    for number, cells in lines:
        address = cells.pop("user_address", None) or None
        # pandas reads a name made of digits as a number.
        name, outcome, reason = (str(cells.pop(text, None) or "").strip() for text in texts)
        if address is not None and MASK not in str(address):
            cells["user_address"] = address
        fields, cell_problems = parse_cells(cells)
        problems += [Problem(number, column, problem) for column, problem in cell_problems]
        if problems:
            continue
        fields = {"user_name": name or None, "user_address": address, **fields}
        row = _new_row(number, Device(**fields))
        if outcome not in _REMOVABLE or reason == NOT_KNOWN:
            advice = f"To remove it anyway: {remove_call(row['device'])}"
            cause = f"The table says {reason or outcome!r}."
            row.update(outcome=LEFT_ALONE, cause=cause, advice=advice)
        rows.append(row)
    return rows, problems


def _look_up_addresses(client: Client, rows: Sequence[Row]) -> None:
    """Look up addresses that are missing or masked: B2 requires them in full."""
    missing = [row for row in rows if MASK in (reveal(row["device"].user_address) or MASK)]
    incomplete = [row for row in missing if row["outcome"] == NOT_TRIED]
    listed = list_devices(client) if incomplete else []
    by_id = {(device.room_id, device.user_id): device for device in listed}
    for row in incomplete:
        device: Device = row["device"]
        known = by_id.get((device.room_id, device.user_id))
        if known and str(device.user_address or known.user_address) == str(known.user_address):
            row.update(_about(known))
        else:
            row.update(outcome=NOT_THERE, cause="B3 does not list it at this address.")


def stray_devices(client: Client, room_ids: Iterable[str] | str | None = None) -> "pd.DataFrame":
    """Return one row per device that B3 lists but that is, or may be, missing from its room.

    In the given rooms, or in all that B3 names. Columns: `room_id`, `user_id`, `user_name`,
    `user_address` (masked), all `string`; `reason`, a category: "room gone" (404), "room closed",
    "not among the users" (A6), or "not known", with the error as `cause`, if the room could not be
    read. B3 is called once, A3 and A6 once per room, until the service cannot be reached: then the
    devices of the remaining rooms are "not known".
    """
    if isinstance(room_ids, str):
        room_ids = [room_ids]
    ids = None if room_ids is None else [parse_id(B3, "room_id", value) for value in room_ids]
    rooms: dict[str, list[Device]] = {}
    for device in list_devices(client):
        if ids is None or device.room_id in ids:
            rooms.setdefault(device.room_id, []).append(device)
    strays: list[Row] = []
    no_service = ""
    for room_id, devices in rooms.items():
        reason, cause, users = NOT_KNOWN, no_service, set[str]()
        if not no_service:
            try:
                reason = ROOM_CLOSED
                if ROOM_STATUS.get(get_room(client, room_id).room_status or 0) != "closed":
                    users = {user.user_id for user in get_room_users(client, room_id)}
                    reason = NOT_AMONG_USERS
            except RoomNotFound:
                reason = ROOM_GONE
            except ConfkitError as error:  # a room that cannot be read is not gone
                reason, cause = NOT_KNOWN, str(error)
                no_service = cause if isinstance(error, _NO_SERVICE) else ""
        unseen = [device for device in devices if device.user_id not in users]
        strays += [{**_about(device), "reason": reason, "cause": cause} for device in unseen]
    names = ("room_id", "user_id", "user_name", "user_address", "reason", "cause")
    return _frame(strays, names, reason=STRAYS)


# Rows and their frame


def _new_row(number: int, device: Device) -> Row:
    texts = {"outcome": NOT_TRIED, "verdict": "skipped", "cause": "", "advice": ""}
    return {"row": number, "report": None, **texts, **_about(device)}


def _about(device: Device) -> Row:
    names = {name: getattr(device, name) for name in ("room_id", "user_id", "user_name")}
    return {"device": device, "user_address": address_text(device), **names}


def _request_all(
    rows: Sequence[Row],
    request: Callable[[Row], object],
    special: type[ConfkitError],
    outcomes: tuple[str, str, str],
    step: Callable[[], object] = lambda: None,
) -> str:
    """Change the devices not tried yet, once each and in order, and record the outcomes: success,
    failure and a `special` error. Return why the rest was not tried, or ""."""
    done, failed, otherwise = outcomes
    for row in rows:
        if row["outcome"] == NOT_TRIED:
            advice = f"Check with ck.list_devices(client, {row['room_id']!r}) whether it is there."
            # In case of Ctrl-C before the call returns.
            row.update(outcome=UNKNOWN, cause=_INTERRUPTED, advice=advice)
            try:
                request(row)
                row.update(outcome=done, cause="", advice="")
            except _NO_SERVICE as error:  # nothing was sent
                row["outcome"] = NOT_TRIED
                return str(error)
            except ConfkitError as error:
                outcome = UNKNOWN if isinstance(error, OutcomeUnknown) else failed
                outcome = otherwise if isinstance(error, special) else outcome
                row.update(outcome=outcome, cause=f"{error.summary}.", advice=error.advice)
                if report := getattr(error, "report", None):
                    row.update(verdict=report.verdict, cause=report.cause, advice=report.advice)
                lookup_error = getattr(error, "lookup_error", None)
                if isinstance(lookup_error, _NO_SERVICE):  # the service has gone meanwhile
                    return str(lookup_error)
        step()
    return ""


def _result(
    rows: Sequence[Row],
    outcomes: tuple[str, ...],
    stop_reason: str,
    retry_advice: str,
    *verdict: str,
) -> "pd.DataFrame":
    """Return one row per device. Devices not tried get `stop_reason` and `retry_advice`."""
    for row in rows:
        if row["outcome"] == NOT_TRIED:
            row.update(cause=stop_reason, advice=retry_advice)
        row.update(cause=redact(row["cause"]), advice=redact(row["advice"]))
    names = ("row", "outcome", *verdict, "room_id", "user_id", "cause", "advice", "user_name")
    return _frame(rows, (*names, "user_address"), outcome=outcomes)


def _frame(rows: Sequence[Row], names: Iterable[str], **categories: Kind) -> "pd.DataFrame":
    known = {"row": "Int64", "user_id": NAME, "user_name": NAME, **categories}
    kinds = {name: known.get(name, "string") for name in names}
    return frame_of(rows, kinds)
