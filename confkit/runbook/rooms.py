"""What several runbooks need: a room, a media server, a camera's login, and a room created for a
trial."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from ..checks import Check
from ..client import Client
from ..connect import CAMERA_PASSWORD, ask_secret
from ..deployment import mcu_answers
from ..errors import ConfigError, RoomNotFound
from ..records import Room
from ..rooms import create_room, delete_room, get_room
from ..secret import Secret
from .steps import Checking, Checks, ask

LOCKED, CLOSED = SHUT = (2, 3)  # room_status


def ask_room(client: Client, room: str | Room) -> Checking[Room | None]:
    """Yield the check "Room" (A3), whose topic shows a mistyped ID; return the room."""

    def read() -> Room:
        room_id = room.strip() if isinstance(room, str) else room
        if room_id == "":
            raise ConfigError("no room is given", "Set room (-p room=...) to a room's ID.")
        return get_room(client, room_id)

    return (yield from ask("Room", read, lambda room: f"{room.room_id} (topic {room.topic!r})"))


def media_server(addresses: Collection[str]) -> Check:
    """Try TCP connections to these media servers. One that refuses may be down, reachable from the
    participants' network only, or take media over UDP alone: so that is UNKNOWN, not FAIL."""
    name = "Connection to the media server"
    for address in addresses:
        accepts, reason = mcu_answers(address)
        if not accepts:
            advice = "Try it from the participants' network, and ask its operator whether it runs."
            return Check(name, "UNKNOWN", reason, advice)
    return Check(name, "PASS", ", ".join(addresses))


def camera_login(login_name: str) -> dict[str, Any]:
    """Return a camera's login; its password is taken from CONFKIT_CAMERA_PASSWORD or asked for."""
    if not login_name:
        return {}
    password = Secret(os.environ.get(CAMERA_PASSWORD, ""))
    question = f"password of {login_name}: "
    return {"login_name": login_name, "login_password": password or ask_secret(question)}


def trial_room(
    client: Client, steps: Callable[[str], Checks] | None = None, **fields: Any
) -> Checks:
    """Create a room (A2), run `steps` with its ID, and delete it (A4), whatever happens in between.

    The ID is chosen here, so that the room is found even where the response of A2 is lost.
    """
    created, chosen = None, str(uuid.uuid4())

    def delete() -> str:
        try:
            delete_room(client, created or chosen)
        except RoomNotFound:
            if created:
                raise
            return "no room was left"
        return "deleted"

    def clean_up() -> Checks:
        advice = f"Delete it later: ck.delete_room(client, {created or chosen!r})"
        yield from ask("Clean-up (A4)", delete, advice=advice)

    try:
        create = partial(create_room, client, room_extend_id=chosen, **fields)
        created = yield from ask("New room (A2)", create, lambda _: "created")
        if created and steps:
            yield from steps(created)
    except BaseException as error:  # Ctrl-C too: nobody asks for further checks
        for check in clean_up():
            error.add_note(" ".join(str(check).split()))
        raise
    yield from clean_up()
