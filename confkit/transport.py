"""Sends a request through a requests session, and says in our own words why no response came.

A socket's time-out bounds the wait for the next byte only: a service that sends one byte a second
would hold a caller for hours. Here the read time-out bounds the whole response, its head included.
"""

from __future__ import annotations

import io
import logging
import math
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from .errors import ConfigError, TransportError, TransportTimeout
from .secret import redact
from .wire import PreparedRequest, Response

LARGEST = 64 * 2**20  # bytes of a response; B3 for 100,000 devices is about half of it


def make_session() -> requests.Session:
    """Return a session that keeps connections for many threads and whose log lines are masked."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, DeadlineAdapter(pool_maxsize=256))
    redact_log()
    return session


def redact_log() -> None:
    """Mask what urllib3 logs from now on, in this process: its URLs hold the token."""
    logging.getLogger("urllib3.connectionpool").addFilter(redact_record)


def redact_record(record: logging.LogRecord) -> bool:
    """Mask the message of a log record."""
    record.msg, record.args = redact(record.getMessage()), ()
    return True


def is_positive(value: object) -> bool:
    """Return whether this is a number above 0 and not infinite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def checked_timeout(timeout: float | tuple[float, float] | list[float]) -> tuple[float, float]:
    """Return the seconds to connect and to read, or one number for both; else ConfigError."""
    both = timeout if isinstance(timeout, tuple | list) else (timeout, timeout)
    if len(both) != 2 or not all(is_positive(seconds) for seconds in both):
        raise ConfigError(
            f"timeout is {timeout!r}",
            "Give seconds, or (seconds to connect, seconds to read), each above 0 and finite.",
        )
    return float(both[0]), float(both[1])


def exchange(
    session: requests.Session, request: PreparedRequest, timeout: tuple[float, float]
) -> Response | TransportError:
    """Return the response to a request, or the error that says why there is none.

    The error is returned, not raised, so that no traceback has a frame with the URL. `timeout`:
    seconds to connect, and seconds until the whole response is there.
    """
    deadline = time.monotonic() + sum(timeout)
    try:
        with (
            _uninstrumented(),
            session.request(
                request.method,
                request.url,
                data=request.body,
                headers=request.headers,
                timeout=timeout,
                allow_redirects=False,
                stream=True,
                verify=session.verify,  # else REQUESTS_CA_BUNDLE would win
                hooks={"response": [*hooks_of(session), _drop_location]},
            ) as response,
        ):
            body, problem = _read(response, deadline)
            status, retry_after = response.status_code, response.headers.get("Retry-After", "")
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        return no_response(_obstacle_of(error), request.address, timeout, _reason(error))
    if problem in ("unfinished", "large"):
        return no_response(problem, request.address, timeout)
    return Response(status, body, not problem, retry_after)


def hooks_of(session: requests.Session) -> list[Callable[..., object]]:
    """Return the session's own hooks, which those of a request would replace."""
    own = (session.hooks or {}).get("response") or []
    return [own] if callable(own) else list(own)


def _drop_location(response: requests.Response, **_: object) -> None:
    """Drop Location: requests would read the whole body of a redirect that we do not follow."""
    if "Location" in response.headers:
        response.headers = response.headers.copy()
        del response.headers["Location"]


def _read(response: requests.Response, deadline: float) -> tuple[bytes, str]:
    """Return the body as far as it came, and what stopped the rest, or ""."""
    body = bytearray()
    try:
        while chunk := response.raw.read1(65536, decode_content=True):
            body += chunk
            if len(body) > LARGEST:
                return b"", "large"
            if time.monotonic() > deadline:
                return b"", "unfinished"
    except urllib3.exceptions.ReadTimeoutError:
        return b"", "unfinished"
    except (urllib3.exceptions.HTTPError, OSError):
        return bytes(body), "cut"
    return bytes(body), ""


@contextmanager
def _uninstrumented() -> Iterator[None]:
    """Inside, in this thread, OpenTelemetry and Sentry record no request: they record whole URLs,
    and those hold the token. Neither library is imported."""
    with ExitStack() as stack:
        utils = sys.modules.get("opentelemetry.instrumentation.utils")
        for name in ("suppress_instrumentation", "suppress_http_instrumentation"):
            if hasattr(utils, name):
                stack.enter_context(getattr(utils, name)())
        sentry: Any = sys.modules.get("sentry_sdk")
        if hasattr(sentry, "new_scope") and sentry.get_client().is_active():  # from 2.0 on
            scope: Any = stack.enter_context(sentry.new_scope())
            # Not `set_client`, which would write this one's settings into the global scope.
            scope.client = _without_integrations(sentry)
        yield


def _without_integrations(sentry: Any) -> Any:
    kind = type("Silent", (sentry.client.NonRecordingClient,), {"is_active": lambda _: True})
    return kind()


# Why there is no response


class Obstacle(NamedTuple):
    """What kept a request from its response: its `meaning`, whether the request may have been
    `sent`, whether the same call may work in a moment (`retry`), and the next step (`advice`)."""

    meaning: str
    sent: bool
    retry: bool
    advice: str


_SERVICE = "Check that the service runs, and that host and port are right."
_LONGER = "Check the address, or give a longer timeout=(connect, read)."
_PROXY = (
    "Check the proxy settings: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or client.session.proxies."
)
OBSTACLES = {
    "unreached": Obstacle("no connection within {connect:g} s", False, True, _LONGER),
    "unanswered": Obstacle("no response within {read:g} s", True, True, _LONGER),
    "unfinished": Obstacle("response incomplete after {both:g} s", True, True, _LONGER),
    "large": Obstacle(f"response larger than {LARGEST} bytes", True, False, _SERVICE),
    "login": Obstacle(
        "the proxy wants a login (407)", False, False,
        "Give it in the proxy's address, HTTPS_PROXY=http://user:password@proxy:port.",
    ),
    "proxy": Obstacle("the proxy did not pass it on ({why})", False, True, _PROXY),
    "socks": Obstacle(
        "SOCKS proxies need the package PySocks", False, False,
        "Run: pip install 'requests[socks]', or unset ALL_PROXY.",
    ),
    "bundle": Obstacle(
        "the CA bundle cannot be read ({why})", False, False,
        "Correct verify= (or CONFKIT_CA_BUNDLE): the path of a PEM file with the CA's certificate.",
    ),
    "certificate": Obstacle(
        "certificate not trusted ({why})", False, False,
        "Give the CA that signed it: connect(verify='ca.pem'), or CONFKIT_CA_BUNDLE=ca.pem.",
    ),
    "plain": Obstacle(
        "the server does not speak TLS on this port", False, False,
        "Write http:// instead of https://, or give the port of HTTPS.",
    ),
    "tls": Obstacle("TLS failed ({why})", True, False, _SERVICE),
    "name": Obstacle(
        "could not resolve the host name", False, True,
        "Check the spelling of the host, and this machine's DNS or VPN.",
    ),
    "refused": Obstacle("connection refused", False, True, _SERVICE),
    "unreachable": Obstacle("host unreachable ({why})", False, True, _SERVICE),
    "closed": Obstacle("the server closed the connection without a response", True, True, _SERVICE),
    "reset": Obstacle("the connection was reset", True, True, _SERVICE),
    "invalid": Obstacle("invalid HTTP response", True, True, _SERVICE),
    "broken": Obstacle("the connection broke ({why})", True, True, _SERVICE),
}  # fmt: skip

# The first that fits: an exception's class in the chain, a word of its text, and the obstacle.
_SIGNS = (
    ("InvalidSchema", "SOCKS", "socks"),
    ("OSError", "Tunnel connection failed: 407", "login"),
    ("ConnectTimeoutError", "", "unreached"),
    ("ReadTimeoutError", "", "unanswered"),
    ("ProxyError", "", "proxy"),
    ("OSError", "TLS CA certificate bundle", "bundle"),
    ("SSLError", "PEM lib", "bundle"),
    ("SSLError", "X509", "bundle"),
    ("SSLCertVerificationError", "", "certificate"),
    ("SSLError", "WRONG_VERSION_NUMBER", "plain"),
    ("SSLError", "RECORD_LAYER_FAILURE", "plain"),
    ("SSLError", "", "tls"),
    ("NameResolutionError", "", "name"),
    ("gaierror", "", "name"),
    ("ConnectionRefusedError", "", "refused"),
    ("NewConnectionError", "", "unreachable"),
    ("RemoteDisconnected", "", "closed"),
    ("ConnectionResetError", "", "reset"),
    ("BrokenPipeError", "", "reset"),
    ("BadStatusLine", "", "invalid"),
)


def _obstacle_of(error: Exception) -> str:
    chain = [(type(link).__name__, str(link)) for link in _chain(error)]
    return next(
        (
            obstacle
            for kind, word, obstacle in _SIGNS
            if any(name == kind and word in text for name, text in chain)
        ),
        "broken",
    )


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and those that it wraps: requests and urllib3 keep them as `reason`, as an
    argument or as the cause."""
    links: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting and len(links) < 50:
        link = waiting.pop()
        if isinstance(link, BaseException) and not any(link is seen for seen in links):
            links.append(link)
            waiting += [link.__cause__, link.__context__, getattr(link, "reason", None), *link.args]
    return links


def _reason(error: Exception) -> str:
    reasons = [link.strerror for link in _chain(error) if isinstance(link, OSError)]
    return str(next(filter(None, reversed(reasons)), type(error).__name__))


def no_response(
    name: str, address: str, timeout: tuple[float, float], why: str = ""
) -> TransportError:
    """Return the error for a request without a response: the obstacle's name, and `why`."""
    obstacle = OBSTACLES[name]
    connect, read = timeout
    seconds = {"connect": connect, "read": read, "both": connect + read}
    cause = obstacle.meaning.format(why=redact(why), **seconds)
    kind = TransportTimeout if obstacle.advice is _LONGER else TransportError
    error = kind(redact(address), obstacle.advice, cause=cause)
    error.sent, error.retry, error.obstacle = obstacle.sent, obstacle.retry, name
    return error


# The deadline


class _TimedReader(io.RawIOBase):
    """Reads a socket until a given time; afterwards every read is a time-out."""

    def __init__(self, raw: io.RawIOBase, sock: Any) -> None:
        self._raw, self._sock = raw, sock
        seconds: float | None = sock.gettimeout()
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._over:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        if left < math.inf:
            self._sock.settimeout(left)  # urllib3 sets it anew for each request
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()

    def finish(self, buffered: io.BufferedReader) -> bool:
        """Stop reading, and return whether more came than the response."""
        self._over = True
        if buffered.closed:
            return False
        pending = getattr(self._sock, "pending", int)  # of TLS: unpacked, seen by nobody else
        return bool(buffered.peek(1)) or pending() > 0


_HttpResponse = HTTPConnection.response_class  # http.client's own


class _TimedResponse(_HttpResponse):  # type: ignore[misc,valid-type]
    fp: Any

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._sock, self._reader = sock, _TimedReader(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._reader)

    def _close_conn(self) -> None:
        # What came behind the response would be taken for the next one on this connection.
        if self._reader.finish(self.fp):
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        super()._close_conn()

    def _read_status(self) -> tuple[str, int, str]:
        # http.client passes over 100 alone: 102 or 103 would be taken for the response, and the
        # response for that to the next request of the connection.
        version, status, reason = super()._read_status()
        return version, 100 if 101 < status < 200 else status, reason


class _Connection(HTTPConnection):
    response_class = _TimedResponse
    debuglevel = 0  # switched on in http.client, for all, it would print whole requests


class _SecureConnection(HTTPSConnection):
    response_class = _TimedResponse
    debuglevel = 0


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class DeadlineAdapter(HTTPAdapter):
    """An adapter of requests on which the read time-out bounds the whole response."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools, with connections that keep the deadline."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Make the same pools through a proxy."""
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager
