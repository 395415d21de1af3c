"""Faults in where an answer begins and ends, and in how it is packed."""

import asyncio
import zlib
from functools import cache
from gzip import compress

from .line import PAUSE, Line, head


async def cut(line: Line) -> None:
    """The body ends too early, and its length agrees with that."""
    body = (await line.answer()).body
    await line.reply(body[: line.chance.randrange(1, len(body))])


async def cut_closed(line: Line) -> None:
    """The connection is closed in order before the body is whole."""
    body = (await line.answer()).body
    await line.reply(body[: line.chance.randrange(len(body))], length=len(body))
    line.over = True


async def cut_unsaid(line: Line) -> None:
    """A body without a length ends with the connection, too early."""
    body = (await line.answer()).body
    await line.send(head(None, "Connection: close") + body[: line.chance.randrange(len(body))])
    line.over = True


async def unsaid(line: Line) -> None:
    """The body has no length and ends with the connection; it is whole."""
    body = (await line.answer()).body
    await line.send(head(None, "Connection: close") + body)
    line.over = True


async def doubled(line: Line) -> None:
    """The body stands twice in one answer."""
    body = (await line.answer()).body
    await line.reply(body + body)


async def twice(line: Line) -> None:
    """The answer is sent twice on a connection that is kept: the second is nobody's."""
    answer = await line.answer()
    whole = answer.head + answer.body
    await line.send(whole + whole)


async def twice_large(line: Line) -> None:
    """Behind the answer comes another one, longer than anybody's buffer."""
    answer = await line.answer()
    padded = answer.body + b" " * 100_000
    await line.send(answer.head + answer.body + head(len(padded)) + padded)


async def length_short(line: Line) -> None:
    """The said length is shorter than the body, whose rest lies on the kept connection."""
    body = (await line.answer()).body
    await line.reply(body, length=line.chance.randrange(len(body)))


async def length_long(line: Line) -> None:
    """The said length is longer than the body, behind which the connection is closed."""
    body = (await line.answer()).body
    await line.reply(body, length=len(body) + line.chance.randint(1, 9))
    line.over = True


async def length_long_open(line: Line) -> None:
    """The said length is longer than the body, and the connection stays open."""
    body = (await line.answer()).body
    await line.reply(body, length=len(body) + line.chance.randint(1, 9))
    await asyncio.sleep(line.late)
    line.over = True


async def length_wrong(line: Line) -> None:
    """The said length is no number, negative, too large for anything, or said twice."""
    body = (await line.answer()).body
    said = line.chance.choice(["many", "-1", "1e3", "9" * 30, "0x20", str(2**63)])
    headers = [f"Content-Length: {said}"]
    if line.chance.random() < 0.3:
        headers = [f"Content-Length: {len(body)}", f"Content-Length: {len(body) - 3}"]
    await line.send(head(None, *headers) + body)
    line.over = True


async def chunked(line: Line) -> None:
    """The body comes in chunks, as it may."""
    body = (await line.answer()).body
    await line.send(head(None, "Transfer-Encoding: chunked") + _chunks(body) + b"0\r\n\r\n")


async def chunked_wrong(line: Line) -> None:
    """A chunk has a size that is none."""
    body = (await line.answer()).body
    size = line.chance.choice(["zz", "-5", "", "f" * 20, "0x10", "1_0", "7fffffffffffffff", " "])
    chunk = f"{size}\r\n".encode() + body + b"\r\n"
    await line.send(head(None, "Transfer-Encoding: chunked") + _chunks(body[:9]) + chunk)
    line.over = True


async def chunked_cut(line: Line) -> None:
    """The connection is closed before the last chunk."""
    body = (await line.answer()).body
    await line.send(head(None, "Transfer-Encoding: chunked") + _chunks(body))
    line.over = True


async def interim(line: Line) -> None:
    """Other answers of the kind "still working" come a while before the answer itself."""
    answer = await line.answer()
    first = ["100 Continue", "102 Processing", "103 Early Hints"]
    for status in line.chance.choices(first, k=line.chance.randint(1, 3)):
        await line.send(f"HTTP/1.1 {status}\r\nLink: </x>\r\n\r\n".encode())
    await asyncio.sleep(line.chance.choice([0, PAUSE]))
    await line.send(answer.head + answer.body)


async def http_10(line: Line) -> None:
    """The answer is one of HTTP/1.0, behind which the connection is closed."""
    body = (await line.answer()).body
    await line.send(head(len(body)).replace(b"HTTP/1.1", b"HTTP/1.0", 1) + body)
    line.over = True


async def gzip(line: Line) -> None:
    """The body is packed, as a client may ask for."""
    body = (await line.answer()).body
    await line.reply(compress(body), "Content-Encoding: gzip")


async def deflated(line: Line) -> None:
    """The body is packed in the other usual way, with its header or without."""
    body = (await line.answer()).body
    packed = zlib.compress(body)
    packed = packed if line.chance.random() < 0.5 else packed[2:-4]
    await line.reply(packed, "Content-Encoding: deflate")


async def gzip_broken(line: Line) -> None:
    """The body says that it is packed, and cannot be unpacked."""
    packed = bytearray(compress((await line.answer()).body))
    packed[line.chance.choice([0, 2, len(packed) // 2, -1, -5])] ^= 0xFF
    await line.reply(bytes(packed), "Content-Encoding: gzip")


async def gzip_unpacked(line: Line) -> None:
    """The body says that it is packed, and is not."""
    await line.reply((await line.answer()).body, "Content-Encoding: gzip")


async def gzip_cut(line: Line) -> None:
    """A packed body ends too early, and its length agrees with that."""
    packed = compress((await line.answer()).body)
    most = line.chance.choice([len(packed) - 1, len(packed) - 8, len(packed) // 2, 12])
    await line.reply(packed[:most], "Content-Encoding: gzip")


async def gzip_bomb(line: Line) -> None:
    """A body of one megabyte unpacks to one gigabyte."""
    await line.reply(_bomb(1), "Content-Encoding: gzip")
    line.over = True


async def gzip_bomb_twice(line: Line) -> None:
    """A body of a few kilobytes, packed twice, unpacks to one gigabyte."""
    await line.reply(_bomb(2), "Content-Encoding: gzip, gzip")
    line.over = True


async def encoding_unknown(line: Line) -> None:
    """The body is packed in a way that nobody knows."""
    await line.reply((await line.answer()).body[::-1], "Content-Encoding: x-own")


@cache
def _bomb(times: int) -> bytes:
    """A gigabyte of blanks, packed; its end is not reached by anybody who counts."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packing.compress(b" " * 2**20) + packing.flush(zlib.Z_FULL_FLUSH)
    packed = bytes.fromhex("1f8b08000000000002ff") + piece * 1024 + packing.flush() + bytes(8)
    return compress(packed) if times > 1 else packed


def _chunks(body: bytes) -> bytes:
    pieces = [body[at : at + 37] for at in range(0, len(body), 37)]
    return b"".join(b"%x;note=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
