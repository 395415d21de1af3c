"""One question at a time to a service: each is sent once, counted, and bounded in number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError, ReadOnlyError, TransportError
from ..wire import Request
from .answers import Unasked

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client
    from ..dialect import Dialect
    from ..masking import Secret
    from .evidence import Findings

FEWEST = 20  # calls: with fewer, a question could be asked but not its control
SILENT = 2  # questions in a row to which an interface says nothing, before it is left alone


class Line:
    """Sends requests of a client, each exactly once, at most `max_calls` of them.

    `kept` calls are kept back for those that are asked `anyway`: the removal of an own room.
    `asked` is all that came. Unasked is raised where the bound is reached, where an interface has
    gone silent, and for a change on a client that is read only.
    """

    def __init__(self, client: Client, findings: Findings, max_calls: int) -> None:
        if isinstance(max_calls, bool) or not (isinstance(max_calls, int) and max_calls >= FEWEST):
            raise ConfigError(
                f"max_calls is {max_calls!r}",
                f"Give a whole number, {FEWEST} or more: a probe needs about thirty calls.",
            )
        self.client, self.findings = client, findings
        self.calls = 0
        self.kept = 0
        self.asked: list[Attempt] = []
        self._most = max_calls
        self._silent = {"A": 0, "B": 0}

    @property
    def remaining(self) -> int:
        """How many calls may still be made."""
        return self._most - self.calls - self.kept

    def __call__(
        self,
        request: Request,
        token: Secret | None = None,
        *,
        dialect: Dialect | None = None,
        anyway: bool = False,
    ) -> Attempt:
        """What came for one request, in the dialect as far as it is known (`Client.ask_once`)."""
        interface = request.endpoint.interface
        if self.remaining + (self.kept if anyway else 0) <= 0:
            raise Unasked(f"not asked: the bound of {self._most} calls is reached (max_calls)")
        if self._silent[interface] >= SILENT and not anyway:
            raise Unasked(
                f"not asked: interface {interface} gave no answer {SILENT} times in a row"
            )
        try:
            self.client.may_send(request.endpoint)
        except ReadOnlyError as error:
            raise Unasked(f"not asked: {error}") from None
        self.calls += 1
        asked = self.client.ask_once(request, token, dialect=dialect or self.findings.dialect)
        self.asked.append(asked)
        silent = isinstance(asked.error, TransportError)
        self._silent[interface] = self._silent[interface] + 1 if silent else 0
        return asked
