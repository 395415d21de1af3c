import pytest

from confkit.rtsp.address import parse_address


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("rtsp://cam/live", "cam", 554, "/live"),
        ("RTSPS://cam", "cam", 322, "/"),
        ("rtsp://10.0.0.9:8554/c?channel=1&b=0", "10.0.0.9", 8554, "/c?channel=1&b=0"),
        ("rtsp://[fe80::1]:99/x", "fe80::1", 99, "/x"),
        ("rtsp://cam?channel=1", "cam", 554, "/?channel=1"),
        ("rtsp://cam/tür", "cam", 554, "/t%C3%BCr"),
    ],
)
def test_the_parts_of_an_address(url, host, port, path):
    """Host, port (554, or 322 with TLS) and path with its query come out of a URL."""
    address = parse_address(url)
    assert (address.host, address.port, address.path) == (host, port, path)
    assert parse_address(address.url) == address


def test_the_login_is_decoded_and_stays_out_of_the_request_url():
    """The login ends at the last @, is percent-decoded, and shows in no request URL and no repr."""
    for login, name, password in (
        ("ad%40min:p@ss%3A%2F:x@", "ad@min", "p@ss:/:x"),
        ("ada:@", "ada", ""),
        ("ada@", "ada", None),
        ("", None, None),
    ):
        address = parse_address(f"rtsp://{login}cam:554/live")
        assert (address.login_name, address.login_password) == (name, password)
        assert address.url == "rtsp://cam:554/live"
        assert "p@ss" not in repr(address)


@pytest.mark.parametrize(
    "url",
    [
        "cam:554/hush",
        "rtsp://cam:0/hush",
        "rtsp://cam:hush/",
        "rtsp://cam:65536/hush",
        "rtsp://cam/hush#",
        "rtsp://ada:hu/sh@cam/",
        "rtsp://ada:hush%@cam/",
        "rtsp://ada:hush%0d%0aX@cam/",
        "rtsp://cam/hush hush",
        "rtsp://fe80::1/hush",
    ],
)
def test_a_malformed_address_is_refused_in_one_sentence_without_quoting_it(url):
    """Whatever is malformed raises ValueError with one sentence that holds nothing of the URL."""
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$") as caught:
        parse_address(url)
    assert "hush" not in str(caught.value)
    assert "hu/sh" not in str(caught.value)
