"""RTP packets in their order, and whole pictures put together from them.  No I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from .h26x import NalAssembler
from .jpeg import JpegAssembler

MAX_UNIT = 8 * 1024 * 1024
_HEADER = struct.Struct("!BBHII")
_WAITING = 8  # packets that may overtake a missing one before it counts as lost


class Packet(NamedTuple):
    """One RTP packet; the timestamp counts in the medium's clock rate."""

    payload_type: int
    marker: bool
    sequence: int
    timestamp: int
    ssrc: int
    payload: bytes

    def encode(self) -> bytes:
        """Return the packet as bytes."""
        kind, marker, *numbers, payload = self
        return _HEADER.pack(0x80, kind | marker << 7, *numbers) + payload


class AccessUnit(NamedTuple):
    """One coded picture: Annex B with parameter sets before a keyframe, or a JPEG file.

    `complete` is False when a packet of it is missing.
    """

    timestamp: int
    keyframe: bool
    complete: bool
    data: bytes


def parse_packet(data: bytes) -> Packet:
    """Return the packet, its extension and padding cut off; raises ValueError if it is none."""
    if len(data) < 12 or data[0] >> 6 != 2:
        raise ValueError("This is not an RTP packet.")
    first, kind, sequence, timestamp, ssrc = _HEADER.unpack_from(data)
    start = 12 + 4 * (first & 15)
    if first & 0x10:
        start += 4 + 4 * int.from_bytes(data[start + 2 : start + 4], "big")
    end = len(data) - (data[-1] if first & 0x20 else 0)
    if start > end:
        raise ValueError("The RTP packet is cut off.")
    return Packet(kind & 127, kind > 127, sequence, timestamp, ssrc, data[start:end])


class Sequencer:
    """Hands packets on in their order, as far as a few of them tell: UDP promises none.

    What comes twice or too late is dropped.
    """

    def __init__(self) -> None:
        self._next: int | None = None
        self._waiting: dict[int, Packet] = {}
        self._late = 0

    def push(self, packet: Packet) -> list[Packet]:
        """Return the packets whose turn it is now."""
        if self._next is None or self._late > _WAITING:  # the camera counts anew
            self._next, self._waiting = packet.sequence, {}
        ahead = _distance(self._next, packet.sequence)
        self._late = self._late + 1 if ahead >= 0x8000 else 0
        if self._late:
            return []
        self._waiting[packet.sequence] = packet
        if len(self._waiting) > _WAITING:
            self._next = min(self._waiting, key=partial(_distance, self._next))
        ready = []
        while self._next in self._waiting:
            ready.append(self._waiting.pop(self._next))
            self._next = (self._next + 1) & 0xFFFF
        return ready


class Depacketiser:
    """Turns the packets of one stream into access units; memory stays bounded.

    `lost` counts the packets that are missing from the sequence.
    """

    def __init__(self, codec: str, parameter_sets: Iterable[bytes] = ()) -> None:
        """Start for "h264", "h265" or "mjpeg", with the parameter sets of the description."""
        self._assembler = (
            JpegAssembler() if codec == "mjpeg" else NalAssembler(codec, parameter_sets)
        )
        self._last: Packet | None = None
        self._size = self.lost = 0
        self._complete = True

    def push(self, packet: Packet) -> list[AccessUnit]:
        """Return the units that this packet finishes: none, one, or two without a marker."""
        units = []
        last, self._last = self._last, packet
        gap = _distance(last.sequence + 1, packet.sequence) if last else 0
        self.lost += gap if gap < 0x8000 else 0
        # Which picture lost a packet is not known: neither may pass for a whole one.
        self._complete = self._complete and not gap
        if last and self._size and packet.timestamp != last.timestamp:
            units += self._finish(last.timestamp)
            self._complete = not gap
        try:
            self._assembler.add(packet.payload)
        except (ValueError, IndexError, struct.error):
            self._complete = False
        self._size += len(packet.payload)
        if packet.marker or self._size > MAX_UNIT:
            self._complete = self._complete and packet.marker
            units += self._finish(packet.timestamp)
            self._complete = packet.marker  # the rest of a picture that was cut is no whole one
        return units

    def _finish(self, timestamp: int) -> list[AccessUnit]:
        data, keyframe = self._assembler.take()
        complete, self._complete, self._size = self._complete, True, 0
        return [AccessUnit(timestamp, keyframe, complete, data)] if data else []


def _distance(number: int, later: int) -> int:
    return (later - number) & 0xFFFF
