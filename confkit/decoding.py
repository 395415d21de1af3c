"""Answers of A3 and A6 read straight into what they mean, thousands a second.

`interpret` says what an answer means. Most answers are plain (result code 0, every field of the
interface's type): msgspec's typed decoder reads those at once, at a tenth of the price. What it
refuses goes to `interpret`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from .records import Room, RoomUser
from .secret import MASK, guard, suspect
from .wire import Answer, Request, interpret

if TYPE_CHECKING:
    from .dialect import Dialect

msgspec: Any
try:
    import msgspec
except ImportError:  # then `interpret` reads them all
    msgspec = None

EXACT = 2**53  # a number beyond may have come as a fraction that has lost digits


def read_room(request: Request, answer: Answer, dialect: Dialect) -> Room | RoomFields:
    """The room in an answer of A3; what it is raises as `get_room` does."""
    asked = request.parameters["room_id"]
    found: RoomFields | None = _typed(_plain_room, answer)
    if found and found.room_id and asked in (found.room_id, found.room_extend_id):
        return found
    return Room.read(interpret(request.endpoint, answer, dialect), asked)


def read_users(request: Request, answer: Answer, dialect: Dialect) -> list[RoomUser]:
    """The users in an answer of A6; what it is raises as `get_room_users` does."""
    found = _typed(_plain_users, answer)
    if found is None or not all(user.user_id for user in found.user_list):
        return RoomUser.read_all(interpret(request.endpoint, answer, dialect))
    users: list[RoomUser] = found.user_list
    if not users and (answer.body.count(b'"user_list"') != 1 or b"\\" in answer.body):
        return RoomUser.read_all(interpret(request.endpoint, answer, dialect))
    if not suspect("".join([f"{user.user_name}{user.user_id}" for user in users])):
        return users
    named: Any = guard([(user.user_name, user.user_id) for user in users])
    return [RoomUser(user_name, user_id) for user_name, user_id in named]


def as_room(found: Room | RoomFields) -> Room:
    """The record of a room that was read."""
    return found if isinstance(found, Room) else found.record()


def _typed(decoder: Any, answer: Answer) -> Any:
    """What the decoder makes of a whole answer, or None where it refuses it."""
    if decoder is None or not answer.whole or not 200 <= answer.status < 300:
        return None
    try:
        return decoder.decode(answer.body)
    except (ValueError, RecursionError):
        return None


if msgspec is None:
    RoomFields = Any
    _plain_room = _plain_users = None
else:
    _Number = Annotated[int, msgspec.Meta(gt=-EXACT, lt=EXACT)] | Literal[""] | None

    class RoomFields(msgspec.Struct):  # type: ignore[no-redef,misc]
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

        def record(self) -> Room:
            """The room as a record."""
            numbers = (self.id, self.room_status, self.attendee_max, self.max_audio,
                       self.max_video, self.room_mode)  # fmt: skip
            number, status, people, audio, video, mode = (
                None if value == "" else value for value in numbers
            )
            texts = (self.room_id, self.topic, self.owner_id, self.room_extend_id or None)
            if suspect(f"{self.room_id}{self.topic}{self.owner_id}{self.room_extend_id}"):
                texts = tuple(map(guard, texts))  # type: ignore[assignment]
            room_id, topic, owner_id, room_extend_id = texts
            return Room(
                id=number,
                room_id=room_id or "",
                topic=topic,
                room_status=status,
                owner_id=owner_id,
                host_password=self.host_password or None,
                attendee_max=people,
                max_audio=audio,
                max_video=video,
                room_extend_id=room_extend_id,
                room_mode=mode,
            )

    class _Users(msgspec.Struct):  # type: ignore[misc]
        ret: Literal[0]
        user_list: list[RoomUser]

    # Not strict: deployments quote numbers.
    _plain_room = msgspec.json.Decoder(RoomFields, strict=False)
    _plain_users = msgspec.json.Decoder(_Users)
