"""Keeps secrets out of everything that people read.

The interface puts its token into URLs and hands passwords back in clear, so a secret can turn up
in any message that quotes one of them. A secret is hidden by three rules: because its value is
known, because of the name in front of it, or because it is the password in user:password@host.

The rules are written for plain text. A text is looked through as it stands, and again each time
that one layer of what is encoded in it is unwrapped: percent-encoding, backslashes of JSON and of
Python, HTML. Where it is not clear where a secret ends, too much is hidden. "Token: weekly sync" is
a heading that people write, and stays.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import unquote

from .text import one_line

MASK = "***"
SHORTEST = 3  # a shorter value would mask half of any text; it is found by its name
TOKEN_NAMES = ("token", "tocken")  # a name that ends so carries a token (spellings: deployments)

# How the names of parameters and members end that carry secrets.
_ENDINGS = (
    *TOKEN_NAMES,
    "digest",
    "password",
    "passwd",
    "_pass",
    "psw",
    "pwd",
    "secretkey",
    "secret_key",
    "secret-key",
)
_HEADER = "authorization"
_HEADINGS = (*TOKEN_NAMES, "digest", _HEADER)
_LAYERS = 3  # JSON in a query in JSON
_MARKS = re.compile("[:=%@]")
_ESCAPES = {
    "%": re.compile(r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+|[&?\s]"),
    "\\": re.compile(
        r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
        r"|\\x[0-9A-Fa-f]{2}|\\.",
        re.DOTALL,
    ),
    "&": re.compile("&(?:quot|amp|lt|gt|#39|#34|#x27);"),
}
_PLAIN = {
    "\\n": "\n",
    "\\r": "\r",
    "\\t": "\t",
    "&quot;": '"',
    "&#34;": '"',
    "&#39;": "'",
    "&#x27;": "'",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
}
_BORDER = "\x1f"  # between two of them stands what was encoded as one
_BLANKS = str.maketrans(dict.fromkeys(f"+&?{_BORDER}", " "))

_NAMED = re.compile(
    r"(?<![A-Za-z_-])([A-Za-z_-]++)\ufffd*([\"']?)[\s+]{0,9}+([:=])(?:(?<==)|[\s+]{0,9})\s{0,9}"
)
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
_DECODER = json.JSONDecoder(strict=False)
_COMMAND = "$(confkit token)"  # what a shell puts there: our own advice, and no secret
_SCHEME = re.compile(r"(\w{1,20})[ \t]+")  # of a login of HTTP
_SCHEMES = re.compile(
    "(?i)apikey|basic|bearer|digest|hawk|key|negotiate|ntlm|oauth|signature|token"
)
_LINE = re.compile(r"[^\r\n]*")

_LOGIN = re.compile(r":\\?/\\?/[^\s:/?#@\[\"'<>]*:")
_BEFORE = re.compile(r"((?<!\\)[\"']|=)[A-Za-z][A-Za-z0-9+.-]*\Z")
_UNBROKEN = re.compile(r"[^\s\"'<>]*+")
_PORT = re.compile(r"[0-9]{0,5}(?:[/?#]|\Z)|[0-9]{1,5}[.,;:!)\]]\Z")  # a sentence may end there
_WHOLE = re.compile(r"(?is)\s*[a-z][a-z0-9+.-]*://[^:/@]*:(.*)@")
_BROKEN = re.compile(r"(?is)\s*(?:[a-z][a-z0-9+.-]*:?)?/{0,2}[^:/@]*:(.*)@")

# What people write behind "Token:" or "Digest:": words, or a date or a time.
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
    """The text with every secret in it replaced by `***`: what stands behind a secret's name,
    logins inside addresses, and each of the given values, all of them in their usual encodings."""
    return _hide(text, values, _named, _logins)


def mask_code(text: str, *values: str) -> str:
    """The program text with the given values and all logins in addresses replaced by `***`; what
    stands under a secret's name stays, as it is code that takes the secret from elsewhere."""
    return _hide(text, values, _logins)


def mask_address(text: str, broken: bool = False) -> str:
    """The text, masked as one address where it begins as one: all between its login name and its
    last `@` is hidden. `broken` takes it for an address even where its beginning is wrong."""
    found = (_BROKEN if broken else _WHOLE).match(text) if "@" in text else None
    if found and found[1]:
        text = text[: found.start(1)] + MASK + text[found.end(1) :]
    return mask(text)


def holds(text: str, *values: str) -> bool:
    """Whether one of these values stands in the text, in any of the usual encodings."""
    return _hide(text, values) != text


def login_in(address: str) -> list[str]:
    """The password inside an address, as it is written; none when there is none."""
    found = _WHOLE.match(address)
    return [found[1]] if found and found[1] else []


def excerpt(said: str | bytes, secrets: tuple[str, ...], size: int = 120) -> str:
    """The first characters of what a service said, on one line, with nothing secret in them.

    A secret is known by its name, or is one of `secrets`."""
    torn = 12 * max(map(len, secrets), default=0)  # of a character 12 letters can be made
    part = said[: 4096 + 4 * size + torn]  # what is masked is shorter than it was
    # Without its zeros, text in UTF-16 is read as well.
    text = part if isinstance(part, str) else part.decode("utf-8", "replace").replace("\0", "")
    shown = mask(text, *secrets)
    if len(said) > len(part) and secrets:  # a secret torn at the end is not known for one
        shown = shown[: len(shown) - torn]
    return one_line(shown[:size])


def suspect(text: str) -> bool:
    """Whether there can be a secret in a text, by its name or as a login."""
    return _MARKS.search(text) is not None


def _hide(text: str, values: tuple[str, ...], *rules: Callable[[str], Iterable[Span]]) -> str:
    """The text without what these rules find in it, and without the values, in any layer."""
    known = {form for value in values for form in (value, value.replace(" ", "+"))}
    if not values and not suspect(text):
        return text
    found: list[Span] = []
    seen = {text}
    waiting: list[tuple[str, list[list[Span]]]] = [(text, [])]
    while waiting:
        plain, layers = waiting.pop()
        level = plain.translate(_BLANKS) if layers else plain
        here = [*_values(level, known), *(span for find in rules for span in find(plain))]
        if here:
            found += [(_outside(start, layers), _outside(end, layers)) for start, end in here]
            plain = _without(plain, here, "*")
        if len(layers) < _LAYERS:
            for inner, steps in _unwrapped(plain):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append((inner, [*layers, steps]))
                    known |= {value.translate(_BLANKS) for value in values}
    return _without(text, found) if found else text


def _without(text: str, spans: Iterable[Span], fill: str = "") -> str:
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
    for value in known:
        at = text.find(value) if len(value) >= SHORTEST else -1
        while at >= 0:
            yield at, at + len(value)
            at = text.find(value, at + len(value))


# The second rule: the name in front


def _is_secret(name: str) -> bool:
    small = name.lower()
    return small.endswith(_ENDINGS) or small == "pass"


def _named(text: str) -> Iterator[Span]:
    """Where the values stand that follow a secret's name."""
    at = 0
    for found in _NAMED.finditer(text):
        name, quote, equals = found.groups()
        header = name.lower().endswith(_HEADER)
        if not (header or _is_secret(name)) or found.start() < at:
            continue
        start, end = found.end(), len(text)
        opening = _OPENING.match(text, start)
        if opening:
            start = opening.end()
        scheme = _SCHEME.match(text, start) if header else None
        if scheme:
            start = scheme.end()
        if text.startswith(_COMMAND, start):
            continue
        if opening:
            end = _end(_WITHIN[opening[1]], text, start)
        elif not quote and equals == ":" and _is_heading(text, found, scheme):
            continue
        elif scheme:
            end = _end(_LINE, text, start)
        elif equals == ":" and text.startswith(("{", "["), start):
            end = _structure(text, start)
        else:
            end = _end(_UNQUOTED[equals], text, start)
        if end > start:
            yield start, end
            at = end


def _end(kind: re.Pattern[str], text: str, start: int) -> int:
    found = kind.match(text, start)
    return found.end() if found else start


def _structure(text: str, start: int) -> int:
    """Where an object or a list ends; the text's end where it is none of JSON, or cut off."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return len(text)


def _is_heading(text: str, found: re.Match[str], scheme: re.Match[str] | None) -> bool:
    """Whether a secret's name stands before a text that somebody wrote, and no secret."""
    if found[1].lower() not in _HEADINGS or (scheme and _SCHEMES.fullmatch(scheme[1])):
        return False
    before = text[max(0, found.start() - 100) : found.start()]
    if before.rfind("{") > max(before.rfind(mark) for mark in "}\"'"):
        return False  # a member of an object without quotes
    at = scheme.end() if scheme else found.end()
    return _PROSE.match(text, at) is not None


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
            if before and text.startswith(_BORDER):  # it was a parameter's value: all of it
                border = text.find(_BORDER, start)
                end = border if border >= 0 else len(text)
        last = text.rfind("@", start, end)
        if last < 0 and end == len(text) and not _PORT.match(text, start):
            last = end  # cut off before its host
        if last > start:
            yield start, last
        at = max(at, end if quoted and last < 0 else last)


# Values that hide themselves


class Secret(str):
    """A text for code to use, whose `repr` (tracebacks, cell outputs, logs) is only `***`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK) if self else "''"

    def splitlines(self, keepends: bool = False) -> list[str]:  # noqa: ARG002
        """Return one line of `***`: pytest and unittest show two texts that differ line by line."""
        return [MASK] if self else []


class Guarded(str):
    """A text that may hold a secret, such as a camera's address: its `repr` masks that part, and so
    do its `splitlines`. `str()` gives all of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(self._shown())

    def splitlines(self, keepends: bool = False) -> list[str]:
        """Return the lines, without what is secret in them."""
        return self._shown().splitlines(keepends)

    def _shown(self) -> str:
        return mask_address(str(self))


class GuardedAddress(Guarded):
    """What somebody gave as an address, hidden so even where its beginning is wrong."""

    __slots__ = ()

    def _shown(self) -> str:
        return mask_address(str(self), broken=True)


def hidden_address(text: str) -> str:
    """What was given as the address of a service, as a text that shows no secret in a repr: without
    `://` it may be a key that went into the wrong field."""
    return GuardedAddress(text) if "://" in text else Secret(text)


def guard(value: object, name: str = "") -> object:
    """The same value with its texts made `Secret` or `Guarded`, by the name they stand under. A
    number under a secret's name is a text then, as a number could not hide itself."""
    if isinstance(value, str):
        if _is_secret(name):
            return Secret(value)
        return Guarded(value) if suspect(value) else value
    if isinstance(value, Mapping):
        return {key: guard(item, _inherited(name, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [guard(item, name) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and _is_secret(name):
        return Secret(json.dumps(value))
    return value


def masked(value: object, name: str = "") -> object:
    """The same value as plain data in which nothing is secret any more, to show or to store."""
    if value is None:
        return value
    if isinstance(value, Mapping):
        return {key: masked(item, _inherited(name, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, name) for item in value]
    if _is_secret(name) and value != "":
        return MASK
    return mask_address(str(value)) if isinstance(value, str) else value


def _inherited(name: str, key: object) -> str:
    return name if _is_secret(name) else str(key)


def _unwrapped(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The text with one layer of its encoding taken off, for each that there may be: percent-
    encoding, backslashes of JSON and of Python, HTML; and where each piece of it ends, in that
    plain text and in the text itself.

    Where it was percent-encoded a _BORDER stands for each blank, `&` and `?` that was not, and at
    the beginning."""
    for mark, escape in _ESCAPES.items():
        if mark not in text:
            continue
        first = _BORDER if mark == "%" else ""
        parts, steps, at, size = [first], [(0, 0), (len(first), 0)], 0, len(first)
        for found in escape.finditer(text):
            plain = _decoded(found.group())
            parts += [text[at : found.start()], plain]
            size += found.start() - at + len(plain)
            at = found.end()
            steps.append((size, at))
        if at:
            yield "".join([*parts, text[at:]]), steps


def _outside(place: int, layers: list[list[tuple[int, int]]]) -> int:
    """Where a place within these layers stands in the text around them."""
    for steps in reversed(layers):
        plain, wrapped = steps[bisect_right(steps, place, key=lambda step: step[0]) - 1]
        place = wrapped + place - plain
    return place


def _decoded(escape: str) -> str:
    if escape in "&?" or escape.isspace():
        return _BORDER
    if escape.startswith("%"):
        return unquote(escape)
    if escape.startswith("\\u"):
        return str(json.loads(f'"{escape}"')) if escape[2:] else "u"
    if escape.startswith("\\x"):
        return chr(int(escape[2:], 16)) if escape[2:] else "x"
    return _PLAIN.get(escape, escape[1:])
