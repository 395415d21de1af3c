"""The last calls as sent, without secrets; and how OpenTelemetry and Sentry are kept from recording
them. Neither library is imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from .endpoints import Endpoint
from .errors import ConfkitError, TransportError, explain
from .secret import MASK, masked
from .text import one_line
from .wire import Answer, Written, as_text, compact, excerpt, token_parameter

if TYPE_CHECKING:
    from .dialect import Dialect

_VARIABLES = {"digest": "CONFKIT_DIGEST", "host_password": "CONFKIT_HOST_PASSWORD"}
_CAMERA = "CONFKIT_CAMERA_PASSWORD"
# Private letters around a variable's name, until a shell's quotes are there.
_HOLE = "\ue000{}\ue001"
_SUPPRESSING = ("suppress_instrumentation", "suppress_http_instrumentation")


class Blank(str):
    """A text in which *** stands for a secret that was there."""

    __slots__ = ()


class Call(NamedTuple):
    """One call: when it was made, what was sent and what came, with secrets masked.

    `ret` is the result code, None where no answer of the interface came; then `error` says why.
    `meaning` is the result in a few words: the code's meaning, or why there is none.
    """

    time: datetime
    endpoint: str
    method: str
    url: str
    seconds: float
    status: int | None
    ret: int | str | None
    answer: str
    error: str | None
    token: str | None
    fields: dict[str, Any]
    address: str
    placement: str
    meaning: str

    def __repr__(self) -> str:
        outcome = f"no answer: {self.error}" if self.status is None else f"ret={self.ret}"
        text = f"<{self.endpoint} {self.method} {self.url} {self.seconds:.3f} s {outcome}>"
        return one_line(text)

    def as_curl(self) -> str:
        """Return a curl line that repeats the call once its variables are set.

        CONFKIT_TOKEN is what `confkit token` prints, CONFKIT_DIGEST what `confkit token --digest`
        does; CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD stand for passwords. A camera's
        password stands inside JSON, so its quotes and backslashes are given with a backslash.
        """
        import shlex

        fields = {name: self._filled(name, value) for name, value in self.fields.items()}
        parts = ["curl", "-sS"]
        if self.placement == "query":
            parts += ["--get"] if self.method == "GET" else ["--get", "-X", self.method]
        parts.append(shlex.quote(self.address))
        if self.placement == "json":
            parts += [
                "-H 'Content-Type: application/json'",
                f"--data-raw {_shell(compact(fields))}",
            ]
        else:
            parts += [
                f"--data-urlencode {_shell(f'{name}={as_text(value)}')}"
                for name, value in fields.items()
            ]
        return " ".join(parts)

    def as_python(self) -> str:
        """Return lines of Python, with requests, that repeat the call once its variables are set.

        The variables are those of `as_curl`, from `os.environ`; CONFKIT_CAMERA_PASSWORD is given
        here as it is. A blank travels as %20, as it did.
        """
        in_query = self.placement == "query"
        fields = [
            f"    {_python(name)}: {self._code(name, value)},"
            for name, value in self.fields.items()
        ]
        sent = {
            "query": "params=urlencode(fields, quote_via=quote)",
            "form": "data=fields",
            "json": "json=fields",
        }
        parts = [sent[self.placement], "timeout=60", "allow_redirects=False"]
        code = "\n".join(
            [
                "fields = {",
                *fields,
                "}",
                f"answer = requests.{self.method.lower()}(",
                *(f"    {part}," for part in [_python(self.address), *parts]),
                ")",
                "print(answer.text)",
            ]
        )
        loaded = [
            "import json" * ("json.dumps(" in code),
            "import os" * ("os.environ[" in code),
            "from urllib.parse import quote, urlencode" * in_query,
        ]
        return "\n".join([*filter(None, loaded), "", "import requests", "", code]).lstrip()

    def _code(self, name: str, value: Any) -> str:
        """Return a field as Python code: text as it travels, but a JSON body's values as values."""
        if isinstance(value, str) or self.placement == "json":
            return self._literal(name, value)
        if isinstance(value, Mapping | list):
            compactly = 'ensure_ascii=False, separators=(",", ":")'
            return f"json.dumps({self._literal(name, value)}, {compactly})"
        return _python(as_text(value))

    def _literal(self, name: str, value: Any) -> str:
        if isinstance(value, Mapping):
            items = (f"{_python(key)}: {self._literal(key, item)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, list):
            return f"[{', '.join(self._literal(name, item) for item in value)}]"
        if not isinstance(value, Blank):
            return _python(value)
        secret = f'os.environ["{self._variable(name)}"]'
        pieces = re.split(f"({re.escape(MASK)})", value)
        return " + ".join(secret if piece == MASK else _python(piece) for piece in pieces if piece)

    def _filled(self, name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._filled(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(name, item) for item in value]
        if not isinstance(value, Blank):
            return value
        return value.replace(MASK, _HOLE.format(self._variable(name)))

    def _variable(self, name: str) -> str:
        return "CONFKIT_TOKEN" if name == self.token else _VARIABLES.get(name, _CAMERA)


def _python(value: Any) -> str:
    """Return the value as Python code, in double quotes where that needs no backslash."""
    plain = repr(value)
    return f'"{value}"' if plain == f"'{value}'" and '"' not in plain else plain


def _shell(text: str) -> str:
    """Return the text quoted for a shell, which fills in the variables in it, and no others.

    A token or digest that is not set is refused by the service; a password that is not set would
    be an empty one, so the shell itself refuses that."""
    import shlex

    quoted = shlex.quote(text)
    quoted = re.sub(_HOLE.format(r"(\w+_PASSWORD)"), r"""'"${\1:?}"'""", quoted)
    return re.sub(_HOLE.format(r"(\w+)"), r"""'"$\1"'""", quoted).removesuffix("''")


def call(
    endpoint: Endpoint,
    written: Written,
    dialect: Dialect,
    time: datetime,
    seconds: float,
    answer: Answer | None,
    failure: BaseException | None,
) -> Call:
    """Return the record of a call; secrets are removed from it, not merely hidden."""
    token = token_parameter(endpoint, dialect) if endpoint.token else None
    fields = {
        name: Blank(MASK) if name == token else _blanked(value, masked(value, name))
        for name, value in written.fields.items()
    }
    ret = getattr(failure, "ret", None) if failure else 0
    shown = Written(written.method, written.address, fields, written.placement)
    return Call(
        time=time,
        endpoint=endpoint.key,
        method=written.method,
        url=shown.url.replace(quote(MASK), MASK),
        seconds=seconds,
        status=answer.status if answer else None,
        ret=ret,
        answer=excerpt(answer.body, answer.secrets, 2000) if answer else "",
        error=(str(failure) or type(failure).__name__) if failure else None,
        token=token,
        fields=fields,
        address=written.address,
        placement=written.placement,
        meaning=_why(failure) if ret is None else explain(ret, endpoint.interface).meaning,
    )


def _why(failure: BaseException | None) -> str:
    """Return why no answer of the interface came, without quoting from what did."""
    if isinstance(failure, TransportError):
        return failure.cause
    return failure.problem if isinstance(failure, ConfkitError) else type(failure).__name__


def _blanked(value: Any, shown: Any) -> Any:
    """Return the value as it is shown; texts in which something is hidden are `Blank`."""
    if isinstance(shown, dict):
        return {key: _blanked(value[key], item) for key, item in shown.items()}
    if isinstance(shown, list):
        return [_blanked(old, new) for old, new in zip(value, shown, strict=True)]
    return Blank(shown) if isinstance(shown, str) and shown != value else shown


@contextmanager
def unobserved() -> Iterator[None]:
    """Inside, in this thread, no instrumentation of HTTP records or changes what is sent: those of
    requests, urllib3 and http.client record whole URLs, and a URL holds the token."""
    with ExitStack() as ending:
        utils = sys.modules.get("opentelemetry.instrumentation.utils")
        for name in _SUPPRESSING:
            if hasattr(utils, name):
                ending.enter_context(getattr(utils, name)())
        if (sentry := _sentry()) is not None:
            scope = ending.enter_context(sentry.new_scope())
            # Not `set_client`, which would write this one's settings into the global scope.
            scope.client = _without_integrations(sentry)
        yield


def _sentry() -> ModuleType | None:
    """Return Sentry's SDK where it is loaded, knows scopes (from 2.0 on) and is set up."""
    sentry = sys.modules.get("sentry_sdk")
    if sentry is None or not hasattr(sentry, "new_scope"):
        return None
    return sentry if sentry.get_client().is_active() else None


def _without_integrations(sentry: ModuleType) -> Any:
    """A stand-in for a client without integrations, so that none of them records."""
    kind = type("Unobserving", (sentry.client.NonRecordingClient,), {"is_active": lambda _: True})
    return kind()
