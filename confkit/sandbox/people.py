"""People in rooms: what participants and a room's moderator do, which the interface cannot."""

from typing import Any

from ..errors import ConfkitError, UserNotFound
from ..secret import Secret
from .identity import same
from .service import Service
from .store import Person


class RoomJoinRefused(ConfkitError):
    """Somebody could not join a room; the text says why: unknown, closed, locked, full, ..."""


def join(
    service: Service, room_id: str, user_name: str, password: str | None, user_id: str | None
) -> str:
    """The user id of the person who has joined; RoomJoinRefused says what stood in the way.

    The room's host_password makes a host, a wrong password is refused, and any password is wrong
    in a room that has none. Nobody new enters a locked room, hosts neither (assumed).
    """
    room = service.store.room(room_id)
    obstacle = service.obstacle(room) if room else "there is no such room"
    if obstacle is None and service.licence.expired:
        obstacle = "the licence has expired"
    right = Secret(room.host_password) if room and room.host_password else None
    if obstacle is None and password and not (right and same(password, right)):
        obstacle = "the host password is wrong"
    if user_id is None:
        user_id = service.ids.user_id()
        while service.knows_user(room_id, user_id):  # a seed begins anew, a file does not
            user_id = service.ids.user_id()
    elif obstacle is None and service.knows_user(room_id, user_id):
        obstacle = f"the user id {user_id!r} is taken"
    if obstacle:
        raise RoomJoinRefused(f"{user_name!r} cannot join room {room_id!r}: {obstacle}.")
    service.store.add_person(room_id, Person(user_id, user_name, bool(password)))
    return user_id


def leave(service: Service, room_id: str, user_id: str) -> None:
    """Takes a person out of a room; UserNotFound where there is none of this id."""
    service.existing(room_id)
    if not service.store.remove_person(room_id, user_id):
        raise UserNotFound(
            f"No person {user_id!r} is in room {room_id!r}; people() says who is, "
            "and a device leaves by B2."
        )


def listed(service: Service, room_id: str) -> list[dict[str, Any]]:
    """The people of a room, each with user_id, user_name and host; devices are not people."""
    service.existing(room_id)
    return [person._asdict() for person in service.store.people(room_id)]


def lock(service: Service, room_id: str, locked: bool) -> None:
    """Locks or unlocks a room."""
    service.existing(room_id)
    service.store.lock_room(room_id, locked)


def unassign_mcu(service: Service, room_id: str) -> None:
    """Takes the media server from a room."""
    service.existing(room_id)
    service.store.assign_mcu(room_id, False)


async def close(service: Service, room_id: str) -> None:
    """Closes a room and puts everybody and every device off."""
    service.existing(room_id)
    await service.empty(room_id, delete=False)
