"""One request and its answer: sent, asked again where that may help, and put on record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from .calls import Call, call
from .errors import (
    ApiError,
    AuthenticationFailed,
    ConfkitError,
    OutcomeUnknown,
    ParameterError,
    ProtocolError,
    RoomNotFound,
    TokenRejected,
    TransportError,
    UserExists,
    UserNotFound,
    unsettled,
)
from .tracing import to_opentelemetry, to_sentry
from .transport import move
from .wire import (
    Answer,
    Request,
    Written,
    asked_wait,
    interpret,
    secrets_in,
    secrets_of,
    write,
)

if TYPE_CHECKING:
    from collections import deque

    import requests

    from .dialect import Dialect
    from .masking import Secret
    from .pace import Pace

DIAL_SECONDS = 30.0  # B1 answers when the service has dialled the camera, or has given up
SEE_OTHER = 303  # HTTP
TRIES = 3  # of a read: once, and at most twice again

log = logging.getLogger("confkit")


class Context(NamedTuple):
    """What a request needs of its client."""

    session: requests.Session
    bases: Mapping[str, str]
    dialect: Dialect
    timeout: tuple[float, float]
    secret_key: Secret
    token: Callable[[Secret | None], Secret]
    pace: Pace | None
    calls: deque[Call]
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    chance: Callable[[], float]
    now: Callable[[], float]

    def written(self, request: Request, token: Secret | None) -> Written:
        """The request as it travels."""
        return write(request, self.bases[request.endpoint.interface], token, self.dialect)

    def record(
        self,
        request: Request,
        written: Written,
        when: datetime,
        seconds: float,
        answer: Answer | None,
        failure: BaseException | None,
    ) -> Call:
        """The record of a call that was made, once it is kept, in the log and in a trace."""
        done = call(request.endpoint, written, self.dialect, when, seconds, answer, failure)
        self.calls.append(done)
        log.debug("%s", done)
        to_opentelemetry(done)
        return done


class Asked(NamedTuple):
    """What came for one request: the `call` as it is on record, the `answer` as it came (None where
    none did), and its `members` or the `error` that it is, one of which is None."""

    call: Call
    answer: Answer | None
    members: dict[str, Any] | None
    error: ConfkitError | None


class Outcomes(list[Any]):
    """What came for each request, in order: what was read, its error, or None where it was not
    asked because the call was ended early (`complete` is False then). `sent` counts requests."""

    sent: int = 0
    complete: bool = True

    @classmethod
    def none(cls, count: int) -> Outcomes:
        """The outcomes of so many requests of which none was asked yet."""
        found = cls([None] * count)
        found.complete = False
        return found


def pause(tries: int, answer: Answer | None, context: Context) -> float:
    """Seconds to wait after so many tries that failed: longer where the service asks for it
    (Retry-After), up to what the call's time-outs allow an answer."""
    own = 0.2 * 2.0 ** (tries - 1) * (0.5 + context.chance())
    asked = asked_wait(answer, context.now) if answer is not None else 0.0
    return max(own, min(own + asked, sum(context.timeout)))


def exchange(request: Request, token: Secret | None, context: Context) -> dict[str, Any]:
    """The members of the answer to a request; a read is tried three times, a change once."""
    for attempt in range(1, TRIES + 1):
        asked = ask_once(request, token, context)
        if asked.members is not None:
            return asked.members
        if asked.error is None:
            raise AssertionError("an answer is members or an error")
        answer, failure = asked.answer, asked.error
        if request.endpoint.write or attempt == TRIES or not failure.retry:
            break
        context.sleep(pause(attempt, answer, context))
    if request.endpoint.write and _is_unsettled(failure):
        raise OutcomeUnknown(
            f"{request.endpoint.title} ({request.endpoint.key}) was sent and its answer was "
            f"lost, so it may or may not have happened: {failure}",
            "Look on the service before you repeat it.",
        )
    if request.endpoint.write and isinstance(failure, ApiError) and _is_open(failure, answer):
        raise unsettled(failure)
    raise failure


def ask_once(request: Request, token: Secret | None, context: Context) -> Asked:
    """What came for a request that is sent exactly once; only what is no failure of the call, such
    as Ctrl-C, is raised."""
    endpoint = request.endpoint
    if context.pace:
        context.pace()
    written = context.written(request, token)
    connect, read = context.timeout
    patience = max(read, DIAL_SECONDS) if endpoint.key == "B1" else read
    secrets = (*secrets_in(request, token), context.secret_key)
    when, began = datetime.now(UTC), context.clock()
    answer: Answer | None = None
    members: dict[str, Any] | None = None
    failure: BaseException | None = None
    try:
        moved = move(context.session, written, (connect, patience), secrets)
        if isinstance(moved, TransportError):
            raise moved
        answer = moved._replace(secrets=(*secrets, *secrets_of(endpoint, moved.body)))
        members = interpret(endpoint, answer, context.dialect)
    except BaseException as error:  # Ctrl-C too: what was sent is on record
        failure = error
        if not isinstance(error, ConfkitError):
            raise
    finally:
        done = context.record(request, written, when, context.clock() - began, answer, failure)
        to_sentry(done)
    known = failure.with_traceback(None) if isinstance(failure, ConfkitError) else None
    return Asked(done, answer, members, known)


# Errors that say by themselves that nothing was done, whatever the HTTP status, and the codes that
# say so: not every one has a class of its own in both interfaces.
_NOTHING_DONE = (
    AuthenticationFailed,
    ParameterError,
    RoomNotFound,
    TokenRejected,
    UserExists,
    UserNotFound,
)
_NOTHING_DONE_CODES = frozenset({404, 407, 408, 602, 612})


def _is_open(failure: ApiError, answer: Answer | None) -> bool:
    """Whether a code leaves open what became of a change: a part of the service was late or broke,
    nobody knows what the code means, or the HTTP status says that the service failed."""
    from .codes import OPEN  # a refusal only
    from .explanations import explain

    if isinstance(failure, _NOTHING_DONE) or failure.ret in _NOTHING_DONE_CODES:
        return False
    found = explain(failure)
    broken = answer is not None and answer.status >= 500
    return broken or found.retry or found.sure == "unknown" or failure.ret in OPEN


def _is_unsettled(failure: ConfkitError) -> bool:
    """Whether a change that failed so may have happened all the same."""
    if isinstance(failure, TransportError):
        return failure.sent
    if isinstance(failure, ProtocolError):
        status = failure.status or 200
        # 303 says where to look after a change; a proxy may put its status over a success.
        return failure.success or status < 300 or status >= 500 or status == SEE_OTHER
    return False
