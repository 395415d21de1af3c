"""What the function of a runbook is written with: a step asks, makes a check, and gives a value."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, TypeVar

from ..checks import Check, Outcome
from ..errors import (
    ApiError,
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ServiceTimeout,
    ServiceUnavailable,
    TokenRejected,
    TransportError,
    explain,
)
from .inputs import to_set

if TYPE_CHECKING:
    from ..client import Client

T = TypeVar("T")
Errors = type[ConfkitError] | tuple[type[ConfkitError], ...]
Checking = Generator[Check, None, T]  # `value = yield from ...`
Checks = Checking[None]
# What was found: a text is a PASS; else the outcome, what was found, and perhaps the next step.
Finding = str | tuple[Outcome, str] | tuple[Outcome, str, str]

# With these the service has not said what it was asked: whether that is well stays unknown.
_UNANSWERED = (
    AuthenticationFailed,
    OutcomeUnknown,
    ServiceTimeout,
    ServiceUnavailable,
    TokenRejected,
)
_FAULTS = (None, 700, 805)  # database error, internal error: the service could not look


def asked(
    check: str,
    ask: Callable[[], T],
    found: str | Callable[[T], Finding] = "yes",
    *,
    advice: str = "",
    fails: Errors | None = None,
) -> Checking[T | None]:
    """Return what `ask()` gives where that is well, else None.

    `found`, or what it makes of the value, is the check: a text is a PASS. An error of confkit's is
    a FAIL where the service answered what is wrong, and UNKNOWN where that cannot be known: no
    answer, a time-out, a refused token, a fault that passes; with `fails`, exactly these errors are
    a FAIL. `advice` is the next step, in place of the error's own. Other exceptions are raised.
    """
    try:
        value = ask()
    except ConfkitError as error:
        failed = isinstance(error, fails) if fails is not None else _answered(error)
        outcome: Outcome = "FAIL" if failed else "UNKNOWN"
        yield Check(check, outcome, said(error), advice or error.advice)
        return None
    made = told(check, found if isinstance(found, str) else found(value))
    yield made
    return value if made.outcome == "PASS" else None


def told(check: str, finding: Finding) -> Check:
    """Return the check of what was found."""
    return Check(check, "PASS", finding) if isinstance(finding, str) else Check(check, *finding)


def may_change(client: Client, apply: bool, what: str, outcome: Outcome = "SKIP") -> Checking[bool]:
    """Return whether `what`, a change, may be done; otherwise that is a check: a SKIP, or another
    `outcome` where nothing is known without the change.

    ConfigError: `apply` is neither True nor False, as the text "False" is not."""
    if not isinstance(apply, bool):
        raise ConfigError(f"apply is {apply!r}", "Give True or False.")
    if client.read_only:
        advice = "" if outcome == "SKIP" else "Use a client that is not read only."
        yield Check(what, outcome, "nothing was changed: this client is read only", advice)
    elif not apply:
        yield Check(what, outcome, "nothing was changed", f"{to_set('apply', True)} to do it.")
    return apply and not client.read_only


def _answered(error: ConfkitError) -> bool:
    """Whether the service itself said what is wrong."""
    if not isinstance(error, ApiError) or isinstance(error, _UNANSWERED):
        return False
    passes = error.retry or explain(error).retry  # a change's error never says so itself
    return error.ret not in _FAULTS and not passes


def said(error: ConfkitError) -> str:
    """What an error says, without the next step."""
    if isinstance(error, ApiError) and error.meaning and error.ret is not None:
        return f"{error.meaning.rstrip(' .')} ({error.ret})"
    return (isinstance(error, TransportError) and error.cause) or error.summary
