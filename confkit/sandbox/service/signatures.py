"""Which usual mistakes made a wrong digest or token: what each would make is computed and compared.

What was done to a signature on its way is undone first. What remains is made in five steps (hash,
message, key, function, form), each with one right way and some wrong ones, of which up to two
together are looked for. Pure; no text here quotes a value.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Literal
from urllib.parse import unquote

from ...dialect import Dialect
from ...secret import Secret

Kind = Literal["digest", "token"]
_LONGEST = 800  # characters; the longest signature there is, percent-encoded thrice, has fewer
_HASHES = ("sha1", "sha256", "sha512", "md5")
_SEPARATORS = (" ", "-", "_", ",", ";", ".", "|", "&", "\n", ": ")
_WANTED = {"hex": "the lowercase hex text", "raw": "the raw bytes"}
_FORMS = {
    "hex": "the signature is of the hex text",
    "raw": "the signature is of the raw bytes",
    "upper": "the signature is of the hex text in capitals",
    "bare": "the signature is not base64-encoded",
    "twice": "the signature is base64 of base64",
    "line": "the signature is of the hex text and a line end",
    "openssl": "the signature is of all that openssl prints: take the hex text behind the = alone",
}
_ALREADY = "it is percent-encoded already: what builds the URL in your program does that"
_NO_HMAC = "it is a plain hash: HMAC is a function of its own, with a key and a message"
_SWAPPED = "message and key are swapped: the secret key is HMAC's key"
_FUNCTIONS = {"hmac": "", "swapped": _SWAPPED, "key first": _NO_HMAC, "key last": _NO_HMAC}


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


def mistakes(
    kind: Kind, given: str | bytes, parts: Parts, dialect: Dialect, travelled: bool = False
) -> tuple[str, ...] | None:
    """Return the fewest known mistakes that make the given digest or token of these parts.

    An empty tuple for the right one, None when no known mistakes explain it. One that has
    `travelled` was percent-decoded once already.
    """
    text = given.decode("latin-1") if isinstance(given, bytes) else given
    if len(text) > _LONGEST:
        return None  # no mistake makes it so long
    text, wrapping = _unwrapped(text, travelled)
    sought = text.rstrip("=").encode("utf-8", "surrogatepass")
    found: tuple[str, ...] | None = None
    for candidate, made_by in _candidates(kind, parts, dialect, len(sought)):
        fewer = found is None or len(made_by) < len(found)
        if fewer and hmac.compare_digest(candidate, sought):
            found = made_by
    return None if found is None else (*wrapping, *found)


def _unwrapped(text: str, travelled: bool) -> tuple[str, list[str]]:
    """Return the bare signature, and what had been done to it on the way."""
    told = []
    if quoted := re.fullmatch(r"(?s)(b')(.+)'|(\")(.+)\"", text):
        in_python = "it is Python's picture of bytes, b'...': decode it"
        told.append(in_python if quoted[1] else "it has quotes around it")
        text = quoted[2] or quoted[4]
    if "%" in text:
        once, text = unquote(text), unquote(unquote(unquote(text)))
        twice = travelled or once != text
        told.append("it is percent-encoded twice" if twice else _ALREADY)
    if "\n" in text.strip():
        told.append("its base64 is wrapped by a line break: let your library put all on one line")
        text = re.sub(r"[\r\n]+", "", text)
    if text != text.strip():
        end = "a trailing newline" if text.rstrip("\r\n") != text else "white space around it"
        told.append(f"it has {end}")
        text = text.strip()
    if " " in text:
        told.append("a plus sign was not percent-encoded and came as a space")
        text = text.replace(" ", "+")
    if "-" in text or "_" in text:
        told.append("it is URL-safe base64, this service wants the standard alphabet")
        text = text.replace("-", "+").replace("_", "/")
    if len(text) % 4 and not text.endswith("="):
        told.append("the = at its end is missing")
    return text, told


def _candidates(
    kind: Kind, parts: Parts, dialect: Dialect, length: int
) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield every signature of this length that at most two mistakes make, without its padding."""
    wanted = _WANTED[dialect.signature]
    hows = list(product(_messages(kind, parts), _keys(parts), _FUNCTIONS.items()))
    for name in _HASHES:
        other = f"the hash is {name}, this service wants {dialect.hash}"
        other *= name != dialect.hash
        for form in _fitting(name, length):
            told = f"{_FORMS[form.partition(' ')[0]]}, this service wants {wanted}"
            told *= form != dialect.signature
            for (message, wrong), (key, stray), (function, swapped) in hows:
                made_by = tuple(filter(None, (wrong, stray, swapped, other, told)))
                if len(made_by) <= 2:
                    mac = _mac(function, key.encode(), message.encode(), name)
                    yield _written(form, mac), made_by


def _mac(function: str, key: bytes, message: bytes, name: str) -> bytes:
    if function == "hmac":
        return hmac.digest(key, message, name)
    if function == "swapped":
        return hmac.digest(message, key, name)
    data = key + message if function == "key first" else message + key
    return hashlib.new(name, data, usedforsecurity=False).digest()


def _messages(kind: Kind, parts: Parts) -> list[tuple[str, str]]:
    random, key = parts.random, parts.key
    login = f"{random}:{key}"
    if kind == "token":
        right = login
        found = [
            (right, ""),
            (random + key, "the colon is missing between random and key"),
            (f"{key}:{random}", "random and key have changed places"),
            (parts.access_key, "this is the digest of A1, not the access token"),
            (random, "only random was signed: the message is random and key with a colon"),
            (key, "only key was signed: the message is random and key with a colon"),
        ]
        joined = "random and key are joined by something else: the rule takes a colon alone"
        found += [(f"{random}{mark}{key}", joined) for mark in _SEPARATORS]
        old = "it is made of an earlier login's random and key: that token may have expired"
        found += [(":".join(pair), old) for pair in parts.earlier]
    else:
        right = parts.access_key
        found = [(right, "")]
        if random:
            found.append((login, "this is the access token; the digest is made of the access key"))
    return [
        *found,
        (right + "\n", "the message has a trailing newline"),
        (right + " ", "the message has a blank at its end"),
    ]


def _keys(parts: Parts) -> list[tuple[str, str]]:
    secret = parts.secret_key
    return [
        (secret, ""),
        (secret + "\n", "the secret key has a trailing newline"),
        (secret + "\r\n", "the secret key has a trailing newline, of two characters (\\r\\n)"),
        (secret + " ", "the secret key has a blank at its end"),
        (parts.access_key, "the access key was taken in the place of the secret key"),
    ]


@cache
def _fitting(name: str, length: int) -> tuple[str, ...]:
    """Return the forms of a hash that are so long: what cannot be meant costs no time."""
    labels = (name.upper(), f"HMAC-{name.upper()}", f"SHA2-{name[3:]}")
    forms = [form for form in _FORMS if form != "openssl"]
    forms += [f"openssl {label}(stdin)= {end}" for label in labels for end in ("", "\n")]
    mac = bytes(hashlib.new(name, usedforsecurity=False).digest_size)
    return tuple(form for form in forms if len(_written(form, mac)) == length)


def _written(form: str, mac: bytes) -> bytes:
    """Return a signature in this form, without its padding."""
    text = mac.hex().encode()
    if form.startswith("openssl "):
        line = form.removeprefix("openssl ")
        text = line.rstrip("\n").encode() + text + b"\n" * line.endswith("\n")
    elif form == "bare":
        return text
    elif form == "twice":
        text = base64.b64encode(text)
    elif form != "hex":
        text = {"raw": mac, "upper": text.upper(), "line": text + b"\n"}[form]
    return base64.b64encode(text).rstrip(b"=")
