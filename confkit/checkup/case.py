"""What a check-up knows so far: the client's copy that asks, the time that is left, the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..checklist import Check
from ..errors import ApiError, ConfkitError, TransportError, TransportTimeout
from ..masking import mask
from ..probing.logins import Logins
from ..wire import Answer, Request

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client
    from ..dialect import Dialect
    from ..endpoints import Interface
    from ..masking import Secret

SETTINGS: dict[Interface, Literal["base_url", "outgoing_url"]] = {
    "A": "base_url",
    "B": "outgoing_url",
}


class Heard(NamedTuple):
    """What came for one request: the answer with its headers (None and none where none came), and
    its members or the error that it is."""

    answer: Answer | None
    headers: Mapping[str, str]
    members: dict[str, Any] | None
    error: ConfkitError | None

    @property
    def ret(self) -> int | str | None:
        """The result code; None where nothing came that holds one."""
        if self.members is not None:
            return 0
        return self.error.ret if isinstance(self.error, ApiError) else None

    @property
    def told(self) -> str:
        """What came, in one sentence without the next step."""
        error = self.error
        if error is None:
            return "it answers"
        if isinstance(error, ApiError):
            return f"it answers {error.ret}: {error.meaning}"
        return (isinstance(error, TransportError) and error.cause) or error.said

    @property
    def advice(self) -> str:
        """The next step; empty where all is well."""
        return self.error.advice if self.error else ""


@dataclass
class Case:
    """One client's check-up while it goes on. `ask` sends a request once; nothing is renewed.

    `client` is a copy whose session notes the headers of answers; the caller's own client, its
    token, its dialect and its session are left as they are. `secrets` are hidden in all texts,
    beside those that `mask` knows."""

    client: Client
    room_id: str | None
    max_failed_logins: int
    seconds: float
    clock: Callable[[], float]
    now: Callable[[], float]
    new_id: Callable[[], str]
    created: tuple[str, ...] = ()
    room_ids: list[str] = field(default_factory=list)  # in which B lists devices
    token: Secret | None = None
    skews: list[float] = field(default_factory=list)
    answered: bool = False  # as one of the interfaces does
    hurried: bool = False  # a wait of the present step ended early, as the time was over
    read: str | None = None  # the room that was read
    mcu: str | None = None  # the address of its media server
    secrets: list[str] = field(default_factory=list, repr=False)
    changed: dict[str, str] = field(default_factory=dict)  # settings of the dialect that were wrong
    settled: bool = False  # the present step found the right setting: the next ones go on with it
    _headers: list[Mapping[str, str]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self._short = False
        self._end = self.clock() + self.seconds
        self._patience = self.client.timeout
        self.logins = Logins(self.asked, self.max_failed_logins)
        self.held = self.client.token() if self.client.authenticated else None
        session = copy(self.client.session)  # its adapters and their connections stay shared
        session.cookies = session.cookies.copy()
        hooks = {name: list(found) for name, found in session.hooks.items()}
        hooks["response"] = [*hooks.get("response", ()), self._note]
        session.hooks = hooks
        self.client.session = session
        self.secrets += [self.client.secret_key, self.client.secret_key.strip()]
        if self.held is not None:
            self.secrets.append(self.held)

    def _note(self, response: Any, *_: object, **__: object) -> None:
        self._headers.append(response.headers)

    @property
    def left(self) -> float:
        """Seconds that are left for all that follows."""
        return self._end - self.clock()

    def patience(self, most: float | None = None) -> float:
        """Seconds for one step: those to connect, no more than `most` and than are left."""
        wanted = self._patience[0] if most is None else min(most, self._patience[0])
        self._short = wanted > self.left
        return max(min(wanted, self.left), 0.01)

    def gave_up(self) -> None:
        """Notes that a wait came to its end: where it was shortened, nothing is told by that."""
        self.hurried |= self._short

    def url(self, interface: Interface) -> str:
        """The address of an interface."""
        return self.client.base_url if interface == "A" else self.client.outgoing_url

    def asked(
        self, request: Request, token: Secret | None = None, *, dialect: Dialect | None = None
    ) -> Attempt:
        """What came for one request, which is sent once, in what time is left."""
        half = max(self.left / 2, 0.01)  # to connect, and to read
        self._short = half < max(self._patience)
        self.client.timeout = min(self._patience[0], half), min(self._patience[1], half)
        self._headers.clear()
        before = self.now()
        asked = self.client.ask_once(request, token, dialect=dialect)
        if asked.members is not None or isinstance(asked.error, ApiError):
            self.answered = True
            self._skew((before + self.now()) / 2)
        if isinstance(asked.error, TransportTimeout):
            self.gave_up()
        return asked

    def ask(
        self, request: Request, token: Secret | None = None, dialect: Dialect | None = None
    ) -> Heard:
        """The same, with the headers of the answer."""
        asked = self.asked(request, token, dialect=dialect)
        headers = self._headers[-1] if self._headers else {}
        return Heard(asked.answer, headers, asked.members, asked.error)

    def _skew(self, here: float) -> None:
        try:
            there = parsedate_to_datetime(self._headers[-1]["Date"]).timestamp()
        except (LookupError, ValueError, TypeError, OverflowError):
            return
        self.skews.append(there + 0.5 - here)  # the header has whole seconds

    def elsewhere(self) -> Case:
        """The same with the two addresses swapped."""
        other = copy(self)
        other.client = copy(self.client)
        addresses = self.client._addresses
        other.client._addresses = {"A": addresses["B"], "B": addresses["A"]}
        return other

    def check(self, name: str, verdict: Any, found: str, advice: str = "") -> Check:
        """A check whose texts hold no secret of this service and nothing that steers a screen."""
        shown = [
            "".join(letter if letter.isprintable() else " " for letter in mask(text, *self.secrets))
            for text in (found, advice)
        ]
        return Check(name, verdict, *shown)
