"""The record of a call, without secrets, and the same as a curl line and as Python."""

from __future__ import annotations

import os
import re
import shlex
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import ApiError, ConfkitError, TransportError
from .secret import MASK, Secret, excerpt, redact
from .text import one_line
from .wire import as_text, compact, encode

if TYPE_CHECKING:
    from .operations import Operation
    from .wire import PreparedRequest, Response

KEPT_BYTES = 2**14  # of a response's body, for its excerpt

_VARIABLES = {"digest": "CONFKIT_DIGEST", "host_password": "CONFKIT_HOST_PASSWORD"}
# Around the name of a variable that stands for a secret: a text that nobody else has written.
_BOUNDARY = os.urandom(8).hex()
_MARKED = re.compile(f"{_BOUNDARY}(.*?){_BOUNDARY}")
_PYTHON = """\
import os
from urllib.parse import quote, urlencode

import requests

fields = {{
{fields}}}
response = requests.{method}(
    {address},
    {sent},
    timeout=60,
    allow_redirects=False,
)
print(response.text)"""
_SENT = {
    "query": "params=urlencode(fields, quote_via=quote)",
    "form": "data=fields",
    "json": "json=fields",
}


class Call:
    """The record of a call: when it was made, what was sent, and the response, secrets masked.

    `time` is when it was sent (UTC), `seconds` how long it took; `endpoint` the operation ("A3"),
    `method`, `url` and `fields` what was sent; `status` the HTTP status and `ret` the result code,
    each None where there is none; `answer` the beginning of the body, `error` the text of the
    error, None for a success, and `meaning` the result in a few words. What it shows is made when
    somebody looks.
    """

    def __init__(
        self,
        operation: Operation,
        request: PreparedRequest,
        sent: float,
        seconds: float,
        response: Response | None,
        result: object,
        known: tuple[str, ...],
    ) -> None:
        self.endpoint, self.method, self.seconds = operation.key, request.method, seconds
        self.status = response.status if response else None
        failure = result if isinstance(result, BaseException) else None
        self.ret = getattr(failure, "ret", None) if failure else 0
        self.error = (str(failure) or type(failure).__name__) if failure else None
        self.meaning = "success" if failure is None else _meaning(failure)
        self._operation, self._request, self._sent, self._known = operation, request, sent, known
        self._body = response.body[:KEPT_BYTES] if response else b""

    def __repr__(self) -> str:
        outcome = f"no answer: {self.error}" if self.status is None else f"ret={self.ret}"
        text = f"<{self.endpoint} {self.method} {self.url} {self.seconds:.3f} s {outcome}>"
        return one_line(text)

    @cached_property
    def time(self) -> datetime:
        """When it was sent, in UTC."""
        return datetime.fromtimestamp(self._sent, UTC)

    @cached_property
    def answer(self) -> str:
        """The beginning of the response's body on one line; empty without a response."""
        return excerpt(self._body, self._known, 2000) if self._body else ""

    @cached_property
    def url(self) -> str:
        """The URL with *** for each secret."""
        if self._request.placement != "query":
            return self._request.address
        return f"{self._request.address}?{encode(self.fields).replace(quote(MASK), MASK)}"

    @property
    def fields(self) -> dict[str, Any]:
        """The parameters by their names, with *** for each secret."""
        return {name: _replaced(value, MASK) for name, value in self._request.fields.items()}

    def as_curl(self) -> str:
        """Return a curl line that repeats the call once its variables are set.

        CONFKIT_TOKEN is what `confkit token` prints, CONFKIT_DIGEST what `confkit token --digest`
        does; CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD stand for passwords. A camera's
        password stands inside JSON, so its quotes and backslashes are given with a backslash.
        """
        request, fields, line = self._request, self._marked(), ["curl", "-sS"]
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
        """Return lines of Python, with requests, that repeat the call once its variables are set.

        The variables are those of `as_curl`, from `os.environ`; CONFKIT_CAMERA_PASSWORD is given
        here as it is. A blank travels as %20, as it did.
        """
        request, lines = self._request, []
        for name, value in self._marked().items():
            code = _code(value)
            if request.placement != "json" and isinstance(value, dict | list):
                code = f'json.dumps({code}, ensure_ascii=False, separators=(",", ":"))'
            elif request.placement != "json" and not isinstance(value, str):
                code = _quoted(compact(value))
            lines.append(f"    {_quoted(name)}: {code},\n")
        code = _PYTHON.format(
            fields="".join(lines),
            method=self.method.lower(),
            address=_quoted(request.address),
            sent=_SENT[request.placement],
        )
        return f"import json\n{code}" if "json.dumps(" in code else code

    def _marked(self) -> dict[str, Any]:
        """Return the fields with the name of a variable, in its boundaries, for each secret."""
        fields = {}
        for name, value in self._request.fields.items():
            variable = _VARIABLES.get(name, "CONFKIT_CAMERA_PASSWORD")
            if name == self._request.token_parameter:
                variable = "CONFKIT_TOKEN"
            fields[name] = _replaced(value, f"{_BOUNDARY}{variable}{_BOUNDARY}")
        return fields


def _meaning(failure: BaseException) -> str:
    """Return a failure in a few words, without quoting from the response."""
    if isinstance(failure, ApiError):
        return failure.meaning
    if isinstance(failure, TransportError):
        return failure.cause
    return failure.problem if isinstance(failure, ConfkitError) else type(failure).__name__


def _replaced(value: Any, mark: str) -> Any:
    """Return the value with a mark in the place of each secret in it."""
    if isinstance(value, dict):
        return {key: _replaced(item, mark) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, mark) for item in value]
    if isinstance(value, Secret):
        return str(value).replace(MASK, mark)
    if isinstance(value, str) and (shown := redact(value)) != value:
        return shown.replace(MASK, mark)
    return value


def _shell(text: str) -> str:
    """Return a marked text as one word of a shell, which fills in its variables, and no others.

    A token or digest that is not set is refused by the service; a password that is not set would
    be an empty one, so the shell itself refuses that.
    """
    word = ""
    for number, part in enumerate(_MARKED.split(text)):
        if number % 2 == 0:
            word += shlex.quote(part) if part else ""
        else:
            word += f'"${{{part}:?}}"' if part.endswith("PASSWORD") else f'"${part}"'
    return word


def _code(value: Any) -> str:
    """Return a marked value as Python code."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)}: {_code(value[key])}' for key in value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_code, value))}]"
    if not isinstance(value, str):
        return repr(value)
    code = [_quoted(part) for part in _MARKED.split(value)]
    code[1::2] = [f"os.environ[{variable}]" for variable in code[1::2]]
    return " + ".join(part for part in code if part != '""') or '""'


def _quoted(value: Any) -> str:
    """Return the value as Python code, in double quotes where that needs no backslash."""
    code = repr(value)
    return f'"{value}"' if code == f"'{value}'" and '"' not in code else code
