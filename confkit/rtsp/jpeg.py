"""RTP payloads of baseline JPEG (RFC 2435).  No I/O."""

from __future__ import annotations

import struct

TABLE = 64  # bytes of a quantisation table
# The standard's example tables in zigzag order, from which a quality of 1 to 99 is scaled.
_LUMA = bytes.fromhex(
    "100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c3933"
    "38374048 5c4e404457453738506d51575f626768673e4d7179706478 5c656763"
)
_CHROMA = bytes.fromhex("111212181518 2f1a1a2f634238426363") + bytes([99]) * 48


class JpegAssembler:
    """Puts JPEG pictures together, without Huffman tables: the standard ones are implied.

    FFmpeg's decoder reads such a picture; a picture viewer may not.
    """

    def __init__(self) -> None:
        self._head = b""
        self._scan = bytearray()
        self._tables: dict[int, bytes] = {}

    def add(self, payload: bytes) -> None:
        """Take one payload; ValueError or struct.error when one is missing or cut off, or its kind
        is not supported."""
        word, kind, quality, width, height = struct.unpack_from("!IBBBB", payload)
        offset, start, interval = word & 0xFFFFFF, 8, 0
        if kind & 0x40:
            (interval,), start = struct.unpack_from("!H", payload, start), start + 4
        if kind & 0xBE or not (quality and width and height):
            raise ValueError("This kind of JPEG is not supported.")
        if offset != len(self._scan):
            raise ValueError("A part of the picture is missing.")
        if not offset:
            tables = _scaled(quality) if quality < 100 else self._tables.get(quality, b"")
            if quality > 127:
                _, size = struct.unpack_from("!HH", payload, start)
                start += 4 + size
                if size:
                    tables = self._tables[quality] = payload[start - size : start]
            if len(tables) != 2 * TABLE:
                raise ValueError("JPEG without two 8-bit tables is not supported.")
            self._head = _head(kind & 1, width * 8, height * 8, tables, interval)
        self._scan += payload[start:]

    def take(self) -> tuple[bytes, bool]:
        """Return the picture; every picture is a keyframe."""
        picture = self._head + self._scan + b"\xff\xd9" if self._head else b""
        self._head, self._scan = b"", bytearray()
        return picture, bool(picture)


def _scaled(quality: int) -> bytes:
    factor = 5000 // quality if quality < 50 else 200 - 2 * quality
    return bytes(min(255, max(1, (value * factor + 50) // 100)) for value in _LUMA + _CHROMA)


def _head(kind: int, width: int, height: int, tables: bytes, interval: int) -> bytes:
    frame = struct.pack("!BHHBBB", 8, height, width, 3, 1, 0x22 if kind else 0x21)
    segments = {
        0xDD: interval.to_bytes(2, "big") if interval else b"",
        0xDB: b"\0" + tables[:TABLE] + b"\1" + tables[TABLE:],
        0xC0: frame + bytes.fromhex("00 021101 031101"),
        0xDA: bytes.fromhex("03 0100 0211 0311 003f00"),
    }
    written = (
        bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
        for marker, body in segments.items()
        if body
    )
    return b"\xff\xd8" + b"".join(written)
