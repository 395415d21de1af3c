"""Requests and answers on one connection, with the login that the camera asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from .address import Address
from .auth import Challenge, Login, authorization, choose_challenge, parse_challenges
from .connecting import connect
from .message import Frame, Response
from .refusal import PullRefused, malformed_refusal, shown, status_refusal
from .steps import Steps
from .wire import Wire

_SUCCESS = range(200, 201)


class Dialogue:
    """Asks one camera; every request tells `steps` its stage.

    `authentication` says how the login was sent, `foreign` that the address is another camera's,
    which gets no login.
    """

    def __init__(
        self,
        login: Login | None,
        frame_received: Callable[[Frame], None],
        verify: bool | str,
        steps: Steps,
        found: Callable[[tuple[str, ...]], None],
    ) -> None:
        """Prepare; `verify` is as in requests, for rtsps. `found` is told to which addresses a
        connection is about to go, and may refuse them."""
        self._found = found
        self._login = login
        self._password = login.password if login else ""
        self._frame_received = frame_received
        self._verify = verify
        self._challenge: Challenge | None = None
        self._count = 0
        self._method = ""
        self._shown_login = ""
        self._accepted = False
        self._renewed = False
        self._challenged_last: bool | None = None  # None before the first answer
        self._address: Address
        self._wire: Wire | None = None
        self.steps = steps
        self.session = ""
        self.foreign = False
        self.authentication: str | None = None

    @property
    def wire(self) -> Wire:
        """The connection; there is one after `connect`."""
        if self._wire is None:
            raise RuntimeError("There is no connection yet.")
        return self._wire

    @property
    def connected(self) -> bool:
        """Whether there is a connection that is open."""
        return self._wire is not None and not self._wire.closed.done()

    async def connect(self, address: Address) -> None:
        """Open a connection in place of the one before; another camera than before gets no login.

        Raises PullRefused.
        """
        if self._wire:
            if self._address.server != address.server:
                self.foreign = True
                self._login, self._challenge, self.authentication = None, None, None
            self._wire.release()
            await asyncio.wait({self._wire.closed})
            self._wire = None
        self._address = address
        self._wire = await connect(
            address, lambda: Wire(self._frame_received), self.steps, self._verify, self._found
        )

    async def ask(
        self, method: str, url: str, *headers: tuple[str, str], allow: range = _SUCCESS
    ) -> Response:
        """Return the answer, after logging in when asked to.

        Raises PullRefused for one that is neither 200 nor in `allow`.
        """
        response = await self.exchange(method, url, *headers)
        while response.status == 401:
            self._meet(response)
            response = await self.exchange(method, url, *headers, stage="authentication")
        if response.status not in _SUCCESS and response.status not in allow:
            raise status_refusal(method, response, *self.secrets())
        self._accepted = self._accepted or self._challenge is not None
        self._renewed = False
        return response

    async def exchange(
        self, method: str, url: str, *headers: tuple[str, str], stage: str = ""
    ) -> Response:
        """Return the answer, whatever it is; raises PullRefused when none comes."""
        self._method = method
        self.steps.begin(stage or method)
        response = await self.wire.exchange(method, url, *headers, *self._signed(method, url))
        if response is None and self._challenged_last and not self.wire.malformed:
            # Some cameras close after their 401: what we sent then never reached them.
            await self.connect(self._address)
            self.steps.begin(stage or method)
            response = await self.wire.exchange(method, url, *headers, *self._signed(method, url))
        if response is None:
            raise self._closed(method)
        words = shown(response.reason, *self.secrets())
        self.steps.status_line = f"RTSP/1.0 {response.status} {words}".strip()
        self._challenged_last = response.status == 401
        return response

    def send(self, method: str, url: str) -> None:
        """Send a request whose answer nobody awaits."""
        self.wire.send(method, url, *self._signed(method, url))

    async def farewell(self, url: str) -> None:
        """Return when TEARDOWN is answered, or the connection is gone."""
        response = await self.wire.exchange("TEARDOWN", url, *self._signed("TEARDOWN", url))
        if response and response.status == 401 and self._accepted:  # it wants a new nonce
            with suppress(PullRefused):
                self._meet(response)
                await self.wire.exchange("TEARDOWN", url, *self._signed("TEARDOWN", url))

    def unfinished(self) -> PullRefused | None:
        """Return what an answer that came in part means; None when nothing of one came."""
        wire = self._wire
        if wire is None:
            return None
        if wire.waiting and wire.waiting.status == 200 and self._method == "DESCRIBE":
            size = shown(wire.waiting.get("Content-Length"))
            told = "is too long to be one" if wire.malformed else "did not come whole"
            return PullRefused("sdp_invalid", f"The description of {size} bytes {told}.")
        if wire.malformed and self._challenged_last is not None:
            return PullRefused(
                "server_error", f"What the camera sent is not RTSP: {wire.malformed}"
            )
        if wire.malformed:
            return malformed_refusal(wire.malformed.received)
        if wire.rest and not wire.rest.startswith((b"RTSP/"[: len(wire.rest)], b"$")):
            return malformed_refusal(wire.rest)
        return None

    def _closed(self, method: str) -> PullRefused:
        """Return what it means that the connection closed instead of an answer."""
        if unfinished := self.unfinished():
            return unfinished
        if method == "PLAY":
            return PullRefused("dropped", "The camera closed the connection instead of playing.")
        reason = f"The camera closed the connection instead of answering {method}."
        return PullRefused("rtsp_silent", reason, closed=not self.wire.heard)

    def _meet(self, response: Response) -> None:
        """Take up the challenge of a 401; raises PullRefused when there is nothing to answer it."""
        challenge = choose_challenge(parse_challenges(response.all("WWW-Authenticate")))
        refusal = status_refusal("DESCRIBE", response, *self.secrets())
        if refusal.verdict == "auth_locked":
            raise refusal
        if self.foreign:
            raise PullRefused(
                "redirected", "It wants a login, and another camera gets none from here.",
                advice="Try the address that it redirects to, with its own login.",
            )  # fmt: skip
        if self._login is None:
            raise PullRefused("auth_required", "The camera asks for a login and none was given.")
        if challenge is None:
            raise PullRefused("auth_unsupported", "The camera offers no known way to log in.")
        if self._challenge is not None:
            # A second wrong login can lock the address out; an outdated nonce is no wrong login,
            # and neither is a new one that a camera wants after it has accepted the login.
            if self._renewed or not (challenge.stale or self._accepted):
                self._challenge = None  # TEARDOWN would try the login once more
                raise PullRefused("auth_rejected", "The camera does not accept this login.")
            self._renewed = True
        self._challenge, self._count = challenge, 0
        self.authentication = challenge.name

    def _signed(self, method: str, url: str) -> list[tuple[str, str]]:
        headers = [("Session", self.session)] if self.session else []
        if self._challenge and self._login:
            self._count += 1
            answer = authorization(self._challenge, self._login, method, url, count=self._count)
            self._shown_login = answer.partition(" ")[2]
            headers.append(("Authorization", answer))
        return headers

    def secrets(self) -> tuple[str, ...]:
        """Return what a camera may know of the login, and repeat in its reasons."""
        return tuple(filter(None, (self._password, self._shown_login)))
