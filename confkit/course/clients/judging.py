"""What is wrong with what a client printed, in words for the person who wrote it. Pure functions.

No text that they give holds a secret; what a client printed is quoted, masked and cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import quote, unquote

from ...secret import mask
from .running import Run

MISSING = 64  # the exit status of a client that does not know an operation (EX_USAGE of sysexits)
_QUOTED = 80  # characters
_LONG = re.compile(r"(?:[\w+/-]|%[0-9A-Fa-f]{2}){20,}", re.ASCII)  # as a token is, encoded or not


class Wrong(Exception):
    """A client is wrong: what was found, and what its author can do about it; None: what the row
    advises."""

    def __init__(self, found: str, advice: str | None = None) -> None:
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
    errors = run.errors.decode(errors="replace")
    for name, written in (("output", run.output.decode(errors="replace")), ("error", errors)):
        if any(secret in written for secret in secrets):
            raise Wrong(f"the secret key stands in its standard {name}")
    long = {unquote(word).rstrip("=") for word in _LONG.findall(errors)}
    if any(is_credential(bare + "=" * (-len(bare) % 4)) for bare in long):
        raise Wrong("a token or digest stands in its standard error, perhaps inside a URL")
    if run.status != 0:
        how = f"by signal {-run.status}" if run.status < 0 else f"with exit status {run.status}"
        raise Wrong(
            f"it ended {how}{_complaint(errors, secrets)}",
            "Every answer, an error too, is a line of JSON with exit status 0.",
        )
    said = _object(run.output, secrets)
    ret = said.get("ret")
    if "ret" not in said:
        raise Wrong("the line has no ret")
    if ret is not None and (isinstance(ret, bool) or not isinstance(ret, int)):
        raise Wrong(f"ret is {shown(ret)}; it is a number without quotes, null where none came")
    if ret != 0 and not (isinstance(said.get("error"), str) and said["error"].strip()):
        raise Wrong(f"ret is {shown(ret)} and there is no error, a text that says what it means")
    return said


def _complaint(errors: str, secrets: Sequence[str]) -> str:
    """What standard error says of it: the first line that is no frame of a stack."""
    lines = [line for line in errors.splitlines() if line.strip() and not line[0].isspace()]
    lines = [line for line in lines if not line.startswith("Traceback")]
    return f", and says {shown(lines[0], secrets)}" if lines else ""


def _object(output: bytes, secrets: Sequence[str]) -> dict[str, Any]:
    try:
        text = output.decode()
    except UnicodeDecodeError:
        raise Wrong("its standard output is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise Wrong("its standard output begins with a byte order mark", "Print UTF-8 without.")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise Wrong("it printed nothing", "Each answer is one line of JSON on standard output.")
    first = f"{shown(lines[0], secrets)}"
    if len(lines) > 1:
        raise Wrong(
            f"it printed {len(lines)} lines, the first is {first}",
            "The answer is one line of JSON; everything else goes to standard error.",
        )
    try:
        said = json.loads(lines[0], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Wrong(f"it printed {first}, which is not JSON") from None
    if not isinstance(said, dict):
        raise Wrong(f"it printed {first}, which is no JSON object")
    return said


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def shown(value: Any, secrets: Sequence[str] = ()) -> str:
    """Return a value as JSON for a message: masked, on one line, and cut where it is long."""
    text = mask(json.dumps(value, ensure_ascii=False), *secrets)
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def difference(wanted: Any, given: Any, place: str = "") -> str:
    """Return how a value differs from what is wanted, in words; empty where it does not. Further
    members of an object do not matter."""
    at = place or "the line"
    if isinstance(wanted, Mapping):
        return _of_members(wanted, given, place)
    if isinstance(wanted, list):
        if not isinstance(given, list):
            return f"{at} is {shown(given)}, not a list"
        if len(given) != len(wanted):
            return f"the number of {at} is {len(given)}, not {len(wanted)}"
        pairs = enumerate(zip(wanted, given, strict=True))
        return next(filter(None, (difference(*pair, f"{at}[{n}]") for n, pair in pairs)), "")
    # A Secret is a text like any other here.
    wanted, given = (str(one) if isinstance(one, str) else one for one in (wanted, given))
    if type(wanted) is type(given) and wanted == given:
        return ""
    if wanted is None:
        return f"{at} is {shown(given)}; what is absent is null"
    if isinstance(wanted, int) and isinstance(given, str):
        return f"{at} is the text {shown(given)}; it is the number {wanted}"
    if isinstance(wanted, str) and isinstance(given, int):
        return f"{at} is the number {given}; it is the text {shown(wanted)}"
    if isinstance(wanted, str) and isinstance(given, str) and (how := _mangled(wanted, given)):
        return f"{at} {how}"
    return f"{at} is {shown(given)}; it is {shown(wanted)}"


def _of_members(wanted: Mapping[str, Any], given: Any, place: str) -> str:
    if not isinstance(given, dict):
        return f"{place or 'the line'} is {shown(given)}, not an object"
    for name, value in wanted.items():
        inner = f"{place}.{name}" if place else name
        if name not in given:
            alike = [other for other in given if _plain(other) == _plain(name)]
            but = f"; it printed {alike[0]}" if alike else ""
            return f"{inner} is missing in what it printed{but}"
        if found := difference(value, given[name], inner):
            return found
    return ""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _mangled(right: str, found: str) -> str:
    """Which usual mistake turns one text into the other."""
    mistakes = {
        "is percent-encoded once too often": (quote(right), quote(right, safe="")),
        "lost its plus sign, which has to be percent-encoded": (right.replace("+", " "),),
        "ends too early: & and # have to be percent-encoded": (
            right.partition("&")[0],
            right.partition("#")[0],
        ),
        "is UTF-8 that was read as Latin-1": (
            right.encode().decode("latin-1"),
            right.encode().decode("cp1252", "replace"),
        ),
    }
    if found.isascii() and not right.isascii() and "?" in found:
        return "lost its letters beyond ASCII: they travel as UTF-8"
    return next((mistake for mistake, made in mistakes.items() if found in made), "")
