"""What a client is asked, and what it prints: the contract as data, which text and checks read."""

from __future__ import annotations

from typing import NamedTuple

MISSING = 64  # the exit status of a client that does not know an operation (EX_USAGE of sysexits)


class Operation(NamedTuple):
    """An operation of the contract: its `name`, the `row` of the interface that it calls (empty:
    none), the arguments it is given, those that may be left out, and the members of its answer."""

    name: str
    row: str
    arguments: tuple[str, ...]
    optional: tuple[str, ...]
    answer: str


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("sign", "", ("random", "key"), (), '{"ret":0,"digest":"...","token":"..."}'),
        Operation("authenticate", "A1", (), (), '{"ret":0}'),
        Operation(
            "create_room", "A2", ("topic", "owner_id", "room_mode"),
            ("host_password", "max_video", "max_audio", "attendee_max", "room_extend_id"),
            '{"ret":0,"room_id":"00123"}',
        ),
        Operation(
            "get_room", "A3", ("room_id",), (),
            '{"ret":0,"id":1,"room_id":"00123","topic":"Weekly sync","room_status":0,'
            '"owner_id":"ops","host_password":null,"attendee_max":25,"max_audio":null,'
            '"max_video":null,"room_extend_id":null,"room_mode":1}',
        ),
        Operation("delete_room", "A4", ("room_id",), (), '{"ret":0,"room_id":"00123"}'),
        Operation("get_mcu", "A5", ("room_id",), (), '{"ret":0,"addr":"127.0.0.1:7000"}'),
        Operation(
            "get_room_users", "A6", ("room_id",), (),
            '{"ret":0,"user_list":[{"user_name":"Ada","user_id":"..."}]}',
        ),
        Operation(
            "force_offline", "A7", ("room_id", "user_id"), (), '{"ret":0,"msg":"success"}'
        ),
        Operation(
            "import_device", "B1", ("room_id", "user_id", "user_name", "user_address"),
            ("user_data", "options"), '{"ret":0,"room_id":"00123","user_id":"cam-1"}',
        ),
        Operation(
            "remove_device", "B2", ("room_id", "user_id", "user_address"), (),
            '{"ret":0,"room_id":"00123","user_id":"cam-1"}',
        ),
        Operation(
            "list_devices", "B3", (), ("room_id",),
            '{"ret":0,"total":1,"items":[{"room_id":"00123","user_id":"cam-1",'
            '"user_name":"Door","user_address":"rtsp://127.0.0.1:554/door","user_data":"",'
            '"options":{"login_name":"admin","login_password":"..."}}]}',
        ),
    )
}  # fmt: skip
