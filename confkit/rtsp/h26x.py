"""RTP payloads of H.264 (RFC 6184) and H.265 (RFC 7798), and their NAL units.  No I/O."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

START_CODE = b"\0\0\0\1"


@dataclass(frozen=True)
class Layout:
    """Where the two codecs differ: the header's size in bytes, the bits of a type in its first
    byte, and NAL unit types."""

    header: int
    bits: int
    aggregate: int
    fragment: int
    parameter_sets: Container[int]
    pictures: Container[int]
    keyframes: Container[int]

    def type_of(self, nal: bytes) -> int:
        """Return the type of a NAL unit."""
        return nal[0] >> self.header - 1 & self.bits

    def with_type(self, nal: bytes, number: int) -> bytes:
        """Return the header of a NAL unit with another type."""
        shift = self.header - 1
        return bytes([nal[0] & ~(self.bits << shift) | number << shift]) + nal[1 : self.header]

    def inside(self, payload: bytes) -> list[bytes]:
        """Return the NAL units of an aggregate, or the only one; ValueError: one is cut off."""
        if self.type_of(payload) != self.aggregate:
            return [payload]
        nals, start = [], self.header
        while start < len(payload):
            end = start + 2 + int.from_bytes(payload[start : start + 2], "big")
            if end > len(payload) or end == start + 2:
                raise ValueError("An aggregated payload is cut off.")
            nals.append(payload[start + 2 : end])
            start = end
        return nals

    def looks_like_picture(self, nal: bytes) -> bool:
        """Return whether a NAL unit, or a fragment of one, may be (a part of) a picture."""
        if len(nal) <= self.header + 3 or nal[0] & 0x80:
            return False
        if self.header == 2 and (nal[0] & 1 or not 0 < nal[1] < 8):
            return False  # of a layer that nobody sends, or none
        kind = self.type_of(nal)
        return (nal[self.header] & self.bits if kind == self.fragment else kind) in self.pictures


LAYOUTS = {
    "h264": Layout(1, 31, 24, 28, range(7, 9), (1, 5), (5,)),
    "h265": Layout(2, 63, 48, 49, range(32, 35), range(22), range(16, 22)),
}


def split_nals(unit: bytes) -> list[bytes]:
    """Return the NAL units of an Annex B access unit, without start codes."""
    # A NAL unit never ends in a zero byte: trailing ones belong to the next start code.
    return [nal for part in unit.split(b"\0\0\1") if (nal := part.rstrip(b"\0"))]


def join_nals(nals: Iterable[bytes]) -> bytes:
    """Return NAL units as Annex B."""
    return b"".join(START_CODE + nal for nal in nals)


def parameter_sets(codec: str, unit: bytes) -> list[bytes]:
    """Return the parameter sets inside an Annex B access unit, without start codes."""
    layout = LAYOUTS[codec]
    return [nal for nal in split_nals(unit) if layout.type_of(nal) in layout.parameter_sets]


class NalAssembler:
    """Puts NAL units together; remembers parameter sets for keyframes that come without them."""

    def __init__(self, codec: str, known: Iterable[bytes] = ()) -> None:
        self._layout = LAYOUTS[codec]
        self._nals: list[bytes] = []
        self._fragment = bytearray()
        self._known: dict[int, list[bytes]] = {}
        self._remember(known)

    def add(self, payload: bytes) -> None:
        """Take one payload; ValueError or IndexError when it is malformed or a fragment is
        missing."""
        layout = self._layout
        kind = layout.type_of(payload)
        if kind == layout.fragment:
            flags = payload[layout.header]
            if flags & 0x80:
                self._fragment[:] = layout.with_type(payload, flags & layout.bits)
            if not self._fragment:
                raise ValueError("A fragmented NAL unit has no start.")
            self._fragment += payload[layout.header + 1 :]
            if flags & 0x40:
                self._nals.append(bytes(self._fragment))
                self._fragment.clear()
        elif self._fragment or kind > layout.aggregate:
            self._fragment.clear()
            raise ValueError("A fragmented NAL unit has no end, or this kind is not supported.")
        else:
            self._nals += layout.inside(payload)

    def take(self) -> tuple[bytes, bool]:
        """Return the access unit as Annex B and whether it is a keyframe."""
        nals, self._nals = self._nals, []
        self._fragment.clear()
        types = self._remember(nals)
        keyframe = any(kind in self._layout.keyframes for kind in types)
        if keyframe:
            missing = sorted(self._known.keys() - types)
            nals = [nal for kind in missing for nal in self._known[kind]] + nals
        return join_nals(nals), keyframe

    def _remember(self, nals: Iterable[bytes]) -> set[int]:
        """Keep the parameter sets among these, and return the types of all."""
        found: dict[int, list[bytes]] = {}
        for nal in nals:
            found.setdefault(self._layout.type_of(nal), []).append(nal)
        sets = self._layout.parameter_sets
        self._known.update({kind: of_it for kind, of_it in found.items() if kind in sets})
        return set(found)
