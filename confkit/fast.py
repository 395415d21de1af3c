"""The bytes of a read, moved by libcurl: an easy handle a thread, which lets go of the GIL while it
waits.

It stands in for the session where its settings have a counterpart in libcurl, with the same
results; `Client` keeps the policy. Without pycurl, or with an adapter, a hook or authentication of
somebody's own, the session itself sends.
"""

from __future__ import annotations

import errno
import io
import os
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy
from urllib3.util import wait_for_read

from .errors import TransportError
from .transport import LARGEST, DeadlineAdapter, no_response
from .wire import PreparedRequest, Response

try:
    pycurl: Any = import_module("pycurl")
    _RETRY_AFTER = pycurl.RETRY_AFTER
except (ImportError, AttributeError):  # without it, or older
    pycurl = None

_ENVIRONMENT = [
    name
    for scheme in ("http", "https", "all", "no")
    for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper())
] + ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC"]
_BUSY = (429, 503)  # HTTP: Retry-After counts

_BY_REASON = {
    os.strerror(errno.ECONNREFUSED): "refused",
    os.strerror(errno.ECONNRESET): "reset",
    os.strerror(errno.EPIPE): "reset",
}

# Codes of libcurl.
_CONNECT, _TOO_LATE, _SEND, _RECEIVE = 7, 28, 55, 56
_ACCEPT = {"Accept": "application/json"}
_CUT = (18, 23, _RECEIVE, 61)  # after the head: the body ends early, or cannot be unpacked
_OBSTACLES = {
    1: "invalid",
    5: "proxy",
    6: "name",
    8: "invalid",
    18: "closed",
    35: "tls",
    52: "closed",
    58: "tls",
    59: "tls",
    60: "certificate",
    77: "bundle",
    97: "proxy",
}


class FastTransport(threading.local):
    """Sends GETs for the thread that calls it, with the settings of a session."""

    def __init__(self) -> None:
        self._handles: dict[str, _Handle] = {}  # by origin

    def get(
        self, session: requests.Session, request: PreparedRequest, timeout: tuple[float, float]
    ) -> Response | TransportError | None:
        """Return the response to a GET, or the error that says why there is none; None where
        libcurl cannot stand in for the session."""
        origin = "/".join(request.address.split("/", 3)[:3])
        settings = _settings(session, origin, timeout)
        if settings is None:
            return None
        handle = self._handles.get(origin)
        if handle is None or handle.settings != settings or handle.has_unasked_bytes():
            if handle is not None:
                handle.close()
            handle = self._handles[origin] = _Handle(session, origin, timeout, settings)
        return handle.get(request, timeout) if handle.usable else None


def _settings(
    session: requests.Session, origin: str, timeout: tuple[float, float]
) -> tuple[object, ...] | None:
    """Return what the options of libcurl are made of, to be compared; None where one of the
    session's settings has no counterpart."""
    plain = type(session) is requests.Session and type(session.auth) in (type(None), tuple)
    if pycurl is None or not plain or any(session.hooks.values()) or session.params:
        return None
    if type(session.get_adapter(origin)) is not DeadlineAdapter:
        return None
    return (
        *(timeout, session.verify, session.cert, session.trust_env, session.auth),
        *(tuple(session.headers.items()), tuple(session.proxies.items())),
        tuple(session.cookies.items()),
        tuple(map(os.environ.get, _ENVIRONMENT)) if session.trust_env else (),
    )


class _Handle:
    """An easy handle with one connection to an origin; it is `usable` where libcurl can do what
    the session's settings ask for."""

    def __init__(
        self,
        session: requests.Session,
        origin: str,
        timeout: tuple[float, float],
        settings: tuple[object, ...],
    ) -> None:
        self.settings: object = settings
        self.curl, self._multi, self._socket = pycurl.Curl(), None, -1
        prepared = session.prepare_request(requests.Request("GET", origin, headers=_ACCEPT))
        merged = session.merge_environment_settings(origin, {}, True, session.verify, session.cert)
        proxy = select_proxy(origin, merged["proxies"]) or ""
        self.proxy, self.usable = proxy, "://" not in proxy or proxy.lower().startswith("http")
        headers = {name.lower(): _as_str(value) for name, value in prepared.headers.items()}
        cookies = headers.pop("cookie", "")
        encodings = headers.pop("accept-encoding", "identity").replace(",", " ").split()
        options = {
            pycurl.HTTPHEADER: [f"{name}: {value}" for name, value in headers.items()],
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            pycurl.NOSIGNAL: 1,
            pycurl.MAXCONNECTS: 1,
            pycurl.COOKIEFILE: "",  # no file: those that the service sets come back to it
            pycurl.PROXY: proxy,  # empty: none, whatever the environment says
            pycurl.NOPROXY: "",  # the session knows who needs none
            pycurl.CONNECTTIMEOUT_MS: max(1, round(1000 * timeout[0])),
            # libcurl may lack those for which requests needs a package of its own.
            pycurl.ACCEPT_ENCODING: ", ".join({*encodings} & {"gzip", "deflate"}),
        }
        if cookies:
            options[pycurl.COOKIE] = cookies
        if merged["verify"] is False:
            options |= {pycurl.SSL_VERIFYPEER: 0, pycurl.SSL_VERIFYHOST: 0}
        else:  # this file or folder, and not what libcurl would trust by itself
            path = merged["verify"] if isinstance(merged["verify"], str) else DEFAULT_CA_BUNDLE_PATH
            file, folder = (
                (pycurl.CAINFO, pycurl.PROXY_CAINFO),
                (pycurl.CAPATH, pycurl.PROXY_CAPATH),
            )
            options |= dict.fromkeys(folder if Path(path).is_dir() else file, path)
            self.usable &= Path(path).exists()  # else requests says so
        if cert := merged["cert"]:
            pair = [cert] if isinstance(cert, str) else cert
            options |= dict(zip((pycurl.SSLCERT, pycurl.SSLKEY), pair, strict=False))
        for option, value in options.items():
            self.curl.setopt(option, value)

    def has_unasked_bytes(self) -> bool:
        """Whether something waits on the idle connection: it would be taken for the response."""
        connection: Any = self._socket
        return connection >= 0 and wait_for_read(connection, timeout=0)

    def get(
        self, request: PreparedRequest, timeout: tuple[float, float]
    ) -> Response | TransportError:
        """Return the response, or the error that says why there is none."""
        curl, body = self.curl, io.BytesIO()
        curl.setopt(pycurl.URL, request.url)
        # 0 ends a transfer that is too large.
        curl.setopt(pycurl.WRITEFUNCTION, lambda part: body.tell() <= LARGEST and body.write(part))
        # libcurl has one time-out for connecting and reading together.
        seconds = timeout[1] if self._socket >= 0 else sum(timeout)
        curl.setopt(pycurl.TIMEOUT_MS, max(1, round(1000 * seconds)))
        if threading.current_thread() is threading.main_thread():
            code, message = self._perform_interruptibly()
        else:
            code, message = self._perform()
        self._socket = -1 if code else curl.getinfo(pycurl.ACTIVESOCKET)
        status, large = curl.getinfo(pycurl.RESPONSE_CODE), body.tell() > LARGEST
        content = body.getvalue()
        body.close()  # the handle keeps it until the next call
        if not large and (not code or (status and code in _CUT)):
            retry_after = curl.getinfo(_RETRY_AFTER) if status in _BUSY else 0
            return Response(status, content, not code, str(retry_after or ""))
        name = "large" if large else self._obstacle(code, status, message)
        number = curl.getinfo(pycurl.OS_ERRNO)
        return no_response(
            name, request.address, timeout, os.strerror(number) if number else message
        )

    def close(self) -> None:
        """Close the connection."""
        self.curl.close()
        if self._multi is not None:
            self._multi.close()

    def _perform(self) -> tuple[int, str]:
        """Make the transfer, and return libcurl's code and words; code 0 where all went well."""
        try:
            self.curl.perform()
        except pycurl.error as error:
            code, message = error.args[:2]
            return code, message
        return 0, ""

    def _perform_interruptibly(self) -> tuple[int, str]:
        """Do the same in the main thread, where Ctrl-C would wait for the end of `perform`."""
        multi = self._multi = self._multi or pycurl.CurlMulti()
        settings, self.settings = self.settings, None  # after Ctrl-C it is not used again
        multi.add_handle(self.curl)
        try:
            while multi.perform()[1]:
                if multi.select(1.0) < 0:  # nothing to wait for yet: a name is looked up
                    time.sleep(0.005)
            failed = multi.info_read()[2]
        finally:
            multi.remove_handle(self.curl)
        self.settings = settings
        return failed[0][1:] if failed else (0, "")

    def _obstacle(self, code: int, status: int, message: str) -> str:
        """Return the name by which `no_response` knows what libcurl met."""
        curl = self.curl
        if code == _TOO_LATE:
            if status:
                return "unfinished"
            connected = curl.getinfo(pycurl.NUM_CONNECTS) or curl.getinfo(pycurl.REQUEST_SIZE)
            return "unanswered" if connected else "unreached"
        if curl.getinfo(pycurl.HTTP_CONNECTCODE) == 407:
            return "login"
        if curl.getinfo(pycurl.HTTP_CONNECTCODE) >= 300 or (self.proxy and code == _CONNECT):
            return "proxy"
        if code in (_CONNECT, _SEND, _RECEIVE):
            reason = os.strerror(curl.getinfo(pycurl.OS_ERRNO))
            tls = "SSL" in message and code != _CONNECT
            return (
                "tls"
                if tls
                else _BY_REASON.get(reason, "unreachable" if code == _CONNECT else "broken")
            )
        plain = code == 35 and "wrong version number" in message
        return "plain" if plain else _OBSTACLES.get(code, "broken")


def _as_str(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
