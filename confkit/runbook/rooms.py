"""What several runbooks look up about a room, although the interface lists no rooms: which one is
meant, does its media server answer, and can one like it be made?"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..checks import Check
from ..deployment import mcu_answers
from ..errors import ConfigError, ParameterError, RoomNotFound
from ..occupancy.known import known_rooms
from ..rooms import create_room, delete_room, get_room
from ..sweep import sweep
from ..tables import room_ids
from ..text import counted
from .inputs import given
from .steps import Checking, Checks, Finding, asked

if TYPE_CHECKING:
    from ..client import Client
    from ..records import Device, Room, RoomUser

One = TypeVar("One", "Device", "RoomUser")
SHOWN = 10  # names in a message
REACHED = "the media server accepts connections from here"
_ID = re.compile(r"(?i)[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # what can be no topic


def find_room(client: Client, room: str) -> str:
    """The ID of the room with this ID, or with this topic among the known rooms.

    Known are those of `known_rooms`, to which CONFKIT_RUNBOOK_KNOWN adds: a .txt or .csv file of
    IDs, or a folder that a Recorder keeps; of a sandbox, all. A topic counts as a whole, in any
    case of its letters: a part of one may be meant for a room that is not known. RoomNotFound: it
    is a number or a UUID and the service has no such room. ConfigError, which names the known
    rooms: it cannot be known which one is meant, or nothing was given. Errors of the service are
    raised. Section 4 (A3) of the interface.
    """
    return _meant(client, room).room_id


def _meant(client: Client, room: str) -> Room:
    wanted = room.strip()
    if not wanted:
        raise ConfigError(
            "no room is given", "Set room (-p room=... in a terminal) to its ID or its topic."
        )
    try:
        return get_room(client, wanted)
    except RoomNotFound as error:
        if _ID.fullmatch(wanted):
            advice = (
                "Compare the number with the invitation; the room may be deleted, or elsewhere."
            )
            raise error.again(advice=advice) from None
    except ParameterError:  # nothing that could be an ID
        pass
    read = sweep(client, _known(client), users=False, progress=False)
    unread = [str(it.room_id) for it in read.failures if not isinstance(it.error, RoomNotFound)]
    fits = [it for it in read.rooms if (it.topic or "").strip().casefold() == wanted.casefold()]
    if len(fits) == 1 and not unread:
        return fits[0]
    there = few(f"{it.room_id} ({it.topic})" for it in fits or read.rooms) or "none"
    there += f"; could not be read: {few(unread)}" * bool(unread)
    raise ConfigError(
        f"{counted(len(fits), 'known room')} may have the ID or topic {wanted!r}",
        "Give the room's ID, or a file of IDs in CONFKIT_RUNBOOK_KNOWN: the interface lists no "
        f"rooms, only those with devices. Rooms that are known: {there}.",
    )


def find_rooms(client: Client, rooms: str = "") -> list[str]:
    """The IDs of several rooms: IDs or topics with commas between them, or a .txt or .csv file of
    IDs; of all known rooms (see `find_room`) when the text is empty.

    Errors as `find_room` and `known_rooms`; ConfigError when that is no room at all."""
    if Path(rooms.strip()).suffix.lower() in (".txt", ".csv"):
        found = list(room_ids(rooms.strip()).ids)
    else:
        found = [find_room(client, one) for one in names(rooms)] or _known(client)
    if not found:
        raise ConfigError(
            "no rooms are given, and none are known",
            "Set rooms (-p rooms=... in a terminal) to their IDs, or to a file of them.",
        )
    return found


def _known(client: Client) -> list[str]:
    place = given("known", "")
    source = {"recording" if Path(place).is_dir() else "list": place} if place else {}
    there = client.sandbox.room_ids() if client.sandbox else []
    return list(dict.fromkeys([*there, *known_rooms(client, **source)["room_id"]]))


def names(text: str) -> list[str]:
    """The names in a text with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def few(told: Iterable[str]) -> str:
    """The first of these names, and how many more there are."""
    every = list(told)
    more = f", and {len(every) - SHOWN} more" * (len(every) > SHOWN)
    return ", ".join(every[:SHOWN]) + more


def called(name: str, among: Iterable[One]) -> list[One]:
    """Return the users or devices with this ID, else those with this name."""
    fits = [one for one in among if name and name in (one.user_id, one.user_name)]
    return [one for one in fits if one.user_id == name] or fits


def meant(name: str, among: list[One]) -> Finding:
    """Find that one user or device, and no other, has this ID or name."""
    fits = called(name, among)
    if len(fits) == 1:
        return f"{fits[0].user_name!r}, ID {fits[0].user_id}"
    there = few(f"{it.user_id} ({it.user_name})" for it in fits or among) or "nobody is there"
    if not name:
        return "UNKNOWN", "none is named", f"Name one by its ID: {there}."
    found = f"{len(fits) or 'nobody'} in the room {'are' if fits else 'is'} called {name!r}"
    return "FAIL", found, f"Give the ID of one, letter by letter: {there}."


def room_found(client: Client, room: str) -> Checking[Room | None]:
    """Return the room that is meant. Who mistyped an ID sees it by the topic."""
    return (
        yield from asked(
            "the room is found",
            lambda: _meant(client, room),
            lambda it: f"{it.room_id} (topic {it.topic!r})",
        )
    )


def reached(addresses: Iterable[str], seconds: float = 2.0) -> Check:
    """Return whether these media servers accept connections. One that does not may be down, or be
    reachable from the participants' network only, or take media over UDP alone."""
    answers = [mcu_answers(address, seconds) for address in addresses]
    for answer in answers:
        if not answer:
            advice = "Try it from the network of the people who complain; ask whether it runs."
            return Check(REACHED, "UNKNOWN", answer.reason, advice)
    return Check(REACHED, "PASS", ", ".join(answer.address for answer in answers))


def trial_room(
    client: Client,
    made: str,
    deleted: str,
    inside: Callable[[str, str], Checks] | None = None,
    **fields: Any,
) -> Checks:
    """Make a room, the check `made`, play `inside` with its ID and the
    one that was chosen, and delete it, the check `deleted`.

    It is deleted whatever happens in between. Its ID is chosen here, so that it is found even when
    the answer to its creation is lost."""
    room_id = chosen = str(uuid.uuid4())
    there = False

    def delete() -> str:
        try:
            delete_room(client, room_id)
        except RoomNotFound:
            if there:
                raise
            return "none was made"
        return "it was deleted again"

    try:
        new = yield from asked(
            made, lambda: create_room(client, room_extend_id=chosen, **fields), str
        )
        if new:
            room_id, there = new, True
            if inside:
                yield from inside(new, chosen)
    finally:
        advice = f"Delete it later: ck.delete_room(client, {room_id!r})"
        yield from asked(deleted, delete, str, advice=advice)
