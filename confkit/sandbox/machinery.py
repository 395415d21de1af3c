"""The machinery behind the rooms: licence, media server, device service."""

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from ..rtsp.ports import stop_accepting
from .sockets import share

DeviceServiceState = Literal["running", "stopped", "hanging"]
DEVICE_SERVICE_STATES: tuple[str, ...] = get_args(DeviceServiceState)


@dataclass
class Licence:
    """What the licence allows: seats over all rooms (`math.inf`: any number), and peer-to-peer."""

    seats: float = math.inf
    expired: bool = False
    peer_to_peer: bool = True

    def change(self, given: Mapping[str, Any]) -> None:
        """Sets what is given, and leaves what is None."""
        for name, value in given.items():
            if value is not None:
                setattr(self, name, value)


class MediaServer:
    """The MCU: a TCP listener that takes connections, says nothing and holds them, the newest."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._server: asyncio.Server | None = None
        self._held: dict[asyncio.BaseTransport, None] = {}
        self._most = share(20, 200)
        self.port = 0

    @property
    def up(self) -> bool:
        """Whether it answers."""
        return self._server is not None

    async def start(self) -> None:
        """Opens the listener, on the port that it had before where that is free."""
        if self._server:
            return
        loop = asyncio.get_running_loop()
        if self.port:
            with suppress(OSError):
                self._server = await loop.create_server(self._line, self._host, self.port)
        if not self._server:
            self._server = await loop.create_server(self._line, self._host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Closes the listener and every connection to it."""
        server, self._server = self._server, None
        if server:
            await stop_accepting(server)
            server.close()
            for transport in list(self._held):
                transport.close()
            await server.wait_closed()

    def _line(self) -> asyncio.Protocol:
        return _Line(self._held, self._most)


class _Line(asyncio.Protocol):
    def __init__(self, held: dict[asyncio.BaseTransport, None], most: int) -> None:
        self._held, self._most = held, most

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._held[transport] = None
        if len(self._held) > self._most:
            oldest = cast("asyncio.Transport", next(iter(self._held)))
            del self._held[oldest]
            oldest.abort()

    def connection_lost(self, _: Exception | None) -> None:
        self._held.pop(self._transport, None)
