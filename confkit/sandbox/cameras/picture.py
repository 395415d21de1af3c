"""What needs PyAV, which is loaded only here: a camera's encoded test picture, and snapshots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...errors import ConfkitError, missing_extra
from ...rtsp.verdicts import VERDICTS

if TYPE_CHECKING:
    import av

    from ...rtsp.report import Snapshot

SECONDS = 10.0

_ENCODERS = {"h264": "libx264", "h265": "libx265", "mjpeg": "mjpeg"}
_INK, _PAPER = "white", (16, 20, 28)


@dataclass(frozen=True)
class Loop:
    """A test picture that repeats for ever; each frame is one access unit, frame 0 a keyframe."""

    codec: str
    fps: int
    keyframe_frames: int
    frames: tuple[bytes, ...] = field(repr=False)


def need_av(what: str) -> None:
    """Check that PyAV is there; otherwise a ConfigError says how to install it."""
    if find_spec("av") is None:
        raise missing_extra(f"{what} need", "av (PyAV)", "cameras")


def decoded(codec: str, keyframe: bytes) -> Snapshot:
    """Return the keyframe as a picture; a ConfkitError where it does not decode."""
    need_av("pictures")
    from ...rtsp.report import Snapshot

    try:
        return Snapshot.of(codec, keyframe)
    except ValueError as error:
        raise ConfkitError(f"{error} {VERDICTS['no_picture'].advice}") from None


def encode_loop(
    name: str,
    *,
    codec: str = "h264",
    size: tuple[int, int] = (640, 360),
    fps: int = 15,
    keyframe_every: float = 1.0,
) -> Loop:
    """Return the loop of a camera: FFmpeg's moving test picture with a counter, above its name.

    The loop is at least 10 s long, a whole number of keyframe intervals (seconds); the counter
    starts again with it. The same arguments give the same bytes.
    """
    interval = 1 if codec == "mjpeg" else max(1, round(keyframe_every * fps))
    count = interval * math.ceil(SECONDS * fps / interval)
    context = _encoder(codec, size, fps, interval)
    drawn = _drawn(name, size, fps, count, context.pix_fmt)
    frames = [bytes(packet) for picture in drawn for packet in context.encode(picture)]
    frames += [bytes(packet) for packet in context.encode(None)]
    return Loop(codec, fps, interval, tuple(frames))


def _drawn(
    name: str, size: tuple[int, int], fps: int, count: int, pixels: str
) -> Iterator[av.VideoFrame]:
    """Yield `count` pictures: `testsrc2`, and a strip with the name at the bottom."""
    import av.filter

    frame: Any = av.VideoFrame
    label = frame.from_image(_label(name, size))
    label.pts, label.time_base = 0, Fraction(1, fps)
    graph: Any = av.filter.Graph()
    moving = graph.add("testsrc2", f"size={size[0]}x{size[1]}:rate={fps}")
    still = graph.add_buffer(
        width=label.width, height=label.height, format=label.format.name, time_base=label.time_base
    )
    both, converted = graph.add("overlay", "y=H-h"), graph.add("format", pixels)
    end = graph.add("buffersink")
    moving.link_to(both, 0, 0)
    still.link_to(both, 0, 1)
    both.link_to(converted)
    converted.link_to(end)
    graph.configure()
    still.push(label)
    still.push(None)  # the last picture of the strip stays
    for number in range(count):
        picture = end.pull()
        picture.pts, picture.time_base = number, label.time_base
        picture.pict_type = 0  # else each would be a keyframe
        yield picture


def _label(name: str, size: tuple[int, int]) -> Any:
    """Return the strip with the name, in letters that are as large as its width allows."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = size[0], size[1] // 12 * 2
    strip = Image.new("RGB", (width, height), _PAPER)
    text, line = ImageDraw.Draw(strip), " ".join(name.split())
    letters = height * 3 / 5
    wide = text.textlength(line, ImageFont.load_default(letters))
    font = ImageFont.load_default(max(8.0, min(letters, letters * (width - height) / (wide or 1))))
    text.text((height // 2, height // 2), line, _INK, font, anchor="lm")
    return strip


def _encoder(codec: str, size: tuple[int, int], fps: int, interval: int) -> Any:
    import av

    context: Any = av.CodecContext.create(_ENCODERS[codec], "w")
    context.width, context.height = size
    context.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    context.time_base, context.framerate = Fraction(1, fps), Fraction(fps)
    context.gop_size, context.max_b_frames, context.thread_count = interval, 0, 1
    gop = f"keyint={interval}:min-keyint={interval}:scenecut=0:bframes=0:open-gop=0"
    if codec == "h264":
        context.options = {"preset": "superfast", "crf": "30", "x264-params": gop}
    elif codec == "h265":
        quiet = "repeat-headers=1:info=0:log-level=none:pools=none:frame-threads=1"
        context.options = {"preset": "ultrafast", "crf": "34", "x265-params": f"{gop}:{quiet}"}
    else:  # RTP carries neither Huffman tables of its own nor several slices, and two matrices
        context.options = {"huffman": "default", "qmin": "4", "qmax": "6"}
        context.options["force_duplicated_matrix"] = "1"
    return context
