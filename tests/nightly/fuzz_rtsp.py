"""Whatever a camera sends is understood or refused in words, and a picture of which
a packet is missing never passes for a whole one."""

import re
from collections.abc import Iterable
from functools import cache

from hypothesis import assume
from hypothesis import strategies as st

from confkit.rtsp.address import Address
from confkit.rtsp.connection import Connection, Frame, Response
from confkit.rtsp.errors import RtspError
from confkit.rtsp.report import Stages
from confkit.rtsp.rtp import FORMATS, MAX_PICTURE, START_CODE, Video
from confkit.rtsp.sdp import ENCODINGS, Media, control_url, parse_sdp
from tests.rtsp.scripted import nals, payloads, pictures, rtp

from .fuzzing import explore
from .piece import Piece

WORD = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=["Cs"]),
    max_size=16,
)

# Messages: pieces that mean something to a parser, so that what is drawn gets beyond a first byte

TOKENS = st.sampled_from(
    [
        b"RTSP/1.0 200 OK\r\n",
        b"RTSP/1.0 401 Unauthorized\r\n",
        b"RTSP/1.0 100 Continue\n",
        b"RTSP/1.",
        b"RTSP/1.0 ",
        b"OPTIONS rtsp://h/ RTSP/1.0\r\n",
        b"CSeq: 1\r\n",
        b"Content-Length: 4\r\n",
        b"Content-Length: \r\n",
        b"content-length:99999999\r\n",
        b"Content-Length: -1\r\n",
        b"\r\n",
        b"\r\n\r\n",
        b"\n\n",
        b"\r",
        b"\n",
        b"\0",
        b"$",
        b"$\0\0\x04abcd",
        b"$\1\xff\xff",
        b"$\0\0\0",
        b": \r\n",
        b" folded\r\n",
        b"\xff\xfe",
        b"body",
        b"v=0\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"SSH-2.0-x\n",
        b"Session: 77;timeout=60\r\n",
        b'WWW-Authenticate: Digest realm="a", nonce="b"\r\n',
        "RTSP/1.0 ٢٠٠ OK\r\n".encode(),
        b"x" * 300,
    ]
)
Stream = list[tuple[bytes, int]]  # pieces, each with how often it comes
STREAMS = st.lists(
    st.tuples(TOKENS | st.binary(max_size=12), st.sampled_from([1, 1, 1, 2, 40, 1500])), max_size=12
)
CUTS = st.lists(st.integers(1, 4000), max_size=6)


class Fed(Connection):
    """A connection to a camera that sends these pieces, and then ends."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__(Address("rtsp", "h", 554, "/"), Stages(""), 600.0)
        self._pieces = iter(pieces)

    def _receive(self, longest: float = 0) -> bytes:
        piece = next(self._pieces, None)
        if piece is None:
            raise EOFError
        return piece


def parsed(pieces: Iterable[bytes]) -> tuple[list[Response | Frame], bool]:
    """All messages of a stream that comes in these pieces, and whether it was malformed."""
    messages: list[Response | Frame] = []
    connection = Fed(pieces)
    try:
        while True:
            messages.append(connection.message())
            if isinstance(messages[-1], Response):
                assert len(repr(messages[-1])) < 2 * 16 * 1024 + 200, "a repr as long as a message"
    except RtspError:
        return messages, True
    except EOFError:
        return messages, False


def cut(stream: Stream, sizes: Iterable[int]) -> list[bytes]:
    """What a stream says, in pieces of these sizes, the rest as the last."""
    data, pieces = b"".join(piece * times for piece, times in stream), []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


def any_stream_is_messages_or_malformed(stream: Stream, sizes: list[int], answered: bool) -> None:
    """Bytes give messages or an error, the same ones however they are cut; after a first
    response stray bytes are skipped, and how many depends on what has come."""
    if answered:
        stream = [(b"RTSP/1.0 200 OK\r\n\r\n", 1), *stream]
    whole = parsed(cut(stream, []))
    drips = parsed(cut(stream, sizes))
    responded = any(isinstance(message, Response) for message in whole[0])
    assert drips == whole or responded, f"in one piece {whole}, in {sizes} {drips}"


# Descriptions

_LINES = """v=0
o=- 0 0 IN IP4 0.0.0.0
s=Camera
t=0 0
m=video 0 RTP/AVP 96
m=video
m=
m=audio 0 RTP/AVP 8
m=video 0 RTP/AVP 26 96 300 ٢٦
a=rtpmap:96 H264/90000
a=rtpmap:96 H265/0
a=rtpmap:96
a=rtpmap: /
a=rtpmap:96 /9
a=control:track1
a=control:*
a=control:rtsp://h/x
a=fmtp:96 ;;=;
c=IN IP4 0.0.0.0
=
x
\0
a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0,a
\ufeffv=0
<html>
a=fmtp:96 sprop-vps=====;sprop-sps=ü
a=rtpmap:96 JPEG/999999999
a=rtpmap:97 RTX/90000"""
DESCRIPTIONS = st.builds(
    lambda first, lines, end: "\r\n".join([first, *lines]).encode(errors="replace") + end,
    st.sampled_from(["v=0", "v=0", "v=0", "", "v=1"]),
    st.lists(st.sampled_from(_LINES.split("\n")) | WORD, max_size=14),
    st.sampled_from([b"", b"\r\n", b"\xff", b"m=vi"]),
)


def any_description_is_one_or_a_value_error(body: bytes, base: str) -> None:
    """Bytes give media whose parts have their types, or a ValueError of one sentence."""
    medias: list[Media] = []
    words = "The text is a description."
    try:
        medias, _ = parse_sdp(body)
    except ValueError as error:
        words = str(error)
    assert re.fullmatch(r"The [^\n]{10,90}\.|A media line [^\n]{10,90}\.", words), words
    for media in medias:
        assert -1 <= media.payload_type <= 999
        assert all(isinstance(nal, bytes) and nal for nal in media.parameter_sets)
        assert isinstance(control_url(base, media.control), str)


# Pictures on their way: cut into packets, lost, doubled, out of order, and put together again

# Of the description, for both codecs: without any a keyframe is none.
_SETS = {"sprop-parameter-sets": "Z0I=,aM4=,QAE=,QgE=,RAE="}
CODECS = ("h264", "h265", "mjpeg")
_KINDS = {"h264": (1, 5, 5, 6, 7, 8, 9, 10, 12), "h265": (1, 19, 20, 32, 33, 34, 35, 36, 39)}
_BARE = {"h264": (10, 11), "h265": (36, 37)}  # the end of a sequence or a stream: a header alone
LIMITS = st.sampled_from([20, 20, 40, 160, 161, 400, 65000]) | st.integers(20, 1400)
FATES = st.lists(
    st.tuples(
        st.sampled_from(["lost", "lost", "doubled", "late", "very late", "no marker"]),
        st.integers(0, 10_000),
    ),
    min_size=1,
    max_size=6,
)


def _nal(codec: str, kind: int, body: bytes) -> bytes:
    head = bytes([0x60 | kind]) if codec == "h264" else bytes([kind << 1, 1])
    # As an encoder writes it: no start code inside, no zero at the end.
    return head + body.replace(b"\0", b"\3")


@cache
def _jpegs() -> tuple[bytes, ...]:
    return pictures("mjpeg")


def _units(codec: str) -> st.SearchStrategy[list[bytes]]:
    if codec == "mjpeg":
        return st.lists(st.sampled_from(_jpegs()), min_size=1, max_size=5)
    long = st.integers(1, 900).map(lambda size: bytes(i % 255 + 1 for i in range(size)))
    bodies = st.binary(min_size=1, max_size=40) | long
    units = st.builds(_nal, st.just(codec), st.sampled_from(_KINDS[codec]), bodies) | st.builds(
        _nal, st.just(codec), st.sampled_from(_BARE[codec]), st.just(b"")
    )
    joined = st.lists(units, min_size=1, max_size=5).map(
        lambda parts: b"".join(START_CODE + part for part in parts)
    )
    return st.lists(joined, min_size=1, max_size=6)


PICTURES = st.sampled_from(CODECS).flatmap(lambda codec: st.tuples(st.just(codec), _units(codec)))


def packets(codec: str, units: Iterable[bytes], limit: int, start: int) -> list[bytes]:
    """The packets of these pictures, their sequence numbers from `start` on."""
    sent: list[bytes] = []
    for place, unit in enumerate(units):
        parts = payloads(codec, unit, limit)
        for index, payload in enumerate(parts):
            last, stamp = index == len(parts) - 1, 2**32 - 6000 + place * 3000
            sent.append(rtp(payload, last, start + len(sent), stamp))
    return sent


def arrived(sent: list[bytes], fates: list[tuple[str, int]]) -> list[bytes]:
    """The packets as they arrive."""
    way = list(sent)
    for fate, place in fates:
        if len(way) < 2:
            break
        at = place % len(way)
        packet = way[at] if fate == "doubled" else way.pop(at)
        if fate == "no marker":
            way.insert(at, packet[:1] + bytes([packet[1] & 127]) + packet[2:])
        elif fate != "lost":
            later = {"doubled": 1 + place % 12, "late": 1 + place % 8, "very late": 30}[fate]
            way.insert(min(len(way), at + later), packet)
    return way


def keyframes(codec: str, way: Iterable[bytes]) -> list[bytes]:
    """The keyframes that are shown."""
    video = Video(Media("video", 96, ENCODINGS[codec], _SETS))
    shown: list[bytes] = []
    for packet in way:
        before = video.keyframe
        try:
            video.add_packet(packet)
        except RtspError:  # eight pictures in a row were none
            assume(False)
        if video.keyframe is not None and video.keyframe is not before:
            shown.append(video.keyframe)
    return shown


def the_same_picture_or_none(
    stream: tuple[str, list[bytes]], limit: int, start: int, fates: list[tuple[str, int]]
) -> None:
    """Of pictures whose packets are lost, doubled or late, each keyframe is shown as it was sent,
    or not at all. Without any of that all of them are shown."""
    codec, units = stream
    limit = max(limit, 160 if codec == "mjpeg" else 20)  # tables travel in one packet
    # An empty packet first: else a loss at the beginning shows in no sequence number.
    sent = [rtp(b"", True, start - 1, 0), *packets(codec, units, limit, start)]
    right = [_slices(codec, unit) for unit in units if _is_keyframe(codec, unit)]
    shown = [_slices(codec, picture) for picture in keyframes(codec, sent)]
    if codec == "mjpeg":  # which loses its Huffman tables on the way
        right = shown
        assert len(shown) == len(units)
    assert shown == right, f"{len(right)} keyframes went in, {len(shown)} came out"
    for picture in keyframes(codec, sent[:1] + arrived(sent[1:], fates)):
        assert _slices(codec, picture) in right, "another picture"


def _is_keyframe(codec: str, unit: bytes) -> bool:
    form = FORMATS.get(codec)
    if form is None or any(form.type_of(nal) in form.keyframes for nal in nals(unit)):
        return True
    slices = [nal for nal in nals(unit) if form.type_of(nal) in form.slices]
    if form.by_slices and slices and all(map(form.is_intra, slices)):
        return True
    points = any(form.type_of(nal) == form.sei and nal[1:2] == b"\6" for nal in nals(unit))
    return bool(slices) and points


def _slices(codec: str, data: bytes) -> list[bytes]:
    # Parameter sets that were lost with an earlier picture are not this one's.
    if codec == "mjpeg":
        return [data]
    form = FORMATS[codec]
    return [nal for nal in nals(data) if form.type_of(nal) not in form.parameter_sets]


def a_picture_cut_at_the_limit_is_not_whole(codec: str, slices: int) -> None:
    """A picture that is larger than any may be is never shown, its end included."""
    nal = _nal(codec, 5 if codec == "h264" else 19, b"\x55" * 60_000)
    size = MAX_PICTURE // len(nal) + slices
    sent = (rtp(nal, n == size - 1, n, 9) for n in range(size))
    for picture in keyframes(codec, sent):
        assert len(picture) >= size * len(nal), f"{len(picture)} as whole"


# Cases that broke a reader once: lines that begin as an answer does and are none, the longest
# frame, units that are nothing but a header, and a picture that is cut at the limit.
_STRAY = (b"RTSP/1.OPTIONS rtsp://h/ RTSP/1.0\r\n", b"RTSP/1.\n", b"x$RTSP/1.\n")
_STREAMS = [{"stream": [(stray, 5000)], "sizes": [], "answered": True} for stray in _STRAY]
_STREAMS += [{"stream": [(b"$\0\xff\xff", 1), (b"x", 65_535)], "sizes": [], "answered": False}]
_HEADERS = [
    {
        "stream": (codec, [b"".join(START_CODE + nal for nal in unit) for unit in units]),
        "limit": 200,
        "start": 65535,
        "fates": [],
    }
    for codec, end, key in (("h264", b"\x0b", b"\x65abc"), ("h265", b"\x4a\1", b"\x26\1abc"))
    for units in ([[end]], [[key, end], [key]])
]
_CUT = [{"codec": codec, "slices": 4} for codec in CODECS[:2]]


def rtsp(piece: Piece) -> None:
    """Examples of all that a camera may send."""
    streams = {"stream": STREAMS, "sizes": CUTS, "answered": st.booleans()}
    texts = {"body": DESCRIPTIONS | st.binary(max_size=60), "base": st.text(max_size=12)}
    sent = {"stream": PICTURES, "limit": LIMITS, "start": st.integers(65500, 65535)}
    large = {"codec": st.sampled_from(CODECS[:2]), "slices": st.integers(-2, 6)}
    explore(piece, piece.size // 3, any_stream_is_messages_or_malformed, _STREAMS, **streams)
    explore(piece, piece.size // 10, any_description_is_one_or_a_value_error, **texts)
    explore(piece, piece.size // 4, the_same_picture_or_none, _HEADERS, **sent, fates=FATES)
    explore(piece, piece.size // 800, a_picture_cut_at_the_limit_is_not_whole, _CUT, **large)
