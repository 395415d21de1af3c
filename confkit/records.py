"""The interface's objects as frozen records (section 2): `Room`, `RoomUser`, `Device`; how they are
read from a response, in snake_case or camelCase, and how arguments are checked before sending.

Quoted numbers are numbers, and absent fields None. Any other type is a ProtocolError.
"""

import json
import operator
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, Self

from .errors import ParameterError, ProtocolError
from .operations import Operation
from .secret import Secret, SecretAddress, hide, redact, reveal

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}(?:\.0*)?")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ASK = "Ask the provider what this deployment puts there."


class _Record:
    __slots__ = ()

    def __repr__(self) -> str:
        texts = [
            f"{member.name}={redact(repr(getattr(self, member.name)))}"  # a name may be an address
            for member in fields(self)  # type: ignore[arg-type]  # each record is a dataclass
        ]
        return f"{type(self).__name__}({', '.join(texts)})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Room(_Record):
    """A conference room as returned by A3 (section 2). `room_status`: 0 scheduled, 1 opening,
    2 locked, 3 closed; `room_mode`: 1 MCU, 3 peer-to-peer (seen in deployments); caps count people
    or streams, None for no cap. `host_password` is a Secret."""

    id: int | None = None
    room_id: str
    topic: str | None = None
    room_status: int | None = None
    owner_id: str | None = None
    host_password: Secret | None = None
    attendee_max: int | None = None
    max_audio: int | None = None
    max_video: int | None = None
    room_extend_id: str | None = None
    room_mode: int | str | None = None

    def __post_init__(self) -> None:
        if self.host_password is not None:
            object.__setattr__(self, "host_password", Secret(self.host_password))

    @classmethod
    def read(cls, members: Mapping[str, Any], room_id: str) -> Self:
        """Return the room in a response of A3 about `room_id`; ProtocolError for another room, or
        none of its fields."""
        if "room_id" not in members:
            members = snake_case(members)
        if not members.keys() & _ROOM_FIELDS:
            problem = "the response of A3 has none of a room's fields."
            raise ProtocolError(problem, "Ask the provider where this deployment puts them.")
        mode: int | str | None
        try:
            mode = number(members, "room_mode")
        except ProtocolError:
            mode = text(members, "room_mode")  # its name
        password = text(members, "host_password")
        room = cls(
            id=number(members, "id"),
            room_id=text(members, "room_id") or room_id,
            topic=text(members, "topic"),
            room_status=number(members, "room_status"),
            owner_id=text(members, "owner_id"),
            host_password=Secret(password) if password else None,
            attendee_max=number(members, "attendee_max"),
            max_audio=number(members, "max_audio"),
            max_video=number(members, "max_video"),
            room_extend_id=text(members, "room_extend_id") or None,
            room_mode=mode,
        )
        if room_id not in (room.room_id, room.room_extend_id):
            ids = f"for room {preview(room_id)} and answered with room {preview(room.room_id)}."
            advice = "Look for a proxy or a cache between here and the service."
            raise ProtocolError(f"A3 was asked {ids}", advice)
        return room


@dataclass(frozen=True, slots=True, repr=False)
class RoomUser(_Record):
    """A user in a room as listed by A6 (section 2): a person, or a device under its user ID."""

    user_name: str | None
    user_id: str

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> Self:
        """Return the user in one item of A6's `user_list`."""
        if "user_id" not in members:
            members = snake_case(members)
        return cls(text(members, "user_name"), require_field(members, "user_id", "a room user"))

    @classmethod
    def read_all(cls, members: Mapping[str, Any]) -> list[Self]:
        """Return the users in a response of A6, each once; ProtocolError for one without a list."""
        if "user_list" not in members:
            members = snake_case(members)
        items = objects(members.get("user_list"), "user_list", "A6")
        users = {user.user_id: user for user in map(cls.read, items)}  # one may have just rejoined
        return list(users.values())


@dataclass(frozen=True, slots=True, repr=False)
class Device(_Record):
    """An external device as a user of a room, as listed by B3 (section 2).

    `user_address` is shown without its login and returned in full by `reveal()`; so are passwords
    and addresses in `options`.
    """

    room_id: str
    user_id: str
    user_name: str | None = None
    user_address: SecretAddress | None = None
    user_data: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.user_address is not None:
            object.__setattr__(self, "user_address", SecretAddress(self.user_address))
        object.__setattr__(self, "options", hide(self.options))

    @property
    def login_name(self) -> str | None:
        """The login name with which the service opens the device, or None."""
        name = self.options.get("login_name")
        return str(name) if isinstance(name, str | int | float) else None

    @property
    def login_password(self) -> Secret | None:
        """The password with which the service opens the device, or None."""
        password = self.options.get("login_password")
        return Secret(password) if isinstance(password, str | Secret) else None

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> Self:
        """Return the device in one item of B3."""
        item = snake_case(members)
        address = text(item, "user_address")
        return cls(
            require_field(item, "room_id", "an external user"),
            require_field(item, "user_id", "an external user"),
            text(item, "user_name"),
            None if address is None else SecretAddress(address),
            text(item, "user_data") or "",
            _options(item.get("options"), text(item, "user_id")),
        )


_ROOM_FIELDS = {member.name for member in fields(Room)} - {"id"}


# Fields of a response


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


read_json = json.JSONDecoder(parse_constant=_no_constant).decode  # NaN is a ValueError


def snake_case(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with `roomId` and `RoomId` as `room_id`."""
    return {_CAMEL.sub("_", key).lower(): value for key, value in members.items()}


def number(members: Mapping[str, Any], name: str) -> int | None:
    """Return the integer under this name, quoted or not; None when absent, null or empty."""
    value = members.get(name)
    if isinstance(value, str):
        value = value.strip()
        if _INTEGER.fullmatch(value):
            value = int(value.partition(".")[0])
    if value is None or value in ("", "null"):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # a larger float has lost digits
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        problem = f"the response's field {name} is {preview(value)}, not a whole number."
        raise ProtocolError(problem, _ASK)
    return value


def text(members: Mapping[str, Any], name: str) -> str | None:
    """Return the text under this name, a number as text; None when absent or null."""
    value = members.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ProtocolError(f"the response's field {name} is {preview(value)}, not text.", _ASK)


def require_field(members: Mapping[str, Any], name: str, what: str) -> str:
    """Return the text under this name; ProtocolError if it is missing or empty."""
    value = text(members, name)
    if not value:
        advice = "Ask the provider whether this deployment uses another name."
        raise ProtocolError(f"{what} in the response has no {name}.", advice)
    return value


def objects(items: object, name: str, endpoint: str) -> list[Mapping[str, Any]]:
    """Return the list of objects of this name; ProtocolError if it is anything else."""
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        problem = f"the response's field {name} ({endpoint}) is {preview(items)}, not a list."
        raise ProtocolError(problem, "Ask the provider where this deployment puts it.")
    return items


def _options(value: object, user_id: str | None) -> Mapping[str, Any]:
    value = reveal(value)  # the JSON text of an object may contain an address
    if not value or value == "null":  # some services write an empty list, or null as text
        return {}
    with suppress(ValueError, RecursionError):
        value = read_json(value) if isinstance(value, str) else value
        if isinstance(value, Mapping):
            return dict(hide(value))
    problem = "options is not a JSON object, or is nested too deep."
    raise ProtocolError(f"external user {preview(user_id)}: the response's field {problem}", _ASK)


def preview(value: object) -> str:
    """Return the value in at most 60 characters, with secrets masked."""
    text = redact(repr(hide(value)))
    return text if len(text) <= 60 else text[:57] + "..."


# Arguments, which are checked before anything is sent


def parameter_error(operation: Operation, problem: str, advice: str) -> ParameterError:
    """Return the error for an invalid argument; nothing has been sent."""
    error = ParameterError(f"{problem} Nothing was sent.", advice)
    error.interface, error.endpoint, error.meaning = operation.interface, operation.key, problem
    return error


def integer(value: Any) -> int | None:
    """Return a whole number of any type as an int; None for anything else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def parse_id(operation: Operation, name: str, value: object) -> str:
    """Return an ID, a non-empty text, a whole number, or a record that has it, as text."""
    if isinstance(value, _Record):
        value = getattr(value, name, None)
    if isinstance(value, str) and value.strip():
        return value
    if (number := integer(value)) is not None:
        return str(number)
    advice = f"Pass the {name} as text, as the service returned it."
    if isinstance(value, float):
        advice = f"Read the column as text, or leading zeros and digits are lost. {advice}"
    raise parameter_error(operation, f"{name} is {preview(value)}, not an ID.", advice)


def require_text(operation: Operation, name: str, value: object) -> str:
    """Return a text; ParameterError if it is missing or empty."""
    if isinstance(value, str) and value.strip():
        return value
    raise parameter_error(operation, f"{name} is {preview(value)}.", f"Pass a non-empty {name}.")
