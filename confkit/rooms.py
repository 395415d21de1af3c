"""Rooms: create, read, delete, and the address of the media server (A2 to A5)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from . import arguments
from .client import Client
from .endpoints import A2, A3, A4, A5
from .errors import ConfkitError, OutcomeUnknown, ProtocolError, RoomNotFound
from .masking import Secret
from .records import Room, needed
from .wire import Request


def create_room(
    client: Client,
    topic: str,
    owner_id: str,
    *,
    room_mode: int | str = 1,
    attendee_max: int | None = None,
    max_audio: int | None = None,
    max_video: int | None = None,
    host_password: str | None = None,
    room_extend_id: str | None = None,
) -> str:
    """The `room_id` of a new room (A2).

    `topic` is under 150 bytes in UTF-8; `room_mode` 1 is MCU, 3 peer-to-peer (seen in
    deployments); caps are whole numbers, none when left out. `room_extend_id`, unique, becomes the
    room's ID: with it a creation whose answer was lost is looked up, without it that raises
    OutcomeUnknown. ParameterError (407, or noticed before sending), LicenceError, ApiError (700).
    """
    host_password = Secret(host_password) if host_password is not None else None
    client.may_send(A2)
    if host_password is not None:
        arguments.whole(A2, "host_password", host_password)
    parameters = {
        "topic": arguments.topic(A2, topic),
        "owner_id": arguments.identity(A2, "owner_id", owner_id),
        "room_mode": arguments.mode(A2, room_mode),
        "host_password": host_password,
        "max_video": arguments.whole_number(A2, "max_video", max_video),
        "max_audio": arguments.whole_number(A2, "max_audio", max_audio),
        "attendee_max": arguments.whole_number(A2, "attendee_max", attendee_max),
        "room_extend_id": None
        if room_extend_id is None
        else arguments.identity(A2, "room_extend_id", room_extend_id),
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    try:
        room_id = _number(client.send(Request(A2, given)))
    except OutcomeUnknown:
        extend_id = given.get("room_extend_id")
        if not (isinstance(extend_id, str) and _is_there(client, extend_id, given)):
            raise
        room_id = extend_id
    client.created.append(room_id)
    return room_id


def _number(members: Mapping[str, Any]) -> str:
    """The number of a new room; without one the room is there and cannot be named."""
    try:
        return needed(members, "room_id", "the new room")
    except ProtocolError as error:
        raise OutcomeUnknown(
            f"The service answered that the room was made, and {error} "
            "Look on the service before you make it again, or give a room_extend_id."
        ) from None


def _is_there(client: Client, extend_id: str, given: Mapping[str, object]) -> bool:
    try:
        room = get_room(client, extend_id)
    except ConfkitError:
        return False
    return room.topic == given["topic"] and room.owner_id == given["owner_id"]


def get_room(client: Client, room_id: str) -> Room:
    """The room with this ID (A3); RoomNotFound (404) when there is none."""
    room_id = arguments.identity(A3, "room_id", room_id)
    return Room.read(client.send(Request(A3, {"room_id": room_id})), room_id)


def delete_room(client: Client, room_id: str) -> None:
    """Nothing, once the room is deleted (A4); RoomNotFound (404) when there is none.

    When the answer is lost and the room is gone afterwards, it counts as deleted; otherwise that
    raises OutcomeUnknown.
    """
    client.may_send(A4)
    room_id = arguments.identity(A4, "room_id", room_id)
    try:
        client.send(Request(A4, {"room_id": room_id}))
    except OutcomeUnknown:
        if not _is_gone(client, room_id):
            raise
    with suppress(ValueError):  # not made with this client, or two threads deleted it
        client.created.remove(room_id)


def _is_gone(client: Client, room_id: str) -> bool:
    try:
        get_room(client, room_id)
    except RoomNotFound:
        return True
    except ConfkitError:
        pass
    return False


def get_mcu(client: Client, room_id: str) -> str:
    """The address of the media server of a room, as `host:port` (A5).

    MediaServerUnavailable (410), LicenceError (411), RoomClosed (416), RoomNotFound (404).
    """
    room_id = arguments.identity(A5, "room_id", room_id)
    return needed(client.send(Request(A5, {"room_id": room_id})), "addr", "the media server")
