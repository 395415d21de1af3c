import subprocess
import sys

import numpy as np
import pytest

from confkit.rtsp.picture import decode_frame, decode_picture
from confkit.sandbox.cameras.picture import encode_loop

from .fakes import SMALL


@pytest.mark.parametrize(("width", "size"), [(64, (64, 48)), (4000, (128, 96)), (1, (1, 1))])
def test_a_picture_is_made_as_small_as_asked_and_never_larger(width, size):
    """The proportions stay."""
    loop = encode_loop("Lobby", **SMALL)
    png = decode_picture("h264", loop.frames[0], width)
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == size


def test_a_loop_repeats_exactly_and_lasts_ten_seconds():
    """The same arguments give the same bytes: whole keyframe intervals, ten seconds or more."""
    first, second = (encode_loop("Lobby", keyframe_every=4, **SMALL) for _ in range(2))
    assert first == second
    assert (len(first.frames), first.keyframe_frames) == (120, 40)


def test_the_picture_moves_and_shows_its_name():
    """Two frames differ, and so do the pictures of two names."""
    lobby, garage = (encode_loop(name, **SMALL) for name in ("Lobby", "Garage"))
    pictures = [
        decode_frame("h264", data).to_ndarray(format="gray").astype(int)
        for data in (lobby.frames[0], lobby.frames[30], garage.frames[0])
    ]
    assert np.abs(pictures[0] - pictures[1]).max() > 60
    assert np.abs(pictures[0] - pictures[2]).max() > 60


@pytest.mark.parametrize("codec", ["h265", "mjpeg"])
def test_garbage_does_not_decode(codec):
    """Bytes that are no picture are a ValueError."""
    with pytest.raises(ValueError, match="does not decode"):
        decode_picture(codec, b"\0\0\0\1garbage" * 20)


def test_importing_loads_neither_pyav_nor_pillow():
    """No module of the package loads PyAV or numpy when it is imported."""
    loaded = "print({'av', 'numpy', 'PIL'} & {*sys.modules})"
    code = f"import sys, confkit.sandbox.cameras.server, confkit.rtsp.pull\n{loaded}"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "set()"
