"""Moves the requests of a queue with libcurl, driven by socket events in one thread.

The requests session stays what people configure: its settings are read from it for each kind of
request. What has no counterpart in libcurl (an adapter, callable authentication or hooks of one's
own) is left to the session itself, in threads, with the same outcomes.
"""

from __future__ import annotations

import errno
import math
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy

from ..errors import ConfigError
from ..secret import mask
from ..transport import LARGEST, DeadlineAdapter, headers_of, no_answer
from ..wire import BUSY, UNAVAILABLE, Answer, encode

if TYPE_CHECKING:
    from ..attempt import Attempt, Context
    from ..errors import TransportError
    from ..secret import Secret
    from ..wire import Written
    from .queue import Queue

try:
    pycurl: Any = import_module("pycurl")
    _RETRY_AFTER = pycurl.RETRY_AFTER
except (ImportError, AttributeError):  # without it, or older: the session in threads does the same
    pycurl = None

FEW = 8  # answers that are read before the next requests leave
LOOK = 0.1  # seconds between two looks for what is late
LONGEST = 0.25  # seconds: a wait that sees the end of the call soon


def by_libcurl(queue: Queue, most: int, ended: Callable[[], bool]) -> None:
    """Send all requests of the queue, until each has its outcome or `ended` says so."""
    with closing(_Loop(queue.context, most)) as loop:
        wait = 0.0
        while queue.left and not ended():
            # In this order: a connection is looked at between its answer and its next request.
            ready = loop.ready(wait)
            while (attempt := queue.take()) is not None:
                loop.start(attempt)
            for attempt, moved in loop.arrived(ready):
                queue.put(attempt, moved)
                queue.wait = 0.0
            wait = 0.0 if loop.more else min(LONGEST, queue.wait)


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
        options |= zip((pycurl.CAINFO, pycurl.CAPATH), trusted, strict=True)
        if proxy.startswith("https:"):
            options |= zip((pycurl.PROXY_CAINFO, pycurl.PROXY_CAPATH), trusted, strict=True)
    if cert := merged["cert"]:
        names = (pycurl.SSLCERT, pycurl.SSLKEY)
        options |= zip(names, [cert] if isinstance(cert, str) else cert, strict=False)
    if written.method == "POST":
        options[pycurl.POSTFIELDS] = ""
    return options


def _plain(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


# Codes of libcurl by the obstacle that they mean; names that older versions of pycurl lack are
# written as numbers.
_OBSTACLES = {
    1: "foreign",
    5: "proxy",
    6: "name",
    7: "unreachable",
    8: "broken",
    18: "closed",
    35: "tls",
    51: "certificate",
    52: "closed",
    58: "tls",
    59: "tls",
    60: "certificate",
    77: "tls",
    97: "proxy",
}
_CUT = (18, 23, 56, 61)  # after the head: the body ends early, or cannot be unpacked
_LATE, _CONNECT, _SEND, _RECEIVE = 28, 7, 55, 56


def _obstacle(line: _Line, code: int, told: str, status: int) -> str:
    """The name by which `no_answer` knows what happened to a transfer."""
    curl = line.curl
    if code == _LATE and status:
        return "unfinished"
    if code == _LATE:
        connected = curl.getinfo(pycurl.NUM_CONNECTS) or curl.getinfo(pycurl.REQUEST_SIZE)
        return "unanswered" if connected else "unreached"
    if curl.getinfo(pycurl.HTTP_CONNECTCODE) >= 300 or (
        line.road.options[pycurl.PROXY] and code == _CONNECT
    ):
        return "proxy"
    number = curl.getinfo(pycurl.OS_ERRNO)
    if code == _CONNECT and number == errno.ECONNREFUSED:
        return "refused"
    if code in (_SEND, _RECEIVE) and number in (errno.ECONNRESET, errno.EPIPE):
        return "reset"
    if code in (_SEND, _RECEIVE) and "SSL" in told:
        return "tls"
    return _OBSTACLES.get(code, "broken")


def _inode(fd: int) -> int:
    """Tell a socket from another that has its number later; 0 when it is closed."""
    try:
        return os.fstat(fd).st_ino
    except OSError:
        return 0


def _end(fd: int) -> None:
    """Let nothing more come on this connection: libcurl, whose it is, finds it closed."""
    with suppress(OSError), socket.socket(fileno=os.dup(fd)) as peer:
        peer.shutdown(socket.SHUT_RDWR)
        peer.recv(LARGEST, socket.MSG_DONTWAIT)  # what has come already could still be read


@dataclass(repr=False, slots=True)  # it holds the token
class _Road:
    """The way of one operation with one token: what its handles are set to, how its URLs begin, and
    the lines that are free. The token is kept with it, as its id is the road's."""

    options: dict[int, Any]
    address: str
    opening: str
    token: Secret | None
    free: list[_Line]


def _road(context: Context, attempt: Attempt) -> _Road:
    written = context.written(attempt.request, attempt.token)
    options = options_of(context, written)
    if options is None:
        raise ConfigError(
            "the session was changed while its requests were under way", "Change it before."
        )
    opening = ""
    if written.placement == "query" and attempt.request.parameters:
        # All URLs begin alike, with the token, which takes longest to encode.
        opening = f"{written.address}?{encode({next(iter(written.fields)): attempt.token})}&"
    return _Road(options, written.address, opening, attempt.token, [])


class _Line:
    """One easy handle, and the attempt that is under way on it since when."""

    __slots__ = ("attempt", "began", "busy", "curl", "parts", "road", "size")

    def __init__(self, road: _Road) -> None:
        self.road, self.curl = road, pycurl.Curl()
        self.attempt: Attempt
        self.busy, self.began = False, 0.0
        self.parts: list[bytes] = []
        self.size = 0
        for option, value in road.options.items():
            if value is None:
                self.curl.unsetopt(option)
            else:
                self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._take)

    def begin(self, attempt: Attempt) -> None:
        """Carry another attempt."""
        self.attempt, self.busy, self.size = attempt, True, 0
        self.began = time.monotonic()
        self.parts.clear()
        if self.road.opening:
            self.curl.setopt(pycurl.URL, self.road.opening + encode(attempt.request.parameters))
            return
        written = attempt.context.written(attempt.request, attempt.token)
        self.curl.setopt(pycurl.URL, written.url)
        if (body := written.body) is not None:
            self.curl.setopt(pycurl.POSTFIELDS, body)

    def _take(self, part: bytes) -> int | None:
        self.parts.append(part)
        self.size += len(part)
        return 0 if self.size > LARGEST else None  # 0 ends the transfer

    def landed(self, code: int, told: str) -> Answer | TransportError:
        """Return what came of the transfer: libcurl's code, 0 when all went well, and its words."""
        attempt, status = self.attempt, self.curl.getinfo(pycurl.RESPONSE_CODE)
        secrets, large = attempt.secrets, self.size > LARGEST
        if code and (large or not (status and code in _CUT)):
            obstacle = "large" if large else _obstacle(self, code, told, status)
            number = self.curl.getinfo(pycurl.OS_ERRNO)
            why = os.strerror(number) if number else mask(told, *secrets) or f"libcurl: {code}"
            timeout = attempt.context.timeout
            return no_answer(obstacle, self.road.address, timeout, secrets, why)
        later = str(self.curl.getinfo(_RETRY_AFTER)) if status in (BUSY, UNAVAILABLE) else ""
        return Answer(status, "", b"".join(self.parts), secrets, not code, later)


class _Loop:
    """libcurl's multi handle on a selector."""

    def __init__(self, context: Context, most: int) -> None:
        self._context = context
        self._roads: dict[tuple[str, int], _Road] = {}
        self._lines: dict[Any, _Line] = {}
        self._sockets = _Sockets()
        self._alarm: deque[int] = deque(maxlen=1)  # filled by libcurl, without a line of Python
        self._due = math.inf
        self._look = 0.0
        self.more = 0  # transfers that have ended, of which `arrived` has not said so yet
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._alarm.append)
        self._multi.setopt(pycurl.M_MAXCONNECTS, most)

    def close(self) -> None:
        """End all transfers. libcurl waits here for look-ups of host names that nobody answers; we
        do not."""
        for line in self._lines.values():
            if line.busy:
                self._multi.remove_handle(line.curl)
            line.curl.close()

        def close() -> None:
            self._multi.close()
            self._sockets.close()

        closing = threading.Thread(target=close, name="confkit close", daemon=True)
        closing.start()
        closing.join(LONGEST)

    def start(self, attempt: Attempt) -> None:
        """Send a request on its way."""
        # By token, which may have the same text: with a new one may have come other cookies too.
        way = (attempt.request.endpoint.key, id(attempt.token))
        if (road := self._roads.get(way)) is None:
            road = self._roads[way] = _road(self._context, attempt)
        if road.free:
            line = road.free.pop()
        else:
            line = _Line(road)
            line.curl.setopt(pycurl.SOCKOPTFUNCTION, self._sockets.opened)
            self._lines[line.curl] = line
        line.begin(attempt)
        self._multi.add_handle(line.curl)

    def ready(self, wait: float) -> list[tuple[int, int]]:
        """Return the sockets on which something has happened within `wait` seconds, and what."""
        return self._sockets.ready(min(wait, self._due - time.monotonic()))

    def arrived(
        self, ready: list[tuple[int, int]]
    ) -> Iterator[tuple[Attempt, Answer | TransportError]]:
        """Give the attempts that have ended with what came; their handles are free for others."""
        self._set_alarm()
        if self._due <= time.monotonic():  # what was started takes its connection now
            self._due = math.inf
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        for fd, events in ready:
            self._multi.socket_action(fd, events)
        self._set_alarm()
        ended = [(line.curl, _LATE, "") for line in self._late()]
        self.more, done, failed = self._multi.info_read(FEW)
        for curl, code, told in [*ended, *((curl, 0, "") for curl in done), *failed]:
            line = self._lines[curl]
            if line.busy:
                moved = line.landed(code, told)
                line.busy = False
                self._multi.remove_handle(curl)
                line.road.free.append(line)
                yield line.attempt, moved

    def _late(self) -> Iterator[_Line]:
        """The lines without an answer `read` seconds after the request was sent. libcurl knows only
        one time-out, for connecting and reading together."""
        now = time.monotonic()
        if now < self._look:
            return
        self._look = now + LOOK
        read = self._context.timeout[1]
        for line in self._lines.values():
            if line.busy and now - line.began > read:
                connecting = line.curl.getinfo(pycurl.PRETRANSFER_TIME)
                if connecting and now - line.began - connecting > read:
                    yield line

    def _set_alarm(self) -> None:
        if self._alarm:
            milliseconds = self._alarm.pop()
            due = time.monotonic() + milliseconds / 1000
            self._due = math.inf if milliseconds < 0 else due


class _Sockets:
    """Watches the sockets on which libcurl waits, with as few system calls as possible.

    A connection that is kept for the next request stays watched, where the selector forgets closed
    sockets by itself: it would be taken out and put back for each request, and what comes on it
    meanwhile would be taken for the next answer.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._forgets = type(self._selector).__name__ == "EpollSelector"
        self._watched: dict[int, int] = {}
        self._kept: dict[int, int] = {}  # connections' inodes; other sockets are closed unsaid
        self.close = self._selector.close

    def opened(self, fd: int, _: object) -> int:
        """Note that a socket is new: what was watched under its number is closed."""
        self._unwatch(fd)
        if self._forgets:
            self._kept[fd] = _inode(fd)
        return 0

    def watch(self, what: int, fd: int, *_: object) -> None:
        """Note what libcurl waits for on a socket: 1 to read, 2 to write, as the selector has it,
        and 4 for no longer."""
        before = self._watched.get(fd, 0)
        if what == pycurl.POLL_REMOVE and fd in self._kept:
            what |= before
        elif before & 3 != what:
            self._unwatch(fd)
            if what == pycurl.POLL_REMOVE:
                return
            self._selector.register(fd, what)
        self._watched[fd] = what

    def ready(self, wait: float) -> list[tuple[int, int]]:
        """Return the sockets on which something has happened within `wait` seconds, and what."""
        found = []
        for key, events in self._selector.select(max(0.0, wait)):
            if self._watched[key.fd] & pycurl.POLL_REMOVE:  # closed, or it sent what nobody asked
                if _inode(key.fd) == self._kept[key.fd]:  # else a child process has it still
                    _end(key.fd)
                self._unwatch(key.fd)
                del self._kept[key.fd]
            else:
                found.append((key.fd, events))
        return found

    def _unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._selector.unregister(fd)
