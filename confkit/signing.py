"""Digest and access token: how a secret key becomes what travels (section 5 of the interface)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .errors import ProtocolError
from .secret import Secret

if TYPE_CHECKING:
    from .dialect import Dialect


class AccessToken(Secret):
    """An access token, with the `random` and `key` of A1 that it was made of."""

    __slots__ = ("key", "random")

    random: Secret
    key: Secret


def sign(secret_key: str, message: str, dialect: Dialect) -> Secret:
    """Return the message's HMAC under the key as base64, in the dialect's hash and form."""
    mac = hmac.new(secret_key.encode(), message.encode(), getattr(hashlib, dialect.hash))
    form = mac.hexdigest().encode() if dialect.signature == "hex" else mac.digest()
    return Secret(base64.b64encode(form).decode())


def digest(access_key: str, secret_key: str, dialect: Dialect) -> Secret:
    """Return the `digest` of A1: the signature over the access key (its rule is not shown)."""
    return sign(secret_key, access_key, dialect)


def access_token(random: str, key: str, secret_key: str, dialect: Dialect) -> AccessToken:
    """Return the access token: the signature over `random:key` of A1 (section 5, step 2)."""
    token = AccessToken(sign(secret_key, f"{random}:{key}", dialect))
    token.random, token.key = Secret(random), Secret(key)
    return token


def token_of(
    members: Mapping[str, Any], secret_key: str, dialect: Dialect
) -> AccessToken | ProtocolError:
    """Return the access token that A1's answer gives, or the error where it gives none."""
    random, key = members.get("random"), members.get("key")
    if all(isinstance(part, str | int) and part != "" for part in (random, key)):
        return access_token(str(random), str(key), secret_key, dialect)
    return ProtocolError(
        "authenticate (A1) succeeded but its answer holds no random and key.",
        "Ask the provider how this deployment hands them out.",
    )
