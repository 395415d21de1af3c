"""RTP packets of one stream, reordered and assembled into pictures. No I/O."""

from __future__ import annotations

import struct
import time
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import NamedTuple

from ..text import counted
from .errors import RtspError
from .sdp import Media

MAX_PICTURE = 8 * 1024 * 1024  # bytes
_OVERHEAD = 64  # bytes of memory per payload
_MAX_SETS = 32  # parameter sets
_MAX_UNITS = 2_000  # NAL units per picture; a decoder needs memory for each
START_CODE = b"\0\0\0\1"
_OVERTAKING = 8  # packets that may overtake a missing one before it counts as lost
# After so many complete pictures, none recognised, the codec differs from the announced one.
_MAX_UNRECOGNISED = 8
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
    first, kind, sequence, timestamp = struct.unpack_from("!BBHI", data)
    start = 12 + 4 * (first & 15)
    if first & 0x10:
        start += 4 + 4 * int.from_bytes(data[start + 2 : start + 4], "big")
    end = len(data) - (data[-1] if first & 0x20 else 0)
    if start > end:
        return None
    return Packet(kind & 127, kind > 127, sequence, timestamp, data[start:end])


class Video:
    """A video being received: `keyframe` is the newest complete one: Annex B with parameter sets,
    or JPEG, at this monotonic time; `packets` and `lost` count packets.

    A picture ends when the timestamp changes, or a keyframe begins after a marker. Some cameras set
    a marker on each slice, so a picture is stored at a marker, and again when more of it has
    arrived. Memory is bounded.
    """

    def __init__(self, media: Media) -> None:
        self.codec = media.codec
        self.keyframe: bytes | None = None
        self.keyframe_time = 0.0
        self.packets = self.lost = 0
        self._media = media
        self._format: H264Format | JpegFormat
        self._format = JpegFormat() if media.codec == "mjpeg" else FORMATS[media.codec](media)
        self._recognised, self._unrecognised = False, 0  # complete pictures
        self._next: int | None = None  # the next sequence number
        self._waiting: dict[int, Packet] = {}
        self._last: Packet | None = None
        # Of the current picture:
        self._payloads: list[bytes] = []
        self._size, self._complete = 0, True

    @property
    def refreshing(self) -> bool:
        """Whether the keyframe is the first of several pictures that together are a whole one."""
        return self._format.refreshing

    def add_packet(self, data: bytes, *, numbered: bool = True) -> None:
        """Add a packet, which may belong to another stream; RtspError if the codec is wrong.

        Sequence numbers are ignored unless `numbered`: over TCP packets arrive in order, and some
        cameras number them wrongly."""
        packet = parse_packet(data)
        if packet and packet.payload_type == self._media.payload_type:
            for ordered in self._in_order(packet) if numbered else [packet]:
                self._add_ordered(ordered, numbered)
        if self._unrecognised >= _MAX_UNRECOGNISED and not self._recognised:
            raise self._wrong_codec()

    def no_keyframe(self, within: str) -> RtspError:
        """Return the error for no keyframe `within` some seconds."""
        if self._unrecognised and not self._recognised:
            return self._wrong_codec()
        packets = counted(self.packets, "packet")
        reason, advice = f"No complete keyframe arrived {within}, in {packets}", ""
        if self.lost:
            reason += f"; {self.lost} packets were lost on the way"
            advice = "Use TCP (transport='tcp', --transport tcp), where no packets are lost."
        return RtspError("no_keyframe", f"{reason}.", advice=advice, timed_out=True)

    def _wrong_codec(self) -> RtspError:
        reason = f"The camera announces {self._media.encoding} but sends something else."
        return RtspError("no_picture", reason)

    def _in_order(self, packet: Packet) -> Iterable[Packet]:
        """Yield the packets that are next in order: UDP does not keep it."""
        if self._next is None:
            self._next = packet.sequence
        if _distance(self._next, packet.sequence) < 0x8000:  # neither late nor a duplicate
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
        self.lost += gap
        # It is unknown which picture lost a packet, so neither counts as complete.
        self._complete = self._complete and not gap
        if last and (
            packet.timestamp != last.timestamp
            # Some clocks are too coarse, or stand still.
            or (last.marker and self._format.begins_keyframe(packet.payload))
        ):
            if not last.marker:
                self._finish_picture()
            self._payloads, self._size, self._complete = [], 0, not gap
        if packet.payload:  # some cameras send empty ones in pauses
            self._payloads.append(packet.payload)
        self._size += len(packet.payload) + _OVERHEAD
        if self._size > MAX_PICTURE:
            self._payloads, self._complete = [], False
        if packet.marker:
            self._finish_picture()

    def _finish_picture(self) -> None:
        """Store the current picture if it is a complete keyframe."""
        if not (self._complete and self._payloads):
            return
        with suppress(*_MALFORMED):
            picture = self._format.assemble(self._payloads)
            if picture is None:
                self._unrecognised += 1
            else:
                self._recognised = True
            if picture:
                self.keyframe, self.keyframe_time = picture, time.monotonic()


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
    # What comes with pictures, and before the first; some cameras have private units.
    others: Container[int] = (*range(6, 24), 30, 31)
    by_slices = True  # whether a picture of I slices is a keyframe, whatever their unit's type

    def __init__(self, media: Media) -> None:
        self._sets = self._only_sets(media.parameter_sets)
        self.refreshing = False  # the last keyframe is the beginning of a gradual refresh

    @classmethod
    def type_of(cls, nal: bytes | bytearray) -> int:
        """Return the type of a NAL unit."""
        return nal[0] >> cls.header - 1 & cls.bits

    def begins_keyframe(self, payload: bytes) -> bool:
        """Return whether a payload begins a keyframe: a parameter set, or its first slice."""
        with suppress(*_MALFORMED):
            nal = self._nals([payload])[0]
            is_first = nal[self.header] >= 0x80  # the number of its first block is 0
            return self.type_of(nal) in self.parameter_sets[:-1] or (
                self.type_of(nal) in self.keyframes and is_first
            )
        return False

    @staticmethod
    def is_intra(nal: bytes) -> bool:
        """Return whether a slice needs no other picture: its type, the second number, is I."""
        begin = int.from_bytes(nal[1:9].ljust(8, b"\xff"), "big")
        bits, at, number = f"{begin:064b}", 0, 0
        for _ in range(2):  # Exp-Golomb codes
            zeros = bits.find("1", at) - at
            number = int(bits[at + zeros : at + 2 * zeros + 1], 2) - 1
            at += 2 * zeros + 1
        return number % 5 == 2

    def assemble(self, payloads: list[bytes]) -> bytes | None:
        """Return a keyframe as Annex B, with parameter sets first; empty for another picture, None
        if the payloads contain no picture."""
        nals = self._nals(payloads)
        kinds = {self.type_of(nal) for nal in nals}
        # A stream may use several sets, and not repeat all.
        missing = [nal for nal in self._sets if nal not in nals]
        self._sets = [*missing, *self._only_sets(nals)][-_MAX_SETS:]
        slices = [nal for nal in nals if self.type_of(nal) in self.slices]
        if not slices:
            if all(kind in self.others for kind in kinds):
                raise ValueError("The picture has not begun.")
            return None
        is_whole = any(kind in self.keyframes for kind in kinds)
        is_whole = is_whole or (self.by_slices and all(map(self.is_intra, slices)))
        points = any(nal[1:2] == _RECOVERY_POINT for nal in nals if self.type_of(nal) == self.sei)
        known = {self.type_of(nal) for nal in self._sets}
        if not (is_whole or points) or not known.issuperset(self.parameter_sets[-2:]):
            return b""  # without parameter sets it is not decodable; they may arrive later
        self.refreshing = not is_whole
        order = {kind: place for place, kind in enumerate(self.parameter_sets)}
        ordered = sorted(missing + nals, key=lambda nal: order.get(self.type_of(nal), len(order)))
        return b"".join(START_CODE + nal for nal in ordered)

    def _only_sets(self, nals: Iterable[bytes]) -> list[bytes]:
        return [nal for nal in dict.fromkeys(nals) if self.type_of(nal) in self.parameter_sets]

    def _nals(self, payloads: list[bytes]) -> list[bytes]:
        """Return the NAL units of payloads, each with one, a fragment of one, or several."""
        units: list[bytearray] = []
        for payload in payloads:
            kind, rest = self.type_of(payload), payload[self.header :]
            if kind == self.fragment:
                if rest[0] & 0x80:  # the first: its header holds the type of the unit
                    shift = self.header - 1
                    first = payload[0] & ~(self.bits << shift) | (rest[0] & self.bits) << shift
                    units.append(bytearray([first]) + payload[1 : self.header])
                units[-1] += rest[1:]
            elif kind == self.aggregate:
                while len(rest) > 2 and len(units) <= _MAX_UNITS:
                    end = 2 + int.from_bytes(rest[:2], "big")
                    if end > len(rest):
                        raise ValueError("An aggregated payload is cut off.")
                    units.append(bytearray(rest[2:end]))
                    rest = rest[end:]
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
    slices = (*range(10), *range(16, 22))
    keyframes = range(16, 22)
    sei = -1
    others = range(32, 41)
    by_slices = False


FORMATS = {"h264": H264Format, "h265": H265Format}

# The standard's example tables in zigzag order, from which a quality of 1 to 99 is scaled.
_LUMA = bytes.fromhex(
    "100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c3933"
    "38374048 5c4e404457453738506d51575f626768673e4d7179706478 5c656763"
)
_CHROMA = bytes.fromhex("111212181518 2f1a1a2f634238426363") + bytes([99]) * 48
_TABLE = 64  # bytes of a quantisation table
_TOO_LARGE = "The MJPEG pictures are wider or higher than 2040 pixels, which is not supported."


class JpegFormat:
    """Assembles pictures from payloads of baseline JPEG (RFC 2435).

    They are without Huffman tables, as the standard ones are implied: FFmpeg decodes such a
    picture, an image viewer may not.
    """

    refreshing = False

    @staticmethod
    def begins_keyframe(payload: bytes) -> bool:
        """Return whether a payload begins a picture."""
        return payload[1:4] == bytes(3)

    def __init__(self) -> None:
        self._tables: dict[int, bytes] = {}

    def assemble(self, payloads: list[bytes]) -> bytes | None:
        """Return a picture (all are keyframes), None if it is of an unknown kind.

        ValueError or struct.error: a payload is missing or cut off; RtspError: it is too large."""
        head, scan = b"", bytearray()
        for payload in payloads:
            word, kind, quality, width, height = struct.unpack_from("!IBBBB", payload)
            start, interval = 8, 0
            if kind & 0x40:
                (interval,), start = struct.unpack_from("!H", payload, start), start + 4
            if kind & 0xBE or not quality:
                return None
            if word & 0xFFFFFF != len(scan):
                raise ValueError("A part is missing.")
            if not head:
                if not (width and height):
                    advice = "Choose a smaller picture in the camera, or H.264."
                    raise RtspError("codec_unsupported", _TOO_LARGE, advice=advice)
                tables = _scaled(quality) if quality < 100 else self._tables.get(quality, b"")
                if quality > 127:
                    _, size = struct.unpack_from("!HH", payload, start)
                    start += 4 + size
                    if size:
                        tables = self._tables[quality] = payload[start - size : start]
                if len(tables) not in (_TABLE, 2 * _TABLE):
                    raise ValueError("JPEG without one or two 8-bit tables is not supported.")
                head = _jpeg_head(kind & 1, width * 8, height * 8, tables, interval)
            scan += payload[start:]
        return head + scan + b"\xff\xd9"


def _scaled(quality: int) -> bytes:
    factor = 5000 // quality if quality < 50 else 200 - 2 * quality
    return bytes(min(255, max(1, (value * factor + 50) // 100)) for value in _LUMA + _CHROMA)


def _jpeg_head(kind: int, width: int, height: int, tables: bytes, interval: int) -> bytes:
    colour = 1 if tables[_TABLE:] else 0  # the colours' table; some cameras have a single table
    frame = struct.pack("!BHHBBB", 8, height, width, 3, 1, 0x22 if kind else 0x21)
    segments = {
        0xDD: interval.to_bytes(2, "big") if interval else b"",
        0xDB: b"\0" + tables[:_TABLE] + (b"\1" + tables[_TABLE:]) * colour,
        0xC0: frame + bytes([0, 2, 0x11, colour, 3, 0x11, colour]),
        0xDA: bytes.fromhex("03 0100 0211 0311 003f00"),
    }
    return b"\xff\xd8" + b"".join(
        struct.pack("!BBH", 0xFF, marker, len(body) + 2) + body
        for marker, body in segments.items()
        if body
    )


def _distance(number: int, later: int) -> int:
    return (later - number) & 0xFFFF
