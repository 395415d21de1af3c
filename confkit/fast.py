"""Reads sent by libcurl: one easy handle per thread, which releases the GIL while it waits.

It replaces the session, with the same results; the policy stays in `Client`. The session itself
sends without pycurl, with a proxy, a client certificate, cookies, a custom adapter, hook or
authentication, and what libcurl could not send: then the session's error says why.
"""

from __future__ import annotations

import io
import math
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy
from urllib3.util import wait_for_read

from .errors import TransportError
from .wire import (
    BUSY,
    LARGEST,
    UNAVAILABLE,
    DeadlineAdapter,
    PreparedRequest,
    Response,
    ServiceSession,
    no_response,
    redirect_target,
)

try:
    pycurl: Any = import_module("pycurl")
    _RETRY_AFTER = pycurl.RETRY_AFTER
except (ImportError, AttributeError):  # not installed, or too old
    pycurl = None

# Codes of libcurl.
_TOO_LATE = 28
_STRANGE = (8, 23, 61)  # a head, or a content encoding
_CUT = (18, 56)  # after the head: the body ends early
_OBSTACLES = {1: "invalid", 18: "closed", 52: "closed"}
_LONGEST_WAIT = 6 * 3600  # seconds of Retry-After, as libcurl tells it


class FastTransport(threading.local):
    """Sends GETs for the calling thread, with the settings of a session."""

    def __init__(self, unsuitable: set[str]) -> None:
        self.handles = dict[str, tuple[object, _Handle]]()  # by origin, with its settings
        self._unsuitable = unsuitable  # origins that only the session can read; of all threads

    def get(
        self, session: requests.Session, request: PreparedRequest, timeout: tuple[float, float]
    ) -> Response | TransportError | None:
        """Return the response to a GET, or the error that says why there is none; None if the
        session has to send it."""
        origin = "/".join(request.address.split("/", 3)[:3])
        plain = type(session) is ServiceSession and type(session.auth) in (type(None), tuple)
        plain = plain and type(session.get_adapter(origin)) is DeadlineAdapter
        others = (session.cert, session.proxies, session.cookies, session.params)
        unmapped = any((*others, *session.hooks.values()))  # in libcurl
        if pycurl is None or not plain or unmapped or origin in self._unsuitable:
            return None
        settings = timeout, session.verify, session.auth, session.trust_env, {**session.headers}
        known, handle = self.handles.pop(origin, (None, None))
        # What waits on an idle connection would be taken for the next response.
        pending = handle and handle.socket >= 0 and wait_for_read(handle.socket, timeout=0)
        try:
            if handle is None or known != settings or pending:
                handle = _Handle(session, origin, timeout)
            response = handle.get(request, timeout)
        except (NotImplementedError, UnicodeError):  # pycurl takes and gives ASCII only
            self._unsuitable.add(origin)
            return None
        # After a failure or Ctrl-C a new one reads the environment's proxies and certificates.
        if isinstance(response, Response):
            self.handles[origin] = settings, handle
        return response


class _Handle:
    """An easy handle with one connection to an origin; NotImplementedError: it cannot replace the
    session."""

    def __init__(
        self, session: requests.Session, origin: str, timeout: tuple[float, float]
    ) -> None:
        self.curl = pycurl.Curl()
        self.socket: Any = -1
        self._multi: Any = None  # of the main thread; it keeps the connection
        merged = session.merge_environment_settings(origin, {}, True, session.verify, None)
        if select_proxy(origin, merged["proxies"]):
            raise NotImplementedError
        headers = session.prepare_request(requests.Request("GET", origin)).headers
        headers.pop("Accept-Encoding", None)  # libcurl may lack those that need an extra package
        lines = [
            b": ".join(part if isinstance(part, bytes) else part.encode("latin-1") for part in pair)
            for pair in headers.items()
        ]
        options = {
            pycurl.HTTPHEADER: lines,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            pycurl.NOSIGNAL: 1,
            pycurl.MAXCONNECTS: 1,
            pycurl.COOKIEFILE: "",  # no file: notes cookies that the service sets
            pycurl.PROXY: "",  # none, whatever the environment says
            pycurl.CONNECTTIMEOUT_MS: max(1, round(1000 * timeout[0])),
            # Connected and silent for so long; the timeout below may include connecting.
            pycurl.LOW_SPEED_LIMIT: 1,
            pycurl.LOW_SPEED_TIME: max(1, math.ceil(timeout[1])),
            pycurl.ACCEPT_ENCODING: "gzip, deflate",
        }
        if merged["verify"] is False:
            options |= {pycurl.SSL_VERIFYPEER: 0, pycurl.SSL_VERIFYHOST: 0}
        else:  # this file or folder instead of libcurl's default
            path = merged["verify"] if isinstance(merged["verify"], str) else DEFAULT_CA_BUNDLE_PATH
            options[pycurl.CAPATH if Path(path).is_dir() else pycurl.CAINFO] = path
        for option, value in options.items():
            self.curl.setopt(option, value)

    def get(
        self, request: PreparedRequest, timeout: tuple[float, float]
    ) -> Response | TransportError | None:
        """Return the response, or the error that says why there is none; None if the request could
        not be sent."""
        curl, body = self.curl, io.BytesIO()
        curl.setopt(pycurl.URL, request.url)
        # Returning 0 ends a transfer that is too large.
        curl.setopt(pycurl.WRITEFUNCTION, lambda part: body.tell() <= LARGEST and body.write(part))
        # libcurl has one timeout for connecting and reading together.
        seconds = timeout[1] if self.socket >= 0 else sum(timeout)
        curl.setopt(pycurl.TIMEOUT_MS, max(1, round(1000 * seconds)))
        code, message = self._perform()
        self.socket = -1 if code else curl.getinfo(pycurl.ACTIVESOCKET)
        status, content = curl.getinfo(pycurl.RESPONSE_CODE), body.getvalue()
        body.close()  # the handle keeps it until the next call
        if len(content) > LARGEST:
            return no_response("large", message, request.address, timeout)
        retry_after = curl.getinfo(_RETRY_AFTER) if status in (BUSY, UNAVAILABLE) else 0
        if (
            code in _STRANGE  # which the session may read, or else explains
            or retry_after == _LONGEST_WAIT  # or longer
            or curl.getinfo(pycurl.INFO_COOKIELIST)  # the session has to keep and send them
        ):
            raise NotImplementedError
        if not code or (status and code in _CUT):
            content_type = curl.getinfo(pycurl.CONTENT_TYPE) or ""
            location = curl.getinfo(pycurl.REDIRECT_URL)
            target = redirect_target(request.address, location) if location else ""
            return Response(status, content, not code, str(retry_after or ""), content_type, target)
        sent = curl.getinfo(pycurl.REQUEST_SIZE) > 0
        if code == _TOO_LATE:
            connected = sent or curl.getinfo(pycurl.NUM_CONNECTS)
            obstacle = "unfinished" if status else "unanswered" if connected else "unreached"
        elif not sent:
            return None
        else:  # an alert: a client certificate is missing, for example
            obstacle = "tls" if " alert " in message else _OBSTACLES.get(code, "broken")
        return no_response(obstacle, message, request.address, timeout, connected=sent)

    def _perform(self) -> tuple[int, str]:
        """Make the transfer; return libcurl's code, 0 for success, and its message."""
        if threading.current_thread() is not threading.main_thread():
            try:
                self.curl.perform()
            except pycurl.error as error:
                return error.args[0], error.args[1]
            return 0, ""
        # In the main thread `perform` would delay Ctrl-C until its end.
        multi = self._multi = self._multi or pycurl.CurlMulti()
        multi.add_handle(self.curl)
        try:
            while multi.perform()[1]:
                if multi.select(1.0) < 0:  # no socket yet: the name is being resolved
                    time.sleep(0.005)
            failures = multi.info_read()[2]
        finally:
            multi.remove_handle(self.curl)
        return failures[0][1:] if failures else (0, "")
