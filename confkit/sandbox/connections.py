"""A caller's connection, bounded in the size and in the time of what comes on it."""

import asyncio
import importlib
import logging
from typing import Any

from .callers import Callers

HEAD_BYTES = 64 * 1024  # a longer request line, or longer headers, are refused
HEADERS = 200  # more of them are refused
LINGER = 2.0  # seconds in which a refused caller may finish sending and read why
AHEAD = 64  # requests that a caller may send before the first of them is answered
_PIECE = 16 * 1024  # bytes that are read at once

# What uvicorn says of malformed requests goes here; nothing is printed unless somebody listens.
log = logging.getLogger("confkit.sandbox.http")
log.addHandler(logging.NullHandler())


def protocol(callers: Callers) -> type[asyncio.Protocol]:
    """uvicorn's protocol, the fast one where it is installed, with our limits and our log.

    It logs no access (URLs hold tokens), and gives the app its transport, to drop a connection.
    """
    fast = True
    try:
        base: Any = importlib.import_module("uvicorn.protocols.http.httptools_impl")
        base = base.HttpToolsProtocol
    except ImportError:
        fast = False
        base = importlib.import_module("uvicorn.protocols.http.h11_impl").H11Protocol

    class Protocol(base):  # type: ignore[misc]  # the base is known at run time only
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.logger = log
            self.access_log = False
            self._size = self._lines = self._loose = 0
            self._in_head = fast  # h11 bounds by itself what it has not told of
            self._refused = False
            self._owed: tuple[int, str] | None = None  # a refusal whose turn has not come
            self._timer: asyncio.TimerHandle | None = None
            self._reading: asyncio.TimerHandle | None = None  # the caller, an answer

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            transport.set_write_buffer_limits(_PIECE)
            self.app_state: dict[str, Any] = {**self.app_state, "transport": transport}
            room = callers.room()
            callers.open.add(self)
            callers.waits(self)
            if room:
                self._after(self.app.patience, self._late)
            else:
                self._refuse(503, "as many callers as there may be are being answered")

        def connection_lost(self, error: Exception | None) -> None:
            callers.gone(self)
            self._after(0, None)
            self._read()
            super().connection_lost(error)

        def data_received(self, data: bytes) -> None:
            for start in range(0, len(data), _PIECE):
                if self._refused:  # the rest of a refused request is not looked at
                    return
                piece = data[start : start + _PIECE]
                super().data_received(piece)
                # httptools tells of a header when it is whole; until then nobody has measured it.
                self._loose = self._loose + len(piece) if self._in_head else 0
                if self._loose > HEAD_BYTES + _PIECE:
                    self._size = self._loose
                    self.send_400_response("")
            if self._answering():
                if not self.cycle.more_body:
                    callers.idle.pop(self, None)
            elif self._timer is None and not self._refused:
                self._after(self.app.patience, self._late)

        def on_response_complete(self) -> None:
            if self._refused and not self._owed:
                return  # what was asked before that has no answer any more
            super().on_response_complete()
            if self._answering():
                return
            callers.waits(self)
            if self._owed and not self.transport.is_closing():
                self._refuse(*self._owed)
            elif self.transport.is_closing():
                self._after(self.app.patience, self.transport.abort)
            elif self.cycle.more_body:  # answered before all of it was there
                self._after(LINGER, self._end)
            elif self._in_head:  # the next one has begun to come
                self._after(self.app.patience, self._late)
            else:
                self._after(0, None)

        def timeout_keep_alive_handler(self) -> None:
            self._end()

        def pause_writing(self) -> None:
            super().pause_writing()
            callers.unread[self] = None
            self._watch(self.transport.get_write_buffer_size())
            callers.relieve()

        def resume_writing(self) -> None:
            super().resume_writing()
            callers.unread.pop(self, None)
            self._read()

        def send_400_response(self, _: str) -> None:
            if self._refused:
                return
            long = self._size > HEAD_BYTES
            wrong, why = self.app.wrong, "the request line and headers are too long"
            if self._lines > HEADERS:
                why = f"there are more than {HEADERS} headers"
            elif not long:
                wrong, why = 408, "no HTTP request"
            broken = self.cycle is not None and self.cycle.more_body  # the body of the last one
            self._refused = True
            if broken and not self._answering():
                self._end()  # it has had its answer
            elif not broken and self._answering():
                self._owed = wrong, why  # those before it are answered first
            else:
                self._refuse(wrong, why)

        # httptools has no limits of its own (h11 has). What these raise becomes HTTP 400.
        def on_message_begin(self) -> None:
            self._size = self._lines = self._loose = 0
            self._in_head = True
            if len(self.pipeline) > AHEAD:
                raise ValueError("too many requests before the first is answered")
            super().on_message_begin()

        def on_url(self, url: bytes) -> None:
            self._measure(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._lines += 1
            self._measure(len(name) + len(value) + 4)
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._in_head = False
            self._after(0, None)
            super().on_headers_complete()

        def _measure(self, size: int) -> None:
            self._size += size
            if self._size > HEAD_BYTES or self._lines > HEADERS:
                raise ValueError("the request line or the headers are too long")

        def _answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _late(self) -> None:
            self._timer = None
            if not self._answering():
                if self._size or self._loose:
                    self._refuse(408, f"the request did not come within {self.app.patience:g} s")
                else:
                    self._end()

        def _refuse(self, ret: int, why: str) -> None:
            self._refused = True
            if self._answering():
                self.cycle.disconnected = True  # this is its answer, and the only one
                self.cycle.message_event.set()
            body = self.app.unreadable(ret, why)
            status = "503 Service Unavailable" if ret == 503 else "400 Bad Request"
            head = (
                f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            # Closed at once, a caller that still sends would see a reset instead of the answer.
            self._after(LINGER, self._end)

        def _end(self) -> None:
            """Closes, and lets go of a caller who does not read what he was sent."""
            self._after(LINGER, self.transport.abort)
            self.transport.close()

        def _after(self, seconds: float, act: Any) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self.loop.call_later(seconds, act) if act else None

        def _watch(self, before: int) -> None:
            self._reading = self.loop.call_later(self.app.patience, self._look, before)

        def _look(self, before: int) -> None:
            now = self.transport.get_write_buffer_size()
            if now < before:
                self._watch(now)
            else:
                self.transport.abort()

        def _read(self) -> None:
            if self._reading is not None:
                self._reading.cancel()
                self._reading = None

    return Protocol
