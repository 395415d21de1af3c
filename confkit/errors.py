"""Everything that confkit raises, and what the result codes mean (section 7; `codes.toml`).

Each error is made of fields (problem, cause and next step), and its text is composed from them
here. Errors that Python has a builtin for (`LookupError`, `ValueError`, `TimeoutError`, ...) are
that too.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from .text import one_line, printable

if TYPE_CHECKING:
    from .rtsp.report import Report


class ConfkitError(Exception):
    """The base of everything that confkit raises.

    `problem`, `cause` and `advice` (the next step) are texts, possibly empty; `str()` is "problem:
    cause. advice". `retry`: the same call may work in a moment.
    """

    retry: bool = False
    retry_after: float | None = None  # seconds that the service asks to wait

    def __init__(self, problem: str = "", advice: str = "", *, cause: str = "") -> None:
        super().__init__(problem)
        self.problem, self.cause, self.advice = problem, cause, advice

    @property
    def summary(self) -> str:
        """The problem and its cause, without the advice and without a full stop at the end."""
        return self._without_advice().rstrip(" .")

    def __str__(self) -> str:
        if not self.advice:
            return self._without_advice()
        return f"{self.summary}. {printable(self.advice)}"

    def _without_advice(self) -> str:
        text = f"{self.problem}: {self.cause}" if self.cause else self.problem
        return printable(text.strip())  # it may quote other people's text

    def again(self, **changes: Any) -> Self:
        """Return a copy of the error with these fields changed, to be raised again. (Raising one
        object twice, or its `copy.copy` with Dask loaded, would keep the first traceback.)"""
        error = type(self)(self.problem)
        error.__dict__.update(self.__dict__, **changes)
        return error


class ConfigError(ConfkitError, ValueError):
    """A setting is missing, invalid, or contradicts another; `missing` names those that are
    missing."""

    missing: tuple[str, ...] = ()


class ReadOnlyError(ConfkitError, PermissionError):
    """The client was connected with read_only=True and refused to send a change."""


class Cancelled(ConfkitError):
    """A request was not sent because its sweep has ended."""


class TransportError(ConfkitError, ConnectionError):
    """No response: connection refused or reset, timeout, unknown host, TLS. `sent` is False if the
    request certainly never reached the service."""

    sent: bool = True
    retry = True


class TransportTimeout(TransportError, TimeoutError):
    """No response in time."""


class ProtocolError(ConfkitError):
    """The response is not one of this interface; the text quotes its beginning. `status` is the
    HTTP status; `success` means result code 0 under a status that contradicts it."""

    status: int | None = None
    success: bool = False


class ApiError(ConfkitError):
    """The service answered with a result code other than 0 (section 7 of the interface).

    `ret` is the code (an int if numeric; None if nothing was sent), `interface` "A" or "B",
    `endpoint` such as "A3", `meaning` that of the code, `status` the HTTP status; `report` says
    what kept a device out (see `import_device`). `retry` is False for every change.
    """

    ret: int | str | None = None
    interface: str | None = None
    endpoint: str | None = None
    meaning: str = ""
    status: int | None = None
    report: Report | None = None


class AuthenticationFailed(ApiError, PermissionError):
    """401 of A: the service does not accept the access key or the digest."""


class TokenRejected(ApiError, PermissionError):
    """602: the service does not accept the access token, not even a new one."""


class RoomNotFound(ApiError, LookupError):
    """404 (612 in the field): the service has no such room."""


class UserNotFound(ApiError, LookupError):
    """429 of A, 425 of B: the room has no such user."""


class UserExists(ApiError, ValueError):
    """423 of B: the user exists already, or the room has this address already."""


class ParameterError(ApiError, ValueError):
    """A parameter is wrong: 407 of A, 401 of B, or rejected here before sending (`ret` is None)."""


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
    """302, 303 and 304 of B: usually the background service is not running."""


class OutcomeUnknown(ConfkitError):
    """A change was sent and may or may not have happened: check before you repeat it.

    Either its response was lost, or the service returned a code that leaves this open, such as 700:
    then `ret`, `interface`, `endpoint` and `meaning` are those of the code. `__cause__` is the
    error of the call; `lookup_error` that of the look-up, if that failed too.
    """

    ret: int | str | None = None
    interface: str | None = None
    endpoint: str | None = None
    meaning: str = ""
    lookup_error: ConfkitError | None = None


_CLASSES: dict[str, type[ApiError]] = {
    kind.__name__: kind
    for kind in (*ApiError.__subclasses__(), ApiError)  # before there are subclasses of users
}


def api_error(
    ret: int | str, interface: str, endpoint: str, title: str, detail: str = "", status: int = 200
) -> ApiError:
    """Return the error for a result code, of its class and with its meaning; `detail` is the
    service's own text, quoted if it says more."""
    row, detail = _row(ret, interface), detail.strip(" .")
    under = f" under HTTP {status}" if status >= 500 else ""
    is_more = detail and detail.lower() != row.meaning.lower()
    error = _CLASSES[row.error](
        f"{title} ({endpoint}) answered {ret}{under}",
        row.advice,
        cause=f"{row.meaning}. The service says: {detail}" if is_more else row.meaning,
    )
    error.ret, error.interface, error.endpoint, error.status = ret, interface, endpoint, status
    error.meaning, error.retry = row.meaning, row.retry
    return error


def may_have_happened(error: ConfkitError) -> bool:
    """Return whether a change that failed with this error may have happened nevertheless."""
    if isinstance(error, TransportError):
        return error.sent
    if isinstance(error, ProtocolError):
        status = error.status or 200  # 303 says where to look after a change
        return error.success or status < 300 or status >= 500 or status == 303
    if not isinstance(error, ApiError) or error.ret is None:
        return False
    change = _row(error.ret, error.interface or "").change
    return change == "maybe" or (change != "no" and (error.status or 200) >= 500)


def outcome_unknown(error: ConfkitError, call: str) -> OutcomeUnknown:
    """Return the error of a change that may have happened although `call` failed with `error`."""
    advice = "Check on the service before you repeat it."
    unknown = OutcomeUnknown(f"{call} may or may not have happened", advice, cause=error.summary)
    unknown.__cause__ = error
    for name in ("ret", "interface", "endpoint", "meaning") if isinstance(error, ApiError) else ():
        setattr(unknown, name, getattr(error, name))
    return unknown


def missing_extra(what: str, package: str | None, extra: str) -> ConfigError:
    """Return the error that names a missing package and the command that installs it."""
    return ConfigError(f"{what} {package}", f"Run: pip install 'confkit-notebooks[{extra}]'")


# Result codes

_WAIT = "Wait a few seconds; ask the operator if it stays so."
_ASK = "Ask the provider what it means, and quote the call as client.calls shows it."


class Code(NamedTuple):
    """The meaning of a result code, and the (assumed) next step: a row of `codes.toml`, where the
    fields are described. `interface` is "A", "B", or "" for neither in particular; `sure` is
    "specified", "seen" (in other deployments) or "unknown". The repr is for people."""

    ret: int | str
    interface: str
    meaning: str
    advice: str
    sure: str
    error: str = "ApiError"
    retry: bool = False
    change: str = ""
    both: bool = False

    def __repr__(self) -> str:
        from textwrap import fill

        where = f" in interface {self.interface}" if self.interface else ""
        sure = "seen in other deployments" if self.sure == "seen" else self.sure
        text = self.advice
        if self.retry:
            text += " A read can be repeated in a moment."
        if self.change == "maybe":
            text += " A change may have happened: check before you repeat it."
        head = one_line(f"{self.ret}{where}: {self.meaning} ({sure})")
        return f"{head}\n{fill(text, 88, initial_indent='  ', subsequent_indent='  ')}"


@cache
def codes() -> tuple[Code, ...]:
    """Return all rows, which are loaded at the first refused call."""
    import tomllib
    from importlib.resources import files

    tables = tomllib.loads(files(__package__).joinpath("codes.toml").read_text("utf-8"))
    rows = []
    for table, entries in tables.items():
        interface, sure = ("", "seen") if table == "seen" else (table, "specified")
        for ret, row in entries.items():
            retry = row.get("retry", False)
            change, advice = ("maybe", _WAIT) if retry else ("", _ASK)
            row = {"sure": sure, "change": change, "advice": advice, **row}
            row |= {name: " ".join(row[name].split()) for name in ("meaning", "advice")}
            rows.append(Code(int(ret), interface, **row))
    return tuple(rows)


def lookup(ret: int | str, interface: str | None) -> tuple[Code, ...]:
    """Return the rows of a code, the specification's first; empty if it is unknown.

    The other interface's row is omitted if this interface has its own. None: both interfaces.
    """
    rows = [code for code in codes() if code.ret == ret]
    has_own = any(code.interface == interface for code in rows)
    return tuple(code for code in rows if not has_own or code.interface in (interface, ""))


def _unknown(ret: int | str) -> Code:
    meaning = "not a code of the interface, and none seen in other deployments"
    return Code(ret, "", meaning, _ASK, "unknown", change="maybe")


def _row(ret: int | str, interface: str) -> Code:
    """Return the row of a code in this interface; if it has none, a change may have happened."""
    rows = lookup(ret, interface) or (_unknown(ret),)
    own = (row for row in rows if row.both or row.interface in (interface, ""))
    return next(own, rows[0]._replace(error="ApiError", change="maybe"))


def explain(ret: int | str | Exception, interface: str | None = None) -> Code:
    """Return what a result code means and the next step (section 7 of the interface).

    `ret` may be an error of confkit, which knows its code and interface. `interface` is "A" or "B";
    without it a code with different meanings in A and B (401) is explained for both. Its meaning
    in other deployments (416) is added; an unknown code is reported as such.
    """
    if isinstance(ret, Exception):
        interface, code = interface or getattr(ret, "interface", None), getattr(ret, "ret", None)
        ret = "no result code" if code is None else code
    ret = as_code(str(ret))
    first, *others = lookup(ret, interface) or (_unknown(ret),)
    meaning, advice = first.meaning, first.advice
    for row in others:
        where = row.interface or "other deployments"
        meaning, advice = f"{meaning}; {where}: {row.meaning}", f"{advice} {where}: {row.advice}"
    if others and others[0].interface:  # in A and B
        first, meaning, advice = first._replace(interface=""), f"A: {meaning}", f"A: {advice}"
    return first._replace(meaning=meaning, advice=advice)


def as_code(text: str) -> int | str:
    """Return a result code received as text: an int if it is numeric, else the text."""
    plain = text.strip()
    digits = plain.removeprefix("-")
    return int(plain) if digits.isdecimal() and digits.isascii() and len(digits) < 19 else plain
