"""A room with the people in it, and a device as B1 brought it."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Person(NamedTuple):
    """A person in a room; a `host` has joined with the host's password."""

    room_id: str
    user_id: str
    user_name: str
    host: bool


@dataclass
class StoredRoom:
    """A room, and its people by their user ids."""

    id: int
    room_id: str
    topic: str
    owner_id: str
    room_mode: int
    host_password: str | None = field(default=None, repr=False)
    attendee_max: int | None = None
    max_audio: int | None = None
    max_video: int | None = None
    room_extend_id: str | None = None
    locked: bool = False
    closed: bool = False
    mcu: bool = False
    people: dict[str, Person] = field(default_factory=dict)


class StoredDevice(NamedTuple):
    """An external device as B1 brought it; its repr hides what is secret."""

    room_id: str
    user_id: str
    user_name: str
    user_address: str
    user_data: str
    options: Any

    def __repr__(self) -> str:
        return f"<device {self.user_id!r} in room {self.room_id!r}>"
