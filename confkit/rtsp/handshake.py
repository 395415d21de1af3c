"""From an address to a playing stream: OPTIONS, DESCRIBE, SETUP, PLAY."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress

from ..secret import mask, mask_address
from . import places
from .address import Address, parse_address, sendable
from .auth import Login
from .dialogue import Dialogue
from .message import Frame, Response
from .refusal import PullRefused, no_tls, shown
from .report import SKIPPED
from .rtp import ENCODINGS
from .sdp import Description, Media, control_url, parse_sdp
from .steps import Steps
from .udp import PortPair, open_ports

SESSION_SECONDS = 60.0
TRANSPORTS = ("auto", "tcp", "udp")
_SHOWN = 200  # letters of an address that a camera redirects to
# An empty RTP packet: it opens the way back through a firewall on our side.
_PUNCH = b"\x80\x00\x00\x00" + bytes(8)


class Handshake:
    """One attempt at one camera; `steps` tells the stage that is under way.

    `media` and `codec` are known before the first packet, `seconds` is the session's time-out,
    `redirected` the address that the camera redirected to (masked), `switched` tells that it
    refused TCP. `addresses` are those of the host that was asked for, `named` the hosts that the
    camera's description names.
    """

    media: Media
    codec: str

    def __init__(
        self,
        address: Address,
        login: Login | None,
        received: Callable[[bytes], None],
        *,
        transport: str = "auto",
        verify: bool | str = True,
        steps: Steps | None = None,
    ) -> None:
        """Prepare an attempt; `received` takes the RTP packets, over TCP and UDP alike."""
        self._address = self._asked = address
        self._received = received
        self._offer = transport
        self._channel = 0
        self._set_up = False
        self._base = address.url
        self._keep_alive = "OPTIONS"
        self._ports: PortPair | None = None
        self.steps = steps or Steps("address")
        self._camera = Dialogue(login, self._take_frame, verify, self.steps, self._found)
        self.transport = "udp" if transport == "udp" else "tcp"
        self.seconds = SESSION_SECONDS
        self.redirected: str | None = None
        self.switched = False
        self.addresses: tuple[str, ...] = ()
        self.named: tuple[str, ...] = ()

    async def run(self) -> None:
        """Return once PLAY is accepted; raises PullRefused."""
        described = await self._describe()
        if 300 <= described.status < 400:
            described = await self._follow(described)
        self.steps.begin("SDP")
        self._choose_media(described)
        await self._set_up_track(_without_login(control_url(self._base, self.media.control)))
        await self._camera.ask("PLAY", self._base, ("Range", "npt=0.000-"))
        self.steps.begin("first packet")

    @property
    def closed(self) -> asyncio.Future[str]:
        """The reason, once the connection is gone."""
        return self._camera.wire.closed

    @property
    def authentication(self) -> str | None:
        """How the login was sent, "none" where none was wanted, None before that is known."""
        return self._camera.authentication or ("none" if hasattr(self, "media") else None)

    def keep_alive(self) -> None:
        """Tell the camera that somebody still watches."""
        self._camera.send(self._keep_alive, self._base)

    async def teardown(self) -> None:
        """End the session, wait for the answer, and close."""
        if self._camera.connected:
            if self._set_up:
                self._set_up = False
                await self._camera.farewell(self._base)
            self.release()
            await asyncio.wait({self.closed})
        self.release()

    def release(self) -> None:
        """End the session and close, without waiting for anything."""
        if self._ports:
            self._ports.close()
        if self._camera.connected:
            if self._set_up:
                self._camera.send("TEARDOWN", self._base)
            self._camera.wire.release()
        self._set_up = False

    def silence(self, within: str) -> PullRefused:
        """Return what it means that the stage under way did not end `within` some seconds."""
        stage = self.steps.name
        if stage == "name":
            return PullRefused("dns_failed", f"The host name was not found {within}.")
        if stage == "TCP":
            reason = f"The camera's host did not answer {within}."
            return PullRefused("connect_timeout", reason, timed_out=True)
        if stage == "TLS":
            reason = f"The port did not answer the encrypted greeting {within}."
            return no_tls(reason, timed_out=True)
        asked = "the login" if stage == "authentication" else stage
        reason = f"The camera did not answer {asked} {within}."
        return self._camera.unfinished() or PullRefused("rtsp_silent", reason, timed_out=True)

    def interrupted(self) -> PullRefused | None:
        """Return what else than a closing ended the connection."""
        return self._camera.unfinished()

    def there(self, refusal: PullRefused) -> PullRefused:
        """Return the refusal, or what it means where the camera has redirected."""
        if self.redirected is None:
            return refusal
        told = mask(refusal.reason, *self._camera.secrets())
        reason = f"The camera redirects to {self.redirected}; there: {told}"
        return PullRefused("redirected", reason, advice=refusal.advice, timed_out=refusal.timed_out)

    def _found(self, addresses: tuple[str, ...]) -> None:
        """Look at where a connection is about to go, and refuse where a redirection may not lead.

        Raises PullRefused.
        """
        if self.redirected is None:
            self.addresses = addresses
            return
        asked = (self._asked.host, *self.addresses)
        place = places.guarded((self._address.host, *addresses), asked)
        if place:
            advice = "Look who may change the camera's settings, or import it by another address."
            reason = f"nothing was sent, for that is {places.named(place)}."
            raise PullRefused("redirected", reason, advice=advice)

    async def _describe(self) -> Response:
        """Return the answer to DESCRIBE: 200, or a redirection."""
        await self._camera.connect(self._address)
        # Some cameras want a login even here; DESCRIBE is where it is asked for.
        options = await self._camera.exchange("OPTIONS", self._address.url)
        if "GET_PARAMETER" in options.get("Public").upper():
            self._keep_alive = "GET_PARAMETER"
        accept = ("Accept", "application/sdp")
        return await self._camera.ask("DESCRIBE", self._address.url, accept, allow=range(300, 400))

    async def _follow(self, redirection: Response) -> Response:
        """Return the description at the address to which the camera redirects."""
        try:
            self._address = parse_address(redirection.get("Location"))
        except ValueError:
            reason = "The camera redirects, but to no RTSP address."
            raise PullRefused("redirected", reason) from None
        self.redirected = mask(mask_address(self._address.url), *self._camera.secrets())[:_SHOWN]
        self.steps.detail = f"redirected to {self.redirected}"
        self._found(())  # a name of such a place is not even looked up
        described = await self._describe()
        if described.status != 200:
            advice = "Restart the camera, or take the stream's address from its web page."
            raise PullRefused("redirected", "It redirects a second time.", advice=advice)
        return described

    def _choose_media(self, described: Response) -> None:
        try:
            description: Description = parse_sdp(described.body)
        except ValueError as error:
            raise PullRefused("sdp_invalid", str(error)) from None
        videos = [media for media in description.media if media.kind == "video"]
        if not videos:
            raise PullRefused("no_video", "The camera offers no video.")
        codecs = {known: name for name, known in ENCODINGS.items()}
        media = next((video for video in videos if video.encoding in codecs), None)
        if media is None:
            name = shown(videos[0].encoding, *self._camera.secrets()) or "of an unknown kind"
            raise PullRefused("codec_unsupported", f"The video is {name}, which is not supported.")
        base = described.get("Content-Base") or described.get("Content-Location")
        self.media, self.codec = media, codecs[media.encoding]
        self._base = _without_login(control_url(base or self._address.url, description.control))
        self.named = _hosts(self._base, control_url(self._base, media.control))
        self.steps.detail = ", ".join(
            shown(media.encoding or media.kind) for media in description.media
        )

    async def _set_up_track(self, track: str) -> None:
        setup = None
        if self._offer != "udp":
            tcp = ("Transport", "RTP/AVP/TCP;unicast;interleaved=0-1")
            allow = range(461, 462) if self._offer == "auto" else range(0)
            setup = await self._camera.ask("SETUP", track, tcp, allow=allow)
        if setup is None or setup.status == 461:
            self.switched = setup is not None
            if self.switched:
                self.steps.outcome, self.steps.detail = SKIPPED, "no TCP; next: UDP"
            setup, self.transport = await self._ask_udp(track), "udp"
        self._set_up = True
        accepted = setup.get("Transport")
        channels = re.search(r"interleaved=(\d{1,3})(?!\d)", accepted)
        self._channel = int(channels[1]) if channels else 0
        session, _, parameters = setup.get("Session").partition(";")
        self._camera.session = session.strip()
        if seconds := re.search(r"timeout\s*=\s*(\d{1,6})", parameters):
            self.seconds = max(1.0, float(seconds[1]))
        port = re.search(r"server_port=(\d{1,5})", accepted)
        if self._ports and port and 0 < int(port[1]) < 65536:
            self._ports.send(_PUNCH, (self._camera.wire.host("peername"), int(port[1])))

    async def _ask_udp(self, track: str) -> Response:
        camera = self._camera.wire.host("peername")

        def received(data: bytes, host: str) -> None:
            if host == camera:
                self._received(data)

        try:
            self._ports = await open_ports(self._camera.wire.host("sockname"), received)
        except OSError:
            raise PullRefused("transport_refused", "No UDP port is free for the camera.") from None
        port = self._ports.port
        return await self._camera.ask(
            "SETUP", track, ("Transport", f"RTP/AVP;unicast;client_port={port}-{port + 1}")
        )

    def _take_frame(self, frame: Frame) -> None:
        if self._set_up and frame.channel == self._channel:  # some begin before they are asked to
            self._received(frame.payload)


def _hosts(*urls: str) -> tuple[str, ...]:
    """Return the hosts of a camera's URLs; one that is no address names none."""
    found = []
    for url in urls:
        with suppress(ValueError):
            found.append(parse_address(_without_login(url)).host)
    return tuple(found)


def _without_login(url: str) -> str:
    """Return a camera's URL as it may travel: whatever login it holds stays behind."""
    return sendable(re.sub(r"^(\w+://)[^/?]*@", r"\1", url.strip()))
