"""What arrives of one stream: counted, put together, and judged without decoding."""

from __future__ import annotations

from collections.abc import Callable

from .h26x import LAYOUTS
from .order import Sequencer
from .rtp import Depacketiser, Packet, parse_packet
from .sdp import Media

# So many packets without a single picture in them are of another codec than was announced.
ENOUGH = 60
_RTCP = range(72, 77)  # out of its place
_REMEMBERED = 20_000  # pictures; more than five minutes at 60 a second


class Reception:
    """The packets of a stream; `keyframe` is the last whole one, `packets` counts, `octets` too.

    `pictures` counts payloads that look like pictures of the announced codec, `lost` packets that
    are missing from the sequence.  `keyframe_received` is called for each whole keyframe; the
    times of pictures are kept only where the stream is `observed`.  Where packets of the
    announced payload type come, others belong to something else.
    """

    def __init__(
        self,
        codec: str,
        media: Media,
        keyframe_received: Callable[[bytes], None],
        *,
        observed: bool = False,
    ) -> None:
        self.codec = codec
        self.media = media
        self.keyframe: bytes | None = None
        self.packets = 0
        self.octets = 0
        self.pictures = 0
        self.lost = 0
        self.times: list[int] = []  # of the pictures, in ticks of the clock, not wrapped
        self.keyframe_times: list[int] = []
        self._keyframe_received = keyframe_received
        self._announced = False
        self._observed = observed
        self.oversized = False
        self._depacketiser = Depacketiser(codec, media.parameter_sets)
        self._sequencer = Sequencer()
        self._next: int | None = None

    def take(self, data: bytes) -> bool:
        """Return whether this was an RTP packet, and count it."""
        try:
            packet = parse_packet(data)
        except ValueError:
            return False
        announced = packet.payload_type == self.media.payload_type
        self._announced = self._announced or announced
        if packet.payload_type in _RTCP or (self._announced and not announced):
            return False
        for ordered in self._sequencer.push(packet):
            self._take(ordered, len(data))
        return True

    @property
    def foreign(self) -> bool:
        """Whether this is not of the announced codec: next to nothing in it looks like pictures."""
        return self.pictures * 8 < self.packets

    def _take(self, packet: Packet, octets: int) -> None:
        self.packets += 1
        self.octets += octets
        if self._next is not None:
            gap = (packet.sequence - self._next) & 0xFFFF
            self.lost += gap if gap < 0x8000 else 0
        self._next = (packet.sequence + 1) & 0xFFFF
        payload = packet.payload
        self.oversized |= self.codec == "mjpeg" and _beyond_2040(payload)
        self.pictures += looks_like_picture(self.codec, payload)
        for unit in self._depacketiser.push(packet):
            if self._observed:
                self._remember(unit.timestamp, unit.keyframe)
            if unit.keyframe and unit.complete:
                self.keyframe = unit.data
                self._keyframe_received(unit.data)

    def _remember(self, timestamp: int, keyframe: bool) -> None:
        if self.times:
            step = (timestamp - self.times[-1] + (1 << 31)) % (1 << 32) - (1 << 31)
            timestamp = self.times[-1] + step
        if not self.times or timestamp != self.times[-1]:
            self.times.append(timestamp)
            if keyframe:
                self.keyframe_times.append(timestamp)
        del self.times[:-_REMEMBERED], self.keyframe_times[:-_REMEMBERED]


def looks_like_picture(codec: str, payload: bytes) -> bool:
    """Return whether a payload carries (a part of) a picture, by the headers of its codec alone."""
    if codec == "mjpeg":
        return len(payload) > 8 and payload[4] & 0x3F < 2 and payload[5] > 0
    layout = LAYOUTS[codec]
    if len(payload) <= layout.header + 3 or payload[0] & 0x80:
        return False
    if codec == "h265" and (payload[0] & 1 or not 0 < payload[1] < 8):
        return False  # of a layer that nobody sends, or none
    kind, start = layout.type_of(payload), layout.header
    if kind == layout.aggregate:
        return any(looks_like_picture(codec, nal) for nal in _inside(payload[start:], start))
    if kind == layout.fragment:
        kind = payload[start] & (31 if start == 1 else 63)
    return kind in (1, 5) if codec == "h264" else kind < 22


def _beyond_2040(payload: bytes) -> bool:
    """Return whether a picture begins whose size does not fit into its header, which is then 0."""
    begins = payload[:4] == bytes(4) and payload[4:5] in (b"\0", b"\1") and payload[5:6] > b"\0"
    return len(payload) > 8 and begins and payload[6:8] == b"\0\0"


def _inside(payload: bytes, header: int) -> list[bytes]:
    """Return the beginnings of the units of an aggregate, as far as it is one."""
    found, start = [], 0
    while start + 2 < len(payload):
        size = int.from_bytes(payload[start : start + 2], "big")
        found.append(payload[start + 2 : start + 2 + min(size, header + 4)])
        start += 2 + max(size, 1)
    return found
