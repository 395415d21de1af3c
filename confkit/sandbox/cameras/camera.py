"""A camera: what it is to be like, its loop on the wire, and one viewer's copy of that."""

from __future__ import annotations

import asyncio
import base64
import ssl
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...rtsp.auth import Login
from ...rtsp.h26x import parameter_sets
from ...rtsp.message import Frame, Request, Response
from ...rtsp.rtp import Packet
from ...rtsp.sdp import ENCODINGS
from ...secret import Secret
from .picture import Loop
from .serving import Guard, packetise

if TYPE_CHECKING:
    from .session import Connection

TRACK = "track1"

# Strongest first: FFmpeg answers the last digest that it is offered, and knows MD5 only.
ALGORITHMS = {"digest": ("SHA-256", "MD5"), "sha-256": ("SHA-256",), "basic": ()}

_PAYLOAD_TYPES = {"h264": 96, "h265": 97, "mjpeg": 26}
_CLOCK = 90_000  # of all video in RTP, a second
_LATE = 0.001  # seconds; a timer of uvloop may fire as much too early, when nothing is due yet


def packetise_loop(loop: Loop) -> list[list[bytes]]:
    """Return the RTP payloads of every frame of a loop."""
    return [packetise(loop.codec, frame) for frame in loop.frames]


def describe_loop(name: str, loop: Loop) -> bytes:
    """Return the session description of a loop."""
    number, parameters = _PAYLOAD_TYPES[loop.codec], ""
    if loop.codec != "mjpeg":
        sets = parameter_sets(loop.codec, loop.frames[0])
        encoded = [base64.b64encode(nal).decode() for nal in sets]
        parameters = "a=fmtp:97 sprop-vps={}; sprop-sps={}; sprop-pps={}\r\n"
        if loop.codec == "h264":
            parameters = "a=fmtp:96 packetization-mode=1; profile-level-id={2}; "
            parameters += "sprop-parameter-sets={0},{1}\r\n"
        parameters = parameters.format(*encoded, sets[0][1:4].hex())
    return (
        f"v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns={' '.join(name.split()) or '-'}\r\n"
        "c=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\n"
        f"m=video 0 RTP/AVP {number}\r\n"
        f"a=rtpmap:{number} {ENCODINGS[loop.codec]}/{_CLOCK}\r\n{parameters}"
        f"a=control:{TRACK}\r\n"
    ).encode()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one camera.

    `name` stands in the picture, `size` is in pixels, `keyframe_every` in seconds.  Without a login
    the camera is open; `auth` "digest" offers SHA-256 and MD5.  `max_viewers` may watch at once.
    With `tls`, a server's context, the camera has an rtsps address.
    """

    login_name: str | None = None
    login_password: str | Secret | None = field(default=None, repr=False)
    codec: str = "h264"
    size: tuple[int, int] = (640, 360)
    fps: int = 15
    keyframe_every: float = 1.0
    auth: str = "digest"
    name: str | None = None
    transports: Collection[str] = ("tcp", "udp")
    max_viewers: int | None = None
    tls: ssl.SSLContext | None = None

    @property
    def login(self) -> Login | None:
        """The login of the camera, None when it is open."""
        if self.login_name is None and self.login_password is None:
            return None
        return Login(self.login_name or "", Secret(self.login_password or "").reveal())

    def check(self) -> None:
        """Raise ValueError for a setting that makes no sense; the text never quotes it."""
        step, wide, high = (8, 2040, 2040) if self.codec == "mjpeg" else (2, 3840, 2160)
        whole = isinstance(self.size, tuple | list) and len(self.size) == 2
        width, height = self.size if whole else (0, 0)
        texts = (self.name, self.login_name, self.login_password)
        rules = {
            "The name and the login of a camera are texts.": all(
                text is None or isinstance(text, str | Secret) for text in texts
            ),
            f"The authentication is none of {', '.join(ALGORITHMS)}.": self.auth in [*ALGORITHMS],
            'The transports are not ("tcp",), ("udp",) or ("tcp", "udp").': (
                [*self.transports] in (["tcp"], ["udp"], ["tcp", "udp"], ["udp", "tcp"])
            ),
            "The number of viewers is not a whole number above 0, nor None.": (
                self.max_viewers is None or _from_to(self.max_viewers, 1, sys.maxsize)
            ),
            "tls is not an ssl.SSLContext for a server, with its certificate.": (
                self.tls is None or isinstance(self.tls, ssl.SSLContext)
            ),
            f"The codec is none of {', '.join(ENCODINGS)}.": self.codec in [*ENCODINGS],
            f"The size is not a pair of whole numbers such as (640, 360), from 128x96 to "
            f"{wide}x{high} in steps of {step}.": _from_to(width, 128, wide, step)
            and _from_to(height, 96, high, step),
            "The frame rate is not a whole number from 1 to 60.": _from_to(self.fps, 1, 60),
            "The keyframe interval is not above 0 and up to 60 seconds.": (
                isinstance(self.keyframe_every, int | float) and 0 < self.keyframe_every <= 60
            ),
        }
        for problem, kept in rules.items():
            if not kept:
                raise ValueError(problem)


def _from_to(value: object, least: int, most: int, step: int = 1) -> bool:
    return isinstance(value, int) and least <= value <= most and value % step == 0


class Camera:
    """A loop, packetised once for all its viewers; it runs by the clock from `started`, seconds.

    A fault changes it before it plays: `instead` gives the answers that stand in for the camera's
    own, and the connection closes after the answer to the method `closes_after`.
    """

    closes_after = ""
    _timer: asyncio.TimerHandle | None = None

    def __init__(self, settings: Settings, name: str, loop: Loop, started: float) -> None:
        self.settings = settings
        self.loop = loop
        self.started = started
        self.description = describe_loop(name, loop)
        self.payloads = packetise_loop(loop)
        login = settings.login
        self.guard = Guard(login, ALGORITHMS[settings.auth]) if login else None
        self.instead: Callable[[Request], Response | None] = lambda _request: None
        self.viewers: set[Connection] = set()

    @property
    def full(self) -> bool:
        """Whether nobody else may watch."""
        most = self.settings.max_viewers
        return most is not None and len(self.viewers) >= most

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
            for number, payload in enumerate(group, 1):
                last, sequence = number == len(group), viewer.sequence
                packet = Packet(kind, last, sequence, stamp, viewer.ssrc, payload).encode()
                yield packet if viewer.channel is None else Frame(viewer.channel, packet).encode()
                viewer.sequence = (sequence + 1) & 0xFFFF
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
