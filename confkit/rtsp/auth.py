"""RTSP authentication, Basic and Digest with MD5 or SHA-256 (RFC 7616). No I/O, no clock."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .errors import RtspError, printable

# The strongest last; a -sess variant is no stronger than its base, and rarer.
_STRENGTHS = ["Basic", "Digest MD5-SESS", "Digest MD5", "Digest SHA-256-SESS", "Digest SHA-256"]
_PART = re.compile(r"""([^\s,;="]+)(\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s,;"]*)))?""")
_UNQUOTED = ("algorithm", "qop", "nc")  # in an Authorization header; others are quoted


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
    def name(self) -> str:
        """Its name for people: Basic, Digest MD5, ...; with the qop if that is not "auth"."""
        if self.scheme != "digest":
            return self.scheme.title()
        qop = self.parameters.get("qop", "")
        suffix = f" with qop={qop}" if qop and not self.with_qop else ""
        return f"Digest {(self.parameters.get('algorithm') or 'MD5').upper()}{suffix}"

    @property
    def with_qop(self) -> bool:
        """Whether the answer uses qop "auth"; an old challenge has no qop."""
        return "auth" in re.split(r"[\s,]+", self.parameters.get("qop", "").lower())

    def answer(self, login: Login, method: str, uri: str, count: int = 1) -> str:
        """Return the Authorization header for this challenge; `count` is the nonce count."""
        if self.scheme == "basic":
            return "Basic " + basic(login)
        answer = {"username": login.name, "realm": self.parameters.get("realm", "")}
        answer |= {"nonce": self.parameters["nonce"], "uri": uri}
        for name in ("algorithm", "opaque"):  # some cameras reject what they did not name
            if self.parameters.get(name):
                answer[name] = self.parameters[name]
        if self.with_qop:
            answer |= {"qop": "auth", "nc": f"{count:08x}"}
        if self.with_qop or self.name.endswith("-SESS"):
            answer["cnonce"] = secrets.token_hex(8)
        answer["response"] = digest(answer, login, method)
        for name in answer.keys() - _UNQUOTED:
            answer[name] = '"' + re.sub(r'(["\\])', r"\\\1", answer[name]) + '"'
        return "Digest " + ", ".join(f"{name}={value}" for name, value in answer.items())


def parse_challenges(values: Iterable[str]) -> list[Challenge]:
    """Return the challenges of the WWW-Authenticate lines, which may have several each."""
    challenges: list[tuple[str, dict[str, str]]] = []
    for value in values:
        for name, assigned, quoted, bare in _PART.findall(value):
            if not assigned:
                challenges.append((name.lower(), {}))
            elif challenges:
                challenges[-1][1][name.lower()] = re.sub(r"\\(.)", r"\1", quoted) or bare
    return [Challenge(scheme, parameters) for scheme, parameters in challenges]


def choose_challenge(challenges: Iterable[Challenge]) -> Challenge | None:
    """Return the strongest challenge that can be answered, or None."""
    answerable = [
        challenge
        for challenge in challenges
        if challenge.name in _STRENGTHS
        and (challenge.scheme == "basic" or "nonce" in challenge.parameters)
    ]
    return max(answerable, key=lambda each: _STRENGTHS.index(each.name), default=None)


def basic(login: Login) -> str:
    """Return a login encoded for Basic."""
    text = f"{login.name}:{login.password}".encode(errors="surrogateescape")
    return base64.b64encode(text).decode()


def digest(answer: Mapping[str, str], login: Login, method: str) -> str:
    """Return the `response` parameter for the other parameters of a Digest header."""
    parameters = defaultdict(str, answer)
    algorithm = parameters["algorithm"].upper()
    name = "sha256" if algorithm.startswith("SHA-256") else "md5"

    def hashed(*parts: str) -> str:
        data = ":".join(parts).encode(errors="surrogateescape")
        return hashlib.new(name, data, usedforsecurity=False).hexdigest()

    secret = hashed(login.name, parameters["realm"], login.password)
    if algorithm.endswith("-SESS"):
        secret = hashed(secret, parameters["nonce"], parameters["cnonce"])
    fresh = ("nonce", "nc", "cnonce", "qop") if parameters["qop"] else ("nonce",)
    return hashed(secret, *(parameters[part] for part in fresh), hashed(method, parameters["uri"]))


class Credentials:
    """The login of one conversation: sent only if the camera asks for it, and only once.

    `name` is the scheme by which it was sent, or None; `accepted`: the camera accepted it.
    """

    def __init__(self, login: Login | None) -> None:
        self._login = login
        # What a camera knows of the login, and may repeat in its messages.
        self.secrets = (login.password, basic(login)) if login else ()
        self._challenge: Challenge | None = None
        self._count = 0
        self._renewed = False
        self.accepted = False
        self.name: str | None = None

    @property
    def refused(self) -> bool:
        """Whether the login was sent but not accepted."""
        return self.name is not None and not self.accepted

    def printable(self, text: str) -> str:
        """Return a camera's text made safe to show."""
        return printable(text, *self.secrets)

    def handle_challenge(self, offers: Iterable[str]) -> None:
        """Prepare to answer what a 401 offers; RtspError if that is impossible, or already done."""
        if self._login is None:
            raise RtspError("auth_required")
        challenges = parse_challenges(offers)
        challenge = choose_challenge(challenges)
        # A second wrong login can lock us out; but a stale nonce is not a wrong login, and neither
        # is a new nonce after the camera has accepted the login.
        stale = challenge and challenge.parameters.get("stale", "").lower() == "true"
        if self._challenge and (self._renewed or not (stale or self.accepted)):
            self._challenge = None  # otherwise TEARDOWN would try the login again
            raise RtspError("auth_rejected")
        if challenge is None:
            names = dict.fromkeys(self.printable(challenge.name) for challenge in challenges)
            reason = f"The camera offers {', '.join(names) or 'no scheme'} to log in; confkit "
            reason += "supports Basic and Digest (MD5, SHA-256)."
            raise RtspError("auth_unsupported", reason)
        self._renewed = self._challenge is not None
        self._challenge, self._count, self.name = challenge, 0, challenge.name

    def note_success(self) -> None:
        """Note that a request succeeded without another 401."""
        self.accepted = self.accepted or self._challenge is not None
        self._renewed = False

    def sign(self, method: str, url: str) -> dict[str, str]:
        """Return the header that a request needs, if any."""
        if self._challenge is None or self._login is None:
            return {}
        self._count += 1
        return {"Authorization": self._challenge.answer(self._login, method, url, self._count)}
