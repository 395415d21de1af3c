"""A connection to a camera: name, TCP and TLS, then requests, answers and interleaved frames."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, cast

from .address import Address
from .message import Frame, Header, MalformedMessage, Parser, Request, Response
from .refusal import PullRefused, connection_refusal

# One of several addresses of a name gets so many seconds before the next is tried.
_PATIENCE = 4.0
_RESET = 0.05  # seconds on the way, at most, for a peer's word that it has closed already
_FAREWELL = 0.5  # seconds for a TLS peer to say goodbye
# The more a failure tells about the camera, the sooner it is the one to report.
_TELLING = ("dns_failed", "unreachable", "connect_timeout", "refused", "rtsp_silent")

Target = tuple[socket.AddressFamily, tuple[Any, ...]]


class Connection(asyncio.Protocol):
    """The client's end of one connection; what is sent is a request, and answered in turn.

    `closed` becomes the reason when the connection is gone, `unread` tells then that the peer did
    not read what was sent last; `malformed` is set when it does not speak RTSP, `heard` once it has
    sent a byte; `parser` holds what of an answer has come.
    """

    def __init__(self, received: Callable[[Frame], None] = lambda _frame: None) -> None:
        """Prepare a connection; `received` takes the interleaved frames."""
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[str] = self._loop.create_future()
        self.parser = Parser(resync=True)
        self.heard = self.unread = False
        self.malformed: MalformedMessage | None = None
        self._received = received
        self._sequence = 0
        self._answer: asyncio.Future[Response | None] = self._loop.create_future()
        self._answer.set_result(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready to send."""
        self._transport = cast("asyncio.Transport", transport)  # of uvloop: its own class

    def data_received(self, data: bytes) -> None:
        """Hand on what is complete."""
        self.heard = True
        try:
            for message in self.parser.feed(data):
                if isinstance(message, Frame):
                    self._received(message)
                # "100 Continue" announces the answer. CSeq is not looked at: some cameras count in
                # their own way, or not at all.
                elif isinstance(message, Response) and message.status >= 200:
                    self._take(message)
        except MalformedMessage as error:
            self.malformed = error
            self._transport.abort()

    def eof_received(self) -> bool:
        """Where an answer is due, wait a moment for the peer to say that it read no request."""
        if self._answer.done():
            return False
        self._loop.call_later(_RESET, self._transport.close)
        return self._transport.get_extra_info("sslcontext") is None  # TLS knows no half of an end

    def connection_lost(self, exc: Exception | None) -> None:
        """Say why in `closed`."""
        reason = (
            "The connection to the camera broke." if exc else "The camera closed the connection."
        )
        if self.malformed:
            reason = "The camera sent something that is not RTSP."
        self.unread |= exc is not None
        ours = self._transport.get_extra_info("socket")  # TLS has let go of it
        with suppress(OSError, TypeError):  # uvloop's sockets have no options to ask for
            # It had closed before what came then, and has reset the connection.
            self.unread |= bool(ours) and ours.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
        self.closed.set_result(reason)
        self._take(None)

    def host(self, side: str) -> str:
        """Return the IP address of a side: "sockname" is ours, "peername" the camera's."""
        return str(self._transport.get_extra_info(side)[0])

    def send(self, method: str, url: str, *headers: Header) -> None:
        """Send a request; its answer may come."""
        self._sequence += 1
        numbered = (("CSeq", str(self._sequence)), ("User-Agent", "confkit"), *headers)
        self._transport.write(Request(method, url, headers=numbered).encode())

    async def exchange(self, method: str, url: str, *headers: Header) -> Response | None:
        """Return the answer to a request, or None when the connection closes instead."""
        self.unread = self._transport.is_closing()
        if self.unread:
            await asyncio.wait({self.closed})
            return None
        self._answer = self._loop.create_future()
        self.send(method, url, *headers)
        return await self._answer

    def release(self) -> None:
        """Close the connection without waiting; a peer that does not read cannot hold it open."""
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()

    def _take(self, answer: Response | None) -> None:
        if not self._answer.done():
            self._answer.set_result(answer)


async def talk(
    opened: socket.socket,
    made: Callable[[], Connection] = Connection,
    host: str = "",
    verify: bool | str = True,
) -> Connection:
    """Return the connection over a connected socket, encrypted where its `host` is given; raises
    PullRefused. `verify` is as in requests: True, False or the path of certificates to trust."""
    tls: dict[str, Any] = {}
    if host:
        tls = {
            "ssl": _trusted(verify),
            "server_hostname": host.partition("%")[0],
            "ssl_shutdown_timeout": _FAREWELL,
        }
    try:
        _, connection = await asyncio.get_running_loop().create_connection(made, sock=opened, **tls)
    except OSError as error:
        raise connection_refusal(error, encrypted=bool(host)) from error
    return connection


async def speaks_tls(address: Address, seconds: float) -> bool:
    """Return whether something at this address answers an encrypted greeting."""
    try:
        async with asyncio.timeout(seconds):
            with await dial(await look_up(address.host, address.port)) as opened:
                connection = await talk(opened, host=address.host, verify=False)
                connection.release()
                await asyncio.wait({connection.closed})
    except TimeoutError:
        return False
    except PullRefused as refusal:  # an alert is an answer too; plain text is that of a plain port
        return "ALERT" in (getattr(refusal.__cause__, "reason", "") or "").upper()
    return True


def _trusted(verify: bool | str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    except OSError:
        raise PullRefused("tls_failed", "The certificates to trust cannot be read.") from None
    if verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def look_up(host: str, port: int) -> list[Target]:
    """Return the addresses of a host; a lookup that hangs is left to its thread, not waited for."""
    found = _addresses(host, port, socket.AI_NUMERICHOST)
    if not found:
        answer: Future[list[Target]] = Future()
        answer.set_running_or_notify_cancel()  # it comes, even where nobody waits any more

        def ask() -> None:
            answer.set_result(_addresses(host, port))

        threading.Thread(target=ask, name=f"look up {host}", daemon=True).start()
        found = await asyncio.wrap_future(answer)
    if not found:
        raise PullRefused("dns_failed", f"The host name {host} has no address.")
    return found


def _addresses(host: str, port: int, flags: int = 0) -> list[Target]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError):  # Unicode: a host name that IDNA cannot encode
        return []
    return [(family, target) for family, _, _, _, target in found]


async def dial(targets: list[Target]) -> socket.socket:
    """Return a connected socket; asyncio's own attempt hides why each address failed."""
    refusals = []
    for number, (family, target) in enumerate(targets, 1):
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            opened.setblocking(False)
            async with asyncio.timeout(_PATIENCE if number < len(targets) else None):
                await asyncio.get_running_loop().sock_connect(opened, target)
        except BaseException as error:
            opened.close()
            if not isinstance(error, OSError):
                raise
            refusals.append(connection_refusal(error, encrypted=False))
        else:
            return opened
    raise max(refusals, key=lambda refusal: _TELLING.index(refusal.verdict))
