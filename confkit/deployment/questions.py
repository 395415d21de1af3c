"""The questions to a service as one table, and how they are asked: each once, counted and bounded.

`confkit.doctor` asks some of them (is it well?), `confkit.probe_dialect` all (what is its
dialect?). A row says what is sent, and how its answer is read: a setting of the dialect is found
where the answer differs from its control's, the same request without a token; the rest is shown
by the answer itself.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import signing
from ..dialect import CHOICES, Dialect
from ..endpoints import A1, A3, A5, B1, B2, B3, Endpoint
from ..errors import ApiError, ConfigError, ConfkitError, TransportError
from ..wire import Request, token_parameter

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..client import Client
    from ..secret import Secret

NO_CAMERA = "rtsp://192.0.2.1:554/nobody"  # of a network for examples: no device has it
OWN_ROOM = "a room of its own"
REFUSED = (401, 602)  # specified: authentication failed, access_token incorrect (section 5)
UNKNOWN_ROOM = (404, 612)
NOT_SUPPORTED = 408  # specified for A: HTTP request not supported; of B that is assumed
CALLBACK = "confkitProbe"
_UNSERVED = (404, 405, 501)  # HTTP statuses of a path or method that there is not
# Codes of passing faults: as a control they say nothing of the token.
_FAULTS = {302, 303, 304, 310, 409, 427, 503, 504, 700, 805, 806}
_NO_ROOM = {0, 404, 415, 416, 601, 612}
_NUMBERS = ("id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video")


class Unasked(ConfkitError):
    """A question that was not sent; the text says why."""


class Shown(NamedTuple):
    """What an answer shows of one question; not `seen`: why it shows nothing. `settings` are those
    of the dialect that it is."""

    question: str
    answer: str
    seen: bool = True
    settings: Mapping[str, Any] = {}


class Question(NamedTuple):
    """One row: what is sent to an operation, and how its answer is read.

    In the `parameters`, `{room}` and `{user}` stand for IDs that the inquiry chooses; without one
    the parameter is left out. A row with a `setting` of the dialect is sent for each of its
    `choices`, until an answer shows that the token was read; `shows` are the codes that can: any
    other may be a passing fault, which would make a wrong setting look like the right one. Another
    row's answer is read by `read`; it is sent with the token, or with a `bad` one, which has a
    token's form and is none. The probe asks it once the question that it `needs` is answered.
    """

    name: str
    endpoint: Endpoint
    parameters: Mapping[str, str]
    setting: str = ""
    shows: Set[int] = frozenset()
    choices: tuple[str, ...] = ()
    read: Callable[[str, Attempt], Iterable[Shown]] = lambda *_: ()
    bad: bool = False
    needs: str = ""

    def request(self, room_id: str = "", user_id: str = "") -> Request:
        """The request about this room and this user."""
        ids = {"room": room_id, "user": user_id}
        filled = {name: value.format(**ids) for name, value in self.parameters.items()}
        return Request(self.endpoint, {name: value for name, value in filled.items() if value})

    def ways(self, known: Dialect) -> list[str]:
        """The names of the token or the methods to try, the known dialect's own first."""
        usual = [known.token_parameter] if self.endpoint is A5 else []
        own = getattr(known, self.setting) or token_parameter(self.endpoint, known)
        return list(dict.fromkeys([own, *usual, *(self.choices or CHOICES[self.setting])]))


# How an answer is read


def answer(asked: Attempt) -> str:
    """What came, for evidence: the code with its meaning and the HTTP status, or what else."""
    error = asked.error
    if error is None:
        return f"0 (success), HTTP {asked.call.status}"
    if isinstance(error, ApiError):
        return f"{error.ret} ({error.meaning}), HTTP {asked.call.status}"
    foreign = "" if isinstance(error, TransportError) else " of the interface"
    return f"no answer{foreign}: {error.said}"


def _what_came(question: str, asked: Attempt) -> Iterator[Shown]:
    yield Shown(question, answer(asked), asked.call.ret is not None)


def _jsonp(question: str, asked: Attempt) -> Iterator[Shown]:
    came = asked.answer
    if came and came.body.lstrip().startswith(f"{CALLBACK}(".encode()):
        kind = came.content_type or "no content type"
        yield Shown(question, f"honoured: {CALLBACK}({{...}}), {kind}")
    elif asked.call.ret is not None:
        yield Shown(question, "ignored: plain JSON comes")
    else:
        yield Shown(question, answer(asked), seen=False)


def _listing(question: str, asked: Attempt) -> Iterator[Shown]:
    """How B3's total is written, and how the keys of its items are spelt."""
    data = (asked.members or {}).get("data")
    items = data.get("items") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(items, list):
        yield Shown(question, f"no list of items came: {answer(asked)}", seen=False)
        return
    if "total" in data:
        yield Shown("total in B3", _as_number(data["total"]))
    keys = " ".join(key for item in items if isinstance(item, Mapping) for key in item)
    styles = {"snake_case": r"\b(room|user)_[a-z]+\b", "camelCase": r"\b(room|user)[A-Z][a-z]+\b"}
    found = [style for style, pattern in styles.items() if re.search(pattern, keys)]
    if len(found) == 1:
        yield Shown(question, found[0], settings={"item_keys": found[0]})
    else:
        why = "the items have keys of both styles, or of neither"
        why = why if items else "no device is listed, so nothing shows them"
        yield Shown(question, why, seen=False)


def _numbers(question: str, asked: Attempt) -> Iterator[Shown]:
    """Which numbers of a room A3 quotes."""
    kinds: dict[str, list[str]] = {}
    for name in _NUMBERS:
        if (value := (asked.members or {}).get(name)) not in (None, ""):
            kinds.setdefault(_as_number(value), []).append(name)
    found = "; ".join(f"{', '.join(names)} {how}" for how, names in kinds.items())
    yield Shown(question, found or f"no number came: {answer(asked)}", bool(kinds))


def result_codes(heard: Iterable[Attempt]) -> Iterator[tuple[Shown, Attempt | None]]:
    """Where A and B put the result code, and its form, by all the answers that came."""
    came: dict[str, list[tuple[Attempt, dict[str, Any]]]] = {"A": [], "B": []}
    for asked in heard:
        if asked.answer and asked.call.ret is not None:
            members = json.loads(asked.answer.body)
            held = {name: members.get(name) for name in CHOICES["result_field"]}
            codes = {name: code for name, code in held.items() if code is not None}
            came[asked.request.endpoint.interface].append((asked, codes))
    for interface, answers in came.items():
        name = f"result code of {interface}"
        fields = {tuple(codes) for _, codes in answers}
        first, codes = answers[0] if answers else (None, {})
        if len(fields) == len(codes) == 1:
            [(field, code)] = codes.items()
            settings = {"result_field": field} if interface == "B" else {}
            yield Shown(name, f"in {field}, {_as_number(code)}", settings=settings), first
        else:
            found = "in ret and in result" if answers else f"no answer of {interface} holds one"
            yield Shown(name, found, seen=False), first


def _as_number(value: object) -> str:
    return "as text" if isinstance(value, str) else "as a number"


# The table

_ROOM, _ROOM_OF_B = {"room_id": "{room}"}, {"roomId": "{room}"}
_SPELLINGS = ("access_token", "access_tocken", "token")  # of A, seen in deployments
_OF_A5 = {*_NO_ROOM, 405, 406, 407, 410, 411, 417, 428}
_OF_B2 = {*_NO_ROOM, 401, 407, 424, 425}
_NOBODY = {**_ROOM_OF_B, "userId": "{user}", "userAddress": NO_CAMERA}
_IN_A, _IN_A5, _IN_B2 = (f"spelling of the token in {place}" for place in ("A", "A5", "B2"))
TOKEN_IN_A = Question(_IN_A, A3, _ROOM, "token_parameter", {*_NO_ROOM, 407}, _SPELLINGS)
TOKEN_IN_A5 = Question(_IN_A5, A5, _ROOM, "mcu_token_parameter", _OF_A5, _SPELLINGS)
# The removal of a user who is not there, from a room that nobody uses, changes nothing.
TOKEN_IN_B2 = Question(
    _IN_B2, B2, _NOBODY, "remove_token_parameter", _OF_B2, ("access_token", "accessToken")
)
# What is sent to B1 holds a token and nothing else: no room, no user, no address. So there is
# nothing that a service could seat or dial, however wrong it is, and a right one refuses it, as all
# four are required (section 4). With complete parameters a service that does not check the room
# could import something.
CALL_OF_B1 = Question("B1 by GET or POST", B1, {}, "create_method", {302, 310, 401, 407})
_OF_B3 = {0, 302, 304, 310, 404, 425, 612}
CALL_OF_B3 = Question("B3 by GET or POST", B3, _ROOM_OF_B, "list_method", _OF_B3)
_BY_B3 = CALL_OF_B3.name
TAKES_TOKEN = {each.endpoint: each for each in (TOKEN_IN_A, TOKEN_IN_A5, TOKEN_IN_B2, CALL_OF_B3)}
OF_NO_ROOM = (
    TOKEN_IN_A,
    Question("an unknown room in A3", A3, _ROOM, read=_what_came, needs=_IN_A),
    Question("a bad token in A3", A3, _ROOM, read=_what_came, needs=_IN_A, bad=True),
    Question("JSONP (callback)", A3, {**_ROOM, "callback": CALLBACK}, read=_jsonp, needs=_IN_A),
    CALL_OF_B3,
    Question("an unknown room in B3", B3, _ROOM_OF_B, read=_what_came, needs=_BY_B3),
    Question("a bad token in B3", B3, _ROOM_OF_B, read=_what_came, needs=_BY_B3, bad=True),
    Question("keys of B3's items", B3, {}, read=_listing, needs=_BY_B3),
    CALL_OF_B1,
)
OF_A_ROOM = (
    Question("numbers in A3", A3, _ROOM, read=_numbers, needs=OWN_ROOM),
    TOKEN_IN_A5,
    TOKEN_IN_B2,
)


# How they are asked


def signed(dialect: Dialect) -> str:
    """What is base64-encoded in this dialect, in words."""
    form = "the hex text" if dialect.signature == "hex" else "the raw bytes"
    return f"{form} of HMAC-{dialect.hash.upper()}"


class Found(NamedTuple):
    """What the search for a setting found: the `settings` of the dialect, empty where none was, and
    whether an operation `read` the token with them (a method is known also where it alone is
    served). `asked` shows it, or is one of the answers; `first` came in the dialect that was
    known."""

    settings: Mapping[str, str]
    read: bool
    asked: Attempt
    first: Attempt


class Inquiry:
    """Asks the service of a client, in its `dialect` as far as that is known.

    Each request is sent exactly once, in at most `seconds` for all, and at most `max_calls` of
    them, of which `kept` are kept back; after `silences` in a row an interface is left alone.
    `heard` is all that came, `told` the settings of the dialect that the service has shown.

    No more logins fail than `max_failed_logins`, as a service may lock the account: `tried` are
    those that were made in search of the signature, `untried` the dialects that were not. `failed`
    counts those that were refused, and those of which no answer says whether they were. A token
    that is refused in another operation is no failed login (assumed). The last login gave this
    `token`, or none because of `failure`.
    """

    def __init__(
        self,
        client: Client,
        max_failed_logins: int,
        *,
        max_calls: float = inf,
        silences: float = inf,
        seconds: float = inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if type(max_failed_logins) is not int or max_failed_logins < 0:
            raise ConfigError(
                f"max_failed_logins is {max_failed_logins!r}",
                "Give a whole number. 0 tries no login at all, as any may fail.",
            )
        self.client, self.dialect, self.patience = client, client.dialect, client.timeout
        self.told: list[str] = []
        self.calls = self.kept = self.failed = 0
        self.heard: list[Attempt] = []
        self.tried: list[Attempt] = []
        # The likeliest signature first: the given one, then what was seen in deployments.
        every = product(CHOICES["hash"], CHOICES["signature"])
        others = (replace(self.dialect, hash=name, signature=form) for name, form in every)
        self.untried = list(dict.fromkeys([self.dialect, *others]))
        self.token: Secret | None = None
        self.failure: ConfkitError | None = None
        self._bound, self._most, self._silences = max_failed_logins, max_calls, silences
        self.silent = {"A": 0, "B": 0}
        self._clock, self._end = clock, clock() + seconds

    @property
    def remaining(self) -> float:
        """How many calls may still be made."""
        return self._most - self.calls - self.kept

    @property
    def time_left(self) -> float:
        """Seconds that are left for all that follows."""
        return self._end - self._clock()

    def ask(
        self, request: Request, token: Secret | None = None, dialect: Dialect | None = None
    ) -> Attempt:
        """Send one request once, and return what came. Unasked: a bound is reached, or the
        interface has been silent too often; ReadOnlyError as of the client."""
        interface = request.endpoint.interface
        if self.remaining <= 0:
            raise Unasked(f"the bound of {self._most} calls is reached (max_calls)")
        if self.silent[interface] >= self._silences:
            raise Unasked(f"interface {interface} gave no answer {self._silences} times in a row")
        self.client.may_send(request.endpoint)
        self.calls += 1
        connect, read = self.patience
        half = max(self.time_left / 2, 0.01)  # to connect, and to read
        self.client.timeout = min(connect, half), min(read, half)
        asked = self.client.ask_once(request, token, dialect=dialect or self.dialect)
        self.heard.append(asked)
        lost = isinstance(asked.error, TransportError)
        self.silent[interface] = self.silent[interface] + 1 if lost else 0
        return asked

    # Logins (A1)

    def log_in(self) -> Attempt | None:
        """Try the signatures in order up to the first that is not refused, and return the last
        login; None where the bound allows none."""
        while self.untried and self.failed < self._bound:
            self.tried.append(self.login(self.untried.pop(0)))
            if self.tried[-1].call.ret not in REFUSED:
                break
        return self.tried[-1] if self.tried else None

    def login(self, dialect: Dialect) -> Attempt:
        """Log in once, signed in this dialect. Unasked: it could be one failed login too many."""
        if self.failed >= self._bound:
            raise Unasked(f"{self.failed} of {self._bound} logins have failed (max_failed_logins)")
        access_key, secret_key = self.client.access_key, self.client.secret_key
        digest = signing.digest(access_key, secret_key, dialect)
        request = Request(A1, {"access_key": access_key, "digest": digest})
        asked = self.ask(request, dialect=dialect)
        unsent = isinstance(asked.error, TransportError) and not asked.error.sent
        self.failed += asked.error is not None and not unsent
        made = asked.error or signing.token_of(asked.members or {}, secret_key, dialect)
        self.failure = made if isinstance(made, ConfkitError) else None
        self.token = None if isinstance(made, ConfkitError) else made
        return asked

    def refusal(self) -> str:
        """Return which signatures were refused besides the first, and which were not tried."""
        refused = ", ".join(signed(asked.context.dialect) for asked in self.tried[1:])
        untried = ", ".join(map(signed, self.untried))
        rest = f"not tried, as {self._bound} failed logins are the bound: {untried}"
        if not untried:
            rest = "no hash or form of the signature is left, so most likely a key is wrong"
        return f"refused as well: {refused}; {rest}" if refused else rest

    # Settings of the dialect

    def find(self, question: Question, request: Request) -> Found:
        """Look for the setting with which an operation reads the token.

        A changed answer is what shows it: the same question without a token gets another one.
        Nothing less does, as a service may look for the room first.
        """
        setting, by_name = question.setting, "method" not in question.setting
        served: dict[str, Attempt] = {}
        unserved: set[str] = set()
        came: list[Attempt] = []
        for way, dialect in self._variants(question):
            if way in unserved:
                continue
            asked = self.ask(request, self.token, dialect=dialect)
            came.append(asked)
            ret = asked.call.ret
            if isinstance(asked.error, TransportError) and by_name:
                break  # another name gets no answer either; another method may
            if ret == NOT_SUPPORTED or (ret is None and asked.call.status in _UNSERVED):
                unserved.add(way)
            elif ret is not None:
                served.setdefault(way, asked)
                if self._was_read(question, asked):
                    placed = {"placement": dialect.placement} if way == "POST" else {}
                    return Found({setting: way, **placed}, True, asked, came[0])
        alone = not by_name and len(served) == 1 and len(unserved) == 1
        shown = next(iter(served.values()), came[-1])
        return Found({setting: next(iter(served))} if alone else {}, False, shown, came[0])

    def _variants(self, question: Question) -> Iterator[tuple[str, Dialect]]:
        """The names or methods to try, each with its dialect; of a POST for each placement, unless
        that is told."""
        known = self.dialect
        for way in question.ways(known):
            placements = [known.placement]
            if way == "POST" and "placement" not in self.told:
                placements += CHOICES["placement"]
            for placement in dict.fromkeys(placements):
                yield way, replace(known, placement=placement, **{question.setting: way})

    def _was_read(self, question: Question, asked: Attempt) -> bool:
        ret = asked.call.ret
        if ret not in question.shows:
            return False
        if question is CALL_OF_B3 and ret == 0 and asked.call.method == "GET":
            return True  # it works so, whatever the service makes of the token
        control = self._control(asked)
        if control.call.ret in (None, *_FAULTS) or _came(control) == _came(asked):
            return False
        if ret not in _FAULTS:
            return True
        # A fault that passes is no sign.
        again = self.ask(asked.request, asked.token, dialect=asked.context.dialect)
        return _came(again) == _came(asked)

    def _control(self, asked: Attempt) -> Attempt:
        """What came for the same request without a token, which is sent if it was not yet."""
        how = asked.call.method, asked.call.placement
        for one in self.heard:
            alike = one.request == asked.request and (one.call.method, one.call.placement) == how
            if one.token is None and alike and one.call.ret not in _FAULTS:
                return one
        return self.ask(asked.request, dialect=asked.context.dialect)


def _came(asked: Attempt) -> tuple[int | None, int | str | None]:
    """HTTP status and result code, which tell one answer from another."""
    return asked.call.status, asked.call.ret
