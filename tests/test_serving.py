"""What tests serve with ends whole: of no connection there is anything left for a later test."""

import asyncio
import gc
import socket
import sys

import pytest

from tests.serving import served


@pytest.mark.parametrize("turns", range(6))
def test_a_server_ends_its_connections_however_short_they_have_been_there(turns, monkeypatch):
    """Accepted just now, waiting, or with an answer that nobody reads: all end with the server."""
    left = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: left.append(str(one.exc_value)))

    async def answer(reader, writer):
        if await reader.read(1) == b"1":
            writer.write(b"x" * 20_000_000)
            await asyncio.sleep(60)

    async def serve():
        async with served(answer, "127.0.0.1", 0) as server:
            place = server.sockets[0].getsockname()
            callers = [socket.create_connection(place) for _ in range(3)]
            callers[0].sendall(b"1")
            for _ in range(turns):
                await asyncio.sleep(0)
        return callers

    for caller in asyncio.run(serve()):
        with caller:
            caller.settimeout(10)
            try:
                while caller.recv(1_000_000):
                    pass
            except ConnectionResetError:
                pass
    gc.collect()
    assert left == []
