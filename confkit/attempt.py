"""One attempt at a request: sent once, put on record, and what its failure means.

A loop drives attempts for one call (`Client.send`), a queue for many (`many/queue`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from .calls import Call, call
from .errors import (
    ApiError,
    ConfkitError,
    OutcomeUnknown,
    ProtocolError,
    TokenRejected,
    TransportError,
    leaves_open,
    unsettled,
)
from .transport import move
from .wire import Answer, Request, asked_wait, interpret, secrets_in, secrets_of, write

if TYPE_CHECKING:
    from collections import deque

    import requests

    from .client import Pace
    from .dialect import Dialect
    from .secret import Secret
    from .wire import Written

DIAL_SECONDS = 30.0  # B1 answers when the service has dialled the camera, or has given up
SEE_OTHER = 303  # HTTP
TRIES = 3  # of a read: once, and at most twice again
LARGE = 2**14  # bytes of a body that is not kept: its excerpt is made at once

Read = Callable[[Request, Answer, "Dialect"], Any]

log = logging.getLogger("confkit")


def _is_lost(failure: ConfkitError) -> bool:
    """Return whether a change with this failure may have happened all the same."""
    if isinstance(failure, TransportError):
        return failure.sent
    if isinstance(failure, ProtocolError):
        status = failure.status or 200
        # 303 says where to look after a change; a proxy may put its status over a success.
        return failure.success or status < 300 or status >= 500 or status == SEE_OTHER
    return False


class Context(NamedTuple):
    """What an attempt needs of its client."""

    session: requests.Session
    bases: Mapping[str, str]
    dialect: Dialect
    timeout: tuple[float, float]
    secret_key: Secret
    token: Callable[[Secret | None], Secret]
    pace: Pace | None
    calls: deque[Call | Attempt]
    clock: Callable[[], float]
    chance: Callable[[], float]
    now: Callable[[], float]

    def written(self, request: Request, token: Secret | None) -> Written:
        """Return the request as this client sends it."""
        return write(request, self.bases[request.endpoint.interface], token, self.dialect)


class Attempt:
    """One request, sent once, and its result.

    Afterwards `answer` is what came (None where nothing did) and `error` what went wrong, None for
    a success; `Client.ask_once` sets `members` too. `failures` counts the failed attempts before
    this one, `renewed` says whether a token was refused before, and `place` is its number among
    many.
    """

    def __init__(
        self,
        request: Request,
        context: Context,
        place: int = 0,
        failures: int = 0,
        renewed: bool = False,
    ) -> None:
        self.request, self.context, self.place = request, context, place
        self.failures, self.renewed = failures, renewed
        self.token: Secret | None = None
        self.secrets: tuple[str, ...] = ()
        self.answer: Answer | None = None
        self.members: dict[str, Any] | None = None
        self.error: ConfkitError | None = None
        self._ended_by: BaseException | None = None  # Ctrl-C, which is no failure of the call

    def __repr__(self) -> str:
        return f"Attempt({self.request})"

    def begin(self, token: Secret | None, secrets: tuple[str, ...] | None = None) -> None:
        """Note that it is sent now, with this token; no message may quote one of its `secrets`."""
        context = self.context
        self.token = token
        self.secrets = (
            (*secrets_in(self.request, token), context.secret_key) if secrets is None else secrets
        )
        self.began, self.when = context.clock(), context.now()
        self.seconds = 0.0

    def send(self, token: Secret | None) -> dict[str, Any] | None:
        """Send it through the session; return the members of its answer, None where it failed."""
        context, endpoint = self.context, self.request.endpoint
        if context.pace:
            context.pace()
        connect, read = context.timeout
        patience = max(read, DIAL_SECONDS) if endpoint.key == "B1" else read
        self.begin(token)
        try:
            written = context.written(self.request, token)
            moved = move(context.session, written, (connect, patience), self.secrets)
            if isinstance(moved, Answer):
                found = (*self.secrets, *secrets_of(endpoint, moved.body))
                moved = moved._replace(secrets=found)
            members: dict[str, Any] | None = self.land(moved, interpret)
        except BaseException as error:  # what was sent is on record
            self._ended_by = error
            self.seconds = context.clock() - self.began
            raise
        finally:
            self.record()
        return members

    def land(self, moved: Answer | TransportError, read: Read) -> Any:
        """Keep what came, and return what `read` makes of it; None where it failed."""
        self.seconds = self.context.clock() - self.began
        if not isinstance(moved, Answer):
            self.error = moved
            return None
        self.answer = moved
        try:
            return read(self.request, moved, self.context.dialect)
        except ConfkitError as error:
            # The frames of a traceback would keep every answer in memory.
            self.error = error.with_traceback(None)
        return None

    @property
    def call(self) -> Call:
        """The record of this attempt, with nothing secret in it."""
        made = self.__dict__.get("_call") or call(
            self.request.endpoint,
            self.context.written(self.request, self.token),
            self.context.dialect,
            datetime.fromtimestamp(self.when, UTC),
            self.seconds,
            self.answer,
            self._ended_by or self.error,
        )
        found: Call = self.__dict__.setdefault("_call", made)  # of two threads, the first one's
        return found

    def record(self) -> None:
        """Put it on record and in the log.

        Making the record takes longer than a call, so that waits until somebody looks at it."""
        context, endpoint = self.context, self.request.endpoint
        # It says what was sent, whatever becomes of the caller's parameters.
        self.request = Request(endpoint, dict(self.request.parameters))
        large = self.answer is not None and len(self.answer.body) > LARGE
        context.calls.append(self.call if large or endpoint.write else self)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", self.call)

    # What a failure means

    @property
    def is_refused(self) -> bool:
        """Whether its token was refused for the first time: it is sent again with a new one. A1,
        which has none, may answer the same code."""
        return isinstance(self.error, TokenRejected) and not self.renewed and self.token is not None

    @property
    def pause(self) -> float | None:
        """Seconds after which it is sent again, None where its error stands.

        Longer where the service asks for it (Retry-After), up to what the call's time-outs allow an
        answer. Only reads are sent again."""
        error, context = self.error, self.context
        last = self.failures + 1 == TRIES
        if self.request.endpoint.write or last or error is None or not error.retry:
            return None
        own = 0.2 * 2.0**self.failures * (0.5 + context.chance())
        asked = asked_wait(self.answer, context.now) if self.answer is not None else 0.0
        return max(own, min(own + asked, sum(context.timeout)))

    def again(self) -> Attempt:
        """Return the next attempt at the same request."""
        refused = self.is_refused
        return Attempt(
            self.request,
            self.context,
            self.place,
            self.failures + (not refused),
            self.renewed or refused,
        )

    def failure(self) -> ConfkitError:
        """Return the error for the caller; for a change it says what may have happened."""
        endpoint, failure = self.request.endpoint, self.error
        if failure is None:
            raise AssertionError("it did not fail")
        if endpoint.write and _is_lost(failure):
            return OutcomeUnknown(
                f"{endpoint.title} ({endpoint.key}) was sent and its answer was "
                f"lost, so it may or may not have happened: {failure}",
                "Look on the service before you repeat it.",
            )
        if endpoint.write and isinstance(failure, ApiError) and self._is_open(failure):
            return unsettled(failure)
        return failure

    def _is_open(self, failure: ApiError) -> bool:
        status = 0 if self.answer is None else self.answer.status
        return leaves_open(failure.ret or "", failure.interface or "A", status)
