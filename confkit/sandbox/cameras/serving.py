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
        if not self.algorithms:
            scheme, _, rest = header.strip().partition(" ")
            known = scheme.lower() == "basic" and _same(basic(self.login), rest.strip())
            return "ok" if known else "wrong"
        answer = next(iter(parse_challenges([header])), Challenge("", {}))
        given, offered = answer.parameters, {name.upper() for name in self.algorithms}
        uri, nonce, qop = (given.get(key, "") for key in ("uri", "nonce", "qop"))
        # Several clients sign the presentation's URL when they set up one of its tracks.
        sound = answer.scheme == "digest" and answer.algorithm in offered and qop in ("", "auth")
        if not (sound and uri and url.startswith(uri)):
            return "wrong"
        counts = given.get("nc", ""), given.get("cnonce", "")
        made = digest(answer.algorithm, self.login, self.realm, nonce, method, uri, qop, *counts)
        stamp = nonce.partition("-")[0]
        for name, right in (
            ("response", made),
            ("username", self.login.name),
            ("nonce", self._nonce(stamp)),
        ):
            if not _same(right, given.get(name, "")):
                return "wrong"
        return "ok" if now - int(stamp, 16) < self.nonce_seconds else "stale"

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
