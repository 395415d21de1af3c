"""Read and check the parameters of a call, and explain what is wrong with them.

The dialect says where they belong; parameters elsewhere do not count. A parameter given twice is
wrong in a query or form (assumed: the interface does not say which would count). No text here
contains a secret or quotes a value.
"""

import json
import re
from contextlib import suppress
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl

from ..dialect import Dialect
from ..operations import Operation
from ..secret import TOKEN_NAMES, hide
from .devices import Refused

PLACES = {"query": "query string", "form": "form body", "json": "JSON body"}
MOST_PAIRS = 1_000  # of a query string or form
_CONTENT_TYPES = {"application/x-www-form-urlencoded": "form", "application/json": "json"}
_NOT_UTF8 = re.compile("[\ud800-\udfff]")  # `pairs` decodes invalid bytes to these

Pairs = list[tuple[str, Any]]


class Route(NamedTuple):
    """How an operation is called in a dialect: its HTTP method, the place of its parameters, the
    token's name (None for A1), each with the dialect's setting, and the code for wrong parameters.
    """

    operation: Operation
    method: str
    method_setting: str
    token_name: str | None
    token_setting: str
    place: str
    error_code: int

    @classmethod
    def of(cls, operation: Operation, dialect: Dialect) -> Self:
        """Return how a client of this dialect calls the operation."""
        key, in_a = operation.key, operation.interface == "A"
        method_setting = {"B1": "create_method", "B3": "list_method"}.get(key, "")
        method = getattr(dialect, method_setting, "GET")
        setting = "token_parameter" if in_a and operation.token else ""
        if key == "B2" or (key == "A5" and dialect.mcu_token_parameter):
            setting = {"B2": "remove_token_parameter", "A5": "mcu_token_parameter"}[key]
        token = getattr(dialect, setting, operation.token)
        place = dialect.placement if method == "POST" else "query"
        return cls(operation, method, method_setting, token, setting, place, 407 if in_a else 401)


class Parameters:
    """The parameters of a call that are in the place where its `route` expects them."""

    def __init__(self, route: Route, query: Pairs, body: bytes, content_type: str) -> None:
        self._route = route
        places = {"query": query}
        kind = _CONTENT_TYPES.get(content_type.partition(";")[0].strip().lower())
        with suppress(ValueError, RecursionError):
            if body and kind:
                places[kind] = pairs(body) if kind == "form" else list(_members(body).items())
        self._own = places.pop(route.place, [])
        self._elsewhere = {name: place for place, members in places.items() for name, _ in members}

    def read(self) -> dict[str, Any]:
        """Return the operation's parameters; Refused if one is missing or wrong. An optional one
        that is empty or missing is None (assumed); unknown ones are ignored."""
        operation, error_code = self._route.operation, self._route.error_code
        values = {name: self.value(name, error_code) for name in operation.required}
        return values | {name: self.value(name, error_code, False) for name in operation.optional}

    def value(self, name: str, error_code: int, required: bool = True) -> Any:
        """Return a parameter's value, None if it is empty or missing and not `required`; Refused
        with the `error_code` if it is given twice or of the wrong type."""
        values = [value for own, value in self._own if own == name]
        value, why = values[0] if values else None, ""
        if len(values) > 1:
            why = f"{name} is given twice"
        elif value in (None, ""):
            why = (f"{name} is empty" if values else self._explain_missing(name)) * required
            value = None
        elif name == "options":
            return _options(value, error_code, self._route.place == "json")
        elif not isinstance(value, str):
            why = f"{name} is not a text: put it in quotes"
        elif _NOT_UTF8.search(value):
            why = f"{name} is not a text in UTF-8"
        if why:
            raise Refused(error_code, why)
        return value

    def _explain_missing(self, name: str) -> str:
        route, is_token = self._route, name == self._route.token_name
        if name in self._elsewhere:
            place, other = PLACES[route.place], PLACES[self._elsewhere[name]]
            why = f"parameters belong in the {place} here, not in the {other} ({name})"
            return with_setting(why, "placement" * (route.method == "POST"), route.place)
        for other in (*(own for own, _ in self._own), *self._elsewhere):
            is_other_token = is_token and other.lower().endswith(TOKEN_NAMES)
            if is_other_token or _fold(other) == _fold(name):
                why = f"{route.operation.key} spells it {name}, not {other}"
                return with_setting(why, route.token_setting * is_token, name)
        if route.place != "query" and not self._own:
            return f"no {PLACES[route.place]} can be read: check it and its Content-Type"
        return f"{name} is missing"


def pairs(raw: bytes) -> Pairs:
    """Return the pairs of a query string or form, none if there are too many; invalid UTF-8 is kept
    as surrogates."""
    if raw.count(b"&") > MOST_PAIRS:  # parsing them would block other callers
        return []
    return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")


def with_setting(why: str, setting: str, value: str) -> str:
    """Return the reason with the dialect's setting that would fix it, if there is one."""
    return f"{why}: Dialect({setting}={value!r})" if setting else why


def _fold(name: str) -> str:
    return name.replace("_", "").lower()


def _options(value: Any, error_code: int, in_json: bool) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        options = value if in_json else _members(value.encode())
        if isinstance(options, dict):
            hide(options)  # ValueError: nested too deep for clients
            return options
    kind = "a JSON" if in_json else "the JSON text of an"
    raise Refused(error_code, f"options is not {kind} object")


def _members(text: bytes) -> dict[str, Any]:
    """Return a JSON object; ValueError if it is none, or too long to hold up other callers."""
    if text.count(b",") > 20 * MOST_PAIRS:
        raise ValueError("too many members")
    value = json.loads(text)  # in UTF-8 or UTF-16, with or without a mark
    if not isinstance(value, dict):
        raise ValueError("not an object")
    # loads accepts Infinity, NaN and lone surrogates, which could not be sent back.
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value
