"""Cases in which what a camera sent broke its reader."""

import pytest

from confkit.rtsp.h26x import join_nals
from confkit.rtsp.rtp import MAX_UNIT
from tests.nightly import fuzz_rtsp


@pytest.mark.parametrize(
    "piece",
    [b"RTSP/1.OPTIONS rtsp://h/ RTSP/1.0\r\n", b"RTSP/1.\n", b"x$\0\xff\xff"[:2] + b"RTSP/1.\n"],
)
def test_stray_beginnings_cost_no_depth(piece):
    """Thousands of lines that begin as an answer does, and are none, are passed over."""
    fuzz_rtsp.after_a_message_nothing_stops_the_parser([(piece, 5000)], [])


@pytest.mark.parametrize("codec", ["h264", "h265"])
def test_a_unit_that_is_nothing_but_a_header_spoils_no_picture(codec):
    """A picture behind which the end of the stream is reported comes out whole."""
    end, key = (b"\x0b", b"\x65abc") if codec == "h264" else (b"\x4a\1", b"\x26\1abc")
    for units in ([join_nals([end])], [join_nals([key, end]), join_nals([key])]):
        fuzz_rtsp.the_same_picture_or_none((codec, units), 200, 65535, [])


def test_the_rest_of_a_picture_that_is_too_large_is_no_picture():
    """Of a picture that is cut at the limit neither part is said to be whole."""
    assert MAX_UNIT < 140 * 60_001
    for codec in ("h264", "h265"):
        fuzz_rtsp.a_picture_cut_at_the_limit_is_not_whole(codec, 4)
