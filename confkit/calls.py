"""The record of a call, without secrets, and the same as a curl line and as Python."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import ApiError, ConfkitError, TransportError
from .secret import MASK, excerpt, masked
from .text import one_line
from .wire import as_text, compact, encode

if TYPE_CHECKING:
    from .operations import Operation
    from .wire import PreparedRequest, Response

KEPT_BYTES = 2**14  # of a response's body, for its excerpt

# A private letter stands for each secret in a curl line or in Python until its variable takes its
# place there.
_TOKEN, _DIGEST, _HOST, _CAMERA = "\ue000\ue001\ue002\ue003"
_VARIABLES = {
    _TOKEN: "CONFKIT_TOKEN",
    _DIGEST: "CONFKIT_DIGEST",
    _HOST: "CONFKIT_HOST_PASSWORD",
    _CAMERA: "CONFKIT_CAMERA_PASSWORD",
}
_LETTER = re.compile(f"([{''.join(_VARIABLES)}])")
_BY_NAME = {"digest": _DIGEST, "host_password": _HOST}
_IMPORTS = {
    "json.dumps(": "import json",
    "os.environ[": "import os",
    "urlencode(": "from urllib.parse import quote, urlencode",
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
        request = self._request
        if request.placement != "query":
            return request.address
        query = encode(self._lettered).replace(quote(MASK), MASK)
        return f"{request.address}?{_LETTER.sub(MASK, _unquoted(query))}"

    @property
    def fields(self) -> dict[str, Any]:
        """The parameters by their names, with *** for each secret."""
        shown: dict[str, Any] = _map_texts(self._lettered, lambda text: _LETTER.sub(MASK, text))
        return shown

    @property
    def placement(self) -> str:
        """Where the parameters travelled: query, form or json."""
        return self._request.placement

    def as_curl(self) -> str:
        """Return a curl line that repeats the call once its variables are set.

        CONFKIT_TOKEN is what `confkit token` prints, CONFKIT_DIGEST what `confkit token --digest`
        does; CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD stand for passwords. A camera's
        password stands inside JSON, so its quotes and backslashes are given with a backslash.
        """
        import shlex

        request, fields = self._request, self._lettered
        parts = ["curl", "-sS"]
        if self.placement == "query":
            parts += ["--get"] if self.method == "GET" else ["--get", "-X", self.method]
        parts.append(shlex.quote(request.address))
        if self.placement == "json":
            parts += [
                "-H",
                "'Content-Type: application/json'",
                "--data-raw",
                _shell(compact(fields)),
            ]
        for name, value in fields.items() if self.placement != "json" else ():
            parts += ["--data-urlencode", _shell(f"{name}={as_text(value)}")]
        return " ".join(parts)

    def as_python(self) -> str:
        """Return lines of Python, with requests, that repeat the call once its variables are set.

        The variables are those of `as_curl`, from `os.environ`; CONFKIT_CAMERA_PASSWORD is given
        here as it is. A blank travels as %20, as it did.
        """
        texts = self.placement != "json"  # elsewhere an object travels as JSON text
        fields = [
            f"    {_quoted(name)}: {_as_code(value, texts)},"
            for name, value in self._lettered.items()
        ]
        sent = {
            "query": "params=urlencode(fields, quote_via=quote)",
            "form": "data=fields",
            "json": "json=fields",
        }
        code = "\n".join(
            [
                "fields = {",
                *fields,
                "}",
                f"response = requests.{self.method.lower()}(",
                f"    {_quoted(self._request.address)},",
                f"    {sent[self.placement]},",
                "    timeout=60,",
                "    allow_redirects=False,",
                ")",
                "print(response.text)",
            ]
        )
        imports = [line for word, line in _IMPORTS.items() if word in code]
        return "\n".join([*imports, "", "import requests", "", code]).lstrip()

    @cached_property
    def _lettered(self) -> dict[str, Any]:
        """The fields with a private letter for each secret."""
        request = self._request
        return {
            name: _TOKEN
            if name == request.token_parameter
            else _with_letter(value, masked(value, name), _BY_NAME.get(name, _CAMERA))
            for name, value in request.fields.items()
        }


def _meaning(failure: BaseException) -> str:
    """Return a failure in a few words, without quoting from the response."""
    if isinstance(failure, ApiError):
        return failure.meaning
    if isinstance(failure, TransportError):
        return failure.cause
    return failure.problem if isinstance(failure, ConfkitError) else type(failure).__name__


def _with_letter(value: Any, shown: Any, letter: str) -> Any:
    """Return the value as it is shown, with this letter for each *** that hides something."""
    if isinstance(shown, dict):
        return {key: _with_letter(value[key], item, letter) for key, item in shown.items()}
    if isinstance(shown, list):
        return [_with_letter(old, new, letter) for old, new in zip(value, shown, strict=True)]
    hidden = isinstance(shown, str) and shown != value
    return shown.replace(MASK, letter) if hidden else shown


def _map_texts(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {key: _map_texts(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _unquoted(query: str) -> str:
    """Return the query with its private letters as they are, not percent-encoded."""
    for letter in _VARIABLES:
        query = query.replace(quote(letter), letter)
    return query


def _quoted(value: Any) -> str:
    """Return the value as Python code, in double quotes where that needs no backslash."""
    code = repr(value)
    return f'"{value}"' if code == f"'{value}'" and '"' not in code else code


def _shell(text: str) -> str:
    """Return the text quoted for a shell, which fills in the variables in it, and no others.

    A token or digest that is not set is refused by the service; a password that is not set would
    be an empty one, so the shell itself refuses that.
    """
    import shlex

    words = []
    for piece in filter(None, _LETTER.split(text)):
        variable = _VARIABLES.get(piece)
        if variable is None:
            words.append(shlex.quote(piece))
        elif variable.endswith("PASSWORD"):
            words.append(f'"${{{variable}:?}}"')
        else:
            words.append(f'"${variable}"')
    return "".join(words)


def _as_code(value: Any, texts: bool) -> str:
    """Return a field as Python code; `texts`: an object as the JSON text that it travels as."""
    if texts and not isinstance(value, str):
        if not isinstance(value, dict | list):
            return _quoted(as_text(value))
        return f'json.dumps({_as_code(value, False)}, ensure_ascii=False, separators=(",", ":"))'
    if isinstance(value, dict):
        items = (f"{_quoted(key)}: {_as_code(item, False)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_as_code(item, False) for item in value)}]"
    if not isinstance(value, str):
        return repr(value)
    pieces = filter(None, _LETTER.split(value))
    code = (f'os.environ["{_VARIABLES[p]}"]' if p in _VARIABLES else _quoted(p) for p in pieces)
    return " + ".join(code) or '""'
