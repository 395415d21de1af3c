"""Many devices taken out of their rooms, and those that the service lists and nobody sees there."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..client import Client
from ..devices import list_devices, remove_device
from ..endpoints import B2, B3, identity
from ..errors import ConfkitError, RoomNotFound, UserNotFound
from ..frames import ROOM_STATUS, frame_of
from ..many.tables import Problem, is_table, read_table
from ..records import Device
from ..rooms import get_room, get_room_users
from ..secret import MASK, mask_address
from .device_table import checked, table_error
from .driver import (
    ALREADY_THERE,
    DEVICE_COLUMNS,
    INTERRUPTED,
    NO_SERVICE,
    NOT_TRIED,
    UNKNOWN,
    Fate,
    devices_in,
    fate_frame,
    one_by_one,
)
from .imports import OUTCOMES as IMPORT_OUTCOMES
from .imports import PREFLIGHT_FAILED, READY, REFUSED

if TYPE_CHECKING:
    import pandas as pd

REMOVED, NOT_THERE, FAILED, LEFT_ALONE = "removed", "not there", "failed", "left alone"
OUTCOMES = (REMOVED, NOT_THERE, FAILED, UNKNOWN, LEFT_ALONE, NOT_TRIED)
COLUMNS = (
    "row",
    "outcome",
    "room_id",
    "user_id",
    "cause",
    "advice",
    "user_name",
    "user_address",
    "seconds",
)
AGAIN = "Call again with the same devices: what is gone already is then not there."

ROOM_GONE, ROOM_CLOSED = "room gone", "room closed"
NOT_AMONG_USERS, NOT_KNOWN = "not among the users", "not known"
REASONS = (ROOM_GONE, ROOM_CLOSED, NOT_AMONG_USERS, NOT_KNOWN)
_NOT_ADDED = "The import did not add it."
_LEFT_ALONE = {  # by the outcome of an import or a removal, or the reason of a stray
    ALREADY_THERE: "It was there before the import.",
    PREFLIGHT_FAILED: _NOT_ADDED,
    REFUSED: _NOT_ADDED,
    READY: _NOT_ADDED,
    LEFT_ALONE: "It was left alone before.",
    NOT_KNOWN: "It is not known whether it is a stray.",
}
_UNKNOWN_OUTCOME = (
    "Neither import_devices nor remove_devices has such an outcome. To remove every row, leave the "
    "column out."
)
_REMOVE_ANYWAY = "To remove it anyway, pass its Device from list_devices(client)."


def remove_devices(
    client: Client,
    devices: "Iterable[Device] | Device | pd.DataFrame | str | os.PathLike[str]",
    *,
    encoding: str | None = None,
) -> "pd.DataFrame":
    """One row per device, in the given order, with what became of it; a failure does not end it,
    but a service that cannot be reached does.

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
    fates, problems = _named(devices, encoding)
    del devices  # a traceback would show its passwords
    if problems:
        raise table_error(problems)

    def remove(fate: Fate) -> Fate:
        remove_device(client, fate.device)
        return fate.came(REMOVED)

    try:
        _look_up(client, fates)
        ended = one_by_one(fates, remove, {UserNotFound: NOT_THERE, ConfkitError: FAILED}, AGAIN)
    except KeyboardInterrupt:
        ended = INTERRUPTED
    return fate_frame(fates, COLUMNS, OUTCOMES, ended, AGAIN)


def _named(devices: object, encoding: str | None) -> tuple[list[Fate], list[Problem]]:
    """The devices that are given, and what is wrong with the table in which they stand."""
    if isinstance(devices, Device):
        devices = [devices]
    if not is_table(devices):
        records = list(devices)  # type: ignore[call-overload]  # the TypeError is the test
        if not all(isinstance(record, Device) for record in records):
            raise TypeError("give Device records, a DataFrame, or the path of a CSV file")
        return [Fate(row, record) for row, record in enumerate(records, 1)], []
    optional = ("user_name", "user_address", "outcome", "reason", "verdict")
    lines, problems = read_table(devices, ("room_id", "user_id"), optional, encoding)
    fates = []
    for number, cells in lines:
        outcome, reason, verdict = (
            str(cells.pop(column, None) or "").strip() for column in optional[2:]
        )
        if outcome not in ("", *IMPORT_OUTCOMES, *OUTCOMES):
            problems.append(Problem(number, "outcome", _UNKNOWN_OUTCOME))
        kept = _why_left_alone(outcome, reason, verdict)
        name, address = (cells.pop(of, None) or None for of in ("user_name", "user_address"))
        if address is not None and MASK not in str(address):
            cells["user_address"] = address
        found, wrong = checked(cells)
        problems += [Problem(number, *item) for item in wrong]
        if not problems:
            name = None if name is None else str(name)  # pandas reads digits as a number
            fate = Fate(number, Device(**{"user_address": address, **found}, user_name=name))
            fates.append(fate.came(LEFT_ALONE, kept, _REMOVE_ANYWAY) if kept else fate)
    return fates, problems


def _why_left_alone(outcome: str, reason: str, verdict: str) -> str:
    """Why a device of such a row is left alone; empty where it is to be removed."""
    # Only imports have verdicts: what a removal did not try is still to be removed.
    if outcome == NOT_TRIED and verdict:
        return _NOT_ADDED
    return _LEFT_ALONE.get(outcome) or _LEFT_ALONE.get(reason, "")


def _look_up(client: Client, fates: list[Fate]) -> None:
    """Completes the devices whose address is missing or masked."""
    vague = [
        at
        for at, fate in enumerate(fates)
        if fate.outcome == NOT_TRIED and MASK in (fate.device.user_address or MASK)
    ]
    listed = devices_in(client, [fates[at].device.room_id for at in vague])
    known = {(device.room_id, device.user_id): device for device in listed}
    for at in vague:
        fate, masked = fates[at], fates[at].device.user_address
        found = known.get((fate.device.room_id, fate.device.user_id))
        if found and masked in (None, mask_address(found.user_address or "")):
            fates[at] = fate._replace(device=found)
        else:
            fates[at] = fate.came(NOT_THERE, "B3 does not list it.")


class _Stray(NamedTuple):
    device: Device
    reason: str
    cause: str


def stray_devices(client: Client, room_ids: Iterable[str] | str | None = None) -> "pd.DataFrame":
    """One row per device that B3 lists and that cannot be seen in its room, or may not be.

    In these rooms, or in all that B3 names. Columns: `room_id`, `user_id`, `user_name`,
    `user_address` (masked), all `string`; `reason`, a category: "room gone" (404), "room closed",
    "not among the users" (A6), or "not known", with the error as `cause`, when the room could not
    be read. B3 is asked once, A3 and A6 once for each room, up to the end or until the service
    cannot be reached: then the devices of the other rooms are "not known", too.
    """
    given = [room_ids] if isinstance(room_ids, str) else room_ids
    wanted = None if given is None else [identity(B3, "room_id", one) for one in given]
    listed = list_devices(client) if wanted is None else devices_in(client, wanted)
    rooms: dict[str, list[Device]] = {room_id: [] for room_id in wanted or ()}
    for device in listed:
        if wanted is None or device.room_id in rooms:
            rooms.setdefault(device.room_id, []).append(device)
    strays: list[_Stray] = []
    gone = ""
    for room_id, devices in rooms.items():
        reason, cause, seen = NOT_KNOWN, gone, set[str]()
        if devices and not gone:
            try:
                reason, cause, seen = _seen(client, room_id)
            except NO_SERVICE as error:
                cause = gone = str(error)
        strays += [_Stray(one, reason, cause) for one in devices if one.user_id not in seen]
    types = dict.fromkeys(("room_id", "user_id", "user_name", "user_address"), "string")
    return frame_of(strays, {**types, "reason": REASONS, "cause": "string"}, DEVICE_COLUMNS)


def _seen(client: Client, room_id: str) -> tuple[str, str, set[str]]:
    """Why the devices of a room are strays, with the error where that is not known, and the users
    who are in it and so are none."""
    try:
        if ROOM_STATUS.get(get_room(client, room_id).room_status or 0) == "closed":
            return ROOM_CLOSED, "", set()
        return NOT_AMONG_USERS, "", {user.user_id for user in get_room_users(client, room_id)}
    except RoomNotFound:
        return ROOM_GONE, "", set()
    except NO_SERVICE:
        raise
    except ConfkitError as error:  # a room that cannot be read is not gone
        return NOT_KNOWN, str(error), set()
