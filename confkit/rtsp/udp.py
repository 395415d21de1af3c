"""Pairs of UDP ports, as RTP and RTCP want them: an even one and the next."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

_ATTEMPTS = 50


class PortPair(asyncio.DatagramProtocol):
    """Two open UDP ports; `port` is the even one, for RTP. What comes to the other is left there:
    a port that is closed would tell its sender so."""

    def __init__(
        self, even: socket.socket, odd: socket.socket, received: Callable[[bytes, str], None]
    ) -> None:
        self.port = int(even.getsockname()[1])
        self._even, self._odd = even, odd
        self._received = received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready to receive."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Hand on what comes."""
        self._received(data, addr[0])

    def send(self, packet: bytes, target: tuple[str, int]) -> None:
        """Send from the even port; what the system cannot take at once is lost, never kept."""
        with suppress(OSError):
            self._even.sendto(packet, target)

    def close(self) -> None:
        """Close both ports."""
        self._transport.close()
        self._odd.close()


async def open_ports(
    host: str, received: Callable[[bytes, str], None] = lambda _data, _host: None
) -> PortPair:
    """Return a pair of ports; `received(data, host)` is called for what arrives at the even one.

    Raises OSError when no pair is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in range(_ATTEMPTS):
        even, odd = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
        with suppress(OSError):  # the neighbour is taken: try another pair
            even.bind((host, 0))
            ports = PortPair(even, odd, received)
            if ports.port % 2 == 0:
                odd.bind((host, ports.port + 1))
                loop = asyncio.get_running_loop()
                await loop.create_datagram_endpoint(lambda: ports, sock=even)  # noqa: B023
                return ports
        even.close()
        odd.close()
    raise OSError("No pair of UDP ports is free.")
