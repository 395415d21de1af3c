"""Pulling a camera: the service's side of RTSP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from .address import Address, parse_address
from .auth import Login
from .handshake import Handshake
from .refusal import PullRefused
from .rtp import Depacketiser, parse_packet

__all__ = ["PullRefused", "Stream", "pull"]

_TEARDOWN_SECONDS = 1.0


async def pull(
    url: str,
    login_name: str | None = None,
    login_password: str | None = None,
    *,
    timeout: float = 10.0,
    silence: float = 10.0,
) -> Stream:
    """Return the stream of a camera as soon as its first packet has come.

    `timeout` bounds all of that, `silence` is how long a playing camera may send nothing; both
    in seconds.  The login may stand in the URL instead.  Raises PullRefused; whatever happens,
    cancellation included, the session is ended and the socket closed.
    """
    address, login = _target(url, login_name, login_password)
    stream = Stream(address, login)
    try:
        async with asyncio.timeout(timeout):
            await stream.start(silence)
    except TimeoutError:
        stream.end("The camera was too slow.")
        raise stream.too_slow(timeout) from None
    except BaseException:
        stream.end("The camera was not pulled.")
        raise
    return stream


class Stream:
    """A camera that is being pulled: the last keyframe is kept, nothing is decoded.

    `packets` counts RTP packets, `keyframe` is an access unit (Annex B with parameter sets, or
    JPEG) or None, `codec` and `transport` ("tcp", "udp") are as negotiated.
    """

    def __init__(self, address: Address, login: Login | None) -> None:
        """Prepare a stream; `pull` is what makes it play."""
        self.packets = 0
        self.keyframe: bytes | None = None
        self._handshake = Handshake(address, login, self._take)
        self._depacketiser: Depacketiser | None = None
        self._loop = asyncio.get_running_loop()
        self._first: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[str] = self._loop.create_future()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._heard = 0.0

    @property
    def codec(self) -> str:
        """The codec that the camera announced: "h264", "h265" or "mjpeg"."""
        return self._handshake.codec

    @property
    def transport(self) -> str:
        """How the packets travel: "tcp" or "udp"."""
        return self._handshake.transport

    async def ended(self) -> str:
        """Return why the stream died, one sentence, once it has."""
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """End the session, wait up to a second for the camera's answer, and close."""
        self._finish("The stream was closed.")
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TEARDOWN_SECONDS):
                    await self._handshake.teardown()
        finally:
            self._handshake.release()

    async def start(self, silence: float) -> None:
        """Return when the first packet has come; raises PullRefused.  `silence` is in seconds."""
        await self._handshake.run()
        closed = self._handshake.closed
        either: tuple[asyncio.Future[Any], ...] = (self._first, closed)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._first.done():
            raise PullRefused("dropped", "The camera closed the connection right after PLAY.")
        closed.add_done_callback(lambda reason: self.end(reason.result()))
        self._call_later(self._handshake.seconds / 2, self._keep_alive)
        self._call_later(silence, self._check_silence, silence)

    def too_slow(self, timeout: float) -> PullRefused:
        """Return what it means that the camera did not get further within `timeout` seconds."""
        stage, within = self._handshake.stage, f"within {timeout:g} s"
        if stage == "connect":
            verdict, reason = "connect_timeout", f"The camera's host did not answer {within}."
        elif stage != "media":
            verdict, reason = "rtsp_silent", f"The camera did not answer {stage} {within}."
        else:
            verdict = "udp_blocked" if self.transport == "udp" else "no_media"
            reason = f"The camera accepted PLAY but sent no picture {within}."
        return PullRefused(verdict, reason, timed_out=True)

    def end(self, reason: str) -> None:
        """End the stream without waiting; the first reason counts."""
        self._finish(reason)
        self._handshake.release()

    def _finish(self, reason: str) -> None:
        for timer in self._timers.values():
            timer.cancel()
        if not self._ended.done():
            self._ended.set_result(reason)

    def _call_later(self, seconds: float, action: Callable[..., None], *values: float) -> None:
        self._timers[action.__name__] = self._loop.call_later(seconds, action, *values)

    def _take(self, data: bytes) -> None:
        try:
            packet = parse_packet(data)
        except ValueError:
            return
        if self._depacketiser is None:
            sets = self._handshake.media.parameter_sets
            self._depacketiser = Depacketiser(self.codec, sets)
        self.packets += 1
        self._heard = self._loop.time()
        for unit in self._depacketiser.push(packet):
            if unit.keyframe and unit.complete:
                self.keyframe = unit.data
        if not self._first.done():
            self._first.set_result(None)

    def _keep_alive(self) -> None:
        self._handshake.keep_alive()
        self._call_later(self._handshake.seconds / 2, self._keep_alive)

    def _check_silence(self, silence: float) -> None:
        left = self._heard + silence - self._loop.time()
        if left <= 0:
            self.end(f"The camera sent no picture for {silence:g} s.")
        else:
            self._call_later(left, self._check_silence, silence)


def _target(url: str, name: str | None, password: str | None) -> tuple[Address, Login | None]:
    """Return where to connect, and the login of the URL or of the fields."""
    try:
        address = parse_address(url)
    except ValueError as error:
        raise PullRefused("url_malformed", str(error)) from None
    inside = (address.login_name, address.login_password)
    for given, known in zip((name, password), inside, strict=True):
        if given is not None and known is not None and given != known:
            reason = "The login in the address is not the one in the fields."
            raise PullRefused("credentials_conflict", reason)
    name = inside[0] if name is None else name
    password = inside[1] if password is None else password
    login = None if name is None and password is None else Login(name or "", password or "")
    return address, login
