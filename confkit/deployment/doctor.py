"""`doctor`: nine checks from the settings to a room's media server, each a function."""

import copy
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from math import inf
from typing import Any, NamedTuple

from ..checks import Check, Checklist, Outcome
from ..client import Client
from ..errors import ConfkitError, TransportError
from ..operations import A3, B3
from ..records import Room, parse_id, require_field
from .media_server import mcu_answers
from .probe import FAULTS, NOT_SUPPORTED, REFUSED, Finding, Inquiry, dialect_line, how_to_set

NO_ROOM = "999999999999999"  # a number that no room should have
MOST_SKEW = 5.0  # harmless seconds; the Date header has no fractions
_ROOM_CLOSED = 3  # room_status, as seen in deployments
# The setting of each interface, and a call without a token, which needs no login.
_INTERFACES = {"A": ("base_url", A3, {"room_id": NO_ROOM}), "B": ("outgoing_url", B3, {})}
_GIVE_A_ROOM = "Name a room: confkit doctor ROOM."
_ASK_PROVIDER = "Ask the provider how this deployment expects the token, and which HTTP method."
_SET_DIALECT = "Connect with dialect="


def doctor(client: Client, room_id: str | None = None, *, max_failed_logins: int = 2) -> Checklist:
    """Find out what is wrong between this machine and the service, and the first step to fix it.

    There is always one row for each of `CHECKS`: the settings, interface A, interface B, the clock,
    the keys (A1), the token in A (A3) and in B (B3, B2), the room and its media server (A5, TCP);
    "Finding" is the summary. A wrong setting, also of the dialect, is a FAIL that names the right
    value, which later checks use. A check that cannot be made is SKIP or UNKNOWN, with the reason.
    The method of B1 is not checked; `probe_dialect` does that.

    Nothing is changed: B2 is called with a user and a room that do not exist, and not by a
    read-only client. At most `max_failed_logins` logins fail. The client's token, dialect and
    session are not changed; its `calls` show what was sent, about ten calls within its time-outs.

    ParameterError and ConfigError: an invalid argument, or a closed client; failures of the service
    are never raised. Sections 4, 5 and 7 of the interface.
    """
    return Checklist(checkup(client, room_id, max_failed_logins))


def checkup(
    client: Client, room_id: str | None = None, max_failed_logins: int = 2
) -> Generator[Check]:
    """Yield the rows of `doctor` as they are made; invalid arguments raise at once."""
    case = Case(client, room_id, max_failed_logins)
    return (case.check(name, function) for name, function in _FUNCTIONS.items())


class Row(NamedTuple):
    """The outcome of a check, its detail, and the next step."""

    outcome: Outcome
    detail: str
    advice: str = ""


class Case(Inquiry):
    """The shared state of the checks: an inquiry, the two `addresses`, and the results so far."""

    def __init__(self, client: Client, room_id: str | None, max_failed_logins: int) -> None:
        self.room_id = None if room_id is None else parse_id(A3, "room_id", room_id)
        client.may_send(A3)
        super().__init__(client, max_failed_logins)
        self.original, self.rows = client, dict[str, Row]()
        self.addresses = self.client._addresses = dict(client._addresses)
        self.answering = set[str]()  # the interfaces that respond
        self.room: Room | None = None
        self.skews = dict[str, float]()  # of the clock behind each address
        session = self.client.session = copy.copy(client.session)  # its adapters stay shared
        session.cookies = copy.copy(session.cookies)
        own = session.hooks["response"]  # one or several, as requests takes them
        session.hooks = {"response": [*(own if isinstance(own, list) else [own]), self._note_skew]}

    def check(self, name: str, function: Callable[["Case"], Row]) -> Check:
        """Make a check."""
        try:
            row = function(self)
        except ConfkitError as error:  # an unexpected response
            row = self.failure(error)
        self.rows[name] = row
        return Check(name, *row)

    def _note_skew(self, response: Any, **_: object) -> None:
        """Note the least skew of this service's clock."""
        with suppress(LookupError, ValueError, TypeError, OverflowError):
            there = parsedate_to_datetime(response.headers["Date"]).timestamp() + 0.5
            skew = there - time.time() + response.elapsed.total_seconds() / 2
            host = response.url.split("/")[2]
            self.skews[host] = min(skew, self.skews.get(host, inf), key=abs)

    def failure(self, error: Any, about: str = "") -> Row:
        """Return the row for an error."""
        detail = about + (error.cause if isinstance(error, TransportError) else error.summary)
        return Row("FAIL", detail, error.advice)

    def dialect_advice(self) -> str:
        """Return how to set the dialect, including the corrected settings."""
        settings = [f"{name}={value!r}" for name, value in self.dialect.changes().items()]
        how = how_to_set(self.original, self.dialect)
        return f"{_SET_DIALECT}ck.Dialect({', '.join(settings)}), or {how}"


def settings(case: Case) -> Row:
    """Name the settings and their origins."""
    texts = [f"{case.origin(_INTERFACES[key][0])} {url}" for key, url in case.addresses.items()]
    texts += [f"{case.origin(key)} is given" for key in ("access_key", "secret_key")]
    return Row("PASS", "; ".join(texts))


def check_interface(case: Case, interface: str, other: str) -> Row:
    """Call an interface without a token at its address and, if something else responds there, at
    that of the other interface."""
    setting, operation, fields = _INTERFACES[interface]
    own, there = case.addresses[interface], case.original._addresses[other]
    call, result = case.ask(operation, fields, None, case.dialect)
    if _answers(case, interface, call.ret):
        text = f"{own} answers with result code {call.ret}, as no token was sent"
        advice = "Tell the operator that this service works without a token."
        return Row("PASS", text, advice if call.ret == 0 else "")
    row = case.failure(result, f"{own}: ")
    if call.status and there != own:
        case.addresses[interface] = there
        if _answers(case, interface, case.ask(operation, fields, None, case.dialect)[0].ret):
            text = f"{own} is not interface {interface}, but the other address is"
            return Row("FAIL", text, f"Set {setting} to {there}.")
        case.addresses[interface] = own
    return row._replace(advice=f"{row.advice} The setting is {case.origin(setting)}.")


def _answers(case: Case, interface: str, ret: Any) -> bool:
    """Return, and note, whether a result code is from this interface."""
    # 408 from B may mean that B3 requires POST; at A's address it means that this is not B.
    same = case.original.base_url == case.original.outgoing_url
    by_post = interface == "B" and (same or case.addresses["B"] != case.addresses["A"])
    if ret is None or (ret == NOT_SUPPORTED and not by_post):
        return False
    case.answering.add(interface)
    return True


def clock(case: Case) -> Row:
    """Compare this machine's clock with the service's, by the Date header."""
    if not case.answering:
        return Row("SKIP", "neither interface responds")
    if not case.skews:
        advice = "Compare the clocks by hand (timedatectl) if tokens expire early."
        return Row("UNKNOWN", "the responses have no Date header", advice)
    host, skew = max(case.skews.items(), key=lambda item: abs(item[1]))
    if abs(skew) <= MOST_SKEW:
        return Row("PASS", f"both clocks agree within {MOST_SKEW:g} s")
    side = "behind" if skew > 0 else "ahead of"
    text = f"this machine is {timedelta(seconds=round(abs(skew)))} (h:mm:ss) {side} {host}"
    advice = "Correct the clock that is wrong (NTP): tokens and certificates depend on it."
    return Row("FAIL", text, advice)


def keys(case: Case) -> Row:
    """Log in (A1)."""
    if "A" not in case.answering:
        return Row("SKIP", "interface A does not respond")
    used, error = case.dialect, case.log_in()
    if error:
        refused = getattr(error, "ret", None) in REFUSED
        return case.failure(error, "" if refused else "the keys could not be checked: ")
    if corrected := dialect_line(case.dialect, used):
        text = f"the keys are right, but the service expects another signature: {corrected}"
        return Row("FAIL", text, case.dialect_advice())
    return Row("PASS", "A1 accepts the keys and the dialect's signature")


def token_in_a(case: Case) -> Row:
    """Call A3 with the token and without."""
    if case.token is None:
        return Row("SKIP", "no token to try")
    answer = case.find("A3", case.room_id or NO_ROOM)
    advice = (
        f"Compare {case.origin('secret_key')} with that of the provider, and ask the operator "
        "whether base_url is a single service, not a load balancer."
    )
    row = _token_row(case, answer, advice)
    if row.outcome == "FAIL" and answer.problem:
        case.token = None
    if row.outcome == "UNKNOWN" and case.room_id is None:
        return row._replace(advice=f"{_GIVE_A_ROOM} With a room the answers may differ.")
    return row


def token_in_b(case: Case) -> Row:
    """Call B3 with the token and without, then B2, which is a change."""
    if "B" not in case.answering or case.token is None:
        return Row("SKIP", _no_token(case) if "B" in case.answering else "B does not respond")
    answer = case.find("B3", NO_ROOM)
    advice = "A accepts the token: check that outgoing_url belongs to the same service."
    listing = _token_row(case, answer, advice)
    if listing.outcome == "FAIL" and answer.problem:
        return listing
    if case.client.read_only:
        removal = Row("PASS", "B2 was skipped, as this client is read only")
    else:
        removal = _token_row(case, case.find("B2", str(uuid.uuid4())))
    # If both are equally bad, the later one, which knows the whole dialect.
    worse = min(removal, listing, key=lambda row: ("FAIL", "UNKNOWN", "PASS").index(row.outcome))
    return worse._replace(detail=f"{listing.detail}; {removal.detail}")


def _token_row(case: Case, answer: Finding, advice: str = _ASK_PROVIDER) -> Row:
    """Return the row for whether an operation reads the token, and adopt its dialect. The advice is
    for a token that is refused."""
    key, ret, result = answer.call.endpoint, answer.call.ret, answer.result
    corrected = dialect_line(answer.dialect, case.dialect)
    case.dialect = answer.dialect
    if corrected:
        text = f"{key} expects the token in another form: {corrected}"
        return Row("FAIL", text, case.dialect_advice())
    if isinstance(result, ConfkitError) and ret in (None, *FAULTS):
        row = case.failure(result)  # UNKNOWN without a response, as the interface has just answered
        return row._replace(outcome="UNKNOWN") if isinstance(result, TransportError) else row
    if not answer.problem:
        return Row("PASS", f"{key} reads the token")
    if ret == 0 and key in ("B3", "A5") and answer.ignored:
        return Row("PASS", f"{key} answers even without a token")
    if answer.refused:
        return Row("FAIL", answer.problem, advice)
    return Row("UNKNOWN", answer.problem, _ASK_PROVIDER)


def _no_token(case: Case) -> str:
    return "A accepts no token" if "A" in case.answering else "A does not respond"


def room(case: Case) -> Row:
    """Read the room (A3)."""
    if case.token is None:
        return Row("SKIP", _no_token(case))
    if case.room_id is None:
        return Row("SKIP", "no room given", _GIVE_A_ROOM)
    _, result = case.ask(A3, {"room_id": case.room_id}, case.token, case.dialect)
    if isinstance(result, ConfkitError):
        return case.failure(result, f"room {case.room_id}: ")
    case.room = Room.read(result, case.room_id)
    closed = "; it is closed: nobody can join" * (case.room.room_status == _ROOM_CLOSED)
    return Row("PASS", f"room {case.room_id} was read: {case.room.topic!r}{closed}")


def media_server(case: Case) -> Row:
    """Look up the room's media server (A5), and check whether it accepts connections."""
    if not case.room or case.room.room_status == _ROOM_CLOSED:
        return Row("SKIP", "no open room was read")
    answer = case.find("A5", case.room.room_id)
    row = _token_row(case, answer)
    if isinstance(answer.result, ConfkitError):
        return row if row.advice.startswith(_SET_DIALECT) else case.failure(answer.result)
    address = require_field(answer.result, "addr", "the media server")
    accepts, reason = mcu_answers(address)
    text = f"{row.detail}; its media server: {reason}"
    if accepts:
        return row._replace(detail=text)
    advice = "Ask the operator whether it is running, serves this network, or uses UDP only."
    return Row("FAIL", text, f"{row.advice} {advice}".strip())


def finding(case: Case) -> Row:
    """Sum up: the first problem, and its next step."""
    failed = [name for name, row in case.rows.items() if row.outcome == "FAIL"]
    names = failed or [name for name, row in case.rows.items() if row.outcome == "UNKNOWN"]
    if not names:
        return Row("PASS", "no problem found")
    row = case.rows[names[0]]
    # The advice on the dialect includes later corrections.
    advice = case.dialect_advice() if row.advice.startswith(_SET_DIALECT) else row.advice
    more = f" (then: {', '.join(names[1:])})" if names[1:] else ""
    return Row(row.outcome, f"{names[0]}: {row.detail}{more}", advice)


_FUNCTIONS: dict[str, Callable[[Case], Row]] = {
    "Settings": settings,
    "Interface A": partial(check_interface, interface="A", other="B"),
    "Interface B": partial(check_interface, interface="B", other="A"),
    "Clock": clock,
    "Keys": keys,
    "Token in A": token_in_a,
    "Token in B": token_in_b,
    "Room": room,
    "Media server": media_server,
    "Finding": finding,
}
CHECKS = tuple(_FUNCTIONS)  # the names, in order
