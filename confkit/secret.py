"""Keeps secrets out of everything that people read.

The interface puts its token into URLs and hands passwords back in clear, so a secret can turn up
in any message that quotes one of them. A secret is hidden by three rules: because its value is
known, because of the name in front of it, or because it is the password in user:password@host.

The rules are written for plain text. A text is looked through as it stands, and again each time
that one layer of what is encoded in it is unwrapped (`unwrapped`). Where it is not clear where
a secret ends, too much is hidden. "Token: weekly sync" is a heading that people write, and stays.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from urllib.parse import unquote

from .text import one_line

MASK = "***"
SHORTEST = 3  # a shorter value would mask half of any text; it is found by its name
TOKEN_NAMES = ("token", "tocken")  # a name that ends so carries a token (spellings: deployments)

# How the names of parameters and members end that carry secrets.
_KEYS = ("secretkey", "secret_key", "secret-key")
_ENDINGS = (*TOKEN_NAMES, "digest", "password", "passwd", "_pass", "psw", "pwd", *_KEYS)
_LAYERS = 3  # JSON in a query in JSON
BORDER = "\x1f"  # between two of them stands what was percent-encoded as one

# What a character may be encoded as: percent-encoded, with a backslash as in JSON and in Python, or
# as in HTML. A text that is percent-encoded holds no blank, & and ? but between such texts.
_ESCAPES = {
    "%": re.compile(r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+|[&?\s]"),
    "\\": re.compile(
        r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
        r"|\\x[0-9A-Fa-f]{2}|\\.",
        re.DOTALL,
    ),
    "&": re.compile("&(?:quot|amp|lt|gt|#39|#34|#x27);"),
}
_MARKS = re.compile("[:=%@]")
_BLANKS = str.maketrans(dict.fromkeys(f"+&?{BORDER}", " "))

_NAMED = re.compile(
    r"(?<![A-Za-z_-])([A-Za-z_-]++)\ufffd*([\"']?)[\s+]{0,9}+([:=])(?:(?<==)|[\s+]{0,9})\s{0,9}"
)
_HEADER = "authorization"
_OPENING = re.compile(r"[bBrRuU]{0,2}([\"'])")
# A quote ends a value only before what may follow one: it may be quoted badly.
_WITHIN = {
    quote: re.compile(rf"(?s)(?:[^{quote}\\]|\\(?:.|\Z)|{quote}(?![\s,;:&)}}\]<>]|\\*[\"']|\Z))*+")
    for quote in "\"'"
}
_UNQUOTED = {  # behind a colon it ends where a number of JSON may end
    "=": re.compile(r"(?:[^\s\"'<>&,\\]|,(?!\s)|\\(?!\\{0,9}[\"']))*+"),
    ":": re.compile(r"(?:[^\s\"'<>&,}\])\\]|\\(?!\\{0,9}[\"']))*+"),
}
_LINE = re.compile(r"[^\r\n]*")
# Our own words, and no secret: what a shell or Python puts there, and a verdict.
_OURS = re.compile(r"\$\(confkit token\)|ck\.ask_secret\(\)|[0-9]+ of [0-9]+ checks\b")

_LOGIN = re.compile(r":\\?/\\?/[^\s:/?#@\[\"'<>]*:")
_BEFORE = re.compile(r"((?<!\\)[\"']|=)[A-Za-z][A-Za-z0-9+.-]*\Z")
_UNBROKEN = re.compile(r"[^\s\"'<>]*+")
_PORT = re.compile(r"[0-9]{0,5}(?:[/?#]|\Z)|[0-9]{1,5}[.,;:!)\]]\Z")  # a sentence may end there
_WHOLE = re.compile(r"(?is)\s*[a-z][a-z0-9+.-]*://[^:/@]*:(.*)@")
_BROKEN = re.compile(r"(?is)\s*(?:[a-z][a-z0-9+.-]*:?)?/{0,2}[^:/@]*:(.*)@")

# What people write behind "Token:" or "Digest:": words, or a date or a time.
_HEADING = re.compile(rf"(?i)digest|{'|'.join(TOKEN_NAMES)}")
_LETTER = r"\\{1,2}u[0-9A-Fa-f]{4}"  # in JSON
_WORD = (  # weekly, Monday, UPDATE, iOS
    rf"(?:(?:[^\W\d_]|{_LETTER})(?:[^\W\d_A-Z]|{_LETTER}){{0,23}}|[A-Z]{{2,6}}|[a-z][A-Z]{{1,2}})"
)
_FIGURE = (  # 2026-11-22, 14:30, 22.11.2026, Q3; what has more digits may be a code
    r"[0-9]{1,4}(?:[-./:][0-9]{1,2}){1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{4}|[^\W_]{1,3}"
)
_PROSE = re.compile(
    rf"(?:{_WORD}(?:[-'\u2019/]{_WORD}){{0,2}}|{_FIGURE})(?=[.;:!?]{{0,3}}(?:[\s\"'<>&+,\])\\]|\Z))"
)

Span = tuple[int, int]


def mask(text: str, *values: str) -> str:
    """Return the text with every secret in it replaced by `***`: what stands behind a secret's
    name, logins inside addresses, and each of the given values, all in their usual encodings."""
    return _hide(text, values, _named, _logins)


def mask_code(text: str, *values: str) -> str:
    """Return program text with the given values and all logins in addresses replaced by `***`; what
    stands behind a secret's name stays, as it is code that takes the secret from elsewhere."""
    return _hide(text, values, _logins)


def mask_address(text: str, broken: bool = False) -> str:
    """Return the text, masked as one address where it begins as one: all between its login name and
    its last `@` is hidden. `broken` takes it for an address even where its beginning is wrong."""
    found = (_BROKEN if broken else _WHOLE).match(text) if "@" in text else None
    if found and found[1]:
        text = text[: found.start(1)] + MASK + text[found.end(1) :]
    return mask(text)


def excerpt(content: str | bytes, known: tuple[str, ...], size: int = 120) -> str:
    """Return the first characters of what a service sent, on one line, with nothing secret in them.

    A secret is known by its name, or is one of `known`."""
    torn = 12 * max(map(len, known), default=0)  # of a character 12 letters can be made
    part = content[: 4096 + 4 * size + torn]  # what is masked is shorter than it was
    # Without its zeros, text in UTF-16 is read as well.
    text = part if isinstance(part, str) else part.decode("utf-8", "replace").replace("\0", "")
    masked_text = mask(text, *known)
    if len(content) > len(part) and known:  # a secret torn at the end is not known for one
        masked_text = masked_text[: len(masked_text) - torn]
    return one_line(masked_text[:size])


def holds(text: str, *values: str) -> bool:
    """Return whether one of these values stands in the text, in any of the usual encodings."""
    return _hide(text, values) != text


def login_in(address: str) -> list[str]:
    """Return the password inside an address, as it is written; none when there is none."""
    found = _WHOLE.match(address)
    return [found[1]] if found and found[1] else []


def suspect(text: str) -> bool:
    """Return whether there can be a secret in a text, by its name or as a login."""
    return _MARKS.search(text) is not None


def _hide(text: str, values: tuple[str, ...], *rules: Callable[[str], Iterable[Span]]) -> str:
    """The text without what these rules find in it, and without the values, in any layer."""
    if not values and not suspect(text):
        return text
    known = {value.translate(_BLANKS) for value in values if len(value) >= SHORTEST}
    seen = {text}

    def secrets(text: str, layers: int) -> list[Span]:
        found = [*_values(text, known), *(span for find in rules for span in find(text))]
        if not layers:
            return found
        for inner, steps in unwrapped(_without(text, found, "*") if found else text):
            if inner not in seen:
                seen.add(inner)
                spans = secrets(inner, layers - 1)
                found += [(outside(start, steps), outside(end, steps)) for start, end in spans]
        return found

    return _without(text, secrets(text, _LAYERS))


def _without(text: str, spans: list[Span], fill: str = "") -> str:
    """The text with `***` for each of the spans; with `fill` it keeps its length."""
    parts, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            parts += [text[at:start], fill * (end - start) or MASK]
        else:
            parts.append(fill * (end - at))
        at = max(at, end)
    return "".join([*parts, text[at:]])


# The first rule: values that are known


def _values(text: str, known: Iterable[str]) -> Iterator[Span]:
    plain = text.translate(_BLANKS) if known else ""
    for value in known:
        if value in plain:
            yield from (found.span() for found in re.finditer(re.escape(value), plain))


# The second rule: the name in front


def _is_secret(name: str) -> bool:
    small = name.lower()
    return small.endswith(_ENDINGS) or small == "pass"


def _named(text: str) -> Iterator[Span]:
    """Where the values stand that follow a secret's name."""
    at = 0
    for found in _NAMED.finditer(text):
        equals, header = found[3], found[1].lower().endswith(_HEADER)
        if not (header or _is_secret(found[1])) or found.start() < at:
            continue
        start = found.end()
        opening = _OPENING.match(text, start)
        if opening:
            start = opening.end()
            end = _end(_WITHIN[opening[1]], text, start)
        elif header:
            end = _end(_LINE, text, start)
        elif _OURS.match(text, start) or (equals == ":" and _is_heading(text, found)):
            continue
        elif equals == ":" and text.startswith(("{", "["), start):
            end = len(text)  # a structure, which may be cut off
        else:
            end = _end(_UNQUOTED[equals], text, start)
        if end > start:
            yield start, end
            at = end


def _end(kind: re.Pattern[str], text: str, start: int) -> int:
    found = kind.match(text, start)
    return found.end() if found else start


def _is_heading(text: str, found: re.Match[str]) -> bool:
    """Whether a secret's name stands before a text that somebody wrote, and no secret."""
    if found[2] or not _HEADING.fullmatch(found[1]):
        return False
    before = text[max(0, found.start() - 100) : found.start()]
    if before.rfind("{") > max(before.rfind(mark) for mark in "}\"'"):
        return False  # a member of an object without quotes
    return _PROSE.match(text, found.end()) is not None


# The third rule: user:password@host


def _logins(text: str) -> Iterator[Span]:
    """Where the passwords stand in addresses such as rtsp://user:password@host."""
    at = stop = 0
    for found in _LOGIN.finditer(text):
        start = found.end()
        if found.start() < at:
            continue
        before = _BEFORE.search(text[max(0, found.start() - 24) : found.start()])
        quoted = before is not None and before[1] != "="
        if before and quoted:
            end = _end(_WITHIN[before[1]], text, start)
        else:
            if start > stop:
                stop = _end(_UNBROKEN, text, start)
            end = stop
            if before and text.startswith(BORDER):  # it was a parameter's value: all of it
                border = text.find(BORDER, start)
                end = border if border >= 0 else len(text)
        last = text.rfind("@", start, end)
        if last < 0 and end == len(text) and not _PORT.match(text, start):
            last = end  # cut off before its host
        if last > start:
            yield start, last
        at = max(at, end if quoted and last < 0 else last)


# What is encoded in a text


def unwrapped(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Give the text with one layer of its encoding taken off, for each that there may be: percent-
    encoding, backslashes, HTML; and the steps for `outside`.

    Where it was percent-encoded a BORDER stands at the beginning, and for each blank, `&` and `?`
    that was not."""
    for mark, escape in _ESCAPES.items():
        if mark in text:
            first = BORDER if mark == "%" else ""
            parts, steps, at, size = [first], [(0, 0), (len(first), 0)], 0, len(first)
            for found in escape.finditer(text):
                plain = _decoded(found.group())
                parts += [text[at : found.start()], plain]
                size += found.start() - at + len(plain)
                at = found.end()
                steps.append((size, at))
            if at:
                yield "".join([*parts, text[at:]]), steps


def outside(place: int, steps: list[tuple[int, int]]) -> int:
    """Return where a place in the unwrapped text stands in the text around it."""
    plain, wrapped = steps[bisect_right(steps, place, key=lambda step: step[0]) - 1]
    return wrapped + place - plain


def _decoded(escape: str) -> str:
    if escape in "&?" or escape.isspace():
        return BORDER
    if not escape.startswith("\\"):
        return unquote(escape) if escape.startswith("%") else unescape(escape)
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:  # Python writes more with a backslash than JSON does
        return chr(int(escape[2:], 16)) if escape[1] == "x" and escape[2:] else escape[1:]


# Values that hide themselves


class _Hidden(str):
    """A text for code to use, that people see only as `_shown` gives it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(self._shown())

    def splitlines(self, keepends: bool = False) -> list[str]:
        """Return the lines as they may be shown: pytest and unittest show two texts that differ
        line by line."""
        return self._shown().splitlines(keepends)

    def _shown(self) -> str:
        return MASK if self else ""


class Secret(_Hidden):
    """A text for code to use, whose `repr` (tracebacks, cell outputs, logs) is only `***`."""

    __slots__ = ()


class _SecretInt(int):
    """A number for code to use, such as a PIN; JSON and `str()` give it, its `repr` does not."""

    __slots__ = ()
    __str__ = int.__repr__

    def __repr__(self) -> str:
        return repr(MASK)


class _SecretFloat(float):
    __slots__ = ()
    __str__ = float.__repr__

    def __repr__(self) -> str:
        return repr(MASK)


class Guarded(_Hidden):
    """A text that may hold a secret, such as a camera's address: its `repr` masks that part.
    `str()` gives all of it."""

    __slots__ = ()

    def _shown(self) -> str:
        return mask_address(str(self))


class GuardedAddress(Guarded):
    """What somebody gave as an address, hidden so even where its beginning is wrong."""

    __slots__ = ()

    def _shown(self) -> str:
        return mask_address(str(self), broken=True)


def guard(value: object, name: str = "") -> object:
    """Return the same value with its texts made `Secret` or `Guarded`, by the name they stand
    under, and the numbers under a secret's name made numbers whose `repr` is only `***`."""
    return _leaves(value, name, _guarded)


def masked(value: object, name: str = "") -> object:
    """Return the same value as plain data in which nothing is secret any more, to show or to
    store."""
    return _leaves(value, name, _plain)


def _leaves(value: object, name: str, made: Callable[[object, bool], object]) -> object:
    """The value with each text and number in it replaced; all below a secret's name is secret."""
    secret = _is_secret(name)
    if isinstance(value, str) or not isinstance(value, Mapping | list | tuple):
        return made(value, secret)
    if isinstance(value, Mapping):
        return {key: _leaves(one, name if secret else str(key), made) for key, one in value.items()}
    return [_leaves(one, name, made) for one in value]


def _guarded(value: object, secret: bool) -> object:
    if isinstance(value, str):
        if secret:
            return Secret(value)
        return Guarded(value) if suspect(value) else value
    if not secret or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _SecretInt(value)
    return _SecretFloat(value) if isinstance(value, float) else value


def _plain(value: object, secret: bool) -> object:
    if secret and value not in (None, ""):
        return MASK
    return mask_address(str(value)) if isinstance(value, str) else value
