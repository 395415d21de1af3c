import pytest

from confkit.rtsp.message import (
    MAX_BODY,
    MAX_HEAD,
    MalformedMessage,
    Parser,
    Request,
)

ANSWER = (
    b"RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm=a\r\n"
    b"www-authenticate: Basic realm=b\r\nContent-Length: 4\r\n\r\nbody"
)


def test_headers_are_found_in_any_case_and_all_of_them():
    """Header names match in any case, and a repeated header keeps every value."""
    (answer,) = Parser().feed(ANSWER)
    assert answer.all("WWW-AUTHENTICATE") == ["Digest realm=a", "Basic realm=b"]
    assert (answer.get("cseq"), answer.body, answer.get("none", "-")) == ("2", b"body", "-")


def test_a_message_survives_the_round_trip():
    """What is encoded is parsed back equal, bytes outside of UTF-8 included."""
    request = Request(
        "SETUP", "rtsp://a/b?c=1", headers=(("X-Odd", "caf\udce9"),), body=b"x\r\n\r\ny"
    )
    (back,) = Parser().feed(request.encode())
    assert isinstance(back, Request)
    assert (back.method, back.url, back.get("x-odd")) == ("SETUP", "rtsp://a/b?c=1", "caf\udce9")
    assert back.body == request.body


@pytest.mark.parametrize(
    "data",
    [
        b"\x15\x03\x01\x00\x02",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"RTSP/1.0 OK\r\n",
        b"RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"RTSP/1.0 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"RTSP/1.0 200 OK\r\nX: " + b"x" * MAX_HEAD,
        b"RTSP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1),
    ],
)
def test_what_is_not_rtsp_is_refused_at_once(data):
    """Bytes that cannot become RTSP, or exceed a limit, raise as soon as they show it."""
    with pytest.raises(MalformedMessage) as caught:
        list(Parser().feed(data))
    assert caught.value.received == data[:64]


def test_a_line_break_cannot_be_smuggled_into_a_header():
    """A header value with a line break is refused when a message is encoded."""
    with pytest.raises(ValueError, match="line break"):
        Request("PLAY", "rtsp://a/", headers=(("X", "a\r\nEvil: 1"),)).encode()


def test_no_header_and_no_url_shows_in_a_repr():
    """The repr of a request shows neither its login nor the query of its URL."""
    request = Request("PLAY", "rtsp://a/?password=hush", headers=(("Authorization", "hush"),))
    assert "hush" not in repr(request)
    assert "PLAY" in repr(request)
