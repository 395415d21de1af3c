"""One connection to the camera server: requests in, answers and media out."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace
from http import HTTPStatus

from ...rtsp.address import parse_address
from ...rtsp.message import MalformedMessage, Parser, Request, Response, number_in
from ...rtsp.udp import PortPair
from .camera import TRACK, Camera
from .ports import Caller

# Unread bytes that a viewer may cause before it is dropped.
MAX_UNSENT = 2 * 1024 * 1024

_METHODS = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN"
_REASONS = {
    453: "Not Enough Bandwidth",
    454: "Session Not Found",
    455: "Method Not Valid in This State",
    461: "Unsupported Transport",
}


def answer(status: int, *headers: tuple[str, str], body: bytes = b"") -> Response:
    """Return a response with the usual reason."""
    reason = _REASONS.get(status) or HTTPStatus(status).phrase
    return Response(status, reason, headers=headers, body=body)


class Connection(Caller):
    """A client's connection, and the viewer of one session at most, which ends with it.

    It gets the server's cameras by path, its UDP ports, and the `timeout`: the seconds that may
    pass without a whole request or frame from the client.
    """

    def __init__(
        self, cameras: Mapping[str, Camera | None], ports: PortPair, timeout: float
    ) -> None:
        self._cameras = cameras
        self._ports = ports
        self._timeout = timeout
        self._parser = Parser()
        self._session = ""
        self._camera: Camera | None = None  # of the session
        self._target = "", 0  # where its datagrams go
        self.channel: int | None = None
        self.next_frame = 0
        self.sequence = secrets.randbelow(1 << 15)
        self.ssrc = secrets.randbits(32)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to watch over the client's silence."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the session with its connection."""
        super().connection_lost(exc)
        self._end_session()
        self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Answer the requests that are complete."""
        try:
            for message in self._parser.feed(data):
                self._timer.cancel()
                self._wait()  # bytes that never become a message do not count
                # Interleaved frames from a client are RTCP reports, which nobody needs here.
                if isinstance(message, Request) and not self.transport.is_closing():
                    self._answer(message)
        except MalformedMessage:
            self.transport.write(answer(400).encode())
            self.transport.close()

    def send(self, packets: list[bytes]) -> None:
        """Send the packets of a moment; drops a client that does not read."""
        if self.channel is None:
            for packet in packets:
                self._ports.send(packet, self._target)
        elif self.transport.get_write_buffer_size() > MAX_UNSENT:
            self.transport.abort()
        else:
            self.transport.write(b"".join(packets))

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._timeout, self.transport.abort)

    def _answer(self, request: Request) -> None:
        camera = self._named(request.url)
        response = self._handle(request, camera)
        headers = [("CSeq", request.get("CSeq"))] if request.get("CSeq") else []
        if response.status == 200 and self._session:
            headers.append(("Session", f"{self._session};timeout={self._timeout:.0f}"))
        self.transport.write(replace(response, headers=(*headers, *response.headers)).encode())
        if request.method == "PLAY" and response.status == 200 and self._camera:
            self._camera.watch(self)
        elif request.method == "TEARDOWN" and response.status == 200:
            self._end_session()
        if camera and camera.closes_after == request.method:
            self.transport.close()

    def _named(self, url: str) -> Camera | None:
        """Return the camera that a URL names, with or without its track."""
        try:
            path = parse_address(url).path
        except ValueError:
            return None
        return self._cameras.get(path.removesuffix("/" + TRACK).rstrip("/") or "/")

    def _handle(self, request: Request, camera: Camera | None) -> Response:
        method, session = request.method, request.get("Session").partition(";")[0]
        if method not in _METHODS.split(", "):
            return answer(501)
        if method == "OPTIONS":
            return answer(200, ("Public", _METHODS))
        if camera is None:
            return answer(404 if "://" in request.url else 400)
        guard = camera.guard
        if guard and not guard.opens(request.get("Authorization"), method, request.url):
            return answer(401, *(("WWW-Authenticate", offer) for offer in guard.challenges()))
        if session and session != self._session:
            return answer(454)
        if instead := camera.instead(request):
            return instead
        if method == "DESCRIBE":
            base = ("Content-Base", request.url.rstrip("/") + "/")
            return answer(200, base, ("Content-Type", "application/sdp"), body=camera.description)
        if method == "SETUP":
            return self._set_up(request, camera)
        if method in ("PLAY", "PAUSE") and self._camera is not camera:
            return answer(455)
        if method == "PLAY":
            return self._play(request, camera)
        if method == "PAUSE":
            camera.viewers.discard(self)
        return answer(200)

    def _set_up(self, request: Request, camera: Camera) -> Response:
        if self._camera:
            return answer(455)
        if camera.full:
            return answer(453)
        for offer in request.get("Transport").upper().split(","):
            if transport := self._accept(offer.strip(), camera.settings.transports):
                self._camera, self._session = camera, secrets.token_hex(8)
                return answer(200, ("Transport", f"{transport};ssrc={self.ssrc:08X}"))
        return answer(461)

    def _accept(self, offer: str, transports: Collection[str]) -> str:
        """Return how packets will travel by an offer that is taken up, else nothing."""
        profile, _, rest = offer.partition(";")
        if "MULTICAST" in rest:
            return ""
        if profile == "RTP/AVP/TCP" and "tcp" in transports:
            self.channel = first = min(number_in(r"INTERLEAVED=(\d{1,3})", rest), 254)
            return f"RTP/AVP/TCP;unicast;interleaved={first}-{first + 1}"
        port, ours = number_in(r"CLIENT_PORT=(\d{1,5})", rest), self._ports.port
        if profile.removesuffix("/UDP") != "RTP/AVP" or "udp" not in transports:
            return ""
        if not 0 < port < 65535:
            return ""
        # Only ever to the address that asked: a `destination` would aim at somebody else.
        self.channel, self._target = None, (self.transport.get_extra_info("peername")[0], port)
        return f"RTP/AVP;unicast;client_port={port}-{port + 1};server_port={ours}-{ours + 1}"

    def _play(self, request: Request, camera: Camera) -> Response:
        if self not in camera.viewers:
            if camera.full:
                return answer(453)
            self.next_frame = camera.newest_keyframe
        track = request.url.rstrip("/").removesuffix("/" + TRACK) + "/" + TRACK
        stamp = camera.timestamp(self, self.next_frame)
        info = f"url={track};seq={self.sequence};rtptime={stamp}"
        return answer(200, ("Range", "npt=now-"), ("RTP-Info", info))

    def _end_session(self) -> None:
        if self._camera:
            self._camera.viewers.discard(self)
        self._camera, self._session = None, ""
