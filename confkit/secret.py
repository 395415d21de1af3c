"""Secrets never show: `Secret` is opaque, a `SecretAddress` shows without its login, and `redact`
removes secrets from texts of other people.

The interface puts its token into URLs and returns passwords in clear, so any text that quotes one
may contain a secret. If it is unclear where a secret ends, more is hidden rather than less.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape
from itertools import chain
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from .text import one_line

MASK = "***"
DEEPEST = 100  # levels of lists and objects
SHORTEST = 3  # masking a shorter value would garble any text; its name gives it away
TOKEN_NAMES = ("token", "tocken")  # name endings of tokens (both spellings are deployed)

# Name endings of parameters and members that hold secrets.
_ENDINGS = (
    *TOKEN_NAMES,
    *("digest", "password", "passwd", "passphrase", "_pass", "psw", "pwd"),
    *("secret", "secretkey", "secret_key", "secret-key", "authbasic"),
    *("loginpas", "passcode", "credentials", "jwt"),
)
_QUOTE = r"""\\*["']|%22|%27|&quot;|&\#39;"""
# The value after a secret's name: quoted text, a structure, or text without a space, possibly cut
# off. A shell variable, the call that asks for a password, and an English word after "token: " are
# not secrets.
_NAMED = re.compile(
    rf"""(?isx)
    (?: {"|".join(_ENDINGS)} | (?<![a-z]) pass (?= \s?= ) ) \ufffd*
    (?: {_QUOTE} )? [ \t]{{0,9}} (?: [:=] | %3[ad] ) (?: [ \t] | \+ | %20 ){{0,9}}
    (?! (?: None | null ) \b )
    (?! ["']* \$ [({{{{]? confkit | ck\.ask_secret )
    (?! (?<=token:\s|ocken:\s|igest:\s) (?-i: [a-z]+ ) (?: [\s.,;:?!] | \Z ) )
    (?: [bru]? (?P<quote> {_QUOTE} ) (?P<quoted> .*? ) (?: (?<!\\)(?<!%5c)(?P=quote) | \Z )
      | (?P<structure> [\[{{] .* ) | (?P<plain> [^\s"'<>&]++ ) )"""
)
_HEADER = re.compile(
    r"""(?ix) (?: authorization | cookie ) (?: \\*["'] )? \s? : \s?
    (?: (?P<quote> \\*["'] ) (?P<quoted> [^\r\n]*? ) (?<!\\)(?P=quote) | (?P<line> [^\r\n]+ ) )"""
)
_LOGIN = re.compile(r"""(?x) :\\?/\\?/ [^\s:/?\#@\["'<>]*+ : (?P<login> [^\s"'<>]++ )""")
_ENCODED_LOGIN = re.compile(
    r"""(?ix) %3A (?: %2F%2F | // ) (?: (?! %3A | : ) [^\s&"'<>] )*+ (?: %3A | : )
    (?P<encoded> [^\s&"'<>]++ )"""
)
# A port, where an address with a login would have a password.
_PORT = re.compile(r"[0-9]{0,5}[.,;:!)\]]*(?:[/?#]|\Z)")
# /user:password in the path of an address; a short number is a channel.
_PATH_LOGIN = re.compile(
    r"""(?x) :// [^\s/"'<>]+ / (?: [^\s/:?"'<>]*+ / )*+ [^\s/:?@"'<>]++ :
    (?P<password> (?! [0-9]{1,3} (?: [?\#\s"'<>] | \Z ) ) [^\s/:?\#@"'<>]++ )
    (?= [/?\#\s"'<>] | \Z )"""
)
# A whole address, even with a malformed beginning: everything from the login name to the last @.
_WHOLE_LOGIN = re.compile(
    r"(?is)\A\s*(?:[a-z][a-z0-9+.-]*(?::/{1,2}|//)|//)?+[^:/@]*:(?P<password>.+)@"
)
_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
# In the query or path of an address; some cameras separate the pairs with an underscore.
_IN_ADDRESS = re.compile(
    rf"(?i)(?:(?:{'|'.join(_ENDINGS)}|key|ticket|(?<![a-z])(?:pass|pw|auth|login))="
    r"|(?<![a-z])user(?:name)?=[^&;:/?#\s]+:|\?[^&;:=/?#\s]+:)"
    r"(?P<password>[^&;/?#\s]+?)(?=_[a-z]+=|[&;/?#\s]|\Z)"
)
_LOGINS = (_LOGIN, _ENCODED_LOGIN, _PATH_LOGIN)  # in any text
_MARKS = re.compile("[:=%@]")


class Secret:
    """A text that `str()`, `repr()` and f-strings show as `***`; `reveal()` returns it.

    It equals its text and a Secret of the same text. JSON refuses it; a pickle contains it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: "str | int | float | Secret") -> None:
        self._value: str | int | float = value._value if isinstance(value, Secret) else value

    def reveal(self) -> str:
        """Return the value as text, even if the service sent a number."""
        return self._value if isinstance(self._value, str) else json.dumps(self._value)

    def __str__(self) -> str:
        return MASK if self else ""

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:
        return self._value != ""

    def __eq__(self, other: object) -> bool:
        value = other._value if isinstance(other, Secret) else other
        return self._value == value if isinstance(value, str | int | float) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)


class SecretAddress(Secret):
    """The address of a device or service, shown without the passwords in it: in `user:password@`,
    in `/user:password/` in its path, and after a secret's name in its query.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return _mask_address(self.reveal())[0]

    def passwords(self) -> list[str]:
        """Return the hidden parts, as written and decoded."""
        hidden = _mask_address(self.reveal())[1]
        return [*hidden, *(unquote(part) for part in hidden if "%" in part)]


def _mask_address(address: str) -> tuple[str, list[str]]:
    """Return an address with *** for each password in it, and the passwords."""
    hidden = []
    for pattern in (_WHOLE_LOGIN, _PATH_LOGIN, _IN_ADDRESS):
        hidden += [match["password"] for match in pattern.finditer(address)]
        address = pattern.sub(_masked, address)
    return address, hidden


def without_login(text: str) -> str:
    """Return a user's text, such as a topic, with *** for the password of each address in it."""
    if "://" not in text:
        return text
    if _ADDRESS.match(text):
        return str(SecretAddress(text))
    for pattern in _LOGINS:
        text = pattern.sub(_masked, text)
    return text


@lru_cache(1024)  # called for each member of each response
def is_secret(name: str) -> bool:
    """Return whether a parameter or member of this name holds a secret."""
    return name.lower().endswith(_ENDINGS)


def hide(value: Any, name: str = "", levels: int = DEEPEST) -> Any:
    """Return the value with each text and number under a secret's name as a Secret, at any depth,
    and each address with a login as a SecretAddress. ValueError: nested more than `levels` deep."""
    if levels < 0:
        raise ValueError(f"nested more than {DEEPEST} levels deep")
    if isinstance(value, str | int | float):
        if is_secret(name) and value != "" and not isinstance(value, bool):
            return Secret(value)
        if not isinstance(value, str) or ("@" not in value and "://" not in value):
            return value
        is_address = name.lower().endswith("address")  # even if its beginning is malformed
        masked = str(SecretAddress(value)) if is_address else without_login(value)
        return value if masked == value else SecretAddress(value)
    if isinstance(value, Mapping):
        under = name if is_secret(name) else ""
        hidden = {}
        for key, item in value.items():
            hidden[key] = hide(item, under or str(key), levels - 1)
        return hidden
    if isinstance(value, list | tuple):
        return [hide(item, name, levels - 1) for item in value]
    return Secret(value) if value is not None and is_secret(name) else value


def reveal(value: Any) -> Any:
    """Return the value with all secrets revealed, numbers as numbers."""
    if isinstance(value, Secret):
        return value._value
    if isinstance(value, Mapping):
        return {key: reveal(item) for key, item in value.items()}
    return [reveal(item) for item in value] if isinstance(value, list | tuple) else value


def secrets_in(value: Any) -> list[str]:
    """Return the secrets that `hide` has hidden in a value, at any depth."""
    if isinstance(value, SecretAddress):
        return value.passwords()
    if isinstance(value, Secret):
        return [value.reveal()]
    items = value.values() if isinstance(value, dict) else value
    # `hide` turns all containers into dicts and lists.
    return [*chain(*map(secrets_in, items))] if isinstance(value, dict | list) else []


def redact(text: str, known: Iterable[str | Secret] = ()) -> str:
    """Return the text with `***` for each secret in it: the known values (plain, percent-encoded,
    in JSON, Python and HTML), values after a secret's name, and logins in addresses."""
    values = [Secret(value).reveal() for value in known]
    if forms := {form for value in values if len(value) >= SHORTEST for form in _spellings(value)}:
        longest_first = sorted(forms, key=len, reverse=True)
        text = re.sub("|".join(map(re.escape, longest_first)), MASK, text, flags=re.IGNORECASE)
    if _MARKS.search(text):
        for pattern in (_NAMED, _HEADER, *_LOGINS):
            text = pattern.sub(_masked, text)
    return text


def _spellings(value: str) -> set[str]:
    # The = of base64 is written in many ways, as in an address within an address.
    bare = value.rstrip("=")
    in_json, letters = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
    data = value.encode(errors="surrogateescape")  # bytes of a login that are not UTF-8
    in_url = {quote(data), quote(data, safe=""), quote_plus(data)}
    in_code = {in_json, in_json.replace("/", "\\/"), letters, repr(value)[1:-1], escape(value)}
    return {value, bare if len(bare) >= SHORTEST else value} | in_url | in_code


def _masked(match: re.Match[str]) -> str:
    """Return the match with *** for its last group: a login up to its last @, or, if it is cut off
    before that, unless it is a port."""
    name, text = match.lastgroup or "", match.string
    value, (start, end) = match[name], match.span(name)
    if name == "plain":
        end -= len(value) - len(value.rstrip(",;.)}]\\"))
    elif name in ("login", "encoded"):
        at = max(value.rfind("@"), value.rfind("%40") if name == "encoded" else -1)
        if at < 0 and (end < len(text) or _PORT.match(value)):
            return match.group()
        end = start + at if at >= 0 else end
    hidden = MASK if start < end else ""
    return text[match.start() : start] + hidden + text[end : match.end()]


def excerpt(content: str | bytes, known: Iterable[str | Secret] = (), size: int = 120) -> str:
    """Return the beginning of a service's text on one line, with secrets masked as by `redact`."""
    values = [Secret(value).reveal() for value in known]
    longest = 6 * max(map(len, values), default=0)  # a letter may be written as \uXXXX
    part = content[: 4096 + 4 * size + longest]  # masking shortens the text
    # Without its zeros, text in UTF-16 is read as well.
    text = part if isinstance(part, str) else part.decode("utf-8", "replace").replace("\0", "")
    masked = redact(text, values)
    if len(content) > len(part) and values:  # a secret cut off at the end is not recognised
        masked = masked[: len(masked) - longest]
    return one_line(masked[:size])
