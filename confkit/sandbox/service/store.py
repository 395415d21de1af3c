"""The rooms and the people in them, in memory and for one thread; devices are in `streams`."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...secret import Guarded, Secret


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
    host_password: Secret | None = None
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
    user_address: Guarded
    user_data: Guarded
    options: Any


class Store:
    """`rooms` by their numbers, in the order in which they came, and how many `people` are in all
    of them."""

    def __init__(self) -> None:
        self.rooms: dict[str, StoredRoom] = {}
        self.people = 0
        self._made = 0

    def add(self, room_id: str, **fields: Any) -> None:
        """Keep a new room; its number is not taken."""
        self._made += 1
        self.rooms[room_id] = StoredRoom(self._made, room_id, **fields)

    def enter(self, person: Person) -> None:
        """Let a person into a room; the user id is not taken there."""
        self.rooms[person.room_id].people[person.user_id] = person
        self.people += 1

    def leave(self, room_id: str, user_id: str) -> bool:
        """Take a person out of a room; False where there is none."""
        room = self.rooms.get(room_id)
        if room is None or room.people.pop(user_id, None) is None:
            return False
        self.people -= 1
        return True

    def clear(self, room: StoredRoom) -> None:
        """Take everybody out of a room."""
        self.people -= len(room.people)
        room.people.clear()
