"""What interface A shows of itself: the token's spelling, and its answers to what is wrong; and
how any operation's spelling is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..endpoints import A3, A5, Endpoint
from ..masking import Secret
from ..wire import Request, token_parameter
from .answers import came, told
from .evidence import Findings
from .line import Line

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..dialect import Dialect

CALLBACK = "confkitProbe"
_IN_A = ("access_token", "access_tocken", "token")  # seen in deployments
SPELLINGS = {"A3": _IN_A, "A5": _IN_A, "B2": ("access_token", "accessToken")}
_SETTINGS = {
    "A3": "token_parameter", "A5": "mcu_token_parameter", "B2": "remove_token_parameter"
}  # fmt: skip
# Only these codes can mean that the token was read and the room looked for. Any other (700, 504)
# may be a passing fault, which would make a wrong spelling look like the right one.
_READ = {
    "A3": {0, 404, 407, 415, 601, 612},
    "A5": {0, 404, 405, 406, 407, 410, 411, 415, 416, 417, 428, 601, 612},
    "B2": {0, 401, 404, 407, 415, 416, 424, 425, 601, 612},
}
# Says nothing of the token: no control.
_FAULTS = {303, 310, 409, 427, 503, 504, 700, 805, 806}


def token_spelling(line: Line, findings: Findings, token: Secret, room_id: str) -> bool:
    """Whether A3 shows under which name interface A takes the token, with an unknown room."""
    question = "spelling of the token in A"
    with findings.asking(question):
        name, asked = spelling(line, findings.dialect, Request(A3, {"room_id": room_id}), token)
        if name:
            findings.seen(question, name, asked, token_parameter=name)
            findings.seen("an unknown room in A3", told(asked), asked)
            return True
        findings.open(question, unchanged(asked, findings.dialect, A3), asked)
    return False


def mcu_spelling(
    line: Line, findings: Findings, token: Secret, room_id: str, last: bool = False
) -> bool:
    """Whether A5 shows under which name it takes the token; `last`: else it stays open."""
    question = "spelling of the token in A5"
    with findings.asking(question):
        name, asked = spelling(line, findings.dialect, Request(A5, {"room_id": room_id}), token)
        if name:
            own = None if name == findings.dialect.token_parameter else name
            findings.seen(question, name, asked, mcu_token_parameter=own)
        elif last:
            findings.open(question, unchanged(asked, findings.dialect, A5), asked)
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


def spelling(
    ask: Callable[..., Attempt], dialect: Dialect, request: Request, token: Secret | None
) -> tuple[str | None, Attempt]:
    """The name under which an operation (A3, A5 or B2) reads the token, and the exchange that shows
    it; None, and the last exchange, where none does. `ask` sends a request once.

    The control is the same question without a token: a name that changes its answer was read.
    Nothing less shows it, as a service may look for the room first.
    """
    endpoint = request.endpoint
    asked = control = ask(request, dialect=dialect)
    if control.call.ret is None or control.call.ret in _FAULTS:
        return None, control
    for name in _names(dialect, endpoint):
        asked = ask(request, token, dialect=replace(dialect, **{_SETTINGS[endpoint.key]: name}))
        if asked.call.ret in _READ[endpoint.key] and came(asked) != came(control):
            return name, asked
    return None, asked


def _names(dialect: Dialect, endpoint: Endpoint) -> list[str]:
    """The names to try, the dialect's own first."""
    usual = [dialect.token_parameter] if endpoint.interface == "A" else []
    given = token_parameter(endpoint, dialect)
    return list(dict.fromkeys([given, *usual, *SPELLINGS[endpoint.key]]))


def unchanged(asked: Attempt, dialect: Dialect, endpoint: Endpoint) -> str:
    """Why no name of the token was found."""
    return (
        f"none of {', '.join(_names(dialect, endpoint))} changes what {endpoint.key} answers "
        f"without a token, to one that shows it was read. The last answer: {told(asked)}"
    )
