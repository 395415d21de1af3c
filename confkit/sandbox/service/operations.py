"""The ten operations (section 4), each a function from parameters to members.

The token and the presence of the required parameters have been checked before; `Refused` is every
answer other than success.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ...operations import A2, B1
from ...rtsp.address import parse_address
from ...rtsp.refusal import PullRefused
from ...secret import redact
from .identity import same
from .room import StoredDevice, StoredRoom
from .signatures import Parts, mistakes
from .state import Refused, Service
from .streams import tell

Values = Mapping[str, Any]
Members = dict[str, Any]

LOCAL = "(local)"  # among an operation's values: the address under which the caller reached us
PEER_TO_PEER = (3, 4)  # values of room_mode that count as peer-to-peer (seen in deployments)
CAPS = ("attendee_max", "max_audio", "max_video")
ROOM = ("id", "room_id", "topic", "room_status", "owner_id", "host_password", *CAPS)
_DIALLED = ("rtsp", "rtsps")
_DEVICE_SERVICE = {"B1": 302, "B2": 303, "B3": 304}  # what fails when it does (section 7)
DATABASE_ERROR = 700


async def authenticate(service: Service, values: Values) -> Members:
    """A1: `random` and `key` for a token."""
    if not same(values["access_key"], service.access_key):
        raise Refused(401, "access_key is not the one of this service")
    right = service.dialect.digest(service.access_key, service.secret_key).reveal()
    if not same(values["digest"], right):
        parts = Parts(service.access_key, service.secret_key)
        found = mistakes("digest", values["digest"], parts, service.dialect, travelled=True)
        why = "; ".join(found or ()) or "made with another secret key, or by another rule"
        raise Refused(401, f"digest: {why}")
    token = service.issue()
    return {"random": token.random.reveal(), "key": token.key.reveal()}


async def create_room(service: Service, values: Values) -> Members:
    """A2: the `room_id` of a new room, served by the media server when that is up (assumed)."""
    fields = {name: values[name] for name in (*A2.required, *A2.optional)}
    room_id = values["room_extend_id"]
    if room_id and service.room(room_id):
        raise Refused(407, "room_extend_id is taken")
    _licensed(service)
    if values["room_mode"] in PEER_TO_PEER and not service.licence.peer_to_peer:
        raise Refused(701, "room_mode 3 and 4 are peer-to-peer, which is not licensed")
    while not room_id or service.room(room_id):
        room_id = service.ids.room_id()
    fields["room_id"] = room_id
    service.add_room(**fields, mcu=service.mcu.up)
    return {"room_id": room_id}


async def get_room(service: Service, values: Values) -> Members:
    """A3: the room's fields. Caps are quoted, an absent one is an empty text (assumed)."""
    room = _room(service, values)
    fields = {**vars(room), "room_status": service.status(room)}
    fields = {name: fields[name] for name in (*ROOM, "room_extend_id", "room_mode")}
    quoted = {name: str(fields[name]) for name in CAPS if fields[name] is not None}
    return {name: "" if value is None else value for name, value in {**fields, **quoted}.items()}


async def delete_room(service: Service, values: Values) -> Members:
    """A4: the `room_id` of the room that is gone, with its people and its devices."""
    room = _room(service, values)
    await service.empty(room, delete=True)
    return {"room_id": room.room_id}


async def get_mcu(service: Service, values: Values) -> Members:
    """A5: `addr`, host:port of the media server, which serves the room from then on.

    The host is the one under which the caller reached the sandbox (assumed)."""
    room = _room(service, values, in_use=True)
    _licensed(service)
    if not service.mcu.up:
        raise Refused(410, "the media server is stopped")
    if service.seats() <= 0:
        raise Refused(411, "all seats of the licence are used")
    room.mcu = True
    host = f"[{values[LOCAL]}]" if ":" in values[LOCAL] else values[LOCAL]
    return {"addr": f"{host}:{service.mcu.port}"}


async def get_users(service: Service, values: Values) -> Members:
    """A6: `user_list`, empty for a closed room."""
    users = service.users(_room(service, values))
    return {"user_list": [{"user_name": u.user_name, "user_id": u.user_id} for u in users]}


async def force_offline(service: Service, values: Values) -> Members:
    """A7: `msg`. A device that is forced offline is removed."""
    room, user_id = _room(service, values, in_use=True), values["user_id"]
    if not room.mcu:
        raise Refused(428, "no media server is assigned to the room")
    if not service.mcu.up:
        raise Refused(417, "the room's media server is stopped")
    person = {"room_id": room.room_id, "user_id": user_id}
    if service.devices.find(**person):
        await service.devices.release(user_id)
    elif not service.leave(**person):
        raise Refused(429, "the user is not in the room")
    return {"msg": "success"}


async def create_device(service: Service, values: Values) -> Members:
    """B1: `data` with roomId and userId, once the device's stream is open."""
    options = values["options"] or {}
    for name in ("login_name", "login_password", "assist_address"):
        if not isinstance(options.get(name) or "", str):
            raise Refused(401, f"options.{name} is not a text")
    dialled = _scheme(values["userAddress"]) in _DIALLED
    _device_service(service, "B1")
    device = StoredDevice(
        values["roomId"],
        values["userId"],
        values["userName"],
        values["userAddress"],
        values["userData"] or "",
        options,
    )
    coming = service.devices.coming
    for obstacle in service.obstacles(service.room(device.room_id), device):
        raise Refused(*obstacle)
    if not dialled:
        raise Refused(426, "this sandbox dials rtsp and rtsps only, not sip or h323")
    coming[device.user_id] = device  # its place is taken before it is dialled
    try:
        stream = await service.devices.dial(device)
        try:
            # The room may have been closed while the camera was dialled, another come in its place.
            if coming.get(device.user_id) is not device:
                raise Refused(426, "the room was closed or deleted while the camera was dialled")
        except BaseException:
            await stream.close()
            raise
        service.devices.hold(device, stream)
        service.rooms[device.room_id].mcu = True
    except PullRefused as refused:
        tell(device, f"not opened: {refused}")
        why = redact(f"the camera was not opened: {refused}")
        raise Refused(427 if refused.timed_out else 426, why) from None
    finally:
        if coming.get(device.user_id) is device:
            del coming[device.user_id]
    return _data(device)


async def destroy_device(service: Service, values: Values) -> Members:
    """B2: `data` with roomId and userId of the device that has left."""
    _device_service(service, "B2")
    held = service.devices.find(values["roomId"], values["userId"])
    if held is None:
        raise Refused(425, "the room has no device with this userId")
    if held.device.user_address != values["userAddress"]:
        raise Refused(425, "userAddress is not the one with which the device was imported")
    await service.devices.release(held.device.user_id)
    return _data(held.device)


async def list_devices(service: Service, values: Values) -> Members:
    """B3: `data` with `total` and `items`, of one room or, without roomId, of all."""
    _device_service(service, "B3")
    snake = service.item_keys == "snake_case"
    names = StoredDevice._fields if snake else (*B1.required, *B1.optional)
    devices = [held.device for held in service.devices.held.values()]
    items = [
        dict(zip(names, device, strict=True))
        for device in devices
        if values["roomId"] in (None, device.room_id)
    ]
    return {"data": {"total": len(items), "items": items}}


Operation = Callable[[Service, Values], Awaitable[Members]]
HANDLERS: Mapping[str, Operation] = {
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


def broken(key: str, error: Exception) -> tuple[int, str]:
    """Return code and reason when the operation itself failed."""
    return _DEVICE_SERVICE.get(key, DATABASE_ERROR), f"the sandbox failed: {type(error).__name__}"


def _data(device: StoredDevice) -> Members:
    return {"data": {"roomId": device.room_id, "userId": device.user_id}}


def _device_service(service: Service, key: str) -> None:
    if service.device_service == "stopped":
        raise Refused(_DEVICE_SERVICE[key], "the device service is stopped")
    if service.device_service == "hanging":
        raise Refused(310, "the device service hangs")


def _room(service: Service, values: Values, in_use: bool = False) -> StoredRoom:
    room = service.room(values["room_id"])
    if room is None:
        raise Refused(404, "there is no such room")
    if in_use and room.closed:
        raise Refused(416, "the room is closed")
    return room


def _licensed(service: Service) -> None:
    if service.licence.expired:
        raise Refused(405, "the licence has expired")


def _scheme(address: str) -> str:
    """Return the scheme of a device's address; Refused where it has not the form of one."""
    scheme, separator, rest = address.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in (*_DIALLED, "sip", "h323") or address != address.strip():
        raise Refused(401, "userAddress is not rtsp, rtsps, sip or h323 ://, a host, and no blanks")
    try:
        parse_address(address if scheme in _DIALLED else f"rtsp://{rest}")
    except ValueError as error:
        raise Refused(401, redact(f"userAddress: {error}")) from None
    return scheme
