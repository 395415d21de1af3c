"""Questions to a service: each is sent once, counted and bounded; and how an operation shows that
it read the token, by the same question without one as control."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..dialect import CHOICES, Dialect
from ..endpoints import B2, Endpoint
from ..errors import ApiError, ReadOnlyError, TransportError
from ..wire import Request, token_parameter

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client
    from ..secret import Secret

NO_CAMERA = "rtsp://192.0.2.1:554/nobody"  # of a network for examples: no device has it
REFUSED = (401, 602)  # specified: authentication failed, access_token incorrect (section 5)
UNKNOWN_ROOM = (404, 612)
NOT_SUPPORTED = 408  # specified for A: HTTP request not supported; of B that is assumed
_METHOD = {"B1": "create_method", "B3": "list_method"}  # settings of the dialect
_UNSERVED = (404, 405, 501)  # HTTP statuses of a path or method that there is not
# Codes of passing faults: as a control they say nothing of the token.
_FAULTS = {302, 303, 304, 310, 409, 427, 503, 504, 700, 805, 806}


class Unasked(Exception):
    """A question that was not sent; the text says why."""


class TokenQuestion(NamedTuple):
    """How one operation is asked whether it reads the token: the `setting` of the dialect that is
    looked for, its `choices`, and the codes that can mean that the token was `read`.

    Any other code may be a passing fault, which would make a wrong setting look like the right one.
    """

    setting: str
    choices: tuple[str, ...]
    read: frozenset[int]


_IN_A = ("access_token", "access_tocken", "token")  # seen in deployments
_METHODS = CHOICES["list_method"]
_MCU = {0, 404, 405, 406, 407, 410, 411, 415, 416, 417, 428, 601, 612}
QUESTIONS = {
    "A3": TokenQuestion("token_parameter", _IN_A, frozenset({0, 404, 407, 415, 416, 601, 612})),
    "A5": TokenQuestion("mcu_token_parameter", _IN_A, frozenset(_MCU)),
    "B1": TokenQuestion("create_method", _METHODS, frozenset({302, 310, 401, 407})),
    "B2": TokenQuestion(
        "remove_token_parameter",
        ("access_token", "accessToken"),
        frozenset({0, 401, 404, 407, 415, 416, 424, 425, 601, 612}),
    ),
    "B3": TokenQuestion("list_method", _METHODS, frozenset({0, 302, 304, 310, 404, 425, 612})),
}


class Found(NamedTuple):
    """The `dialect` in which an operation reads the token, None where none was found; `asked`
    shows it, or is one of the answers; `method` is known also where it alone is served. `first` is
    what came in the dialect that was known."""

    dialect: Dialect | None
    asked: Attempt
    method: str | None
    first: Attempt


class Inquiry:
    """Asks the service of a client, in its `dialect` as far as that is known.

    Each request is sent exactly once, at most `max_calls` of them; `kept` of these are kept back
    for what is asked `anyway`. After `silences` in a row an interface is left alone. `heard` is all
    that came, `headers` those of the last answer, where the client's session notes them here.
    """

    def __init__(
        self, client: Client, *, max_calls: float = math.inf, silences: float = math.inf
    ) -> None:
        self.client, self.dialect = client, client.dialect
        self.told: list[str] = []  # settings of the dialect that the service has shown
        self.calls = self.kept = 0
        self.heard: list[Attempt] = []
        self.headers: Mapping[str, str] = {}
        self._most, self._silences = max_calls, silences
        self._silent = {"A": 0, "B": 0}
        self._controls: dict[tuple[object, ...], Attempt] = {}

    @property
    def remaining(self) -> float:
        """How many calls may still be made."""
        return self._most - self.calls - self.kept

    def ask(
        self,
        request: Request,
        token: Secret | None = None,
        *,
        dialect: Dialect | None = None,
        anyway: bool = False,
    ) -> Attempt:
        """Send one request once, and return what came. Unasked: a bound is reached, the interface
        is silent, or it is a change and the client read only."""
        interface = request.endpoint.interface
        if self.remaining + (self.kept if anyway else 0) <= 0:
            raise Unasked(f"not asked: the bound of {self._most} calls is reached (max_calls)")
        if self._silent[interface] >= self._silences and not anyway:
            times = f"{self._silences} times in a row"
            raise Unasked(f"not asked: interface {interface} gave no answer {times}")
        try:
            self.client.may_send(request.endpoint)
        except ReadOnlyError as error:
            raise Unasked(f"not asked: {error}") from None
        self.calls += 1
        self.headers = {}
        asked = self.client.ask_once(request, token, dialect=dialect or self.dialect)
        self.heard.append(asked)
        if token is None:
            self._controls[_way(request, dialect or self.dialect)] = asked
        silent = isinstance(asked.error, TransportError)
        self._silent[interface] = self._silent[interface] + 1 if silent else 0
        return asked

    def find(self, request: Request, token: Secret | None) -> Found:
        """Look for the dialect in which an operation reads the token.

        A changed answer is what shows it: the same question without a token gets another one.
        Nothing less does, as a service may look for the room first.
        """
        endpoint = request.endpoint
        served: dict[str, Attempt] = {}
        unserved: set[str] = set()
        first: Attempt | None = None
        for dialect in self._variants(endpoint):
            method = _method(endpoint, dialect)
            if method in unserved:
                continue
            asked = self.ask(request, token, dialect=dialect)
            first = first or asked
            if isinstance(asked.error, TransportError) and endpoint.key not in _METHOD:
                break  # another name gets no answer either; another method may
            if asked.call.ret is None:
                unserved |= {method} if asked.call.status in _UNSERVED else set()
            elif asked.call.ret == NOT_SUPPORTED:
                unserved.add(method)
            else:
                served.setdefault(method, asked)
                if self._was_read(request, token, dialect, asked):
                    return Found(dialect, asked, method, first)
        known = {"GET", "POST"} == served.keys() | unserved and len(served) == 1
        shown = next(iter(served.values()), asked)
        return Found(None, shown, next(iter(served)) if known else None, first or asked)

    def _variants(self, endpoint: Endpoint) -> Iterator[Dialect]:
        """The dialects to try, each with another name of the token or another way to call; the
        known one first."""
        setting = QUESTIONS[endpoint.key].setting
        if setting.endswith("token_parameter"):
            for name in token_names(endpoint, self.dialect):
                yield replace(self.dialect, **{setting: name})
            return
        known = self.dialect.placement
        placements = dict.fromkeys([known, "form", "json", *CHOICES["placement"]])
        if known == "query" and "placement" not in self.told:  # in a query there would be GET
            placements = dict.fromkeys(["form", "json", "query"])
        given: str = getattr(self.dialect, setting)
        for method in dict.fromkeys([given, *QUESTIONS[endpoint.key].choices]):
            for placement in placements if method == "POST" else [known]:
                yield replace(self.dialect, placement=placement, **{setting: method})

    def _was_read(
        self, request: Request, token: Secret | None, dialect: Dialect, asked: Attempt
    ) -> bool:
        endpoint, ret = request.endpoint, asked.call.ret
        if ret not in QUESTIONS[endpoint.key].read:
            return False
        if endpoint.key == "B3" and ret == 0 and asked.call.method == "GET":
            return True  # it works so, whatever the service makes of the token
        control = self._controls.get(_way(request, dialect))
        if control is None or control.call.ret in _FAULTS:
            control = self.ask(request, dialect=dialect)
        if control.call.ret in (None, *_FAULTS) or came(control) == came(asked):
            return False
        if ret not in _FAULTS:
            return True
        again = self.ask(request, token, dialect=dialect)  # a fault that passes is no sign
        return came(again) == came(asked)


def token_names(endpoint: Endpoint, dialect: Dialect) -> list[str]:
    """The names under which an operation may take the token, the dialect's own first."""
    usual = [dialect.token_parameter] if endpoint.interface == "A" else []
    given = token_parameter(endpoint, dialect)
    return list(dict.fromkeys([given, *usual, *QUESTIONS[endpoint.key].choices]))


def nobody(room_id: str, user_id: str) -> Request:
    """The removal (B2) of a user who is not there, from a room that nobody uses: it changes
    nothing."""
    return Request(B2, {"roomId": room_id, "userId": user_id, "userAddress": NO_CAMERA})


def came(asked: Attempt) -> tuple[int | None, int | str | None]:
    """HTTP status and result code, which tell one answer from another."""
    return asked.call.status, asked.call.ret


def answer(asked: Attempt) -> str:
    """What came, for evidence: the code with its meaning and the HTTP status, or what else."""
    if asked.members is not None:
        return f"0 (success), HTTP {asked.call.status}"
    error = asked.error
    if isinstance(error, ApiError):
        return f"{error.ret} ({error.meaning}), HTTP {asked.call.status}"
    plain = error.said if error else ""
    return f"no answer{'' if isinstance(error, TransportError) else ' of the interface'}: {plain}"


def _method(endpoint: Endpoint, dialect: Dialect) -> str:
    return getattr(dialect, _METHOD.get(endpoint.key, ""), "GET")


def _way(request: Request, dialect: Dialect) -> tuple[str, ...]:
    """What tells requests without a token apart."""
    endpoint, method = request.endpoint, _method(request.endpoint, dialect)
    placement = dialect.placement if method == "POST" else "query"
    return endpoint.key, method, placement, str(request.parameters)
