import pytest

from confkit.rtsp.h26x import parameter_sets
from confkit.rtsp.sdp import ENCODINGS, control_url, parse_sdp
from confkit.sandbox.cameras.camera import describe_loop
from confkit.sandbox.cameras.picture import encode_loop

from .fakes import SMALL

CAMERA = b"""v=0\r
o=- 1 1 IN IP4 10.0.0.9\r
s=Session\r
a=control:rtsp://10.0.0.9/live/\r
m=audio 0 RTP/AVP 8\r
a=control:trackID=1\r
m=video 0 RTP/AVP 96\r
a=rtpmap:96 h264/90000\r
a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IAKQ==,aM48gA;profile-level-id=420029\r
a=control:trackID=0\r
"""


def test_a_cameras_description_is_read():
    """Codec, control and parameter sets come out, without base64 padding too."""
    description = parse_sdp(CAMERA)
    audio, video = description.media
    assert (video.encoding, video.control) == ("H264", "trackID=0")
    assert video.parameter_sets == (b"\x67\x42\x00\x29", b"\x68\xce\x3c\x80")
    assert (audio.encoding, description.control) == ("PCMA", "rtsp://10.0.0.9/live/")


@pytest.mark.parametrize("codec", ["h264", "h265", "mjpeg"])
def test_what_a_camera_of_ours_writes_is_read_back(codec):
    """Its name, codec and parameter sets come out of the description of a loop."""
    loop = encode_loop("x", codec=codec, **SMALL)
    written = describe_loop("Lobby \r\n 1", loop)
    (media,) = parse_sdp(written).media
    assert b"s=Lobby 1\r\n" in written
    assert (media.encoding, media.codec, media.control) == (ENCODINGS[codec], codec, "track1")
    if codec != "mjpeg":
        assert list(media.parameter_sets) == parameter_sets(codec, loop.frames[0])


def test_control_urls_are_concatenated():
    """A control is appended to its base, query or not; a whole URL stands for itself."""
    base = "rtsp://h/live"
    assert control_url(base, "") == control_url(base, "*") == base
    assert control_url(base, "track1") == control_url(base + "/", "track1") == f"{base}/track1"
    assert control_url(base + "?channel=1", "trackID=0") == f"{base}?channel=1/trackID=0"
    assert control_url(base, "RTSP://other/t") == "RTSP://other/t"
