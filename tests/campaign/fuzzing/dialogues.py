"""What a camera may send of RTSP: messages, descriptions, addresses."""

import re
import tracemalloc

from hypothesis import strategies as st

from confkit.rtsp.address import parse_address
from confkit.rtsp.message import Frame, MalformedMessage, Parser, Response
from confkit.rtsp.sdp import Description, Media, control_url, parse_sdp, write_sdp

MEMORY = 16 * 1024 * 1024  # bytes: far more than any limit of the parser adds up to

# Pieces that mean something to a parser, so that what is drawn gets further than its first byte.
TOKENS = st.sampled_from([
    b"RTSP/1.0 200 OK\r\n", b"RTSP/1.0 401 Unauthorized\r\n", b"RTSP/1.0 100 Continue\n",
    b"RTSP/1.",
    b"RTSP/1.0 ", b"OPTIONS rtsp://h/ RTSP/1.0\r\n", b"CSeq: 1\r\n", b"Content-Length: 4\r\n",
    b"Content-Length: \r\n", b"content-length:99999999\r\n", b"Content-Length: -1\r\n", b"\r\n",
    b"\r\n\r\n", b"\n\n", b"\r", b"\n", b"\0", b"$", b"$\0\0\x04abcd", b"$\1\xff\xff", b"$\0\0\0",
    b": \r\n", b" folded\r\n", b"\xff\xfe", b"body", b"v=0\r\n", b"HTTP/1.1 200 OK\r\n",
    b"SSH-2.0-x\n",
    b"WWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n", b"Session: 77;timeout=60\r\n",
    "RTSP/1.0 ٢٠٠ OK\r\n".encode(), b"x" * 300,
])  # fmt: skip
STREAMS = st.lists(  # of pieces, each with how often it comes
    st.tuples(TOKENS | st.binary(max_size=12), st.sampled_from([1, 1, 1, 2, 40, 1500])), max_size=12
)
Stream = list[tuple[bytes, int]]
CUTS = st.lists(st.integers(1, 4000), max_size=6)


def parsed(parser: Parser, pieces: list[bytes]) -> tuple[list[object], str]:
    """All messages of a stream that comes in these pieces, and how it ended."""
    found: list[object] = []
    try:
        for piece in pieces:
            for message in parser.feed(piece):
                found.append(message)
                told = repr(message)
                assert len(told) < 2 * 16 * 1024 + 200, "a repr as long as a message"
    except MalformedMessage as error:
        return found, str(error) if len(error.received) <= 64 else "too much is kept as evidence"
    return found, ""


def cut(stream: Stream, sizes: list[int]) -> list[bytes]:
    """What a stream says, in pieces of these sizes, the rest as the last."""
    data, pieces = b"".join(piece * times for piece, times in stream), []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


def any_stream_is_messages_or_malformed(stream: Stream, sizes: list[int], resync: bool) -> None:
    """Bytes give messages or MalformedMessage, the same ones however they are cut, in bounded
    memory."""
    whole = parsed(Parser(resync=resync), cut(stream, []))
    parser = Parser(resync=resync)
    drips = parsed(parser, cut(stream, sizes))
    if not resync:  # where stray bytes are skipped, how many depends on what has come
        assert drips == whole, f"in one piece {whole}, in {sizes} {drips}"
    assert len(parser.rest) <= 64


def after_a_message_nothing_stops_the_parser(stream: Stream, sizes: list[int]) -> None:
    """What follows a first answer on one connection gives messages or MalformedMessage."""
    parser = Parser(resync=True)
    list(parser.feed(Response(200, "OK").encode()))
    parsed(parser, cut(stream, sizes))


def a_stream_without_end_is_bounded(token: bytes, resync: bool) -> None:
    """A peer that repeats itself for ever cannot make the parser hold more than its limits."""
    parser = Parser(resync=resync)
    list(parser.feed(Response(200, "OK").encode()))
    block = (token or b"\0") * (64 * 1024 // max(1, len(token)))
    tracemalloc.start()
    try:
        for _ in range(12):
            parsed(parser, [block])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < MEMORY, f"{held} bytes are held of a stream of {token!r}"


_HEADER = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=20).map(
    lambda text: text.encode("latin-1").decode("utf-8", "surrogateescape")
)
MESSAGES = st.builds(
    Response,
    st.integers(100, 999),
    st.text("OK abc-", max_size=12).map(str.strip),
    headers=st.lists(
        st.tuples(st.text("abcXYZ-", min_size=1, max_size=12), _HEADER), max_size=5
    ).map(tuple),
    body=st.binary(max_size=300),
) | st.builds(Frame, st.integers(0, 255), st.binary(max_size=300))


def messages_survive_the_round_trip(messages: list[Response | Frame], sizes: list[int]) -> None:
    """What is encoded is parsed back: every message, in its order, with its body and headers."""
    stream = b"".join(message.encode() for message in messages)
    found, trouble = parsed(Parser(), cut([(stream, 1)], sizes))
    assert not trouble, trouble
    assert len(found) == len(messages)
    for sent, back in zip(messages, found, strict=True):
        if isinstance(sent, Frame):
            assert back == sent
            continue
        assert isinstance(back, Response)
        assert (back.status, back.reason, back.body) == (sent.status, sent.reason, sent.body)
        for name, value in sent.headers:
            assert value.strip() in back.all(name), f"{name}: {value!r} became {back.all(name)}"


WORD = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=["Cs"]),
    max_size=16,
)
_LINES = st.sampled_from([
    "v=0", "o=- 0 0 IN IP4 0.0.0.0", "s=Camera", "t=0 0", "m=video 0 RTP/AVP 96", "m=video", "m=",
    "m=audio 0 RTP/AVP 8", "m=video 0 RTP/AVP 26 96 300 ٢٦", "a=rtpmap:96 H264/90000",
    "a=rtpmap:96 H265/0", "a=rtpmap:96", "a=rtpmap: /", "a=rtpmap:96 /9", "a=control:track1",
    "a=control:*", "a=control:rtsp://h/x",
    "a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0,a",
    "a=fmtp:96 ;;=;", "a=fmtp:96 sprop-vps=====;sprop-sps=ü", "c=IN IP4 0.0.0.0", "=", "x", "\0",
    "\ufeffv=0", "<html>", "a=rtpmap:96 JPEG/999999999", "a=rtpmap:97 RTX/90000",
])  # fmt: skip
DESCRIPTIONS = st.builds(
    lambda first, lines, end: "\r\n".join([first, *lines]).encode(errors="replace") + end,
    st.sampled_from(["v=0", "v=0", "v=0", "", "v=1"]),
    st.lists(_LINES | WORD, max_size=14),
    st.sampled_from([b"", b"\r\n", b"\xff", b"m=vi"]),
)


def any_description_is_one_or_a_value_error(body: bytes, base: str) -> None:
    """Bytes give a description whose parts have their types, or a ValueError of one sentence."""
    found, told = Description(()), "The text is a description."
    try:
        found = parse_sdp(body)
    except ValueError as error:
        told = str(error)
    assert re.fullmatch(r"The [^\n]{10,90}\.|A media line [^\n]{10,90}\.", told), told
    for media in found.media:
        assert media.clock_rate > 0
        assert -1 <= media.payload_type <= 999
        assert all(isinstance(nal, bytes) and nal for nal in media.parameter_sets)
        assert isinstance(control_url(base, media.control), str)


_NAME = st.text("abcXYZ09-_", min_size=1, max_size=8)
MEDIA = st.builds(
    Media,
    st.sampled_from(["video", "audio", "application"]),
    st.integers(96, 127),
    st.sampled_from(["H264", "H265", "JPEG", "PCMA"]),
    st.integers(1, 999_999_999),
    st.dictionaries(_NAME.map(str.lower), _NAME, max_size=3),
    st.sampled_from(["", "track1", "trackID=0", "rtsp://h/x?y=1"]),
)


def descriptions_survive_the_round_trip(media: list[Media], name: str) -> None:
    """What is written is read back equal."""
    written = Description(tuple(media), name)
    assert parse_sdp(write_sdp(written)) == written


def any_address_is_one_or_a_value_error(address: str) -> None:
    """A text gives an address whose URL gives the same one again, or a ValueError without it."""
    found, told = None, "The address is one."
    try:
        found = parse_address(address)
    except ValueError as error:
        told = str(error)
    assert re.fullmatch(r"The [^\n]{10,110}\.", told), told
    if found is None:
        return
    assert 0 < found.port < 65536
    again = parse_address(found.url)
    assert (again.server, again.path) == (found.server, found.path)
    assert again.login_name is None
    assert found.url.isascii() or not found.host.isascii()


ADDRESSES = st.lists(
    st.sampled_from([
        "rtsp://", "rtsps://", "RTSP://", "http://", "admin:pw@", "a%40b:c%2Fd@", "u@", "@", ":",
        "/",
        "?", "#", "[::1]", "[", "]", "192.0.2.7", "host", ":554", ":0", ":99999", ":٥٥٤",
        ":" + "9" * 5000,
        "%", "%zz", "%00", "\x7f", " ", "ü", "\udce9", "\ud800", "/stream1", "?a=b",
        "[fe80::1%eth0]",
    ]) | WORD,
    max_size=8,
).map("".join)  # fmt: skip
