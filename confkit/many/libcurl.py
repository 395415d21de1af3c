"""Moves requests with libcurl, driven by socket events in one thread.

The requests session stays what people configure: its settings are read from it for each kind of
request. What has no counterpart in libcurl (an adapter, callable authentication or hooks of one's
own) is left to the session itself, in threads, with the same outcomes.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy

from ..errors import ConfigError
from ..secret import mask
from ..transport import LARGEST, DeadlineAdapter, headers_of, no_answer, obstacle_of
from ..wire import BUSY, UNAVAILABLE, Answer, Request, encode
from .queue import LONGEST

if TYPE_CHECKING:
    from ..attempt import Attempt, Context
    from ..errors import TransportError
    from ..wire import Written

try:
    pycurl: Any = import_module("pycurl")
    _RETRY_AFTER = pycurl.RETRY_AFTER
except (ImportError, AttributeError):  # without it, or older: the session in threads does the same
    pycurl = None

FEW = 8  # answers that are read before the next requests leave
LOOK = 0.1  # seconds between two looks for what is late


def options_of(context: Context, written: Written) -> dict[int, Any] | None:
    """What the session says about an address, as options of libcurl, those that are None unset;
    None where libcurl cannot stand in for it."""
    session = context.session
    plain = type(session) is requests.Session and type(session.auth) in (type(None), tuple)
    if pycurl is None or not plain or any(session.hooks.values()) or session.params:
        return None
    if type(session.get_adapter(written.address)) is not DeadlineAdapter:
        return None
    request = requests.Request(written.method, written.address, headers=headers_of(written))
    prepared = session.prepare_request(request)  # login and cookies of the session are in it
    merged = session.merge_environment_settings(
        written.address, {}, True, session.verify, session.cert
    )
    proxy = select_proxy(written.address, merged["proxies"]) or ""
    if "://" in proxy and not proxy.lower().startswith(("http://", "https://")):
        return None  # SOCKS, for which requests wants a package of its own
    # Empty: not libcurl's own wait before a large body, nor its own type of a POST's.
    headers = {"expect": "", "content-type": ""}
    headers |= {name.lower(): _plain(value) for name, value in prepared.headers.items()}
    encodings = headers.pop("accept-encoding", "identity").replace(",", " ").split()
    headers.pop("content-length", None)
    options = {
        pycurl.HTTPHEADER: [
            f"{name}: {value}" if value else f"{name}:" for name, value in headers.items()
        ],
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.NOSIGNAL: 1,
        pycurl.PROXY: proxy,  # empty: none, whatever the environment says
        pycurl.NOPROXY: "",  # the session knows who needs none
        pycurl.CONNECTTIMEOUT_MS: max(1, round(1000 * context.timeout[0])),
        pycurl.TIMEOUT_MS: max(1, round(1000 * sum(context.timeout))),
        # Of what the session can unpack, with the packages that are there, libcurl surely can this.
        pycurl.ACCEPT_ENCODING: ", ".join(name for name in encodings if name not in ("br", "zstd")),
    }
    if merged["verify"] is False:
        options |= {pycurl.SSL_VERIFYPEER: 0, pycurl.SSL_VERIFYHOST: 0}
    else:  # this file or folder, and not what libcurl would trust by itself
        given = merged["verify"]
        bundle = given if isinstance(given, str) else DEFAULT_CA_BUNDLE_PATH
        trusted = (None, bundle) if Path(bundle).is_dir() else (bundle, None)
        places = (pycurl.CAINFO, pycurl.CAPATH, pycurl.PROXY_CAINFO, pycurl.PROXY_CAPATH)
        options |= zip(places, trusted * 2, strict=True)
    if cert := merged["cert"]:
        names = (pycurl.SSLCERT, pycurl.SSLKEY)
        options |= zip(names, [cert] if isinstance(cert, str) else cert, strict=False)
    if written.method == "POST":
        options[pycurl.POSTFIELDS] = ""
    return options


def _plain(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


_CONNECT, _LATE, _SEND, _RECEIVE = 7, 28, 55, 56  # codes of libcurl
_CUT = (18, 23, _RECEIVE, 61)  # after the head: the body ends early, or cannot be unpacked


class _Road:
    """The way of one operation with one token: what its handles are set to, how its URLs begin
    (with the token, which takes longest to encode), and the lines that are free."""

    def __init__(self, context: Context, attempt: Attempt) -> None:
        self.token = attempt.token  # whose id is the road's, so it is kept
        written = context.written(Request(attempt.request.endpoint, {}), self.token)
        options = options_of(context, written)
        if options is None:
            raise ConfigError(
                "the session was changed while its requests were under way", "Change it before."
            )
        self.options, self.address, self.url = options, written.address, written.url
        self.in_query = written.placement == "query"
        self.free: list[_Line] = []


class _Line:
    """One easy handle, and the attempt that is or was under way on it, since when."""

    __slots__ = ("attempt", "began", "curl", "parts", "road", "size")

    def __init__(self, road: _Road, opened: Callable[..., int]) -> None:
        self.road, self.curl = road, pycurl.Curl()
        for option, value in road.options.items():
            if value is None:
                self.curl.unsetopt(option)
            else:
                self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._take)
        self.curl.setopt(pycurl.SOCKOPTFUNCTION, opened)

    def begin(self, attempt: Attempt) -> None:
        """Carry another attempt."""
        self.attempt, self.size, self.began = attempt, 0, time.monotonic()
        self.parts: list[bytes] = []
        road, parameters = self.road, attempt.request.parameters
        more = f"&{encode(parameters)}" if road.in_query and parameters else ""
        self.curl.setopt(pycurl.URL, road.url + more)
        if not road.in_query:
            body = attempt.context.written(attempt.request, road.token).body
            self.curl.setopt(pycurl.POSTFIELDS, body)

    def _take(self, part: bytes) -> int | None:
        self.parts.append(part)
        self.size += len(part)
        return 0 if self.size > LARGEST else None  # 0 ends the transfer

    def landed(self, code: int, told: str) -> Answer | TransportError:
        """Return what the transfer brought: libcurl's code, 0 when all went well, and its words."""
        attempt, status = self.attempt, self.curl.getinfo(pycurl.RESPONSE_CODE)
        if not code or (status and code in _CUT and self.size <= LARGEST):
            later = str(self.curl.getinfo(_RETRY_AFTER)) if status in (BUSY, UNAVAILABLE) else ""
            return Answer(status, "", b"".join(self.parts), attempt.secrets, not code, later)
        number = self.curl.getinfo(pycurl.OS_ERRNO)
        obstacle = self._obstacle(code, status, number, told)
        why = os.strerror(number) if number else mask(told, *attempt.secrets) or f"libcurl: {code}"
        timeout = attempt.context.timeout
        return no_answer(obstacle, self.road.address, timeout, attempt.secrets, why)

    def _obstacle(self, code: int, status: int, number: int, told: str) -> str:
        """The name by which `no_answer` knows what happened."""
        curl = self.curl
        if self.size > LARGEST:
            return "large"
        if code == _LATE and status:
            return "unfinished"
        if code == _LATE:
            connected = curl.getinfo(pycurl.NUM_CONNECTS) or curl.getinfo(pycurl.REQUEST_SIZE)
            return "unanswered" if connected else "unreached"
        through = self.road.options[pycurl.PROXY]
        if curl.getinfo(pycurl.HTTP_CONNECTCODE) >= 300 or (through and code == _CONNECT):
            return "proxy"
        if code not in (_CONNECT, _SEND, _RECEIVE):
            return obstacle_of({code})
        kind = type(OSError(number, "")).__name__  # as Python would call it
        tls = code != _CONNECT and kind == "OSError" and "SSL" in told
        return "tls" if tls else obstacle_of({code, kind})


class Libcurl:
    """Moves what is started, on up to `most` connections: a multi handle on a selector."""

    def __init__(self, context: Context, most: int) -> None:
        self._context = context
        self._started: list[Attempt] = []
        self._roads: dict[tuple[str, int], _Road] = {}
        self._flying: dict[Any, _Line] = {}
        self._selector = selectors.DefaultSelector()
        # Only this one forgets by itself what is closed; nothing else says when libcurl closes.
        self._forgets = type(self._selector).__name__ == "EpollSelector"
        self._watched: dict[int, int] = {}
        self._inodes: dict[int, int] = {}  # of connections
        self._look = 0.0
        self._more = 0  # transfers that have ended, of which `arrived` has not said so yet
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_MAXCONNECTS, most)

    def close(self) -> None:
        """End all transfers. libcurl waits here for look-ups of host names that nobody answers; we
        do not."""
        for curl in self._flying:
            self._multi.remove_handle(curl)
            curl.close()

        def close() -> None:
            self._multi.close()
            self._selector.close()

        closing = threading.Thread(target=close, name="confkit close", daemon=True)
        closing.start()
        closing.join(LONGEST)

    def start(self, attempt: Attempt) -> None:
        """Send a request on its way: it leaves with the next look at what has arrived, as a
        connection is looked at between its answer and its next request."""
        self._started.append(attempt)

    def arrived(self, wait: float) -> Iterator[tuple[Attempt, Answer | TransportError]]:
        """Give the attempts that have ended within `wait` seconds with what came; their handles are
        free for others."""
        ready = self._ready(0.0 if self._started or self._more else wait)
        for attempt in self._started:
            self._begin(attempt)
        self._started.clear()
        if self._multi.timeout() == 0:  # what was started takes its connection now
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        for fd, events in ready:
            self._multi.socket_action(fd, events)
        ended = [(line.curl, _LATE, "") for line in self._late()]
        self._more, done, failed = self._multi.info_read(FEW)
        for curl, code, text in [*ended, *((curl, 0, "") for curl in done), *failed]:
            if line := self._flying.pop(curl, None):
                moved = line.landed(code, text)
                self._multi.remove_handle(curl)
                line.road.free.append(line)
                yield line.attempt, moved

    def _begin(self, attempt: Attempt) -> None:
        # By token, which may have the same text: with a new one may have come other cookies too.
        way = (attempt.request.endpoint.key, id(attempt.token))
        if (road := self._roads.get(way)) is None:
            road = self._roads[way] = _Road(self._context, attempt)
        line = road.free.pop() if road.free else _Line(road, self._opened)
        line.begin(attempt)
        self._flying[line.curl] = line
        self._multi.add_handle(line.curl)

    def _ready(self, wait: float) -> list[tuple[int, int]]:
        """The sockets on which something has happened within `wait` seconds, and what."""
        due = self._multi.timeout()  # in milliseconds; -1 for never
        found = []
        for key, events in self._selector.select(wait if due < 0 else min(wait, due / 1000)):
            if self._watched[key.fd] & pycurl.POLL_REMOVE:
                self._end(key.fd)
            else:
                found.append((key.fd, events))
        return found

    def _late(self) -> list[_Line]:
        """The lines without an answer `read` seconds after the request was sent. libcurl knows only
        one time-out, for connecting and reading together."""
        now, read = time.monotonic(), self._context.timeout[1]
        if now < self._look:
            return []
        self._look = now + LOOK
        late = [line for line in self._flying.values() if now - line.began > read]
        sent = ((line, line.curl.getinfo(pycurl.PRETRANSFER_TIME)) for line in late)
        return [line for line, before in sent if before and now - line.began - before > read]

    def _watch(self, what: int, fd: int, *_: object) -> None:
        """Note what libcurl waits for on a socket: 1 to read, 2 to write, as the selector has it,
        and 4 for no longer.

        A connection that is kept for the next request stays watched: it would be taken out and put
        back for each request, and what comes on it meanwhile would be taken for the next answer."""
        before = self._watched.get(fd, 0)
        if what == pycurl.POLL_REMOVE and fd in self._inodes:
            what |= before
        elif before & 3 != what:
            self._unwatch(fd)
            if what == pycurl.POLL_REMOVE:
                return
            self._selector.register(fd, what)
        self._watched[fd] = what

    def _opened(self, fd: int, _: object) -> int:
        """Note that a socket is new: what was watched under its number is closed."""
        self._unwatch(fd)
        if self._forgets:
            self._inodes[fd] = os.fstat(fd).st_ino
        return 0

    def _unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._selector.unregister(fd)

    def _end(self, fd: int) -> None:
        """Let nothing more come on an idle connection, which is closed, or brought what nobody has
        asked for: libcurl, whose it is, finds it closed."""
        self._unwatch(fd)
        inode = self._inodes.pop(fd)
        # Another has its number where it was closed and a child process has it still.
        with suppress(OSError):
            if os.fstat(fd).st_ino == inode:
                with socket.socket(fileno=os.dup(fd)) as peer:
                    peer.shutdown(socket.SHUT_RDWR)
                    peer.recv(LARGEST, socket.MSG_DONTWAIT)  # what has come could still be read
