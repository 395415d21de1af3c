"""Rooms, their users and devices, as a sweep reads them.

`interpret` says what an answer means. Most answers of A3 and A6 are plain (result code 0, every
field of the interface's type): msgspec's typed decoder reads those at once, at a tenth of the
price. What it refuses goes to `interpret`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from ..devices import devices_of
from ..records import Room, RoomUser
from ..secret import MASK, guard, suspect
from ..wire import Answer, Request, interpret

if TYPE_CHECKING:
    from ..dialect import Dialect

T = TypeVar("T")
EXACT = 2**53  # a number beyond may have come as a fraction that has lost digits
Devices = Mapping[str, frozenset[str]]  # the user IDs of the external users, by room


def read(request: Request, answer: Answer, dialect: Dialect) -> Any:
    """What an answer of A3, A6 or B3 says: a room, users, or the user IDs of devices by room."""
    key = request.endpoint.key  # in another process the endpoint is another object
    if key == "A3":
        return read_room(request, answer, dialect)
    if key == "A6":
        return read_users(request, answer, dialect)
    found: dict[str, set[str]] = defaultdict(set)
    for device in devices_of(interpret(request, answer, dialect)):
        found[device.room_id].add(device.user_id)
    return {room_id: frozenset(users) for room_id, users in found.items()}


def read_room(request: Request, answer: Answer, dialect: Dialect) -> Room | RoomFields:
    """The room in an answer of A3; what it is raises as `get_room` does."""
    asked = request.parameters["room_id"]
    found = _typed(_plain_room, answer)
    if found and found.room_id and asked in (found.room_id, found.room_extend_id):
        return found
    return Room.read(interpret(request, answer, dialect), asked)


def read_users(request: Request, answer: Answer, dialect: Dialect) -> list[RoomUser]:
    """The users in an answer of A6; what it is raises as `get_room_users` does."""
    found = _typed(_plain_users, answer)
    if found is None or not all(user.user_id for user in found.user_list):
        return RoomUser.read_all(interpret(request, answer, dialect))
    users = found.user_list
    if not users and (answer.body.count(b'"user_list"') != 1 or b"\\" in answer.body):
        return RoomUser.read_all(interpret(request, answer, dialect))
    if not suspect("".join([f"{user.user_name}{user.user_id}" for user in users])):
        return users
    named: Any = guard([(user.user_name, user.user_id) for user in users])
    return [RoomUser(user_name, user_id) for user_name, user_id in named]


def as_room(found: Room | RoomFields) -> Room:
    """The record of a room that was read."""
    if isinstance(found, Room):
        return found
    fields: Any = msgspec.structs.asdict(found)
    del fields["ret"]
    if suspect(f"{found.room_id}{found.topic}{found.owner_id}{found.room_extend_id}"):
        fields = guard(fields)
    for name, value in fields.items():  # the decoder has seen to the types
        if value == "" and name not in _TEXTS:
            fields[name] = None
    return Room(**fields)


def _typed(decoder: msgspec.json.Decoder[T], answer: Answer) -> T | None:
    """What the decoder makes of a whole answer, or None where it refuses it."""
    if not answer.whole or not 200 <= answer.status < 300:
        return None
    try:
        return decoder.decode(answer.body)
    except (ValueError, RecursionError):
        return None


_Number = Annotated[int, msgspec.Meta(gt=-EXACT, lt=EXACT)] | Literal[""] | None


_TEXTS = ("topic", "owner_id")  # may be empty


class RoomFields(msgspec.Struct, gc=False):  # texts and numbers alone: no circle is possible
    """The fields of A3's answer; a number may be an empty text, as it comes."""

    ret: Literal[0]
    id: _Number = None
    room_id: str | None = None
    topic: str | None = None
    room_status: _Number = None
    owner_id: str | None = None
    host_password: str | None = None
    attendee_max: _Number = None
    max_audio: _Number = None
    max_video: _Number = None
    room_extend_id: str | None = None
    room_mode: _Number = None

    def __repr__(self) -> str:
        return f"RoomFields(room_id={self.room_id!r}, host_password={MASK!r}, ...)"


class _Users(msgspec.Struct):
    ret: Literal[0]
    user_list: list[RoomUser]


# Not strict: deployments quote numbers.
_plain_room = msgspec.json.Decoder(RoomFields, strict=False)
_plain_users = msgspec.json.Decoder(_Users)
