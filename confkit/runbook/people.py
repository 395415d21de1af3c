"""Runbooks about people: nobody can join a room, and somebody has to leave one."""

from __future__ import annotations

import time
from functools import partial

from ..checks import Outcome
from ..client import Client
from ..devices import list_devices
from ..frames import ROOM_STATUS
from ..records import Device, Room, RoomUser
from ..rooms import force_offline, get_mcu, get_room_users
from .rooms import CLOSED, LOCKED, ask_room, media_server, trial_room
from .steps import Checks, Finding, ask, check_range, may_change, shorten

_NEW_ROOM = "Create another room (ck.create_room), and give people its number."
_PEER_TO_PEER = (3, 4)  # room_mode


def nobody_can_join(client: Client, room: str | Room, *, apply: bool = False) -> Checks:
    """Nobody can join a room: is it locked, closed or full, or is it licence or media server?

    `room`: its ID. It reads (A3, A5, A6); with `apply` it also creates a room of the same mode (A2)
    and deletes it (A4).
    """
    known = yield from ask_room(client, room)
    if known is None:
        return
    status = known.room_status
    yield from ask("Status", lambda: _joinable(status))
    yield from ask(
        "Free places",
        lambda: get_room_users(client, known.room_id),
        lambda users: _free_places(known.attendee_max, len(users)),
    )
    if status != CLOSED:  # A5 would only repeat it (416)
        address = yield from ask(
            "Licence and media server (A5)", lambda: get_mcu(client, known.room_id)
        )
        if address:
            yield media_server([address])
    mode = 1 if known.room_mode is None else known.room_mode
    # Only creating one shows whether the licence permits peer-to-peer rooms (701).
    unknown: Outcome = "UNKNOWN" if mode in _PEER_TO_PEER else "SKIP"
    if (yield from may_change(client, apply, "New room (A2)", unknown)):
        topic = "nobody-can-join, may be deleted"
        yield from trial_room(client, topic=topic, owner_id="confkit", room_mode=mode)


def _joinable(status: int | None) -> str | Finding:
    if status == LOCKED:
        advice = f"Have a host unlock it; this interface cannot. {_NEW_ROOM}"
        return "FAIL", "locked: nobody new can join", advice
    if status == CLOSED:
        return "FAIL", "closed, for good", _NEW_ROOM
    if status in ROOM_STATUS:
        return f"{ROOM_STATUS[status]}: people can join"
    return "UNKNOWN", f"{status}, which is not specified", "Ask the provider what it means."


def _free_places(cap: int | None, users: int) -> str | Finding:
    """Judge by `attendee_max`, which alone keeps people out (seen)."""
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
    client: Client, room: str | Room, user: str, *, watch: float = 10.0, apply: bool = False
) -> Checks:
    """Somebody has to leave a room: who is meant, do they leave, and do they stay away?

    `user`: a user ID; empty: the users are listed. With `apply` that user is forced offline (A7),
    and the room is read again (A6) after `watch` seconds, at most 3600.
    """
    check_range("watch", watch, 0, 3600)
    known = yield from ask_room(client, room)
    if known is None:
        return
    room_id = known.room_id
    users = yield from ask(
        "User", lambda: get_room_users(client, room_id), lambda users: _is_present(user, users)
    )
    if users is None:
        return
    devices = yield from ask(
        "A person, not a camera",
        lambda: list_devices(client, room_id),
        lambda devices: _no_device(user, devices),
    )
    if devices is None or not (yield from may_change(client, apply, "Forced offline", "UNKNOWN")):
        return
    done = yield from ask(
        "Forced offline",
        lambda: force_offline(client, room_id, user),
        lambda text: text or "the service says it is done",
    )
    if done is not None:
        yield from ask("Stays away", partial(_stays_away, client, room_id, users, user, watch))


def _is_present(user_id: str, users: list[RoomUser]) -> str | Finding:
    for user in users:
        if user.user_id == user_id:
            return f"{user.user_name!r}, ID {user_id}"
    there = shorten(f"{user.user_id} ({user.user_name})" for user in users) or "nobody"
    advice = f"Set user (-p user=...) to a user ID. In the room: {there}."
    if not user_id:
        return "UNKNOWN", "none is given", advice
    return "FAIL", f"nobody in the room has the ID {user_id!r}", advice


def _no_device(user_id: str, devices: list[Device]) -> str | Finding:
    """A camera that A7 removes may be dialled again by the service (assumed)."""
    for device in devices:
        if device.user_id == user_id:
            call = f"ck.remove_device(client, {device.room_id!r}, {user_id!r})"
            return "FAIL", f"{device.user_name!r} is a camera", f"Remove it instead: {call}"
    return "no device has this ID"


def _stays_away(
    client: Client, room_id: str, before: list[RoomUser], user_id: str, seconds: float
) -> str | Finding:
    """Look after some seconds for the user's ID, and for a new ID with the name."""
    time.sleep(seconds)
    names = {user.user_id: user.user_name for user in before}
    present = [
        user.user_id
        for user in get_room_users(client, room_id)
        if user.user_id == user_id
        or (user.user_name == names[user_id] and user.user_id not in names)
    ]
    if not present:
        return f"not in the room after {seconds:g} s"
    advice = (
        "No call keeps a user out. Have a host lock the room, or create another room and give its "
        "number to the others."
    )
    return "FAIL", f"in the room after {seconds:g} s, with the ID {', '.join(present)}", advice
