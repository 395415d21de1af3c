"""Clock, ids and tokens of one sandbox: all that repeats exactly when a seed is given."""

import hmac
import itertools
import random
import secrets
import uuid
from collections.abc import Callable
from typing import NamedTuple

from ...dialect import Dialect
from ...secret import Secret
from ...signing import access_token

SEEDED_MOMENT = 1_704_099_600.0  # 2024-01-01 09:00 UTC: where the clock of a seeded sandbox stands
MOST_TOKENS = 10_000


def same(given: str, right: str) -> bool:
    """Return whether two texts are equal, in a time that does not say how much of them is."""
    return hmac.compare_digest(
        given.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    )


def random_keys() -> tuple[str, str]:
    """Return an access key and a secret key that nobody can guess."""
    return f"sandbox_{secrets.token_hex(8)}", secrets.token_hex(32)


class Clock:
    """The sandbox's own time in epoch seconds; `advance` moves it on."""

    def __init__(self, source: Callable[[], float]) -> None:
        self._source = source
        self._ahead = 0.0

    def __call__(self) -> float:
        """Return the time now."""
        return self._source() + self._ahead

    def advance(self, seconds: float) -> None:
        """Move the clock on by so many seconds."""
        self._ahead += seconds


class Ids:
    """Room numbers, user ids and the random values of A1; unguessable unless seeded.

    Each kind comes from a source of its own, so that one login more or less does not change the
    room numbers of a seeded sandbox.
    """

    def __init__(self, seed: int | str | None = None) -> None:
        self._seed = seed
        self._further = itertools.count(1)
        self._rooms = _source(seed, "rooms")
        self._users = _source(seed, "users")
        self._nonces = _source(seed, "nonces")
        self.chance = _source(seed, "chance").random  # numbers from 0 to 1

    def room_id(self) -> str:
        """Return a room number of ten digits (form assumed)."""
        return str(self._rooms.randrange(10**9, 10**10))

    def user_id(self) -> str:
        """Return a user id in UUID form (section 2)."""
        return str(uuid.UUID(int=self._users.getrandbits(128), version=4))

    def nonce(self) -> str:
        """Return a value for `random` or `key` of A1 (form assumed)."""
        return f"{self._nonces.getrandbits(128):032x}"

    def further(self) -> "Ids":
        """Return ids of other sources, new ones each time: they do not change what comes here."""
        return Ids(None if self._seed is None else f"{self._seed}/{next(self._further)}")


def _source(seed: int | str | None, kind: str) -> random.Random:
    return random.SystemRandom() if seed is None else random.Random(f"{seed}/{kind}")  # noqa: S311  # seeded


class Issued(NamedTuple):
    """A token that the service expects, what it was made of, and when it expires."""

    token: Secret
    random: Secret
    key: Secret
    expires: float


class Tokens:
    """The tokens that A1 has given the means for; in memory, the oldest go when there are many."""

    def __init__(
        self, secret_key: str, dialect: Dialect, lifetime: float, clock: Clock, ids: Ids
    ) -> None:
        self._secret_key = Secret(secret_key)
        self._dialect = dialect
        self._lifetime = lifetime
        self._clock = clock
        self._ids = ids
        self._issued: dict[str, Issued] = {}

    def issue(self) -> Issued:
        """Return a fresh pair of `random` and `key`, and the token that they make (section 5)."""
        nonce, key = Secret(self._ids.nonce()), Secret(self._ids.nonce())
        token = access_token(nonce, key, self._secret_key, self._dialect)
        issued = self._issued[token] = Issued(token, nonce, key, self._clock() + self._lifetime)
        while len(self._issued) > MOST_TOKENS:
            del self._issued[next(iter(self._issued))]
        return issued

    def find(self, token: str) -> Issued | None:
        """Return what was issued under this token, expired or not; None when nothing was."""
        return self._issued.get(token)

    def late(self, issued: Issued) -> float:
        """Return the seconds since this token expired; negative while it is valid."""
        return self._clock() - issued.expires

    def recent(self, count: int) -> list[Issued]:
        """Return the last tokens, newest first."""
        return list(self._issued.values())[: -count - 1 : -1]
