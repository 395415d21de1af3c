"""`doctor`: nine checks from the settings to a room's media server, each a function. A setting that
is wrong is named, and the checks after it go on with the right value."""

import copy
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from math import inf
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..checks import Check, Checklist, Outcome
from ..client import Client
from ..dialect import Dialect
from ..errors import ConfigError, ConfkitError, TransportError, TransportTimeout
from ..operations import A3, B3, OPERATIONS
from ..records import Room, parse_id, require_field
from ..transport import hooks_of, is_positive
from .media_server import mcu_answers
from .probe import FAULTS, NOT_SUPPORTED, REFUSED, Finding, Inquiry

NO_ROOM = "999999999999999"  # a number that no room should have
MOST_SKEW = 5.0  # seconds that do no harm; the Date header has no fractions
_ROOM_CLOSED = 3  # room_status, as seen in deployments
# Of each interface its setting, and what it is asked for without a token, which spends no login.
_INTERFACES = {"A": ("base_url", A3, {"room_id": NO_ROOM}), "B": ("outgoing_url", B3, {})}
_MORE_TIME = "Give it more time: timeout= (--timeout)."
_GIVE_A_ROOM = "Give a room: confkit doctor ROOM."
_ASK_PROVIDER = "Ask the provider how this deployment takes the token, and by which method."
_SET_DIALECT = "Connect with dialect="


def doctor(
    client: Client, room_id: str | None = None, *, max_failed_logins: int = 2, timeout: float = 60.0
) -> Checklist:
    """Find out what is wrong between this machine and the service, and what to do about it first.

    The rows are those of `CHECKS`, always all: the settings, interface A, interface B, the clock,
    the keys (A1), the token in A (A3) and in B (B3, B2), the room and its media server (A5, TCP);
    "finding" sums up. A setting that is wrong, also of the dialect, is a FAIL that names the right
    value, and the checks after it go on with that. A check that cannot be made is SKIP or UNKNOWN
    and says why. The method of B1 is not looked at: `probe_dialect` does that.

    Nothing is changed: B2 is asked to remove a user who does not exist from a room that does not
    exist, and a client that is read only does not send that. At most `max_failed_logins` logins
    fail. A token that the client holds is put at risk by a login only where it is refused. The
    client's token, dialect and session stay as they are; its `calls` show what was sent. All
    together takes `timeout` seconds at most, and the look-up of names.

    ParameterError and ConfigError: a wrong argument, or a closed client; nothing is raised for what
    the service does. Sections 4, 5 and 7 of the interface.
    """
    return Checklist(checkup(client, room_id, max_failed_logins, timeout))


def checkup(
    client: Client, room_id: str | None = None, max_failed_logins: int = 2, timeout: float = 60.0
) -> Iterator[Check]:
    """Return the rows of `doctor` as they are made; wrong arguments raise at once."""
    case = Case(client, room_id, max_failed_logins, timeout)
    return (case.check(name, function) for name, function in _FUNCTIONS.items())


class Row(NamedTuple):
    """The outcome of a check, its detail, and the next step."""

    outcome: Outcome
    detail: str
    advice: str = ""


class Case(Inquiry):
    """What the checks share: an inquiry, the two `addresses`, and what they have shown so far."""

    def __init__(self, client: Client, room_id: str | None, bound: int, timeout: float) -> None:
        self.room_id = None if room_id is None else parse_id(A3, "room_id", room_id)
        if not is_positive(timeout):
            raise ConfigError(f"timeout is {timeout!r}", "Give seconds for all checks, above 0.")
        client.may_send(A3)
        super().__init__(client, bound, timeout)
        self.original, self.rows = client, dict[str, Row]()
        self.addresses = self.client._addresses = dict(client._addresses)
        self.answering = set[str]()  # the interfaces that answer
        self.room: Room | None = None
        self.skew, self.location = inf, ""  # of the service's clock; to which a redirect leads
        session = self.client.session = copy.copy(client.session)  # its adapters stay shared
        session.cookies = copy.copy(session.cookies)
        session.hooks = {"response": [*hooks_of(session), self._note_headers]}

    def check(self, name: str, function: Callable[["Case"], Row]) -> Check:
        """Make a check; the finding is made also where no time is left."""
        row = Row("UNKNOWN", "not made: no time was left", _MORE_TIME)
        try:
            if self.time_left > 0 or function is finding:
                row = function(self)
        except ConfkitError as error:  # of what a response holds
            row = self.failure(error)
        self.rows[name] = row
        return Check(name, *row)

    def _note_headers(self, response: Any, *_: object, **__: object) -> None:
        """Note what no result shows: where a redirect leads, and the least skew of the clocks."""
        self.location = response.headers.get("Location", "").partition("?")[0]
        with suppress(LookupError, ValueError, TypeError, OverflowError):
            there = parsedate_to_datetime(response.headers["Date"]).timestamp() + 0.5
            skew = there - time.time() + response.elapsed.total_seconds() / 2
            self.skew = min(skew, self.skew, key=abs)

    def failure(self, error: Any, about: str = "") -> Row:
        """Return the row for an error: UNKNOWN where the time for all checks caused it."""
        detail = about + (error.cause if isinstance(error, TransportError) else error.summary)
        if isinstance(error, TransportTimeout) and self.client.timeout != self.timeout:
            return Row("UNKNOWN", f"{detail}; no more time was left for all checks", _MORE_TIME)
        return Row("FAIL", detail, error.advice)

    def dialect_advice(self) -> str:
        """Return how to set all settings of the dialect, with those that were wrong."""
        wrong = _differences(self.dialect, self.original.dialect)
        settings = {**self.dialect.changes(), **wrong}
        settings = {name: value for name, value in settings.items() if value is not None}
        arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return f"{_SET_DIALECT}ck.Dialect({arguments}), or set CONFKIT_DIALECT={_line(settings)}"


def _differences(right: Dialect, used: Dialect) -> dict[str, Any]:
    """Return the settings of the right dialect that differ in the one that was used."""
    settings = asdict(right).items()
    return {name: value for name, value in settings if value != getattr(used, name)}


def _line(settings: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())


def settings(case: Case) -> Row:
    """Look at the settings, and say where each is from."""
    wrong, advice = [], []
    for interface, (setting, _, _) in _INTERFACES.items():
        url = case.addresses[interface]
        path = urlsplit(url).path
        if path and any(f"{row.path}/".startswith(f"{path}/") for row in OPERATIONS.values()):
            case.addresses[interface] = url.removesuffix(path)
            wrong.append(f"{case.origin(setting)} ends with {path}, which the client adds itself")
            advice.append(f"Set {setting} to {case.addresses[interface]}.")
    if wrong:
        return Row("FAIL", "; ".join(wrong), " ".join(advice))
    texts = [f"{case.origin(_INTERFACES[key][0])} {url}" for key, url in case.addresses.items()]
    texts += [f"{case.origin(key)} is given" for key in ("access_key", "secret_key")]
    return Row("PASS", "; ".join(texts))


def answering(case: Case, interface: str, other: str) -> Row:
    """Ask an interface without a token at its address and, where something else answers there, at
    that of the other one."""
    setting, operation, fields = _INTERFACES[interface]
    own, there = case.addresses[interface], case.original._addresses[other]
    call, result = case.ask(operation, fields, None, case.dialect)
    if _answers(case, interface, call.ret):
        text = f"{own} answers with result code {call.ret}, as no token was sent"
        advice = "Tell the operator that this service answers without a token."
        return Row("PASS", text, advice if call.ret == 0 else "")
    leads = f" leads to {case.location}" if call.status and case.location else ""
    row = case.failure(result, f"{own}{leads}: ")
    if call.status and there != own:
        case.addresses[interface] = there
        if _answers(case, interface, case.ask(operation, fields, None, case.dialect)[0].ret):
            text = f"{own} does not answer as interface {interface}, but the other address does"
            return Row("FAIL", text, f"Set {setting} to {there}.")
        case.addresses[interface] = own
    return row._replace(advice=f"{row.advice} The setting is {case.origin(setting)}.")


def _answers(case: Case, interface: str, ret: Any) -> bool:
    """Note and return whether a result code is of this interface."""
    # By 408 B may mean that it lists by POST alone, but where A alone is expected that it is not B.
    same = case.original.base_url == case.original.outgoing_url
    by_post = interface == "B" and (same or case.addresses["B"] != case.addresses["A"])
    if ret is None or (ret == NOT_SUPPORTED and not by_post):
        return False
    case.answering.add(interface)
    return True


def clock(case: Case) -> Row:
    """Compare this machine's clock with the service's, by the Date header."""
    if not case.answering:
        return Row("SKIP", "neither interface answers")
    if case.skew == inf:
        advice = "Compare the clocks by hand (timedatectl) when tokens end early."
        return Row("UNKNOWN", "the responses hold no Date header", advice)
    if abs(case.skew) <= MOST_SKEW:
        return Row("PASS", f"both clocks agree within {MOST_SKEW:g} s")
    side = "behind" if case.skew > 0 else "ahead of"
    skew = timedelta(seconds=round(abs(case.skew)))
    text = f"this machine is {skew} (h:mm:ss) {side} the service"
    return Row("FAIL", text, "Set the wrong clock by NTP: tokens and certificates depend on it.")


def keys(case: Case) -> Row:
    """Log in (A1), unless the client holds a token that is not refused."""
    if "A" not in case.answering:
        return Row("SKIP", "interface A does not answer")
    if case.original.authenticated:
        case.token = case.original.token()
        held = case.find("A3", NO_ROOM)
        if not held.refused and held.call.ret != 407:  # which a token may get that is not read
            text = "no login was made: this client holds a token, which a login may end"
            advice = "To try the keys, run it with a client that has not called yet."
            return Row("UNKNOWN" if held.call.ret is None else "SKIP", text, advice)
        case.token = None
    used, error = case.dialect, case.log_in()
    if error is not None:
        refused = getattr(error, "ret", None) in REFUSED
        return case.failure(error, "" if refused else "A1 says nothing of the keys: ")
    if wrong := _differences(case.dialect, used):
        text = f"the keys are right, and the service wants another signature: {_line(wrong)}"
        return Row("FAIL", text, case.dialect_advice())
    return Row("PASS", "A1 accepts the keys, with the signature of the dialect")


def token_in_a(case: Case) -> Row:
    """Ask A3 with the token and without."""
    if case.token is None:
        return Row("SKIP", "there is no token to try")
    answer = case.find("A3", case.room_id or NO_ROOM)
    advice = "Ask the operator whether base_url leads to one service, not to a balancer of several."
    row = _reading(case, answer, advice)
    if row.outcome == "FAIL" and answer.problem:
        case.token = None
    if row.outcome == "UNKNOWN" and case.room_id is None:
        return row._replace(advice=f"{_GIVE_A_ROOM} With one the answers may differ.")
    return row


def token_in_b(case: Case) -> Row:
    """Ask B3 with the token and without, then B2, which is a change."""
    if "B" not in case.answering or case.token is None:
        return Row("SKIP", "A accepts no token" if "B" in case.answering else "B does not answer")
    answer = case.find("B3", NO_ROOM)
    advice = "A accepts the token, so see that outgoing_url belongs to the same service."
    listing = _reading(case, answer, advice)
    if listing.outcome == "FAIL" and answer.problem:
        return listing
    if case.client.read_only:
        removal = Row("PASS", "B2 was not asked, as this client is read only")
    else:
        removal = _reading(case, case.find("B2", str(uuid.uuid4())))
    # Of two that are as bad the later, which knows the whole dialect.
    worse = min(removal, listing, key=lambda row: ("FAIL", "UNKNOWN", "PASS").index(row.outcome))
    return worse._replace(detail=f"{listing.detail}; {removal.detail}")


def _reading(case: Case, answer: Finding, advice: str = _ASK_PROVIDER) -> Row:
    """Return the row for whether an operation reads the token, and go on as it does. The advice is
    for a token that is refused."""
    key, ret, result = answer.call.endpoint, answer.call.ret, answer.result
    wrong = _differences(answer.dialect, case.dialect)
    case.dialect = answer.dialect
    if wrong:
        text = f"{key} takes the token otherwise: {_line(wrong)}"
        return Row("FAIL", text, case.dialect_advice())
    if isinstance(result, ConfkitError) and (ret is None or ret in FAULTS):
        return case.failure(result)
    if not answer.problem:
        return Row("PASS", f"{key} reads the token")
    if ret == 0 and key in ("B3", "A5"):
        return Row("PASS", f"{key} answers, also without a token")
    if answer.refused:
        return Row("FAIL", answer.problem, advice)
    return Row("UNKNOWN", answer.problem, _ASK_PROVIDER)


def room(case: Case) -> Row:
    """Read the room (A3)."""
    if case.token is None:
        return Row("SKIP", "A accepts no token")
    if case.room_id is None:
        return Row("SKIP", "no room is given", _GIVE_A_ROOM)
    _, result = case.ask(A3, {"room_id": case.room_id}, case.token, case.dialect)
    if isinstance(result, ConfkitError):
        return case.failure(result, f"room {case.room_id}: ")
    case.room = Room.read(result, case.room_id)
    closed = "; it is closed: nobody can join it" * (case.room.room_status == _ROOM_CLOSED)
    return Row("PASS", f"room {case.room_id} was read: {case.room.topic!r}{closed}")


def media_server(case: Case) -> Row:
    """Ask which media server the room has (A5), and try whether it accepts connections."""
    if case.room is None or case.room.room_status == _ROOM_CLOSED:
        return Row("SKIP", "no room was read that is not closed")
    answer = case.find("A5", case.room.room_id)
    row = _reading(case, answer)
    if isinstance(answer.result, ConfkitError):
        return row if row.advice.startswith(_SET_DIALECT) else case.failure(answer.result)
    address = require_field(answer.result, "addr", "the media server")
    server = mcu_answers(address, max(min(2.0, case.timeout[0], case.time_left), 0.01))
    text = f"{row.detail}; its media server: {server.reason}"
    if server:
        return row._replace(detail=text)
    advice = "Ask the operator whether it runs, is meant for this network, or takes UDP alone."
    return Row("FAIL", text, f"{row.advice} {advice}".strip())


def finding(case: Case) -> Row:
    """Sum up: what is wrong, and the step to take first."""
    failed = [name for name, row in case.rows.items() if row.outcome == "FAIL"]
    names = failed or [name for name, row in case.rows.items() if row.outcome == "UNKNOWN"]
    if not names:
        return Row("PASS", "nothing is wrong")
    row = case.rows[names[0]]
    # The advice on the dialect holds what was corrected later, too.
    advice = case.dialect_advice() if row.advice.startswith(_SET_DIALECT) else row.advice
    more = f" (then: {', '.join(names[1:])})" if names[1:] else ""
    return Row(row.outcome, f"{names[0]}: {row.detail}{more}", advice)


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
