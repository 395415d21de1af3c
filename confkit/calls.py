"""The record of a call, without secrets, also as a curl command and as Python code."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

from .errors import ConfkitError, TransportError
from .secret import MASK, TOKEN_NAMES, Secret, excerpt, redact
from .text import one_line
from .wire import PreparedRequest, as_text, compact, encode

KEPT_BYTES = 2**14  # of a response's body, for its excerpt

_VARIABLES = {"digest": "CONFKIT_DIGEST", "host_password": "CONFKIT_HOST_PASSWORD"}
# Encloses the name of a variable that stands for a secret: random, so that no text contains it.
_BOUNDARY = os.urandom(8).hex()
_MARKED = re.compile(f"{_BOUNDARY}(.*?){_BOUNDARY}")
_PYTHON = """\
import os

import requests

response = requests.{method}(
    {address!r},
    {sent},
    timeout=60,
    allow_redirects=False,
)
print(response.text)"""


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """The record of a call: when it was made, what was sent, and the response, secrets masked.

    `time` is when it was sent (UTC), `seconds` how long it took; `endpoint` the operation ("A3"),
    `method`, `url` and `fields` what was sent; `status` the HTTP status and `ret` the result code,
    None if there is none; `answer` the beginning of the body, `error` the text of the error, None
    for a success, and `meaning` the result in a few words. Texts are made on first access.
    """

    endpoint: str
    method: str
    seconds: float
    status: int | None
    _request: PreparedRequest
    _sent: float
    _body: bytes
    _failure: ConfkitError | None
    _known: tuple[str, ...]

    def __repr__(self) -> str:
        outcome = f"no response: {self.error}" if self.status is None else f"ret={self.ret}"
        text = f"<{self.endpoint} {self.method} {self.url} {self.seconds:.3f} s {outcome}>"
        return one_line(text)

    @property
    def ret(self) -> int | str | None:
        """The result code; None if there is none."""
        return getattr(self._failure, "ret", None) if self._failure else 0

    @property
    def error(self) -> str | None:
        """The text of the error; None for a success."""
        return str(self._failure) if self._failure else None

    @property
    def meaning(self) -> str:
        """The result in a few words, without quoting the response."""
        failure = self._failure
        if isinstance(failure, TransportError):
            return failure.cause
        return getattr(failure, "meaning", "") or (failure.problem if failure else "success")

    @cached_property
    def time(self) -> datetime:
        """When it was sent, in UTC."""
        return datetime.fromtimestamp(self._sent, UTC)

    @cached_property
    def answer(self) -> str:
        """The beginning of the response's body on one line; empty without a response."""
        return excerpt(self._body, self._known, 2000)

    @cached_property
    def url(self) -> str:
        """The URL with *** for each secret."""
        if self._request.placement != "query":
            return self._request.address
        return f"{self._request.address}?{encode(self.fields).replace(quote(MASK), MASK)}"

    @property
    def fields(self) -> dict[str, Any]:
        """The parameters by their names, with *** for each secret."""
        return {name: _replace_secrets(value, MASK) for name, value in self._request.fields.items()}

    def as_curl(self) -> str:
        """Return a curl command that repeats the call once its variables are set.

        `confkit token` prints CONFKIT_TOKEN, `confkit token --digest` CONFKIT_DIGEST;
        CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD are the passwords. A camera's password is
        inserted into JSON, so its quotes and backslashes must be escaped with a backslash.
        """
        request, fields, line = self._request, self._marked_fields(), ["curl", "-sS"]
        if request.placement == "query":
            line += ["--get"] if self.method == "GET" else ["--get", "-X", self.method]
        line.append(shlex.quote(request.address))
        if request.placement == "json":
            line += ["-H", "'Content-Type: application/json'"]
            line += ["--data-raw", _shell(compact(fields))]
        else:
            for name, value in fields.items():
                line += ["--data-urlencode", _shell(f"{name}={as_text(value)}")]
        return " ".join(line)

    def as_python(self) -> str:
        """Return Python code, with requests, that repeats the call once its variables, those of
        `as_curl`, are set in the environment. A space in a query is sent as +."""
        request, fields = self._request, self._marked_fields()
        if request.placement == "json":
            sent = f"data=({_python(compact(fields))}).encode(),\n    headers="
            sent += "{'Content-Type': 'application/json'}"
        else:
            pairs = (f"{name!r}: {_python(as_text(value))}" for name, value in fields.items())
            lines = "".join(f"        {pair},\n" for pair in pairs)
            sent = f"{'params' if request.placement == 'query' else 'data'}={{\n{lines}    }}"
        return _PYTHON.format(method=self.method.lower(), address=request.address, sent=sent)

    def _marked_fields(self) -> dict[str, Any]:
        """Return the fields with a delimited variable name in place of each secret."""
        fields = {}
        for name, value in self._request.fields.items():
            token = name.lower().endswith(TOKEN_NAMES)
            variable = "CONFKIT_TOKEN" if token else _VARIABLES.get(name, "CONFKIT_CAMERA_PASSWORD")
            fields[name] = _replace_secrets(value, f"{_BOUNDARY}{variable}{_BOUNDARY}")
        return fields


def _replace_secrets(value: Any, mark: str) -> Any:
    """Return the value with each secret in it replaced by a mark."""
    if isinstance(value, dict):
        return {key: _replace_secrets(item, mark) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_secrets(item, mark) for item in value]
    if isinstance(value, Secret):
        return str(value).replace(MASK, mark)
    if isinstance(value, str) and (masked := redact(value)) != value:
        return masked.replace(MASK, mark)
    return value


def _shell(text: str) -> str:
    """Return a marked text as one shell word, in which only our variables are expanded; the shell
    rejects one that is not set."""
    words = [part and shlex.quote(part) for part in _MARKED.split(text)]
    words[1::2] = [f'"${{{name}:?}}"' for name in words[1::2]]
    return "".join(words)


def _python(text: str) -> str:
    """Return a marked text as a Python expression."""
    code = [repr(part) for part in _MARKED.split(text)]
    code[1::2] = [f"os.environ[{variable}]" for variable in code[1::2]]
    return " + ".join(part for part in code if part != "''") or "''"
