"""One conversation with a camera: OPTIONS, DESCRIBE, SETUP, PLAY, its packets, TEARDOWN."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Container
from contextlib import asynccontextmanager, nullcontext, suppress

from ..secret import SecretAddress, redact
from .address import Address, parse_address, sendable
from .auth import Credentials, Login
from .connection import Connection, dial, look_up, talk
from .message import Frame, Header, Response, number_in
from .reception import Reception
from .refusal import PLAIN, PullRefused, malformed_refusal, shown, status_refusal
from .report import SKIPPED
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

Late = Callable[[str], PullRefused]  # what it means that a stage does not end "within 20 s"


class Conversation:
    """One attempt at one camera, as far as it has come; `steps` knows the stage under way.

    `play` leads to the first packet, `next_keyframe` to a picture, both within `timeout` seconds
    of the beginning; `close` says TEARDOWN. What stands in the way is raised as PullRefused.

    `reception` holds what has come (None before the description is read), `transport` is "tcp" or
    "udp", and `switched` says that the camera refused the first.
    """

    reception: Reception | None = None
    switched = False
    heard = 0.0  # when the last packet came, by the loop's clock
    _status = 0  # of the last answer
    _session = _track = ""
    _session_seconds = _SESSION_SECONDS
    _keep_alive_method = "OPTIONS"
    _channel: int | None = None  # of the packets, once a session is set up
    _ports: PortPair | None = None
    _timer: asyncio.TimerHandle | None = None
    _given: bytes | None = None  # the last keyframe that was handed on

    def __init__(
        self,
        address: Address,
        login: Login | None,
        timeout: float,
        *,
        transport: str = "auto",
        verify: bool | str = True,
        steps: Steps | None = None,
    ) -> None:
        """Prepare a conversation; `transport` and `verify` are as in `preflight`."""
        self._loop = asyncio.get_running_loop()
        self.address = address
        self._credentials = Credentials(login)
        self._within = f"within {timeout:g} s"
        self._deadline = self._loop.time() + timeout
        self._verify = verify
        self._wire = Connection()
        self._wire.closed.set_result("It is not open yet.")
        self._base = address.url
        self._news = asyncio.Event()
        self.steps = steps or Steps("address")
        self.transport = "udp" if transport == "udp" else "tcp"
        self._may_switch = transport == "auto"

    async def play(self) -> Reception:
        """Return what has come as soon as that is a packet; it grows from then on."""
        await self._connect()
        described = await self._describe()
        self.steps.begin("SDP")
        self.reception = reception = self._choose_media(described)
        await self._set_up()
        await self._ask("PLAY", self._base, ("Range", "npt=0.000-"))
        verdict = "udp_blocked" if self.transport == "udp" else "no_media"
        late = _late(verdict, "The camera accepted PLAY but sent no picture")
        async with self._stage("first packet", late):
            await self._until(lambda: reception.packets > 0, "right after PLAY")
        # A keep-alive is due from the first packet on, however long the picture takes.
        self._timer = self._loop.call_later(self._session_seconds / 2, self._keep_alive)
        return reception

    async def next_keyframe(self, reception: Reception) -> bytes:
        """Return the next whole keyframe of what comes, or the first if it has come already."""

        def there() -> bool:
            fresh = reception.keyframe is not self._given
            if not fresh and (refusal := reception.refusal()):
                raise refusal
            return fresh

        async with self._stage("keyframe", reception.without_keyframe):
            await self._until(there, "after its first packets")
        self._given = reception.keyframe
        return self._given or b""

    async def close(self) -> None:
        """Say TEARDOWN, wait a moment for the camera's answer, and close."""
        if self._timer:
            self._timer.cancel()
        if self._ports:
            self._ports.close()
        if self.closed.done():
            return
        with suppress(TimeoutError):
            try:
                async with asyncio.timeout(_TEARDOWN_SECONDS):
                    await self._say_goodbye()
                    self._wire.release()
                    await asyncio.wait({self.closed})
            finally:
                self._wire.release()

    async def _say_goodbye(self) -> None:
        for _ in range(0 if self._channel is None else 2):
            response = await self._send("TEARDOWN", self._base)
            if response is None or response.status != 401 or not self._credentials.accepted:
                break
            with suppress(PullRefused):  # it wants a new nonce
                self._credentials.meet(response)

    @property
    def authentication(self) -> str | None:
        """How the login was sent, "none" where none was wanted, None before that is known."""
        return self._credentials.name or ("none" if self.reception else None)

    @property
    def closed(self) -> asyncio.Future[str]:
        """The reason, once the connection is gone."""
        return self._wire.closed

    # Stages, requests and answers

    @asynccontextmanager
    async def _stage(self, name: str, late: Late) -> AsyncIterator[None]:
        """Begin a stage, which ends by the deadline."""
        self.steps.begin(name)
        try:
            async with asyncio.timeout_at(self._deadline):
                yield
        except TimeoutError:
            raise self._unfinished() or late(self._within) from None

    async def _until(self, there: Callable[[], bool], moment: str) -> None:
        """Wait for packets until what is waited for is there."""
        while not there():
            if self.closed.done():
                reason = f"The camera closed the connection {moment}."
                raise self._unfinished() or PullRefused("dropped", reason)
            self._news.clear()
            await self._news.wait()

    async def _connect(self) -> None:
        """Open a connection in place of the one before."""
        host, encrypted = self.address.host, self.address.scheme == "rtsps"
        async with self._stage("name", _late("dns_failed", "The host name was not found")):
            targets = await look_up(host, self.address.port)
        self.steps.detail = ", ".join(dict.fromkeys(str(target[0]) for _, target in targets))
        late = _late("connect_timeout", "The camera's host did not answer")
        async with self._stage("TCP", late):
            opened = await dial(targets)
        late = _late("tls_failed", "The port did not answer the encrypted greeting", PLAIN)
        try:
            async with self._stage("TLS", late) if encrypted else nullcontext():
                name = host if encrypted else ""
                self._wire = await talk(opened, self._new_wire, name, self._verify)
        except BaseException:
            opened.close()
            raise

    def _new_wire(self) -> Connection:
        wire = Connection(self._take_frame)
        wire.closed.add_done_callback(lambda _: self._news.set())
        return wire

    async def _ask(
        self, method: str, url: str, *headers: Header, allow: Container[int] = ()
    ) -> Response:
        """Return the answer, 200 or one of `allow`, after logging in when asked to."""
        response = await self._exchange(method, method, url, *headers)
        while response.status == 401:
            self._credentials.meet(response)
            response = await self._exchange("authentication", method, url, *headers)
        if response.status in _REDIRECTIONS:
            raise self._redirected(response)
        if response.status != 200 and response.status not in allow:
            raise status_refusal(method, response, *self._credentials.secrets)
        self._credentials.met()
        return response

    async def _exchange(self, stage: str, method: str, url: str, *headers: Header) -> Response:
        """Return the answer, whatever it is."""
        text = "the login" if stage == "authentication" else method
        async with self._stage(stage, _late("rtsp_silent", f"The camera did not answer {text}")):
            response = await self._send(method, url, *headers)
        lost = response is None and self._wire.unread and not self._wire.malformed
        if lost and self._status == 401:
            # Some cameras close after their 401: what we sent then never reached them.
            self._status = 200  # it is opened once again, not twice
            await self._connect()
            return await self._exchange(stage, method, url, *headers)
        if response is None:
            reason = f"The camera closed the connection instead of answering {method}."
            verdict = "dropped" if method == "PLAY" else "rtsp_silent"
            closed = PullRefused(verdict, reason, closed=not self._wire.heard)
            raise self._unfinished() or closed
        words = shown(response.reason, *self._credentials.secrets)
        self.steps.status_line = f"RTSP/1.0 {response.status} {words}".strip()
        self._status = response.status
        return response

    async def _send(self, method: str, url: str, *headers: Header) -> Response | None:
        return await self._wire.exchange(method, url, *headers, *self._signed(method, url))

    def _signed(self, method: str, url: str) -> list[Header]:
        session = [("Session", self._session)] if self._session else []
        return session + self._credentials.sign(method, url)

    def _keep_alive(self) -> None:
        """Say that somebody still watches, at half the time-out of the session."""
        if not self.closed.done():
            method, url = self._keep_alive_method, self._base
            self._wire.send(method, url, *self._signed(method, url))
            self._timer = self._loop.call_later(self._session_seconds / 2, self._keep_alive)

    # What is said before PLAY

    async def _describe(self) -> Response:
        """Return the answer to DESCRIBE."""
        # Some cameras want a login even here; DESCRIBE is where it is asked for.
        options = await self._exchange("OPTIONS", "OPTIONS", self.address.url)
        if "GET_PARAMETER" in options.get("Public").upper():
            self._keep_alive_method = "GET_PARAMETER"
        accept = ("Accept", "application/sdp")
        return await self._ask("DESCRIBE", self.address.url, accept)

    def _redirected(self, response: Response) -> PullRefused:
        """Return the refusal that names where the camera redirects; nothing is sent there."""
        try:
            address = parse_address(response.get("Location"))
        except ValueError:
            return PullRefused("redirected", "The camera redirects, but to no RTSP address.")
        target = redact(str(SecretAddress(address.url)), self._credentials.secrets)
        reason = f"The camera redirects to {target[:_SHOWN]}."
        return PullRefused("redirected", reason, advice="Try that address, with its own login.")

    def _choose_media(self, described: Response) -> Reception:
        try:
            description = parse_sdp(described.body)
        except ValueError as error:
            raise PullRefused("sdp_invalid", str(error)) from None
        videos = [media for media in description.media if media.kind == "video"]
        if not videos:
            raise PullRefused("no_video")
        media = next((video for video in videos if video.codec), videos[0])
        if not media.codec:
            name = shown(media.encoding, *self._credentials.secrets) or "of an unknown kind"
            raise PullRefused("codec_unsupported", f"The video is {name}, which is not supported.")
        base = described.get("Content-Base") or described.get("Content-Location")
        self._base = _without_login(control_url(base or self.address.url, description.control))
        self._track = _without_login(control_url(self._base, media.control))
        self.steps.detail = ", ".join(shown(one.encoding or one.kind) for one in description.media)
        return Reception(media)

    async def _set_up(self) -> None:
        """Agree on how the packets travel: by UDP where TCP is refused (461)."""
        wanted = "RTP/AVP/TCP;unicast;interleaved=0-1"
        camera = self._wire.host("peername")
        if self.transport == "udp":

            def received(data: bytes, host: str) -> None:
                if host == camera:
                    self._take(data)

            try:
                self._ports = await open_ports(self._wire.host("sockname"), received)
            except OSError:
                reason = "No UDP port is free for the camera."
                raise PullRefused("transport_refused", reason) from None
            port = self._ports.port
            wanted = f"RTP/AVP;unicast;client_port={port}-{port + 1}"
        allow = (461,) if self._may_switch and not self.switched else ()
        setup = await self._ask("SETUP", self._track, ("Transport", wanted), allow=allow)
        if setup.status == 461:
            self.switched, self.transport = True, "udp"
            self.steps.outcome, self.steps.detail = SKIPPED, "no TCP; next: UDP"
            return await self._set_up()
        accepted = setup.get("Transport")
        self._channel = number_in(r"interleaved=(\d{1,3})(?!\d)", accepted)
        session, _, parameters = setup.get("Session").partition(";")
        self._session = session.strip()
        seconds = number_in(r"timeout\s*=\s*(\d{1,6})", parameters, _SESSION_SECONDS)
        self._session_seconds = max(1, seconds)
        port = number_in(r"server_port=(\d{1,5})", accepted)
        if self._ports and 0 < port < 65536:
            self._ports.send(_PUNCH, (camera, port))
        return None

    # What comes after it

    def _take_frame(self, frame: Frame) -> None:
        if frame.channel == self._channel:  # some begin before they are asked to
            self._take(frame.payload)

    def _take(self, data: bytes) -> None:
        if self.reception and self.reception.take(data):
            self.heard = self._loop.time()
            self._news.set()

    def _unfinished(self) -> PullRefused | None:
        """Return what an answer that came in part means; None when nothing of one came."""
        wire = self._wire
        waiting, malformed, rest = wire.parser.waiting, wire.malformed, wire.parser.rest
        cut = isinstance(waiting, Response) and waiting.status == 200 and self._status
        if waiting and cut and not self.reception:
            size = shown(waiting.get("Content-Length"))
            text = "is too long to be one" if malformed else "did not come whole"
            return PullRefused("sdp_invalid", f"The description of {size} bytes {text}.")
        if malformed and self._status:
            reason = f"What the camera sent is not RTSP: {malformed}"
            return PullRefused("server_error", reason)
        if malformed:
            return malformed_refusal(malformed.received)
        if rest and not rest.startswith((b"RTSP/"[: len(rest)], b"$")):
            return malformed_refusal(rest)
        return None


def _late(verdict: str, told: str, advice: str = "") -> Late:
    """Return what makes the refusal of a stage that does not end in time."""
    return lambda within: PullRefused(verdict, f"{told} {within}.", advice=advice, timed_out=True)


def _without_login(url: str) -> str:
    """Return a camera's URL as it may travel: whatever login it holds stays behind."""
    return sendable(re.sub(r"^(\w+://)[^/?]*@", r"\1", url.strip()))
