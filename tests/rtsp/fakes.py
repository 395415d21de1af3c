"""A camera that answers from a script, and a home for cameras that play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from confkit.rtsp.message import Parser, Request, Response
from tests.serving import Serve, served

SMALL = {"size": (128, 96), "fps": 10}

SDP = b"v=0\r\ns=-\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"

Script = Callable[[Request], bytes | None]


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


def instead(method: str, status: int = 200, body: bytes = b"", **headers: str) -> Script:
    """A script that answers one method in its own way and is willing otherwise."""

    def answer(request: Request) -> bytes:
        if request.method == method:
            return reply(request, status, body, **headers)
        return willing(request)

    return answer


@asynccontextmanager
async def fake_camera(answer: Script) -> AsyncIterator[Fake]:
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
        finally:
            fake.open_connections -= 1

    async with raw_server(serve) as port:
        fake.url = f"rtsp://127.0.0.1:{port}/live"
        yield fake


@asynccontextmanager
async def raw_server(serve: Serve) -> AsyncIterator[int]:
    """Serve connections on a free port; whoever is left at the end is let go."""
    async with served(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until something is true; fails when it never is."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition() and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.01)
    assert condition()
