"""Where a call's parameters stand, and whether they are all there.

The dialect says where they belong; what stands elsewhere does not count. A parameter that is given
twice is wrong (assumed: the interface does not say which of the two would count).
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from ..dialect import Dialect
from ..endpoints import Endpoint
from ..records import DEEPEST, too_deep
from . import explain
from .service import Refused

PARAMETERS = 1_000  # in one query or form; more are wrong, before much time goes into them
PLACES = {"query": "query string", "form": "form body", "json": "JSON body"}
_TYPES = {"form": "application/x-www-form-urlencoded", "json": "application/json"}
_ENCODED = re.compile(rb"(?:^|&)userAddress=[^&]*%3a", re.IGNORECASE)
_PAST_LOGIN = re.compile(r"\w+://[^/?]+[/?]")  # the rest of such an address holds no login
_EXTRA = {"A2": ("room_type", "start_time", "end_time")}  # seen in deployments


class Given(NamedTuple):
    """The parameters that stand where they belong, the names that came twice, and the names that
    stand elsewhere with their place; `trouble` says why a body could not be read."""

    values: Mapping[str, Any]
    twice: frozenset[str]
    place: str
    elsewhere: Mapping[str, str]
    trouble: str = ""


def method(endpoint: Endpoint, dialect: Dialect) -> str:
    """The HTTP method of an operation in this dialect."""
    return {"B1": dialect.create_method, "B3": dialect.list_method}.get(endpoint.key, "GET")


def token_name(endpoint: Endpoint, dialect: Dialect) -> str | None:
    """The token's name in an operation; None for A1. B1 and B3 keep the interface's spelling."""
    if endpoint.key == "B2":
        return dialect.remove_token_parameter
    if endpoint.interface == "B" or endpoint.token is None:
        return endpoint.token
    if endpoint.key == "A5" and dialect.mcu_token_parameter:
        return dialect.mcu_token_parameter
    return dialect.token_parameter


def query(raw: bytes) -> list[tuple[str, str]]:
    """The pairs of a query string; bytes that are no UTF-8 stay recognisable as such. ValueError
    where there are too many."""
    return parse_qsl(
        raw.decode("latin-1"), keep_blank_values=True, errors="surrogateescape",
        max_num_fields=PARAMETERS,
    )  # fmt: skip


def callback(pairs: list[tuple[str, str]]) -> str | None:
    """The function that JSONP is asked for; of several the last one counts, as browsers' libraries
    append theirs (seen in deployments)."""
    return next((value for name, value in reversed(pairs) if name == "callback"), None)


def find(pairs: list[tuple[str, str]], body: bytes, content_type: str, place: str) -> Given:
    """The parameters of a call whose dialect puts them into `place`."""
    written, trouble = "query", ""
    in_body: list[tuple[str, Any]] = []
    for kind, name in _TYPES.items():
        if body and content_type.partition(";")[0].strip().lower() == name:
            written = kind
            try:
                in_body = _form(body) if kind == "form" else _json(body)
            except (ValueError, RecursionError):
                trouble = f"the {PLACES[kind]} cannot be read"
    if place == "query":
        right: Sequence[tuple[str, Any]] = pairs
        elsewhere = {name: PLACES[written] for name, _ in in_body}
    else:
        right = in_body if written == place else []
        elsewhere = {name: PLACES["query"] for name, _ in pairs}
        if body and written != place:
            elsewhere |= {name: PLACES[written] for name, _ in in_body}
            if not in_body or (place == "json" and _is_object(body)):
                trouble = f"the body is not of the type {_TYPES[place]}"
    values = dict(right)
    twice = frozenset[str]()
    if len(values) < len(right):
        count = Counter(name for name, _ in right)
        twice = frozenset(name for name, times in count.items() if times > 1)
    return Given(values, twice, PLACES[place], elsewhere, trouble)


def check(endpoint: Endpoint, given: Given) -> dict[str, Any]:
    """The operation's parameters; a missing or wrong one is Refused (407 in A, 401 in B).

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
            value = _options(value, given.place == PLACES["json"])
        elif value is not None and not isinstance(value, str):
            raise Refused(wrong, f"{name} is not a text")
        if isinstance(value, str) and not _is_utf8(value):
            raise Refused(wrong, f"{name} is not UTF-8")
        if value not in (None, ""):
            known[name] = value
        elif name in endpoint.required:
            why = f"{name} is empty" if name in given.values else _absent(endpoint, name, given)
            raise Refused(wrong, why)
    return known


def empty(endpoint: Endpoint, given: Given) -> list[str]:
    """The optional parameters that came without a value; they count as not given."""
    return [name for name in endpoint.optional if given.values.get(name, "-") in (None, "")]


def rest_of_address(endpoint: Endpoint, given: Given, raw: bytes) -> str:
    """What looks like the rest of a device's address that was not percent-encoded: unknown names
    right behind it in the `raw` query or form. Empty where there is none; quotes no value."""
    address = given.values.get("userAddress")
    if not isinstance(address, str) or given.place == PLACES["json"] or _ENCODED.search(raw):
        return ""
    names = list(given.values)
    # Browsers' libraries append "_" against caches.
    known = {*endpoint.required, *endpoint.optional, *explain.TOKEN_SPELLINGS, "callback", "_"}
    rest = list(takewhile(lambda name: name not in known, names[names.index("userAddress") + 1 :]))
    if not rest:
        return ""
    # A login with an & in it would be cut as well: then nothing of it is quoted.
    values = "".join(f"{name}{given.values[name]}" for name in rest)
    plain = _PAST_LOGIN.match(address) and "@" not in values
    quoted = [n for n in rest if plain and n.isidentifier() and len(n) < 25 and given.values[n]]
    what = f"{', '.join(quoted[:5])} ({endpoint.key} knows no such parameter)" if quoted else "more"
    return (
        f"{what} came right behind userAddress: if it belongs to the address, an & there has to be "
        "percent-encoded"
    )


def absent_token(endpoint: Endpoint, name: str, given: Given) -> str:
    """Why no token was found under its name."""
    return given.trouble or _absent(endpoint, name, given)


def _absent(endpoint: Endpoint, name: str, given: Given) -> str:
    names = [known for known, value in given.values.items() if value]
    why = explain.missing(endpoint, name, names, given.elsewhere, given.place)
    return f"{why}; {given.trouble}" if given.trouble else why


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
            value = _plain_json(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        kind = "a JSON object" if in_json else "the JSON text of an object"
        raise Refused(401, f"options is not {kind}")
    if too_deep(value):
        raise Refused(401, f"options is nested more than {DEEPEST} deep")
    return value


def _form(body: bytes) -> list[tuple[str, Any]]:
    return list(parse_qsl(
        body.decode(), keep_blank_values=True, errors="surrogateescape", max_num_fields=PARAMETERS
    ))  # fmt: skip


def _is_object(body: bytes) -> bool:
    """Whether a body is a JSON object, whatever its type says."""
    try:
        return bool(_json(body))
    except (ValueError, RecursionError):
        return False


def _json(body: bytes) -> list[tuple[str, Any]]:
    members = _Members()
    value = _plain_json(body.decode(), members)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return members.outermost


class _Members:
    """Keeps the members of the object that ends last, which is the outermost, doubled ones too."""

    def __init__(self) -> None:
        self.outermost: list[tuple[str, Any]] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self.outermost = pairs
        return dict(pairs)


def _plain_json(text: str, hook: _Members | None = None) -> Any:
    value = json.loads(text, object_pairs_hook=hook)
    # Infinity, NaN and half a surrogate pair come through loads, and could not be answered back.
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value
