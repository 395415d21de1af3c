"""Rooms and who is in them: create, read and delete a room, the address of its media server, its
users, and forcing one of them offline (A2 to A7)."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from .client import Client
from .errors import ApiError, ConfkitError, OutcomeUnknown, ProtocolError, RoomNotFound
from .operations import A2, A3, A4, A5, A6, A7, Operation
from .records import (
    Device,
    Room,
    RoomUser,
    integer,
    parameter_error,
    parse_id,
    preview,
    require_field,
    require_text,
    text,
)
from .secret import Secret, redact

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
    host_password: str | Secret | None = None,
    room_extend_id: str | None = None,
) -> str:
    """Create a room (A2) and return its `room_id`.

    `topic` is under 150 bytes in UTF-8; `room_mode` 1 is MCU, 3 peer-to-peer (seen in
    deployments); `attendee_max` counts people, `max_audio` and `max_video` streams, None where the
    room has no cap. `room_extend_id`, unique, becomes the room's ID, and with it the room can be
    looked up (A3) where the answer leaves open whether it was created; without it that is
    OutcomeUnknown. A room of this ID with this topic and owner is the new one where the answer was
    lost, and may be an older one after a code such as 700. ParameterError (407, or noticed before
    sending), LicenceError (405, 701).
    """
    host_password = Secret(host_password) if host_password is not None else None
    client.may_send(A2)
    parameters = {
        "topic": _topic(topic),
        "owner_id": parse_id(A2, "owner_id", owner_id),
        "room_mode": _mode(room_mode),
        "host_password": host_password,
        "max_video": _number("max_video", max_video),
        "max_audio": _number("max_audio", max_audio),
        "attendee_max": _number("attendee_max", attendee_max),
    }
    if room_extend_id is not None:
        room_extend_id = parse_id(A2, "room_extend_id", room_extend_id)
        parameters["room_extend_id"] = room_extend_id

    def happened() -> bool:
        room = _find_room(client, room_extend_id)
        wanted = parameters["topic"], parameters["owner_id"]
        if room is not None and (room.topic, room.owner_id) != wanted:
            raise ConfkitError(f"room {room_extend_id!r} has another topic or owner")
        return room is not None

    advice = f"Look with ck.get_room(client, {room_extend_id!r}) before you create it again."
    if room_extend_id is None:
        advice = "Look on the service before you create it again, then with a room_extend_id."
    answer = change(
        client,
        A2,
        {name: value for name, value in parameters.items() if value is not None},
        happened if room_extend_id is not None else None,
        effect=f"room {room_extend_id!r} is there",
        advice=advice,
    )
    room_id = _new_id(answer or {}, room_extend_id)
    client.created.append(room_id)
    return room_id


def _new_id(answer: dict[str, Any], room_extend_id: str | None) -> str:
    """Return the new room's ID; a room without one exists and cannot be named."""
    with suppress(ProtocolError):
        room_extend_id = text(answer, "room_id") or room_extend_id
    if room_extend_id is not None:
        return room_extend_id
    raise OutcomeUnknown(
        "the service created the room, and its answer has no room_id",
        "Look on the service before you create it again, then with a room_extend_id.",
    )


def get_room(client: Client, room_id: str | Room) -> Room:
    """Return the room with this ID, or a Room anew (A3). RoomNotFound (404)."""
    room_id = room_id_of(A3, room_id)
    return Room.read(client.call(A3, room_id=room_id), room_id)


def _find_room(client: Client, room_id: object) -> Room | None:
    """Return the room, or None when there is none, which the client then forgets."""
    room_id = room_id_of(A3, room_id)
    try:
        return get_room(client, room_id)
    except RoomNotFound:
        _forget(client, room_id)
        return None


def delete_room(client: Client, room_id: str | Room) -> None:
    """Delete a room (A4). RoomNotFound (404).

    Where the answer was lost and the room is gone, it counts as deleted; after a code that leaves
    it open (700, 504) that is OutcomeUnknown, and while the room is there the error of the code.
    """
    client.may_send(A4)
    room_id = room_id_of(A4, room_id)
    try:
        change(
            client,
            A4,
            {"room_id": room_id},
            lambda: _find_room(client, room_id) is None,
            effect=f"room {room_id!r} is gone",
            advice=f"Look with ck.get_room(client, {room_id!r}) before you delete it again.",
        )
    except RoomNotFound:
        _forget(client, room_id)
        raise
    _forget(client, room_id)


def _forget(client: Client, room_id: str) -> None:
    with suppress(ValueError):  # not made with this client, or two threads deleted it
        client.created.remove(room_id)


def get_mcu(client: Client, room_id: str | Room) -> str:
    """Return the address of a room's media server, as `host:port` (A5).

    MediaServerUnavailable (410), LicenceError (411), RoomClosed (416), RoomNotFound (404).
    """
    answer = client.call(A5, room_id=room_id_of(A5, room_id))
    return require_field(answer, "addr", "the media server")


def get_room_users(client: Client, room_id: str | Room) -> list[RoomUser]:
    """Return the users in a room, people and devices alike (A6); an empty list when nobody is in.

    RoomNotFound (404). An answer without a list is a ProtocolError, never an empty room.
    """
    return RoomUser.read_all(client.call(A6, room_id=room_id_of(A6, room_id)))


def force_offline(client: Client, room_id: str | Room, user_id: str) -> str:
    """Force a user out of a room (A7), and return the service's success text.

    RoomNotFound (404), UserNotFound (429), RoomClosed (416), MediaServerUnavailable (417, 428).
    Where the answer was lost and the user is not in the room (A6), that counts as done, with an
    empty text; after a code that leaves it open (700, 504) it is OutcomeUnknown, and while the user
    is there the error of the code.
    """
    client.may_send(A7)
    room_id = room_id_of(A7, room_id)
    user_id = parse_id(A7, "user_id", user_id)
    answer = change(
        client,
        A7,
        {"room_id": room_id, "user_id": user_id},
        lambda: all(user.user_id != user_id for user in get_room_users(client, room_id)),
        effect=f"user {redact(user_id)!r} is not in room {room_id!r}",
        advice=f"Look with ck.get_room_users(client, {room_id!r}) before you force them again.",
    )
    message = (answer or {}).get("msg")
    return message if isinstance(message, str) else ""


def change(
    client: Client,
    operation: Operation,
    parameters: Mapping[str, Any],
    happened: Callable[[], bool] | None,
    *,
    effect: str,
    advice: str,
    proof: Collection[int] = (),
) -> dict[str, Any] | None:
    """Send a change once, and return the answer, or None where a look-up shows that it was made.

    `happened` looks where the outcome is open; it raises a ConfkitError where it cannot tell. Its
    `effect`, in words, proves the change where the answer was lost, or is a code in `proof`; after
    other codes it may be older. Without the effect the change was not made where a code answered
    it: the code's error; where the answer was lost it may still be under way. What is not proved
    either way is OutcomeUnknown, with `advice`.
    """
    try:
        return client.call(operation, **parameters)
    except OutcomeUnknown as error:
        unknown, refusal = error, error.__cause__
    unknown.advice, lost = advice, not isinstance(refusal, ApiError)
    if happened is None:
        raise unknown
    try:
        done = happened()
    except ConfkitError as failed:
        unknown.lookup_error = failed.again()
        unknown.cause += f"; the look-up cannot tell: {failed.summary}"
        raise unknown from refusal
    if done and (lost or unknown.ret in proof):
        return None
    if isinstance(refusal, ApiError) and not done:
        refusal.cause += "; the look-up shows that nothing was changed"
        raise refusal
    unknown.cause += f"; {effect}, perhaps since before" if done else "; no effect is seen so far"
    raise unknown


def room_id_of(endpoint: Operation, room: object) -> str:
    """Return the ID of a room, which may be given as its Room or a Device in it."""
    return parse_id(endpoint, "room_id", room.room_id if isinstance(room, Room | Device) else room)


def _topic(value: object) -> str:
    """A room's topic: under 150 bytes in UTF-8 (section 8)."""
    written = require_text(A2, "topic", value)
    size = len(written.encode())
    if size >= TOPIC_BYTES:
        raise parameter_error(
            A2,
            f"topic is {size} bytes long in UTF-8; it has to be under {TOPIC_BYTES}.",
            "Shorten it: a letter outside ASCII takes 2 to 4 bytes.",
        )
    return written


def _mode(value: object) -> int | str:
    """A room mode; its values are not shown in the interface, so any number or text passes."""
    if isinstance(value, str) and value.strip():
        return value
    number = _number("room_mode", value)
    if number is None:
        raise parameter_error(A2, "room_mode is missing.", "Deployments use 1 (MCU) as a rule.")
    return number


def _number(name: str, value: object) -> int | None:
    """A whole number, or None; a float counts when nothing stands behind its point."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if (number := integer(value)) is not None:
        return number
    raise parameter_error(
        A2,
        f"{name} is {preview(value)}, not a whole number.",
        "Give a number, or None where there is none.",
    )
