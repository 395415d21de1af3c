"""What a camera sends: responses, and packets inside the RTSP connection."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_HEAD, MAX_BODY = 16 * 1024, 256 * 1024  # bytes
# Cameras send realms in any encoding; a digest must hash exactly the same bytes.
ENCODING = {"encoding": "utf-8", "errors": "surrogateescape"}

Header = tuple[str, str]
# A channel (None for a datagram), and its RTP or RTCP packet.
Frame = tuple[int | None, bytes]


@dataclass(frozen=True)
class Response:
    """A response; headers may contain digests, so headers and body are not in the repr."""

    status: int
    reason: str
    headers: tuple[Header, ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    def get(self, name: str) -> str:
        """Return the first header of this name, case-insensitive, or ""."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        """Return all headers of this name, in the order of arrival."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def number(self, name: str, pattern: str, default: int = 0) -> int:
        """Return the number that a pattern matches in a header, or the default."""
        match = re.search(pattern, self.get(name), re.IGNORECASE)
        return int(match[1]) if match else default
