"""Secrets that are like no other text, and the search for them in whatever way they are written.

Each has two halves of letters and digits around characters that mean something somewhere. No
encoding of texts changes the halves, so they are found in percent-encoding, JSON, HTML and reprs,
however often one stands inside the other; base64, hexadecimal and reversal are looked for too.
"""

import base64
import random
import re
import string
from collections.abc import Iterator
from urllib.parse import quote, unquote_plus

from confkit import Client

BETWEEN = ('"\\&?=%@:/# ü', "'<>%22}{,;", "\\\"' @/ß&amp;", "%40:%2F\\n+", "://@#?&")
ROLES = (
    "random",
    "key",
    "secret_key",
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
NOWHERE = "rtsp://127.0.0.1:9/a"  # a camera that nobody runs


class Marks(dict[str, str]):
    """The marked secrets by the role that they play, and what was made of them since."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._forms: dict[str, str] = {}  # in small letters, with its role and how it is written
        for number, role in enumerate(ROLES):
            halves = (_half(chance, "Q"), _half(chance, "Z"))
            between = "x" if role in ("random", "key") else BETWEEN[number % len(BETWEEN)]
            self[role] = between.join(halves)
            for half in halves:
                self.look_for(role, half)

    def look_for(self, role: str, core: str) -> None:
        """Look from now on for these letters and digits, too."""
        for how, form in _written(core):
            self._forms[form.lower()] = f"{role} ({how})"

    def learn(self, client: Client) -> None:
        """Look from now on for what this client signs with, too: its digest, and its token."""
        made = {"digest": client.dialect.digest(client.access_key, client.secret_key)}
        if (token := client._token.value) is not None:
            made |= {"token": token, "random": token.random, "key": token.key}
        for role, secret in made.items():
            text = secret.reveal()
            inner = base64.b64decode(text) if role in ("digest", "token") else b""
            for one in (text, inner.decode() if inner.isascii() else inner.hex()):
                for core in re.findall("[A-Za-z0-9]{12}", one) or [one] * bool(one):
                    self.look_for(role, core)

    def login(self, address: str = NOWHERE, encoded: bool = True) -> str:
        """The address of a camera, with the marked password in it."""
        password = self["password in an address"]
        password = quote(password, safe="") if encoded else password
        return address.replace("//", f"//admin:{password}@", 1)

    def found(self, text: str) -> list[str]:
        """Which secrets stand in a text, how they are written, and what is before and after."""
        told: dict[str, str] = {}
        for plain in {text, unquote_plus(text) if "%" in text else text}:
            small = plain.lower()
            for form, known in self._forms.items():
                if (at := small.find(form)) >= 0:
                    around = plain[max(0, at - 60) : at + len(form) + 20]
                    told[known] = f"{known}: ...{around!r}..."
        return [*told.values()]


def _half(chance: random.Random, first: str) -> str:
    return first + "".join(chance.choices(string.ascii_letters + string.digits, k=10))


def _written(core: str) -> Iterator[tuple[str, str]]:
    yield "plain", core
    yield "reversed", core[::-1]
    yield "hexadecimal", core.encode().hex()
    for shift in range(3):  # within other bytes: without what its neighbours would change
        text = base64.b64encode(b"\0" * shift + core.encode()).decode().rstrip("=")
        yield "base64", text[(0, 2, 3)[shift] : 4 * ((shift + len(core)) // 3)]
