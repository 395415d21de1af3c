"""A camera that answers from a script, and a home for cameras that play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from confkit.rtsp.message import Parser, Request, Response
from confkit.sandbox.cameras.ports import stop_accepting

SMALL = {"size": (128, 96), "fps": 10}

SDP = b"v=0\r\ns=-\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"


@dataclass
class Fake:
    """What the scripted camera saw."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.requests]


def reply(request: Request, status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    cseq = ("CSeq", request.get("CSeq"))
    return Response(status, "Reason", headers=(cseq, *pairs), body=body).encode()


def willing(request: Request) -> bytes:
    """Accept everything, and play nothing."""
    if request.method == "OPTIONS":
        return reply(request, Public="DESCRIBE, SETUP, PLAY, GET_PARAMETER")
    if request.method == "DESCRIBE":
        return reply(request, body=SDP)
    if request.method == "SETUP":
        return reply(request, Transport=request.get("Transport"), Session="77;timeout=60")
    return reply(request)


@asynccontextmanager
async def fake_camera(answer: Callable[[Request], bytes | None]) -> AsyncIterator[Fake]:
    """Play a camera: `answer` gives bytes, b"" to close the connection, or None to keep silent."""
    fake = Fake()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fake.connections += 1
        fake.open_connections += 1
        parser = Parser()
        try:
            while data := await reader.read(65536):
                for message in parser.feed(data):
                    assert isinstance(message, Request)
                    fake.requests.append(message)
                    output = answer(message)
                    if output == b"":
                        return
                    writer.write(output or b"")
        except ConnectionError:
            pass
        finally:
            fake.open_connections -= 1
            writer.close()

    async with raw_server(serve) as port:
        fake.url = f"rtsp://127.0.0.1:{port}/live"
        yield fake


@asynccontextmanager
async def raw_server(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[int]:
    """Serve connections on a free port, and wait at the end until all of them are over."""
    tasks: set[asyncio.Task[None]] = set()

    async def tracked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(tracked, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await stop_accepting(server)
        server.close()
        if tasks:
            await asyncio.wait_for(asyncio.gather(*tasks), 5)
        await server.wait_closed()


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until something is true; fails when it never is."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition() and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.01)
    assert condition()
