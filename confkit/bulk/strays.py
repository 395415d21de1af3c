"""Devices that the service lists and nobody sees."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..client import Client
from ..devices import devices_in, list_devices
from ..endpoints import B3, identity
from ..errors import ConfkitError, RoomNotFound
from ..frames import ROOM_STATUS, frame_of
from ..records import Device
from ..rooms import get_room, get_room_users
from .attempts import NO_SERVICE, OF_DEVICE

if TYPE_CHECKING:
    import pandas as pd

ROOM_GONE, ROOM_CLOSED = "room gone", "room closed"
NOT_AMONG_USERS, NOT_KNOWN = "not among the users", "not known"
REASONS = (ROOM_GONE, ROOM_CLOSED, NOT_AMONG_USERS, NOT_KNOWN)


class _Stray(NamedTuple):
    device: Device
    reason: str
    cause: str


def stray_devices(client: Client, room_ids: Iterable[str] | str | None = None) -> "pd.DataFrame":
    """One row a device that B3 lists and that cannot be seen in its room, or may not be.

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
        if devices and not gone:
            try:
                strays += _strays(client, room_id, devices)
            except NO_SERVICE as error:
                gone = str(error)
        if gone:
            strays += [_Stray(device, NOT_KNOWN, gone) for device in devices]
    types = dict.fromkeys(("room_id", "user_id", "user_name", "user_address"), "string")
    return frame_of(strays, {**types, "reason": REASONS, "cause": "string"}, OF_DEVICE)


def _strays(client: Client, room_id: str, devices: list[Device]) -> list[_Stray]:
    reason, cause = NOT_AMONG_USERS, ""
    present = set()
    try:
        if ROOM_STATUS.get(get_room(client, room_id).room_status or 0) == "closed":
            reason = ROOM_CLOSED
        else:
            present = {user.user_id for user in get_room_users(client, room_id)}
    except RoomNotFound:
        reason = ROOM_GONE
    except NO_SERVICE:
        raise
    except ConfkitError as error:  # a room that cannot be read is not gone
        reason, cause = NOT_KNOWN, str(error)
    return [_Stray(device, reason, cause) for device in devices if device.user_id not in present]
