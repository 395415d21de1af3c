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

_GOP = "keyint={0}:min-keyint={0}:scenecut=0:bframes=0:open-gop=0"
_QUIET = "repeat-headers=1:info=0:log-level=none:pools=none:frame-threads=1"
_ENCODERS = {
    "h264": ("libx264", {"preset": "superfast", "crf": "30", "x264-params": _GOP}),
    "h265": ("libx265", {"preset": "ultrafast", "crf": "34", "x265-params": f"{_GOP}:{_QUIET}"}),
    # RTP carries neither Huffman tables of its own nor several slices, and always two matrices.
    "mjpeg": (
        "mjpeg",
        {"huffman": "default", "qmin": "4", "qmax": "6", "force_duplicated_matrix": "1"},
    ),
}
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
    still = graph.add_buffer(
        width=label.width, height=label.height, format=label.format.name, time_base=label.time_base
    )
    both, end = graph.add("overlay", "y=H-h"), graph.add("buffersink")
    graph.link_nodes(graph.add("testsrc2", f"size={size[0]}x{size[1]}:rate={fps}"), both)
    still.link_to(both, 0, 1)
    graph.link_nodes(both, graph.add("format", pixels), end)
    graph.configure()
    still.push(label)
    still.push(None)  # the last picture of the strip stays
    for number in range(count):
        picture = end.pull()
        picture.pts, picture.time_base = number, label.time_base
        picture.pict_type = 0  # else each would be a keyframe
        yield picture


def _label(name: str, size: tuple[int, int]) -> Any:
    """Return the strip with the name; one that is too long is cut off."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = size[0], size[1] // 12 * 2
    strip = Image.new("RGB", (width, height), _PAPER)
    font = ImageFont.load_default(height * 3 / 5)
    place = height // 2, height // 2
    ImageDraw.Draw(strip).text(place, " ".join(name.split()), _INK, font, anchor="lm")
    return strip


def _encoder(codec: str, size: tuple[int, int], fps: int, interval: int) -> Any:
    import av

    encoder, options = _ENCODERS[codec]
    context: Any = av.CodecContext.create(encoder, "w")
    context.width, context.height = size
    context.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    context.time_base, context.framerate = Fraction(1, fps), Fraction(fps)
    context.gop_size, context.max_b_frames, context.thread_count = interval, 0, 1
    context.options = {name: value.format(interval) for name, value in options.items()}
    return context
