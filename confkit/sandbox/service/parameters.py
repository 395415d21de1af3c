"""Where a call's parameters stand, and whether they are all there.

The dialect says where they belong; what stands elsewhere does not count. A parameter that is given
twice is wrong (assumed: the interface does not say which of the two would count).
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from ... import wire
from ...dialect import Dialect
from ...endpoints import Endpoint
from ...records import DEEPEST, too_deep
from . import explain
from .state import Refused

PLACES = {"query": "query string", "form": "form body", "json": "JSON body"}
_TYPES = {"form": "application/x-www-form-urlencoded", "json": "application/json"}
_ENCODED = re.compile(rb"(?:^|&)userAddress=[^&]*%3a", re.IGNORECASE)
_EXTRA = {"A2": ("room_type", "start_time", "end_time")}  # seen in deployments


class Route(NamedTuple):
    """How an operation has to be called in a dialect: HTTP method, the token's name (None for A1),
    and the place of its parameters."""

    endpoint: Endpoint
    method: str
    token: str | None
    place: str


def route(endpoint: Endpoint, dialect: Dialect) -> Route:
    """Return how a client of this dialect calls the operation."""
    token = None if endpoint.token is None else ""
    written = wire.write(wire.Request(endpoint, {}), "", token, dialect)
    return Route(endpoint, written.method, next(iter(written.fields), None), written.placement)


class Given(NamedTuple):
    """The parameters that stand where they belong, the names that came twice, and the names that
    stand elsewhere with their place; `trouble` says why a body could not be read."""

    values: Mapping[str, Any]
    twice: frozenset[str]
    place: str
    elsewhere: Mapping[str, str]
    trouble: str = ""


def query(raw: bytes) -> list[tuple[str, str]]:
    """Return the pairs of a query string or form; bytes that are no UTF-8 stay recognisable."""
    return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")


def callback(pairs: list[tuple[str, str]]) -> str | None:
    """Return the function that JSONP is asked for; of several the last one counts, as browsers'
    libraries append theirs (seen in deployments)."""
    return next((value for name, value in reversed(pairs) if name == "callback"), None)


def find(pairs: list[tuple[str, str]], body: bytes, content_type: str, place: str) -> Given:
    """Return the parameters of a call whose dialect puts them into `place`."""
    sent_as = content_type.partition(";")[0].strip().lower()
    written = next((kind for kind, name in _TYPES.items() if name == sent_as), "")
    in_body: Sequence[tuple[str, Any]] = []
    trouble = ""
    if body and written:
        try:
            in_body = query(body) if written == "form" else _members(body)
        except (ValueError, RecursionError):
            trouble = f"the {PLACES[written]} cannot be read"
    if place == "query":
        right: Sequence[tuple[str, Any]] = pairs
        elsewhere = {name: PLACES[written] for name, _ in in_body}
    else:
        right = in_body if written == place else []
        elsewhere = {name: PLACES["query"] for name, _ in pairs}
        if body and written != place:
            elsewhere |= {name: PLACES[written] for name, _ in in_body}
            trouble = f"the body is not of the type {_TYPES[place]}"
    times = Counter(name for name, _ in right)
    twice = frozenset(name for name, count in times.items() if count > 1)
    return Given(dict(right), twice, place, elsewhere, trouble)


def check(endpoint: Endpoint, given: Given) -> dict[str, Any]:
    """Return the operation's parameters; a missing or wrong one is Refused (407 in A, 401 in B).

    A required parameter that is empty is missing, an optional one that is empty is not given
    (assumed). Unknown parameters are ignored.
    """
    wrong = 407 if endpoint.interface == "A" else 401
    known = {}
    for name in (*endpoint.required, *endpoint.optional, *_EXTRA.get(endpoint.key, ())):
        if name in given.twice:
            raise Refused(wrong, f"{name} is given twice")
        value = given.values.get(name)
        if name == "options":
            value = _options(value, given.place == "json")
        elif value is not None and not isinstance(value, str):
            raise Refused(wrong, f"{name} is not a text")
        if isinstance(value, str) and not _is_utf8(value):
            raise Refused(wrong, f"{name} is not UTF-8")
        if value not in (None, ""):
            known[name] = value
        elif name in endpoint.required:
            why = f"{name} is empty" if name in given.values else absent(endpoint, name, given)
            raise Refused(wrong, why)
    return known


def absent(endpoint: Endpoint, name: str, given: Given) -> str:
    """Return why a parameter was not found under its name."""
    if given.trouble and name not in given.elsewhere:
        return given.trouble
    names = [known for known, value in given.values.items() if value]
    return explain.missing(endpoint, name, names, given.elsewhere, PLACES[given.place])


def empty(endpoint: Endpoint, given: Given) -> list[str]:
    """Return the optional parameters that came without a value; they count as not given."""
    return [name for name in endpoint.optional if given.values.get(name, "-") in (None, "")]


def rest_of_address(endpoint: Endpoint, given: Given, raw: bytes) -> str:
    """Return what is said where an unknown name stands right behind a device's address that was not
    percent-encoded in the `raw` query or form: an & may have cut it. Nothing of it is quoted, as it
    may be the rest of a password."""
    if "userAddress" not in given.values or given.place == "json" or _ENCODED.search(raw):
        return ""
    names = list(given.values)
    behind = names[names.index("userAddress") + 1 :][:1]
    # Browsers' libraries append "_" against caches.
    known = {*endpoint.required, *endpoint.optional, *explain.TOKEN_SPELLINGS, "callback", "_"}
    return (
        "an unknown parameter came right behind userAddress: if it belongs to the address, an & "
        "there has to be percent-encoded"
        if not known.issuperset(behind)
        else ""
    )


def _is_utf8(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _options(value: Any, in_json: bool) -> dict[str, Any] | None:
    if value in (None, ""):
        return None
    if not in_json:
        try:
            value = dict(_members(value.encode()))
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        kind = "a JSON object" if in_json else "the JSON text of an object"
        raise Refused(401, f"options is not {kind}")
    if too_deep(value):
        raise Refused(401, f"options is nested more than {DEEPEST} deep")
    return value


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
