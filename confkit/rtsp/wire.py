"""The client's end of one RTSP connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from .message import Frame, MalformedMessage, Parser, Request, Response


class Wire(asyncio.Protocol):
    """Sends requests, and hands on interleaved frames.

    `closed` becomes the reason when the connection is gone, `malformed` is set when the peer
    does not speak RTSP, `heard` once it has sent a byte.
    """

    closed: asyncio.Future[str]

    def __init__(self, frame_received: Callable[[Frame], None]) -> None:
        self._frame_received = frame_received
        self._parser = Parser(resync=True)
        self._sequence = 0
        self._unanswered: list[int] = []
        self._answer: asyncio.Future[Response] | None = None
        self.heard = False
        self.malformed: MalformedMessage | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready to send."""
        self._transport = cast("asyncio.Transport", transport)  # of uvloop: its own class
        self.closed = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Hand on what is complete."""
        self.heard = True
        try:
            for message in self._parser.feed(data):
                if isinstance(message, Frame):
                    self._frame_received(message)
                elif isinstance(message, Response):
                    self._take(message)
        except MalformedMessage as error:
            self.malformed = error
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Say why in `closed`."""
        reason = "The camera closed the connection."
        if self.malformed:
            reason = "The camera sent something that is not RTSP."
        elif exc:
            reason = "The connection to the camera broke."
        self.closed.set_result(reason)

    @property
    def waiting(self) -> Response | None:
        """The head of a response whose body has not come, or not whole."""
        return self._parser.waiting

    @property
    def rest(self) -> bytes:
        """The first bytes of a message that is not complete."""
        return self._parser.rest

    def host(self, side: str) -> str:
        """Return the IP address of a side: "sockname" is ours, "peername" the camera's."""
        return str(self._transport.get_extra_info(side)[0])

    def send(self, method: str, url: str, *headers: tuple[str, str]) -> None:
        """Send a request whose answer nobody awaits."""
        self._sequence += 1
        self._unanswered = [*self._unanswered[-7:], self._sequence]
        numbered = (("CSeq", str(self._sequence)), ("User-Agent", "confkit"), *headers)
        self._transport.write(Request(method, url, headers=numbered).encode())

    async def exchange(self, method: str, url: str, *headers: tuple[str, str]) -> Response | None:
        """Return the answer to a request, or None when the connection closes instead."""
        self._answer = asyncio.get_running_loop().create_future()
        if not self.closed.done():
            self.send(method, url, *headers)
        either: tuple[asyncio.Future[Any], ...] = (self._answer, self.closed)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return self._answer.result() if self._answer.done() else None

    def release(self) -> None:
        """Close the connection without waiting; a peer that does not read cannot hold it open."""
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()

    def _take(self, response: Response) -> None:
        if 100 <= response.status < 200:  # "100 Continue" announces the answer
            return
        counted = response.get("CSeq").lstrip("0")
        numbers = [number for number in self._unanswered if str(number) == counted]
        if not numbers and len(self._unanswered) == 1:
            numbers = self._unanswered  # some cameras count in their own way, or not at all
        self._unanswered = [number for number in self._unanswered if number not in numbers]
        if self._sequence in numbers and self._answer and not self._answer.done():
            self._answer.set_result(response)
