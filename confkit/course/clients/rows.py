"""The contract as data: the services, what is asked in each row, and what has to come of it; and
what a learner is given of it (the text, signatures to compare with, two clients to begin with)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from typing import Any, Literal

import msgspec

from ...dialect import Dialect
from ...errors import ConfigError
from ...sandbox.service.signatures import Kind, Parts, mistakes

KINDS: tuple[Kind, ...] = ("digest", "token")
_SKELETONS = {"java": "Client.java", "sh": "client.sh"}


class Service(msgspec.Struct, frozen=True):
    """A service by its `name`: its dialect, and the keys that it gives to the client."""

    name: str
    access_key: str
    secret_key: str
    dialect: Dialect = Dialect()


class Ask(msgspec.Struct, frozen=True):
    """One run of the client: an `operation`, and what has to come of it; see rows.toml."""

    operation: str
    given: dict[str, str] = {}
    answer: dict[str, Any] = {}
    ret: int | Literal["null"] = 0
    fault: dict[str, Any] = {}
    environ: dict[str, str] = {}
    leaves: dict[str, Any] = {}
    sent: tuple[tuple[str, int, int, str], ...] = ()
    means: str = ""
    vector: int | None = None
    advice: str = ""


class Row(msgspec.Struct, frozen=True):
    """A row by its name: what it is about, what is asked, and what of "room", "people", "device"
    and "closed" is there before. One that is not tried `everywhere` is tried in the usual service.
    """

    name: str
    title: str
    asks: tuple[Ask, ...]
    scene: tuple[str, ...] = ()
    everywhere: bool = False


class _Contract(msgspec.Struct):
    operations: dict[str, str]
    services: tuple[Service, ...]
    rows: tuple[Row, ...]


def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


_CONTRACT = msgspec.toml.decode(_shipped("rows.toml"), type=_Contract)
OPERATIONS, SERVICES, ROWS = _CONTRACT.operations, _CONTRACT.services, _CONTRACT.rows


def chosen(names: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the rows of these names, all where none is given. ConfigError: an unknown name."""
    known = {row.name.lower() for row in ROWS}
    wanted = {name.lower() for name in names}
    if unknown := [name for name in names if name.lower() not in known]:
        there = ", ".join(row.name for row in ROWS)
        raise ConfigError(f"no row is called {', '.join(unknown)}", f"There are {there}.")
    return tuple(row for row in ROWS if not wanted or row.name.lower() in wanted)


def settings(dialect: Dialect) -> dict[str, str]:
    """Return the variables that say what a service's dialect is, the usual values too."""
    values = asdict(dialect)
    values["mcu_token_parameter"] = dialect.mcu_token_parameter or dialect.token_parameter
    return {f"CONFKIT_{name.upper()}": str(value) for name, value in values.items()}


def vectors() -> dict[str, Any]:
    """Return the content of vectors.json: `vectors`, a list of objects with hash, signature,
    access_key, secret_key, random, key, digest, digest_encoded, token, token_encoded (texts)."""
    return json.loads(_shipped("vectors.json"))  # type: ignore[no-any-return]


def mistake(vector: Mapping[str, str], kind: Kind, given: Any) -> str:
    """Return what is wrong with a digest or token that a client made of a vector; else nothing."""
    if given == vector[kind]:
        return ""
    why: tuple[str, ...] = (f"there is no {kind}, a text",)
    if isinstance(given, str):
        parts = Parts(vector["access_key"], vector["secret_key"], vector["random"], vector["key"])
        dialect = Dialect(hash=vector["hash"], signature=vector["signature"])
        unknown = ("it is another one, and no known mistake makes it",)
        why = mistakes(kind, given, parts, dialect) or unknown
    return f"{kind}, {vector['hash']} and {vector['signature']}: {'; and '.join(why)}"


def contract() -> str:
    """Return what a client in any language has to do so that `check_client` finds it right, as
    Markdown: operations, output, environment and rows."""
    return _shipped("contract.md")


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
    return _shipped(_SKELETONS[language])
