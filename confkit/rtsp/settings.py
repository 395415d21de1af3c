"""What a demo camera is to be like."""

from __future__ import annotations

import ssl
from collections.abc import Collection
from dataclasses import dataclass, field

from .auth import Login
from .picture import check_loop
from .rtp import ENCODINGS

# Strongest first: FFmpeg answers the last digest that it is offered, and knows MD5 only.
ALGORITHMS = {"digest": ("SHA-256", "MD5"), "sha-256": ("SHA-256",), "basic": ()}
TRANSPORTS = ("tcp", "udp")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one camera.

    `name` stands in the picture, `size` is in pixels, `keyframe_every` in seconds.  Without a login
    the camera is open; `auth` "digest" offers SHA-256 and MD5.  `max_viewers` may watch at once.
    With `tls`, a server's context, the camera has an rtsps address.
    """

    login_name: str | None = None
    login_password: str | None = field(default=None, repr=False)
    codec: str = "h264"
    size: tuple[int, int] = (640, 360)
    fps: int = 15
    keyframe_every: float = 1.0
    auth: str = "digest"
    name: str | None = None
    transports: Collection[str] = TRANSPORTS
    max_viewers: int | None = None
    tls: ssl.SSLContext | None = None

    @property
    def login(self) -> Login | None:
        """The login of the camera, None when it is open."""
        if self.login_name is None and self.login_password is None:
            return None
        return Login(self.login_name or "", self.login_password or "")

    def check(self) -> None:
        """Raise ValueError for a setting that makes no sense; the text never quotes it."""
        texts = self.name, self.login_name, self.login_password
        if not all(text is None or isinstance(text, str) for text in texts):
            raise ValueError("The name and the login of a camera are texts.")
        if self.codec not in tuple(ENCODINGS):
            raise ValueError(f"The codec is none of {', '.join(ENCODINGS)}.")
        if self.auth not in tuple(ALGORITHMS):
            raise ValueError(f"The authentication is none of {', '.join(ALGORITHMS)}.")
        chosen = self.transports
        if isinstance(chosen, str) or not chosen or not set(chosen) <= set(TRANSPORTS):
            raise ValueError('The transports are not ("tcp",), ("udp",) or ("tcp", "udp").')
        viewers = self.max_viewers
        if viewers is not None and (not isinstance(viewers, int) or viewers < 1):
            raise ValueError("The number of viewers is not a whole number above 0, nor None.")
        if self.tls is not None and not isinstance(self.tls, ssl.SSLContext):
            raise ValueError("tls is not an ssl.SSLContext for a server, with its certificate.")
        check_loop(self.codec, self.size, self.fps, self.keyframe_every)
