"""`doctor`: nine checks from the settings to a room's media server, each a function. A setting that
is wrong is named, and the checks after it go on with the right value."""

from __future__ import annotations

import copy
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..checks import Check, Checklist, Outcome
from ..client import DIAL_SECONDS, on_loopback
from ..errors import ConfigError, ConfkitError, TransportError, TransportTimeout
from ..operations import A3, B3, OPERATIONS
from ..records import Room, parse_id, require_field
from ..secret import mask
from ..transport import is_positive
from .media_server import mcu_answers
from .probe import FAULTS, NOT_SUPPORTED, REFUSED, Finding, Inquiry

if TYPE_CHECKING:
    from ..client import Client
    from ..dialect import Dialect
    from .probe import Answer

NO_ROOM = "999999999999999"  # a number that no room should have
MOST_SKEW = 5.0  # seconds that do no harm; the Date header has no fractions
_ROOM_CLOSED = 3  # room_status, as seen in deployments
_SETTINGS = {"A": "base_url", "B": "outgoing_url"}
_MAYBE_TLS = ("closed", "reset", "invalid", "broken")  # how plain HTTP ends on a port of TLS
_USUAL_KEY = re.compile(r"[!#-&(-_a-~]+")  # printable ASCII without white space and quotes
_MORE_TIME = "Give it more time: timeout= (--timeout)."
_GIVE_A_ROOM = "Give a room: confkit doctor ROOM."
_SET_DIALECT = "Connect with dialect="


def doctor(
    client: Client,
    room_id: str | None = None,
    *,
    max_failed_logins: int = 2,
    timeout: float = 60.0,
) -> Checklist:
    """Find out what is wrong between this machine and the service, and what to do about it first.

    The rows are those of `CHECKS`, always all: the settings, interface A, interface B, the clock,
    the keys (A1), the token in A (A3) and in B (B3, B2, B1), the room and its media server (A5,
    TCP); "finding" sums up. A setting that is wrong, also of the dialect, is a FAIL that names the
    right value, and the checks after it go on with that. A check that cannot be made is SKIP or
    UNKNOWN and says why.

    Nothing is changed: B2 is asked to remove a user who does not exist from a room that does not
    exist, and B1 is sent a token alone; a client that is read only sends neither. At most
    `max_failed_logins` logins fail. A token that the client holds is put at risk by a login only
    where it is refused. The client's token, dialect and session stay as they are; its `calls` show
    what was sent. All together takes `timeout` seconds at most, and the look-up of names.

    ParameterError and ConfigError: a wrong argument, or a closed client; nothing is raised for what
    the service does. Sections 4, 5 and 7 of the interface.
    """
    return Checklist(checkup(client, room_id, max_failed_logins, timeout))


def checkup(
    client: Client, room_id: str | None = None, max_failed_logins: int = 2, timeout: float = 60.0
) -> Iterator[Check]:
    """Return the rows of `doctor` one after another, as they are made; wrong arguments raise at
    once."""
    return _checks(Case(client, room_id, max_failed_logins, timeout))


def _checks(case: Case) -> Iterator[Check]:
    for name, function in _FUNCTIONS.items():
        late = case.time_left <= 0 and function is not finding
        row = Row("UNKNOWN", "not made: no time was left", _MORE_TIME) if late else function(case)
        case.rows[name] = row
        known = filter(None, (case.client.secret_key, case.client.secret_key.strip(), case.token))
        yield Check(name, row.outcome, mask(row.detail, *known), row.advice)


class Row(NamedTuple):
    """What a check says: its outcome, the detail, and the next step."""

    outcome: Outcome
    detail: str
    advice: str = ""


class Case(Inquiry):
    """What the checks share: an inquiry, the two `addresses`, and what they have shown so far."""

    def __init__(
        self, client: Client, room_id: str | None, max_failed_logins: int, timeout: float
    ) -> None:
        self.room_id = None if room_id is None else parse_id(A3, "room_id", room_id)
        if not is_positive(timeout):
            raise ConfigError(f"timeout is {timeout!r}", "Give seconds for all checks, above 0.")
        client.may_send(A3)
        super().__init__(client, max_failed_logins, timeout)
        self.given, self.rows = client, dict[str, Row]()
        self.addresses = self.client._addresses = dict(client._addresses)
        self.answers = {"A": False, "B": False}  # whether it answers as the interface does
        self.accepted = False  # whether A takes the token
        self.room: Room | None = None
        self.corrections: dict[str, Any] = {}  # settings of the dialect
        self.skew, self.location = inf, ""  # of the service's clock; to which a redirect leads
        session = self.client.session = copy.copy(client.session)  # its adapters stay shared
        session.cookies = copy.copy(session.cookies)
        hooks = session.hooks.get("response") or []
        hooks = hooks if isinstance(hooks, list) else [hooks]
        session.hooks = {"response": [*hooks, self._note]}

    def _note(self, response: Any, *_: object, **__: object) -> None:
        """Note what no result shows."""
        self.location = response.headers.get("Location", "").partition("?")[0]
        with suppress(LookupError, ValueError, TypeError, OverflowError):
            there = parsedate_to_datetime(response.headers["Date"]).timestamp() + 0.5
            skew = there - time.time() + response.elapsed.total_seconds() / 2
            self.skew = min(skew, self.skew, key=abs)

    def failure(self, error: ConfkitError, about: str = "") -> Row:
        """Return the row for an error: UNKNOWN where the time for all checks caused it."""
        detail = about + (error.cause if isinstance(error, TransportError) else error.summary)
        if isinstance(error, TransportTimeout) and self.client.timeout != self.timeout:
            return Row("UNKNOWN", f"{detail}; no more time was left for all checks", _MORE_TIME)
        return Row("FAIL", detail, error.advice)

    def origin(self, setting: str) -> str:
        """Return a setting's name, and where its value is from where that is known."""
        origin = self.client.origins.get(setting)
        return f"{setting} ({origin})" if origin else setting

    def correct(self, right: Dialect) -> str:
        """Go on with the right dialect; return its settings that were wrong, or ""."""
        before, self.dialect = self.dialect, right
        values = {name: getattr(right, name) for name in right.__slots__}
        wrong = {name: value for name, value in values.items() if value != getattr(before, name)}
        self.corrections |= wrong
        return ", ".join(f"{name}={value}" for name, value in wrong.items())

    def dialect_advice(self) -> str:
        """Return how to set all settings of the dialect, with those that were wrong."""
        settings = {**self.given.dialect.changes(), **self.corrections}
        settings = {name: value for name, value in settings.items() if value is not None}
        arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        line = ",".join(f"{name}={value}" for name, value in settings.items())
        if not settings:
            return f"{_SET_DIALECT}ck.Dialect(), and unset CONFKIT_DIALECT."
        return f"{_SET_DIALECT}ck.Dialect({arguments}), or set CONFKIT_DIALECT={line}"


# The settings, and the two interfaces


def settings(case: Case) -> Row:
    """Look at the settings, and say where each is from."""
    wrong, advice = [], []
    for interface, setting in _SETTINGS.items():
        url = case.addresses[interface]
        path = urlsplit(url).path
        if path and any(f"{row.path}/".startswith(f"{path}/") for row in OPERATIONS.values()):
            case.addresses[interface] = url.removesuffix(path)
            wrong.append(f"{case.origin(setting)} ends with {path}, which the client adds itself")
            advice.append(f"Set {setting} to {case.addresses[interface]}.")
    if wrong:
        return Row("FAIL", "; ".join(wrong), " ".join(advice))
    texts = [f"{case.origin(_SETTINGS[key])} {url}" for key, url in case.addresses.items()]
    texts += [f"{case.origin(key)} is given" for key in ("access_key", "secret_key")]
    plain = [url for url in case.addresses.values() if url[:5] == "http:" and not on_loopback(url)]
    remark = "Tokens can be read on the way where the address says http." if plain else ""
    return Row("PASS", "; ".join(texts), remark)


def answering(case: Case, interface: str, other: str) -> Row:
    """Ask an interface (A3, B3) without a token, at its address and, where it does not answer
    there, at that of the other one."""
    url, setting = case.addresses[interface], _SETTINGS[interface]
    call, result = _ask_first(case, interface)
    case.answers[interface] = answers = call.ret not in (None, NOT_SUPPORTED)
    there = case.given._addresses[other]
    goal = f"; it leads to {case.location}" * bool(case.location)
    if not answers and call.status and there != url:
        case.addresses[interface] = there
        ret = _ask_first(case, interface)[0].ret
        # Where B3 is served by POST alone, that A answers at B's address shows it.
        swapped = ret == NOT_SUPPORTED and interface == "B" and case.addresses["A"] == url
        if swapped or ret not in (None, NOT_SUPPORTED):
            case.answers[interface] = True
            text = f"{url} does not answer as interface {interface}, but the other address does"
            return Row("FAIL", text, f"Set {setting} to {there}.")
        case.addresses[interface] = url
    if answers or (call.ret is not None and interface == "B"):  # by another method: see the token
        case.answers[interface] = True
        text = f"{url} answers with result code {call.ret}, as no token was sent"
        advice = "Tell the operator that this service answers without a token."
        return Row("PASS", text, advice if call.ret == 0 else "")
    assert isinstance(result, ConfkitError)  # noqa: S101
    row = case.failure(result, f"{url}: ")
    advice = f"{row.advice} The setting is {case.origin(setting)}."
    maybe_tls = call.status == 400 or getattr(result, "obstacle", "") in _MAYBE_TLS
    if maybe_tls and url.startswith("http:"):
        advice += " If this port speaks TLS, write https:// in it."
    return Row(row.outcome, row.detail + goal, advice)


def _ask_first(case: Case, interface: str) -> Answer:
    """Ask an interface for a room without a token, which spends no login."""
    return case.ask(A3, {"room_id": NO_ROOM}) if interface == "A" else case.ask(B3, {})


# The clock, the keys and the token


def clock(case: Case) -> Row:
    """Compare this machine's clock with the service's, by the Date header."""
    if not any(case.answers.values()):
        return Row("SKIP", "neither interface answers")
    if case.skew == inf:
        advice = "Compare the clocks by hand (timedatectl) when tokens end early."
        return Row("UNKNOWN", "the responses hold no Date header", advice)
    if abs(case.skew) <= MOST_SKEW:
        return Row("PASS", f"both clocks agree within {MOST_SKEW:g} s")
    side = "behind" if case.skew > 0 else "ahead of"
    text = (
        f"this machine is {timedelta(seconds=round(abs(case.skew)))} (h:mm:ss) {side} the service"
    )
    advice = "Set the wrong clock by a time server (NTP), here or there: it matters for how long a "
    return Row("FAIL", text, f"{advice}token lives, and for certificates.")


def keys(case: Case) -> Row:
    """Log in (A1), unless the client holds a token that is not refused."""
    if not case.answers["A"]:
        return Row("SKIP", "interface A does not answer")
    if case.given.authenticated:
        case.token = case.given.token()
        held = case.find("A3", NO_ROOM)
        if not held.refused and held.call.ret != 407:  # which a token may get that is not read
            text = "no login was made: this client holds a token, which a login may end"
            advice = "To try the keys, run it with a client that has not called yet."
            return Row("UNKNOWN" if held.call.ret is None else "SKIP", text, advice)
        case.token = None
    before, error = case.dialect, case.log_in()
    if error is None:
        right, case.dialect = case.dialect, before
        if wrong := case.correct(right):
            text = f"the keys are right, and the service wants another signature: {wrong}"
            return Row("FAIL", text, case.dialect_advice())
        return Row("PASS", "A1 accepts the keys, with the signature of the dialect")
    ret = getattr(error, "ret", None)
    if ret not in REFUSED:
        return case.failure(error, "A1 says nothing of the keys: ")
    names = ("access_key", "secret_key")
    odd = [name for name in names if not _USUAL_KEY.fullmatch(getattr(case.client, name))]
    text = f"A1 refuses the keys ({ret}); {case.refusals()}"
    text += "; white space, quotes or letters beyond ASCII in " * bool(odd) + " and ".join(odd)
    advice = f"Compare {' and '.join(map(case.origin, names))} with those of the provider"
    if case.untried:
        advice += ", and ask for hash and form of the signature, or allow more failed logins: "
        advice += "max_failed_logins=8 (--max-failed-logins 8)"
    return Row("FAIL", text, f"{advice}.")


def token_in_a(case: Case) -> Row:
    """Ask A3 with the token and without."""
    if case.token is None:
        return Row("SKIP", "there is no token to try")
    answer = case.find("A3", case.room_id or NO_ROOM)
    row = _reading(case, answer)
    case.accepted = row.outcome != "FAIL" or not answer.problem
    if row.outcome == "UNKNOWN" and case.room_id is None:
        return row._replace(advice=f"{_GIVE_A_ROOM} With one the answers may differ.")
    if answer.refused:
        advice = (
            "Ask the operator whether base_url leads to a single service: behind a balancer A3 "
        )
        return row._replace(advice=f"{advice}may not know the tokens of A1.")
    return row


def token_in_b(case: Case) -> Row:
    """Ask B3 with the token and without, then B2 and B1, which are changes."""
    if not case.answers["B"] or not case.accepted:
        return Row("SKIP", "A accepts no token" if case.answers["B"] else "B does not answer")
    answer = case.find("B3", NO_ROOM)
    rows = [_reading(case, answer)]
    if rows[0].outcome == "FAIL" and answer.problem:
        advice = "A accepts the token, so see that outgoing_url belongs to the same service."
        return rows[0]._replace(advice=advice) if answer.refused else rows[0]
    if case.client.read_only:
        rows.append(Row("PASS", "B1 and B2 were not asked, as this client is read only"))
    else:
        rows.append(_reading(case, case.find("B2", str(uuid.uuid4()))))
        if case.time_left > DIAL_SECONDS:  # so long B1 may take to answer
            seating = _reading(case, case.find("B1", NO_ROOM))
            # UNKNOWN: it looks at its parameters before the token.
            rows += [seating] if seating.outcome != "UNKNOWN" else []
    worst = min((row.outcome for row in rows), key=("FAIL", "UNKNOWN", "PASS").index)
    last = [row for row in rows if row.outcome == worst][-1]  # it knows the whole dialect
    return last._replace(detail="; ".join(row.detail for row in rows))


def _reading(case: Case, answer: Finding) -> Row:
    """Return the row for whether an operation reads the token, and go on as it does."""
    key, ret, result = answer.key, answer.call.ret, answer.result
    if wrong := case.correct(answer.dialect):
        return Row("FAIL", f"{key} takes the token otherwise: {wrong}", case.dialect_advice())
    if isinstance(result, ConfkitError) and (ret is None or ret in FAULTS):
        return case.failure(result)
    if not answer.problem:
        return Row("PASS", f"{key} reads the token")
    if ret == 0 and key in ("B3", "A5"):
        return Row("PASS", f"{key} answers, also without a token")
    advice = "Ask the provider how this deployment takes the token, and by which method."
    return Row("FAIL" if answer.refused else "UNKNOWN", answer.problem, advice)


# The room and its media server


def room(case: Case) -> Row:
    """Read the room (A3)."""
    if not case.accepted or case.room_id is None:
        why = "no room is given" if case.accepted else "A accepts no token"
        return Row("SKIP", why, _GIVE_A_ROOM if case.accepted else "")
    _, result = case.ask(A3, {"room_id": case.room_id}, case.token)
    try:
        case.room = Room.read(_members(result), case.room_id)
    except ConfkitError as error:
        return case.failure(error, f"room {case.room_id}: ")
    closed = "; it is closed: nobody can join it" * (case.room.room_status == _ROOM_CLOSED)
    return Row("PASS", f"room {case.room_id} was read: {case.room.topic!r}{closed}")


def media_server(case: Case) -> Row:
    """Ask which media server the room has (A5), and try whether it accepts connections."""
    if case.room is None or case.room.room_status == _ROOM_CLOSED:
        return Row("SKIP", "no room was read that is not closed")
    answer = case.find("A5", case.room.room_id)
    row = _reading(case, answer)
    try:
        address = require_field(_members(answer.result), "addr", "the media server")
    except ConfkitError as error:
        return row if row.advice.startswith(_SET_DIALECT) else case.failure(error)
    server = mcu_answers(address, max(min(2.0, case.timeout[0], case.time_left), 0.01))
    text = f"{row.detail}; its media server: {server.reason}"
    if server:
        return row._replace(detail=text)
    advice = "Ask the operator whether it runs, whether its address is meant for this network, and "
    return Row("FAIL", text, f"{row.advice} {advice}whether it takes media over UDP alone.".strip())


def _members(result: dict[str, Any] | ConfkitError) -> dict[str, Any]:
    if isinstance(result, ConfkitError):
        raise result
    return result


def finding(case: Case) -> Row:
    """Sum up: what is wrong, and the step to take first."""
    for outcome in ("FAIL", "UNKNOWN"):
        names = [name for name, row in case.rows.items() if row.outcome == outcome]
        if names:
            row = case.rows[names[0]]
            if row.advice.startswith(_SET_DIALECT):  # with what was corrected later
                row = row._replace(advice=case.dialect_advice())
            more = f" (then: {', '.join(names[1:])})" if names[1:] else ""
            return row._replace(detail=f"{names[0]}: {row.detail}{more}")
    return Row("PASS", "nothing is wrong")


_FUNCTIONS: dict[str, Callable[[Case], Row]] = {
    "settings": settings,
    "interface A": partial(answering, interface="A", other="B"),
    "interface B": partial(answering, interface="B", other="A"),
    "clock": clock,
    "keys": keys,
    "token in A": token_in_a,
    "token in B": token_in_b,
    "room": room,
    "media server": media_server,
    "finding": finding,
}
CHECKS = tuple(_FUNCTIONS)  # the names, in the order in which they come
