"""A camera: how it answers and what it plays."""

from __future__ import annotations

import base64
import hmac
import secrets
import socket
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ...rtsp.auth import Challenge, Login, basic, digest, parse_challenges
from ...rtsp.sdp import ENCODINGS
from ...secret import Secret
from .picture import Loop, encode_loop

CLOCK = 90_000  # of all video in RTP, a second
PAYLOAD_TYPES = {"h264": 96, "h265": 97, "mjpeg": 26}
TRACK = "track1"

# Strongest first: FFmpeg answers the last digest that it is offered, and knows MD5 only.
_DIGESTS = {"digest": ("SHA-256", "MD5"), "md5": ("MD5",), "sha-256": ("SHA-256",), "basic": ()}


@dataclass(frozen=True, kw_only=True)
class Camera:
    """How a camera responds and what it plays, by this machine's monotonic clock.

    A fault changes a copy: `refusals` are status lines by method that replace the camera's own
    responses, and the connection closes after the response to the method `closes_after`. A camera
    with a `raw_answer` sends that to any request and closes; an empty one stays silent.
    """

    loop: Loop
    description: bytes = field(repr=False)
    login: Login | None
    auth: str
    transports: Collection[str]
    refusals: Mapping[str, str] = field(default_factory=dict)
    closes_after: str = ""
    raw_answer: bytes | None = None
    nonce: str = field(default_factory=secrets.token_hex, repr=False)
    viewers: set[socket.socket] = field(default_factory=set, repr=False)
    unplugged: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def newest_frame(self) -> int:
        """The number of the newest frame, counted across repetitions of the loop."""
        return int(time.monotonic() * self.loop.fps)

    def challenges(self) -> list[str]:
        """Return the values of WWW-Authenticate."""
        offer = f'Digest realm="camera", nonce="{self.nonce}", algorithm={{}}, qop="auth"'
        return [offer.format(name) for name in _DIGESTS[self.auth]] or ['Basic realm="camera"']

    def accepts(self, authorization: str, method: str, url: str) -> bool:
        """Return whether a request has the required login, if any."""
        if self.login is None:
            return True
        if self.auth == "basic":
            scheme, _, answer = authorization.partition(" ")
            return scheme.lower() == "basic" and _equal(answer.strip(), basic(self.login))
        challenge = next(iter(parse_challenges([authorization])), Challenge("", {}))
        algorithm = challenge.parameters.get("algorithm", "MD5").upper()
        if challenge.scheme != "digest" or algorithm not in _DIGESTS[self.auth]:
            return False
        answer, signed = (challenge.parameters.get(name, "") for name in ("response", "uri"))
        own = {**challenge.parameters, "realm": "camera", "nonce": self.nonce}
        # Several clients sign the presentation's URL when they set up one of its tracks.
        right = signed != "" and url.startswith(signed)
        return _equal(answer, digest(own, self.login, method)) and right


def _equal(left: str, right: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(*(text.encode(errors="surrogateescape") for text in (left, right)))


def make_camera(
    name: str,
    *,
    login_name: str | None = None,
    login_password: str | Secret | None = None,
    codec: str = "h264",
    size: tuple[int, int] = (640, 360),
    fps: int = 15,
    keyframe_every: float = 1.0,
    auth: str = "digest",
    transports: Collection[str] = ("tcp", "udp"),
    scrambled: bool = False,
) -> Camera:
    """Return a healthy camera, except that pictures may be `scrambled`; encoding takes a while.

    `name` is shown in the picture, `size` is in pixels, `keyframe_every` in seconds. Without a
    login the camera is open; `auth` "digest" offers SHA-256 and MD5. ValueError: an invalid setting
    (the text names the choices).
    """
    for text in (name, login_name, login_password):
        if not isinstance(text, str | Secret | None):
            raise ValueError("name, login_name and login_password must be text")
    if codec not in [*ENCODINGS]:
        raise ValueError(f"codec must be one of {', '.join(ENCODINGS)}")
    if auth not in [*_DIGESTS]:
        raise ValueError(f"auth must be one of {', '.join(_DIGESTS)}")
    sent = sorted(map(str, transports)) if isinstance(transports, tuple | list) else []
    if sent not in (["tcp"], ["udp"], ["tcp", "udp"]):
        raise ValueError('transports must be ("tcp",), ("udp",) or ("tcp", "udp")')
    step, wide, high = (8, 2040, 2040) if codec == "mjpeg" else (2, 3840, 2160)
    width, height = size if isinstance(size, tuple | list) and len(size) == 2 else (0, 0)
    if not (_is_whole(width, 128, wide, step) and _is_whole(height, 96, high, step)):
        raise ValueError(
            f"size must be two whole numbers such as (640, 360), from 128x96 to {wide}x{high} "
            f"in steps of {step}"
        )
    if not _is_whole(fps, 1, 60):
        raise ValueError("fps must be a whole number from 1 to 60")
    if not (isinstance(keyframe_every, int | float) and 0 < keyframe_every <= 60):
        raise ValueError("keyframe_every must be above 0 and at most 60 seconds")
    if scrambled and codec == "mjpeg":
        raise ValueError("only the pictures of an h264 or h265 camera can be scrambled")

    shape: dict[str, Any] = {"codec": codec, "size": tuple(size), "fps": fps}
    loop = _shared_loop(name, keyframe_every=keyframe_every, scrambled=scrambled, **shape)
    login = None
    if (login_name, login_password) != (None, None):
        login = Login(login_name or "", Secret(login_password or "").reveal())
    description = describe_loop(name, loop)
    return Camera(loop=loop, description=description, login=login, auth=auth, transports=transports)


def _is_whole(value: object, least: int, most: int, step: int = 1) -> bool:
    return type(value) is int and least <= value <= most and value % step == 0


@lru_cache(maxsize=16)
def _shared_loop(name: str, **options: Any) -> Loop:
    """Return a loop of about 1 MB: the payloads of all frames, but only the first frame itself."""
    loop = encode_loop(name, **options)
    return replace(loop, frames=loop.frames[:1])


def describe_loop(name: str, loop: Loop) -> bytes:
    """Return the session description of a loop."""
    number, sets = PAYLOAD_TYPES[loop.codec], [base64.b64encode(nal) for nal in loop.parameter_sets]
    fmtp = {
        "h264": b"a=fmtp:96 packetization-mode=1; sprop-parameter-sets=%b,%b\r\n",
        "h265": b"a=fmtp:97 sprop-vps=%b; sprop-sps=%b; sprop-pps=%b\r\n",
        "mjpeg": b"",
    }[loop.codec] % (*sets,)
    head = (
        f"v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns={' '.join(name.split()) or '-'}\r\n"
        f"c=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP {number}\r\n"
        f"a=rtpmap:{number} {ENCODINGS[loop.codec]}/{CLOCK}\r\na=control:{TRACK}\r\n"
    )
    return head.encode() + fmtp
