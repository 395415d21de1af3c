"""Runbooks about people: nobody can join a room, and somebody has to leave one."""

import time
from collections.abc import Callable
from functools import partial

from ..checks import Outcome
from ..client import Client
from ..devices import list_devices
from ..frames import ROOM_STATUS
from ..records import Room, RoomUser
from ..rooms import force_offline, get_room, get_room_users
from .rooms import CLOSED, SHUT, ask_media_server, trial_room
from .steps import Checks, Finding, ask, may_change, shorten

_PEER_TO_PEER = (3, 4)  # room_mode


def nobody_can_join(client: Client, room: str | Room, *, apply: bool = False) -> Checks:
    """Nobody can join a room: is it locked, closed or full, or is it licence or media server?

    `room`: its ID. It reads (A3, A5, A6); with `apply` it also creates a room of the same mode (A2)
    and deletes it (A4).
    """
    read = partial(get_room, client, room)
    known = yield from ask("Room", read, lambda room: f"{room.room_id} (topic {room.topic!r})")
    if known is None:
        return
    yield from ask("Status", lambda: _joinable(known.room_status))
    yield from ask("Free places", lambda: _free_places(client, known))
    if known.room_status != CLOSED:  # A5 would only repeat it (416)
        yield from ask_media_server(client, "Licence and media server (A5)", known.room_id)
    mode = 1 if known.room_mode is None else known.room_mode
    # Only creating one shows whether the licence permits peer-to-peer rooms (701).
    unknown: Outcome = "UNKNOWN" if mode in _PEER_TO_PEER else "SKIP"
    if (yield from may_change(client, apply, "New room (A2)", unknown)):
        topic = "nobody-can-join, may be deleted"
        yield from trial_room(client, topic=topic, owner_id="confkit", room_mode=mode)


def _joinable(status: int | None) -> str | Finding:
    if status not in ROOM_STATUS:
        return "UNKNOWN", f"{status}, which is not specified", "Ask the provider what it means."
    if status not in SHUT:
        return f"{ROOM_STATUS[status]}: people can join"
    advice = (
        "A host may unlock a locked room, nobody a closed one. Or create another room "
        "(ck.create_room), and give people its number."
    )
    return "FAIL", f"{ROOM_STATUS[status]}: nobody new can join", advice


def _free_places(client: Client, room: Room) -> str | Finding:
    """Judge by `attendee_max`, which alone keeps people out (seen)."""
    users, cap = len(get_room_users(client, room.room_id)), room.attendee_max
    if not cap:
        return f"{users} in the room, which has no cap"
    if users < cap:
        return f"{cap - users} of {cap}"
    advice = (
        "Force somebody offline (runbook force-user-offline), remove a camera "
        "(ck.remove_device), or create a larger room: this one's cap cannot be changed."
    )
    return "FAIL", f"none ({users} of {cap})", advice


def force_user_offline(
    client: Client, room: str | Room, user: str = "", *, watch: float = 10.0, apply: bool = False
) -> Checks:
    """Somebody has to leave a room: who is meant, do they leave, and do they stay away?

    `user`: a user ID; empty: the users are listed. With `apply` that user is forced offline (A7),
    and the room is read again (A6) after `watch` seconds.
    """
    read = partial(get_room_users, client, room)
    users = yield from ask("User", read, partial(_is_present, user))
    if users is None:
        return
    person = yield from ask("A person, not a camera", lambda: _no_device(client, room, user))
    if person is None or not (yield from may_change(client, apply, "Forced offline", "UNKNOWN")):
        return
    offline = partial(force_offline, client, room, user)
    if (yield from ask("Forced offline", offline, lambda text: text or "done")) is not None:
        yield from ask("Stays away", lambda: _stays_away(read, users, user, watch))


def _is_present(user_id: str, users: list[RoomUser]) -> str | Finding:
    for user in users:
        if user.user_id == user_id:
            return f"{user.user_name!r}, ID {user_id}"
    there = shorten(f"{user.user_id} ({user.user_name})" for user in users) or "nobody"
    advice = f"Set user (-p user=...) to a user ID. In the room: {there}."
    if not user_id:
        return "UNKNOWN", "none is given", advice
    return "FAIL", f"nobody in the room has the ID {user_id!r}", advice


def _no_device(client: Client, room: str | Room, user_id: str) -> str | Finding:
    """A camera that A7 removes may be dialled again by the service (assumed)."""
    for device in list_devices(client, room):
        if device.user_id == user_id:
            call = f"ck.remove_device(client, {device.room_id!r}, {user_id!r})"
            return "FAIL", f"{device.user_name!r} is a camera", f"Remove it instead: {call}"
    return "no device has this ID"


def _stays_away(
    read: Callable[[], list[RoomUser]], before: list[RoomUser], user_id: str, seconds: float
) -> str | Finding:
    """Look after some seconds for the user's ID, and for a new ID with the name."""
    time.sleep(max(seconds, 0))
    names = [user.user_name for user in before if user.user_id == user_id]
    present = [
        user.user_id
        for user in read()
        if user.user_id == user_id or (user.user_name in names and user not in before)
    ]
    if not present:
        return f"not in the room after {seconds:g} s"
    advice = (
        "No call keeps a user out. Have a host lock the room, or create another room and give its "
        "number to the others."
    )
    return "FAIL", f"in the room after {seconds:g} s, with the ID {', '.join(present)}", advice
