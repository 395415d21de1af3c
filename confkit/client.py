"""The client: owns the wire to one service, its token, and the record of the last calls."""

from __future__ import annotations

import logging
import os
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from . import signing
from .address import Address
from .calls import Call, call
from .endpoints import A1, Endpoint
from .errors import (
    ApiError,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ProtocolError,
    ReadOnlyError,
    TokenRejected,
    TransportError,
)
from .masking import Secret
from .token import SharedToken
from .transport import move, session
from .wire import Answer, Request, interpret, secrets_in, write

if TYPE_CHECKING:
    from .dialect import Dialect
    from .sandbox import Sandbox

DIAL_SECONDS = 30.0  # B1 answers when the service has dialled the camera, or has given up
TRIES = 3  # of a read: once, and at most twice again

log = logging.getLogger("confkit")


class Client:
    """A service that answers: its two addresses, its keys, and the token that they make.

    Made by `confkit.connect`. Every call goes through `send`; threads may share one client.
    `calls` holds the last calls, masked; `session` is the requests session, to configure.
    """

    def __init__(
        self,
        base_url: str,
        outgoing_url: str,
        access_key: str,
        secret_key: str,
        *,
        dialect: Dialect | None = None,
        timeout: float | tuple[float, float] = (5.0, 10.0),
        read_only: bool = False,
        verify: bool | str = True,
        max_rate: float | None = None,
        name: str | None = None,
        sandbox: Sandbox | None = None,
        origins: Mapping[str, str] | None = None,
        on_close: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        secret_key = Secret(secret_key)
        self._addresses = {
            "A": Address.parse(base_url, "base_url"),
            "B": Address.parse(outgoing_url, "outgoing_url"),
        }
        self.access_key = access_key
        self.secret_key = secret_key
        self.dialect = dialect or _usual_dialect()
        self.timeout = _timeout(timeout)
        self.read_only = read_only
        self.sandbox = sandbox
        self.name = name or self._addresses["A"].host
        self.origins = dict(origins or {})
        self._calls: deque[Call] = deque(maxlen=200)
        self.session = session()
        self.session.verify = verify
        if all(address.loopback for address in self._addresses.values()):
            self.session.trust_env = False  # no proxy of the environment leads to this machine
        self._pace = None if max_rate is None else _pace(max_rate, clock, sleep)
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._on_close = on_close
        self._token = SharedToken(self._authenticate)
        self._closed = False
        self._process = os.getpid()

    @property
    def base_url(self) -> str:
        """The address of interface A."""
        return self._addresses["A"].url

    @property
    def outgoing_url(self) -> str:
        """The address of interface B."""
        return self._addresses["B"].url

    @property
    def calls(self) -> list[Call]:
        """The last 200 calls that were made, the newest last, with nothing secret in them."""
        return list(self._calls)

    def __repr__(self) -> str:
        if not hasattr(self, "_process"):  # in a traceback out of __init__
            return "<Client, not yet made>"
        values = {
            "base_url": self.base_url, "outgoing_url": self.outgoing_url,
            "access_key": self.access_key, "secret_key": "***",
        }  # fmt: skip
        told = [
            f"{name}={value}" + (f" ({self.origins[name]})" if name in self.origins else "")
            for name, value in values.items()
        ]
        return f"<Client {self.name}: {', '.join(told)}{', read only' if self.read_only else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, and ends the sandbox that `connect("sandbox")` started."""
        self._closed = True
        self.session.close()
        self._on_close()

    def send(self, request: Request) -> dict[str, Any]:
        """The members of the service's answer to one request; any failure is raised.

        A token that the service no longer takes (602) is renewed once, for all threads together,
        and the call is repeated once. Reads are tried up to three times; a change whose answer was
        lost raises OutcomeUnknown. Sections 4, 5 and 7 of the interface.
        """
        endpoint = request.endpoint
        if self._closed or (self.sandbox is not None and self.sandbox.closed):
            raise ConfigError(
                f"this {'client' if self._closed else 'sandbox'} is closed; connect again"
            )
        self.may_send(endpoint)
        if endpoint.token is None:
            return self._attempts(request, None)
        token = self.token()
        try:
            return self._attempts(request, token)
        except TokenRejected:
            pass
        return self._attempts(request, self.token(instead_of=token))

    def may_send(self, endpoint: Endpoint) -> None:
        """Nothing, unless the operation is a change and the client read only: ReadOnlyError."""
        if endpoint.write and self.read_only:
            raise ReadOnlyError(
                f"{endpoint.title} ({endpoint.key}) was not sent: this client is read only. "
                "Connect with read_only=False to change something on the service."
            )

    def token(self, instead_of: str | None = None) -> Secret:
        """The access token, made at the first call; `instead_of` is one that was refused.

        However many threads ask, one of them authenticates (A1) and all get its token, or its
        error. Section 5 of the interface.
        """
        return self._token(instead_of)

    def _after_fork(self) -> None:
        """Lets go of the parent's connections and lock: two processes on one socket would read
        each other's answers."""
        self._process = os.getpid()
        self._token = SharedToken(self._authenticate)
        self.session.close()

    def _authenticate(self) -> Secret:
        signed = signing.digest(self.access_key, self.secret_key, self.dialect)
        answer = self.send(Request(A1, {"access_key": self.access_key, "digest": signed}))
        parts = [answer.get(name) for name in ("random", "key")]
        if not all(isinstance(part, str | int) and part != "" for part in parts):
            raise ProtocolError(
                "authenticate (A1) succeeded but its answer holds no random and key. "
                "Ask the provider how this deployment hands them out."
            )
        return signing.access_token(str(parts[0]), str(parts[1]), self.secret_key, self.dialect)

    def _attempts(self, request: Request, token: Secret | None) -> dict[str, Any]:
        for attempt in range(1, TRIES + 1):
            try:
                return self._once(request, token)
            except (TransportError, ProtocolError, ApiError) as error:
                failure = error
            if request.endpoint.write:
                break
            if attempt == TRIES or not failure.retry:
                break
            self._sleep(0.2 * 2 ** (attempt - 1) * (0.5 + self._chance()))
        if request.endpoint.write and _is_open(failure):
            raise OutcomeUnknown(
                f"{request.endpoint.title} ({request.endpoint.key}) was sent and its answer was "
                f"lost, so it may or may not have happened: {failure} "
                "Look on the service before you repeat it."
            )
        raise failure

    def _once(self, request: Request, token: Secret | None) -> dict[str, Any]:
        endpoint = request.endpoint
        if os.getpid() != self._process:
            self._after_fork()
        if self._pace:
            self._pace()
        written = write(request, self._addresses[endpoint.interface].url, token, self.dialect)
        connect, read = self.timeout
        patience = max(read, DIAL_SECONDS) if endpoint.key == "B1" else read
        secrets = (*secrets_in(request, token), self.secret_key)
        when, began = datetime.now(UTC), self._clock()
        answer: Answer | None = None
        failure: BaseException | None = None
        try:
            moved = move(self.session, written, (connect, patience), secrets)
            if isinstance(moved, TransportError):
                raise moved
            answer = moved
            return interpret(endpoint, answer, self.dialect)
        except BaseException as error:  # Ctrl-C too: what was sent is on record
            failure = error
            raise
        finally:
            done = call(
                endpoint, written, self.dialect, when, self._clock() - began, answer, failure
            )
            self._calls.append(done)
            log.debug("%s", done)


def _is_open(failure: ConfkitError) -> bool:
    """Whether a change that failed so may have happened all the same."""
    if isinstance(failure, TransportError):
        return failure.sent
    if isinstance(failure, ProtocolError):
        status = failure.status or 200
        return status < 300 or status >= 500
    return False


def _timeout(given: float | tuple[float, float]) -> tuple[float, float]:
    both = given if isinstance(given, tuple) else (given, given)
    if len(both) != 2 or not all(_finite(seconds) for seconds in both):
        raise ConfigError(
            f"timeout is {given!r}; give seconds, or (seconds to connect, seconds to read), "
            "each above 0 and finite"
        )
    return float(both[0]), float(both[1])


def _usual_dialect() -> Dialect:
    from .dialect import Dialect

    return Dialect()


def _pace(
    max_rate: float, clock: Callable[[], float], sleep: Callable[[float], object]
) -> Callable[[], None]:
    from .pace import Pace

    if not _finite(max_rate):
        raise ConfigError(f"max_rate is {max_rate!r}; give requests per second, above 0")
    return Pace(float(max_rate), clock, sleep)


def _finite(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
    )
