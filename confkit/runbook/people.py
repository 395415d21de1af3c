"""Why nobody can join a room, and how one user is removed from it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from ..checklist import Check, Verdict
from ..deployment import mcu_answers
from ..devices import list_devices
from ..errors import (
    ConfkitError,
    LicenceError,
    MediaServerUnavailable,
    RoomClosed,
    RoomNotFound,
)
from ..rooms import (
    create_room,
    delete_room,
    force_offline,
    get_mcu,
    get_room,
    get_room_users,
)
from .inputs import to_set
from .rooms import find_room
from .steps import Checking, Finding, Steps

if TYPE_CHECKING:
    from ..client import Client
    from ..records import Device, Room, RoomUser

T = TypeVar("T")
One = TypeVar("One", "Device", "RoomUser")
FOUND, READ, USERS = "the room is found", "the room can be read", "the users can be read"
OPEN, PLACE = "the room is neither locked nor closed", "the room has a free place"
LICENCE, SERVER = "the licence lets somebody in", "a media server serves the room"
REACHED = "the media server accepts connections from here"
NEW, LEFT = "a new room of this kind can be made", "no such room is left"
PEERS = "peer-to-peer is permitted"
_ANOTHER = "Another room is made with ck.create_room; give people its number."


def nobody_can_join(
    client: Client, room: str, *, seconds: float = 2.0, apply: bool = False
) -> Iterator[Check]:
    """Is it the room (locked, closed, full), the licence, or the media server?

    `seconds`: how long the media server may take to accept a connection. It only reads (A3, A5,
    A6); with `apply` it also creates a room of the same kind (A2) and deletes it again (A4),
    whatever happens in between.
    """
    steps = Steps(client)
    room_id = yield from room_found(steps, client, room)
    found = yield from steps.asked(
        READ,
        lambda: get_room(client, room_id),
        found=lambda it: f"{it.topic!r}, owner {it.owner_id!r}",
        needs=FOUND,
    )
    yield from steps.judged(OPEN, found, _status, needs=READ)
    users = yield from users_read(steps, client, room_id)
    yield from steps.judged(PLACE, found, lambda it: _place(it, len(users)), needs=(READ, USERS))
    address = yield from _media_server(steps, client, room_id)
    yield from steps.judged(REACHED, address, lambda it: _reached(it, seconds), needs=SERVER)
    if (yield from steps.ready(NEW, READ)) and found:
        yield from _new_room(steps, client, found, apply)


def room_found(steps: Steps, client: Client, room: str) -> Checking[str]:
    """Return the ID of the room that is meant, "" where that is not known."""
    return (yield from steps.asked(FOUND, lambda: find_room(client, room), found=str)) or ""


def users_read(steps: Steps, client: Client, room_id: str) -> Checking[list[RoomUser]]:
    """Return the users of the room that was found, none where they could not be read."""
    users = yield from steps.asked(
        USERS, lambda: get_room_users(client, room_id), found=_present, needs=FOUND
    )
    return users or []


def called(name: str, among: list[One]) -> list[One]:
    """Return the users or devices with this ID, else those with this name."""
    fits = [one for one in among if one.user_id == name]
    return fits or [one for one in among if name and one.user_name == name]


def _present(users: list[RoomUser]) -> str:
    names = ", ".join(user.user_name or user.user_id for user in users[:10])
    return (
        f"{len(users)} in the room" + (f": {names}" if users else "") + ", ..." * (len(users) > 10)
    )


def _status(room: Room) -> Finding:
    """A3: scheduled and opening rooms can be joined, locked and closed ones cannot (seen)."""
    known: dict[int | None, Finding] = {
        0: ("PASS", "it is scheduled"),
        1: ("PASS", "it is open"),
        2: (
            "FAIL",
            "the room is locked: who is in it stays, and nobody new can join",
            f"Have a host unlock it; this interface has no call for that. {_ANOTHER}",
        ),
        3: ("FAIL", "the room is closed, which is for good", _ANOTHER),
    }
    other = f"the service gives the room the status {room.room_status}"
    advice = "Ask the provider what this status means; 0 to 3 are known."
    return known.get(room.room_status, ("UNKNOWN", other, advice))


def _place(room: Room, users: int) -> Finding:
    """Only `attendee_max` keeps people out; beyond the other caps they lack a stream (seen)."""
    names = ("attendee_max", "max_video", "max_audio")
    caps = {name: most for name in names if (most := getattr(room, name))}
    used = [name for name, most in caps.items() if users >= most]
    if "attendee_max" in used:
        return (
            "FAIL",
            f"the room is full ({users} of {room.attendee_max})",
            "Remove somebody (runbook force-user-offline) or a camera (ck.remove_device), or make "
            "a larger room: the cap of this one cannot be changed.",
        )
    shown = ", ".join(f"{name} {most}" for name, most in caps.items()) or "it has no cap"
    if used:
        shown += f"; {' and '.join(used)} may be used up: people get in without that stream"
        shown += ", a camera is refused with 426" * ("max_video" in used) + " (assumed)"
    return "PASS", f"{users} are in it; {shown}"


def _media_server(steps: Steps, client: Client, room_id: str) -> Checking[str]:
    """A5 names the media server; before that, its answer may be about the licence (405, 411)."""
    if not (yield from steps.ready(LICENCE, FOUND)):
        yield from steps.ready(SERVER, FOUND)
        return ""
    try:
        address = get_mcu(client, room_id)
    except LicenceError as error:
        yield steps.failed(LICENCE, f"{error.meaning} ({error.ret})", error.advice)
        yield steps.skipped(SERVER, "not known: the licence came first")
    except RoomClosed as error:
        yield steps.skipped(SERVER, f"not known: {error.meaning} ({error.ret})")
    except MediaServerUnavailable as error:
        yield steps.failed(
            SERVER,
            f"{error.meaning} ({error.ret})",
            f"{error.advice} The runbook media-server-gone finds the rooms that are affected.",
        )
    except ConfkitError as error:
        yield steps.unknown(SERVER, error.said, error.advice or "Run this again.")
    else:
        yield steps.passed(LICENCE, "no complaint")
        yield steps.passed(SERVER, "it has one")
        return address
    return ""


def _reached(address: str, seconds: float) -> Finding:
    answer = mcu_answers(address, timeout=seconds)
    if answer:
        return "PASS", "it does"
    return "UNKNOWN", answer.reason, "Try from the network of the people who cannot join."


def _new_room(steps: Steps, client: Client, like: Room, apply: bool) -> Iterator[Check]:
    """Create a room of the same mode and delete it again. Its ID is chosen here, so that it is
    deleted also when the answer to its creation is lost."""
    chosen, made = str(uuid.uuid4()), None

    def delete_again() -> bool:
        try:
            delete_room(client, made or chosen)
        except RoomNotFound:
            if made:
                raise
            return False
        return True

    if (yield from steps.may_change(apply, NEW)):
        try:
            made = yield from steps.asked(
                NEW,
                lambda: create_room(
                    client,
                    "nobody-can-join, may be deleted",
                    "confkit",
                    room_mode=1 if like.room_mode is None else like.room_mode,
                    room_extend_id=chosen,
                ),
            )
        finally:
            yield from steps.asked(
                LEFT,
                delete_again,
                found=lambda gone: "it was deleted again" if gone else "none was made",
                advice=f"Delete it later: ck.delete_room(client, {made or chosen!r})",
            )
    elif like.room_mode in (3, 4):  # only creating one says whether the licence permits it (701)
        yield steps.unknown(
            PEERS,
            "the room is peer-to-peer, and only creating one shows whether that is permitted",
            f"{to_set('apply', True)}, with a client that may write: a room is created and "
            "deleted again.",
        )


ONE, PERSON = "the user is in the room, and nobody else is meant", "it is a person, not a camera"
CAMERAS, OFF, AWAY = "the cameras can be listed", "the user is removed", "they stay away"
_LOOK = "Read the room again: ck.get_room_users(client, room_id)"


def force_user_offline(
    client: Client,
    room: str,
    user: str,
    *,
    watch: float = 10.0,
    apply: bool = False,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[Check]:
    """Who is meant, are they removed from the room, and do they come back?

    `user`: their ID, or the whole name that shows in the room. With `apply` the one user is
    removed (A7), and the room is read once a second (A6) for `watch` seconds.
    """
    steps = Steps(client)
    room_id = yield from room_found(steps, client, room)
    users = yield from users_read(steps, client, room_id)
    fits = called(user, users)
    yield from steps.judged(ONE, fits, lambda it: _meant(it, user), needs=USERS)
    one = fits[0] if steps.verdicts[ONE] == "PASS" else None
    if (yield from steps.ready(PERSON, ONE)) and one:
        devices = yield from steps.asked(
            CAMERAS,
            lambda: list_devices(client, room_id),
            found=lambda found: f"{len(found)} listed",
        )
        yield steps.told(PERSON, _person(devices, room_id, one))
    if not (yield from steps.ready(OFF, (ONE, PERSON))) or not one:
        yield from steps.ready(AWAY, (ONE, PERSON))
        return
    if (yield from steps.may_change(apply, OFF)):
        yield from steps.asked(
            OFF,
            lambda: force_offline(client, room_id, one.user_id),
            found=lambda text: f"the service says {text!r}" if text else "it was carried out",
        )
    others = {it.user_id for it in users} - {one.user_id}

    def present() -> set[str]:
        """Their IDs in the room: their own, and new ones with their name."""
        now = [it for it in get_room_users(client, room_id) if it.user_id not in others]
        return {
            it.user_id for it in now if it.user_id == one.user_id or it.user_name == one.user_name
        }

    way = "Use a client that is not read only." if client.read_only else to_set("apply", True) + "."
    unwatched: dict[Verdict, Finding] = {
        "UNKNOWN": ("UNKNOWN", "it is not known whether they were removed", _LOOK),
        "FAIL": ("SKIP", "not tried: they were not removed"),
        "SKIP": ("UNKNOWN", "nobody was removed", f"{way} Then the user is removed and watched."),
    }
    found = unwatched.get(steps.verdicts[OFF]) or _watched(one.user_id, present, watch, sleep)
    yield steps.told(AWAY, found)


def _meant(fits: list[RoomUser], user: str) -> Finding:
    if not user:
        wanted = "Set user to the ID or the name of one of the room's users."
        return "UNKNOWN", "no user is given", wanted
    if not fits:
        return (
            "FAIL",
            f"nobody in the room has the ID or the name {user!r}",
            "Compare it with the room's users, letter by letter. They may have left already.",
        )
    if len(fits) > 1:
        ids = ", ".join(it.user_id for it in fits)
        return "FAIL", f"{len(fits)} are called {user!r}: {ids}", "Give the ID of one of them."
    return "PASS", f"{fits[0].user_name!r}, ID {fits[0].user_id}"


def _person(devices: list[Device] | None, room_id: str, user: RoomUser) -> Finding:
    """A camera that is removed by A7 may be dialled again by the service (assumed)."""
    if devices is None:
        return "UNKNOWN", "the cameras could not be read", "Fix that, then run this again."
    if any(device.user_id == user.user_id for device in devices):
        call = f"ck.remove_device(client, {room_id!r}, {user.user_id!r})"
        return "FAIL", f"{user.user_name!r} is a camera", f"Remove it instead: {call}"
    return "PASS", "no device has this ID"


def _watched(
    user_id: str,
    present: Callable[[], set[str]],
    watch: float,
    sleep: Callable[[float], object],
) -> Finding:
    """Only who was gone can be back: a service may say that it is done before they are gone."""
    try:
        left = _awaited(lambda: user_id not in present(), watch, sleep)
        back = _awaited(present, watch, sleep) if left else None
    except ConfkitError as error:
        return "UNKNOWN", str(error), _LOOK
    if not left:
        return (
            "FAIL",
            f"they are still there after {watch:g} seconds, and the service said it was done",
            f"{_LOOK}. Where they stay, tell the operator of the service.",
        )
    if not back:
        return "PASS", f"not seen for {watch:g} seconds"
    new = f"somebody of that name with a new ID, {', '.join(back)}"
    return (
        "FAIL",
        f"they are back: {'the same ID' if user_id in back else new}",
        "No call keeps a user out. Have a host lock the room in the meeting, or create another "
        "room and give its number to the others.",
    )


def _awaited(look: Callable[[], T], seconds: float, sleep: Callable[[float], object]) -> T:
    """Look once a second until there is something, for so many seconds."""
    until = time.monotonic() + seconds
    while not (found := look()) and (left := until - time.monotonic()) > 0:
        sleep(min(1.0, left))
    return found
