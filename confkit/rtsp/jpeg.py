"""RTP payloads of baseline JPEG (RFC 2435), quantisation tables always in band.  No I/O."""

from __future__ import annotations

import struct

_TABLE = 64


def packetise_jpeg(picture: bytes, limit: int) -> list[bytes]:
    """Return a JPEG file as RTP payloads; raises ValueError for a kind that RTP cannot carry."""
    tables: dict[int, bytes] = {}
    kind = width = height = position = 0
    position = 2
    while True:
        marker, size = struct.unpack_from("!HH", picture, position)
        segment = picture[position + 4 : position + 2 + size]
        position += 2 + size
        if marker == 0xFFDB:
            for start in range(0, len(segment), _TABLE + 1):
                tables[segment[start]] = segment[start + 1 : start + 1 + _TABLE]
        elif marker == 0xFFC0:
            height, width = struct.unpack_from("!HH", segment, 1)
            kind = {0x21: 0, 0x22: 1}.get(segment[7], -1)
        elif marker == 0xFFDA:
            break
    if kind < 0 or width % 8 or height % 8 or max(width, height) > 2040:
        raise ValueError("RTP carries JPEG in 4:2:0 or 4:2:2, in multiples of 8 up to 2040 pixels.")
    quantisation = tables[0] + tables.get(1, tables[0])
    scan = picture[position:].removesuffix(b"\xff\xd9")
    payloads, offset = [], 0
    while offset < len(scan):
        header = struct.pack("!IBBBB", offset, kind, 255, width // 8, height // 8)
        if not offset:
            header += struct.pack("!HH", 0, len(quantisation)) + quantisation
        room = limit - len(header)
        payloads.append(header + scan[offset : offset + room])
        offset += room
    return payloads


class JpegAssembler:
    """Puts JPEG pictures together, without Huffman tables: the standard ones are implied.

    FFmpeg's decoder reads such a picture; a picture viewer may not.
    """

    def __init__(self) -> None:
        self._head = b""
        self._scan = bytearray()

    def add(self, payload: bytes) -> None:
        """Take one payload; raises ValueError when one is missing or its kind is not supported."""
        if len(payload) < 8:
            raise ValueError("The payload is too short.")
        word, kind, quality, width, height = struct.unpack_from("!IBBBB", payload)
        offset, start = word & 0xFFFFFF, 8
        if kind > 1 or quality < 128:
            raise ValueError("JPEG without tables in band is not supported.")
        if offset != len(self._scan):
            raise ValueError("A part of the picture is missing.")
        if not offset:
            size = int.from_bytes(payload[10:12], "big")
            start = 12 + size
            if size != 2 * _TABLE or len(payload) < start:
                raise ValueError("JPEG without two 8-bit tables in band is not supported.")
            self._head = _head(kind, width * 8, height * 8, payload[12:start])
        self._scan += payload[start:]

    def take(self) -> tuple[bytes, bool]:
        """Return the picture; every picture is a keyframe."""
        picture = self._head + self._scan + b"\xff\xd9" if self._head else b""
        self._head, self._scan = b"", bytearray()
        return picture, bool(picture)


def _head(kind: int, width: int, height: int, tables: bytes) -> bytes:
    sampling = 0x22 if kind else 0x21
    quantisation = b"\0" + tables[:_TABLE] + b"\1" + tables[_TABLE:]
    frame = struct.pack("!BHHB", 8, height, width, 3)
    frame += bytes([1, sampling, 0, 2, 0x11, 1, 3, 0x11, 1])
    scan = bytes([3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0])
    segments = ((0xDB, quantisation), (0xC0, frame), (0xDA, scan))
    return b"\xff\xd8" + b"".join(
        bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
        for marker, body in segments
    )
