"""A connection to a camera: name resolution, TCP and TLS, then bytes with a deadline."""

from __future__ import annotations

import errno
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from typing import Any

from .address import Address
from .errors import RtspError
from .message import Frame, Reader, Response, WireError
from .report import Stages

_POLL = 0.1  # seconds between two checks of `cancelled` while waiting
_ATTEMPT_SECONDS = 4.0  # for one of several addresses of a name, before the next is tried
_RESET = 0.2  # seconds until a reset may arrive
_MAX_SEND_SECONDS = 3600.0  # for sending a request
_RECEIVE_BYTES = 65_536
_PUNCH = b"\x80\x00\x00\x00" + bytes(8)  # an empty RTP packet
_UDP_BUFFER = 2 * 1024 * 1024  # bytes; the usual default loses most of a large keyframe
_PORT_PAIRS = 50  # attempts to find a pair of free ports
_PLAIN = "Use rtsp:// instead of rtsps://, or the camera's port for rtsps (often 322)."
_TRUST = (
    "Pass the certificate to trust (verify=FILE), or disable the check (verify=False, --no-verify)."
)
_CONNECTING = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY)
_Target = tuple[socket.AddressFamily, tuple[Any, ...]]


class DeadlinePassed(WireError):
    """A deadline has passed; not a TimeoutError, which a callback may raise for its own reasons."""


class ConnectionClosed(WireError):
    """The connection has ended; `unread`: the peer closed it before it read the last request."""

    def __init__(self, *, unread: bool) -> None:
        super().__init__()
        self.unread = unread


class Deadline:
    """A point in time by which something must be done, and an event that cancels it earlier."""

    def __init__(self, seconds: float, cancelled: threading.Event | None = None) -> None:
        self.cancelled = cancelled
        self.restart(seconds)

    def restart(self, seconds: float) -> None:
        """Restart with this many seconds."""
        self._at = time.monotonic() + seconds

    def left(self, longest: float = _POLL) -> float:
        """Return the seconds left, at most `longest`; DeadlinePassed, CancelledError."""
        if self.cancelled and self.cancelled.is_set():
            raise CancelledError
        if (seconds := self._at - time.monotonic()) <= 0:
            raise DeadlinePassed
        return min(seconds, longest)


class Connection:
    """A TCP or TLS connection to a camera, and its UDP ports; `open` connects.

    `verify` is as in requests: True, False or the path of certificates to trust; `on_wait` is
    called before each read. Methods that wait raise DeadlinePassed or CancelledError.
    """

    def __init__(
        self,
        address: Address,
        deadline: Deadline,
        stages: Stages,
        *,
        verify: bool | str = True,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.reader = Reader(self._receive)
        self._address, self._deadline, self._stages = address, deadline, stages
        self._verify, self._on_wait = verify, on_wait
        self._sockets: list[socket.socket] = []  # TCP; RTP and RTCP over UDP
        self._peer = ""

    def open(self) -> None:
        """Connect, replacing an earlier connection; RtspError."""
        self.close()
        self.reader = Reader(self._receive)
        self._stages.begin("name")
        targets = self._look_up()
        addresses = dict.fromkeys(str(target[0]) for _, target in targets)
        self._stages.detail = ", ".join(addresses)
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

    def send(self, data: bytes) -> None:
        """Send all data; ConnectionClosed."""
        self._sockets[0].settimeout(self._deadline.left(_MAX_SEND_SECONDS))
        try:
            self._sockets[0].sendall(data)
        except TimeoutError:
            raise DeadlinePassed from None
        except OSError:
            raise ConnectionClosed(unread=True) from None

    def message(self, *, datagrams: bool = False) -> Response | Frame:
        """Return the next message, with `datagrams` also of the UDP ports, if any.

        MalformedMessage, ConnectionClosed."""
        self._deadline.left()  # processing buffered data may take long as well
        while datagrams and len(self._sockets) > 1:
            self.reader.buffer += self._receive(0)
            if self.reader.buffer.strip(b"\r\n"):
                break
            if datagram := self._receive_datagram():
                return None, datagram
        return self.reader.message()

    def _receive(self, longest: float = _POLL) -> bytes:
        """Return data received by TCP, empty after `longest` seconds; ConnectionClosed."""
        self._on_wait()
        sock = self._sockets[0]
        sock.settimeout(self._deadline.left(longest))
        try:
            data = sock.recv(_RECEIVE_BYTES)
        except (TimeoutError, BlockingIOError, ssl.SSLWantReadError):
            return b""
        except OSError:
            raise ConnectionClosed(unread=True) from None
        if not data:
            # If the peer closed before it read our data, it has answered with a reset.
            time.sleep(_RESET)
            reset = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            raise ConnectionClosed(unread=bool(reset))
        return data

    def _receive_datagram(self) -> bytes:
        """Return a datagram from the camera, empty if none arrives for a moment."""
        self._sockets[1].settimeout(self._deadline.left())
        try:
            data, sender = self._sockets[1].recvfrom(_RECEIVE_BYTES)
        except OSError:  # none arrived, or an ICMP error
            return b""
        return data if sender[0] == self._peer else b""

    def open_ports(self) -> int:
        """Open two adjacent UDP ports, and return the even one; RtspError.

        The odd one is for RTCP: if closed, it would send ICMP errors."""
        try:
            pair = open_udp_pair(self._sockets[0].getsockname()[0])
        except OSError:
            reason = "No UDP port is free for the camera."
            raise RtspError("transport_refused", reason) from None
        self._sockets += pair
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _UDP_BUFFER)
        return int(pair[0].getsockname()[1])

    def punch(self, port: int) -> None:
        """Open a firewall on our side for packets from a UDP port of the camera."""
        with suppress(OSError, OverflowError):
            self._sockets[1].sendto(_PUNCH, (self._peer, port))

    # Name, TCP and TLS

    def _look_up(self) -> list[_Target]:
        """Return the addresses of the host; a look-up that hangs is abandoned in its thread."""
        targets: list[_Target] = []

        def resolve(flags: int = 0) -> None:
            with suppress(OSError, UnicodeError):  # Unicode: a name that IDNA cannot encode
                host, port = self._address.host, self._address.port
                entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
                targets.extend((entry[0], entry[4]) for entry in entries)

        resolve(socket.AI_NUMERICHOST)
        if not targets:
            thread = threading.Thread(target=resolve, name="confkit lookup", daemon=True)
            thread.start()
            while thread.is_alive():
                thread.join(self._deadline.left())
        if not targets:
            raise RtspError("dns_failed", f"The host name {self._address.host} has no address.")
        return targets

    def _dial(self, targets: list[_Target]) -> None:
        """Connect to the first address that accepts; otherwise the most specific RtspError."""
        codes = set()
        for number, (family, target) in enumerate(targets, 1):
            try:
                sock = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:  # an unsupported address family
                codes.add(error.errno)
                continue
            self._sockets, self._peer = [sock], target[0]
            sock.setblocking(False)
            until = time.monotonic() + (_ATTEMPT_SECONDS if number < len(targets) else float("inf"))
            pause = 0.0002
            while (code := sock.connect_ex(target)) in _CONNECTING and time.monotonic() < until:
                time.sleep(self._deadline.left(pause))
                pause = min(2 * pause, 0.02)
            if code in (
                0,
                errno.EISCONN,
                errno.ECONNRESET,
                errno.EPIPE,
            ):  # accepted, if only briefly
                return
            self.close()
            codes.add(code)
        if errno.ECONNREFUSED in codes:
            raise RtspError("refused", "Nothing listens at the camera's port.")
        if codes & {errno.ETIMEDOUT, *_CONNECTING}:
            raise RtspError("connect_timeout", timed_out=True)
        raise RtspError("unreachable")

    def _encrypt(self) -> None:
        """Replace the plain socket with a TLS socket; RtspError."""
        verify = self._verify
        try:
            context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
        except OSError:
            raise RtspError("tls_failed", "The certificates to trust cannot be read.") from None
        if verify is False:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        plain, host = self._sockets[0], self._address.host.partition("%")[0]
        try:
            sock = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
            self._sockets = [sock]
            while not sock.version():
                sock.settimeout(self._deadline.left())
                with suppress(TimeoutError):
                    sock.do_handshake()
        except ssl.SSLCertVerificationError as error:
            reason = error.verify_message or "it cannot be verified"
            text = f"The camera's certificate is not trusted: {reason}."
            raise RtspError("tls_failed", text, advice=_TRUST) from None
        except OSError as error:
            text = "The port does not speak TLS."
            raise RtspError("tls_failed", text, advice=_PLAIN) from error


def speaks_tls(address: Address, seconds: float, cancelled: threading.Event | None) -> bool:
    """Return whether something at this address responds to a TLS handshake."""
    encrypted = Address("rtsps", address.host, address.port, address.path)
    connection = Connection(encrypted, Deadline(seconds, cancelled), Stages(""), verify=False)
    try:
        connection.open()
    except (DeadlinePassed, RtspError) as error:
        # An alert counts as a response; plain text does not.
        return "ALERT" in (getattr(error.__cause__, "reason", "") or "").upper()
    finally:
        connection.close()
    return True


def open_udp_pair(host: str) -> tuple[socket.socket, socket.socket]:
    """Return sockets of an even UDP port and the next, for RTP and RTCP; OSError: none is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in range(_PORT_PAIRS):
        with ExitStack() as opened, suppress(OSError):  # the adjacent port is taken: try again
            pair = [
                opened.enter_context(socket.socket(family, socket.SOCK_DGRAM)) for _ in range(2)
            ]
            pair[0].bind((host, 0))
            number = int(pair[0].getsockname()[1])
            pair[1].bind((host, number ^ 1))
            opened.pop_all()
            return pair[number % 2], pair[1 - number % 2]
    raise OSError("no pair of UDP ports is free")
