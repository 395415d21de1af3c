"""Judges of what a learner did in the sandbox, and of functions that ask it. Each is called as its
exercise; what one makes there for a trial is gone afterwards."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..client import Client
from ..devices import import_device, list_devices, remove_device
from ..operations import A6, A7
from ..records import Room
from ..rooms import create_room, delete_room, get_room_users
from ..sweep import sweep
from .judged import Function, Hints, Raised
from .material import ask

_NOTICED = 10.0  # seconds in which a service notices that a camera on this machine is gone
_LESSON = "A failed call is never an empty room: None, or an error, says that it is not known."
_FAILURES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("The database failed (700)", {"ret": 700}),
    ("A proxy answered with HTML", {"body": b"<html><title>502 Bad Gateway</title></html>"}),
    ("JSON without a result code came", {"body": '{"user_list":[]}'}),
    ("The connection was dropped", {"drop": True}),
)


def first_room(room: Room, _: Any) -> Hints:
    """It has the topic and takes five people."""
    if room.topic != "My first room":
        yield "The room is there, but its topic is another: My first room, letter by letter."
    yield from _capped(room, 5)
    return "The sandbox has this room, its topic is right, and it takes five people."


def own_number(room: Room, _: Any) -> Hints:
    """Its number is a UUID that was sent, and it takes three people."""
    if room.room_extend_id is None:
        yield "The service chose this number. Send one of your own as room_extend_id."
    try:
        uuid.UUID(room.room_id)
    except ValueError:
        yield "The number is your own, but it is no UUID: those are unique without asking."
    yield from _capped(room, 3)
    return "room_id equals your UUID: after a lost answer you can ask for the room by it."


def _capped(room: Room, people: int) -> Iterator[str]:
    if room.attendee_max is None:
        yield f"The room has no cap; give it an attendee_max of {people} when you create it."
    if room.attendee_max != people:
        yield f"The room takes {room.attendee_max} people; {people} are asked for (attendee_max)."


def locked_in(room: Room, client: Client) -> Hints:
    """It is locked, with somebody in it."""
    if room.room_status == 3:
        yield "The room is closed (3): everybody was put out, and nothing opens it again."
    if room.room_status != 2:
        yield f"Its room_status is {room.room_status}; a locked one has 2."
    if not get_room_users(client, room.room_id):
        yield "The room is locked but empty. A lock lets nobody in: somebody joins first."
    return "Locked (2) with somebody in it: who is in stays, and nobody new comes in."


def full_room(room: Room, client: Client) -> Hints:
    """As many are in it as its own cap allows."""
    if room.room_status in (2, 3):
        yield "Nobody can join it, but because it is locked or closed; it has to be full."
    yield from _full(room, client)
    return f"{room.attendee_max} of {room.attendee_max} are in, and the next one is refused."


def errors_full(room: Room, client: Client) -> Hints:
    """It is full, and a camera was refused because of that."""
    yield from _full(room, client)
    refused = [one.why for one in client.sandbox.refusals if (one.call, one.ret) == ("B1", 426)]
    if not any(why.startswith("the room is full") for why in refused):
        last = f" The last 426 of B1 had another reason: {refused[-1]}." if refused else ""
        yield f"The room is full, but no camera has been refused because of that yet.{last}"
    return "426, and the reason is the room, not the camera: no number tells you that."


def _full(room: Room, client: Client) -> Iterator[str]:
    cap, inside = room.attendee_max or 0, len(get_room_users(client, room.room_id))
    if not cap:
        yield "It has no attendee_max, so it is never full by its own cap. Create one that has."
    if not inside:
        yield f"Nobody is in it, and {cap} may be. client.sandbox.join plays the people."
    if inside < cap:
        yield f"{inside} of {cap} are in: there is room for more."


def put_off(function: Function, client: Client) -> Hints:
    """In a room of its own it forces everybody of a name offline, and nobody else."""
    sandbox = client.sandbox
    with _rooms(client, 1) as (room_id,):
        ada = sandbox.join(room_id, "Ada")
        noisy = {sandbox.join(room_id, "Noise") for _ in range(2)}
        sandbox.join(room_id, "Noise reduction")
        before = sandbox.count(A7.path)
        gave = function(client, room_id, "Noise")
        asked = sandbox.count(A7.path) - before
        left = {person["user_id"]: person["user_name"] for person in sandbox.people(room_id)}
        if ada not in left:
            yield "It forces others offline too: Ada was in the room and is gone."
        if "Noise reduction" not in left.values():
            yield "It takes a part of a name for the name: Noise reduction is gone too."
        if len(noisy & set(left)) == 1:
            yield "Two people had the name Noise, and one is still in: names are not unique."
        if noisy & set(left):
            yield "Nobody is gone. A7 takes the user_id, which A6 lists beside the name."
        if asked < len(noisy):
            yield "They are gone, but not by A7: sandbox.leave does not exist elsewhere."
        if set(gave) != noisy:
            yield "They are gone. The function has to give the list of their user ids."
        if list(function(client, room_id, "Nobody")):
            yield "Where nobody has the name it has to give an empty list."
    return "All of that name are gone, by A7 and by their ids, and everybody else is still in."


def errors_count(function: Function, client: Client) -> Hints:
    """It counts two and nobody, and gives no number where the call fails."""
    sandbox = client.sandbox
    with _rooms(client, 2) as (two, nobody):
        for name in ("Ada", "Grace"):
            sandbox.join(two, name)
        before = sandbox.count(A6.path)
        if function(two) != 2:
            yield "There are two people in a room, and your function does not say 2."
        if sandbox.count(A6.path) == before:
            yield "Your function did not ask for the users of the room (A6)."
        empty = function(nobody)
        if isinstance(empty, bool) or empty != 0:
            yield "Nobody is in a room, which is known: your function has to say 0 there."
        if _counted(function, "0000000000"):
            yield f"A room that does not exist (404) was counted. {_LESSON}"
        for what, fault in _FAILURES:
            sandbox.fault(A6.path, **fault)
            try:
                if _counted(function, two):
                    yield f"{what}, and your function said a number. {_LESSON}"
            finally:
                sandbox.clear_faults()
    return "2 is 2, nobody is 0, and what could not be read is not a number."


def _counted(function: Function, room_id: str) -> bool:
    """Whether it gives a number; where it raises it says just as well that nothing is known."""
    try:
        found = function(room_id)
    except Raised:
        return False
    return isinstance(found, int | float) and found == found  # NaN is missing, not a number


def devices_seat(room: Room, client: Client) -> Hints:
    """A camera with a login is listed in it, is in it, and its stream flows."""
    devices, due = list_devices(client), f"cam-{room.room_id}"
    here = {device.user_id: device for device in devices if device.room_id == room.room_id}
    if not here:
        where = "Those that are listed are in other rooms." if devices else "None is listed at all."
        yield f"No device is listed in this room (B3). {where}"
    if due not in here:
        yield f"The device is there and is called otherwise; the user id {due} is asked for."
    options = here[due].options or {}
    if not (options.get("login_name") and options.get("login_password")):
        yield "The device is there, and was imported without login_name and login_password."
    streams = client.sandbox.streams(room.room_id)
    live = {stream.user_id for stream in streams if stream.state == "live"}
    if due not in live & _present(client, room.room_id):
        yield "It is in the list (B3) and not in the room (A6): its stream is down just now."
    return "In the list, in the room, and its stream flows. Remove it when you are done."


def devices_missing(function: Function, client: Client) -> Hints:
    """Of two cameras it names the one that was unplugged, once it is."""
    with _rooms(client, 1) as (room_id,):
        urls = [client.sandbox.camera(size=(160, 120), fps=5) for _ in range(2)]
        here, gone = (
            import_device(client, room_id, f"exercise-{place}", "Camera", url)
            for place, url in enumerate(urls)
        )
        early = _ids(function(room_id))
        if early:
            yield "Both cameras of a room play, and your function misses some."
        client.sandbox.unplug(urls[1])
        deadline = time.monotonic() + _NOTICED
        while gone.user_id in _present(client, room_id):
            if time.monotonic() > deadline:
                yield "The sandbox did not notice in time that a camera went; try again."
            time.sleep(0.05)
        late = _ids(function(room_id))
        for device in (here, gone):
            remove_device(client, device)
        client.sandbox.unplug(urls[0])
    if early is None or late is None:
        yield "User ids are asked for, which are texts: device.user_id, not the whole device."
    elif late == {here.user_id, gone.user_id}:
        yield "It names every device of the list (B3); take away those who are in A6."
    elif gone.user_id not in late:
        yield "A camera was unplugged: B3 still lists it, A6 does not, and it is not named."
    elif late != {gone.user_id}:
        yield "It names others than the camera that was unplugged."
    return "Exactly the camera that was unplugged: in the list, and not in the room."


def many_full(given: list[Any], client: Client) -> Hints:
    """They are the rooms of the sandbox that are full now."""
    if not all(isinstance(one, str) for one in given):
        yield "Room numbers are texts: as numbers they lose their leading zeros."
    frame = sweep(client, client.sandbox.room_ids(), progress=False).frame().set_index("room_id")
    users, caps = frame["users"], frame["attendee_max"]
    right = {str(one) for one in frame.index[(users >= caps).fillna(False) & (caps > 0)]}
    if not right:
        yield "No room is full at the moment. Run the notebook from its top, then ask again."
    wrong, missed = set(given) - right, right - set(given)
    if unknown := wrong - set(frame.index):
        yield f"{len(unknown)} of these are no rooms of this sandbox."
    if wrong and wrong <= set(frame.index[caps.isna()]):
        yield "Rooms without an attendee_max are among them: having no cap, they are never full."
    if (users.loc[sorted(wrong)] < caps.loc[sorted(wrong)]).any():
        yield f"{len(wrong)} of these have a free place now. Were they full in the samples?"
    if wrong or missed:
        yield f"{len(wrong)} of these are not full, and {len(missed)} that are full are missing."
    return f"All {len(right)} of them, and no other."


def token_at_work(answer: str, client: Client) -> Hints:
    """The sandbox takes it now, and it is not the client's own."""
    if answer == client.token():
        yield "This is the token that confkit's client holds. Make a login of your own, by A1."
    fields = {client.dialect.token_parameter: answer, "room_id": "0"}
    # An unknown room: a token that is taken gets as far as 404.
    if ask(client, "/rtc/room/get", **fields)["ret"] == 602:
        why = client.sandbox.refusals[-1].why
        yield f"The sandbox refused it with 602. It says why: {why}."
    return "The sandbox took it. With your own code you can now call every operation."


@contextmanager
def _rooms(client: Client, number: int) -> Iterator[list[str]]:
    """So many rooms for a trial, which are gone afterwards."""
    made = [create_room(client, "Exercise", owner_id="course") for _ in range(number)]
    try:
        yield made
    finally:
        for room_id in made:
            delete_room(client, room_id)


def _present(client: Client, room_id: str) -> set[str]:
    return {user.user_id for user in get_room_users(client, room_id)}


def _ids(found: Any) -> set[str] | None:
    """Return the user ids that a function gave; None where these are no texts."""
    if found is None or isinstance(found, str):
        return {found} if found else set()
    try:
        ids = set(found)
    except TypeError:
        return None
    return ids if all(isinstance(one, str) for one in ids) else None
