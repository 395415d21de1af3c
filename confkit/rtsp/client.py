"""A blocking RTSP client: OPTIONS, DESCRIBE, SETUP, PLAY, RTP packets, TEARDOWN."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin

from ..secret import SecretAddress, redact
from .address import parse_address, sendable, target
from .auth import Credentials
from .connection import Connection, Response
from .errors import CHECK_LOGIN, RtspError, status_error
from .report import SKIPPED, Stages
from .rtp import Video
from .sdp import DYNAMIC, Media, control_url, parse_sdp

TRANSPORTS = {"auto": ("tcp", "udp"), "tcp": ("tcp",), "udp": ("udp",)}
_CHALLENGE = "WWW-Authenticate"
_SESSION_SECONDS = 60
_TEARDOWN_SECONDS = 0.5
_MAX_LENGTH = 200  # characters of a camera's texts
_NO_CONTAINER = "Choose a stream of plain H.264, H.265 or MJPEG over RTP in the camera or server."
_NO_MULTICAST = "Choose a unicast stream, or switch this one from multicast to unicast."
_NO_SRTP = "Use the camera's plain address (without ?enableSrtp), or switch off SRTP in the camera."


class RtspClient:
    """One attempt to play one camera, whose login may be in its URL; `stages` records its progress,
    and `options` are those of `Connection`.

    `play` returns at the first packet and `next_keyframe` at a picture, both within `timeout`
    seconds from the start; `receive` continues from there; `close` sends TEARDOWN and must be
    called. Problems are raised as RtspError, and CancelledError once `cancelled` is set.

    `video` is the stream received so far (None before DESCRIBE); `transport` is "tcp" or "udp".
    """

    def __init__(
        self,
        url: str,
        name: str | None = None,
        password: str | None = None,
        *,
        transport: str = "auto",
        stages: Stages | None = None,
        **options: Any,
    ) -> None:
        self.address, login = target(url, name, password)
        self.stages = stages or Stages("address")
        self.video: Video | None = None
        self._transports = TRANSPORTS[transport]
        self.transport = self._transports[0]
        self.credentials = Credentials(login)
        self._connection = Connection(
            self.address, self.stages, on_wait=self._keep_alive, **options
        )
        self._sequence = 0
        self._status = 0  # of the last response
        self._base = self.address.url
        self._session: str | None = None
        self._channel: int | None = None  # of the packets; None for UDP
        self._keep_alive_method = "OPTIONS"
        self._session_seconds = _SESSION_SECONDS
        self._next_keep_alive = float("inf")

    @property
    def packets(self) -> int:
        """The number of RTP packets received."""
        return self.video.packets if self.video else 0

    def play(self) -> Video:
        """Return the video at its first packet; `receive` adds to it."""
        self._connection.left()  # it may already be cancelled
        self._connection.open()
        media, track = self._describe()
        self.video = Video(media)
        self._set_up(media, track)
        self._request("PLAY", self._base, Range="npt=0.000-")
        # Send keep-alives from now on, however long the picture takes.
        self._next_keep_alive = time.monotonic() + self._session_seconds / 2
        self.stages.begin("first packet")
        while not self.packets:
            self._receive_next()
        return self.video

    def next_keyframe(self, video: Video, previous: bytes | None = None) -> bytes:
        """Return the next complete keyframe after `previous`; after None, the newest or next."""
        try:
            while not (keyframe := video.keyframe) or keyframe is previous:
                self._receive_next()
        except RtspError as error:
            if error.timed_out:
                raise video.no_keyframe(self._connection.within) from None
            raise
        return keyframe

    def receive(self, silence: float) -> None:
        """Receive at least one more packet; RtspError if none arrives within `silence` seconds."""
        packets = self.packets
        self._connection.restart(silence)
        if self.stages.name != "stream":
            self.stages.begin("stream")
        while self.packets == packets:
            self._receive_next()

    def close(self) -> None:
        """Send TEARDOWN, wait a moment for the response, and close."""
        self._connection.cancelled = None
        self._connection.restart(_TEARDOWN_SECONDS)
        self._next_keep_alive = float("inf")
        try:
            with suppress(RtspError):
                if self._session is not None:
                    response = self._send("TEARDOWN", self._base)
                    if response.status == 401 and self.credentials.accepted:
                        self.credentials.handle_challenge(response.all(_CHALLENGE))  # a new nonce
                        self._send("TEARDOWN", self._base)
        finally:
            self._connection.close()
            self._session = None

    # Up to PLAY

    def _describe(self) -> tuple[Media, str]:
        """Return the video described by the camera, and the URL for its SETUP."""
        options = self._request("OPTIONS", self.address.url)
        if "GET_PARAMETER" in options.get("Public").upper():
            self._keep_alive_method = "GET_PARAMETER"
        described = self._request("DESCRIBE", self.address.url, Accept="application/sdp")
        self.stages.begin("SDP")
        try:
            medias, control = parse_sdp(described.body)
        except ValueError as error:
            raise RtspError("sdp_invalid", str(error)) from None
        names = [self.credentials.printable(media.encoding or media.kind) for media in medias]
        self.stages.detail = ", ".join(names)[:_MAX_LENGTH]
        media = self._choose_video(medias)
        base = described.get("Content-Base") or described.get("Content-Location")
        if re.match(rf"({re.escape(self.address.host)}|[\w.-]+:\d+)(/|$)", base):
            base = f"{self.address.scheme}://{base}"  # some cameras omit it
        with suppress(ValueError):  # an unmatched bracket
            self._base = base if "://" in base else urljoin(self.address.url, base)
        # A relative control of the session is for PLAY alone (RFC 2326, C.1.1).
        track_base = control_url(self._base, control) if "://" in control else self._base
        self._base = _without_login(control_url(self._base, control))
        return media, _without_login(control_url(track_base, media.control))

    def _choose_video(self, medias: list[Media]) -> Media:
        """Return the first playable video; RtspError names the reason if there is none."""
        videos = [media for media in medias if media.kind == "video"]
        if not videos:
            only = f", only {self.stages.detail}" if medias else ""
            raise RtspError("no_video", f"The stream has no video{only}.")
        media = min(videos, key=lambda video: (video.encrypted, not video.codec))
        name = self.credentials.printable(media.encoding) or "of an unknown kind"
        verdict, advice = "codec_unsupported", ""
        if media.encrypted:
            name, advice = f"encrypted (SRTP, {name})", _NO_SRTP
        elif media.codec:
            return media
        elif media.encoding in ("MP2T", "MP2P"):
            advice = _NO_CONTAINER
        elif not media.encoding and media.payload_type >= DYNAMIC:
            verdict, name = "sdp_invalid", f"of the undefined payload type {media.payload_type}"
        raise RtspError(verdict, f"The video is {name}, which is not supported.", advice=advice)

    def _set_up(self, media: Media, track: str) -> None:
        """Agree on the first transport that the camera accepts; else raise its first refusal."""
        refusals = []
        for transport in self._transports:
            self.transport = transport
            try:
                self._offer(media, track)
                return
            except RtspError as refusal:
                # Cameras refuse TCP by many statuses; if UDP is refused, too, the cause is another.
                if refusal.verdict not in ("transport_refused", "setup_play_failed"):
                    raise
                refusals.append(refusal)
            self.stages.outcome, self.stages.detail = SKIPPED, "no TCP; next: UDP"
        raise refusals[0]

    def _offer(self, media: Media, track: str) -> None:
        """Agree on the transport; RtspError if the camera refuses it."""
        offer = f"{media.profile}/TCP;unicast;interleaved=0-1"
        if self.transport == "udp":
            port = self._connection.open_ports()
            offer = f"{media.profile};unicast;client_port={port}-{port + 1}"
        response = self._request("SETUP", track, Transport=offer)
        self._session = response.get("Session").partition(";")[0].strip()
        timeout = response.number("Session", r";\s*timeout\s*=\s*(\d{1,6})", _SESSION_SECONDS)
        self._session_seconds = timeout or _SESSION_SECONDS
        accepted = response.get("Transport").lower()
        if re.search(r";\s*multicast", accepted):
            reason = "The camera offers this stream by multicast only."
            raise RtspError("transport_refused", reason, advice=_NO_MULTICAST)
        if self.transport == "udp":
            self._connection.punch(response.number("Transport", r"server_port=(\d{1,5})"))
        elif accepted and not re.search("interleaved|/tcp", accepted):
            raise RtspError("transport_refused", "The camera offers RTP over UDP only.")
        else:
            pattern = r"interleaved\s*=\s*(\d{1,3})(?!\d)"
            self._channel = response.number("Transport", pattern)

    # Requests and responses

    def _request(self, method: str, url: str, **headers: str) -> Response:
        """Return the response 200, or any to OPTIONS, after logging in if required."""
        stage = method
        while True:
            self.stages.begin(stage)
            try:
                response = self._send(method, url, **headers)
            except RtspError as closed:
                if not (closed.unread and self._status == 401):
                    raise
                # Some cameras close after their 401: then the request was never read.
                self._status = 0  # reopen once only
                self._connection.open()
                continue
            self._status = response.status
            reason = self.credentials.printable(response.reason)
            self.stages.status_line = f"RTSP/1.0 {response.status} {reason}".strip()
            # Some cameras require a login even for OPTIONS; it is sent with DESCRIBE.
            if response.status == 200 or method == "OPTIONS":
                self.credentials.note_success()
                return response
            if 300 <= response.status < 400:
                raise self._redirected(response)
            error = status_error(method, response.status, reason)
            if stage == "authentication":
                error.advice = f"{CHECK_LOGIN} {error.advice}"
            if response.status != 401 or error.verdict == "auth_locked":
                raise error
            self.credentials.handle_challenge(response.all(_CHALLENGE))
            stage = "authentication"

    def _send(self, method: str, url: str, **headers: str) -> Response:
        """Send a request, and return its response; earlier packets are processed."""
        self._write(method, url, **headers)
        # "100 Continue" announces the response. CSeq is not checked: some cameras count in their
        # own way, or not at all.
        while not (response := self._receive_next(datagrams=False)) or response.status < 200:
            pass
        return response

    def _write(self, method: str, url: str, **headers: str) -> None:
        self._sequence += 1
        headers = {"CSeq": str(self._sequence), "User-Agent": "confkit", **headers}
        headers |= {"Session": self._session} if self._session else {}
        headers |= self.credentials.sign(method, url)
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._connection.send(f"{method} {url} RTSP/1.0\r\n{head}\r\n")

    def _keep_alive(self) -> None:
        if time.monotonic() >= self._next_keep_alive:
            self._next_keep_alive = time.monotonic() + self._session_seconds / 2
            self._write(self._keep_alive_method, self._base)

    def _receive_next(self, *, datagrams: bool = True) -> Response | None:
        """Process the next message, and return it if it is a response; some cameras send packets
        before PLAY."""
        message = self._connection.message(datagrams=datagrams)
        if isinstance(message, Response):
            playing = self._next_keep_alive < float("inf")
            if message.status == 401 and playing and self.credentials.accepted:
                with suppress(RtspError):  # the keep-alive needs a new nonce
                    self.credentials.handle_challenge(message.all(_CHALLENGE))
                    self._next_keep_alive = 0.0
            return message
        channel, packet = message
        if self.video and channel == self._channel:
            self.video.add_packet(packet, numbered=channel is None)
        return None

    def _redirected(self, response: Response) -> RtspError:
        """Return the error that names the target of a redirect; nothing is sent there."""
        try:
            url = parse_address(urljoin(self.address.url, response.get("Location"))).url
            if url == self.address.url:
                raise ValueError
        except ValueError:
            return RtspError("redirected", "The camera redirects, but not to an RTSP address.")
        masked = redact(str(SecretAddress(url)), self.credentials.secrets)[:_MAX_LENGTH]
        reason = f"The camera redirects to {masked}."
        return RtspError("redirected", reason, advice="Try that address, with its own login.")


def _without_login(url: str) -> str:
    """Return a camera's URL without its login, ready to be sent."""
    return sendable(re.sub(r"^(\w+://)[^/?]*@", r"\1", url.strip()))
