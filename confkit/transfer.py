"""Moves the requests of a batch with libcurl, driven by socket events in one thread.

The requests session stays what people configure: its settings are read from it once a call. What
has no counterpart in libcurl (an adapter, callable authentication or hooks of one's own) is left to
the session itself, in threads, with the same outcomes.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .errors import ConfigError
from .libcurl import Ended, handle, outcome, pycurl, settings_of
from .sockets import Sockets
from .transport import LARGEST
from .wire import BUSY, UNAVAILABLE, Answer

if TYPE_CHECKING:
    from .batch import Batch, Flight
    from .errors import TransportError

LOOK = 0.1  # seconds between two looks for what is late
LATE = 28  # libcurl's code for it
LONGEST = 0.25  # seconds: a wait that sees the end of the call soon


class _Line:
    """One easy handle, and what flies on it since when."""

    __slots__ = ("began", "curl", "flies", "flight", "head", "parts", "proxy", "size")

    def __init__(self, curl: Any, proxy: str) -> None:
        self.curl, self.proxy = curl, proxy
        self.flight: Flight
        self.flies, self.began = False, 0.0
        self.parts: list[bytes] = []
        self.size = 0
        self.head: deque[bytes] = deque(maxlen=100)  # filled by libcurl, without a line of Python
        curl.setopt(pycurl.WRITEFUNCTION, self._take)
        curl.setopt(pycurl.HEADERFUNCTION, self.head.append)

    def begin(self, flight: Flight) -> None:
        """Is ready for another flight."""
        self.flight, self.flies, self.size = flight, True, 0
        self.began = time.monotonic()
        self.parts.clear()
        self.head.clear()

    def retry_after(self) -> str:
        """The header of this name, where one came."""
        lines = (line.partition(b":") for line in self.head)
        found = [value for name, _, value in lines if name.strip().lower() == b"retry-after"]
        return found[-1].decode("latin-1").strip() if found else ""

    def _take(self, part: bytes) -> int | None:
        self.parts.append(part)
        self.size += len(part)
        return 0 if self.size > LARGEST else None  # 0 ends the transfer


def transfer(batch: Batch, most: int, ended: Callable[[], bool]) -> None:
    """Nothing, once every request of the batch has its outcome, or `ended` says so."""
    with _Loop(batch, most) as loop:
        wait = 0.0
        while batch.left and not ended():
            # In this order: a connection is looked at between its answer and its next request.
            ready = loop.ready(wait)
            while (flight := batch.take()) is not None:
                loop.start(flight)
            wait = min(LONGEST, batch.wait)
            for line, code, told in loop.arrived(ready):
                batch.put(line.flight, loop.landed(line, code, told))
                wait = 0.0


class _Loop:
    """libcurl's multi handle on a selector."""

    def __init__(self, batch: Batch, most: int) -> None:
        self._batch = batch
        self._free: dict[tuple[str, int], list[_Line]] = {}
        self._lines: dict[Any, _Line] = {}
        self._sockets = Sockets()
        self._alarm: deque[int] = deque(maxlen=1)  # filled by libcurl, without a line of Python
        self._due = math.inf
        self._look = 0.0
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._alarm.append)
        self._multi.setopt(pycurl.M_MAXCONNECTS, most)

    def __enter__(self) -> _Loop:
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._lines.values():
            if line.flies:
                self._multi.remove_handle(line.curl)
            line.curl.close()
        # libcurl waits here for look-ups of host names that nobody answers; we do not.
        closing = threading.Thread(target=self._close, name="confkit close", daemon=True)
        closing.start()
        closing.join(LONGEST)

    def _close(self) -> None:
        self._multi.close()
        self._sockets.close()

    def start(self, flight: Flight) -> None:
        """Sends a request on its way."""
        free = self._free.get((flight.address, id(flight.token)))
        line = free.pop() if free else self._line(flight)
        line.begin(flight)
        curl = line.curl
        if flight.url is not None:
            curl.setopt(pycurl.URL, flight.url)
        else:
            written = self._batch.context.written(flight.request, flight.token)
            curl.setopt(pycurl.URL, written.url)
            if (body := written.body) is not None:
                curl.setopt(pycurl.POSTFIELDS, body)
        self._multi.add_handle(curl)

    def _line(self, flight: Flight) -> _Line:
        context = self._batch.context
        written = context.written(flight.request, flight.token)
        settings = settings_of(context.session, written)
        if settings is None:
            raise ConfigError(
                "the session was changed while its requests were under way", "Change it before."
            )
        # By token, which may have the same text: with a new one may have come other cookies too.
        self._free.setdefault((flight.address, id(flight.token)), [])
        curl = handle(settings, context.timeout, written.method)
        curl.setopt(pycurl.SOCKOPTFUNCTION, self._sockets.opened)
        line = self._lines[curl] = _Line(curl, settings.proxy)
        return line

    def ready(self, wait: float) -> list[tuple[int, int]]:
        """The sockets on which something has happened within `wait` seconds, and what."""
        return self._sockets.ready(min(wait, self._due - time.monotonic()))

    def arrived(self, ready: list[tuple[int, int]]) -> Iterator[tuple[_Line, int, str]]:
        """The transfers that have ended with what happened: libcurl's code, 0 when all went well,
        and its words."""
        self._set_alarm()
        if self._due <= time.monotonic():  # what was started takes its connection now
            self._due = math.inf
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        for fd, events in ready:
            self._multi.socket_action(fd, events)
        self._set_alarm()
        yield from self._late()
        left = 1
        while left:
            left, done, failed = self._multi.info_read()
            for curl in done:
                yield self._lines[curl], 0, ""
            for curl, code, told in failed:
                yield self._lines[curl], code, told

    def _late(self) -> Iterator[tuple[_Line, int, str]]:
        """The transfers without an answer `read` seconds after they were sent. libcurl knows only
        one time-out, for connecting and reading together."""
        now = time.monotonic()
        if now < self._look:
            return
        self._look = now + LOOK
        read = self._batch.context.timeout[1]
        for line in self._lines.values():
            if line.flies and now - line.began > read:
                connecting = line.curl.getinfo(pycurl.PRETRANSFER_TIME)
                if connecting and now - line.began - connecting > read:
                    yield line, LATE, ""

    def landed(self, line: _Line, code: int, told: str) -> Answer | TransportError:
        """What came of a transfer that has ended; its handle is free for the next."""
        flight, batch, body = line.flight, self._batch, b"".join(line.parts)
        moved: Answer | TransportError
        if code:
            ended = Ended(line.curl, code, told, body, line.proxy)
            moved = outcome(ended, flight.address, batch.context.timeout, batch.secrets)
        else:
            status = line.curl.getinfo(pycurl.RESPONSE_CODE)
            moved = Answer(status, "", body, 0.0, batch.secrets)
        if isinstance(moved, Answer) and moved.status in (BUSY, UNAVAILABLE):
            moved = moved._replace(retry_after=line.retry_after())
        line.flies = False
        self._multi.remove_handle(line.curl)
        self._free[flight.address, id(flight.token)].append(line)
        return moved

    def _set_alarm(self) -> None:
        if self._alarm:
            milliseconds = self._alarm.pop()
            due = time.monotonic() + milliseconds / 1000
            self._due = math.inf if milliseconds < 0 else due
