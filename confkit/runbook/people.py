"""Why nobody can join a room, and how one user is removed from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..checks import Check
from ..devices import list_devices
from ..rooms import force_offline, get_mcu, get_room_users
from .inputs import to_set
from .rooms import called, meant, reached, room_found, trial_room
from .steps import Checks, Finding, asked, may_change, told

if TYPE_CHECKING:
    from ..client import Client
    from ..records import Device, Room, RoomUser

NEW = "a new room of this kind can be made"
_ANOTHER = "Another room is made with ck.create_room; give people its number."
_CLOSED = 3


def nobody_can_join(
    client: Client, room: str, *, seconds: float = 2.0, apply: bool = False
) -> Checks:
    """Is it the room (locked, closed, full), the licence, or the media server?

    `seconds`: how long the media server may take to accept a connection. It only reads (A3, A5,
    A6); with `apply` it also creates a room of the same kind (A2) and deletes it again (A4),
    whatever happens in between.
    """
    it = yield from room_found(client, room)
    if it is None:
        return
    room_id, mode = it.room_id, 1 if it.room_mode is None else it.room_mode
    yield told("the room is neither locked nor closed", _status(it))
    yield from asked(
        "the room has a free place",
        lambda: get_room_users(client, room_id),
        lambda them: _place(it, them),
    )
    if it.room_status != _CLOSED:  # A5 would only say it again (416)
        server = yield from asked(
            "licence and media server let people in", lambda: get_mcu(client, room_id)
        )
        if server:
            yield reached([server], seconds)
    if (yield from may_change(client, apply, NEW)):
        topic = "nobody-can-join, may be deleted"
        gone = "no such room is left"
        yield from trial_room(client, NEW, gone, topic=topic, owner_id="confkit", room_mode=mode)
    elif mode in (3, 4):  # only creating one says whether the licence permits it (701)
        found = "the room is peer-to-peer, and only creating one shows whether that is permitted"
        yield Check(
            "peer-to-peer is permitted",
            "UNKNOWN",
            found,
            f"{to_set('apply', True)}: one is made and deleted.",
        )


def _status(room: Room) -> Finding:
    """A3: scheduled and opening rooms can be joined, locked and closed ones cannot (seen)."""
    known: dict[int | None, Finding] = {
        0: "it is scheduled",
        1: "it is open",
        2: (
            "FAIL",
            "the room is locked: who is in it stays, and nobody new can join",
            f"Have a host unlock it; this interface has no call for that. {_ANOTHER}",
        ),
        _CLOSED: ("FAIL", "the room is closed, which is for good", _ANOTHER),
    }
    other = f"the service gives the room the status {room.room_status}"
    advice = "Ask the provider what this status means; 0 to 3 are known."
    return known.get(room.room_status, ("UNKNOWN", other, advice))


def _place(room: Room, users: list[RoomUser]) -> Finding:
    """Only `attendee_max` keeps people out; beyond the other caps they lack a stream (seen)."""
    count = len(users)
    caps = {name: getattr(room, name) for name in ("attendee_max", "max_video", "max_audio")}
    used = [name for name, most in caps.items() if most and count >= most]
    if "attendee_max" in used:
        return (
            "FAIL",
            f"the room is full ({count} of {room.attendee_max})",
            "Remove somebody (runbook force-user-offline) or a camera (ck.remove_device), or make "
            "a larger room: the cap of this one cannot be changed.",
        )
    shown = ", ".join(f"{name} {most}" for name, most in caps.items() if most) or "it has no cap"
    if used:
        shown += f"; {' and '.join(used)} may be used up: people get in without that stream"
        shown += ", a camera is refused with 426" * ("max_video" in used) + " (assumed)"
    return f"{count} are in it; {shown}"


OFF = "the user is removed"


def force_user_offline(
    client: Client,
    room: str,
    user: str,
    *,
    watch: float = 10.0,
    apply: bool = False,
    sleep: Callable[[float], object] = time.sleep,
) -> Checks:
    """Who is meant, are they removed from the room, and do they come back?

    `user`: their ID, or the whole name that shows in the room. With `apply` the one user is
    removed (A7), and the room is read once a second (A6) for `watch` seconds.
    """
    it = yield from room_found(client, room)
    if it is None:
        return
    room_id = it.room_id

    def present() -> list[RoomUser]:
        return get_room_users(client, room_id)

    users = yield from asked(
        "the user is in the room, and nobody else is meant", present, lambda them: meant(user, them)
    )
    if users is None:
        return
    [one] = called(user, users)
    # A camera that is removed by A7 may be dialled again by the service (assumed).
    devices = yield from asked(
        "it is a person, not a camera",
        lambda: list_devices(client, room_id),
        lambda them: _person(one, them),
    )
    if devices is None or not (yield from may_change(client, apply, OFF, "UNKNOWN")):
        return
    done = yield from asked(
        OFF,
        lambda: force_offline(client, room_id, one.user_id),
        lambda text: f"the service says {text!r}" if text else "it was carried out",
    )
    if done is None:
        return
    others, name = {it.user_id for it in users} - {one.user_id}, one.user_name

    def back() -> set[str]:
        """Their IDs in the room: their own, and new ones with their name."""
        now = {it.user_id: it for it in present() if it.user_id not in others}
        return {id_ for id_, it in now.items() if id_ == one.user_id or it.user_name == name}

    yield from asked(
        "they stay away", lambda: _watched(one.user_id, back, watch, sleep), lambda it: it
    )


def _person(user: RoomUser, devices: list[Device]) -> Finding:
    for device in devices:
        if device.user_id == user.user_id:
            call = f"ck.remove_device(client, {device.room_id!r}, {user.user_id!r})"
            return "FAIL", f"{user.user_name!r} is a camera", f"Remove it instead: {call}"
    return "no device has this ID"


def _watched(
    user_id: str,
    present: Callable[[], set[str]],
    watch: float,
    sleep: Callable[[float], object],
) -> Finding:
    """Look once a second. Only who was gone can be back: a service may say that it is done before
    they are gone."""
    until, gone = time.monotonic() + watch, False
    while True:
        there = present()
        gone |= user_id not in there
        if gone and there:
            new = f"somebody of that name with a new ID, {', '.join(there)}"
            return (
                "FAIL",
                f"they are back: {'the same ID' if user_id in there else new}",
                "No call keeps a user out. Have a host lock the room in the meeting, or create "
                "another room and give its number to the others.",
            )
        left = until - time.monotonic()
        if left <= 0:
            break
        sleep(min(1.0, left))
    if gone:
        return f"not seen for {watch:g} seconds"
    found = f"they are still there after {watch:g} seconds, and the service said it was done"
    return "FAIL", found, "Read the room again; where they stay, tell the service's operator."
