"""What the function of a runbook is written with: each step makes a check, and may give a value."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, TypeVar

from ..checklist import Check, Verdict
from ..errors import (
    ApiError,
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ReadOnlyError,
    ServiceTimeout,
    ServiceUnavailable,
    TokenRejected,
    TransportError,
    explain,
)
from .inputs import to_set
from .rooms import FoundRoom

if TYPE_CHECKING:
    from ..client import Client

T = TypeVar("T")
Errors = type[ConfkitError] | tuple[type[ConfkitError], ...]
Checking = Generator[Check, None, T]  # `value = yield from ...`
Finding = tuple[Verdict, str] | tuple[Verdict, str, str]  # what was found, and the next step

# With these the service has not said what it was asked: whether that is well stays unknown.
_UNANSWERED = (
    AuthenticationFailed,
    OutcomeUnknown,
    ServiceTimeout,
    ServiceUnavailable,
    TokenRejected,
)
_FAULTS = (700, 805)  # database error, internal error: the service could not look


class _Otherwise(ConfkitError):
    """The service answered otherwise than it should."""


class Steps:
    """The checks of one function so far, by name, with their verdicts."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.verdicts: dict[str, Verdict] = {}

    def asked(
        self,
        check: str,
        ask: Callable[[], T],
        *,
        found: str | Callable[[T], str] = "yes",
        advice: str = "",
        needs: str | Iterable[str] = (),
        fails: Errors | None = None,
    ) -> Checking[T | None]:
        """Return what `ask()` gives, a PASS with what was `found`; None when it failed.

        An error of confkit's is a FAIL where the service answered what is wrong, and UNKNOWN where
        that cannot be known: no answer, a time-out, a refused token, a fault that passes. With
        `fails`, exactly these errors are a FAIL. A change that a read only client refuses is a
        SKIP, and so is a check whose `needs`, names of checks before it, did not pass. `advice` is
        the next step, in place of the error's own. Of a room that was found, its topic is shown
        too. Other exceptions are raised.
        """
        if not (yield from self.ready(check, needs)):
            return None
        try:
            value = ask()
        except ReadOnlyError:
            yield self.skipped(check, "this client is read only")
        except ConfkitError as error:
            failed = isinstance(error, fails) if fails is not None else _answered(error)
            verdict: Verdict = "FAIL" if failed else "UNKNOWN"
            yield self.add(Check(check, verdict, said(error), advice or error.advice))
        else:
            shown = found if isinstance(found, str) else found(value)
            if isinstance(value, FoundRoom):  # whoever reads this knows rooms by their topics
                shown = f"{shown} (topic {value.topic!r})"
            yield self.passed(check, shown)
            return value
        return None

    def refused(
        self,
        check: str,
        ask: Callable[[], object],
        *codes: int,
        advice: str = "",
        needs: str | Iterable[str] = (),
    ) -> Checking[None]:
        """PASS where the service answers `ask()` with one of these result codes, FAIL where it
        answers otherwise, UNKNOWN where no answer came; `advice` is for the latter two."""
        due = f"where {' or '.join(map(str, codes))} is due"

        def refusal() -> str:
            try:
                ask()
            except ApiError as error:
                if error.ret in codes:
                    return said(error)
                if error.ret is None or isinstance(error, OutcomeUnknown):
                    raise
                raise _Otherwise(f"{said(error)} {due}", error.advice) from None
            raise _Otherwise(f"it succeeded, {due}")

        yield from self.asked(
            check, refusal, found=str, advice=advice, needs=needs, fails=_Otherwise
        )

    def judged(
        self,
        check: str,
        value: T | None,
        judge: Callable[[T], Finding],
        *,
        needs: str | Iterable[str] = (),
    ) -> Checking[None]:
        """Make the check of what `judge(value)` finds: the verdict, what was found, and the next
        step where there is one. A SKIP where a check that it `needs` has not passed."""
        if (yield from self.ready(check, needs)) and value is not None:
            yield self.told(check, judge(value))

    def ready(self, check: str, needs: str | Iterable[str] = ()) -> Checking[bool]:
        """Return whether all checks that this one needs have passed; otherwise it is a SKIP.

        KeyError: no check of such a name was made."""
        for name in [needs] if isinstance(needs, str) else needs:
            if self.verdicts[name] != "PASS":
                yield self.skipped(check, f"not tried: {name!r} is {self.verdicts[name]}")
                return False
        return True

    def may_change(self, apply: bool, what: str) -> Checking[bool]:
        """Return whether `what`, a change, may be done; otherwise it is a SKIP.

        ConfigError: `apply` is neither True nor False, as the text "False" is not."""
        if not isinstance(apply, bool):
            raise ConfigError(f"apply is {apply!r}", "Give True or False.")
        if self._client.read_only:
            yield self.skipped(what, "nothing was changed: this client is read only")
        elif not apply:
            yield self.skipped(what, "nothing was changed", f"{to_set('apply', True)} to do it.")
        return apply and not self._client.read_only

    def told(self, check: str, finding: Finding) -> Check:
        """Return what was found of it: a verdict, what was found, and perhaps the next step."""
        return self.add(Check(check, *finding))

    def passed(self, check: str, found: str, advice: str = "") -> Check:
        """Return that it is as it should be."""
        return self.add(Check(check, "PASS", found, advice))

    def failed(self, check: str, found: str, advice: str) -> Check:
        """Return that it is not as it should be, and the next step."""
        return self.add(Check(check, "FAIL", found, advice))

    def unknown(self, check: str, found: str, advice: str) -> Check:
        """Return that it could not be found out, and how to find out."""
        return self.add(Check(check, "UNKNOWN", found, advice))

    def skipped(self, check: str, found: str, advice: str = "") -> Check:
        """Return that it was not tried, and why; it does not count."""
        return self.add(Check(check, "SKIP", found, advice))

    def add(self, check: Check) -> Check:
        """Return a check that was made elsewhere, such as one of `ck.doctor`."""
        self.verdicts[check.check] = check.verdict
        return check


def _answered(error: ConfkitError) -> bool:
    """Whether the service itself said what is wrong."""
    if not isinstance(error, ApiError) or isinstance(error, _UNANSWERED):
        return False
    passes = error.retry or explain(error).retry  # a change's error never says so itself
    return error.ret not in (None, *_FAULTS) and not passes


def said(error: ConfkitError) -> str:
    """What an error says, without the next step."""
    if isinstance(error, ApiError) and error.meaning:
        return error.meaning.rstrip(" .") + (f" ({error.ret})" if error.ret is not None else "")
    return (isinstance(error, TransportError) and error.cause) or error.said
