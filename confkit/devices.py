"""External devices, such as RTSP cameras: brought into a room, out of it, and listed (B1 to B3)."""

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .client import Client
from .endpoints import B1, B2, B3, Endpoint, carried, identity, needed_text, whole, wrong
from .errors import (
    ConfkitError,
    JoinFailed,
    Look,
    OutcomeUnknown,
    ProtocolError,
    ServiceTimeout,
    UserExists,
    UserNotFound,
    settle,
)
from .records import DEEPEST, Device, number, objects, shown, too_deep
from .rooms import get_room_users
from .secret import MASK, Guarded, GuardedAddress, Secret, guard, mask_address
from .wire import Request

if TYPE_CHECKING:
    from .rtsp.report import Report

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/]\S*")
_PAUSE = 0.25  # seconds between two looks for a device


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

    `room_id` may be a whole Device, whose fields then fill what is left out, and whose login gives
    way to `login_name` and `login_password`. The service dials
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
    shallow(options)
    options = guard(options)  # type: ignore[assignment]  # the same, with its secrets hidden
    client.may_send(B1)
    if isinstance(room_id, Device) and options is None and isinstance(room_id.options, Mapping):
        login = {"login_name": login_name, "login_password": login_password}
        old = room_id.options.items()
        options = {name: value for name, value in old if login.get(name) is None}
    device = _checked(
        **_filled(
            room_id,
            user_id=user_id,
            user_name=user_name,
            user_address=user_address,
            user_data=user_data,
            options=options,
        ),
        login_name=login_name,
        login_password=login_password,
    )
    report = None
    if preflight:
        from .diagnosis import preflighted

        report = preflighted(device, preflight)
    _import(client, device, report)
    if verify:
        _see(client, device, patience)
    return device


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
    given = _filled(room_id, user_id=user_id, user_address=user_address)
    room_id = identity(B2, "room_id", given["room_id"])
    user_id = identity(B2, "user_id", given["user_id"])
    if given["user_address"] is None:
        given["user_address"] = _listed(client, room_id, user_id).user_address
    address = address_checked(B2, given["user_address"])
    request = Request(B2, {"roomId": room_id, "userId": user_id, "userAddress": address})

    def look() -> Look:
        if find_device(client, room_id, user_id) is not None:
            return Look(False)
        found = f"B3 does not list {mask_address(user_id)!r} in room {room_id!r} now."
        return Look(True, f"{found} If it did before this call, nothing is left to do.")

    before = _before(room_id, "remove it")
    settle(lambda: client.send(request), look, before, "Whether the device is there")


def list_devices(client: Client, room_id: str | None = None) -> list[Device]:
    """Return the external users of a room, or of all rooms when `room_id` is None or empty (B3).

    ServiceUnavailable (304), ServiceTimeout (310). An answer without a list, or with fewer items
    than its `total`, is a ProtocolError, never an empty list.
    """
    parameters = {}
    if room_id is not None and room_id != "":
        parameters["roomId"] = identity(B3, "room_id", room_id)
    return devices_of(client.send(Request(B3, parameters)))


def devices_of(members: Mapping[str, Any]) -> list[Device]:
    """Return the external users in an answer of B3."""
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
    """Return the external user of this ID in a room, or None when B3 does not list it."""
    wanted = (room_id, user_id)
    listed = list_devices(client, room_id)
    return next((item for item in listed if (item.room_id, item.user_id) == wanted), None)


def _listed(client: Client, room_id: str, user_id: str) -> Device:
    """Return the external user that B2 is to remove; UserNotFound when B3 does not list it."""
    found = find_device(client, room_id, user_id)
    if found is not None:
        return found
    error = UserNotFound(
        f"the service lists no external user {mask_address(user_id)!r} in room {room_id!r}, so its "
        "address is not known and B2 was not sent",
        "Look with list_devices(client) where the device is, if anywhere.",
    )
    error.interface, error.endpoint, error.ret = "B", B2.key, 425
    error.meaning = "user does not exist"
    raise error


def _filled(device: str | Device, **given: Any) -> dict[str, Any]:
    """What is given, and where that is None what a Device says that stands in the room's place."""
    if not isinstance(device, Device):
        return {"room_id": device, **given}
    known = {name: getattr(device, name) for name, value in given.items() if value is None}
    return {"room_id": device.room_id, **given, **known}


def _checked(
    room_id: object,
    user_id: object,
    user_name: object,
    user_address: object,
    user_data: object,
    options: object,
    login_name: str | None = None,
    login_password: str | None = None,
) -> Device:
    return Device(
        identity(B1, "room_id", room_id),
        identity(B1, "user_id", user_id),
        needed_text(B1, "user_name", user_name),
        address_checked(B1, user_address),
        whole(B1, "user_data", str(user_data or "")),
        options_checked(options, login_name, login_password),
    )


def address_checked(endpoint: Endpoint, value: object) -> Guarded:
    """Return a device's address, such as rtsp://host:554/path; a masked one is refused."""
    if isinstance(value, str):
        value = GuardedAddress(value)  # a traceback shows the locals
    written = value if isinstance(value, GuardedAddress) else GuardedAddress("")
    if not _ADDRESS.fullmatch(written) or not written.isprintable():
        given = repr(mask_address(written, broken=True)) if written else shown(value)
        raise wrong(
            endpoint,
            f"user_address is {given}, not an address.",
            "Write it as scheme://host:port/path, such as rtsp://192.0.2.7:554/stream1.",
        )
    unmasked("user_address", written, endpoint)
    return Guarded(written)


def unmasked(name: str, value: str, endpoint: Endpoint = B1) -> None:
    """Refuse a text whose secret was masked."""
    if MASK in value:
        raise wrong(
            endpoint,
            f"{name} is masked ({MASK} stands where its secret was).",
            "Take the device from list_devices(client, room_id), or the frame with secrets=True.",
        )


def shallow(options: object) -> None:
    """Refuse options that are nested too deep to be looked through."""
    if too_deep(options):
        raise wrong(
            B1,
            f"options is nested more than {DEEPEST} deep, or holds itself.",
            "Give an object whose values are texts, numbers or small lists and dicts.",
        )


def options_checked(
    given: object, login_name: str | None = None, login_password: str | None = None
) -> dict[str, Any]:
    """Return the `options` of B1: what was given, with the login in the interface's keys."""
    if given is not None and not isinstance(given, Mapping):
        advice = 'Give a dict, such as {"assist_address": "rtsp://..."}.'
        raise wrong(B1, f"options is {type(given).__name__}, not an object.", advice)
    merged = dict(given or {})
    for name, value in (("login_name", login_name), ("login_password", login_password)):
        if value is None:
            continue
        if not isinstance(value, str):
            raise wrong(B1, f"{name} is not a text.", "Give it as text.")
        whole(B1, name, value)
        if merged.get(name, value) != value:
            problem = f"{name} is given twice, in options and by itself, and they differ."
            raise wrong(B1, problem, "Give it once.")
        merged[name] = value
    carried(B1, "options", merged)
    for name, value in merged.items():
        if isinstance(value, str):
            unmasked(f"options[{name!r}]", value)
    return merged


def _import(client: Client, device: Device, report: "Report | None") -> None:
    """Send B1; `report` is that of the camera."""
    called, before = mask_address(device.user_id), _before(device.room_id, "import it")
    parameters = {
        "roomId": device.room_id,
        "userId": device.user_id,
        "userName": device.user_name,
        "userAddress": device.user_address,
        "userData": device.user_data,
        "options": device.options,
    }
    request = Request(B1, {name: value for name, value in parameters.items() if value})

    def look() -> Look:
        found = find_device(client, device.room_id, device.user_id)
        if found is None:
            return Look(False)
        if found.user_address != device.user_address:
            return Look(None, f"B3 lists {called!r} with another address. {before}")
        seen = f"B3 lists {called!r} with this address. It may have been there before this call."
        return Look(True, f"{seen} {before}")

    try:
        settle(lambda: client.send(request), look, before, "Whether the device is there")
    except UserExists as error:
        if _is_listed(client, device):
            error.advice = (
                f"{called!r} is in room {device.room_id!r} with this address, by an earlier "
                "import: nothing is left to do."
            )
        raise
    except (JoinFailed, ServiceTimeout) as error:
        if not isinstance(error, OutcomeUnknown):
            from .diagnosis import explained

            explained(error, client, device, report)
        raise


def _is_listed(client: Client, device: Device) -> bool:
    """Whether B3 lists the device with its address, as far as it can be read."""
    try:
        found = find_device(client, device.room_id, device.user_id)
    except ConfkitError:
        return False
    return found is not None and found.user_address == device.user_address


def _before(room_id: str, what: str) -> str:
    return f"Look with ck.list_devices(client, {room_id!r}) before you {what} again."


def _see(client: Client, device: Device, patience: float) -> None:
    """Wait until B3 and A6 both show the device; NotInRoom when they do not in time."""
    end = time.monotonic() + patience
    while (missing := _missing(client, device)) and time.monotonic() < end:
        time.sleep(_PAUSE)
    if missing:
        room_id, called = device.room_id, mask_address(device.user_id)
        error = NotInRoom(
            f"{called!r} was imported into room {room_id!r}, and {missing}",
            f"To find out why: ck.diagnose_device(client, {room_id!r}, {called!r})",
        )
        error.device = device
        raise error


def _missing(client: Client, device: Device) -> str:
    """Where the device is not seen; empty when it is seen in B3 and in A6."""
    try:
        if find_device(client, device.room_id, device.user_id) is None:
            return "the service does not list it (B3)"
        users = get_room_users(client, device.room_id)
    except ConfkitError as error:
        return f"whether it is there could not be read: {error}"
    seen = any(user.user_id == device.user_id for user in users)
    return "" if seen else "it is not among the room's users (A6)"


class PreflightFailed(ConfkitError):
    """The camera does not play, so the service was not asked to import it; `report` says why."""

    report: "Report"


class NotInRoom(ConfkitError):
    """A device was imported and then was not seen in its room; `device` is what was imported."""

    device: Device
