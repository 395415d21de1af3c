"""JSON as an answer has to be: what can be read in two ways is not read at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DEEPEST = 200  # levels of lists and objects; the interface has five
DEEPEST_VALUE = 100  # of one that travels inside, such as a device's options
_DEEP = f"JSON of more than {DEEPEST} levels"


class NotPlainError(ValueError):
    """It is JSON, but none that everybody reads in the same way; the text says why."""


def read_json(data: bytes | str) -> Any:
    """The value that is written there; ValueError where it is no JSON: not in UTF-8 (or UTF-16,
    UTF-32), NaN, Infinity.

    NotPlainError where it is more than 200 levels deep, or a name stands twice in an object with
    different values: parsers differ in which they take.
    """
    try:
        # json.loads would take bytes for letters that are none, and a name for another.
        text = data.decode(json.detect_encoding(data)) if isinstance(data, bytes) else data
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object)
    except RecursionError:
        raise NotPlainError(_DEEP) from None
    if text.count("[") + text.count("{") > DEEPEST and too_deep(value, DEEPEST):
        raise NotPlainError(_DEEP)
    return value


def flaw(data: bytes | str) -> str:
    """What it is instead of plain JSON, in a few words."""
    try:
        read_json(data)
    except NotPlainError as error:
        return str(error)
    except ValueError:
        pass
    return "JSON that is cut off or broken"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for name, value in pairs:
            if repr(found[name]) != repr(value):  # True is no 1
                raise NotPlainError("JSON in which a name stands twice, with different values")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def too_deep(value: Any, levels: int) -> bool:
    """Whether a value holds others in others more than so many levels deep, or itself: what goes
    down in it by calls would not come back."""
    level = [value]
    for _ in range(levels + 1):
        held = [one.values() if isinstance(one, Mapping) else one
                for one in level if isinstance(one, Mapping | list | tuple)]  # fmt: skip
        level = list({id(inner): inner for items in held for inner in items}.values())
        if not level:
            return False
    return True
