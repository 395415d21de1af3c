"""A camera's encoded loop, and one viewer's copy of it on the wire."""

from __future__ import annotations

import asyncio
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from .h26x import parameter_sets
from .message import Request, Response
from .picture import Loop
from .rtp import ENCODINGS
from .sdp import Description, Media
from .serving import Guard, encode_parameter_sets, packetise, write_sdp

TRACK = "track1"

# What a loop is on the wire: kind, payload type, name and clock rate.  The last two are what a room
# has no use for.
_MEDIA = {
    "h264": ("video", 96, ENCODINGS["h264"], 90_000),
    "h265": ("video", 97, ENCODINGS["h265"], 90_000),
    "mjpeg": ("video", 26, ENCODINGS["mjpeg"], 90_000),
    "mpeg4": ("video", 98, "MP4V-ES", 90_000),
    "pcmu": ("audio", 0, "PCMU", 8_000),
}
_PIECE = 1400
_LATE = 0.001  # seconds; a timer of uvloop may fire as much too early, when nothing is due yet
_PICTURE = b"\0\0\1\xb6"  # where a picture of MPEG-4 begins, after the stream's settings


def _nothing_else(_request: Request) -> Response | None:
    return None


@dataclass(eq=False)
class Camera:
    """A loop, packetised once for all its viewers; it runs by the clock from `started`, seconds.

    `instead` gives the answers that stand in for the camera's own.  The connection closes
    `closes_in` seconds after the answer to the method, or with the status, `closes_after`.
    """

    url: str
    loop: Loop
    description: bytes
    payloads: list[list[bytes]] = field(repr=False)
    guard: Guard | None
    transports: frozenset[str]
    started: float
    max_viewers: int | None = None
    instead: Callable[[Request], Response | None] = _nothing_else
    closes_after: str = ""
    closes_in: float = 0.0
    viewers: dict[Viewer, Callable[[], None]] = field(default_factory=dict, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    @property
    def full(self) -> bool:
        """Whether nobody else may watch."""
        return self.max_viewers is not None and len(self.viewers) >= self.max_viewers

    def frame_at(self, now: float) -> int:
        """Return the number of the newest frame, counted on across the loop."""
        return int((now - self.started) * self.loop.fps)

    def keyframe_at(self, now: float) -> int:
        """Return the number of the newest keyframe."""
        return self.frame_at(now) // self.loop.keyframe_frames * self.loop.keyframe_frames

    def watch(self, viewer: Viewer, kick: Callable[[], None]) -> None:
        """Send to a viewer from the newest keyframe on, at once; `kick` must end its connection."""
        self.viewers[viewer] = kick
        self._tick()

    def unwatch(self, viewer: Viewer) -> None:
        """Send nothing more to a viewer."""
        self.viewers.pop(viewer, None)

    def close(self) -> None:
        """Kick all viewers."""
        for kick in list(self.viewers.values()):
            kick()
        self.viewers.clear()
        if self._timer:
            self._timer.cancel()

    def _tick(self) -> None:
        """Send every viewer the frames that are due; without viewers there is no timer."""
        loop = asyncio.get_running_loop()
        if self._timer:
            self._timer.cancel()
        newest = self.frame_at(loop.time())
        for viewer, kick in list(self.viewers.items()):
            if not viewer.send_until(newest):
                kick()
        if self.viewers:
            due = self.started + (newest + 1) / self.loop.fps
            self._timer = loop.call_at(due + _LATE, self._tick)


@dataclass(eq=False)
class Viewer:
    """One viewer's sequence numbers, timestamps and SSRC.

    `send` takes the packets of a moment and is False when they pile up; `channel` is the
    interleaved channel, or None over UDP.
    """

    camera: Camera
    channel: int | None
    send: Callable[[list[bytes]], bool]
    next_frame: int = 0
    sequence: int = field(default_factory=lambda: secrets.randbelow(1 << 15))
    ssrc: int = field(default_factory=lambda: secrets.randbits(32))
    offset: int = field(default_factory=lambda: secrets.randbits(32))

    def timestamp(self, frame: int) -> int:
        """Return the RTP timestamp of a frame."""
        loop = self.camera.loop
        return (self.offset + frame * _MEDIA[loop.codec][3] // loop.fps) & 0xFFFFFFFF

    def send_until(self, newest: int) -> bool:
        """Send the frames up to `newest`; False when this viewer reads too slowly."""
        interval, payloads = self.camera.loop.keyframe_frames, self.camera.payloads
        kind = _MEDIA[self.camera.loop.codec][1]
        # After a pause of the whole process: no backlog older than the last keyframe but one.
        start = max(self.next_frame, newest // interval * interval - interval)
        packets: list[bytes] = []
        for frame in range(start, newest + 1):
            stamp, group = self.timestamp(frame), payloads[frame % len(payloads)]
            for index, payload in enumerate(group):
                marked = kind | (index == len(group) - 1) << 7
                header = struct.pack("!BBHII", 0x80, marked, self.sequence, stamp, self.ssrc)
                if self.channel is not None:
                    size = len(header) + len(payload)
                    header = struct.pack("!cBH", b"$", self.channel, size) + header
                packets.append(header + payload)
                self.sequence = (self.sequence + 1) & 0xFFFF
        self.next_frame = max(start, newest + 1)
        return not packets or self.send(packets)


def packetise_loop(loop: Loop) -> list[list[bytes]]:
    """Return the RTP payloads of every frame of a loop."""
    if loop.codec in ENCODINGS:
        return [packetise(loop.codec, frame) for frame in loop.frames]
    return [  # in pieces, as it is (RFC 6416, RFC 3551)
        [frame[at : at + _PIECE] for at in range(0, len(frame), _PIECE)] for frame in loop.frames
    ]


def describe_loop(name: str, loop: Loop) -> bytes:
    """Return the session description of a loop."""
    parameters: dict[str, str] = {}
    if loop.codec == "h264":
        sets = parameter_sets("h264", loop.frames[0])
        parameters = {"packetization-mode": "1", "profile-level-id": sets[0][1:4].hex()}
        parameters["sprop-parameter-sets"] = encode_parameter_sets(sets)
    elif loop.codec == "h265":
        sets = parameter_sets("h265", loop.frames[0])
        names = ("sprop-vps", "sprop-sps", "sprop-pps")
        parameters = {
            key: encode_parameter_sets([nal]) for key, nal in zip(names, sets, strict=True)
        }
    elif loop.codec == "mpeg4":
        parameters = {
            "profile-level-id": "1",
            "config": loop.frames[0].partition(_PICTURE)[0].hex(),
        }
    media = Media(*_MEDIA[loop.codec], parameters, TRACK)
    return write_sdp(Description((media,), " ".join(name.split()) or "-"))
