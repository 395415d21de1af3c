"""The three services in which a client is tried, how it hears of them, and the contract as text."""

from __future__ import annotations

import os
from dataclasses import asdict
from importlib.resources import files
from typing import NamedTuple

from ...dialect import Dialect
from ...errors import ConfigError


class Service(NamedTuple):
    """A service by its `name`: its dialect, and the keys that it gives to the client."""

    name: str
    dialect: Dialect
    access_key: str
    secret_key: str


# The digest of the second service holds + and / as well as =, so a client that does not encode them
# is found out. Its secret key holds what a client must leave as it is.
SERVICES = (
    Service("the usual service", Dialect(), "demo_access", "demo_secret"),
    Service(
        "an older service",
        Dialect(
            hash="sha256",
            signature="raw",
            token_parameter="access_tocken",  # noqa: S106
            mcu_token_parameter="token",  # noqa: S106
            remove_token_parameter="accessToken",  # noqa: S106
            result_field="result",
            item_keys="snake_case",
            create_method="POST",
            list_method="POST",
            placement="form",
        ),
        "older_access_1",
        "schlüssel +/=%3D",
    ),
    Service(
        "a service that takes JSON",
        Dialect(hash="sha512", create_method="POST", list_method="POST", placement="json"),
        "demo_access",
        'demo "secret" 秘密',
    ),
)
# Which row of the interface an operation of the contract calls.
OPERATIONS = {
    "sign": "",
    "authenticate": "A1",
    "create_room": "A2",
    "get_room": "A3",
    "delete_room": "A4",
    "get_mcu": "A5",
    "get_room_users": "A6",
    "force_offline": "A7",
    "import_device": "B1",
    "remove_device": "B2",
    "list_devices": "B3",
}
_SKELETONS = {"java": "Client.java", "sh": "client.sh"}


def settings(dialect: Dialect) -> dict[str, str]:
    """Return the variables that say what a service's dialect is, the usual values too."""
    values = asdict(dialect)
    values["mcu_token_parameter"] = dialect.mcu_token_parameter or dialect.token_parameter
    return {f"CONFKIT_{name.upper()}": str(value) for name, value in values.items()}


def own_environment() -> dict[str, str]:
    """Return this process's environment without its own service, without proxies, in UTF-8."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONFKIT_")}
    loopback = "127.0.0.1,localhost"
    return {**kept, "LC_ALL": "C.UTF-8", "NO_PROXY": loopback, "no_proxy": loopback}


def contract() -> str:
    """Return what a client in any language has to do so that `check_client` finds it right, as
    Markdown: operations, output, environment and rows."""
    return (files(__package__) / "contract.md").read_text("utf-8")


def skeleton(language: str) -> str:
    """Return a client in "java" (one file, Java 11 and later, nothing but the JDK) or "sh" (POSIX
    shell, curl, openssl, awk) that is right but for three operations, which are missing: where each
    belongs, a comment says which. ConfigError: another language."""
    if language not in _SKELETONS:
        raise ConfigError(
            f"there is no skeleton in {language!r}",
            f"There are {', '.join(_SKELETONS)}. In any other language, `confkit course contract` "
            "says what it has to do.",
        )
    return (files(__package__) / _SKELETONS[language]).read_text("utf-8")
