"""Records to DataFrames: the only converter. The same columns and types for none as for many."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .masking import masked
from .records import Device, Room, RoomUser
from .wire import compact

if TYPE_CHECKING:
    import pandas as pd

ROOM_STATUS = {0: "scheduled", 1: "opening", 2: "locked", 3: "closed"}  # seen in deployments
ROOM_MODE = {1: "MCU", 2: "MCU (2)", 3: "peer-to-peer", 4: "peer-to-peer (4)"}  # seen, too


def rooms_frame(rooms: Iterable[Room] | Room, *, secrets: bool = False) -> "pd.DataFrame":
    """One row a room, in the given order; one Room counts as a list of one.

    Columns: the interface's fields (numbers `Int64`, texts `string`), with `status` and `mode` as
    categories beside `room_status` and `room_mode`. A value that deployments are not known to use
    is "other" there; its number stands beside it. `host_password` is a column only with
    `secrets=True`.
    """
    import pandas as pd

    records = _records(rooms, Room)
    frame = frame_of(
        records,
        {
            "room_id": "string", "topic": "string", "status": _STATUS, "attendee_max": "Int64",
            "mode": _MODE, "owner_id": "string", "max_audio": "Int64", "max_video": "Int64",
            "room_status": "Int64", "room_mode": "Int64", "id": "Int64",
            "room_extend_id": "string",
        },
        {
            "status": lambda room: _named(room.room_status, ROOM_STATUS),
            "mode": lambda room: _named(room.room_mode, ROOM_MODE),
            "room_mode": lambda room: room.room_mode if isinstance(room.room_mode, int) else None,
        },
    )  # fmt: skip
    if secrets:
        passwords = [
            None if room.host_password is None else str(room.host_password) for room in records
        ]
        frame["host_password"] = pd.array(passwords, dtype="string")
    return frame


def users_frame(
    users: Iterable[RoomUser] | RoomUser | Mapping[str, Iterable[RoomUser]],
) -> "pd.DataFrame":
    """One row a user: `room_id`, `user_id`, `user_name`, all `string`.

    From a list of users, whose `room_id` is missing, or from a mapping of room ID to users. A room
    without users has no row.
    """
    if isinstance(users, Mapping):
        pairs: list[tuple[str | None, RoomUser]]
        pairs = [
            (str(room_id), user)
            for room_id, group in users.items()
            for user in _records(group, RoomUser)
        ]
    else:
        pairs = [(None, user) for user in _records(users, RoomUser)]
    return frame_of(
        pairs,
        {"room_id": "string", "user_id": "string", "user_name": "string"},
        {
            "room_id": lambda pair: pair[0],
            "user_id": lambda pair: pair[1].user_id,
            "user_name": lambda pair: pair[1].user_name,
        },
    )


def devices_frame(devices: Iterable[Device] | Device, *, secrets: bool = False) -> "pd.DataFrame":
    """One row a device: `room_id`, `user_id`, `user_name`, `user_address`, `user_data`, `options`.

    All `string`; `options` is JSON text. What is secret in address and options shows as ***,
    unless `secrets=True`.
    """
    shown = (lambda value, _: value) if secrets else masked
    columns = ("room_id", "user_id", "user_name", "user_address", "user_data", "options")
    return frame_of(
        _records(devices, Device),
        dict.fromkeys(columns, "string"),
        {
            "user_address": lambda device: _plain(shown(device.user_address, "user_address")),
            "user_data": lambda device: _plain(shown(device.user_data, "user_data")),
            "options": lambda device: compact(shown(dict(device.options), "options")),
        },
    )


def _records(given: Any, kind: type) -> list[Any]:
    records = [given] if isinstance(given, kind) else list(given)
    for record in records:
        if not isinstance(record, kind):
            raise TypeError(
                f"expected {kind.__name__} records, got {type(record).__name__}; "
                f"{_MAKERS[kind.__name__]} gives them"
            )
    return records


_MAKERS = {
    "Room": "get_room(client, room_id)",
    "RoomUser": "get_room_users(client, room_id)",
    "Device": "list_devices(client)",
}
OTHER = "other"
_STATUS = (*ROOM_STATUS.values(), OTHER)
_MODE = (*ROOM_MODE.values(), OTHER)


def _named(value: int | str | None, names: Mapping[int, str]) -> str | None:
    if value is None or value == "":
        return None
    return names.get(value, OTHER) if isinstance(value, int) else OTHER


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


# Of a record that has a `device`, as part of what it tells.
OF_DEVICE: Mapping[str, Any] = {
    "room_id": lambda record: record.device.room_id,
    "user_id": lambda record: record.device.user_id,
    "user_name": lambda record: record.device.user_name,
    "user_address": lambda record: _plain(masked(record.device.user_address, "user_address")),
}


def frame_of(
    records: list[Any], types: Mapping[str, str | tuple[str, ...]], readers: Mapping[str, Any]
) -> "pd.DataFrame":
    """One row a record; a column has its type or categories, and its reader or an attribute."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name, kind in types.items():
        read = readers.get(name)
        values = [read(record) if read else getattr(record, name) for record in records]
        if isinstance(kind, str):
            columns[name] = pd.Series(values, dtype=kind)
        else:
            columns[name] = pd.Categorical(values, categories=kind)
    return pd.DataFrame(columns)
