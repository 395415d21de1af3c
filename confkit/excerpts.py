"""The beginning of an answer, for people: nothing secret is in it, however the answer was torn."""

from __future__ import annotations

import json
import re

from .endpoints import ENDPOINTS
from .masking import MASK, forms, mask

_PARAMETERS = {
    name for one in ENDPOINTS.values() for name in (one.token, *one.required, *one.optional)
}
# Names and values of the interface that are nobody's secret.
_WORDS = {
    *_PARAMETERS, "ret", "id", "room_status", "user_list", "user_name", "addr", "msg", "success",
    "data", "total", "items", "login_name", "login_password", "assist_address", "random", "key",
    "true", "false", "null", "NaN", "Infinity", MASK,
}  # fmt: skip
_NUMBER = re.compile(r"-?[0-9]{1,3}")  # such as a result code
_BETWEEN = re.compile(r"[^\s{}\[\]:,\"'\\]+")
_OPENING = re.compile(r"\s*(?=[{\[])")
_CALL = re.compile(r"[A-Za-z_$][\w$.]*\((.*)\);?", re.ASCII | re.DOTALL)  # of a function: JSONP
_NAMED = re.compile(r"[\"']\s{0,99}:")  # there is something in it like a name of JSON
_DECODER = json.JSONDecoder(parse_int=str)  # int() takes 4,300 digits at most


def excerpt(text: str, secrets: tuple[str, ...], size: int = 120) -> str:
    """The first characters of a text, printable, with nothing secret in them.

    A secret is known by its name, or is one of `secrets`."""
    part = text[: _most(size)]
    return _printable(_masked(part, len(text) > len(part), secrets), size)


def body_excerpt(body: bytes, secrets: tuple[str, ...], size: int = 120) -> str:
    """The same of an answer's body.

    Where JSON does not fit together names may be torn as well: of that only the interface's own
    words show, and numbers as short as a result code."""
    part = body[: _most(size)]
    cut = len(body) > len(part)
    text = part.decode(json.detect_encoding(part), "replace").replace("\0", "")  # as `read_json`
    if cut:
        text = text.rstrip("\ufffd")  # half a letter
    shown = _masked(text, cut, secrets)
    if _NAMED.search(text) and not _is_read(text, cut):
        begin = re.search(r"[{\[\"']", shown)
        at = begin.start() if begin and begin[0] in "{[" else 0
        shown = shown[:at] + _BETWEEN.sub(_word, shown[at:])
    return _printable(shown, size)


def _most(size: int) -> int:
    """How much is looked at to show so many characters: what is masked is shorter than it was."""
    return 4096 + 4 * size


def _masked(text: str, cut: bool, secrets: tuple[str, ...]) -> str:
    if cut:  # a secret torn at the end would not be known for one
        torn = (form[:end] for form in forms(secrets) for end in range(len(form), 2, -1))
        text = text.removesuffix(next(filter(text.endswith, torn), ""))
    return mask(text, *secrets)


def _printable(text: str, size: int) -> str:
    shown = text[:size]
    if shown.isprintable():
        return shown
    return "".join(letter if letter.isprintable() else " " for letter in shown)


def _is_read(text: str, cut: bool) -> bool:
    """Whether this is JSON, or several one behind the other, or a page behind it, or JSON in a
    function's call; as far as we did not cut it ourselves."""
    if "\ufffd" in text:  # bytes that are no letters, in a name maybe
        return False
    if call := _CALL.fullmatch(text.strip()):
        text = call[1]
    at = 0
    while found := _OPENING.match(text, at):
        try:
            _, at = _DECODER.raw_decode(text, found.end())
        except json.JSONDecodeError as error:
            ends = error.pos > len(text) - len("false")
            return cut and (ends or error.msg.startswith("Unterminated string"))
        except RecursionError:
            return False
    return at > 0 and not _NAMED.search(text, at)


def _word(found: re.Match[str]) -> str:
    return found[0] if found[0] in _WORDS or _NUMBER.fullmatch(found[0]) else MASK
