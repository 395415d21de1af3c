"""vectors.json: digest and token of every hash and form, for easy keys and for awkward ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from ...dialect import Dialect
from ...sandbox.service.signatures import Kind, Parts, mistakes


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

    def mistake(self, name: Kind, given: Any) -> str:
        """Return what is wrong with a digest or token that a client made of this; else nothing."""
        if given == getattr(self, name):
            return ""
        how = f"{name}, {self.hash} and {self.signature}"
        if not isinstance(given, str):
            return f"{how}: there is no {name}, a text"
        if given == {"digest": self.token, "token": self.digest}[name]:
            return f"{how}: digest and token have changed places"
        parts = Parts(self.access_key, self.secret_key, self.random, self.key)
        found = mistakes(name, given, parts, Dialect(hash=self.hash, signature=self.signature))
        why = "; and ".join(found or ()) or "it is another one, and no known mistake makes it"
        return f"{how}: {why}"

    def mistakes(self, said: Mapping[str, Any]) -> str:
        """Return what is wrong with the two of an answer; else nothing."""
        in_digest = self.mistake("digest", said.get("digest"))
        return in_digest or self.mistake("token", said.get("token"))


def vectors() -> dict[str, Any]:
    """Return the content of vectors.json: `vectors`, a list of objects with hash, signature,
    access_key, secret_key, random, key, digest, digest_encoded, token, token_encoded (texts)."""
    text = (files(__package__) / "vectors.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def all_vectors() -> tuple[Vector, ...]:
    """Return the same as records."""
    return tuple(Vector(**vector) for vector in vectors()["vectors"])
