"""One HTTP exchange: a request as it is sent, the session that sends it, the response or the
obstacle, and what a response means.

Nothing here raises an error of the service or the network: it is returned, as a traceback would
show the URL or the response.
"""

from __future__ import annotations

import io
import json
import logging
import re
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode, urljoin

import requests
import urllib3
from requests.adapters import HTTPAdapter

from .dialect import Dialect
from .errors import (
    ConfkitError,
    ProtocolError,
    TransportError,
    TransportTimeout,
    api_error,
    as_code,
)
from .operations import A1, Operation
from .records import parameter_error, read_json
from .secret import MASK, Secret, excerpt, hide, redact, reveal, secrets_in

LARGEST = 64 * 2**20  # bytes of a response; B3 for 100,000 devices is about half of it
BUSY, UNAVAILABLE = 429, 503  # HTTP: Retry-After counts

_CONTENT_TYPES = {"form": "application/x-www-form-urlencoded", "json": "application/json"}


# Requests


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request as it is sent; `fields` are all parameters in order, the token first. `url` and
    `body` contain secrets."""

    method: str
    address: str
    fields: Mapping[str, Any]
    placement: str

    @property
    def url(self) -> str:
        """The full URL, with the query string if the parameters go there."""
        is_query = self.placement == "query"
        return f"{self.address}?{encode(self.fields)}" if is_query else self.address

    @property
    def body(self) -> bytes | None:
        """The body of a POST, or None."""
        if self.placement == "form":
            return encode(self.fields).encode()
        return compact(self.fields).encode() if self.placement == "json" else None


def prepare(
    operation: Operation,
    parameters: Mapping[str, Any],
    base: str,
    token: Secret | None,
    dialect: Dialect,
) -> PreparedRequest:
    """Return the request for an operation as this dialect sends it to the interface at `base`."""
    method = {"B1": dialect.create_method, "B3": dialect.list_method}.get(operation.key, "GET")
    placement = dialect.placement if method == "POST" else "query"
    names = {"A5": dialect.mcu_token_parameter, "B2": dialect.remove_token_parameter}
    in_a = operation.token and dialect.token_parameter
    name = names.get(operation.key) or (in_a if operation.interface == "A" else operation.token)
    fields = {name: token, **parameters} if name and token is not None else dict(parameters)
    return PreparedRequest(method, base + operation.path, fields, placement)


def encode(fields: Mapping[str, Any]) -> str:
    """Return the fields percent-encoded once, `=` as `%3D`; an object as JSON text."""
    return urlencode({name: as_text(fields[name]) for name in fields}, quote_via=quote)


def as_text(value: Any) -> str:
    """Return a parameter's value as text, before percent-encoding. Only here and in `compact` are
    secrets revealed for sending."""
    if isinstance(value, Secret):
        return value.reveal()
    return value if isinstance(value, str) else compact(value)


def compact(value: Any) -> str:
    """Return the value as JSON without spaces, secrets revealed."""
    return json.dumps(reveal(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_sendable(operation: Operation, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with secrets hidden; ParameterError if one cannot be written as text
    or JSON, or contains a mask instead of its secret."""
    hidden = dict[str, Any]()
    for name, value in parameters.items():
        problem = ""
        try:
            as_text(value).encode()
            hidden[name] = hide(value, name)
        except (TypeError, ValueError, RecursionError):
            problem = "cannot be encoded as JSON and UTF-8, or is nested too deep."
            advice = "Give texts without unpaired surrogates, numbers, lists and dicts."
        if MASK in secrets_in(hidden.get(name)):
            problem = f"is masked (it contains {MASK} instead of the secret)."
            advice = (
                "Pass the secret itself: from a Secret's reveal(), a frame made with secrets=True, "
                "or a device of list_devices(client, room_id)."
            )
        if problem:
            del parameters, value  # a traceback shows the locals
            raise parameter_error(operation, f"{name} {problem}", advice)
    return hidden


# Responses


@dataclass(frozen=True, slots=True)
class Response:
    """A response: HTTP status, body, the headers Retry-After and Content-Type, and the other
    address to which it redirects, without its path.

    `complete` is False if the connection ended within the body.
    """

    status: int
    body: bytes = field(repr=False)
    complete: bool = True
    retry_after: str = ""
    content_type: str = ""
    target: str = ""


def interpret(
    operation: Operation, response: Response, known: Iterable[str] = ()
) -> dict[str, Any] | ConfkitError:
    """Return the members of a successful response, or else the error.

    The result code is `ret`, or `result` if there is no `ret`, as a number or as text. No message
    quotes one of the `known` secrets. Section 7 of the interface.
    """
    members = _members(response)
    if isinstance(members, str):
        return _protocol_error(operation, response, known, members)
    code = members.get("ret")
    code = members.get("result") if code is None else code
    if isinstance(code, bool) or not isinstance(code, int | float | str) or code == "":
        return _protocol_error(operation, response, known, "JSON without a result code")
    code = code if isinstance(code, int) else as_code(str(code).removesuffix(".0"))
    if code != 0:
        message = reveal(members.get("msg") or members.get("err"))
        detail = excerpt(message, known) if isinstance(message, str) else ""
        ret = excerpt(code, known) if isinstance(code, str) else code
        names = (operation.interface, operation.key, operation.title)
        error = api_error(ret, *names, detail, response.status)
        _note_retry(error, operation, response)
        return error
    if not 200 <= response.status < 300:
        kind = f"result code 0 under HTTP status {response.status}"
        contradiction = _protocol_error(operation, response, known, kind)
        contradiction.success = True
        return contradiction
    if isinstance(members.get("msg"), str):  # a service may echo the request there
        members["msg"] = redact(members["msg"], known)
    if operation is A1:  # the token is made from these
        members |= {name: hide(members[name], "token") for name in {"random", "key"} & {*members}}
    return members


def _members(response: Response) -> dict[str, Any] | str:
    """Return the JSON object of a response, secrets hidden, or what it holds instead. It may be in
    UTF-8 or UTF-16, or else in the charset that it names."""
    if not response.complete:
        return f"a response cut off, or not decodable, after {len(response.body)} bytes"
    named = re.findall(r"""(?i)charset=["']?([\w.:-]+)""", response.content_type)
    for encoding in (json.detect_encoding(response.body), *named):
        with suppress(ValueError, LookupError, RecursionError):
            text = response.body.decode(encoding)  # json.loads would accept invalid bytes
            value = read_json(text)
            if "\\u" in text:  # an unpaired surrogate can neither be displayed nor sent
                data = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
                value = json.loads(data.decode("utf-16", "replace"))
            if isinstance(value, dict):
                return hide(value)  # type: ignore[no-any-return]
    start = response.body[:200].lstrip()
    if not response.body.strip():
        return "an empty body"
    if start.startswith(b"<"):
        return "HTML or XML"
    return "invalid JSON" if start.startswith(b"{") else "something that is not a JSON object"


def _protocol_error(
    operation: Operation, response: Response, known: Iterable[str], kind: str
) -> ProtocolError:
    status = response.status
    if status == 407:
        advice = _PROXY_LOGIN
    elif 300 <= status < 400 and response.target:
        advice = (
            "Redirects are not followed, to protect the token: configure the target address "
            f"({response.target})."
        )
    elif status == 401:
        advice = (
            "Something in front of the service asks for a login: if it takes Basic, set "
            "client.session.auth = (name, password), or else ask its operator."
        )
    elif status == BUSY:
        advice = "Send fewer requests (max_rate=, concurrency=), or try again later."
    elif status >= 500 or not response.complete:
        advice = "The service or a proxy in front of it failed: check its log, or try again later."
    else:
        advice = (
            f"Check that this address is the service's interface {operation.interface} "
            "(A on port 8080, B on 8050) and that no proxy responds instead."
        )
    problem = f"{operation.title} ({operation.key}) expected JSON, got {kind} (HTTP {status})"
    # What A1 returns is quoted nowhere: it may hold what the token is made from.
    cause = "" if operation is A1 else f"body begins {excerpt(response.body, known)!r}"
    error = ProtocolError(problem, advice, cause=cause)
    error.status, error.retry = status, status == BUSY or not response.complete
    _note_retry(error, operation, response)
    return error


def _note_retry(error: ConfkitError, operation: Operation, response: Response) -> None:
    """Note in an error whether to try again (only reads are), and after how many seconds if there
    is a Retry-After (seconds or a date)."""
    error.retry = not operation.write and (error.retry or response.status >= 500)
    if response.status not in (BUSY, UNAVAILABLE):
        return
    with suppress(ValueError, OverflowError):
        text = response.retry_after
        until = None if text.isdecimal() else parsedate_to_datetime(text).timestamp()
        error.retry_after = float(text) if until is None else max(0.0, until - time.time())
        error.advice += f" Wait {error.retry_after:,.0f} s (Retry-After)."


# The session


class ServiceSession(requests.Session):
    """A session that pools connections for many threads, masks its log lines and follows no
    redirects."""

    def __init__(self) -> None:
        super().__init__()
        self.headers["Accept"] = "application/json"
        for scheme in ("http://", "https://"):
            self.mount(scheme, DeadlineAdapter(pool_maxsize=256))
        # Its URLs contain the token.
        for name in ("urllib3.connection", "urllib3.connectionpool"):
            logging.getLogger(name).addFilter(redact_record)

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None: for a redirect, requests would read the whole body even if not following."""


def redact_record(record: logging.LogRecord) -> bool:
    """Mask the message of a log record."""
    record.msg, record.args, record.exc_info = redact(record.getMessage()), (), None
    return True


def exchange(
    session: requests.Session, request: PreparedRequest, timeout: tuple[float, float]
) -> Response | TransportError:
    """Return the response to a request, or the error that says why there is none.

    `timeout`: seconds to connect, and seconds for the whole response.
    """
    # OpenTelemetry, if it is loaded, would record full URLs, which contain the token.
    utils = sys.modules.get("opentelemetry.instrumentation.utils")
    suppressed: Any = getattr(utils, "suppress_instrumentation", nullcontext)
    body, response = bytearray(), None
    try:
        with (
            suppressed(),
            session.request(
                request.method,
                request.url,
                data=request.body,
                headers={"Content-Type": _CONTENT_TYPES.get(request.placement)},
                timeout=timeout,
                allow_redirects=False,
                stream=True,
                verify=session.verify,  # else REQUESTS_CA_BUNDLE would win
            ) as response,
        ):
            deadline = time.monotonic() + timeout[1]  # also with an adapter of the user's
            while chunk := response.raw.read1(65536, decode_content=True):
                body += chunk
                if len(body) > LARGEST:
                    return no_response("large", "", request.address, timeout)
                if time.monotonic() > deadline:
                    return no_response("unfinished", "", request.address, timeout)
        complete = True
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        if response is None:
            return _without_response(error, request.address, timeout)
        if isinstance(error, urllib3.exceptions.ReadTimeoutError):
            return no_response("unfinished", "", request.address, timeout)
        complete = False
    except ValueError as error:
        if "SOCKS version" not in str(error):  # a bug in a hook of the user's
            raise
        return no_response("address", str(error), request.address, timeout)
    headers = response.headers
    retry_after, content_type = headers.get("Retry-After", ""), headers.get("Content-Type", "")
    target = redirect_target(request.address, headers.get("Location", ""))
    return Response(response.status_code, bytes(body), complete, retry_after, content_type, target)


def redirect_target(address: str, location: str) -> str:
    """Return the scheme, host and port to which a response redirects, if they are others; the path
    may hold a token."""
    with suppress(ValueError):  # an unmatched bracket
        target = "/".join(urljoin(address, location).split("/", 3)[:3])
        if not address.startswith(f"{target}/"):
            return redact(target)
    return ""


# Why there is no response

_SERVICE = "Check that the service is running and that host and port are correct."
_LONGER = "Check the address, or give a longer timeout=(connect, read)."
_PROXY_LOGIN = (
    "Put the proxy's login into its address: HTTPS_PROXY=http://user:password@proxy:port."
)
# An obstacle: the beginning of the line by which Python names its error (a pattern, which reaches
# into the text if that says why; the first match wins), what happened, whether the request may have
# been sent, whether the same call may work in a moment, and the next step.
OBSTACLES = {
    "login": (
        "OSError: Tunnel connection failed: 407", "the proxy requires a login (407)", False, False,
        _PROXY_LOGIN,
    ),
    "address": (
        "InvalidSchema: .*SOCKS|Invalid(Schema|(Proxy)?URL)|LocationParseError",
        "the address of the service or of the proxy is not valid ({why})", False, False,
        "Check base_url, outgoing_url, HTTP_PROXY, HTTPS_PROXY and ALL_PROXY (there, write "
        "socks5:// or socks5h:// instead of socks://, and run: pip install 'requests[socks]').",
    ),
    "unreached": (
        "ConnectTimeoutError", "no connection within {connect:g} s", False, True, _LONGER,
    ),
    "unanswered": ("ReadTimeoutError", "no response within {read:g} s", True, True, _LONGER),
    "unfinished": ("(?!)", "response incomplete after {read:g} s", True, True, _LONGER),
    "large": ("(?!)", f"response larger than {LARGEST} bytes", True, False, _SERVICE),
    "proxy": (  # all but the first also of PySocks
        "OSError: Tunnel|SOCKS5(Auth)?Error: |(General)?Proxy(Connection)?Error",
        "the proxy did not forward the request ({why})", False, True,
        "Check the proxy settings: HTTP_PROXY, HTTPS_PROXY, NO_PROXY, or client.session.proxies.",
    ),
    "bundle": (
        "OSError: .*TLS CA certificate bundle|SSLError: .*(PEM lib|X509)",
        "the CA bundle cannot be read ({why})", False, False,
        "Correct verify= (or CONFKIT_CA_BUNDLE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE): the path of a "
        "PEM file with the CA's certificate.",
    ),
    "expired": (
        "SSLCertVerificationError: .*(expired|not yet valid)",
        "the service's certificate has expired or is not yet valid", False, False,
        "Ask the operator to renew it, and check this machine's clock.",
    ),
    "host": (
        "SSLCertVerificationError: .*mismatch", "certificate not trusted ({why})", False, False,
        "Use the host name that the certificate names in base_url and outgoing_url.",
    ),
    "certificate": (
        "SSLCertVerificationError", "certificate not trusted ({why})", False, False,
        "Give the CA that signed it: connect(verify='ca.pem'), or CONFKIT_CA_BUNDLE=ca.pem.",
    ),
    "tls": (
        "SSLError: .*(ALERT|UNRECOGNIZED_NAME)", "the server refused TLS ({why})", False, False,
        "Ask its operator which versions of TLS it takes, and whether it wants a certificate: "
        "client.session.cert = (certificate, key).",
    ),
    "plain": (
        "SSLError: .*(WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE)",
        "the server does not speak TLS on this port", False, False,
        "Use http:// instead of https://, or the HTTPS port.",
    ),
    "name": (
        "gaierror", "could not resolve the host name", False, True,
        "Check the spelling of the host name, and this machine's DNS or VPN.",
    ),
    "refused": ("ConnectionRefusedError", "connection refused", False, True, _SERVICE),
    "closed": (
        "RemoteDisconnected", "the server closed the connection without a response", True, True,
        _SERVICE,
    ),
    "invalid": ("BadStatusLine", "invalid HTTP response", True, True, _SERVICE),
    "broken": ("", "the connection failed ({why})", True, True, _SERVICE),
}  # fmt: skip


def _without_response(
    error: BaseException, address: str, timeout: tuple[float, float]
) -> TransportError:
    """Return our error for one of requests or urllib3, which keep the errors that they wrap as
    `reason`, argument or cause."""
    links = [error]
    for link in links:  # which grows meanwhile
        for each in (link.__cause__, link.__context__, getattr(link, "reason", None), *link.args):
            if isinstance(each, BaseException) and each not in links:
                links.append(each)
    texts = [link.strerror for link in links if isinstance(link, OSError) and link.strerror]
    reasons = [type(error).__name__, *texts]
    matches = (
        (name, str(link) if ":" in match[0] else reasons[-1])
        for name, (sign, *_) in OBSTACLES.items()
        for link in reversed(links)  # the innermost has the plainest text
        if (match := re.match(sign, f"{type(link).__name__}: {link}"))
    )
    connected = not any(hasattr(link, "unconnected") for link in links)
    return no_response(*next(matches), address, timeout, connected=connected)


def no_response(
    name: str, why: str, address: str, timeout: tuple[float, float], *, connected: bool = True
) -> TransportError:
    """Return the error for a request without a response: the obstacle's name, and the reason."""
    _, meaning, sent, retry, advice = OBSTACLES[name]
    kind = TransportTimeout if advice is _LONGER else TransportError
    cause = meaning.format(why=redact(why), connect=timeout[0], read=timeout[1])
    error = kind(redact(address), advice, cause=cause)
    error.sent, error.retry = sent and connected, retry
    return error


# The deadline. A socket's timeout bounds only the wait for the next byte: a service that sends one
# byte a second would block a caller for hours. Here it bounds the whole response and its head.


class _TimedReader(io.RawIOBase):
    """Reads a socket until a deadline; afterwards every read times out."""

    def __init__(self, raw: io.RawIOBase, sock: Any) -> None:
        self._raw, self._sock = raw, sock
        # A request of the user's may name no timeout.
        self._end = time.monotonic() + (sock.gettimeout() or 1e6)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)  # urllib3 sets it anew for each request
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    fp: Any

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._sock = sock
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock))

    def _close_conn(self) -> None:
        # Bytes beyond the response would be taken for the next one on this connection. urllib3
        # looks only at the socket, not at what TLS has already decrypted.
        if getattr(self._sock, "pending", int)():
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        super()._close_conn()  # type: ignore[misc]

    def _read_status(self) -> tuple[str, int, str]:
        # http.client skips only 100: 102 or 103 would be taken for the response, and the response
        # for that to the next request on the connection.
        version, status, reason = super()._read_status()  # type: ignore[misc]
        return version, 100 if 101 < status < 200 else status, reason


class _Connection:
    """What our connections do otherwise than urllib3's."""

    response_class = _TimedResponse
    debuglevel = 0  # enabled globally in http.client, it would print whole requests

    def connect(self) -> None:
        try:
            super().connect()  # type: ignore[misc]  # also through a proxy, and TLS
        except Exception as error:
            error.unconnected = True  # type: ignore[attr-defined]
            raise


class DeadlineAdapter(HTTPAdapter):
    """A requests adapter whose read timeout bounds the whole response."""

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        """Return the pool for a request, with connections that keep the deadline."""
        pool: Any = super().get_connection_with_tls_context(*args, **kwargs)
        kind = pool.ConnectionCls
        if not issubclass(kind, _Connection):
            pool.ConnectionCls = type(kind.__name__, (_Connection, kind), {})
        return pool
