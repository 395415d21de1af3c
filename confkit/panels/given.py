"""What panels are given, checked before anything is made or sent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from inspect import Parameter, signature

from ..client import Client
from ..errors import ConfigError
from ..many.result import Sweep
from ..occupancy.zones import zone
from ..rooms import create_room


def check_source(client: object, rooms: object = None) -> None:
    """Raises ConfigError unless this is a client, and what is given no Sweep of another service,
    whose rooms would be shown, and read again, under this one's name."""
    if not isinstance(client, Client):
        raise ConfigError(
            f"client is of type {type(client).__name__}", "Give the client that connect() returns."
        )
    if isinstance(rooms, Sweep) and rooms.service != client.name:
        raise ConfigError(
            f"The sweep is of {rooms.service}, and the client of {client.name}",
            f"Give a client of {rooms.service}, or sweep {client.name}.",
        )


def zone_of(tz: str | tzinfo | None) -> tzinfo:
    """The zone in which a panel shows its times; None is this machine's own. ConfigError: there is
    none so."""
    if not isinstance(tz, str | tzinfo | None):
        raise ConfigError(
            f"tz is of type {type(tz).__name__}",
            "Give a time zone such as 'Europe/Berlin', or None for this machine's own.",
        )
    try:
        return zone(tz)[0]
    except ValueError as error:
        raise ConfigError(f"tz: {error}, or None for this machine's own.") from None


def check_options(options: Mapping[str, object]) -> None:
    """Check that `create_room` has all of these options; otherwise ConfigError."""
    taken = [
        name
        for name, one in signature(create_room).parameters.items()
        if one.kind is Parameter.KEYWORD_ONLY
    ]
    unknown = ", ".join(name for name in options if name not in taken)
    if unknown:
        raise ConfigError(f"create_room has no option {unknown}", f"It has {', '.join(taken)}.")
