"""Where a call's parameters stand, whether they are all there, and in words why not.

The dialect says where they belong; what stands elsewhere does not count. A parameter that is given
twice is wrong (assumed: the interface does not say which of the two would count). No text here
holds a secret or quotes a value that came in.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from ... import wire
from ...dialect import Dialect
from ...endpoints import ENDPOINTS, Endpoint
from ...records import DEEPEST, too_deep
from .state import Refused

TOKEN_SPELLINGS = ("access_token", "accessToken", "access_tocken", "token")
PLACES = {"query": "query string", "form": "form body", "json": "JSON body"}
_TYPES = {"application/x-www-form-urlencoded": "form", "application/json": "json"}
# A camera's address that was not percent-encoded, and the name behind the & that follows it.
_CUT = re.compile(rb"(?:^|&)userAddress=[^&%]*:[^&]*&([^&=]*)")
_NO_LETTER = re.compile("[\ud800-\udfff]")  # what `query` makes of bytes that are no UTF-8
_EXTRA = {"A2": ("room_type", "start_time", "end_time")}  # seen in deployments


class Route(NamedTuple):
    """How an operation has to be called in a dialect: HTTP method, the token's name (None for A1),
    the place of its parameters, and the code for a wrong one."""

    endpoint: Endpoint
    method: str
    token: str | None
    place: str
    wrong: int


def route(endpoint: Endpoint, dialect: Dialect) -> Route:
    """Return how a client of this dialect calls the operation."""
    written = wire.write(wire.Request(endpoint, {}), "", endpoint.token, dialect)
    wrong = 407 if endpoint.interface == "A" else 401
    return Route(
        endpoint, written.method, next(iter(written.fields), None), written.placement, wrong
    )


def query(raw: bytes) -> list[tuple[str, Any]]:
    """Return the pairs of a query string or form; bytes that are no UTF-8 stay recognisable."""
    return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")


def callback(pairs: list[tuple[str, str]]) -> str | None:
    """Return the function that JSONP is asked for; of several the last one counts, as browsers'
    libraries append theirs (seen in deployments)."""
    return next((value for name, value in reversed(pairs) if name == "callback"), None)


class Given(NamedTuple):
    """The parameters that stand where they belong, the names that came twice, and the names that
    stand elsewhere with their place; `trouble` says why a body could not be read, `raw` is what
    the parameters were read from."""

    route: Route
    values: Mapping[str, Any]
    twice: frozenset[str]
    elsewhere: Mapping[str, str]
    trouble: str
    raw: bytes

    def value(self, name: str, wrong: int, needed: bool = True) -> Any:
        """Return the parameter's value, None where it is empty or not there; Refused with the
        code `wrong` where it is no text that came once, or `needed` and missing."""
        value, why = self.values.get(name), ""
        if name in self.twice:
            why = f"{name} is given twice"
        elif name == "options":
            value, why = _options(value, self.route.place == "json")
        elif value is not None and not isinstance(value, str):
            why = f"{name} is not a text"
        elif value and _NO_LETTER.search(value):
            why = f"{name} is not UTF-8"
        elif not value and needed:
            why = f"{name} is empty" if name in self.values else self._absent(name)
        if why:
            raise Refused(wrong, why)
        return None if value == "" else value

    def check(self) -> dict[str, Any]:
        """Return the operation's parameters; a missing or wrong one is Refused (407 in A, 401 in
        B).

        A required parameter that is empty is missing, an optional one that is empty is not given
        (assumed). Unknown parameters are ignored.
        """
        endpoint, wrong = self.route.endpoint, self.route.wrong
        known = {name: self.value(name, wrong) for name in endpoint.required}
        for name in (*endpoint.optional, *_EXTRA.get(endpoint.key, ())):
            known[name] = self.value(name, wrong, needed=False)
        return {name: value for name, value in known.items() if value is not None}

    def empty(self) -> list[str]:
        """Return the optional parameters that came without a value; they count as not given."""
        optional = self.route.endpoint.optional
        return [name for name in optional if self.values.get(name, "-") in (None, "")]

    def _absent(self, name: str) -> str:
        """Return why a parameter was not found: another place, another spelling, a body that
        cannot be read, or not there at all."""
        if name in self.elsewhere:
            place, other = PLACES[self.route.place], self.elsewhere[name]
            return f"parameters belong in the {place} here, not in the {other} ({name})"
        spellings = {_plain(name)}
        if name in TOKEN_SPELLINGS:
            spellings.update(map(_plain, TOKEN_SPELLINGS))
        for other in (*self.values, *self.elsewhere):
            if _plain(other) in spellings:
                return f"{self.route.endpoint.key} spells it {name}, not {other}"
        return self.trouble or f"{name} is missing"

    def rest_of_address(self) -> str:
        """Return what is said where an unknown name stands right behind a device's address that was
        not percent-encoded: an & may have cut it. Nothing of it is quoted, as it may be the rest of
        a password."""
        cut, endpoint = _CUT.search(self.raw), self.route.endpoint
        known = {*endpoint.required, *endpoint.optional, *TOKEN_SPELLINGS, "callback", "_"}
        if not cut or unquote_to_bytes(cut[1]).decode("latin-1") in known:  # "_": against caches
            return ""
        return (
            "an unknown parameter came right behind userAddress: if it belongs to the address, an "
            "& there has to be percent-encoded"
        )


def find(found: Route, query_string: bytes, body: bytes, content_type: str) -> Given:
    """Return the parameters of a call."""
    places, trouble = {"query": query(query_string)}, ""
    written = _TYPES.get(content_type.partition(";")[0].strip().lower(), "")
    if body and written:
        try:
            places[written] = query(body) if written == "form" else _members(body)
        except (ValueError, RecursionError):
            trouble = f"the {PLACES[written]} cannot be read"
    if body and found.place != written and found.place != "query":
        wanted = next(kind for kind, place in _TYPES.items() if place == found.place)
        trouble = f"the body is not of the type {wanted}"
    right = places.pop(found.place, [])
    elsewhere = {name: PLACES[place] for place, pairs in places.items() for name, _ in pairs}
    times = Counter(name for name, _ in right)
    twice = frozenset(name for name, count in times.items() if count > 1)
    raw = query_string if found.place == "query" else body
    return Given(found, dict(right), twice, elsewhere, trouble, raw)


def wrong_route(path: str, method: str, interface: str, methods: Mapping[str, str]) -> str:
    """Return why no operation was found: `methods` maps the paths of this port to their methods."""
    endpoint = next((one for one in ENDPOINTS.values() if one.path == path), None)
    if endpoint is None:
        return f"unknown path; interface {interface} has {', '.join(methods)}"
    if endpoint.interface != interface:
        return (
            f"{endpoint.key} is served on the port of interface {endpoint.interface}, "
            f"this is the port of {interface}"
        )
    return f"{endpoint.key} is {methods[path]} here, not {method}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _options(value: Any, in_json: bool) -> tuple[dict[str, Any] | None, str]:
    """Return the options, and what is wrong with them."""
    if value in (None, ""):
        return None, ""
    if not in_json:
        try:
            value = dict(_members(value.encode()))
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        return None, f"options is not {'a JSON' if in_json else 'the JSON text of an'} object"
    return value, f"options is nested more than {DEEPEST} deep" if too_deep(value) else ""


def _members(text: bytes) -> list[tuple[str, Any]]:
    """Return the members of a JSON object, doubled ones too; ValueError where it is none."""
    objects: list[list[tuple[str, Any]]] = []

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        objects.append(pairs)
        return dict(pairs)

    value = json.loads(text.decode(), object_pairs_hook=kept)
    if not isinstance(value, dict):
        raise ValueError("no object")
    # Infinity, NaN and half a surrogate pair come through loads, and could not be answered back.
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return objects[-1]  # the outermost ends last
