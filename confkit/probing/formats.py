"""In which form answers come: where the result code stands, and which numbers are quoted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dialect import CHOICES
from ..endpoints import A3
from ..masking import Secret
from ..wire import Request
from .answers import told
from .evidence import Findings
from .line import Line

if TYPE_CHECKING:
    from ..attempt import Attempt

_NUMBERS = ("id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video")


def result_codes(line: Line, findings: Findings) -> None:
    """Keeps where A and B put the result code, and its form, by all the answers so far."""
    codes: dict[tuple[str, ...], Attempt] = {}
    for asked in line.asked:
        members = top(asked)
        if asked.call.ret is not None:
            names = [name for name in CHOICES["result_field"] if members.get(name) is not None]
            codes.setdefault((asked.call.endpoint[0], *names), asked)
    for (interface, *names), asked in codes.items():
        if len(names) != 1:
            continue
        found = f"in {names[0]}, {as_number(top(asked)[names[0]])}"
        others = [other for other in codes if other[0] == interface]
        if interface == "A":
            findings.seen("result code of A", found, asked)
        elif len(others) == 1:
            findings.seen("result code of B", found, asked, result_field=names[0])
    if "result_field" not in findings.told:
        in_b = [(names, asked) for (where, *names), asked in codes.items() if where == "B"]
        both = "in ret and in result" if in_b else "no answer of B holds one"
        findings.open("result code of B", both, in_b[0][1] if in_b else None)


def room_numbers(line: Line, findings: Findings, token: Secret, room_id: str) -> None:
    """Keeps which numbers of a room A3 quotes."""
    question = "numbers in A3"
    with findings.asking(question):
        _room_numbers(findings, question, line(Request(A3, {"room_id": room_id}), token))


def _room_numbers(findings: Findings, question: str, asked: Attempt) -> None:
    members = top(asked)
    given = [name for name in _NUMBERS if members.get(name) not in (None, "")]
    if asked.members is None or not given:
        what = told(asked) if asked.members is None else "its answer holds no number"
        return findings.open(question, what, asked)
    quoted = [name for name in given if isinstance(members[name], str)]
    plain = [name for name in given if name not in quoted]
    parts = [("quoted: ", quoted), ("as numbers: ", plain)]
    found = "; ".join(label + ", ".join(names) for label, names in parts if names)
    findings.seen(question, found, asked)
    return None


def as_number(value: object) -> str:
    """Whether a number came as text."""
    return "as text" if isinstance(value, str) else "as a number"


def top(asked: Attempt) -> Mapping[str, Any]:
    """The members of an answer as they came, also of a refusal; empty where it is no object."""
    try:
        members = json.loads(asked.answer.body) if asked.answer else {}
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, Mapping) else {}
