"""A keyframe decoded by PyAV, and turned into a PNG file."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import av

_DECODERS = {"h264": "h264", "h265": "hevc", "mjpeg": "mjpeg"}


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


def decode_picture(codec: str, keyframe: bytes, width: int | None = None) -> bytes:
    """Return a keyframe (an access unit) as a PNG file, at most `width` pixels wide; raises
    ValueError if it does not decode."""
    picture: Any = decode_frame(codec, keyframe)
    scale = min(1.0, (width or picture.width) / picture.width)
    wide, high = (max(1, round(length * scale)) for length in (picture.width, picture.height))
    file = BytesIO()
    picture.to_image(width=wide, height=high).save(file, "png", compress_level=2)  # the quickest
    return file.getvalue()
