"""RTSP/1.0 as a client reads it: responses and interleaved frames out of bytes. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

MAX_HEAD = 16 * 1024
MAX_BODY = 256 * 1024

# Cameras send realms in whatever encoding they like; a digest must hash the very same bytes.
ENCODING = {"encoding": "utf-8", "errors": "surrogateescape"}
# A request of the camera's own is read over: it becomes a response without a status.
_START = re.compile(r"RTSP/\d\.\d +(\d{3})(?: (.*))?|[A-Z_]+ \S+ RTSP/\d\.\d")
_END_OF_LINE, _END_OF_HEAD = re.compile(rb"\r?\n"), re.compile(rb"\r?\n\r?\n")
_BEGINNING = re.compile(rb"\$[\x00-\x1f]|RTSP/1\.")
_STRAY = re.compile(r"[\r\0]")  # neither ends a line nor can be sent back, as a Session is

Header = tuple[str, str]
# A channel and the RTP or RTCP on it; None is the channel of a datagram.
Frame = tuple[int | None, bytes]


class WireError(Exception):
    """The conversation with a camera cannot go on."""


class MalformedMessage(WireError):
    """The bytes are not RTSP, or exceed a limit."""


@dataclass(frozen=True)
class Response:
    """A response; headers hold digests, and neither they nor the body belong in a repr."""

    status: int
    reason: str
    headers: tuple[Header, ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    def get(self, name: str) -> str:
        """Return the first header of that name, in any case, or ""."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        """Return every header of that name, in the order of arrival."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Reader:
    """Reads responses and frames out of what `receive` returns, in bounded memory.

    `receive` returns some more bytes; what it raises leaves the `buffer` as it is, which begins
    with what is incomplete. Once a response has come, which `answered` says, stray bytes are
    skipped, as players do. `size` is that of the body of a response 200 that is incomplete.
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
            # Judged before the head is complete: an SSH banner never sends an empty line.
            elif buffer[:1].isalpha() and (
                start := _START.fullmatch(self._text_before(_END_OF_LINE)[0])
            ):
                return self._response(start)
            elif not self.answered:
                raise MalformedMessage("The first line is not RTSP.")
            else:  # a beginning may be cut off at the end
                beginning = _BEGINNING.search(buffer, 1)
                del buffer[: beginning.start() if beginning else max(1, len(buffer) - 4)]

    def _response(self, start: re.Match[str]) -> Response:
        head, end = self._text_before(_END_OF_HEAD)
        # A line without a colon is passed over, as players do.
        pairs = [_STRAY.sub("", line).partition(":") for line in head.split("\n")[1:]]
        headers = tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)
        response = Response(int(start[1] or 0), start[2] or "", headers)
        sizes = {*response.all("Content-Length")} or {""}
        size = sizes.pop()
        self.size = size if response.status == 200 else ""
        if sizes or not re.fullmatch("[0-9]{0,9}", size):
            raise MalformedMessage("Content-Length is not a single number.")
        if int(size or 0) > MAX_BODY and response.status not in (200, 401):
            return response  # nothing is asked after a refusal
        if int(size or 0) > MAX_BODY:
            raise MalformedMessage(f"The body exceeds {MAX_BODY} bytes.")
        whole = self._cut(end + int(size or 0))
        self.size, self.answered = "", True
        return replace(response, body=whole[end:])

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
    """Return the number that a pattern finds in a header, or the default."""
    match = re.search(pattern, text)
    return int(match[1]) if match else default
