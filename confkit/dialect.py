"""What a deployment does where the interface is silent, including the signature of section 5."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from .errors import ConfigError, ProtocolError
from .secret import TOKEN_NAMES, Secret

CHOICES = {
    "hash": ("sha1", "sha256", "sha512", "md5"),
    "signature": ("hex", "raw"),
    "create_method": ("GET", "POST"),
    "list_method": ("GET", "POST"),
    "placement": ("query", "form", "json"),
}


class AccessToken(Secret):
    """An access token, with the `random` and `key` of A1 that it was made from."""

    __slots__ = ("key", "random")

    def __init__(self, value: Secret, random: Secret, key: Secret) -> None:
        super().__init__(value)
        self.random, self.key = random, key


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one deployment fills what the interface leaves open.

    `hash` and `signature` make digest and token (section 5): base64 of the lowercase hex text of
    the HMAC, or of its raw bytes. `token_parameter` names the token in interface A,
    `mcu_token_parameter` in A5 if that differs, and `remove_token_parameter` in B2; B1 and B3 keep
    the interface's spelling. `create_method` and `list_method` are the HTTP methods of B1 and B3,
    `placement` is where a POST carries its parameters. The defaults are what deployed services do.
    ConfigError names a setting that has another value.
    """

    hash: str = "sha1"
    signature: str = "hex"
    token_parameter: str = "access_token"  # noqa: S105  # a name, not a token
    mcu_token_parameter: str | None = None
    remove_token_parameter: str = "access_token"  # noqa: S105
    create_method: str = "GET"
    list_method: str = "GET"
    placement: str = "query"

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in CHOICES:
                valid, advice = value in CHOICES[name], f"Use one of {', '.join(CHOICES[name])}."
            else:  # a name by which `redact` and logs recognise a token
                is_name = isinstance(value, str) and value.isidentifier()
                valid = is_name and value.lower().endswith(TOKEN_NAMES)
                valid = valid or (value is None and name == "mcu_token_parameter")
                advice = "Give a parameter name, such as access_token, access_tocken or token."
            if not valid:
                raise ConfigError(f"dialect setting {name} is {value!r}", advice)

    @classmethod
    def of(cls, settings: object) -> Self:
        """Return the dialect given as one, as a table of settings, or as a text such as
        `hash=sha256,signature=raw`; ConfigError if it is none of these."""
        names = [field.name for field in fields(cls)]
        advice = f"The settings of a Dialect are {', '.join(names)}."
        if isinstance(settings, cls):
            return settings
        if isinstance(settings, str):
            pairs = [part.partition("=") for part in settings.split(",") if part.strip()]
            if not all(equals for _, equals, _ in pairs):
                advice = "Write it as hash=sha256,signature=raw."
                raise ConfigError(f"dialect is {settings!r}: a setting has no value", advice)
            settings = {name.strip(): value.strip() for name, _, value in pairs}
        if not isinstance(settings, Mapping):
            raise ConfigError("dialect is neither a Dialect nor a table of settings", advice)
        if unknown := sorted(set(settings) - set(names)):
            raise ConfigError(f"dialect has no setting {', '.join(unknown)}", advice)
        return cls(**settings)

    def changes(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, as `of` takes them."""
        default = asdict(type(self)())
        return {name: value for name, value in asdict(self).items() if value != default[name]}

    def sign(self, secret_key: str | Secret, message: str) -> Secret:
        """Return base64 of the message's HMAC under the key (section 5)."""
        key = Secret(secret_key).reveal().encode()
        mac = hmac.new(key, message.encode(), getattr(hashlib, self.hash))
        signed = mac.hexdigest().encode() if self.signature == "hex" else mac.digest()
        return Secret(base64.b64encode(signed).decode())

    def digest(self, access_key: str, secret_key: str | Secret) -> Secret:
        """Return the `digest` of A1: the signature of the access key (its rule is not shown)."""
        return self.sign(secret_key, access_key)

    def access_token(
        self, random: str | Secret, key: str | Secret, secret_key: str | Secret
    ) -> AccessToken:
        """Return the access token: the signature of `random:key` of A1 (section 5, step 2)."""
        random, key = Secret(random), Secret(key)
        token = self.sign(secret_key, f"{random.reveal()}:{key.reveal()}")
        return AccessToken(token, random, key)

    def token_of(
        self, members: Mapping[str, Any], secret_key: str | Secret
    ) -> AccessToken | ProtocolError:
        """Return the access token that A1's response grants, or the error if it grants none."""
        random, key = members.get("random", ""), members.get("key", "")
        if all(isinstance(part, str | int | Secret) and part != "" for part in (random, key)):
            return self.access_token(Secret(random), Secret(key), secret_key)
        return ProtocolError(
            "authenticate (A1) succeeded but its response holds no random and key.",
            "Ask the provider how this deployment hands them out.",
        )
