"""The client: `Client.call` is the one place that sends a request, retries a read, renews the
token, keeps to the rate and records the call."""

from __future__ import annotations

import copy
import ipaddress
import logging
import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from .calls import Call
from .errors import (
    Cancelled,
    ConfigError,
    ConfkitError,
    ProtocolError,
    ReadOnlyError,
    TokenRejected,
    TransportError,
    may_have_happened,
    outcome_unknown,
)
from .fast import FastTransport
from .operations import A1, B1, OPERATIONS, Operation
from .secret import Secret, SecretAddress, secrets_in
from .transport import checked_timeout, exchange, is_positive, make_session, redact_log
from .wire import Response, check_sendable, interpret, prepare, token_parts

if TYPE_CHECKING:
    from .dialect import AccessToken, Dialect

KEPT_CALLS = 200
TRIES = 3  # of a read: once, and at most twice again
DIAL_SECONDS = 30.0  # B1 responds when the service has dialled the camera, or has given up
MARGIN = 1.02  # keeps the rate where the network bunches what left evenly

log = logging.getLogger("confkit")
# Not Python's own: whoever seeds that one keeps it, whatever threads wait here.
_random = random.SystemRandom()


class RateLimiter:
    """Spreads requests evenly, so that at most `max_rate` leave in any second.

    `clock` gives monotonic seconds.
    """

    def __init__(self, max_rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        # Of 2.5 requests only two fit into a second; below one, the gap is what counts.
        max_rate = checked_rate(max_rate)
        self._gap = MARGIN / (math.floor(max_rate) if max_rate >= 1 else max_rate)
        self._due, self._clock = -math.inf, clock
        self._lock = threading.Lock()

    def acquire(self, wait: Callable[[float], object]) -> bool:
        """Wait until one more request may leave; False where `wait` returns true, as none is to
        leave any more."""
        with self._lock:
            now = self._clock()
            due = self._due = max(now, self._due + self._gap)
        return not (due > now and wait(due - now))


class SharedToken:
    """The access token of all threads that share a client.

    Threads that wait for one authentication share its token, or its error: when the keys are wrong,
    a service that locks accounts out sees one attempt.
    """

    def __init__(self, token: AccessToken | None = None) -> None:
        self.value = token
        self._lock = threading.Lock()
        self._attempts = 0
        self._refusal: ConfkitError | None = None
        self._rejected: Secret | None = None  # the token that could not be replaced

    def get(
        self, authenticate: Callable[[], AccessToken], instead_of: Secret | None
    ) -> AccessToken:
        """Return the token; `authenticate` makes it where there is none but the rejected one."""
        attempts = self._attempts
        # Compared by identity: a service may hand out the same text again.
        if self.value is not None and self.value is not instead_of:
            return self.value
        with self._lock:
            if self.value is not None and self.value is not instead_of:
                return self.value
            shared = self._attempts != attempts or (instead_of and instead_of is self._rejected)
            if self._refusal is not None and shared:
                raise self._refusal.again()
            try:
                self.value, self._refusal = authenticate(), None
            except ConfkitError as error:
                self.value, self._refusal, self._rejected = None, error, instead_of
                raise
            finally:
                self._attempts += 1
            return self.value


class Client:
    """A connection to one service: its two addresses, its keys, and the token that they make.

    Made by `confkit.connect`. Every request goes through `call`; threads may share one client.
    `calls` holds the last calls, masked; `session` is the requests session, to configure;
    `timeout`, `max_rate` and `read_only` may be changed at any time. `sandbox` is the Sandbox that
    it talks with, where `connect("sandbox")` or `Sandbox.connect` made it, else None.
    """

    # Of a sweep's client alone: once `_over` is set, it sends nothing; `_refusal` is why it could
    # not authenticate.
    _over: threading.Event | None = None
    _refusal: ConfkitError | None = None

    def __init__(
        self,
        base_url: str,
        outgoing_url: str,
        access_key: str,
        secret_key: str | Secret,
        *,
        dialect: Dialect | None = None,
        timeout: float | tuple[float, float] = (5.0, 10.0),
        read_only: bool = False,
        verify: bool | str = True,
        max_rate: float | None = None,
        name: str | None = None,
        origins: Mapping[str, str] | None = None,
        sandbox: object = None,
        on_close: Callable[[], object] = lambda: None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._addresses = {
            "A": base_address(base_url, "base_url"),
            "B": base_address(outgoing_url, "outgoing_url"),
        }
        self.access_key, self.secret_key = access_key, Secret(secret_key)
        check_sendable(A1, {"access_key": access_key, "secret_key": self.secret_key})
        if dialect is None:
            from .dialect import Dialect

            dialect = Dialect()
        self.dialect = dialect
        self.timeout = timeout
        self.read_only = read_only
        # A Sandbox or None: a sandbox makes clients, so a client names no type of its.
        self.sandbox: Any = sandbox
        self.name = name or str(urlsplit(self.base_url).hostname)
        self.origins = dict(origins or {})
        self.created: list[str] = []  # the rooms that create_room has made with it, not deleted
        self.session = make_session()
        self.session.verify = verify
        if all(on_loopback(url) for url in self._addresses.values()):
            self.session.trust_env = False  # no proxy of the environment leads to this machine
        self._wait, self._on_close = sleep, on_close
        self._more_limiters: tuple[RateLimiter, ...] = ()
        self.max_rate = max_rate
        self._calls: deque[Call] = deque(maxlen=KEPT_CALLS)
        self._observe: Callable[[Call], object] = self._calls.append
        self._token = SharedToken()
        self._fast = FastTransport()
        self._closed = False

    @property
    def base_url(self) -> str:
        """The address of interface A."""
        return self._addresses["A"]

    @property
    def outgoing_url(self) -> str:
        """The address of interface B."""
        return self._addresses["B"]

    @property
    def timeout(self) -> tuple[float, float]:
        """Seconds to connect, and until the whole response is there; one number sets both."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | tuple[float, float]) -> None:
        self._timeout = checked_timeout(seconds)

    @property
    def max_rate(self) -> float | None:
        """At most so many requests leave in any second; None for no bound."""
        return self._max_rate

    @max_rate.setter
    def max_rate(self, rate: float | None) -> None:
        self._limiter = None if rate is None else RateLimiter(rate)
        self._max_rate = rate

    @property
    def calls(self) -> list[Call]:
        """The last 200 calls, the newest last, with nothing secret in them."""
        return list(self._calls)

    @property
    def authenticated(self) -> bool:
        """Whether it holds a token; the service may have dropped that meanwhile."""
        return self._token.value is not None

    def __repr__(self) -> str:
        if not hasattr(self, "_closed"):  # in a traceback out of __init__
            return "<Client, not yet made>"
        values = {
            "base_url": self.base_url,
            "outgoing_url": self.outgoing_url,
            "access_key": self.access_key,
            "secret_key": "***",
        }
        parts = [
            f"{name}={value}" + (f" ({self.origins[name]})" if name in self.origins else "")
            for name, value in values.items()
        ]
        return f"<Client {self.name}: {', '.join(parts)}{', read only' if self.read_only else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, and end the sandbox that `connect("sandbox")` started."""
        self._closed = True
        self.session.close()
        self._on_close()

    def call(self, operation: Operation | str, /, **parameters: Any) -> dict[str, Any]:
        """Call one operation, such as `call("A3", room_id="1001")`, and return the members of its
        response; raise any failure.

        A token that the service no longer takes (602) is renewed once, for all threads together,
        and the call is repeated once. A read is tried up to three times, after a pause, and after
        the time that the service names (Retry-After) where that fits into the read time-out; a
        change is sent once. OutcomeUnknown: a change whose response was lost, or leaves it open.
        Sections 4, 5 and 7 of the interface.
        """
        operation, parameters = self._checked(operation, parameters)
        token = self.token() if operation.token else None
        failures, renewed = 0, False
        while True:
            _, result = self._send(operation, parameters, token, self.dialect)
            if isinstance(result, dict):
                return result
            if isinstance(result, TokenRejected) and token is not None and not renewed:
                token, renewed = self.token(instead_of=token), True
                continue
            failures += 1
            pause = None if operation.write else self._pause(result, failures)
            if pause is None or self._wait(pause):
                raise _failure(operation, result)

    def ask_once(
        self,
        operation: Operation | str,
        parameters: Mapping[str, Any] | None = None,
        token: str | Secret | None = None,
        dialect: Dialect | None = None,
    ) -> tuple[Call, dict[str, Any] | ConfkitError]:
        """Send one request exactly once; return its record, and the members of the response or the
        error, which is not raised.

        It carries this token or none, in this dialect: for questions about the service itself,
        where a retry or a login on the way would change the result. ReadOnlyError, as by `call`.
        """
        operation, parameters = self._checked(operation, parameters or {})
        token = None if token is None else Secret(token)
        return self._send(operation, parameters, token, dialect or self.dialect)

    def token(self, instead_of: Secret | None = None) -> AccessToken:
        """Return the access token, made at the first call; `instead_of` is one that was rejected.

        However many threads ask, one of them authenticates (A1) and all get its token, or its
        error. Section 5 of the interface.
        """
        return self._token.get(self._authenticate, instead_of)

    def _checked(
        self, operation: Operation | str, parameters: Mapping[str, Any]
    ) -> tuple[Operation, dict[str, Any]]:
        """Return the operation of this key, and its parameters with what is secret hidden, once it
        is certain that the call may be sent."""
        operation = OPERATIONS[operation] if isinstance(operation, str) else operation
        self.may_send(operation)
        return operation, check_sendable(operation, parameters)

    def now(self) -> float:
        """Return the time in epoch seconds: this machine's, or that of the sandbox that it talks
        with, so that whatever was read at once shows one time."""
        return time.time() if self.sandbox is None else float(self.sandbox.client_time())

    def may_send(self, operation: Operation) -> None:
        """Raise ReadOnlyError for a change where the client is read only, and ConfigError where the
        client, or the sandbox that it talks with, is closed."""
        if operation.write and self.read_only:
            raise ReadOnlyError(
                f"{operation.title} ({operation.key}) was not sent: this client is read only.",
                "Connect with read_only=False to change something on the service.",
            )

        if self._closed or (self.sandbox is not None and self.sandbox.closed):
            raise ConfigError(
                f"this {'client' if self._closed else 'sandbox'} is closed", "Connect again."
            )

    def derived(
        self,
        over: threading.Event,
        wait: Callable[[float], object],
        observe: Callable[[Call], object],
        max_rate: float | None = None,
    ) -> Client:
        """Return a client that shares this one's session, token and record of calls.

        It sends nothing once `over` is set, and sets it where it cannot authenticate; `_refusal` is
        that error. It waits with `wait`, which returns true where nothing is to be sent any more,
        shows each call to `observe`, and keeps to `max_rate` beside this one's own.
        """
        client = copy.copy(self)
        client._over, client._wait = over, wait
        if max_rate is not None and max_rate < (self._max_rate or math.inf):
            client._more_limiters = (RateLimiter(max_rate), *self._more_limiters)

        def note(call: Call) -> None:
            self._observe(call)
            observe(call)

        client._observe = note
        return client

    def _authenticate(self) -> AccessToken:
        signed = self.dialect.digest(self.access_key, self.secret_key)
        try:
            members = self.call(A1, access_key=self.access_key, digest=signed)
            token = self.dialect.token_of(members, self.secret_key)
            if isinstance(token, ProtocolError):
                raise token
        except ConfkitError as error:
            if self._over is not None and not self._over.is_set():
                self._refusal = error
                self._over.set()  # before another thread tries again
            raise
        return token

    def _send(
        self,
        operation: Operation,
        parameters: Mapping[str, Any],
        token: Secret | None,
        dialect: Dialect,
    ) -> tuple[Call, dict[str, Any] | ConfkitError]:
        """Send a request once, and record it. The frames that hold its URL have returned by then:
        what is raised here has none of them in its traceback."""
        request = prepare(
            operation, parameters, self._addresses[operation.interface], token, dialect
        )
        known = (*secrets_in(request.fields), self.secret_key.reveal())
        may_leave = self._over is None or not self._over.is_set()
        for limiter in (*self._more_limiters, self._limiter):
            may_leave = may_leave and (limiter is None or limiter.acquire(self._wait))
        if not may_leave:
            raise Cancelled(f"{operation.title} ({operation.key}) was not sent: cancelled")
        connect, read = self._timeout
        timeout = (connect, max(read, DIAL_SECONDS) if operation is B1 else read)
        sent, began = time.time(), time.monotonic()
        response: Response | TransportError | None = None
        interruption: BaseException | None = None
        try:
            # A1 may set a cookie, which is the session's from then on.
            if request.method == "GET" and operation.token and not operation.write:
                response = self._fast.get(self.session, request, timeout)
            if response is None:
                response = exchange(self.session, request, timeout)
        except BaseException as error:  # noqa: BLE001  # Ctrl-C, or a bug in a hook of the session
            interruption = error
        seconds = time.monotonic() - began
        result: dict[str, Any] | ConfkitError | None = None
        if isinstance(response, TransportError):
            result, response = response, None
        elif response is not None:
            if operation is A1:
                known = (*known, *token_parts(response))
            result = interpret(operation, response, known)
        call = Call(operation, request, sent, seconds, response, interruption or result, known)
        self._observe(call)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", call)
        if result is None:
            assert interruption is not None  # noqa: S101
            raise interruption.with_traceback(None) from None
        return call, result

    def _pause(self, error: ConfkitError, failures: int) -> float | None:
        """Return the seconds after which a read is sent again; None where its error stands."""
        wanted = error.retry_after or 0.0
        if failures == TRIES or not error.retry or wanted > self._timeout[1]:
            return None
        return float(wanted + 0.1 * 2**failures * (0.5 + _random.random()))

    def __copy__(self) -> Self:
        client = object.__new__(type(self))  # copy.copy would take the way of a pickle
        client.__dict__.update(self.__dict__)
        return client

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs to ask the same service, with the token, so that a
        worker need not authenticate. The copy has no sandbox to steer, and ends none."""
        state = {name: value for name, value in self.__dict__.items() if name not in _NOT_PICKLED}
        return {**state, "_token": self._token.value}

    def __setstate__(self, state: dict[str, Any]) -> None:
        token = state.pop("_token")
        rate = state.pop("_max_rate")
        self.__dict__.update(state, sandbox=None)
        self._wait, self._on_close, self._more_limiters = time.sleep, lambda: None, ()
        self.max_rate = rate
        self._calls = deque(maxlen=KEPT_CALLS)
        self._observe = self._calls.append
        self._token, self._fast = SharedToken(token), FastTransport()
        redact_log()


_NOT_PICKLED = {
    *("sandbox", "_wait", "_on_close", "_limiter", "_more_limiters"),
    *("_calls", "_observe", "_fast", "_token"),
}


# Addresses and settings


def base_address(text: str | Secret, setting: str) -> str:
    """Return the address of an interface without a slash at its end, to be joined to paths.

    ConfigError says why it is no http(s) base.
    """
    address = SecretAddress(text)  # it may hold a login, and without :// it may be a key
    if problem := _problem_of(address):
        quoted = f": {str(address)!r}" if "://" in address.reveal() else ""
        raise ConfigError(
            f"{setting} {problem}{quoted}",
            "Write it as scheme://host:port, such as http://conference.example:8080",
        )
    return address.reveal().strip().rstrip("/")


def _problem_of(address: SecretAddress) -> str:
    """Return what is wrong with an address, or "". The error is raised elsewhere: a traceback from
    here would show the parts of the address, a login among them."""
    url = address.reveal().strip().rstrip("/")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a valid URL"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return "is not a valid URL"
    if parts.username is not None or parts.password is not None:
        return "holds a login, which would show wherever the address does"
    if parts.query or parts.fragment:
        return "holds a query or a fragment"
    return "holds white space" if any(letter.isspace() for letter in url) else ""


def on_loopback(url: str) -> bool:
    """Return whether the address is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_rate(max_rate: float) -> float:
    """Return the requests per second; ConfigError where that is no number above 0."""
    if not is_positive(max_rate):
        raise ConfigError(f"max_rate is {max_rate!r}", "Give requests per second, above 0.")
    return max_rate


def _failure(operation: Operation, error: ConfkitError) -> ConfkitError:
    """Return the error for the caller; that of a change which may have happened says so."""
    if operation.write and may_have_happened(error):
        return outcome_unknown(error, f"{operation.title} ({operation.key})")
    return error
