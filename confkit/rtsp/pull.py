"""Pulling a camera: the service's side of RTSP."""

from __future__ import annotations

import asyncio

from .address import target
from .conversation import Conversation
from .reception import Reception
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
        return Stream(camera, await camera.play(), silence)
    except BaseException as error:
        await camera.close()
        if isinstance(error, PullRefused):
            raise camera.there(error) from None
        raise


class Stream:
    """A camera that is being pulled: the last keyframe is kept, nothing is decoded."""

    def __init__(self, camera: Conversation, reception: Reception, silence: float) -> None:
        """Hold a camera that plays until `close`, or until it is silent for so many seconds."""
        self._camera = camera
        self._reception = reception
        self._silence = silence

    @property
    def packets(self) -> int:
        """How many RTP packets have come."""
        return self._reception.packets

    @property
    def keyframe(self) -> bytes | None:
        """The last whole keyframe: Annex B with parameter sets, or JPEG."""
        return self._reception.keyframe

    @property
    def codec(self) -> str:
        """The codec that the camera announced: "h264", "h265" or "mjpeg"."""
        return self._reception.codec

    @property
    def transport(self) -> str:
        """How the packets travel: "tcp" or "udp"."""
        return self._camera.transport

    async def ended(self) -> PullRefused:
        """Return why the stream died, once it has; it dies of silence where somebody waits here."""
        camera, loop = self._camera, asyncio.get_running_loop()
        while (left := camera.heard + self._silence - loop.time()) > 0:
            gone, _ = await asyncio.wait({camera.closed}, timeout=left)
            if gone:
                return PullRefused("dropped", camera.closed.result())
        reason = f"The camera sent no picture for {self._silence:g} s."
        return PullRefused("no_media", reason, timed_out=True)

    async def close(self) -> None:
        """End the session, wait a moment for the camera's answer, and close."""
        await self._camera.close()
