"""`probe_dialect`: asks a service what the interface leaves open, within bounds.

What settles a setting by its control are the rows of `questions`; what is only looked at, with the
token that the login gave, are those of `LOOKS`.
"""

from __future__ import annotations

import json
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import signing
from ..client import Client
from ..dialect import CHOICES
from ..endpoints import A3, B3, Endpoint
from ..errors import ConfigError
from ..secret import Secret, hidden_address, mask
from ..transport import finite
from .login_signatures import Login, Logins, refusal, signatures
from .probe_evidence import Evidence, Probe
from .probe_room import created_room
from .questions import (
    CALL_OF_B1,
    CALL_OF_B3,
    REFUSED,
    TOKEN_IN_A,
    TOKEN_IN_A5,
    TOKEN_IN_B2,
    Found,
    Inquiry,
    Question,
    Unasked,
    answer,
    filled,
    token_names,
)

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..dialect import Dialect

CALLS = 60
FEWEST = 20  # calls: with fewer, a question could be asked but not its control
SILENT = 2  # questions in a row to which an interface says nothing, before it is left alone
CALLBACK = "confkitProbe"
POLLS = 20  # questions while waiting for a token to end, evenly spaced
_NUMBERS = ("id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video")
_READ = "an answer that shows that the token was read"


def probe_dialect(
    base_url: str,
    outgoing_url: str,
    access_key: str,
    secret_key: str,
    *,
    dialect: Dialect | None = None,
    max_failed_logins: int = 2,
    wait: float | None = None,
    max_calls: int = CALLS,
    timeout: float | tuple[float, float] = (5.0, 10.0),
    verify: bool | str = True,
    own_room: bool = True,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Probe:
    """Find out what a service does where the interface is silent, by asking it.

    `dialect` is the first guess. At most `max_calls` requests are sent, none of them twice by
    itself, and at most `max_failed_logins` logins fail; what these bounds leave open is in `open`.
    Requests with a wrong token, or without one, are sent on purpose: that they are no failed logins
    is assumed. Nothing is imported; one room of its own is created and deleted again (none with
    `own_room` False), also after Ctrl-C, and B2 is asked to take out a user who is not there.
    `wait` is how many seconds to wait for a token to end; its
    lifetime is not asked for without it. `timeout` and `verify` are as for `connect`; `new_id`
    gives the IDs of rooms that are not there, and of its own.

    ConfigError: an argument makes no sense. TransportError, ProtocolError, ApiError: the service
    cannot be reached, or it answers a login with neither yes nor no. An error or a Ctrl-C carries a
    note (`__notes__`) where the room could not be deleted.
    Sections 4, 5 and 7 of the interface.
    """
    secret_key = Secret(secret_key)
    base_url, outgoing_url = hidden_address(base_url), hidden_address(outgoing_url)
    for name, key in (("access_key", access_key), ("secret_key", secret_key)):
        if key != key.strip():
            warnings.warn(f"white space around {name} was removed", stacklevel=2)
    client = Client(
        base_url,
        outgoing_url,
        access_key.strip(),
        Secret(secret_key.strip()),
        dialect=dialect,
        timeout=timeout,
        verify=verify,
        clock=clock,
        sleep=sleep,
    )
    with client:
        return probe_client(
            client,
            max_failed_logins=max_failed_logins,
            wait=wait,
            max_calls=max_calls,
            own_room=own_room,
            new_id=new_id,
        )


def probe_client(
    client: Client,
    *,
    max_failed_logins: int = 2,
    wait: float | None = None,
    max_calls: int = CALLS,
    own_room: bool = True,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Probe:
    """As `probe_dialect`, of a client's service, with its dialect as the first guess and by its
    clock; where the client is read only, nothing is created, and B1 and B2 are left alone."""
    if wait is not None and not finite(wait):
        raise ConfigError(f"wait is {wait!r}", "Give seconds, above 0 and finite")
    if isinstance(max_calls, bool) or not (isinstance(max_calls, int) and max_calls >= FEWEST):
        raise ConfigError(
            f"max_calls is {max_calls!r}",
            f"Give a whole number, {FEWEST} or more: a probe needs about thirty calls",
        )
    inquiry = Inquiry(client, max_calls=max_calls, silences=SILENT)
    asking = _Asking(inquiry, Logins(inquiry.ask, max_failed_logins), new_id)
    if asking.log_in():
        born = client._clock()
        readable = asking.reads()
        asking.changes(own_room and readable)
        for shown, asked in _result_codes(inquiry.heard):
            asking.keep(shown, asked)
        if wait is not None:
            asking.lifetime(born, wait)
    return Probe(
        dialect=inquiry.dialect,
        evidence=tuple(asking.rows),
        told=tuple(inquiry.told),
        calls=inquiry.calls,
        failed_logins=asking.logins.failed,
        left=tuple(asking.left),
        base_url=client.base_url,
        outgoing_url=client.outgoing_url,
    )


class Shown(NamedTuple):
    """What an answer shows of one question; not `seen`: why it shows nothing. `settings` are those
    of the dialect that it is."""

    question: str
    answer: str
    seen: bool = True
    settings: Mapping[str, str] = {}


class Look(NamedTuple):
    """A read whose answer is looked at: with the token of the login, or with a `bad` one, which has
    a token's form and is none. `{room}` stands for a room that is chosen for it."""

    question: str
    endpoint: Endpoint
    parameters: Mapping[str, str]
    read: Callable[[str, Attempt], Iterable[Shown]]
    bad: bool = False


def _came(question: str, asked: Attempt) -> Iterator[Shown]:
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
    if asked.members is None or not isinstance(items, list) or not isinstance(data, Mapping):
        what = "its answer holds no list of items" if asked.members else answer(asked)
        yield Shown(question, what, seen=False)
        return
    if "total" in data:
        yield Shown("total in B3", _as_number(data["total"]))
    keys = {key for item in items if isinstance(item, Mapping) for key in item}
    snake = any(re.fullmatch(r"(room|user)_[a-z]+", key) for key in keys)
    camel = any(re.fullmatch(r"(room|user)[A-Z][a-z]+", key) for key in keys)
    if snake != camel:
        style = "snake_case" if snake else "camelCase"
        yield Shown(question, style, settings={"item_keys": style})
    elif items:
        yield Shown(question, "the items have keys of both styles, or of neither", seen=False)
    else:
        yield Shown(question, "no device is listed, so nothing shows them", seen=False)


def _numbers(question: str, asked: Attempt) -> Iterator[Shown]:
    """Which numbers of a room A3 quotes."""
    members = _top(asked)
    given = [name for name in _NUMBERS if members.get(name) not in (None, "")]
    if asked.members is None or not given:
        what = "its answer holds no number" if asked.members else answer(asked)
        yield Shown(question, what, seen=False)
        return
    quoted = ", ".join(name for name in given if isinstance(members[name], str))
    plain = ", ".join(name for name in given if not isinstance(members[name], str))
    parts = [quoted and f"quoted: {quoted}", plain and f"as numbers: {plain}"]
    yield Shown(question, "; ".join(filter(None, parts)))


def _as_number(value: object) -> str:
    return "as text" if isinstance(value, str) else "as a number"


def _top(asked: Attempt) -> Mapping[str, Any]:
    """The members of an answer as they came, also of a refusal; empty where it is no object."""
    try:
        members = json.loads(asked.answer.body) if asked.answer else {}
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, Mapping) else {}


def _result_codes(heard: list[Attempt]) -> Iterator[tuple[Shown, Attempt | None]]:
    """Where A and B put the result code, and its form, by all the answers that came."""
    codes: dict[tuple[str, ...], Attempt] = {}
    for asked in heard:
        members = _top(asked)
        if asked.call.ret is not None:
            names = [name for name in CHOICES["result_field"] if members.get(name) is not None]
            codes.setdefault((asked.call.endpoint[0], *names), asked)
    of_b = [asked for (interface, *_), asked in codes.items() if interface == "B"]
    told = False
    for (interface, *names), asked in codes.items():
        if len(names) == 1 and (interface == "A" or len(of_b) == 1):
            told |= interface == "B"
            found = f"in {names[0]}, {_as_number(_top(asked)[names[0]])}"
            known = {"result_field": names[0]} if interface == "B" else {}
            yield Shown(f"result code of {interface}", found, settings=known), asked
    if not told:
        both = "in ret and in result" if of_b else "no answer of B holds one"
        yield Shown("result code of B", both, seen=False), of_b[0] if of_b else None


_ROOM = {"room_id": "{room}"}
LOOKS_IN_A = (
    Look("an unknown room in A3", A3, _ROOM, _came),
    Look("a bad token in A3", A3, _ROOM, _came, bad=True),
    Look("JSONP (callback)", A3, {**_ROOM, "callback": CALLBACK}, _jsonp),
)
LOOKS_IN_B = (
    Look("an unknown room in B3", B3, {"roomId": "{room}"}, _came),
    Look("a bad token in B3", B3, {"roomId": "{room}"}, _came, bad=True),
    Look("keys of B3's items", B3, {}, _listing),
)
LOOK_AT_ROOM = Look("numbers in A3", A3, _ROOM, _numbers)


class _Asking:
    """A probe while it goes on: it asks the questions and keeps their answers as evidence."""

    def __init__(self, inquiry: Inquiry, logins: Logins, new_id: Callable[[], str]) -> None:
        self.inquiry, self.logins, self.new_id = inquiry, logins, new_id
        self.rows: list[Evidence] = []
        self.left: list[str] = []
        self._login: Login | None = None

    def keep(self, shown: Shown, asked: Attempt | Login | None = None) -> None:
        """Keep what an answer shows, or why one shows nothing."""
        self.inquiry.dialect = replace(self.inquiry.dialect, **shown.settings)
        self.inquiry.told += [name for name in shown.settings if name not in self.inquiry.told]
        exchange = asked.call if asked else None
        told = mask(shown.answer)
        self.rows.append(Evidence(shown.question, told, "seen" if shown.seen else "open", exchange))

    def open(self, question: str, why: str, asked: Attempt | Login | None = None) -> None:
        """Keep what could not be known, and why."""
        self.keep(Shown(question, why, seen=False), asked)

    @contextmanager
    def question(self, question: str) -> Iterator[None]:
        """Keep a question as open where it cannot be asked."""
        try:
            yield
        except Unasked as why:
            self.open(question, str(why))

    # The login

    def log_in(self) -> bool:
        """Log in; False where the bound left it open. Raises where the service answers a login with
        neither yes nor no: nothing can be found out then."""
        question = "signature of digest and token"
        client = self.inquiry.client
        tried = self.logins.first(signatures(client.access_key, client.secret_key, client.dialect))
        last = tried.logins[-1] if tried.logins else None
        if last and last.token:
            self._login, chosen = last, last.candidate
            signed = {"hash": chosen.dialect.hash, "signature": chosen.dialect.signature}
            self.keep(Shown(question, f"the signature is {chosen.what}", settings=signed), last)
            return True
        if last and last.came == "unclear" and last.error:
            raise last.error
        first = f"refused: {tried.logins[0].candidate.what}" if last else "no login was tried"
        bound = self.logins.bound
        self.open(question, f"{first}; {refusal(tried, bound)} (max_failed_logins)", last)
        self.open("everything else", "not asked: that needs a token, and no login was accepted")
        return False

    def token(self, refused: Secret | None = None) -> Secret:
        """The token of the login; called with it when it is refused, another one."""
        login = self._login
        if login and login.token is refused:
            self._login = login = self.logins.login(login.candidate)
            if login.error:
                raise login.error
        return (login.token if login else None) or Secret("")

    # The questions

    def look(self, look: Look, room_id: str, asked: Attempt | None = None) -> None:
        """Keep what comes for a read, which may have been asked before."""
        with self.question(look.question):
            token = self.token()
            if look.bad:
                token = signing.sign(self.new_id(), "confkit probe", self.inquiry.dialect)
            asked = asked or self.inquiry.ask(
                filled(look.endpoint, look.parameters, room_id), token
            )
            for shown in look.read(look.question, asked):
                self.keep(shown, asked)

    def settle(self, question: Question, room_id: str = "", last: bool = True) -> Found | None:
        """Find the name under which an operation takes the token, or by which method it is called
        and where a POST carries its parameters; `last`: else that stays open.

        A service that looks at the parameters first refuses B1 alike with a token and without; then
        only the method is reported, where the other one is not served.
        """
        found = None
        with self.question(question.name):
            request = question.request(room_id, self.new_id())
            found = self.inquiry.find(question, request, self.token())
        if found is None:
            return None
        known, by_name = self.inquiry.dialect, "method" not in question.setting
        ways = token_names(question, known) if by_name else question.choices
        unread = f"none of {', '.join(ways)} got {_READ}. One of the answers: {answer(found.asked)}"
        alone = None if by_name else found.method
        right = getattr(found.dialect, question.setting) if found.dialect else alone
        if right is None:
            if last:
                self.open(question.name, unread, found.asked)
            return found
        usual = question is TOKEN_IN_A5 and right == known.token_parameter
        settings: dict[str, Any] = {question.setting: None if usual else right}
        how = right if found.dialect else f"{right}; the other one is not served"
        place = found.dialect.placement if found.dialect else None
        told = known.placement if "placement" in self.inquiry.told else None
        if right == "POST" and place and told in (None, place):
            how += f", with its parameters in the {place}"
            settings["placement"] = place
        self.keep(Shown(question.name, how, settings=settings), found.asked)
        if right == "POST" and "placement" not in settings and (place or not told):
            both = f"B3 reads it in the {told}, B1 in the {place}: one setting is for both"
            self.open("placement of a POST", both if place else unread, found.asked)
        return found

    def reads(self) -> bool:
        """Ask all that changes nothing; return whether A3 reads the token."""
        nowhere = self.new_id()  # a room that is not there
        in_a = self.settle(TOKEN_IN_A, nowhere)
        readable = bool(in_a and in_a.dialect)
        if in_a and readable:
            for look in LOOKS_IN_A:
                self.look(look, nowhere, in_a.asked if look is LOOKS_IN_A[0] else None)
        listed = self.settle(CALL_OF_B3, nowhere)
        if listed and listed.dialect:
            for look in LOOKS_IN_B:
                self.look(look, nowhere, listed.asked if look is LOOKS_IN_B[0] else None)
        else:
            self.open("keys of B3's items", "not asked: it is not known how B3 is called")
        self.settle(CALL_OF_B1)
        return readable

    def changes(self, create: bool) -> None:
        """Ask A5, what needs a room of its own, and B2 for a user who is not there."""
        question, there = "a room of its own", False
        found = self.settle(TOKEN_IN_A5, self.new_id(), last=not create)
        told = not create or found is None or found.dialect is not None
        if not create:
            self.open(question, "not created, so A2 and A4 were not asked")
        else:
            extend_id = self.new_id()
            with (
                self.question(question),
                created_room(self.inquiry, extend_id, self.token) as room,
            ):
                self.left = room.left
                if room.asked and room.asked.members is not None:
                    there = True
                    own = "is" if room.room_id == extend_id else "is not"
                    how = f"created; its room_id {own} its room_extend_id"
                    self.keep(Shown(question, how), room.asked)
                    self.look(LOOK_AT_ROOM, room.room_id)
                    if not told:
                        told = bool(self.settle(TOKEN_IN_A5, room.room_id))
                    self.settle(TOKEN_IN_B2, room.room_id)
                elif room.asked:
                    self.open(question, answer(room.asked), room.asked)
        if not there:
            self.settle(TOKEN_IN_B2, self.new_id())
        if not told and not there:
            why = "an unknown room does not show it, and there was none of its own"
            self.open(TOKEN_IN_A5.name, why)

    def lifetime(self, since: float, wait: float) -> None:
        """Find between which ages a token ends, by asking for an unknown room for `wait` seconds.

        `since` is when it was made, by the client's clock. Each question uses the token: where a
        service counts from the last use, it lasts longer than it would unused (the interface does
        not say).
        """
        question, request = "lifetime of the token", TOKEN_IN_A.request(self.new_id())
        clock, sleep = self.inquiry.client._clock, self.inquiry.client._sleep
        with self.question(question):
            asked = self.inquiry.ask(request, self.token())
            begun = clock()
            alive = begun - since
            if asked.call.ret is None or asked.call.ret in REFUSED:
                why = f"the token does not work now: {answer(asked)}"
                return self.open(question, why, asked)
            polls = int(max(1, min(POLLS, self.inquiry.remaining)))
            for poll in range(1, polls + 1):
                sleep(max(0.0, begun + wait * poll / polls - clock()))
                asked = self.inquiry.ask(request, self.token())
                age = clock() - since
                if asked.call.ret in REFUSED:
                    found = f"it ended between {floor(alive)} and {ceil(age)} s after the login"
                    return self.keep(Shown(question, found), asked)
                if asked.call.ret is not None:
                    alive = age
            self.open(question, f"longer than {floor(alive)} s, as far as was waited", asked)
        return None
