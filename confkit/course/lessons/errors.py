"""Judges of failures that are not counted, and of a refusal with its reason."""

from __future__ import annotations

from typing import Any

from ...client import Client
from ...endpoints import A6
from ...records import Room
from ...rooms import get_room_users
from ..judged import Function, Hints, Raised
from .rooms import trial_rooms

_PAGE = b"<html><head><title>502 Bad Gateway</title></head></html>"
_LESSON = "A failed call is never an empty room: None, or an error, says that it is not known."


def count(function: Function, client: Client) -> Hints:
    """It counts two and nobody, and gives no number where the call fails."""
    sandbox = client.sandbox
    with trial_rooms(client, "two people", "nobody") as (two, nobody):
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
        faults: tuple[tuple[str, dict[str, Any]], ...] = (
            ("The database failed (700)", {"ret": 700}),
            ("A proxy answered with HTML", {"body": _PAGE}),
            ("JSON without a result code came", {"body": '{"user_list":[]}'}),
            ("The connection was dropped", {"drop": True}),
        )
        for what, fault in faults:
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


def full(room: Room, client: Client) -> Hints:
    """It is full, and a camera was refused because of that."""
    users, cap = len(get_room_users(client, room.room_id)), room.attendee_max or 0
    if not cap:
        yield "This room has no attendee_max, so it is never full. Set it when you create it."
    if users < cap:
        yield f"There are {users} users in this room, and {cap} may be. Fill it first."
    refused = [one.why for one in client.sandbox.refusals if (one.call, one.ret) == ("B1", 426)]
    if not any(why.startswith("the room is full") for why in refused):
        last = f" The last 426 of B1 had another reason: {refused[-1]}." if refused else ""
        yield f"The room is full, but no camera has been refused because of that yet.{last}"
    return "426, and the reason is the room, not the camera: no number tells you that."
