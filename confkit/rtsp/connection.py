"""A connection to a camera: name, TCP and TLS, then RTSP messages and packets with a deadline.

Whatever goes wrong is an RtspError with the verdict for the current stage.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .address import Address
from .errors import CHECK_LOGIN, VERDICTS, RtspError, not_rtsp
from .report import Stages

MAX_HEAD, MAX_BODY = 16 * 1024, 256 * 1024  # bytes
# Cameras send realms in any encoding; a digest must hash exactly the same bytes.
ENCODING = {"encoding": "utf-8", "errors": "surrogateescape"}
_POLL = 0.1  # seconds between two checks of `cancelled` while waiting
_ATTEMPT_SECONDS = 4.0  # for one of several addresses of a name, before the next is tried
_RESET_SECONDS = 0.2  # until a reset may arrive
_SEND_SECONDS = 10.0  # for a request, which sockets nearly always take at once
_RECEIVE_BYTES = 65_536
_PUNCH = b"\x80\x00\x00\x00" + bytes(8)  # an empty RTP packet
_UDP_BUFFER = 2 * 1024 * 1024  # bytes; the usual default loses most of a large keyframe
_PORT_PAIRS = 50  # attempts to find a pair of free ports
_NO_TLS = "The port does not speak TLS, or none that is accepted here."
_PLAIN = (
    "Use rtsp:// instead of rtsps://, or the camera's port for rtsps (often 322); old TLS is "
    "allowed by verify=False (--no-verify)."
)
_TRUST = (
    "Most services do not check it: import the camera without trying it first. To try it without "
    "the check: ck.preflight(url, verify=False), --no-verify; with its certificate: verify=FILE, "
    "--ca-bundle."
)
_CONNECTING = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY)
# The verdict if a stage times out; of other stages it is rtsp_silent.
_TOO_LATE = {
    "name": "dns_failed",
    "TCP": "connect_timeout",
    "TLS": "tls_failed",
    "first packet": "no_media",
    "stream": "no_media",
}
_STATUS_LINE = re.compile(rb"RTSP/\d\.\d +\d{3}(?: [^\n]*)?\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_BEGINNING = re.compile(rb"\$[\x00-\x1f]|RTSP/1\.")
# A channel (None for a datagram), and its RTP or RTCP packet.
Frame = tuple[int | None, bytes]
_Target = tuple[socket.AddressFamily, tuple[Any, ...]]


@dataclass(frozen=True)
class Response:
    """A response; headers may contain digests, so headers and body are not in the repr."""

    status: int
    reason: str
    headers: list[tuple[str, str]] = field(repr=False)
    body: bytes = field(repr=False)

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


class Connection:
    """A TCP or TLS connection to a camera, and its UDP ports; `open` connects.

    `verify` is True, False or the path of certificates to trust, whose names are not compared: few
    cameras have one with their address. Without it old TLS is allowed, too. Methods that wait
    raise RtspError after `timeout` seconds since the start or `restart`, and CancelledError;
    `on_wait` is called before each read. Memory is bounded.
    """

    def __init__(
        self,
        address: Address,
        stages: Stages,
        timeout: float,
        *,
        verify: bool | str = True,
        cancelled: threading.Event | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.cancelled = cancelled
        self._address, self._stages = address, stages
        self._verify, self._on_wait = verify, on_wait
        self._sockets: list[socket.socket] = []  # TCP; RTP and RTCP over UDP
        self._peer = ""
        self._buffer = bytearray()
        self._answered = False  # with a response
        self._in_body = False  # of a response 200
        self.restart(timeout)

    def restart(self, seconds: float) -> None:
        """Set the deadline anew."""
        self._deadline = time.monotonic() + seconds
        self.within = f"within {seconds:g} s"

    def left(self, longest: float = _POLL) -> float:
        """Return the seconds left, at most `longest`; RtspError, CancelledError."""
        if self.cancelled and self.cancelled.is_set():
            raise CancelledError
        if (seconds := self._deadline - time.monotonic()) <= 0:
            raise self._too_late()
        return min(seconds, longest)

    def open(self) -> None:
        """Connect, replacing an earlier connection; RtspError."""
        self.close()
        self._buffer.clear()
        self._stages.begin("name")
        targets = self._look_up()
        self._stages.detail = ", ".join(dict.fromkeys(str(target[0]) for _, target in targets))
        self._stages.begin("TCP")
        self._dial(targets)
        if self._address.scheme == "rtsps":
            self._stages.begin("TLS")
            self._encrypt()

    def close(self) -> None:
        """Close all sockets at once."""
        for sock in self._sockets:
            sock.close()
        self._sockets = []

    def send(self, text: str) -> None:
        """Send a request; RtspError."""
        self._sockets[0].settimeout(self.left(_SEND_SECONDS))
        try:
            self._sockets[0].sendall(text.encode(**ENCODING))
        except OSError:
            raise self._closed(unread=True) from None

    def message(self, *, datagrams: bool = False) -> Response | Frame:
        """Return the next message, with `datagrams` also of the UDP ports, if any; RtspError."""
        has_ports = datagrams and len(self._sockets) > 1
        while True:
            try:
                self.left()  # processing buffered data may take long as well
                if message := self._parse():
                    return message
                self._buffer += self._receive(0 if has_ports else _POLL)
            except RtspError:
                if self._in_body and self._stages.name in ("DESCRIBE", "authentication"):
                    text = "The session description is incomplete."
                    raise RtspError("sdp_invalid", text) from None
                raise
            if has_ports and (datagram := self._receive_datagram()):
                return None, datagram

    def open_ports(self) -> int:
        """Open two adjacent UDP ports, and return the even one.

        The odd one is for RTCP: if closed, it would send ICMP errors."""
        pair = open_udp_pair(self._sockets[0].getsockname()[0])
        self._sockets += pair
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _UDP_BUFFER)
        return int(pair[0].getsockname()[1])

    def punch(self, port: int) -> None:
        """Open a firewall on our side for packets from a UDP port of the camera."""
        with suppress(OSError, OverflowError):
            self._sockets[1].sendto(_PUNCH, (self._peer, port))

    # Messages

    def _parse(self) -> Response | Frame | None:
        """Remove the next message from the buffer and return it, None if it is incomplete."""
        buffer = self._buffer
        while buffer:
            if buffer[0] == ord("$"):
                frame = self._cut(4 + int.from_bytes(buffer[2:4], "big"))
                return (frame[1], frame[4:]) if frame else None
            if b"RTSP/".startswith(buffer[:5]) and (
                buffer.find(b"\n", 0, MAX_HEAD) < 0 or _STATUS_LINE.match(buffer)
            ):
                return self._parse_response()
            if not self._answered:
                raise not_rtsp(bytes(buffer[:64]))
            # skip stray bytes, such as empty lines; a start may be cut off at the end
            beginning = _BEGINNING.search(buffer, 1)
            del buffer[: beginning.start() if beginning else max(1, len(buffer) - 4)]
        return None

    def _parse_response(self) -> Response | None:
        head = _HEAD_END.search(self._buffer, 0, MAX_HEAD)
        if head is None:
            if len(self._buffer) >= MAX_HEAD:
                raise self._malformed(f"its headers exceed {MAX_HEAD} bytes")
            return None
        # Lines without a colon are ignored, as players do; \0 must not be sent back in a Session.
        text = re.sub("[\r\0]", "", self._buffer[: head.start()].decode(**ENCODING))
        status_line, *lines = text.split("\n")
        _, status, reason = [*status_line.split(maxsplit=2), ""][:3]
        pairs = [line.partition(":") for line in lines]
        headers = [(name.strip(), value.strip()) for name, colon, value in pairs if colon]
        size = Response(int(status), reason, headers, b"").get("Content-Length") or "0"
        if not re.fullmatch("[0-9]{1,9}", size) or int(size) > MAX_BODY:
            raise self._malformed(f"its Content-Length is not a number up to {MAX_BODY}")
        data = self._cut(head.end() + int(size))
        self._in_body = not data and status == "200"
        self._answered = self._answered or bool(data)
        return Response(int(status), reason, headers, data[head.end() :]) if data else None

    def _cut(self, size: int) -> bytes:
        """Remove so many bytes from the buffer and return them, none if there are fewer."""
        if len(self._buffer) < size:
            return b""
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _receive(self, longest: float = _POLL) -> bytes:
        """Return data received by TCP, empty after `longest` seconds; RtspError."""
        self._on_wait()
        sock = self._sockets[0]
        sock.settimeout(self.left(longest))
        try:
            data = sock.recv(_RECEIVE_BYTES)
        except (TimeoutError, BlockingIOError, ssl.SSLWantReadError):
            return b""
        except OSError:
            raise self._closed(unread=True) from None
        if not data:
            # If the peer closed before it read our data, it has answered with a reset.
            time.sleep(_RESET_SECONDS)
            raise self._closed(unread=bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)))
        return data

    def _receive_datagram(self) -> bytes:
        """Return a datagram, empty if none arrives for a moment."""
        self._sockets[1].settimeout(self.left())
        try:
            # A camera with two networks may send from its other address.
            return self._sockets[1].recv(_RECEIVE_BYTES)
        except OSError:  # none arrived, or an ICMP error
            return b""

    # Problems

    def _malformed(self, what: str) -> RtspError:
        if not self._answered:
            return not_rtsp(bytes(self._buffer[:64]))
        return RtspError("server_error", f"The camera's response is not RTSP: {what}.")

    def _closed(self, *, unread: bool) -> RtspError:
        stage, advice = self._stages.name, ""
        is_playing = stage in ("PLAY", "first packet", "keyframe", "stream")
        verdict = "dropped" if is_playing else "rtsp_silent"
        if stage == "authentication":
            advice = f"{CHECK_LOGIN} {VERDICTS[verdict]['advice']}"
        reason = f"The camera closed the connection at the stage {stage}."
        error = RtspError(verdict, reason, advice=advice)
        error.unread = unread
        return error

    def _too_late(self) -> RtspError:
        stage = self._stages.name
        verdict, reason = _TOO_LATE.get(stage, "rtsp_silent"), f"The camera did not answer {stage}"
        if stage == "first packet" and len(self._sockets) > 1:
            verdict = "udp_blocked"
        if stage in _TOO_LATE:
            reason = VERDICTS[verdict]["cause"].removesuffix(".")
        return RtspError(verdict, f"{reason} {self.within}.", timed_out=True)

    # Name, TCP and TLS

    def _look_up(self) -> list[_Target]:
        """Return the addresses of the host; a look-up that hangs is abandoned in its thread."""
        targets: list[_Target] = []

        def resolve() -> None:
            with suppress(OSError, UnicodeError):  # Unicode: a name that IDNA cannot encode
                host, port = self._address.host, self._address.port
                entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                targets.extend((entry[0], entry[4]) for entry in entries)

        thread = threading.Thread(target=resolve, name="confkit lookup", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(self.left())
        if not targets:
            raise RtspError("dns_failed", f"The host name {self._address.host} has no address.")
        return targets

    def _dial(self, targets: list[_Target]) -> None:
        """Connect to the first address that accepts; otherwise the most specific RtspError."""
        codes = set()
        for family, target in targets:
            try:
                sock = socket.socket(family, socket.SOCK_STREAM)
            except OSError:  # an unsupported address family
                continue
            self._sockets, self._peer = [sock], target[0]
            sock.settimeout(_POLL)
            is_last = target == targets[-1][1]
            until = time.monotonic() + (float("inf") if is_last else _ATTEMPT_SECONDS)
            while (code := sock.connect_ex(target)) in _CONNECTING and time.monotonic() < until:
                time.sleep(self.left(0.02))
            if code in (0, errno.EISCONN):
                return
            self.close()
            codes.add(code)
        if codes & {errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE}:
            raise RtspError("refused", "Nothing listens at the camera's port.")
        if codes & {errno.ETIMEDOUT, *_CONNECTING}:
            raise RtspError("connect_timeout", timed_out=True)
        raise RtspError("unreachable")

    def _encrypt(self) -> None:
        verify = self._verify
        try:
            context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
        except OSError:
            raise RtspError("tls_failed", "The certificates to trust cannot be read.") from None
        context.check_hostname = verify is True
        if verify is False:
            context.verify_mode = ssl.CERT_NONE
            context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
            context.set_ciphers("ALL:@SECLEVEL=0")
        plain, host = self._sockets[0], self._address.host.partition("%")[0]
        try:
            sock = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
            self._sockets = [sock]
            while not sock.version():
                sock.settimeout(self.left())
                with suppress(TimeoutError):
                    sock.do_handshake()
        except ssl.SSLCertVerificationError as error:
            reason = (error.verify_message or "it cannot be verified").rstrip(".")
            text = f"The camera's certificate is not trusted: {reason}."
            raise RtspError("tls_failed", text, advice=_TRUST) from None
        except OSError:
            raise RtspError("tls_failed", _NO_TLS, advice=_PLAIN) from None


def open_udp_pair(host: str) -> tuple[socket.socket, socket.socket]:
    """Return sockets of an even UDP port and the next, for RTP and RTCP; OSError: none is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in range(_PORT_PAIRS):
        first, second = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
        try:
            first.bind((host, 0))
            port = int(first.getsockname()[1])
            second.bind((host, port ^ 1))
        except OSError:  # the adjacent port is taken
            first.close()
            second.close()
        else:
            return (second, first) if port % 2 else (first, second)
    raise OSError("no pair of UDP ports is free")
