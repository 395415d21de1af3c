"""Everything that confkit raises.

Each error is made of fields: the problem, its cause and the next step; its text is composed from
them here, and taken apart nowhere. Those that a Python person would expect to be a builtin
(`LookupError`, `ValueError`, `TimeoutError`, ...) are that too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from .codes import advice_after_look, error_of, explain
from .text import printable

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
        told = f"{self.problem}: {self.cause}" if self.cause else self.problem
        return printable(told.strip())  # it may quote what others wrote

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
    """A setting is missing or contradicts another; the text names it and the ways to give it."""


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


def api_error(
    ret: int | str, interface: str, endpoint: str, title: str, detail: str = "", status: int = 0
) -> ApiError:
    """The error for a result code, of the class that fits it, with meaning and advice; it names the
    HTTP `status`, where one is given."""
    found = explain(ret, interface)
    kinds = {one.__name__: one for one in ApiError.__subclasses__()}
    kind = kinds.get(error_of(ret, interface), ApiError)
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
    `error` perhaps; `advice` names what was found, if anything, and the next step. `own`: nothing
    of it was there before, so an effect that is seen is this change's."""

    happened: bool | None
    advice: str = ""
    error: ConfkitError | None = None
    own: bool = False


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
            told = f"{unread} could not be read: {failed.said}. {before}"
            seen = Look(None, told, failed)
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
    if look.happened and (refusal is None or refusal.ret == LATE or look.own):
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
