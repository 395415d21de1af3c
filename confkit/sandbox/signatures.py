"""Find the known mistakes that would produce a wrong digest or token; no text quotes a value.

Damage on the way is undone first. The rest is compared with the results of up to two mistakes in
five steps: hash, message, key, order and form.
"""

import base64
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Literal
from urllib.parse import unquote

from ..dialect import CHOICES, Dialect

Kind = Literal["digest", "token"]
LONGEST = 1000  # characters: no mistake produces more

_ENDS = {"\n": "a trailing newline", "\r\n": "a trailing newline (\\r\\n)", " ": "a trailing space"}
# Damage on the way: a pattern, the replacement that undoes it, and its name.
_DAMAGE: tuple[tuple[str, str | Callable[[re.Match[str]], str], str], ...] = (
    (r"\Ab'(.+)'\Z", r"\1", "it is Python's repr of bytes, b'...': decode them"),
    (r'\A"(.+)"\Z', r"\1", "it has quotes around it"),
    (".*%25.*", lambda m: unquote(unquote(unquote(m[0]))), "it is percent-encoded twice"),
    (".*%.*", lambda m: unquote(m[0]), "your HTTP library percent-encodes it once more"),
    (r".*\S[\r\n]+\S.*", lambda m: re.sub(r"[\r\n]+", "", m[0]), "its base64 is wrapped"),
    (r"\s*[\r\n]\Z", "", "it has a trailing newline"),
    (r"\A\s+|\s+\Z", "", "it has white space around it"),
    (" ", "+", "a plus sign was not percent-encoded and came as a space"),
    ("[-_]", lambda m: "+" if m[0] == "-" else "/", "it is URL-safe base64, not the standard one"),
    (r"\A([^=]*)=*\Z", lambda m: m[1] + "=" * (-len(m[1]) % 4), "it ends in too few or too many ="),
)
# The forms of a signature before base64, made of the HMAC's hex text; the dialect chooses between
# the first two.
_FORMS: dict[str, Callable[[bytes], bytes]] = {
    "of the lowercase hex text": lambda text: text,
    "of the raw bytes": lambda text: bytes.fromhex(text.decode()),
    "of the hex text in capitals": lambda text: text.upper(),
    "of the hex text and a line end": lambda text: text + b"\n",
    "of openssl's whole line": lambda text: b"SHA1(stdin)= " + text + b"\n",
    "not base64-encoded": base64.b64decode,
}


@dataclass(frozen=True, slots=True)
class Parts:
    """The inputs of digest and token; `earlier` are the (random, key) of older logins."""

    access_key: str
    secret_key: str = field(repr=False)
    random: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    earlier: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def same(left: str, right: str) -> bool:
    """Return whether two texts are equal, compared in constant time."""
    return hmac.compare_digest(*(text.encode("utf-8", "surrogatepass") for text in (left, right)))


def mistakes(
    kind: Kind, signature: str, parts: Parts, dialect: Dialect, travelled: bool = False
) -> tuple[str, ...] | None:
    """Return the smallest set of known mistakes that would produce this digest or token.

    An empty tuple if it is right, None if no known mistakes explain it. `travelled`: it has already
    been percent-decoded once.
    """
    if len(signature) > LONGEST:
        return None
    text = signature.replace("%", "%25") if travelled else signature
    damage = []
    for pattern, replacement, name in _DAMAGE:
        mended = re.sub(pattern, replacement, text, flags=re.DOTALL)
        if mended != text:
            text = mended
            damage.append(name)
    reasons = _known_mistakes(kind, parts, dialect).get(text.rstrip("="))
    return None if reasons is None else (*damage, *reasons)


@lru_cache(32)  # some 3 ms each, and each wrong token is compared with the last logins
def _known_mistakes(kind: Kind, parts: Parts, dialect: Dialect) -> dict[str, tuple[str, ...]]:
    """Return the results of up to two mistakes, without trailing =, each with its mistakes."""
    steps = _steps(kind, parts, dialect)
    produced: dict[str, tuple[str, ...]] = {}
    for count in range(3):
        for wrong_steps in combinations(range(len(steps)), count):
            ways = [
                [way for way in step.items() if bool(way[1]) == (at in wrong_steps)]
                for at, step in enumerate(steps)
            ]
            for chosen in product(*ways):
                (name, message, key, is_swapped, form), reasons = zip(*chosen, strict=True)
                if is_swapped:
                    key, message = message, key
                hexed = hmac.digest(key.encode(), message.encode(), name).hex().encode()
                signature = base64.b64encode(_FORMS[form](hexed)).decode().rstrip("=")
                produced.setdefault(signature, tuple(filter(None, reasons)))
    return produced


def _steps(kind: Kind, parts: Parts, dialect: Dialect) -> list[dict[Any, str]]:
    """Return the choices for hash, message, key, order and form, each with its mistake, which is
    empty for the right one."""
    random, key, secret, access_key = parts.random, parts.key, parts.secret_key, parts.access_key
    login = f"{random}:{key}"
    message = login if kind == "token" else access_key
    messages = {message + end: f"the message has {_ENDS[end]}" for end in _ENDS}
    if kind == "token":
        old = "it is made of an earlier login's random and key: that token may have expired"
        messages |= {":".join(pair): old for pair in parts.earlier} | {
            random + key: "the colon is missing between random and key",
            f"{key}:{random}": "random and key are in the wrong order",
            access_key: "this is the digest of A1, not the access token",
            random: "only random was signed: the message is random:key",
            key: "only key was signed: the message is random:key",
        }
    elif random:
        messages[login] = "this is the access token; the digest is made of the access key"
    keys = {secret + end: f"the secret key has {_ENDS[end]}" for end in _ENDS}
    keys[access_key] = "the access key was used instead of the secret key"
    wants = f"this service wants {dialect.hash}: Dialect(hash={dialect.hash!r})"
    hashes = {name: f"the hash is {name}, {wants}" for name in CHOICES["hash"]}
    right, other, *_ = _FORMS if dialect.signature == "hex" else [*_FORMS][1::-1]
    wants = f"this service wants the base64 {right}"
    forms = {name: f"the signature is {name}, {wants}" for name in _FORMS}
    forms[other] += f": Dialect(signature={dialect.signature!r})"
    order = {True: "message and key are swapped: the secret key is HMAC's key", False: ""}
    steps = [hashes | {dialect.hash: ""}, messages | {message: ""}, keys | {secret: ""}]
    return [*steps, order, forms | {right: ""}]
