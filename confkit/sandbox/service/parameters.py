"""Where a call's parameters stand, whether they are all there, and in words why not.

The dialect says where they belong; what stands elsewhere does not count. A parameter that is given
twice is wrong (assumed: the interface does not say which of the two would count). No text here
holds a secret or quotes a value that came in.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from ...dialect import Dialect
from ...operations import OPERATIONS, Operation
from ...secret import Secret, hide
from ...wire import prepare
from .state import Refused

TOKEN_SPELLINGS = ("access_token", "accessToken", "access_tocken", "token")
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
# Where parameters can stand: in the query string, or in a body of one of these content types.
_PLACES = {None: "query string", _FORM: "form body", _JSON: "JSON body"}
# A camera's address that was not percent-encoded, and the name behind the & that follows it.
_CUT = re.compile(rb"(?:^|&)userAddress=[^&%]*:[^&]*&([^&=]*)")
_NO_LETTER = re.compile("[\ud800-\udfff]")  # what `query` makes of bytes that are no UTF-8
_TOPIC_BYTES = 149  # at most (section 8)
_MOST = 10**18  # of any number (assumed)


class Route(NamedTuple):
    """How an operation is called in a dialect: by HTTP method, with the token under a name (None
    for A1) and the parameters in a place; `wrong` is the code for a wrong one."""

    endpoint: Operation
    method: str
    token: str | None
    place: str | None
    wrong: int


def route(endpoint: Operation, dialect: Dialect) -> Route:
    """Return how a client of this dialect calls the operation."""
    request = prepare(endpoint, {}, "", Secret(""), dialect)
    wrong = 407 if endpoint.interface == "A" else 401
    kind = request.headers.get("Content-Type")
    return Route(endpoint, request.method, request.token_parameter, kind, wrong)


def query(raw: bytes) -> list[tuple[str, Any]]:
    """Return the pairs of a query string or form; bytes that are no UTF-8 stay recognisable."""
    return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")


class Given:
    """The parameters of a call by its `route`: the `values` of those that stand where they
    belong."""

    def __init__(self, route: Route, query_string: bytes, body: bytes, content_type: str) -> None:
        self.route = route
        kind = content_type.partition(";")[0].strip().lower()
        places: dict[str | None, list[tuple[str, Any]]] = {None: query(query_string)}
        self._trouble = ""  # why a body could not be read
        if body and kind in _PLACES:
            try:
                places[kind] = query(body) if kind == _FORM else _members(body)
            except (ValueError, RecursionError):
                self._trouble = f"the {_PLACES[kind]} cannot be read"
        if body and route.place not in (None, kind):
            self._trouble = f"the body is not of the type {route.place}"
        right = places.pop(route.place, [])
        self.values = dict(right)
        self._times = Counter(name for name, _ in right)
        self._elsewhere = {name: _PLACES[at] for at, pairs in places.items() for name, _ in pairs}
        self._raw = body if route.place else query_string

    def value(self, name: str, wrong: int, needed: bool = True) -> Any:
        """Return the parameter's value, None where it is empty or not there; Refused with the
        code `wrong` where it did not come once, is not what it has to be, or is `needed` and
        missing."""
        value = self.values.get(name)
        try:
            if self._times[name] > 1:
                raise ValueError(f"{name} is given twice")
            if needed and not value:
                raise ValueError(f"{name} is empty" if name in self.values else self._absent(name))
            if value in (None, ""):
                return None
            if name == "options":
                return _options(value, self.route.place == _JSON)
            if not isinstance(value, str):
                raise ValueError(f"{name} is not a text")
            if _NO_LETTER.search(value):
                raise ValueError(f"{name} is not UTF-8")
            return _READ[name](name, value) if name in _READ else value
        except ValueError as error:
            raise Refused(wrong, str(error)) from None

    def check(self) -> dict[str, Any]:
        """Return the operation's parameters; a missing or wrong one is Refused (407 in A, 401 in
        B).

        A required parameter that is empty is missing, an optional one that is empty or not given
        is None (assumed). Unknown parameters are ignored.
        """
        endpoint, wrong = self.route.endpoint, self.route.wrong
        names = (*endpoint.required, *endpoint.optional)
        return {name: self.value(name, wrong, name in endpoint.required) for name in names}

    def _absent(self, name: str) -> str:
        """Return why a parameter was not found: another place, another spelling, a body that
        cannot be read, or not there at all."""
        if name in self._elsewhere:
            place, other = _PLACES[self.route.place], self._elsewhere[name]
            return f"parameters belong in the {place} here, not in the {other} ({name})"
        names = TOKEN_SPELLINGS if name in TOKEN_SPELLINGS else (name,)
        spellings = [_plain(name) for name in names]
        for other in (*self.values, *self._elsewhere):
            if _plain(other) in spellings:
                return f"{self.route.endpoint.key} spells it {name}, not {other}"
        return self._trouble or f"{name} is missing"

    def rest_of_address(self) -> str:
        """Return what is said where an unknown name stands right behind a device's address that was
        not percent-encoded: an & may have cut it. Nothing of it is quoted, as it may be the rest of
        a password."""
        cut, endpoint = _CUT.search(self._raw), self.route.endpoint
        known = {*endpoint.required, *endpoint.optional, *TOKEN_SPELLINGS, "callback", "_"}
        if not cut or unquote_to_bytes(cut[1]).decode("latin-1") in known:  # "_": against caches
            return ""
        return (
            "an unknown parameter came right behind userAddress: if it belongs to the address, an "
            "& there has to be percent-encoded"
        )


def wrong_route(path: str, method: str, interface: str, routes: Mapping[str, Route]) -> str:
    """Return why no operation was found: `routes` are those of this port, by their paths."""
    for key, endpoint in OPERATIONS.items():
        if endpoint.path == path:
            port = f"{key} is served on the port of interface {endpoint.interface}"
            if path in routes:
                return f"{key} is {routes[path].method} here, not {method}"
            return f"{port}, this is the port of {interface}"
    return f"unknown path; interface {interface} has {', '.join(routes)}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _whole(name: str, text: str, least: int = 0, most: int = _MOST) -> int:
    if not (re.fullmatch("[0-9]{1,18}", text) and least <= int(text) <= most):
        raise ValueError(f"{name} is no whole number" + f" from 1 to {most}" * least)
    return int(text)


def _topic(name: str, text: str) -> str:
    size = len(text.encode())
    if size > _TOPIC_BYTES:
        raise ValueError(f"{name} has {size} bytes, at most {_TOPIC_BYTES} fit")
    return text


# How texts are read that are more than texts.
_READ: dict[str, Callable[[str, str], Any]] = {
    "topic": _topic,
    "room_mode": partial(_whole, least=1, most=4),
    **dict.fromkeys(("attendee_max", "max_audio", "max_video"), _whole),
}


def _options(value: Any, in_json: bool) -> dict[str, Any]:
    try:
        options = value if in_json else dict(_members(value.encode()))
    except (ValueError, RecursionError):
        options = None
    if not isinstance(options, dict):
        what = "a JSON" if in_json else "the JSON text of an"
        raise ValueError(f"options is not {what} object")
    hide(options)  # ValueError where they are nested deeper than a client reads them
    return options


def _members(text: bytes) -> list[tuple[str, Any]]:
    """Return the members of a JSON object, doubled ones too; ValueError where it is none."""
    value = json.loads(text.decode())
    if not isinstance(value, dict):
        raise ValueError("no object")
    # Infinity, NaN and half a surrogate pair come through loads, and could not be answered back.
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return [(name, value[name]) for name, _ in json.loads(text, object_pairs_hook=list)]
