"""Records to DataFrames: the only converter. The same columns and types for none as for many."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .calls import Call
from .endpoints import ENDPOINTS
from .explanations import explain
from .masking import mask_address, masked
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
    `secrets=True`; the password in an address that serves as a topic or an ID shows as *** without.
    """
    import pandas as pd

    records = _records(rooms, Room)
    frame = pd.DataFrame(room_columns(records, secrets))
    if secrets:
        passwords = [
            None if room.host_password is None else str(room.host_password) for room in records
        ]
        frame["host_password"] = pd.array(passwords, dtype="string")
    return frame


def room_columns(rooms: list[Any], secrets: bool = False) -> "dict[str, Any]":
    """The columns of `rooms_frame`; a number may be an empty text in what is given."""
    found = {name: list(map(attrgetter(name), rooms)) for name in _ROOM_FIELDS}
    for name in () if secrets else ("room_id", "topic", "owner_id", "room_extend_id"):
        found[name] = list(map(without_login, found[name]))
    modes = [mode if isinstance(mode, int) else None for mode in found["room_mode"]]
    return {
        "room_id": strings(found["room_id"]),
        "topic": strings(found["topic"]),
        "status": _category(found["room_status"], ROOM_STATUS),
        "attendee_max": integers(found["attendee_max"]),
        "mode": _category(found["room_mode"], ROOM_MODE),
        "owner_id": strings(found["owner_id"]),
        "max_audio": integers(found["max_audio"]),
        "max_video": integers(found["max_video"]),
        "room_status": integers(found["room_status"]),
        "room_mode": integers(modes),
        "id": integers(found["id"]),
        "room_extend_id": strings(found["room_extend_id"], empty=False),
    }


def users_frame(
    users: Iterable[RoomUser] | RoomUser | Mapping[str, Iterable[RoomUser]],
) -> "pd.DataFrame":
    """One row a user: `room_id`, `user_id`, `user_name`, all `string`.

    From a list of users, whose `room_id` is missing, or from a mapping of room ID to users. A room
    without users has no row. The password in a camera's address that serves as a name shows as ***.
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
            "user_id": lambda pair: without_login(pair[1].user_id),
            "user_name": lambda pair: without_login(pair[1].user_name),
        },
    )


def devices_frame(devices: Iterable[Device] | Device, *, secrets: bool = False) -> "pd.DataFrame":
    """One row a device: `room_id`, `user_id`, `user_name`, `user_address`, `user_data`, `options`.

    All `string`; `options` is JSON text. What is secret in address and options, or in an address
    that serves as a name, shows as ***, unless `secrets=True`.
    """
    shown = (lambda value, _: value) if secrets else masked
    named = (lambda text: text) if secrets else without_login
    columns = ("room_id", "user_id", "user_name", "user_address", "user_data", "options")
    return frame_of(
        _records(devices, Device),
        dict.fromkeys(columns, "string"),
        {
            "user_id": lambda device: named(device.user_id),
            "user_name": lambda device: named(device.user_name),
            "user_address": lambda device: _plain(shown(device.user_address, "user_address")),
            "user_data": lambda device: _plain(shown(device.user_data, "user_data")),
            "options": lambda device: compact(shown(dict(device.options), "options")),
        },
    )


def calls_frame(calls: Iterable[Call] | Call) -> "pd.DataFrame":
    """One row a call, in the given order: `calls_frame(client.calls)` has the newest last.

    Columns: `time` (UTC, to the millisecond), `call` ("A2"), `operation` ("create room"), `method`,
    `url` (masked), `seconds`, `status` (HTTP), `ret` (the result code as text, missing where no
    answer of the interface came), `meaning` (of the code; without one, why), `error` (the whole
    text of what was raised, missing where nothing was). Sections 4 and 7 of the interface.
    """
    return frame_of(
        _records(calls, Call),
        {
            "time": "datetime64[ms, UTC]", "call": "string", "operation": "string",
            "method": "string", "url": "string", "seconds": "float64", "status": "Int64",
            "ret": "string", "meaning": "string", "error": "string",
        },
        {
            "call": lambda call: call.endpoint,
            "operation": lambda call: ENDPOINTS[call.endpoint].title,
            "ret": lambda call: None if call.ret is None else str(call.ret),
            "meaning": call_meaning,
        },
    )  # fmt: skip


def call_meaning(call: Call) -> str:
    """What came of a call, in a few words: its code's meaning, or why there was none."""
    if call.ret is not None:
        return explain(call.ret, ENDPOINTS[call.endpoint].interface).meaning
    # What begins an unfit answer is quoted behind the semicolon, full stops and all.
    why = (call.error or "no answer").removeprefix(f"{call.address}: ")
    return why.partition("; it begins ")[0].partition(". ")[0]


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
OTHER = "other"
_ROOM_FIELDS = (
    "room_id", "topic", "owner_id", "room_extend_id", "attendee_max", "max_audio", "max_video",
    "room_status", "room_mode", "id",
)  # fmt: skip


def _category(values: list[Any], names: Mapping[int, str]) -> Any:
    import pandas as pd

    known: dict[Any, int] = {number: code for code, number in enumerate(names)}
    known |= {None: -1, "": -1}
    codes = [known.get(value, len(names)) for value in values]
    categories: Any = [*names.values(), OTHER]
    return pd.Categorical.from_codes(codes, categories)


def strings(values: list[Any], empty: bool = True) -> Any:
    """The texts as an array of pandas' `string`; without `empty`, an empty one is missing. Half a
    character (a lone surrogate, which JSON can carry) becomes a question mark."""
    if not empty:
        values = [value or None for value in values]
    try:
        return _array(values, "string", "large_string")
    except UnicodeEncodeError:
        whole = [value and value.encode("utf-8", "replace").decode() for value in values]
        return _array(whole, "string", "large_string")


def integers(values: list[Any]) -> Any:
    """The numbers as an array of pandas' `Int64`; None and an empty text are missing."""
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
    """An ID or a name, with *** for the password where it is a camera's address with a login; any
    other is as it was: IDs are compared, and `pass=1` may be one."""
    return mask_address(text) if text and "@" in text and "://" in text else text


# Of a record that has a `device`, as part of what it tells.
OF_DEVICE: Mapping[str, Any] = {
    "room_id": lambda record: record.device.room_id,
    "user_id": lambda record: without_login(record.device.user_id),
    "user_name": lambda record: without_login(record.device.user_name),
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
        if kind == "string":
            columns[name] = strings(values)
        elif isinstance(kind, str):
            columns[name] = pd.Series(values, dtype=kind)
        else:
            columns[name] = pd.Categorical(values, categories=kind)
    return pd.DataFrame(columns)
