"""One connection to the camera server: requests in, answers and media out."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from ...rtsp.address import parse_address
from ...rtsp.message import MalformedMessage, Parser, Request, Response
from ...rtsp.udp import PortPair
from .camera import TRACK, Camera, Viewer

# Unread bytes that a viewer may cause before it is dropped.
MAX_UNSENT = 2 * 1024 * 1024

_REASONS = {
    200: "OK",
    302: "Moved Temporarily",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    453: "Not Enough Bandwidth",
    454: "Session Not Found",
    455: "Method Not Valid in This State",
    461: "Unsupported Transport",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}


def answer(status: int, *headers: tuple[str, str], body: bytes = b"") -> Response:
    """Return a response with the usual reason."""
    return Response(status, _REASONS[status], headers=headers, body=body)


class Connection(asyncio.Protocol):
    """A client's connection; it carries one session at most and ends it when it closes."""

    def __init__(
        self,
        cameras: Mapping[str, Camera | None],
        connections: dict[Connection, None],
        ports: PortPair,
        timeout: float,
    ) -> None:
        """Start with the server's cameras by path, its open connections and its UDP ports.

        `timeout` is in seconds without a whole request or frame from the client.
        """
        self._cameras = cameras
        self._connections = connections
        self._ports = ports
        self._timeout = timeout
        self._parser = Parser()
        self._session = ""
        self._viewer: Viewer | None = None
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None

    closed: asyncio.Future[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to watch over the client's silence."""
        self._transport = cast("asyncio.Transport", transport)  # of uvloop: its own class
        self._loop = asyncio.get_running_loop()
        self.closed = self._loop.create_future()
        self._connections[self] = None
        self._heard = self._loop.time()
        self._timer = self._loop.call_later(self._timeout, self._check_idle)

    def connection_lost(self, _exc: Exception | None) -> None:
        """End the session with its connection."""
        self._connections.pop(self, None)
        self._end_session()
        if self._timer:
            self._timer.cancel()
        self.closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Answer the requests that are complete."""
        try:
            for message in self._parser.feed(data):
                self._heard = self._loop.time()  # bytes that never become a message do not count
                # Interleaved frames from a client are RTCP reports, which nobody needs here.
                if isinstance(message, Request) and not self._transport.is_closing():
                    self._answer(message)
        except MalformedMessage:
            self._transport.write(answer(400).encode())
            self._transport.close()

    def kick(self) -> None:
        """End the connection at once, whatever is still unsent."""
        self._transport.abort()

    def _check_idle(self) -> None:
        left = self._heard + self._timeout - self._loop.time()
        if left <= 0:
            self.kick()
        else:
            self._timer = self._loop.call_later(left, self._check_idle)

    def _answer(self, request: Request) -> None:
        camera = self._camera(request.url)
        response = self._handle(request, camera)
        headers = [("CSeq", request.get("CSeq"))] if request.get("CSeq") else []
        if response.status == 200 and self._session:
            headers.append(("Session", f"{self._session};timeout={self._timeout:.0f}"))
        self._write([replace(response, headers=(*headers, *response.headers)).encode()])
        if request.method == "PLAY" and response.status == 200 and self._viewer:
            self._viewer.camera.watch(self._viewer, self.kick)
        elif request.method == "TEARDOWN" and response.status == 200:
            self._end_session()
        if camera and camera.closes_after in (request.method, str(response.status)):
            self._loop.call_later(camera.closes_in, self._transport.close)

    def _camera(self, url: str) -> Camera | None:
        """Return the camera that a URL names, with or without its track."""
        try:
            path = parse_address(url).path
        except ValueError:
            return None
        path = path.removesuffix("/" + TRACK) or "/"
        return self._cameras.get(path) or self._cameras.get(path.rstrip("/"))

    def _handle(self, request: Request, camera: Camera | None) -> Response:
        if request.method == "OPTIONS":
            return answer(200, ("Public", ", ".join(("OPTIONS", *_HANDLERS))))
        handler = _HANDLERS.get(request.method)
        if handler is None:
            return answer(501)
        if camera is None:
            return answer(404 if "://" in request.url else 400)
        now = self._loop.time()
        if camera.guard:
            header = request.get("Authorization")
            verdict = camera.guard.check(header, request.method, request.url, now)
            if verdict != "ok":
                offers = camera.guard.challenges(now, stale=verdict == "stale")
                return answer(401, *(("WWW-Authenticate", offer) for offer in offers))
        if request.get("Session") and request.get("Session").partition(";")[0] != self._session:
            return answer(454)
        return camera.instead(request) or handler(self, request, camera)

    def _describe(self, request: Request, camera: Camera) -> Response:
        base = ("Content-Base", request.url.rstrip("/") + "/")
        return answer(200, base, ("Content-Type", "application/sdp"), body=camera.description)

    def _setup(self, request: Request, camera: Camera) -> Response:
        if self._viewer:
            return answer(455)
        if camera.full:
            return answer(453)
        for offer in request.get("Transport").split(","):
            viewer, transport = self._viewer_for(offer.strip(), camera)
            if viewer:
                self._viewer, self._session = viewer, secrets.token_hex(8)
                return answer(200, ("Transport", f"{transport};ssrc={viewer.ssrc:08X}"))
        return answer(461)

    def _play(self, request: Request, camera: Camera) -> Response:
        viewer = self._viewer
        if not viewer or viewer.camera is not camera:
            return answer(455)
        if viewer not in camera.viewers:
            if camera.full:
                return answer(453)
            viewer.next_frame = camera.keyframe_at(self._loop.time())
        track = request.url.rstrip("/").removesuffix("/" + TRACK) + "/" + TRACK
        stamp = viewer.timestamp(viewer.next_frame)
        info = f"url={track};seq={viewer.sequence};rtptime={stamp}"
        return answer(200, ("Range", "npt=now-"), ("RTP-Info", info))

    def _pause(self, _request: Request, _camera: Camera) -> Response:
        if not self._viewer:
            return answer(455)
        self._viewer.camera.unwatch(self._viewer)
        return answer(200)

    def _accept(self, _request: Request, _camera: Camera) -> Response:
        return answer(200)

    def _viewer_for(self, offer: str, camera: Camera) -> tuple[Viewer | None, str]:
        protocol, _, rest = offer.partition(";")
        if re.search(r"(^|;)multicast", rest):
            return None, ""
        if protocol.upper() == "RTP/AVP/TCP" and "tcp" in camera.transports:
            channels = re.search(r"interleaved=(\d{1,3})", rest)
            first = min(int(channels[1]), 254) if channels else 0
            viewer = Viewer(camera, first, self._write)
            return viewer, f"RTP/AVP/TCP;unicast;interleaved={first}-{first + 1}"
        ports = re.search(r"client_port=(\d{1,5})(?:-(\d{1,5}))?", rest)
        if protocol.upper() in ("RTP/AVP", "RTP/AVP/UDP") and ports and "udp" in camera.transports:
            ours = self._ports
            # Only ever to the address that asked: a `destination` would aim at somebody else.
            target = (self._transport.get_extra_info("peername")[0], int(ports[1]))
            if not 0 < target[1] < 65536:
                return None, ""

            def send(packets: list[bytes]) -> bool:
                for packet in packets:
                    ours.send(packet, target)
                return True

            theirs = f"client_port={target[1]}-{ports[2] or target[1] + 1}"
            server = f"server_port={ours.port}-{ours.port + 1}"
            return Viewer(camera, None, send), f"RTP/AVP;unicast;{theirs};{server}"
        return None, ""

    def _write(self, packets: list[bytes]) -> bool:
        """Write what may be written; ends the connection of a client that does not read."""
        if self._transport.get_write_buffer_size() > MAX_UNSENT:
            self.kick()
            return False
        self._transport.write(b"".join(packets))
        return True

    def _end_session(self) -> None:
        if self._viewer:
            self._viewer.camera.unwatch(self._viewer)
        self._viewer, self._session = None, ""


_HANDLERS: dict[str, Callable[[Connection, Request, Camera], Response]] = {
    "DESCRIBE": Connection._describe,
    "SETUP": Connection._setup,
    "PLAY": Connection._play,
    "PAUSE": Connection._pause,
    "GET_PARAMETER": Connection._accept,
    "SET_PARAMETER": Connection._accept,
    "TEARDOWN": Connection._accept,
}
