"""Requests of any size: queries, heads, bodies, parameters, escapes, depth."""

import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from ..frame import Counts, Piece
from .running import Attacked, Target, attacked

_MEGABYTE = 1_000_000
_BLOCK = b"x" * 65536
_AT_ONCE = 8
_WAIT = 30.0  # seconds in which each has its answer
_POST = b"POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1\r\nHost: h\r\n"

Sent = Iterator[bytes]


def huge(piece: Piece) -> Counts:
    """Sends them, several at once, each of a kind that chance gives."""
    chance = piece.chance()
    kinds = list(KINDS)
    chance.shuffle(kinds)
    chosen = [kinds[number % len(kinds)] for number in range(piece.size)]
    with attacked(piece, _AT_ONCE) as under, ThreadPoolExecutor(_AT_ONCE) as threads:
        for kind, port, wrong in threads.map(lambda kind: _sent(kind, under), chosen):
            under.count("huge requests", 1)
            if wrong:
                under.count("refused without a code", 1, f"{kind} at {port}: {wrong}")
        under.look()
        return under.over()


def _sent(kind: str, under: Attacked) -> tuple[str, str, str]:
    port, blocks = KINDS[kind]
    with socket.create_connection(("127.0.0.1", under.target.ports[port]), 20) as line:
        line.settimeout(0.0)
        return kind, port, _refused(line, blocks(under.target))


def _refused(line: socket.socket, blocks: Sent) -> str:
    """Why no answer with a code came while the request was sent; empty when one did."""
    came, until, left = b"", time.monotonic() + _WAIT, next(blocks)
    sends = True
    try:
        while time.monotonic() < until:
            wants = [line] if sends else []
            readable, writable, _ = select.select([line], wants, [], 0.5)
            if readable:
                piece = line.recv(65536)
                came += piece
                body = came.partition(b"\r\n\r\n")[2]
                if body.endswith(b"}"):
                    known = isinstance(json.loads(body)["ret"], int)
                    return "" if known else f"answered {body[:80]!r}"
                if not piece:
                    return f"closed after {came[:80]!r}"
            if writable:
                try:
                    left = left[line.send(left) :] or next(blocks, b"")
                except ConnectionError:
                    sends = False  # what it answered before may still be there
                sends = sends and bool(left)
    except OSError as error:
        return f"{error} after {came[:80]!r}"
    return f"nothing within {_WAIT:g} s but {came[:80]!r}"


def _repeated(begin: bytes, block: bytes, size: int, end: bytes = b"") -> Sent:
    yield begin
    for _ in range(0, size, len(block)):
        yield block
    yield end


def _body(kind: bytes, body: bytes, size: int) -> Sent:
    told = b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(body) * size)
    return _repeated(_POST + told, body, len(body) * size)


def _chunked(begin: bytes) -> Sent:
    chunk = b"%x\r\n%s\r\n" % (len(_BLOCK), _BLOCK)
    return _repeated(begin + b"Transfer-Encoding: chunked\r\n\r\n", chunk, 100 * _MEGABYTE)


def _get(target: Target) -> bytes:
    return target.whole("A").removesuffix(b"\r\n")


_END = b" HTTP/1.1\r\nHost: h\r\n\r\n"
_ONE = b"GET /rtc/room/get HTTP/1.1\r\n"
_JSON, _FORM = b"application/json", b"application/x-www-form-urlencoded"
KINDS: dict[str, tuple[str, Callable[[Target], Sent]]] = {
    "query": ("A", lambda _: _repeated(b"GET /rtc/room/get?a=", _BLOCK, 10 * _MEGABYTE, _END)),
    "header": ("A", lambda _: _repeated(_ONE + b"X: ", _BLOCK, 100 * _MEGABYTE, b"\r\n\r\n")),
    "header's name": ("B", lambda _: _repeated(_ONE, _BLOCK, 100 * _MEGABYTE, b": y\r\n\r\n")),
    "headers": ("B", lambda _: _repeated(_ONE, b"X: y\r\n" * 9000, 10 * _MEGABYTE, b"\r\n")),
    "line ends": ("A", lambda _: _repeated(b"\r\n", b"\r\n" * 30_000, 10 * _MEGABYTE, b"")),
    "parameters": ("A", lambda _: _repeated(b"GET /rtc/room/get?", b"a&" * 8000, 200_000, _END)),
    "some parameters": ("A", lambda _: _repeated(b"GET /rtc/room/get?", b"a&" * 20_000, 1, _END)),
    "escapes": ("A", lambda _: _repeated(b"GET /rtc/room/get?access_token=", b"%25%41" * 5000,
                                         _MEGABYTE, _END)),
    "body": ("B", lambda _: _body(_JSON, _BLOCK, 1600)),
    "body of a GET": ("A", lambda to: _repeated(
        _get(to) + b"Content-Length: 100000000\r\n\r\n", _BLOCK, 100 * _MEGABYTE)),
    "chunks": ("B", lambda _: _chunked(_POST + b"Content-Type: application/json\r\n")),
    "chunks of a GET": ("A", lambda to: _chunked(_get(to))),
    "deep": ("B", lambda _: _body(_JSON, b"[" * 100_000, 2)),
    "deep objects": ("B", lambda _: _body(_JSON, b'{"a":' * 40_000, 1)),
    "form": ("B", lambda _: _body(_FORM, b"a=%41&" * 20_000, 2)),
}  # fmt: skip
