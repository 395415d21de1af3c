"""A door before a camera that opens late: while the service waits at it, an import is under way."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


@contextmanager
def late_door(url: str, seconds: float) -> Iterator[str]:
    """The address of a camera as it is behind the door."""
    parts = urlsplit(url)

    async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):  # a task of streams may not end so
            await asyncio.sleep(seconds)
            inner, outer = await asyncio.open_connection(parts.hostname, parts.port)
            await asyncio.gather(_pass_on(reader, outer), _pass_on(inner, writer))

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(come, "127.0.0.1", 0))
    host, port = server.sockets[0].getsockname()
    serving = threading.Thread(target=loop.run_forever)
    serving.start()
    try:
        yield parts._replace(netloc=f"{host}:{port}").geturl()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        serving.join()
        loop.run_until_complete(_ended(server))
        loop.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _ended(server: asyncio.Server) -> None:
    server.close()
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    for task in under_way:
        task.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)
