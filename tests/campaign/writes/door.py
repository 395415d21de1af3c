"""A door before a camera that opens late: while the service waits at it, an import is under way."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.serving import served


@contextmanager
def late_door(url: str, seconds: float) -> Iterator[str]:
    """The address of a camera as it is behind the door."""
    parts = urlsplit(url)
    standing: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        inner, outer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            await asyncio.gather(_pass_on(reader, outer), _pass_on(inner, writer))
        finally:
            outer.transport.abort()

    async def stand() -> None:
        async with served(come, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            over = asyncio.Event()
            standing.set_result((f"{host}:{port}", asyncio.get_running_loop(), over))
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(stand()))
    thread.start()
    place, loop, over = standing.result(30)
    try:
        yield parts._replace(netloc=place).geturl()
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
