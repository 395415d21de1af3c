"""An RTSP server of test cameras: any number of them, on one port."""

from __future__ import annotations

import re
import secrets
import socket
import struct
import threading
import time
from collections.abc import Collection
from contextlib import ExitStack, suppress
from itertools import count
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

from ...rtsp.address import parse_address
from ...rtsp.auth import Login
from ...rtsp.connection import open_udp_pair
from ...rtsp.sdp import ENCODINGS
from ...secret import Secret
from .camera import CLOCK, DIGESTS, PAYLOAD_TYPES, TRACK, Camera, describe, encode_loop
from .faults import FAULTS, CameraFault

SESSION_TIMEOUT = 60  # seconds; announced, so that clients send their keep-alives
SEND_TIMEOUT = 5.0  # seconds, after which a client that does not read is dropped
TICK = 0.1  # seconds, after which a connection ends whose camera or server has ended
MAX_HEAD = 16 * 1024  # bytes of a request's head, and of its body
METHODS = ("OPTIONS", "DESCRIBE", "SETUP", "PLAY", "GET_PARAMETER", "TEARDOWN")

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_START = re.compile(r"([A-Z_]+) (\S+) RTSP/[0-9]\.[0-9]")


class CameraServer(ThreadingTCPServer):
    """Test cameras over RTSP, by interleaved TCP or by UDP, with a thread for each connection; it
    serves until `with` or `server_close()` ends it."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.cameras: dict[str, Camera] = {}  # by path
        self.closed = threading.Event()
        self._ends: dict[str, ExitStack] = {}  # by URL: the clean-up of a camera
        self._numbers = count(1)
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, name="cameras", daemon=True).start()

    def server_close(self) -> None:
        """Stop listening, and end all cameras and connections."""
        self.closed.set()
        with suppress(OSError):  # wakes the thread, and stops a forked child from listening
            self.socket.shutdown(socket.SHUT_RDWR)
        self.shutdown()
        super().server_close()
        for ends in self._ends.values():
            ends.close()

    def add(
        self,
        path: str | None = None,
        *,
        fault: str | None = None,
        name: str | None = None,
        login_name: str | None = None,
        login_password: str | Secret | None = None,
        codec: str = "h264",
        auth: str = "digest",
        transports: Collection[str] = ("tcp", "udp"),
        **look: Any,
    ) -> str:
        """Return the URL of a new camera, without its login; the path is /camera-1 and so on.

        `name` is shown in the picture instead of the path; `look` are further arguments of
        `encode_loop`, which takes a while; `fault` is a name of `FAULTS`. Without a login the
        camera is open; `auth` "digest" offers SHA-256 and MD5. ValueError: a path that is taken, or
        an invalid setting (the text names the choices).
        """
        login = None
        if login_name or login_password:
            login = Login(login_name or "", Secret(login_password or "").reveal())
        if fault is not None and fault not in FAULTS:
            raise ValueError(f"no such fault; camera_faults() explains them: {', '.join(FAULTS)}")
        for value, choices in ((codec, ENCODINGS), (auth, DIGESTS)):
            if value not in choices:
                raise ValueError(f"{value!r} is not one of {', '.join(choices)}")
        if codec == "mjpeg" and fault in ("no_keyframe", "no_picture"):
            raise ValueError(f"the fault {fault} needs h264 or h265")
        if not {*transports} <= {"tcp", "udp"}:
            raise ValueError("transports must be a list of tcp, udp or both")
        row = FAULTS[fault] if fault else CameraFault("ok", "Plays.")
        with self._lock, ExitStack() as ends:
            path = path or f"camera-{next(self._numbers)}"
            base = f"rtsp://127.0.0.1:{self.server_address[1]}/"
            address = parse_address(base + path.strip("/"))
            if address.path in self.cameras:
                raise ValueError("another camera has this path already")
            title = name or address.path.strip("/")
            loop = encode_loop(title, codec=codec, scrambled=row.scrambled, **look)
            camera = Camera(loop, describe(title, loop), login, auth, transports)
            self.cameras[address.path] = row.camera(camera)
            ends.callback(self.cameras.pop, address.path)
            ends.callback(camera.unplugged.set)
            url = row.address(address, ends).url
            self._ends[url] = ends.pop_all()
        return url

    def remove(self, url: str) -> None:
        """End a camera's connections, and answer 404 from now on; LookupError: unknown."""
        self._ends.pop(parse_address(url).url).close()


class Connection(BaseRequestHandler):
    """A client and its session: at most one, which lasts as long as its connection, even without
    keep-alives."""

    server: CameraServer
    request: socket.socket

    def setup(self) -> None:
        """Begin without a session."""
        self._received = bytearray()
        self._closing = False
        self._session = ""
        self._camera: Camera | None = None  # of the session
        self._udp: socket.socket | None = None  # of the packets, unless they are interleaved
        self._next_frame = -1  # before PLAY
        self._sequence = secrets.randbelow(1 << 15)
        self._ssrc = secrets.randbits(32)

    def handle(self) -> None:
        """Serve the client until it leaves or stops reading, or the server ends the connection."""
        with suppress(OSError), ExitStack() as self._ends:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not (self._closing or self.server.closed.is_set()):
                camera = self._camera if self._next_frame >= 0 else None
                self.request.settimeout(self._send_frames(camera) if camera else TICK)
                with suppress(TimeoutError):
                    self._receive(self.request.recv(65536))
                self._closing |= self._camera is not None and self._camera.unplugged.is_set()

    def _receive(self, data: bytes) -> None:
        self._received += data
        self._closing = not data
        try:
            while not self._closing and (request := self._take_request()):
                self._answer(*request)
        except ValueError:
            self._send("400 Bad Request", [])
            self._closing = True

    def _take_request(self) -> tuple[str, str, dict[str, str]] | None:
        """Return the next complete request: method, URL and headers by lower-case name.
        ValueError: not an RTSP request, or too large."""
        received = self._received  # RTCP and empty lines before it are skipped, and its body
        while received and received[0] in b"$\r\n":
            size = 4 + int.from_bytes(received[2:4], "big") if received[0] == ord("$") else 1
            if len(received) < size:
                return None
            del received[:size]
        end = _HEAD_END.search(received, 0, MAX_HEAD)
        if end is None:
            if len(received) > MAX_HEAD or (received and not received[:1].isalpha()):
                raise ValueError("not RTSP, or a head without end")
            return None
        head = received[: end.start()].decode(errors="surrogateescape")
        first, *lines = head.splitlines()
        start = _START.fullmatch(first)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        size = int(headers.get("content-length", "0"))
        if not start or not 0 <= size <= MAX_HEAD:
            raise ValueError("not RTSP, or a large body")
        if len(received) < end.end() + size:
            return None
        del received[: end.end() + size]
        return start[1], start[2], headers

    def _write(self, data: bytes) -> None:
        self.request.settimeout(SEND_TIMEOUT)
        self.request.sendall(data)

    # Requests

    def _answer(self, method: str, url: str, headers: dict[str, str]) -> None:
        try:
            path = parse_address(url).path.removesuffix("/" + TRACK).rstrip("/") or "/"
        except ValueError:
            path = ""
        camera = self.server.cameras.get(path)
        if camera and camera.raw_answer is not None:
            self._write(camera.raw_answer)
            self._closing = bool(camera.raw_answer)
            return
        status, lines, body = "200 OK", [f"CSeq: {headers.get('cseq', '')}"], b""
        if method not in METHODS:
            status = "501 Not Implemented"
        elif method == "OPTIONS":
            lines.append(f"Public: {', '.join(METHODS)}")
        elif camera is None:
            status = "404 Not Found"
        elif not camera.accepts(headers.get("authorization", ""), method, url):
            status = "401 Unauthorized"
            lines += [f"WWW-Authenticate: {offer}" for offer in camera.challenges()]
        elif method in camera.refusals:
            status = camera.refusals[method]
        elif method == "DESCRIBE":
            lines += [f"Content-Base: {url.rstrip('/')}/", "Content-Type: application/sdp"]
            body = camera.description
        elif method == "SETUP" and not self._session:
            if transport := self._set_up(camera, headers.get("transport", "").upper()):
                lines.append(f"Transport: {transport}")
            else:
                status = "461 Unsupported Transport"
        elif method == "PLAY" and self._camera is camera:
            self._next_frame = max(0, self._next_frame)
        elif method in ("SETUP", "PLAY"):
            status = "455 Method Not Valid in This State"
        if self._session:
            lines.append(f"Session: {self._session};timeout={SESSION_TIMEOUT}")
        self._send(status, lines, body)
        self._closing = method == "TEARDOWN" and status == "200 OK"
        self._closing |= camera is not None and camera.closes_after == method

    def _send(self, status: str, lines: list[str], body: bytes = b"") -> None:
        head = "\r\n".join([f"RTSP/1.0 {status}", *lines, f"Content-Length: {len(body)}", "", ""])
        self._write(head.encode(errors="surrogateescape") + body)

    def _set_up(self, camera: Camera, offers: str) -> str:
        """Return the transport that is accepted of those offered, if any."""
        for offer in filter(lambda each: "MULTICAST" not in each, offers.split(",")):
            profile = offer.strip().partition(";")[0]
            port = re.search(r"CLIENT_PORT=([1-9][0-9]{3,4})", offer)
            if profile == "RTP/AVP/TCP" and "tcp" in camera.transports:
                accepted = "interleaved=0-1"
            elif port and profile in ("RTP/AVP", "RTP/AVP/UDP") and "udp" in camera.transports:
                accepted = self._open_udp(min(int(port[1]), 65534))
            else:
                continue
            self._session, self._camera = secrets.token_hex(8), camera
            return f"{profile};unicast;{accepted};ssrc={self._ssrc:08X}"
        return ""

    def _open_udp(self, port: int) -> str:
        self._udp, rtcp = open_udp_pair(self.request.getsockname()[0])
        self._ends.callback(self._udp.close)
        self._ends.callback(rtcp.close)  # which only keeps its port
        self._udp.setblocking(False)
        # Only to the client's own address: a `destination` could target another host.
        self._udp.connect((self.client_address[0], port))
        own_port = self._udp.getsockname()[1]
        return f"client_port={port}-{port + 1};server_port={own_port}-{own_port + 1}"

    # Media

    def _send_frames(self, camera: Camera) -> float:
        """Send the frames that are due, none older than the newest keyframe; return the seconds
        until the next, at most TICK."""
        loop, packets = camera.loop, []
        newest = int(time.monotonic() * loop.fps)  # counted across repetitions of the loop
        start = max(self._next_frame, newest - newest % loop.keyframe_frames)
        self._next_frame = max(start, newest + 1)
        for frame in range(start, newest + 1):
            stamp = (self._ssrc + frame * CLOCK // loop.fps) & 0xFFFFFFFF
            payloads = loop.payloads[frame % len(loop.payloads)]
            for number, payload in enumerate(payloads, 1):
                type_byte = PAYLOAD_TYPES[loop.codec] | (number == len(payloads)) << 7
                head = struct.pack("!BBHII", 0x80, type_byte, self._sequence, stamp, self._ssrc)
                self._sequence = (self._sequence + 1) & 0xFFFF
                packets.append(head + payload)
        if self._udp is None:
            self._write(b"".join(b"$\0" + len(p).to_bytes(2, "big") + p for p in packets))
        else:
            for packet in packets:
                with suppress(OSError):  # packets that the system cannot send at once are lost
                    self._udp.send(packet)
        return min(TICK, max(0.001, self._next_frame / loop.fps - time.monotonic()))
