"""The ten operations (section 4), each a function from parameters to members.

The token and the presence of the required parameters have been checked before; `Refused` is every
answer other than success.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ...endpoints import B1
from ...rtsp.address import parse_address
from ...rtsp.refusal import PullRefused
from ...secret import Guarded, mask
from ...signing import digest
from .identity import same
from .signatures import Parts, mistakes
from .state import Refused, Service
from .store import StoredDevice, StoredRoom
from .streams import Reserved, tell

Values = Mapping[str, Any]
Members = dict[str, Any]

LOCAL = "(local)"  # among an operation's values: the address under which the caller reached us
TOPIC_BYTES = 150  # a topic is shorter than this (section 8)
PEER_TO_PEER = (3, 4)  # values of room_mode that count as peer-to-peer (seen in deployments)
CAPS = ("attendee_max", "max_audio", "max_video")
ROOM = ("id", "room_id", "topic", "room_status", "owner_id", "host_password", *CAPS)
_DIALLED = ("rtsp", "rtsps")


async def authenticate(service: Service, values: Values) -> Members:
    """A1: `random` and `key` for a token."""
    if not same(values["access_key"], service.access_key):
        raise Refused(401, "access_key is not the one of this service")
    right = digest(service.access_key, service.secret_key, service.dialect)
    if not same(values["digest"], right):
        parts = Parts(service.access_key, service.secret_key)
        found = mistakes("digest", values["digest"], parts, service.dialect, travelled=True)
        why = "; ".join(found or ()) or "made with another secret key, or by another rule"
        raise Refused(401, f"digest: {why}")
    token = service.issue()
    return {"random": token.random, "key": token.key}


async def create_room(service: Service, values: Values) -> Members:
    """A2: the `room_id` of a new room, served by the media server when that is up (assumed).

    `room_type`, `start_time` and `end_time` are accepted."""
    texts = ("topic", "owner_id", "host_password", "room_extend_id")
    fields = {name: values.get(name) for name in texts}
    fields |= {name: _whole(values, name) for name in CAPS}
    fields["room_mode"] = _whole(values, "room_mode", 1, 4)
    _whole(values, "room_type", 1, 2)
    _whole(values, "start_time")
    _whole(values, "end_time")
    size = len(values["topic"].encode())
    if size >= TOPIC_BYTES:
        raise Refused(407, f"topic has {size} bytes, at most 149 fit")
    room_id = values.get("room_extend_id")
    if room_id and service.store.room(room_id):
        raise Refused(407, "room_extend_id is taken")
    _licensed(service)
    if fields["room_mode"] in PEER_TO_PEER and not service.licence.peer_to_peer:
        raise Refused(701, "room_mode 3 and 4 are peer-to-peer, which is not licensed")
    while not room_id or service.store.room(room_id):
        room_id = service.ids.room_id()
    service.store.add([{"room_id": room_id, **fields, "mcu": service.mcu.up}])
    return {"room_id": room_id}


async def get_room(service: Service, values: Values) -> Members:
    """A3: the room's fields. Caps are quoted, an absent one is an empty text (assumed)."""
    room = _room(service, values)
    fields = room._asdict() | {"room_status": service.status(room)}
    fields |= {name: str(fields[name]) for name in CAPS if fields[name] is not None}
    return {
        name: "" if fields[name] is None else fields[name]
        for name in (*ROOM, "room_extend_id", "room_mode")
    }


async def delete_room(service: Service, values: Values) -> Members:
    """A4: the `room_id` of the room that is gone, with its people and its devices."""
    room = _room(service, values)
    await service.empty(room.room_id, delete=True)
    return {"room_id": room.room_id}


async def get_mcu(service: Service, values: Values) -> Members:
    """A5: `addr`, host:port of the media server, which serves the room from then on.

    The host is the one under which the caller reached the sandbox (assumed)."""
    room = _room(service, values, in_use=True)
    _licensed(service)
    if not service.mcu.up:
        raise Refused(410, "the media server is stopped")
    if service.seats_used():
        raise Refused(411, "all seats of the licence are used")
    service.store.mark(room.room_id, "mcu")
    host = f"[{values[LOCAL]}]" if ":" in values[LOCAL] else values[LOCAL]
    return {"addr": f"{host}:{service.mcu.port}"}


async def get_users(service: Service, values: Values) -> Members:
    """A6: `user_list`, empty for a closed room."""
    users = service.users(_room(service, values))
    return {"user_list": [{"user_name": name, "user_id": user_id} for name, user_id in users]}


async def force_offline(service: Service, values: Values) -> Members:
    """A7: `msg`. A device that is forced offline is removed."""
    room, user_id = _room(service, values, in_use=True), values["user_id"]
    if not room.mcu:
        raise Refused(428, "no media server is assigned to the room")
    if not service.mcu.up:
        raise Refused(417, "the room's media server is stopped")
    if service.device_in(room.room_id, user_id):
        await service.remove_device(user_id)
    elif not service.store.remove_person(room.room_id, user_id):
        raise Refused(429, "the user is not in the room")
    return {"msg": "success"}


async def create_device(service: Service, values: Values) -> Members:
    """B1: `data` with roomId and userId, once the device's stream is open."""
    options = values.get("options") or {}
    for name in ("login_name", "login_password", "assist_address"):
        if not isinstance(options.get(name) or "", str):
            raise Refused(401, f"options.{name} is not a text")
    dialled = _scheme(values["userAddress"]) in _DIALLED
    _device_service(service, 302)
    named = [values[name] for name in ("roomId", "userId", "userName")]
    address, data = Guarded(values["userAddress"]), Guarded(values.get("userData") or "")
    device = StoredDevice._make((*named, address, data, options))
    mine = service.devices.reserved[device.user_id] = _place(service, device, dialled)
    try:
        stream = await service.devices.dial(device)
        try:
            # The room may have been closed while the camera was dialled, another come in its place.
            if service.devices.reserved.get(device.user_id) is not mine:
                raise Refused(426, "the room was closed or deleted while the camera was dialled")
            service.store.add_device(device)
        except BaseException:
            await stream.close()
            raise
        service.devices.hold(device, stream)
    except PullRefused as refused:
        tell(device, f"not opened: {refused}")
        why = mask(f"the camera was not opened: {refused}")
        raise Refused(427 if refused.timed_out else 426, why) from None
    finally:
        if service.devices.reserved.get(device.user_id) is mine:
            del service.devices.reserved[device.user_id]
    return _data(device)


def _place(service: Service, device: StoredDevice, dialled: bool) -> Reserved:
    """Return the place that a device takes before it is dialled: two cannot get the same."""
    room = service.store.room(device.room_id)
    if room is None or room.closed:
        raise Refused(426, "the room is closed" if room else "there is no such room")
    if service.knows_user(device.room_id, device.user_id):
        raise Refused(423, "userId is taken")
    place = Reserved(device.room_id, device.user_address)
    there = [Reserved(*other[::3]) for other in service.store.devices(room_id=device.room_id)]
    if place in (*there, *service.devices.reserved.values()):
        raise Refused(423, "userAddress is in this room already")
    obstacle = service.obstacle(room, device=True)
    if not (obstacle or dialled):
        obstacle = "this sandbox dials rtsp and rtsps only, not sip or h323"
    if obstacle:
        raise Refused(426, obstacle)
    return place


async def destroy_device(service: Service, values: Values) -> Members:
    """B2: `data` with roomId and userId of the device that has left."""
    _device_service(service, 303)
    device = service.device_in(values["roomId"], values["userId"])
    if device is None:
        raise Refused(425, "the room has no device with this userId")
    if device.user_address != values["userAddress"]:
        raise Refused(425, "userAddress is not the one with which the device was imported")
    await service.remove_device(device.user_id)
    return _data(device)


async def list_devices(service: Service, values: Values) -> Members:
    """B3: `data` with `total` and `items`, of one room or, without roomId, of all."""
    _device_service(service, 304)
    snake = service.dialect.item_keys == "snake_case"
    names = StoredDevice._fields if snake else (*B1.required, *B1.optional)
    where = {"room_id": values["roomId"]} if "roomId" in values else {}
    items = [dict(zip(names, device, strict=True)) for device in service.store.devices(**where)]
    return {"data": {"total": len(items), "items": items}}


Operation = Callable[[Service, Values], Awaitable[Members]]
OPERATIONS: Mapping[str, Operation] = {
    "A1": authenticate,
    "A2": create_room,
    "A3": get_room,
    "A4": delete_room,
    "A5": get_mcu,
    "A6": get_users,
    "A7": force_offline,
    "B1": create_device,
    "B2": destroy_device,
    "B3": list_devices,
}
# The code for a failure of ours: database error, or the device service's own (section 7).
BROKEN = {"B1": 302, "B2": 303, "B3": 304}
DATABASE_ERROR = 700


def broken(key: str, error: Exception) -> tuple[int, str]:
    """Return code and reason when the operation itself failed, most likely its database."""
    what = "the database failed" if isinstance(error, sqlite3.Error) else "the sandbox failed"
    return BROKEN.get(key, DATABASE_ERROR), f"{what}: {type(error).__name__}"


def _data(device: StoredDevice) -> Members:
    return {"data": {"roomId": device.room_id, "userId": device.user_id}}


def _device_service(service: Service, stopped: int) -> None:
    if service.device_service == "stopped":
        raise Refused(stopped, "the device service is stopped")
    if service.device_service == "hanging":
        raise Refused(310, "the device service hangs")


def _room(service: Service, values: Values, in_use: bool = False) -> StoredRoom:
    room = service.store.room(values["room_id"])
    if room is None:
        raise Refused(404, "there is no such room")
    if in_use and room.closed:
        raise Refused(416, "the room is closed")
    return room


def _licensed(service: Service) -> None:
    if service.licence.expired:
        raise Refused(405, "the licence has expired")


def _whole(values: Values, name: str, least: int = 0, most: int = 10**18) -> int | None:
    text = values.get(name, "")
    digits = text.isascii() and text.isdigit() and len(text) < 19
    if text and not (digits and least <= int(text) <= most):
        raise Refused(407, f"{name} is no whole number" + f" from 1 to {most}" * least)
    return int(text) if text else None


def _scheme(address: str) -> str:
    """Return the scheme of a device's address; Refused where it has not the form of one."""
    scheme, separator, rest = address.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in (*_DIALLED, "sip", "h323") or address != address.strip():
        raise Refused(401, "userAddress is not rtsp, rtsps, sip or h323 ://, a host, and no blanks")
    try:
        parse_address(address if scheme in _DIALLED else f"rtsp://{rest}")
    except ValueError as error:
        raise Refused(401, mask(f"userAddress: {error}")) from None
    return scheme
