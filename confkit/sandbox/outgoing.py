"""The operations of interface B: external devices as users of a room (section 4)."""

from ..rtsp.refusal import PullRefused
from ..secret import Guarded, mask
from .devices import Reserved, dialled, malformed
from .service import Members, Refused, Service, Values
from .store import StoredDevice

_SNAKE = {
    "roomId": "room_id", "userId": "user_id", "userName": "user_name",
    "userAddress": "user_address", "userData": "user_data", "options": "options",
}  # fmt: skip


async def create_device(service: Service, values: Values) -> Members:
    """B1: `data` with roomId and userId, once the device's stream is open."""
    options = values.get("options") or {}
    for name in ("login_name", "login_password", "assist_address"):
        if not isinstance(options.get(name) or "", str):
            raise Refused(401, f"options.{name} is not a text")
    wrong = malformed(values["userAddress"])
    if wrong:
        raise Refused(401, wrong)
    _device_service(service, 302)
    address = Guarded(values["userAddress"])
    data = Guarded(values.get("userData") or "")
    device = StoredDevice(
        values["roomId"], values["userId"], values["userName"], address, data, options
    )
    reserved = _reserve(service, device)
    try:
        stream = await service.devices.open(device)
        try:
            # The room may have been closed while the camera was dialled, another come in its place.
            if service.devices.reserved.get(device.user_id) is not reserved:
                raise Refused(426, "the room was closed or deleted while the camera was dialled")
            service.store.add_device(device)
        except BaseException:
            await stream.close()
            raise
        service.devices.hold(device, stream)
    except PullRefused as refused:
        why = mask(f"the camera was not opened: {refused}")
        raise Refused(427 if refused.timed_out else 426, why) from None
    finally:
        if service.devices.reserved.get(device.user_id) is reserved:
            del service.devices.reserved[device.user_id]
    return {"data": {"roomId": device.room_id, "userId": device.user_id}}


def _reserve(service: Service, device: StoredDevice) -> Reserved:
    """Takes user id, address and place before the camera is dialled: two cannot get the same."""
    room = service.store.room(device.room_id)
    if room is None or room.closed:
        raise Refused(426, "the room is closed" if room else "there is no such room")
    if service.knows_user(device.room_id, device.user_id):
        raise Refused(423, "userId is taken")
    reserved = Reserved(device.room_id, device.user_address)
    here = {other.user_address for other in service.store.devices(device.room_id)}
    if device.user_address in here or reserved in service.devices.reserved.values():
        raise Refused(423, "userAddress is in this room already")
    obstacle = service.obstacle(room, device=True)
    if not obstacle and not dialled(device.user_address):
        obstacle = "this sandbox dials rtsp and rtsps only, not sip or h323"
    if obstacle:
        raise Refused(426, obstacle)
    service.devices.reserved[device.user_id] = reserved
    return reserved


async def destroy_device(service: Service, values: Values) -> Members:
    """B2: `data` with roomId and userId of the device that has left."""
    _device_service(service, 303)
    device = service.device_in(values["roomId"], values["userId"])
    if device is None:
        raise Refused(425, "the room has no device with this userId")
    if device.user_address != values["userAddress"]:
        raise Refused(425, "userAddress is not the one with which the device was imported")
    await service.remove_device(device.user_id)
    return {"data": {"roomId": device.room_id, "userId": device.user_id}}


async def list_devices(service: Service, values: Values) -> Members:
    """B3: `data` with `total` and `items`, of one room or, without roomId, of all."""
    _device_service(service, 304)
    snake = service.dialect.item_keys == "snake_case"
    items = [
        dict(zip(_SNAKE.values() if snake else _SNAKE, device, strict=True))
        for device in service.store.devices(values.get("roomId"))
    ]
    return {"data": {"total": len(items), "items": items}}


def _device_service(service: Service, stopped: int) -> None:
    if service.device_service == "stopped":
        raise Refused(stopped, "the device service is stopped")
    if service.device_service == "hanging":
        raise Refused(310, "the device service hangs")
