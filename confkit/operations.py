"""The ten operations of the interface (section 4) as data."""

from typing import Literal, NamedTuple

Interface = Literal["A", "B"]


class Operation(NamedTuple):
    """One operation: its number in the interface, path, parameters and result codes.

    `required` and `optional` hold the parameters in the interface's order, without the token;
    `token` is the token's name as the interface spells it, None for A1. `write`: the operation
    changes something. `codes` are the interface's main codes.
    """

    key: str
    interface: Interface
    title: str
    path: str
    token: str | None
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    write: bool = False
    codes: tuple[int, ...] = (0,)


# fmt: off
A1 = Operation("A1", "A", "authenticate", "/rtc/auth/valid", None,
               ("access_key", "digest"), codes=(0, 401, 504))
A2 = Operation("A2", "A", "create room", "/rtc/room/create", "access_token",
               ("topic", "owner_id", "room_mode"),
               ("host_password", "max_video", "max_audio", "attendee_max", "room_extend_id"),
               write=True, codes=(0, 407, 602, 700))
A3 = Operation("A3", "A", "get room", "/rtc/room/get", "access_token",
               ("room_id",), codes=(0, 404, 602))
A4 = Operation("A4", "A", "delete room", "/rtc/room/del", "access_token",
               ("room_id",), write=True, codes=(0, 404, 602))
A5 = Operation("A5", "A", "get media-server address", "/sdk/get_mcu", "access_token",
               ("room_id",), codes=(0, 407, 410, 411))
A6 = Operation("A6", "A", "get room users", "/rtc/room/get_room_info", "access_token",
               ("room_id",), codes=(0, 404, 602))
A7 = Operation("A7", "A", "force a user offline", "/rtc/force_offline_mcu", "access_token",
               ("room_id", "user_id"), write=True, codes=(0, 404, 602, 417, 428))
B1 = Operation("B1", "B", "create external user", "/avd/api/outgoing/createOutgoingUser",
               "accessToken", ("roomId", "userId", "userName", "userAddress"),
               ("userData", "options"), write=True, codes=(0, 423, 424, 425, 426, 427))
B2 = Operation("B2", "B", "delete external user", "/avd/api/outgoing/destroyOutgoingUser",
               "access_token", ("roomId", "userId", "userAddress"),
               write=True, codes=(0, 424, 425))
B3 = Operation("B3", "B", "list external users", "/avd/api/outgoing/getOutgoingUsers",
               "accessToken", (), ("roomId",))
# fmt: on

OPERATIONS = {operation.key: operation for operation in (A1, A2, A3, A4, A5, A6, A7, B1, B2, B3)}
