"""Keeps secrets out of everything that people read.

The interface puts its token into URLs and hands passwords back in clear, so a secret can turn up
in any message that quotes one of them. Two tools are enough: texts whose `repr` hides them, and
`mask`, which every message that could quote a URL or an answer passes through.
"""

import json
import re
from collections.abc import Mapping
from html import escape
from urllib.parse import quote, quote_plus

MASK = "***"

_NAMES = (
    r"(?:access_?to(?:c)?ken|(?<![a-z])token|digest|host_?password|login_?password|password"
    r"|secret_?key|passwd)"
)
_QUERY = re.compile(rf"(?i)({_NAMES}=)[^&\s\"'<>]+")
# In JSON or a Python dict; quotes may be escaped (JSON inside JSON) and the end may be cut off.
_MEMBER = re.compile(
    rf"(?i)({_NAMES}\\*[\"']\s*:\s*)(?:(\\*)\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^,}}\s\"']+)"
)
_ENCODED_MEMBER = re.compile(
    rf"(?i)({_NAMES}(?:%5C)*%22(?:%20|\+)*%3A(?:%20|\+)*)"
    r"(?:%22(?:%5C(?:%..|.)|(?!%22)[^&\s])*(?:%22)?|(?:(?!%2C|%7D)[^&\s])+)"
)
_USERINFO = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*:(?:\\?/){2}[^\s\"'<>:/@]*:)[^\s\"'<>]*@")
_ENCODED_USERINFO = re.compile(r"(?i)(%3A(?:%2F|/){2}(?:(?!%3A)[^\s&\"'<>])*%3A)[^\s&\"'<>]*%40")
_HEADER = re.compile(r"(?i)((?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?\w+\s)[^\r\n'\"]+")
_SUSPECT = re.compile(r"[:=%]")  # without one of these `mask` changes nothing
_SECRET_KEY = re.compile(rf"(?i)^{_NAMES}$")


class Secret(str):
    """A text for code to use, whose `repr` (tracebacks, cell outputs, logs) is only `***`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK) if self else "''"


class Guarded(str):
    """A text that may hold a secret, such as a camera's address: its `repr` masks that part."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask(str(self)))


def mask(text: str, *values: str) -> str:
    """The text with every secret in it replaced by `***`.

    Found are the parameters and members that carry secrets in this interface, logins inside
    addresses, plain or percent-encoded, and each of the given values in its usual encodings.
    """
    for value in values:
        if len(value) < 3:  # would mask half of any text; such values are found by their names
            continue
        forms = {value, quote(value, safe=""), quote_plus(value), escape(value)}
        forms.update({quote(quote(value, safe=""), safe=""), json.dumps(value)[1:-1]})
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(str(form), MASK)
    text = _HEADER.sub(rf"\1{MASK}", text)
    text = _MEMBER.sub(rf'\1\2"{MASK}\2"', text)
    text = _ENCODED_MEMBER.sub(rf"\1%22{MASK}%22", text)
    text = _QUERY.sub(rf"\1{MASK}", text)
    text = _USERINFO.sub(rf"\1{MASK}@", text)
    return _ENCODED_USERINFO.sub(rf"\1{MASK}%40", text)


def guard(value: object, name: str = "") -> object:
    """The same value with its texts made `Secret` or `Guarded`, by the name they stand under."""
    if isinstance(value, str):
        if _SECRET_KEY.match(name):
            return Secret(value)
        return Guarded(value) if _SUSPECT.search(value) else value
    if isinstance(value, Mapping):
        return {key: guard(item, str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [guard(item, name) for item in value]
    return value


def masked(value: object, name: str = "") -> object:
    """The same value as plain data in which nothing is secret any more, to show or to store."""
    if isinstance(value, str):
        return MASK if value and _SECRET_KEY.match(name) else mask(str(value))
    if isinstance(value, Mapping):
        return {key: masked(item, str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, name) for item in value]
    return value
