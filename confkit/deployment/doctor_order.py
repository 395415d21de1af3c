"""`doctor`: the checks in their order, each made only when those before it allow that."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checklist import Check, Checklist
from ..devices import list_devices
from ..errors import (
    ApiError,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ProtocolError,
    TransportError,
)
from . import doctor_clock_keys_room as checks
from .doctor_case import SECONDS, Case, Said, say
from .doctor_name_tcp_tls import Stage, settings, stage

if TYPE_CHECKING:
    from ..client import Client
    from ..endpoints import Interface


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
    together to `timeout` seconds, but for the look-up of a name, which takes as long as its
    resolver does, and for a name of several addresses, each of which is tried. Nothing is raised
    for what the service does: ParameterError and ConfigError are for wrong arguments alone. `clock`
    gives monotonic seconds, `now` those since the epoch.
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


def checkup(client: Client, room_id: str | None = None, **how: Any) -> Iterator[Check]:
    """The checks of `doctor` one after another, as they are made; wrong arguments raise at once."""
    case = Case(client, room_id, **how)
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
        if first is None and step.make is checks.clock and not case.answered:
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


class Step(NamedTuple):
    """A check by its name, how it is made, and the checks that have to go well before it."""

    name: str
    make: Callable[[Case], Said]
    needs: tuple[str, ...] = ()


def _way(interface: Interface) -> Iterator[Step]:
    needs: tuple[str, ...] = ()
    for name, what in _STAGES.items():
        check = f"{what} {interface}"
        yield Step(check, partial(stage, interface=interface, name=name), needs)
        needs = (check,)


_STAGES: dict[Stage, str] = {
    "name": "name of",
    "TCP": "TCP to",
    "TLS": "TLS of",
    "HTTP": "HTTP of",
}
STEPS = (
    Step("settings", settings),
    *_way("A"),
    *_way("B"),
    Step("clock", checks.clock),
    Step("authentication", checks.authentication, ("HTTP of A",)),
    Step("token in A", checks.token_in_a, ("authentication",)),
    Step("token in B", checks.token_in_b, ("token in A", "HTTP of B")),
    Step("token in B2", checks.token_in_b2, ("token in A", "HTTP of B")),
    Step("room", checks.room, ("token in A",)),
    Step("media server", checks.media_server, ("room",)),
    Step("TCP to media server", checks.media_server_tcp, ("media server",)),
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
    b = _answers("B", lambda: accepts + checks.listed_devices(len(list_devices(asks))))
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
