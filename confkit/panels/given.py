"""What panels are given, checked before anything is made or sent."""

from __future__ import annotations

from datetime import tzinfo

from ..client import Client
from ..errors import ConfigError
from ..occupancy.zones import zone
from ..sweep import Sweep


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
    no such zone."""
    try:
        return zone(tz)[0]
    except (TypeError, ValueError):
        raise ConfigError(
            f"tz is {tz!r}, which is no time zone",
            "Give one such as 'Europe/Berlin', or None for this machine's own.",
        ) from None
