"""Callers who take their time: heads and bodies a byte at a time, answers that nobody reads."""

import asyncio
import contextlib
import json
import random
import time

from ..frame import Counts, Piece
from .running import Attacked, Target, attacked
from .settings import PATIENCE

_DRIP = 0.2  # seconds between two bytes
# Nobody who is slow is kept for longer: the head's time, the body's and that for reading, and what
# a busy machine adds.
_LET_GO = 8 * PATIENCE
# Who never reads is let go once the system's buffers are full, of which each connection has
# megabytes: to fill those of a hundred takes the sandbox's one thread some 15 seconds.
_UNREAD = 30 * PATIENCE


def dripped(piece: Piece) -> Counts:
    """Lets them all drip until they are let go."""
    with attacked(piece, piece.size) as under:
        asyncio.run(_all(piece, under))
        return under.over()


async def _all(piece: Piece, under: Attacked) -> None:
    chance = piece.chance()
    kinds = [chance.choice(_KINDS) for _ in range(piece.size)]
    drips = [_one(kind, under, random.Random(chance.random())) for kind in kinds]
    await asyncio.gather(*drips)
    under.look()


async def _one(kind: str, under: Attacked, chance: random.Random) -> None:
    # Answers of A are so small that the system keeps them for whoever does not read.
    port = "B" if kind in ("body", "unread") else chance.choice(["A", "B"])
    patience = _UNREAD if kind == "unread" else _LET_GO
    under.count("slow callers", 1)
    with contextlib.suppress(ConnectionError):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", under.target.ports[port], limit=1024
        )
        try:
            went = await asyncio.wait_for(_drip(kind, reader, writer, under, port), patience)
        except TimeoutError:
            went = False
        except ConnectionError:
            went = True
        finally:
            writer.transport.abort()
        if not went:
            under.count("never let go", 1, f"{kind} at {port}")


async def _drip(
    kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, under: Attacked,
    port: str,
) -> bool:  # fmt: skip
    """Whether the connection was ended by the sandbox."""
    if kind == "unread":
        sent = under.target.whole(port) * 60
        began = time.monotonic()
        writer.write(sent)
        while time.monotonic() - began < _UNREAD:
            writer.write(under.target.whole(port) * 20)  # fails once it is closed
            await writer.drain()
            await asyncio.sleep(_DRIP)
            if writer.is_closing() or reader.exception():
                return True
        return False
    head, then = _request(kind, under.target)
    writer.write(head)
    answer = asyncio.create_task(_answered(reader))
    try:
        for byte in then * 1000:
            writer.write(bytes([byte]))
            await writer.drain()
            done, _ = await asyncio.wait([answer], timeout=_DRIP)
            if done:
                break
        came = await answer
    finally:
        answer.cancel()
    if came:
        try:
            json.loads(came.rpartition(b"\r\n\r\n")[2])
        except ValueError:
            under.count("answers that are no JSON", 1, f"{kind}: {came[:80]!r}")
        else:
            under.count("refused with a code", 1)
    return True


async def _answered(reader: asyncio.StreamReader) -> bytes:
    came = b""
    while piece := await reader.read(1000):
        came += piece
    return came


def _request(kind: str, target: Target) -> tuple[bytes, bytes]:
    """What is sent at once, and what is dripped, again and again."""
    if kind == "body":
        head = b"POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1\r\nHost: h\r\nContent-Length: "
        return head + b"200000\r\nContent-Type: application/json\r\n\r\n{", b'"a": 1, '
    if kind == "body of a GET":
        whole = target.whole("A")
        return whole.replace(b"Host: h\r\n", b"Host: h\r\nContent-Length: 100000\r\n"), b"x"
    if kind == "headers":
        return b"GET / HTTP/1.1\r\n", b"X-Header: y\r\n"
    if kind == "line ends":
        return b"\r\n", b"\r\n"
    if kind == "second head":
        return target.whole("A"), b"GET /" + b"x" * 90
    return b"G", b"ET /" + b"x" * 90


_KINDS = ("head", "headers", "body", "body of a GET", "line ends", "second head", "unread")
