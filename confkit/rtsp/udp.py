"""Pairs of UDP ports, as RTP and RTCP want them: an even one and the next."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

_ATTEMPTS = 50


@dataclass(frozen=True)
class PortPair:
    """Two open UDP ports; `port` is the even one, for RTP. What comes to the other is left there:
    a port that is closed would tell its sender so."""

    port: int
    rtp: asyncio.DatagramTransport
    rtcp: socket.socket
    _socket: socket.socket

    def send(self, packet: bytes, target: tuple[str, int]) -> None:
        """Send from the even port; what the system cannot take at once is lost, never kept."""
        with suppress(OSError):
            self._socket.sendto(packet, target)

    def close(self) -> None:
        """Close both ports."""
        self.rtp.close()
        self.rtcp.close()


class _Receiver(asyncio.DatagramProtocol):
    def __init__(self, received: Callable[[bytes, str], None]) -> None:
        self._received = received

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._received(data, addr[0])


async def open_ports(
    host: str, received: Callable[[bytes, str], None] = lambda _data, _host: None
) -> PortPair:
    """Return a pair of ports; `received(data, host)` is called for what arrives at the even one.

    Raises OSError when no pair is free.
    """
    even, odd = _bind_pair(host)
    loop = asyncio.get_running_loop()
    rtp, _ = await loop.create_datagram_endpoint(lambda: _Receiver(received), sock=even)
    return PortPair(even.getsockname()[1], rtp, odd, even)


def _bind_pair(host: str) -> tuple[socket.socket, socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in range(_ATTEMPTS):
        even, odd = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
        with suppress(OSError):  # the neighbour is taken: try another pair
            even.bind((host, 0))
            port = even.getsockname()[1]
            if port % 2 == 0:
                odd.bind((host, port + 1))
                return even, odd
        even.close()
        odd.close()
    raise OSError("No pair of UDP ports is free.")
