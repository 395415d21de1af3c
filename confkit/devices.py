"""External devices, such as RTSP cameras: brought into a room and taken out of it (B1, B2)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import arguments
from .checks import advised, explained, preflighted, see, there
from .client import Client
from .endpoints import B1, B2
from .errors import (
    ApiError,
    ConfkitError,
    JoinFailed,
    Look,
    OutcomeUnknown,
    ServiceTimeout,
    Unsettled,
    UserExists,
    settled,
    unread,
    unsettled,
)
from .listing import find_device, listed_device
from .masking import Guarded, GuardedAddress, Secret, guard, mask_address
from .records import Device
from .wire import Request

if TYPE_CHECKING:
    from .rtsp.report import Report


LATE = 427  # the camera gave the service no answer in time


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
    preflight: "bool | Report" = False,
    verify: bool = False,
    patience: float = 5.0,
) -> Device:
    """Import a device into a room (B1), and return it once the service has opened it.

    `room_id` may be a whole Device, whose fields then fill what is left out. The service dials
    `user_address` (scheme://host:port/path) itself, so the call may take 30 s. UserExists (423),
    JoinFailed (426), ServiceTimeout (427, 310), ServiceUnavailable (302), ParameterError (401, or
    noticed before sending). When the answer is lost the device is looked up in B3; where that does
    not find it, OutcomeUnknown is raised. 427 is raised only when B3 does not list the device,
    and is Unsettled where B3 cannot be read. After another code that leaves it open (310, 424, 503)
    a device that B3 lists may have been there before: that is Unsettled. Where B3 does not list it,
    that code's error is raised.

    With `preflight` the camera is tried from here first: PreflightFailed, with the `report`, when
    it does not play; and a refusal (426, 427) then carries a `report` of what stood in the way.
    A report of `preflight` in its place counts as that trial, and the camera is not dialled again.
    With `verify` the device is looked for in B3 and A6 afterwards, for up to `patience` seconds:
    NotInRoom when it is not seen there.
    """
    # First of all: the frame of whatever is raised shows these.
    login_password = Secret(login_password) if login_password is not None else None
    user_address = GuardedAddress(user_address) if user_address is not None else None
    user_data = Guarded(user_data) if user_data is not None else None
    arguments.shallow(B1, options)
    options = guard(options)  # type: ignore[assignment]  # the same, with its secrets hidden
    client.may_send(B1)
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
        arguments.whole(B1, "user_data", str(user_data or "")),
        arguments.options(B1, options, login_name, login_password),
    )
    passed = preflighted(device, preflight) if preflight else None
    imported = _imported(client, device, passed)
    if verify:
        see(client, imported, patience)
    return imported


def _imported(
    client: Client, device: Device, passed: "Report | None", fresh: bool = False
) -> Device:
    """The device, once B1 has imported it; `fresh`: it was not in the room before."""
    try:
        client.send(Request(B1, _parameters(device)))
        return device
    except UserExists as error:
        if _listed(client, device)[0] is not None:
            there(error, device)
        raise
    except (OutcomeUnknown, JoinFailed, ServiceTimeout) as error:
        failure: ConfkitError = error
    if not isinstance(failure, JoinFailed):
        found, look = _listed(client, device)
        # A camera that was too slow for the service (427) may have joined after all.
        late = isinstance(failure, ServiceTimeout) and failure.ret == LATE
        if found is not None and (late or fresh or not isinstance(failure, Unsettled)):
            return found
        if isinstance(failure, ServiceTimeout) and not isinstance(failure, OutcomeUnknown):
            if look.error is not None or look.happened is False:
                failure = settled(unsettled(failure), look) or failure
        elif isinstance(failure, OutcomeUnknown):
            failure = settled(failure, look) or failure
    if isinstance(failure, ApiError) and not isinstance(failure, OutcomeUnknown):
        advised(failure, device)
        if passed is not None:
            explained(failure, client, device, passed)
    raise failure


def _listed(client: Client, device: Device) -> tuple[Device | None, Look]:
    """The device as B3 lists it with its address, or None; and what that says of an import."""
    called, before = mask_address(device.user_id), _before(device.room_id, "import it")
    try:
        found = find_device(client, device.room_id, device.user_id)
    except ConfkitError as error:
        return None, unread("Whether the device is there", error, before)
    if found is None:
        return None, Look(False, before)
    if found.user_address != device.user_address:
        return None, Look(None, f"B3 lists {called!r} with another address. {before}")
    seen = f"B3 lists {called!r} with this address. It may have been there before this call."
    return found, Look(True, f"{seen} {before}")


def _before(room_id: str, what: str) -> str:
    return f"Look with ck.list_devices(client, {room_id!r}) before you {what} again."


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


def remove_device(
    client: Client,
    room_id: str | Device,
    user_id: str | None = None,
    user_address: str | None = None,
) -> None:
    """Remove a device from its room (B2).

    `room_id` may be a whole Device. B2 wants the address too: left out, it is looked up in B3.
    UserNotFound (425), ServiceUnavailable (303). When the answer is lost and B3 does not list the
    device any more, it counts as removed; otherwise that raises OutcomeUnknown. A code that leaves
    it open (310, 424, 503) is that code's error while B3 lists the device, else Unsettled.
    """
    user_address = GuardedAddress(user_address) if user_address is not None else None
    client.may_send(B2)
    if isinstance(room_id, Device):
        known = room_id
        room_id = known.room_id
        user_id = known.user_id if user_id is None else user_id
        user_address = known.user_address if user_address is None else user_address
    room_id = arguments.identity(B2, "room_id", room_id)
    user_id = arguments.identity(B2, "user_id", user_id)
    if user_address is None:
        user_address = listed_device(client, room_id, user_id, B2).user_address
    address = arguments.user_address(B2, user_address)
    parameters = {"roomId": room_id, "userId": user_id, "userAddress": address}
    try:
        client.send(Request(B2, parameters))
        return
    except OutcomeUnknown as error:
        failure = settled(error, _unlisted(client, room_id, user_id))
    if failure is not None:
        raise failure


def _unlisted(client: Client, room_id: str, user_id: str) -> Look:
    called, before = mask_address(user_id), _before(room_id, "remove it")
    try:
        if find_device(client, room_id, user_id) is not None:
            return Look(False, before)
    except ConfkitError as error:
        return unread("Whether the device is there", error, before)
    found = f"B3 does not list {called!r} in room {room_id!r} now."
    return Look(True, f"{found} If it did before this call, nothing is left to do.")


def reimport_device(client: Client, device: Device) -> Device:
    """Remove a device and import it again (B2, then B1), and return it.

    The device is checked before it is removed. When it cannot be imported again, ReimportFailed
    says why and how to restore it. Unsettled: it may have been removed, and was not imported again.
    After a code of B1 that leaves it open (700) a device that B3 lists with this address counts as
    imported, as B2 has removed the one before.
    """
    client.may_send(B1)
    arguments.shallow(B1, device.options)
    checked = Device(
        arguments.identity(B1, "room_id", device.room_id),
        arguments.identity(B1, "user_id", device.user_id),
        arguments.needed_text(B1, "user_name", device.user_name),
        arguments.user_address(B1, device.user_address),
        arguments.whole(B1, "user_data", device.user_data),
        arguments.options(B1, device.options, None, None),
    )
    failure: ConfkitError | None = None
    try:
        remove_device(client, device)
    except Unsettled as error:
        failure = unsettled(
            error.refusal or error,
            f"It was not imported again: look with ck.list_devices(client, {device.room_id!r}), "
            "and where that does not list it, call ck.import_device(client, device).",
        )
    if failure is not None:
        raise failure
    try:
        return _imported(client, checked, None, fresh=True)
    except ConfkitError as error:
        unknown = isinstance(error, OutcomeUnknown)
        kind = ReimportUnknown if unknown else ReimportFailed
        failed = kind(
            f"{mask_address(device.user_id)!r} was removed from room {device.room_id!r} and "
            f"{'may or may not be there again' if unknown else 'could not be imported again'}: "
            f"{error}",
            "To restore it, keep this error and call import_device(client, error.device) "
            f"when {'list_devices(client) does not show it' if unknown else 'that is fixed'}.",
        )
        failed.device = device
        raise failed from error
