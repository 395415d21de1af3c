"""TCP ports: those that are no cameras (closed, crowded, something else), and letting go of one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

_TURNS = 5  # of the loop, more than an accepted connection needs to be made


@dataclass(frozen=True)
class Port:
    """A port in use; `close` gives it back."""

    number: int
    close: Callable[[], None]


Opener = Callable[[str], Awaitable[Port]]


async def refusing(host: str) -> Port:
    """Return a port at which nothing listens, and which nobody else can take meanwhile."""
    bound = bound_socket(host)
    return Port(bound.getsockname()[1], bound.close)


async def unanswering(host: str) -> Port:
    """Return a port that listens and whose queue is full: Linux then drops every further SYN."""
    listener = bound_socket(host)
    listener.listen(0)
    callers = [_socket(host) for _ in range(2)]  # one fills the queue, one to be sure
    for caller in callers:
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())

    def close() -> None:
        for each in (*callers, listener):
            each.close()

    return Port(listener.getsockname()[1], close)


def talking(answer: bytes = b"") -> Opener:
    """Return the opener of a port that answers whatever comes, and closes; or says nothing."""

    async def opened(host: str) -> Port:
        connections: set[asyncio.Transport] = set()

        class Talker(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                self._transport = cast("asyncio.Transport", transport)
                connections.add(self._transport)

            def data_received(self, _data: bytes) -> None:
                if answer:
                    self._transport.write(answer)
                    self._transport.close()

            def connection_lost(self, _exc: Exception | None) -> None:
                connections.discard(self._transport)

        server = await asyncio.get_running_loop().create_server(Talker, sock=bound_socket(host))

        def close() -> None:
            server.close()
            for connection in list(connections):
                connection.abort()

        return Port(server.sockets[0].getsockname()[1], close)

    return opened


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


def _socket(host: str) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)


def bound_socket(host: str) -> socket.socket:
    """Return a socket bound to a free TCP port."""
    bound = _socket(host)
    bound.bind((host, 0))
    return bound
