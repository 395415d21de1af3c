"""`probe_dialect`: asks a service what the interface leaves open, within bounds."""

from __future__ import annotations

import json
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from .. import signing
from ..attempt import Attempt
from ..client import Client
from ..dialect import CHOICES
from ..endpoints import A3, A5, B1, B3
from ..errors import ConfigError
from ..secret import Secret, hidden_address, mask
from ..transport import finite
from ..wire import Request
from .evidence import Evidence, Probe
from .inquiry import QUESTIONS, REFUSED, Found, Inquiry, Unasked, answer, nobody, token_names
from .logins import Login, Logins, Tried, signatures
from .own_room import created_room

if TYPE_CHECKING:
    from ..dialect import Dialect

CALLS = 60
FEWEST = 20  # calls: with fewer, a question could be asked but not its control
SILENT = 2  # questions in a row to which an interface says nothing, before it is left alone
CALLBACK = "confkitProbe"
POLLS = 20  # questions while waiting for a token to end, evenly spaced
_NUMBERS = ("id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video")
_PLACEMENT = "placement of a POST"


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
            clock=clock,
            sleep=sleep,
            new_id=new_id,
        )


def probe_client(
    client: Client,
    *,
    max_failed_logins: int = 2,
    wait: float | None = None,
    max_calls: int = CALLS,
    own_room: bool = True,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Probe:
    """As `probe_dialect`, of a client's service and with its dialect as the first guess; where the
    client is read only, nothing is created, and B1 and B2 are left alone."""
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
        born = clock()
        readable = asking.reads()
        asking.rooms(own_room and readable, sleep)
        asking.result_codes()
        if wait is not None:
            asking.lifetime(born, wait, clock, sleep)
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


class _Asking:
    """A probe while it goes on: each method asks one question and keeps its answer as evidence."""

    def __init__(self, inquiry: Inquiry, logins: Logins, new_id: Callable[[], str]) -> None:
        self.inquiry, self.logins, self.new_id = inquiry, logins, new_id
        self.rows: list[Evidence] = []
        self.left: list[str] = []
        self.nowhere = ""  # a room that is not there
        self._login: Login | None = None

    # What is kept

    def seen(self, question: str, told: str, shown: Attempt | Login, **settings: Any) -> None:
        """Keep an answer that the service showed, and the settings of the dialect that it is."""
        self.inquiry.dialect = replace(self.inquiry.dialect, **settings)
        self.inquiry.told += settings
        self.rows.append(Evidence(question, mask(told), "seen", shown.call))

    def open(self, question: str, why: str, shown: Attempt | Login | None = None) -> None:
        """Keep what could not be told, and why."""
        self.rows.append(Evidence(question, mask(why), "open", shown.call if shown else None))

    def came(self, question: str, asked: Attempt) -> None:
        """Keep what came, where that is an answer of the interface."""
        (self.open if asked.call.ret is None else self.seen)(question, answer(asked), asked)

    @contextmanager
    def question(self, question: str) -> Iterator[None]:
        """Keep a question as open where it cannot be asked."""
        try:
            yield
        except Unasked as why:
            self.open(question, str(why))

    def ask(self, endpoint: Any, token: Secret | None = None, **parameters: str) -> Attempt:
        """Send one request, with the token of the login unless another one is given."""
        return self.inquiry.ask(Request(endpoint, parameters), token or self.token())

    # The login

    def log_in(self) -> bool:
        """Log in; False where the bound left it open. Raises where the service answers a login with
        neither yes nor no: nothing can be found out then."""
        question = "signature of digest and token"
        client = self.inquiry.client
        tried = self.logins.first(signatures(client.access_key, client.secret_key, client.dialect))
        self._login = login = tried.accepted
        if login:
            chosen = login.candidate.dialect
            signed = {"hash": chosen.hash, "signature": chosen.signature}
            self.seen(question, f"the signature is {login.candidate.what}", login, **signed)
            return True
        last = tried.logins[-1] if tried.logins else None
        if last and last.came == "unclear" and last.error:
            raise last.error
        self.open(question, _unaccepted(tried, self.logins.bound), last)
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

    # What changes nothing on the service

    def reads(self) -> bool:
        """Ask all that changes nothing; return whether A3 reads the token."""
        self.nowhere = self.new_id()
        # Of a token's form, and none.
        bad = signing.sign(self.new_id(), "confkit probe", self.inquiry.dialect)
        readable = self.spelling_in_a()
        if readable:
            self.what_comes("a bad token in A3", A3, bad, room_id=self.nowhere)
            self.jsonp()
        listed = self.calls("B3 by GET or POST", Request(B3, {"roomId": self.nowhere}))
        if listed and listed.dialect:
            self.came("an unknown room in B3", listed.asked)
            self.what_comes("a bad token in B3", B3, bad, roomId=self.nowhere)
            self.listing()
        else:
            self.open("keys of B3's items", "not asked: it is not known how B3 is called")
        # What is sent to B1 holds a token and nothing else: no room, no user, no address. So there
        # is nothing that a service could seat or dial, however wrong it is, and a right one refuses
        # it, as all four are required (section 4). With complete parameters a service that does not
        # check the room could import something.
        created = self.calls("B1 by GET or POST", Request(B1, {}))
        if created and created.method == "GET" and listed and listed.method == "GET":
            self.seen(_PLACEMENT, "not used: B1 and B3 are called by GET", created.asked)
        return readable

    def what_comes(self, question: str, endpoint: Any, token: Secret, **parameters: str) -> None:
        """Keep what comes for a request, where that is an answer of the interface."""
        with self.question(question):
            self.came(question, self.ask(endpoint, token, **parameters))

    def spelling(self, question: str, request: Request, last: bool = True) -> Found | None:
        """Find the name under which an operation takes the token; `last`: else it stays open."""
        with self.question(question):
            endpoint = request.endpoint
            found = self.inquiry.find(request, self.token())
            setting = QUESTIONS[endpoint.key].setting
            if found.dialect:
                name = getattr(found.dialect, setting)
                own = name if name != self.inquiry.dialect.token_parameter else None
                known = {setting: own if endpoint is A5 else name}
                self.seen(question, name, found.asked, **known)
            elif last:
                names = ", ".join(token_names(endpoint, self.inquiry.dialect))
                self.open(
                    question,
                    f"none of {names} changes what {endpoint.key} answers without a token, to one "
                    f"that shows it was read. One of the answers: {answer(found.asked)}",
                    found.asked,
                )
            return found
        return None

    def spelling_in_a(self) -> bool:
        """Ask how interface A spells the token, with an unknown room, and keep what A3 says."""
        found = self.spelling("spelling of the token in A", Request(A3, {"room_id": self.nowhere}))
        if found and found.dialect:
            self.seen("an unknown room in A3", answer(found.asked), found.asked)
        return bool(found and found.dialect)

    def jsonp(self) -> None:
        """Ask whether a `callback` is honoured."""
        question = "JSONP (callback)"
        with self.question(question):
            asked = self.ask(A3, room_id=self.nowhere, callback=CALLBACK)
            came = asked.answer
            if came and came.body.lstrip().startswith(f"{CALLBACK}(".encode()):
                kind = came.content_type or "no content type"
                self.seen(question, f"honoured: {CALLBACK}({{...}}), {kind}", asked)
            elif asked.call.ret is not None:
                self.seen(question, "ignored: plain JSON comes", asked)
            else:
                self.open(question, answer(asked), asked)

    def calls(self, question: str, request: Request) -> Found | None:
        """Ask by which method B1 or B3 is called, and where a POST carries its parameters.

        A service that looks at the parameters first refuses B1 alike with a token and without; then
        only the method is told, where the other one is not served.
        """
        with self.question(question):
            found = self.inquiry.find(request, self.token())
            unread = (
                "neither GET nor POST in query, form or JSON got an answer that shows that the "
                f"token was read. One of the answers: {answer(found.asked)}"
            )
            if found.method is None:
                self.open(question, unread, found.asked)
                return found
            how = f"{found.method}{'' if found.dialect else '; the other one is not served'}"
            setting = QUESTIONS[request.endpoint.key].setting
            self.seen(question, how, found.asked, **{setting: found.method})
            if found.method == "POST":
                self._placed(found, unread)
            return found
        return None

    def _placed(self, found: Found, unread: str) -> None:
        known, told = self.inquiry.dialect.placement, "placement" in self.inquiry.told
        place = found.dialect.placement if found.dialect else None
        if place and not told:
            self.seen(_PLACEMENT, place, found.asked, placement=place)
        elif place and place != known:
            both = f"B3 reads it in the {known}, B1 in the {place}"
            self.open(_PLACEMENT, f"{both}, and the dialect has one setting for both", found.asked)
        elif not place and not told:
            self.open(_PLACEMENT, unread, found.asked)

    def listing(self) -> None:
        """Ask for the key style of B3's items, and whether its numbers are quoted: one listing."""
        question = "keys of B3's items"
        with self.question(question):
            asked = self.ask(B3)
            data = (asked.members or {}).get("data")
            items = data.get("items") if isinstance(data, Mapping) else None
            if asked.members is None or not isinstance(items, list):
                what = "its answer holds no list of items" if asked.members else answer(asked)
                return self.open(question, what, asked)
            if isinstance(data, Mapping) and "total" in data:
                self.seen("total in B3", _as_number(data["total"]), asked)
            style = _key_style(items)
            if style:
                self.seen(question, style, asked, item_keys=style)
            elif items:
                self.open(question, "the items have keys of both styles, or of neither", asked)
            else:
                self.open(question, "no device is listed, so nothing shows them", asked)
        return None

    # What needs a room of its own

    def rooms(self, create: bool, sleep: Callable[[float], object]) -> None:
        """Ask A5, what needs a room of its own, and B2 for a user who is not there."""
        in_a5, in_b2 = "spelling of the token in A5", "spelling of the token in B2"
        question, there = "a room of its own", False
        unknown = Request(A5, {"room_id": self.new_id()})
        found = self.spelling(in_a5, unknown, last=not create)
        told = not create or found is None or found.dialect is not None
        if not create:
            self.open(question, "not created, so A2 and A4 were not asked")
        else:
            with (
                self.question(question),
                created_room(self.inquiry, self.new_id(), self.token, sleep) as room,
            ):
                self.left, there = room.left, room.there
                if room.there and room.asked:
                    own = "is" if room.room_id == room.extend_id else "is not"
                    how = f"created; its room_id {own} its room_extend_id"
                    self.seen(question, how, room.asked)
                    self.room_numbers(room.room_id)
                    if not told:
                        told = bool(self.spelling(in_a5, Request(A5, {"room_id": room.room_id})))
                    self.spelling(in_b2, nobody(room.room_id, self.new_id()))
                elif room.asked:
                    self.open(question, answer(room.asked), room.asked)
        if not there:
            self.spelling(in_b2, nobody(self.new_id(), self.new_id()))
        if not told and not there:
            self.open(in_a5, "an unknown room does not show it, and there was none of its own")

    def room_numbers(self, room_id: str) -> None:
        """Ask which numbers of a room A3 quotes."""
        question = "numbers in A3"
        with self.question(question):
            asked = self.ask(A3, room_id=room_id)
            members = _top(asked)
            given = [name for name in _NUMBERS if members.get(name) not in (None, "")]
            if asked.members is None or not given:
                what = "its answer holds no number" if asked.members else answer(asked)
                return self.open(question, what, asked)
            quoted = [name for name in given if isinstance(members[name], str)]
            plain = [name for name in given if name not in quoted]
            parts = [("quoted: ", quoted), ("as numbers: ", plain)]
            found = "; ".join(label + ", ".join(names) for label, names in parts if names)
            self.seen(question, found, asked)
        return None

    # What all the answers show

    def result_codes(self) -> None:
        """Keep where A and B put the result code, and its form, by all the answers so far."""
        codes: dict[tuple[str, ...], Attempt] = {}
        for asked in self.inquiry.heard:
            members = _top(asked)
            if asked.call.ret is not None:
                names = [name for name in CHOICES["result_field"] if members.get(name) is not None]
                codes.setdefault((asked.call.endpoint[0], *names), asked)
        of_b = [asked for (interface, *_), asked in codes.items() if interface == "B"]
        for (interface, *names), asked in codes.items():
            if len(names) == 1 and (interface == "A" or len(of_b) == 1):
                found = f"in {names[0]}, {_as_number(_top(asked)[names[0]])}"
                known = {"result_field": names[0]} if interface == "B" else {}
                self.seen(f"result code of {interface}", found, asked, **known)
        if "result_field" not in self.inquiry.told:
            both = "in ret and in result" if of_b else "no answer of B holds one"
            self.open("result code of B", both, of_b[0] if of_b else None)

    def lifetime(
        self,
        since: float,
        wait: float,
        clock: Callable[[], float],
        sleep: Callable[[float], object],
    ) -> None:
        """Find between which ages a token ends, by asking for an unknown room for `wait` seconds.

        `since` is when it was made, by `clock`. Each question uses the token: where a service
        counts from the last use, it lasts longer than it would unused (the interface does not say).
        """
        question, room_id = "lifetime of the token", self.new_id()
        with self.question(question):
            asked = self.ask(A3, room_id=room_id)
            begun = clock()
            alive = begun - since
            if asked.call.ret is None or asked.call.ret in REFUSED:
                why = f"the token does not work now: {answer(asked)}"
                return self.open(question, why, asked)
            polls = int(max(1, min(POLLS, self.inquiry.remaining)))
            for poll in range(1, polls + 1):
                sleep(max(0.0, begun + wait * poll / polls - clock()))
                asked = self.ask(A3, room_id=room_id)
                age = clock() - since
                if asked.call.ret in REFUSED:
                    found = f"it ended between {floor(alive)} and {ceil(age)} s after the login"
                    return self.seen(question, found, asked)
                if asked.call.ret is not None:
                    alive = age
            self.open(question, f"longer than {floor(alive)} s, as far as was waited", asked)
        return None


def _unaccepted(tried: Tried, bound: int) -> str:
    refused = "; ".join(f"the signature is {login.candidate.what}" for login in tried.logins)
    said = f"refused: {refused}. " if refused else "no login was tried. "
    if not tried.open:
        return f"{said}All that there are: access key or secret key are wrong, or the rule is new."
    waiting = "; ".join(f"the signature is {candidate.what}" for candidate in tried.open)
    return (
        f"{said}Not tried, as max_failed_logins is {bound}: {waiting}. Ask the provider for the "
        f"rule, or whether accounts lock; {len(tried.logins) + len(tried.open)} try them all."
    )


def _key_style(items: list[Any]) -> str | None:
    """How the items' keys are spelt, None where they do not show one style."""
    keys = {key for item in items if isinstance(item, Mapping) for key in item}
    snake = any(re.fullmatch(r"(room|user)_[a-z]+", key) for key in keys)
    camel = any(re.fullmatch(r"(room|user)[A-Z][a-z]+", key) for key in keys)
    if snake == camel:
        return None
    return "snake_case" if snake else "camelCase"


def _as_number(value: object) -> str:
    return "as text" if isinstance(value, str) else "as a number"


def _top(asked: Attempt) -> Mapping[str, Any]:
    """The members of an answer as they came, also of a refusal; empty where it is no object."""
    try:
        members = json.loads(asked.answer.body) if asked.answer else {}
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, Mapping) else {}
