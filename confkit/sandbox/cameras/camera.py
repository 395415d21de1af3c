"""A camera: what it is to be like, its loop on the wire, and one viewer's copy of that."""

from __future__ import annotations

import asyncio
import base64
import ssl
import struct
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...rtsp.auth import Login
from ...rtsp.h26x import parameter_sets
from ...rtsp.message import Request, Response
from ...rtsp.rtp import ENCODINGS
from .picture import Loop, check_loop
from .serving import Guard, packetise

if TYPE_CHECKING:
    from .session import Connection

TRACK = "track1"

# Strongest first: FFmpeg answers the last digest that it is offered, and knows MD5 only.
ALGORITHMS = {"digest": ("SHA-256", "MD5"), "sha-256": ("SHA-256",), "basic": ()}
TRANSPORTS = ("tcp", "udp")


_PAYLOAD_TYPES = {"h264": 96, "h265": 97, "mjpeg": 26}
_CLOCK = 90_000  # of all video in RTP, a second
_LATE = 0.001  # seconds; a timer of uvloop may fire as much too early, when nothing is due yet


def packetise_loop(loop: Loop) -> list[list[bytes]]:
    """Return the RTP payloads of every frame of a loop."""
    return [packetise(loop.codec, frame) for frame in loop.frames]


def describe_loop(name: str, loop: Loop) -> bytes:
    """Return the session description of a loop."""
    sets = parameter_sets(loop.codec, loop.frames[0]) if loop.codec != "mjpeg" else []
    encoded = [base64.b64encode(nal).decode() for nal in sets]
    number, parameters = _PAYLOAD_TYPES[loop.codec], ""
    if loop.codec == "h264":
        parameters = f"packetization-mode=1; profile-level-id={sets[0][1:4].hex()}; "
        parameters += f"sprop-parameter-sets={','.join(encoded)}"
    elif loop.codec == "h265":
        parameters = "sprop-vps={}; sprop-sps={}; sprop-pps={}".format(*encoded)
    lines = [
        "v=0",
        "o=- 0 0 IN IP4 0.0.0.0",
        f"s={' '.join(name.split()) or '-'}",
        "c=IN IP4 0.0.0.0",
        "t=0 0",
        "a=control:*",
        f"m=video 0 RTP/AVP {number}",
        f"a=rtpmap:{number} {ENCODINGS[loop.codec]}/{_CLOCK}",
        *([f"a=fmtp:{number} {parameters}"] if parameters else []),
        f"a=control:{TRACK}",
        "",
    ]
    return "\r\n".join(lines).encode()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one camera.

    `name` stands in the picture, `size` is in pixels, `keyframe_every` in seconds.  Without a login
    the camera is open; `auth` "digest" offers SHA-256 and MD5.  `max_viewers` may watch at once.
    With `tls`, a server's context, the camera has an rtsps address.
    """

    login_name: str | None = None
    login_password: str | None = field(default=None, repr=False)
    codec: str = "h264"
    size: tuple[int, int] = (640, 360)
    fps: int = 15
    keyframe_every: float = 1.0
    auth: str = "digest"
    name: str | None = None
    transports: Collection[str] = TRANSPORTS
    max_viewers: int | None = None
    tls: ssl.SSLContext | None = None

    @property
    def login(self) -> Login | None:
        """The login of the camera, None when it is open."""
        if self.login_name is None and self.login_password is None:
            return None
        return Login(self.login_name or "", self.login_password or "")

    def check(self) -> None:
        """Raise ValueError for a setting that makes no sense; the text never quotes it."""
        texts = self.name, self.login_name, self.login_password
        if not all(text is None or isinstance(text, str) for text in texts):
            raise ValueError("The name and the login of a camera are texts.")
        if self.auth not in tuple(ALGORITHMS):
            raise ValueError(f"The authentication is none of {', '.join(ALGORITHMS)}.")
        chosen = self.transports
        if isinstance(chosen, str) or not chosen or not set(chosen) <= set(TRANSPORTS):
            raise ValueError('The transports are not ("tcp",), ("udp",) or ("tcp", "udp").')
        viewers = self.max_viewers
        if viewers is not None and (not isinstance(viewers, int) or viewers < 1):
            raise ValueError("The number of viewers is not a whole number above 0, nor None.")
        if self.tls is not None and not isinstance(self.tls, ssl.SSLContext):
            raise ValueError("tls is not an ssl.SSLContext for a server, with its certificate.")
        check_loop(self.codec, self.size, self.fps, self.keyframe_every)


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
    instead: Callable[[Request], Response | None] = lambda _request: None
    closes_after: str = ""
    closes_in: float = 0.0
    viewers: set[Connection] = field(default_factory=set, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    @property
    def full(self) -> bool:
        """Whether nobody else may watch."""
        return self.max_viewers is not None and len(self.viewers) >= self.max_viewers

    @property
    def newest(self) -> int:
        """The number of the newest frame, counted on across the loop."""
        return int((asyncio.get_running_loop().time() - self.started) * self.loop.fps)

    @property
    def newest_keyframe(self) -> int:
        """The number of the newest keyframe."""
        return self.newest // self.loop.keyframe_frames * self.loop.keyframe_frames

    def watch(self, viewer: Connection) -> None:
        """Send to a viewer from its `next_frame` on, at once, while it is among the `viewers`."""
        self.viewers.add(viewer)
        self._tick()

    def close(self) -> None:
        """End the connections of all viewers."""
        for viewer in list(self.viewers):
            viewer.transport.abort()
        self.viewers.clear()
        if self._timer:
            self._timer.cancel()

    def packets(self, viewer: Connection, newest: int) -> Iterator[bytes]:
        """Yield what a viewer has not got yet, up to the frame `newest`."""
        interval, kind = self.loop.keyframe_frames, _PAYLOAD_TYPES[self.loop.codec]
        # After a pause of the whole process: no backlog older than the last keyframe but one.
        start = max(viewer.next_frame, newest // interval * interval - interval)
        for frame in range(start, newest + 1):
            stamp, group = self.timestamp(viewer, frame), self.payloads[frame % len(self.payloads)]
            for index, payload in enumerate(group):
                marked = kind | (index == len(group) - 1) << 7
                head = struct.pack("!BBHII", 0x80, marked, viewer.sequence, stamp, viewer.ssrc)
                if viewer.channel is not None:
                    size = len(head) + len(payload)
                    head = struct.pack("!cBH", b"$", viewer.channel, size) + head
                yield head + payload
                viewer.sequence = (viewer.sequence + 1) & 0xFFFF
        viewer.next_frame = max(start, newest + 1)

    def timestamp(self, viewer: Connection, frame: int) -> int:
        """Return the RTP timestamp of a frame."""
        return (viewer.ssrc + frame * _CLOCK // self.loop.fps) & 0xFFFFFFFF

    def _tick(self) -> None:
        """Send every viewer the frames that are due; without viewers there is no timer."""
        if self._timer:
            self._timer.cancel()
        newest = self.newest
        for viewer in list(self.viewers):
            viewer.send(list(self.packets(viewer, newest)))
        if self.viewers:
            due = self.started + (newest + 1) / self.loop.fps
            self._timer = asyncio.get_running_loop().call_at(due + _LATE, self._tick)
