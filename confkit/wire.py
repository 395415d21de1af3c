"""Requests and responses as values: how a request is written, and what a response means.

`interpret` is the one place where bytes become a result or an error. Nothing here does any I/O.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import ConfkitError, ProtocolError, api_error, as_code
from .operations import A1, Operation
from .records import parameter_error, read_json
from .secret import MASK, Secret, excerpt, hide, redact, reveal, secrets_in

if TYPE_CHECKING:
    from .dialect import Dialect

BUSY, UNAVAILABLE = 429, 503  # HTTP

_CONTENT_TYPES = {"form": "application/x-www-form-urlencoded", "json": "application/json"}
_TOKEN_PARTS = {"random", "key"}  # what A1 hands out to make the token of
_TOKEN_PART = re.compile(r'["\'](?:random|key)["\']\s*:\s*(?:"((?:[^"\\]|\\.)*)|([^\s,}"]+))', re.S)
_TEXTS = {"msg", "err"}  # of people, in a response
# An unpaired surrogate in JSON; backslashes and whole pairs are passed over.
_SURROGATE = re.compile(
    r"\\(?:\\|u(?i:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|u(?i:(d[89a-f][0-9a-f]{2})))"
)


@dataclass(frozen=True, slots=True, repr=False)
class PreparedRequest:
    """A request as it travels; `fields` are all parameters in order, the token first.

    `url` and `body` hold secrets; the repr shows none.
    """

    method: str
    address: str
    fields: Mapping[str, Any]
    placement: str
    token_parameter: str | None

    def __repr__(self) -> str:
        return f"<{self.method} {self.address}, {self.placement}>"

    @property
    def url(self) -> str:
        """The whole URL, with the query where the parameters travel there."""
        in_query = self.placement == "query"
        return f"{self.address}?{encode(self.fields)}" if in_query else self.address

    @property
    def body(self) -> bytes | None:
        """The body of a POST, or None."""
        if self.placement == "form":
            return encode(self.fields).encode()
        return compact(self.fields).encode() if self.placement == "json" else None

    @property
    def headers(self) -> dict[str, str]:
        """The headers beside the session's."""
        headers = {"Accept": "application/json"}
        if self.placement in _CONTENT_TYPES:
            headers["Content-Type"] = _CONTENT_TYPES[self.placement]
        return headers


def prepare(
    operation: Operation,
    parameters: Mapping[str, Any],
    base: str,
    token: Secret | None,
    dialect: Dialect,
) -> PreparedRequest:
    """Return the request for an operation as this dialect sends it to the interface at `base`."""
    method = {"B1": dialect.create_method, "B3": dialect.list_method}.get(operation.key, "GET")
    placement = dialect.placement if method == "POST" else "query"
    name = token_parameter(operation, dialect)
    fields = dict(parameters) if name is None or token is None else {name: token, **parameters}
    return PreparedRequest(method, base + operation.path, fields, placement, name)


def token_parameter(operation: Operation, dialect: Dialect) -> str | None:
    """Return the name under which this operation takes the token in this dialect."""
    if operation.key == "B2":
        return dialect.remove_token_parameter
    if operation.key == "A5" and dialect.mcu_token_parameter:
        return dialect.mcu_token_parameter
    if operation.interface == "A" and operation.token:
        return dialect.token_parameter
    return operation.token


def encode(fields: Mapping[str, Any]) -> str:
    """Return the fields percent-encoded once, `=` as `%3D`; an object as JSON text."""
    pairs = []
    for name, value in fields.items():
        pairs.append(f"{name}={quote(as_text(value), safe='')}")
    return "&".join(pairs)


def as_text(value: Any) -> str:
    """Return a parameter's value as text, before percent-encoding. The one place, with `compact`,
    where what is secret is revealed to be sent."""
    if isinstance(value, Secret):
        return value.reveal()
    return value if isinstance(value, str) else compact(value)


def compact(value: Any) -> str:
    """Return the value as JSON without spaces, with what is secret in it."""
    return json.dumps(reveal(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_sendable(operation: Operation, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with what is secret in them hidden; ParameterError for one that cannot
    be written as text or JSON, or that is a secret's mask in its place."""
    hidden: dict[str, Any] = {}
    for name, value in parameters.items():
        text = ""
        try:
            text = as_text(value)
            text.encode()
            hidden[name] = hide(value, name)
        except (TypeError, ValueError, RecursionError):
            problem = "holds something that JSON and UTF-8 cannot carry, or is nested too deep."
            advice = "Give texts without unpaired surrogates, numbers, lists and dicts."
            break
        if MASK in text and MASK in secrets_in(hidden[name]):
            problem = f"is masked ({MASK} stands where its secret was)."
            advice = (
                "Give the secret itself: a Secret's reveal(), a frame made with secrets=True, or a "
                "device of list_devices(client, room_id)."
            )
            break
    else:
        return hidden
    del parameters, value, text  # a traceback shows the locals
    raise parameter_error(operation, f"{name} {problem}", advice)


@dataclass(frozen=True, slots=True, repr=False)
class Response:
    """What came back: HTTP status, body, and the header Retry-After.

    `complete` is False if the connection ended before the body did.
    """

    status: int
    body: bytes
    complete: bool = True
    retry_after: str = ""

    def __repr__(self) -> str:
        return f"<HTTP {self.status}, {len(self.body)} bytes>"


def interpret(
    operation: Operation, response: Response, known: Iterable[str] = ()
) -> dict[str, Any] | ConfkitError:
    """Return the members of a successful response, or the error that it is: raised here, its
    traceback would show the response.

    The result code is `ret`, or `result` where there is no `ret`, as a number or as text. No
    message quotes one of the `known` secrets. Section 7 of the interface.
    """
    members = _members(response)
    if members is None:
        return _protocol_error(operation, response, known, _kind_of(response))
    code = members.get("ret")
    code = members.get("result") if code is None else code
    ret = code if type(code) is int else _result_code(code, known)
    if ret is None:
        return _protocol_error(operation, response, known, "JSON without a result code")
    failed = response.status >= 500
    if ret != 0:
        detail = reveal(members.get("msg") or members.get("err"))
        quoted = excerpt(detail, known) if isinstance(detail, str) else ""
        named = (operation.interface, operation.key, operation.title)
        error = api_error(ret, *named, quoted, response.status)
        error.retry = not operation.write and (error.retry or failed)
        error.retry_after = _retry_after(response)
        return error
    if not 200 <= response.status < 300:
        text = f"result code 0 under HTTP status {response.status}"
        denied = _protocol_error(operation, response, known, text)
        denied.success = True
        return denied
    for name in members.keys() & _TEXTS:  # where a service may say back what it was asked
        if isinstance(members[name], str):
            members[name] = redact(members[name], known)
    if operation is A1:
        for name in members.keys() & _TOKEN_PARTS:
            members[name] = hide(members[name], "token")
    return members


def _members(response: Response) -> dict[str, Any] | None:
    if not response.complete:
        return None
    try:
        # json.loads would take bytes for letters that are none, and a name for another.
        text = response.body.decode(json.detect_encoding(response.body))
        if "\\u" in text:  # no notebook can show an unpaired surrogate, and nobody send it
            text = _SURROGATE.sub(lambda pair: "\\ufffd" if pair[1] else pair[0], text)
        value = hide(read_json(text))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _result_code(code: object, known: Iterable[str]) -> int | str | None:
    if isinstance(code, float) and code.is_integer():
        code = int(code)
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    if not isinstance(code, str) or not code.strip():
        return None
    plain = as_code(code)
    return excerpt(plain, known) if isinstance(plain, str) else plain


def _kind_of(response: Response) -> str:
    start = response.body[:200].lstrip().lower()
    if not response.complete:
        return f"a response that was cut off after {len(response.body)} bytes"
    if not start and not response.body.strip():
        return "an empty body"
    if start.startswith(b"<"):
        return "HTML or XML"
    if start.startswith(b"["):
        return "a JSON array"
    return "broken JSON" if start.startswith(b"{") else "something that is not a JSON object"


def _protocol_error(
    operation: Operation, response: Response, known: Iterable[str], kind: str
) -> ProtocolError:
    status, retry_after = response.status, _retry_after(response)
    if status == 407:
        advice = (
            "Give the proxy's login in its address: HTTP_PROXY=http://user:password@proxy:port."
        )
    elif 300 <= status < 400:
        advice = "A redirect is not followed with a token: set the address that it leads to."
    elif status == BUSY:
        advice = "Ask less often (max_rate=, concurrency=), or try again later."
    elif status >= 500 or not response.complete:
        advice = "The service or a proxy before it failed: look at its log, or try again later."
    else:
        advice = (
            f"Check that this address is the service's interface {operation.interface} "
            "(A on port 8080, B on 8050) and that no proxy answers in its place."
        )
    if retry_after:
        advice += f" It asks to wait {retry_after:,.0f} s (Retry-After)."
    error = ProtocolError(
        f"{operation.title} ({operation.key}) expected JSON, got {kind} (HTTP {status})",
        advice,
        cause=f"it begins {excerpt(response.body, known)!r}",
    )
    failed = status == BUSY or status >= 500 or not response.complete
    error.retry = not operation.write and failed  # only reads are retried
    error.status, error.retry_after = status, retry_after
    return error


def _retry_after(response: Response) -> float | None:
    """Return the seconds that a service asks to wait (Retry-After: seconds, or a date); None where
    it asks for none, or nothing readable."""
    text = response.retry_after.strip()
    if response.status not in (BUSY, UNAVAILABLE) or not text:
        return None
    if text.isascii() and text.isdecimal():
        return min(float(text), 1e9)
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
        return max(
            0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - time.time()
        )
    except (ValueError, OverflowError):
        return None


def token_parts(response: Response) -> list[str]:
    """Return what A1 hands out, which no message may quote, from a broken response too."""
    text = response.body.decode("utf-8", "replace")
    return [part for pair in _TOKEN_PART.findall(text) for part in pair if part]
