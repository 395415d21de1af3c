"""Finds secrets in a text by the name that they stand under, and as the login in an address.

A value is read as it is written: in JSON, JSON inside JSON, a Python repr, HTML or a query string,
percent-encoded as often as may be. Where it is not clear where a secret ends, too much is hidden.
"Token: weekly sync" is a heading that people write, and stays: behind token or digest, a colon and
no quote, words and dates are no secret, but whatever mixes digits or capitals into its letters is.
`masking` loads this when it first has a text to look through.
"""

import json
import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

_NAME = (
    r"(?:(?<![A-Za-z])|(?<=[2-7][A-Fa-f]))(?:[A-Za-z_]{0,24}to(?:ck|k)en|digest|host_?password|login_?password|password"
    r"|passwd|pass|psw|pwd|secret_?key)"
)
# What may stand between a name and its value, plain or percent-encoded any number of times.
_BACKSLASH = r"(?:\\|%(?:25){0,9}5C)"
_QUOTE = r"(?:[\"']|&quot;|&#3[49];|%(?:25){0,9}2[27])"
_SPACE = r"(?:\s|\+|%(?:25){0,9}20){0,9}"
_EQUALS = rf"(?:([:=])\s{{0,9}}|(%(?:25){{0,9}}3[AD]){_SPACE})"
_NAMED = re.compile(rf"(?i){_NAME}\ufffd{{0,9}}{_BACKSLASH}{{0,99}}{_QUOTE}?{_SPACE}{_EQUALS}")
_OPENING = re.compile(rf"(?i)({_BACKSLASH}{{0,99}})({_QUOTE})")
_CLOSING = re.compile(rf"(?i)({_BACKSLASH}*)({_QUOTE})")
_AFTER = re.compile(  # what follows a closing quote, and no quote that is part of a value
    rf"(?i){_SPACE}(?:[,;:&)}}\]<>]|%(?:25){{0,9}}(?:2C|7D|5D|3A|26)|{_BACKSLASH}*{_QUOTE}|\s|\Z)"
)
_ADDRESS = re.compile(
    r"(?i)(?:(?<![a-z0-9.-])|(?<=%[0-9a-f]{2})|(?<=25[0-9a-f]{2}))[a-z][a-z0-9+.-]{0,20}"
    r"(:|%(?:25){0,9}3A)(?:\\{0,9}/|%(?:25){0,9}2F){2}"
)
# What people write before a text of theirs, a word or a date or time, and where that ends.
_HEADING = re.compile(rf"(?i)(?:token|digest){_SPACE}(?::|%(?:25){{0,9}}3A){_SPACE}")
_ENCODED = re.compile(r"[%5][2-7][A-Fa-f]")
_ESCAPED = re.compile(r"\\+u([0-9A-Fa-f]{4})")  # a letter, in JSON
_JOINT = re.compile(r"[-'\u2019/]")
_LETTERS = r"(?:[^\W\d_]|\\+u[0-9A-Fa-f]{4}){1,24}"
_WORD = rf"{_LETTERS}(?:{_JOINT.pattern}{_LETTERS}){{0,9}}"
_END = r"(?=[.;:!?]{0,3}(?:[\s\"'<>&,\])\\]|\Z))"
_FIGURE = (  # 2026-11-22, 14:30, 22.11.2026, Q3; what has more digits may be a code
    r"[0-9]{4}(?:[-./][0-9]{1,2}){1,2}|[0-9]{1,2}(?:[-./:][0-9]{1,2}){1,2}"
    r"|[0-9]{1,2}(?:[-./][0-9]{1,2})?[-./][0-9]{4}|[^\W_]{1,3}"
)
_PROSE = re.compile(rf"(?:({_WORD})|{_FIGURE}){_END}")
_LONGEST = 24  # letters, of a word with all that is joined to it
_CAPITALS = 6  # letters, of a word in capitals
_HEADER = re.compile(
    r"(?i)(?:proxy-)?authorization['\"]?[ \t]{0,9}[:=][ \t]{0,9}['\"]?(\w{1,20})[ \t]"
)
_SCHEMES = frozenset({
    "apikey", "basic", "bearer", "digest", "hawk", "key", "negotiate", "ntlm", "oauth", "signature",
    "token",
})  # fmt: skip
_LINE_END = re.compile(r"[\r\n]|\Z")
_COMMAND = "$(confkit token)"  # what a shell puts there: our own advice, and no secret
_COLON = re.compile(r"(?i):|%(?:25){0,9}3A")
_AT = re.compile(r"(?i)@|%(?:25){0,9}40")
_PORT = re.compile(r"[0-9]{0,5}(?:\\?[/?#]|\Z)|[0-9]{1,5}[.,;:!)\]]\Z")  # a sentence may end there
_WHOLE = re.compile(r"(?is)\s*[a-z][a-z0-9+.-]*://[^:/@]*:(.*)@")
_BROKEN = re.compile(r"(?is)\s*(?:[a-z][a-z0-9+.-]*:?)?/{0,2}[^:/@]*:(.*)@")
_ELEMENT = re.compile(rf"(?i)(<(?:\w{{1,40}}:)?{_NAME}(?:\s[^<>]*)?>)[^<]+")  # of XML
_ARROW = re.compile(  # of PHP and Ruby
    rf"(?i)({_NAME}[\"'\]]?\s{{0,9}}=>\s{{0,9}})(?:\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\r\n]+)"
)


def hide(text: str, mark: str) -> str:
    """The text with the mark in place of every secret in it that has a name, or is a login."""
    text = _without(text, _headers(text), mark)
    if ">" in text:
        text = _ARROW.sub(rf"\1{mark}", _ELEMENT.sub(rf"\1{mark}", text))
    return hide_logins(_without(text, _named_secrets(text), mark), mark)


def hide_logins(text: str, mark: str) -> str:
    """The text with the mark in place of every password in an address."""
    return _without(text, _logins(text), mark)


def login_span(address: str, broken: bool = False) -> tuple[int, int]:
    """Where the password stands in a text that is one address; (0, 0) when it has none.

    It is all between the login name and the last `@`. `broken` takes the text for an address even
    where its beginning is wrong."""
    found = (_BROKEN if broken else _WHOLE).match(address)
    return found.span(1) if found else (0, 0)


def _without(text: str, spans: Iterator[tuple[int, int]], mark: str) -> str:
    parts, at = [], 0
    for start, end in spans:
        if start >= at and end > start:
            parts += [text[at:start], mark]
            at = end
    return "".join([*parts, text[at:]]) if parts else text


def _named_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where the values stand that follow a secret's name."""
    at = 0
    while found := _NAMED.search(text, at):
        equals = found.group(1) or found.group(2)
        if text.startswith(_COMMAND, found.end()) or _is_heading(text, found, equals):
            at = found.end()
            continue
        opening = _OPENING.match(text, found.end())
        if opening and _depth(opening.group(2)) <= _depth(equals):
            start, end = opening.end(), _closing(text, opening)
        else:
            start = found.end()
            inside = equals == ":" and text[start : start + 1] in ("{", "[")
            end = _structure(text, start) if inside else _unquoted(text, start, equals)
        yield start, end
        at = max(end, found.end())


def _is_heading(text: str, found: re.Match[str], equals: str) -> bool:
    """Whether a secret's name stands before a text that somebody wrote, and no secret."""
    # Behind an encoded mark, such as the equals sign %3D, its last letter was taken for the name's.
    behind = _ENCODED.match(text, max(0, found.start() - 2))
    start = behind.end() if behind else found.start()
    if not _HEADING.fullmatch(text, start, found.end()):
        return False
    before, written = text[max(0, start - 100) : start], text[found.end() : found.end() + 400]
    for _ in range(_depth(equals)):
        before, written = unquote_plus(before), unquote_plus(written)
    # The name of a header such as X-Auth-Token, or of a member of an object without quotes.
    member = before.rfind("{") > max(before.rfind(mark) for mark in "}\"'")
    return not member and not before.endswith(("-", "_")) and _is_text(written)


def _is_text(written: str) -> bool:
    """Whether it begins with a word, as people write one, or with a date or a time."""
    found = _PROSE.match(written)
    if not found or not found.group(1):
        return found is not None
    word = _ESCAPED.sub(lambda letter: chr(int(letter.group(1), 16)), found.group(1))
    mixed = [
        part for part in _JOINT.split(word)
        if part[1:] != part[1:].lower() and (part != part.upper() or len(part) > _CAPITALS)
    ]  # fmt: skip
    # iOS is a word, too.
    return len(word) <= _LONGEST and (not mixed or (len(mixed) == 1 and len(mixed[0]) <= 3))


def _headers(text: str) -> Iterator[tuple[int, int]]:
    """Where the logins of HTTP stand; behind a scheme that nobody knows a word is a text."""
    at = 0
    while found := _HEADER.search(text, at):
        at = found.end()
        if found.group(1).lower() in _SCHEMES or not _is_text(text[at : at + 400]):
            end = _LINE_END.search(text, at)
            yield at, end.start() if end else len(text)
            at = end.start() if end else len(text)


def _structure(text: str, start: int) -> int:
    """Where an object or a list ends; the text's end where it is none of JSON, or cut off."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return len(text)


def _unquoted(text: str, start: int, equals: str) -> int:
    """Where a value ends that is not quoted: at an `&` encoded at most as often as its `=`, or,
    behind a colon, where a number in JSON ends."""
    ends, codes = (r",}\])", "2C|7D|5D|26") if equals[-1] in ":aA" else ("", "26")
    encoded = f"|%(?:25){{0,{_depth(equals) - 1}}}(?:{codes})" if _depth(equals) else ""
    found = re.compile(rf"(?i)[{ends}\s\"'<>&]{encoded}").search(text, start)
    end = found.start() if found else len(text)
    # A comma before a blank is the sentence's, or the program's, and no loss.
    return end - 1 if found and text[end].isspace() and text[start + 1 : end].endswith(",") else end


def _closing(text: str, opening: re.Match[str]) -> int:
    """Where the value ends whose opening quote this is; the text's end when it is cut off.

    Each level of JSON inside JSON doubles a backslash and puts one before a quote, so a quote with
    n backslashes before it has (n - o) / (o + 1) on its own level, where the opening one has o.
    It closes the value when that number is even and something follows that may follow a value.
    """
    outer, wanted = _count(opening.group(1)), opening.group(2).lower()
    at = opening.end()
    while found := _CLOSING.search(text, at):
        own, rest = divmod(_count(found.group(1)) - outer, outer + 1)
        same = found.group(2).lower() == wanted
        if same and own >= 0 and (own % 2 == 0 or rest) and _AFTER.match(text, found.end()):
            # The backslashes that belong to the value are hidden, those of its quote stay.
            return found.start(2) - len(opening.group(1))
        at = found.end()
    return len(text)


def _count(backslashes: str) -> int:
    return backslashes.count("\\") + backslashes.upper().count("5C")


def _logins(text: str) -> Iterator[tuple[int, int]]:
    """Where the passwords stand in addresses such as rtsp://user:password@host."""
    seen: dict[int, int] = {}  # by depth, how far the text is done: an address once looked through
    for found in _ADDRESS.finditer(text):
        depth = _depth(found.group(1))
        if found.start() < seen.get(depth, 0):
            continue
        end = _address_end(text, found, depth)
        seen[depth] = end
        colon = next(_at_depth(_COLON, text, found.end(), end, depth), None)
        if colon is None or re.search(r"[\[/?#@]", text[found.end() : colon.start()]):
            continue
        ats = list(_at_depth(_AT, text, colon.end(), end, depth))
        if ats:
            yield colon.end(), ats[-1].start()
        elif end == len(text) and not _PORT.match(text, colon.end()):
            yield colon.end(), end  # cut off before its host


def _at_depth(
    mark: re.Pattern[str], text: str, start: int, end: int, depth: int
) -> Iterator[re.Match[str]]:
    """The marks between start and end that are encoded no more often than their address is."""
    for found in mark.finditer(text, start, end):
        if _depth(found.group()) <= depth:
            yield found


def _depth(mark: str) -> int:
    """How often a mark is percent-encoded."""
    return mark.count("25") + 1 if mark.startswith("%") else 0


def _address_end(text: str, found: re.Match[str], depth: int) -> int:
    opening = None
    for candidate in _OPENING.finditer(text, max(0, found.start() - 40), found.start()):
        opening = candidate
    if opening and opening.end() == found.start():
        return _closing(text, opening)
    ends = r"[\s\"'<>]" if depth == 0 else r"[\s\"'<>&]"
    stop = re.compile(ends).search(text, found.end())
    return stop.start() if stop else len(text)
