"""The three services in which a client is tried, and how they are told to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from ...dialect import CHOICES, Dialect

if TYPE_CHECKING:
    from ...sandbox import Sandbox


class Service(NamedTuple):
    """A service by its `name`: its dialect, and the keys that it gives to the client."""

    name: str
    dialect: Dialect
    access_key: str
    secret_key: str


USUAL = Service("the usual service", Dialect(), "demo_access", "demo_secret")
# The digest of the second service holds + and / as well as =, so a client that does not encode them
# is found out. Its secret key holds what a client must leave as it is.
SERVICES = (
    USUAL,
    Service(
        "an older service",
        Dialect(
            hash="sha256", signature="raw", token_parameter="access_tocken",  # noqa: S106
            mcu_token_parameter="token", remove_token_parameter="accessToken",  # noqa: S106
            result_field="result", item_keys="snake_case", create_method="POST",
            list_method="POST", placement="form",
        ),
        "older_access_1", "schlüssel +/=%3D",
    ),
    Service(
        "a service that takes JSON",
        Dialect(hash="sha512", create_method="POST", list_method="POST", placement="json"),
        "demo_access", "demo \"secret\" 秘密",
    ),
)  # fmt: skip

PREFIX = "CONFKIT_"
# What the client is told beside its arguments: the variable without the prefix, and what it holds.
VARIABLES = {
    "BASE_URL": "the address of interface A, without a slash at its end",
    "OUTGOING_URL": "the address of interface B, without a slash at its end",
    "ACCESS_KEY": "the access key, in UTF-8 (it may hold any character)",
    "SECRET_KEY": "the secret key, in UTF-8 (it may hold any character)",
    "TIMEOUT": "how many seconds one call may take: a whole number",
    "HASH": "hash of the HMAC",
    "SIGNATURE": "what is base64-encoded: the lowercase hex text of the HMAC, or its raw bytes",
    "TOKEN_PARAMETER": "name of the token in interface A (A2, A3, A4, A6, A7)",
    "MCU_TOKEN_PARAMETER": "name of the token in A5",
    "REMOVE_TOKEN_PARAMETER": "name of the token in B2; B1 and B3 keep the interface's spelling",
    "RESULT_FIELD": "where interface B puts its result code",
    "ITEM_KEYS": "spelling of the members in B3's items",
    "CREATE_METHOD": "HTTP method of B1",
    "LIST_METHOD": "HTTP method of B3",
    "PLACEMENT": "where a POST carries all its parameters, the token among them, with the "
    "matching Content-Type",
}


def values_of(variable: str) -> tuple[str, ...]:
    """The values that a variable may have; none where it is a free text."""
    return CHOICES.get(variable.lower(), ())


def settings(dialect: Dialect) -> dict[str, str]:
    """The variables that tell a dialect, all of them, the usual values too."""
    told = asdict(dialect)
    told["mcu_token_parameter"] = dialect.mcu_token_parameter or dialect.token_parameter
    return {PREFIX + name.upper(): str(value) for name, value in told.items()}


def environment(sandbox: Sandbox, timeout: int = 10) -> dict[str, str]:
    """The environment of one run: this process's, with the service in place of its own."""
    return {
        **_clean(os.environ),
        **settings(sandbox.dialect),
        "CONFKIT_BASE_URL": sandbox.base_url,
        "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
        "CONFKIT_ACCESS_KEY": sandbox.access_key,
        "CONFKIT_SECRET_KEY": str(sandbox.secret_key),
        "CONFKIT_TIMEOUT": str(timeout),
    }


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a learner's client: none of the learner's own service, no proxy,
    texts in UTF-8."""
    kept = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
    loopback = "127.0.0.1,localhost"
    return {**kept, "LC_ALL": "C.UTF-8", "NO_PROXY": loopback, "no_proxy": loopback}
