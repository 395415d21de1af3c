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
    camera = Stream(*target(url, login_name, login_password), timeout)
    camera.silence = silence
    try:
        await camera.play()
    except BaseException:
        await camera.close()
        raise
    return camera


class Stream(Conversation):
    """A camera that is being pulled: the last keyframe is kept, nothing is decoded."""

    silence = 10.0

    @property
    def codec(self) -> str:
        """The codec that the camera announced: "h264", "h265" or "mjpeg"."""
        return self.reception.codec if self.reception else ""

    @property
    def packets(self) -> int:
        """How many RTP packets have come."""
        return self.reception.packets if self.reception else 0

    @property
    def keyframe(self) -> bytes | None:
        """The last whole keyframe: Annex B with parameter sets, or JPEG."""
        return self.reception.keyframe if self.reception else None

    async def ended(self) -> PullRefused:
        """Return why the stream died, once it has; it dies of silence where somebody waits here."""
        now = asyncio.get_running_loop().time
        while (left := self.heard + self.silence - now()) > 0:
            gone, _ = await asyncio.wait({self.closed}, timeout=left)
            if gone:
                return PullRefused("dropped", self.closed.result())
        reason = f"The camera sent no picture for {self.silence:g} s."
        return PullRefused("no_media", reason, timed_out=True)
