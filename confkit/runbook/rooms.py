"""What several runbooks need: a room, a media server, a camera's login, and a room created for a
trial."""

import os
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from ..checks import Check
from ..client import Client
from ..connect import CAMERA_PASSWORD, ask_secret
from ..deployment import mcu_answers
from ..errors import RoomNotFound
from ..rooms import create_room, delete_room, get_mcu
from ..secret import Secret
from .steps import Checks, ask

LOCKED, CLOSED = SHUT = (2, 3)  # room_status


def ask_media_server(client: Client, name: str, room_id: str) -> Checks:
    """Yield the check of a room's media server (A5), and whether it takes connections."""
    address = yield from ask(name, lambda: get_mcu(client, room_id))
    if address:
        yield media_server(address)


def media_server(address: str) -> Check:
    """Try a TCP connection to a media server. One that refuses may be down, reachable from the
    participants' network only, or take media over UDP alone: so that is UNKNOWN, not FAIL."""
    name, (accepts, reason) = "Connection to the media server", mcu_answers(address)
    if accepts:
        return Check(name, "PASS", reason)
    advice = "Try it from the participants' network, and ask its operator whether it runs."
    return Check(name, "UNKNOWN", reason, advice)


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

    def clean_up() -> Check:
        advice = f"Delete it later: ck.delete_room(client, {created or chosen!r})"
        return next(ask("Clean-up (A4)", delete, advice=advice))

    try:
        create = partial(create_room, client, room_extend_id=chosen, **fields)
        created = yield from ask("New room (A2)", create, lambda _: "created")
        if created and steps:
            yield from steps(created)
    except BaseException as error:  # Ctrl-C too: nobody asks for further checks
        error.add_note(" ".join(str(clean_up()).split()))
        raise
    yield clean_up()
