"""Secrets that are like no other text, and the search for them in whatever way they are written.

Each has two halves of letters and digits around characters that mean something somewhere. No
encoding of texts changes the halves, so they are found in percent-encoding, JSON, HTML and reprs,
however often one stands inside the other; base64, hexadecimal and reversal are looked for too.
"""

import base64
import re
import string
from urllib.parse import quote, unquote_plus

BETWEEN = ('"\\&?=%@:/# ü', "'<>%22}{,;", "\\\"' @/ß&amp;", "%40:%2F\\n+", "://@#?&")
ROLES = (
    *("random", "key", "secret_key", "host_password", "login_password", "password in an address"),
    *("password in a path", "password of a redirect", "password in base_url", "camera variable"),
    "typed password",
)
PLAIN = {"random", "key", "password in a path"}
LETTERS = string.ascii_letters + string.digits


class Marks(dict):
    """The marked secrets by the role that they play, and what was made of them since."""

    def __init__(self, chance):
        super().__init__()
        self._forms = {}  # in small letters, with its role and how it is written
        for number, role in enumerate(ROLES):
            halves = [first + "".join(chance.choices(LETTERS, k=10)) for first in "QZ"]
            between = "x" if role in PLAIN else BETWEEN[number % len(BETWEEN)]
            self[role] = between.join(halves)
            for half in halves:
                self._look_for(role, half)

    def _look_for(self, role, core):
        forms = {"plain": core, "reversed": core[::-1], "hexadecimal": core.encode().hex()}
        for shift in range(3):  # within other bytes: without what its neighbours would change
            text = base64.b64encode(b"\0" * shift + core.encode()).decode().rstrip("=")
            forms[f"base64 {shift}"] = text[(0, 2, 3)[shift] : 4 * ((shift + len(core)) // 3)]
        self._forms |= {form.lower(): f"{role} ({how})" for how, form in forms.items()}

    def learn(self, client):
        """Look from now on for what this client signs with, too: its digest, and its token."""
        made = {"digest": client.dialect.digest(client.access_key, client.secret_key)}
        if token := client._token.value:
            made |= {"token": token, "random": token.random, "key": token.key}
        for role, secret in made.items():
            text = secret.reveal()
            inner = base64.b64decode(text) if role in ("digest", "token") else b""
            texts = f"{text} {inner.hex()} {inner.decode('latin-1')}"
            for core in re.findall("[A-Za-z0-9]{12}", texts) or [text]:
                self._look_for(role, core)

    def logins(self, address="rtsp://127.0.0.1:9/a"):
        """The address of a camera with the marked password before its host, in its path and in its
        query."""
        password = quote(self["password in an address"], safe="")
        place, path = address.removeprefix("rtsp://").split("/")
        return (
            f"rtsp://admin:{password}@{place}/{path}",
            f"rtsp://{place}/admin:{self['password in a path']}/{path}",
            f"rtsp://{place}/{path}?user=admin&password={password}",
        )

    def found(self, text):
        """Which secrets stand in a text, how they are written, and what is before and after."""
        told = set()
        for plain in {text, unquote_plus(text) if "%" in text else text}:
            small = plain.lower()
            for form, known in self._forms.items():
                if (at := small.find(form)) >= 0:
                    told.add(f"{known}: ...{plain[max(0, at - 60) : at + 60]!r}...")
        return [*told]
