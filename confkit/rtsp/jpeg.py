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
        """Take one payload; raises ValueError when one is missing or its kind is not supported."""
        if len(payload) < 8:
            raise ValueError("The payload is too short.")
        word, kind, quality, width, height = struct.unpack_from("!IBBBB", payload)
        offset, start = word & 0xFFFFFF, 8
        restarts = kind & 0x40  # their own header follows
        if kind & 0x3F > 1 or kind > 127 or not (quality and width and height):
            raise ValueError("This kind of JPEG is not supported.")
        if offset != len(self._scan):
            raise ValueError("A part of the picture is missing.")
        interval = int.from_bytes(payload[8:10], "big") if restarts else 0
        start += 4 if restarts else 0
        if not offset:
            tables = _scaled(quality) if quality < 100 else self._tables.get(quality, b"")
            if quality > 127:
                size = int.from_bytes(payload[start + 2 : start + 4], "big")
                given = payload[start + 4 : start + 4 + size]
                start += 4 + size
                if given:
                    tables = self._tables[quality] = given
            if len(tables) != 2 * TABLE or len(payload) < start:
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
    sampling = 0x22 if kind else 0x21
    quantisation = b"\0" + tables[:TABLE] + b"\1" + tables[TABLE:]
    frame = struct.pack("!BHHB", 8, height, width, 3)
    frame += bytes([1, sampling, 0, 2, 0x11, 1, 3, 0x11, 1])
    scan = bytes([3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0])
    segments = [(0xDB, quantisation), (0xC0, frame), (0xDA, scan)]
    if interval:
        segments.insert(0, (0xDD, interval.to_bytes(2, "big")))
    return b"\xff\xd8" + b"".join(
        bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
        for marker, body in segments
    )
