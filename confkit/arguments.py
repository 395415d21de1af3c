"""Checks what a caller gives before anything is sent (sections 4 and 8 of the interface)."""

import json
import operator
import re
from collections.abc import Mapping
from typing import Any

from .endpoints import Endpoint
from .errors import ParameterError
from .json_text import DEEPEST_VALUE, too_deep
from .masking import MASK, Guarded, GuardedAddress, Secret, mask_address
from .records import shown
from .wire import Request, as_text, compact

TOPIC_BYTES = 150
_HALF = re.compile("[\ud800-\udfff]")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/]\S*")


def wrong(endpoint: Endpoint, problem: str, advice: str) -> ParameterError:
    """The error for an argument that is wrong; nothing has been sent."""
    error = ParameterError(f"{problem} Nothing was sent.", advice)
    error.interface, error.endpoint, error.meaning = endpoint.interface, endpoint.key, problem
    return error


def whole(endpoint: Endpoint, name: str, value: str) -> str:
    """The text, in which every character is whole: half of one (a lone surrogate) cannot travel."""
    if _HALF.search(value):
        raise wrong(
            endpoint, f"{name} holds half a character (a lone surrogate).",
            "Write it again, or read the file that it is from with its own encoding.",
        )  # fmt: skip
    return value


def sendable(request: Request) -> None:
    """Nothing, when every parameter of a request can be written as it travels."""
    for name, value in request.parameters.items():
        try:
            written = as_text(value)
        except (TypeError, ValueError, RecursionError):
            raise wrong(
                request.endpoint, f"{name} holds something that JSON cannot carry.",
                "Give texts, numbers, lists and dicts.",
            ) from None  # fmt: skip
        whole(request.endpoint, name, written)


def identity(endpoint: Endpoint, name: str, value: object) -> str:
    """An ID as text: a text that is not empty, or a whole number written out."""
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
    """A text that must be there and not empty."""
    if isinstance(value, str) and value.strip():
        return str(whole(endpoint, name, value))
    raise wrong(endpoint, f"{name} is {shown(value)}.", f"Give a {name} that is not empty.")


def topic(endpoint: Endpoint, value: object) -> str:
    """A room's topic: under 150 bytes in UTF-8 (section 8)."""
    written = needed_text(endpoint, "topic", value)
    size = len(written.encode())
    if size >= TOPIC_BYTES:
        raise wrong(
            endpoint,
            f"topic is {size} bytes long in UTF-8; it has to be under {TOPIC_BYTES}.",
            "Shorten it: a letter outside ASCII takes 2 to 4 bytes.",
        )
    return written


def whole_number(endpoint: Endpoint, name: str, value: object) -> int | None:
    """A whole number, or None; a float counts when nothing stands behind its point."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        if not isinstance(value, bool | str):
            return operator.index(value)  # type: ignore[arg-type]  # the TypeError is the test
    except TypeError:
        pass
    raise wrong(
        endpoint,
        f"{name} is {shown(value)}, not a whole number.",
        "Give a number, or None where there is none.",
    )


def mode(endpoint: Endpoint, value: object) -> int | str:
    """A room mode; its values are not shown in the interface, so any number or text passes."""
    if isinstance(value, str) and value.strip():
        return str(whole(endpoint, "room_mode", value))
    found = whole_number(endpoint, "room_mode", value)
    if found is None:
        raise wrong(endpoint, "room_mode is missing.", "Deployments use 1 (MCU) as a rule.")
    return found


def user_address(endpoint: Endpoint, value: object) -> Guarded:
    """A device's address with its scheme, such as rtsp://host:554/path; a masked one is refused."""
    written = GuardedAddress(value) if isinstance(value, str) else ""
    if not _ADDRESS.fullmatch(written) or not written.isprintable():
        given = repr(mask_address(written, broken=True)) if written else shown(value)
        raise wrong(
            endpoint, f"user_address is {given}, not an address.",
            "Write it as scheme://host:port/path, such as rtsp://192.0.2.7:554/stream1.",
        )  # fmt: skip
    unmasked(endpoint, "user_address", written)
    return Guarded(written)


def unmasked(endpoint: Endpoint, name: str, value: str) -> None:
    """Nothing, when the text is real; one whose secret was masked is refused."""
    if MASK in value:
        raise wrong(
            endpoint, f"{name} is masked ({MASK} stands where its secret was).",
            "Take the device from list_devices(client, room_id), or the frame with secrets=True.",
        )  # fmt: skip


def shallow(endpoint: Endpoint, given: object) -> None:
    """Nothing, when options can be looked through; those that are nested too deep are refused."""
    if too_deep(given, DEEPEST_VALUE):
        raise wrong(
            endpoint, f"options is nested more than {DEEPEST_VALUE} deep, or holds itself.",
            "Give an object whose values are texts, numbers or small lists and dicts.",
        )  # fmt: skip


def options(
    endpoint: Endpoint, given: object, login_name: str | None, login_password: Secret | None
) -> dict[str, Any]:
    """The `options` object of B1: what was given, with the login in the interface's keys."""
    if given is not None and not isinstance(given, Mapping):
        raise wrong(
            endpoint, f"options is {type(given).__name__}, not an object.",
            'Give a dict, such as {"assist_address": "rtsp://..."}.',
        )  # fmt: skip
    merged = dict(given or {})
    for name, value in (("login_name", login_name), ("login_password", login_password)):
        if value is None:
            continue
        if not isinstance(value, str):
            raise wrong(endpoint, f"{name} is not a text.", "Give it as text.")
        whole(endpoint, name, value)
        if merged.get(name, value) != value:
            raise wrong(
                endpoint, f"{name} is given twice, in options and by itself, and they differ.",
                "Give it once.",
            )  # fmt: skip
        merged[name] = value
    try:
        written = compact(merged)
        json.dumps(merged, allow_nan=False)
    except (TypeError, ValueError):
        raise wrong(
            endpoint, "options holds something that JSON cannot carry.",
            "Give texts, numbers, lists and dicts.",
        ) from None  # fmt: skip
    whole(endpoint, "options", written)
    for name, value in merged.items():
        if isinstance(value, str):
            unmasked(endpoint, f"options[{name!r}]", value)
    return merged
