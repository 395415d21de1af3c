"""RTP payloads of H.264 (RFC 6184) and H.265 (RFC 7798), and their NAL units.  No I/O."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

START_CODE = b"\0\0\0\1"


@dataclass(frozen=True)
class Layout:
    """Where the two codecs differ: sizes in bytes, the rest NAL unit types."""

    header: int
    aggregate: int
    fragment: int
    parameter_sets: tuple[int, ...]
    pictures: Container[int]
    keyframes: range
    bare: tuple[int, ...]  # the end of a sequence or of a stream: nothing but a header

    def type_of(self, nal: bytes) -> int:
        """Return the type of a NAL unit."""
        return nal[0] & 31 if self.header == 1 else nal[0] >> 1 & 63

    def with_type(self, nal: bytes, number: int) -> bytes:
        """Return the header of a NAL unit with another type."""
        if self.header == 1:
            return bytes([nal[0] & 0xE0 | number])
        return bytes([nal[0] & 0x81 | number << 1, nal[1]])

    def whole_type_of(self, nal: bytes) -> int:
        """Return the type of a NAL unit, or of that of which this is a fragment."""
        kind = self.type_of(nal)
        return (
            nal[self.header] & (31 if self.header == 1 else 63) if kind == self.fragment else kind
        )

    def inside(self, payload: bytes) -> list[bytes]:
        """Return the NAL units of an aggregate, or the only one; ValueError: one is cut off."""
        if len(payload) <= self.header or self.type_of(payload) != self.aggregate:
            return [payload]
        nals, start = [], self.header
        while start < len(payload):
            end = start + 2 + int.from_bytes(payload[start : start + 2], "big")
            if end > len(payload) or end == start + 2:
                raise ValueError("An aggregated payload is cut off.")
            nals.append(payload[start + 2 : end])
            start = end
        return nals


LAYOUTS = {
    "h264": Layout(1, 24, 28, (7, 8), (1, 5), range(5, 6), (10, 11)),
    "h265": Layout(2, 48, 49, (32, 33, 34), range(22), range(16, 22), (36, 37)),
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


def packetise_nals(codec: str, unit: bytes, limit: int) -> list[bytes]:
    """Return payloads of at most `limit` bytes: small units aggregated, large ones fragmented."""
    layout = LAYOUTS[codec]
    payloads: list[bytes] = []
    waiting: list[bytes] = []

    def flush() -> None:
        if len(waiting) > 1:
            # The header of the most important unit stands for all of them.
            header = layout.with_type(max(waiting, key=lambda nal: nal[0] & 0x60), layout.aggregate)
            payloads.append(header + b"".join(len(n).to_bytes(2, "big") + n for n in waiting))
        else:
            payloads.extend(waiting)
        waiting.clear()

    for nal in split_nals(unit):
        if layout.header + sum(len(n) + 2 for n in [*waiting, nal]) > limit:
            flush()
        if len(nal) > limit:
            payloads.extend(_fragments(layout, nal, limit))
        else:
            waiting.append(nal)
    flush()
    return payloads


def _fragments(layout: Layout, nal: bytes, limit: int) -> list[bytes]:
    header, kind = layout.with_type(nal, layout.fragment), layout.type_of(nal)
    room = limit - layout.header - 1
    starts = range(layout.header, len(nal), room)
    return [
        header
        + bytes([kind | (start == starts[0]) << 7 | (start == starts[-1]) << 6])
        + nal[start : start + room]
        for start in starts
    ]


class NalAssembler:
    """Puts NAL units together; remembers parameter sets for keyframes that come without them."""

    def __init__(self, codec: str, known: Iterable[bytes] = ()) -> None:
        self._layout = LAYOUTS[codec]
        self._nals: list[bytes] = []
        self._fragment: bytearray | None = None
        self._known: dict[int, list[bytes]] = {}
        self._remember(known)

    def add(self, payload: bytes) -> None:
        """Take one payload; raises ValueError when it is malformed or a fragment is missing."""
        layout = self._layout
        kind = layout.type_of(payload) if len(payload) >= layout.header else -1
        if len(payload) <= layout.header and kind not in layout.bare:
            raise ValueError("The payload is too short.")
        if kind == layout.fragment:
            self._add_fragment(payload)
            return
        if self._fragment is not None:
            self._fragment = None
            raise ValueError("A fragmented NAL unit has no end.")
        if kind > layout.aggregate:
            raise ValueError("The payload type is not supported.")
        self._nals += layout.inside(payload)

    def take(self) -> tuple[bytes, bool]:
        """Return the access unit as Annex B and whether it is a keyframe."""
        nals, self._nals, self._fragment = self._nals, [], None
        types = {self._layout.type_of(nal) for nal in nals}
        self._remember(nals)
        keyframe = any(kind in self._layout.keyframes for kind in types)
        if keyframe:
            missing = [kind for kind in sorted(self._known) if kind not in types]
            nals = [nal for kind in missing for nal in self._known[kind]] + nals
        return join_nals(nals), keyframe

    def _add_fragment(self, payload: bytes) -> None:
        layout = self._layout
        flags, body = payload[layout.header], payload[layout.header + 1 :]
        if flags & 0x80:
            self._fragment = bytearray(layout.with_type(payload, layout.whole_type_of(payload)))
        if self._fragment is None:
            raise ValueError("A fragmented NAL unit has no start.")
        self._fragment += body
        if flags & 0x40:
            self._nals.append(bytes(self._fragment))
            self._fragment = None

    def _remember(self, nals: Iterable[bytes]) -> None:
        layout = self._layout
        sets = [nal for nal in nals if layout.type_of(nal) in layout.parameter_sets]
        for kind in {layout.type_of(nal) for nal in sets}:
            self._known[kind] = [nal for nal in sets if layout.type_of(nal) == kind]
