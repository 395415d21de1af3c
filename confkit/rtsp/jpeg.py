"""RTP payloads of baseline JPEG (RFC 2435). No I/O."""

from __future__ import annotations

import struct

from .errors import RtspError

_TABLE = 64  # bytes of a quantisation table
# The standard's example tables in zigzag order, from which a quality of 1 to 99 is scaled.
_LUMA = bytes.fromhex(
    "100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c3933"
    "38374048 5c4e404457453738506d51575f626768673e4d7179706478 5c656763"
)
_CHROMA = bytes.fromhex("111212181518 2f1a1a2f634238426363") + bytes([99]) * 48
_ADVICE = "Choose a smaller picture in the camera, or H.264."


class JpegFormat:
    """Assembles pictures from payloads, without Huffman tables: the standard ones are implied.

    FFmpeg decodes such a picture; an image viewer may not.
    """

    def __init__(self) -> None:
        self._tables: dict[int, bytes] = {}

    def recognises(self, payload: bytes) -> bool:
        """Return whether a payload is part of a supported picture; raises as `keyframe` does."""
        later = payload[1:4] != bytes(3) and not payload[4] & 0xBE and payload[5] > 0
        return later or bool(self.keyframe([payload]))

    def begins_picture(self, payload: bytes) -> bool:
        """Return whether a payload begins a picture."""
        return payload[1:4] == bytes(3)

    def keyframe(self, payloads: list[bytes]) -> bytes:
        """Return a picture (all are keyframes); ValueError or struct.error if a payload is missing
        or cut off, RtspError if this kind of picture is not supported."""
        head, scan = b"", bytearray()
        for payload in payloads:
            word, kind, quality, width, height = struct.unpack_from("!IBBBB", payload)
            start, interval = 8, 0
            if kind & 0x40:
                (interval,), start = struct.unpack_from("!H", payload, start), start + 4
            if kind & 0xBE or not quality or word & 0xFFFFFF != len(scan):
                raise ValueError("A part is missing, or this kind of JPEG is not supported.")
            if not head:
                if not (width and height):
                    reason = (
                        "The MJPEG pictures are wider or higher than 2040 pixels, which is not "
                    )
                    raise RtspError("codec_unsupported", f"{reason}supported.", advice=_ADVICE)
                tables = _scaled(quality) if quality < 100 else self._tables.get(quality, b"")
                if quality > 127:
                    _, size = struct.unpack_from("!HH", payload, start)
                    start += 4 + size
                    if size:
                        tables = self._tables[quality] = payload[start - size : start]
                if len(tables) not in (_TABLE, 2 * _TABLE):
                    raise ValueError("JPEG without one or two 8-bit tables is not supported.")
                head = _head(kind & 1, width * 8, height * 8, tables, interval)
            scan += payload[start:]
        return head + scan + b"\xff\xd9"


def _scaled(quality: int) -> bytes:
    factor = 5000 // quality if quality < 50 else 200 - 2 * quality
    return bytes(min(255, max(1, (value * factor + 50) // 100)) for value in _LUMA + _CHROMA)


def _head(kind: int, width: int, height: int, tables: bytes, interval: int) -> bytes:
    colour = 1 if tables[_TABLE:] else 0  # the colours' table; some cameras have a single table
    frame = struct.pack("!BHHBBB", 8, height, width, 3, 1, 0x22 if kind else 0x21)
    segments = {
        0xDD: interval.to_bytes(2, "big") if interval else b"",
        0xDB: b"\0" + tables[:_TABLE] + (b"\1" + tables[_TABLE:]) * colour,
        0xC0: frame + bytes([0, 2, 0x11, colour, 3, 0x11, colour]),
        0xDA: bytes.fromhex("03 0100 0211 0311 003f00"),
    }
    written = (
        bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
        for marker, body in segments.items()
        if body
    )
    return b"\xff\xd8" + b"".join(written)
