"""`probe_dialect`: asks a service what the interface leaves open, within bounds, and leaves nothing
behind; and what it has found: each answer with the exchange that shows it, and what stayed open."""

from __future__ import annotations

import json
import signal
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from .. import signing
from ..checklist import verdict_table
from ..client import Client, hidden_address
from ..dialect import Dialect
from ..endpoints import A2, A3, A4, A5
from ..errors import ConfigError, ConfkitError, ReadOnlyError, TransportError
from ..many.interrupts import OTHERS, handled
from ..secret import Secret, mask
from ..text import as_it_is, as_json, counted, one_line, printable
from ..transport import finite
from ..wire import Request
from .questions import (
    OF_A_ROOM,
    OF_NO_ROOM,
    OWN_ROOM,
    REFUSED,
    UNKNOWN_ROOM,
    Inquiry,
    Question,
    Shown,
    Unasked,
    answer,
    result_codes,
    signed,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ..attempt import Attempt
    from ..calls import Call

CALLS = 60
FEWEST = 20  # calls: with fewer, a question could be asked but not its control
SILENT = 2  # questions in a row to which an interface says nothing, before it is left alone
POLLS = 20  # questions while waiting for a token to end, evenly spaced
TOPIC = "confkit probe: a room of a test, gone in a moment; safe to delete"
OWNER = "confkit-probe"
REMOVALS = 4  # tries to delete the room, each also for a login where the token has been let go
ANSWER = 160  # characters of an answer in a text; as_json has more
_EXCHANGE = ("endpoint", "method", "url", "placement", "status", "ret", "answer", "error")


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
    `wait` is how many seconds to wait for a token to end; its lifetime is not asked for without it.
    `timeout` and `verify` are as for `connect`; `new_id` gives the IDs of rooms that are not there,
    and of its own.

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
    keys = access_key.strip(), Secret(secret_key.strip())
    how: dict[str, Any] = {"dialect": dialect, "timeout": timeout, "verify": verify}
    bounds: dict[str, Any] = {"max_failed_logins": max_failed_logins, "max_calls": max_calls}
    with Client(base_url, outgoing_url, *keys, **how, clock=clock, sleep=sleep) as client:
        return probe_client(client, **bounds, wait=wait, own_room=own_room, new_id=new_id)


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
    if type(max_calls) is not int or max_calls < FEWEST:
        raise ConfigError(
            f"max_calls is {max_calls!r}",
            f"Give a whole number, {FEWEST} or more: a probe needs about thirty calls",
        )
    probing = _Probing(client, new_id, max_failed_logins, max_calls)
    if probing.logs_in():
        first, born = probing.token, client._clock()
        probing.ask_all(OF_NO_ROOM, new_id())
        probing.ask_of_a_room(own_room)
        for shown, asked in result_codes(probing.heard):
            probing.keep(shown, asked)
        if wait is not None:
            probing.lifetime(first, born, wait)
    found = tuple(probing.rows), tuple(probing.told), probing.calls, probing.failed
    urls = client.base_url, client.outgoing_url
    return Probe(probing.dialect, *found, tuple(probing.left), *urls)


class Evidence(NamedTuple):
    """One `question` and its `answer`; `sure` is "seen" where the service showed it in `exchange`
    (masked), "open" where it could not be known."""

    question: str
    answer: str
    sure: Literal["seen", "open"]
    exchange: Call | None

    def __str__(self) -> str:
        shown = f"\n        {_exchange(self.exchange)}" if self.exchange else ""
        return f"{self.sure:<5} {one_line(f'{self.question}: {self.answer}')}{shown}"


@dataclass(frozen=True, slots=True, repr=False)
class Probe:
    """How one service fills what the interface leaves open, and what shows it.

    `dialect` holds what was found; a setting not in `told` is as it was given, or as usual.
    `evidence` has a row for each question; `open` says what could not be known, and why. `calls`
    were sent, `failed_logins` of them are logins that failed or may have. `left` names what the
    probe made and could not remove: empty, unless the service failed meanwhile.
    """

    dialect: Dialect
    evidence: tuple[Evidence, ...]
    told: tuple[str, ...]
    calls: int
    failed_logins: int
    left: tuple[str, ...] = ()
    base_url: str = ""
    outgoing_url: str = ""

    @property
    def open(self) -> tuple[str, ...]:
        """What could not be known, and why."""
        return tuple(f"{row.question}: {row.answer}" for row in self.evidence if row.sure == "open")

    @property
    def exit_status(self) -> int:
        """0 where everything was found out, 2 where something is open or left."""
        return 2 if self.open or self.left else 0

    def save(self, profile_name: str, new: Mapping[str, Any] | None = None) -> Path:
        """Write what was found out into this profile's dialect; return the file of the profiles.

        Other settings of the profile stay as they are, and so does what was not told. Where there
        is no such profile it is made from the settings `new`. ConfigError: there is none and no
        `new`, or it is of another service.
        """
        from .. import profiles

        profiles.check_name(profile_name)
        made = new is not None and profile_name not in profiles.names()
        settings = dict(new or {}) if made else profiles.load(profile_name)
        for name in ("base_url", "outgoing_url"):
            if str(settings.get(name, "")).strip().rstrip("/") != getattr(self, name):
                raise ConfigError(
                    f"profile {profile_name!r} has another {name} than the service that was "
                    f"probed, {getattr(self, name)}",
                    "Make a profile for that one: confkit profile add NAME",
                )
        stored = Dialect.of(settings.get("dialect", {}))
        found = replace(stored, **{name: getattr(self.dialect, name) for name in self.told})
        return profiles.save(profile_name, {**settings, "dialect": found.changes()})

    def to_frame(self) -> pd.DataFrame:
        """One row per question: question, answer, sure, exchange (texts)."""
        import pandas as pd

        rows = [(*row[:3], _exchange(row.exchange)) for row in self.evidence]
        return pd.DataFrame(rows, columns=list(Evidence._fields), dtype="str")

    def as_json(self) -> str:
        """All of it as one JSON object; an exchange has method, url, status, ret and answer."""
        rows = [row._asdict() for row in self.evidence]
        for row in rows:
            if call := row["exchange"]:
                row["exchange"] = {name: getattr(call, name) for name in _EXCHANGE}
        found = asdict(replace(self, evidence=()))
        return as_json({**found, "open": self.open, "evidence": rows})

    def __repr__(self) -> str:
        head, *foot = self._around()
        return printable("\n".join([head, *map(str, self.evidence), *foot]))

    def _repr_html_(self) -> str:
        rows = [(row.sure, *row[:2], _exchange(row.exchange)) for row in self.evidence]
        heads = ("sure", "question", "answer", "exchange")
        texts = "".join(f"<p>{escape(line)}</p>" for line in self._around())
        return as_it_is(texts + verdict_table(heads, rows, verdict=0, name=1))

    def _around(self) -> list[str]:
        """The lines around the rows: the dialect, then how much was asked, and what is left."""
        changes = ", ".join(f"{name}={value}" for name, value in self.dialect.changes().items())
        figures = f"{self.calls} calls, {counted(self.failed_logins, 'failed login')}"
        left = [one_line(f"LEFT: {what}") for what in self.left]
        return [f"{self.base_url}: {changes or 'the usual dialect'}", figures, *left]


def _exchange(call: Call | None) -> str:
    """The exchange in one line, without the host, which all share."""
    if call is None:
        return ""
    sent = urlsplit(call.url)._replace(scheme="", netloc="").geturl()
    if call.placement != "query":
        sent += f" {call.placement} {json.dumps(call.fields, ensure_ascii=False)}"
    came = f"HTTP {call.status} {call.answer[:ANSWER]}" if call.status else "no answer"
    return one_line(f"{call.endpoint} {call.method} {sent} -> {came}")


class _Probing(Inquiry):
    """A probe while it goes on: it asks the questions and keeps their answers as evidence."""

    def __init__(self, client: Client, new_id: Callable[[], str], bound: int, most: int) -> None:
        super().__init__(client, bound, max_calls=most, silences=SILENT)
        self.new_id = new_id
        self.rows: list[Evidence] = []
        self.left: list[str] = []
        self.settled = {""}  # the names of questions on which others wait

    def keep(self, shown: Shown, asked: Attempt | None = None) -> None:
        """Keep what an answer shows, or why it shows nothing."""
        question, text, seen, settings = shown
        self.dialect = replace(self.dialect, **settings)
        self.told += [name for name in settings if name not in self.told]
        call = asked.call if asked else None
        self.rows.append(Evidence(question, mask(text), "seen" if seen else "open", call))

    def logs_in(self) -> bool:
        """Log in; False where the bound left it open. Raises where the service answers a login with
        neither yes nor no: nothing can be found out then."""
        question, last = "signature of digest and token", self.log_in()
        if last and self.token:
            found = last.context.dialect
            settings = {"hash": found.hash, "signature": found.signature}
            self.keep(Shown(question, f"the signature is {signed(found)}", True, settings), last)
            return True
        if last and last.call.ret not in REFUSED and self.failure:
            raise self.failure
        first = f"refused: {signed(self.dialect)}" if last else "no login was tried"
        self.keep(Shown(question, f"{first}; {self.refusal()} (max_failed_logins)", False), last)
        self.keep(Shown("everything else", "not asked, as no login was accepted", False))
        return False

    # The questions

    def ask_all(self, questions: Iterable[Question], room_id: str) -> None:
        """Ask these about a room, and keep what comes; one that cannot be asked stays open."""
        for question in questions:
            try:
                if question.needs not in self.settled:
                    raise Unasked(f"it needs an answer to {question.needs!r}")
                request = question.request(room_id, self.new_id())
                if question.setting:
                    self.settle(question, request)
                    continue
                bad = signing.sign(self.new_id(), "confkit probe", self.dialect)
                asked = self.ask(request, bad if question.bad else self.token)
                for shown in question.read(question.name, asked):
                    self.keep(shown, asked)
            except (Unasked, ReadOnlyError) as why:
                self.keep(Shown(question.name, f"not asked: {why}", False))

    def settle(self, question: Question, request: Request) -> None:
        """Find the name under which an operation takes the token, or by which method it is called
        and where a POST carries its parameters.

        A service that looks at the parameters first refuses B1 alike with a token and without; then
        only the method is reported, where the other one is not served.
        """
        found, known = self.find(question, request), self.dialect
        settings: dict[str, str | None] = {**found.settings}
        unread = f"none of {', '.join(question.ways(known))} got an answer that shows that the "
        unread += f"token was read. One of the answers: {answer(found.asked)}"
        if not settings:
            self.keep(Shown(question.name, unread, False), found.asked)
            return
        how = right = found.settings[question.setting]
        if not found.read:
            how += "; the other one is not served"
        if "placement" in settings:
            how += f", with its parameters in the {settings['placement']}"
        if question.endpoint is A5 and right == known.token_parameter:
            settings[question.setting] = None  # as usual
        self.keep(Shown(question.name, how, True, settings), found.asked)
        if right == "POST" and "placement" not in self.told:
            self.keep(Shown("placement of a POST", unread, False), found.asked)
        self.settled |= {question.name} if found.read else set()

    def lifetime(self, token: Secret | None, since: float, wait: float) -> None:
        """Find between which ages a token ends, by asking for an unknown room for `wait` seconds.

        `since` is when it was made, by the client's clock. Each question uses the token: where a
        service counts from the last use, it lasts longer than it would unused (the interface does
        not say).
        """
        question, request = "lifetime of the token", Request(A3, {"room_id": self.new_id()})
        clock, sleep = self.client._clock, self.client._sleep
        begun, alive = clock(), 0.0
        polls = int(max(1, min(POLLS, self.remaining - 1)))
        try:
            for poll in range(polls + 1):
                sleep(max(0.0, begun + wait * poll / polls - clock()))
                asked = self.ask(request, token)
                age = clock() - since
                if asked.call.ret in REFUSED:
                    found = f"it ended between {floor(alive)} and {ceil(age)} s after the login"
                    self.keep(Shown(question, found), asked)
                    return
                alive = alive if asked.call.ret is None else age
            found = f"longer than {floor(alive)} s, as far as was waited"
            self.keep(Shown(question, found, False), asked)
        except Unasked as why:
            self.keep(Shown(question, f"not asked: {why}", False))

    # A room of its own

    def ask_of_a_room(self, create: bool) -> None:
        """Ask what is asked of a room, in one of its own where that may be and can be created, else
        about one that is not there."""
        try:
            if not create or "token_parameter" not in self.told:
                raise Unasked("none is to be created, so A2 and A4 are open")
            if self.remaining <= 2 * REMOVALS:
                raise Unasked("too few calls are left to remove it again (max_calls)")
            self.ask_in_own_room()
        except (Unasked, ReadOnlyError) as why:
            self.keep(Shown(OWN_ROOM, f"not asked: {why}", False))
        if OWN_ROOM not in self.settled:
            self.ask_all(OF_A_ROOM, self.new_id())

    def ask_in_own_room(self) -> None:
        """Create a room, ask about it, and delete it.

        It is deleted also after an error or Ctrl-C, which then carries a note where that failed; a
        Ctrl-C meanwhile has to wait until that is done. A creation that was refused or whose answer
        was lost is followed by the deletion too: its ID is known beforehand, as room_id equals
        room_extend_id (section 2), and a refusal can come of a room that is there.
        """
        room_id = chosen = self.new_id()
        people = {"owner_id": OWNER, "room_mode": 1, "attendee_max": 2}
        creation = Request(A2, {"topic": TOPIC, **people, "room_extend_id": chosen})
        self.kept, before = 2 * REMOVALS, self.calls
        made: Attempt | None = None
        late: list[int] = []
        try:
            made = self.ask(creation, self.token)
            if made.members is None:
                self.keep(Shown(OWN_ROOM, answer(made), False), made)
                return
            room_id = str(made.members.get("room_id") or chosen)
            own = "is" if room_id == chosen else "is not"
            self.keep(Shown(OWN_ROOM, f"created; its room_id {own} its room_extend_id"), made)
            self.settled.add(OWN_ROOM)
            self.ask_all(OF_A_ROOM, room_id)
        finally:
            unsent = made and isinstance(made.error, TransportError) and not made.error.sent
            self.kept = 0
            with handled((signal.SIGINT, *OTHERS), lambda number, _: late.append(number)):
                if self.calls > before and not unsent:
                    self.remove(room_id, settled=made is not None and made.call.ret is not None)
            ended_by = KeyboardInterrupt() if late else sys.exc_info()[1]
            for what in self.left:
                if ended_by:
                    ended_by.add_note(f"LEFT: {what}")
            if late and ended_by:
                raise ended_by

    def remove(self, room_id: str, settled: bool) -> None:
        """Delete the room, or say in `left` why it may still be there; `settled`: the service
        said yes or no to its creation."""
        request, named = Request(A4, {"room_id": room_id}), f"room {room_id!r} (topic {TOPIC!r})"
        why, missing = "", False
        for attempt in range(REMOVALS):
            try:
                if attempt:
                    self.client._sleep(0.2 * attempt)
                self.silent["A"] = 0  # it is asked whatever came before
                asked = self.ask(request, self.token)
                why, gone = answer(asked), asked.call.ret in UNKNOWN_ROOM
                if asked.members is not None or (gone and settled):
                    return
                if gone and missing:
                    why = "the answer to its creation was lost; the service has no such room now"
                    break
                missing = gone  # one more look: the creation may be under way yet
                if asked.call.ret in REFUSED:
                    self.login(self.dialect)
            except ConfkitError as error:
                why = str(error)
        self.left.append(
            f"{named} may still be there, or appear later: {why}. "
            f"Delete it then: ck.delete_room(client, {room_id!r})"
        )
