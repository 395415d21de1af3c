"""The inquiry of a doctor: what it knows so far of one client, and what time is left."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checklist import Check, Verdict
from ..errors import ApiError, TransportError, TransportTimeout
from ..secret import mask
from .inquiry import Inquiry
from .logins import Login, Logins
from .network import Way, way

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client
    from ..dialect import Dialect
    from ..endpoints import Interface
    from ..secret import Secret
    from ..wire import Request

NO_ROOM = "999999999999999"  # a number that no room should have


class Said(NamedTuple):
    """A check's verdict, what was found, and the next step."""

    verdict: Verdict
    found: str
    advice: str = ""


class Case(Inquiry):
    """One client's check-up while it goes on, by a copy whose session notes the headers of answers:
    the caller's own client, its token, its dialect and its session are left as they are."""

    def __init__(
        self,
        client: Client,
        room_id: str | None,
        max_failed_logins: int,
        seconds: float,
        clock: Callable[[], float],
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        super().__init__(copy(client))
        self.room_id, self.seconds, self.now, self.new_id = room_id, seconds, now, new_id
        self.created = tuple(client.created)
        self.room_ids: list[str] = []  # in which B lists devices
        self.token: Secret | None = None
        self.skews: list[float] = []
        self.answered = False  # as one of the interfaces does
        self.timed_out = False  # in the present step
        self.settled = False  # the present step found the right setting: the next go on with it
        self.read: str | None = None  # the room that was read
        self.mcu: str | None = None  # the address of its media server
        self.changed: dict[str, str] = {}  # settings of the dialect that were wrong
        self._clock, self._end = clock, clock() + seconds
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
        self.headers = response.headers

    @property
    def left(self) -> float:
        """Seconds that are left for all that follows."""
        return self._end - self._clock()

    def waits(self, most: float = float("inf")) -> float:
        """Seconds for one wait: those to connect, no more than `most` and than are left."""
        return max(min(most, self.patience[0], self.left), 0.01)

    @property
    def some_room(self) -> str:
        """The room to ask A3 for, to see what it makes of a token."""
        return self.room_id or NO_ROOM

    def url(self, interface: Interface) -> str:
        """The address of an interface."""
        return self.client.base_url if interface == "A" else self.client.outgoing_url

    def way(self, interface: Interface) -> Way:
        """Where the session connects to for an interface."""
        return way(self.client.session, self.url(interface))

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
        before = self.now()
        asked = super().ask(request, token, dialect=dialect, anyway=anyway)
        self.timed_out |= isinstance(asked.error, TransportTimeout)
        if asked.members is not None or isinstance(asked.error, ApiError):
            self.answered = True
            self._skew((before + self.now()) / 2)
        return asked

    def _skew(self, here: float) -> None:
        try:
            there = parsedate_to_datetime(self.headers["Date"]).timestamp()
        except (LookupError, ValueError, TypeError, OverflowError):
            return
        self.skews.append(there + 0.5 - here)  # the header has whole seconds

    def elsewhere(self, request: Request) -> Attempt:
        """What comes for a request at the other interface's address."""
        addresses = self.client._addresses
        self.client._addresses = {"A": addresses["B"], "B": addresses["A"]}
        try:
            return self.ask(request)
        finally:
            self.client._addresses = addresses

    def check(self, name: str, said: Said) -> Check:
        """A check whose texts hold no secret of this service and nothing that steers a screen."""
        return Check(name, said.verdict, *(mask(text, *self.secrets) for text in said[1:]))

    def origin(self, setting: str) -> str:
        """Where a setting came from, in brackets; empty where that is not known."""
        found = self.client.origins.get(setting)
        return f" ({found})" if found else ""

    def wrong(self, found: str, **changed: str) -> Said:
        """The failure for settings of the dialect that are wrong: what to set in the client's, with
        what turned out wrong before. The checks that follow go on with what was found."""
        self.changed |= changed
        settings = {**self.client.dialect.changes(), **self.changed}
        self.dialect = self.client.dialect = replace(self.client.dialect, **changed)
        self.settled = True
        arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        environment = f"CONFKIT_DIALECT={_line(settings)}, or set " if self._environment() else ""
        return fails(
            f"{found} (dialect {_line(changed)})",
            f"Set {environment}it in the profile (confkit profile add NAME --dialect "
            f"{_line(settings)}), or connect with dialect=ck.Dialect({arguments}). The checks that "
            "follow go on with it; confkit probe finds out the rest of the dialect.",
        )

    def _environment(self) -> bool:
        """Whether settings came from the environment, and its dialect would count too."""
        origins = self.client.origins
        names = ("base_url", "outgoing_url", "access_key", "secret_key", "dialect")
        came = [origins.get(name, "").startswith("CONFKIT_") for name in names]
        return any(came) and origins.get("dialect") != "argument"


def told(came: Attempt | Login) -> str:
    """What came, in one sentence without the next step."""
    error = came.error
    if error is None:
        return "it answers"
    if isinstance(error, ApiError):
        return f"it answers {error.ret}: {error.meaning}"
    return (isinstance(error, TransportError) and error.cause) or error.said


def passes(found: str, advice: str = "") -> Said:
    """All is well; the advice may still name something to look at."""
    return Said("PASS", found, advice)


def fails(found: str, advice: str = "") -> Said:
    """Something is wrong: what, and the next step."""
    return Said("FAIL", found, advice)


def unknown(found: str, advice: str = "") -> Said:
    """It cannot be told: why, and how to find out."""
    return Said("UNKNOWN", found, advice)


def skips(found: str, advice: str = "") -> Said:
    """It was not tried, and why."""
    return Said("SKIP", found, advice)


def says(came: Attempt | Login, before: str = "") -> tuple[str, str]:
    """What came instead of what was asked for, and its own next step."""
    return before + told(came), came.error.advice if came.error else ""


def _line(settings: dict[str, Any] | dict[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())
