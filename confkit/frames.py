"""Records to DataFrames: the only converter. The same columns and types for none as for many."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .calls import Call
from .operations import OPERATIONS
from .records import Device, Room, RoomUser
from .secret import mask_address, masked
from .wire import compact

if TYPE_CHECKING:
    import pandas as pd

OTHER = "other"
ROOM_STATUS = {0: "scheduled", 1: "opening", 2: "locked", 3: "closed"}  # seen in deployments
ROOM_MODE = {1: "MCU", 2: "MCU (2)", 3: "peer-to-peer", 4: "peer-to-peer (4)"}  # seen, too

NAME = "name"  # a "string" in which the login of an address does not show
# Of a column: a type of pandas or NAME, the names of its numbers, or its categories.
Kind = str | Mapping[int, str] | tuple[str, ...]
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
_CALL: Mapping[str, Kind] = {
    "time": "datetime64[ms, UTC]",
    "call": "string",
    "operation": "string",
    "method": "string",
    "url": "string",
    "seconds": "float64",
    "status": "Int64",
    "ret": "string",
    "meaning": "string",
    "error": "string",
}


def rooms_frame(rooms: Iterable[Room] | Room, *, secrets: bool = False) -> "pd.DataFrame":
    """Return one row per room, in the given order; one Room counts as a list of one.

    Columns: the interface's fields (numbers `Int64`, texts `string`), with `status` and `mode` as
    categories beside `room_status` and `room_mode`. A value that deployments are not known to use
    is "other" there; its number stands beside it. `host_password` is a column only with
    `secrets=True`; the password in an address that serves as a topic or an ID shows as *** without.
    """
    import pandas as pd

    return pd.DataFrame(room_columns(_records(rooms, Room), secrets))


def room_columns(rooms: list[Any], secrets: bool = False) -> "dict[str, Any]":
    """Return the columns of `rooms_frame`; a number may be an empty text in what is given."""
    readers: dict[str, Any] = {
        "status": attrgetter("room_status"),
        "mode": attrgetter("room_mode"),
        "room_mode": lambda room: room.room_mode if isinstance(room.room_mode, int) else None,
        "room_extend_id": lambda room: room.room_extend_id or None,
    }
    types = dict(_ROOM)
    if secrets:
        readers["host_password"] = lambda room: _plain(room.host_password)
        types = {name: "string" if kind == NAME else kind for name, kind in types.items()}
        types |= {"host_password": "string"}
    return columns_of(rooms, types, readers)


def users_frame(
    users: Iterable[RoomUser] | RoomUser | Mapping[str, Iterable[RoomUser]],
) -> "pd.DataFrame":
    """Return one row per user: `room_id`, `user_id`, `user_name`, all `string`.

    From a list of users, whose `room_id` is missing, or from a mapping of room ID to users. A room
    without users has no row. The password in a camera's address that serves as a name shows as ***.
    """
    groups = users if isinstance(users, Mapping) else {None: users}
    pairs = [
        (None if room_id is None else str(room_id), user)
        for room_id, group in groups.items()
        for user in _records(group, RoomUser)
    ]
    readers = {
        "room_id": lambda pair: pair[0],
        "user_id": lambda pair: pair[1].user_id,
        "user_name": lambda pair: pair[1].user_name,
    }
    return frame_of(pairs, {"room_id": "string", "user_id": NAME, "user_name": NAME}, readers)


def devices_frame(devices: Iterable[Device] | Device, *, secrets: bool = False) -> "pd.DataFrame":
    """Return one row per device.

    Columns, all `string`: `room_id`, `user_id`, `user_name`, `user_address`, `user_data`, `options`
    (JSON). What is secret in address and options, or in an address that serves as a name, shows as
    ***, unless `secrets=True`.
    """
    shown = (lambda value, _: value) if secrets else masked
    called = "string" if secrets else NAME
    types = {
        "room_id": "string",
        "user_id": called,
        "user_name": called,
        "user_address": "string",
        "user_data": "string",
        "options": "string",
    }
    readers = {
        "user_address": lambda device: _plain(shown(device.user_address, "user_address")),
        "user_data": lambda device: _plain(shown(device.user_data, "user_data")),
        "options": lambda device: compact(shown(dict(device.options), "options")),
    }
    return frame_of(_records(devices, Device), types, readers)


def calls_frame(calls: Iterable[Call] | Call) -> "pd.DataFrame":
    """Return one row per call, in the given order: `calls_frame(client.calls)` has the newest last.

    Columns: `time` (UTC, to the millisecond), `call` ("A2"), `operation` ("create room"), `method`,
    `url` (masked), `seconds`, `status` (HTTP), `ret` (the result code as text, missing where no
    answer of the interface came), `meaning` (of the code; without one, why), `error` (the whole
    text of what was raised, missing where nothing was). Sections 4 and 7 of the interface.
    """
    readers = {
        "call": lambda call: call.endpoint,
        "operation": lambda call: OPERATIONS[call.endpoint].title,
        "ret": lambda call: None if call.ret is None else str(call.ret),
    }
    return frame_of(_records(calls, Call), _CALL, readers)


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
    "Call": "client.calls",
}


def _category(values: list[Any], names: Mapping[int, str]) -> Any:
    import pandas as pd

    known: dict[Any, int] = {number: code for code, number in enumerate(names)}
    known |= {None: -1, "": -1}
    codes = [known.get(value, len(names)) for value in values]
    categories: Any = [*names.values(), OTHER]
    return pd.Categorical.from_codes(codes, categories)


def strings(values: list[Any]) -> Any:
    """Return the texts as an array of pandas' `string`. Half a character (a lone surrogate, which
    JSON can carry) becomes a question mark."""
    try:
        return _array(values, "string", "large_string")
    except UnicodeEncodeError:
        whole = [value and value.encode("utf-8", "replace").decode() for value in values]
        return _array(whole, "string", "large_string")


def integers(values: list[Any]) -> Any:
    """Return the numbers as an array of pandas' `Int64`; None and an empty text are missing."""
    if "" in values:
        values = [None if value == "" else value for value in values]
    return _array(values, "Int64", "int64")


def _array(values: list[Any], kind: str, arrow: str) -> Any:
    """An array of this kind, made by Arrow where that is installed: five times as fast."""
    import pandas as pd

    dtype: Any = pd.api.types.pandas_dtype(kind)
    try:
        import pyarrow
    except ImportError:
        return pd.array(values, dtype=dtype)
    return dtype.__from_arrow__(pyarrow.array(values, getattr(pyarrow, arrow)()))


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


def without_login(text: str | None) -> str | None:
    """Return an ID or a name with *** for the password where it is a camera's address with a login,
    any other as it was: IDs are compared, and `pass=1` may be one."""
    return mask_address(text) if text and "@" in text and "://" in text else text


def frame_of(
    records: list[Any], types: Mapping[str, Kind], readers: Mapping[str, Any]
) -> "pd.DataFrame":
    """Return a frame of these columns, one row per record."""
    import pandas as pd

    return pd.DataFrame(columns_of(records, types, readers))


def columns_of(
    records: list[Any], types: Mapping[str, Kind], readers: Mapping[str, Any]
) -> "dict[str, Any]":
    """Return the columns: each has its type, and its reader or an attribute."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name, kind in types.items():
        values = list(map(readers.get(name) or attrgetter(name), records))
        if kind == NAME:
            columns[name] = strings(list(map(without_login, values)))
        elif kind == "string":
            columns[name] = strings(values)
        elif kind == "Int64":
            columns[name] = integers(values)
        elif isinstance(kind, str):
            columns[name] = pd.Series(values, dtype=kind)
        elif isinstance(kind, Mapping):
            columns[name] = _category(values, kind)
        else:
            columns[name] = pd.Categorical(values, categories=kind)
    return columns
