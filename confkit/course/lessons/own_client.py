"""Judges of a client of one's own: its signatures, and its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ConfigError
from ..judged import Function, Hints

if TYPE_CHECKING:
    from ...sandbox.service.signatures import Kind


def signature(function: Function, _: Any) -> Hints:
    """It makes digest and token of every vector."""
    from ..clients.rows import mistake, vectors

    given = vectors()["vectors"]
    for number, vector in enumerate(given):
        messages: tuple[tuple[Kind, str], ...] = (
            ("digest", vector["access_key"]),
            ("token", f"{vector['random']}:{vector['key']}"),
        )
        for kind, message in messages:
            made = function(vector["secret_key"], message, vector["hash"], vector["signature"])
            if wrong := mistake(vector, kind, made):
                yield f"Right in {number} of {len(given)} vectors, then: {wrong}."
    return (
        f"Digest and token are right in all {len(given)} vectors. In another language, do the "
        "same before you send the first request: confkit course vectors prints them."
    )


def command(words: list[Any], _: Any) -> Hints:
    """The client that it starts knows the three rows that the skeleton leaves out."""
    from ..clients.checking import check_client

    if not words or not all(isinstance(word, str) for word in words):
        yield "Hand in the command as a list of words, such as ['sh', 'client.sh']."
    try:
        found = check_client(words, only=("A1", "A4", "A7", "B2"))
    except ConfigError:
        yield (
            "This command cannot be started. Its first word is a program, as it is typed in a "
            "terminal, and each argument stands by itself: ['java', '-cp', 'folder', 'Client']."
        )
    for row in found:
        if row.verdict != "PASS":
            number = sum(check.verdict == "PASS" for check in found)
            yield f"{number} of {len(found)} rows are right. {row.check}: {row.found}."
    return (
        "A1, A4, A7 and B2 are right in three services. For all rows, in a terminal: "
        "confkit course check -- and then your command."
    )
