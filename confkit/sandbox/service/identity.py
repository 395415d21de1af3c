"""Clock, ids and keys of one sandbox: all that repeats exactly when a seed is given."""

import hmac
import itertools
import random
import secrets
import uuid

SEEDED_MOMENT = 1_704_099_600.0  # 2024-01-01 09:00 UTC: where the clock of a seeded sandbox stands


def same(given: str, right: str) -> bool:
    """Return whether two texts are equal, in a time that does not say how much of them is."""
    return hmac.compare_digest(*(text.encode("utf-8", "surrogatepass") for text in (given, right)))


def random_keys() -> tuple[str, str]:
    """Return an access key and a secret key that nobody can guess."""
    return f"sandbox_{secrets.token_hex(8)}", secrets.token_hex(32)


class Ids:
    """Room numbers, user ids and the random values of A1; unguessable unless seeded.

    Each kind comes from a source of its own, so that one login more or less does not change the
    room numbers of a seeded sandbox.
    """

    def __init__(self, seed: int | str | None = None) -> None:
        self._seed = seed
        self._further = itertools.count(1)
        self._rooms, self._users, self._nonces, chance = (
            random.SystemRandom() if seed is None else random.Random(f"{seed}/{kind}")  # noqa: S311  # seeded
            for kind in ("rooms", "users", "nonces", "chance")
        )
        self.chance = chance.random  # numbers from 0 to 1

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
