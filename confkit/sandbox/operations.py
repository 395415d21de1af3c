"""The ten operations (section 4): functions from the service and parameters to members.

The token and the presence of the required parameters have already been checked, and the service's
lock is held. `Refused` is any response other than success. If streams begin or end, the members are
awaited after the lock is released.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..operations import B1
from ..rtsp.address import parse_address
from ..secret import redact
from .devices import Device, Refused
from .signatures import Parts, mistakes, same
from .state import Service

Values = Mapping[str, Any]
Members = dict[str, Any]

CAPS = ("attendee_max", "max_audio", "max_video")
FIELDS = ("topic", "owner_id", "host_password", *CAPS, "room_extend_id", "room_mode")
MAX_TOPIC = 149  # bytes (section 8)
MAX_DIGITS = 18  # of a number (assumed)
FAILURES = {"B1": 302, "B2": 303, "B3": 304}  # if the device service fails (section 7)
SNAKE_CASE = ("room_id", "user_id", "user_name", "user_address", "user_data", "options")


def authenticate(service: Service, values: Values) -> Members:
    """A1: `random` and `key` for a token."""
    if not same(values["access_key"], service.access_key):
        raise Refused(401, "access_key is not the one of this service")
    digest, keys = values["digest"], (service.access_key, service.secret_key)
    if not same(digest, service.dialect.digest(*keys).reveal()):
        reasons = mistakes("digest", digest, Parts(*keys), service.dialect, travelled=True)
        why = "; ".join(reasons or ()) or "made with another secret key, or by another rule"
        raise Refused(401, f"digest: {why}")
    token = service.issue_token()
    return {"random": token.random.reveal(), "key": token.key.reveal()}


def create_room(service: Service, values: Values) -> Members:
    """A2: the `room_id` of a new room."""
    fields = {name: values[name] for name in FIELDS}
    fields |= {name: _whole_number(name, values[name]) for name in ("room_mode", *CAPS)}
    if not 1 <= fields["room_mode"] <= 4:
        raise Refused(407, "room_mode is not a whole number from 1 to 4")
    size = len(fields["topic"].encode())
    if size > MAX_TOPIC:
        raise Refused(407, f"topic has {size} bytes, at most {MAX_TOPIC} fit")
    if fields["room_extend_id"] in service.rooms:
        raise Refused(407, "room_extend_id is taken")
    if service.expired:
        raise Refused(405, "the licence has expired")
    if fields["room_mode"] in (3, 4) and not service.peer_to_peer:  # (seen in deployments)
        raise Refused(701, "room_mode 3 and 4 are peer-to-peer, which is not licensed")
    return {"room_id": service.add_room(fields).room_id}


def get_room(service: Service, values: Values) -> Members:
    """A3: the room's fields. Caps are quoted, an absent one is an empty text (assumed)."""
    room = service.room(values["room_id"])
    fields = {name: "" if value is None else value for name, value in room.fields.items()}
    fields |= {name: str(fields[name]) for name in CAPS}
    ids = {"id": room.id, "room_id": room.room_id}  # in the interface's order:
    return {**ids, "topic": "", "room_status": room.status, **fields}


def delete_room(service: Service, values: Values) -> Awaitable[Members]:
    """A4: the `room_id` of the deleted room, whose people and devices are removed."""
    room = service.room(values["room_id"])
    devices = [*room.devices.values()]
    room.close()
    del service.rooms[room.room_id]
    return _when_ended(devices, {"room_id": room.room_id})


def get_mcu(service: Service, values: Values) -> Members:
    """A5: `addr`, host:port of the media server, which serves the room from then on."""
    room = service.room(values["room_id"], in_use=True)
    if service.expired:
        raise Refused(405, "the licence has expired")
    if not service.mcu:
        raise Refused(410, "the media server is stopped")
    if service.is_full():
        raise Refused(411, "all seats of the licence are used")
    room.has_mcu = True
    return {"addr": "{}:{}".format(*service.mcu.getsockname())}


def get_room_users(service: Service, values: Values) -> Members:
    """A6: `user_list`, people and then devices; empty for a closed room."""
    room = service.room(values["room_id"])
    users = room.people | {device.user_id: device.user_name for device in room.live_devices()}
    return {"user_list": [{"user_name": users[key], "user_id": key} for key in users]}


def force_offline(service: Service, values: Values) -> Members | Awaitable[Members]:
    """A7: `msg`. A device that is forced offline is removed."""
    room, user_id = service.room(values["room_id"], in_use=True), values["user_id"]
    if not room.has_mcu:
        raise Refused(428, "no media server is assigned to the room")
    if not service.mcu:
        raise Refused(417, "the room's media server is stopped")
    if device := room.device(user_id):
        room.remove_device(user_id)
        return _when_ended([device], {"msg": "success"})
    if not room.people.pop(user_id, None):
        raise Refused(429, "the user is not in the room")
    return {"msg": "success"}


def create_device(service: Service, values: Values) -> Awaitable[Members]:
    """B1: a future of `data` with roomId and userId, done once the device's stream is open."""
    options, address = values["options"] or {}, values["userAddress"]
    for name in ("login_name", "login_password"):
        if not isinstance(options.get(name) or "", str):
            raise Refused(401, f"options.{name} is not a text")
    camera = _camera(address)
    _check_device_service(service, "B1")
    room, user_id = service.rooms.get(values["roomId"]), values["userId"]
    if room and not room.closed:
        if service.knows_user(room, user_id):
            raise Refused(423, "userId is taken")
        if camera in [_camera(device.address) for device in room.devices.values()]:
            raise Refused(423, "userAddress is in this room already")
    why = service.obstacle(room, device=True)
    if why or room is None:
        raise Refused(426, why)
    texts = (user_id, values["userName"], address, values["userData"] or "")
    device = room.devices[user_id] = Device(service, room, *texts, options)
    device.start()
    return asyncio.wrap_future(device.opened)


def remove_device(service: Service, values: Values) -> Awaitable[Members]:
    """B2: `data` with roomId and userId of the removed device."""
    _check_device_service(service, "B2")
    room = service.rooms.get(values["roomId"])
    device = room.device(values["userId"]) if room else None
    if not room or not device:
        raise Refused(425, "the room has no device with this userId")
    if device.address != values["userAddress"]:
        raise Refused(425, "userAddress is not the address with which the device was imported")
    room.remove_device(device.user_id)
    return _when_ended([device], {"data": {"roomId": room.room_id, "userId": device.user_id}})


def list_devices(service: Service, values: Values) -> Members:
    """B3: `data` with `total` and `items`, of one room or, without roomId, of all."""
    _check_device_service(service, "B3")
    names = SNAKE_CASE if service.item_keys == "snake_case" else (*B1.required, *B1.optional)
    rows = [
        (d.room.room_id, d.user_id, d.user_name, d.address, d.user_data, d.options)
        for d in service.devices(values["roomId"])
        if d.opened.done()
    ]
    items = [dict(zip(names, row, strict=True)) for row in rows]
    return {"data": {"total": len(items), "items": items}}


FUNCTIONS: dict[str, Callable[[Service, Values], Members | Awaitable[Members]]] = {
    "A1": authenticate,
    "A2": create_room,
    "A3": get_room,
    "A4": delete_room,
    "A5": get_mcu,
    "A6": get_room_users,
    "A7": force_offline,
    "B1": create_device,
    "B2": remove_device,
    "B3": list_devices,
}


async def _when_ended(devices: list[Device], members: Members) -> Members:
    """Return the members once the devices have released their cameras, some of which allow one
    viewer only."""
    until = time.monotonic() + 1.0
    while time.monotonic() < until and any(device.thread.is_alive() for device in devices):
        await asyncio.sleep(0.005)
    return members


def _check_device_service(service: Service, key: str) -> None:
    if service.device_service == "stopped":
        raise Refused(FAILURES[key], "the device service is stopped")
    if service.device_service == "hanging":
        raise Refused(310, "the device service hangs")


def _whole_number(name: str, text: str | None) -> int | None:
    if text is not None and not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise Refused(407, f"{name} is not a whole number")
    return None if text is None else int(text)


def _camera(address: str) -> str:
    """Return a device's address without its login, equal for the same camera; Refused if it is
    invalid, or not of a camera."""
    if address.lower().startswith(("sip://", "h323://")):
        raise Refused(426, "this sandbox dials rtsp and rtsps only, not sip or h323")
    try:
        return parse_address(address).url
    except ValueError as error:
        raise Refused(401, redact(f"userAddress: {error}")) from None
