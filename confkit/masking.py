"""Keeps secrets out of everything that people read.

The interface puts its token into URLs and hands passwords back in clear, so a secret can turn up
in any message that quotes one of them. Two tools are enough: texts whose `repr` hides them, and
`mask`, which every message that could quote a URL or an answer passes through.
"""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote, quote_plus, unquote

MASK = "***"
_MARKS = re.compile("[:=%@>]")
SHORTEST = 3  # a shorter value would mask half of any text; it is found by its name

TOKEN_NAMES = ("token", "tocken")  # a name that ends so carries a token (spellings: deployments)

# In lower case without underscores: parameters and members of the interface that carry secrets.
_SECRET_NAMES = frozenset({
    "digest", "hostpassword", "loginpassword", "pass", "password", "passwd", "psw", "pwd",
    "secretkey",
})  # fmt: skip


class Secret(str):
    """A text for code to use, whose `repr` (tracebacks, cell outputs, logs) is only `***`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK) if self else "''"

    def splitlines(self, keepends: bool = False) -> list[str]:  # noqa: ARG002
        """One line of `***`: pytest and unittest show two texts that differ line by line, and no
        code reads a secret so."""
        return [MASK] if self else []


class Guarded(str):
    """A text that may hold a secret, such as a camera's address: its `repr` masks that part, and so
    do its `splitlines`, by which pytest shows two texts that differ. `str()` gives all of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(self._shown())

    def splitlines(self, keepends: bool = False) -> list[str]:
        """The lines, without what is secret in them."""
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


def mask(text: str, *values: str) -> str:
    """The text with every secret in it replaced by `***`.

    Found are the parameters and members that carry secrets in this interface, logins inside
    addresses, and each of the given values, all of them in their usual encodings.
    """
    text = _without(text, values)
    if not suspect(text):
        return text
    from .scanning import hide  # with its patterns: when there is something to look through

    return hide(text, MASK)


def mask_code(text: str, *values: str) -> str:
    """The program text with the given values and all logins in addresses replaced by `***`; what
    stands under a secret's name stays, as it is code that takes the secret from elsewhere."""
    text = _without(text, values)
    if not suspect(text):
        return text
    from .scanning import hide_logins

    return hide_logins(text, MASK)


def _without(text: str, values: tuple[str, ...]) -> str:
    for form in forms(values):
        text = text.replace(form, MASK)
    return text


def suspect(text: str) -> bool:
    """Whether there can be a secret in a text, by its name or as a login."""
    return _MARKS.search(text) is not None


def _is_secret(name: str) -> bool:
    plain = name.replace("_", "").lower()
    return plain in _SECRET_NAMES or plain.endswith(TOKEN_NAMES)


def mask_address(text: str, broken: bool = False) -> str:
    """The text, masked as one address where it begins as one: all between its login name and its
    last `@` is hidden. `broken` takes it for an address even where its beginning is wrong."""
    if "@" in text:
        from .scanning import login_span

        start, end = login_span(text, broken)
        if end > start:
            text = text[:start] + MASK + text[end:]
    return mask(text)


def login_in(address: str) -> list[str]:
    """The password inside an address, as it is written and decoded; none when there is none."""
    from .scanning import login_span

    start, end = login_span(address)
    return [address[start:end], unquote(address[start:end])] if end > start else []


def forms(values: tuple[str, ...]) -> list[str]:
    """Every way in which these values are usually written, the longest first."""
    found: set[str] = set()
    for value in map(str, values):
        if len(value) < SHORTEST:
            continue
        inner = json.dumps(value)[1:-1]
        raw = {value, inner, json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
        raw |= {json.dumps(inner)[1:-1], inner.replace("/", "\\/"), value.replace("'", "\\'")}
        html = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        html = html.replace('"', "&quot;")
        encoded = {
            form for plain in raw for form in (_quoted(plain), quote_plus(plain, errors="replace"))
        }
        encoded |= {_quoted(value, "/"), *map(_quoted, encoded)}
        small = {re.sub("%..", lambda code: code.group().lower(), form) for form in encoded}
        found |= {*raw, html, html.replace("'", "&#x27;"), *encoded, *small}
    return sorted((str(form) for form in found), key=len, reverse=True)


def _quoted(text: str, safe: str = "") -> str:
    return quote(text, safe=safe, errors="replace")


def guard(value: object, name: str = "") -> object:
    """The same value with its texts made `Secret` or `Guarded`, by the name they stand under."""
    if isinstance(value, str):
        if _is_secret(name):
            return Secret(value)
        return Guarded(value) if suspect(value) else value
    if isinstance(value, Mapping):
        members = {key: guard(item, _inherited(name, key)) for key, item in value.items()}
        hides = any(_is_hidden_bool(key, item) for key, item in members.items())
        return _Members(members) if hides else members
    if isinstance(value, list | tuple):
        return [guard(item, name) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and _is_secret(name):
        return _SecretFraction(value) if isinstance(value, float) else _SecretNumber(value)
    return value


def _is_hidden_bool(name: object, value: object) -> bool:
    return isinstance(value, bool) and _is_secret(str(name))


class _Members(dict[object, object]):
    """Members of which one is a password that came as true or false, and cannot hide itself."""

    def __repr__(self) -> str:
        shown = {name: MASK if _is_hidden_bool(name, own) else own for name, own in self.items()}
        return repr(shown)


class _SecretNumber(int):
    """A password that came as a number."""

    def __repr__(self) -> str:
        return repr(MASK)


class _SecretFraction(float):
    """A password that came as a number with a point."""

    def __repr__(self) -> str:
        return repr(MASK)


def _inherited(name: str, key: object) -> str:
    return name if _is_secret(name) else str(key)


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
