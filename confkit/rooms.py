"""Rooms and who is in them: create, read and delete a room, the address of its media server, its
users, and forcing one of them out (A2 to A7)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .client import Client
from .endpoints import A2, A3, A4, A5, A6, A7, identity, integer, needed_text, wrong
from .errors import Look, OutcomeUnknown, ProtocolError, RoomNotFound, settle
from .records import Room, RoomUser, needed, shown
from .secret import Secret, mask_address
from .wire import Request

TOPIC_BYTES = 150


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
    parameters = {
        "topic": _topic(topic),
        "owner_id": identity(A2, "owner_id", owner_id),
        "room_mode": _mode(room_mode),
        "host_password": host_password,
        "max_video": _number("max_video", max_video),
        "max_audio": _number("max_audio", max_audio),
        "attendee_max": _number("attendee_max", attendee_max),
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    extend_id = ""
    if room_extend_id is not None:
        given["room_extend_id"] = extend_id = identity(A2, "room_extend_id", room_extend_id)
    before = f"Look with ck.get_room(client, {extend_id!r}) before you create it again."

    def look() -> Look:
        if not extend_id:
            return Look(
                None,
                "Without a room_extend_id it cannot be looked up: look on the service before you "
                "create it again, then with a room_extend_id.",
            )
        try:
            room = get_room(client, extend_id)
        except RoomNotFound:
            return Look(False)
        if (room.topic, room.owner_id) == (given["topic"], given["owner_id"]):
            found = f"Room {extend_id!r} is there with this topic and owner, and may be older."
            return Look(True, f"{found} {before}")
        found = f"Room {extend_id!r} is there with another topic or owner."
        return Look(None, f"{found} {before} Another room needs another room_extend_id.")

    def send() -> str:
        return _new_id(client.send(Request(A2, given)))

    room_id = settle(send, look, before, "Whether the room is there") or extend_id
    client.created.append(room_id)
    return room_id


def _new_id(members: Mapping[str, Any]) -> str:
    """The ID of a new room; without one the room is there and cannot be named."""
    try:
        return needed(members, "room_id", "the new room")
    except ProtocolError as error:
        raise OutcomeUnknown(
            f"The service answered that the room was made, and {error.said}",
            "Look on the service before you make it again, or give a room_extend_id.",
        ) from None


def get_room(client: Client, room_id: str) -> Room:
    """Return the room with this ID (A3); RoomNotFound (404) when there is none."""
    room_id = identity(A3, "room_id", room_id)
    return Room.read(client.send(Request(A3, {"room_id": room_id})), room_id)


def delete_room(client: Client, room_id: str) -> None:
    """Delete the room (A4). RoomNotFound (404) when there is none.

    When the answer is lost and the room is gone afterwards, it counts as deleted; otherwise that
    raises OutcomeUnknown. A code that leaves it open (700, 504) is that code's error while the room
    is there, else Unsettled.
    """
    client.may_send(A4)
    room_id = identity(A4, "room_id", room_id)
    before = f"Look with ck.get_room(client, {room_id!r}) before you delete it again."

    def forget() -> None:
        with suppress(ValueError):  # not made with this client, or two threads deleted it
            client.created.remove(room_id)

    def look() -> Look:
        try:
            get_room(client, room_id)
        except RoomNotFound:
            forget()
            found = f"The service has no room {room_id!r} now."
            return Look(True, f"{found} If it was there before this call, nothing is left to do.")
        return Look(False)

    def send() -> None:
        client.send(Request(A4, {"room_id": room_id}))
        forget()

    settle(send, look, before, "Whether the room is there")


def get_mcu(client: Client, room_id: str) -> str:
    """Return the address of the media server of a room, as `host:port` (A5).

    MediaServerUnavailable (410), LicenceError (411), RoomClosed (416), RoomNotFound (404).
    """
    room_id = identity(A5, "room_id", room_id)
    return needed(client.send(Request(A5, {"room_id": room_id})), "addr", "the media server")


def get_room_users(client: Client, room_id: str) -> list[RoomUser]:
    """Return the users in a room, people and devices alike (A6); an empty list when nobody is in.

    RoomNotFound (404). An answer without a list is a ProtocolError, never an empty room.
    """
    room_id = identity(A6, "room_id", room_id)
    return RoomUser.read_all(client.send(Request(A6, {"room_id": room_id})))


def force_offline(client: Client, room_id: str, user_id: str) -> str:
    """Force a user out of the room (A7), and return the service's success text.

    RoomNotFound (404), UserNotFound (429), RoomClosed (416), MediaServerUnavailable (417, 428).
    When the answer is lost and the user is not in the room afterwards, that counts as done;
    otherwise it raises OutcomeUnknown. A code that leaves it open (700, 504) is that code's error
    while the user is there, else Unsettled.
    """
    client.may_send(A7)
    room_id = identity(A7, "room_id", room_id)
    user_id = identity(A7, "user_id", user_id)
    before = f"Look with ck.get_room_users(client, {room_id!r}) before you send it again."

    def look() -> Look:
        if any(user.user_id == user_id for user in get_room_users(client, room_id)):
            return Look(False)
        found = f"User {mask_address(user_id)!r} is not in room {room_id!r} now."
        return Look(True, f"{found} If they were in it before this call, nothing is left to do.")

    def send() -> object:
        return client.send(Request(A7, {"room_id": room_id, "user_id": user_id})).get("msg")

    message = settle(send, look, before, "Who is in the room")
    return message if isinstance(message, str) else ""


def _topic(value: object) -> str:
    """A room's topic: under 150 bytes in UTF-8 (section 8)."""
    written = needed_text(A2, "topic", value)
    size = len(written.encode())
    if size >= TOPIC_BYTES:
        raise wrong(
            A2,
            f"topic is {size} bytes long in UTF-8; it has to be under {TOPIC_BYTES}.",
            "Shorten it: a letter outside ASCII takes 2 to 4 bytes.",
        )
    return written


def _mode(value: object) -> int | str:
    """A room mode; its values are not shown in the interface, so any number or text passes."""
    if isinstance(value, str) and value.strip():
        return value
    found = _number("room_mode", value)
    if found is None:
        raise wrong(A2, "room_mode is missing.", "Deployments use 1 (MCU) as a rule.")
    return found


def _number(name: str, value: object) -> int | None:
    """A whole number, or None; a float counts when nothing stands behind its point."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if (number := integer(value)) is not None:
        return number
    raise wrong(
        A2,
        f"{name} is {shown(value)}, not a whole number.",
        "Give a number, or None where there is none.",
    )
