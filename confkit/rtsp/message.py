"""RTSP/1.0 for a client: parse responses and interleaved frames. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

MAX_HEAD = 16 * 1024
MAX_BODY = 256 * 1024

# Cameras send realms in any encoding; a digest must hash exactly the same bytes.
ENCODING = {"encoding": "utf-8", "errors": "surrogateescape"}
# A request from the camera is ignored: it becomes a response without a status.
_START = re.compile(r"RTSP/\d\.\d +(\d{3})(?: (.*))?|[A-Z_]+ \S+ RTSP/\d\.\d")
_END_OF_LINE, _END_OF_HEAD = re.compile(rb"\r?\n"), re.compile(rb"\r?\n\r?\n")
_BEGINNING = re.compile(rb"\$[\x00-\x1f]|RTSP/1\.")
_STRAY = re.compile(r"[\r\0]")  # not a line end, and must not be sent back in a Session

Header = tuple[str, str]
# A channel (None for a datagram), and its RTP or RTCP packet.
Frame = tuple[int | None, bytes]


class WireError(Exception):
    """The conversation with a camera cannot continue."""


class MalformedMessage(WireError):
    """The bytes are not RTSP, or exceed a limit."""


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


class Reader:
    """Reads responses and frames from the bytes of `receive`, in bounded memory.

    `receive` returns more bytes; if it raises, the `buffer` keeps the incomplete message. After the
    first response (`answered`) stray bytes are skipped, as players do. `size` is the length of the
    body of an incomplete response 200.
    """

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        self.buffer = bytearray()
        self.answered = False
        self.size = ""

    def message(self) -> Response | Frame:
        """Return the next message.

        MalformedMessage as soon as the bytes cannot become RTSP any more, or exceed a limit.
        """
        buffer = self.buffer
        while True:
            self._fill(1)
            if buffer[0] in b"\r\n":  # some cameras pad a body with an empty line
                del buffer[0]
            elif buffer[0] == ord("$"):
                self._fill(4)
                frame = self._cut(4 + int.from_bytes(buffer[2:4], "big"))
                return frame[1], frame[4:]
            # Checked before the head is complete: an SSH banner has no empty line.
            elif buffer[:1].isalpha() and (
                start := _START.fullmatch(self._text_before(_END_OF_LINE)[0])
            ):
                return self._response(start)
            elif not self.answered:
                raise MalformedMessage("The first line is not RTSP.")
            else:  # a start may be cut off at the end of the buffer
                beginning = _BEGINNING.search(buffer, 1)
                del buffer[: beginning.start() if beginning else max(1, len(buffer) - 4)]

    def _response(self, start: re.Match[str]) -> Response:
        head, end = self._text_before(_END_OF_HEAD)
        # Lines without a colon are ignored, as players do.
        pairs = [_STRAY.sub("", line).partition(":") for line in head.split("\n")[1:]]
        headers = tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)
        response = Response(int(start[1] or 0), start[2] or "", headers)
        sizes = {*response.all("Content-Length")} or {""}
        size = sizes.pop()
        self.size = size if response.status == 200 else ""
        if sizes or not re.fullmatch("[0-9]{0,9}", size):
            raise MalformedMessage("Content-Length is not a single number.")
        if int(size or 0) > MAX_BODY and response.status not in (200, 401):
            return response  # no request follows a refusal
        if int(size or 0) > MAX_BODY:
            raise MalformedMessage(f"The body exceeds {MAX_BODY} bytes.")
        message_bytes = self._cut(end + int(size or 0))
        self.size, self.answered = "", True
        return replace(response, body=message_bytes[end:])

    def _text_before(self, pattern: re.Pattern[bytes]) -> tuple[str, int]:
        """Return the text before a line break or an empty line, and the length of both."""
        while not (match := pattern.search(self.buffer, 0, MAX_HEAD)):
            if len(self.buffer) >= MAX_HEAD:
                raise MalformedMessage(f"The headers exceed {MAX_HEAD} bytes.")
            self.buffer += self._receive()
        return self.buffer[: match.start()].decode(**ENCODING), match.end()

    def _fill(self, size: int) -> None:
        while len(self.buffer) < size:
            self.buffer += self._receive()

    def _cut(self, size: int) -> bytes:
        self._fill(size)
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data


def number_in(pattern: str, text: str, default: int = 0) -> int:
    """Return the number that a pattern matches in a header, or the default."""
    match = re.search(pattern, text)
    return int(match[1]) if match else default
