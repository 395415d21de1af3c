"""Everything that confkit raises, and what result codes mean (section 7): `codes.toml` holds a row
for each, `explain` says it.

Each error is made of fields: the problem, its cause and the next step; its text is composed from
them here, and taken apart nowhere. Those that a Python person would expect to be a builtin
(`LookupError`, `ValueError`, `TimeoutError`, ...) are that too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from .text import as_it_is, one_line, printable

if TYPE_CHECKING:
    from .rtsp.report import Report


E = TypeVar("E", bound="ConfkitError")
T = TypeVar("T")

LOOKED_UP = "It was looked up, and nothing was changed."
LATE = 427  # the camera gave the service no answer in time; it may join after all


def missing_extra(what: str, package: str | None, extra: str) -> ConfigError:
    """The error that names the package which is missing, and the line that installs it."""
    return ConfigError(f"{what} {package}", f"Run: pip install 'confkit-notebooks[{extra}]'")


class ConfkitError(Exception):
    """The base of all that confkit raises: `problem`, `cause` and `advice`, the next step, each
    empty where it is not known. `retry`: the same call may work in a moment.

    Its text is `problem: cause. advice`; `said` is that without the advice.
    """

    retry: bool = False

    def __init__(self, problem: str = "", advice: str = "", *, cause: str = "") -> None:
        super().__init__(problem)
        self.problem, self.cause, self.advice = problem, cause, advice

    @property
    def said(self) -> str:
        """The problem and its cause, without a full stop at the end."""
        return self._told().rstrip(" .")

    def __str__(self) -> str:
        return f"{self.said}. {printable(self.advice)}" if self.advice else self._told()

    def _told(self) -> str:
        text = f"{self.problem}: {self.cause}" if self.cause else self.problem
        return printable(text.strip())  # it may quote what others wrote

    def again(self, **changes: Any) -> Self:
        """The same error without its traceback, for others to raise, and with these `changes` of
        its fields. (`copy.copy` brings the traceback along where Dask is loaded, and then it grows
        with each one that raises it.)"""
        return _rebuild(type(self), self.args, {**self.__dict__, **changes})

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(kind: type[E], args: tuple[object, ...], state: dict[str, object]) -> E:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(ConfkitError, ValueError):
    """A setting is missing or contradicts another; the text names it and the ways to give it.
    `missing` holds the names of those that a service needs and that nobody gave."""

    missing: tuple[str, ...] = ()


class ReadOnlyError(ConfkitError, PermissionError):
    """The client was connected with read_only=True and refused to send a change."""


class TransportError(ConfkitError, ConnectionError):
    """No answer came: refused, reset, timed out, no such host, TLS. `sent` is False when the
    request certainly never reached the service; `obstacle` names what kept it in one word, such as
    "refused", "tls" or "certificate"."""

    sent: bool = True
    obstacle: str = ""
    retry = True


class TransportTimeout(TransportError, TimeoutError):
    """No answer came in time."""


class ProtocolError(ConfkitError):
    """Something came that is not an answer of this interface; the text shows its first bytes.
    `success`: it says result code 0 all the same, under an HTTP status that denies it."""

    status: int | None = None
    success: bool = False


class OutcomeUnknown(ConfkitError):
    """A change was sent and its answer was lost, or leaves it open: it may or may not have
    happened."""


class ApiError(ConfkitError):
    """The service answered with a result code other than 0 (section 7 of the interface).

    `ret` as it came (a number where it is one), `interface`, `endpoint` (such as "A3"), `meaning`,
    `advice`; `report` where a preflight went before (see `import_device`); `looked`: it was looked
    up, and nothing was changed. `retry` is False of each change: look before you repeat one.
    """

    ret: int | str | None = None
    interface: str | None = None
    endpoint: str | None = None
    meaning: str = ""
    report: Report | None = None
    looked: bool = False


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


class Unsettled(ApiError, OutcomeUnknown):
    """A change was answered with a code that leaves open whether it happened, such as 503 or 700.

    `advice` names what was found when it was looked up; `refusal` is the plain error, which is
    raised where nothing of the change is to be seen."""

    refusal: ApiError | None = None


class UnsettledTimeout(ServiceTimeout, Unsettled):
    """409 and 504 of A, 310 and 427 of B, of a change that may or may not have happened: a part of
    the service was late."""


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


_KINDS = {kind.__name__: kind for kind in ApiError.__subclasses__()}  # ours: others have none yet


def api_error(
    ret: int | str, interface: str, endpoint: str, title: str, detail: str = "", status: int = 0
) -> ApiError:
    """The error for a result code, of the class that fits it, with meaning and advice; it names the
    HTTP `status`, where one is given."""
    found = explain(ret, interface)
    kind = _KINDS.get(error_of(ret, interface), ApiError)
    news = detail.strip(" .").lower() not in ("", found.meaning.lower())
    said = f". The service says: {detail.strip(' .')}" if news else ""
    came = f"{ret} under HTTP {status}" if status else str(ret)
    problem = f"{title} ({endpoint}) answered {came}"
    error = kind(problem, found.advice, cause=f"{found.meaning}{said}")
    error.ret, error.interface, error.endpoint = ret, interface, endpoint
    error.meaning, error.retry = found.meaning, found.retry
    return error


def unsettled(refusal: ApiError, advice: str = "") -> Unsettled:
    """The refusal of a change, as one that may have happened all the same; `advice`, where given,
    takes the place of its own."""
    kind = UnsettledTimeout if isinstance(refusal, ServiceTimeout) else Unsettled
    error = _rebuild(kind, refusal.args, {**refusal.__dict__, "refusal": refusal})
    error.problem = "It may or may not have happened"
    error.cause, error.advice = refusal.said, advice or refusal.advice
    return error


class Look(NamedTuple):
    """What was seen of a change: `happened` is None where that could not be settled, because of
    `error` perhaps; `advice` names what was found, if anything, and the next step."""

    happened: bool | None
    advice: str = ""
    error: ConfkitError | None = None


def settle(send: Callable[[], T], look: Callable[[], Look], before: str, unread: str) -> T | None:
    """Send a change, and look where its outcome is open; None where the look shows it done.

    `before` says how to look before it is sent again, `unread` what a look that failed could not
    read.
    """
    try:
        return send()
    except (OutcomeUnknown, ServiceTimeout) as error:
        unknown = error if isinstance(error, OutcomeUnknown) else unsettled(error)
        try:
            seen = look()
        except ConfkitError as failed:
            text = f"{unread} could not be read: {failed.said}. {before}"
            seen = Look(None, text, failed)
        failure = settled(unknown, seen if seen.advice else seen._replace(advice=before))
    if failure is not None:
        raise failure
    return None


def settled(unknown: OutcomeUnknown, look: Look) -> ConfkitError | None:
    """The error of a change that was looked up, or None where it counts as done.

    An effect that is seen after a lost answer is this change's. After a code that came it may be
    older, so the look can only say that nothing happened: the plain refusal, which says so.
    """
    refusal = unknown.refusal if isinstance(unknown, Unsettled) else None
    if look.happened and (refusal is None or refusal.ret == LATE):
        return None
    failure: ConfkitError
    if refusal is None:
        failure = unknown.again(advice=look.advice)
    elif look.happened is False:
        looked = advice_after_look(refusal.ret, refusal.interface) or refusal.advice
        advice = f"{LOOKED_UP} {looked}"
        failure = refusal.again(advice=advice, looked=True)
    else:
        failure = unsettled(refusal, look.advice)
    if look.error is not None:  # why nobody knows
        failure.__cause__ = look.error.again()  # itself it was raised in the context of this one
    return failure


# Result codes


class Code(NamedTuple):
    """What one `ret` means, what probably caused it and what to do next (section 7).

    `interface` is "A" or "B", or "" for a code seen in other deployments whose interface is not
    known. `retry` is true where sending the same call again, soon, may help; a write is looked up
    first. `sure` says how sure the meaning is: "specified", "seen" or "unknown"; cause and advice
    are ours: assumed. `error` names the class that is raised for it. Of a change it says in which
    interfaces it was `not_made`, or that this is `open`; `looked` is the advice once it was looked
    up and nothing had changed. `both`: the other interface answers it in the same sense.
    """

    ret: int
    interface: str
    meaning: str
    cause: str
    advice: str
    retry: bool = False
    sure: str = "unknown"
    error: str = "ApiError"
    not_made: str = ""
    open: bool = False
    looked: str = ""
    both: bool = False


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
            head = one_line(f"{self.ret}: {self.meaning}")  # a code that came as a text
            return _wrapped(head, ("what to do:", self.advice))
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
        return as_it_is(f"<table>{body}</table>")


@cache
def codes() -> tuple[Code, ...]:
    """All rows; they are read when a call is refused for the first time."""
    import tomllib
    from importlib.resources import files

    text = files(__package__).joinpath("codes.toml").read_text("utf-8")
    return tuple(Code(**row) for row in tomllib.loads(text)["code"])


def lookup(ret: int | str, interface: str | None) -> tuple[Code, ...]:
    """All that is known of a code, the specification's meaning first (section 7).

    Where the interface's own table holds the code, the other interface's meaning is left out.
    Where it does not, the other's is given, and its `interface` says so: 602 stands in A's table
    and comes from B too (section 5). `None` asks for both. An unknown code gives an empty tuple.
    """
    known = [code for code in codes() if code.ret == ret]
    if interface and any(code.interface == interface for code in known):
        known = [code for code in known if code.interface in (interface, "")]
    return tuple(sorted(known, key=lambda code: code.sure != "specified"))


def explain(ret: int | str | Exception, interface: str | None = None) -> Explanation:
    """What a result code means, its likely cause and the next step (section 7 of the interface).

    `ret` may be an error, which knows its code and interface. `interface` is "A" or "B"; without
    it, a code that means different things in A and B (401) is reported for both. A code that nobody
    knows is said to be that.
    """
    if isinstance(ret, Exception):
        code = getattr(ret, "ret", None)
        interface = interface or getattr(ret, "interface", None)
        ret = "no result code" if code is None else code
    if interface is not None:
        interface = interface.strip().upper()
        if interface not in ("A", "B"):
            raise ValueError(f"interface is {interface!r}; there are A (port 8080) and B (8050)")
    number = as_code(str(ret))
    found = lookup(number, interface)
    if not found:
        return Explanation(
            number,
            interface,
            "not a code of the interface, and none seen in other deployments",
            "The deployment uses a code of its own.",
            "Ask the provider what it means, and quote the call as client.calls shows it.",
            False,
            "unknown",
            (),
        )
    apart = len({code.interface for code in found if code.interface}) > 1

    def told(what: str) -> str:
        rows = found if apart or what == "meaning" else found[:1]  # one next step is enough
        texts = [(f"{row.interface}: " if apart else "") + getattr(row, what) for row in rows]
        return ("; " if what == "meaning" else " ").join(dict.fromkeys(texts))

    return Explanation(
        number,
        interface,
        told("meaning"),
        told("cause"),
        told("advice"),
        found[0].retry,
        found[0].sure,
        found,
    )


def as_code(text: str) -> int | str:
    """A result code that came as text: the number where it is one, otherwise the text."""
    plain = text.strip()
    digits = plain.removeprefix("-")
    return int(plain) if digits.isdecimal() and digits.isascii() and len(digits) < 19 else plain


def error_of(ret: int | str, interface: str) -> str:
    """The name of the class that is raised for a code of this interface."""
    rows = lookup(ret, interface)
    return next(
        (row.error for row in rows if row.both or row.interface in (interface, "")), "ApiError"
    )


def leaves_open(ret: int | str, interface: str, status: int) -> bool:
    """Whether a code leaves open what became of a change: a part of the service was late or broke,
    nobody knows what the code means, or the HTTP `status` says that the service failed."""
    rows = lookup(ret, interface)
    if any(interface in row.not_made for row in rows):
        return False
    first = rows[0] if rows else None
    return status >= 500 or first is None or first.retry or first.sure == "unknown" or first.open


def advice_after_look(ret: int | str | None, interface: str | None) -> str:
    """The next step once a change was looked up and nothing had changed; "" where it is the usual
    one."""
    return next((row.looked for row in lookup(ret or "", interface) if row.looked), "")


def _wrapped(head: str, *parts: tuple[str, str]) -> str:
    from textwrap import wrap

    lines = [head]
    for name, text in parts:
        lines += wrap(f"  {name:13} {text}", 88, subsequent_indent=" " * 16)
    return "\n".join(lines)


def _place(code: Code) -> str:
    return f" in interface {code.interface}" if code.interface else " (other deployments)"


def _again(code: Code) -> str:
    return "yes, in a moment" if code.retry else "no, not before something has changed"
