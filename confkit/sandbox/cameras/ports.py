"""TCP ports: those that hold whoever comes, and those that are no cameras (closed, crowded)."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol, cast

_TURNS = 5  # of the loop, more than an accepted connection needs to be made
_TLS_SECONDS = 5.0  # for a handshake


class Caller(asyncio.Protocol):
    """Somebody who is connected to a `Listener`; nothing is said."""

    held: set[Caller]
    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be known to the listener."""
        self.transport = cast("asyncio.Transport", transport)  # of uvloop: its own class
        self.held.add(self)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Be forgotten."""
        self.held.discard(self)


class Port(Protocol):
    """A port in use; `stop` gives it back."""

    port: int

    async def stop(self) -> None:
        """Give it back."""


class Listener:
    """A TCP port that holds its callers, from `start` to `stop`; port 0 takes a free one.

    With `tls`, a server's context, they are spoken to by TLS."""

    def __init__(
        self,
        host: str,
        caller: Callable[[], Caller] = Caller,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.port = port
        self._host = host
        self._caller = caller
        self._tls: dict[str, Any] = (
            {"ssl": tls, "ssl_handshake_timeout": _TLS_SECONDS} if tls else {}
        )
        self._server: asyncio.Server | None = None
        self._held: set[Caller] = set()

    @property
    def up(self) -> bool:
        """Whether it answers."""
        return self._server is not None

    async def start(self) -> None:
        """Listen, on the port that it had before; raises OSError when that is taken."""
        if not self._server:
            create = asyncio.get_running_loop().create_server
            self._server = await create(self._made, self._host, self.port, **self._tls)
            self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Listen no more, and end every connection."""
        server, self._server = self._server, None
        if server:
            await stop_accepting(server)
            server.close()
            for caller in list(self._held):
                caller.transport.abort()
            while self._held:
                await asyncio.sleep(0)

    def _made(self) -> Caller:
        made = self._caller()
        made.held = self._held
        return made


async def stop_accepting(server: asyncio.Server) -> None:
    """Let nobody new in, and return once those who have just come in are known.

    asyncio loses a connection, which then stays open, whose server closes as it accepts it.
    """
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        with suppress(NotImplementedError):  # Windows accepts in another way
            loop.remove_reader(listener.fileno())
    for _ in range(_TURNS):
        await asyncio.sleep(0)


Opener = Callable[[str], Awaitable[Port]]


async def refusing(host: str) -> Port:
    """Return a port at which nothing listens, and which nobody else can take meanwhile."""
    return _Sockets(bound_socket(host))


async def unanswering(host: str) -> Port:
    """Return a port that listens and whose queue is full: Linux then drops every further SYN."""
    listener = bound_socket(host)
    listener.listen(0)
    callers = [_socket(host) for _ in range(2)]  # one fills the queue, one to be sure
    for caller in callers:
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
    return _Sockets(listener, *callers)


def talking(answer: bytes = b"") -> Opener:
    """Return the opener of a port that answers whatever comes, and closes; or says nothing."""

    class Talker(Caller):
        def data_received(self, _data: bytes) -> None:
            if answer:
                self.transport.write(answer)
                self.transport.close()

    async def opened(host: str) -> Port:
        listener = Listener(host, Talker)
        await listener.start()
        return listener

    return opened


class _Sockets:
    def __init__(self, *sockets: socket.socket) -> None:
        self.port = sockets[0].getsockname()[1]
        self._sockets = sockets

    async def stop(self) -> None:
        for each in self._sockets:
            each.close()


def _socket(host: str) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)


def bound_socket(host: str) -> socket.socket:
    """Return a socket bound to a free TCP port."""
    bound = _socket(host)
    bound.bind((host, 0))
    return bound
