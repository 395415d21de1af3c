"""Test pictures through PyAV: a loop encoded once, and a keyframe turned into a PNG file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .font import text_mask

if TYPE_CHECKING:
    import av
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

SECONDS = 10.0

_ENCODERS = {"h264": "libx264", "h265": "libx265", "mjpeg": "mjpeg"}
_DECODERS = {"h264": "h264", "h265": "hevc", "mjpeg": "mjpeg"}
_TOP, _BOTTOM = (27, 34, 46), (13, 17, 24)
_INK, _DIM, _ACCENT = (232, 237, 244), (122, 135, 154), (64, 190, 170)


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
    width, height = size
    if codec not in _ENCODERS:
        raise ValueError(f"The codec is none of {', '.join(_ENCODERS)}.")
    step = 8 if codec == "mjpeg" else 2
    if not (128 <= width <= 3840 and 96 <= height <= 2160) or width % step or height % step:
        raise ValueError(f"The size is not between 128x96 and 3840x2160 in steps of {step}.")
    if not 1 <= fps <= 60 or not 0 < keyframe_every <= 60:
        raise ValueError("The frame rate is not 1 to 60, or the keyframe interval not up to 60 s.")
    interval = 1 if codec == "mjpeg" else max(1, round(keyframe_every * fps))
    count = interval * math.ceil(SECONDS * fps / interval)
    context = _encoder(codec, size, fps, interval)
    background = _background(name, f"{width}x{height}  {fps} fps  {codec}", size)
    frames: list[bytes] = []
    for number in range(count):
        picture = _video_frame(_paint(background, number, count, fps), context.pix_fmt)
        picture.pts = number
        frames += [bytes(packet) for packet in context.encode(picture)]
    frames += [bytes(packet) for packet in context.encode(None)]
    return Loop(codec, fps, interval, tuple(frames))


def decode_frame(codec: str, keyframe: bytes) -> av.VideoFrame:
    """Return the decoded keyframe (an access unit); raises ValueError when it does not decode."""
    import av

    context: Any = av.CodecContext.create(_DECODERS[codec], "r")
    try:
        pictures = [*context.decode(av.Packet(keyframe)), *context.decode(None)]
    except av.FFmpegError:
        pictures = []
    if not pictures:
        raise ValueError(f"The keyframe does not decode as {codec}.")
    picture: av.VideoFrame = pictures[0]
    return picture


def encode_png(picture: av.VideoFrame) -> bytes:
    """Return a decoded picture as a PNG file."""
    import av

    context: Any = av.CodecContext.create("png", "w")
    context.width, context.height, context.pix_fmt = picture.width, picture.height, "rgb24"
    context.time_base = Fraction(1, 1)
    return b"".join(bytes(packet) for packet in context.encode(picture.reformat(format="rgb24")))


def decode_picture(codec: str, keyframe: bytes) -> bytes:
    """Return a keyframe (an access unit) as a PNG file; raises ValueError if it does not decode."""
    return encode_png(decode_frame(codec, keyframe))


def _encoder(codec: str, size: tuple[int, int], fps: int, interval: int) -> Any:
    import av

    context: Any = av.CodecContext.create(_ENCODERS[codec], "w")
    context.width, context.height = size
    context.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    context.time_base, context.framerate = Fraction(1, fps), Fraction(fps)
    context.gop_size, context.max_b_frames, context.thread_count = interval, 0, 1
    gop = f"keyint={interval}:min-keyint={interval}:scenecut=0:bframes=0:open-gop=0"
    if codec == "h264":
        context.options = {"preset": "veryfast", "crf": "23", "x264-params": gop}
    elif codec == "h265":
        quiet = "repeat-headers=1:info=0:log-level=none:pools=none:frame-threads=1"
        context.options = {"preset": "ultrafast", "crf": "24", "x265-params": f"{gop}:{quiet}"}
    else:  # RTP carries neither Huffman tables of its own nor several slices
        context.options = {"huffman": "default", "qmin": "4", "qmax": "6"}
    return context


def _video_frame(pixels: Pixels, pixel_format: str) -> av.VideoFrame:
    import av

    return av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format=pixel_format)


def _background(name: str, details: str, size: tuple[int, int]) -> Pixels:
    """Return what never moves: a gradient, the name, the details, the track of the dot."""
    import numpy as np

    width, height = size
    margin, unit = width // 16, max(1, min(width // 160, height // 90))
    fade = np.linspace(0, 1, height)[:, None, None]
    rows = np.array(_TOP) * (1 - fade) + np.array(_BOTTOM) * fade
    pixels = np.broadcast_to(rows, (height, width, 3)).astype(np.uint8)
    room = width - 2 * margin
    scale = max(1, min(unit + 1, room // (6 * max(1, len(name)))))
    _write(pixels, name[: room // (6 * scale)], margin, height // 9, scale, _INK)
    small = max(1, min(unit // 2, room // (6 * len(details))))
    _write(pixels, details, margin, height // 9 + 7 * scale + 3 * unit, small, _DIM)
    line = _track(height)
    pixels[line : line + max(1, unit // 3), margin : width - margin] = (52, 62, 78)
    return pixels


def _paint(background: Pixels, number: int, count: int, fps: int) -> Pixels:
    """Return frame `number` of `count`."""
    import numpy as np

    pixels = background.copy()
    height, width, _ = pixels.shape
    margin, unit = width // 16, max(1, min(width // 160, height // 90))
    text = f"{number // fps:02d}.{number % fps:02d}"
    _write(pixels, text, margin, height // 2 - 6 * unit, 3 * unit + 1, _ACCENT)
    # There and back once a loop, so that the dot does not jump where the loop starts again.
    swing = (1 - math.cos(2 * math.pi * number / count)) / 2
    x, y = margin + swing * (width - 2 * margin), _track(height) + max(1, unit // 3) / 2
    pixels[_track(height) : _track(height) + max(1, unit // 3), margin : round(x)] = _ACCENT
    radius = 2.5 * unit
    top, left = int(y - radius) - 1, max(0, int(x - radius) - 1)
    patch = pixels[top : int(y + radius) + 3, left : int(x + radius) + 3]
    rows, columns = np.ogrid[top : top + patch.shape[0], left : left + patch.shape[1]]
    distance = np.hypot(rows + 0.5 - y, columns + 0.5 - x)
    cover = np.clip(radius + 0.5 - distance, 0, 1)[:, :, None]
    patch[:] = (patch * (1 - cover) + np.array(_ACCENT) * cover).astype(np.uint8)
    return pixels


def _track(height: int) -> int:
    return height - height // 8


def _write(
    pixels: Pixels, text: str, left: int, top: int, scale: int, colour: tuple[int, int, int]
) -> None:
    mask = text_mask(text, scale)
    area = pixels[top : top + mask.shape[0], left : left + mask.shape[1]]
    area[mask[: area.shape[0], : area.shape[1]]] = colour
