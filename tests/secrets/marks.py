"""Secrets that are like no other text, and the search for them in whatever way they are written.

Each has two halves of letters and digits around characters that mean something somewhere. No
encoding of texts changes the halves, so they are found in percent-encoding, JSON, HTML and reprs,
however often one stands inside the other; base64, hexadecimal and reversal are looked for too.
"""

import base64
import random
import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import quote, unquote_plus

from confkit import Client, signing

BETWEEN = ('"\\&?=%@:/# ü', "'<>%22}{,;", "\\\"' @/ß&amp;", "%40:%2F\\n+", "://@#?&")
ROLES = (
    "secret_key",
    "random",
    "key",
    "host_password",
    "login_password",
    "password in an address",
    "password of a redirect",
    "password of a proxy",
    "password in base_url",
    "camera variable",
    "typed password",
    "profile's key",
)


@dataclass(frozen=True)
class Marks:
    """The marked secrets by the role that they play; `more` are those that others made of them."""

    values: Mapping[str, str]
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __getitem__(self, role: str) -> str:
        return self.values[role]

    def with_those_of(self, client: Client) -> "Marks":
        """Those, and what this client signs with: its digest, and the token that it holds."""
        made = [("digest", signing.digest(client.access_key, client.secret_key, client.dialect))]
        more: dict[str, tuple[str, ...]] = {}
        token = client._token.held
        if token is not None:
            made.append(("token", token))
            more = {"random": _parts(token.random), "key": _parts(token.key)}
        for role, signed in made:
            inner = base64.b64decode(signed)
            text = inner.decode() if inner.isascii() else inner.hex()
            more[role] = (*_parts(signed.rstrip("=")), *_parts(text))
        return Marks(self.values, {**self.more, **_joined(self.more, more)})

    def login(self, encoded: bool = True) -> str:
        """An address of a camera that nobody runs, with the marked password in it."""
        password = self["password in an address"]
        password = quote(password, safe="") if encoded else password
        return f"rtsp://admin:{password}@127.0.0.1:9/stream1"

    @cached_property
    def _forms(self) -> dict[str, tuple[str, str]]:
        """Each form that is looked for, in small letters: its role, and how it is written."""
        known: dict[str, tuple[str, str]] = {}
        cores = [
            (role, core)
            for role, value in self.values.items()
            for core in re.findall(r"[A-Za-z0-9]{9,}", value)
        ]
        cores += [(role, core) for role, more in self.more.items() for core in more]
        for role, core in cores:
            known.update({form.lower(): (role, how) for how, form in _written(core)})
        return known

    def found(self, text: str) -> list[str]:
        """Which secrets stand in a text, how they are written, and what is before and after."""
        told: dict[tuple[str, str], str] = {}
        for plain in dict.fromkeys([text, unquote_plus(text) if "%" in text else text]):
            small = plain.lower()
            for form, (role, how) in self._forms.items():
                if (at := small.find(form)) >= 0:
                    around = plain[max(0, at - 60) : at + len(form) + 20]
                    told.setdefault((role, how), f"{role} ({how}): ...{around!r}...")
        return list(told.values())


def marked(chance: random.Random) -> Marks:
    """Marked secrets for every role, of this chance."""
    values = {}
    for number, role in enumerate(ROLES):
        left, right = _half(chance, "Q"), _half(chance, "Z")
        between = "x" if role in ("random", "key") else BETWEEN[number % len(BETWEEN)]
        values[role] = f"{left}{between}{right}"
    return Marks(values)


def _half(chance: random.Random, first: str) -> str:
    letters = string.ascii_letters + string.digits
    return first + "".join(chance.choice(letters) for _ in range(10))


def _parts(text: str) -> tuple[str, ...]:
    """Pieces of a signature, long enough to be nothing else, none of them with a mark in it."""
    return tuple(piece for piece in re.findall(r"[A-Za-z0-9]{12}", text)) or (text,)


def _joined(one: Mapping[str, Iterable[str]], other: Mapping[str, Iterable[str]]):
    return {role: (*one.get(role, ()), *other.get(role, ())) for role in {*one, *other}}


def _written(core: str) -> Iterable[tuple[str, str]]:
    yield "plain", core
    yield "reversed", core[::-1]
    yield "hexadecimal", core.encode().hex()
    for shift in range(3):  # within other bytes: without what its neighbours would change
        text = base64.b64encode(b"\0" * shift + core.encode()).decode().rstrip("=")
        whole = 4 * ((shift + len(core)) // 3)
        yield "base64", text[(0, 2, 3)[shift] : whole]
