"""Rooms: create, read, delete, and the address of the media server (A2 to A5)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from . import arguments
from .client import Client
from .endpoints import A2, A3, A4, A5
from .errors import (
    ConfkitError,
    Look,
    OutcomeUnknown,
    ProtocolError,
    RoomNotFound,
    settled,
    unread,
)
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
    """Create a room (A2) and return its `room_id`.

    `topic` is under 150 bytes in UTF-8; `room_mode` 1 is MCU, 3 peer-to-peer (seen in
    deployments); caps are whole numbers, none when left out. `room_extend_id`, unique, becomes the
    room's ID: with it a creation whose answer was lost is looked up, without it that raises
    OutcomeUnknown. So is one that was answered with a code which leaves it open (700, 504): without
    such a room that code's error is raised, else Unsettled, which names the room that is there.
    ParameterError (407, or noticed before sending), LicenceError.
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
    except OutcomeUnknown as error:
        room_id = str(given.get("room_extend_id", ""))
        failure = settled(error, _seen(client, room_id, given))
    else:
        failure = None
    if failure is not None:
        raise failure
    client.created.append(room_id)
    return room_id


def _number(members: Mapping[str, Any]) -> str:
    """The number of a new room; without one the room is there and cannot be named."""
    try:
        return needed(members, "room_id", "the new room")
    except ProtocolError as error:
        raise OutcomeUnknown(
            f"The service answered that the room was made, and {error}",
            "Look on the service before you make it again, or give a room_extend_id.",
        ) from None


def _seen(client: Client, room_id: str, given: Mapping[str, object]) -> Look:
    """Whether a room is there that was asked for under this ID."""
    if not room_id:
        return Look(
            None,
            "Without a room_extend_id it cannot be looked up: look on the service before you "
            "create it again, then with a room_extend_id.",
        )
    before = f"Look with ck.get_room(client, {room_id!r}) before you create it again."
    try:
        room = get_room(client, room_id)
    except RoomNotFound:
        return Look(False, before)
    except ConfkitError as error:
        return unread("Whether the room is there", error, before)
    if (room.topic, room.owner_id) == (given["topic"], given["owner_id"]):
        found = f"Room {room_id!r} is there with this topic and owner, and may be older."
        return Look(True, f"{found} {before}")
    found = f"Room {room_id!r} is there with another topic or owner."
    return Look(None, f"{found} {before} Another room needs another room_extend_id.")


def get_room(client: Client, room_id: str) -> Room:
    """The room with this ID (A3); RoomNotFound (404) when there is none."""
    room_id = arguments.identity(A3, "room_id", room_id)
    return Room.read(client.send(Request(A3, {"room_id": room_id})), room_id)


def delete_room(client: Client, room_id: str) -> None:
    """Delete the room (A4). RoomNotFound (404) when there is none.

    When the answer is lost and the room is gone afterwards, it counts as deleted; otherwise that
    raises OutcomeUnknown. A code that leaves it open (700, 504) is that code's error while the room
    is there, else Unsettled.
    """
    client.may_send(A4)
    room_id = arguments.identity(A4, "room_id", room_id)
    gone: bool | None = True
    failure: ConfkitError | None = None
    try:
        client.send(Request(A4, {"room_id": room_id}))
    except OutcomeUnknown as error:
        look = _gone(client, room_id)
        gone, failure = look.happened, settled(error, look)
    if gone:
        with suppress(ValueError):  # not made with this client, or two threads deleted it
            client.created.remove(room_id)
    if failure is not None:
        raise failure


def _gone(client: Client, room_id: str) -> Look:
    before = f"Look with ck.get_room(client, {room_id!r}) before you delete it again."
    try:
        get_room(client, room_id)
    except RoomNotFound:
        found = f"The service has no room {room_id!r} now."
        return Look(True, f"{found} If it was there before this call, nothing is left to do.")
    except ConfkitError as error:
        return unread("Whether the room is there", error, before)
    return Look(False, before)


def get_mcu(client: Client, room_id: str) -> str:
    """The address of the media server of a room, as `host:port` (A5).

    MediaServerUnavailable (410), LicenceError (411), RoomClosed (416), RoomNotFound (404).
    """
    room_id = arguments.identity(A5, "room_id", room_id)
    return needed(client.send(Request(A5, {"room_id": room_id})), "addr", "the media server")
