"""RTP packets of one stream, reordered and assembled into pictures. No I/O."""

from __future__ import annotations

import struct
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import NamedTuple

from .errors import RtspError
from .jpeg import JpegFormat
from .sdp import Media

MAX_PICTURE = 8 * 1024 * 1024  # bytes
_OVERHEAD = 64  # bytes of memory per payload
_MAX_UNITS = 2_000  # NAL units per picture; a decoder needs memory for each
START_CODE = b"\0\0\0\1"
_HEADER = struct.Struct("!BBHII")
_OVERTAKING = 8  # packets that may overtake a missing one before it counts as lost
# After so many packets without a picture the codec differs from the announced one.
_MIN_PACKETS = 60
_RECOVERY_POINT = b"\x06"  # the type of a SEI message of H.264
_MALFORMED = (ValueError, IndexError, struct.error)


class Packet(NamedTuple):
    """One RTP packet; the timestamp is in units of the medium's clock rate."""

    payload_type: int
    marker: bool
    sequence: int
    timestamp: int
    payload: bytes


def parse_packet(data: bytes) -> Packet | None:
    """Return the packet without extension and padding; None if it is not RTP."""
    if len(data) < 12 or data[0] >> 6 != 2:
        return None
    first, kind, sequence, timestamp, _ = _HEADER.unpack_from(data)
    start = 12 + 4 * (first & 15)
    if first & 0x10:
        start += 4 + 4 * int.from_bytes(data[start + 2 : start + 4], "big")
    end = len(data) - (data[-1] if first & 0x20 else 0)
    if start > end:
        return None
    return Packet(kind & 127, kind > 127, sequence, timestamp, data[start:end])


class Video:
    """A video being received: `keyframe` is the newest complete one, the stream's picture number
    `keyframe_number`; `packets` and `lost` count packets.

    A picture ends when the timestamp changes, or when the next one begins after a marker: some
    cameras set a marker on each slice, so a picture is stored at a marker, and again when more of
    it has arrived. Memory is bounded.
    """

    def __init__(self, media: Media) -> None:
        self.codec = media.codec
        self.keyframe: bytes | None = None
        self.keyframe_number = 0
        self.packets = self.lost = 0
        self._media = media
        self._format: H264Format | JpegFormat
        self._format = JpegFormat() if media.codec == "mjpeg" else FORMATS[media.codec](media)
        self._recognised = False  # a part of a picture was received
        self._next: int | None = None  # the next sequence number
        self._waiting: dict[int, Packet] = {}
        self._stale = 0  # duplicate or late packets in a row
        self._last: Packet | None = None
        # Of the current picture:
        self._payloads: list[bytes] = []
        self._size, self._complete = 0, True
        self._number = 0

    def add_packet(self, data: bytes, *, numbered: bool = True) -> None:
        """Add a packet, which may belong to another stream; RtspError if the codec is wrong.

        Sequence numbers are ignored unless `numbered`: over TCP packets arrive in order, and some
        cameras number them wrongly."""
        packet = parse_packet(data)
        if packet and packet.payload_type == self._media.payload_type:
            for ordered in self._in_order(packet) if numbered else [packet]:
                self._add_ordered(ordered, numbered)
        if self.packets >= _MIN_PACKETS and (error := self._wrong_codec()):
            raise error

    def no_keyframe(self, within: str) -> RtspError:
        """Return the error for no keyframe `within` some seconds."""
        if error := self._wrong_codec():
            return error
        reason = f"No complete keyframe arrived {within}, in {self.packets} packet"
        reason += "s" * (self.packets != 1)
        advice = ""
        if self.lost:
            reason += f"; {self.lost} packets were lost on the way"
            advice = "Use TCP (transport='tcp', --transport tcp), where no packets are lost."
        return RtspError("no_keyframe", f"{reason}.", advice=advice, timed_out=True)

    def _wrong_codec(self) -> RtspError | None:
        """Return the error for a codec other than announced, unless a picture was recognised."""
        if self._recognised or self.lost:
            return None
        reason = f"The camera announces {self._media.encoding} but sends something else."
        return RtspError("no_picture", reason)

    def _in_order(self, packet: Packet) -> Iterable[Packet]:
        """Yield the packets that are next in order: UDP does not keep it."""
        if self._next is None or self._stale > _OVERTAKING:  # the camera restarted its count
            self._next, self._waiting = packet.sequence, {}
        late = _distance(self._next, packet.sequence) >= 0x8000
        self._stale = self._stale + 1 if late else 0
        if not late:
            self._waiting[packet.sequence] = packet
        if len(self._waiting) > _OVERTAKING:
            start = self._next
            self._next = min(self._waiting, key=lambda number: _distance(start, number))
        while self._next in self._waiting:
            yield self._waiting.pop(self._next)
            self._next = (self._next + 1) & 0xFFFF

    def _add_ordered(self, packet: Packet, numbered: bool) -> None:
        last, self._last = self._last, packet
        gap = _distance(last.sequence + 1, packet.sequence) if last and numbered else 0
        self.packets += 1
        self.lost += gap if gap < 0x8000 else 0
        # It is unknown which picture lost a packet, so neither counts as complete.
        self._complete = self._complete and not gap
        begins = last and last.marker and self._format.begins_picture(packet.payload)
        if last and (begins or packet.timestamp != last.timestamp):
            if not last.marker:
                self._finish_picture()
            self._payloads, self._size, self._complete = [], 0, not gap
            self._number += 1
        if packet.payload:  # some cameras send empty ones in pauses
            self._payloads.append(packet.payload)
        self._size += len(packet.payload) + _OVERHEAD
        if self._size > MAX_PICTURE:
            self._payloads, self._complete = [], False
        with suppress(*_MALFORMED):
            self._recognised = self._recognised or self._format.recognises(packet.payload)
        if packet.marker:
            self._finish_picture()

    def _finish_picture(self) -> None:
        """Store the current picture if it is a complete keyframe."""
        with suppress(*_MALFORMED):
            if self._complete and (keyframe := self._format.keyframe(self._payloads)):
                self.keyframe, self.keyframe_number = keyframe, self._number


class H264Format:
    """Assembles pictures from payloads (RFC 6184); remembers parameter sets for keyframes without.

    Malformed payloads, or those with a missing start, raise ValueError or IndexError.
    """

    header, bits = 1, 31  # size of a unit's header, and bits of the type in its first byte
    aggregate, fragment = 24, 28  # types of payloads that are not a single unit
    parameter_sets: tuple[int, ...] = (7, 8)
    slices: Container[int] = (1, 5)
    keyframes: Container[int] = (5,)
    sei = 6  # may hold a recovery point, which some encoders send instead of keyframes

    def __init__(self, media: Media) -> None:
        self._sets = self._by_type(media.parameter_sets)

    @classmethod
    def type_of(cls, nal: bytes | bytearray) -> int:
        """Return the type of a NAL unit."""
        return nal[0] >> cls.header - 1 & cls.bits

    def is_slice(self, nal: bytes | bytearray) -> bool:
        """Return whether a NAL unit is part of a picture."""
        return self.type_of(nal) in self.slices

    def recognises(self, payload: bytes) -> bool:
        """Return whether a payload contains part of a picture."""
        if self.type_of(payload) == self.fragment:  # even from the middle
            return self.is_slice(self._fragmented_header(payload))
        return any(map(self.is_slice, self._nals([payload])))

    def begins_picture(self, payload: bytes) -> bool:
        """Return whether a payload begins a picture: it is not a slice, or the first one."""
        header = self.header
        kind, first = self.type_of(payload or b"\0"), payload[header : header + 1]
        if kind == self.fragment and first >= b"\x80":  # the first fragment of a slice
            first = payload[header + 1 : header + 2]
        return first >= b"\x80" or (kind != self.fragment and kind not in self.slices)

    def keyframe(self, payloads: list[bytes]) -> bytes:
        """Return a picture as Annex B, with parameter sets; empty if it is not a keyframe."""
        nals = self._nals(payloads)
        by_type = self._by_type(nals)
        missing: list[bytes] = []
        for kind in self.parameter_sets:
            if kind in by_type:
                self._sets[kind] = by_type[kind]
            else:
                missing += self._sets.get(kind, [])
        points = any(nal[1:2] == _RECOVERY_POINT for nal in by_type.get(self.sei, []))
        if not points and not any(kind in self.keyframes for kind in by_type):
            return b""
        if not all(self._sets.get(kind) for kind in self.parameter_sets[-2:]):
            return b""  # not decodable; parameter sets may arrive later
        return b"".join(START_CODE + nal for nal in missing + nals)

    def _fragmented_header(self, payload: bytes) -> bytearray:
        """Return the header of a fragmented unit."""
        shift, kind = self.header - 1, payload[self.header] & self.bits
        first = payload[0] & ~(self.bits << shift) | kind << shift
        return bytearray([first]) + payload[1 : self.header]

    def _by_type(self, nals: Iterable[bytes]) -> dict[int, list[bytes]]:
        by_type: dict[int, list[bytes]] = {}
        for nal in nals:
            by_type.setdefault(self.type_of(nal), []).append(nal)
        return by_type

    def _nals(self, payloads: list[bytes]) -> list[bytes]:
        """Return the NAL units of payloads, each with one, a fragment of one, or several."""
        units: list[bytearray] = []
        for payload in payloads:
            kind, rest = self.type_of(payload), payload[self.header :]
            if kind == self.fragment:
                if rest[0] & 0x80:
                    units.append(self._fragmented_header(payload))
                units[-1] += rest[1:]
            elif kind == self.aggregate:
                start = 0
                while start + 2 < len(rest) and len(units) <= _MAX_UNITS:
                    end = start + 2 + int.from_bytes(rest[start : start + 2], "big")
                    if end > len(rest):
                        raise ValueError("An aggregated payload is cut off.")
                    units.append(bytearray(rest[start + 2 : end]))
                    start = end
            else:
                units.append(bytearray(payload))
        # Some cameras leave start codes inside a unit; a NAL unit never ends in a zero byte.
        if len(units) + sum(unit.count(b"\0\0\1") for unit in units) > _MAX_UNITS:
            raise ValueError("A picture has too many NAL units.")
        nals = (bytes(part).rstrip(b"\0") for unit in units for part in unit.split(b"\0\0\1"))
        return [nal for nal in nals if nal]


class H265Format(H264Format):
    """The same for H.265 (RFC 7798)."""

    header, bits = 2, 63
    aggregate, fragment = 48, 49
    parameter_sets = (32, 33, 34)
    slices = (0, 1, *range(6, 10), 19, 20, 21)
    keyframes = range(16, 22)
    sei = -1

    def is_slice(self, nal: bytes | bytearray) -> bool:
        """Return whether a NAL unit is part of a picture of the base layer."""
        return super().is_slice(nal) and not nal[0] & 1 and 0 < nal[1] < 8


FORMATS = {"h264": H264Format, "h265": H265Format}


def _distance(number: int, later: int) -> int:
    return (later - number) & 0xFFFF
