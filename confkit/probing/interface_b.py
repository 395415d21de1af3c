"""What interface B shows of itself beside its methods: bad tokens, the keys of its items, and how
B2 spells the token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..endpoints import B2, B3
from ..masking import Secret
from ..wire import Request
from .answers import told
from .evidence import Findings
from .formats import as_number
from .interface_a import spelling, unchanged
from .line import Line

NO_CAMERA = "rtsp://192.0.2.1:554/nobody"  # of a network for examples: no device has it


def bad_token(line: Line, findings: Findings, bad: Secret, room_id: str) -> None:
    """Keeps what B3 answers to a token that is none."""
    with findings.asking("a bad token in B3"):
        findings.answer("a bad token in B3", line(Request(B3, {"roomId": room_id}), bad))


def remove_spelling(
    line: Line, findings: Findings, token: Secret, room_id: str, user_id: str
) -> None:
    """Keeps under which name B2 takes the token, by the removal of a user who is not there."""
    question = "spelling of the token in B2"
    with findings.asking(question):
        name, asked = spelling(line, findings.dialect, nobody(room_id, user_id), token)
        if name:
            findings.seen(question, name, asked, remove_token_parameter=name)
        else:
            findings.open(question, unchanged(asked, findings.dialect, B2), asked)


def nobody(room_id: str, user_id: str) -> Request:
    """The removal (B2) of a user who is not there, from a room that nobody uses: it changes
    nothing."""
    return Request(B2, {"roomId": room_id, "userId": user_id, "userAddress": NO_CAMERA})


def listing(line: Line, findings: Findings, token: Secret) -> None:
    """Keeps the key style of B3's items, and whether its numbers are quoted; one whole listing."""
    question = "keys of B3's items"
    with findings.asking(question):
        asked = line(Request(B3, {}), token)
        data = (asked.members or {}).get("data")
        items = data.get("items") if isinstance(data, Mapping) else None
        if asked.members is None or not isinstance(items, list):
            what = told(asked) if asked.members is None else "its answer holds no list of items"
            return findings.open(question, what, asked)
        if isinstance(data, Mapping) and "total" in data:
            findings.seen("total in B3", as_number(data["total"]), asked)
        style = key_style(items)
        if style:
            findings.seen(question, style, asked, item_keys=style)
        elif items:
            findings.open(question, "the items have keys of both styles, or of neither", asked)
        else:
            findings.open(question, "no device is listed, so nothing shows them", asked)
    return None


def key_style(items: list[Any]) -> str | None:
    """How the items' keys are spelt, None where they do not show one style."""
    keys = {key for item in items if isinstance(item, Mapping) for key in item}
    snake = any(re.fullmatch(r"(room|user)_[a-z]+", key) for key in keys)
    camel = any(re.fullmatch(r"(room|user)[A-Z][a-z]+", key) for key in keys)
    if snake == camel:
        return None
    return "snake_case" if snake else "camelCase"
