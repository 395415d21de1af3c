"""A camera: how it answers, and its test picture, encoded and packetised for RTP by PyAV, which is
loaded only here."""

from __future__ import annotations

import base64
import math
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from typing import Any

from ...errors import missing_extra
from ...rtsp.auth import Challenge, Login, basic, digest, parse_challenges
from ...rtsp.sdp import ENCODINGS
from ..signatures import same

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

SECONDS = 10.0

_GOP = "keyint={0}:min-keyint={0}:scenecut=0:bframes=0:open-gop=0"
_QUIET = "repeat-headers=1:info=0:log-level=none:pools=none:frame-threads=1"
_H264 = {"preset": "superfast", "crf": "30", "x264-params": _GOP}
_H265 = {"preset": "ultrafast", "crf": "34", "x265-params": f"{_GOP}:{_QUIET}"}
# RTP carries neither custom Huffman tables nor several slices, and always two matrices.
_MJPEG = {"huffman": "default", "qmin": "4", "qmax": "6", "force_duplicated_matrix": "1"}
_ENCODERS = {"h264": ("libx264", _H264), "h265": ("libx265", _H265), "mjpeg": ("mjpeg", _MJPEG)}

_RTP_HEADER, _PACKET_SIZE = 12, "1412"  # bytes
_START_CODE = b"\0\0\1"
_SCRAMBLED = bytes(byte ^ 0x5A | 1 for byte in range(256))  # never 0: no start code arises


@dataclass(frozen=True, repr=False)
class Loop:
    """A repeating test picture; frame 0 and every `keyframe_frames` after it are keyframes.

    `first` is that frame (Annex B, or a JPEG file), `payloads` are those of RTP for each frame.
    """

    codec: str
    fps: int
    keyframe_frames: int
    first: bytes
    payloads: tuple[tuple[bytes, ...], ...]

    @property
    def parameter_sets(self) -> list[bytes]:
        """The SPS and PPS of H.264; VPS, SPS and PPS of H.265; nothing of MJPEG."""
        nals = [part.rstrip(b"\0") for part in self.first.split(_START_CODE)]
        return nals[1 : {"h264": 3, "h265": 4, "mjpeg": 1}[self.codec]]


@dataclass(frozen=True, eq=False)
class Camera:
    """How a camera responds and what it plays.

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


def need_av(what: str) -> None:
    """Raise ConfigError, which says how to install it, if PyAV is missing."""
    if find_spec("av") is None:
        raise missing_extra(f"{what} need", "av (PyAV)", "cameras")


@lru_cache(maxsize=16)  # of about 1 MB each
def encode_loop(
    name: str,
    *,
    codec: str = "h264",
    size: tuple[int, int] = (640, 360),
    fps: int = 15,
    keyframe_every: float = 1.0,
    scrambled: bool = False,
) -> Loop:
    """Return the loop of a camera: FFmpeg's moving test picture with a counter, above its name.

    `size` is in pixels. The loop is at least 10 s long, a whole number of keyframe intervals
    (seconds); the counter starts again with it. `scrambled` leaves only parameter sets readable, as
    encrypting cameras do. The same arguments give the same bytes. ValueError: size or fps.
    """
    need_av("cameras")
    import av

    step, most = (8, 2040) if codec == "mjpeg" else (2, 3840)
    are_whole = all(isinstance(number, int) for number in (fps, *size))
    if not are_whole or not 1 <= fps <= 60 or any(not 96 <= x <= most or x % step for x in size):
        sides = f"sides from 96 to {most} in steps of {step}"
        raise ValueError(f"size must have two {sides}, and fps must be from 1 to 60")

    interval = 1 if codec == "mjpeg" else max(1, round(keyframe_every * fps))
    count = interval * math.ceil(SECONDS * fps / interval)
    first = b""
    payloads: list[tuple[bytes, ...]] = []
    packets = _Packets()
    encoder, options = _ENCODERS[codec]
    with av.open(packets, "w", format="rtp", options={"packetsize": _PACKET_SIZE}) as muxer:
        stream: Any = muxer.add_stream(
            encoder, fps, {name: value.format(interval) for name, value in options.items()}
        )
        stream.width, stream.height = size
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        context = stream.codec_context
        context.gop_size, context.max_b_frames, context.thread_count = interval, 0, 1
        for picture in chain(_pictures(name, size, fps, count, stream.pix_fmt), [None]):
            for encoded in stream.encode(picture):
                frame = _scramble(bytes(encoded), codec) if scrambled else bytes(encoded)
                packet = av.Packet(frame)
                packet.stream, packet.time_base = stream, Fraction(1, fps)
                packet.pts = packet.dts = len(payloads)
                muxer.mux(packet)
                first = first or frame
                # Without the headers, and the sender reports of RTCP.
                payloads.append(
                    tuple(packet[_RTP_HEADER:] for packet in packets if packet[1] != 200)
                )
                packets.clear()
    return Loop(codec, fps, interval, first, tuple(payloads))


class _Packets(list[bytes]):
    """A file object for FFmpeg's muxer, which writes one packet at a time."""

    def write(self, packet: bytes) -> int:
        self.append(bytes(packet))
        return len(packet)


def _scramble(frame: bytes, codec: str) -> bytes:
    """Return an access unit whose last NAL unit, the picture, is scrambled except its header."""
    others, start_code, picture = frame.rpartition(_START_CODE)
    header = 2 if codec == "h265" else 1
    return others + start_code + picture[:header] + picture[header:].translate(_SCRAMBLED)


def _pictures(name: str, size: tuple[int, int], fps: int, count: int, pixels: str) -> Iterator[Any]:
    """Yield `count` pictures: `testsrc2`, and a strip with the name at the bottom."""
    import av.filter
    from PIL import Image, ImageDraw, ImageFont

    width, height = size
    strip = height // 12 * 2  # rows
    label = Image.new("RGB", (width, strip))
    font = ImageFont.load_default(strip * 3 / 5)
    ImageDraw.Draw(label).text((strip // 2,) * 2, " ".join(name.split()), font=font, anchor="lm")

    graph: Any = av.filter.Graph()
    graph.link_nodes(
        graph.add("testsrc2", f"size={width}x{height}:rate={fps}"), graph.add("buffersink")
    ).configure()
    for number in range(count):
        frame = graph.pull()
        image = frame.to_image()
        image.paste(label, (0, height - strip))
        picture = frame.from_image(image).reformat(format=pixels)
        picture.pts, picture.time_base = number, Fraction(1, fps)
        yield picture
