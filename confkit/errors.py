"""Everything that confkit raises, and `explain`, which tells what a result code means.

Each error names its cause and the next step. Those that a Python person would expect to be a
builtin (`LookupError`, `ValueError`, `TimeoutError`, ...) are that too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .codes import Code


class ConfkitError(Exception):
    """The base of all that confkit raises. `retry`: the same call may work in a moment."""

    retry: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(
    kind: type[ConfkitError], args: tuple[object, ...], state: dict[str, object]
) -> ConfkitError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(ConfkitError, ValueError):
    """A setting is missing or contradicts another; the text names it and the ways to give it."""


class ReadOnlyError(ConfkitError, PermissionError):
    """The client was connected with read_only=True and refused to send a change."""


class TransportError(ConfkitError, ConnectionError):
    """No answer came: refused, reset, timed out, no such host, TLS. `sent` is False when the
    request certainly never reached the service."""

    sent: bool = True
    retry = True


class TransportTimeout(TransportError, TimeoutError):
    """No answer came in time."""


class ProtocolError(ConfkitError):
    """Something came that is not an answer of this interface; the text shows its first bytes."""

    status: int | None = None


class OutcomeUnknown(ConfkitError):
    """A change was sent and its answer was lost: it may or may not have happened."""


class ApiError(ConfkitError):
    """The service answered with a result code other than 0 (section 7 of the interface).

    `ret` as it came (a number where it is one), `interface`, `endpoint` (such as "A3"), `meaning`,
    `advice`.
    """

    ret: int | str | None = None
    interface: str | None = None
    endpoint: str | None = None
    meaning: str = ""
    advice: str = ""


class AuthenticationFailed(ApiError, PermissionError):
    """401 of interface A: access key or digest were not accepted."""


class TokenRejected(ApiError, PermissionError):
    """602: the access token is not accepted, a fresh one included."""


class RoomNotFound(ApiError, LookupError):
    """404 (612 in the field): the service has no such room."""


class UserNotFound(ApiError, LookupError):
    """429 of A, 425 of B: no such user in the room."""


class UserExists(ApiError, ValueError):
    """423 of B: this user, or this address in this room, is there already."""


class ParameterError(ApiError, ValueError):
    """A parameter is wrong: 407 of A, 401 of B, or noticed here and never sent (`ret` is None)."""


class ServiceTimeout(ApiError, TimeoutError):
    """409 and 504 of A, 310 and 427 of B: a part of the service did not answer in time."""


class RoomClosed(ApiError):
    """416 of A: the room is closed."""


class JoinFailed(ApiError):
    """426 of B: the device could not join the room."""


class LicenceError(ApiError):
    """405, 411 and 701 of A: the licence is expired, used up, or lacks peer-to-peer."""


class MediaServerUnavailable(ApiError):
    """410, 417 and 428 of A: no media server, or not the one that the room needs."""


class ServiceUnavailable(ApiError):
    """302, 303 and 304 of B: mostly the background service is not running."""


_CLASSES: dict[str, dict[int, type[ApiError]]] = {
    "A": {
        401: AuthenticationFailed, 404: RoomNotFound, 405: LicenceError, 407: ParameterError,
        409: ServiceTimeout, 410: MediaServerUnavailable, 411: LicenceError, 416: RoomClosed,
        417: MediaServerUnavailable, 428: MediaServerUnavailable, 429: UserNotFound,
        504: ServiceTimeout, 602: TokenRejected, 612: RoomNotFound, 701: LicenceError,
    },
    "B": {
        302: ServiceUnavailable, 303: ServiceUnavailable, 304: ServiceUnavailable,
        310: ServiceTimeout, 401: ParameterError, 423: UserExists, 425: UserNotFound,
        426: JoinFailed, 427: ServiceTimeout, 602: TokenRejected,
    },
}  # fmt: skip


def api_error(
    ret: int | str, interface: str, endpoint: str, title: str, detail: str = ""
) -> ApiError:
    """The error for a result code, of the class that fits it, with meaning and advice."""
    found = explain(ret, interface)
    kind = _CLASSES[interface].get(ret, ApiError) if isinstance(ret, int) else ApiError
    news = detail.strip(" .").lower() not in ("", found.meaning.lower())
    said = f" The service says: {detail.strip(' .')}." if news else ""
    error = kind(f"{title} ({endpoint}) answered {ret}: {found.meaning}.{said} {found.advice}")
    error.ret, error.interface, error.endpoint = ret, interface, endpoint
    error.meaning, error.advice, error.retry = found.meaning, found.advice, found.retry
    return error


def wrong_parameter(endpoint: str, interface: str, problem: str, advice: str) -> ParameterError:
    """The error for a parameter that is noticed to be wrong before anything is sent."""
    error = ParameterError(f"{problem} {advice} Nothing was sent.")
    error.interface, error.endpoint = interface, endpoint
    error.meaning, error.advice = problem, advice
    return error


class Explanation(NamedTuple):
    """What a result code means: `meaning`, likely `cause`, next step (`advice`), whether the same
    call helps soon (`retry`), and how `sure` the meaning is: specified, seen or unknown. Cause and
    advice are confkit's own reading, that is: assumed. `codes` holds the rows it was made from."""

    ret: int | str
    interface: str | None
    meaning: str
    cause: str
    advice: str
    retry: bool
    sure: str
    codes: tuple[Code, ...]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.codes:
            return _wrapped(f"{self.ret}: {self.meaning}", ("what to do:", self.advice))
        return "\n".join(
            _wrapped(
                f"{code.ret}{_place(code)}: {code.meaning} ({code.sure})",
                ("likely cause:", f"{code.cause} (assumed)"),
                ("what to do:", code.advice),
                ("try again:", _again(code)),
            )
            for code in self.codes
        )

    def _repr_html_(self) -> str:
        from html import escape

        from .codes import Code

        rows = self.codes or (
            Code(0, "", self.meaning, self.cause, self.advice, self.retry, self.sure),
        )
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(str(self.ret))}{_place(code)}</th>"
            f"<td style='text-align:left'><b>{escape(code.meaning)}</b> "
            f"<small>({escape(code.sure)})</small><br>{escape(code.cause)} "
            f"<small>(assumed)</small><br>&rarr; {escape(code.advice)}<br>"
            f"<small>Try again: {_again(code)}</small></td></tr>"
            for code in rows
        )
        return f"<table>{body}</table>"


def _wrapped(head: str, *parts: tuple[str, str]) -> str:
    from textwrap import wrap

    lines = [head]
    for name, told in parts:
        lines += wrap(f"  {name:13} {told}", 88, subsequent_indent=" " * 16)
    return "\n".join(lines)


def _place(code: Code) -> str:
    return f" in interface {code.interface}" if code.interface else " (other deployments)"


def _again(code: Code) -> str:
    return "yes, in a moment" if code.retry else "no, not before something has changed"


def explain(ret: int | str | ApiError, interface: str | None = None) -> Explanation:
    """What a result code means, its likely cause and the next step (section 7 of the interface).

    `ret` may be an ApiError, which knows its interface. `interface` is "A" or "B"; without it, a
    code that means different things in A and B (401) is told for both. A code that nobody knows is
    told to be that.
    """
    if isinstance(ret, ApiError):
        code, interface = ret.ret, interface or ret.interface
        ret = "not sent" if code is None else code
    if interface is not None:
        interface = interface.strip().upper()
        if interface not in ("A", "B"):
            raise ValueError(f"interface is {interface!r}; there are A (port 8080) and B (8050)")
    number = _number(ret)
    from .codes import lookup

    found = lookup(number, interface) if isinstance(number, int) else ()
    if not found:
        return Explanation(
            number, interface, "not a code of the interface, and none seen in other deployments",
            "The deployment uses a code of its own.",
            "Ask the provider what it means, and quote the call as client.calls shows it.",
            False, "unknown", (),
        )  # fmt: skip
    apart = len({code.interface for code in found if code.interface}) > 1

    def told(what: str) -> str:
        rows = found if apart or what == "meaning" else found[:1]  # one next step is enough
        texts = [(f"{row.interface}: " if apart else "") + getattr(row, what) for row in rows]
        return ("; " if what == "meaning" else " ").join(dict.fromkeys(texts))

    return Explanation(
        number, interface, told("meaning"), told("cause"), told("advice"),
        found[0].retry, found[0].sure, found,
    )  # fmt: skip


def _number(ret: int | str) -> int | str:
    text = str(ret).strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and digits.isascii() and len(digits) < 19 else text
