"""The interface: its ten operations as data, checks of what one is given, and its text."""

import json
import operator
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .errors import ParameterError
from .records import shown

if TYPE_CHECKING:
    from .wire import Request


Interface = Literal["A", "B"]


class Endpoint(NamedTuple):
    """One operation: its number in the interface, where it lives, what it takes and answers.

    `required` and `optional` hold the parameters in the interface's order, the token left out;
    `token` is the token's name as the interface spells it, `None` for A1. `write` is true where
    the operation changes something. `codes` are the interface's main codes.
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
A1 = Endpoint("A1", "A", "authenticate", "/rtc/auth/valid", None,
              ("access_key", "digest"), codes=(0, 401, 504))
A2 = Endpoint("A2", "A", "create room", "/rtc/room/create", "access_token",
              ("topic", "owner_id", "room_mode"),
              ("host_password", "max_video", "max_audio", "attendee_max", "room_extend_id"),
              write=True, codes=(0, 407, 602, 700))
A3 = Endpoint("A3", "A", "get room", "/rtc/room/get", "access_token",
              ("room_id",), codes=(0, 404, 602))
A4 = Endpoint("A4", "A", "delete room", "/rtc/room/del", "access_token",
              ("room_id",), write=True, codes=(0, 404, 602))
A5 = Endpoint("A5", "A", "get media-server address", "/sdk/get_mcu", "access_token",
              ("room_id",), codes=(0, 407, 410, 411))
A6 = Endpoint("A6", "A", "get room users", "/rtc/room/get_room_info", "access_token",
              ("room_id",), codes=(0, 404, 602))
A7 = Endpoint("A7", "A", "force a user offline", "/rtc/force_offline_mcu", "access_token",
              ("room_id", "user_id"), write=True, codes=(0, 404, 602, 417, 428))
B1 = Endpoint("B1", "B", "create external user", "/avd/api/outgoing/createOutgoingUser",
              "accessToken", ("roomId", "userId", "userName", "userAddress"),
              ("userData", "options"), write=True, codes=(0, 423, 424, 425, 426, 427))
B2 = Endpoint("B2", "B", "delete external user", "/avd/api/outgoing/destroyOutgoingUser",
              "access_token", ("roomId", "userId", "userAddress"),
              write=True, codes=(0, 424, 425))
B3 = Endpoint("B3", "B", "list external users", "/avd/api/outgoing/getOutgoingUsers",
              "accessToken", (), ("roomId",))
# fmt: on

ENDPOINTS = {endpoint.key: endpoint for endpoint in (A1, A2, A3, A4, A5, A6, A7, B1, B2, B3)}


_HALF = re.compile("[\ud800-\udfff]")


def wrong(endpoint: Endpoint, problem: str, advice: str) -> ParameterError:
    """Return the error for an argument that is wrong; nothing has been sent."""
    error = ParameterError(f"{problem} Nothing was sent.", advice)
    error.interface, error.endpoint, error.meaning = endpoint.interface, endpoint.key, problem
    return error


def whole(endpoint: Endpoint, name: str, value: str) -> str:
    """Return the text, in which every character is whole: half of one (a lone surrogate) cannot
    travel."""
    if not _HALF.search(value):
        return value
    raise wrong(
        endpoint,
        f"{name} holds half a character (a lone surrogate).",
        "Write it again, or read the file that it is from with its own encoding.",
    )


def sendable(request: "Request") -> None:
    """Check that every parameter of a request can be written as it travels."""
    for name, value in request.parameters.items():
        carried(request.endpoint, name, value)


def carried(endpoint: Endpoint, name: str, value: object) -> None:
    """Check that a value can be written as it travels: as text, or as JSON."""
    try:
        if not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise wrong(
            endpoint,
            f"{name} holds something that JSON cannot carry.",
            "Give texts, numbers, lists and dicts.",
        ) from None
    whole(endpoint, name, value)


def integer(value: Any) -> int | None:
    """Return a whole number of any kind as an int; None for all else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def identity(endpoint: Endpoint, name: str, value: object) -> str:
    """Return an ID as text: a text that is not empty, or a whole number written out."""
    if isinstance(value, str) and value.strip():
        return str(whole(endpoint, name, value))
    if (number := integer(value)) is not None:
        return str(number)
    advice = f"Give the {name} as text, as the service gave it."
    if isinstance(value, float):
        advice = f"Read the column as text, or leading zeros and digits are lost. {advice}"
    raise wrong(endpoint, f"{name} is {shown(value)}, not an ID.", advice)


def needed_text(endpoint: Endpoint, name: str, value: object) -> str:
    """Return a text that must be there and not empty."""
    if isinstance(value, str) and value.strip():
        return str(whole(endpoint, name, value))
    raise wrong(endpoint, f"{name} is {shown(value)}.", f"Give a {name} that is not empty.")
