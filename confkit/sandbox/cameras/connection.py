"""One connection to the camera server: requests in, responses and media out, in one thread."""

from __future__ import annotations

import re
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from socketserver import BaseRequestHandler
from typing import TYPE_CHECKING, NamedTuple

from ...rtsp.address import parse_address
from ...rtsp.connection import open_udp_pair
from .camera import CLOCK, PAYLOAD_TYPES, TRACK, Camera

if TYPE_CHECKING:
    from .server import CameraServer

SEND_TIMEOUT = 5.0  # seconds, after which a client that does not read is dropped
MAX_HEAD, MAX_BODY = 16 * 1024, 64 * 1024  # bytes of a request

_METHODS = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN"
Request = tuple[str, str, dict[str, str]]  # method, URL, and headers by lower-case name

_START = re.compile(r"([A-Z_]+) (\S+) RTSP/[0-9]\.[0-9]")


class Response(NamedTuple):
    """A response: its status with the reason, its header lines, its body."""

    status: str = "200 OK"
    headers: tuple[str, ...] = ()
    body: bytes = b""


def parse_requests(received: bytearray) -> Iterator[Request | None]:
    """Remove and yield the complete requests in `received`; None is an interleaved frame, RTCP.

    ValueError: not an RTSP request, or too large.
    """
    while received:
        if received.startswith(b"$"):
            request, size = None, 4 + int.from_bytes(received[2:4], "big")
        else:
            end = received.find(b"\r\n\r\n", 0, MAX_HEAD)
            if end < 0:
                if len(received) > MAX_HEAD or not received[:1].isalpha():
                    raise ValueError("not RTSP, or a head without end")
                return
            first, *lines = received[:end].decode(errors="surrogateescape").splitlines()
            start = _START.fullmatch(first)
            pairs = (line.partition(":") for line in lines)
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
            body_size = int(headers.get("content-length", "0"))
            if not (start and 0 <= body_size <= MAX_BODY):
                raise ValueError("not RTSP, or a large body")
            request, size = (start[1], start[2], headers), end + 4 + body_size
        if len(received) < size:
            return
        del received[:size]
        yield request


class Connection(BaseRequestHandler):
    """A client and its session: at most one, which ends with its connection.

    It ends after the server's `session_timeout` without a complete request or RTCP from the client.
    """

    server: CameraServer
    request: socket.socket
    _selector: selectors.BaseSelector

    def setup(self) -> None:
        """Begin without a session."""
        self._received = bytearray()
        self._last_activity = time.monotonic()  # of the client
        self._closing = False
        self._session = ""
        self._camera: Camera | None = None  # of the session
        self._playing = False
        self._channel = 0  # of interleaved packets, unless they are sent by UDP:
        self._udp: tuple[socket.socket, socket.socket] | None = None
        self._udp_target = "", 0
        self._next_frame = 0
        self._sequence = secrets.randbelow(1 << 15)
        self._ssrc = secrets.randbits(32)

    def handle(self) -> None:
        """Serve the client until it leaves or stops reading, or the server ends the connection."""
        with suppress(OSError), selectors.DefaultSelector() as self._selector:
            self.request.settimeout(min(SEND_TIMEOUT, self.server.session_timeout))
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(self.request, selectors.EVENT_READ, self._receive)
            try:
                self._serve()
            finally:
                self._end_session()

    def _serve(self) -> None:
        while not self._closing and not (self._camera and self._camera.unplugged.is_set()):
            wait = self._last_activity + self.server.session_timeout - time.monotonic()
            if wait <= 0:
                return
            if self._camera and self._playing:
                self._send_frames(self._camera)
                wait = min(wait, self._next_frame / self._camera.loop.fps - time.monotonic())
            for key, _ in self._selector.select(wait):
                key.data()

    def _receive(self) -> None:
        data = self.request.recv(65536)
        self._received += data
        self._closing = not data
        try:
            for request in parse_requests(self._received):
                self._last_activity = time.monotonic()  # incomplete requests do not count
                if request and not self._closing:
                    self._answer(*request)
        except ValueError:
            self._send(Response("400 Bad Request"))
            self._closing = True

    def _receive_rtcp(self) -> None:
        """Count an RTCP report over UDP as activity."""
        with suppress(BlockingIOError):
            if self._udp and self._udp[1].recvfrom(2048)[1][0] == self.client_address[0]:
                self._last_activity = time.monotonic()

    # Requests

    def _answer(self, method: str, url: str, request: dict[str, str]) -> None:
        camera = self._find_camera(url)
        if camera and camera.raw_answer is not None:
            self.request.sendall(camera.raw_answer)
            self._closing = bool(camera.raw_answer)
            return
        response = self._respond(method, url, request, camera)
        headers = [f"CSeq: {request.get('cseq', '')}", *response.headers]
        if response.status == "200 OK" and self._session:
            headers.append(f"Session: {self._session};timeout={self.server.session_timeout:.0f}")
        self._send(response._replace(headers=tuple(headers)))
        if response.status == "200 OK" and method == "TEARDOWN":
            self._end_session()
        self._closing = camera is not None and camera.closes_after == method

    def _send(self, response: Response) -> None:
        size = f"Content-Length: {len(response.body)}"
        head = "\r\n".join([f"RTSP/1.0 {response.status}", *response.headers, size, "", ""])
        self.request.sendall(head.encode(errors="surrogateescape") + response.body)

    def _find_camera(self, url: str) -> Camera | None:
        """Return the camera of a URL, with or without its track."""
        try:
            path = parse_address(url).path
        except ValueError:
            return None
        return self.server.cameras.get(path.removesuffix("/" + TRACK).rstrip("/") or "/")

    def _respond(
        self, method: str, url: str, request: dict[str, str], camera: Camera | None
    ) -> Response:
        session = request.get("session", self._session).partition(";")[0].strip()
        if method not in _METHODS.split(", "):
            return Response("501 Not Implemented")
        if method == "OPTIONS":
            return Response(headers=(f"Public: {_METHODS}",))
        if camera is None:
            return Response("404 Not Found" if "://" in url else "400 Bad Request")
        if not camera.accepts(request.get("authorization", ""), method, url):
            offers = (f"WWW-Authenticate: {offer}" for offer in camera.challenges())
            return Response("401 Unauthorized", tuple(offers))
        if session != self._session:
            return Response("454 Session Not Found")
        if method in camera.refusals:
            return Response(camera.refusals[method])
        if method == "DESCRIBE":
            base = f"Content-Base: {url.rstrip('/')}/"
            content = "Content-Type: application/sdp"
            return Response(headers=(base, content), body=camera.description)
        if method == "SETUP":
            return self._set_up(camera, request.get("transport", "").upper())
        if method in ("PLAY", "PAUSE") and self._camera is not camera:
            return Response("455 Method Not Valid in This State")
        if method == "PLAY":
            return self._play(camera, url)
        if method == "PAUSE":
            self._pause()
        return Response()

    def _set_up(self, camera: Camera, transport: str) -> Response:
        if self._camera:
            return Response("455 Method Not Valid in This State")
        for offer in transport.split(","):
            profile, _, parameters = offer.strip().partition(";")
            channel = re.search(r"INTERLEAVED=([0-9]{1,3})", parameters)
            port = re.search(r"CLIENT_PORT=([1-9][0-9]{3,4})", parameters)
            if "MULTICAST" in parameters:
                continue
            if profile == "RTP/AVP/TCP" and "tcp" in camera.transports:
                self._channel = min(int(channel[1]), 254) if channel else 0
                accepted = f"interleaved={self._channel}-{self._channel + 1}"
            elif port and profile in ("RTP/AVP", "RTP/AVP/UDP") and "udp" in camera.transports:
                accepted = self._open_udp(min(int(port[1]), 65534))
            else:
                continue
            self._camera, self._session = camera, secrets.token_hex(8)
            accepted = f"Transport: {profile};unicast;{accepted};ssrc={self._ssrc:08X}"
            return Response(headers=(accepted,))
        return Response("461 Unsupported Transport")

    def _open_udp(self, port: int) -> str:
        # Only to the client's own address: a `destination` could target another host.
        self._udp_target = self.client_address[0], port
        self._udp = open_udp_pair(self.request.getsockname()[0])
        for udp in self._udp:
            udp.setblocking(False)
        self._selector.register(self._udp[1], selectors.EVENT_READ, self._receive_rtcp)
        own_port = self._udp[0].getsockname()[1]
        return f"client_port={port}-{port + 1};server_port={own_port}-{own_port + 1}"

    def _play(self, camera: Camera, url: str) -> Response:
        if not self._playing:
            interval = camera.loop.keyframe_frames
            self._next_frame = camera.newest_frame // interval * interval
            self._playing = True
            camera.viewers.add(self.request)
        track = url.rstrip("/").removesuffix("/" + TRACK) + "/" + TRACK
        stamp = self._timestamp(camera, self._next_frame)
        info = f"RTP-Info: url={track};seq={self._sequence};rtptime={stamp}"
        return Response(headers=("Range: npt=now-", info))

    def _pause(self) -> None:
        self._playing = False
        if self._camera:
            self._camera.viewers.discard(self.request)

    def _end_session(self) -> None:
        self._pause()
        self._camera, self._session = None, ""
        if self._udp:
            self._selector.unregister(self._udp[1])
            for udp in self._udp:
                udp.close()
            self._udp = None

    # Media

    def _send_frames(self, camera: Camera) -> None:
        """Send the frames that are due."""
        packets = list(self._packets(camera, camera.newest_frame))
        if self._udp:
            for packet in packets:
                with suppress(OSError):  # packets that the system cannot send at once are lost
                    self._udp[0].sendto(packet, self._udp_target)
        elif packets:
            head = bytes([ord("$"), self._channel])
            self.request.sendall(b"".join(head + len(p).to_bytes(2, "big") + p for p in packets))

    def _packets(self, camera: Camera, newest: int) -> Iterator[bytes]:
        """Yield the packets not yet sent, up to the frame `newest`."""
        loop, interval = camera.loop, camera.loop.keyframe_frames
        # After a pause of the whole process: no backlog older than the last keyframe but one.
        start = max(self._next_frame, newest // interval * interval - interval)
        for frame in range(start, newest + 1):
            stamp = self._timestamp(camera, frame)
            payloads = loop.payloads[frame % len(loop.payloads)]
            for number, payload in enumerate(payloads, 1):
                type_byte = PAYLOAD_TYPES[loop.codec] | (number == len(payloads)) << 7
                head = struct.pack("!BBHII", 0x80, type_byte, self._sequence, stamp, self._ssrc)
                self._sequence = (self._sequence + 1) & 0xFFFF
                yield head + payload
        self._next_frame = max(start, newest + 1)

    def _timestamp(self, camera: Camera, frame: int) -> int:
        return (self._ssrc + frame * CLOCK // camera.loop.fps) & 0xFFFFFFFF
