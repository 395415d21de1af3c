"""Judges of rooms, the people in them, and how their fields are read."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...client import Client
from ...endpoints import A7
from ...records import Room
from ...rooms import create_room, delete_room, get_room_users
from ..judged import Function, Hints


@contextmanager
def trial_rooms(client: Client, *topics: str) -> Iterator[list[str]]:
    """Rooms of our own, which are gone afterwards."""
    made = [create_room(client, f"Exercise: {topic}", owner_id="course") for topic in topics]
    try:
        yield made
    finally:
        for room_id in made:
            delete_room(client, room_id)


def first_room(room: Room, _: Any) -> Hints:
    """It has the topic and takes five people."""
    if room.topic != "My first room":
        yield "The room is there, but its topic is another: My first room, letter by letter."
    if room.attendee_max is None:
        yield "The room has no cap: attendee_max is optional, and absent it stays absent."
    if room.attendee_max != 5:
        yield f"The room takes {room.attendee_max} people; five are asked for."
    return "The sandbox has this room, its topic is right, and it takes five people."


def own_number(room: Room, _: Any) -> Hints:
    """Its number is a UUID that was sent, and it takes three people."""
    if room.room_extend_id is None:
        yield "The service chose this number. Send one of your own as room_extend_id."
    try:
        uuid.UUID(room.room_id)
    except ValueError:
        yield "The number is your own, but it is no UUID: those are unique without asking."
    if room.attendee_max != 3:
        cap = "no cap" if room.attendee_max is None else f"attendee_max {room.attendee_max}"
        yield f"The number is your own UUID. The room has {cap}; three people are asked for."
    return "room_id equals your UUID: after a lost answer you can ask for the room by it."


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
    inside = len(get_room_users(client, room.room_id))
    if room.room_status in (2, 3):
        yield "Nobody can join it, but because it is locked or closed; it has to be full."
    cap = room.attendee_max or 0
    if not cap:
        yield "It has no attendee_max, so it is never full by its own cap."
    if not inside:
        yield "Nobody is in it. client.sandbox.join plays the people."
    if inside < cap:
        yield f"{inside} of {cap} are in: there is room for more."
    return f"{inside} of {cap} are in, and the next one is refused."


def put_off(function: Function, client: Client) -> Hints:
    """In a room of its own it forces everybody of a name offline, and nobody else."""
    sandbox = client.sandbox
    with trial_rooms(client, "put-off") as (room_id,):
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


_BROKEN = re.compile("[\ufffd\udc80-\udcff]+$")  # what decoding makes of half a character
_TOPICS = (
    "Sync",
    "",
    "x" * 149,
    "\u00e9" * 74,
    "x" * 400,
    "\u00e9" * 200,
    "a" + "\u00e9" * 200,
    "\u4f1a\u8bae" * 60,
    "ab" + "\U0001f3a5" * 60,
)


def topic_cut(function: Function, _: Any) -> Hints:
    """Of a long topic it leaves as much as fits into 149 bytes, of whole characters."""
    for topic in _TOPICS:
        cut = function(topic)
        if not isinstance(cut, str):
            kind = type(cut).__name__
            yield f"It gives something of the type {kind}; a topic is a text (bytes: decode them)."
        if cut == topic and len(topic.encode()) < 150:
            continue
        if len(topic.encode()) < 150:
            yield "It changes a topic that fits: up to 149 bytes have to stay as they are."
        if not topic.startswith(_BROKEN.sub("", cut)):
            yield "What it gives of a long topic is no beginning of the topic."
        if not topic.startswith(cut):
            yield "It cuts through a character: what is left of one is none any more."
        size = len(cut.encode())
        if size == 150:
            yield "It leaves 150 bytes. The interface says under 150: at most 149 fit."
        if size > 150:
            yield f"It leaves {size} bytes, and 149 fit at most. Count bytes, not characters."
        if size + len(topic[len(cut)].encode()) < 150:
            yield "It cuts off too much: one more character of a long topic would fit."
    return "Letters, accents, Chinese and pictures: at most 149 bytes, and none cut in two."
