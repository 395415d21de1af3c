"""A camera that answers from a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from confkit.rtsp.message import Frame, MalformedMessage, Parser, Request, Response
from confkit.rtsp.preflight import preflight
from confkit.rtsp.report import Report
from confkit.rtsp.rtp import Packet
from confkit.sandbox.cameras.picture import encode_loop
from confkit.sandbox.cameras.serving import packetise
from tests.ports import HERE
from tests.serving import Serve, served

SMALL: dict[str, Any] = {"size": (128, 96), "fps": 10}
SDP = b"v=0\r\ns=-\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"
DIGEST = 'Digest realm="r", nonce="n"'

Script = Callable[[Request], Any]


class Last(bytes):
    """What a camera sends before it closes the connection."""


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

    @property
    def logins(self) -> list[str]:
        """The methods of the requests with a login."""
        return [request.method for request in self.requests if request.get("Authorization")]


def reply(
    request: Request, status: int = 200, body: bytes = b"", reason: str = "Reason", **headers: str
) -> bytes:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    cseq = ("CSeq", request.get("CSeq"))
    return Response(status, reason, headers=(cseq, *pairs), body=body).encode()


def willing(request: Request) -> bytes:
    """Accept everything, and play nothing."""
    if request.method == "OPTIONS":
        return reply(request, Public="DESCRIBE, SETUP, PLAY, GET_PARAMETER")
    if request.method == "DESCRIBE":
        return reply(request, body=SDP)
    if request.method == "SETUP":
        return reply(request, Transport=request.get("Transport"), Session="77;timeout=60")
    return reply(request)


def at(method: str, answer: Script) -> Script:
    """A script that answers one method in its own way and is willing otherwise."""
    return lambda request: answer(request) if request.method == method else willing(request)


def instead(method: str, status: int = 200, body: bytes = b"", **more: str) -> Script:
    """The same, with this answer."""
    return at(method, lambda request: reply(request, status, body, **more))


def wanting(accepted: Script, offer: str = DIGEST) -> Script:
    """A script that wants a login, and does with one what `accepted` does."""
    refused = instead("DESCRIBE", 401, WWW_Authenticate=offer)
    return lambda request: (accepted if request.get("Authorization") else refused)(request)


def playing(*payloads: bytes, codec: bytes = b"H264", before: bytes = b"") -> Script:
    """A script that plays these payloads after PLAY."""
    described = instead("DESCRIBE", body=SDP.replace(b"H264", codec))
    played = before + packets(*payloads)
    return lambda request: described(request) + played * (request.method == "PLAY")


def packets(*payloads: bytes, marker: bool = True, start: int = 0) -> bytes:
    """Interleaved RTP packets, one a payload."""
    numbered = enumerate(payloads, start)
    sent = (Packet(96, marker, number, 0, 0, payload) for number, payload in numbered)
    return b"".join(Frame(0, packet.encode()).encode() for packet in sent)


def keyframe() -> list[bytes]:
    """The payloads of a real picture."""
    return packetise("h264", encode_loop("x", **SMALL).frames[0], limit=60_000)


def preflighted(url: str, *login: str, **options: Any) -> Any:
    """The report; or what was raised, which asyncio would take for its own on the way."""
    try:
        return preflight(url, *login, **{"timeout": 5, **options})
    except BaseException as error:  # noqa: BLE001
        return error


def tried(answer: Script, *login: str, scheme: str = "rtsp", **options: Any) -> tuple[Any, Fake]:
    """What is `preflighted` of a scripted camera, and what that saw; it has lost every connection
    then."""

    async def run() -> tuple[Any, Fake]:
        async with fake_camera(answer) as fake:
            url = fake.url.replace("rtsp", scheme)
            report = await asyncio.to_thread(preflighted, url, *login, **options)
            await until(lambda: fake.open_connections == 0)
        return report, fake

    return asyncio.run(run())


def of_script(answer: Script, *login: str, **options: Any) -> Report:
    """The report alone."""
    return tried(answer, *login, **options)[0]


@asynccontextmanager
async def fake_camera(answer: Script, host: str = HERE) -> AsyncIterator[Fake]:
    """Play a camera: `answer` gives bytes or a list of them, the Last ones or b"" to close the
    connection, or None to keep silent."""
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
                    for part in output if isinstance(output, list) else [output or b""]:
                        writer.write(part)
                        await writer.drain()
                    if output == b"" or isinstance(output, Last):
                        return
        except MalformedMessage:
            return
        finally:
            fake.open_connections -= 1

    async with raw_server(serve, host) as port:
        fake.url = f"rtsp://{host}:{port}/live"
        yield fake


@asynccontextmanager
async def raw_server(serve: Serve, host: str = HERE) -> AsyncIterator[int]:
    """Serve connections on a free port; whoever is left at the end is let go."""
    async with served(serve, host, 0) as server:
        yield server.sockets[0].getsockname()[1]


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until something is true; fails when it never is."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
