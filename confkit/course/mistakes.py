"""Which usual mistake made a wrong digest or token: what each would make is computed and compared.

A signature is made in seven steps: key, message, hash, function, form, encoding, travel. Each has
one right way and some wrong ones, and up to two wrong ones together are looked for. Pure; no text
here quotes a value.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote

from ..secret import Secret

if TYPE_CHECKING:
    from ..dialect import Dialect

Kind = Literal["digest", "token"]
HASHES = ("sha1", "sha256", "sha512", "md5", "sha224", "sha384")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a login's digest and token are made of; `earlier` are the (random, key) of older logins
    of the same client."""

    access_key: str
    secret_key: str = field(repr=False)
    random: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    earlier: Sequence[tuple[str, str]] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "secret_key", Secret(self.secret_key))


class Way(NamedTuple):
    """One way to take a step, and the mistake that it is; the right one has none."""

    mistake: str
    does: Any


def mistakes(
    kind: Kind, given: str | bytes, parts: Parts, dialect: Dialect
) -> tuple[str, ...] | None:
    """The fewest known mistakes that make the given digest or token of these parts.

    An empty tuple for the right one, None when no known mistake and no two of them explain it; a
    line break in its middle is told besides these.
    """
    sought = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else bytes(given)
    found = _known(sought, kind, parts, dialect)
    if found is None and b"\n" in sought.strip():
        found = _known(re.sub(rb"[\r\n]+", b"", sought), kind, parts, dialect)
        return None if found is None else (_WRAPPED, *found)
    return found


def _known(sought: bytes, kind: Kind, parts: Parts, dialect: Dialect) -> tuple[str, ...] | None:
    """The fewest known mistakes, at most two, that make these bytes."""
    for ways in _fewest_first(_steps(kind, parts, dialect)):
        if _made(*(way.does for way in ways)) == sought:
            return tuple(way.mistake for way in ways if way.mistake)
    return None


def _fewest_first(steps: list[list[Way]]) -> Iterator[list[Way]]:
    """Every choice of a way for each step with at most two mistakes, the right choice first."""
    right = [ways[0] for ways in steps]
    for many in range(3):
        for places in combinations(range(len(steps)), many):
            for wrong in product(*(steps[place][1:] for place in places)):
                chosen = list(right)
                for place, way in zip(places, wrong, strict=True):
                    chosen[place] = way
                yield chosen


def _made(
    key: bytes,
    message: bytes,
    name: str,
    function: Callable[[bytes, bytes, str], bytes],
    form: Callable[[bytes], bytes],
    encoding: Callable[[bytes], bytes],
    travel: Callable[[bytes], bytes],
) -> bytes:
    return travel(encoding(form(function(key, message, name))))


def _steps(kind: Kind, parts: Parts, dialect: Dialect) -> list[list[Way]]:
    return [
        _keys(parts), _messages(kind, parts), _hashes(dialect), _FUNCTIONS, _forms(dialect),
        _ENCODINGS, _TRAVEL,
    ]  # fmt: skip


def _keys(parts: Parts) -> list[Way]:
    secret = parts.secret_key.encode()
    return [
        Way("", secret),
        Way("the secret key has a trailing newline: strip what a file gave", secret + b"\n"),
        Way("the secret key has a trailing newline, of two characters (\\r\\n): strip what a file "
            "gave", secret + b"\r\n"),
        Way("the secret key has a blank at its end", secret + b" "),
        Way("the access key was taken in the place of the secret key", parts.access_key.encode()),
    ]  # fmt: skip


def _messages(kind: Kind, parts: Parts) -> list[Way]:
    login = f"{parts.random}:{parts.key}"
    right = login if kind == "token" else parts.access_key
    found = [("", right)]
    if kind == "token":
        found += [
            ("random and key have changed places", f"{parts.key}:{parts.random}"),
            ("the colon between random and key is missing", parts.random + parts.key),
            ("this is the digest, which A1 takes; the token is made of random and key",
             parts.access_key),
            ("only random was signed: the message is random and key with a colon", parts.random),
            ("only key was signed: the message is random and key with a colon", parts.key),
        ]  # fmt: skip
        found += [
            ("random and key are joined by something else: the rule takes a colon alone",
             f"{parts.random}{separator}{parts.key}")
            for separator in (" ", "-", "_", ",", ";", ".", "|", "&", "/", "+", "\n", ": ", "::")
        ]  # fmt: skip
        found += [
            ("it is made of an earlier login's random and key: that token may have expired",
             f"{random}:{key}")
            for random, key in parts.earlier
        ]  # fmt: skip
    elif parts.random:
        found.append(("this is the access token; the digest is made of the access key", login))
    found += [
        ("the message has a trailing newline: echo adds one, printf does not", right + "\n"),
        ("the message has a trailing newline: echo adds one, printf does not", right + "\r\n"),
        ("the message has a blank at its end", right + " "),
        ("the message has a blank before it", " " + right),
    ]
    return [Way(mistake, message.encode()) for mistake, message in found]


def _hashes(dialect: Dialect) -> list[Way]:
    wanted = dialect.hash
    others = [name for name in HASHES if name != wanted]
    return [
        Way("", wanted),
        *(Way(f"the hash is {name}, this service wants {wanted}", name) for name in others),
    ]


def _hmac(key: bytes, message: bytes, name: str) -> bytes:
    return hmac.new(key, message, getattr(hashlib, name)).digest()


def _plain(data: bytes, name: str) -> bytes:
    return bytes(hashlib.new(name, data, usedforsecurity=False).digest())


_NO_HMAC = "it is a plain hash: HMAC is a function of its own, with a key and a message"
_FUNCTIONS = [
    Way("", _hmac),
    Way("message and key of the HMAC are swapped: the secret key is its key",
        lambda key, message, name: _hmac(message, key, name)),
    Way(_NO_HMAC, lambda key, message, name: _plain(key + message, name)),
    Way(_NO_HMAC, lambda key, message, name: _plain(message + key, name)),
    Way(_NO_HMAC, lambda key, message, name: _plain(message + b":" + key, name)),
    Way(f"{_NO_HMAC}; the secret key is not in it",
        lambda _, message, name: _plain(message, name)),
]  # fmt: skip


def _forms(dialect: Dialect) -> list[Way]:
    as_hex = Way("the hex text was encoded, this service wants the raw bytes", _hex)
    raw = Way("the raw bytes were encoded, this service wants their lowercase hex text", bytes)
    right, other = (as_hex, raw) if dialect.signature == "hex" else (raw, as_hex)
    return [
        Way("", right.does),
        other,
        Way("the hex text is in capitals, not in lower case", lambda mac: _hex(mac).upper()),
        Way("the hex text has a trailing newline", lambda mac: _hex(mac) + b"\n"),
        Way("the hex text has a blank at its end", lambda mac: _hex(mac) + b" "),
    ]  # fmt: skip


def _hex(mac: bytes) -> bytes:
    return mac.hex().encode()


_WRAPPED = "its base64 is wrapped by a line break: let your library or tool put all on one line"
_ENCODINGS = [
    Way("", base64.b64encode),
    Way("it is not base64-encoded", bytes),
    Way("it is base64 of base64", lambda form: base64.b64encode(base64.b64encode(form))),
    Way("it is URL-safe base64, not of the standard alphabet", base64.urlsafe_b64encode),
    Way("the = at its end is missing", lambda form: base64.b64encode(form).rstrip(b"=")),
    Way("it is URL-safe base64, and its = are missing",
        lambda form: base64.urlsafe_b64encode(form).rstrip(b"=")),
]  # fmt: skip


def _percent(text: bytes) -> bytes:
    return quote(text, safe="").encode()


_ONCE = "it is percent-encoded already: the part of your program that builds the URL does that"
_TWICE = "it is percent-encoded twice"
_TRAVEL = [
    Way("", bytes),
    Way("it has a trailing newline", lambda text: text + b"\n"),
    Way("it has a trailing newline", lambda text: text + b"\r\n"),
    Way("it has a blank at its end", lambda text: text + b" "),
    Way("it has a blank before it", lambda text: b" " + text),
    Way("it has quotes around it", lambda text: b'"' + text + b'"'),
    Way("it is Python's picture of bytes, b'...': decode it", lambda text: b"b'" + text + b"'"),
    Way(_ONCE, _percent),
    Way(_ONCE, lambda text: _percent(text).replace(b"%3D", b"%3d")),
    Way(_TWICE, lambda text: _percent(_percent(text))),
]  # fmt: skip
