"""Test pictures through PyAV: a loop encoded once, and a keyframe turned into a PNG file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from operator import index
from typing import TYPE_CHECKING, Any

from .drawing import draw_loop
from .rtp import ENCODINGS

if TYPE_CHECKING:
    import av

SECONDS = 10.0

_ENCODERS = {"h264": "libx264", "h265": "libx265", "mjpeg": "mjpeg", "mpeg4": "mpeg4"}
_DECODERS = {"h264": "h264", "h265": "hevc", "mjpeg": "mjpeg"}


@dataclass(frozen=True)
class Loop:
    """A test picture that repeats for ever; each frame is one access unit, frame 0 a keyframe."""

    codec: str
    fps: int
    keyframe_frames: int
    frames: tuple[bytes, ...] = field(repr=False)


def encode_loop(
    name: str,
    *,
    codec: str = "h264",
    size: tuple[int, int] = (640, 360),
    fps: int = 15,
    keyframe_every: float = 1.0,
) -> Loop:
    """Return the loop of a camera: its name, a running counter and a dot that moves.

    The loop is at least 10 s long, a whole number of keyframe intervals (seconds); the counter
    shows seconds and frames within the loop and starts again with it.  The same arguments give
    the same bytes.  Raises ValueError for arguments that no encoder takes.
    """
    import av

    check_loop(codec, size, fps, keyframe_every)
    width, height = size
    interval = 1 if codec == "mjpeg" else max(1, round(keyframe_every * fps))
    count = interval * math.ceil(SECONDS * fps / interval)
    context = _encoder(codec, size, fps, interval)
    details = f"{width}x{height}  {fps} fps  {codec}"
    frames: list[bytes] = []
    for number, pixels in enumerate(draw_loop(name, details, size, fps, count, context.pix_fmt)):
        picture = av.VideoFrame.from_ndarray(pixels, format=context.pix_fmt)
        picture.pts = number
        frames += [bytes(packet) for packet in context.encode(picture)]
    frames += [bytes(packet) for packet in context.encode(None)]
    return Loop(codec, fps, interval, tuple(frames))


def check_loop(codec: str, size: tuple[int, int], fps: int, keyframe_every: float) -> None:
    """Raise ValueError for what `encode_loop` does not take."""
    if codec not in tuple(_ENCODERS):
        raise ValueError(f"The codec is none of {', '.join(ENCODINGS)}.")
    step = 8 if codec == "mjpeg" else 2
    try:
        width, height = (index(length) for length in size)
    except (TypeError, ValueError):
        raise ValueError("The size is not a pair of whole numbers, such as (640, 360).") from None
    if not (128 <= width <= 3840 and 96 <= height <= 2160) or width % step or height % step:
        raise ValueError(f"The size is not between 128x96 and 3840x2160 in steps of {step}.")
    if not isinstance(fps, int) or not 1 <= fps <= 60:
        raise ValueError("The frame rate is not a whole number from 1 to 60.")
    if not isinstance(keyframe_every, int | float) or not 0 < keyframe_every <= 60:
        raise ValueError("The keyframe interval is not above 0 and up to 60 seconds.")


def decode_frame(codec: str, keyframe: bytes) -> av.VideoFrame:
    """Return the decoded keyframe (an access unit); raises ValueError when it does not decode.

    A picture that the decoder had to patch up counts as none.
    """
    import av

    context: Any = av.CodecContext.create(_DECODERS[codec], "r")
    context.thread_count = 1  # with several, a patched picture is not marked as one
    if codec == "mjpeg":  # whose decoder marks nothing
        context.options = {"err_detect": "explode"}
    try:
        pictures = [*context.decode(av.Packet(keyframe)), *context.decode(None)]
    except av.FFmpegError:
        pictures = []
    if not pictures or pictures[0].is_corrupt:
        raise ValueError(f"The keyframe does not decode as {codec}.")
    picture: av.VideoFrame = pictures[0]
    return picture


def encode_png(picture: av.VideoFrame, width: int | None = None) -> bytes:
    """Return a decoded picture as a PNG file, at most `width` pixels wide."""
    import av

    scale = min(1.0, (width or picture.width) / picture.width)
    wide, high = (max(1, round(length * scale)) for length in (picture.width, picture.height))
    context: Any = av.CodecContext.create("png", "w")
    context.width, context.height, context.pix_fmt = wide, high, "rgb24"
    context.time_base = Fraction(1, 1)
    pixels = picture.reformat(width=wide, height=high, format="rgb24")
    return b"".join(bytes(packet) for packet in context.encode(pixels))


def decode_picture(codec: str, keyframe: bytes, width: int | None = None) -> bytes:
    """Return a keyframe (an access unit) as a PNG file, at most `width` pixels wide; raises
    ValueError if it does not decode."""
    return encode_png(decode_frame(codec, keyframe), width)


def _encoder(codec: str, size: tuple[int, int], fps: int, interval: int) -> Any:
    import av

    context: Any = av.CodecContext.create(_ENCODERS[codec], "w")
    context.width, context.height = size
    context.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    context.time_base, context.framerate = Fraction(1, fps), Fraction(fps)
    context.gop_size, context.max_b_frames, context.thread_count = interval, 0, 1
    gop = f"keyint={interval}:min-keyint={interval}:scenecut=0:bframes=0:open-gop=0"
    if codec == "h264":
        context.options = {"preset": "superfast", "crf": "23", "x264-params": gop}
    elif codec == "h265":
        quiet = "repeat-headers=1:info=0:log-level=none:pools=none:frame-threads=1"
        context.options = {"preset": "ultrafast", "crf": "24", "x265-params": f"{gop}:{quiet}"}
    elif codec == "mjpeg":  # RTP carries neither Huffman tables of its own nor several slices
        context.options = {"huffman": "default", "qmin": "4", "qmax": "6"}
    return context
