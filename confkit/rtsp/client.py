"""A camera's client: OPTIONS, DESCRIBE, SETUP, PLAY, its packets, TEARDOWN; it blocks."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urljoin

from ..secret import SecretAddress, redact
from .address import Address, parse_address, sendable, target
from .auth import Credentials, Login
from .connection import Connection, ConnectionClosed, Deadline
from .errors import RtspError, not_rtsp, status_error
from .message import (
    ENCODING,
    Header,
    MalformedMessage,
    Response,
    WireError,
    number_in,
)
from .report import SKIPPED, Stages
from .rtp import Video
from .sdp import Media, control_url, parse_sdp

TRANSPORTS = ("auto", "tcp", "udp")
_SESSION_SECONDS = 60
_TEARDOWN_SECONDS = 0.5
_SHOWN = 200  # characters of what a camera says of itself
# A SETUP for TCP is refused by these as well as by 461; when UDP is refused, too, it was something
# else.
_TCP_REFUSED = (400, 406, 415, 459, 461, 500, 501, 551)
_NO_SRTP = "Take the camera's plain address (without ?enableSrtp), or switch SRTP off in it."
_NO_CONTAINER = "Choose a stream of plain H.264, H.265 or MJPEG over RTP in the camera or server."
_CONTAINERS = {"MP2T": "MPEG transport stream", "MP2P": "MPEG program stream"}
# What it means that a stage does not end in time, and the moment when a camera closes in it; other
# stages are named for the request whose answer is awaited.
_TOO_LATE = {
    "name": ("dns_failed", "The host name was not found"),
    "TCP": ("connect_timeout", "The camera's host did not answer"),
    "TLS": ("tls_failed", "The port did not answer the encrypted greeting"),
    "authentication": ("rtsp_silent", "The camera did not answer the login"),
    "first packet": ("no_media", "The camera accepted PLAY but sent no picture"),
    "stream": ("no_media", "The camera sent no picture"),
}
_CLOSED = {
    "authentication": " instead of answering the login",
    "first packet": " right after PLAY",
    "keyframe": " after its first packets",
    "stream": "",
}


class RtspClient:
    """One attempt at one camera; `stages` knows how far it has come.

    `play` leads to the first packet and `next_keyframe` to a picture, both within `timeout` seconds
    of the beginning; `receive` goes on from there; `close` says TEARDOWN and must be called. What
    stands in the way is raised as RtspError, and CancelledError once `cancelled` is set.

    `video` holds what has come (None before the description is read); `transport` is "tcp" or
    "udp", and `switched` says that the camera refused the first.
    """

    def __init__(
        self,
        address: Address,
        login: Login | None,
        timeout: float,
        *,
        transport: str = "auto",
        verify: bool | str = True,
        cancelled: threading.Event | None = None,
        stages: Stages | None = None,
    ) -> None:
        """Prepare; `transport` and `verify` are as in `preflight`."""
        self.address = address
        self.stages = stages or Stages("address")
        self.switched = False
        self.video: Video | None = None
        self.transport = "udp" if transport == "udp" else "tcp"
        self._may_switch = transport == "auto"
        self._credentials = Credentials(login)
        self._within = f"within {timeout:g} s"
        self._deadline = Deadline(timeout, cancelled)
        self._connection = Connection(
            address, self._deadline, self.stages, verify=verify, on_wait=self._keep_alive
        )
        self._sequence = 0
        self._status = 0  # of the last response
        self._base = address.url
        self._session: str | None = None
        self._channel: int | None = None  # of the packets; datagrams have none
        self._keep_alive_method = "OPTIONS"
        self._session_seconds = _SESSION_SECONDS
        self._next_keep_alive = float("inf")

    @classmethod
    def of(
        cls,
        url: str,
        login_name: str | None = None,
        login_password: str | None = None,
        *,
        timeout: float,
        cancelled: threading.Event | None = None,
    ) -> RtspClient:
        """Return the client of a camera; the login may stand in the URL instead. RtspError."""
        return cls(*target(url, login_name, login_password), timeout, cancelled=cancelled)

    @property
    def authentication(self) -> str | None:
        """How the login was sent, "none" where none was wanted, None before that is known."""
        return self._credentials.name or ("none" if self.video else None)

    @property
    def login_refused(self) -> bool:
        """Whether the login was sent and the camera has not accepted it, in whatever words."""
        return self._credentials.name is not None and not self._credentials.accepted

    @property
    def codec(self) -> str:
        """The codec that the camera announced: "h264", "h265" or "mjpeg"."""
        return self.video.codec if self.video else ""

    @property
    def packets(self) -> int:
        """How many RTP packets have come."""
        return self.video.packets if self.video else 0

    @property
    def keyframe(self) -> bytes | None:
        """The newest whole keyframe: Annex B with parameter sets, or JPEG."""
        return self.video.keyframe if self.video else None

    def play(self) -> Video:
        """Return what has come as soon as that is a packet; it grows with `receive`."""
        with self._verdicts():
            self._deadline.left()  # it may be cancelled already
            self._connection.open()
            media, track = self._describe()
            self.video = Video(media)
            self._set_up(media, track)
            self._request("PLAY", self._base, ("Range", "npt=0.000-"))
            # A keep-alive is due from now on, however long the picture takes.
            self._next_keep_alive = time.monotonic() + self._session_seconds / 2
            self.stages.begin("first packet")
            while not self.video.packets:
                self._take_next()
        return self.video

    def next_keyframe(self, shown: bytes | None) -> bytes:
        """Return the next whole keyframe after the one `shown`; at first, one that has come."""
        self.stages.begin("keyframe")
        with self._verdicts():
            while not (keyframe := self.keyframe) or keyframe is shown:
                self._take_next()
        return keyframe

    def receive(self, silence: float) -> None:
        """Return once one more packet has come; RtspError when none does for `silence` seconds."""
        packets = self.packets
        self._deadline.restart(silence)
        self._within = f"for {silence:g} s"
        if self.stages.name != "stream":
            self.stages.begin("stream")
        with self._verdicts():
            while self.packets == packets:
                self._take_next()

    def close(self) -> None:
        """Say TEARDOWN, wait a moment for the camera's answer, and close."""
        self._deadline.cancelled = None
        self._deadline.restart(_TEARDOWN_SECONDS)
        self._next_keep_alive = float("inf")
        try:
            with suppress(WireError, RtspError):
                if self._session is not None:
                    response = self._send("TEARDOWN", self._base)
                    if response.status == 401 and self._credentials.accepted:
                        self._credentials.take_challenge(response)  # it wants a new nonce
                        self._send("TEARDOWN", self._base)
        finally:
            self._connection.close()
            self._session = None

    # Up to PLAY

    def _describe(self) -> tuple[Media, str]:
        """Return the video that the camera describes, and the URL to set it up."""
        # Some cameras want a login even here; DESCRIBE is where it is asked for.
        options = self._request("OPTIONS", self.address.url, allow=range(1000))
        if "GET_PARAMETER" in options.get("Public").upper():
            self._keep_alive_method = "GET_PARAMETER"
        accept = ("Accept", "application/sdp")
        described = self._request("DESCRIBE", self.address.url, accept)
        self.stages.begin("SDP")
        try:
            medias, control = parse_sdp(described.body)
        except ValueError as error:
            raise RtspError("sdp_invalid", str(error)) from None
        names = [self._credentials.printable(media.encoding or media.kind) for media in medias]
        self.stages.detail = ", ".join(names)[:_SHOWN]
        media = self._choose_video(medias)
        base = described.get("Content-Base") or described.get("Content-Location")
        self._base = _without_login(control_url(_whole_url(base, self.address), control))
        return media, _without_login(control_url(self._base, media.control))

    def _choose_video(self, medias: list[Media]) -> Media:
        """Return the video to play, the first that can be; RtspError names what is instead."""
        videos = [media for media in medias if media.kind == "video"]
        if not videos:
            only = f", only {self.stages.detail}" if medias else ""
            raise RtspError("no_video", f"The stream holds no video{only}.")
        media = min(videos, key=lambda video: (video.encrypted, not video.codec))
        name = self._credentials.printable(media.encoding) or "of an unknown kind"
        if media.encrypted:
            reason = f"The stream is encrypted (SRTP, {name}), which is not supported."
            raise RtspError("codec_unsupported", reason, advice=_NO_SRTP)
        if media.encoding in _CONTAINERS:
            container = f"{name}: {_CONTAINERS[media.encoding]}"
            reason = f"The stream is a container ({container}), whose video is not supported."
            raise RtspError("codec_unsupported", reason, advice=_NO_CONTAINER)
        if not media.codec:
            raise RtspError("codec_unsupported", f"The video is {name}, which is not supported.")
        return media

    def _set_up(self, media: Media, track: str) -> None:
        """Agree on how the packets travel: by UDP where the camera offers nothing else."""
        refusal = self._set_up_by(self.transport, media, track)
        if refusal and self._may_switch:
            self.stages.outcome, self.stages.detail = SKIPPED, "no TCP; next: UDP"
            self.switched, self.transport = True, "udp"
            refusal = self._set_up_by("udp", media, track) and refusal
        elif refusal:
            other = "udp" if self.transport == "tcp" else "tcp"
            way = f"transport='{other}', --transport {other}"
            refusal.advice = f"Play it over {other.upper()} ({way})."
        if refusal:
            raise refusal

    def _set_up_by(self, transport: str, media: Media, track: str) -> RtspError | None:
        """Return why the camera refuses a transport; None where it accepts it."""
        offer = f"{media.profile}/TCP;unicast;interleaved=0-1"
        if transport == "udp":
            port = self._connection.open_ports()
            offer = f"{media.profile};unicast;client_port={port}-{port + 1}"
        allowed = _TCP_REFUSED if self._may_switch else (461,)
        response = self._request("SETUP", track, ("Transport", offer), allow=allowed)
        accepted = response.get("Transport")
        by_udp = accepted and not re.search("interleaved|/TCP", accepted)
        if response.status == 200:
            session, _, parameters = response.get("Session").partition(";")
            self._session = session.strip()
            seconds = number_in(r"timeout\s*=\s*(\d{1,6})", parameters, _SESSION_SECONDS)
            self._session_seconds = max(1, seconds)
        if response.status != 200:
            reason = self._credentials.printable(response.reason)
            return status_error("SETUP", response.status, reason)
        if transport == "tcp" and by_udp:
            return RtspError("transport_refused", "The camera offers RTP over UDP only.")
        if transport == "udp":
            self._connection.punch(number_in(r"server_port=(\d{1,5})", accepted))
        else:
            self._channel = number_in(r"interleaved\s*=\s*(\d{1,3})(?!\d)", accepted)
        return None

    # Requests and responses

    def _request(
        self, method: str, url: str, *headers: Header, allow: Container[int] = ()
    ) -> Response:
        """Return the response, 200 or one of `allow`, after logging in when asked to."""
        stage = method
        while True:
            self.stages.begin(stage)
            try:
                response = self._send(method, url, *headers)
            except ConnectionClosed as closed:
                if not (closed.unread and self._status == 401):
                    raise
                # Some cameras close after their 401: what was sent then never reached them.
                self._status = 0  # it is opened once again, not twice
                self._connection.open()
                continue
            self._status = response.status
            reason = self._credentials.printable(response.reason)
            self.stages.status_line = f"RTSP/1.0 {response.status} {reason}".strip()
            if response.status == 200 or response.status in allow:
                self._credentials.note_success()
                return response
            if 300 <= response.status < 400:
                raise self._redirected(response)
            error = status_error(method, response.status, reason)
            if response.status != 401 or error.verdict == "auth_locked":
                raise error
            self._credentials.take_challenge(response)
            stage = "authentication"

    def _send(self, method: str, url: str, *headers: Header) -> Response:
        """Send a request, and return its response; packets that come before are taken."""
        self._write(method, url, *headers)
        # "100 Continue" announces the response. CSeq is not looked at: some cameras count in their
        # own way, or not at all.
        while not (response := self._take_next(datagrams=False)) or response.status < 200:
            pass
        return response

    def _write(self, method: str, url: str, *headers: Header) -> None:
        self._sequence += 1
        lines = [("CSeq", str(self._sequence)), ("User-Agent", "confkit"), *headers]
        lines += [("Session", self._session)] if self._session else []
        lines += self._credentials.sign(method, url)
        head = "".join(f"{name}: {value}\r\n" for name, value in lines)
        self._connection.send(f"{method} {url} RTSP/1.0\r\n{head}\r\n".encode(**ENCODING))

    def _keep_alive(self) -> None:
        """Keep the session alive at half its time-out."""
        if time.monotonic() >= self._next_keep_alive:
            self._next_keep_alive = time.monotonic() + self._session_seconds / 2
            self._write(self._keep_alive_method, self._base)

    def _take_next(self, *, datagrams: bool = True) -> Response | None:
        """Return what comes next if it is a response; some send packets before they are asked."""
        message = self._connection.message(datagrams=datagrams)
        if isinstance(message, Response):
            playing = self._next_keep_alive < float("inf")
            if message.status == 401 and playing and self._credentials.accepted:
                with suppress(RtspError):  # a keep-alive needs a new nonce
                    self._credentials.take_challenge(message)
                    self._next_keep_alive = 0.0
            return message
        channel, packet = message
        if self.video and channel == self._channel:
            self.video.take(packet, numbered=channel is None)
        return None

    # What stands in the way

    @contextmanager
    def _verdicts(self) -> Iterator[None]:
        """Raise what ends the conversation as the RtspError that it means in this stage."""
        try:
            yield
        except WireError as error:
            raise self._explain(error) from None

    def _explain(self, error: WireError) -> RtspError:
        """Return what it means in the current stage that the conversation cannot go on."""
        stage, reader = self.stages.name, self._connection.reader
        malformed, begun = isinstance(error, MalformedMessage), bytes(reader.buffer[:64])
        if reader.size and reader.answered and not self.video:
            text = "is too long to be one" if malformed else "did not come whole"
            size = self._credentials.printable(reader.size)
            return RtspError("sdp_invalid", f"The description of {size} bytes {text}.")
        if malformed and reader.answered:
            return RtspError("server_error", f"What the camera sent is not RTSP: {error}")
        foreign = begun and not begun.startswith((b"RTSP/"[: len(begun)], b"$"))
        if malformed or (foreign and not reader.answered):
            return not_rtsp(begun)
        if isinstance(error, ConnectionClosed):
            dropped = stage in ("PLAY", "first packet", "keyframe", "stream")
            moment = _CLOSED.get(stage, f" instead of answering {stage}")
            reason = f"The camera closed the connection{moment}."
            return RtspError("dropped" if dropped else "rtsp_silent", reason)
        if stage == "keyframe" and self.video:
            return self.video.no_keyframe(self._within)
        silent = ("rtsp_silent", f"The camera did not answer {stage}")
        verdict, text = _TOO_LATE.get(stage, silent)
        if stage == "first packet" and self.transport == "udp":
            verdict = "udp_blocked"
        return RtspError(verdict, f"{text} {self._within}.", timed_out=True)

    def _redirected(self, response: Response) -> RtspError:
        """Return the error that names where the camera redirects; nothing is sent there."""
        try:
            url = parse_address(response.get("Location")).url
        except ValueError:
            return RtspError("redirected", "The camera redirects, but to no RTSP address.")
        shown = redact(str(SecretAddress(url)), self._credentials.secrets)[:_SHOWN]
        reason = f"The camera redirects to {shown}."
        return RtspError("redirected", reason, advice="Try that address, with its own login.")


def _whole_url(base: str, address: Address) -> str:
    """Return a camera's base as a whole URL: some leave out its scheme, or its host as well."""
    if not base or re.match("rtsps?://", base, re.IGNORECASE):
        return base or address.url
    if re.match(rf"({re.escape(address.host)}|[\w.-]+:\d+)(/|$)", base):
        return f"{address.scheme}://{base}"
    try:
        return urljoin(address.url, base)
    except ValueError:  # a bracket without its other half
        return address.url


def _without_login(url: str) -> str:
    """Return a camera's URL as it may travel: whatever login it holds stays behind."""
    return sendable(re.sub(r"^(\w+://)[^/?]*@", r"\1", url.strip()))
