"""The beginning of an answer, for people: nothing secret is in it, however the answer was torn."""

from __future__ import annotations

import json
import re
from os.path import commonprefix

from .endpoints import ENDPOINTS
from .masking import MASK, forms, mask

_PARAMETERS = {
    name for one in ENDPOINTS.values() for name in (one.token, *one.required, *one.optional)
}
# Names and values of the interface that are nobody's secret.
_WORDS = {
    *_PARAMETERS, "ret", "id", "room_status", "user_list", "user_name", "addr", "msg", "success",
    "data", "total", "items", "login_name", "login_password", "assist_address", "random", "key",
    "0", "1", "true", "false", "null", "NaN", "Infinity", MASK,
}  # fmt: skip
_BETWEEN = re.compile(r"[^\s{}\[\]:,\"'\\]+")
_OPENING = re.compile(r"\s*(?=[{\[])")
_DECODER = json.JSONDecoder(strict=False, parse_int=str)  # int() takes 4,300 digits at most


def excerpt(data: bytes | str, secrets: tuple[str, ...], size: int = 120) -> str:
    """The first characters of an answer, printable, with nothing secret in them.

    A secret is known by its name. Of JSON that breaks off or does not fit together names may be
    torn as well: from there on only the interface's own words show.
    """
    most = 4096 + 4 * size
    part = data[:most]
    plain = part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part)
    whole = mask(plain, *secrets)
    read = _as_far_as_read(plain)
    if read < len(plain):
        sure = commonprefix([mask(plain[:read], *secrets), whole])  # noqa: RUF071  # no paths
        whole = sure + _BETWEEN.sub(_word, whole[len(sure) :])
    elif len(data) > most:  # a secret torn at the end would not be known for one
        torn = (form[:end] for form in forms(secrets) for end in range(len(form), 2, -1))
        whole = mask(plain.removesuffix(next(filter(plain.endswith, torn), "")), *secrets)
    shown = whole[:size]
    if shown.isprintable():
        return shown
    return "".join(letter if letter.isprintable() else " " for letter in shown)


def _as_far_as_read(text: str) -> int:
    """Up to where text that begins as JSON surely is: before the name or value at which it breaks.
    Its length where it is JSON, or does not begin so."""
    at = 0
    while found := _OPENING.match(text, at):
        try:
            _, at = _DECODER.raw_decode(text, found.end())
        except json.JSONDecodeError as error:
            return 1 + max(text.rfind(before, 0, error.pos) for before in "{[,")
        except RecursionError:
            return found.end()
    rest = text[at:].lstrip()
    return len(text) if not at or not rest or rest.startswith("<") else at  # a page behind it


def _word(found: re.Match[str]) -> str:
    return found[0] if found[0] in _WORDS else MASK
