"""Checks of what a caller gives, before anything is sent (sections 4 and 8 of the interface)."""

import json
import operator
import re
from typing import TYPE_CHECKING

from .endpoints import Endpoint
from .errors import ParameterError
from .records import shown

if TYPE_CHECKING:
    from .wire import Request

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


def identity(endpoint: Endpoint, name: str, value: object) -> str:
    """Return an ID as text: a text that is not empty, or a whole number written out."""
    if isinstance(value, str) and value.strip():
        return str(whole(endpoint, name, value))
    if not isinstance(value, str | bool | float):
        try:
            return str(operator.index(value))  # type: ignore[arg-type]  # the TypeError is the test
        except TypeError:
            pass
    advice = f"Give the {name} as text, as the service gave it."
    if isinstance(value, float):
        advice = f"Read the column as text, or leading zeros and digits are lost. {advice}"
    raise wrong(endpoint, f"{name} is {shown(value)}, not an ID.", advice)


def needed_text(endpoint: Endpoint, name: str, value: object) -> str:
    """Return a text that must be there and not empty."""
    if isinstance(value, str) and value.strip():
        return str(whole(endpoint, name, value))
    raise wrong(endpoint, f"{name} is {shown(value)}.", f"Give a {name} that is not empty.")
