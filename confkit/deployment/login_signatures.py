"""Logins (A1) that find out how a service wants its signatures, with a bound on those that fail.

A service may lock an account after a few failed logins. So a login that may have failed is counted
before it is sent, and given back only when the service said yes, or was certainly never reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple

from .. import signing
from ..dialect import CHOICES, Dialect
from ..endpoints import A1
from ..errors import ApiError, ConfigError, ConfkitError, TransportError
from ..secret import Secret
from ..wire import Request
from .questions import REFUSED

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..calls import Call


class Candidate(NamedTuple):
    """One way to log in: the keys, and the dialect that signs, which `what` names."""

    access_key: str
    secret_key: Secret
    dialect: Dialect
    what: str

    @property
    def digest(self) -> Secret:
        """The digest that it sends."""
        return signing.digest(self.access_key, self.secret_key, self.dialect)


class Login(NamedTuple):
    """What came for a candidate: the exchange, masked, and the token, or the error that came."""

    candidate: Candidate
    call: Call
    token: signing.AccessToken | None = None
    error: ConfkitError | None = None

    @property
    def came(self) -> Literal["accepted", "refused", "unclear"]:
        """Whether the service said yes, no (401, 602), or neither."""
        if self.token is not None:
            return "accepted"
        refused = isinstance(self.error, ApiError) and self.error.ret in REFUSED
        return "refused" if refused else "unclear"


class Tried(NamedTuple):
    """The logins that were tried, in order, and the candidates which the bound left `open`."""

    logins: list[Login]
    open: list[Candidate]


def signatures(access_key: str, secret_key: str, dialect: Dialect | None = None) -> list[Candidate]:
    """Every hash and form of the signature with these keys, the likeliest first.

    The given dialect leads; then the order of `dialect.CHOICES`, in which what was seen in
    deployments stands first.
    """
    given = dialect or Dialect()
    pairs = product(CHOICES["hash"], CHOICES["signature"])
    found = []
    for name, form in dict.fromkeys([(given.hash, given.signature), *pairs]):
        signed = f"{'the hex text' if form == 'hex' else 'the raw bytes'} of HMAC-{name.upper()}"
        signer = replace(given, hash=name, signature=form)
        found.append(Candidate(access_key, Secret(secret_key), signer, signed))
    return found


class Logins:
    """Tries logins, never more that fail than `max_failed_logins`.

    `ask` sends one request once: `Client.ask_once`. `failed` counts the logins that were refused,
    and those of which no answer says whether they were. A token that is refused in another
    operation is no failed login (assumed).
    """

    def __init__(self, ask: Callable[..., Attempt], max_failed_logins: int = 2) -> None:
        whole = isinstance(max_failed_logins, int) and not isinstance(max_failed_logins, bool)
        if not (whole and max_failed_logins >= 0):
            raise ConfigError(
                f"max_failed_logins is {max_failed_logins!r}",
                "Give a whole number. 0 tries no login at all, as any may fail.",
            )
        self.bound, self.failed = max_failed_logins, 0
        self._ask = ask

    @property
    def spent(self) -> bool:
        """Whether another login could break the bound."""
        return self.failed >= self.bound

    def first(self, candidates: Iterable[Candidate]) -> Tried:
        """The candidates' logins in order, up to the first that is not refused.

        What is left when the bound is reached, or when the service answers something else, is open.
        """
        logins: list[Login] = []
        waiting = list(candidates)
        while waiting and not self.spent:
            logins.append(self.login(waiting.pop(0)))
            if logins[-1].came != "refused":
                break
        return Tried(logins, [] if logins and logins[-1].token else waiting)

    def login(self, candidate: Candidate) -> Login:
        """What the service says to one candidate; a ConfigError where the bound is reached."""
        if self.spent:
            raise ConfigError(
                f"no login was sent: {self.failed} of {self.bound} have failed (max_failed_logins)",
                "Ask the provider for the right signature before you allow more.",
            )
        parameters = {"access_key": candidate.access_key, "digest": candidate.digest}
        self.failed += 1  # now, so that a Ctrl-C while it is under way is counted
        asked = self._ask(Request(A1, parameters), dialect=candidate.dialect)
        token, error = None, asked.error
        if asked.members is not None:
            made = signing.token_of(asked.members, candidate.secret_key, candidate.dialect)
            token, error = (None, made) if isinstance(made, ConfkitError) else (made, None)
        unsent = isinstance(asked.error, TransportError) and not asked.error.sent
        self.failed -= asked.members is not None or unsent
        return Login(candidate, asked.call, token, error)
