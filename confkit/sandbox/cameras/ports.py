"""TCP ports: those that accept and hold connections, and those that are no cameras."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import cast

_TURNS = 5  # of the loop, more than an accepted connection needs to be made


class Caller(asyncio.Protocol):
    """Somebody who is connected to a `Listener`; whatever they say gets these `words` and the end
    of the connection, or is not answered at all."""

    held: set[Caller]
    transport: asyncio.Transport

    def __init__(self, words: bytes = b"") -> None:
        self._words = words

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be known to the listener."""
        self.transport = cast("asyncio.Transport", transport)  # of uvloop: its own class
        self.held.add(self)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Be forgotten."""
        self.held.discard(self)

    def data_received(self, _data: bytes) -> None:
        """Answer, if there is anything to say."""
        if self._words:
            self.transport.write(self._words)
            self.transport.close()


class Listener:
    """A TCP port that holds its callers, from `start` to `stop`; a free one is taken.

    With `tls`, a server's context, they are spoken to by TLS."""

    def __init__(
        self,
        host: str,
        caller: Callable[[], Caller] = Caller,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.port = 0
        self._host = host
        self._caller = caller
        self._tls = tls
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
            self._server = await create(self._made, self._host, self.port, ssl=self._tls)
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


# Opens a port at this host until the stack is closed, and returns its number.
Opener = Callable[[str, AsyncExitStack], Awaitable[int]]


async def refusing(host: str, opened: AsyncExitStack) -> int:
    """A port at which nothing listens, and which nobody else can take meanwhile."""
    bound = opened.enter_context(socket.socket())
    bound.bind((host, 0))
    return int(bound.getsockname()[1])


async def unanswering(host: str, opened: AsyncExitStack) -> int:
    """A port that listens and whose queue is full: Linux then drops every further SYN."""
    listener = opened.enter_context(socket.create_server((host, 0), backlog=0))
    for _ in range(2):  # one fills the queue, one to be sure
        caller = opened.enter_context(socket.socket())
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
    return int(listener.getsockname()[1])


async def talking(host: str, opened: AsyncExitStack, words: bytes = b"") -> int:
    """A port that answers whatever comes, and closes; or says nothing."""
    listener = Listener(host, partial(Caller, words))
    await listener.start()
    opened.push_async_callback(listener.stop)
    return listener.port
