"""A room by its ID or its topic, although the interface lists no rooms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, ParameterError, RoomNotFound
from ..many.ids import room_ids
from ..many.sweeps import sweep
from ..occupancy.known import known_rooms
from ..rooms import get_room
from .inputs import given

if TYPE_CHECKING:
    from ..client import Client
    from ..records import Room

SHOWN = 10  # candidates in a message
_ID = re.compile(r"(?i)[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # what can be no topic


class FoundRoom(str):
    """The ID of a room that was found, and its `topic`."""

    topic: str


def find_room(client: Client, room: str) -> FoundRoom:
    """The ID of the room with this ID, or with this topic among the known rooms.

    Known are those of `known_rooms`, to which CONFKIT_RUNBOOK_KNOWN adds: a .txt or .csv file of
    IDs, or a folder that a Recorder keeps. A topic counts as a whole, in any case of its letters:
    a part of one may be meant for a room that is not known. RoomNotFound: it is a number or a UUID
    and the service has no such room. ConfigError, which names the candidates: it cannot be known
    which room is meant, as several have the topic, none that is known has it, or a known room
    could not be read, which may have it too; or nothing was given. Errors of the service are
    raised. Section 4 (A3) of the interface.
    """
    wanted = room.strip()
    if not wanted:
        raise ConfigError(
            "no room is given", "Set room (-p room=... in a terminal) to its ID or its topic."
        )
    refused = None
    try:
        return _found(get_room(client, wanted))
    except RoomNotFound as error:
        refused = error
    except ParameterError:  # nothing that could be an ID
        pass
    rooms, unread = _rooms(client)
    folded = wanted.casefold()
    fits = [one for one in rooms if _topic(one).strip().casefold() == folded]
    near = [one for one in rooms if folded in _topic(one).casefold()]
    missed = f" Could not be read: {_few(unread)}." if unread else ""
    if len(fits) == 1 and not unread:
        return _found(fits[0])
    if fits:
        count = f"{len(fits)} known rooms fit" if len(fits) > 1 else "one known room fits"
        others = " and others could not be read, which may have this topic too" if unread else ""
        raise ConfigError(
            f"{count} {wanted!r}{others}", f"Give the room's ID: {_named(fits)}.{missed}"
        )
    there = f"Rooms that are known: {_named(rooms) or 'none'}."
    if refused is not None and _ID.fullmatch(wanted) and not unread:
        raise _nowhere(
            refused,
            f"the service has no room with the ID {wanted!r}",
            "Compare the number with the invitation; the room may be deleted, or on another "
            f"service. {there}",
        )
    meant = f" Is one of these meant: {_named(near)}?" if near else f" {there}"
    raise ConfigError(
        f"no known room has the ID or topic {wanted!r}",
        "The interface lists no rooms, so a topic is found among those with devices in them only. "
        f"Give the room's ID, or a file of IDs in CONFKIT_RUNBOOK_KNOWN.{meant}{missed}",
    )


def _found(room: Room) -> FoundRoom:
    found = FoundRoom(room.room_id)
    found.topic = _topic(room)
    return found


def _topic(room: Room) -> str:
    return room.topic or ""


def _nowhere(answer: RoomNotFound, meaning: str, advice: str) -> RoomNotFound:
    error = RoomNotFound(meaning, advice)
    error.ret, error.interface, error.endpoint = answer.ret, answer.interface, answer.endpoint
    error.meaning = meaning
    return error


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
            "with devices in them)",
            "Set rooms (-p rooms=... in a terminal) to their IDs, or to a .txt or .csv file of "
            "them.",
        )
    return found


def _known(client: Client) -> list[str]:
    place = given("known", "")
    source = {"recording" if Path(place).is_dir() else "list": place} if place else {}
    return [str(room_id) for room_id in known_rooms(client, **source)["room_id"]]


def _rooms(client: Client) -> tuple[list[Room], list[str]]:
    """The known rooms that there are, and the IDs of those that could not be read. One that the
    service no longer has is neither."""
    read = sweep(client, _known(client), users=False, progress=False)
    unread = [str(one.room_id) for one in read.failures if not isinstance(one.error, RoomNotFound)]
    return read.rooms, unread


def _named(rooms: list[Room]) -> str:
    return _few([f"{room.room_id} ({_topic(room)})" for room in rooms])


def _few(names: list[str]) -> str:
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return ", ".join([*names[:SHOWN], *more])
