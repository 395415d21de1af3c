"""The client: owns the wire to one service, its token, and the record of its last calls."""

from __future__ import annotations

import ipaddress
import math
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from statistics import median
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from . import signing
from .attempt import Attempt, Context, Read
from .endpoints import A1, Endpoint, sendable, whole
from .errors import ConfigError, ConfkitError, ProtocolError, ReadOnlyError
from .secret import Guarded, GuardedAddress, Secret, mask_address
from .transport import finite, mask_log, session, timeouts
from .wire import Request

if TYPE_CHECKING:
    from .calls import Call
    from .dialect import Dialect
    from .many.queue import Outcomes

KEPT = 200  # calls on record
MARGIN = 1.02  # keeps the bound where the network bunches what left evenly
LATE = 0.005  # seconds that may be caught up; together with a gap below MARGIN the bound holds

# Not Python's own: whoever seeds that one keeps it, whatever threads wait here.
_CHANCE = random.SystemRandom().random
# What a client has anew in another process.
_ANEW = {
    "sandbox": None,
    "_on_close": lambda: None,
    "_clock": time.monotonic,
    "_sleep": time.sleep,
    "_chance": _CHANCE,
    "_now": time.time,
}


def base_address(text: str, setting: str) -> str:
    """Return the address of an interface without a slash at its end, to be joined to paths.

    ConfigError says why it is no http(s) base."""
    given = hidden_address(str(text))
    problem, url = _read(given)
    if problem:
        found = f": {mask_address(url, broken=True)!r}" if isinstance(given, Guarded) else ""
        raise ConfigError(
            f"{setting} {problem}{found}",
            "Write it as scheme://host:port, such as http://conference.example:8080",
        )
    return str(url)


def hidden_address(text: str) -> str:
    """Return what was given as the address of a service as a text that shows no secret in a repr:
    without `://` it may be a key that went into the wrong field."""
    return GuardedAddress(text) if "://" in text else Secret(text)


def on_loopback(url: str) -> bool:
    """Return whether the address is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_rate(max_rate: float) -> float:
    """Return the requests per second; ConfigError where that is no number above 0."""
    if not finite(max_rate):
        raise ConfigError(f"max_rate is {max_rate!r}", "Give requests per second, above 0.")
    return max_rate


def _read(text: str) -> tuple[str | None, str]:
    """Return what is wrong with an address, and its base. The error is raised elsewhere: a
    traceback from here would show the parts of the address, a login among them."""
    url = hidden_address(text.strip().rstrip("/"))
    try:
        parts = urlsplit(str(url))
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), 0
    problem = None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        problem = "is no address"
    elif parts.username is not None or parts.password is not None:
        problem = "holds a login, which would show wherever the address does"
    elif parts.query or parts.fragment:
        problem = "holds a query or a fragment"
    elif any(letter.isspace() for letter in url):
        problem = "holds white space"
    return problem, url


def take(paces: Sequence[Pace]) -> float:
    """Return the seconds until all of these allow one more request; with 0 that request counts as
    sent."""
    with ExitStack() as held:
        for pace in paces:
            held.enter_context(pace._lock)
        wait = max((pace._wait() for pace in paces), default=0.0)
        if wait > 0:
            return wait
        for pace in paces:
            pace._leave()
        return 0.0


class Pace:
    """Call it to wait until `max_rate` requests in any second allow one more.

    Requests leave evenly, not in bursts. `clock` gives monotonic seconds and `sleep` waits; both
    are passed in so that tests need no time.
    """

    def __init__(
        self, max_rate: float, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        max_rate = checked_rate(max_rate)
        # Of 2.5 requests only two fit into a second; below one, the gap is what counts.
        self._gap = MARGIN / (math.floor(max_rate) if max_rate >= 1 else max_rate)
        self._due = -math.inf
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Wait until it is time for one more request."""
        with self._lock:
            now = self._clock()
            due = self._due = max(now, self._due + self._gap)
        if due > now:
            self._sleep(due - now)

    def _wait(self) -> float:
        return self._due + self._gap - self._clock()

    def _leave(self) -> None:
        # Who came a little late, as waits do, does not make those behind him late as well.
        self._due = max(self._due + self._gap, self._clock() - LATE)


class SharedToken:
    """Call it for the token that `authenticate` makes once for all threads.

    `instead_of` is a token that was refused: unless another thread has replaced it already, a new
    one is made. Threads that wait for one authentication share its token, or its error: when the
    keys are wrong, a service that locks accounts out sees one attempt.
    """

    def __init__(
        self,
        authenticate: Callable[[], signing.AccessToken],
        held: signing.AccessToken | None = None,
    ) -> None:
        self.held = held
        self._authenticate = authenticate
        self._lock = threading.Lock()
        self._attempts = 0
        self._refusal: ConfkitError | None = None

    def __call__(self, instead_of: str | None = None) -> signing.AccessToken:
        """Return the token, or raise the error of the authentication."""
        before = self._attempts
        # Compared by identity: a service may hand out the same text again.
        if self.held is not None and self.held is not instead_of:
            return self.held
        with self._lock:
            if self.held is not None and self.held is not instead_of:
                return self.held
            if self._attempts != before and self._refusal is not None:
                raise self._refusal.again()
            try:
                self.held, self._refusal = self._authenticate(), None
            except ConfkitError as error:
                self.held, self._refusal = None, error
                raise
            finally:
                self._attempts += 1
            return self.held


class Client:
    """A service that answers: its two addresses, its keys, and the token that they make.

    Made by `confkit.connect`. Every call goes through `send`; threads may share one client.
    `calls` holds the last calls, masked; `session` is the requests session, to configure. `sandbox`
    is the Sandbox that it talks with, where `connect("sandbox")` or `Sandbox.connect` made it, else
    None.
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
        sandbox: Any = None,
        origins: Mapping[str, str] | None = None,
        on_close: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = _CHANCE,
        now: Callable[[], float] = time.time,
    ) -> None:
        secret_key = Secret(secret_key)
        base_url, outgoing_url = hidden_address(base_url), hidden_address(outgoing_url)
        whole(A1, "access_key", access_key)
        whole(A1, "secret_key", secret_key)
        self._addresses = {
            "A": base_address(base_url, "base_url"),
            "B": base_address(outgoing_url, "outgoing_url"),
        }
        self.access_key = access_key
        self.secret_key = secret_key
        if dialect is None:
            from .dialect import Dialect

            dialect = Dialect()
        self.dialect = dialect
        self.timeout = timeouts(timeout)
        self.read_only = read_only
        # A Sandbox or None: a sandbox makes clients, so a client names no type of its.
        self.sandbox: Any = sandbox
        self.name = name or str(urlsplit(self._addresses["A"]).hostname)
        self.origins = dict(origins or {})
        self.created: list[str] = []  # the rooms that create_room has made with it, not deleted
        self._calls: deque[Call | Attempt] = deque(maxlen=KEPT)
        self.session = session()
        self.session.verify = verify
        if all(on_loopback(url) for url in self._addresses.values()):
            self.session.trust_env = False  # no proxy of the environment leads to this machine
        self.max_rate = max_rate
        self._clock, self._sleep, self._chance, self._now = clock, sleep, chance, now
        self._pace = self._paced(max_rate)
        self._on_close = on_close
        self._token = SharedToken(self._authenticate)
        self._closed = False
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
    def calls(self) -> list[Call]:
        """The last 200 calls that were made, the newest last, with nothing secret in them."""
        return [one.call if isinstance(one, Attempt) else one for one in list(self._calls)]

    @property
    def usual_seconds(self) -> float:
        """The median of what the last calls took; 0 before the first."""
        return median([one.seconds for one in list(self._calls)] or [0.0])

    @property
    def authenticated(self) -> bool:
        """Whether it holds a token; the service may have dropped that meanwhile."""
        return self._token.held is not None

    def __repr__(self) -> str:
        if not hasattr(self, "_process"):  # in a traceback out of __init__
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

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs to ask the same service, with the token, so that a
        worker need not authenticate. The copy has no sandbox to steer, and ends none."""
        left = {*_ANEW, "_pace", "_calls"}
        state = {name: value for name, value in self.__dict__.items() if name not in left}
        return {**state, "_token": self._token.held}

    def __setstate__(self, state: dict[str, Any]) -> None:
        held = state.pop("_token")
        self.__dict__.update(state, **_ANEW)
        mask_log()
        self._pace = self._paced(self.max_rate)
        self._calls = deque(maxlen=KEPT)
        self._token, self._process = SharedToken(self._authenticate, held), os.getpid()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, and end the sandbox that `connect("sandbox")` started."""
        self._closed = True
        self.session.close()
        self._on_close()

    def send(self, request: Request) -> dict[str, Any]:
        """Send one request and return the members of its answer; raise any failure.

        A token that the service no longer takes (602) is renewed once, for all threads together,
        and the call is repeated once. Reads are tried up to three times, waiting as long as the
        service asks (Retry-After), within the time-outs; a change is sent once. It raises
        OutcomeUnknown where its answer was lost, and Unsettled where a code leaves open whether it
        happened.
        Sections 4, 5 and 7 of the interface.
        """
        endpoint = request.endpoint
        self._is_open()
        self.may_send(endpoint)
        sendable(request)
        token = None if endpoint.token is None else self.token()
        attempt = Attempt(request, self._context())
        while True:
            members = attempt.send(token)
            if members is not None:
                return members
            if attempt.is_refused:
                token = self.token(instead_of=token)
            elif (pause := attempt.pause) is not None:
                self._sleep(pause)
            else:
                raise attempt.failure()
            attempt = attempt.again()

    def ask_once(
        self, request: Request, token: Secret | None = None, *, dialect: Dialect | None = None
    ) -> Attempt:
        """Send one request exactly once, and return the attempt; its `error` is not raised.

        It carries this token or none, in this dialect: for questions about the service itself,
        where a retry or a login on the way would change the result. The attempt has the `call` as
        it is on record, the `answer` as it came (None where none did), and its `members` or its
        `error`. ReadOnlyError, as by `send`.
        """
        self._is_open()
        self.may_send(request.endpoint)
        sendable(request)
        context = self._context()._replace(dialect=dialect or self.dialect)
        attempt = Attempt(request, context)
        attempt.members = attempt.send(token)
        return attempt

    def send_many(
        self,
        requests: Iterable[Request],
        *,
        concurrency: int = 32,
        max_rate: float | None = None,
        cancelled: threading.Event | None = None,
        step: Callable[[], object] = lambda: None,
        read: Read | None = None,
    ) -> Outcomes:
        """Send many reads, and return in order the members of each answer, or its error.

        They go through libcurl where pycurl is installed and knows all of the session's settings,
        otherwise through the session in threads: up to `concurrency` at once, at most `max_rate` in
        any second. Each is retried as by `send`, and one expired token costs one authentication.
        `cancelled` ends it within a second, and so does a service that answers nobody any more:
        then what was not asked is None, and the list is not `complete`. Ctrl-C raises
        KeyboardInterrupt within a second. `step` is called after each; `read` turns an answer into
        what is returned. ParameterError for a change: those go through `send`, one by one.
        Sections 4, 5 and 7 of the interface.
        """
        from .many.sending import send_many

        self._is_open()
        asked, pace = list(requests), self._paced(max_rate)
        for request in asked:
            sendable(request)
        return send_many(asked, self._context(), concurrency, pace, cancelled, step, read)

    def _paced(self, max_rate: float | None) -> Pace | None:
        return None if max_rate is None else Pace(max_rate, self._clock, self._sleep)

    def _context(self) -> Context:
        return Context(
            session=self.session,
            dialect=self.dialect,
            timeout=self.timeout,
            bases=self._addresses,
            secret_key=self.secret_key,
            token=self.token,
            pace=self._pace,
            calls=self._calls,
            clock=self._clock,
            chance=self._chance,
            now=self._now,
        )

    def _is_open(self) -> None:
        if self._closed or (self.sandbox is not None and self.sandbox.closed):
            raise ConfigError(
                f"this {'client' if self._closed else 'sandbox'} is closed", "Connect again."
            )
        if os.getpid() != self._process:
            self._after_fork()

    def may_send(self, endpoint: Endpoint) -> None:
        """Raise ReadOnlyError for a change where the client is read only."""
        if endpoint.write and self.read_only:
            raise ReadOnlyError(
                f"{endpoint.title} ({endpoint.key}) was not sent: this client is read only.",
                "Connect with read_only=False to change something on the service.",
            )

    def token(self, instead_of: str | None = None) -> signing.AccessToken:
        """Return the access token, made at the first call; `instead_of` is one that was refused.

        However many threads ask, one of them authenticates (A1) and all get its token, or its
        error. Section 5 of the interface.
        """
        return self._token(instead_of)

    def _after_fork(self) -> None:
        """Drop the parent's connections and lock: two processes on one socket would read each
        other's answers."""
        self._process = os.getpid()
        self._token = SharedToken(self._authenticate)
        self.session.close()

    def _authenticate(self) -> signing.AccessToken:
        signed = signing.digest(self.access_key, self.secret_key, self.dialect)
        answer = self.send(Request(A1, {"access_key": self.access_key, "digest": signed}))
        token = signing.token_of(answer, self.secret_key, self.dialect)
        if isinstance(token, ProtocolError):
            raise token
        return token
