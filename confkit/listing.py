"""The external devices that the service lists (B3)."""

from collections.abc import Iterable, Mapping
from typing import Any

from . import arguments
from .client import Client
from .endpoints import B3, Endpoint
from .errors import ProtocolError, UserNotFound
from .masking import mask_address
from .records import Device, number, objects, shown
from .wire import Request


def list_devices(client: Client, room_id: str | None = None) -> list[Device]:
    """The external users of a room, or of all rooms when `room_id` is None or empty (B3).

    ServiceUnavailable (304), ServiceTimeout (310). An answer without a list, or with fewer items
    than its `total`, is a ProtocolError, never an empty list.
    """
    parameters = {}
    if room_id is not None and room_id != "":
        parameters["roomId"] = arguments.identity(B3, "room_id", room_id)
    return devices_of(client.send(Request(B3, parameters)))


def devices_of(members: Mapping[str, Any]) -> list[Device]:
    """The external users in an answer of B3."""
    data = members.get("data")
    if not isinstance(data, Mapping):
        raise ProtocolError(
            f"the answer of B3 holds no object data but {shown(data)}.",
            "Ask the provider where this deployment puts the external users.",
        )
    devices = [Device.read(item) for item in objects(data.get("items"), "items", B3.key)]
    total = number(data, "total")
    if total is not None and total > len(devices):
        raise ProtocolError(
            f"the answer of B3 says total={total} but holds {len(devices)} items.",
            "Ask for one room at a time, or ask the provider whether it cuts long lists.",
        )
    return devices


def find_device(client: Client, room_id: str, user_id: str) -> Device | None:
    """The external user of this ID in a room, or None when B3 does not list it."""
    wanted = (room_id, user_id)
    listed = list_devices(client, room_id)
    return next((item for item in listed if (item.room_id, item.user_id) == wanted), None)


def listed_device(client: Client, room_id: str, user_id: str, endpoint: Endpoint = B3) -> Device:
    """The external user of this ID in a room; UserNotFound when B3 does not list it.

    `endpoint` is the operation for which it is looked up, and which is then not sent.
    """
    found = find_device(client, room_id, user_id)
    if found is not None:
        return found
    unsent = "" if endpoint is B3 else f" and {endpoint.key} was not sent"
    error = UserNotFound(
        f"the service lists no external user {mask_address(user_id)!r} in room {room_id!r}, so its "
        f"address is not known{unsent}",
        "Look with list_devices(client) where the device is, if anywhere.",
    )
    error.interface, error.endpoint, error.ret = "B", endpoint.key, 425
    error.meaning = "user does not exist"
    raise error


def devices_in(client: Client, room_ids: Iterable[str]) -> list[Device]:
    """The external users of these rooms, and maybe of others: one call for all of them, or, where
    the service cuts so long a list short, one for each room (B3)."""
    rooms = dict.fromkeys(room_ids)
    try:
        return list_devices(client) if rooms else []
    except ProtocolError:
        return [device for room_id in rooms for device in list_devices(client, room_id)]
