"""External devices, such as RTSP cameras: import into a room, remove, and list (B1 to B3)."""

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .client import Client
from .errors import (
    ConfkitError,
    JoinFailed,
    ProtocolError,
    ServiceTimeout,
    UserNotFound,
)
from .operations import B1, B2, B3, Operation
from .records import (
    Device,
    Room,
    number,
    objects,
    parameter_error,
    parse_id,
    preview,
    require_text,
)
from .rooms import change, get_room_users
from .secret import Secret, SecretAddress, hide, redact, reveal
from .wire import check_sendable

if TYPE_CHECKING:
    from .rtsp.report import Report

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/]\S*")
_PAUSE = 0.25  # seconds between two look-ups of a device


class PreflightFailed(ConfkitError):
    """The camera does not play, so it was not imported; `report` says why."""

    report: "Report"


class NotInRoom(ConfkitError):
    """A device was imported but is not in its room; `device` is the imported one."""

    device: Device


def import_device(
    client: Client,
    room_id: str | Room | Device,
    user_id: str | None = None,
    user_name: str | None = None,
    user_address: str | SecretAddress | None = None,
    *,
    login_name: str | None = None,
    login_password: str | Secret | None = None,
    user_data: str | None = None,
    options: Mapping[str, Any] | None = None,
    preflight: "bool | Report" = False,
    verify: bool = False,
    patience: float = 5.0,
) -> Device:
    """Import a device into a room (B1), and return it once the service has opened it.

    A Device as `room_id` supplies all omitted arguments; `login_name` and `login_password` override
    its login. The service dials `user_address` (scheme://host:port/path), so the call may take
    30 s. UserExists (423), JoinFailed (426), ServiceTimeout (427, 310), ServiceUnavailable (302),
    ParameterError (401, or rejected before sending).

    If the response was lost or leaves the outcome open (310, 424, 427, 503) and B3 lists the
    device, it is imported. If B3 does not, such a code is raised as its error, and a lost response
    as OutcomeUnknown.

    With `preflight` the camera is tried from here first: PreflightFailed, with the `report`, if it
    does not play; a refusal (426, 427) then has a `report` of the reason. A report of `preflight`
    may be passed instead of True. With `verify` the device is then looked up in B3 and A6, for up
    to `patience` seconds: NotInRoom if it is missing.
    """
    # First, as a traceback shows the locals.
    login_password = Secret(login_password) if login_password is not None else None
    user_address = SecretAddress(user_address) if user_address is not None else None
    user_data = hide(user_data)
    hidden: Any = Secret("nested too deep")  # refused below, where no traceback shows them
    with suppress(ValueError):
        hidden = hide(options, "" if isinstance(options, Mapping) else "secret")
    del options
    client.may_send(B1)
    if isinstance(room_id, Device):
        old = room_id
        hidden = old.options if hidden is None else hidden
        user_id = old.user_id if user_id is None else user_id
        user_name = old.user_name if user_name is None else user_name
        user_address = old.user_address if user_address is None else user_address
        user_data = old.user_data if user_data is None else user_data
    device = Device(
        parse_id(B1, "room_id", room_id),
        parse_id(B1, "user_id", user_id),
        require_text(B1, "user_name", user_name),
        check_address(B1, user_address),
        reveal(user_data) or "",
        check_options(hidden, login_name, login_password),
    )
    report = None
    if preflight:
        from .diagnosis import require_preflight

        report = require_preflight(device, preflight)
    try:
        _import(client, device)
    except (JoinFailed, ServiceTimeout) as error:
        from .diagnosis import explain_refusal

        explain_refusal(error, client, device, report)
        raise
    if verify:
        _wait_until_seen(client, device, patience)
    return device


def _import(client: Client, device: Device) -> None:
    def happened() -> bool:
        listed = find_device(client, device.room_id, device.user_id)
        if listed is not None and listed.user_address != device.user_address:
            raise ConfkitError(f"B3 lists {redact(device.user_id)!r} under another address")
        return listed is not None

    parameters = {
        "roomId": device.room_id,
        "userId": device.user_id,
        "userName": device.user_name,
        "userAddress": device.user_address,
        "userData": hide(device.user_data),
        "options": device.options,
    }
    sent = {name: value for name, value in parameters.items() if value}
    advice = f"Check with ck.list_devices(client, {device.room_id!r}) before you import it again."
    change(client, B1, sent, happened, advice)


def _wait_until_seen(client: Client, device: Device, patience: float) -> None:
    """Wait until both B3 and A6 list the device; NotInRoom if they do not in time."""
    end = time.monotonic() + patience
    while missing := _missing_from(client, device):
        if time.monotonic() >= end:
            room_id, name = device.room_id, redact(device.user_id)
            error = NotInRoom(
                f"{name!r} was imported into room {room_id!r}, but {missing}",
                f"To find out why: ck.diagnose_device(client, {room_id!r}, {name!r})",
            )
            error.device = device
            raise error
        time.sleep(_PAUSE)


def _missing_from(client: Client, device: Device) -> str:
    """Return where a device is missing, or "" if its room has it."""
    try:
        if find_device(client, device.room_id, device.user_id) is None:
            return "the service does not list it (B3)"
        users = get_room_users(client, device.room_id)
        is_there = any(user.user_id == device.user_id for user in users)
        return "" if is_there else "it is not among the room's users (A6)"
    except ConfkitError as error:
        return f"the room could not be read: {error}"


def remove_device(
    client: Client,
    room_id: str | Room | Device,
    user_id: str | None = None,
    user_address: str | SecretAddress | None = None,
) -> None:
    """Remove a device from its room (B2).

    `room_id` may be a Device. B2 requires the address; if omitted, it is looked up in B3.
    UserNotFound (425, or B3 does not list it), ServiceUnavailable (303). If the response was lost
    or leaves the outcome open (310, 424, 503) and B3 does not list the device, it counts as
    removed.
    """
    user_address = SecretAddress(user_address) if user_address is not None else None
    client.may_send(B2)
    if isinstance(room_id, Device):
        user_id = room_id.user_id if user_id is None else user_id
        user_address = room_id.user_address if user_address is None else user_address
    room, user = parse_id(B2, "room_id", room_id), parse_id(B2, "user_id", user_id)
    if user_address is None:
        listed = find_device(client, room, user)
        if listed is None:
            raise UserNotFound(
                f"the service lists no external user {redact(user)!r} in room {room!r}, so its "
                "address is unknown and B2 was not sent",
                "Find the device's room, if any, with ck.list_devices(client).",
            )
        user_address = listed.user_address or SecretAddress("")  # as it is, however odd
    else:
        user_address = check_address(B2, user_address)
    sent = {"roomId": room, "userId": user, "userAddress": user_address}
    advice = f"Check with ck.list_devices(client, {room!r}) before you remove it again."
    change(client, B2, sent, lambda: find_device(client, room, user) is None, advice)


def list_devices(client: Client, room_id: str | Room | None = None) -> list[Device]:
    """Return the external users of a room, or of all rooms if `room_id` is None or empty (B3).

    ServiceUnavailable (304), ServiceTimeout (310). A response without a list, or with fewer items
    than its `total`, is a ProtocolError, never an empty list.
    """
    parameters = {} if room_id in (None, "") else {"roomId": parse_id(B3, "room_id", room_id)}
    return devices_of(client.call(B3, **parameters))


def devices_of(members: Mapping[str, Any]) -> list[Device]:
    """Return the external users in a response of B3."""
    data = members.get("data")
    if not isinstance(data, Mapping):
        problem = f"the response's field data (B3) is {preview(data)}, not an object."
        advice = "Ask the provider where this deployment puts the external users."
        raise ProtocolError(problem, advice)
    total, items = number(data, "total"), data.get("items")
    items = [] if items is None and total == 0 else items
    devices = [Device.read(item) for item in objects(items, "items", B3.key)]
    if total is not None and total > len(devices):
        problem = f"the response of B3 says total={total} but contains {len(devices)} items."
        advice = "List one room at a time, or ask the provider whether long lists are truncated."
        raise ProtocolError(problem, advice)
    return devices


def find_device(client: Client, room_id: str, user_id: str) -> Device | None:
    """Return the external user with this ID in a room, or None if B3 does not list it."""
    ids = (room_id, user_id)
    listed = list_devices(client, room_id)
    return next((each for each in listed if (each.room_id, each.user_id) == ids), None)


# Checks of arguments


def check_address(operation: Operation, value: object) -> SecretAddress:
    """Return a device's address, such as rtsp://host:554/path; reject a masked one."""
    address = SecretAddress(value if isinstance(value, str | SecretAddress) else "")
    if not _ADDRESS.fullmatch(address.reveal()) or not address.reveal().isprintable():
        problem = "user_address is not a valid address."  # not quoted: it may be a password
        advice = "Write it as scheme://host:port/path, such as rtsp://192.0.2.7:554/stream1."
        raise parameter_error(operation, problem, advice)
    check_sendable(operation, {"user_address": address})
    return address


def check_options(
    options: object, login_name: str | None = None, login_password: str | Secret | None = None
) -> dict[str, Any]:
    """Return the `options` of B1 with secrets hidden; a login that is passed replaces theirs."""
    if not isinstance(options, Mapping | None):
        advice = 'Pass a dict, such as {"assist_address": "rtsp://..."}.'
        raise parameter_error(B1, "options is not an object.", advice)
    login = {"login_name": login_name, "login_password": login_password}
    passed = {name: value for name, value in login.items() if value is not None}
    sent = {"options": {**(options or {}), **passed}}
    return check_sendable(B1, sent)["options"]  # type: ignore[no-any-return]
