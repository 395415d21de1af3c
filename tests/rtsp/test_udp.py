import asyncio

from confkit.rtsp.udp import open_ports


def test_ports_come_in_pairs_and_deliver_what_arrives():
    """The first port of a pair is even, the second the next, and only the first delivers."""

    async def run():
        arrived = asyncio.Queue()
        pairs = [
            await open_ports("127.0.0.1", lambda data, host: arrived.put_nowait((data, host)))
            for _ in range(8)
        ]
        assert {pair.port % 2 for pair in pairs} == {0}
        assert {pair.rtcp.getsockname()[1] - pair.port for pair in pairs} == {1}
        pairs[0].send(b"report", ("127.0.0.1", pairs[1].port + 1))
        pairs[0].send(b"media", ("127.0.0.1", pairs[1].port))
        assert await asyncio.wait_for(arrived.get(), 2) == (b"media", "127.0.0.1")
        for pair in pairs:
            pair.close()
        await asyncio.sleep(0)

    asyncio.run(run())
