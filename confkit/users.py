"""The users of a room: who is in it, and forcing one of them out (A6, A7)."""

from .client import Client
from .endpoints import A6, A7, identity
from .errors import Look, settle
from .records import RoomUser
from .secret import mask_address
from .wire import Request


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
