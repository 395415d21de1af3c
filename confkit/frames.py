"""Records to DataFrames. Columns and types do not depend on the number of records; secrets are
masked unless asked for."""

import json
from collections.abc import Iterable, Mapping
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from .calls import Call
from .operations import OPERATIONS
from .records import Device, Room, RoomUser
from .secret import redact, reveal, without_login

if TYPE_CHECKING:
    import pandas as pd

OTHER = "other"
ROOM_STATUS = {0: "scheduled", 1: "opening", 2: "locked", 3: "closed"}  # seen in deployments
ROOM_MODE = {1: "MCU", 2: "MCU (2)", 3: "peer-to-peer", 4: "peer-to-peer (4)"}  # seen, too

NAME = "name"  # a "string" in which logins of addresses are masked
# The kind of a column: a pandas type or NAME, names by number, or categories.
Kind = str | Mapping[int, str] | tuple[str, ...]


def address_text(device: Device) -> str | None:
    """Return a device's address without its login."""
    return None if device.user_address is None else str(device.user_address)


_ROOM: Mapping[str, Kind] = {
    "room_id": NAME,
    "topic": NAME,
    "status": ROOM_STATUS,
    "attendee_max": "Int64",
    "mode": ROOM_MODE,
    "owner_id": NAME,
    "max_audio": "Int64",
    "max_video": "Int64",
    "room_status": "Int64",
    "room_mode": "Int64",
    "id": "Int64",
    "room_extend_id": NAME,
}
_DEVICE: Mapping[str, Kind] = {
    "room_id": "string",
    **dict.fromkeys(("user_id", "user_name"), NAME),
    **dict.fromkeys(("user_address", "user_data", "options"), "string"),
}
_CALL: Mapping[str, Kind] = {
    "time": "datetime64[ms, UTC]",
    **dict.fromkeys(("call", "operation", "method", "url"), "string"),
    "seconds": "float64",
    "status": "Int64",
    **dict.fromkeys(("ret", "meaning", "error"), "string"),
}
_MAKERS = {
    Room: "get_room(client, room_id)",
    RoomUser: "get_room_users(client, room_id)",
    Device: "list_devices(client)",
    Call: "client.calls",
}


def rooms_frame(rooms: Iterable[Room] | Room, *, secrets: bool = False) -> "pd.DataFrame":
    """Return one row per room, in the given order; a single Room is accepted.

    Columns: the interface's fields (numbers `Int64`, texts `string`), with `status` and `mode` as
    categories of `room_status` and `room_mode`; a value that no known deployment uses is "other".
    `host_password` is a column only with `secrets=True`; without, the password in an address used
    as a topic or an ID is shown as ***.
    """
    rows = []
    for room in _records(rooms, Room):
        row = {name: getattr(room, name, None) for name in _ROOM}
        mode = room.room_mode if isinstance(room.room_mode, int) else None
        row |= {"status": room.room_status, "mode": room.room_mode, "room_mode": mode}
        rows.append({**row, "host_password": reveal(room.host_password)})
    kinds = {**_ROOM, "host_password": "string"} if secrets else _ROOM
    return frame_of(rows, kinds, secrets=secrets)


def users_frame(
    users: Iterable[RoomUser] | RoomUser | Mapping[str, Iterable[RoomUser]],
) -> "pd.DataFrame":
    """Return one row per user: `room_id`, `user_id`, `user_name`, all `string`.

    From a list of users, whose `room_id` is missing, or from a mapping of room ID to users. A room
    without users has no row. The password in a camera's address used as a name is shown as ***.
    """
    groups = users if isinstance(users, Mapping) else {None: users}
    rows = [
        {
            "room_id": None if room_id is None else str(room_id),
            "user_id": user.user_id,
            "user_name": user.user_name,
        }
        for room_id, group in groups.items()
        for user in _records(group, RoomUser)
    ]
    return frame_of(rows, dict.fromkeys(("room_id", "user_id", "user_name"), NAME))


def devices_frame(devices: Iterable[Device] | Device, *, secrets: bool = False) -> "pd.DataFrame":
    """Return one row per device.

    Columns, all `string`: `room_id`, `user_id`, `user_name`, `user_address`, `user_data`, `options`
    (JSON). Secrets in the address and the options, or in an address used as a name, are shown as
    *** unless `secrets=True`.
    """
    rows = []
    for device in _records(devices, Device):
        shown = reveal(device.options) if secrets else device.options
        options = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)
        row = {name: getattr(device, name) for name in _DEVICE}
        row["user_address"] = reveal(device.user_address) if secrets else address_text(device)
        row["user_data"] = device.user_data if secrets else redact(device.user_data)
        row["options"] = options if secrets else redact(options)
        rows.append(row)
    return frame_of(rows, _DEVICE, secrets=secrets)


def calls_frame(calls: Iterable[Call] | Call) -> "pd.DataFrame":
    """Return one row per call, in the given order: `calls_frame(client.calls)` has the newest last.

    Columns: `time` (UTC, to the millisecond), `call` ("A2"), `operation` ("create room"), `method`,
    `url` (masked), `seconds`, `status` (HTTP), `ret` (the result code as text, missing if there is
    none), `meaning` (of the code, or else the reason why there is none), `error` (the full text of
    the error, missing for a success). Sections 4 and 7 of the interface.
    """
    rows = []
    for call in _records(calls, Call):
        row = {name: getattr(call, name, None) for name in _CALL}
        row |= {"call": call.endpoint, "operation": OPERATIONS[call.endpoint].title}
        rows.append({**row, "ret": None if call.ret is None else str(call.ret)})
    return frame_of(rows, _CALL)


def frame_of(
    rows: Iterable[Mapping[str, Any]], kinds: Mapping[str, Kind], *, secrets: bool = False
) -> "pd.DataFrame":
    """Return a frame of these rows with a column per kind; logins in names are masked unless
    `secrets=True`."""
    import pandas as pd

    rows, columns = list(rows), {}
    for name, kind in kinds.items():
        values = list(map(itemgetter(name), rows))
        if isinstance(kind, Mapping):
            names: dict[Any, str | None] = {**kind, None: None}
            values = list(map(names.get, values, repeat(OTHER)))
            columns[name] = pd.Categorical(values, [*kind.values(), OTHER])
        elif isinstance(kind, tuple):
            columns[name] = pd.Categorical(values, kind)
        else:
            if kind == NAME and not secrets:
                values = [value and without_login(value) for value in values]
            dtype: Any = "string" if kind == NAME else kind
            columns[name] = pd.array(values, dtype)
    return pd.DataFrame(columns)


def _records(source: Any, kind: type) -> list[Any]:
    records = [source] if isinstance(source, kind) else list(source)
    for record in records:
        if not isinstance(record, kind):
            raise TypeError(
                f"expected {kind.__name__} records, got {type(record).__name__}; "
                f"get them from {_MAKERS[kind]}"
            )
    return records
