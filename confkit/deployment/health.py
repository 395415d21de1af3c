"""`doctor`: the checks in their order, each made only when those before it allow that."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .. import endpoints
from ..checklist import Check, Checklist
from ..devices import devices_of, list_devices
from ..endpoints import A3, B3
from ..errors import (
    ApiError,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ProtocolError,
    TransportError,
)
from ..records import Room, needed
from ..transport import finite
from ..wire import Request, token_parameter
from .case import NO_ROOM, Case, Said, answered, say
from .logins import Candidate, Tried, signatures, slips
from .questions import (
    NOT_SUPPORTED,
    REFUSED,
    TOKEN_IN_A,
    TOKEN_IN_A5,
    TOKEN_IN_B2,
    UNKNOWN_ROOM,
    Found,
    Question,
)
from .way import Stage, mcu_answers, settings, stage

if TYPE_CHECKING:
    from ..client import Client
    from ..endpoints import Interface

SECONDS = 60.0  # for all checks together
MOST_SKEW = 5.0  # seconds that do no harm; the Date header has whole ones
MCU_SECONDS = 2.0
_CLOSED = 3  # room_status, as seen in deployments


def doctor(
    client: Client,
    room_id: str | None = None,
    *,
    max_failed_logins: int = 2,
    timeout: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Checklist:
    """Find out what is wrong between this machine and the service: one check a line, with cause and
    advice.

    The checks are those of `CHECKS`, always all and in that order: the settings; name, TCP, TLS
    and HTTP of both interfaces; the clocks; the keys (A1); the token in A (A3), in B (B3) and in
    B2; one room (A3), the given one or one that is known of; its media server (A5) and whether that
    accepts connections. What was not made says SKIP or UNKNOWN and why, never PASS. Where a setting
    of the dialect is wrong and the right one is found, that is a FAIL that names it, and the checks
    after it go on with the right one.

    Nothing is changed, and each request is sent once, by a copy of the client. B2 alone is no read:
    it is asked to remove a user who is not there, from a room that is not there (`new_id` gives
    their IDs); on a client that is read only it is not sent, and UNKNOWN. Of the logins no more
    fail than `max_failed_logins`; a refusal is looked into with other signatures within that bound.
    A token that the client holds is not put at risk: while it is accepted no login is made (a
    service may keep one token a key; assumed). Each step keeps to the client's time-outs, and all
    together to `timeout` seconds, but for a name that this machine looks up: that takes as long as
    its resolver does. Nothing is raised for what the service does: ParameterError and ConfigError
    are for wrong arguments alone. `clock` gives monotonic seconds, `now` those since the epoch.
    Sections 4, 5 and 7 of the interface.
    """
    return Checklist(
        checkup(
            client,
            room_id,
            max_failed_logins=max_failed_logins,
            timeout=timeout,
            clock=clock,
            now=now,
            new_id=new_id,
        )
    )


def checkup(
    client: Client,
    room_id: str | None = None,
    *,
    max_failed_logins: int = 2,
    timeout: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Iterator[Check]:
    """The checks of `doctor` one after another, as they are made; wrong arguments raise at once."""
    if room_id is not None:
        room_id = endpoints.identity(A3, "room_id", room_id)
    if not finite(timeout):
        raise ConfigError(f"timeout is {timeout!r}", "Give seconds for all checks, above 0")
    case = Case(client, room_id, max_failed_logins, timeout, clock, now, new_id)
    try:
        client._is_open()
    except ConfigError as error:
        closed = case.check(CHECKS[0], say("check.closed", why=error.problem))
        skipped = say("check.skipped", why=error.problem)
        return iter([closed, *(case.check(name, skipped) for name in CHECKS[1:])])
    return _made(case)


def _made(case: Case) -> Iterator[Check]:
    stopped: dict[str, str] = {}  # a check that went wrong or was not made: what went wrong first
    for step in STEPS:
        first = next((stopped[name] for name in step.needs if name in stopped), None)
        if first is None and step.make is clock and not case.answered:
            first = stopped.get("HTTP of A") or stopped.get("HTTP of B")
        if first is not None:
            stopped[step.name] = first
            yield case.check(step.name, say("check.skipped", why=f"{first} did not pass"))
            continue
        case.timed_out = case.settled = False
        hurried = case.left < sum(case.patience)
        if case.left <= 0:
            said = say("check.over", seconds=case.seconds)
        else:
            said = step.make(case)
            if said.verdict == "FAIL" and case.timed_out and hurried and not case.settled:
                said = say("check.late", found=said.found, seconds=case.seconds)
        if said.verdict in ("FAIL", "UNKNOWN") and not case.settled:
            stopped[step.name] = step.name
        yield case.check(step.name, said)


def clock(case: Case) -> Said:
    """Whether this machine's clock and the service's agree, by the Date header of its answers."""
    if not case.skews:
        return say("clock.unknown")
    if abs(case.skew) <= MOST_SKEW:
        return say("clock.well", most=MOST_SKEW)
    side = "behind" if case.skew > 0 else "ahead of"
    return say("clock.wrong", apart=_duration(case.skew), side=side)


def _duration(seconds: float) -> str:
    size = abs(seconds)
    for length, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if size >= 2 * length:
            return f"{size / length:.0f} {unit}"
    return f"{size:.0f} s"


def authentication(case: Case) -> Said:
    """Whether A1 accepts the keys, and what is wrong with them or with the dialect otherwise.

    A client that holds a token which is still accepted keeps it: some services may keep one token a
    key, and a login would end it for everybody who uses it.
    """
    if case.held is not None:
        asked = case.ask(TOKEN_IN_A.request(NO_ROOM), case.held)
        if asked.call.ret in (0, *UNKNOWN_ROOM, 416):
            case.token = case.held
            return say("login.held")
        if asked.call.ret not in REFUSED:
            held = "no login was made: this client holds a token, which a login may end, and "
            return answered("UNKNOWN", asked, f"{held}whether it is still accepted is not clear: ")
    if case.logins.bound == 0:
        return say("login.none")
    keys = case.client.access_key, case.client.secret_key, case.client.dialect
    usual, *others = signatures(*keys)
    tried = case.logins.first([usual, *slips(*keys), *others])
    for login in tried.logins:
        case.secrets += [login.candidate.digest, login.token or ""]
    last = tried.logins[-1]
    case.token, right = last.token, last.candidate
    if last.came == "refused":
        return _refused(case, tried)
    if last.came == "unclear":
        before = "A1 says nothing of the keys: "
        if last is not tried.logins[0]:
            before = f"A1 refused the keys as they are; asked then with {_listed([right])}, "
        silent = isinstance(last.error, TransportError)
        return answered("UNKNOWN" if silent else "FAIL", last, before)
    if last is tried.logins[0]:
        return say("login.well")
    if right.slip:
        case.settled = True
        kept = {"access_key": right.access_key, "secret_key": right.secret_key}
        names = [name for name, key in kept.items() if key != getattr(case.client, name)]
        origins = case.origins(*names)
        return say("login.slip", slip=right.what, names=" and ".join(names), origins=origins)
    wanted = {"hash": right.dialect.hash, "signature": right.dialect.signature}
    changed = {name: one for name, one in wanted.items() if one != getattr(keys[2], name)}
    told = "your secret is right, but this deployment wants its signature in another way: "
    return case.wrong(told + right.what, **changed)


def _refused(case: Case, tried: Tried) -> Said:
    error, keys = tried.logins[-1].error, ("access_key", "secret_key")
    parts, more = [], ""
    if len(tried.logins) > 1:
        parts.append(f"refused as well: {_listed([one.candidate for one in tried.logins[1:]])}")
    if tried.open:
        bound = f"{case.logins.bound} failed logins are the bound"
        parts.append(f"not tried, as {bound}: {_listed(tried.open)}")
        more = (
            " Ask the provider for hash and form of the signature, or allow more logins to fail "
            "(--max-failed-logins), where accounts do not lock."
        )
    else:
        parts.append("no hash or form of the signature is left, so most likely a key is wrong")
    parts.append(f"logins that failed: {case.logins.failed}")
    odd = [name for name in keys if not getattr(case.client, name).isascii()]
    parts += [f"{name} holds letters beyond ASCII, which may be pasted with it" for name in odd]
    if abs(case.skew) > MOST_SKEW:
        apart = f"the clocks are {_duration(case.skew)} apart"
        parts.append(f"{apart}, which should not matter (assumed)")
    ret = error.ret if isinstance(error, ApiError) else "no code"
    origins = case.origins(*keys)
    return say("login.refused", ret=ret, tried="; ".join(parts), origins=origins, more=more)


def _listed(candidates: Sequence[Candidate]) -> str:
    return ", ".join(f"{'the keys fixed, as ' if one.slip else ''}{one.what}" for one in candidates)


def token_in_a(case: Case) -> Said:
    """Whether interface A accepts the token, and under which name."""
    return _token(case, TOKEN_IN_A, case.room_id or NO_ROOM)


def token_in_b2(case: Case) -> Said:
    """Whether B2 accepts the token, by the removal of a user who is not there."""
    if case.client.read_only:
        return say("token.readonly")
    return _token(case, TOKEN_IN_B2, case.new_id())


def _token(case: Case, question: Question, room_id: str) -> Said:
    """Whether an operation reads the token, and under which name: the answer is another one
    without it."""
    found = case.find(question, question.request(room_id, case.new_id()), case.token)
    endpoint, ret = question.endpoint, found.asked.call.ret
    if found.dialect:
        name = token_parameter(endpoint, found.dialect)
        other = _other_name(case, question, found)
        return other or say("token.well", title=endpoint.title, key=endpoint.key, name=name)
    if ret is None:
        return answered("FAIL", found.asked)
    if ret == 602 or (ret in REFUSED and endpoint.interface == "A"):
        return say(f"token.{endpoint.key}", ret=ret)
    if question is TOKEN_IN_B2 and ret in (0, 401, 425, *UNKNOWN_ROOM):
        return say("token.nobody", ret=ret)
    unread = f"whether {endpoint.key} looked at the token cannot be told: "
    return answered("UNKNOWN", found.asked, unread)


def _other_name(case: Case, question: Question, found: Found) -> Said | None:
    """The failure where an operation reads the token under another name than the dialect's."""
    used = token_parameter(question.endpoint, case.dialect)
    name = str(getattr(found.dialect, question.setting))
    if name == used:
        return None
    refused = f"{question.endpoint.key} does not take the token as {used} ({found.first.call.ret})"
    return case.wrong(f"{refused}, and takes it as {name}", **{question.setting: name})


def token_in_b(case: Case) -> Said:
    """Whether interface B accepts the token; notes the rooms that it tells of."""
    asked = case.ask(Request(B3, {}), case.token)
    if asked.members is None:
        said = answered("FAIL", asked)
        if asked.call.ret in (*REFUSED, NOT_SUPPORTED):
            return say("token.B3", cause=said.found)
        return said
    try:
        devices = devices_of(asked.members)
    except ProtocolError as error:
        return say("token.listing", cause=error.said)
    rooms = list(dict.fromkeys(device.room_id for device in devices))[:2]
    case.known_rooms += [(room_id, "which has a device (B3)") for room_id in rooms]
    return say("token.listed", devices=_devices(len(devices)))


def _devices(count: int) -> str:
    return f"{count or 'no'} {'device is' if count == 1 else 'devices are'} listed"


def room(case: Case) -> Said:
    """Whether a room can be read: the given one, or one that is known of."""
    rooms = case.known_rooms if case.room_id is None else [(case.room_id, "")]
    for room_id, source in rooms:
        asked = case.ask(TOKEN_IN_A.request(room_id), case.token)
        if asked.call.ret in UNKNOWN_ROOM:
            if not case.room_id:
                continue  # it has gone meanwhile
            step = answered("FAIL", asked).advice
            return say("room.gone", room_id=room_id, ret=asked.call.ret, step=step)
        named = f"room {room_id}{source and ', '}{source}"
        if asked.members is None:
            return answered("FAIL", asked, f"{named}: ")
        try:
            found = Room.read(asked.members, room_id)
        except ConfkitError as error:
            return say("room.unreadable", named=named, cause=error.said, step=error.advice)
        case.read = room_id
        row = "room.closed" if found.room_status == _CLOSED else "room.read"
        return say(row, named=named, topic=found.topic)
    asked = case.ask(TOKEN_IN_A.request(NO_ROOM), case.token)
    if asked.call.ret in UNKNOWN_ROOM:
        return say("room.unknown", ret=asked.call.ret)
    if asked.call.ret == 0:
        return say("room.odd", room_id=NO_ROOM)
    return answered("FAIL", asked, "no room given; to an unknown one: ")


def media_server(case: Case) -> Said:
    """Which media server the room has (A5)."""
    if case.read is None:
        return say("mcu.unasked")
    request = TOKEN_IN_A5.request(case.read)
    asked = case.ask(request, case.token)
    if asked.call.ret in (*REFUSED, 407):
        found = case.find(TOKEN_IN_A5, request, case.token)
        other = _other_name(case, TOKEN_IN_A5, found) if found.dialect else None
        if other:
            case.mcu = str((found.asked.members or {}).get("addr") or "") or None
            return other
    if asked.members is None:
        return answered("FAIL", asked, f"room {case.read}: ")
    try:
        case.mcu = needed(asked.members, "addr", "the media server")
    except ProtocolError as error:
        return Said("FAIL", error.said, error.advice)
    return say("mcu.named", room_id=case.read, address=case.mcu)


def media_server_tcp(case: Case) -> Said:
    """Whether the media server accepts a connection from here."""
    if case.mcu is None:
        return say("mcu.unknown")
    found = mcu_answers(case.mcu, max(0.01, min(MCU_SECONDS, case.patience[0], case.left)))
    return say("mcu.well" if found else "mcu.silent", reason=found.reason)


class Step(NamedTuple):
    """A check by its name, how it is made, and the checks that have to go well before it."""

    name: str
    make: Callable[[Case], Said]
    needs: tuple[str, ...] = ()


def _way(interface: Interface) -> Iterator[Step]:
    stages: tuple[tuple[Stage, str], ...] = (
        ("name", "name of"),
        ("TCP", "TCP to"),
        ("TLS", "TLS of"),
        ("HTTP", "HTTP of"),
    )
    needs: tuple[str, ...] = ()
    for name, what in stages:
        check = f"{what} {interface}"
        yield Step(check, partial(stage, interface=interface, name=name), needs)
        needs = (check,)


STEPS = (
    Step("settings", settings),
    *_way("A"),
    *_way("B"),
    Step("clock", clock),
    Step("authentication", authentication, ("HTTP of A",)),
    Step("token in A", token_in_a, ("authentication",)),
    Step("token in B", token_in_b, ("token in A", "HTTP of B")),
    Step("token in B2", token_in_b2, ("token in A", "HTTP of B")),
    Step("room", room, ("token in A",)),
    Step("media server", media_server, ("room",)),
    Step("TCP to media server", media_server_tcp, ("media server",)),
)
CHECKS = tuple(step.name for step in STEPS)  # the names, in the order in which they come


def service_answers(client: Client) -> Checklist:
    """Check what interface A says to the keys (A1) and interface B to the token (B3), in turn.

    Nothing is raised for a service that is down, is another one, or refuses: that is what the two
    checks tell. A new token is made, which the client uses from then on. When A gives none, B is
    asked with the token that the client held before, or not at all: at most one login fails.
    Sections 4 and 5 of the interface.
    """
    before = client.lent() if client.authenticated else None

    def login() -> str:
        client.token(instead_of=before.token() if before else None)
        return "it answers and accepts the keys"

    a = _answers("A", login)
    asks = client if a.verdict == "PASS" else before
    if asks is None:
        why = "not tried: no token, because interface A gave none"
        return Checklist([a, Check("interface B", "SKIP", why)])
    accepts = "it answers and accepts the token; "
    b = _answers("B", lambda: accepts + _devices(len(list_devices(asks))))
    return Checklist([a, b])


def _answers(interface: Interface, ask: Callable[[], str]) -> Check:
    name = f"interface {interface}"
    try:
        return Check(name, "PASS", ask())
    except ConfkitError as error:
        silent = isinstance(error, TransportError | OutcomeUnknown)
        found = (isinstance(error, TransportError) and error.cause) or error.said
        if isinstance(error, ApiError) and error.ret is not None:
            found = f"it answers, and refuses: {error.meaning} ({error.ret})"
        if isinstance(error, ProtocolError):
            found = f"something answers there, but not as interface {interface} does"
        return Check(name, "UNKNOWN" if silent else "FAIL", found, error.advice)
