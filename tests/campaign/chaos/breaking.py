"""Faults of a network and of the machines on the way: late, lost, torn, or somebody else's."""

import asyncio

from .line import PAUSE, Line, head


async def delay(line: Line) -> None:
    """The answer comes a little later."""
    answer = await line.answer()
    await asyncio.sleep(line.chance.uniform(0, PAUSE))
    await line.send(answer.head + answer.body)


async def late(line: Line) -> None:
    """The answer comes after the caller's deadline."""
    answer = await line.answer()
    await asyncio.sleep(line.late)
    await line.send(answer.head + answer.body)
    line.over = True


async def silent(line: Line) -> None:
    """No answer ever comes; the request is not forwarded."""
    await asyncio.sleep(line.late)
    line.over = True


async def drip(line: Line) -> None:
    """The answer comes in a few small pieces, soon enough."""
    answer = await line.answer()
    whole = answer.head + answer.body
    step = max(1, len(whole) // line.chance.randint(2, 9))
    for at in range(0, len(whole), step):
        await line.send(whole[at : at + step])
        await asyncio.sleep(PAUSE / 10)


async def drip_late(line: Line) -> None:
    """The answer comes a byte at a time, so that each byte is soon there and the last one late."""
    answer = await line.answer()
    whole = answer.head + answer.body
    where = line.chance.choice([0, len(answer.head)])  # drips in the head, or in the body
    await line.send(whole[:where])
    dripped = whole[where : where + 60]
    for byte in dripped:
        await line.send(bytes([byte]))
        await asyncio.sleep(line.late / len(dripped))
    line.over = True


async def reset_before(line: Line) -> None:
    """The connection is reset, and the request never forwarded."""
    line.reset()


async def closed_before(line: Line) -> None:
    """The connection is closed in order without an answer, and the request never forwarded."""
    line.over = True


async def lost(line: Line) -> None:
    """The request is forwarded, its answer thrown away, and the connection reset."""
    await line.answer()
    line.reset()


async def reset_during(line: Line) -> None:
    """The connection is reset in the middle of the answer."""
    answer = await line.answer()
    whole = answer.head + answer.body
    await line.send(whole[: line.chance.randrange(1, len(whole))])
    if line.chance.random() < 0.5:
        await asyncio.sleep(PAUSE / 10)  # else what was sent may be lost with the connection
    line.reset()


async def reset_after(line: Line) -> None:
    """The whole answer is sent, and the connection reset behind it."""
    answer = await line.answer()
    await line.send(answer.head + answer.body)
    await asyncio.sleep(PAUSE / 10)
    line.reset()


async def closed_after(line: Line) -> None:
    """The whole answer is sent, and the connection closed although it was to be kept."""
    answer = await line.answer()
    await line.send(answer.head + answer.body)
    line.over = True


async def half_closed(line: Line) -> None:
    """The way back is shut before the answer, while the way there stays open."""
    await line.answer()
    await line.end()


async def half_closed_during(line: Line) -> None:
    """The way back is shut in the middle of the answer, while the way there stays open."""
    answer = await line.answer()
    whole = answer.head + answer.body
    await line.send(whole[: line.chance.randrange(1, len(whole))])
    await line.end()


async def head_only(line: Line) -> None:
    """The head comes at once, and its body never."""
    answer = await line.answer()
    await line.send(answer.head)
    await asyncio.sleep(line.late)
    line.over = True


async def html(line: Line) -> None:
    """A proxy's page for logging in comes in place of the answer, with status 200."""
    page = b"<!DOCTYPE html><html><title>Log in</title><body>Who are you?</body></html>"
    await line.reply(page, "Content-Type: text/html")


async def empty(line: Line) -> None:
    """An empty body comes in place of the answer."""
    await line.reply(b"", status=line.chance.choice(["200 OK", "204 No Content"]))


async def redirect(line: Line) -> None:
    """The caller is sent to another host, with its own token in the address."""
    status = line.chance.choice(["301 Moved", "302 Found", "303 See Other", "307 Temporary",
                                 "308 Permanent"])  # fmt: skip
    await line.reply(b"", f"Location: {line.elsewhere}{line.request.target}", status=status)


async def http_429(line: Line) -> None:
    """Too many requests, says a proxy: come again in a second."""
    await line.reply(b"slow down", "Retry-After: 1", status="429 Too Many Requests")


async def http_500(line: Line) -> None:
    """Something broke on the way."""
    await line.reply(b"Internal Server Error", status="500 Internal Server Error")


async def http_502(line: Line) -> None:
    """A proxy found no service."""
    await line.reply(b"<html>Bad Gateway</html>", status="502 Bad Gateway")


async def http_503(line: Line) -> None:
    """The service is away for a moment."""
    await line.reply(b"", "Retry-After: 1", status="503 Service Unavailable")


async def http_504(line: Line) -> None:
    """The request is forwarded, and a proxy says that its answer took too long."""
    await line.answer()
    await line.reply(b"<html>Gateway Time-out</html>", status="504 Gateway Time-out")


async def success_500(line: Line) -> None:
    """The answer comes with an HTTP status that says the opposite."""
    answer = await line.answer()
    await line.reply(answer.body, status="500 Internal Server Error")


async def strange_status(line: Line) -> None:
    """An answer has a status that is none."""
    for_it = line.chance.choice([b"HTTP/1.1 999 ?", b"HTTP/1.1 abc", b"HTTP/9.9 200 OK",
                                 b"HTTP/1.1", b"ICY 200 OK", b"HTTP/1.1 000 no"])  # fmt: skip
    await line.send(for_it + b"\r\nContent-Length: 2\r\n\r\n{}")
    line.over = True


async def not_http(line: Line) -> None:
    """What comes is not HTTP at all."""
    size = line.chance.choice([1, 20, 5000])
    await line.send(
        line.chance.choice([b"SSH-2.0-x\r\n", line.chance.randbytes(size), b"\r\n" * size])
    )
    line.over = True


async def header_flood(line: Line) -> None:
    """An answer has more headers than anybody needs."""
    many = [f"X-Flood-{number}: {'y' * 60}" for number in range(line.chance.choice([101, 8000]))]
    await line.send(head(2, *many) + b"{}")
    line.over = True


async def header_long(line: Line) -> None:
    """An answer has a header that is too long."""
    await line.send(head(2, f"X-Long: {'y' * line.chance.choice([70_000, 500_000])}") + b"{}")
    line.over = True
