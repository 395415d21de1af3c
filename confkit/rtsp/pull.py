"""Pulling a camera: the service's side of RTSP."""

from __future__ import annotations

import asyncio

from .address import target
from .conversation import Conversation
from .refusal import PullRefused

__all__ = ["PullRefused", "Stream", "pull"]


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
    camera = Conversation(*target(url, login_name, login_password), timeout)
    try:
        async with camera.in_time():
            await camera.play()
    except BaseException:
        camera.release()
        raise
    return Stream(camera, silence)


class Stream:
    """A camera that is being pulled: the last keyframe is kept, nothing is decoded."""

    def __init__(self, camera: Conversation, silence: float) -> None:
        """Hold a camera that plays until `close`, or until it is silent for so many seconds."""
        self._camera = camera
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[PullRefused] = self._loop.create_future()
        camera.closed.add_done_callback(
            lambda reason: self._end(PullRefused("dropped", reason.result()))
        )
        self._timer = self._loop.call_later(silence, self._listen)

    @property
    def packets(self) -> int:
        """How many RTP packets have come."""
        return self._camera.packets

    @property
    def keyframe(self) -> bytes | None:
        """The last whole keyframe: Annex B with parameter sets, or JPEG."""
        return self._camera.reception.keyframe if self._camera.reception else None

    @property
    def codec(self) -> str:
        """The codec that the camera announced: "h264", "h265" or "mjpeg"."""
        return self._camera.codec

    @property
    def transport(self) -> str:
        """How the packets travel: "tcp" or "udp"."""
        return self._camera.transport

    async def ended(self) -> PullRefused:
        """Return why the stream died, once it has."""
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """End the session, wait a moment for the camera's answer, and close."""
        self._finish(PullRefused("dropped", "The stream was closed."))
        await self._camera.close()

    def _listen(self) -> None:
        left = self._camera.heard + self._silence - self._loop.time()
        if left <= 0:
            reason = f"The camera sent no picture for {self._silence:g} s."
            self._end(PullRefused("no_media", reason, timed_out=True))
        else:
            self._timer = self._loop.call_later(left, self._listen)

    def _end(self, refusal: PullRefused) -> None:
        self._finish(refusal)
        self._camera.release()

    def _finish(self, refusal: PullRefused) -> None:
        """Note why the stream ends; the first reason counts."""
        self._timer.cancel()
        if not self._ended.done():
            self._ended.set_result(refusal)
