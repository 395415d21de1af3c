"""Moves one request through a requests session, and tells in our own words why none came back."""

import logging
import time
from collections.abc import Iterable

import requests
import urllib3

from .errors import TransportError, TransportTimeout
from .masking import mask
from .wire import Answer, Written

LARGEST = 64 * 2**20  # bytes of one answer; B3 for 100,000 devices is about half of it


def masked_log(record: logging.LogRecord) -> bool:
    """A log filter that masks the message: urllib3 logs whole URLs, and a URL holds the token."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


def session(pool: int = 64) -> requests.Session:
    """A session whose connections are kept for `pool` threads and whose log lines are masked."""
    from .deadline import DeadlineAdapter

    made = requests.Session()
    for scheme in ("http://", "https://"):
        made.mount(scheme, DeadlineAdapter(pool_maxsize=pool))
    logging.getLogger("urllib3.connectionpool").addFilter(masked_log)
    return made


def move(
    session: requests.Session,
    written: Written,
    timeout: tuple[float, float],
    secrets: Iterable[str] = (),
) -> Answer | TransportError:
    """The answer to a request, or the error that says why there is none.

    An error is returned, not raised, so that no frame that holds the URL and no exception of
    requests stands behind it in a traceback. `timeout`: seconds to connect, and seconds for the
    answer to be there whole.
    """
    began = time.monotonic()
    hidden = tuple(secrets)
    headers = {"Accept": "application/json"}
    if written.content_type:
        headers["Content-Type"] = written.content_type
    try:
        with session.request(
            written.method, written.url, data=written.body, headers=headers, timeout=timeout,
            allow_redirects=False, stream=True, verify=session.verify,
        ) as response:  # fmt: skip
            body, problem = _body(response, began + sum(timeout))
            status, kind = response.status_code, response.headers.get("Content-Type", "")
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        return _named(error, written, timeout, hidden)
    if problem == "late":
        return _late(f"its answer was not whole within {sum(timeout):g} s", written)
    if problem == "large":
        return _error(f"its answer is larger than {LARGEST} bytes", written, hidden)
    return Answer(status, kind, body, time.monotonic() - began, hidden, whole=problem is None)


def _body(response: requests.Response, deadline: float) -> tuple[bytes, str | None]:
    """The body as far as it came, and what kept the rest away: "late", "large", "cut" or None."""
    body = bytearray()
    try:
        while chunk := response.raw.read1(65536, decode_content=True):
            body += chunk
            if len(body) > LARGEST:
                return b"", "large"
            if time.monotonic() > deadline:
                return b"", "late"
    except urllib3.exceptions.ReadTimeoutError:
        return b"", "late"
    except (urllib3.exceptions.HTTPError, OSError):
        return bytes(body), "cut"
    return bytes(body), None


def _named(
    error: Exception, written: Written, timeout: tuple[float, float], hidden: tuple[str, ...]
) -> TransportError:
    kinds = {type(link).__name__ for link in _chain(error)}
    if kinds & {"ConnectTimeout", "ConnectTimeoutError"}:
        return _late(f"it did not accept a connection within {timeout[0]:g} s", written, sent=False)
    if kinds & {"ReadTimeout", "ReadTimeoutError"}:
        return _late(f"it did not answer within {timeout[1]:g} s", written)
    for names, told, sent, retry in _REASONS:
        if kinds & names:
            why = told.format(_reason(error, hidden))
            return _error(why, written, hidden, sent=sent, retry=retry)
    return _error(f"the connection broke ({_reason(error, hidden)})", written, hidden)


# Exceptions by name, what they mean, whether the request may have arrived, whether to try again.
_REASONS: tuple[tuple[frozenset[str], str, bool, bool], ...] = (
    (frozenset({"ProxyError"}), "the proxy did not pass it on", False, True),
    (frozenset({"SSLCertVerificationError"}), "its certificate is refused ({})", False, False),
    (frozenset({"SSLError"}), "TLS failed ({})", True, False),
    (frozenset({"NameResolutionError", "gaierror"}), "its host name is not known", False, True),
    (frozenset({"ConnectionRefusedError"}), "it refused the connection", False, True),
    (frozenset({"NewConnectionError"}), "it cannot be reached ({})", False, True),
    (frozenset({"RemoteDisconnected"}), "it closed the connection without an answer", True, True),
    (frozenset({"ConnectionResetError"}), "it reset the connection", True, True),
)


def _chain(error: BaseException) -> list[BaseException]:
    """The error and everything that it wraps: causes, contexts, reasons and arguments."""
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
    told = next((reason for reason in reversed(reasons) if reason), type(error).__name__)
    return mask(str(told), *hidden)


def _late(why: str, written: Written, sent: bool = True) -> TransportTimeout:
    error = TransportTimeout(
        f"{written.address}: {why}. Check the address, or give a longer timeout=(connect, read)."
    )
    error.sent = sent
    return error


def _error(
    why: str, written: Written, hidden: tuple[str, ...], sent: bool = True, retry: bool = True
) -> TransportError:
    error = TransportError(
        f"{mask(written.address, *hidden)}: {why}. Check that the service runs, that host and port "
        "are right, and that proxy and certificate settings fit."
    )
    error.sent, error.retry = sent, retry
    return error
