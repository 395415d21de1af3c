"""One client's check-up while it goes on: what is known so far, what time is left, and how a check
says what it found (the texts stand in `doctor_says.toml`)."""

from __future__ import annotations

import time
import tomllib
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checklist import Check, Verdict
from ..endpoints import A3, B3, identity
from ..errors import ApiError, ConfigError, TransportError, TransportTimeout
from ..secret import mask
from ..transport import finite
from ..wire import Request
from .login_signatures import Login, Logins
from .questions import Inquiry

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client
    from ..dialect import Dialect
    from ..endpoints import Interface
    from ..secret import Secret

SECONDS = 60.0  # for all checks together
NO_ROOM = "999999999999999"  # a number that no room should have
SETTINGS: dict[Interface, str] = {"A": "base_url", "B": "outgoing_url"}
SAYS = tomllib.loads(Path(__file__).with_name("doctor_says.toml").read_text("utf-8"))


class Said(NamedTuple):
    """A check's verdict, what was found, and the next step."""

    verdict: Verdict
    found: str
    advice: str = ""


def say(row: str, **values: object) -> Said:
    """What `doctor_says.toml` has in this row (`table.name`), with these values in it."""
    table, _, name = row.partition(".")
    texts = SAYS[table][name]
    found, advice = (texts.get(part, "").format(**values) for part in ("found", "advice"))
    return Said(texts["verdict"], found, advice)


def answered(verdict: Verdict, came: Attempt | Login, before: str = "") -> Said:
    """What came instead of what was asked for, and its own next step."""
    error = came.error
    if error is None:
        return Said(verdict, f"{before}it answers")
    told = (isinstance(error, TransportError) and error.cause) or error.said
    if isinstance(error, ApiError):
        told = f"it answers {error.ret}: {error.meaning}"
    return Said(verdict, before + told, error.advice)


class Seen(NamedTuple):
    """What a connection showed under an answer: its `headers`, the version of TLS and the
    certificate as far as that was looked at, and the address that answered."""

    headers: Mapping[str, str] = {}
    tls: str = ""
    certificate: Mapping[str, Any] = {}
    address: str = ""


class Case(Inquiry):
    """The inquiry of a doctor, by a copy whose session notes what is `seen` under an answer: the
    caller's own client, its token, its dialect and its session are left as they are."""

    def __init__(
        self,
        client: Client,
        room_id: str | None = None,
        *,
        max_failed_logins: int = 2,
        timeout: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        if room_id is not None:
            room_id = identity(A3, "room_id", room_id)
        if not finite(timeout):
            raise ConfigError(f"timeout is {timeout!r}", "Give seconds for all checks, above 0")
        super().__init__(copy(client))
        self.room_id, self.seconds, self.now, self.new_id = room_id, timeout, now, new_id
        self.known_rooms = [(one, "which this client made") for one in client.created[-1:]]
        self.token: Secret | None = None
        self.seen = Seen()
        self.skews: list[float] = []
        self.answered = False  # as one of the interfaces does
        self.timed_out = False  # in the present step
        self.settled = False  # the present step found the right setting: the next go on with it
        self.read: str | None = None  # the room that was read
        self.mcu: str | None = None  # the address of its media server
        self.changed: dict[str, str] = {}  # settings of the dialect that were wrong
        self._first: dict[Interface, tuple[Attempt, Seen]] = {}
        self._clock, self._end = clock, clock() + timeout
        self.patience = client.timeout
        self.logins = Logins(self.ask, max_failed_logins)
        self.held = client.token() if client.authenticated else None
        self.secrets = [client.secret_key, client.secret_key.strip(), self.held or ""]
        session = copy(client.session)  # its adapters and their connections stay shared
        session.cookies = session.cookies.copy()
        session.hooks = {name: list(found) for name, found in session.hooks.items()}
        session.hooks.setdefault("response", []).append(self._note)
        self.client.session = session

    def _note(self, response: Any, *_: object, **__: object) -> None:
        self.seen = Seen(response.headers)
        sock: Any = getattr(getattr(response.raw, "connection", None), "sock", None)
        with suppress(AttributeError, OSError, ValueError):  # gone, or of an adapter of one's own
            self.seen = self.seen._replace(address=str(sock.getpeername()[0]))
            certificate = sock.getpeercert() or {}  # not of a plain socket
            self.seen = self.seen._replace(tls=sock.version(), certificate=certificate)

    @property
    def left(self) -> float:
        """Seconds that are left for all that follows."""
        return self._end - self._clock()

    @property
    def skew(self) -> float:
        """Seconds that the service's clock is ahead, by its quickest answer; 0 if unknown."""
        return min(self.skews, key=abs, default=0.0)

    def url(self, interface: Interface) -> str:
        """The address of an interface."""
        return self.client.base_url if interface == "A" else self.client.outgoing_url

    def ask(
        self,
        request: Request,
        token: Secret | None = None,
        *,
        dialect: Dialect | None = None,
        anyway: bool = False,
    ) -> Attempt:
        """Send one request once, in what time is left; note the clock of the service."""
        half = max(self.left / 2, 0.01)  # to connect, and to read
        self.client.timeout = min(self.patience[0], half), min(self.patience[1], half)
        before, self.seen = self.now(), Seen()
        asked = super().ask(request, token, dialect=dialect, anyway=anyway)
        self.timed_out |= isinstance(asked.error, TransportTimeout)
        if asked.call.ret is not None:
            self.answered = True
            self._skew((before + self.now()) / 2)
        return asked

    def _skew(self, here: float) -> None:
        try:
            there = parsedate_to_datetime(self.seen.headers["Date"]).timestamp()
        except (LookupError, ValueError, TypeError, OverflowError):
            return
        self.skews.append(there + 0.5 - here)  # the header has whole seconds

    def first(self, interface: Interface) -> tuple[Attempt, Seen]:
        """What comes for a read without a token, which spends no login: asked once."""
        if interface not in self._first:
            room = Request(A3, {"room_id": self.room_id or NO_ROOM})
            asked = self.ask(room if interface == "A" else Request(B3, {}))
            self._first[interface] = asked, self.seen
        return self._first[interface]

    def ask_at(self, url: str, request: Request) -> Attempt:
        """What comes for a request without a token at another address."""
        addresses, timed_out = self.client._addresses, self.timed_out
        self.client._addresses = {**addresses, request.endpoint.interface: url}
        try:
            return self.ask(request)
        finally:
            self.client._addresses, self.timed_out = addresses, timed_out

    def check(self, name: str, said: Said) -> Check:
        """A check whose texts hold no secret of this service and nothing that steers a screen."""
        return Check(name, said.verdict, *(mask(text, *self.secrets) for text in said[1:]))

    def origins(self, *settings: str) -> str:
        """Where these settings came from, in brackets; empty where that is not known."""
        origins = dict.fromkeys(self.client.origins.get(setting, "") for setting in settings)
        known = ", ".join(filter(None, origins))
        return f" ({known})" if known else ""

    def wrong(self, what: str, **changed: str) -> Said:
        """The failure for settings of the dialect that are wrong: what to set in the client's, with
        what turned out wrong before. The checks that follow go on with what was found."""
        self.changed |= changed
        settings = {**self.client.dialect.changes(), **self.changed}
        self.dialect = self.client.dialect = replace(self.client.dialect, **changed)
        self.settled = True
        line, now_set = (
            ",".join(f"{name}={value}" for name, value in each.items())
            for each in (settings, changed)
        )
        arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return say("dialect.wrong", what=what, changed=now_set, line=line, arguments=arguments)
