"""Callers who ask for too much: too many of them, too slow, too much at once."""

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from confkit import create_room, get_mcu
from confkit.rtsp.camera import CameraServer
from confkit.sandbox import Sandbox
from confkit.sandbox.app import BODY_BYTES
from confkit.sandbox.connections import AHEAD, HEADERS
from confkit.sandbox.sockets import share
from tests.conftest import need

from .conftest import A, B

POST = f"POST {B['list']} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n".encode()
GET = f"GET {A['get']} HTTP/1.1\r\nHost: h\r\n".encode()


@pytest.fixture
def impatient(make):
    """A sandbox that waits for slow callers a moment only, and takes lists as POST."""
    return make({"list_method": "POST", "placement": "json"}, seed=1, request_timeout=0.2)


@pytest.fixture
def dial() -> Iterator[Callable[[str], socket.socket]]:
    """Opens a connection to the port of a URL."""
    with ExitStack() as lines:

        def dialled(url: str) -> socket.socket:
            place = ("127.0.0.1", int(url.rpartition(":")[2].partition("/")[0]))
            return lines.enter_context(socket.create_connection(place, 20))

        yield dialled


def to_the_end(line: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    came = b""
    while piece := line.recv(65536):
        came += piece
    return came


def code(came: bytes) -> object:
    """The result code of the last answer."""
    return json.loads(came.rpartition(b"\r\n\r\n")[2])["ret"]


@pytest.mark.parametrize("begin", [b"G", GET, b"\r\n", GET + b"\r\n" + GET])
def test_half_a_head_is_refused_in_time(impatient, dial, begin):
    """A head that does not go on is 408 as JSON, also behind a request that was whole."""
    line = dial(impatient.sandbox.base_url)
    line.sendall(begin)
    assert code(to_the_end(line)) == 408
    assert "did not come within 0.2 s" in impatient.sandbox.refusals[-1]


def test_a_caller_who_says_nothing_is_let_go(impatient, dial):
    """A connection on which nothing comes is closed without a word."""
    assert to_the_end(dial(impatient.sandbox.base_url)) == b""


def test_half_a_body_is_refused_in_time(impatient, dial):
    """A body that does not go on is a wrong parameter, and its connection is closed."""
    line = dial(impatient.sandbox.outgoing_url)
    line.sendall(POST + b"Content-Length: 100\r\n\r\n{")
    assert code(to_the_end(line)) == 401
    assert "the body did not come within" in impatient.sandbox.refusals[-1]


@pytest.mark.parametrize(
    "told",
    [b"Content-Length: %d\r\n\r\n" % (BODY_BYTES * 4), b"Transfer-Encoding: chunked\r\n\r\n"],
)
def test_a_body_without_end_is_refused(impatient, dial, told):
    """A body that is too long is refused while it still comes, whatever length it told."""
    line = dial(impatient.sandbox.outgoing_url)
    line.sendall(POST + told)
    line.sendall((b"ffff\r\n" + b" " * 0xFFFF + b"\r\n") * 5)
    assert code(to_the_end(line)) == 401
    assert "larger than" in impatient.sandbox.refusals[-1]


def test_a_body_that_nobody_wants_ends_the_connection(impatient, dial):
    """A GET is answered before its body has come; who goes on sending is let go."""
    line = dial(impatient.sandbox.base_url)
    line.sendall(GET + b"Content-Length: 1000000\r\n\r\nx")
    assert code(to_the_end(line)) == 602


@pytest.mark.parametrize(
    ("rest", "why"),
    [(b"X: " + b"y" * 200_000, "too long"), (b"x" * 200_000, "too long"),
     (b"X: y\r\n" * (HEADERS + 1), "headers")],
)  # fmt: skip
def test_a_header_without_end_is_refused(sandbox, dial, rest, why):
    """One header that never ends is refused as soon as it is too long, and too many are, too."""
    line = dial(sandbox.base_url)
    line.sendall(GET + rest)
    assert code(to_the_end(line)) == 407
    assert why in sandbox.refusals[-1]


def test_too_many_parameters_are_refused(stranger):
    """A query of more parameters than any caller has is wrong, in A and in B."""
    query = "&".join(["a"] * 1001)
    assert stranger.raw(f"{A['get']}?{query}").json()["ret"] == 407
    assert stranger.raw(f"{B['list']}?{query}", port="B").json()["ret"] == 401
    assert "more than 1,000 parameters" in stranger.sandbox.refusals[-1]


def test_requests_far_ahead_of_their_answers_are_refused(make, dial):
    """A caller may send some requests before the first is answered, and no thousands of them."""
    stranger = make(seed=1, latency=0.01)
    line = dial(stranger.sandbox.base_url)
    line.sendall((GET + b"\r\n") * AHEAD)
    answers = b""
    while answers.count(b'"ret":602') < AHEAD:
        more = line.recv(65536)
        assert more
        answers += more
    line.sendall((GET + b"\r\n") * 1000)
    # Those ahead, the one being answered, one that was whole by then, and the refusal.
    assert to_the_end(line).count(b"HTTP/1.1") <= AHEAD + 3
    assert stranger.sandbox.count() < 3 * AHEAD


def test_an_answer_that_nobody_reads_does_not_stay(impatient, dial):
    """A caller who never reads is let go, with what waits for him."""
    fields = {"topic": "T", "owner_id": "o" * 50_000, "room_mode": "1"}
    room_id = impatient.a("create", **fields)["room_id"]
    line = dial(impatient.sandbox.base_url)
    query = f"?access_token={impatient.token.replace('=', '%3D')}&room_id={room_id}"
    request = f"GET {A['get']}{query} HTTP/1.1\r\nHost: h\r\n\r\n".encode()
    with pytest.raises(ConnectionError):
        while True:
            line.sendall(request * 20)  # never read; the system keeps some megabytes
            time.sleep(0.02)


@pytest.fixture
def few_descriptors():
    """How many descriptors this process may have: as few as many a notebook's, beside those that
    tests before this one have left to the garbage collector."""
    need("a limit for descriptors", find_spec("resource"), "use a POSIX system")
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 400 + len(list(Path("/dev/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    yield most
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_idle_callers_leave_room_for_others(few_descriptors, make, dial):
    """Of more connections than a port takes those that ask nothing go, the others are answered, and
    descriptors are left for the process."""
    stranger = make(seed=1)
    idle = [dial(stranger.sandbox.base_url) for _ in range(few_descriptors // 4 + 20)]
    assert stranger.a("get", room_id="x")["ret"] == 404
    assert stranger.b("list")["ret"] == 0
    assert to_the_end(idle[0]) == b""
    assert share(4, 2500) == few_descriptors // 4


def test_whole_requests_wait_for_their_turn(few_descriptors, make, dial):
    """Of more callers than a port takes everybody who has asked is answered."""
    stranger = make(seed=1, latency=0.05)
    lines = [dial(stranger.sandbox.base_url) for _ in range(few_descriptors // 4 + 20)]
    for line in lines:
        line.sendall(GET + b"Connection: close\r\n\r\n")
    assert [code(to_the_end(line)) for line in lines] == [602] * len(lines)


def test_cameras_and_media_server_hold_few_callers(few_descriptors, dial):
    """Connections that ask a camera or the media server nothing go for new ones."""
    with Sandbox(seed=2) as crowded:
        url = crowded.camera()
        idle = [dial(url) for _ in range(few_descriptors // 10 + 1)]
        assert to_the_end(idle[0]) == b""
        last = dial(url)
        last.sendall(f"OPTIONS {url} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
        assert last.recv(100).startswith(b"RTSP/1.0 200")
        with crowded.connect() as connected:
            addr = get_mcu(connected, create_room(connected, "T", "o"))
        lines = [dial(addr) for _ in range(few_descriptors // 20 + 1)]
        assert to_the_end(lines[0]) == b""


def test_a_camera_lets_go_of_who_never_finishes_a_request():
    """Bytes that never become a request do not keep a connection to a camera."""

    async def dripped() -> bytes:
        async with CameraServer(session_timeout=0.2) as server:
            port = urlsplit(await server.add(size=(128, 96))).port
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            came = asyncio.create_task(reader.read())
            try:
                while not came.done():
                    writer.write(b"X")
                    await asyncio.sleep(0.02)
                return came.result()
            finally:
                writer.transport.abort()

    with suppress(ConnectionError):
        assert asyncio.run(dripped()) == b""
