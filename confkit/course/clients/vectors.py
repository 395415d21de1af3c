"""vectors.json: digest and token of every hash and form, for easy keys and for awkward ones."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NamedTuple

from ...dialect import Dialect
from .dialects import settings


class Vector(NamedTuple):
    """What goes in, and the digest and token that come out, as they are and percent-encoded."""

    hash: str
    signature: str
    access_key: str
    secret_key: str
    random: str
    key: str
    digest: str
    digest_encoded: str
    token: str
    token_encoded: str

    @property
    def dialect(self) -> Dialect:
        """The dialect whose signatures these are."""
        return Dialect(hash=self.hash, signature=self.signature)

    def environment(self) -> dict[str, str]:
        """What a client that is asked for this one finds in its environment."""
        told = {"CONFKIT_ACCESS_KEY": self.access_key, "CONFKIT_SECRET_KEY": self.secret_key}
        return {**settings(self.dialect), **told}

    def mistake(self, name: str, given: Any) -> str:
        """What is wrong with a digest or token that a client made of this; empty: nothing."""
        from ...sandbox.service.explain import wrong_signature

        if given == getattr(self, name):
            return ""
        how = f"{name}, {self.hash} and {self.signature}"
        if not isinstance(given, str):
            return f"{how}: there is no {name}, a text"
        if given == {"digest": self.token, "token": self.digest}[name]:
            return f"{how}: digest and token have changed places"
        parts = (self.access_key,) if name == "digest" else (self.random, self.key)
        why = wrong_signature(given, self.secret_key, parts, self.dialect)
        return f"{how}: {why or 'it is another one, and no known mistake makes it'}"


def vectors() -> dict[str, Any]:
    """The content of vectors.json: `vectors`, a list of objects with hash, signature, access_key,
    secret_key, random, key, digest, digest_encoded, token, token_encoded (all texts)."""
    return json.loads(as_file())  # type: ignore[no-any-return]


def as_file() -> str:
    """vectors.json as it is packaged."""
    return (files(__package__) / "vectors.json").read_text("utf-8")


def all_vectors() -> tuple[Vector, ...]:
    """The same as records."""
    return tuple(Vector(**vector) for vector in vectors()["vectors"])


def chosen() -> tuple[Vector, ...]:
    """The vectors that a client is asked for: each hash and each form, and the awkward keys."""
    wanted = (("sha1", "hex"), ("sha256", "raw"), ("sha512", "hex"), ("md5", "raw"))
    groups = [[vector for vector in all_vectors() if (vector.hash, vector.signature) == pair]
              for pair in wanted]  # fmt: skip
    return tuple(group[number % len(group)] for number, group in enumerate(groups))
