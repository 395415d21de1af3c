"""External devices, such as RTSP cameras, as users of a room (B1 to B3)."""

from collections.abc import Mapping
from typing import Any

from . import arguments
from .client import Client
from .endpoints import B1, B2, B3
from .errors import ConfkitError, OutcomeUnknown, ProtocolError, UserNotFound
from .masking import Guarded, Secret, guard
from .records import Device, number, objects, shown
from .wire import Request


class ReimportFailed(ConfkitError):
    """A device was removed but could not be imported again; `device` is what to import."""

    device: Device


class ReimportUnknown(ReimportFailed, OutcomeUnknown):
    """A device was removed, and the answer to its import was lost: look before importing again."""


def import_device(
    client: Client,
    room_id: str | Device,
    user_id: str | None = None,
    user_name: str | None = None,
    user_address: str | None = None,
    *,
    login_name: str | None = None,
    login_password: str | None = None,
    user_data: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Device:
    """The device, once the service has opened it and it has joined the room (B1).

    `room_id` may be a whole Device, whose fields then fill what is left out. The service dials
    `user_address` (scheme://host:port/path) itself, so the call may take 30 s. UserExists (423),
    JoinFailed (426), ServiceTimeout (427, 310), ServiceUnavailable (302), ParameterError (401, or
    noticed before sending). When the answer is lost the device is looked up in B3; where that does
    not find it, OutcomeUnknown is raised.
    """
    client.may_send(B1)
    login_password = Secret(login_password) if login_password is not None else None
    user_address = Guarded(user_address) if user_address is not None else None
    options = guard(options)  # type: ignore[assignment]  # the same, with its secrets hidden
    if isinstance(room_id, Device):
        known = room_id
        room_id = known.room_id
        user_id = known.user_id if user_id is None else user_id
        user_name = known.user_name if user_name is None else user_name
        user_address = known.user_address if user_address is None else user_address
        user_data = known.user_data if user_data is None else user_data
        options = known.options if options is None else options
    device = Device(
        arguments.identity(B1, "room_id", room_id),
        arguments.identity(B1, "user_id", user_id),
        arguments.needed_text(B1, "user_name", user_name),
        arguments.user_address(B1, user_address),
        user_data or "",
        arguments.options(B1, options, login_name, login_password),
    )
    try:
        client.send(Request(B1, _parameters(device)))
        return device
    except OutcomeUnknown as error:
        unknown = error
    try:
        found = find_device(client, device.room_id, device.user_id)
    except ConfkitError:
        found = None
    if found is not None and found.user_address == device.user_address:
        return found
    raise unknown


def _parameters(device: Device) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "roomId": device.room_id,
        "userId": device.user_id,
        "userName": device.user_name,
        "userAddress": device.user_address,
    }
    if device.user_data:
        parameters["userData"] = device.user_data
    if device.options:
        parameters["options"] = device.options
    return parameters


def list_devices(client: Client, room_id: str | None = None) -> list[Device]:
    """The external users of a room, or of all rooms when `room_id` is None or empty (B3).

    ServiceUnavailable (304), ServiceTimeout (310). An answer without a list, or with fewer items
    than its `total`, is a ProtocolError, never an empty list.
    """
    parameters = {}
    if room_id is not None and room_id != "":
        parameters["roomId"] = arguments.identity(B3, "room_id", room_id)
    data = client.send(Request(B3, parameters)).get("data")
    if not isinstance(data, Mapping):
        raise ProtocolError(
            f"the answer of B3 holds no object data but {shown(data)}. "
            "Ask the provider where this deployment puts the external users."
        )
    devices = [Device.read(item) for item in objects(data.get("items"), "items", B3.key)]
    total = number(data, "total")
    if total is not None and total > len(devices):
        raise ProtocolError(
            f"the answer of B3 says total={total} but holds {len(devices)} items. "
            "Ask for one room at a time, or ask the provider whether it cuts long lists."
        )
    return devices


def find_device(client: Client, room_id: str, user_id: str) -> Device | None:
    """The external user of this ID in a room, or None when B3 does not list it."""
    wanted = (room_id, user_id)
    listed = list_devices(client, room_id)
    return next((item for item in listed if (item.room_id, item.user_id) == wanted), None)


def remove_device(
    client: Client,
    room_id: str | Device,
    user_id: str | None = None,
    user_address: str | None = None,
) -> None:
    """Nothing, once the device has left the room (B2).

    `room_id` may be a whole Device. B2 wants the address too: left out, it is looked up in B3.
    UserNotFound (425), ServiceUnavailable (303). When the answer is lost and B3 does not list the
    device any more, it counts as removed; otherwise that raises OutcomeUnknown.
    """
    client.may_send(B2)
    user_address = Guarded(user_address) if user_address is not None else None
    if isinstance(room_id, Device):
        known = room_id
        room_id = known.room_id
        user_id = known.user_id if user_id is None else user_id
        user_address = known.user_address if user_address is None else user_address
    room_id = arguments.identity(B2, "room_id", room_id)
    user_id = arguments.identity(B2, "user_id", user_id)
    if user_address is None:
        found = find_device(client, room_id, user_id)
        if found is None:
            raise _not_listed(room_id, user_id)
        user_address = found.user_address
    address = arguments.user_address(B2, user_address)
    parameters = {"roomId": room_id, "userId": user_id, "userAddress": address}
    try:
        client.send(Request(B2, parameters))
        return
    except OutcomeUnknown as error:
        unknown = error
    try:
        if find_device(client, room_id, user_id) is None:
            return
    except ConfkitError:
        pass
    raise unknown


def _not_listed(room_id: str, user_id: str) -> UserNotFound:
    error = UserNotFound(
        f"the service lists no external user {user_id!r} in room {room_id!r}, so its address is "
        "not known and B2 was not sent. list_devices(client) shows where it is, if anywhere."
    )
    error.interface, error.endpoint, error.ret = "B", B2.key, 425
    error.meaning = "user does not exist"
    error.advice = "Look with list_devices(client) where the device is."
    return error


def reimport_device(client: Client, device: Device) -> Device:
    """The device, once it was removed and imported again (B2, then B1).

    The device is checked before it is removed. When it cannot be imported again, ReimportFailed
    says why and how to restore it.
    """
    client.may_send(B1)
    arguments.user_address(B1, device.user_address)
    arguments.options(B1, device.options, None, None)
    arguments.needed_text(B1, "user_name", device.user_name)
    remove_device(client, device)
    try:
        return import_device(client, device)
    except ConfkitError as error:
        unknown = isinstance(error, OutcomeUnknown)
        failed = (ReimportUnknown if unknown else ReimportFailed)(
            f"{device.user_id!r} was removed from room {device.room_id!r} and "
            f"{'may or may not be there again' if unknown else 'could not be imported again'}: "
            f"{error} To restore it, keep this error and call import_device(client, error.device) "
            f"when {'list_devices(client) does not show it' if unknown else 'that is mended'}."
        )
        failed.device = device
        raise failed from error
