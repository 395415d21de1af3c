"""By which HTTP method B1 and B3 are called, and where a POST carries its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..dialect import CHOICES
from ..endpoints import B1, B3, Endpoint
from ..masking import Secret
from ..wire import Request
from .answers import came, told
from .evidence import Findings
from .line import Line

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..dialect import Dialect

# Codes that can mean that the token was read: success, no such room, the background service.
# B1's are those for what is missing, and again the background service's.
_READ = {"B1": {302, 310, 401, 407}, "B3": {0, 302, 304, 310, 404, 425, 612}}
_HICCUPS = {302, 303, 304, 310, 427, 504}  # of the background service: may be gone in a moment
_CREATE = "B1 by GET or POST"
_SETTING = {"B1": "create_method", "B3": "list_method"}
_UNSERVED = (404, 405, 501)  # HTTP statuses of a path or method that there is not
_NO_METHOD = 408  # specified for A: HTTP request not supported; of B that is assumed


class Way(NamedTuple):
    """How an operation is called: HTTP method, and where the parameters travel."""

    method: str
    placement: str


class Called(NamedTuple):
    """Which way an operation is called: `way` where its token was read there, else `method` where
    only that one is served; `asked` shows it."""

    way: Way | None
    method: str | None
    asked: Attempt


def list_calls(line: Line, findings: Findings, token: Secret, room_id: str) -> bool:
    """Whether B3 shows how it is called; asked for an unknown room, its answer is short."""
    question = "B3 by GET or POST"
    with findings.asking(question):
        called = _called(line, findings, B3, token, {"roomId": room_id})
        _keep(findings, question, "list_method", called)
        if called.way:
            findings.answer("an unknown room in B3", called.asked)
        return called.way is not None
    return False


def create_calls(line: Line, findings: Findings, token: Secret) -> None:
    """Keeps how B1 is called, as far as that shows without an import.

    What is sent holds a token and nothing else: no room, no user, no address. So there is nothing
    that a service could seat or dial, however wrong it is, and a right one refuses it: all four are
    required (section 4). Where the token is read, the refusal is about the parameters (401), and
    differs from the one without a token (602): that tells the method, and for a POST where it is
    read. A service that looks at the parameters first refuses both alike; then only the method is
    told, where the other one is not served. To tell more, complete parameters would be needed, and
    with them a service that does not check the room could import something.
    """
    with findings.asking(_CREATE):
        _keep(findings, _CREATE, "create_method", _called(line, findings, B1, token, {}))


def _called(
    line: Line, findings: Findings, endpoint: Endpoint, token: Secret, given: Mapping[str, str]
) -> Called:
    """The way in which an operation of B reads its token, with the same without one as control."""
    request = Request(endpoint, given)
    setting = _SETTING[endpoint.key]
    served: dict[str, Attempt] = {}
    unserved: set[str] = set()
    for way in _ways(findings, setting):
        if way.method in unserved:
            continue
        dialect = replace(findings.dialect, placement=way.placement, **{setting: way.method})
        asked = line(request, token, dialect=dialect)
        if asked.call.ret is None:
            unserved |= {way.method} if asked.call.status in _UNSERVED else set()
            continue
        if asked.call.ret == _NO_METHOD:
            unserved.add(way.method)
            continue
        served.setdefault(way.method, asked)
        if asked.call.ret in _READ[endpoint.key] and _is_read(line, request, token, dialect, asked):
            return Called(way, way.method, asked)
    known = {"GET", "POST"} == served.keys() | unserved and len(served) == 1
    method = next(iter(served)) if known else None
    return Called(None, method, next(iter(served.values()), asked))


def _is_read(line: Line, request: Request, token: Secret, dialect: Dialect, asked: Attempt) -> bool:
    """Whether what came shows that the token was read: without one, something else comes."""
    if asked.call.ret == 0 and asked.call.method == "GET":
        return True  # it works so, whatever the service makes of the token
    control = line(request, None, dialect=dialect)
    if control.call.ret is None or control.call.ret in _HICCUPS or came(control) == came(asked):
        return False
    if asked.call.ret not in _HICCUPS:
        return True
    again = line(request, token, dialect=dialect)  # a fault that passes is no sign of anything
    return came(again) == came(asked)


def _ways(findings: Findings, setting: str) -> Iterator[Way]:
    """The given way first; the placement that is known already before the others."""
    given = findings.dialect
    placements = dict.fromkeys([given.placement, "form", "json", *CHOICES["placement"]])
    if "placement" not in findings.told and given.placement == "query":
        placements = dict.fromkeys(["form", "json", "query"])  # in a query there would be GET
    for method in dict.fromkeys([getattr(given, setting), *CHOICES[setting]]):
        if method == "GET":
            yield Way(method, "query")
        else:
            yield from (Way(method, placement) for placement in placements)


def _keep(findings: Findings, question: str, setting: str, called: Called) -> None:
    way, method, asked = called
    if method is None:
        return findings.open(question, _unread(asked), asked)
    how = method if way else f"{method}; the other one is not served"
    findings.seen(question, how, asked, **{setting: method})
    if method == "GET":
        return None
    where = "placement of a POST"
    if way is None:
        if "placement" not in findings.told:
            findings.open(where, _unread(asked), asked)
    elif "placement" not in findings.told:
        findings.seen(where, way.placement, asked, placement=way.placement)
    elif findings.dialect.placement != way.placement:
        both = f"B3 reads it in the {findings.dialect.placement}, B1 in the {way.placement}"
        findings.open(where, f"{both}, and the dialect has one setting for both", asked)
    return None


def placement_unused(findings: Findings) -> None:
    """Keeps that no placement is needed, where both operations are known to be called by GET."""
    dialect = findings.dialect
    told_both = {"create_method", "list_method"} <= set(findings.told)
    if told_both and (dialect.create_method, dialect.list_method) == ("GET", "GET"):
        shown = next(row for row in reversed(findings.rows) if row.question == _CREATE)
        why = "not used: B1 and B3 are called by GET"
        findings.seen("placement of a POST", why, shown.exchange)


def _unread(asked: Attempt) -> str:
    return (
        "neither GET nor POST in query, form or JSON got an answer that shows that the token was "
        f"read. One of the answers: {told(asked)}"
    )
