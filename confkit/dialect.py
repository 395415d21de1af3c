"""What a deployment does where the interface is silent."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Self

from .errors import ConfigError
from .secret import TOKEN_NAMES

CHOICES = {
    "hash": ("sha1", "sha256", "sha512", "md5"),
    "signature": ("hex", "raw"),
    "result_field": ("ret", "result"),
    "item_keys": ("camelCase", "snake_case"),
    "create_method": ("GET", "POST"),
    "list_method": ("GET", "POST"),
    "placement": ("query", "form", "json"),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The ways in which one deployment fills what the interface leaves open.

    `hash` and `signature` make digest and token (section 5): what is base64-encoded is the
    lowercase hex text of the HMAC or its raw bytes. `token_parameter` names the token in every
    operation of interface A but A1, `mcu_token_parameter` in A5 where that differs, and
    `remove_token_parameter` in B2; B1 and B3 keep the interface's spelling. `result_field` is B's,
    `item_keys` the spelling of B3's items.
    `create_method` and `list_method` are the HTTP methods of B1 and B3, and `placement` says where
    a POST carries its parameters. The defaults are what deployed services do.
    """

    hash: str = "sha1"
    signature: str = "hex"
    token_parameter: str = "access_token"  # noqa: S105  # a name, not a token
    mcu_token_parameter: str | None = None
    # By name alone: who gives the others by their place gets the same dialect as before.
    remove_token_parameter: str = field(default="access_token", kw_only=True)
    result_field: str = "ret"
    item_keys: str = "camelCase"
    create_method: str = "GET"
    list_method: str = "GET"
    placement: str = "query"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ConfigError(
                    f"dialect setting {name} is {value!r}", f"It is one of {', '.join(choices)}."
                )
        for name in ("token_parameter", "mcu_token_parameter", "remove_token_parameter"):
            value = getattr(self, name)
            if value is None and name == "mcu_token_parameter":
                continue
            if not (
                isinstance(value, str)
                and value.isidentifier()
                and value.lower().endswith(TOKEN_NAMES)  # by such a name a log knows what to hide
            ):
                raise ConfigError(
                    f"dialect setting {name} is {value!r}",
                    "It is a parameter's name, "
                    "such as access_token, access_tocken, accessToken or token.",
                )

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> Self:
        """The dialect with these settings, the rest as usual; an unknown one is a ConfigError."""
        known = {one.name for one in fields(cls)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise ConfigError(
                f"no dialect setting is called {', '.join(unknown)}",
                f"There are {', '.join(sorted(known))}.",
            )
        return cls(**settings)  # type: ignore[arg-type]  # checked in __post_init__

    @classmethod
    def parse(cls, text: str) -> Self:
        """The dialect written as `hash=sha256,signature=raw`, or as a JSON object of that."""
        settings: dict[str, object] = {}
        if text.lstrip().startswith("{"):
            try:
                members = json.loads(text)
            except ValueError:
                raise ConfigError(
                    f"dialect {text!r} is not JSON", "Write it as hash=sha256."
                ) from None
            return cls.of(members)
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = part.partition("=")
            if not equals:
                raise ConfigError(
                    f"dialect setting {part!r} has no value",
                    "Write it as hash=sha256,signature=raw.",
                )
            settings[name.strip()] = value.strip()
        return cls.of(settings)

    def changes(self) -> dict[str, object]:
        """The settings that differ from the usual ones."""
        usual = asdict(type(self)())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}
