"""A runbook as it is run: the checks so far, and what they allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from ..checklist import Check, Verdict
from ..codes import explain
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
)
from .inputs import to_set
from .rooms import FoundRoom
from .showing import Line, Outcome, show

if TYPE_CHECKING:
    from ..client import Client
    from ..sandbox import Sandbox

T = TypeVar("T")
Errors = type[ConfkitError] | tuple[type[ConfkitError], ...]

# With these the service has not told what it was asked: whether that is well stays unknown.
_UNTOLD = (
    AuthenticationFailed,
    OutcomeUnknown,
    ServiceTimeout,
    ServiceUnavailable,
    TokenRejected,
)
_FAULTS = (700, 805)  # database error, internal error: the service could not look


def begin(name: str, client: Client) -> Runbook:
    """The runbook of this name on this service, which it shows in a line: nobody shall take one
    service for another."""
    if client.sandbox is not None:
        where = "the SANDBOX: nothing real is asked"
    else:
        access = "refused, read only" if client.read_only else "possible where a cell says so"
        where = f"{client.name}, a real service; changes are {access}"
    show(_Text(f"{name} on {where}"))
    return Runbook(name, client)


class Runbook:
    """The checks of one run, in `checks`. Each method that takes a verdict shows it at once."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.client = client
        self._checks: list[Check] = []

    @property
    def checks(self) -> Outcome:
        """What was recorded so far."""
        return Outcome(self._checks)

    def check(
        self,
        check: str,
        ask: Callable[[], T],
        *,
        found: str | Callable[[T], str] = "yes",
        advice: str = "",
        needs: str | Iterable[str] = (),
        fails: Errors | None = None,
    ) -> T | None:
        """What `ask()` gives, recorded as PASS with what was `found`; None when it failed. Of
        a room that `find_room` gave, its topic is told too.

        An error of confkit's is a FAIL where the service answered what is wrong, and UNKNOWN where
        that cannot be known: no answer, a time-out, a refused token, a fault that passes. With
        `fails`, exactly these errors are a FAIL. A change that a read only client refuses is a
        SKIP, and so is a check whose `needs`, names of checks before it, did not pass. `advice` is
        the next step, in place of the error's own. Other exceptions are raised: they are mistakes
        in the notebook.
        """
        if not self.ready(check, needs):
            return None
        try:
            value = ask()
        except ReadOnlyError:
            self.skipped(check, "this client is read only")
        except ConfkitError as error:
            failed = isinstance(error, fails) if fails is not None else _answered(error)
            verdict: Verdict = "FAIL" if failed else "UNKNOWN"
            self.add(Check(check, verdict, _told(error), advice or error.advice))
        else:
            told = found if isinstance(found, str) else found(value)
            if isinstance(value, FoundRoom):  # whoever reads this knows rooms by their topics
                told = f"{told} (topic {value.topic!r})"
            self.passed(check, told)
            return value
        return None

    def refuses(
        self,
        check: str,
        ask: Callable[[], object],
        *codes: int,
        advice: str = "",
        needs: str | Iterable[str] = (),
    ) -> None:
        """Records PASS where the service answers `ask()` with one of these result codes, FAIL where
        it answers otherwise, UNKNOWN where no answer came; `advice` is for the latter two."""
        if not self.ready(check, needs):
            return
        wanted = " or ".join(map(str, codes))
        try:
            ask()
        except ReadOnlyError:
            self.skipped(check, "this client is read only")
        except ApiError as error:
            if error.ret in codes:
                self.passed(check, _told(error))
            elif error.ret is None or isinstance(error, OutcomeUnknown):
                self.unknown(check, _told(error), advice or error.advice)
            else:
                self.failed(check, f"{_told(error)} where {wanted} is due", advice or error.advice)
        except ConfkitError as error:
            self.unknown(check, _told(error), advice or error.advice)
        else:
            self.failed(check, f"it succeeded, where {wanted} is due", advice)

    def ready(self, check: str, needs: str | Iterable[str] = ()) -> bool:
        """Whether all checks that this one needs have passed; otherwise it is recorded as SKIP.

        ValueError: no check of such a name was recorded, a mistake in the notebook."""
        names = [needs] if isinstance(needs, str) else list(needs)
        last = {one.check: one.verdict for one in self._checks}
        for name in names:
            if name not in last:
                raise ValueError(f"{check!r} needs {name!r}, which was not checked before")
            if last[name] != "PASS":
                self.skipped(check, f"not tried: {name!r} is {last[name]}")
                return False
        return True

    def passed(self, check: str, found: str, advice: str = "") -> None:
        """Records that it is as it should be."""
        self.add(Check(check, "PASS", found, advice))

    def failed(self, check: str, found: str, advice: str) -> None:
        """Records that it is not as it should be, and the next step."""
        self.add(Check(check, "FAIL", found, advice))

    def unknown(self, check: str, found: str, advice: str) -> None:
        """Records that it could not be told, and how to find out."""
        self.add(Check(check, "UNKNOWN", found, advice))

    def skipped(self, check: str, found: str, advice: str = "") -> None:
        """Records that it was not tried, and why; it does not count."""
        self.add(Check(check, "SKIP", found, advice))

    def add(self, *checks: Check) -> None:
        """Records checks that were made elsewhere, such as those of `ck.doctor`."""
        for check in checks:
            self._checks.append(check)
            show(Line(check))

    def scene(self, wanted: str, *scenes: str) -> Sandbox | None:
        """The sandbox, on which the cell then builds the scene that is wanted; None on a real
        service, recorded as SKIP. ConfigError: there is no such scene."""
        if wanted not in scenes:
            raise ConfigError(f"scene is {wanted!r}", f"There are {', '.join(scenes)}.")
        sandbox: Sandbox | None = self.client.sandbox
        if sandbox is None:
            self.skipped("a scene to look at", f"{self.client.name} is used as it is")
        else:
            show(_Text(f"the sandbox's scene: {wanted}"))
        return sandbox

    def may_change(self, apply: bool, what: str) -> bool:
        """Whether the one cell that changes something may do `what`; otherwise that is a SKIP.

        ConfigError: `apply` is neither True nor False, as the text "False" is not."""
        if not isinstance(apply, bool):
            raise ConfigError(f"apply is {apply!r}", "Give True or False.")
        if self.client.read_only:
            self.skipped(what, "nothing was changed: this client is read only")
        elif not apply:
            self.skipped(what, "nothing was changed", f"{to_set('apply', True)} to do it.")
        return apply and not self.client.read_only

    def verdict(self) -> Outcome:
        """All checks with their verdict, the last output of a runbook."""
        return self.checks


class _Text:
    """A line that shows as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self._text}


def _answered(error: ConfkitError) -> bool:
    """Whether the service itself said what is wrong."""
    if not isinstance(error, ApiError) or isinstance(error, _UNTOLD):
        return False
    passes = error.retry or explain(error).retry  # a change's error never says so itself
    return error.ret not in (None, *_FAULTS) and not passes


def _told(error: ConfkitError) -> str:
    """What an error says, without the next step."""
    if isinstance(error, ApiError) and error.meaning:
        return error.meaning.rstrip(" .") + (f" ({error.ret})" if error.ret is not None else "")
    return (isinstance(error, TransportError) and error.cause) or error.said
