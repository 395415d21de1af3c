"""The interface's own things as frozen records (section 2): `Room`, `RoomUser`, `Device`.

Field names are the interface's in snake_case. Numbers are numbers although deployments quote
them; what is absent is None. A field that does not hold what its type says is a ProtocolError:
a wrong value is never guessed at.
"""

import json
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from .errors import ParameterError, ProtocolError
from .operations import Operation
from .secret import Guarded, GuardedAddress, Secret, guard, mask, masked

DEEPEST = 100  # levels of lists and objects in a device's options
_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}(?:\.0*)?")
_POWER = re.compile(r"-?[0-9]{1,16}(?:\.[0-9]{1,16})?[eE][+-]?[0-9]{1,2}")


def read_json(text: str) -> Any:
    """Return the value of a JSON text; of a name that stands twice the last counts. ValueError
    where it is no JSON, NaN and Infinity among it, or where it would empty a list."""
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_last)


def _last(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[name] == [] and value for name, value in pairs):
        raise ValueError("a list stands twice, and is empty the second time")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def too_deep(value: Any) -> bool:
    """Return whether a value is nested more than DEEPEST levels deep, or in itself: recursion over
    it would fail."""
    level = [value]
    for _ in range(DEEPEST + 1):
        held = [
            one.values() if isinstance(one, Mapping) else one
            for one in level
            if isinstance(one, Mapping | list | tuple)
        ]
        level = list({id(inner): inner for items in held for inner in items}.values())
        if not level:
            return False
    return True


def number(fields: Mapping[str, Any], name: str) -> int | None:
    """Return the integer under this name, quoted or not; None when absent, null or empty."""
    value = fields.get(name)
    if isinstance(value, str):
        value = _unquoted(value.strip())
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # a larger one has lost digits
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ProtocolError(
            f"the answer's field {name} is {preview(value)}, not a whole number.",
            "Ask the provider what this deployment puts there.",
        )
    return value


def _unquoted(written: str) -> int | float | str | None:
    """Return the number that a text holds, None for null, the text where it holds neither."""
    if _INTEGER.fullmatch(written):
        return int(written.partition(".")[0])
    if _POWER.fullmatch(written):
        return float(written)
    return None if written.lower() == "null" else written


def text(fields: Mapping[str, Any], name: str) -> str | None:
    """Return the text under this name, also of a number; None when absent or null."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ProtocolError(
        f"the answer's field {name} is {preview(value)}, not a text.",
        "Ask the provider what this deployment puts there.",
    )


def require_field(fields: Mapping[str, Any], name: str, what: str) -> str:
    """Return the text under this name, which must be there and not empty."""
    value = text(fields, name)
    if not value:
        raise ProtocolError(
            f"{what} in the answer has no {name}.",
            "Ask the provider whether this deployment spells it otherwise.",
        )
    return value


def objects(items: object, name: str, endpoint: str) -> list[Mapping[str, object]]:
    """Return the list of objects that an answer has to hold under this name."""
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ProtocolError(
            f"the answer of {endpoint} holds no list {name} of objects but {preview(items)}.",
            "Ask the provider where this deployment puts it.",
        )
    return items


def preview(value: object) -> str:
    """Return the value in at most 60 characters, with nothing secret in it."""
    deep = f"a {type(value).__name__} that is nested too deep"  # to be looked through by calls
    written = deep if too_deep(value) else mask(repr(masked(value)))
    return written if len(written) <= 60 else written[:57] + "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A conference room as A3 gives it (section 2). `room_status`: 0 scheduled, 1 opening,
    2 locked, 3 closed; `room_mode`: 1 MCU, 3 peer-to-peer (seen in deployments); caps are in
    people and streams, None where the room has none. `host_password` shows as *** in a repr."""

    id: int | None = None
    room_id: str
    topic: str | None = None
    room_status: int | None = None
    owner_id: str | None = None
    host_password: str | None = None
    attendee_max: int | None = None
    max_audio: int | None = None
    max_video: int | None = None
    room_extend_id: str | None = None
    room_mode: int | str | None = None

    def __post_init__(self) -> None:
        if self.host_password is not None:
            object.__setattr__(self, "host_password", Secret(self.host_password))

    @classmethod
    def read(cls, fields: Mapping[str, Any], room_id: str) -> Self:
        """Return the room in an answer of A3 about `room_id`; ProtocolError for another room."""
        mode = fields.get("room_mode")
        named = isinstance(mode, str) and mode.strip() and isinstance(_unquoted(mode.strip()), str)
        room = cls(
            id=number(fields, "id"),
            room_id=text(fields, "room_id") or room_id,
            topic=text(fields, "topic"),
            room_status=number(fields, "room_status"),
            owner_id=text(fields, "owner_id"),
            host_password=text(fields, "host_password") or None,
            attendee_max=number(fields, "attendee_max"),
            max_audio=number(fields, "max_audio"),
            max_video=number(fields, "max_video"),
            room_extend_id=text(fields, "room_extend_id") or None,
            room_mode=mode if named else number(fields, "room_mode"),
        )
        if room_id not in (room.room_id, room.room_extend_id):
            raise ProtocolError(
                f"A3 was asked for room {preview(room_id)} and answered with room "
                f"{preview(room.room_id)}.",
                "Look for a proxy or a cache between here and the service.",
            )
        return room


@dataclass(frozen=True, slots=True)
class RoomUser:
    """A user in a room as A6 lists it (section 2): a person, or a device under its user ID."""

    user_name: str | None
    user_id: str

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Return the user in one item of A6's `user_list`."""
        return cls(text(fields, "user_name"), require_field(fields, "user_id", "a room user"))

    @classmethod
    def read_all(cls, members: Mapping[str, Any]) -> list[Self]:
        """Return the users in an answer of A6; ProtocolError for one without a list."""
        return [cls.read(item) for item in objects(members.get("user_list"), "user_list", "A6")]


@dataclass(frozen=True, slots=True)
class Device:
    """An external device as a user of a room, as B3 lists it (section 2). `user_address` and
    `options` give their secrets to code that reads them; a repr shows them as ***."""

    room_id: str
    user_id: str
    user_name: str | None = None
    user_address: str | None = None
    user_data: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("room_id", "user_id", "user_name"):  # a camera's address may serve as one
            object.__setattr__(self, name, guard(getattr(self, name)))
        if self.user_address is not None:
            object.__setattr__(self, "user_address", GuardedAddress(self.user_address))
        object.__setattr__(self, "user_data", Guarded(self.user_data))
        object.__setattr__(self, "options", guard(self.options))

    @property
    def login_name(self) -> str | None:
        """The login name with which the service opens the device, where it has one."""
        return login_text(self.options.get("login_name"))

    @property
    def login_password(self) -> Secret | None:
        """The password with which the service opens the device, where it has one."""
        password = login_text(self.options.get("login_password"))
        return None if password is None else Secret(password)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Return the device in one item of B3, its keys in camelCase or in snake_case."""
        item = {_snake(key): value for key, value in fields.items()}
        return cls(
            require_field(item, "room_id", "an external user"),
            require_field(item, "user_id", "an external user"),
            text(item, "user_name"),
            text(item, "user_address"),
            text(item, "user_data") or "",
            _options(item.get("options")),
        )


def login_text(value: object) -> str | None:
    """A name or password of a login as text: some services hand it back as a number. None where
    there is none, or what no camera takes for one: a list, an object, true or false."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return None


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()


def _options(value: object) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = read_json(value) if value.strip() else {}
        except (ValueError, RecursionError):
            value = None
    elif value is None:
        value = {}
    if not isinstance(value, Mapping) or too_deep(value):
        raise ProtocolError(
            "the answer's field options is not a JSON object, or is nested too deep.",
            "Ask the provider what this deployment puts there.",
        )
    return value


# Arguments, which are checked before anything is sent


def parameter_error(operation: Operation, problem: str, advice: str) -> ParameterError:
    """Return the error for an argument that is wrong; nothing has been sent."""
    error = ParameterError(f"{problem} Nothing was sent.", advice)
    error.interface, error.endpoint, error.meaning = operation.interface, operation.key, problem
    return error


def reject_surrogates(operation: Operation, name: str, value: str) -> str:
    """Return the text, in which every character is whole: half of one (a lone surrogate) cannot
    travel."""
    if not _SURROGATE.search(value):
        return value
    raise parameter_error(
        operation,
        f"{name} holds half a character (a lone surrogate).",
        "Write it again, or read the file that it is from with its own encoding.",
    )


def integer(value: Any) -> int | None:
    """Return a whole number of any kind as an int; None for all else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def parse_id(operation: Operation, name: str, value: object) -> str:
    """Return an ID as text: a text that is not empty, or a whole number written out."""
    if isinstance(value, str) and value.strip():
        return str(reject_surrogates(operation, name, value))
    if (number := integer(value)) is not None:
        return str(number)
    advice = f"Give the {name} as text, as the service gave it."
    if isinstance(value, float):
        advice = f"Read the column as text, or leading zeros and digits are lost. {advice}"
    raise parameter_error(operation, f"{name} is {preview(value)}, not an ID.", advice)


def require_text(operation: Operation, name: str, value: object) -> str:
    """Return a text that must be there and not empty."""
    if isinstance(value, str) and value.strip():
        return str(reject_surrogates(operation, name, value))
    raise parameter_error(
        operation, f"{name} is {preview(value)}.", f"Give a {name} that is not empty."
    )
