import pytest

from confkit.rtsp.message import MAX_BODY, MAX_HEAD, MalformedMessage, Parser, Request


def test_headers_are_found_in_any_case_and_all_of_them():
    """Header names match in any case, and a repeated header keeps every value."""
    (answer,) = Parser().feed(
        b"RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm=a\r\n"
        b"www-authenticate: Basic realm=b\r\nContent-Length: 4\r\n\r\nbody"
    )
    assert answer.all("WWW-AUTHENTICATE") == ["Digest realm=a", "Basic realm=b"]
    assert (answer.get("cseq"), answer.body, answer.get("none")) == ("2", b"body", "")


def test_a_message_survives_the_round_trip_and_its_repr_shows_no_secret():
    """What is encoded is parsed back equal, bytes outside of UTF-8 included; a line break is no
    part of a header. The repr shows neither a login nor the query of a URL."""
    url, headers = "rtsp://a/?password=hush", (("X-Odd", "caf\udce9"), ("Authorization", "hush"))
    request = Request("SETUP", url, headers=headers, body=b"x\r\n\r\ny")
    (back,) = Parser().feed(request.encode())
    assert (back.method, back.url, back.body) == (request.method, url, request.body)
    assert back.headers[:2] == headers
    assert "SETUP" in repr(back)
    assert "hush" not in repr(back)
    with pytest.raises(ValueError, match="line break"):
        Request("PLAY", "rtsp://a/", headers=(("X", "a\r\nEvil: 1"),)).encode()


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
