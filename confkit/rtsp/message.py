"""RTSP/1.0 messages: bytes in; requests, responses and interleaved frames out.  No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

MAX_HEAD = 16 * 1024
MAX_BODY = 64 * 1024

# Cameras send realms in whatever encoding they like; a digest must hash the very same bytes.
_TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}
_START = re.compile(r"RTSP/\d\.\d +(\d{3})(?: (.*))?|([A-Z_]+) (\S+) RTSP/\d\.\d")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_BEGINNING = re.compile(rb"\$[\x00-\x1f]|RTSP/1\.")
_FOLD = re.compile(r"\r?\n[ \t]+")
_STRAY = re.compile(r"[\r\0]")  # neither ends a line nor can be sent back, as a Session is

Header = tuple[str, str]


class MalformedMessage(ValueError):
    """The bytes are not RTSP, or exceed a limit; `received` holds the first of them."""

    def __init__(self, reason: str, received: bytes = b"") -> None:
        super().__init__(reason)
        self.received = received


@dataclass(frozen=True, kw_only=True)
class _Message:
    # Headers hold digests, and bodies whatever a camera likes: neither belongs into a repr.
    headers: tuple[Header, ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    def get(self, name: str) -> str:
        """Return the first header of that name, in any case, or ""."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        """Return every header of that name, in the order of arrival."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def _encode(self, start_line: str) -> bytes:
        lines = [start_line, *(f"{name}: {value}" for name, value in self.headers)]
        if self.body:
            lines.append(f"Content-Length: {len(self.body)}")
        if re.search(r"[\r\n\0]", "".join(lines)):
            raise ValueError("A header must not hold a line break.")
        return "\r\n".join([*lines, "", ""]).encode(**_TEXT) + self.body


@dataclass(frozen=True)
class Request(_Message):
    """A request; the repr shows the method only, for a URL may carry a password in its query."""

    method: str
    url: str = field(repr=False)

    def encode(self) -> bytes:
        """Return the request as bytes, with Content-Length when there is a body."""
        return self._encode(f"{self.method} {self.url} RTSP/1.0")


@dataclass(frozen=True)
class Response(_Message):
    """A response."""

    status: int
    reason: str

    def encode(self) -> bytes:
        """Return the response as bytes, with Content-Length when there is a body."""
        return self._encode(f"RTSP/1.0 {self.status} {self.reason}")


@dataclass(frozen=True)
class Frame:
    """One interleaved frame: RTP or RTCP inside the RTSP connection."""

    channel: int
    payload: bytes = field(repr=False)

    def encode(self) -> bytes:
        """Return the frame with its four bytes of `$` header."""
        return b"$%c%b%b" % (self.channel, len(self.payload).to_bytes(2, "big"), self.payload)


class Parser:
    """Turns one direction of a connection into messages, in bounded memory."""

    def __init__(self, *, resync: bool = False) -> None:
        """Start; with `resync` stray bytes after a first message are skipped, as players do."""
        self._resync = resync
        self._spoken = False
        self._buffer = bytearray()
        self.waiting: Request | Response | None = None  # whose body has not come, or not whole

    @property
    def rest(self) -> bytes:
        """The first bytes of a message that is not complete."""
        return bytes(self._buffer[:64])

    def feed(self, data: bytes) -> Iterator[Request | Response | Frame]:
        """Return the messages that are now complete.

        The data counts even when the iterator is dropped.  Raises MalformedMessage, after the
        messages that came before the fault, as soon as the bytes cannot become RTSP any more.
        """
        self._buffer += data
        return iter(self._next, None)

    def _next(self) -> Request | Response | Frame | None:
        buffer = self._buffer
        while True:  # a call for each stray byte could be as deep as what a peer sends is long
            while buffer.startswith((b"\r", b"\n")):  # some cameras pad a body with an empty line
                del buffer[:1]
            if buffer.startswith(b"$"):
                return self._next_frame()
            if not buffer:
                return None
            newline = buffer.find(b"\n", 0, MAX_HEAD)
            line = bytes(buffer[: MAX_HEAD if newline < 0 else newline])
            # Judged before the head is complete: an SSH banner never sends an empty line.
            start = _START.fullmatch(line.rstrip(b"\r").decode(**_TEXT))
            if buffer[:1].isalpha() and (newline < 0 or start):
                break
            if not (self._resync and self._spoken):
                raise self._fault("The first line is not RTSP.")
            # Pass over what is neither a frame nor a message; one may be cut off at the end.
            found = _BEGINNING.search(buffer, 1)
            del buffer[: found.start() if found else max(1, len(buffer) - 4)]
            if not found:
                return None
        end = _END_OF_HEAD.search(buffer, 0, MAX_HEAD)
        if not (start and end):
            if len(buffer) >= MAX_HEAD:
                raise self._fault(f"The headers exceed {MAX_HEAD} bytes.")
            return None
        headers = _headers(bytes(buffer[len(line) + 1 : end.start()]))
        status, reason, method, url = start.groups("")
        message: Request | Response = Request(method, url, headers=headers)
        if status:
            message = Response(int(status), reason, headers=headers)
        self.waiting = message
        whole = end.end() + self._body_size(headers)
        if len(buffer) < whole:
            return None
        self.waiting, self._spoken = None, True
        body = bytes(buffer[end.end() : whole])
        del buffer[:whole]
        return replace(message, body=body) if body else message

    def _next_frame(self) -> Frame | None:
        buffer = self._buffer
        end = 4 + int.from_bytes(buffer[2:4], "big")
        if len(buffer) < 4 or len(buffer) < end:
            return None
        frame = Frame(buffer[1], bytes(buffer[4:end]))
        del buffer[:end]
        return frame

    def _body_size(self, headers: tuple[Header, ...]) -> int:
        sizes = {value for name, value in headers if name.lower() == "content-length"} or {"0"}
        size = sizes.pop()
        if sizes or not re.fullmatch(r"[0-9]{0,9}", size):
            raise self._fault("Content-Length is not a single number.")
        if int(size or 0) > MAX_BODY:
            raise self._fault(f"The body exceeds {MAX_BODY} bytes.")
        return int(size or 0)

    def _fault(self, reason: str) -> MalformedMessage:
        return MalformedMessage(reason, self.rest)


def _headers(head: bytes) -> tuple[Header, ...]:
    """Return the header lines; one without a colon is passed over, as players do."""
    lines = re.split(r"\r?\n", _FOLD.sub(" ", head.decode(**_TEXT)))
    pairs = [_STRAY.sub("", line).partition(":") for line in lines]
    return tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)


def number_in(pattern: str, text: str, default: float = 0) -> int:
    """Return the number that a pattern finds in a header, or the default."""
    found = re.search(pattern, text)
    return int(found[1] if found else default)
