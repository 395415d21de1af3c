"""Pulling a camera: the service's side of RTSP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from .address import Address
from .auth import Login
from .handshake import Handshake
from .reception import ENOUGH, Reception
from .refusal import PullRefused
from .steps import Steps
from .target import target

__all__ = ["PullRefused", "Stream", "pull"]

_TEARDOWN_SECONDS = 0.5


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
    address, login = target(url, login_name, login_password)
    stream = Stream(address, login)
    try:
        async with asyncio.timeout(timeout):
            await stream.start()
    except TimeoutError:
        refusal = stream.too_slow(timeout)
        stream.end(refusal)
        raise refusal from None
    except BaseException:
        stream.end(PullRefused("dropped", "The camera was not pulled."))
        raise
    stream.keep(silence)
    return stream


class Stream:
    """A camera that is being pulled: the last keyframe is kept, nothing is decoded.

    `packets` counts RTP packets, `keyframe` is an access unit (Annex B with parameter sets, or
    JPEG) or None, `codec` and `transport` ("tcp", "udp") are as negotiated.
    """

    def __init__(
        self,
        address: Address,
        login: Login | None,
        *,
        transport: str = "auto",
        verify: bool | str = True,
        steps: Steps | None = None,
        observed: bool = False,
    ) -> None:
        """Prepare a stream; `pull` is what makes it play."""
        self._observed = observed
        self.handshake = Handshake(
            address, login, self._take, transport=transport, verify=verify, steps=steps
        )
        self.reception: Reception | None = None
        self._loop = asyncio.get_running_loop()
        self._first: asyncio.Future[None] = self._loop.create_future()
        self._keyframe: asyncio.Future[bytes] = self._loop.create_future()
        self._ended: asyncio.Future[PullRefused] = self._loop.create_future()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._heard = 0.0

    @property
    def packets(self) -> int:
        """How many RTP packets have come."""
        return self.reception.packets if self.reception else 0

    @property
    def keyframe(self) -> bytes | None:
        """The last whole keyframe."""
        return self.reception.keyframe if self.reception else None

    @property
    def codec(self) -> str:
        """The codec that the camera announced: "h264", "h265" or "mjpeg"."""
        return self.handshake.codec

    @property
    def transport(self) -> str:
        """How the packets travel: "tcp" or "udp"."""
        return self.handshake.transport

    async def ended(self) -> PullRefused:
        """Return why the stream died, once it has."""
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """End the session, wait a moment for the camera's answer, and close."""
        self._finish(PullRefused("dropped", "The stream was closed."))
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TEARDOWN_SECONDS):
                    await self.handshake.teardown()
        finally:
            self.handshake.release()

    async def start(self) -> None:
        """Return when the first packet has come; raises PullRefused."""
        try:
            await self.handshake.run()
            await self._until(self._first, "right after PLAY")
        except PullRefused as refusal:
            raise self.handshake.there(refusal) from None
        # A keep-alive is due from the first packet on, however long the picture takes.
        self._call_later(self.handshake.seconds / 2, self._keep_alive)

    async def next_keyframe(self) -> bytes:
        """Return the next whole keyframe, or the first if it has come already.

        Raises PullRefused when the camera stops, or when it sends another codec than announced.
        """
        try:
            await self._until(self._keyframe, "after its first packets")
        except PullRefused as refusal:
            raise self.handshake.there(refusal) from None
        keyframe = self._keyframe.result()
        self._keyframe = self._loop.create_future()
        return keyframe

    def keep(self, silence: float) -> None:
        """End the stream by itself when its connection goes, or after `silence` seconds of none."""
        self.handshake.closed.add_done_callback(
            lambda reason: self.end(PullRefused("dropped", reason.result()))
        )
        self._call_later(silence, self._check_silence, silence)

    def too_slow(self, timeout: float) -> PullRefused:
        """Return what it means that the camera did not get further within `timeout` seconds."""
        handshake, within = self.handshake, f"within {timeout:g} s"
        if handshake.steps.name == "first packet":
            verdict = "udp_blocked" if self.transport == "udp" else "no_media"
            reason = f"The camera accepted PLAY but sent no picture {within}."
            refusal = PullRefused(verdict, reason, timed_out=True)
        elif handshake.steps.name == "keyframe" and self.reception:
            refusal = _without_keyframe(self.reception, within)
        else:
            refusal = handshake.silence(within)
        return handshake.there(refusal)

    def end(self, refusal: PullRefused) -> None:
        """End the stream without waiting; the first reason counts."""
        self._finish(refusal)
        self.handshake.release()

    async def _until(self, arrived: asyncio.Future[Any], moment: str) -> None:
        closed = self.handshake.closed
        await asyncio.wait({arrived, closed}, return_when=asyncio.FIRST_COMPLETED)
        if not arrived.done():
            if reason := self.handshake.interrupted():
                raise reason
            raise PullRefused("dropped", f"The camera closed the connection {moment}.")
        await arrived

    def _finish(self, refusal: PullRefused) -> None:
        for timer in self._timers.values():
            timer.cancel()
        if not self._ended.done():
            self._ended.set_result(refusal)

    def _call_later(self, seconds: float, action: Callable[..., None], *values: float) -> None:
        self._timers[action.__name__] = self._loop.call_later(seconds, action, *values)

    def _take(self, data: bytes) -> None:
        if self.reception is None:
            self.reception = Reception(
                self.codec,
                self.handshake.media,
                self._take_keyframe,
                observed=self._observed,
            )
        if not self.reception.take(data):
            return
        self._heard = self._loop.time()
        if not self._first.done():
            self._first.set_result(None)
        if self.reception.oversized:
            self._refuse(_oversized())
        elif self.reception.packets >= ENOUGH and self.reception.foreign:
            self._refuse(_foreign(self.reception))

    def _take_keyframe(self, keyframe: bytes) -> None:
        if not self._keyframe.done():
            self._keyframe.set_result(keyframe)

    def _refuse(self, refusal: PullRefused) -> None:
        if not self._keyframe.done():
            self._keyframe.set_exception(refusal)
            self._keyframe.exception()  # nobody may ever ask for it

    def _keep_alive(self) -> None:
        if not self.handshake.closed.done():
            self.handshake.keep_alive()
            self._call_later(self.handshake.seconds / 2, self._keep_alive)

    def _check_silence(self, silence: float) -> None:
        left = self._heard + silence - self._loop.time()
        if left <= 0:
            reason = f"The camera sent no picture for {silence:g} s."
            self.end(PullRefused("no_media", reason, timed_out=True))
        else:
            self._call_later(left, self._check_silence, silence)


def _without_keyframe(reception: Reception, within: str) -> PullRefused:
    if reception.foreign:
        return _foreign(reception)
    lost = f"; {reception.lost} packets were lost" if reception.lost > 0 else ""
    counted = f"{reception.packets} packet{'s' * (reception.packets != 1)}"
    reason = f"No whole keyframe came {within}, among {counted}{lost}."
    return PullRefused("no_keyframe", reason, timed_out=True)


def _oversized() -> PullRefused:
    reason = "The MJPEG pictures are wider or higher than 2040 pixels, which is not supported."
    advice = "Choose a smaller picture in the camera, or H.264."
    return PullRefused("codec_unsupported", reason, advice=advice)


def _foreign(reception: Reception) -> PullRefused:
    announced = reception.media.encoding
    return PullRefused("no_picture", f"What the camera sends is not the {announced} it announces.")
