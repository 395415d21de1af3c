"""One request under way, as a fault sees it: what it asks, what the service says, what is sent."""

import asyncio
import random
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from .messages import Answered, Asked

PAUSE = 0.05  # seconds: a delay that no deadline minds


@dataclass
class Line:
    """The way back to the caller; `answer` is what the service says, which is then asked.

    `late` is more seconds than the caller waits, `elsewhere` the address of another host.
    """

    request: Asked
    chance: random.Random
    late: float
    elsewhere: str
    writer: asyncio.StreamWriter
    answer: Callable[[], Awaitable[Answered]]
    over: bool = field(default=False)  # whether the connection is to be closed

    async def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        if self.writer.is_closing():  # which uvloop calls a RuntimeError
            raise ConnectionResetError("the caller has left")
        self.writer.write(data)
        await self.writer.drain()

    async def reply(
        self, body: bytes, *headers: str, status: str = "200 OK", length: int | None = None
    ) -> None:
        """Sends an answer with this body, and with the length of that unless another is given."""
        await self.send(
            head(len(body) if length is None else length, *headers, status=status) + body
        )

    def reset(self) -> None:
        """Ends the connection with RST instead of FIN."""
        connection = self.writer.get_extra_info("socket")
        if connection is not None:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()
        self.over = True

    async def end(self) -> None:
        """Says that nothing more comes, and waits for the caller to leave."""
        self.over = True
        if not self.writer.is_closing():
            self.writer.write_eof()
        await asyncio.sleep(PAUSE)


def head(length: int | None, *headers: str, status: str = "200 OK") -> bytes:
    """The head of an answer, with its empty line."""
    lines = [f"HTTP/1.1 {status}"]
    if not any(line.lower().startswith("content-type:") for line in headers):
        lines.append("Content-Type: application/json")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1")
