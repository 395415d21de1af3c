"""Rooms and who is in them: create, read and delete a room, the address of its media server, its
users, and forcing one of them offline (A2 to A7)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from .client import Client
from .errors import ApiError, ConfkitError, OutcomeUnknown, ProtocolError, RoomNotFound
from .operations import A2, A3, A4, A5, A6, A7, Operation
from .records import (
    Room,
    RoomUser,
    integer,
    parameter_error,
    parse_id,
    preview,
    require_field,
    require_text,
    snake_case,
    text,
)
from .secret import Secret

TOPIC_BYTES = 150
# What an older room of the same ID may have otherwise.
_COMPARED = ("topic", "owner_id", "attendee_max", "max_audio", "max_video")


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
    deployments); `attendee_max` counts people, `max_audio` and `max_video` streams, None for no
    cap. `room_extend_id`, which must be unique, becomes the room's ID; by it the room is looked up
    (A3) if the response leaves open whether it was created: a room of this ID with this topic,
    owner and caps is the new one. Without it that is OutcomeUnknown. ParameterError (407, or
    rejected before sending), LicenceError (405, 701).
    """
    host_password = Secret(host_password) if host_password is not None else None
    client.may_send(A2)
    advice = "Check on the service before you create it again, then with a room_extend_id."
    if room_extend_id is not None:
        room_extend_id = parse_id(A2, "room_extend_id", room_extend_id)
        advice = f"Check with ck.get_room(client, {room_extend_id!r}) before you create it again."
    is_name = isinstance(room_mode, str)
    parameters = {
        "topic": require_text(A2, "topic", topic),
        "owner_id": parse_id(A2, "owner_id", owner_id),
        "room_mode": room_mode if is_name else _number(A2, "room_mode", room_mode),
        "host_password": host_password,
        "max_video": _number(A2, "max_video", max_video),
        "max_audio": _number(A2, "max_audio", max_audio),
        "attendee_max": _number(A2, "attendee_max", attendee_max),
        "room_extend_id": room_extend_id,
    }
    sent = {name: value for name, value in parameters.items() if value is not None}
    if (size := len(topic.encode(errors="replace"))) >= TOPIC_BYTES:
        problem = f"topic is {size} bytes long in UTF-8; it must be under {TOPIC_BYTES}."
        advice = "Shorten it: a character outside ASCII takes 2 to 4 bytes."
        raise parameter_error(A2, problem, advice)

    def happened() -> bool:
        room = _find_room(client, str(room_extend_id))
        for name in _COMPARED if room is not None else ():
            if name in sent and getattr(room, name) != sent[name]:
                raise ConfkitError(f"room {room_extend_id!r} has another {name}")
        return room is not None

    look_up = None if room_extend_id is None else happened
    response, room_id = change(client, A2, sent, look_up, advice), None
    with suppress(ProtocolError):
        room_id = text(snake_case(response), "room_id")
    room_id = room_id or room_extend_id
    if not room_id:
        problem = "the service created the room, but its response has no room_id"
        raise OutcomeUnknown(problem, advice)
    client.created.append(room_id)
    return room_id


def get_room(client: Client, room_id: str | Room) -> Room:
    """Return the room with this ID, or the current state of a Room (A3). RoomNotFound (404)."""
    room_id = parse_id(A3, "room_id", room_id)
    return Room.read(client.call(A3, room_id=room_id), room_id)


def _find_room(client: Client, room_id: str) -> Room | None:
    """Return the room, or None if it does not exist."""
    try:
        return get_room(client, room_id)
    except RoomNotFound:
        return None


def delete_room(client: Client, room_id: str | Room) -> None:
    """Delete a room (A4). RoomNotFound (404).

    If the response was lost or leaves the outcome open (700, 504) and the room is gone, it counts
    as deleted.
    """
    client.may_send(A4)
    room_id = parse_id(A4, "room_id", room_id)
    try:
        change(
            client,
            A4,
            {"room_id": room_id},
            lambda: _find_room(client, room_id) is None,
            f"Check with ck.get_room(client, {room_id!r}) before you delete it again.",
        )
    except RoomNotFound:
        _forget(client, room_id)
        raise
    _forget(client, room_id)


def _forget(client: Client, room_id: str) -> None:
    with suppress(ValueError):  # not created with this client, or deleted by two threads
        client.created.remove(room_id)


def get_mcu(client: Client, room_id: str | Room) -> str:
    """Return the address of a room's media server, as `host:port` (A5).

    MediaServerUnavailable (410), LicenceError (411), RoomClosed (416), RoomNotFound (404).
    """
    response = client.call(A5, room_id=parse_id(A5, "room_id", room_id))
    return require_field(response, "addr", "the media server")


def get_room_users(client: Client, room_id: str | Room) -> list[RoomUser]:
    """Return the users in a room, people and devices alike (A6); an empty list for an empty room.

    RoomNotFound (404). A response without a list is a ProtocolError, never an empty room.
    """
    return RoomUser.read_all(client.call(A6, room_id=parse_id(A6, "room_id", room_id)))


def force_offline(client: Client, room_id: str | Room, user_id: str) -> str:
    """Force a user out of a room (A7), and return the service's success text.

    RoomNotFound (404), UserNotFound (429), RoomClosed (416), MediaServerUnavailable (417, 428).
    If the response was lost or leaves the outcome open (700, 504) and the user is not in the room
    (A6), that counts as done, with an empty text.
    """
    client.may_send(A7)
    room_id = parse_id(A7, "room_id", room_id)
    user_id = parse_id(A7, "user_id", user_id)
    response = change(
        client,
        A7,
        {"room_id": room_id, "user_id": user_id},
        lambda: all(user.user_id != user_id for user in get_room_users(client, room_id)),
        f"Check with ck.get_room_users(client, {room_id!r}) before you repeat it.",
    )
    return str(response.get("msg") or "")


def change(
    client: Client,
    operation: Operation,
    parameters: Mapping[str, Any],
    happened: Callable[[], bool] | None,
    advice: str,
) -> dict[str, Any]:
    """Send a change once; return the response, empty if only a look-up shows the effect.

    If the outcome is open, `happened` looks up whether the effect is there; it raises a
    ConfkitError if it cannot tell. Without the effect: the code's error if there was a code; if the
    response was lost, the change may still be under way. That, and a failed look-up, is
    OutcomeUnknown, with `advice`.
    """
    try:
        return client.call(operation, **parameters)
    except OutcomeUnknown as error:
        unknown, refusal = error, error.__cause__
    unknown.advice = advice
    if happened is None:
        raise unknown
    try:
        if happened():
            return {}
    except ConfkitError as failed:
        unknown.lookup_error = failed.again()
        unknown.cause += f"; the look-up failed: {failed.summary}"
        raise unknown from refusal
    if isinstance(refusal, ApiError):
        refusal.cause += "; the look-up shows no effect so far"
        raise refusal
    unknown.cause += "; no effect is visible so far"
    raise unknown


def _number(operation: Operation, name: str, value: object) -> int | None:
    """Return a whole number, or None; a float without a fraction counts."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if (number := integer(value)) is not None:
        return number
    problem = f"{name} is {preview(value)}, not a whole number."
    raise parameter_error(operation, problem, "Pass a whole number, or None for no limit.")
