"""What a camera asks and sends: challenges, and pictures as payloads of RTP."""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, field
from typing import Literal

from ...rtsp.auth import Challenge, Login, basic, digest, parse_challenges, quoted

_CODECS = {"h264": "h264", "h265": "hevc", "mjpeg": "mjpeg"}  # FFmpeg's names
_HEAD = 12  # bytes of a packet before its payload
_REPORTS = range(72, 77)  # RTCP, where a packet of media has its type


@dataclass(frozen=True)
class Guard:
    """The server's side for one login; without `algorithms` it asks for Basic.

    Nonces are signed with `key` instead of being kept, so they survive a reconnect.
    """

    login: Login
    realm: str
    algorithms: tuple[str, ...]
    key: bytes = field(repr=False)
    nonce_seconds: float = 300.0

    def challenges(self, now: float, *, stale: bool = False) -> list[str]:
        """Return WWW-Authenticate values, strongest first: old clients take the last digest."""
        if not self.algorithms:
            return [f"Basic realm={quoted(self.realm)}"]
        start = f'Digest realm={quoted(self.realm)}, nonce="{self._nonce(f"{int(now):x}")}"'
        end = ', qop="auth"' + (", stale=true" if stale else "")
        return [f"{start}, algorithm={algorithm}{end}" for algorithm in self.algorithms]

    def check(
        self, header: str, method: str, url: str, now: float
    ) -> Literal["ok", "stale", "wrong"]:
        """Return whether an Authorization header opens `url`; compares in constant time."""
        scheme, _, rest = header.strip().partition(" ")
        if not self.algorithms:
            right = _same(basic(self.login), rest.strip()) and scheme.lower() == "basic"
            return "ok" if right else "wrong"
        answer = next(iter(parse_challenges([header])), None)
        if answer is None or answer.scheme != "digest" or not self._acceptable(answer, url):
            return "wrong"
        given = answer.parameters
        nonce, qop, nc, cnonce = (given.get(key, "") for key in ("nonce", "qop", "nc", "cnonce"))
        expected = digest(
            answer.algorithm, self.login, self.realm, nonce, method, given["uri"], qop, nc, cnonce
        )
        stamp = nonce.partition("-")[0]
        ours = _same(self._nonce(stamp), nonce)
        right = _same(expected, given.get("response", "")) & _same(
            self.login.name, given.get("username", "")
        )
        if not (right and ours):
            return "wrong"
        return "ok" if now - int(stamp, 16) < self.nonce_seconds else "stale"

    def _acceptable(self, answer: Challenge, url: str) -> bool:
        # Several clients sign the presentation's URL when they set up one of its tracks.
        uri = answer.parameters.get("uri", "")
        offered = {name.upper() for name in self.algorithms}
        qop_known = answer.parameters.get("qop", "auth") == "auth"
        return bool(uri) and url.startswith(uri) and answer.algorithm in offered and qop_known

    def _nonce(self, stamp: str) -> str:
        signature = hmac.new(self.key, stamp.encode(errors="replace"), "sha256").hexdigest()
        return f"{stamp}-{signature[:32]}"


def _same(left: str, right: str) -> bool:
    return hmac.compare_digest(*(text.encode(errors="surrogateescape") for text in (left, right)))


class _Packets(list[bytes]):
    def write(self, data: bytes) -> int:
        self.append(bytes(data))
        return len(data)


def packetise(codec: str, unit: bytes, limit: int = 1400) -> list[bytes]:
    """Return one access unit as RTP payloads of at most `limit` bytes; the last gets the marker."""
    import av

    packets = _Packets()
    start = unit.find(b"\xff\xc0") if codec == "mjpeg" else -1  # RTP says the size of a JPEG
    height, width = struct.unpack_from("!HH", unit, start + 5) if start >= 0 else (8, 8)
    options = {"packetsize": str(limit + _HEAD)}
    with av.open(packets, "w", "rtp", options, buffer_size=limit + _HEAD) as muxer:
        stream = muxer.add_mux_stream(_CODECS[codec], 1, width=width, height=height)
        packet = av.Packet(unit)
        packet.stream, packet.pts, packet.dts = stream, 0, 0
        muxer.mux(packet)
    return [packet[_HEAD:] for packet in packets if packet[1] & 127 not in _REPORTS]
