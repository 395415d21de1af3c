"""All rows of the contract, in its order: which trial tells of each, and in which services."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import ConfigError
from . import failures, trials
from .stage import Trial


class Row(NamedTuple):
    """A row by its name: what it is about, its trial, and whether it is tried in every service."""

    name: str
    title: str
    trial: Trial
    everywhere: bool = False

    @property
    def asks(self) -> str:
        """What is asked of a client, in sentences."""
        return " ".join((self.trial.__doc__ or "").split())


# The rows that are tried once stand in two halves, which are tried at the same time.
ROWS = (
    Row("A1", "authenticate", trials.authenticate, True),
    Row("A2", "create room", trials.create, True),
    Row("A3", "get room", trials.get, True),
    Row("A4", "delete room", trials.delete, True),
    Row("A5", "get media-server address", trials.mcu, True),
    Row("A6", "get room users", trials.users, True),
    Row("A7", "force a user offline", trials.offline, True),
    Row("B1", "create external user", trials.imported, True),
    Row("options", "login of an external user", trials.options, True),
    Row("B2", "delete external user", trials.removed, True),
    Row("B3", "list external users", trials.listed, True),
    Row("sign", "digest and token", failures.signatures),
    Row("401-A", "authentication failed", failures.wrong_secret),
    Row("401-B", "wrong parameters", failures.wrong_parameters),
    Row("404", "room not found", failures.unknown_room),
    Row("416", "room closed", failures.closed_room),
    Row("602", "token expired", failures.expired),
    Row("html", "no JSON", failures.html),
    Row("dropped", "no answer", failures.dropped),
    Row("timeout", "an answer too late", failures.slow),
    Row("quoted", "numbers as text", failures.quoted),
    Row("unicode", "texts of any script", failures.unicode),
    Row("topic", "limit of the topic", failures.long_topic),
    Row("lost", "a lost answer", failures.lost),
)


def rows(only: tuple[str, ...] = ()) -> tuple[Row, ...]:
    """The rows of these names, all when none is given. ConfigError: a name that there is not."""
    names = {row.name.lower(): row for row in ROWS}
    unknown = [name for name in only if name.lower() not in names]
    if unknown:
        raise ConfigError(
            f"no row is called {', '.join(unknown)}",
            f"There are {', '.join(row.name for row in ROWS)}.",
        )
    wanted = {name.lower() for name in only}
    return tuple(row for row in ROWS if not wanted or row.name.lower() in wanted)
