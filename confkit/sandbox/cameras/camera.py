"""A camera: how it answers and what it plays."""

from __future__ import annotations

import base64
import secrets
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ...rtsp.auth import Challenge, Login, basic, digest, parse_challenges
from ...rtsp.sdp import ENCODINGS
from ..signatures import same
from .picture import Loop

CLOCK = 90_000  # of all video in RTP, a second
PAYLOAD_TYPES = {"h264": 96, "h265": 97, "mjpeg": 26}
TRACK = "track1"

# Strongest first: FFmpeg answers the last digest that it is offered, and knows MD5 only.
DIGESTS = {"digest": ("SHA-256", "MD5"), "md5": ("MD5",), "sha-256": ("SHA-256",), "basic": ()}
_PARAMETER_SETS = {
    "h264": b"a=fmtp:96 packetization-mode=1; sprop-parameter-sets=%b,%b\r\n",
    "h265": b"a=fmtp:97 sprop-vps=%b; sprop-sps=%b; sprop-pps=%b\r\n",
    "mjpeg": b"",
}


@dataclass(frozen=True, eq=False)
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
    unplugged: threading.Event = field(default_factory=threading.Event)

    @property
    def newest_frame(self) -> int:
        """The number of the newest frame, counted across repetitions of the loop."""
        return int(time.monotonic() * self.loop.fps)

    def challenges(self) -> list[str]:
        """Return the values of WWW-Authenticate."""
        offer = f'Digest realm="camera", nonce="{self.nonce}", algorithm={{}}, qop="auth"'
        return [offer.format(name) for name in DIGESTS[self.auth]] or ['Basic realm="camera"']

    def accepts(self, authorization: str, method: str, url: str) -> bool:
        """Return whether a request has the required login, if any."""
        if self.login is None:
            return True
        if self.auth == "basic":
            scheme, _, answer = authorization.partition(" ")
            return scheme.lower() == "basic" and same(answer.strip(), basic(self.login))
        sent = next(iter(parse_challenges([authorization])), Challenge("", {}))
        algorithm = sent.parameters.get("algorithm", "MD5").upper()
        # Several clients sign the presentation's URL when they set up one of its tracks.
        signed = sent.parameters.get("uri", "")
        if algorithm not in DIGESTS[self.auth] or not signed or not url.startswith(signed):
            return False
        own = {**sent.parameters, "realm": "camera", "nonce": self.nonce}
        return same(sent.parameters.get("response", ""), digest(own, self.login, method))


def describe(name: str, loop: Loop) -> bytes:
    """Return the session description of a loop."""
    number, sets = PAYLOAD_TYPES[loop.codec], [base64.b64encode(nal) for nal in loop.parameter_sets]
    head = (
        f"v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns={' '.join(name.split()) or '-'}\r\n"
        f"c=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP {number}\r\n"
        f"a=rtpmap:{number} {ENCODINGS[loop.codec]}/{CLOCK}\r\na=control:{TRACK}\r\n"
    )
    return head.encode() + _PARAMETER_SETS[loop.codec] % (*sets,)
