"""Pulling: what the service does with a camera; what may go wrong is in test_preflight."""

import asyncio

import pytest

from confkit.rtsp.pull import PullRefused, pull

from .fakes import at, fake_camera, instead, packets, reply, until, willing


@pytest.mark.parametrize(
    ("script", "verdict", "slow"),
    [(willing, "no_media", True), (instead("DESCRIBE", 404), "path_not_found", False)],
)
async def test_a_refusal_shows_no_login_and_no_request_line_holds_it(script, verdict, slow):
    """A login in the address never travels in a URL; the error has the verdict, and whether the
    camera was too slow."""
    async with fake_camera(script) as fake:
        with pytest.raises(PullRefused) as caught:
            await pull(fake.url.replace("//", "//ada:hush@"), timeout=2)
        await until(lambda: fake.open_connections == 0)
    assert (caught.value.verdict, caught.value.timed_out) == (verdict, slow)
    assert "hush" not in f"{caught.value!r}{caught.value.__cause__}"
    assert not any("ada" in request.url for request in fake.requests)
    assert (fake.methods[-1] == "TEARDOWN") is slow


async def test_cancelling_closes_the_socket():
    """A cancelled pull leaves no connection behind."""
    async with fake_camera(at("PLAY", lambda _: None)) as fake:
        task = asyncio.create_task(pull(fake.url))
        await until(lambda: "PLAY" in fake.methods)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: fake.open_connections == 0)
    assert fake.methods[-1] == "TEARDOWN"


@pytest.mark.parametrize("advertised", ["GET_PARAMETER", "OPTIONS"])
async def test_the_session_is_kept_alive_at_half_its_time_out(advertised):
    """GET_PARAMETER is sent when the camera names it, else OPTIONS, and silence ends the stream."""

    def answer(request):
        if request.method == "OPTIONS":
            return reply(request, Public=advertised)
        played = packets(b"\x41abc") * (request.method == "PLAY")
        return willing(request).replace(b"timeout=60", b"timeout=1") + played

    async with fake_camera(answer) as fake:
        stream = await pull(fake.url, silence=1.3)
        ended = await asyncio.wait_for(stream.ended(), 3)
        await stream.close()
        assert (ended.verdict, "1.3 s" in ended.reason) == ("no_media", True)
        await until(lambda: fake.open_connections == 0)
    assert fake.methods[4:] == [advertised, advertised, "TEARDOWN"]
    assert all(request.get("Session") == "77" for request in fake.requests[4:])
