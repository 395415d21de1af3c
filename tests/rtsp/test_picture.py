import numpy as np
import pytest

from confkit.rtsp.picture import decode_frame, decode_picture
from confkit.sandbox.cameras.picture import encode_loop

from .fakes import SMALL


def test_a_loop_repeats_exactly_lasts_ten_seconds_moves_and_shows_its_name():
    """The same arguments give the same bytes: whole keyframe intervals, ten seconds or more. Two
    frames differ, and so do the pictures of two names."""
    lobby, again, garage = (
        encode_loop(name, keyframe_every=4, **SMALL) for name in ("Lobby", "Lobby", "Garage")
    )
    assert lobby == again
    assert (len(lobby.frames), lobby.keyframe_frames) == (120, 40)
    first, later, other = (
        decode_frame("h264", data).to_ndarray(format="gray").astype(int)
        for data in (lobby.frames[0], lobby.frames[40], garage.frames[0])
    )
    assert np.abs(first - later).max() > 60
    assert np.abs(first - other).max() > 60


def test_a_picture_is_made_as_small_as_asked_and_never_larger():
    """The proportions stay; bytes that are no picture are a ValueError."""
    frame = encode_loop("Lobby", **SMALL).frames[0]
    for width, size in ((64, (64, 48)), (4000, (128, 96)), (1, (1, 1))):
        png = decode_picture("h264", frame, width)
        assert png.startswith(b"\x89PNG")
        assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == size
    for codec in ("h265", "mjpeg"):
        with pytest.raises(ValueError, match="does not decode"):
            decode_picture(codec, b"\0\0\0\1garbage" * 20)
