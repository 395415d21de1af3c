"""A server of streams for tests, whose connections all end with it: also one that has only just
come, whose task has not begun, and one whose caller reads no more."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from confkit.sandbox.cameras.ports import stop_accepting

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(serve: Serve, *where: Any, **options: Any) -> AsyncIterator[asyncio.Server]:
    """asyncio.start_server, to whose end belongs that of every connection.

    Whatever becomes of the network is the end of a connection, and no error of the server's.
    """
    tasks: set[asyncio.Task[None]] = set()

    def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def over(task: asyncio.Task[None]) -> None:  # said also of one that never began
            tasks.discard(task)
            writer.transport.abort()

        task = asyncio.create_task(_whole(serve, reader, writer))
        tasks.add(task)
        task.add_done_callback(over)

    server = await asyncio.start_server(come, *where, **options)
    try:
        yield server
    finally:
        await stop_accepting(server)
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # what was aborted gives its socket back a moment later


async def _whole(serve: Serve, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        await serve(reader, writer)
        writer.close()
        await writer.wait_closed()
