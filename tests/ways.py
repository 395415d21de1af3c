"""The two ways on which many requests travel, and what can happen to them there."""

import gzip
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

import confkit as ck
from confkit.endpoints import A3
from confkit.secret import Secret
from confkit.transport import DeadlineAdapter
from confkit.wire import Request
from tests.scripted import Reply, Scripted

WAYS = ("libcurl", "threads")
ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}
TOKEN = Secret("dG9rZW4tb2YtdGhlLXRlc3Q=")


class OwnAdapter(DeadlineAdapter):
    """The usual adapter, but somebody's own: libcurl has nothing like it."""


def by(client: ck.Client, way: str) -> ck.Client:
    """The client, which sends many requests in this way from now on."""
    if way == "threads":
        for scheme in ("http://", "https://"):
            client.session.mount(scheme, OwnAdapter(pool_maxsize=64))
    return client


def connected(service: Scripted, way: str, **options: Any) -> ck.Client:
    """A client of a scripted service that has a token and waits little between its tries."""
    client = by(service.client(**{"chance": lambda: -0.45, **options}), way)
    client._token.held = TOKEN
    return client


def rooms(*ids: Any) -> list[Request]:
    """A question for each room."""
    return [Request(A3, {"room_id": str(room_id)}) for room_id in ids]


def alone(client: ck.Client, request: Request) -> Any:
    """What `send` gives or raises."""
    try:
        return client.send(request)
    except ck.ConfkitError as error:
        return error


def threads_during(act: Callable[[], Any]) -> int:
    """The most threads of ours that a session is used in at once while something is done."""
    most, over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.002):
            most = max(most, sum(each.name == "confkit request" for each in threading.enumerate()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        act()
    finally:
        over.set()
        watcher.join()
    return most


def _raw(
    data: bytes,
    end: Callable[[socket.socket], object] | None = None,
    wait: float = 0.0,
    drip: bytes = b"",
) -> Reply:
    def do(peer: socket.socket) -> None:
        peer.sendall(data)
        time.sleep(wait)
        for _ in range(40 if drip else 0):
            peer.sendall(drip)
            time.sleep(0.04)
        if end is not None:
            end(peer)

    return Reply(raw=do)


def reset(peer: socket.socket) -> None:
    """Ends a connection with RST instead of FIN."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.close(peer.detach())


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
_BODY = json.dumps(ROOM).encode()


def _sized(body: bytes, coding: str) -> Reply:
    head = f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
    return _raw(_HEAD + head.encode() + body)


def _chunks(body: bytes, end: bytes = b"0\r\n\r\n") -> Reply:
    head = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    return _raw(head + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + end)


_GZIP = gzip.compress(_BODY)
_BOMB = gzip.compress(b" " * (64 * 2**20 + 1))

# What a service answers, and what kind of thing that comes to.
ANSWERS: dict[str, tuple[Any, type]] = {
    "success": (ROOM, dict),
    "a result code": ({"ret": 404}, ck.RoomNotFound),
    "a result code as text": ({"ret": "404", "msg": "gone"}, ck.RoomNotFound),
    "a result code of strain": ({"ret": 504}, ck.ServiceTimeout),
    "success under the other name": ({"result": "0", "room_id": "1"}, dict),
    "an HTML page": (Reply("<html>Log in</html>", kind="text/html"), ck.ProtocolError),
    "an empty body": (Reply(""), ck.ProtocolError),
    "no body": (_raw(b"HTTP/1.1 204 No Content\r\n\r\n"), ck.ProtocolError),
    "broken JSON": (Reply('{"ret": 0,'), ck.ProtocolError),
    "a body cut off": (Reply('{"ret": 0, "to', length=99), ck.ProtocolError),
    "a body that ends with the connection": (_raw(_HEAD + b"\r\n" + _BODY), dict),
    "a redirect": (Reply("", status=302, headers={"Location": "/x"}), ck.ProtocolError),
    "a redirect with a code, to nowhere": (
        Reply({"ret": 404}, status=302, headers={"Location": "http://[::1"}), ck.RoomNotFound),
    "a redirect with more than fits": (
        Reply(_BOMB, status=302, headers={"Location": "/x", "Content-Encoding": "gzip"}),
        ck.TransportError),
    "500": (Reply("boom", status=500), ck.ProtocolError),
    "500 with success": (Reply(ROOM, status=500), ck.ProtocolError),
    "503": (Reply("", status=503), ck.ProtocolError),
    "503 with a code": (Reply({"ret": 700}, status=503), ck.ApiError),
    "504 with a code": (Reply({"ret": 404}, status=504), ck.RoomNotFound),
    "a dropped connection": (Reply(drop=True), ck.TransportError),
    "a reset": (Reply(raw=reset), ck.TransportError),
    "a reset in the body": (
        _raw(_HEAD + b'Content-Length: 99\r\n\r\n{"ret', reset, 0.05), ck.ProtocolError),
    "a slow head": (Reply(ROOM, delay=0.8), ck.TransportTimeout),
    "a dripping head": (_raw(b"HTTP/1.1 200 ", drip=b"O"), ck.TransportTimeout),
    "a slow body": (_raw(_HEAD + b"Content-Length: 99\r\n\r\n{", None, 0.9), ck.TransportTimeout),
    "a dripping body": (
        _raw(_HEAD + b"Content-Length: 999\r\n\r\n{", drip=b" "), ck.TransportTimeout),
    "gzip": (_sized(_GZIP, "gzip"), dict),
    "deflate": (_sized(zlib.compress(_BODY), "deflate"), dict),
    "deflate without its head": (_sized(zlib.compress(_BODY)[2:-4], "deflate"), dict),
    "gzip that is broken": (_sized(_GZIP[:20] + b"x" * 13 + _GZIP[33:], "gzip"), ck.ProtocolError),
    "gzip that is none": (_sized(_BODY, "gzip"), ck.ProtocolError),
    "gzip that is short": (_sized(_GZIP[:-10], "gzip"), ck.ProtocolError),
    "chunks": (_chunks(_BODY), dict),
    "chunks without an end": (_chunks(_BODY, b""), ck.ProtocolError),
    "a chunk without a size": (
        _raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), ck.ProtocolError),
    "not HTTP": (_raw(b"220 smtp ready\r\n"), ck.TransportError),
    "JSON without a head": (_raw(_BODY), ck.TransportError),
    "more than fits": (_sized(_BOMB, "gzip"), ck.TransportError),
    "a provisional answer first": (
        _raw(b"HTTP/1.1 100 Continue\r\n\r\n" + _HEAD + b"\r\n" + _BODY), dict),
    "other provisional answers first": (
        _raw(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
             + _HEAD + b"\r\n" + _BODY), dict),
    "429": (Reply("slow down", status=429), ck.ProtocolError),
    "a name twice": (Reply('{"ret": 0, "topic": "a", "topic": "b"}'), dict),
    "HTTP/1.0": (_raw(b"HTTP/1.0 200 OK\r\n\r\n" + _BODY), dict),
}  # fmt: skip
