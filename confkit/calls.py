"""The last calls as they were sent, with nothing secret in them."""

import json
import shlex
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

from .masking import MASK, Secret, masked
from .wire import Answer, Written, as_text, excerpt

_VARIABLES = {
    "digest": "CONFKIT_DIGEST",
    "host_password": "CONFKIT_HOST_PASSWORD",
    "login_password": "CONFKIT_CAMERA_PASSWORD",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was made: when, what was sent and what came, secrets masked.

    `ret` is the result code, None where no answer of the interface came; `error` says then why.
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
    token: str | None = field(repr=False)
    fields: dict[str, Any] = field(repr=False)
    address: str = field(repr=False)
    placement: str = field(repr=False)

    def as_curl(self) -> str:
        """A curl line that repeats the call once its variables are set: CONFKIT_TOKEN (which
        `confkit token` prints), and one for each other secret that the call carries."""
        if self.placement == "query":
            parts = ["curl -sS --get", shlex.quote(self.address)]
            parts += [f"--data-urlencode {_assign(n, v)}" for n, v in self._filled().items()]
        elif self.placement == "form":
            parts = ["curl -sS", shlex.quote(self.address)]
            parts += [f"--data-urlencode {_assign(n, v)}" for n, v in self._filled().items()]
        else:
            body = _shell(json.dumps(self._filled(as_json=True), ensure_ascii=False))
            parts = ["curl -sS -H 'Content-Type: application/json'", shlex.quote(self.address)]
            parts.append(f"--data-raw {body}")
        return " ".join(parts)

    def _filled(self, as_json: bool = False) -> dict[str, Any]:
        fields = {}
        for name, value in self.fields.items():
            if name == self.token:
                fields[name] = "$CONFKIT_TOKEN"
            else:
                filled = _with_variables(value, name)
                fields[name] = filled if as_json else as_text(filled)
        return fields


def _with_variables(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _with_variables(item, key) for key, item in value.items()}
    if isinstance(value, str) and MASK in value:
        variable = _VARIABLES.get(name, "CONFKIT_CAMERA_PASSWORD")
        return value.replace(MASK, f"${variable}")
    return value


def _assign(name: str, value: str) -> str:
    return _shell(f"{name}={value}")


def _shell(text: str) -> str:
    """The text quoted for a shell in which our own variables, and nothing else, are filled in."""
    quoted = shlex.quote(text)
    for variable in ("CONFKIT_TOKEN", *_VARIABLES.values()):
        quoted = quoted.replace(f"${variable}", f"'\"${variable}\"'")
    return quoted


def call(
    written: Written,
    endpoint: str,
    token: str | None,
    time: datetime,
    seconds: float,
    answer: Answer | None,
    ret: int | str | None,
    error: str | None,
) -> Call:
    """The record of a call; what was secret in it is gone, not merely hidden."""
    fields = {
        name: MASK if name == token or isinstance(value, Secret) else masked(value, name)
        for name, value in written.fields.items()
    }
    shown = Written(written.method, written.address, fields, written.placement)
    return Call(
        time, endpoint, written.method, shown.url.replace(quote(MASK), MASK), seconds,
        answer.status if answer else None, ret,
        excerpt(answer.body[:8192], answer.secrets, 2000) if answer else "", error,
        token, fields, written.address, written.placement,
    )  # fmt: skip
