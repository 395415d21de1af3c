"""What is wrong with what a client printed, in words for the person who wrote it. Pure functions.

No text that they give holds a secret; what a client printed is quoted, masked and cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import quote, unquote

from ...secret import mask
from .operations import MISSING
from .running import Run

_QUOTED = 80  # characters
_TOKEN = re.compile(r"(?:to[ck]+en|digest)[\"']?\s*[=:]\s*[\"']?[\w+/%-]{24,}", re.IGNORECASE)
_LONG = re.compile(r"(?:[\w+/-]|%[0-9A-Fa-f]{2}){20,}", re.ASCII)  # as a token is, encoded or not


class Wrong(Exception):
    """A row is wrong; the text says why."""


class Missing(Exception):
    """The client says that it does not know the operation."""


def answer(
    run: Run, secrets: tuple[str, ...], is_credential: Callable[[str], bool]
) -> dict[str, Any]:
    """The object that a run printed, which has `ret`; Wrong says what else came. Missing: it
    ended with the exit status for an operation that it does not know. `is_credential` knows the
    service's tokens and its digest."""
    if run.ended:
        raise Wrong(run.ended)
    if run.status == MISSING:
        raise Missing
    _no_secret(run, secrets, is_credential)
    if run.status != 0:
        raise Wrong(
            f"it ended {_how(run.status)}{_complaint(run.errors, secrets)}; every answer, an "
            "error too, is a line of JSON with exit status 0"
        )
    said = _object(run.output, secrets)
    if "ret" not in said:
        raise Wrong("the line has no ret")
    ret = said["ret"]
    if ret is not None and (isinstance(ret, bool) or not isinstance(ret, int)):
        raise Wrong(f"ret is {shown(ret)}; it is a number without quotes, null where none came")
    if ret != 0 and not (isinstance(said.get("error"), str) and said["error"].strip()):
        raise Wrong(f"ret is {shown(ret)} and there is no error, a text that says what it means")
    return said


def _object(output: bytes, secrets: tuple[str, ...]) -> dict[str, Any]:
    try:
        text = output.decode()
    except UnicodeDecodeError:
        raise Wrong("its standard output is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise Wrong("its standard output begins with a byte order mark; UTF-8 is wanted without")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise Wrong("it printed nothing; each answer is one line of JSON on standard output")
    if len(lines) > 1:
        raise Wrong(
            f"it printed {len(lines)} lines, the first is {shown(lines[0], secrets)}; the answer "
            "is one line of JSON, and everything else goes to standard error"
        )
    try:
        said = json.loads(lines[0], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Wrong(f"it printed {shown(lines[0], secrets)}, which is not JSON") from None
    if not isinstance(said, dict):
        raise Wrong(f"it printed {shown(lines[0], secrets)}, which is no JSON object")
    return said


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _no_secret(run: Run, secrets: tuple[str, ...], is_credential: Callable[[str], bool]) -> None:
    for name, written in (("output", run.output), ("error", run.errors)):
        text = written.decode(errors="replace")
        if any(secret in text for secret in secrets):
            raise Wrong(f"the secret key stands in its standard {name}")
        if name == "error" and (_TOKEN.search(text) or _any_credential(text, is_credential)):
            raise Wrong("a token or digest stands in its standard error, perhaps inside a URL")


def _any_credential(text: str, is_credential: Callable[[str], bool]) -> bool:
    found = {unquote(long).rstrip("=") for long in _LONG.findall(text)}
    return any(is_credential(bare + "=" * (-len(bare) % 4)) for bare in found)


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"by signal {-status}"
    return f"with exit status {status}"


def _complaint(errors: bytes, secrets: tuple[str, ...]) -> str:
    """What standard error says of it: the first line that is no frame of a stack."""
    lines = errors.decode(errors="replace").splitlines()
    told = [line for line in lines if line.strip() and not line[:1].isspace()]
    told = [line for line in told if not line.startswith("Traceback")]
    return f", and says {shown(told[0], secrets)}" if told else ""


def shown(value: Any, secrets: tuple[str, ...] = ()) -> str:
    """A value as JSON for a message: masked, on one line, and cut where it is long."""
    text = mask(json.dumps(value, ensure_ascii=False), *secrets)
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def difference(wanted: Mapping[str, Any], given: Any, where: str = "") -> str:
    """How what is given differs from the members that are wanted; empty where they are all there.
    Further members do not matter."""
    if not isinstance(given, dict):
        return f"{where or 'the line'} is {shown(given)}, not an object"
    for name, value in wanted.items():
        place = f"{where}.{name}" if where else name
        if name not in given:
            alike = [other for other in given if _plain(other) == _plain(name)]
            printed = f"; it printed {alike[0]}" if alike else ""
            return f"{place} is missing in what it printed{printed}"
        if told := _unequal(place, value, given[name]):
            return told
    return ""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _unequal(place: str, wanted: Any, given: Any) -> str:
    if isinstance(wanted, Mapping):
        return difference(wanted, given, place)
    if isinstance(wanted, list):
        if not isinstance(given, list):
            return f"{place} is {shown(given)}, not a list"
        if len(given) != len(wanted):
            return f"{place} has {len(given)} entries, and the service gave {len(wanted)}"
        entries = (
            _unequal(f"{place}[{number}]", *pair)
            for number, pair in enumerate(zip(wanted, given, strict=True))
        )
        return next(filter(None, entries), "")
    if isinstance(wanted, str):
        wanted = str(wanted)  # a Secret is a text like any other here
    if type(wanted) is type(given) and wanted == given:
        return ""
    if wanted is None:
        return f"{place} is {shown(given)}; what is absent is null"
    if isinstance(wanted, int) and isinstance(given, str):
        return f"{place} is the text {shown(given)}; it is the number {wanted}"
    if isinstance(wanted, str) and isinstance(given, int):
        return f"{place} is the number {given}; it is the text {shown(wanted)}"
    if isinstance(wanted, str) and isinstance(given, str) and (told := _mangled(wanted, given)):
        return f"{place} {told}"
    return f"{place} is {shown(given)}; it is {shown(wanted)}"


def arrived(name: str, sent: str, stored: str | None) -> str:
    """What happened to a text on its way to the service; empty where it arrived as it was given."""
    if stored == sent:
        return ""
    if stored is None:
        return f"{name} did not arrive"
    told = _mangled(sent, stored) or f"arrived as {shown(stored)}; it was given as {shown(sent)}"
    return f"{name} {told}"


def _mangled(right: str, found: str) -> str:
    """Which usual mistake turns one text into the other."""
    if found in (quote(right), quote(right, safe="")):
        return "is percent-encoded once too often"
    if found == right.replace("+", " "):
        return "lost its plus sign, which has to be percent-encoded"
    if found == right.partition("&")[0] or found == right.partition("#")[0]:
        return "ends too early: & and # have to be percent-encoded"
    if found.isascii() and not right.isascii() and "?" in found:
        return "lost its letters beyond ASCII: they travel as UTF-8"
    for table in ("latin-1", "cp1252"):
        if found == right.encode().decode(table, "replace"):
            return "is UTF-8 that was read as Latin-1"
    return ""
