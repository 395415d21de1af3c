"""The operations of interface A (section 4), each a function from parameters to members, and the
table of all ten.

The token and the presence of the required parameters have been checked before; `Refused` is every
answer other than success.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping

from ..signing import digest
from .explain import wrong_signature
from .identity import same
from .outgoing import create_device, destroy_device, list_devices
from .service import LOCAL, Members, Refused, Service, Values
from .store import StoredRoom

TOPIC_BYTES = 150  # a topic is shorter than this (section 8)
PEER_TO_PEER = (3, 4)  # values of room_mode that count as peer-to-peer (seen in deployments)


async def authenticate(service: Service, values: Values) -> Members:
    """A1: `random` and `key` for a token."""
    right = digest(service.access_key, service.secret_key, service.dialect)
    known = same(values["access_key"], service.access_key)
    signed = same(values["digest"], right)
    if known and signed:
        issued = service.tokens.issue()
        return {"random": issued.random, "key": issued.key}
    if not known:
        raise Refused(401, "access_key is not the one of this service")
    why = wrong_signature(
        values["digest"], service.secret_key, (service.access_key,), service.dialect
    )
    raise Refused(401, f"digest: {why or 'made with another secret key, or by another rule'}")


async def create_room(service: Service, values: Values) -> Members:
    """A2: the `room_id` of a new room, served by the media server when that is up (assumed).

    `room_type`, `start_time` and `end_time` are accepted."""
    fields = {
        "topic": values["topic"],
        "owner_id": values["owner_id"],
        "room_mode": _whole(values, "room_mode", 1, 4),
        "host_password": values.get("host_password"),
        "max_video": _whole(values, "max_video"),
        "max_audio": _whole(values, "max_audio"),
        "attendee_max": _whole(values, "attendee_max"),
        "room_extend_id": values.get("room_extend_id"),
    }
    _whole(values, "room_type", 1, 2)
    _whole(values, "start_time")
    _whole(values, "end_time")
    if len(fields["topic"].encode()) >= TOPIC_BYTES:
        raise Refused(407, f"topic has {len(fields['topic'].encode())} bytes, at most 149 fit")
    room_id = fields["room_extend_id"]
    if room_id and service.store.room(room_id):
        raise Refused(407, "room_extend_id is taken")
    _licensed(service)
    if fields["room_mode"] in PEER_TO_PEER and not service.licence.peer_to_peer:
        raise Refused(701, "room_mode 3 and 4 are peer-to-peer, which is not licensed")
    while not room_id or service.store.room(room_id):
        room_id = service.ids.room_id()
    service.store.add_room({"room_id": room_id, **fields, "mcu": service.mcu.up})
    return {"room_id": room_id}


async def get_room(service: Service, values: Values) -> Members:
    """A3: the room's fields. Caps are quoted, an absent one is an empty text (assumed)."""
    room = _room(service, values)
    return {
        "id": room.id,
        "room_id": room.room_id,
        "topic": room.topic,
        "room_status": service.status(room),
        "owner_id": room.owner_id,
        "host_password": room.host_password or "",
        "attendee_max": _quoted(room.attendee_max),
        "max_audio": _quoted(room.max_audio),
        "max_video": _quoted(room.max_video),
        "room_extend_id": room.room_extend_id or "",
        "room_mode": room.room_mode,
    }


async def delete_room(service: Service, values: Values) -> Members:
    """A4: the `room_id` of the room that is gone, with its people and its devices."""
    room = _room(service, values)
    await service.empty(room.room_id, delete=True)
    return {"room_id": room.room_id}


async def get_mcu(service: Service, values: Values) -> Members:
    """A5: `addr`, host:port of the media server, which serves the room from then on.

    The host is the one under which the caller reached the sandbox (assumed)."""
    room = _open_room(service, values)
    _licensed(service)
    if not service.mcu.up:
        raise Refused(410, "the media server is stopped")
    if service.seats_used():
        raise Refused(411, "all seats of the licence are used")
    service.store.assign_mcu(room.room_id)
    host = f"[{values[LOCAL]}]" if ":" in values[LOCAL] else values[LOCAL]
    return {"addr": f"{host}:{service.mcu.port}"}


async def get_users(service: Service, values: Values) -> Members:
    """A6: `user_list`, empty for a closed room."""
    users = service.users(_room(service, values))
    return {"user_list": [{"user_name": name, "user_id": user_id} for name, user_id in users]}


async def force_offline(service: Service, values: Values) -> Members:
    """A7: `msg`. A device that is forced offline is removed."""
    room = _open_room(service, values)
    user_id = values["user_id"]
    if not room.mcu:
        raise Refused(428, "no media server is assigned to the room")
    if not service.mcu.up:
        raise Refused(417, "the room's media server is stopped")
    if service.device_in(room.room_id, user_id):
        await service.remove_device(user_id)
    elif not service.store.remove_person(room.room_id, user_id):
        raise Refused(429, "the user is not in the room")
    return {"msg": "success"}


Operation = Callable[[Service, Values], Awaitable[Members]]
OPERATIONS: Mapping[str, Operation] = {
    "A1": authenticate, "A2": create_room, "A3": get_room, "A4": delete_room, "A5": get_mcu,
    "A6": get_users, "A7": force_offline, "B1": create_device, "B2": destroy_device,
    "B3": list_devices,
}  # fmt: skip
# The code for a failure of ours: database error, or the device service's own (section 7).
BROKEN = {"B1": 302, "B2": 303, "B3": 304}
DATABASE_ERROR = 700


def broken(key: str, error: Exception) -> Refused:
    """The answer when the operation itself failed, most likely its database."""
    what = "the database failed" if isinstance(error, sqlite3.Error) else "the sandbox failed"
    return Refused(BROKEN.get(key, DATABASE_ERROR), f"{what}: {type(error).__name__}")


def _room(service: Service, values: Values) -> StoredRoom:
    room = service.store.room(values["room_id"])
    if room is None:
        raise Refused(404, "there is no such room")
    return room


def _open_room(service: Service, values: Values) -> StoredRoom:
    room = _room(service, values)
    if room.closed:
        raise Refused(416, "the room is closed")
    return room


def _licensed(service: Service) -> None:
    if service.licence.expired:
        raise Refused(405, "the licence has expired")


def _whole(values: Values, name: str, least: int = 0, most: int = 10**18) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19 and least <= int(text) <= most):
        raise Refused(407, f"{name} is no whole number{f' from 1 to {most}' if least else ''}")
    return int(text)


def _quoted(cap: int | None) -> str:
    return "" if cap is None else str(cap)
