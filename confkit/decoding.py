"""Answers of A3 and A6 read straight into what they mean, thousands a second.

`interpret` says what an answer means. This reads the same out of an answer that is plain (result
code 0, every field of the interface's type) with msgspec's typed decoder, at a tenth of the price,
and leaves every other one to `interpret`: it agrees with it or abstains. So it does where a name
may stand twice in an answer, of which msgspec takes the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from .records import Room, RoomUser
from .secret import MASK, Guarded, suspect
from .wire import Answer, Request, interpret

if TYPE_CHECKING:
    from .dialect import Dialect

msgspec: Any
try:
    import msgspec
except ImportError:  # then `interpret` reads them all
    msgspec = None

SHORT = 4000  # bytes
EXACT = 2**53  # a number beyond may have come as a fraction that has lost digits


def read_room(request: Request, answer: Answer, dialect: Dialect) -> Room | RoomFields:
    """The room in an answer of A3; what it is raises as `get_room` does."""
    asked = request.parameters["room_id"]
    found: RoomFields | None = _typed(_plain_room, answer)
    named = found and (found.room_id, found.room_extend_id if found.room_id else None)
    if found and named and asked in named and _is_clear(answer.body, 0):
        return found
    return Room.read(interpret(request.endpoint, answer, dialect), asked)


def read_users(request: Request, answer: Answer, dialect: Dialect) -> list[RoomUser]:
    """The users in an answer of A6; what it is raises as `get_room_users` does."""
    found = _typed(_plain_users, answer)
    if found is None:
        return RoomUser.read_all(interpret(request.endpoint, answer, dialect))
    users: list[RoomUser] = found.user_list
    body = answer.body
    # Every colon is JSON's own, so there is none in a text, and no other sign of a secret either.
    plain = body.count(b":") == 2 + 2 * len(users)
    if not all(user.user_id for user in users) or not (plain or _is_clear(body, 1)):
        return RoomUser.read_all(interpret(request.endpoint, answer, dialect))
    if plain and not any(map(body.__contains__, _MARKS)):
        return users
    return [RoomUser(_text(user.user_name), _text(user.user_id) or "") for user in users]


_MARKS = (b"=", b"%", b"@", b"\\")
# At least as many as there are names in a body: a text may begin or end so as well.
_NAMES = re.compile(rb'"[ \t\r\n]*:')


def _is_clear(body: bytes, lists: int) -> bool:
    """Whether no name stands twice in an answer, and nothing is nested but its one list of users,
    or not even that."""
    try:
        members = msgspec.json.decode(body)
    except (ValueError, RecursionError):  # in a field that nobody reads
        return False
    names = len(members) + (sum(map(len, members["user_list"])) if lists else 0)
    return body.count(b"[") == lists and len(_NAMES.findall(body)) == names


def _typed(decode: Callable[[bytes], Any] | None, answer: Answer) -> Any:
    """What the decoder makes of a whole answer, or None where it is not sure."""
    if decode is None or not answer.whole or not 200 <= answer.status < 300:
        return None
    try:
        if len(answer.body) > SHORT or not answer.body.isascii():
            # Of a field that nobody reads `decode` sees neither broken letters nor a number too
            # long for `int`, which is over 4,000 digits.
            msgspec.json.decode(answer.body)
        return decode(answer.body)
    except (ValueError, RecursionError):
        return None


def _text(value: str | None) -> str | None:
    """A text as `interpret` gives it."""
    return Guarded(value) if value and suspect(value) else value


def as_room(found: Room | RoomFields) -> Room:
    """The record of a room that was read."""
    return found if isinstance(found, Room) else found.record()


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
                texts = tuple(map(_text, texts))  # type: ignore[assignment]
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
    _plain_room = msgspec.json.Decoder(RoomFields, strict=False).decode
    _plain_users = msgspec.json.Decoder(_Users).decode
