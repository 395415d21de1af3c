"""Many devices brought into rooms and taken out of them, and those that nobody sees in theirs.

Each device is asked for once, in order, and none after the service is gone. Each has a row with its
outcome; one that is not known is a row that says so.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from ..client import Client
from ..devices import NotInRoom, import_device, list_devices, remove_device
from ..diagnosis.device_address import at_address_of, can_be_tried, host_of, place, preflight_of
from ..errors import (
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ProtocolError,
    RoomNotFound,
    TokenRejected,
    TransportError,
    UserExists,
    UserNotFound,
)
from ..frames import ROOM_STATUS, address_text, frame_of
from ..operations import B1, B2, B3
from ..records import Device, parse_id
from ..rooms import get_room, get_room_users
from ..secret import MASK, Secret, redact, without_login
from ..sweep import Progress, progress_bar
from ..tables import Problem, read_table
from .table import parse_cells, read_devices, table_error

if TYPE_CHECKING:
    import pandas as pd

    from ..rtsp.report import Report

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

# The outcomes of which a device is, or may be, in its room.
_REMOVABLE = ("", IMPORTED, NOT_SEEN, UNKNOWN, REMOVED, NOT_THERE, FAILED)
# The service cannot be used: to ask it for the next device would not help.
_NO_SERVICE = (TransportError, TokenRejected, AuthenticationFailed, ConfigError)
_INTERRUPTED = "The call was interrupted."
_LOOK = "Look with list_devices(client, room_id) whether the device is there."


@dataclass
class Row:
    """A device, the number of its row, and what has become of it so far."""

    row: int
    device: Device
    outcome: str = NOT_TRIED
    cause: str = ""
    advice: str = ""
    seconds: float = 0.0
    verdict: str = "skipped"
    report: "Report | None" = None  # of the camera

    def end(self, outcome: str, cause: str = "", advice: str = "") -> None:
        """Note what has become of the device, why, and what to do next."""
        self.outcome, self.cause, self.advice = outcome, cause, advice

    def fail(self, outcome: str, error: ConfkitError) -> None:
        """Note an outcome that an error explains."""
        report: Report | None = getattr(error, "report", None)
        self.end(outcome, f"{error.summary}.", error.advice)
        if report is not None:
            self.verdict = report.verdict
            self.end(outcome, report.cause, report.advice)


def import_devices(
    client: Client,
    table: "pd.DataFrame | str | os.PathLike[str]",
    *,
    dry_run: bool = False,
    login_password: str | Secret | None = None,
    preflight: bool = True,
    verify: bool = False,
    patience: float = 5.0,
    threads: int = 16,
    timeout: float = 20.0,
    progress: bool | Progress | None = None,
    encoding: str | None = None,
) -> "pd.DataFrame":
    """Import the devices of a table (B1), and return one row per device with what became of it.

    `table` is a DataFrame, or the path of a CSV file (commas, semicolons, tabs or bars; UTF-8
    unless `encoding` names another), with the columns room_id, user_id, user_name, user_address
    and, where wanted, login_name, login_password, user_data and options (JSON). All of it is
    checked first: with one mistake TableError names each, and nothing is sent. `login_password` is
    that of rows with a login_name and no password of their own, so that a file need hold none.

    A device whose address is in its room already is left alone. With `preflight` the cameras are
    tried from here, `threads` at a time and one of a host, for `timeout` seconds each; what does
    not play is not imported. Then the service is asked for each device, once, in order, up to the
    end or until it cannot be reached. With `verify` each is looked for in B3 and A6 afterwards, for
    up to `patience` seconds. With `dry_run` all of it is done but the imports: what would be asked
    for is "ready", and a client which is read_only may ask too. Ctrl-C ends the preflights under
    way and gives what is done so far. `remove_devices(client, result)` takes out again what was
    imported, or may have been. `progress` is a function of the steps done and their number, or
    True or False.

    Columns: `row` (the line of the file; in a DataFrame the position, from 1), `outcome`, a
    category: "imported", "already there", "preflight failed", "refused" (by the service), "not
    seen" (`verify`), "unknown" (the answer was lost, or leaves it open), "not tried", "ready"
    (`dry_run`); `verdict` of the preflight or "skipped", `room_id`, `user_id`, `cause`, `advice`,
    `user_name`, `user_address` (masked), `seconds`.
    """
    if not dry_run:
        client.may_send(B1)
    if threads < 1 or not timeout > 0:
        raise ValueError("threads is at least 1, and timeout a number of seconds above 0.")
    login_password = Secret(login_password) if login_password is not None else None
    devices, problems = read_devices(table, encoding, login_password)
    del table  # a traceback would show its passwords
    if problems:
        raise table_error(problems)
    rows = [Row(number, device) for number, device in devices]

    def bring_in(row: Row) -> None:
        if dry_run:
            row.end(READY)
        else:
            _import(client, row, verify, patience)

    again = "Call again with the same table: what is there already is left alone."
    try:
        _mark_present(client, rows)  # a preflight could cost it its camera's only connection
        absent = [row for row in rows if row.outcome == NOT_TRIED]
        cameras = [row for row in absent if preflight and can_be_tried(row.device)]
        with progress_bar(progress, len(cameras) + len(rows), "importing") as step:
            _preflight_all(cameras, threads, timeout, step)
            ended = _each_once(rows, bring_in, REFUSED, step)
    except KeyboardInterrupt:
        ended = _INTERRUPTED
    return _result(rows, IMPORTS, ended, again, verdict=True)


def _mark_present(client: Client, rows: Sequence[Row]) -> None:
    listed = _listed(client, [row.device.room_id for row in rows])
    present = {(device.room_id, place(device)): device for device in listed}
    for row in rows:
        if known := present.get((row.device.room_id, place(row.device))):
            _end_present(row, known)


def _end_present(row: Row, known: Device) -> None:
    row.end(ALREADY_THERE)
    if known.user_id != row.device.user_id:
        row.cause = f"The room has this camera already, as the user {known.user_id!r}."
        row.advice = "Remove that device first if this user ID is wanted."


def _preflight_all(
    rows: Sequence[Row], threads: int, timeout: float, step: Callable[[], object]
) -> None:
    """Try so many cameras at a time, and one of a host: it may be a recorder that locks out who
    comes too often."""
    hosts: dict[str, list[Row]] = {}
    for row in rows:
        host = host_of(row.device)
        hosts.setdefault(host, []).append(row)
    interrupted, lock = Event(), Lock()

    def try_host(cameras: list[Row]) -> None:
        for row in cameras:
            report = preflight_of(row.device, timeout=timeout, cancelled=interrupted)
            row.report = replace(report, snapshot=None)  # a thousand would fill the memory
            row.verdict, row.seconds = report.verdict, report.seconds
            if not report.ok:
                row.end(PREFLIGHT_FAILED, report.cause, report.advice)
            with lock:
                step()

    with ThreadPoolExecutor(threads) as pool:
        try:
            longest_first = sorted(hosts.values(), key=len, reverse=True)
            for future in as_completed([pool.submit(try_host, host) for host in longest_first]):
                future.result()
        except BaseException:
            interrupted.set()  # which ends the preflights under way
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _import(client: Client, row: Row, verify: bool, patience: float) -> None:
    tried = row.report or False
    try:
        import_device(client, row.device, preflight=tried, verify=verify, patience=patience)
    except UserExists as error:
        try:
            known = at_address_of(row.device, list_devices(client, row.device.room_id))
        except ConfkitError:
            known = None
        if known is None:  # the user ID is another's
            raise error
        _end_present(row, known)
    except NotInRoom as error:
        row.fail(NOT_SEEN, error)
    else:
        row.end(IMPORTED)


def remove_devices(
    client: Client,
    devices: "Iterable[Device] | Device | pd.DataFrame | str | os.PathLike[str]",
    *,
    encoding: str | None = None,
) -> "pd.DataFrame":
    """Remove devices (B2), and return one row per device, in order, with what became of it; a
    failure does not end it, but a service that cannot be reached does.

    `devices` are Device records, or a table (see `import_devices`) with room_id, user_id and, where
    it is known, user_address; one that is missing or masked is looked up in B3. Of the result of
    `import_devices` only what was imported, or may have been ("unknown"), is removed; the others
    are left alone, as is what `stray_devices` could not find out about. A mistake in the table is a
    TableError, and nothing is sent. Ctrl-C gives what is done so far.

    Columns: `row` (the line of the file, or the position from 1), `outcome`, a category:
    "removed", "not there", "failed", "unknown" (the answer was lost, or leaves it open), "left
    alone", "not tried"; `room_id`, `user_id`, `cause`, `advice`, `user_name`, `user_address`
    (masked), `seconds`.
    """
    client.may_send(B2)
    if isinstance(devices, Device):
        devices = [devices]
    if isinstance(devices, str | os.PathLike) or hasattr(devices, "columns"):
        rows, problems = _removal_rows(devices, encoding)
    else:
        records = list(devices)
        if not all(isinstance(record, Device) for record in records):
            raise TypeError("pass Device records, a DataFrame, or the path of a CSV file")
        rows, problems = [Row(number, record) for number, record in enumerate(records, 1)], []
    del devices  # a traceback would show its passwords
    if problems:
        raise table_error(problems)

    def remove(row: Row) -> None:
        try:
            remove_device(client, row.device)
        except UserNotFound as error:
            row.fail(NOT_THERE, error)
        else:
            row.end(REMOVED)

    again = "Call again with the same devices: what is gone already is then not there."
    try:
        _complete(client, rows)
        ended = _each_once(rows, remove, FAILED)
    except KeyboardInterrupt:
        ended = _INTERRUPTED
    return _result(rows, REMOVALS, ended, again)


def _removal_rows(table: object, encoding: str | None) -> tuple[list[Row], list[Problem]]:
    optional = ("user_name", "user_address", "outcome", "reason", "verdict")
    lines, problems = read_table(table, ("room_id", "user_id"), optional, encoding)
    rows = []
    for number, cells in lines:
        name, address = cells.pop("user_name", None), cells.pop("user_address", None) or None
        outcome, reason, verdict = (str(cells.pop(of, None) or "").strip() for of in optional[2:])
        if address is not None and MASK not in str(address):
            cells["user_address"] = address
        fields, wrong = parse_cells(cells)
        problems += [Problem(number, column, problem) for column, problem in wrong]
        if problems:
            continue
        # pandas reads a name of digits as a number.
        fields["user_name"] = str(name) if name else None
        row = Row(number, Device(**{"user_address": address, **fields}))
        # Only imports have verdicts: what a removal did not try is still to be removed.
        removable = outcome in _REMOVABLE or (outcome == NOT_TRIED and not verdict)
        if not removable or reason == NOT_KNOWN:
            why = f"In the table it is {reason or outcome!r}."
            row.end(LEFT_ALONE, why, "To remove it, pass its Device from list_devices(client).")
        rows.append(row)
    return rows, problems


def _complete(client: Client, rows: Sequence[Row]) -> None:
    """Look up the devices whose address is missing or masked: B2 wants all of it."""
    vague = [row for row in rows if row.outcome == NOT_TRIED and _is_vague(row.device)]
    listed = _listed(client, [row.device.room_id for row in vague])
    by_id = {(device.room_id, device.user_id): device for device in listed}
    for row in vague:
        address = row.device.user_address
        known = by_id.get((row.device.room_id, row.device.user_id))
        if known and (address is None or str(address) == str(known.user_address)):
            row.device = known
        else:
            row.end(NOT_THERE, "B3 does not list it.")


def _is_vague(device: Device) -> bool:
    """Return whether the address of a device is missing or masked."""
    return device.user_address is None or MASK in device.user_address.reveal()


def stray_devices(client: Client, room_ids: Iterable[str] | str | None = None) -> "pd.DataFrame":
    """Return one row per device that B3 lists and that cannot be seen in its room, or may not be.

    In these rooms, or in all that B3 names. Columns: `room_id`, `user_id`, `user_name`,
    `user_address` (masked), all `string`; `reason`, a category: "room gone" (404), "room closed",
    "not among the users" (A6), or "not known", with the error as `cause`, when the room could not
    be read. B3 is asked once, A3 and A6 once for each room, up to the end or until the service
    cannot be reached: then the devices of the other rooms are "not known", too.
    """
    if isinstance(room_ids, str):
        room_ids = [room_ids]
    wanted = None if room_ids is None else [parse_id(B3, "room_id", value) for value in room_ids]
    listed = list_devices(client) if wanted is None else _listed(client, wanted)
    rooms: dict[str, list[Device]] = {room_id: [] for room_id in wanted or ()}
    for device in listed:
        if wanted is None or device.room_id in rooms:
            rooms.setdefault(device.room_id, []).append(device)
    strays: list[Row] = []
    no_service = ""
    for room_id, devices in rooms.items():
        reason, cause, seen = NOT_KNOWN, no_service, set[str]()
        if devices and not no_service:
            try:
                reason, seen = _look(client, room_id)
            except ConfkitError as error:  # a room that cannot be read is not gone
                cause = str(error)
                no_service = cause if isinstance(error, _NO_SERVICE) else ""
        unseen = [device for device in devices if device.user_id not in seen]
        strays += [Row(0, device, reason, cause) for device in unseen]
    types: dict[str, Any] = {**dict.fromkeys(_DEVICE, "string"), "reason": STRAYS}
    types["cause"] = "string"
    return frame_of(strays, types, {**_DEVICE, "reason": lambda row: row.outcome})


def _look(client: Client, room_id: str) -> tuple[str, set[str]]:
    """Why the devices of a room are strays, and the users who are in it and so are not."""
    try:
        if ROOM_STATUS.get(get_room(client, room_id).room_status or 0) == "closed":
            return ROOM_CLOSED, set()
        return NOT_AMONG_USERS, {user.user_id for user in get_room_users(client, room_id)}
    except RoomNotFound:
        return ROOM_GONE, set()


# What all of them share


def _each_once(
    rows: Sequence[Row],
    change: Callable[[Row], object],
    failed: str,
    step: Callable[[], object] = lambda: None,
) -> str:
    """Change something for each row that was not tried, once, in order, and note the outcome:
    `failed` where the service refuses.

    Returns why the rest was left out, when the service cannot be used, else ""."""
    for row in rows:
        ended = ""
        if row.outcome == NOT_TRIED:
            row.end(UNKNOWN, _INTERRUPTED, _LOOK)  # which stays when Ctrl-C comes meanwhile
            start = time.monotonic()
            try:
                change(row)
            except _NO_SERVICE as error:
                row.end(NOT_TRIED)
                ended = str(error)
            except OutcomeUnknown as error:
                row.fail(UNKNOWN, error)
                if isinstance(error.lookup_error, _NO_SERVICE):  # nobody answered that either
                    ended = str(error.lookup_error)
            except ConfkitError as error:
                row.fail(failed, error)
            row.seconds += time.monotonic() - start
        step()
        if ended:
            return ended
    return ""


def _listed(client: Client, room_ids: Iterable[str]) -> list[Device]:
    """The external users of these rooms, and maybe of others (B3): one call for all of them, or,
    where the service cuts so long a list short, one for each room."""
    rooms = dict.fromkeys(room_ids)
    try:
        return list_devices(client) if rooms else []
    except ProtocolError:
        return [device for room_id in rooms for device in list_devices(client, room_id)]


_DEVICE: dict[str, Callable[[Any], object]] = {  # columns, in which no login shows
    "room_id": lambda row: row.device.room_id,
    "user_id": lambda row: without_login(row.device.user_id),
    "user_name": lambda row: row.device.user_name and without_login(row.device.user_name),
    "user_address": lambda row: address_text(row.device),
}


def _result(
    rows: Sequence[Row], outcomes: tuple[str, ...], ended: str, again: str, verdict: bool = False
) -> "pd.DataFrame":
    """One row per device. `ended` says why some were not tried, `again` how to go on with them."""
    for row in rows:
        if row.outcome == NOT_TRIED:
            row.end(NOT_TRIED, ended, again)
    columns = f"row outcome {'verdict' * verdict} room_id user_id cause advice"
    names = f"{columns} user_name user_address seconds".split()
    kinds: dict[str, Any] = {"row": "Int64", "outcome": outcomes, "seconds": "float64"}
    types = {name: kinds.get(name, "string") for name in names}
    texts = {"cause": lambda row: redact(row.cause), "advice": lambda row: redact(row.advice)}
    return frame_of(list(rows), types, {**_DEVICE, **texts})
