"""RTSP authentication, Basic and Digest (RFC 7616), for both sides.  No I/O, no clock."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .message import Response
from .refusal import PullRefused, status_refusal

# Strongest last; a -sess variant is no stronger than its base, and rarer.
_ALGORITHMS = ("MD5-SESS", "MD5", "SHA-256-SESS", "SHA-256")
_PART = re.compile(r"""([^\s,="]+)(\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s,"]*)))?""")


@dataclass(frozen=True)
class Login:
    """A login name and its password."""

    name: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Challenge:
    """One scheme that a server offers: "basic", "digest" or another, in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(repr=False)

    @property
    def algorithm(self) -> str:
        """The digest algorithm in upper case; MD5 when none was named."""
        return self.parameters.get("algorithm", "MD5").upper()

    @property
    def name(self) -> str:
        """What people call it: Basic, Digest MD5, Digest SHA-256, ..."""
        return self.scheme.title() + (f" {self.algorithm}" if self.scheme == "digest" else "")

    @property
    def stale(self) -> bool:
        """True when only the nonce was too old: the login itself was not refused."""
        return self.parameters.get("stale", "").lower() == "true"

    @property
    def strength(self) -> int:
        """A rank among challenges; 0 for one that cannot be answered."""
        if self.scheme == "basic":
            return 1
        answerable = self.algorithm in _ALGORITHMS and self.parameters.get("nonce") is not None
        if self.scheme != "digest" or not answerable:
            return 0
        qop = self.parameters.get("qop")
        if qop and not _offers_auth(qop):
            return 0
        return 2 + _ALGORITHMS.index(self.algorithm)


def parse_challenges(values: Iterable[str]) -> list[Challenge]:
    """Return every challenge of the WWW-Authenticate lines, several in one line included."""
    found: list[tuple[str, dict[str, str]]] = []
    for value in values:
        for name, assigned, quoted, bare in _PART.findall(value):
            if not assigned:
                found.append((name.lower(), {}))
            elif found:
                found[-1][1][name.lower()] = re.sub(r"\\(.)", r"\1", quoted) or bare
    return [Challenge(scheme, parameters) for scheme, parameters in found]


def choose_challenge(challenges: Iterable[Challenge]) -> Challenge | None:
    """Return the strongest challenge that can be answered, or None."""
    best = max(challenges, key=lambda challenge: challenge.strength, default=None)
    return best if best and best.strength else None


def authorization(
    challenge: Challenge,
    login: Login,
    method: str,
    uri: str,
    *,
    count: int = 1,
    cnonce: str | None = None,
) -> str:
    """Return the Authorization header that answers the challenge; `count` is the nonce count."""
    if challenge.scheme == "basic":
        return "Basic " + _basic(login)
    given = challenge.parameters
    qop = "auth" if _offers_auth(given.get("qop", "")) else ""
    cnonce = cnonce or secrets.token_hex(8)
    realm, nonce, nc = given.get("realm", ""), given["nonce"], f"{count:08x}"
    parts = [f"username={_quote(login.name)}", f"realm={_quote(realm)}"]
    parts += [f"nonce={_quote(nonce)}", f"uri={_quote(uri)}"]
    if "algorithm" in given:  # some cameras refuse an algorithm that they did not name
        parts.append(f"algorithm={given['algorithm']}")
    if "opaque" in given:
        parts.append(f"opaque={_quote(given['opaque'])}")
    if qop:
        parts += [f"qop={qop}", f"nc={nc}"]
    if qop or challenge.algorithm.endswith("-SESS"):
        parts.append(f"cnonce={_quote(cnonce)}")
    answer = _digest(challenge.algorithm, login, realm, nonce, method, uri, qop, nc, cnonce)
    return f'Digest {", ".join(parts)}, response="{answer}"'


class Credentials:
    """The login of one conversation: sent where the camera asks for it, and once only.

    `name` says how it was sent, None while it was not; `accepted` that the camera took it. A
    camera to which another one redirects gets no login (`withhold`).
    """

    def __init__(self, login: Login | None) -> None:
        self._login = login
        self._challenge: Challenge | None = None
        self._count = 0
        self._answer = ""
        self._renewed = self._withheld = False
        self.accepted = False
        self.name: str | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What a camera may know of the login, and repeat in its reasons."""
        password = self._login.password if self._login else ""
        return tuple(filter(None, (password, self._answer)))

    def withhold(self) -> None:
        """Send no login from now on."""
        self._withheld, self._challenge, self.name = True, None, None

    def meet(self, asked: Response) -> None:
        """Take up the challenge of a 401; raises PullRefused where it cannot be answered."""
        refusal = status_refusal("DESCRIBE", asked, *self.secrets)
        if refusal.verdict == "auth_locked":
            raise refusal
        if self._withheld:
            reason = "It wants a login, and another camera gets none from here."
            advice = "Try the address that it redirects to, with its own login."
            raise PullRefused("redirected", reason, advice=advice)
        if self._login is None:
            raise PullRefused("auth_required")
        challenge = choose_challenge(parse_challenges(asked.all("WWW-Authenticate")))
        if challenge is None:
            raise PullRefused("auth_unsupported")
        if self._challenge is not None:
            # A second wrong login can lock the address out; an outdated nonce is no wrong login,
            # and neither is a new one that a camera wants after it has accepted the login.
            if self._renewed or not (challenge.stale or self.accepted):
                self._challenge = None  # TEARDOWN would try the login once more
                raise PullRefused("auth_rejected")
            self._renewed = True
        self._challenge, self._count, self.name = challenge, 0, challenge.name

    def met(self) -> None:
        """Note that a request was answered without asking for a login (again)."""
        self.accepted = self.accepted or self._challenge is not None
        self._renewed = False

    def sign(self, method: str, url: str) -> list[tuple[str, str]]:
        """Return the header that a request needs, if any."""
        if self._challenge is None or self._login is None:
            return []
        self._count += 1
        header = authorization(self._challenge, self._login, method, url, count=self._count)
        self._answer = header.partition(" ")[2]
        return [("Authorization", header)]


@dataclass(frozen=True)
class Guard:
    """The server's side for one login; without `algorithms` it asks for Basic.

    Nonces are signed with `key` instead of being kept, so they survive a reconnect.
    """

    login: Login
    realm: str
    algorithms: tuple[str, ...]
    key: bytes = field(repr=False)
    nonce_seconds: float = 300.0

    def challenges(self, now: float, *, stale: bool = False) -> list[str]:
        """Return WWW-Authenticate values, strongest first: old clients take the last digest."""
        if not self.algorithms:
            return [f"Basic realm={_quote(self.realm)}"]
        start = f'Digest realm={_quote(self.realm)}, nonce="{self._nonce(f"{int(now):x}")}"'
        end = ', qop="auth"' + (", stale=true" if stale else "")
        return [f"{start}, algorithm={algorithm}{end}" for algorithm in self.algorithms]

    def check(
        self, header: str, method: str, url: str, now: float
    ) -> Literal["ok", "stale", "wrong"]:
        """Return whether an Authorization header opens `url`; compares in constant time."""
        scheme, _, rest = header.strip().partition(" ")
        if not self.algorithms:
            right = _same(_basic(self.login), rest.strip()) and scheme.lower() == "basic"
            return "ok" if right else "wrong"
        answer = next(iter(parse_challenges([header])), None)
        if answer is None or answer.scheme != "digest" or not self._acceptable(answer, url):
            return "wrong"
        given = answer.parameters
        nonce, qop, nc, cnonce = (given.get(key, "") for key in ("nonce", "qop", "nc", "cnonce"))
        expected = _digest(
            answer.algorithm, self.login, self.realm, nonce, method, given["uri"], qop, nc, cnonce
        )
        stamp = nonce.partition("-")[0]
        ours = _same(self._nonce(stamp), nonce)
        right = _same(expected, given.get("response", "")) & _same(
            self.login.name, given.get("username", "")
        )
        if not (right and ours):
            return "wrong"
        return "ok" if now - int(stamp, 16) < self.nonce_seconds else "stale"

    def _acceptable(self, answer: Challenge, url: str) -> bool:
        # Several clients sign the presentation's URL when they set up one of its tracks.
        uri = answer.parameters.get("uri", "")
        offered = {name.upper() for name in self.algorithms}
        qop_known = answer.parameters.get("qop", "auth") == "auth"
        return bool(uri) and url.startswith(uri) and answer.algorithm in offered and qop_known

    def _nonce(self, stamp: str) -> str:
        signature = hmac.new(self.key, stamp.encode(errors="replace"), "sha256").hexdigest()
        return f"{stamp}-{signature[:32]}"


def _offers_auth(qop: str) -> bool:
    return "auth" in [value.strip().lower() for value in qop.split(",")]


def _basic(login: Login) -> str:
    return base64.b64encode(
        f"{login.name}:{login.password}".encode(errors="surrogateescape")
    ).decode()


def _quote(value: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _same(left: str, right: str) -> bool:
    return hmac.compare_digest(*(text.encode(errors="surrogateescape") for text in (left, right)))


def _digest(
    algorithm: str,
    login: Login,
    realm: str,
    nonce: str,
    method: str,
    uri: str,
    qop: str,
    nc: str,
    cnonce: str,
) -> str:
    name = "md5" if algorithm.startswith("MD5") else "sha256"

    def hashed(*parts: str) -> str:
        data = ":".join(parts).encode(errors="surrogateescape")
        return hashlib.new(name, data, usedforsecurity=False).hexdigest()

    secret = hashed(login.name, realm, login.password)
    if algorithm.endswith("-SESS"):
        secret = hashed(secret, nonce, cnonce)
    freshness = (nonce, nc, cnonce, qop) if qop else (nonce,)
    return hashed(secret, *freshness, hashed(method, uri))
