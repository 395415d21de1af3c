"""What a camera asks and sends: challenges, and pictures as payloads of RTP."""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, field
from typing import Literal

from ...rtsp.auth import Challenge, Login, basic, digest, parse_challenges, quoted
from ...rtsp.h26x import LAYOUTS, Layout, split_nals
from ...rtsp.jpeg import TABLE


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


def packetise(codec: str, unit: bytes, limit: int = 1400) -> list[bytes]:
    """Return one access unit as RTP payloads of at most `limit` bytes; the last gets the marker."""
    if codec == "mjpeg":
        return _packetise_jpeg(unit, limit)
    return _packetise_nals(codec, unit, limit)


def _packetise_nals(codec: str, unit: bytes, limit: int) -> list[bytes]:
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


def _packetise_jpeg(picture: bytes, limit: int) -> list[bytes]:
    """Return a JPEG file as RTP payloads; raises ValueError for a kind that RTP cannot carry."""
    tables: dict[int, bytes] = {}
    kind = width = height = position = 0
    position = 2
    while True:
        marker, size = struct.unpack_from("!HH", picture, position)
        segment = picture[position + 4 : position + 2 + size]
        position += 2 + size
        if marker == 0xFFDB:
            for start in range(0, len(segment), TABLE + 1):
                tables[segment[start]] = segment[start + 1 : start + 1 + TABLE]
        elif marker == 0xFFC0:
            height, width = struct.unpack_from("!HH", segment, 1)
            kind = {0x21: 0, 0x22: 1}.get(segment[7], -1)
        elif marker == 0xFFDA:
            break
    if kind < 0 or width % 8 or height % 8 or max(width, height) > 2040:
        raise ValueError("RTP carries JPEG in 4:2:0 or 4:2:2, in multiples of 8 up to 2040 pixels.")
    quantisation = tables[0] + tables.get(1, tables[0])
    scan = picture[position:].removesuffix(b"\xff\xd9")
    payloads, offset = [], 0
    while offset < len(scan):
        header = struct.pack("!IBBBB", offset, kind, 255, width // 8, height // 8)
        if not offset:
            header += struct.pack("!HH", 0, len(quantisation)) + quantisation
        room = limit - len(header)
        payloads.append(header + scan[offset : offset + room])
        offset += room
    return payloads
