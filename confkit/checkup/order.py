"""`doctor`: the checks in their order, each made only when those before it allow that."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .. import arguments
from ..checklist import Check, Checklist
from ..endpoints import A3
from ..errors import ConfigError
from ..transport import finite
from .authentication import authentication
from .case import Case
from .encryption import tls_of
from .reaching import name_of, tcp_to
from .reading import (
    media_server,
    media_server_tcp,
    room,
    token_in_a,
    token_in_b,
    token_in_b2,
)
from .settings import settings
from .skew import clock
from .speaking import http_of

if TYPE_CHECKING:
    from ..client import Client
    from ..endpoints import Interface

SECONDS = 60.0  # for all checks together
_MORE_TIME = "Give it more time: timeout= (--timeout)."


class Step(NamedTuple):
    """A check by its name, how it is made, and the checks that have to go well before it."""

    name: str
    make: Callable[[Case, str], Check]
    needs: tuple[str, ...] = ()


def _way(interface: Interface) -> list[Step]:
    name, tcp, tls, http = (
        f"{what} {interface}" for what in ("name of", "TCP to", "TLS of", "HTTP of")
    )
    return [
        Step(name, partial(name_of, interface=interface)),
        Step(tcp, partial(tcp_to, interface=interface), (name,)),
        Step(tls, partial(tls_of, interface=interface), (tcp,)),
        Step(http, partial(http_of, interface=interface), (tls,)),
    ]


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
    """What is wrong between this machine and the service: one check a line, with cause and advice.

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
    together to `timeout` seconds. Nothing is raised for what the service does: ParameterError and
    ConfigError are for wrong arguments alone. `clock` gives monotonic seconds, `now` those since
    the epoch.
    Sections 4, 5 and 7 of the interface.
    """
    return Checklist(
        checkup(client, room_id, max_failed_logins=max_failed_logins, timeout=timeout,
                clock=clock, now=now, new_id=new_id)
    )  # fmt: skip


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
        room_id = arguments.identity(A3, "room_id", room_id)
    if not finite(timeout):
        raise ConfigError(f"timeout is {timeout!r}", "Give seconds for all checks, above 0.")
    created = tuple(client.created)
    case = Case(copy(client), room_id, max_failed_logins, timeout, clock, now, new_id, created)
    closed = _closed(client)
    return _all_closed(closed) if closed else _made(case)


def _closed(client: Client) -> str:
    try:
        client._is_open()
    except ConfigError as error:
        return str(error)
    return ""


def _all_closed(why: str) -> Iterator[Check]:
    yield Check(STEPS[0].name, "FAIL", why, "Connect again, and give that client.")
    for step in STEPS[1:]:
        yield Check(step.name, "SKIP", f"because {why.partition(';')[0]}")


def _made(case: Case) -> Iterator[Check]:
    stopped: dict[str, str] = {}  # a check that went wrong or was not made: what went wrong first
    for step in STEPS:
        first = next((stopped[name] for name in step.needs if name in stopped), None)
        if first is None and step.name == "clock" and not case.answered:
            first = stopped.get("HTTP of A") or stopped.get("HTTP of B")
        if first is not None:
            stopped[step.name] = first
            yield case.check(step.name, "SKIP", f"because {first} did not pass")
        elif case.left <= 0:
            stopped[step.name] = step.name
            yield case.check(
                step.name, "UNKNOWN", f"not made: the {case.seconds:g} s for all checks are over",
                _MORE_TIME,
            )  # fmt: skip
        else:
            case.hurried = case.settled = False
            check = step.make(case, step.name)
            if check.verdict == "FAIL" and case.hurried and not case.settled:
                found = f"{check.found}; no more was left of the {case.seconds:g} s for all checks"
                check = case.check(step.name, "UNKNOWN", found, _MORE_TIME)
            if check.verdict in ("FAIL", "UNKNOWN") and not case.settled:
                stopped[step.name] = step.name
            yield check
