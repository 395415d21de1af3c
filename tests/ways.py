"""The two ways on which a read travels, and what can happen to it there."""

import gzip
import json
import socket
import struct
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import confkit as ck
from confkit.secret import Secret
from confkit.wire import DeadlineAdapter
from tests.scripted import Reply, Scripted

WAYS = ("libcurl", "session")
ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}
TOKEN = Secret("dG9rZW4tb2YtdGhlLXRlc3Q=")


class OwnAdapter(DeadlineAdapter):
    """The usual adapter, but somebody's own: libcurl has nothing like it."""


def by(client: ck.Client, way: str) -> ck.Client:
    """The client, which sends its reads in this way from now on."""
    if way == "session":
        for scheme in ("http://", "https://"):
            client.session.mount(scheme, OwnAdapter(pool_maxsize=64))
    return client


def client_of(address: str, way: str, **options: Any) -> ck.Client:
    """A client that has a token, and does not wait between its tries."""
    options = {"sleep": lambda _: None, **options}
    client = ck.Client(address, address, "demo_access", "demo_secret", **options)
    client._token.value = TOKEN
    return by(client, way)


def connected(service: Scripted, way: str, **options: Any) -> ck.Client:
    """Such a client of a scripted service."""
    return client_of(service.base_url, way, **options)


def outcome(
    client: ck.Client, operation: str = "A3", *, thread: bool = True, **parameters: Any
) -> Any:
    """The members of the response to a read, or its error; in another thread, as those of a sweep
    are, or in this one."""

    def call() -> Any:
        try:
            return client.call(operation, **parameters or {"room_id": "1"})
        except ck.ConfkitError as error:
            return error

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result() if thread else call()


def raw(
    data: bytes,
    end: Callable[[socket.socket], object] | None = None,
    wait: float = 0.0,
    drip: bytes = b"",
    keeps: bool = False,
) -> Reply:
    """Bytes as they are sent, a wait in which some may drip, and how the connection ends."""

    def do(peer: socket.socket) -> None:
        peer.sendall(data)
        for _ in range(20):
            peer.sendall(drip)
            time.sleep(wait / 20)
        if end is not None:
            end(peer)

    return Reply(raw=do, keeps=keeps)


def reset(peer: socket.socket) -> None:
    """Ends a connection with RST instead of FIN."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.close(peer.detach())


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
BOMB = gzip.compress(b" " * (64 * 2**20 + 1))


def _sized(body: bytes, coding: str) -> Reply:
    head = f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
    return raw(HEAD + head.encode() + body)


def _chunks(body: bytes, end: bytes = b"0\r\n\r\n") -> Reply:
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    return raw(head + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + end)


def answers(body: bytes, late: float = 0.8) -> dict[str, tuple[Any, type]]:
    """What a service answers in place of this body, and what kind of thing that comes to; `late`:
    after how many seconds, where it is slow."""
    packed = gzip.compress(body)
    return {
        "success": (Reply(body), dict),
        "a result code": ({"ret": 404}, ck.RoomNotFound),
        "a result code as text": ({"ret": "404", "msg": "gone"}, ck.RoomNotFound),
        "a result code of strain": ({"ret": 504}, ck.ServiceTimeout),
        "success under the other name": (Reply(body.replace(b'"ret"', b'"result"')), dict),
        "an HTML page": (Reply("<html>Log in</html>", kind="text/html"), ck.ProtocolError),
        "an empty body": (Reply(""), ck.ProtocolError),
        "no body": (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), ck.ProtocolError),
        "broken JSON": (Reply('{"ret": 0,'), ck.ProtocolError),
        "a body cut off": (Reply('{"ret": 0, "to', length=99), ck.ProtocolError),
        "a body that ends with the connection": (raw(HEAD + b"\r\n" + body), dict),
        "a redirect": (Reply("", status=302, headers={"Location": "/x"}), ck.ProtocolError),
        "a redirect with a code, to nowhere": (
            Reply({"ret": 404}, status=302, headers={"Location": "http://[::1"}), ck.RoomNotFound),
        "a redirect with more than fits": (
            Reply(BOMB, status=302, headers={"Location": "/x", "Content-Encoding": "gzip"}),
            ck.TransportError),
        "500": (Reply("boom", status=500), ck.ProtocolError),
        "500 with success": (Reply(body, status=500), ck.ProtocolError),
        "503": (Reply("", status=503), ck.ProtocolError),
        "503 with a code": (Reply({"ret": 700}, status=503), ck.ApiError),
        "504 with a code": (Reply({"ret": 404}, status=504), ck.RoomNotFound),
        "a dropped connection": (Reply(drop=True), ck.TransportError),
        "a reset": (Reply(raw=reset), ck.TransportError),
        "a reset in the body": (
            raw(HEAD + b'Content-Length: 99\r\n\r\n{"ret', reset, 0.05), ck.ProtocolError),
        "a slow head": (Reply(body, delay=late), ck.TransportTimeout),
        "a dripping head": (raw(b"HTTP/1.1 200 ", None, 2 * late, b"O"), ck.TransportTimeout),
        "a slow body": (
            raw(HEAD + b"Content-Length: 99\r\n\r\n{", None, late), ck.TransportTimeout),
        "a dripping body": (
            raw(HEAD + b"Content-Length: 999\r\n\r\n{", None, 2 * late, b" "), ck.TransportTimeout),
        "gzip": (_sized(packed, "gzip"), dict),
        "deflate": (_sized(zlib.compress(body), "deflate"), dict),
        "deflate without its head": (_sized(zlib.compress(body)[2:-4], "deflate"), dict),
        "gzip that is broken": (
            _sized(packed[:20] + b"x" * 13 + packed[33:], "gzip"), ck.ProtocolError),
        "gzip that is none": (_sized(body, "gzip"), ck.ProtocolError),
        "gzip that is short": (_sized(packed[:-10], "gzip"), ck.ProtocolError),
        "chunks": (_chunks(body), dict),
        "chunks without an end": (_chunks(body, b""), ck.ProtocolError),
        "a chunk without a size": (
            raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), ck.ProtocolError),
        "not HTTP": (raw(b"220 smtp ready\r\n"), ck.TransportError),
        "JSON without a head": (raw(body), ck.TransportError),
        "more than fits": (_sized(BOMB, "gzip"), ck.TransportError),
        "a provisional answer first": (
            raw(b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"\r\n" + body), dict),
        "other provisional answers first": (
            raw(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                + HEAD + b"\r\n" + body), dict),
        "429": (Reply("slow down", status=429), ck.ProtocolError),
        "a name twice": (Reply(b'{"ret": 7, ' + body[1:]), dict),
        "HTTP/1.0": (raw(b"HTTP/1.0 200 OK\r\n\r\n" + body), dict),
    }  # fmt: skip


ANSWERS = answers(json.dumps(ROOM).encode())
