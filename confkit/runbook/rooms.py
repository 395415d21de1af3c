"""A room by its ID or its topic, although the interface lists no rooms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, ParameterError, RoomNotFound
from ..known import known_rooms
from ..rooms import get_room
from ..sweeping.ids import room_ids
from ..sweeping.sweeps import sweep
from .inputs import given

if TYPE_CHECKING:
    from ..client import Client

SHOWN = 10  # candidates in a message


def find_room(client: Client, room: str) -> str:
    """The ID of the room with this ID, or with this topic among the known rooms.

    Known are those of `known_rooms`, to which CONFKIT_RUNBOOK_KNOWN adds: a .txt or .csv file of
    IDs, or a folder that a Recorder keeps. A topic counts in any case of its letters; a part of it
    is enough where it fits one room only. RoomNotFound names the rooms that there are, ConfigError
    those among which it cannot be told, or that nothing was given; errors of the service are
    raised. Section 4 (A3) of the interface.
    """
    wanted = room.strip()
    if not wanted:
        raise ConfigError("no room is given; set room to its ID or its topic")
    try:
        return get_room(client, wanted).room_id
    except (RoomNotFound, ParameterError):  # no such ID, or nothing that could be one
        pass
    topics, unread = _topics(client)
    folded = wanted.casefold()
    fits = [room_id for room_id, topic in topics.items() if topic.strip().casefold() == folded]
    fits = fits or [room_id for room_id, topic in topics.items() if folded in topic.casefold()]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise ConfigError(
            f"{len(fits)} known rooms fit {wanted!r}: {_named(topics, fits)}. Give the room's ID."
        )
    there = _named(topics, [*topics]) or "none; give the room's ID"
    missed = f", and {unread} that could not be read" if unread else ""
    meaning = f"no room has the ID or topic {wanted!r}"
    advice = f"Known rooms are {there}{missed}. The interface lists no others: ask who made it."
    nowhere = RoomNotFound(f"{meaning}. {advice}")
    nowhere.ret, nowhere.interface, nowhere.endpoint = 404, "A", "A3"
    nowhere.meaning, nowhere.advice = meaning, advice
    raise nowhere


def find_rooms(client: Client, rooms: str = "") -> list[str]:
    """The IDs of several rooms: IDs or topics with commas between them, or a .txt or .csv file of
    IDs; of all known rooms (see `find_room`) when the text is empty.

    Errors as `find_room` and `known_rooms`; ConfigError when that is no room at all."""
    wanted = rooms.strip()
    if not wanted:
        found = _known(client)
    elif Path(wanted).suffix.lower() in (".txt", ".csv"):
        found = list(room_ids(wanted).ids)
    else:
        found = [find_room(client, part) for part in wanted.split(",") if part.strip()]
    if not found:
        raise ConfigError(
            "no rooms are given, and none are known (the interface lists none; known are those "
            "with devices in them); set rooms to their IDs, or to a .txt or .csv file of them"
        )
    return found


def _known(client: Client) -> list[str]:
    place = given("known", "")
    source = {"recording" if Path(place).is_dir() else "list": place} if place else {}
    return [str(room_id) for room_id in known_rooms(client, **source)["room_id"]]


def _topics(client: Client) -> tuple[dict[str, str], int]:
    """The topics of the known rooms by ID, and how many rooms could not be read."""
    ids = _known(client)
    read = sweep(client, ids, users=False, progress=False)
    topics = {room.room_id: room.topic or "" for room in read.rooms}
    return topics, len({*ids} - {*topics})


def _named(topics: dict[str, str], ids: list[str]) -> str:
    named = [f"{room_id} ({topics[room_id]})" for room_id in ids[:SHOWN]]
    more = [f"and {len(ids) - SHOWN} more"] if len(ids) > SHOWN else []
    return ", ".join([*named, *more])
