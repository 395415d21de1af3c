"""Sends one request through a requests session, and says in our own words why no answer came.

The whole answer, headers included, has to be there within the read time-out. A time-out of a socket
bounds the wait for the next byte only: a service that sends one byte a second would hold a caller
for hours.
"""

import io
import logging
import math
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from .calls import unobserved
from .errors import ConfigError, TransportError, TransportTimeout
from .secret import mask
from .wire import Answer, Written

LARGEST = 64 * 2**20  # bytes of one answer; B3 for 100,000 devices is about half of it


def masked_log(record: logging.LogRecord) -> bool:
    """Mask the message of a log record: urllib3 logs whole URLs, and a URL holds the token."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


def mask_log() -> None:
    """Mask what urllib3 logs from now on, in this process."""
    logging.getLogger("urllib3.connectionpool").addFilter(masked_log)


def session(pool: int = 64) -> requests.Session:
    """Return a session that keeps connections for `pool` threads and whose log lines are masked."""
    made = requests.Session()
    for scheme in ("http://", "https://"):
        made.mount(scheme, DeadlineAdapter(pool_maxsize=pool))
    mask_log()
    return made


def finite(value: object) -> bool:
    """Return whether this is a number above 0 and not infinite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def timeouts(given: float | tuple[float, float] | list[float]) -> tuple[float, float]:
    """Return the seconds to connect and to read, as given or one for both; else ConfigError."""
    both = given if isinstance(given, tuple | list) else (given, given)
    if len(both) != 2 or not all(finite(seconds) for seconds in both):
        raise ConfigError(
            f"timeout is {given!r}",
            "Give seconds, or (seconds to connect, seconds to read), each above 0 and finite.",
        )
    return float(both[0]), float(both[1])


def headers_of(written: Written) -> dict[str, str]:
    """Return the headers that a request has beside the session's."""
    headers = {"Accept": "application/json"}
    if written.content_type:
        headers["Content-Type"] = written.content_type
    return headers


def move(
    session: requests.Session,
    written: Written,
    timeout: tuple[float, float],
    secrets: Iterable[str] = (),
) -> Answer | TransportError:
    """Return the answer to a request, or the error that says why there is none.

    An error is returned, not raised, so that its traceback has no frame with the URL and no
    exception of requests. `timeout`: seconds to connect, and seconds until the whole answer is
    there.
    """
    began = time.monotonic()
    hidden = tuple(secrets)
    ended: BaseException | None = None
    try:
        with (
            unobserved(),
            session.request(
                written.method,
                written.url,
                data=written.body,
                headers=headers_of(written),
                timeout=timeout,
                allow_redirects=False,
                stream=True,
                verify=session.verify,
                hooks={"response": [*_hooks(session), _leads_nowhere]},
            ) as response,
        ):
            body, problem = _body(response, began + sum(timeout))
            status, kind = response.status_code, response.headers.get("Content-Type", "")
            later = response.headers.get("Retry-After", "")
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        obstacle = obstacle_of({type(link).__name__ for link in _chain(error)})
        return no_answer(obstacle, written.address, timeout, hidden, _reason(error, hidden))
    except BaseException as error:  # noqa: BLE001  # Ctrl-C: the frames below hold the URL
        ended = error
    if ended is not None:
        raise ended.with_traceback(None) from None
    if problem in ("unfinished", "large"):
        return no_answer(problem, written.address, timeout, hidden)
    return Answer(status, kind, body, hidden, problem is None, later)


def _hooks(session: requests.Session) -> list[Callable[..., object]]:
    """Return the session's own hooks, which those of a request would replace."""
    own = (session.hooks or {}).get("response") or []
    return [own] if callable(own) else list(own)


def _leads_nowhere(response: requests.Response, **_: object) -> None:
    """Hide a redirect's goal from requests: although it follows none, it would read the whole body
    of one, however large, and fail at a goal that is no address. Hooks that have kept the headers
    still have the goal."""
    if "Location" in response.headers:
        response.headers = response.headers.copy()
        del response.headers["Location"]


def _body(response: requests.Response, deadline: float) -> tuple[bytes, str | None]:
    """Return the body as far as it came, and what stopped the rest, or None."""
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
    return bytes(body), None


def obstacle_of(kinds: set[object]) -> str:
    """Return the obstacle of which these are signs: names of exceptions, codes of libcurl."""
    return next((name for name, one in _OBSTACLES.items() if kinds & one[0]), "broken")


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and all that it wraps: causes, contexts, reasons and arguments."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting and len(found) < 50:
        link = waiting.pop()
        if isinstance(link, BaseException) and not any(link is seen for seen in found):
            found.append(link)
            waiting += [link.__cause__, link.__context__, getattr(link, "reason", None)]
            waiting += list(link.args)
    return found


def _reason(error: Exception, hidden: tuple[str, ...]) -> str:
    reasons = [link.strerror for link in _chain(error) if isinstance(link, OSError)]
    text = next((reason for reason in reversed(reasons) if reason), type(error).__name__)
    return mask(str(text), *hidden)


_CHECK = (
    "Check that the service runs, that host and port are right, and that proxy and certificate "
    "settings fit."
)
_LONGER = "Check the address, or give a longer timeout=(connect, read)."
# The exceptions and codes of libcurl that belong to each obstacle, of which the first counts that
# fits; what it means, whether the request may have arrived, whether to try again, what to do.
_OBSTACLES: dict[str, tuple[set[object], str, bool, bool, str]] = {
    "unreached": (
        {"ConnectTimeout", "ConnectTimeoutError"},
        "it did not accept a connection within {connect:g} s", False, True, _LONGER,
    ),
    "unanswered": (
        {"ReadTimeout", "ReadTimeoutError"},
        "it did not answer within {read:g} s", True, True, _LONGER,
    ),
    "unfinished": (set(), "its answer was not whole within {both:g} s", True, True, _LONGER),
    "large": (set(), f"its answer is larger than {LARGEST} bytes", True, True, _CHECK),
    "proxy": ({"ProxyError", 5, 97}, "the proxy did not pass it on ({why})", False, True, _CHECK),
    "certificate": (
        {"SSLCertVerificationError", 60},
        "its certificate is refused ({why})", False, False, _CHECK,
    ),
    "tls": ({"SSLError", 35, 58, 59, 77}, "TLS failed ({why})", True, False, _CHECK),
    "name": (
        {"NameResolutionError", "gaierror", 6}, "its host name is not known", False, True, _CHECK,
    ),
    "refused": ({"ConnectionRefusedError"}, "it refused the connection", False, True, _CHECK),
    "unreachable": (
        {"NewConnectionError", 7}, "it cannot be reached ({why})", False, True, _CHECK,
    ),
    "closed": (
        {"RemoteDisconnected", 18, 52},
        "it closed the connection without an answer", True, True, _CHECK,
    ),
    "reset": (
        {"ConnectionResetError", "BrokenPipeError"}, "it reset the connection", True, True, _CHECK,
    ),
    "foreign": ({"BadStatusLine", 1}, "what it sent is not HTTP", True, True, _CHECK),
    "broken": (set(), "the connection broke ({why})", True, True, _CHECK),
}  # fmt: skip


def no_answer(
    obstacle: str,
    address: str,
    timeout: tuple[float, float],
    hidden: tuple[str, ...],
    why: str = "",
) -> TransportError:
    """Return the error for a request without an answer: the obstacle, and `why` in its words."""
    _, meaning, sent, retry, advice = _OBSTACLES[obstacle]
    text = meaning.format(connect=timeout[0], read=timeout[1], both=sum(timeout), why=why)
    kind = TransportTimeout if advice is _LONGER else TransportError
    error = kind(mask(address, *hidden), advice, cause=text)
    error.sent, error.retry, error.obstacle = sent, retry, obstacle
    return error


_Response = HTTPConnection.response_class  # http.client's own


class _Reader(io.RawIOBase):
    """Reads a socket until a given time; afterwards every read is a time-out."""

    def __init__(self, raw: io.RawIOBase, sock: Any) -> None:
        self._raw, self._sock = raw, sock
        seconds: float | None = sock.gettimeout()
        self._end = None if seconds is None else time.monotonic() + seconds
        self._over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._over:
            return None
        if self._end is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)  # urllib3 sets it anew for each request
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()

    def ends(self, buffered: io.BufferedReader) -> bool:
        """Stop reading, and return whether more came than the answer."""
        self._over = True
        if buffered.closed:
            return False
        pending = getattr(self._sock, "pending", int)  # of TLS: unpacked, seen by nobody else
        return bool(buffered.peek(1)) or pending() > 0


class _TimedResponse(_Response):  # type: ignore[misc,valid-type]  # a base known at run time
    fp: Any

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._sock, self._reader = sock, _Reader(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._reader)

    def _close_conn(self) -> None:
        """Finish an answer that was read. A connection on which more came than that is not used
        again: the rest would be taken for the next answer."""
        if self._reader.ends(self.fp):
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        super()._close_conn()

    def _read_status(self) -> tuple[str, int, str]:
        # Of the answers before the answer http.client passes over 100 alone: 102 or 103 would be
        # taken for the answer, and the answer for that to the connection's next request.
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


_POOLS = {"http": _Pool, "https": _SecurePool}


class DeadlineAdapter(HTTPAdapter):
    """An adapter of requests on which the read time-out bounds the whole answer."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools, with connections that keep the deadline."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Make the same pools through a proxy."""
        manager = super().proxy_manager_for(proxy, **kwargs)
        if hasattr(manager, "pool_classes_by_scheme") and not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = _POOLS
        return manager
