"""One conversation with a camera: OPTIONS, DESCRIBE, SETUP, PLAY, its packets, TEARDOWN."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Container
from contextlib import asynccontextmanager, suppress
from typing import Any

from ..secret import mask, mask_address
from . import places
from .address import Address, parse_address, sendable
from .auth import Credentials, Login
from .connection import Connection, dial, look_up, talk
from .message import Frame, Response
from .reception import Reception
from .refusal import PLAIN, PullRefused, malformed_refusal, shown, status_refusal, too_slow
from .report import SKIPPED
from .rtp import ENCODINGS
from .sdp import control_url, parse_sdp
from .steps import Steps
from .udp import PortPair, open_ports

TRANSPORTS = ("auto", "tcp", "udp")
_SESSION_SECONDS = 60.0
_TEARDOWN_SECONDS = 0.5
_SHOWN = 200  # letters of an address that a camera redirects to
# An empty RTP packet: it opens the way back through a firewall on our side.
_PUNCH = b"\x80\x00\x00\x00" + bytes(8)
_REDIRECTIONS = range(300, 400)
_NO_NAME = too_slow("dns_failed", "The host name was not found", timed_out=False)
_NO_HOST = too_slow("connect_timeout", "The camera's host did not answer")
_NO_GREETING = too_slow(
    "tls_failed", "The port did not answer the encrypted greeting", advice=PLAIN
)
_ACCEPTED = "The camera accepted PLAY but sent no picture"
_NO_MEDIA, _BLOCKED = too_slow("no_media", _ACCEPTED), too_slow("udp_blocked", _ACCEPTED)


class Conversation:
    """One attempt at one camera, as far as it has come; `steps` knows the stage under way.

    `play` leads to the first packet, `next_keyframe` to a picture, both within `timeout` seconds
    of the beginning; `close` says TEARDOWN. What stands in the way is raised as PullRefused, to be
    reported as `there`. `address` is the one that was asked for.

    `reception` holds what has come (None before the description is read), `transport` is "tcp" or
    "udp", and `switched` says that the camera refused the first. `redirected` is the address
    to which it redirected (masked), `hosts` are the addresses of the host that was asked for,
    `described` the hosts that the camera's description names.
    """

    reception: Reception | None = None
    redirected: str | None = None
    switched = False
    hosts: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    heard = 0.0  # when the last packet came, by the loop's clock

    def __init__(
        self,
        address: Address,
        login: Login | None,
        timeout: float,
        *,
        transport: str = "auto",
        verify: bool | str = True,
        steps: Steps | None = None,
        observed: bool = False,
    ) -> None:
        """Prepare a conversation; `transport` and `verify` are as in `preflight`.

        The times of pictures are kept where the stream is to be `observed`.
        """
        self._loop = asyncio.get_running_loop()
        self.address = self._address = address
        self._credentials = Credentials(login)
        self._within = f"within {timeout:g} s"
        self._deadline = self._loop.time() + timeout
        self._offer = transport
        self._verify = verify
        self._observed = observed
        self._connection: Connection | None = None
        self._status = 0  # of the last answer
        self._session = ""
        self._session_seconds = _SESSION_SECONDS
        self._set_up = False
        self._base = address.url
        self._track = ""
        self._channel = 0
        self._ports: PortPair | None = None
        self._keep_alive_method = "OPTIONS"
        self._timer: asyncio.TimerHandle | None = None
        self._first: asyncio.Future[None] = self._loop.create_future()
        self._keyframe: asyncio.Future[bytes] = self._loop.create_future()
        self.steps = steps or Steps("address")
        self.transport = "udp" if transport == "udp" else "tcp"

    async def play(self) -> Reception:
        """Return what has come as soon as that is a packet; it grows from then on."""
        async with self._in_time():
            await self._connect()
            described = await self._describe()
            if described.status in _REDIRECTIONS:
                described = await self._follow(described)
            self.steps.begin("SDP")
            self.reception = self._choose_media(described)
            setup = None
            if self._offer != "udp":
                setup = await self._set_up_tcp()
            if setup is None or self.switched:
                setup = await self._set_up_udp()
            self._take_session(setup)
            await self._ask("PLAY", self._base, ("Range", "npt=0.000-"))
            self._begin("first packet", _BLOCKED if self.transport == "udp" else _NO_MEDIA)
            await self._arrival(self._first, "right after PLAY")
        # A keep-alive is due from the first packet on, however long the picture takes.
        self._timer = self._loop.call_later(self._session_seconds / 2, self._keep_alive)
        return self.reception

    async def next_keyframe(self) -> bytes:
        """Return the next whole keyframe, or the first if it has come already."""
        if self.reception is None:
            raise RuntimeError("Nothing plays yet.")
        self._begin("keyframe", self.reception.without_keyframe)
        async with self._in_time():
            await self._arrival(self._keyframe, "after its first packets")
        keyframe = self._keyframe.result()
        self._keyframe = self._loop.create_future()
        return keyframe

    def _begin(self, stage: str, slow: Callable[[str], PullRefused]) -> None:
        """Begin a stage; `slow` says what it means when it does not end in time."""
        self.steps.begin(stage)
        self._slow = slow

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Bound the stages within by the deadline."""
        try:
            async with asyncio.timeout_at(self._deadline):
                yield
        except TimeoutError:
            raise self._unfinished() or self._slow(self._within) from None

    async def close(self) -> None:
        """Say TEARDOWN, wait a moment for the camera's answer, and close."""
        with suppress(TimeoutError):
            try:
                async with asyncio.timeout(_TEARDOWN_SECONDS):
                    await self._teardown()
            finally:
                self.release()

    def release(self) -> None:
        """Say TEARDOWN and close, without waiting for anything."""
        if self._timer:
            self._timer.cancel()
        if self._ports:
            self._ports.close()
        if self._connected:
            if self._set_up:
                self._send("TEARDOWN")
            self._wire.release()
        self._set_up = False

    def there(self, refusal: PullRefused) -> PullRefused:
        """Return the refusal, or what it means where the camera has redirected."""
        if self.redirected is None:
            return refusal
        told = mask(refusal.reason, *self._credentials.secrets)
        reason = f"The camera redirects to {self.redirected}; there: {told}"
        return PullRefused("redirected", reason, advice=refusal.advice, timed_out=refusal.timed_out)

    @property
    def authentication(self) -> str | None:
        """How the login was sent, "none" where none was wanted, None before that is known."""
        return self._credentials.name or ("none" if self.reception else None)

    @property
    def closed(self) -> asyncio.Future[str]:
        """The reason, once the connection is gone."""
        return self._wire.closed

    @property
    def left(self) -> float:
        """The seconds that are left until the deadline."""
        return self._deadline - self._loop.time()

    @property
    def _wire(self) -> Connection:
        if self._connection is None:
            raise RuntimeError("There is no connection yet.")
        return self._connection

    @property
    def _connected(self) -> bool:
        return self._connection is not None and not self._connection.closed.done()

    # Requests and answers

    async def _connect(self) -> None:
        """Open a connection in place of the one before."""
        if self._connection:
            self._connection.release()
            await asyncio.wait({self._connection.closed})
            self._connection = None
        host = self._address.host
        self._begin("name", _NO_NAME)
        targets = await look_up(host, self._address.port)
        hosts = tuple(dict.fromkeys(str(target[0]) for _, target in targets))
        self.steps.detail = ", ".join(hosts)
        self._found(hosts)
        self._begin("TCP", _NO_HOST)
        opened = await dial(targets)
        try:
            encrypted = self._address.scheme == "rtsps"
            if encrypted:
                self._begin("TLS", _NO_GREETING)
            take, host = self._take_frame, host if encrypted else ""
            self._connection = await talk(opened, take, host, self._verify)
        except BaseException:
            opened.close()
            raise

    async def _ask(
        self, method: str, url: str, *headers: tuple[str, str], allow: Container[int] = ()
    ) -> Response:
        """Return the answer, 200 or one of `allow`, after logging in when asked to."""
        response = await self._exchange(method, url, *headers)
        while response.status == 401:
            self._credentials.meet(response)
            response = await self._exchange(method, url, *headers, stage="authentication")
        if response.status != 200 and response.status not in allow:
            raise status_refusal(method, response, *self._credentials.secrets)
        self._credentials.met()
        return response

    async def _exchange(
        self, method: str, url: str, *headers: tuple[str, str], stage: str = ""
    ) -> Response:
        """Return the answer, whatever it is."""
        told = f"The camera did not answer {'the login' if stage else method}"
        self._begin(stage or method, too_slow("rtsp_silent", told))
        response = await self._wire.exchange(method, url, *headers, *self._signed(method, url))
        lost = response is None and self._wire.unread and not self._wire.malformed
        if lost and self._status == 401:
            # Some cameras close after their 401: what we sent then never reached them.
            self._status = 200  # it is opened once again, not twice
            await self._connect()
            return await self._exchange(method, url, *headers, stage=stage)
        if response is None:
            reason = f"The camera closed the connection instead of answering {method}."
            closed = PullRefused("rtsp_silent", reason, closed=not self._wire.heard)
            if method == "PLAY":
                reason = "The camera closed the connection instead of playing."
                closed = PullRefused("dropped", reason)
            raise self._unfinished() or closed
        words = shown(response.reason, *self._credentials.secrets)
        self.steps.status_line = f"RTSP/1.0 {response.status} {words}".strip()
        self._status = response.status
        return response

    def _send(self, method: str) -> None:
        """Send a request whose answer nobody awaits."""
        self._wire.send(method, self._base, *self._signed(method, self._base))

    def _signed(self, method: str, url: str) -> list[tuple[str, str]]:
        session = [("Session", self._session)] if self._session else []
        return session + self._credentials.sign(method, url)

    async def _teardown(self) -> None:
        if not self._connected:
            return
        wire, url = self._wire, self._base
        if self._set_up:
            self._set_up = False
            response = await wire.exchange("TEARDOWN", url, *self._signed("TEARDOWN", url))
            if response and response.status == 401 and self._credentials.accepted:
                with suppress(PullRefused):  # it wants a new nonce
                    self._credentials.meet(response)
                    await wire.exchange("TEARDOWN", url, *self._signed("TEARDOWN", url))
        wire.release()
        await asyncio.wait({wire.closed})

    def _keep_alive(self) -> None:
        """Tell the camera, as often as it wants to hear it, that somebody still watches."""
        if self._connected:
            self._send(self._keep_alive_method)
            self._timer = self._loop.call_later(self._session_seconds / 2, self._keep_alive)

    # What is said before PLAY

    async def _describe(self) -> Response:
        """Return the answer to DESCRIBE: 200, or a redirection."""
        # Some cameras want a login even here; DESCRIBE is where it is asked for.
        options = await self._exchange("OPTIONS", self._address.url)
        if "GET_PARAMETER" in options.get("Public").upper():
            self._keep_alive_method = "GET_PARAMETER"
        accept = ("Accept", "application/sdp")
        return await self._ask("DESCRIBE", self._address.url, accept, allow=_REDIRECTIONS)

    async def _follow(self, redirection: Response) -> Response:
        """Return the description at the address to which the camera redirects."""
        try:
            address = parse_address(redirection.get("Location"))
        except ValueError:
            reason = "The camera redirects, but to no RTSP address."
            raise PullRefused("redirected", reason) from None
        told = mask(mask_address(address.url), *self._credentials.secrets)
        self.redirected = told[:_SHOWN]
        self.steps.detail = f"redirected to {self.redirected}"
        if address.server != self._address.server:
            self._credentials.withhold()
        self._address = address
        self._found(())  # a name of such a place is not even looked up
        await self._connect()
        described = await self._describe()
        if described.status != 200:
            advice = "Restart the camera, or take the stream's address from its web page."
            raise PullRefused("redirected", "It redirects a second time.", advice=advice)
        return described

    def _found(self, hosts: tuple[str, ...]) -> None:
        """Look at where a connection is about to go, and refuse where no redirection may lead."""
        if self.redirected is None:
            self.hosts = hosts
            return
        place = places.guarded((self._address.host, *hosts), (self.address.host, *self.hosts))
        if place:
            advice = "Look who may change the camera's settings, or import it by another address."
            reason = f"nothing was sent, for that is {places.WHAT[place]}."
            raise PullRefused("redirected", reason, advice=advice)

    def _choose_media(self, described: Response) -> Reception:
        try:
            description = parse_sdp(described.body)
        except ValueError as error:
            raise PullRefused("sdp_invalid", str(error)) from None
        videos = [media for media in description.media if media.kind == "video"]
        if not videos:
            raise PullRefused("no_video")
        codecs = {known: name for name, known in ENCODINGS.items()}
        media = next((video for video in videos if video.encoding in codecs), None)
        if media is None:
            name = shown(videos[0].encoding, *self._credentials.secrets) or "of an unknown kind"
            raise PullRefused("codec_unsupported", f"The video is {name}, which is not supported.")
        base = described.get("Content-Base") or described.get("Content-Location")
        self._base = _without_login(control_url(base or self._address.url, description.control))
        self._track = _without_login(control_url(self._base, media.control))
        self.described = _hosts(self._base, self._track)
        self.steps.detail = ", ".join(shown(one.encoding or one.kind) for one in description.media)
        return Reception(codecs[media.encoding], media, observed=self._observed)

    async def _set_up_tcp(self) -> Response:
        """Return the answer to SETUP: 200, or 461 where UDP may be tried."""
        wanted = ("Transport", "RTP/AVP/TCP;unicast;interleaved=0-1")
        allow = (461,) if self._offer == "auto" else ()
        setup = await self._ask("SETUP", self._track, wanted, allow=allow)
        if setup.status == 461:
            self.switched = True
            self.steps.outcome, self.steps.detail = SKIPPED, "no TCP; next: UDP"
        return setup

    async def _set_up_udp(self) -> Response:
        self.transport = "udp"
        camera = self._wire.host("peername")

        def received(data: bytes, host: str) -> None:
            if host == camera:
                self._take(data)

        try:
            self._ports = await open_ports(self._wire.host("sockname"), received)
        except OSError:
            raise PullRefused("transport_refused", "No UDP port is free for the camera.") from None
        port = self._ports.port
        wanted = ("Transport", f"RTP/AVP;unicast;client_port={port}-{port + 1}")
        return await self._ask("SETUP", self._track, wanted)

    def _take_session(self, setup: Response) -> None:
        """Note what the camera says of the session that it has set up."""
        self._set_up = True
        accepted = setup.get("Transport")
        channels = re.search(r"interleaved=(\d{1,3})(?!\d)", accepted)
        self._channel = int(channels[1]) if channels else 0
        session, _, parameters = setup.get("Session").partition(";")
        self._session = session.strip()
        if seconds := re.search(r"timeout\s*=\s*(\d{1,6})", parameters):
            self._session_seconds = max(1.0, float(seconds[1]))
        port = re.search(r"server_port=(\d{1,5})", accepted)
        if self._ports and port and 0 < int(port[1]) < 65536:
            self._ports.send(_PUNCH, (self._wire.host("peername"), int(port[1])))

    # What comes after it

    def _take_frame(self, frame: Frame) -> None:
        if self._set_up and frame.channel == self._channel:  # some begin before they are asked to
            self._take(frame.payload)

    def _take(self, data: bytes) -> None:
        reception = self.reception
        before = reception and reception.keyframe
        if reception is None or not reception.take(data):
            return
        self.heard = self._loop.time()
        if not self._first.done():
            self._first.set_result(None)
        if self._keyframe.done():
            return
        if reception.keyframe is not None and reception.keyframe is not before:
            self._keyframe.set_result(reception.keyframe)
        elif refusal := reception.refusal():
            self._keyframe.set_exception(refusal)
            self._keyframe.exception()  # nobody may ever ask for it

    async def _arrival(self, arrived: asyncio.Future[Any], moment: str) -> None:
        either = {arrived, self.closed}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not arrived.done():
            reason = f"The camera closed the connection {moment}."
            raise self._unfinished() or PullRefused("dropped", reason)
        await arrived

    # What it means that something does not come

    def _unfinished(self) -> PullRefused | None:
        """Return what an answer that came in part means; None when nothing of one came."""
        wire = self._connection
        if wire is None:
            return None
        if wire.waiting and wire.waiting.status == 200 and self._status and not self.reception:
            size = shown(wire.waiting.get("Content-Length"))
            told = "is too long to be one" if wire.malformed else "did not come whole"
            return PullRefused("sdp_invalid", f"The description of {size} bytes {told}.")
        if wire.malformed and self._status:
            reason = f"What the camera sent is not RTSP: {wire.malformed}"
            return PullRefused("server_error", reason)
        if wire.malformed:
            return malformed_refusal(wire.malformed.received)
        if wire.rest and not wire.rest.startswith((b"RTSP/"[: len(wire.rest)], b"$")):
            return malformed_refusal(wire.rest)
        return None


def _hosts(*urls: str) -> tuple[str, ...]:
    """Return the hosts of a camera's URLs; one that is no address names none."""
    found = []
    for url in urls:
        with suppress(ValueError):
            found.append(parse_address(url).host)
    return tuple(found)


def _without_login(url: str) -> str:
    """Return a camera's URL as it may travel: whatever login it holds stays behind."""
    return sendable(re.sub(r"^(\w+://)[^/?]*@", r"\1", url.strip()))
