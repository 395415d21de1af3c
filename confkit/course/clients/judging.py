"""What is wrong with what a client did, in words for the person who wrote it. Pure functions.

No text that they give holds a secret; what a client printed is quoted, masked and cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from ...endpoints import ENDPOINTS
from ...errors import lookup
from ...secret import mask
from .rows import OPERATIONS, Ask
from .running import Run

MISSING = 64  # the exit status of a client that does not know an operation (EX_USAGE of sysexits)
_QUOTED = 80  # characters
_LONG = re.compile(r"(?:[\w+/-]|%[0-9A-Fa-f]{2}){20,}", re.ASCII)  # as a token is, encoded or not
_KINDS = {str: "the text ", int: "the number ", bool: "", list: "the list "}


class Wrong(Exception):
    """A client is wrong: what was found, and what its author can do about it."""

    def __init__(self, found: str, advice: str = "") -> None:
        super().__init__(found)
        self.found, self.advice = found, advice


class Missing(Exception):
    """The client says that it does not know the operation."""


def printed(
    run: Run, secrets: Sequence[str], is_credential: Callable[[str], bool]
) -> dict[str, Any]:
    """Return the object that a run printed, which has `ret`. `is_credential` knows the service's
    tokens and its digest. Wrong: something else came. Missing: it does not know the operation."""
    if run.ended:
        raise Wrong(run.ended)
    if run.status == MISSING:
        raise Missing
    output, errors = (one.decode(errors="replace") for one in (run.output, run.errors))
    for name, written in (("output", output), ("error", errors)):
        if any(secret in written for secret in secrets):
            raise Wrong(f"the secret key stands in its standard {name}")
    long = {unquote(word).rstrip("=") for word in _LONG.findall(errors)}
    if any(is_credential(bare + "=" * (-len(bare) % 4)) for bare in long):
        raise Wrong("a token or digest stands in its standard error, perhaps inside a URL")
    if run.status:
        # The first line that is no frame of a stack says most.
        said = re.findall(r"^(?!Traceback)\S.*", errors, re.MULTILINE)
        raise Wrong(
            f"it ended with exit status {run.status}"
            + (f", and says {shown(said[0], secrets)}" if said else ""),
            "Every answer, an error too, is a line of JSON with exit status 0.",
        )
    lines = [line for line in output.split("\n") if line.strip()]
    if len(lines) != 1:
        first = f"{len(lines)} lines, the first is {shown(lines[0], secrets)}" if lines else ""
        raise Wrong(
            f"it printed {first or 'nothing'}",
            "The answer is one line of JSON on standard output; all else goes to standard error.",
        )
    try:
        answer = msgspec.json.decode(run.output, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Wrong(
            f"it printed {shown(lines[0], secrets)}, which is no JSON object in UTF-8",
            "It begins with { at once: a byte order mark before it is wrong, too.",
        ) from None
    ret = answer.get("ret", "")
    if not (ret is None or type(ret) is int):
        raise Wrong(f"ret is {shown(ret)}; it is a number without quotes, null where none came")
    if ret != 0 and not (isinstance(answer.get("error"), str) and answer["error"].strip()):
        raise Wrong(f"ret is {shown(ret)} and there is no error, a text that says what it means")
    return answer


def judge(
    ask: Ask,
    wanted: Mapping[str, Any],
    said: Mapping[str, Any],
    sent: Mapping[str, int],
    refusal: str,
) -> None:
    """Wrong unless the client says what is wanted, after so many requests of each row of the
    interface; `refusal` is the service's, where it made one of its own."""
    key, ret, due = OPERATIONS[ask.operation], said["ret"], None if ask.ret == "null" else ask.ret
    users = said.get("user_list")
    reported = f"{len(users)} users" if isinstance(users, list) else "success"
    if ret != 0:
        reported = f"ret {shown(ret)}: {shown(said['error'])}"
    if not (refusal and ret != 0) and key and not sent[key]:
        raise Wrong(f"it reports {reported}, and no request of {key} reached the service")
    for name, least, most, what in ask.sent:
        if not least <= sent[name] <= most:
            raise Wrong(what.format("once" if sent[name] == 1 else f"{sent[name]} times"))
    if due == 0 != ret:
        refused = f"the service refused it. {refusal}"
        raise Wrong(refused if refusal else f"it reports {reported}, and the call succeeded")
    if due == 0:
        if found := difference(wanted, said):
            but = f"it reports success where the call failed ({refusal})"
            raise Wrong(but if refusal else found)
        return
    came, meaning = f"no answer of the interface came{f' ({refusal})' if refusal else ''}", ""
    if due is not None:
        meaning = lookup(due, ENDPOINTS[key].interface)[0].meaning
        came = f"the service answered {due} ({meaning})"
    if ret != due:
        raise Wrong(f"it reports {reported} where the call failed: {came}")
    if ask.means not in said["error"].lower():
        error = shown(said["error"])
        raise Wrong(f"it calls {ret} of interface {key[0]} {error}; there it means {meaning}")


def shown(value: Any, secrets: Sequence[str] = ()) -> str:
    """Return a value as JSON for a message: masked, on one line, and cut where it is long."""
    text = mask(json.dumps(value, ensure_ascii=False), *secrets)
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def difference(wanted: Any, given: Any, place: str = "") -> str:
    """Return how a value differs from what is wanted, in words; empty where it does not. Further
    members of an object do not matter, and an empty text stands for null."""
    wanted, given = (str(one) if isinstance(one, str) else one for one in (wanted, given))
    wanted = None if wanted == "" else wanted
    pairs: list[tuple[str, Any, Any]] = []
    if isinstance(wanted, Mapping) and isinstance(given, dict):
        for name, value in wanted.items():
            inner = f"{place}.{name}" if place else name
            if name not in given:
                return f"{inner} is missing in what it printed: {shown(list(given))}"
            pairs.append((inner, value, given[name]))
    elif isinstance(wanted, list) and isinstance(given, list):
        if len(wanted) != len(given):
            return f"the number of {place} is {len(given)}, not {len(wanted)}"
        pairs = [(f"{place}[{n}]", one, given[n]) for n, one in enumerate(wanted)]
    elif type(wanted) is not type(given) or wanted != given:
        how = _mangled(wanted, given) if isinstance(wanted, str) and isinstance(given, str) else ""
        values = (f"{_KINDS.get(type(one), '')}{shown(one)}" for one in (given, wanted))
        return f"{place} {how or 'is ' + ', not '.join(values)}"
    return next(filter(None, (difference(one, other, at) for at, one, other in pairs)), "")


def _mangled(right: str, found: str) -> str:
    """Which usual mistake turns one text into the other."""
    made = {
        quote(right, safe=""): "is percent-encoded once too often",
        right.replace("+", " "): "lost its plus sign, which has to be percent-encoded",
        right.partition("&")[0]: "ends too early: & and # have to be percent-encoded",
        right.partition("#")[0]: "ends too early: & and # have to be percent-encoded",
        right.encode().decode("latin-1"): "is UTF-8 that was read as Latin-1",
    }
    if found.isascii() and not right.isascii() and "?" in found:
        return "lost its letters beyond ASCII: they travel as UTF-8"
    return made.get(found, "")
