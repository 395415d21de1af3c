"""The client: `Client.call` is the one place that sends a request, retries a read, renews the
token, keeps to the rate and records the call."""

from __future__ import annotations

import copy
import logging
import math
import os
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Self
from urllib.parse import urlsplit

import requests

from .calls import KEPT_BYTES, Call
from .dialect import AccessToken, Dialect
from .errors import (
    ApiError,
    Cancelled,
    ConfigError,
    ConfkitError,
    ProtocolError,
    ReadOnlyError,
    TokenRejected,
    may_have_happened,
    outcome_unknown,
)
from .operations import A1, B1, OPERATIONS, Operation
from .secret import Secret, SecretAddress, redact, secrets_in
from .wire import Response, ServiceSession, check_sendable, exchange, interpret, prepare

TRIES = 3  # of a read: once, and at most twice again
DIAL_SECONDS = 30.0  # B1 responds once the service has dialled the camera or given up
MARGIN = 1.02  # keeps the rate although the network bunches evenly spaced requests

_BASE = re.compile(r"(?i)https?://[^\s?#/:][^\s?#]*\Z")
_LOOPBACK = re.compile(r"(?i)https?://(localhost|127(\.\d+){3}|\[::1])(:\d+)?(/|\Z)")

log = logging.getLogger("confkit")
# Not Python's own generator: a caller who seeds that must see no draws of ours.
_random = random.SystemRandom()


class RateLimiter:
    """Spaces requests evenly: at most `max_rate` are sent in any second.

    `clock` gives monotonic seconds.
    """

    def __init__(self, max_rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        # At a rate of 2.5 only two fit into one second; below 1, only the gap matters.
        max_rate = check_rate(max_rate)
        self._gap = MARGIN / (math.floor(max_rate) if max_rate >= 1 else max_rate)
        self._next, self._clock = -math.inf, clock
        self._lock = threading.Lock()

    def acquire(self, wait: Callable[[float], object]) -> bool:
        """Wait for the next slot; return False if `wait` returned true: send nothing any more."""
        with self._lock:
            now = self._clock()
            slot = self._next = max(now, self._next + self._gap)
        return not (slot > now and wait(slot - now))


class SharedToken:
    """The access token of all threads that share a client.

    Threads that wait for the same authentication share its token or its error: with wrong keys, a
    service that locks accounts out sees a single attempt.
    """

    def __init__(self, token: AccessToken | None = None) -> None:
        self.value = token
        self._lock = threading.Lock()
        self._error: ConfkitError | None = None  # of the last attempt
        self._rejected: Secret | None = None  # the token that could not be replaced

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedToken, (self.value,)

    def get(
        self, authenticate: Callable[[], AccessToken], instead_of: Secret | None
    ) -> AccessToken:
        """Return the token; call `authenticate` if there is none, or only the rejected one."""
        earlier = self._error
        # Compared by identity: a service may issue the same text again.
        if self.value is not None and self.value is not instead_of:
            return self.value
        with self._lock:
            if self.value is not None and self.value is not instead_of:
                return self.value
            rejected = instead_of and instead_of is self._rejected
            if self._error is not None and (self._error is not earlier or rejected):
                raise self._error.again()
            try:
                self.value, self._error = authenticate(), None
            except ConfkitError as error:
                self.value, self._error, self._rejected = None, error, instead_of
                raise
            return self.value


class Client:
    """A connection to one service: its two addresses, its keys, and the access token.

    Created by `confkit.connect`. Every request goes through `call`; threads may share a client.
    `calls` holds the last calls, masked; `session` is the requests session, to configure;
    `timeout`, `max_rate` and `read_only` may be changed at any time. `sandbox` is the Sandbox
    behind it if `connect("sandbox")` or `Sandbox.connect` created the client, else None.
    """

    # Only in a sweep's client: once `_stop` is set, it sends nothing; `_refusal` is why it could
    # not authenticate; `_own_limiters` keep to the sweep's own rate.
    _stop: threading.Event | None = None
    _refusal: ConfkitError | None = None
    _own_limiters: tuple[RateLimiter, ...] = ()

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
        name: str = "",
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
        self.dialect = dialect or Dialect()
        self._limiters = list[RateLimiter]()  # shared with copies, as a rate may be changed
        self.timeout, self.max_rate, self.read_only = timeout, max_rate, read_only
        # A Sandbox or None, untyped: a flat file imports no folder.
        self.sandbox: Any = sandbox
        self.name = name or str(urlsplit(self.base_url).hostname)
        self.origins = dict(origins or {})
        self.created: list[str] = []  # rooms created with this client and not deleted
        self.session: requests.Session = ServiceSession()
        self.session.verify = verify
        if all(map(_LOOPBACK.match, self._addresses.values())):
            self.session.trust_env = False  # the environment's proxies cannot reach this machine
        self._wait, self._on_close, self._closed = sleep, on_close, threading.Event()
        self._calls = deque[Call](maxlen=200)
        self._observers: tuple[Callable[[Call], object], ...] = (self._calls.append,)
        from .fast import FastTransport  # loads libcurl

        self._token, self._fast = SharedToken(), FastTransport(set())
        self._process = os.getpid()

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
        """Seconds to connect, and to receive the whole response; one number sets both."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | tuple[float, float]) -> None:
        self._timeout = check_timeout(seconds)

    @property
    def max_rate(self) -> float | None:
        """The most requests sent in any second; None for no limit."""
        return self._max_rate

    @max_rate.setter
    def max_rate(self, rate: float | None) -> None:
        self._limiters[:] = [] if rate is None else [RateLimiter(rate)]
        self._max_rate = rate

    @property
    def calls(self) -> list[Call]:
        """The last 200 calls, the newest last, with secrets masked."""
        return list(self._calls)

    def __repr__(self) -> str:
        parts = []
        for name in ("base_url", "outgoing_url", "access_key", "secret_key"):
            origin = f" ({self.origins[name]})" if name in self.origins else ""
            parts.append(f"{name}={getattr(self, name)}{origin}")
        return f"<Client {self.name}: {', '.join(parts)}{', read only' if self.read_only else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, and stop the sandbox that `connect("sandbox")` started."""
        self._closed.set()
        self.session.close()
        self._on_close()

    def call(self, operation: Operation | str, /, **parameters: Any) -> dict[str, Any]:
        """Call one operation, such as `call("A3", room_id="1001")`, and return the members of its
        response; raise any failure.

        An expired token (602) is renewed once, for all threads together, and the call is repeated
        once. A read is tried up to three times, after a pause, or after the service's Retry-After
        if that fits into the read timeout; a change is sent once. OutcomeUnknown: the response to a
        change was lost or leaves its outcome open. Sections 4, 5 and 7 of the interface.
        """
        operation = self.may_send(operation)
        parameters = check_sendable(operation, parameters)
        token = self.token() if operation.token else None
        if operation.write:
            self._drop_connections()
        failures, renewed = 0, False
        while True:
            _, result = self._send(operation, parameters, token, self.dialect)
            if isinstance(result, dict):
                return result
            if isinstance(result, TokenRejected) and token is not None and not renewed:
                token, renewed = self.token(instead_of=token), True
                continue
            failures += 1
            if operation.write and may_have_happened(result):
                raise outcome_unknown(result, f"{operation.title} ({operation.key})")
            requested = result.retry_after or 0.0
            last = operation.write or failures == TRIES or not result.retry
            pause = requested + 0.1 * 2**failures * (0.5 + _random.random())
            if last or requested > self._timeout[1] or self._wait(pause):
                raise result

    def ask_once(
        self,
        operation: Operation | str,
        parameters: Mapping[str, Any] | None = None,
        token: str | Secret | None = None,
        dialect: Dialect | None = None,
    ) -> tuple[Call, dict[str, Any] | ConfkitError]:
        """Send a request exactly once; return its record, and the members of the response or the
        error, which is not raised.

        It carries the given token or none, in the given dialect: for probing the service, where a
        retry or an authentication would change the result. ReadOnlyError as in `call`.
        """
        operation = self.may_send(operation)
        parameters = check_sendable(operation, parameters or {})
        token = None if token is None else Secret(token)
        self._drop_connections()
        return self._send(operation, parameters, token, dialect or self.dialect)

    def token(self, instead_of: Secret | None = None) -> AccessToken:
        """Return the access token, obtained at the first call; `instead_of` is a rejected one.

        However many threads ask, one of them authenticates (A1) and all get its token or its error.
        Section 5 of the interface.
        """
        return self._token.get(self._authenticate, instead_of)

    def now(self) -> float:
        """Return the time in epoch seconds: this machine's, or the sandbox's, so that everything
        read together shows the same time."""
        return time.time() if self.sandbox is None else float(self.sandbox.now())

    def may_send(self, operation: Operation | str) -> Operation:
        """Return the operation, also of a key such as "A3"; raise ReadOnlyError for a change if the
        client is read only, and ConfigError if the client or its sandbox is closed."""
        if isinstance(operation, str):
            if operation not in OPERATIONS:
                advice = f"Use one of {', '.join(OPERATIONS)}."
                raise ConfigError(f"there is no operation {operation!r}", advice)
            operation = OPERATIONS[operation]
        if operation.write and self.read_only:
            raise ReadOnlyError(
                f"{operation.title} ({operation.key}) was not sent: this client is read only.",
                "Connect with read_only=False to change something on the service.",
            )
        if self._closed.is_set() or (self.sandbox is not None and self.sandbox.closed):
            raise ConfigError("this client or its sandbox is closed", "Connect again.")
        return operation

    def derive(
        self,
        stop: threading.Event,
        wait: Callable[[float], object],
        observe: Callable[[Call], object],
        max_rate: float | None,
    ) -> Client:
        """Return a client that shares this client's session, token and record of calls.

        It sends nothing once `stop` is set, and sets `stop` if it cannot authenticate; `_refusal`
        is that error. It waits with `wait`, which returns true to send nothing any more, passes
        each call to `observe`, and keeps to `max_rate` as well as to this client's own.
        """
        client = self.__copy__()
        client._stop, client._wait = stop, wait
        client._own_limiters = () if max_rate is None else (RateLimiter(max_rate),)
        client._observers = (*self._observers, observe)
        return client

    def _authenticate(self) -> AccessToken:
        signed = self.dialect.digest(self.access_key, self.secret_key)
        try:
            members = self.call(A1, access_key=self.access_key, digest=signed)
            token = self.dialect.token_of(members, self.secret_key)
            if isinstance(token, ProtocolError):
                raise token
        except ConfkitError as error:
            if self._stop is not None and not self._stop.is_set():
                self._refusal = error
                self._stop.set()  # before another thread tries again
            raise
        return token

    def _send(
        self,
        operation: Operation,
        parameters: Mapping[str, Any],
        token: Secret | None,
        dialect: Dialect,
    ) -> tuple[Call, dict[str, Any] | ConfkitError]:
        """Send a request once, and record it. Errors are raised here, after the frames that hold
        its URL have returned, so that no traceback contains them."""
        if self._process != os.getpid():
            self._reconnect()
        address = self._addresses[operation.interface]
        request = prepare(operation, parameters, address, token, dialect)
        known = (*secrets_in(request.fields), self.secret_key.reveal())
        allowed = self._stop is None or not self._stop.is_set()
        for limiter in (*self._own_limiters, *self._limiters):
            allowed = allowed and limiter.acquire(self._wait)
        if not allowed:
            raise Cancelled(f"{operation.title} ({operation.key}) was not sent: cancelled")
        connect, read = self._timeout
        timeout = (connect, max(read, DIAL_SECONDS) if operation is B1 else read)
        sent_at, start = time.time(), time.monotonic()
        outcome: Response | ConfkitError | None = None
        bug: BaseException | None = None
        try:
            # Not A1: it may set a cookie, which has to reach the session.
            if request.method == "GET" and operation.token and not operation.write:
                outcome = self._fast.get(self.session, request, timeout)
            if outcome is None:
                outcome = exchange(self.session, request, timeout)
        except BaseException as error:  # noqa: BLE001  # Ctrl-C, or a bug in a session hook
            bug = error.with_traceback(None)
            outcome = ConfkitError(type(bug).__name__, cause=redact(str(bug), known))
        seconds = time.monotonic() - start
        result = interpret(operation, outcome, known) if isinstance(outcome, Response) else outcome
        status, body = getattr(outcome, "status", None), getattr(outcome, "body", b"")[:KEPT_BYTES]
        if operation is A1 and not isinstance(result, ApiError):
            body = b""  # the token is made from it
        # Its traceback would keep what its frames hold.
        failure = result.again() if isinstance(result, ConfkitError) else None
        key, method = operation.key, request.method
        call = Call(key, method, seconds, status, request, sent_at, body, failure, known)
        for observe in self._observers:
            observe(call)
        log.debug("%s", call)
        if bug is not None:
            raise bug from None
        if failure and (failure.retry or operation.write):
            self._drop_connections()  # its own response may still come on this one
        return call, result

    def _drop_connections(self) -> None:
        """Send the next request on a new connection: an idle one may be dead, which leaves the
        outcome of a request open that is not repeated."""
        for adapter in self.session.adapters.values():
            adapter.close()
        self._fast.handles.clear()

    def _reconnect(self) -> None:
        """Open own connections in a forked child: on those of its parent it would read the parent's
        responses, which belong to other rooms. (Closing them here could end the parent's.)"""
        self._process, adapters = os.getpid(), dict(self.session.adapters)
        self._inherited = self._fast, adapters
        self._fast = type(self._fast)(set())
        for prefix in adapters:
            self.session.mount(prefix, copy.copy(adapters[prefix]))  # with empty pools

    def __copy__(self) -> Self:
        client = object.__new__(type(self))  # copy.copy would take the way of a pickle
        client.__dict__.update(self.__dict__)
        return client

    def __reduce__(self) -> tuple[Any, ...]:
        # A process of an executor need not authenticate; it neither controls nor stops a sandbox.
        names = ("access_key", "secret_key", "dialect", "timeout", "max_rate", "read_only")
        settings = {name: getattr(self, name) for name in (*names, "name", "origins")}
        state = {"session": self.session, "_token": self._token}
        return partial(Client, *self._addresses.values(), **settings), (), state


# Addresses and settings


def base_address(text: str | Secret, setting: str) -> str:
    """Return the address of an interface without a trailing slash, ready for paths.

    ConfigError: it is not an http(s) base URL.
    """
    # It may hold a login; without :// it may be a misplaced key.
    address = SecretAddress(Secret(text).reveal().strip())
    problem = "is not a valid URL"
    # Its parts have no names: a traceback would show them.
    with suppress(ValueError):
        if "@" in urlsplit(address.reveal()).netloc:
            problem = "contains a login, which would be visible wherever the address is shown"
        elif _BASE.match(address.reveal()) and urlsplit(address.reveal()).port != 0:
            return address.reveal().rstrip("/")
    quoted = f": {str(address)!r}" if "://" in address.reveal() else ""
    raise ConfigError(
        f"{setting} {problem}{quoted}",
        "Write it as scheme://host:port, such as http://conference.example:8080",
    )


def is_positive(value: object) -> bool:
    """Return whether this is a finite number above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def check_timeout(timeout: float | tuple[float, float] | list[float]) -> tuple[float, float]:
    """Return the seconds to connect and to read; one number sets both. ConfigError if invalid."""
    both = timeout if isinstance(timeout, tuple | list) else (timeout, timeout)
    # The system can count so many seconds.
    if len(both) != 2 or not all(is_positive(each) and each <= 1e9 for each in both):
        raise ConfigError(
            f"timeout is {timeout!r}",
            "Give seconds, or seconds to connect and to read, such as 5,10: above 0, at most 1e9.",
        )
    return float(both[0]), float(both[1])


def check_rate(max_rate: float) -> float:
    """Return the requests per second; ConfigError if it is not a finite number above 0."""
    if not is_positive(max_rate):
        raise ConfigError(f"max_rate is {max_rate!r}", "Give requests per second, above 0.")
    return max_rate
