"""What a camera asks and sends: challenges, and pictures as payloads of RTP."""

from __future__ import annotations

import hmac
import secrets
import struct
from dataclasses import dataclass, field

from ...rtsp.auth import Challenge, Login, basic, digest, parse_challenges, quoted
from ...rtsp.h26x import LAYOUTS, Layout, split_nals
from ...rtsp.jpeg import TABLE


@dataclass(frozen=True)
class Guard:
    """The server's side for one login; without `algorithms` it asks for Basic."""

    login: Login
    algorithms: tuple[str, ...]
    realm: str = "camera"
    nonce: str = field(default_factory=secrets.token_hex, repr=False)

    def challenges(self) -> list[str]:
        """Return WWW-Authenticate values, strongest first: old clients take the last digest."""
        realm = f"realm={quoted(self.realm)}"
        if not self.algorithms:
            return [f"Basic {realm}"]
        offer = f'Digest {realm}, nonce="{self.nonce}", algorithm={{}}, qop="auth"'
        return [offer.format(algorithm) for algorithm in self.algorithms]

    def opens(self, header: str, method: str, url: str) -> bool:
        """Return whether an Authorization header opens `url`; compares in constant time."""
        if not self.algorithms:
            scheme, _, rest = header.strip().partition(" ")
            return scheme.lower() == "basic" and _same(basic(self.login), rest.strip())
        answer = next(iter(parse_challenges([header])), Challenge("", {}))
        given, uri = answer.parameters, answer.parameters.get("uri", "")
        right = {
            "username": self.login.name,
            "realm": self.realm,
            "nonce": self.nonce,
            "response": digest(given, self.login, method),
        }
        # Several clients sign the presentation's URL when they set up one of its tracks.
        sound = answer.scheme == "digest" and uri and url.startswith(uri)
        known = answer.algorithm in map(str.upper, self.algorithms)
        same = all(_same(value, given.get(name, "")) for name, value in right.items())
        return bool(sound and known and same)


def _same(left: str, right: str) -> bool:
    return hmac.compare_digest(*(text.encode(errors="surrogateescape") for text in (left, right)))


def packetise(codec: str, unit: bytes, limit: int = 1400) -> list[bytes]:
    """Return one access unit as RTP payloads of at most `limit` bytes; the last gets the marker."""
    if codec == "mjpeg":
        return _packetise_jpeg(unit, limit)
    layout = LAYOUTS[codec]
    payloads: list[bytes] = []
    waiting: list[bytes] = []  # small units, which share a payload

    def flush() -> None:
        if len(waiting) > 1:
            # The header of the most important unit stands for all of them.
            header = layout.with_type(max(waiting, key=lambda nal: nal[0] & 0x60), layout.aggregate)
            waiting[:] = [header + b"".join(len(n).to_bytes(2, "big") + n for n in waiting)]
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
    """Return a JPEG file of our own encoder as RTP payloads: 4:2:0 or 4:2:2, with two tables."""
    head, scan = picture.split(b"\xff\xda", 1)
    frame, tables = head[head.index(b"\xff\xc0") :], head[head.index(b"\xff\xdb") + 4 :]
    height, width = struct.unpack_from("!HH", frame, 5)
    kind = frame[11] - 0x21  # by how often the brightness is sampled
    quantisation = tables[1 : TABLE + 1] + tables[TABLE + 2 : 2 * TABLE + 2]
    scan = scan[int.from_bytes(scan[:2], "big") :].removesuffix(b"\xff\xd9")
    payloads, offset = [], 0
    while offset < len(scan):
        header = struct.pack("!IBBBB", offset, kind, 255, width // 8, height // 8)
        if not offset:
            header += struct.pack("!HH", 0, len(quantisation)) + quantisation
        room = limit - len(header)
        payloads.append(header + scan[offset : offset + room])
        offset += room
    return payloads
