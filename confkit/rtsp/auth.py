"""RTSP authentication, Basic and Digest (RFC 7616).  No I/O, no clock."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .message import Header, Response
from .refusal import PullRefused, status_refusal

# Strongest last; a -sess variant is no stronger than its base, and rarer.
_ALGORITHMS = ("MD5-SESS", "MD5", "SHA-256-SESS", "SHA-256")
_PART = re.compile(r"""([^\s,="]+)(\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s,"]*)))?""")
_BARE = ("algorithm", "qop", "nc")  # of an answer; the other parameters stand between quotes


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
    def with_qop(self) -> bool:
        """Whether the answer may have the quality "auth"."""
        offered = self.parameters.get("qop", "").lower().split(",")
        return "auth" in [quality.strip() for quality in offered]

    @property
    def strength(self) -> int:
        """A rank among challenges; 0 for one that cannot be answered."""
        if self.scheme == "basic":
            return 1
        unknown = self.scheme != "digest" or self.algorithm not in _ALGORITHMS
        if unknown or "nonce" not in self.parameters:
            return 0
        if self.parameters.get("qop") and not self.with_qop:
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
        return "Basic " + basic(login)
    given = challenge.parameters
    realm = given.get("realm", "")
    answer = {"username": login.name, "realm": realm, "nonce": given["nonce"], "uri": uri}
    # Some cameras refuse an algorithm that they did not name.
    answer |= {name: given[name] for name in ("algorithm", "opaque") if name in given}
    if challenge.with_qop:
        answer |= {"qop": "auth", "nc": f"{count:08x}"}
    if challenge.with_qop or challenge.algorithm.endswith("-SESS"):
        answer["cnonce"] = cnonce or secrets.token_hex(8)
    answer["response"] = digest(answer, login, method)
    parts = (f"{key}={part if key in _BARE else quoted(part)}" for key, part in answer.items())
    return "Digest " + ", ".join(parts)


class Credentials:
    """The login of one conversation: sent where the camera asks for it, and once only.

    `name` says how it was sent, None while it was not; `accepted` that the camera took it.
    """

    def __init__(self, login: Login | None) -> None:
        self._login = login
        self._challenge: Challenge | None = None
        self._count = 0
        # What a camera may know of the login, and repeat in its reasons.
        known = (login.password, basic(login)) if login else ()
        self.secrets = tuple(filter(None, known))
        self._renewed = False
        self.accepted = False
        self.name: str | None = None

    def meet(self, asked: Response) -> None:
        """Take up the challenge of a 401; raises PullRefused where it cannot be answered."""
        refusal = status_refusal("DESCRIBE", asked, *self.secrets)
        if refusal.verdict == "auth_locked":
            raise refusal
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

    def sign(self, method: str, url: str) -> list[Header]:
        """Return the header that a request needs, if any."""
        if self._challenge is None or self._login is None:
            return []
        self._count += 1
        header = authorization(self._challenge, self._login, method, url, count=self._count)
        return [("Authorization", header)]


def basic(login: Login) -> str:
    """Return a login as Basic sends it."""
    return base64.b64encode(
        f"{login.name}:{login.password}".encode(errors="surrogateescape")
    ).decode()


def quoted(value: str) -> str:
    """Return a value as it stands between quotes in a header."""
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def digest(answer: Mapping[str, str], login: Login, method: str) -> str:
    """Return the response that belongs to the other parameters of a digest's answer."""
    given = defaultdict(str, answer)
    algorithm = given["algorithm"].upper() or "MD5"
    name = "md5" if algorithm.startswith("MD5") else "sha256"

    def hashed(*parts: str) -> str:
        data = ":".join(parts).encode(errors="surrogateescape")
        return hashlib.new(name, data, usedforsecurity=False).hexdigest()

    secret = hashed(login.name, given["realm"], login.password)
    if algorithm.endswith("-SESS"):
        secret = hashed(secret, given["nonce"], given["cnonce"])
    fresh = ("nonce", "nc", "cnonce", "qop") if given["qop"] else ("nonce",)
    return hashed(secret, *(given[part] for part in fresh), hashed(method, given["uri"]))
