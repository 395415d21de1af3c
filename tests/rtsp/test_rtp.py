import struct

import pytest

from confkit.rtsp.h26x import join_nals, split_nals
from confkit.rtsp.jpeg import JpegAssembler
from confkit.rtsp.picture import decode_frame
from confkit.rtsp.rtp import Depacketiser, Packet, Sequencer, parse_packet
from confkit.sandbox.cameras.picture import encode_loop
from confkit.sandbox.cameras.serving import packetise
from tests.nightly.fuzz_rtsp import packets

from .fakes import SMALL

SPS, PPS = b"\x67\x42\x00\x29", b"\x68\xce\x3c\x80"
IDR = b"\x65" + bytes(range(1, 256)) * 20
SLICE = b"\x41" + bytes(range(1, 256)) * 4
KEY = [SPS, PPS, IDR]


def sent(*units):
    """The packets of H.264 pictures, each a list of NAL units; the sequence numbers wrap around."""
    return packets("h264", map(join_nals, units), 500, 65533)


def depacketise(stream, sets=(), codec="h264"):
    depacketiser = Depacketiser(codec, sets)
    return [unit for packet in stream for unit in depacketiser.push(packet)]


def test_extension_sources_and_padding_are_cut_off():
    """A header with CSRC entries, an extension and padding leaves the bare payload; what is short,
    foreign or cut off is no packet."""
    header = struct.pack("!BBHII", 0x80 | 0x20 | 0x10 | 2, 96, 1, 2, 3)
    extension = b"\xbe\xde\x00\x01ABCD"
    assert parse_packet(header + b"12345678" + extension + b"load" + b"\0\0\3").payload == b"load"
    for start, size in ((b"", 0), (b"\x80", 11), (b"\0", 20), (b"\x9f\xff", 21), (b"\xa0\xff", 16)):
        with pytest.raises(ValueError, match="RTP packet"):
            parse_packet(start.ljust(size, b"\xff"))


@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
def test_encoded_pictures_come_back_whole(codec):
    """Real pictures of each codec come out of small packets as they went in, keyframes marked."""
    loop = encode_loop("x", codec=codec, keyframe_every=0.5, **SMALL)
    units = depacketise(packets(codec, loop.frames, 500, 65533), codec=codec)
    assert [unit.complete for unit in units] == [True] * len(loop.frames)
    keyframes = [number for number, unit in enumerate(units) if unit.keyframe]
    assert keyframes == list(range(0, len(units), loop.keyframe_frames))
    if codec != "mjpeg":  # a JPEG loses its Huffman tables on the way
        assert [split_nals(u.data) for u in units] == [split_nals(frame) for frame in loop.frames]


OWN = SPS + b"\1"


@pytest.mark.parametrize(
    ("units", "sets", "expected"),
    [
        ([[IDR]], (SPS, PPS), KEY),
        ([[OWN, PPS, IDR]], (SPS, PPS), [OWN, PPS, IDR]),
        ([[OWN, PPS], [IDR]], (SPS, PPS), [OWN, PPS, IDR]),
    ],
)
def test_a_keyframe_gets_the_newest_parameter_sets(units, sets, expected):
    """Those of the description, those that came in a unit of their own, or its own."""
    key = depacketise(sent(*units), sets)[-1]
    assert (split_nals(key.data), key.keyframe) == (expected, True)


@pytest.mark.parametrize("lost", [0, 1, 3, -1])
def test_a_lost_packet_makes_its_picture_incomplete(lost):
    """No picture with a missing packet passes for whole, and the one after next is whole again."""
    stream = sent([SLICE], KEY, [SLICE], [SLICE], [SLICE])
    key = [packet for packet in stream if packet.timestamp == stream[3].timestamp]
    stream.remove(key[lost])
    units = depacketise(stream)
    assert not any(unit.complete for unit in units if unit.keyframe)
    assert units[-1].complete


def test_a_stream_without_markers_is_cut_by_its_timestamps():
    """A new timestamp ends a picture when the camera sets no marker."""
    stream = [packet._replace(marker=False) for packet in sent(KEY, [SLICE], [SLICE])]
    units = depacketise(stream)
    assert [(unit.keyframe, unit.complete) for unit in units] == [(True, True), (False, True)]


@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
def test_garbage_is_incomplete_and_no_crash(codec):
    """Payloads that make no sense never raise, and never pass for a whole keyframe."""
    for payload in (b"", b"\x1c", b"\x18\xff\xff", b"\x62\x01\x00", b"\x7f\x01\x02"):
        units = depacketise([Packet(96, True, 1, 1, 1, payload)], codec=codec)
        assert not any(unit.keyframe and unit.complete for unit in units)


def test_jpeg_with_implied_tables_and_restarts_is_put_together():
    """A quality below 100 implies its tables, one above 127 may send them once; with restarts."""
    picture = encode_loop("x", codec="mjpeg", size=(128, 96), fps=1).frames[0]
    (whole,) = packetise("mjpeg", picture, 60_000)
    head, tables, scan = whole[:8], whole[12:140], whole[140:]
    implied = head[:5] + bytes([50]) + head[6:]
    assembler = JpegAssembler()
    assembler.add(implied + scan)
    made, keyframe = assembler.take()
    assert keyframe
    assert bytes([16, 11, 12, 14, 12, 10, 16]) in made  # the standard's own table, at 50 unscaled
    assert decode_frame("mjpeg", made).width == 128

    once = JpegAssembler()
    once.add(head + b"\0\0\0\x80" + tables + scan)
    first, _ = once.take()
    once.add(head + b"\0\0\0\0" + scan)
    assert once.take()[0] == first

    restarting = head[:4] + bytes([head[4] | 64, 50]) + head[6:]
    once.add(restarting + b"\0\x08\xff\xff" + scan)
    assert b"\xff\xdd\0\4\0\x08" in once.take()[0]
    with pytest.raises(ValueError, match="tables"):
        JpegAssembler().add(head + b"\0\0\0\0" + scan)


@pytest.mark.parametrize(
    ("came", "ready"),
    [
        ([1, 1, 2, 2, 3], [1, 2, 3]),
        ([65534, 0, 65535, 1], [65534, 65535, 0, 1]),
        ([1, *range(3, 13)], [1, *range(3, 13)]),
        ([500, *range(1, 20)], [500, *range(10, 20)]),
    ],
)
def test_packets_are_handed_on_in_their_order(came, ready):
    """Twins and stragglers are dropped, a gap is waited for a while, a new count is followed."""
    push = Sequencer().push
    handed = [one for number in came for one in push(Packet(96, False, number, 0, 1, b"x"))]
    assert [packet.sequence for packet in handed] == ready
