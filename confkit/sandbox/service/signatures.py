"""Which usual mistakes made a wrong digest or token: what each would make is computed and compared.

What was done to a signature on its way is undone first. What remains is made in five steps (hash,
message, key, function, form), each with one right way and some wrong ones, of which up to two
together are looked for. Pure; no text here quotes a value.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product
from typing import Any, Literal
from urllib.parse import unquote

from ...dialect import CHOICES, Dialect

Kind = Literal["digest", "token"]
LONGEST = 1000  # characters: no mistake makes as many, and to look for one takes their square
Step = list[tuple[Any, str]]  # the right way first; each with what is said of it
_SEPARATORS = (" ", "-", "_", ",", ";", ".", "|", "&", "\n", ": ")
# What was done on the way: what is replaced by what to undo it, and what is said then.
_WRAPPINGS: tuple[tuple[str, str | Callable[[re.Match[str]], str], str], ...] = (
    (r"\Ab'(.+)'\Z", r"\1", "it is Python's picture of bytes, b'...': decode it"),
    (r'\A"(.+)"\Z', r"\1", "it has quotes around it"),
    (
        ".*%25.*",
        lambda text: unquote(unquote(unquote(text[0]))),
        "it is percent-encoded twice",
    ),
    (
        ".*%.*",
        lambda text: unquote(text[0]),
        "it is percent-encoded already: what builds the URL in your program does that",
    ),
    (
        r".*\S[\r\n]+\S.*",
        lambda text: re.sub(r"[\r\n]+", "", text[0]),
        "its base64 is wrapped by a line break: let your library put all on one line",
    ),
    (r"\s*(.*?)\s*[\r\n]\Z", r"\1", "it has a trailing newline"),
    (r"\A\s+|\s+\Z", "", "it has white space around it"),
    (" ", "+", "a plus sign was not percent-encoded and came as a space"),
    (
        "[-_]",
        lambda sign: "+" if sign[0] == "-" else "/",
        "it is URL-safe base64, this service wants the standard alphabet",
    ),
    (r"\A(?!.*=\Z)((?:....)*.{1,3})\Z", r"\1=", "the = at its end is missing"),
)
_NO_HMAC = "it is a plain hash: HMAC is a function of its own, with a key and a message"
_SWAPPED = "message and key are swapped: the secret key is HMAC's key"
_FUNCTIONS: Step = [
    (hmac.digest, ""),
    (lambda key, message, name: hmac.digest(message, key, name), _SWAPPED),
    (lambda key, message, name: _hash(name, key + message), _NO_HMAC),
    (lambda key, message, name: _hash(name, message + key), _NO_HMAC),
]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a login's digest and token are made of; `earlier` are the (random, key) of older logins
    of the same client."""

    access_key: str
    secret_key: str = field(repr=False)
    random: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    earlier: Sequence[tuple[str, str]] = field(default=(), repr=False)


def mistakes(
    kind: Kind, given: str | bytes, parts: Parts, dialect: Dialect, travelled: bool = False
) -> tuple[str, ...] | None:
    """Return the fewest known mistakes that make the given digest or token of these parts.

    An empty tuple for the right one, None when no known mistakes explain it. One that has
    `travelled` was percent-decoded once already.
    """
    text = given.decode("latin-1") if isinstance(given, bytes) else given
    found = []
    if len(text) > LONGEST:
        return None
    if travelled:
        text = text.replace("%", "%25")
    for wrapped, instead, hint in _WRAPPINGS:
        bare = re.sub(wrapped, instead, text, flags=re.DOTALL)
        if bare != text:
            text = bare
            found.append(hint)
    sought = text.rstrip("=").encode("utf-8", "surrogatepass")
    steps = [_hashes(dialect), _messages(kind, parts), _keys(parts), _FUNCTIONS, _forms(dialect)]
    for count in range(3):
        for wrong in combinations(range(len(steps)), count):
            ways = [step[1:] if at in wrong else step[:1] for at, step in enumerate(steps)]
            for chosen in product(*ways):
                (name, message, key, function, form), why = zip(*chosen, strict=True)
                text = function(key.encode(), message.encode(), name).hex().encode()
                made = base64.b64encode(form(text, name)).rstrip(b"=")
                if hmac.compare_digest(made, sought):
                    return (*found, *filter(None, why))
    return None


def _hash(name: str, data: bytes) -> bytes:
    return hashlib.new(name, data, usedforsecurity=False).digest()


def _messages(kind: Kind, parts: Parts) -> Step:
    login, access_key = f"{parts.random}:{parts.key}", parts.access_key
    right = login if kind == "token" else access_key
    found = [
        (right, ""),
        (right + "\n", "the message has a trailing newline"),
        (right + " ", "the message has a blank at its end"),
    ]
    if kind == "digest":
        hint = "this is the access token; the digest is made of the access key"
        return [*found, (login, hint)] if parts.random else found
    joined = "random and key are joined by something else: the rule takes a colon alone"
    old = "it is made of an earlier login's random and key: that token may have expired"
    return [
        *found,
        (parts.random + parts.key, "the colon is missing between random and key"),
        (f"{parts.key}:{parts.random}", "random and key have changed places"),
        (access_key, "this is the digest of A1, not the access token"),
        (parts.random, "only random was signed: the message is random and key with a colon"),
        (parts.key, "only key was signed: the message is random and key with a colon"),
        *((f"{parts.random}{mark}{parts.key}", joined) for mark in _SEPARATORS),
        *((":".join(pair), old) for pair in parts.earlier),
    ]


def _keys(parts: Parts) -> Step:
    secret = parts.secret_key
    return [
        (secret, ""),
        (secret + "\n", "the secret key has a trailing newline"),
        (secret + "\r\n", "the secret key has a trailing newline, of two characters (\\r\\n)"),
        (secret + " ", "the secret key has a blank at its end"),
        (parts.access_key, "the access key was taken in the place of the secret key"),
    ]


def _hashes(dialect: Dialect) -> Step:
    others = [name for name in CHOICES["hash"] if name != dialect.hash]
    hint = "the hash is {}, this service wants {}"
    return [(dialect.hash, ""), *((name, hint.format(name, dialect.hash)) for name in others)]


def _forms(dialect: Dialect) -> Step:
    """How a signature is written before base64: functions of the HMAC's hex text and its hash."""
    forms: Step = [
        (lambda text, _: text, "of the hex text"),
        (lambda text, _: bytes.fromhex(text.decode()), "of the raw bytes"),
        (lambda text, _: text.upper(), "of the hex text in capitals"),
        (lambda text, _: base64.b64decode(text), "not base64-encoded"),
        (lambda text, _: base64.b64encode(text), "base64 of base64"),
        (lambda text, _: text + b"\n", "of the hex text and a line end"),
    ]
    hint = "of all that openssl prints: take the hex text behind the = alone"
    labels = ("{0}(stdin)= ", "HMAC-{0}(stdin)= ", "SHA2-{1}(stdin)= ")
    forms += [(partial(_printed, label, end), hint) for label in labels for end in (b"", b"\n")]
    if dialect.signature == "raw":
        forms[:2] = forms[1::-1]
    wanted = forms[0][1].replace("hex", "lowercase hex").removeprefix("of ")
    hint = "the signature is {}, this service wants {}"
    wrong = [(form, hint.format(what, wanted)) for form, what in forms[1:]]
    return [(forms[0][0], ""), *wrong]


def _printed(label: str, end: bytes, text: bytes, name: str) -> bytes:
    return label.format(name.upper(), name[3:]).encode() + text + end
