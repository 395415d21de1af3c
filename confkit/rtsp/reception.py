"""What arrives of one stream: counted, put together, and judged without decoding."""

from __future__ import annotations

from .h26x import LAYOUTS, parameter_sets
from .refusal import PullRefused
from .rtp import Depacketiser, Packet, Sequencer, parse_packet
from .sdp import Media

# So many packets without a single picture in them are of another codec than was announced.
_ENOUGH = 60
_RTCP = range(72, 77)  # out of its place
_PROFILES = {
    "h264": {
        66: "Baseline",
        77: "Main",
        88: "Extended",
        100: "High",
        110: "High 10",
        122: "High 4:2:2",
        244: "High 4:4:4",
    },
    "h265": {1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Range Extensions"},
}


class Reception:
    """The packets of a stream; `keyframe` is the last whole one, `packets` counts.

    Where packets of the announced payload type come, others belong to something else.
    """

    def __init__(self, media: Media) -> None:
        self.codec = media.codec
        self.keyframe: bytes | None = None
        self.packets = 0
        self._media = media
        self._pictures = 0  # payloads that look like pictures of the codec
        self._announced = self._oversized = False
        self._depacketiser = Depacketiser(self.codec, media.parameter_sets)
        self._sequencer = Sequencer()

    def take(self, data: bytes) -> bool:
        """Return whether this was an RTP packet, and count it."""
        try:
            packet = parse_packet(data)
        except ValueError:
            return False
        announced = packet.payload_type == self._media.payload_type
        self._announced |= announced
        if packet.payload_type in _RTCP or self._announced != announced:
            return False
        for ordered in self._sequencer.push(packet):
            self._take(ordered)
        return True

    def refusal(self) -> PullRefused | None:
        """Return why no picture can be expected any more."""
        if self._oversized:
            reason = "The MJPEG pictures are wider or higher than 2040 pixels, which is not "
            advice = "Choose a smaller picture in the camera, or H.264."
            return PullRefused("codec_unsupported", f"{reason}supported.", advice=advice)
        return self._foreign() if self.packets >= _ENOUGH else None

    def without_keyframe(self, within: str) -> PullRefused:
        """Return what it means that no keyframe has come `within` some seconds."""
        missing = self._depacketiser.lost
        lost = f"; {missing} packets were lost" if missing else ""
        counted = f"{self.packets} packet{'s' * (self.packets != 1)}"
        reason = f"No whole keyframe came {within}, among {counted}{lost}."
        return self._foreign() or PullRefused("no_keyframe", reason, timed_out=True)

    def profile(self) -> str | None:
        """Return the profile that the parameter sets name, such as "High"."""
        if self.codec == "mjpeg":
            return "Baseline"
        known, type_of = _PROFILES[self.codec], LAYOUTS[self.codec].type_of
        sets = parameter_sets(self.codec, self.keyframe or b"") or self._media.parameter_sets
        sps = next((nal for nal in sets if type_of(nal) in (7, 33) and len(nal) > 3), bytes(4))
        if self.codec == "h265":
            return known.get(sps[3] & 31)
        return "Constrained Baseline" if sps[1] == 66 and sps[2] & 0x40 else known.get(sps[1])

    def _foreign(self) -> PullRefused | None:
        """Return that the codec is not the announced one: next to nothing looks like pictures."""
        if self._pictures * 8 >= self.packets:
            return None
        reason = f"What the camera sends is not the {self._media.encoding} it announces."
        return PullRefused("no_picture", reason)

    def _take(self, packet: Packet) -> None:
        self.packets += 1
        self._oversized |= self.codec == "mjpeg" and _beyond_2040(packet.payload)
        self._pictures += _looks_like_picture(self.codec, packet.payload)
        for unit in self._depacketiser.push(packet):
            if unit.keyframe and unit.complete:
                self.keyframe = unit.data


def _looks_like_picture(codec: str, payload: bytes) -> bool:
    """Return whether a payload carries (a part of) a picture, by the headers of its codec alone."""
    if codec == "mjpeg":
        return len(payload) > 8 and payload[4] & 0x3F < 2 and payload[5] > 0
    layout = LAYOUTS[codec]
    try:
        return any(map(layout.looks_like_picture, layout.inside(payload)))
    except (ValueError, IndexError):
        return False


def _beyond_2040(payload: bytes) -> bool:
    """Return whether a picture begins whose size does not fit into its header, which is then 0."""
    begins = payload[:4] == bytes(4) and payload[4:5] in (b"\0", b"\1") and payload[5:6] > b"\0"
    return len(payload) > 8 and begins and payload[6:8] == b"\0\0"
