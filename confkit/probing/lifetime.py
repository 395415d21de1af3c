"""How long a token lasts, found out by waiting."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

from ..endpoints import A3
from ..masking import Secret
from ..wire import Request
from .answers import told
from .evidence import Findings
from .line import Line
from .logins import REFUSED

POLLS = 20  # questions while waiting, evenly spaced, so that the answer is that exact


def token_lifetime(
    line: Line,
    findings: Findings,
    token: Secret,
    since: float,
    wait: float,
    room_id: str,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
) -> None:
    """Keeps between which ages a token ends, by asking for an unknown room for `wait` seconds.

    `since` is when it was made, by `clock`. Each question uses the token: where a service counts
    from the last use, it lasts longer than it would unused (the interface does not say).
    """
    question = "lifetime of the token"
    with findings.asking(question):
        request = Request(A3, {"room_id": room_id})
        asked = line(request, token)
        alive, begun = clock() - since, clock()
        if asked.call.ret is None or asked.call.ret in REFUSED:
            return findings.open(question, f"the token does not work now: {told(asked)}", asked)
        polls = max(1, min(POLLS, line.remaining))
        for poll in range(1, polls + 1):
            sleep(max(0.0, begun + wait * poll / polls - clock()))
            asked = line(request, token)
            age = clock() - since
            if asked.call.ret in REFUSED:
                found = f"it ended between {floor(alive)} and {ceil(age)} s after the login"
                return findings.seen(question, found, asked)
            if asked.call.ret is not None:
                alive = age
        findings.open(question, f"longer than {floor(alive)} s, as far as was waited", asked)
    return None
