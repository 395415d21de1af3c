"""Requests and answers as values: how a request is written, and what an answer means.

`interpret` is the one place where bytes become a result or an error, for a single call, for
threads and for any bulk path alike. Nothing here does any I/O.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from .endpoints import A1, Endpoint
from .errors import ApiError, ConfkitError, ProtocolError, api_error, as_code
from .records import read_json
from .secret import Secret, guard, login_in, mask, masked
from .text import one_line

if TYPE_CHECKING:
    from .dialect import Dialect

# Half a letter of JSON (a lone surrogate); backslashes and whole pairs are passed over.
_HALF = re.compile(
    r"\\(?:\\|u(?i:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|u(?i:(d[89a-f][0-9a-f]{2})))"
)
BUSY, UNAVAILABLE = 429, 503  # HTTP: too many requests; not now
_SECRET_PARAMETERS = frozenset({"digest", "host_password"})
# What A1 hands out to make the token of. By these names elsewhere stands nothing secret.
_TOKEN_PARTS = ("random", "key")
_TOKEN_PART = re.compile(r'["\'](?:random|key)["\']\s*:\s*(?:"((?:[^"\\]|\\.)*)|([^\s,}"]+))', re.S)


class Request(NamedTuple):
    """One operation with its parameters, without the token; its repr hides what is secret."""

    endpoint: Endpoint
    parameters: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Request({self.endpoint.key}, {masked(self.parameters)})"

    def __sentry_repr__(self) -> str:  # Sentry would go through the fields of a tuple
        return repr(self)


class Written(NamedTuple):
    """A request as it travels: `fields` are all parameters in order, with the token."""

    method: str
    address: str
    fields: Mapping[str, Any]
    placement: str = "query"

    def __repr__(self) -> str:
        return f"Written({self.method} {self.address}, {self.placement})"

    def __sentry_repr__(self) -> str:  # Sentry would go through the fields of a tuple
        return repr(self)

    @property
    def url(self) -> str:
        """The whole URL, with the query where the parameters travel there; holds secrets."""
        in_query = self.placement == "query"
        return f"{self.address}?{encode(self.fields)}" if in_query else self.address

    @property
    def body(self) -> bytes | None:
        """The body of a POST, or None."""
        if self.placement == "form":
            return encode(self.fields).encode()
        return compact(self.fields).encode() if self.placement == "json" else None

    @property
    def content_type(self) -> str | None:
        """The body's content type, or None."""
        return {
            "form": "application/x-www-form-urlencoded",
            "json": "application/json",
        }.get(self.placement)


class Answer(NamedTuple):
    """What came back: HTTP status, content type, and the whole body.

    `secrets` are the values that must not be quoted from it; `whole` is False when the connection
    ended before the body did; `retry_after` is that header, of HTTP 429 and 503."""

    status: int
    content_type: str
    body: bytes
    secrets: tuple[str, ...] = ()
    whole: bool = True
    retry_after: str = ""

    def __repr__(self) -> str:
        kind = mask(self.content_type, *self.secrets)  # a service may say back there what it heard
        return f"Answer(HTTP {self.status}, {kind!r}, {len(self.body)} bytes)"

    def __sentry_repr__(self) -> str:  # Sentry would go through the fields of a tuple
        return repr(self)


def asked_wait(answer: Answer, now: Callable[[], float]) -> float:
    """Return the seconds that a service asks to wait (Retry-After: seconds, or a date, which is
    compared with `now` in epoch seconds); 0 where it asks for none, or nothing readable."""
    text = answer.retry_after.strip()
    if answer.status not in (BUSY, UNAVAILABLE) or not text:
        return 0.0
    if text.isascii() and text.isdecimal():
        return float(text)
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
        when = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, when - now())


def write(request: Request, base: str, token: str | None, dialect: Dialect) -> Written:
    """Return the request as this dialect sends it to the interface at `base`."""
    endpoint = request.endpoint
    method = {"B1": dialect.create_method, "B3": dialect.list_method}.get(endpoint.key, "GET")
    fields = dict(request.parameters)
    if token is not None:
        fields = {token_parameter(endpoint, dialect): token, **fields}
    placement = dialect.placement if method == "POST" else "query"
    return Written(method, base + endpoint.path, fields, placement)


def token_parameter(endpoint: Endpoint, dialect: Dialect) -> str:
    """Return the name under which this operation takes the token in this dialect."""
    if endpoint.key == "B2":
        return dialect.remove_token_parameter
    if endpoint.interface == "B":
        return endpoint.token or ""
    if endpoint.key == "A5" and dialect.mcu_token_parameter:
        return dialect.mcu_token_parameter
    return dialect.token_parameter


def encode(fields: Mapping[str, Any]) -> str:
    """Return the fields percent-encoded once, `=` as `%3D`; an object as JSON text."""
    return "&".join([f"{name}={_quoted(as_text(value))}" for name, value in fields.items()])


def _quoted(text: str) -> str:
    # Most room numbers need no quoting, and a sweep has thousands of them.
    return text if text.isalnum() and text.isascii() else quote(text, safe="")


def as_text(value: Any) -> str:
    """Return a parameter's value as text, before percent-encoding."""
    return value if isinstance(value, str) else compact(value)


def compact(value: Any) -> str:
    """Return the value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def secrets_in(request: Request, token: str | None) -> tuple[str, ...]:
    """Return the values of this request that no message may quote."""
    found = [token] if token else []
    for name, value in request.parameters.items():
        if name in _SECRET_PARAMETERS:
            found.append(str(value))
        elif name == "options" and isinstance(value, Mapping):
            found += _leaves(value.get("login_password"))  # whatever a service handed back
            for address in _leaves(value.get("assist_address")):
                found += login_in(address)
        elif name == "userAddress":
            found += login_in(str(value))
    return tuple(Secret(value) for value in found if value)


def secrets_of(endpoint: Endpoint, body: bytes) -> tuple[Secret, ...]:
    """Return the values of an answer that no message may quote: what A1 gives for the token."""
    if endpoint is not A1:
        return ()
    text = body.decode("utf-8", "replace")
    found = {part for pair in _TOKEN_PART.findall(text) for part in pair}
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        members = None  # cut off, or in a function's call: what stands there is found all the same
    if isinstance(members, dict):
        found |= {leaf for name in _TOKEN_PARTS for leaf in _leaves(members.get(name))}
    return tuple(Secret(value) for value in found if value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield as_text(value)


def excerpt(said: str | bytes, secrets: tuple[str, ...], size: int = 120) -> str:
    """Return the first characters of what a service said, on one line, with nothing secret in them.

    A secret is known by its name, or is one of `secrets`."""
    torn = 12 * max(map(len, secrets), default=0)  # of a character 12 letters can be made
    part = said[: 4096 + 4 * size + torn]  # what is masked is shorter than it was
    # Without its zeros, text in UTF-16 is read as well.
    text = part if isinstance(part, str) else part.decode("utf-8", "replace").replace("\0", "")
    shown = mask(text, *secrets)
    if len(said) > len(part) and secrets:  # a secret torn at the end is not known for one
        shown = shown[: len(shown) - torn]
    return one_line(shown[:size])


def interpret(request: Request, answer: Answer, dialect: Dialect) -> dict[str, Any]:
    """Return the members of a successful answer to this request; raise an ApiError or a
    ProtocolError for any other.

    The result code may stand in `ret` or `result`, as a number or as text. Secrets among the
    members show as *** in a repr. Section 7 of the interface.
    """
    outcome = _outcome(request.endpoint, answer, dialect)
    if isinstance(outcome, ConfkitError):
        raise outcome
    return outcome


def _outcome(
    endpoint: Endpoint, answer: Answer, dialect: Dialect
) -> dict[str, Any] | ApiError | ProtocolError:
    """Return the members, or the error: raised here, its traceback would show the answer."""
    members = _members(answer)
    if members is None:
        return _protocol(endpoint, answer, _what_came(answer))
    order = ["ret", "result"]
    if endpoint.interface == "B" and dialect.result_field == "result":
        order.reverse()
    code = next((members[name] for name in order if members.get(name) is not None), None)
    ret = _result_code(code, answer)
    if ret is None:
        return _protocol(endpoint, answer, "JSON without a result code")
    if ret != 0:
        detail = members.get("msg") or members.get("err")
        quoted = excerpt(detail, answer.secrets) if isinstance(detail, str) else ""
        broken = answer.status >= 500
        named = answer.status if broken and endpoint.write else 0  # it leaves open what happened
        error = api_error(ret, endpoint.interface, endpoint.key, endpoint.title, quoted, named)
        # Only reads are retried.
        error.retry = not endpoint.write and (error.retry or broken)
        return error
    if not 200 <= answer.status < 300:
        denied = _protocol(endpoint, answer, f"HTTP status {answer.status} with result code 0")
        denied.success = True
        return denied
    if endpoint is A1:
        parts = {name: members[name] for name in _TOKEN_PARTS if name in members}
        members |= {name: guard(part, "token") for name, part in parts.items()}
    return members


def _members(answer: Answer) -> dict[str, Any] | None:
    if not answer.whole:
        return None
    try:
        # json.loads would take bytes for letters that are none, and a name for another.
        text = answer.body.decode(json.detect_encoding(answer.body))
        # No notebook can show half a letter, and nobody send it.
        whole = _HALF.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
        value = guard(read_json(whole))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _result_code(code: object, answer: Answer) -> int | str | None:
    if isinstance(code, float) and code.is_integer():
        code = int(code)
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    if not isinstance(code, str) or not code.strip():
        return None
    plain = as_code(code)
    return excerpt(plain, answer.secrets) if isinstance(plain, str) else plain


def _what_came(answer: Answer) -> str:
    start = answer.body[:200].lstrip().lower()
    if not answer.whole:
        return f"an answer that was cut off after {len(answer.body)} bytes"
    if not answer.body.strip():
        return "an empty answer"
    if start.startswith((b"<!doctype", b"<html", b"<")):
        return "an HTML or XML page"
    if start.startswith(b"["):
        return "a JSON array"
    if start.startswith(b"{"):
        return "JSON that is cut off or broken"
    return "something that is not a JSON object"


def _protocol(endpoint: Endpoint, answer: Answer, came: str) -> ProtocolError:
    if 300 <= answer.status < 400:
        advice = "A redirect is not followed with a token: set the address that it leads to."
    elif answer.status == BUSY:
        advice = "Ask less often (max_rate=, concurrency=), or try again later."
    elif answer.status >= 500 or not answer.whole:
        advice = "The service or a proxy before it failed: look at its log, or try again later."
    else:
        advice = (
            f"Check that this address is the service's interface {endpoint.interface} "
            "(A on port 8080, B on 8050) and that no proxy answers in its place."
        )
    error = ProtocolError(
        f"{endpoint.title} ({endpoint.key}) got {came} (HTTP {answer.status}) instead of the "
        "JSON that was due",
        advice,
        cause=f"it begins {excerpt(answer.body, answer.secrets)!r}",
    )
    broken = answer.status == BUSY or answer.status >= 500 or not answer.whole
    error.retry = not endpoint.write and broken  # only reads are retried
    error.status = answer.status
    return error
