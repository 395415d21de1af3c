"""Packets in their order, as far as a few of them tell; for UDP, which promises none.  No I/O."""

from __future__ import annotations

from .rtp import Packet

_WAITING = 8  # packets that may overtake a missing one before it counts as lost
_HALF = 0x8000


class Sequencer:
    """Hands packets on by their sequence numbers; what comes twice or too late is dropped."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._waiting: dict[int, Packet] = {}
        self._late = 0

    def push(self, packet: Packet) -> list[Packet]:
        """Return the packets whose turn it is now."""
        if self._next is None or self._late > _WAITING:  # the camera counts anew
            self._next, self._late = packet.sequence, 0
            self._waiting.clear()
        if (packet.sequence - self._next) & 0xFFFF >= _HALF:
            self._late += 1
            return []
        self._late = 0
        self._waiting[packet.sequence] = packet
        if len(self._waiting) > _WAITING:
            self._next = min(self._waiting, key=self._distance)
        ready = []
        while self._next in self._waiting:
            ready.append(self._waiting.pop(self._next))
            self._next = (self._next + 1) & 0xFFFF
        return ready

    def _distance(self, sequence: int) -> int:
        return (sequence - (self._next or 0)) & 0xFFFF
