"""The two ways on which a read travels, and what can happen to it there."""

import gzip
import json
import socket
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import confkit as ck
from confkit.secret import Secret
from confkit.wire import DeadlineAdapter
from tests.scripted import Reply, Scripted

WAYS = ("libcurl", "session")
ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}
TOKEN = Secret("dG9rZW4tb2YtdGhlLXRlc3Q=")


class OwnAdapter(DeadlineAdapter):
    """The usual adapter, but somebody's own: libcurl has nothing like it."""


def by(client, way):
    """The client, which sends its reads in this way from now on."""
    if way == "session":
        for scheme in ("http://", "https://"):
            client.session.mount(scheme, OwnAdapter(pool_maxsize=64))
    return client


def client_of(address, way, **options):
    """A client that has a token, and does not wait between its tries."""
    client = Scripted(address, {}).client(**options)
    client._token.value = TOKEN
    return by(client, way)


def connected(service, way, **options):
    """Such a client of a scripted service."""
    return client_of(service.base_url, way, **options)


def outcome(client, *, thread=True):
    """The members of the response to A3, or its error; in another thread, as those of a sweep are,
    or in this one."""

    def call():
        try:
            return client.call("A3", room_id="1")
        except ck.ConfkitError as error:
            return error

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result() if thread else call()


def raw(data, end=None, wait=0.0, drip=b"", keeps=False):
    """Bytes as they are sent, a wait in which some may drip, and how the connection ends."""

    def do(peer):
        peer.sendall(data)
        for _ in range(20):
            peer.sendall(drip)
            time.sleep(wait / 20)
        if end is not None:
            end(peer)

    return Reply(raw=do, keeps=keeps)


def reset(peer):
    """Ends a connection with RST instead of FIN."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.close(peer.detach())


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
BOMB = gzip.compress(b" " * (64 * 2**20 + 1))


def _sized(body, coding):
    head = f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
    return raw(HEAD + head.encode() + body)


def _chunks(body, end=b"0\r\n\r\n"):
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    return raw(head + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + end)


def answers(body, late=0.8):
    """What a service answers in place of this body, and what kind of thing that comes to; `late`:
    after how many seconds, where it is slow."""
    packed = gzip.compress(body)
    long = HEAD + b"Content-Length: 99\r\n\r\n{"
    return {
        "success": (Reply(body), dict),
        "a result code of strain": ({"ret": 504}, ck.ServiceTimeout),
        "an HTML page": (Reply("<html>Log in</html>", kind="text/html"), ck.ProtocolError),
        "a redirect": (Reply("", status=302, headers={"Location": "/x"}), ck.ProtocolError),
        "500 with success": (Reply(body, status=500), ck.ProtocolError),
        "503": (Reply("", status=503), ck.ProtocolError),
        "a dropped connection": (Reply(drop=True), ck.TransportError),
        "a reset in the body": (raw(long, reset, 0.05), ck.ProtocolError),
        "a dripping body": (raw(long, None, 2 * late, b" "), ck.TransportTimeout),
        "gzip": (_sized(packed, "gzip"), dict),
        "deflate": (_sized(zlib.compress(body), "deflate"), dict),
        "chunks": (_chunks(body), dict),
        "chunks without an end": (_chunks(body, b""), ck.ProtocolError),
        "not HTTP": (raw(b"220 smtp ready\r\n"), ck.TransportError),
        "more than fits": (_sized(BOMB, "gzip"), ck.TransportError),
        "a provisional answer": (raw(b"HTTP/1.1 100 Go\r\n\r\n" + HEAD + b"\r\n" + body), dict),
        "HTTP/1.0": (raw(b"HTTP/1.0 200 OK\r\n\r\n" + body), dict),
    }


ANSWERS = answers(json.dumps(ROOM).encode())
