"""What interface A shows of itself: the token's spelling, and its answers to what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..endpoints import A3, A5, Endpoint
from ..masking import Secret
from ..wire import Request
from .answers import came, told
from .evidence import Findings
from .line import Line

if TYPE_CHECKING:
    from ..exchange import Asked

CALLBACK = "confkitProbe"
SPELLINGS = ("access_token", "access_tocken", "token")  # seen in deployments
# Only these codes can mean that the token was read and the room looked for. Any other (700, 504)
# may be a passing fault, which would make a wrong spelling look like the right one.
_READ = {
    "A3": {0, 404, 407, 415, 601, 612},
    "A5": {0, 404, 405, 406, 407, 410, 411, 415, 416, 417, 428, 601, 612},
}
_FAULTS = {409, 503, 504, 700, 805, 806}  # says nothing of the token: no control


def token_spelling(line: Line, findings: Findings, token: Secret, room_id: str) -> bool:
    """Whether A3 shows under which name interface A takes the token, with an unknown room."""
    question = "spelling of the token in A"
    with findings.asking(question):
        name, asked = _spelling(line, findings, A3, token, room_id)
        if name:
            findings.seen(question, name, asked, token_parameter=name)
            findings.seen("an unknown room in A3", told(asked), asked)
            return True
        findings.open(question, _unchanged(asked, findings, A3), asked)
    return False


def mcu_spelling(
    line: Line, findings: Findings, token: Secret, room_id: str, last: bool = False
) -> bool:
    """Whether A5 shows under which name it takes the token; `last`: else it stays open."""
    question = "spelling of the token in A5"
    with findings.asking(question):
        name, asked = _spelling(line, findings, A5, token, room_id)
        if name:
            own = None if name == findings.dialect.token_parameter else name
            findings.seen(question, name, asked, mcu_token_parameter=own)
        elif last:
            findings.open(question, _unchanged(asked, findings, A5), asked)
        return name is not None
    return True


def bad_token(line: Line, findings: Findings, bad: Secret, room_id: str) -> None:
    """Keeps what A3 answers to a token that is none."""
    with findings.asking("a bad token in A3"):
        findings.answer("a bad token in A3", line(Request(A3, {"room_id": room_id}), bad))


def jsonp(line: Line, findings: Findings, token: Secret, room_id: str) -> None:
    """Keeps whether a `callback` is honoured."""
    question = "JSONP (callback)"
    with findings.asking(question):
        asked = line(Request(A3, {"room_id": room_id, "callback": CALLBACK}), token)
        answer = asked.answer
        if answer and answer.body.lstrip().startswith(f"{CALLBACK}(".encode()):
            kind = answer.content_type or "no content type"
            findings.seen(question, f"honoured: {CALLBACK}({{...}}), {kind}", asked)
        elif asked.call.ret is not None:
            findings.seen(question, "ignored: plain JSON comes", asked)
        else:
            findings.open(question, told(asked), asked)


def _spelling(
    line: Line, findings: Findings, endpoint: Endpoint, token: Secret, room_id: str
) -> tuple[str | None, Asked]:
    """The name under which an operation reads the token, and the exchange that shows it.

    The control is the same question without a token: a name that changes its answer was read.
    Nothing less shows it, as a service may look for the room first.
    """
    request = Request(endpoint, {"room_id": room_id})
    asked = control = line(request)
    if control.call.ret is None or control.call.ret in _FAULTS:
        return None, control
    for name in _names(findings, endpoint):
        setting = "token_parameter" if endpoint is A3 else "mcu_token_parameter"
        asked = line(request, token, dialect=replace(findings.dialect, **{setting: name}))
        if asked.call.ret in _READ[endpoint.key] and came(asked) != came(control):
            return name, asked
    return None, asked


def _names(findings: Findings, endpoint: Endpoint) -> list[str]:
    dialect = findings.dialect
    given = [dialect.mcu_token_parameter] if endpoint is A5 else []
    return list(dict.fromkeys(filter(None, [*given, dialect.token_parameter, *SPELLINGS])))


def _unchanged(asked: Asked, findings: Findings, endpoint: Endpoint) -> str:
    return (
        f"none of {', '.join(_names(findings, endpoint))} changes what {endpoint.key} answers "
        f"without a token, to one that shows it was read. The last answer: {told(asked)}"
    )
