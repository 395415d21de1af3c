"""The steps of a runbook: a question to the service with its check, and the guard of a change."""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeVar

from ..checks import Check, Outcome
from ..client import Client
from ..deployment.probe import FAULTS
from ..errors import ApiError, AuthenticationFailed, ConfigError, ConfkitError, TokenRejected

Value = TypeVar("Value")
Checking = Generator[Check, None, Value]  # used as `value = yield from ...`
Checks = Checking[None]
Finding = tuple[Outcome, str] | tuple[Outcome, str, str]  # outcome, detail, advice

NO_TOKEN = (AuthenticationFailed, TokenRejected)
_SHOWN = 10  # names in a message


def ask(
    name: str,
    question: Callable[[], Value],
    judge: Callable[[Value], str | Finding] | None = None,
    *,
    advice: str = "",
    fails: tuple[type[ConfkitError], ...] = (),
) -> Checking[Value | None]:
    """Yield the check of a question; return its value where the check is a PASS, else None.

    `judge` makes of the value a text, the detail of a PASS, or a Finding; without it the value is
    one of these. An error is a FAIL where the service answered what is wrong, or where it is one of
    `fails`, else UNKNOWN. `advice` replaces the error's own. An OSError is of a file to be read.
    """
    try:
        value = question()
    except (ConfkitError, OSError) as error:
        failed = is_answer(error) or isinstance(error, fails)
        advice = advice or getattr(error, "advice", "Check the path, and whether you may read it.")
        summary = getattr(error, "summary", str(error))
        yield Check(name, "FAIL" if failed else "UNKNOWN", summary, advice)
        return None
    finding: Any = judge(value) if judge else value
    check = Check(name, "PASS", finding) if isinstance(finding, str) else Check(name, *finding)
    yield check
    return value if check.outcome == "PASS" else None


def is_answer(error: Exception) -> bool:
    """Return whether the service itself said what is wrong, and not that it could not look."""
    if isinstance(error, ApiError) and not isinstance(error, NO_TOKEN):
        return error.ret not in (None, *FAULTS)
    return False


def may_change(client: Client, apply: bool, name: str, outcome: Outcome = "SKIP") -> Checking[bool]:
    """Return whether a change may be made; if not, yield a check that says so.

    `outcome` is UNKNOWN for a change without which the runbook knows nothing. ConfigError: `apply`
    is neither True nor False; the text "False" is not.
    """
    if not isinstance(apply, bool):
        raise ConfigError(f"apply is {apply!r}", "Set apply to True or False.")
    if client.read_only:
        advice = "Use a client that is not read-only."
        yield Check(name, outcome, "nothing was changed: this client is read-only", advice)
    elif not apply:
        advice = "Run this again with apply=True (-p apply=True in a terminal) to make this change."
        yield Check(name, outcome, "nothing was changed", advice)
    return apply and not client.read_only


def shorten(names: Iterable[str]) -> str:
    """Return the first ten names, and how many more there are."""
    listed = list(names)
    more = f", and {len(listed) - _SHOWN} more" * (len(listed) > _SHOWN)
    return ", ".join(listed[:_SHOWN]) + more


def split(names: Sequence[str]) -> list[str]:
    """Return the names in a list, or in a text with commas between them, each once."""
    listed = names.split(",") if isinstance(names, str) else map(str, names)
    return list(dict.fromkeys(name.strip() for name in listed if name.strip()))
