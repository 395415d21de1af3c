"""From a connection to a playing stream: OPTIONS, DESCRIBE, SETUP, PLAY."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Callable

from .address import Address
from .auth import Challenge, Login, authorization, choose_challenge, parse_challenges
from .message import Frame, Response
from .refusal import PullRefused, connection_refusal, malformed_refusal, status_refusal
from .rtp import ENCODINGS
from .sdp import Description, Media, control_url, parse_sdp
from .udp import PortPair, open_ports
from .wire import Wire

SESSION_SECONDS = 60.0


class Handshake:
    """One attempt at one camera; `stage` names the step that is under way.

    `media` and `codec` are known before the first packet, `seconds` is the session's time-out.
    """

    media: Media
    codec: str

    def __init__(
        self, address: Address, login: Login | None, received: Callable[[bytes], None]
    ) -> None:
        """Prepare an attempt; `received` takes the RTP packets, over TCP and UDP alike."""
        self._address = address
        self._login = login
        self._received = received
        self._challenge: Challenge | None = None
        self._count = 0
        self._renewed = False
        self._challenged_last = False
        self._channel = 0
        self._session = ""
        self._base = address.url
        self._keep_alive = "OPTIONS"
        self._wire: Wire | None = None
        self._ports: PortPair | None = None
        self.stage = "connect"
        self.transport = "tcp"
        self.seconds = SESSION_SECONDS

    async def run(self) -> None:
        """Return once PLAY is accepted; raises PullRefused."""
        await self._connect()
        options = await self._exchange("OPTIONS", self._address.url)
        if "GET_PARAMETER" in options.get("Public").upper():
            self._keep_alive = "GET_PARAMETER"
        described = await self._ask("DESCRIBE", self._address.url, ("Accept", "application/sdp"))
        self.media, self.codec, self._base = _choose_media(described, self._address.url)
        track = control_url(self._base, self.media.control)
        tcp = ("Transport", "RTP/AVP/TCP;unicast;interleaved=0-1")
        setup = await self._ask("SETUP", track, tcp, allow=461)
        if setup.status == 461:
            setup, self.transport = await self._setup_udp(track), "udp"
        channels = re.search(r"interleaved=(\d+)", setup.get("Transport"))
        self._channel = int(channels[1]) if channels else 0
        self._session, _, options_text = setup.get("Session").partition(";")
        if seconds := re.search(r"timeout=(\d{1,6})", options_text):
            self.seconds = max(1.0, float(seconds[1]))
        await self._ask("PLAY", self._base, ("Range", "npt=0.000-"))
        self.stage = "media"

    @property
    def closed(self) -> asyncio.Future[str]:
        """The reason, once the connection is gone."""
        return self._connected.closed

    @property
    def _connected(self) -> Wire:
        if self._wire is None:
            raise RuntimeError("There is no connection yet.")
        return self._wire

    def keep_alive(self) -> None:
        """Tell the camera that somebody still watches."""
        if self._wire:
            self._wire.send(
                self._keep_alive, self._base, *self._signed(self._keep_alive, self._base)
            )

    async def teardown(self) -> None:
        """End the session, wait for the answer, and close."""
        if self._wire and self._session and not self._wire.closed.done():
            headers = self._signed("TEARDOWN", self._base)
            self._session = ""
            await self._wire.exchange("TEARDOWN", self._base, *headers)
        self.release()
        await asyncio.wait({self.closed})

    def release(self) -> None:
        """End the session and close, without waiting for anything."""
        if self._ports:
            self._ports.close()
        if self._wire and not self._wire.closed.done():
            if self._session:
                self._wire.send("TEARDOWN", self._base, *self._signed("TEARDOWN", self._base))
            self._wire.release()
        self._session = ""

    async def _connect(self) -> None:
        address, wire = self._address, Wire(self._take_frame)
        context = ssl.create_default_context() if address.scheme == "rtsps" else None
        loop = asyncio.get_running_loop()
        refusal = PullRefused("dns_failed", "The camera's host name has no address.")
        try:
            found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):  # Unicode: a host name that IDNA cannot encode
            raise refusal from None
        # One by one: asyncio's own attempt at all of them hides why each of them failed.
        for *_, target in found:
            try:
                await loop.create_connection(
                    lambda: wire,
                    *target[:2],
                    ssl=context,
                    server_hostname=address.host if context else None,
                )
            except OSError as error:
                refusal = connection_refusal(error, encrypted=context is not None)
            else:
                self._wire = wire
                return
        raise refusal

    async def _ask(
        self, method: str, url: str, *headers: tuple[str, str], allow: int = 200
    ) -> Response:
        """Return the answer, after logging in when asked to; raises PullRefused for any other."""
        response = await self._exchange(method, url, *headers)
        while response.status == 401:
            self._meet(response)
            response = await self._exchange(method, url, *headers)
        if response.status not in (200, allow):
            raise status_refusal(method, response)
        return response

    async def _exchange(self, method: str, url: str, *headers: tuple[str, str]) -> Response:
        self.stage = method
        response = await self._connected.exchange(method, url, *headers, *self._signed(method, url))
        if response is None and self._challenged_last and not self._connected.malformed:
            # Some cameras close after their 401: what we sent then never reached them.
            await self._connect()
            response = await self._connected.exchange(
                method, url, *headers, *self._signed(method, url)
            )
        if malformed := self._connected.malformed:
            raise malformed_refusal(malformed)
        if response is None:
            verdict = "dropped" if method == "PLAY" else "rtsp_silent"
            raise PullRefused(
                verdict, f"The camera closed the connection instead of answering {method}."
            )
        self._challenged_last = response.status == 401
        return response

    def _meet(self, response: Response) -> None:
        """Take up the challenge of a 401; raises PullRefused when there is nothing to answer it."""
        challenge = choose_challenge(parse_challenges(response.all("WWW-Authenticate")))
        if status_refusal("", response).verdict == "auth_locked":
            raise status_refusal(self.stage, response)
        if self._login is None:
            raise PullRefused("auth_required", "The camera asks for a login and none was given.")
        if challenge is None:
            raise PullRefused("auth_unsupported", "The camera offers no known way to log in.")
        if self._challenge is not None:
            # A second wrong login can lock the address out; an outdated nonce is no wrong login.
            if self._renewed or not challenge.stale:
                raise PullRefused("auth_rejected", "The camera does not accept this login.")
            self._renewed = True
        self._challenge, self._count = challenge, 0

    def _signed(self, method: str, url: str) -> list[tuple[str, str]]:
        headers = [("Session", self._session)] if self._session else []
        if self._challenge and self._login:
            self._count += 1
            answer = authorization(self._challenge, self._login, method, url, count=self._count)
            headers.append(("Authorization", answer))
        return headers

    async def _setup_udp(self, track: str) -> Response:
        camera = self._connected.host("peername")

        def received(data: bytes, host: str) -> None:
            if host == camera:
                self._received(data)

        try:
            self._ports = await open_ports(self._connected.host("sockname"), received)
        except OSError:
            raise PullRefused("transport_refused", "No UDP port is free for the camera.") from None
        port = self._ports.port
        return await self._ask(
            "SETUP", track, ("Transport", f"RTP/AVP;unicast;client_port={port}-{port + 1}")
        )

    def _take_frame(self, frame: Frame) -> None:
        if frame.channel == self._channel:
            self._received(frame.payload)


def _choose_media(described: Response, url: str) -> tuple[Media, str, str]:
    """Return the video, its codec and the URL that controls the whole presentation."""
    try:
        description: Description = parse_sdp(described.body)
    except ValueError as error:
        raise PullRefused("sdp_invalid", str(error)) from None
    media = description.first("video")
    if media is None:
        raise PullRefused("no_video", "The camera offers no video.")
    codec = next((name for name, known in ENCODINGS.items() if known == media.encoding), None)
    if codec is None:
        raise PullRefused("codec_unsupported", "The camera's video codec is not supported.")
    base = described.get("Content-Base") or described.get("Content-Location") or url
    return media, codec, control_url(base, description.control)
