"""The users of a room: who is in it, and putting one of them off (A6, A7)."""

from . import arguments
from .client import Client
from .endpoints import A6, A7
from .errors import ConfkitError, OutcomeUnknown
from .records import RoomUser
from .wire import Request


def get_room_users(client: Client, room_id: str) -> list[RoomUser]:
    """The users in a room, people and devices alike (A6); an empty list when nobody is in it.

    RoomNotFound (404). An answer without a list is a ProtocolError, never an empty room.
    """
    room_id = arguments.identity(A6, "room_id", room_id)
    return RoomUser.read_all(client.send(Request(A6, {"room_id": room_id})))


def force_offline(client: Client, room_id: str, user_id: str) -> str:
    """The service's success text, once the user is put off the room (A7).

    RoomNotFound (404), UserNotFound (429), RoomClosed (416), MediaServerUnavailable (417, 428).
    When the answer is lost and the user is not in the room afterwards, that counts as done.
    """
    client.may_send(A7)
    room_id = arguments.identity(A7, "room_id", room_id)
    user_id = arguments.identity(A7, "user_id", user_id)
    try:
        message = client.send(Request(A7, {"room_id": room_id, "user_id": user_id})).get("msg")
        return message if isinstance(message, str) else ""
    except OutcomeUnknown as error:
        unknown = error
    try:
        if all(user.user_id != user_id for user in get_room_users(client, room_id)):
            return ""
    except ConfkitError:
        pass
    raise unknown
