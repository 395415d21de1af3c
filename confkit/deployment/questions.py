"""The questions to a service, as one table, and how they are asked: each is sent once, counted and
bounded, and an answer shows something only where it differs from its control's.

`confkit.doctor` asks some of them (is it well?), `confkit.probe_dialect` all (what is its
dialect?).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..dialect import CHOICES, Dialect
from ..endpoints import A3, A5, B1, B2, B3, Endpoint
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
_UNSERVED = (404, 405, 501)  # HTTP statuses of a path or method that there is not
# Codes of passing faults: as a control they say nothing of the token.
_FAULTS = {302, 303, 304, 310, 409, 427, 503, 504, 700, 805, 806}
_SPELLINGS = ("access_token", "access_tocken", "token")  # of A, seen in deployments
_NO_ROOM = {0, 404, 415, 416, 601, 612}


class Unasked(Exception):
    """A question that was not sent; the text says why."""


class Question(NamedTuple):
    """How one operation is asked in which dialect it reads the token.

    It is sent with `parameters` (`{room}` and `{user}` stand for IDs that the inquiry chooses), for
    each of the `choices` of a `setting` of the dialect, and once more without a token as control.
    `read` are the codes that can mean that the token was read: any other may be a passing fault,
    which would make a wrong setting look like the right one. `name` is what the probe calls it.
    """

    endpoint: Endpoint
    name: str
    setting: str
    choices: tuple[str, ...]
    parameters: Mapping[str, str]
    read: frozenset[int]

    def request(self, room_id: str = "", user_id: str = "") -> Request:
        """The request about this room and this user."""
        return filled(self.endpoint, self.parameters, room_id, user_id)


def filled(
    endpoint: Endpoint, parameters: Mapping[str, str], room_id: str, user_id: str = ""
) -> Request:
    """A request in whose parameters `{room}` and `{user}` stand for these IDs."""
    ids = {"room": room_id, "user": user_id}
    return Request(endpoint, {name: value.format(**ids) for name, value in parameters.items()})


TOKEN_IN_A = Question(
    A3,
    "spelling of the token in A",
    "token_parameter",
    _SPELLINGS,
    {"room_id": "{room}"},
    frozenset(_NO_ROOM | {407}),
)
TOKEN_IN_A5 = Question(
    A5,
    "spelling of the token in A5",
    "mcu_token_parameter",
    _SPELLINGS,
    {"room_id": "{room}"},
    frozenset(_NO_ROOM | {405, 406, 407, 410, 411, 417, 428}),
)
# What is sent to B1 holds a token and nothing else: no room, no user, no address. So there is
# nothing that a service could seat or dial, however wrong it is, and a right one refuses it, as all
# four are required (section 4). With complete parameters a service that does not check the room
# could import something.
CALL_OF_B1 = Question(
    B1,
    "B1 by GET or POST",
    "create_method",
    CHOICES["create_method"],
    {},
    frozenset({302, 310, 401, 407}),
)
# The removal of a user who is not there, from a room that nobody uses, changes nothing.
TOKEN_IN_B2 = Question(
    B2,
    "spelling of the token in B2",
    "remove_token_parameter",
    ("access_token", "accessToken"),
    {"roomId": "{room}", "userId": "{user}", "userAddress": NO_CAMERA},
    frozenset(_NO_ROOM | {401, 407, 424, 425}),
)
CALL_OF_B3 = Question(
    B3,
    "B3 by GET or POST",
    "list_method",
    CHOICES["list_method"],
    {"roomId": "{room}"},
    frozenset({0, 302, 304, 310, 404, 425, 612}),
)


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
    that came, `told` the settings of the dialect that the service has shown.
    """

    def __init__(
        self, client: Client, *, max_calls: float = math.inf, silences: float = math.inf
    ) -> None:
        self.client, self.dialect = client, client.dialect
        self.told: list[str] = []
        self.calls = self.kept = 0
        self.heard: list[Attempt] = []
        self._most, self._silences = max_calls, silences
        self._silent = {"A": 0, "B": 0}
        self._controls: dict[tuple[str, ...], Attempt] = {}

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
        asked = self.client.ask_once(request, token, dialect=dialect or self.dialect)
        self.heard.append(asked)
        if token is None:
            self._controls[_way(request, dialect or self.dialect)] = asked
        silent = isinstance(asked.error, TransportError)
        self._silent[interface] = self._silent[interface] + 1 if silent else 0
        return asked

    def find(self, question: Question, request: Request, token: Secret | None) -> Found:
        """Look for the dialect in which an operation reads the token.

        A changed answer is what shows it: the same question without a token gets another one.
        Nothing less does, as a service may look for the room first.
        """
        served: dict[str, Attempt] = {}
        unserved: set[str] = set()
        came: list[Attempt] = []
        for dialect in self._variants(question):
            method = _method(question.endpoint, dialect)
            if method in unserved:
                continue
            asked = self.ask(request, token, dialect=dialect)
            came.append(asked)
            if isinstance(asked.error, TransportError) and "method" not in question.setting:
                break  # another name gets no answer either; another method may
            if asked.call.ret is None:
                unserved |= {method} if asked.call.status in _UNSERVED else set()
            elif asked.call.ret == NOT_SUPPORTED:
                unserved.add(method)
            else:
                served.setdefault(method, asked)
                if self._was_read(question, request, token, dialect, asked):
                    return Found(dialect, asked, method, came[0])
        alone = {"GET", "POST"} == served.keys() | unserved and len(served) == 1
        shown = next(iter(served.values()), came[-1])
        return Found(None, shown, next(iter(served)) if alone else None, came[0])

    def _variants(self, question: Question) -> Iterator[Dialect]:
        """The dialects to try, each with another name of the token or another way to call; the
        known one first."""
        setting = question.setting
        if "method" not in setting:
            for name in token_names(question, self.dialect):
                yield replace(self.dialect, **{setting: name})
            return
        known = self.dialect.placement
        placements = dict.fromkeys([known, "form", "json", *CHOICES["placement"]])
        if known == "query" and "placement" not in self.told:  # in a query there would be GET
            placements = dict.fromkeys(["form", "json", "query"])
        given: str = getattr(self.dialect, setting)
        for method in dict.fromkeys([given, *question.choices]):
            for placement in placements if method == "POST" else [known]:
                yield replace(self.dialect, placement=placement, **{setting: method})

    def _was_read(
        self,
        question: Question,
        request: Request,
        token: Secret | None,
        dialect: Dialect,
        asked: Attempt,
    ) -> bool:
        ret = asked.call.ret
        if ret not in question.read:
            return False
        if question is CALL_OF_B3 and ret == 0 and asked.call.method == "GET":
            return True  # it works so, whatever the service makes of the token
        control = self._controls.get(_way(request, dialect))
        if control is None or control.call.ret in _FAULTS:
            control = self.ask(request, dialect=dialect)
        if control.call.ret in (None, *_FAULTS) or _came(control) == _came(asked):
            return False
        if ret not in _FAULTS:
            return True
        again = self.ask(request, token, dialect=dialect)  # a fault that passes is no sign
        return _came(again) == _came(asked)


def token_names(question: Question, dialect: Dialect) -> list[str]:
    """The names under which an operation may take the token, the dialect's own first."""
    endpoint = question.endpoint
    usual = [dialect.token_parameter] if endpoint.interface == "A" else []
    return list(dict.fromkeys([token_parameter(endpoint, dialect), *usual, *question.choices]))


def answer(asked: Attempt) -> str:
    """What came, for evidence: the code with its meaning and the HTTP status, or what else."""
    if asked.members is not None:
        return f"0 (success), HTTP {asked.call.status}"
    error = asked.error
    if isinstance(error, ApiError):
        return f"{error.ret} ({error.meaning}), HTTP {asked.call.status}"
    plain = error.said if error else ""
    return f"no answer{'' if isinstance(error, TransportError) else ' of the interface'}: {plain}"


def _came(asked: Attempt) -> tuple[int | None, int | str | None]:
    """HTTP status and result code, which tell one answer from another."""
    return asked.call.status, asked.call.ret


def _method(endpoint: Endpoint, dialect: Dialect) -> str:
    return {"B1": dialect.create_method, "B3": dialect.list_method}.get(endpoint.key, "GET")


def _way(request: Request, dialect: Dialect) -> tuple[str, ...]:
    """What tells requests without a token apart."""
    endpoint, method = request.endpoint, _method(request.endpoint, dialect)
    placement = dialect.placement if method == "POST" else "query"
    return endpoint.key, method, placement, str(request.parameters)
