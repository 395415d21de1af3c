"""What was wrong with a refused call, in words for the person who wrote it.

Pure functions without I/O. No text that they give holds a secret or quotes a value that came in.
"""

import base64
import hashlib
import hmac
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from urllib.parse import unquote

from ...dialect import Dialect
from ...endpoints import ENDPOINTS, Endpoint

_LONGEST = 600  # characters; the longest signature there is, percent-encoded thrice, has fewer
_HASHES = ("sha1", "sha256", "sha512", "md5")
_FORMS = {
    "hex": "the signature is of the hex text",
    "raw": "the signature is of the raw bytes",
    "upper": "the signature is of the hex text in capitals",
    "bare": "the signature is not base64-encoded",
    "line": "the signature is of the hex text and a line end",
    "openssl": "the signature is of all that openssl prints: take the hex text behind the = alone",
}
_WANTED = {"hex": "the lowercase hex text", "raw": "the raw bytes"}
_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")  # what came is not quoted
TOKEN_SPELLINGS = ("access_token", "accessToken", "access_tocken", "token")


def wrong_signature(
    given: str, secret_key: str, parts: Sequence[str], dialect: Dialect
) -> str | None:
    """Return the known mistakes that turn the right digest or token into the given one.

    `parts` is `(access_key,)` for a digest and `(random, key)` for a token. None when no known
    mistake, nor two of them together, explains it.
    """
    if len(given) > _LONGEST:
        return None  # no mistake makes it so long
    text, wrapping = _unwrap(given)
    found: list[str] | None = None
    for candidate, mistakes in _signatures(secret_key, parts, dialect, len(text)):
        if (found is None or len(mistakes) < len(found)) and hmac.compare_digest(candidate, text):
            found = mistakes
    if found is None:
        return None
    return "; ".join([*wrapping, *found]) or None


def _unwrap(given: str) -> tuple[bytes, list[str]]:
    """The bare signature, and what had been done to it on the way."""
    mistakes = []
    text = given
    if "%" in text:
        mistakes.append("it is percent-encoded twice")
        for _ in range(3):
            text = unquote(text)
    if text != text.strip():
        end = "a trailing newline" if text.rstrip("\r\n") != text else "white space around it"
        mistakes.append(f"it has {end}")
        text = text.strip()
    if " " in text:
        mistakes.append("a plus sign was not percent-encoded and came as a space")
        text = text.replace(" ", "+")
    if "-" in text or "_" in text:
        mistakes.append("it is URL-safe base64, this service wants the standard alphabet")
        text = text.replace("-", "+").replace("_", "/")
    return text.rstrip("=").encode("utf-8", "replace"), [
        *mistakes,
        *(["the = at its end is missing"] if _unpadded(text) else []),
    ]


def _unpadded(text: str) -> bool:
    return len(text) % 4 != 0 and not text.endswith("=")


def _signatures(
    secret_key: str, parts: Sequence[str], dialect: Dialect, length: int
) -> Iterator[tuple[bytes, list[str]]]:
    """Every signature of this length that known mistakes can make, without its padding."""
    keys = {secret_key: [], secret_key + "\n": ["the secret key has a trailing newline"]}
    fitting = {name: _fitting(name, length) for name in _HASHES}
    for name, (message, wrong), (key, stray), swapped in product(
        filter(fitting.get, _HASHES), _messages(parts).items(), keys.items(), (False, True)
    ):
        mistakes = [*wrong, *stray]
        if name != dialect.hash:
            mistakes.append(f"the hash is {name}, this service wants {dialect.hash}")
        if swapped:
            mistakes.append("message and key are swapped: the secret key is HMAC's key")
        pair = (message, key) if swapped else (key, message)
        mac = hmac.new(pair[0].encode(), pair[1].encode(), getattr(hashlib, name)).digest()
        forms = _written(name, mac)
        for form in fitting[name]:
            told = _FORMS["openssl" if form.startswith("openssl") else form]
            also = [f"{told}, this service wants {_WANTED[dialect.signature]}"]
            right = form == dialect.signature
            yield forms[form], mistakes if right else [*mistakes, *also]


@cache
def _fitting(name: str, length: int) -> tuple[str, ...]:
    """The forms of a hash that are so long: what cannot be meant costs a service no time."""
    forms = _written(name, bytes(hashlib.new(name).digest_size))
    return tuple(form for form, signature in forms.items() if len(signature) == length)


def _written(name: str, mac: bytes) -> dict[str, bytes]:
    """A signature in every form, without its padding."""
    text = mac.hex().encode()
    forms = {
        "hex": base64.b64encode(text),
        "raw": base64.b64encode(mac),
        "upper": base64.b64encode(text.upper()),
        "bare": text,
        "line": base64.b64encode(text + b"\n"),
        **{
            "openssl" + end.decode("ascii", "ignore") + label: base64.b64encode(
                f"{label}(stdin)= ".encode() + text + end
            )
            for label in (name.upper(), f"HMAC-{name.upper()}", f"SHA2-{name[3:]}")
            for end in (b"", b"\n")
        },
    }
    return {form: signature.rstrip(b"=") for form, signature in forms.items()}


def _messages(parts: Sequence[str]) -> dict[str, list[str]]:
    right = ":".join(parts)
    messages: dict[str, list[str]] = {right: []}
    if len(parts) == 2:
        messages["".join(parts)] = ["the colon is missing between random and key"]
        messages[":".join(reversed(parts))] = ["random and key have changed places"]
    messages[right + "\n"] = ["the message has a trailing newline"]
    return messages


def missing(
    endpoint: Endpoint, name: str, given: Collection[str], elsewhere: Mapping[str, str], place: str
) -> str:
    """Return why a parameter was not found: another spelling, another place, or not there at all.

    `given` are the names that came where they belong (`place`), `elsewhere` maps the names that
    came in another place to that place.
    """
    spellings = {_plain(spelling) for spelling in TOKEN_SPELLINGS}
    if _plain(name) not in spellings:
        spellings = {_plain(name)}
    for other in (*given, *elsewhere):
        if other != name and _plain(other) in spellings:
            return f"{endpoint.key} spells it {name}, not {other}"
    if name in elsewhere:
        return f"parameters belong in the {place} here, not in the {elsewhere[name]} ({name})"
    known = {*endpoint.required, *endpoint.optional, "callback"}
    # Only what can be a name is quoted: a token that lost its name would stand in its place.
    strangers = [
        other
        for other in given
        if other.isidentifier() and len(other) < 25 and _plain(other) not in map(_plain, known)
        and other not in TOKEN_SPELLINGS
    ]  # fmt: skip
    hint = f"; {endpoint.key} does not know {', '.join(strangers[:5])}" if strangers else ""
    return f"{name} is missing{hint}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def wrong_route(path: str, method: str, interface: str, methods: Mapping[str, str]) -> str:
    """Return why no operation was found: `methods` maps the paths of this port to their methods."""
    for endpoint in ENDPOINTS.values():
        if endpoint.path == path and endpoint.interface != interface:
            return (
                f"{endpoint.key} is served on the port of interface {endpoint.interface}, "
                f"this is the port of {interface}"
            )
        if endpoint.path == path:
            used = method if method in _METHODS else "another method"
            return f"{endpoint.key} is {methods[path]} here, not {used}"
    return f"unknown path; interface {interface} has {', '.join(methods)}"
