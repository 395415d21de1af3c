"""The sandbox's cameras on the wire, as a client of a few lines and FFmpeg see them."""

import re
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest

from confkit.rtsp.address import parse_address
from confkit.rtsp.auth import Login, parse_challenges
from confkit.sandbox.cameras.server import CameraServer
from tests.conftest import need

SMALL = {"size": (128, 96), "fps": 10}
LOGIN = {"login_name": "ada", "login_password": "s3cret"}
TCP = "RTP/AVP/TCP;unicast;interleaved=4-5"


class Viewer(ExitStack):
    """A blocking client, which skips interleaved packets."""

    def __init__(self, url):
        super().__init__()
        address = parse_address(url)
        self.url, self.session = url, ""
        self.socket = self.enter_context(socket.create_connection((address.host, address.port), 5))
        self.file = self.enter_context(self.socket.makefile("rb"))

    def ask(self, method, url="", **headers):
        """The status of an answer, and its headers: lists by lower-case name."""
        headers = {"CSeq": 7, "Session": self.session, **headers}
        lines = [f"{name}: {value}\r\n" for name, value in headers.items() if value]
        request = f"{method} {url or self.url} RTSP/1.0\r\n{''.join(lines)}\r\n"
        self.socket.sendall(request.encode())
        return self.answer()

    def play(self, transport=TCP):
        _, headers = self.ask("SETUP", self.url + "/track1", Transport=transport)
        self.session = headers["session"][0].partition(";")[0]
        self.transport = headers["transport"][0]
        return self.ask("PLAY")

    def answer(self):
        while self.file.peek(1)[:1] == b"$":
            self.file.read(int.from_bytes(self.file.read(4)[2:], "big"))
        status, headers = int(self.file.readline().split()[1]), {}
        while line := self.file.readline().decode().strip():
            name, _, value = line.partition(": ")
            headers.setdefault(name.lower(), []).append(value)
        self.file.read(int(headers["content-length"][0]))
        return status, headers

    def has_ended(self):
        """Wait until the server ends the connection; fails when it does not."""
        with suppress(ConnectionError):
            while self.file.read(65536):
                pass
        return True


@contextmanager
def camera(viewers=1, session_timeout=60.0, **settings):
    """A server, the address of its camera, and clients of that, which leave after the server."""
    with ExitStack() as clients, CameraServer(session_timeout=session_timeout) as server:
        url = server.add(**{**SMALL, **settings})
        yield server, url, *(clients.enter_context(Viewer(url)) for _ in range(viewers))


@pytest.mark.parametrize(
    ("codec", "transport", "auth"),
    [("h264", "tcp", "digest"), ("h265", "udp", "md5"), ("mjpeg", "udp", "basic")],
)
def test_ffmpeg_decodes_whole_pictures_with_the_right_login(codec, transport, auth):
    need("ffmpeg", shutil.which("ffmpeg"), "apt-get install ffmpeg")
    with camera(0, codec=codec, auth=auth, **LOGIN) as (_, url):
        inside = url.replace("//", "//ada:s3cret@")
        line = f"ffmpeg -v error -rtsp_transport {transport} -i {inside} -frames:v 3"
        line = f"{line} -pix_fmt gray -f rawvideo -".split()
        done = subprocess.run(line, capture_output=True, timeout=60)
    assert (done.returncode, len(done.stdout), done.stderr) == (0, 3 * 128 * 96, b"")
    assert max(done.stdout) > 100


def test_a_camera_opens_to_its_login_alone():
    """A signature of the presentation's URL does for its track, that of another does not."""
    with camera(auth="digest", **LOGIN) as (_, url, viewer):
        challenges = parse_challenges(viewer.ask("DESCRIBE")[1]["www-authenticate"])
        assert [challenge.name for challenge in challenges] == ["Digest SHA-256", "Digest MD5"]
        for challenge in challenges:
            for password, signed, status in (
                ("s3cret", url, 455),
                ("s3cret", url + "0", 401),
                ("wrong", url, 401),
            ):
                header = challenge.answer(Login("ada", password), "PLAY", signed)
                answer = viewer.ask("PLAY", url + "/track1", Authorization=header)
                assert answer[0] == status


def test_a_camera_that_is_removed_ends_what_it_plays():
    """Its path cannot be taken twice before, and is answered with 404 then."""
    with camera(2) as (server, url, playing, asking):
        for path, problem in (("/camera-1", "path already"), ("a b", "space")):
            with pytest.raises(ValueError, match=problem):
                server.add(path, **SMALL)
        assert "s3cret" not in server.add(**SMALL, **LOGIN) + repr(vars(server))
        playing.play()
        server.remove(url)
        assert playing.has_ended()
        assert asking.ask("DESCRIBE")[0] == 404
        with pytest.raises(LookupError):
            server.remove(url)


def test_requests_out_of_order_get_the_status_that_rtsp_has_for_them():
    udp = "RTP/AVP;unicast;client_port=5000-5001"
    with camera(2, transports=("tcp",)) as (_, url, viewer, playing):
        for method, where, status, headers in (
            ("PLAY", url, 455, {}),
            ("PLAY", url, 454, {"Session": "1"}),
            ("SETUP", url, 461, {"Transport": udp}),
            ("RECORD", url, 501, {}),
            ("DESCRIBE", url + "0", 404, {}),
            ("DESCRIBE", "nonsense", 400, {}),
        ):
            assert viewer.ask(method, where, **headers)[0] == status
        assert viewer.ask("DESCRIBE")[1]["content-base"] == [url + "/"]
        assert playing.play()[1]["session"] == [playing.session + ";timeout=60"]
        assert playing.ask("TEARDOWN")[0] == 200


def test_what_is_not_rtsp_or_too_large_is_answered_400_and_closed():
    texts = ["GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\0\1", "A" * 20_000]
    texts += [f"PLAY * RTSP/1.0\r\nContent-Length: {size}\r\n\r\n" for size in (65537, -1)]
    with camera(len(texts)) as (_, _, *viewers):
        for viewer, text in zip(viewers, texts, strict=True):
            viewer.socket.sendall(text.encode())
            assert viewer.answer()[0] == 400
            assert viewer.has_ended()


def test_a_silent_session_ends_and_a_living_one_does_not():
    """Keep-alives hold a session, and so do reports by RTCP; bytes that never become a request do
    not. Datagrams go to who asked, whatever the `destination`."""
    with (
        camera(3, session_timeout=1.2) as (server, url, dripping, asking, by_udp),
        socket.socket(type=socket.SOCK_DGRAM) as udp,
    ):
        udp.bind(("127.0.0.1", 0))
        port = udp.getsockname()[1]
        for viewer in (dripping, asking):
            viewer.play()
        by_udp.play(f"RTP/AVP;unicast;client_port={port}-{port + 1};destination=192.0.2.1")
        ours = int(re.search(r"server_port=\d+-(\d+)", by_udp.transport)[1])
        for _ in range(5):
            time.sleep(0.4)
            asking.ask("GET_PARAMETER")
            udp.sendto(b"\x80\xc9\x00\x01abcd", ("127.0.0.1", ours))
            with suppress(ConnectionError):
                dripping.socket.sendall(b"A")
        assert server.viewers(url) == 2
        assert dripping.has_ended()
        assert udp.recv(2048, socket.MSG_DONTWAIT)[0] == 0x80
