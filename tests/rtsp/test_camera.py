"""The sandbox's cameras on the wire, as FFmpeg and raw requests see them, and their faults."""

import re
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from confkit.rtsp.address import parse_address
from confkit.rtsp.auth import Login, parse_challenges
from confkit.sandbox.cameras.faults import FAULTS
from confkit.sandbox.cameras.server import CameraServer
from tests.conftest import need

SMALL = {"size": (128, 96), "fps": 10}
LOGIN = {"login_name": "ada", "login_password": "s3cret"}


@pytest.fixture
def server():
    with CameraServer() as running:
        yield running


def asked(url, request):
    """All that a camera sends on a connection of its own."""
    address = parse_address(url)
    with socket.create_connection((address.host, address.port), 5) as connection:
        connection.sendall(request.encode())
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as stream:
            return stream.read().decode()


@pytest.mark.parametrize(
    ("codec", "transport", "auth"),
    [("h264", "tcp", "digest"), ("h265", "udp", "md5"), ("mjpeg", "udp", "basic")],
)
def test_ffmpeg_decodes_whole_pictures_with_the_right_login(server, codec, transport, auth):
    need("ffmpeg", shutil.which("ffmpeg"), "apt-get install ffmpeg")
    url = server.add(codec=codec, auth=auth, **LOGIN, **SMALL).replace("//", "//ada:s3cret@")
    line = f"ffmpeg -v error -rtsp_transport {transport} -i {url} -frames:v 3"
    line = f"{line} -pix_fmt gray -f rawvideo -".split()
    done = subprocess.run(line, capture_output=True, timeout=60)
    assert (done.returncode, len(done.stdout), done.stderr) == (0, 3 * 128 * 96, b"")
    assert max(done.stdout) > 100


def test_a_camera_opens_to_its_login_alone(server):
    """A signature of the presentation's URL does for its track, that of another does not."""
    url = server.add(auth="digest", **LOGIN, **SMALL)
    assert "s3cret" not in url + repr(vars(server))
    offers = re.findall("WWW-Authenticate: (.*)", asked(url, f"DESCRIBE {url} RTSP/1.0\r\n\r\n"))
    challenges = parse_challenges(offers)
    assert [challenge.name for challenge in challenges] == ["Digest SHA-256", "Digest MD5"]
    for challenge in challenges:
        for password, signed, status in (
            ("s3cret", url, 455),
            ("s3cret", url + "0", 401),
            ("wrong", url, 401),
        ):
            header = challenge.answer(Login("ada", password), "PLAY", signed)
            request = f"PLAY {url}/track1 RTSP/1.0\r\nAuthorization: {header}\r\n\r\n"
            assert f"RTSP/1.0 {status}" in asked(url, request)


def test_a_camera_shows_its_name(server):
    for name in ("a", "b"):
        server.add(name, **SMALL)
    assert server.cameras["/a"].loop.first != server.cameras["/b"].loop.first


def test_a_request_gets_the_status_that_rtsp_has_for_it(server):
    """What is no RTSP or too large is answered with 400."""
    url = server.add("door", transports=("tcp",), **SMALL)
    for line, header, status in (
        (f"PLAY {url} RTSP/1.0", "", 455),
        (f"SETUP {url} RTSP/1.0", "Transport: RTP/AVP;unicast;client_port=5000-5001\r\n", 461),
        (f"RECORD {url} RTSP/1.0", "", 501),
        (f"DESCRIBE {url}0 RTSP/1.0", "", 404),
        (f"DESCRIBE {url} RTSP/1.0", "X: " + "A" * 20_000, 400),
        (f"$\0\0\2xx\r\nOPTIONS {url} RTSP/1.0", "", 200),  # RTCP and an empty line before it
        (f"SETUP {url} RTSP/1.0", "Transport: RTP/AVP;client_port=5000-5001,RTP/AVP/TCP\r\n", 200),
        ("GET / HTTP/1.1", "", 400),
    ):
        assert asked(url, f"{line}\r\n{header}\r\n").startswith(f"RTSP/1.0 {status}"), line
    with_body = f"OPTIONS {url} RTSP/1.0\nContent-Length: 2\n\nxx"  # and lines without CR
    assert asked(url, 2 * with_body).count("RTSP/1.0 200") == 2


def test_a_preflight_names_each_fault(sandbox):
    assert FAULTS.items() <= sandbox.camera_faults().items()

    def tried(name):
        login = () if name == "auth_required" else ("admin", "admin")
        return ck.preflight(sandbox.camera(fault=name, **SMALL), *login, timeout=2).verdict

    with ThreadPoolExecutor(len(FAULTS)) as pool:
        verdicts = dict(zip(FAULTS, pool.map(tried, FAULTS), strict=True))
    assert verdicts == {name: fault.verdict for name, fault in FAULTS.items()}


def test_a_wrong_value_is_an_error_that_names_the_choices(sandbox):
    for wrong, message in (
        ({"fault": "blue"}, "no such fault.*camera_faults.*locked"),
        ({"size": (640, 361)}, "steps of 2"),
        ({"auth": "ntlm"}, "'ntlm' is not one of digest, md5"),
        ({"transports": ["http"]}, "tcp, udp or both"),
        ({"fault": "no_picture", "codec": "mjpeg"}, "needs h264 or h265"),
    ):
        with pytest.raises(ValueError, match=message):
            sandbox.camera(**wrong)
